//! From models to programs of our ops.
//!
//! ```text
//!  node ──check──► schema of its version ──adapt──► newest form ──lower──► calls of ops
//! ```
//!
//! Each node is checked against ONNX's declaration of its op in the version that the model uses,
//! converted to the newest version, and lowered. Unsupported nodes are collected, so one import
//! reports all of them.
//!
//! A node of another domain calls a function of the model, or else an op that another crate
//! registers: see [`OnnxOp`](crate::OnnxOp).

mod adapt;

mod call;

mod control;

pub(crate) mod onnx_call;

mod ops;

mod registered;

mod types;

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use tfrt_import::names::shown;
use tfrt_import::program::{Program, ProgramBuilder, Value};
use tfrt_import::report::{Unsupported, UnsupportedKind};
use tfrt_import::{ImportError, InputDim, InputType, Limit, Limits};
use tfrt_support::nearest::{did_you_mean, nearest};
use tfrt_tensor::DenseHostTensor;

use crate::attribute::{Attribute, describe};
use crate::element_type::ElementType;
use crate::graph::{Dim, Function, Graph, Node, ValueType, captures};
use crate::model::Model;
use crate::onnx_op::OnnxOps;
use crate::opset::{self, NEWEST_OPSET, Schema, SinceNewest};
use crate::tensor::{Tensor, TensorData};

use call::Call;
use types::Types;

/// Attributes of the oldest files that mean nothing.
const LEFTOVERS: &[&str] = &["consumed_inputs", "consumed_outputs", "is_test"];

/// Ops whose first operands may be omitted, though others must follow.
const SPARSE: &[&str] = &["Loop", "Resize", "Scan"];

/// The options of an import.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Options {
    /// The outputs that are wanted; by default all. Nodes and inputs that they do not need are left
    /// out.
    pub outputs: Option<Vec<String>>,
    /// Whether a model of an opset above the newest known one is read as one of that.
    pub assumes_opset: bool,
    /// Tensors in place of the model's own for [optional inputs](Model::optional_inputs), by name.
    pub given: HashMap<String, DenseHostTensor>,
    /// The limits on the size of the program.
    pub limits: Limits,
    /// The ops with domains of their own; by default those that are linked.
    pub ops: OnnxOps,
}

/// The reasons why a model is not imported.
#[derive(Clone, Debug)]
pub enum ImportFailure {
    /// It breaks a rule.
    Broken(ImportError),
    /// It needs unsupported features.
    Unsupported(Unsupported),
}

impl std::fmt::Display for ImportFailure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Broken(error) => error.fmt(f),
            Self::Unsupported(unsupported) => unsupported.fmt(f),
        }
    }
}

impl std::error::Error for ImportFailure {}

impl From<ImportError> for ImportFailure {
    fn from(error: ImportError) -> Self {
        Self::Broken(error)
    }
}

