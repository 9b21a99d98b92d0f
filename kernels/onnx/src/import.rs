//! From models to programs of our ops.
//!
//! ```text
//!  node ──check──► schema of its version ──adapt──► newest form ──lower──► calls of ops
//! ```
//!
//! Each node is checked against what ONNX says of its op in the version that the model means, brought to the form of the newest version,
//! and lowered. What cannot be lowered is collected, so that one import tells everything that is missing.

mod adapt;

mod call;

mod ops;

use std::collections::HashMap;

use tfrt_import::names::shown;
use tfrt_import::program::{Program, ProgramBuilder, Value};
use tfrt_import::report::Unsupported;
use tfrt_import::{ImportError, Limit, Limits};
use tfrt_support::nearest::{did_you_mean, nearest};

use crate::attribute::{Attribute, describe};
use crate::graph::{Function, Graph, Node};
use crate::model::Model;
use crate::opset::{self, NEWEST_OPSET, Schema};
use crate::tensor::{Tensor, TensorData};

use call::Call;

/// Attributes of the oldest files that mean nothing.
const LEFTOVERS: &[&str] = &["consumed_inputs", "consumed_outputs", "is_test"];

/// What an import is asked for.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Options {
    /// The outputs that are wanted; by default all.
    pub outputs: Option<Vec<String>>,
    /// How large the program may become.
    pub limits: Limits,
}

/// Why a model is not imported.
#[derive(Clone, Debug)]
pub enum ImportFailure {
    /// It breaks a rule.
    Broken(ImportError),
    /// It needs what we do not have.
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
    /// The program that the model is, and its weights.
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
    /// What breaks a rule, with its node; or everything that is not supported.
    pub fn import(&self, options: &Options) -> Result<Program, ImportFailure> {
        let mut lowering = Lowering {
            model: self,
            limits: &options.limits,
            builder: ProgramBuilder::default(),
            unsupported: Unsupported::default(),
            num_nodes: 0,
            functions: Vec::new(),
        };
        let mut scope = Scope {
            values: HashMap::new(),
            tensors: HashMap::new(),
            opset: self.opset(""),
            attributes: None,
        };
        for input in self.inputs() {
            let value = lowering.builder.input(&input.name);
            scope.values.insert(input.name.clone(), Known::Value(value));
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
                    let known = scope.values.keys().map(String::as_str);
                    let hint = did_you_mean(&nearest(name, known));
                    let message = format!("there is no value '{}'{hint}", shown(name));
                    return Err(ImportError::new(message).into());
                }
            }
        }
        match lowering.unsupported.is_empty() {
            true => Ok(lowering.builder.finish(&outputs)),
            false => Err(ImportFailure::Unsupported(lowering.unsupported)),
        }
    }
}

/// What is known of a value.
#[derive(Clone, Debug)]
enum Known {
    Value(Value),
    /// A tensor of the file, which becomes a weight when it is needed.
    Constant(Tensor),
    /// Its node is not supported.
    Missing,
}

/// The values that nodes see.
#[derive(Clone, Debug)]
struct Scope<'a> {
    values: HashMap<String, Known>,
    /// Weights, by the names that they have here.
    tensors: HashMap<String, Value>,
    opset: Option<i64>,
    /// The attributes of the call, in the body of a function.
    attributes: Option<(&'a Function, &'a Node)>,
}

