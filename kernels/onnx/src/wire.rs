//! The location of damage in a file.
//!
//! The decoder of messages reports errors without their locations. After it has failed, this module
//! walks the wire format again, along the messages of models, and describes the first field that
//! cannot be read: its offset, the path to the message that it is in, and what is wrong with it.

use std::fmt::Write;

use tfrt_import::names::shown;

/// The number of messages inside of each other at which the decoder gives up.
const MAX_NESTING: usize = 100;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Model,
    Graph,
    Function,
    Node,
    Attribute,
    Tensor,
    Sparse,
    ValueInfo,
    Type,
    TensorType,
    /// A type that contains another one: a sequence or an optional.
    TypeOfType,
    Map,
    Shape,
    Dimension,
    Opset,
    Entry,
    /// A message whose fields are not known.
    Other,
}

/// What a field holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Field {
    /// A text, which must be UTF-8.
    Text,
    Bytes,
    Integer,
    /// An integer, or many of them in one field.
    Integers,
    Float,
    Floats,
    Doubles,
    Message(Kind),
    /// A message that may be repeated.
    Messages(Kind),
}

use Field::{Bytes, Doubles, Float, Floats, Integer, Integers, Message, Messages, Text};

/// The fields of messages.
const FIELDS: &[(Kind, u64, &str, Field)] = &[
    (Kind::Model, 1, "ir_version", Integer),
    (Kind::Model, 2, "producer_name", Text),
    (Kind::Model, 3, "producer_version", Text),
    (Kind::Model, 4, "domain", Text),
    (Kind::Model, 5, "model_version", Integer),
    (Kind::Model, 6, "doc_string", Text),
    (Kind::Model, 7, "graph", Message(Kind::Graph)),
    (Kind::Model, 8, "opset_import", Messages(Kind::Opset)),
    (Kind::Model, 14, "metadata_props", Messages(Kind::Entry)),
    (Kind::Model, 20, "training_info", Messages(Kind::Other)),
    (Kind::Model, 25, "functions", Messages(Kind::Function)),
    (Kind::Model, 26, "configuration", Messages(Kind::Other)),
    (Kind::Function, 1, "name", Text),
    (Kind::Function, 4, "input", Text),
    (Kind::Function, 5, "output", Text),
    (Kind::Function, 6, "attribute", Text),
    (Kind::Function, 7, "node", Messages(Kind::Node)),
    (Kind::Function, 8, "doc_string", Text),
    (Kind::Function, 9, "opset_import", Messages(Kind::Opset)),
    (Kind::Function, 10, "domain", Text),
    (
        Kind::Function,
        11,
        "attribute_proto",
        Messages(Kind::Attribute),
    ),
    (Kind::Function, 12, "value_info", Messages(Kind::ValueInfo)),
    (Kind::Function, 13, "overload", Text),
    (Kind::Function, 14, "metadata_props", Messages(Kind::Entry)),
    (Kind::Graph, 1, "node", Messages(Kind::Node)),
    (Kind::Graph, 2, "name", Text),
    (Kind::Graph, 5, "initializer", Messages(Kind::Tensor)),
    (Kind::Graph, 10, "doc_string", Text),
    (Kind::Graph, 11, "input", Messages(Kind::ValueInfo)),
    (Kind::Graph, 12, "output", Messages(Kind::ValueInfo)),
    (Kind::Graph, 13, "value_info", Messages(Kind::ValueInfo)),
    (
        Kind::Graph,
        14,
        "quantization_annotation",
        Messages(Kind::Other),
    ),
    (
        Kind::Graph,
        15,
        "sparse_initializer",
        Messages(Kind::Sparse),
    ),
    (Kind::Graph, 16, "metadata_props", Messages(Kind::Entry)),
    (Kind::Node, 1, "input", Text),
    (Kind::Node, 2, "output", Text),
    (Kind::Node, 3, "name", Text),
    (Kind::Node, 4, "op_type", Text),
    (Kind::Node, 5, "attribute", Messages(Kind::Attribute)),
    (Kind::Node, 6, "doc_string", Text),
    (Kind::Node, 7, "domain", Text),
    (Kind::Node, 8, "overload", Text),
    (Kind::Node, 9, "metadata_props", Messages(Kind::Entry)),
    (
        Kind::Node,
        10,
        "device_configurations",
        Messages(Kind::Other),
    ),
    (Kind::Attribute, 1, "name", Text),
    (Kind::Attribute, 2, "f", Float),
    (Kind::Attribute, 3, "i", Integer),
    (Kind::Attribute, 4, "s", Bytes),
    (Kind::Attribute, 5, "t", Message(Kind::Tensor)),
    (Kind::Attribute, 6, "g", Message(Kind::Graph)),
    (Kind::Attribute, 7, "floats", Floats),
    (Kind::Attribute, 8, "ints", Integers),
    (Kind::Attribute, 9, "strings", Bytes),
    (Kind::Attribute, 10, "tensors", Messages(Kind::Tensor)),
    (Kind::Attribute, 11, "graphs", Messages(Kind::Graph)),
    (Kind::Attribute, 13, "doc_string", Text),
    (Kind::Attribute, 14, "tp", Message(Kind::Type)),
    (Kind::Attribute, 15, "type_protos", Messages(Kind::Type)),
    (Kind::Attribute, 20, "type", Integer),
    (Kind::Attribute, 21, "ref_attr_name", Text),
    (Kind::Attribute, 22, "sparse_tensor", Message(Kind::Sparse)),
    (
        Kind::Attribute,
        23,
        "sparse_tensors",
        Messages(Kind::Sparse),
    ),
    (Kind::Tensor, 1, "dims", Integers),
    (Kind::Tensor, 2, "data_type", Integer),
    (Kind::Tensor, 3, "segment", Message(Kind::Other)),
    (Kind::Tensor, 4, "float_data", Floats),
    (Kind::Tensor, 5, "int32_data", Integers),
    (Kind::Tensor, 6, "string_data", Bytes),
    (Kind::Tensor, 7, "int64_data", Integers),
    (Kind::Tensor, 8, "name", Text),
    (Kind::Tensor, 9, "raw_data", Bytes),
    (Kind::Tensor, 10, "double_data", Doubles),
    (Kind::Tensor, 11, "uint64_data", Integers),
    (Kind::Tensor, 12, "doc_string", Text),
    (Kind::Tensor, 13, "external_data", Messages(Kind::Entry)),
    (Kind::Tensor, 14, "data_location", Integer),
    (Kind::Tensor, 16, "metadata_props", Messages(Kind::Entry)),
    (Kind::Sparse, 1, "values", Message(Kind::Tensor)),
    (Kind::Sparse, 2, "indices", Message(Kind::Tensor)),
    (Kind::Sparse, 3, "dims", Integers),
    (Kind::ValueInfo, 1, "name", Text),
    (Kind::ValueInfo, 2, "type", Message(Kind::Type)),
    (Kind::ValueInfo, 3, "doc_string", Text),
    (Kind::ValueInfo, 4, "metadata_props", Messages(Kind::Entry)),
    (Kind::Type, 1, "tensor_type", Message(Kind::TensorType)),
    (Kind::Type, 4, "sequence_type", Message(Kind::TypeOfType)),
    (Kind::Type, 5, "map_type", Message(Kind::Map)),
    (Kind::Type, 6, "denotation", Text),
    (Kind::Type, 7, "opaque_type", Message(Kind::Other)),
    (
        Kind::Type,
        8,
        "sparse_tensor_type",
        Message(Kind::TensorType),
    ),
    (Kind::Type, 9, "optional_type", Message(Kind::TypeOfType)),
    (Kind::TensorType, 1, "elem_type", Integer),
    (Kind::TensorType, 2, "shape", Message(Kind::Shape)),
    (Kind::TypeOfType, 1, "elem_type", Message(Kind::Type)),
    (Kind::Map, 1, "key_type", Integer),
    (Kind::Map, 2, "value_type", Message(Kind::Type)),
    (Kind::Shape, 1, "dim", Messages(Kind::Dimension)),
    (Kind::Dimension, 1, "dim_value", Integer),
    (Kind::Dimension, 2, "dim_param", Text),
    (Kind::Dimension, 3, "denotation", Text),
    (Kind::Opset, 1, "domain", Text),
    (Kind::Opset, 2, "version", Integer),
    (Kind::Entry, 1, "key", Text),
    (Kind::Entry, 2, "value", Text),
];