impl Model {
    /// Converts the model to a program with its weights.
    ///
    /// ```
    /// use prost::Message;
    /// use tfrt_import::Limits;
    /// use tfrt_onnx::import::Options;
    /// use tfrt_onnx::Model;
    /// use tfrt_onnx::proto::{GraphProto, ModelProto, NodeProto, OperatorSetIdProto, ValueInfoProto};
    ///
    /// let value = |name: &str| ValueInfoProto { name: Some(name.into()), ..Default::default() };
    /// let relu = NodeProto {
    ///     name: Some("/act".into()),
    ///     op_type: Some("Relu".into()),
    ///     input: vec!["x".into()],
    ///     output: vec!["y".into()],
    ///     ..Default::default()
    /// };
    /// let file = ModelProto {
    ///     ir_version: Some(10),
    ///     opset_import: vec![OperatorSetIdProto { version: Some(20), ..Default::default() }],
    ///     graph: Some(GraphProto {
    ///         node: vec![relu],
    ///         input: vec![value("x")],
    ///         output: vec![value("y")],
    ///         ..Default::default()
    ///     }),
    ///     ..Default::default()
    /// };
    /// let model = Model::from_bytes(file.encode_to_vec(), &Limits::default())?;
    /// let program = model.import(&Options::default())?;
    /// assert_eq!((program.inputs, program.outputs), (vec!["x".to_owned()], vec!["y".to_owned()]));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// A violated rule, with its node; or all unsupported features.
    pub fn import(&self, options: &Options) -> Result<Program, ImportFailure> {
        self.check_given(&options.given)?;
        let mut lowering = Lowering {
            model: self,
            given: &options.given,
            limits: &options.limits,
            ops: &options.ops,
            builder: ProgramBuilder::default(),
            unsupported: Unsupported::default(),
            num_nodes: 0,
            functions: Vec::new(),
            types: Types::default(),
            num_open_graphs: 0,
            unrolled_factor: 1,
            assumes_opset: options.assumes_opset,
            needed: options
                .outputs
                .as_deref()
                .map(|names| needed(self.graph(), names)),
        };
        let mut scope = Scope::new(self.opset(""), None);
        for input in self.inputs() {
            if !lowering.needs(std::slice::from_ref(&input.name)) {
                continue;
            }
            if let Some(what) = unsupported_type(&input.ty) {
                let what = format!("inputs of type {what}");
                let kind = UnsupportedKind::Type;
                lowering.unsupported.add(kind, what, &input.name, "");
                scope.bind(&input.name, Known::Missing);
                continue;
            }
            let value = match declared(&input.ty) {
                Some(declared) => lowering.builder.declared_input(&input.name, declared),
                None => lowering.builder.input(&input.name),
            };
            if let ValueType::Tensor {
                element_type: Some(element_type),
                ..
            } = input.ty
            {
                lowering.types.declare(value, element_type);
            }
            scope.bind(&input.name, Known::Value(value));
        }
        lowering.graph(self.graph(), &mut scope)?;
        let wanted: Vec<&str> = match &options.outputs {
            Some(names) => names.iter().map(String::as_str).collect(),
            None => self
                .outputs()
                .iter()
                .map(|info| info.name.as_str())
                .collect(),
        };
        let mut outputs = Vec::new();
        for name in wanted {
            match scope.value(name, &mut lowering.builder) {
                Some(value) => outputs.push((name, value)),
                // Nothing makes it, as its node is not supported.
                None if !lowering.unsupported.is_empty() => {}
                None => {
                    let nodes = self.graph().nodes.iter();
                    let made = nodes.flat_map(|node| &node.outputs);
                    let inputs = self.graph().inputs.iter().map(|input| &input.name);
                    let known = made.chain(inputs).map(String::as_str);
                    let hint = did_you_mean(&nearest(name, known));
                    let message = format!("unknown value '{}'{hint}", shown(name));
                    return Err(ImportError::new(message).into());
                }
            }
        }
        match lowering.unsupported.is_empty() {
            true => {
                let mut program = lowering.builder.finish(&outputs);
                let outputs = self.outputs().iter();
                let types: HashMap<&str, &ValueType> =
                    outputs.map(|info| (info.name.as_str(), &info.ty)).collect();
                let names = program.outputs.iter();
                let types = names.map(|name| declared(types.get(name.as_str())?));
                program.output_types = types.collect();
                let infos = self.inputs().chain(self.outputs());
                let lists = infos.filter_map(|info| Some((&info.name, info.ty.list_type()?)));
                let is_named =
                    |name: &String| program.inputs.contains(name) || program.outputs.contains(name);
                program.lists = lists
                    .filter(|(name, _)| is_named(name))
                    .map(|(name, list)| (name.clone(), list))
                    .collect();
                Ok(program)
            }
            false => Err(ImportFailure::Unsupported(lowering.unsupported)),
        }
    }