impl Scope<'_> {
    /// The value of a name.
    fn value(&mut self, name: &str, builder: &mut ProgramBuilder) -> Option<Value> {
        match self.values.get(name)? {
            Known::Value(value) => Some(*value),
            Known::Missing => None,
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
    limits: &'a Limits,
    builder: ProgramBuilder,
    unsupported: Unsupported,
    /// Nodes so far, functions inlined.
    num_nodes: u64,
    /// The functions that are being inlined, outermost first.
    functions: Vec<&'a Function>,
}

impl<'a> Lowering<'a> {
    fn graph(&mut self, graph: &'a Graph, scope: &mut Scope<'a>) -> Result<(), ImportError> {
        for tensor in &graph.initializers {
            if matches!(
                tensor.data,
                TensorData::Unsupported | TensorData::Strings(_)
            ) {
                let what = format!("tensors of {}", tensor.element_type);
                self.unsupported.add(what, &tensor.name, "");
            }
            let known = Known::Constant(tensor.clone());
            scope.values.insert(tensor.name.clone(), known);
        }
        for node in &graph.nodes {
            self.num_nodes += 1;
            self.limits.check(Limit::Nodes, self.num_nodes)?;
            self.node(node, scope)
                .map_err(|error| error.within(node.label()))?;
        }
        Ok(())
    }

    fn node(&mut self, node: &'a Node, scope: &mut Scope<'a>) -> Result<(), ImportError> {
        let name = (node.domain.clone(), node.op.clone(), node.overload.clone());
        if let Some(function) = self.model.functions().get(&name)
            && !node.domain.is_empty()
        {
            return self.inline(function, node, scope);
        }
        let label = if node.name.is_empty() {
            node.label()
        } else {
            node.name.clone()
        };
        if !node.domain.is_empty() {
            let what = format!("{}.{}", shown(&node.domain), shown(&node.op));
            self.missing(node, scope, &what, &label, "no operator of this name");
            return Ok(());
        }
        let Some(opset) = scope.opset else {
            return Err(ImportError::new("the model imports no version of ai.onnx"));
        };
        let newest = opset::versions(&node.op).last();
        let Some(newest) = newest else {
            let hint = did_you_mean(&nearest(&node.op, opset::op_names()));
            let hint = format!("no operator of this name{hint}");
            self.missing(node, scope, &shown(&node.op).to_string(), &label, &hint);
            return Ok(());
        };
        if opset > NEWEST_OPSET {
            let what = format!("opset {opset} of ai.onnx");
            let hint = format!("newest known is {NEWEST_OPSET}");
            self.missing(node, scope, &what, &label, &hint);
            return Ok(());
        }
        let Some(schema) = opset::schema_of(&node.op, opset) else {
            let first = opset::versions(&node.op)[0].since;
            return Err(ImportError::new(format!(
                "the operator came with opset {first}, but the model imports opset {opset}"
            )));
        };
        let mut node = node.clone();
        self.bind(&mut node, scope);
        let is_wanted = |name: &&String| !name.is_empty();
        let is_missing = |name: &String| matches!(scope.values.get(name), Some(Known::Missing));
        if node.inputs.iter().filter(is_wanted).any(is_missing) {
            // It was told of where the value would have been made; what else this node lacks is told, too.
            if !ops::is_known(&node.op) {
                let what = format!("{} (version {})", node.op, schema.since);
                self.missing(&node, scope, &what, &label, "");
            }
            for output in &node.outputs {
                scope.values.insert(output.clone(), Known::Missing);
            }
            return Ok(());
        }
        check(&node, schema)?;
        let mut call = Call::new(&node, schema.since, newest.since, scope, &mut self.builder);
        adapt::adapt(&mut call)?;
        match ops::lower(&mut call)? {
            Some(results) => {
                for (name, value) in node.outputs.iter().zip(results) {
                    scope.values.insert(name.clone(), value);
                }
            }
            None => {
                let reason = call.reason.take();
                let what =
                    reason.unwrap_or_else(|| format!("{} (version {})", node.op, schema.since));
                self.missing(&node, scope, &what, &label, "");
            }
        }
        Ok(())
    }

    fn missing(&mut self, node: &Node, scope: &mut Scope<'_>, what: &str, label: &str, hint: &str) {
        self.unsupported.add(what, label, hint);
        for output in &node.outputs {
            scope.values.insert(output.clone(), Known::Missing);
        }
    }

    /// Puts the attributes of a call of a function in the place of references to them.
    fn bind(&self, node: &mut Node, scope: &Scope<'_>) {
        let Some((function, caller)) = scope.attributes else {
            return;
        };
        let mut bound = std::mem::take(&mut node.attributes);
        bound.retain(|_, attribute| match attribute {
            Attribute::Reference(name) => {
                let given = caller
                    .attributes
                    .get(name)
                    .or_else(|| function.defaults.get(name));
                match given {
                    Some(given) => {
                        *attribute = given.clone();
                        true
                    }
                    None => false,
                }
            }
            _ => true,
        });
        node.attributes = bound;
    }

    fn inline(
        &mut self,
        function: &'a Function,
        node: &'a Node,
        scope: &mut Scope<'a>,
    ) -> Result<(), ImportError> {
        if self
            .functions
            .iter()
            .any(|&running| std::ptr::eq(running, function))
        {
            return Err(ImportError::new("the function calls itself"));
        }
        if self.functions.len() >= self.limits.get(Limit::Subgraphs) as usize {
            self.limits
                .check(Limit::Subgraphs, self.functions.len() as u64 + 1)?;
        }
        let opset = function.opsets.get("").copied().or(scope.opset);
        let mut inner = Scope {
            values: HashMap::new(),
            tensors: HashMap::new(),
            opset,
            attributes: Some((function, node)),
        };
        for (input, name) in function.body.inputs.iter().zip(&node.inputs) {
            let known = scope.values.get(name).cloned();
            if let Some(known) = known {
                // A constant becomes one weight, wherever it is used.
                let known = match (&known, scope.value(name, &mut self.builder)) {
                    (Known::Constant(_), _) | (_, None) => known,
                    (_, Some(value)) => Known::Value(value),
                };
                inner.values.insert(input.name.clone(), known);
            }
        }
        self.functions.push(function);
        let lowered = self.graph(&function.body, &mut inner);
        self.functions.pop();
        lowered?;
        for (output, name) in function.body.outputs.iter().zip(&node.outputs) {
            let known = inner.values.remove(&output.name);
            scope
                .values
                .insert(name.clone(), known.unwrap_or(Known::Missing));
        }
        Ok(())
    }
}

/// The ops of `ai.onnx` that are imported, in alphabetical order.
#[must_use]
pub fn supported_ops() -> Vec<&'static str> {
    let mut names: Vec<&str> = ops::names().collect();
    names.sort_unstable();
    names
}

/// Checks a node against what ONNX says of its op.
fn check(node: &Node, schema: &Schema) -> Result<(), ImportError> {
    let count = |what: &str, expected: &std::ops::RangeInclusive<usize>, found: usize| {
        if expected.contains(&found) {
            return Ok(());
        }
        let expected = match (*expected.start(), *expected.end()) {
            (least, usize::MAX) => format!("at least {least}"),
            (least, most) if least == most => least.to_string(),
            (least, most) => format!("{least} to {most}"),
        };
        Err(ImportError::new(format!(
            "expected {expected} {what}, found {found}"
        )))
    };
    if schema.is_dropped {
        return Err(ImportError::new(format!(
            "opset {} dropped the operator",
            schema.since
        )));
    }
    count("operands", &schema.operands, node.inputs.len())?;
    count("results", &schema.results, node.outputs.len())?;
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
                "there is no attribute `{}`{hint}",
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