/// The field of a file that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Damage {
    /// Where the field begins.
    pub(crate) offset: usize,
    /// The path to the message that it is in, and to the field if it is known; it may be empty.
    pub(crate) path: String,
    /// What is wrong with it.
    pub(crate) what: String,
}

impl std::fmt::Display for Damage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { offset, path, what } = self;
        write!(f, "byte {offset}")?;
        if !path.is_empty() {
            write!(f, " in `{}`", shown(path))?;
        }
        write!(f, ": {what}")
    }
}

/// A message that is being walked.
struct Level {
    kind: Kind,
    end: usize,
    name: &'static str,
    /// Its number among those of one field; none if there is only one.
    index: Option<usize>,
    /// The number of messages so far for each field of `FIELDS`.
    counts: Vec<usize>,
}

impl Level {
    fn new(kind: Kind, end: usize, name: &'static str, index: Option<usize>) -> Self {
        let counts = vec![0; FIELDS.len()];
        Self {
            kind,
            end,
            name,
            index,
            counts,
        }
    }
}

/// Returns the first field that cannot be read; nothing if every field that is known can.
pub(crate) fn locate(bytes: &[u8]) -> Option<Damage> {
    let mut levels = vec![Level::new(Kind::Model, bytes.len(), "", None)];
    let mut at = 0;
    while let Some(level) = levels.last_mut() {
        if at >= level.end {
            levels.pop();
            continue;
        }
        let start = at;
        let found = field(&bytes[..level.end], level.kind, &mut at);
        let (position, content) = match found {
            Ok(found) => found,
            Err((position, what)) => {
                let mut path = path(&levels);
                if let Some(position) = position {
                    let (_, _, name, content) = FIELDS[position];
                    let dot = if path.is_empty() { "" } else { "." };
                    let _ = write!(path, "{dot}{name}");
                    if let (Messages(_), Some(level)) = (content, levels.last()) {
                        let _ = write!(path, "[{}]", level.counts[position]);
                    }
                }
                return Some(Damage {
                    offset: start,
                    path,
                    what,
                });
            }
        };
        let Some((position, end)) = position.zip(content) else {
            continue;
        };
        let (_, _, name, content) = FIELDS[position];
        let index = level.counts[position];
        level.counts[position] += 1;
        let (kind, index) = match content {
            Message(kind) => (kind, None),
            Messages(kind) => (kind, Some(index)),
            _ => continue,
        };
        levels.push(Level::new(kind, end, name, index));
        // The first level is the file itself, which is in no message.
        if levels.len() - 1 > MAX_NESTING {
            return Some(Damage {
                offset: start,
                path: path(&levels),
                what: format!(
                    "messages are nested more than {MAX_NESTING} levels deep, which is the limit \
                     `nesting` of the format's reader and cannot be raised"
                ),
            });
        }
    }
    None
}

