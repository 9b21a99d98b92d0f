//! Attributes that kernels read: each has to be there, of the kind that is declared, and readable as what the kernel reads it as.
//!
//! What kind of attribute a file holds is said by its section of attribute types, which it may leave out. The bytes are looked at
//! either way.

use tfrt_attr::AttrTypeCode;
use tfrt_host::kernel::attribute_kind::check_kind;
use tfrt_host::kernel::{AttributeList, KernelTypes};
use tfrt_ods::OpDef;
use tfrt_support::Error;

/// Checks the attributes of one kernel. `code_of` tells what the file says of the attribute at an offset.
pub(crate) fn check(
    op: &OpDef,
    types: &KernelTypes,
    attributes: AttributeList<'_>,
    code_of: impl Fn(u32) -> Option<AttrTypeCode>,
) -> Result<(), Error> {
    // An op that leaves its attributes open declares others, or none.
    if attributes.offsets.len() == op.attributes.len() {
        for (declared, &offset) in op.attributes.iter().zip(attributes.offsets) {
            if let Some(found) = code_of(offset) {
                check_kind(op, declared, found, attributes.section, offset)?;
            }
        }
    }
    types.check_attributes(op, attributes)
}
