//! The RegisterTypes section: the types of the registers of every function.
//!
//! The section counts all functions, but has a table only for those with a body.

use tfrt_attr::vbr;

use super::{BefBuilder, push_id};

/// Encodes the section.
pub(super) fn encode(builder: &BefBuilder) -> Vec<u8> {
    let mut bytes = Vec::new();
    vbr::write(&mut bytes, builder.functions.len() as u64);
    for (_, body) in builder.bodies() {
        vbr::write(&mut bytes, body.register_types.len() as u64);
        for &index in &body.register_types {
            push_id(&mut bytes, index);
        }
    }
    bytes
}