/// What was found of a field: its position in `FIELDS`, and for messages where their content ends.
type Found = (Option<usize>, Option<usize>);

/// Steps over a field, or to the content of a message.
fn field(bytes: &[u8], kind: Kind, at: &mut usize) -> Result<Found, (Option<usize>, String)> {
    let cut = || "the field is cut off".to_owned();
    let tag = varint(bytes, at).ok_or_else(|| (None, "expected a field".to_owned()))?;
    let (number, wire_type) = (tag >> 3, tag & 7);
    let position = FIELDS
        .iter()
        .position(|known| known.0 == kind && known.1 == number);
    let damaged = |what: String| (position, what);
    if number == 0 || tag > u64::from(u32::MAX) {
        return Err(damaged(format!("there is no field {number}")));
    }
    let content = match wire_type {
        0 => {
            varint(bytes, at).ok_or_else(|| damaged(cut()))?;
            &bytes[*at..*at]
        }
        1 => part(bytes, at, 8).ok_or_else(|| damaged(cut()))?,
        2 => {
            let len = varint(bytes, at).and_then(|len| usize::try_from(len).ok());
            let content = len.and_then(|len| part(bytes, at, len));
            content.ok_or_else(|| damaged(cut()))?
        }
        5 => part(bytes, at, 4).ok_or_else(|| damaged(cut()))?,
        3 | 4 => return Err(damaged("groups of fields are not supported".to_owned())),
        other => return Err(damaged(format!("there is no kind {other} of fields"))),
    };
    let Some(known) = position.map(|position| FIELDS[position].3) else {
        return Ok((None, None));
    };
    let (expected, fits) = match known {
        Text | Bytes | Message(_) | Messages(_) => ("a length and as many bytes", wire_type == 2),
        Integer => ("an integer", wire_type == 0),
        Integers => ("integers", matches!(wire_type, 0 | 2)),
        Float => ("4 bytes", wire_type == 5),
        Floats => ("4 bytes each", matches!(wire_type, 2 | 5)),
        Doubles => ("8 bytes each", matches!(wire_type, 1 | 2)),
    };
    if !fits {
        let found = ["an integer", "8 bytes", "a length and as many bytes"];
        let found = found.get(wire_type as usize).copied().unwrap_or("4 bytes");
        return Err(damaged(format!("expected {expected}, found {found}")));
    }
    match known {
        Text => {
            if let Err(error) = std::str::from_utf8(content) {
                let place = error.valid_up_to();
                let what = format!("expected UTF-8, found other bytes at byte {place} of the text");
                return Err(damaged(what));
            }
        }
        Integers if wire_type == 2 => {
            let mut inside = 0;
            while inside < content.len() {
                varint(content, &mut inside).ok_or_else(|| damaged(cut()))?;
            }
        }
        Floats | Doubles if wire_type == 2 => {
            let width = if known == Floats { 4 } else { 8 };
            if content.len() % width != 0 {
                let len = content.len();
                let what = format!("expected {width} bytes each, found {len} in all");
                return Err(damaged(what));
            }
        }
        Message(_) | Messages(_) => {
            let end = *at;
            *at -= content.len();
            return Ok((position, Some(end)));
        }
        _ => {}
    }
    Ok((position, None))
}