    /// Checks that tensors are for optional inputs, and of their types.
    fn check_given(&self, given: &HashMap<String, DenseHostTensor>) -> Result<(), ImportError> {
        for (name, tensor) in given {
            let optional = || self.optional_inputs().map(|input| input.name.as_str());
            if !optional().any(|known| known == name) {
                let hint = did_you_mean(&nearest(name, optional()));
                let message = format!("the model has no optional input '{}'{hint}", shown(name));
                return Err(ImportError::new(message));
            }
            let mut own = self.graph().initializers.iter();
            let own = own.find(|own| own.name == *name);
            let expected = own.and_then(|own| own.element_type.dtype());
            if expected.is_some_and(|expected| expected != tensor.dtype()) {
                let own = own.map_or_else(String::new, |own| own.element_type.to_string());
                return Err(ImportError::new(format!(
                    "input '{}': expected elements of {own}, found {}",
                    shown(name),
                    tensor.dtype()
                )));
            }
        }
        Ok(())
    }

    /// Returns all unsupported features of the model, by importing it.
    ///
    /// # Errors
    /// A violated rule, with its node.
    pub fn unsupported(&self) -> Result<Unsupported, ImportError> {
        match self.import(&Options::default()) {
            Ok(_) => Ok(Unsupported::default()),
            Err(ImportFailure::Unsupported(unsupported)) => Ok(unsupported),
            Err(ImportFailure::Broken(error)) => Err(error),
        }
    }
}

/// Returns the values of a graph that some of them need, themselves included.
fn needed(graph: &Graph, wanted: &[String]) -> HashSet<String> {
    let mut needed: HashSet<String> = wanted.iter().cloned().collect();
    // Each node is after those whose values it takes.
    for node in graph.nodes.iter().rev() {
        if !node.outputs.iter().any(|name| needed.contains(name)) {
            continue;
        }
        let inner = node.graphs().flat_map(|(_, graph)| captures(graph));
        let inputs = node.inputs.iter().map(String::as_str).chain(inner);
        needed.extend(inputs.filter(|name| !name.is_empty()).map(str::to_owned));
    }
    needed
}

/// Returns the part of a type that is not supported.
fn unsupported_type(ty: &ValueType) -> Option<String> {
    match ty {
        ValueType::Tensor { element_type, .. } => {
            let element_type = element_type.as_ref()?;
            (!element_type.is_supported()).then(|| element_type.to_string())
        }
        ValueType::Sequence(element) | ValueType::Optional(element) => unsupported_type(element),
        ValueType::Other(what) => Some((*what).to_owned()),
        ValueType::Unknown => None,
    }
}

/// Returns the declared type of an input or output that is a tensor.
fn declared(ty: &ValueType) -> Option<InputType> {
    let ValueType::Tensor { element_type, dims } = ty else {
        return None;
    };
    let dims = dims.as_ref().map(|dims| {
        let dims = dims.iter().map(|dim| match dim {
            Dim::Known(extent) => {
                usize::try_from(*extent).map_or(InputDim::Unknown, InputDim::Fixed)
            }
            Dim::Symbol(name) => InputDim::Symbol(name.clone()),
            Dim::Unknown => InputDim::Unknown,
        });
        dims.collect()
    });
    Some(InputType {
        dtype: element_type.and_then(ElementType::dtype),
        dims,
    })
}

/// The known properties of a value.
#[derive(Clone, Debug)]
enum Known {
    Value(Value),
    /// A tensor of the file, which becomes a weight when it is needed.
    Constant(Tensor),
    /// An operand of a function that its caller omitted.
    Absent,
    /// Its node is not supported.
    Missing,
}

/// The attributes of a node.
type Attributes = BTreeMap<String, Attribute>;

/// The values that nodes see.
#[derive(Debug)]
struct Scope<'a> {
    values: HashMap<String, Known>,
    /// Weights, by the names that they have here.
    tensors: HashMap<String, Value>,
    /// The names that a graph in a node has bound, with their previous meanings.
    bound: Vec<(String, Option<Known>)>,
    opset: Option<i64>,
    /// The function whose body this is, and the attributes of its call.
    function: Option<(&'a Function, Arc<Attributes>)>,
}

