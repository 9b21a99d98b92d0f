//! Attributes of nodes.

use bytes::Bytes;
use tfrt_import::names::shown;
use tfrt_import::{ImportError, Limit};

use crate::graph::{Graph, GraphReader};
use crate::proto::AttributeProto;
use crate::proto::attribute_proto::AttributeType;
use crate::tensor::Tensor;

/// The value of an attribute.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Attribute {
    /// A number.
    Float(f32),
    /// An integer.
    Int(i64),
    /// A text, which need not be UTF-8.
    Text(Bytes),
    /// A tensor.
    Tensor(Tensor),
    /// A graph that the node runs.
    Graph(Box<Graph>),
    /// Numbers.
    Floats(Vec<f32>),
    /// Integers.
    Ints(Vec<i64>),
    /// Texts.
    Texts(Vec<Bytes>),
    /// An unsupported value: a type, or a list of tensors or graphs.
    Other(&'static str),
    /// The attribute of the function around the node that has this name.
    Reference(String),
}

impl Attribute {
    /// Returns the kind of the value, as tables of ops spell it: see [`crate::opset`].
    #[must_use]
    pub fn kind(&self) -> Option<char> {
        Some(match self {
            Self::Float(_) => 'f',
            Self::Int(_) => 'i',
            Self::Text(_) => 's',
            Self::Tensor(_) => 't',
            Self::Graph(_) => 'g',
            Self::Floats(_) => 'F',
            Self::Ints(_) => 'I',
            Self::Texts(_) => 'S',
            Self::Other(_) | Self::Reference(_) => return None,
        })
    }

    /// Describes the value, for messages.
    #[must_use]
    pub fn description(&self) -> &'static str {
        match self {
            Self::Other(what) => what,
            Self::Reference(_) => "a reference",
            _ => describe(self.kind().unwrap_or_default()),
        }
    }
}

/// Describes a kind of attribute, for messages.
#[must_use]
pub fn describe(kind: char) -> &'static str {
    match kind {
        'f' => "a number",
        'i' => "an integer",
        's' => "a text",
        't' => "a tensor",
        'g' => "a graph",
        'F' => "a list of numbers",
        'I' => "a list of integers",
        'S' => "a list of strings",
        'T' => "a list of tensors",
        'G' => "a list of graphs",
        'p' => "a sparse tensor",
        'y' => "a type",
        _ => "an unsupported attribute",
    }
}

impl GraphReader<'_> {
    /// Reads an attribute.
    pub(crate) fn attribute(
        &mut self,
        proto: &AttributeProto,
        depth: u64,
    ) -> Result<Attribute, ImportError> {
        self.unnamed_attribute(proto, depth)
            .map_err(|error| error.within(format!("attribute `{}`", shown(proto.name()))))
    }

    fn unnamed_attribute(
        &mut self,
        proto: &AttributeProto,
        depth: u64,
    ) -> Result<Attribute, ImportError> {
        if let Some(name) = proto.ref_attr_name.as_ref().filter(|name| !name.is_empty()) {
            return Ok(Attribute::Reference(name.clone()));
        }
        let limits = &self.tensors.limits;
        let list = |len: usize| limits.check(Limit::ListElements, len as u64);
        let text = |text: &Bytes| limits.check(Limit::TextBytes, text.len() as u64);
        let missing =
            |what: &str| ImportError::new(format!("expected {what} as its value, found none"));
        Ok(match type_of(proto)? {
            AttributeType::Float => Attribute::Float(proto.f()),
            AttributeType::Int => Attribute::Int(proto.i()),
            AttributeType::String => {
                let value = proto.s.clone().unwrap_or_default();
                text(&value)?;
                Attribute::Text(value)
            }
            AttributeType::Tensor => {
                let tensor = proto.t.as_ref().ok_or_else(|| missing("a tensor"))?;
                Attribute::Tensor(self.tensors.read(tensor)?)
            }
            AttributeType::SparseTensor => {
                let tensor = proto.sparse_tensor.as_ref();
                let tensor = tensor.ok_or_else(|| missing("a sparse tensor"))?;
                Attribute::Tensor(self.tensors.read_sparse(tensor)?)
            }
            AttributeType::Graph => {
                let graph = proto.g.as_ref().ok_or_else(|| missing("a graph"))?;
                Attribute::Graph(Box::new(self.graph(graph, depth + 1)?))
            }
            AttributeType::Floats => {
                list(proto.floats.len())?;
                Attribute::Floats(proto.floats.clone())
            }
            AttributeType::Ints => {
                list(proto.ints.len())?;
                Attribute::Ints(proto.ints.clone())
            }
            AttributeType::Strings => {
                list(proto.strings.len())?;
                proto.strings.iter().try_for_each(text)?;
                Attribute::Texts(proto.strings.clone())
            }
            AttributeType::TypeProto => Attribute::Other("a type"),
            AttributeType::Tensors => Attribute::Other("a list of tensors"),
            AttributeType::Graphs => Attribute::Other("a list of graphs"),
            AttributeType::SparseTensors => Attribute::Other("a list of sparse tensors"),
            AttributeType::TypeProtos => Attribute::Other("a list of types"),
            AttributeType::Undefined => {
                return Err(ImportError::new(
                    "expected a type or a value, found neither",
                ));
            }
        })
    }
}