/// Steps over so many bytes.
fn part<'a>(bytes: &'a [u8], at: &mut usize, len: usize) -> Option<&'a [u8]> {
    let part = bytes.get(*at..)?.get(..len)?;
    *at += len;
    Some(part)
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

    /// Returns a model whose last bytes are the attribute's `doc_string`.
    fn sample() -> Vec<u8> {
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
        model.encode_to_vec()
    }

    #[track_caller]
    fn check(bytes: &[u8], expected: &str) {
        assert!(ModelProto::decode(bytes).is_err(), "the decoder reads it");
        let found = locate(bytes).map(|damage| damage.to_string());
        assert_eq!(found.as_deref(), Some(expected));
    }

    #[test]
    fn a_field_that_is_cut_is_found_with_its_path() {
        let mut bytes = sample();
        assert_eq!(locate(&bytes), None);
        // The length of the last text, which the rest of the file is, says more than there is.
        let place = bytes.len() - "last".len() - 1;
        assert_eq!(bytes[place], 4);
        bytes[place] = 5;
        let field = place - 1;
        let path = "graph.node[1].attribute[1].doc_string";
        check(
            &bytes,
            &format!("byte {field} in `{path}`: the field is cut off"),
        );
    }

    #[test]
    fn damage_inside_of_fields_is_found() {
        let mut bytes = sample();
        let place = bytes.len() - 1;
        bytes[place] = 0xff;
        let field = place - 5;
        let path = "graph.node[1].attribute[1].doc_string";
        check(
            &bytes,
            &format!(
                "byte {field} in `{path}`: expected UTF-8, found other bytes at byte 3 of the text"
            ),
        );
        // A name that is an integer, a version that is a text, two kinds of damaged lists.
        check(
            b"\x10\x01",
            "byte 0 in `producer_name`: expected a length and as many bytes, found an integer",
        );
        check(
            b"\x08\x01\x42\x03\x12\x01a",
            "byte 4 in `opset_import[0].version`: expected an integer, found a length and as many \
             bytes",
        );
        // Three bytes of a list of numbers of four bytes each, and an integer without an end.
        check(
            b"\x3a\x07\x2a\x05\x22\x03abc",
            "byte 4 in `graph.initializer[0].float_data`: expected 4 bytes each, found 3 in all",
        );
        check(
            b"\x3a\x05\x2a\x03\x3a\x01\x80",
            "byte 4 in `graph.initializer[0].int64_data`: the field is cut off",
        );
    }

    /// Returns a model with so many graphs, each in a node of the one around it; `innermost` are
    /// the bytes of the last one.
    fn nested(num_graphs: usize, innermost: &[u8]) -> Vec<u8> {
        let message = |tag: u8, content: &[u8]| {
            let mut bytes = vec![tag];
            prost::encode_length_delimiter(content.len(), &mut bytes).unwrap();
            bytes.extend_from_slice(content);
            bytes
        };
        let mut bytes = innermost.to_vec();
        for _ in 1..num_graphs {
            let attribute = message(0x32, &bytes);
            let node = message(0x2a, &attribute);
            bytes = message(0x0a, &node);
        }
        message(0x3a, &bytes)
    }

    #[test]
    fn messages_in_messages_have_a_limit() {
        let model = nested(61, &[]);
        assert!(ModelProto::decode(&model[..]).is_err());
        let found = locate(&model).unwrap().to_string();
        assert!(found.contains("limit `nesting`"), "{found}");
        assert!(found.chars().count() < 400, "{found}");
    }

    #[test]
    fn the_limit_is_that_of_the_decoder() {
        // The last graph is the 100th message; a node in it is one too many.
        let deepest = nested(34, &[]);
        assert!(ModelProto::decode(&deepest[..]).is_ok());
        assert_eq!(locate(&deepest), None);
        let too_deep = nested(34, b"\x0a\x00");
        assert!(ModelProto::decode(&too_deep[..]).is_err());
        let found = locate(&too_deep).unwrap().to_string();
        assert!(found.contains("limit `nesting`"), "{found}");
    }
}