impl<'a> Scope<'a> {
    fn new(opset: Option<i64>, function: Option<(&'a Function, Arc<Attributes>)>) -> Self {
        Self {
            values: HashMap::new(),
            tensors: HashMap::new(),
            bound: Vec::new(),
            opset,
            function,
        }
    }

    /// Returns what imports the domains of nodes here, for messages.
    fn importer(&self) -> &'static str {
        match self.function {
            Some(_) => "function",
            None => "model",
        }
    }

    /// Defines the meaning of a name from here on. An empty name is that of an unused result.
    fn bind(&mut self, name: &str, known: Known) {
        if name.is_empty() {
            return;
        }
        let before = self.values.insert(name.to_owned(), known);
        self.bound.push((name.to_owned(), before));
    }

    /// Removes the names that were bound after the mark.
    fn unbind(&mut self, mark: usize) {
        for (name, before) in self.bound.drain(mark..).rev() {
            self.tensors.remove(&name);
            match before {
                Some(before) => self.values.insert(name, before),
                None => self.values.remove(&name),
            };
        }
    }

    /// Returns the value of a name.
    fn value(&mut self, name: &str, builder: &mut ProgramBuilder) -> Option<Value> {
        match self.values.get(name)? {
            Known::Value(value) => Some(*value),
            Known::Missing | Known::Absent => None,
            Known::Constant(tensor) => {
                let TensorData::Dense(dense) = &tensor.data else {
                    return None;
                };
                if let Some(&value) = self.tensors.get(name) {
                    return Some(value);
                }
                let value = builder.weight(name, dense.clone());
                self.tensors.insert(name.to_owned(), value);
                Some(value)
            }
        }
    }
}

struct Lowering<'a> {
    model: &'a Model,
    given: &'a HashMap<String, DenseHostTensor>,
    limits: &'a Limits,
    ops: &'a OnnxOps,
    builder: ProgramBuilder,
    unsupported: Unsupported,
    /// Nodes so far, functions inlined.
    num_nodes: u64,
    /// The functions that are being inlined, outermost first.
    functions: Vec<&'a Function>,
    types: Types,
    /// The graphs of nodes that are being lowered, those of calling functions included.
    num_open_graphs: u64,
    /// How often the graph that is being lowered is written, because of loops that are unrolled.
    unrolled_factor: usize,
    assumes_opset: bool,
    /// The values of the model's graph that the wanted outputs need; `None` if all are wanted.
    needed: Option<HashSet<String>>,
}

impl<'a> Lowering<'a> {
    /// Returns `true` if the wanted outputs need one of these values of the model's graph.
    fn needs(&self, names: &[String]) -> bool {
        let needed = self.needed.as_ref();
        needed.is_none_or(|needed| names.iter().any(|name| needed.contains(name)))
    }

    fn graph(&mut self, graph: &Graph, scope: &mut Scope<'a>) -> Result<(), ImportError> {
        // Graphs in nodes are lowered as a whole.
        let is_outermost = std::ptr::eq(graph, self.model.graph());
        for tensor in &graph.initializers {
            if is_outermost && !self.needs(std::slice::from_ref(&tensor.name)) {
                continue;
            }
            if let Some(given) = self.given.get(&tensor.name).filter(|_| is_outermost) {
                let given = Tensor::of(&tensor.name, given.clone())?;
                scope.bind(&tensor.name, Known::Constant(given));
                continue;
            }
            let known = match tensor.data {
                TensorData::Dense(_) if tensor.element_type.is_supported() => {
                    Known::Constant(tensor.clone())
                }
                _ => {
                    let what = format!("tensors of {}", tensor.element_type);
                    let kind = UnsupportedKind::Type;
                    self.unsupported.add(kind, what, &tensor.name, "");
                    Known::Missing
                }
            };
            scope.bind(&tensor.name, known);
        }
        for node in &graph.nodes {
            if is_outermost && !self.needs(&node.outputs) {
                continue;
            }
            self.num_nodes += 1;
            let lowered = self.limits.check(Limit::Nodes, self.num_nodes);
            let lowered = lowered.and_then(|()| self.node(node, scope));
            // A node may become many ops.
            let num_ops = self.builder.num_ops() as u64;
            lowered
                .and_then(|()| self.limits.check(Limit::Nodes, num_ops))
                .and_then(|()| {
                    self.limits
                        .check(Limit::ProgramBytes, self.builder.len_bytes())
                })
                .map_err(|error| error.within(node.label()))?;
        }
        Ok(())
    }