/// Returns the type of an attribute. The oldest files leave it out: then it is that of the field
/// that is set.
fn type_of(proto: &AttributeProto) -> Result<AttributeType, ImportError> {
    let code = proto.r#type.unwrap_or_default();
    let ty = AttributeType::try_from(code)
        .map_err(|_| ImportError::new(format!("unknown attribute type {code}")))?;
    let fields = [
        (proto.f.is_some(), AttributeType::Float),
        (proto.i.is_some(), AttributeType::Int),
        (proto.s.is_some(), AttributeType::String),
        (proto.t.is_some(), AttributeType::Tensor),
        (proto.g.is_some(), AttributeType::Graph),
        (!proto.floats.is_empty(), AttributeType::Floats),
        (!proto.ints.is_empty(), AttributeType::Ints),
        (!proto.strings.is_empty(), AttributeType::Strings),
        (proto.sparse_tensor.is_some(), AttributeType::SparseTensor),
        (proto.tp.is_some(), AttributeType::TypeProto),
        (!proto.tensors.is_empty(), AttributeType::Tensors),
        (!proto.graphs.is_empty(), AttributeType::Graphs),
        (
            !proto.sparse_tensors.is_empty(),
            AttributeType::SparseTensors,
        ),
        (!proto.type_protos.is_empty(), AttributeType::TypeProtos),
    ];
    let mut set = fields.iter().filter(|(is_set, _)| *is_set);
    let (first, second) = (set.next(), set.next());
    if let (Some((_, first)), Some((_, second))) = (first, second) {
        return Err(ImportError::new(format!(
            "expected one value, found {} and {}",
            describe_type(*first),
            describe_type(*second)
        )));
    }
    let found = first.map_or(AttributeType::Undefined, |(_, found)| *found);
    match ty {
        AttributeType::Undefined => Ok(found),
        // An empty list and a default value may be left out.
        _ if found == AttributeType::Undefined || found == ty => Ok(ty),
        _ => Err(ImportError::new(format!(
            "expected {}, as its type says, found {}",
            describe_type(ty),
            describe_type(found)
        ))),
    }
}

fn describe_type(ty: AttributeType) -> &'static str {
    describe(match ty {
        AttributeType::Float => 'f',
        AttributeType::Int => 'i',
        AttributeType::String => 's',
        AttributeType::Tensor => 't',
        AttributeType::Graph => 'g',
        AttributeType::Floats => 'F',
        AttributeType::Ints => 'I',
        AttributeType::Strings => 'S',
        AttributeType::Tensors => 'T',
        AttributeType::Graphs => 'G',
        AttributeType::SparseTensor => 'p',
        AttributeType::TypeProto => 'y',
        AttributeType::SparseTensors | AttributeType::TypeProtos | AttributeType::Undefined => '?',
    })
}
