//! The attributes of kernels: each must be present, of the declared kind, and readable as the
//! kernel reads it.
//!
//! The optional section of attribute types states the kind of each attribute in a file. The bytes
//! are checked either way.

use tfrt_attr::AttrTypeCode;
use tfrt_host::__runtime::{AttributeList, KernelTypes, check_kind};
use tfrt_ods::OpDef;
use tfrt_support::Error;

/// Checks the attributes of one kernel. `code_of` returns the type that the file states for the
/// attribute at an offset.
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