    fn node(&mut self, node: &Node, scope: &mut Scope<'a>) -> Result<(), ImportError> {
        let node = &*bound(node, scope)?;
        let name = (node.domain.clone(), node.op.clone(), node.overload.clone());
        if let Some(function) = self.model.functions().get(&name)
            && !node.domain.is_empty()
        {
            return self.inline(function, node, scope);
        }
        if !node.domain.is_empty() {
            return self.registered(node, scope);
        }
        let Some(opset) = scope.opset else {
            return Err(ImportError::new(format!(
                "expected the {} to import ai.onnx, found no import",
                scope.importer()
            )));
        };
        let since_newest = opset::since_newest(&node.op, opset);
        if let SinceNewest::Changed(version) = since_newest
            && !self.assumes_opset
        {
            let what = format!("{} in opset {opset}", shown(&node.op));
            let hint = format!(
                "opset {version} changed the operator, and the newest known is {NEWEST_OPSET}; \
                 `--assume-opset` reads the model as one of it"
            );
            self.missing(node, scope, UnsupportedKind::OperatorVersion, &what, &hint);
            return Ok(());
        }
        let newest = opset::versions(&node.op).last();
        let Some(newest) = newest else {
            let hint = did_you_mean(&nearest(&node.op, opset::op_names()));
            let hint = format!("no operator of this name{hint}");
            let what = shown(&node.op).to_string();
            self.missing(node, scope, UnsupportedKind::Operator, &what, &hint);
            return Ok(());
        };
        if since_newest == SinceNewest::Unknown && !self.assumes_opset {
            let what = format!("opset {opset} of ai.onnx");
            let hint = format!(
                "the newest known is {NEWEST_OPSET}; `--assume-opset` reads the model as one of it"
            );
            self.missing(node, scope, UnsupportedKind::Opset, &what, &hint);
            return Ok(());
        }
        let Some(schema) = opset::schema_of(&node.op, opset) else {
            let first = opset::versions(&node.op)[0].since;
            let what = format!("{} in opset {opset}", node.op);
            let hint = format!("the operator exists since opset {first}");
            self.missing(node, scope, UnsupportedKind::OperatorVersion, &what, &hint);
            return Ok(());
        };
        let is_wanted = |name: &&String| !name.is_empty();
        let is_missing = |name: &String| matches!(scope.values.get(name), Some(Known::Missing));
        if node.inputs.iter().filter(is_wanted).any(is_missing) {
            // It was told of where the value would have been made; what else this node lacks is
            // told, too.
            if !ops::is_known(&node.op) && !control::OPS.contains(&node.op.as_str()) {
                let what = format!("{} (version {})", node.op, schema.since);
                self.missing(node, scope, UnsupportedKind::Operator, &what, "");
            }
            for output in &node.outputs {
                scope.bind(output, Known::Missing);
            }
            return Ok(());
        }
        check(node, schema)?;
        let types = self.types.check(node, scope, schema.since)?;
        if control::OPS.contains(&node.op.as_str()) {
            let Some(results) = self.control(node, schema.since, scope)? else {
                let what = format!("{} (version {})", node.op, schema.since);
                self.missing(node, scope, UnsupportedKind::Operator, &what, "");
                return Ok(());
            };
            for (name, known) in node.outputs.iter().zip(results) {
                scope.bind(name, known);
            }
            return Ok(());
        }
        let mut call = Call::new(node, schema.since, newest.since, scope, &mut self.builder);
        call.result_type = types.first().copied().flatten();
        adapt::adapt(&mut call)?;
        match ops::lower(&mut call)? {
            Some(results) => {
                self.types.bind(results.iter(), types);
                for (name, value) in node.outputs.iter().zip(results) {
                    scope.bind(name, value);
                }
            }
            None => {
                let (kind, what) = call.reason.take().unwrap_or_else(|| {
                    let what = format!("{} (version {})", node.op, schema.since);
                    (UnsupportedKind::Operator, what)
                });
                self.missing(node, scope, kind, &what, "");
            }
        }
        Ok(())
    }

