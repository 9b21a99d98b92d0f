//! Graphs of a model: values by name, and the nodes that produce them.

use std::collections::{BTreeMap, HashSet};
use std::fmt;

use tfrt_import::names::shown;
use tfrt_import::{ImportError, Limit, Limits, ListType};
use tfrt_support::DType;

use crate::attribute::Attribute;
use crate::element_type::ElementType;
use crate::proto::tensor_shape_proto::dimension;
use crate::proto::{
    FunctionProto, GraphProto, NodeProto, OperatorSetIdProto, TensorShapeProto, TypeProto,
    ValueInfoProto, type_proto,
};
use crate::tensor::{Tensor, TensorReader};

/// A graph.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Graph {
    /// Its name.
    pub name: String,
    /// The inputs of the caller; in the oldest files also those with a value in
    /// [`initializers`](Self::initializers).
    pub inputs: Vec<ValueInfo>,
    /// The outputs for the caller.
    pub outputs: Vec<ValueInfo>,
    /// Values that the file holds.
    pub initializers: Vec<Tensor>,
    /// The nodes, each after those whose values it takes.
    pub nodes: Vec<Node>,
}

/// A call of an op.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Node {
    /// Its name, which may be empty.
    pub name: String,
    /// Its place among the nodes of its graph in the file.
    pub index: usize,
    /// The op.
    pub op: String,
    /// The domain of the op; empty for ONNX's own.
    pub domain: String,
    /// The overload among the functions with this name.
    pub overload: String,
    /// The values that it takes; an empty name stands for one that is omitted.
    pub inputs: Vec<String>,
    /// The values that it produces; an empty name stands for an unused one.
    pub outputs: Vec<String>,
    /// The attributes, by name.
    pub attributes: BTreeMap<String, Attribute>,
}

impl Node {
    /// Describes the node for messages: by its name, or by its position and its outputs.
    #[must_use]
    pub fn label(&self) -> String {
        if !self.name.is_empty() {
            return format!("node '{}' ({})", shown(&self.name), shown(&self.op));
        }
        let made = self.outputs.iter().find(|name| !name.is_empty());
        let made = made.map_or_else(String::new, |name| format!(" that makes '{}'", shown(name)));
        format!("node #{} ({}){made}", self.index, shown(&self.op))
    }

    /// Returns the graphs that the node runs, with the names of their attributes.
    pub(crate) fn graphs(&self) -> impl Iterator<Item = (&str, &Graph)> {
        self.attributes
            .iter()
            .filter_map(|(name, attribute)| match attribute {
                Attribute::Graph(graph) => Some((name.as_str(), &**graph)),
                _ => None,
            })
    }
}

/// An input or output of a graph.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ValueInfo {
    /// Its name.
    pub name: String,
    /// Its type in the file.
    pub ty: ValueType,
}

impl fmt::Display for ValueInfo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", shown(&self.name), self.ty)
    }
}

/// The type of a value in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ValueType {
    /// A tensor.
    Tensor {
        /// The type of its elements, if it is known.
        element_type: Option<ElementType>,
        /// Its dimensions, if their number is known.
        dims: Option<Vec<Dim>>,
    },
    /// A list of values of one type.
    Sequence(Box<ValueType>),
    /// A value that need not be there.
    Optional(Box<ValueType>),
    /// A value of a kind that we do not have.
    Other(&'static str),
    /// The file does not specify it.
    Unknown,
}

impl ValueType {
    /// Returns the element type of a tensor, if it is known and we have it.
    #[must_use]
    pub fn element_dtype(&self) -> Option<DType> {
        match self {
            Self::Tensor { element_type, .. } => element_type.and_then(ElementType::dtype),
            _ => None,
        }
    }

    /// Returns the type of a list, or of a value that may be absent.
    #[must_use]
    pub fn list_type(&self) -> Option<ListType> {
        let (is_optional, inner) = match self {
            Self::Optional(inner) => (true, &**inner),
            other => (false, other),
        };
        let (is_sequence, element) = match inner {
            Self::Sequence(element) => (true, &**element),
            other => (false, other),
        };
        let dtype = element.element_dtype();
        (is_sequence || is_optional).then_some(ListType {
            is_sequence,
            is_optional,
            dtype,
        })
    }

    /// Returns a type with the same properties as a list.
    #[must_use]
    pub fn of_list(list: ListType) -> Self {
        let mut ty = Self::Tensor {
            element_type: list.dtype.and_then(ElementType::from_dtype),
            dims: None,
        };
        if list.is_sequence {
            ty = Self::Sequence(Box::new(ty));
        }
        if list.is_optional {
            ty = Self::Optional(Box::new(ty));
        }
        ty
    }
}

