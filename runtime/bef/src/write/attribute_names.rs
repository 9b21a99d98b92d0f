//! The AttributeNames section: the names of the attributes of every kernel.
//!
//! The section counts all functions, but has a table only for those with a body.

use tfrt_attr::vbr;

use super::strings::EncodedStrings;
use super::{BefBuilder, push_id};

/// Encodes the section.
pub(super) fn encode(builder: &BefBuilder, strings: &EncodedStrings<'_>) -> Vec<u8> {
    let mut bytes = Vec::new();
    vbr::write(&mut bytes, builder.functions.len() as u64);
    for (_, body) in builder.bodies() {
        vbr::write(&mut bytes, body.kernels.len() as u64 + 1);
        for attribute in body.kernels.iter().flat_map(|kernel| &kernel.attributes) {
            push_id(&mut bytes, strings.offset(&attribute.name));
        }
    }
    bytes
}