    /// Records a node that is not supported.
    fn missing(
        &mut self,
        node: &Node,
        scope: &mut Scope<'_>,
        kind: UnsupportedKind,
        what: &str,
        hint: &str,
    ) {
        match node.name.is_empty() {
            true => self.unsupported.add(kind, what, &node.label(), hint),
            false => self.unsupported.add(kind, what, &node.name, hint),
        }
        for output in &node.outputs {
            scope.bind(output, Known::Missing);
        }
    }

    fn inline(
        &mut self,
        function: &'a Function,
        node: &Node,
        scope: &mut Scope<'a>,
    ) -> Result<(), ImportError> {
        let counts = [
            ("operands", node.inputs.len(), function.body.inputs.len()),
            ("results", node.outputs.len(), function.body.outputs.len()),
        ];
        for (what, given, known) in counts {
            if given > known {
                return Err(ImportError::new(format!(
                    "expected at most {known} {what}, found {given}"
                )));
            }
        }
        if self
            .functions
            .iter()
            .any(|&running| std::ptr::eq(running, function))
        {
            return Err(ImportError::new("the function calls itself"));
        }
        self.limits
            .check(Limit::FunctionCalls, self.functions.len() as u64 + 1)?;
        let is_known = |name: &str| {
            function.defaults.contains_key(name) || function.attributes.iter().any(|a| a == name)
        };
        if let Some(name) = node.attributes.keys().find(|name| !is_known(name)) {
            let known = function.attributes.iter().chain(function.defaults.keys());
            let hint = did_you_mean(&nearest(name, known.map(String::as_str)));
            return Err(ImportError::new(format!(
                "unknown attribute `{}` of the function{hint}",
                shown(name)
            )));
        }
        let opset = function.opsets.get("").copied();
        let mut inner = Scope::new(opset, Some((function, Arc::new(node.attributes.clone()))));
        for (position, input) in function.body.inputs.iter().enumerate() {
            let name = node.inputs.get(position).map_or("", String::as_str);
            let known = scope.values.get(name).filter(|_| !name.is_empty());
            let known = match known.cloned() {
                Some(known) => known,
                None => Known::Absent,
            };
            // A constant that is used here becomes one weight, wherever else it is used.
            if let Known::Constant(_) = &known
                && let Some(&value) = scope.tensors.get(name)
            {
                inner.tensors.insert(input.name.clone(), value);
            }
            inner.bind(&input.name, known);
        }
        self.functions.push(function);
        let lowered = self.graph(&function.body, &mut inner);
        self.functions.pop();
        lowered?;
        for (output, name) in function.body.outputs.iter().zip(&node.outputs) {
            let known = inner.values.get(&output.name).cloned();
            scope.bind(name, known.unwrap_or(Known::Missing));
        }
        Ok(())
    }
}

/// Returns a node as it is in a call of the function around it: without operands that the call
/// omits, and with the attributes of the call.
fn bound<'n>(node: &'n Node, scope: &Scope<'_>) -> Result<Cow<'n, Node>, ImportError> {
    let is_absent = |name: &String| matches!(scope.values.get(name), Some(Known::Absent));
    if node.inputs.iter().any(is_absent) {
        let mut node = node.clone();
        for name in node.inputs.iter_mut().filter(|name| is_absent(name)) {
            name.clear();
        }
        return Ok(Cow::Owned(with_attributes(&node, scope)?.into_owned()));
    }
    with_attributes(node, scope)
}