impl fmt::Display for ValueType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tensor { element_type, dims } => {
                match element_type {
                    Some(ty) => write!(f, "{ty}")?,
                    None => f.write_str("tensor")?,
                }
                let Some(dims) = dims else {
                    return Ok(());
                };
                let dims: Vec<String> = dims.iter().map(ToString::to_string).collect();
                write!(f, " [{}]", dims.join(", "))
            }
            Self::Sequence(element) => write!(f, "sequence of {element}"),
            Self::Optional(element) => write!(f, "optional {element}"),
            Self::Other(what) => f.write_str(what),
            Self::Unknown => f.write_str("unknown"),
        }
    }
}

/// A dimension that a file declares.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Dim {
    /// A number.
    Known(u64),
    /// A name for an unknown number.
    Symbol(String),
    /// Any number.
    Unknown,
}

impl fmt::Display for Dim {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Known(extent) => write!(f, "{extent}"),
            Self::Symbol(name) => write!(f, "{}", shown(name)),
            Self::Unknown => f.write_str("?"),
        }
    }
}

/// A function of a model: a graph that nodes can call like an op.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Function {
    /// Its body; inputs and outputs have no types.
    pub body: Graph,
    /// The attributes of a call.
    pub attributes: Vec<String>,
    /// Attributes that a call may omit.
    pub defaults: BTreeMap<String, Attribute>,
    /// The versions of the domains that its nodes mean.
    pub opsets: BTreeMap<String, i64>,
}

/// Reads graphs, and counts their nodes.
pub(crate) struct GraphReader<'a> {
    pub(crate) tensors: &'a TensorReader,
    pub(crate) num_nodes: u64,
}

impl GraphReader<'_> {
    /// Reads a graph that is so deep in others.
    pub(crate) fn graph(&mut self, proto: &GraphProto, depth: u64) -> Result<Graph, ImportError> {
        self.tensors.limits.check(Limit::Subgraphs, depth)?;
        let read = self.unnamed_graph(proto, depth);
        match depth {
            0 => read,
            _ => read.map_err(|error| error.within(format!("graph '{}'", shown(proto.name())))),
        }
    }

    fn unnamed_graph(&mut self, proto: &GraphProto, depth: u64) -> Result<Graph, ImportError> {
        let mut initializers = Vec::with_capacity(proto.initializer.len());
        for tensor in &proto.initializer {
            initializers.push(self.tensors.read(tensor)?);
        }
        for tensor in &proto.sparse_initializer {
            initializers.push(self.tensors.read_sparse(tensor)?);
        }
        let limits = &self.tensors.limits;
        let infos = |what: &str, infos: &[ValueInfoProto]| -> Result<Vec<ValueInfo>, ImportError> {
            let infos = infos.iter().map(|info| {
                let place = || format!("{what} `{}`", shown(info.name()));
                value_info(info, limits).map_err(|error| error.within(place()))
            });
            infos.collect()
        };
        Ok(Graph {
            name: proto.name().to_owned(),
            inputs: infos("input", &proto.input)?,
            outputs: infos("output", &proto.output)?,
            initializers,
            nodes: self.nodes(&proto.node, depth)?,
        })
    }

    fn nodes(&mut self, protos: &[NodeProto], depth: u64) -> Result<Vec<Node>, ImportError> {
        self.num_nodes += protos.len() as u64;
        self.tensors.limits.check(Limit::Nodes, self.num_nodes)?;
        let mut nodes = Vec::with_capacity(protos.len());
        for (index, proto) in protos.iter().enumerate() {
            nodes.push(self.node(proto, index, depth)?);
        }
        Ok(nodes)
    }

    fn node(&mut self, proto: &NodeProto, index: usize, depth: u64) -> Result<Node, ImportError> {
        let mut node = Node {
            name: proto.name().to_owned(),
            index,
            op: proto.op_type().to_owned(),
            domain: domain(proto.domain()).to_owned(),
            overload: proto.overload().to_owned(),
            inputs: proto.input.clone(),
            outputs: proto.output.clone(),
            attributes: BTreeMap::new(),
        };
        for attribute in &proto.attribute {
            let read = self.attribute(attribute, depth);
            let read = read.map_err(|error| error.within(node.label()))?;
            let name = attribute.name().to_owned();
            if node.attributes.insert(name, read).is_some() {
                let message = format!("attribute `{}` is given twice", shown(attribute.name()));
                return Err(ImportError::new(message).within(node.label()));
            }
        }
        Ok(node)
    }

    pub(crate) fn function(&mut self, proto: &FunctionProto) -> Result<Function, ImportError> {
        let untyped = |names: &[String]| {
            let infos = names.iter().map(|name| ValueInfo {
                name: name.clone(),
                ty: ValueType::Unknown,
            });
            infos.collect::<Vec<_>>()
        };
        let body = Graph {
            name: proto.name().to_owned(),
            inputs: untyped(&proto.input),
            outputs: untyped(&proto.output),
            initializers: Vec::new(),
            nodes: self.nodes(&proto.node, 0)?,
        };
        let mut defaults = BTreeMap::new();
        for attribute in &proto.attribute_proto {
            let read = self.attribute(attribute, 0)?;
            defaults.insert(attribute.name().to_owned(), read);
        }
        Ok(Function {
            body,
            attributes: proto.attribute.clone(),
            defaults,
            opsets: opsets(&proto.opset_import)?,
        })
    }
}

