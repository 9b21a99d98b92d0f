//! The FunctionIndex section: kind, body offset, name and signature of every function.

use tfrt_attr::vbr;

use super::strings::EncodedStrings;
use super::{BefBuilder, push_id};
use crate::ids::TypeNameId;
use tfrt_support::FunctionKind;

/// The index entry of a function, without the offset of its body.
#[derive(Clone, Debug)]
pub(super) struct FunctionEntry {
    pub(super) kind: FunctionKind,
    pub(super) name: String,
    pub(super) arguments: Vec<TypeNameId>,
    pub(super) results: Vec<TypeNameId>,
}

/// Encodes the section; `body_offsets` has the offset of every function's body in the Functions
/// section.
pub(super) fn encode(
    builder: &BefBuilder,
    body_offsets: &[usize],
    strings: &EncodedStrings<'_>,
) -> Vec<u8> {
    let mut bytes = Vec::new();
    vbr::write(&mut bytes, builder.functions.len() as u64);
    for (function, &body_offset) in builder.functions.values().zip(body_offsets) {
        bytes.push(function.kind as u8);
        vbr::write(&mut bytes, body_offset as u64);
        push_id(&mut bytes, strings.offset(&function.name));
        for types in [&function.arguments, &function.results] {
            vbr::write(&mut bytes, types.len() as u64);
            for &index in types {
                push_id(&mut bytes, index);
            }
        }
    }
    bytes
}