/// Returns a node with the attributes of the call of a function in the place of references to them.
fn with_attributes<'n>(node: &'n Node, scope: &Scope<'_>) -> Result<Cow<'n, Node>, ImportError> {
    let is_reference = |attribute: &Attribute| matches!(attribute, Attribute::Reference(_));
    if !node.attributes.values().any(is_reference) {
        return Ok(Cow::Borrowed(node));
    }
    let Some((function, given)) = &scope.function else {
        return Err(ImportError::new(
            "an attribute refers to an attribute of a function, but the node is not in a function",
        ));
    };
    let mut node = node.clone();
    node.attributes.retain(|_, attribute| {
        let Attribute::Reference(name) = attribute else {
            return true;
        };
        let found = given.get(name).or_else(|| function.defaults.get(name));
        match found {
            Some(found) => {
                *attribute = found.clone();
                true
            }
            None => false,
        }
    });
    Ok(Cow::Owned(node))
}

/// Returns the ops of `ai.onnx` that are imported, in alphabetical order.
#[must_use]
pub fn supported_ops() -> Vec<&'static str> {
    let mut names: Vec<&str> = ops::names().chain(control::OPS.iter().copied()).collect();
    names.sort_unstable();
    names
}

/// Checks a node against ONNX's declaration of its op.
fn check(node: &Node, schema: &Schema) -> Result<(), ImportError> {
    let count = |what: &str, expected: &std::ops::RangeInclusive<usize>, found: usize| {
        if expected.contains(&found) {
            return Ok(());
        }
        let (numbers, last) = match (*expected.start(), *expected.end()) {
            (least, usize::MAX) => (format!("at least {least}"), least),
            (least, most) if least == most => (least.to_string(), most),
            (least, most) => (format!("{least} to {most}"), most),
        };
        let s = if last == 1 { "" } else { "s" };
        Err(ImportError::new(format!(
            "expected {numbers} {what}{s}, found {found}"
        )))
    };
    // ONNX marks `GroupNormalization` as deprecated up to opset 20, but has no other form of it.
    if schema.is_dropped && node.op != "GroupNormalization" {
        return Err(ImportError::new(format!(
            "opset {} removed the operator",
            schema.since
        )));
    }
    // Operands that are left out at the end do not count.
    let num_given = node.inputs.iter().rposition(|name| !name.is_empty());
    let num_given = num_given.map_or(0, |last| last + 1);
    let least = *schema.operands.start();
    if SPARSE.contains(&node.op.as_str()) {
        count("operand", &schema.operands, node.inputs.len())?;
    } else {
        count("operand", &schema.operands, num_given)?;
        if let Some(at) = node.inputs.iter().take(least).position(String::is_empty) {
            return Err(ImportError::new(format!("operand {at} is missing")));
        }
    }
    count("result", &schema.results, node.outputs.len())?;
    for (name, attribute) in &node.attributes {
        let Some(known) = schema.attributes.iter().find(|known| known.name == name) else {
            if LEFTOVERS.contains(&name.as_str()) {
                continue;
            }
            let hint = did_you_mean(&nearest(
                name,
                schema.attributes.iter().map(|known| known.name),
            ));
            return Err(ImportError::new(format!(
                "unknown attribute `{}`{hint}",
                shown(name)
            )));
        };
        if attribute
            .kind()
            .is_some_and(|kind| kind != known.kind && !(known.kind == 'p' && kind == 't'))
        {
            return Err(ImportError::new(format!(
                "attribute `{name}`: expected {}, found {}",
                describe(known.kind),
                attribute.description()
            )));
        }
    }
    let missing = schema
        .attributes
        .iter()
        .find(|known| known.is_required && !node.attributes.contains_key(known.name));
    match missing {
        Some(missing) => Err(ImportError::new(format!(
            "the attribute `{}` is missing",
            missing.name
        ))),
        None => Ok(()),
    }
}
