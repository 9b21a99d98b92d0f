//! The AttributeTypes section: the offset and type code of every attribute.

use tfrt_attr::vbr;

use super::{BefBuilder, push_id};

/// Encodes the section.
pub(super) fn encode(builder: &BefBuilder) -> Vec<u8> {
    let mut bytes = Vec::new();
    vbr::write(&mut bytes, builder.attributes.len() as u64);
    for attribute in builder.attributes.values() {
        push_id(&mut bytes, attribute.offset);
        vbr::write(&mut bytes, attribute.code.raw().into());
    }
    bytes
}