/// Returns the versions of domains, each of which has one.
pub(crate) fn opsets(protos: &[OperatorSetIdProto]) -> Result<BTreeMap<String, i64>, ImportError> {
    let mut opsets = BTreeMap::new();
    for proto in protos {
        let name = domain(proto.domain());
        let before = opsets.insert(name.to_owned(), proto.version());
        if let Some(before) = before.filter(|&before| before != proto.version()) {
            return Err(ImportError::new(format!(
                "expected one version of domain `{}`, found {before} and {}",
                shown(if name.is_empty() { "ai.onnx" } else { name }),
                proto.version()
            )));
        }
    }
    Ok(opsets)
}

/// Returns a domain: `ai.onnx` has two names.
pub(crate) fn domain(name: &str) -> &str {
    match name {
        "ai.onnx" => "",
        name => name,
    }
}

fn value_info(proto: &ValueInfoProto, limits: &Limits) -> Result<ValueInfo, ImportError> {
    let ty = proto.r#type.as_ref();
    let ty = ty.map(|ty| value_type(ty, limits)).transpose()?;
    Ok(ValueInfo {
        name: proto.name().to_owned(),
        ty: ty.unwrap_or(ValueType::Unknown),
    })
}

/// The depth of types in types is bounded by the decoder of messages.
fn value_type(proto: &TypeProto, limits: &Limits) -> Result<ValueType, ImportError> {
    let element = |ty: &Option<Box<TypeProto>>| {
        let ty = ty.as_deref().map(|ty| value_type(ty, limits)).transpose()?;
        Ok::<_, ImportError>(Box::new(ty.unwrap_or(ValueType::Unknown)))
    };
    Ok(match &proto.value {
        Some(type_proto::Value::TensorType(tensor)) => {
            let code = tensor.elem_type();
            let element_type = ElementType::from_code(code);
            if element_type.is_none() && code != 0 {
                return Err(ImportError::new(format!("unknown element type {code}")));
            }
            let dims = tensor.shape.as_ref();
            let dims = dims.map(|shape| declared_dims(shape, limits)).transpose()?;
            ValueType::Tensor { element_type, dims }
        }
        Some(type_proto::Value::SequenceType(sequence)) => {
            ValueType::Sequence(element(&sequence.elem_type)?)
        }
        Some(type_proto::Value::OptionalType(optional)) => {
            ValueType::Optional(element(&optional.elem_type)?)
        }
        Some(type_proto::Value::MapType(_)) => ValueType::Other("map"),
        Some(type_proto::Value::SparseTensorType(_)) => ValueType::Other("sparse tensor"),
        Some(type_proto::Value::OpaqueType(_)) => ValueType::Other("opaque"),
        None => ValueType::Unknown,
    })
}

/// Returns the dimensions that a file declares.
fn declared_dims(shape: &TensorShapeProto, limits: &Limits) -> Result<Vec<Dim>, ImportError> {
    limits.check(Limit::Rank, shape.dim.len() as u64)?;
    let dims = shape.dim.iter().map(|dim| match &dim.value {
        // Some exporters write a dimension that they do not know as -1.
        Some(dimension::Value::DimValue(-1)) => Ok(Dim::Unknown),
        Some(dimension::Value::DimValue(extent)) => {
            let extent = u64::try_from(*extent).map_err(|_| {
                ImportError::new(format!("expected dimensions of at least 0, found {extent}"))
            })?;
            limits.check(Limit::Extent, extent)?;
            Ok(Dim::Known(extent))
        }
        Some(dimension::Value::DimParam(name)) if !name.is_empty() => Ok(Dim::Symbol(name.clone())),
        _ => Ok(Dim::Unknown),
    });
    dims.collect()
}

/// Returns the names that the nodes of a graph, and graphs in them, take from outside of it.
pub(crate) fn captures(graph: &Graph) -> HashSet<&str> {
    let mut made: HashSet<&str> = HashSet::new();
    made.extend(graph.inputs.iter().map(|info| info.name.as_str()));
    made.extend(graph.initializers.iter().map(|t| t.name.as_str()));
    let results = graph.nodes.iter().flat_map(|node| &node.outputs);
    made.extend(results.map(String::as_str));
    let mut used: HashSet<&str> = HashSet::new();
    used.extend(graph.outputs.iter().map(|info| info.name.as_str()));
    for node in &graph.nodes {
        used.extend(node.inputs.iter().map(String::as_str));
        for (_, inner) in node.graphs() {
            used.extend(captures(inner));
        }
    }
    used.retain(|name| !name.is_empty() && !made.contains(name));
    used
}
