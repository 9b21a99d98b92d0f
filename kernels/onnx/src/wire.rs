//! The location of damage in a file.
//!
//! The decoder of messages reports errors without their locations. After it has failed, this module
//! walks the wire format again, along the messages of models, and returns the offset of the first
//! field that cannot be read and the path to it.

use std::fmt::Write;

/// The messages of models: `(message, field, name, is_list, message of the field)`.
const FIELDS: &[(Kind, u64, &str, bool, Kind)] = &[
    (Kind::Model, 7, "graph", false, Kind::Graph),
    (Kind::Model, 8, "opset_import", true, Kind::Leaf),
    (Kind::Model, 14, "metadata_props", true, Kind::Leaf),
    (Kind::Model, 20, "training_info", true, Kind::Leaf),
    (Kind::Model, 25, "functions", true, Kind::Function),
    (Kind::Function, 7, "node", true, Kind::Node),
    (Kind::Function, 9, "opset_import", true, Kind::Leaf),
    (Kind::Function, 11, "attribute_proto", true, Kind::Attribute),
    (Kind::Function, 12, "value_info", true, Kind::Leaf),
    (Kind::Graph, 1, "node", true, Kind::Node),
    (Kind::Graph, 5, "initializer", true, Kind::Tensor),
    (Kind::Graph, 11, "input", true, Kind::Leaf),
    (Kind::Graph, 12, "output", true, Kind::Leaf),
    (Kind::Graph, 13, "value_info", true, Kind::Leaf),
    (Kind::Graph, 15, "sparse_initializer", true, Kind::Sparse),
    (Kind::Node, 5, "attribute", true, Kind::Attribute),
    (Kind::Attribute, 5, "t", false, Kind::Tensor),
    (Kind::Attribute, 6, "g", false, Kind::Graph),
    (Kind::Attribute, 10, "tensors", true, Kind::Tensor),
    (Kind::Attribute, 11, "graphs", true, Kind::Graph),
    (Kind::Attribute, 22, "sparse_tensor", false, Kind::Sparse),
    (Kind::Sparse, 1, "values", false, Kind::Tensor),
    (Kind::Sparse, 2, "indices", false, Kind::Tensor),
    (Kind::Tensor, 13, "external_data", true, Kind::Leaf),
];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Model,
    Graph,
    Function,
    Node,
    Attribute,
    Tensor,
    Sparse,
    /// A message whose own messages are not followed.
    Leaf,
}

/// A message that is being walked.
struct Level {
    kind: Kind,
    end: usize,
    name: &'static str,
    /// Its number among those of one field; none if there is only one.
    index: Option<usize>,
    /// The number of messages for each field of `FIELDS`.
    counts: Vec<usize>,
}

/// Returns the byte offset of the first field that cannot be read, and the path to the message that
/// it is in. A file whose fields can all be read is damaged inside of one: that is then the offset
/// of its end.
pub(crate) fn locate(bytes: &[u8]) -> (usize, String) {
    let counts = || vec![0; FIELDS.len()];
    let mut levels = vec![Level {
        kind: Kind::Model,
        end: bytes.len(),
        name: "",
        index: None,
        counts: counts(),
    }];
    let mut at = 0;
    while let Some(level) = levels.last_mut() {
        if at >= level.end {
            levels.pop();
            continue;
        }
        let start = at;
        let part = &bytes[..level.end];
        let Some(tag) = varint(part, &mut at) else {
            return (start, path(&levels));
        };
        let (field, wire_type) = (tag >> 3, tag & 7);
        let len = match wire_type {
            0 => {
                if varint(part, &mut at).is_none() {
                    return (start, path(&levels));
                }
                continue;
            }
            1 => Some(8),
            5 => Some(4),
            2 => varint(part, &mut at).and_then(|len| usize::try_from(len).ok()),
            _ => None,
        };
        let end = len.and_then(|len| at.checked_add(len));
        let Some(end) = end.filter(|&end| end <= level.end && field != 0) else {
            return (start, path(&levels));
        };
        let kind = level.kind;
        let known = FIELDS
            .iter()
            .position(|known| known.0 == kind && known.1 == field);
        match known {
            Some(position) if wire_type == 2 => {
                let (_, _, name, is_list, kind) = FIELDS[position];
                let index = level.counts[position];
                level.counts[position] += 1;
                levels.push(Level {
                    kind,
                    end,
                    name,
                    index: is_list.then_some(index),
                    counts: counts(),
                });
            }
            _ => at = end,
        }
    }
    (bytes.len(), String::new())
}

fn varint(bytes: &[u8], at: &mut usize) -> Option<u64> {
    const MAX_BYTES: usize = 10;
    let mut value = 0_u64;
    for shift in (0..MAX_BYTES).map(|index| 7 * index as u32) {
        let byte = *bytes.get(*at)?;
        *at += 1;
        value |= u64::from(byte & 0x7f).checked_shl(shift).unwrap_or(0);
        if byte < 0x80 {
            return Some(value);
        }
    }
    None
}

fn path(levels: &[Level]) -> String {
    let mut path = String::new();
    for level in &levels[1..] {
        let dot = if path.is_empty() { "" } else { "." };
        let _ = write!(path, "{dot}{}", level.name);
        if let Some(index) = level.index {
            let _ = write!(path, "[{index}]");
        }
    }
    path
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::proto::{AttributeProto, GraphProto, ModelProto, NodeProto};
    use prost::Message;

    #[test]
    fn a_field_that_is_cut_is_found_with_its_path() {
        let attribute = AttributeProto {
            name: Some("perm".to_owned()),
            doc_string: Some("last".to_owned()),
            ..AttributeProto::default()
        };
        let node = NodeProto {
            attribute: vec![AttributeProto::default(), attribute],
            ..NodeProto::default()
        };
        let graph = GraphProto {
            node: vec![NodeProto::default(), node],
            ..GraphProto::default()
        };
        let model = ModelProto {
            graph: Some(graph),
            ..ModelProto::default()
        };
        let mut bytes = model.encode_to_vec();
        assert_eq!(locate(&bytes), (bytes.len(), String::new()));
        // The length of the last text, which the rest of the file is, says more than there is.
        let place = bytes.len() - "last".len() - 1;
        assert_eq!(bytes[place], 4);
        bytes[place] = 5;
        let found = locate(&bytes);
        assert_eq!(found, (place - 1, "graph.node[1].attribute[1]".to_owned()));
    }
}
