//! Programs of ops, as importers write them.
//!
//! A program is a function, `main`, in MLIR text: its arguments are handles of the inputs, then of
//! the weights, and its body runs one op after another. So it contains no data, and can be printed,
//! read and run like any other program.
//!
//! Branches and the bodies of loops are separate functions. The builder passes values of the
//! enclosing functions that they use as additional arguments.

mod constant;

pub(crate) mod declared;

mod structure;

mod text;

mod weight;

use std::collections::{BTreeMap, HashMap, HashSet};

use tfrt_support::DType;
use tfrt_tensor::DenseHostTensor;

use crate::types::{InputType, ListType};

pub(crate) use constant::{ChangedFilters, Constant};
pub(crate) use structure::{Body, Function, Op, OpKind};
pub(crate) use text::spelled;
pub use text::{quoted_text, spelled_dtype, spelled_number};
pub use weight::Weight;

/// The name of a program's function.
pub const FUNCTION: &str = "main";

/// A value of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Value(pub(crate) u32);

/// An attribute of an op.
#[derive(Clone, Debug, PartialEq)]
pub enum Attr {
    /// A Boolean.
    Bool(bool),
    /// An integer.
    Int(i64),
    /// A number.
    Float(f32),
    /// A text.
    Text(String),
    /// Integers. An empty list has no distinct type: omit the attribute instead.
    Ints(Vec<i64>),
    /// Numbers. Omit an empty list, too.
    Floats(Vec<f32>),
    /// An element type.
    Type(DType),
}

/// Builds a program.
///
/// ```
/// use tfrt_import::program::{Attr, ProgramBuilder};
///
/// let mut builder = ProgramBuilder::default();
/// let x = builder.input("x");
/// let y = builder.call("nn.Flatten", &[x], &[("axis", Attr::Int(1))], 1, "node 'flatten'");
/// let program = builder.finish(&[("y", y[0])]);
/// assert!(program.text.contains(r#""nn.Flatten"(%v0) { axis = 1 : i64 } : 1 loc("node 'flatten'")"#));
/// ```
#[derive(Clone, Debug, Default)]
pub struct ProgramBuilder {
    inputs: Vec<(String, Value)>,
    input_types: Vec<Option<InputType>>,
    weights: Vec<(Weight, Value)>,
    ops: Vec<Op>,
    /// Functions inside others that are being written, outermost first.
    open: Vec<RegionBody>,
    /// Functions that are finished.
    functions: Vec<Function>,
    /// The length of the text of all ops.
    len_bytes: u64,
    /// For each value, how many functions there are around the one that it belongs to.
    depths: Vec<usize>,
    num_ops: usize,
}

/// A function inside another one: a branch, or the body of a loop.
#[derive(Clone, Debug, Default)]
pub struct RegionBody {
    arguments: Vec<Value>,
    /// Values of the enclosing function, and their counterparts here.
    captured: Vec<(Value, Value)>,
    places: HashMap<Value, Value>,
    ops: Vec<Op>,
    results: Vec<Value>,
}

/// A program with its weights.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Program {
    /// The function, as MLIR text.
    pub text: String,
    /// The names of the inputs, in the order of the arguments.
    pub inputs: Vec<String>,
    /// The weights, which are the arguments after the inputs.
    pub weights: Vec<Weight>,
    /// The names of the results.
    pub outputs: Vec<String>,
    /// The declared types of the inputs, where there are any.
    pub input_types: Vec<Option<InputType>>,
    /// The declared types of the results, where there are any.
    pub output_types: Vec<Option<InputType>>,
    /// The types of the inputs and outputs that are lists or may be absent, by name.
    pub lists: BTreeMap<String, ListType>,
    /// The number of its ops.
    pub num_ops: usize,
    pub(crate) body: Body,
}

impl Program {
    /// Writes the text and the number of ops again, after the body has changed.
    pub(crate) fn refresh(&mut self) {
        self.text = text::program(&self.body);
        self.num_ops = self.body.num_ops();
    }

    /// Returns how often the program and its inner functions call each op.
    #[must_use]
    pub fn op_counts(&self) -> BTreeMap<&str, usize> {
        let inner = self
            .body
            .functions
            .iter()
            .flat_map(|function| &function.ops);
        let mut counts = BTreeMap::new();
        for op in self.body.ops.iter().chain(inner) {
            let name = match &op.kind {
                OpKind::Call { name, .. } => name,
                OpKind::Conditional { .. } => "corert.cond",
                OpKind::Repeat { .. } => "corert.while",
            };
            *counts.entry(name).or_default() += 1;
        }
        counts
    }

    /// Returns the text of the program's function alone, under another name.
    pub(crate) fn function_text(&self, name: &str) -> String {
        let mut text = String::new();
        text::write_main(&mut text, &self.body, name);
        text
    }
}

impl ProgramBuilder {
    /// Returns a new value of the function that is `depth` deep in others.
    fn value_at(&mut self, depth: usize) -> Value {
        // As many values do not fit into memory as text.
        let number = u32::try_from(self.depths.len()).unwrap_or(u32::MAX);
        self.depths.push(depth);
        Value(number)
    }

    fn value(&mut self) -> Value {
        self.value_at(self.open.len())
    }

    /// Begins a function inside the one that is being written. Returns its arguments.
    pub fn begin(&mut self, num_arguments: usize) -> Vec<Value> {
        self.open.push(RegionBody::default());
        let arguments: Vec<Value> = (0..num_arguments).map(|_| self.value()).collect();
        if let Some(body) = self.open.last_mut() {
            body.arguments.clone_from(&arguments);
        }
        arguments
    }

    /// Ends the innermost function, which returns these values.
    ///
    /// # Panics
    /// If none was begun.
    pub fn end(&mut self, results: &[Value]) -> RegionBody {
        let results = results.iter().map(|&value| self.local(value)).collect();
        let mut body = self.open.pop().expect("a function was begun");
        body.results = results;
        body
    }

    /// Returns the value in the function that is being written: an argument, if it belongs to an
    /// enclosing function.
    fn local(&mut self, value: Value) -> Value {
        let first = self.depths.get(value.0 as usize).copied().unwrap_or(0);
        let mut local = value;
        for depth in first..self.open.len() {
            if let Some(&known) = self.open[depth].places.get(&local) {
                local = known;
                continue;
            }
            let argument = self.value_at(depth + 1);
            let body = &mut self.open[depth];
            body.captured.push((local, argument));
            body.places.insert(local, argument);
            local = argument;
        }
        local
    }

    /// Calls one of two functions without arguments, depending on the truth value of a value.
    /// Returns its results.
    ///
    /// ```
    /// use tfrt_import::program::ProgramBuilder;
    ///
    /// let mut builder = ProgramBuilder::default();
    /// let (c, x) = (builder.input("c"), builder.input("x"));
    /// builder.begin(0);
    /// let negative = builder.call("nn.Neg", &[x], &[], 1, "then");
    /// let then = builder.end(&negative);
    /// builder.begin(0);
    /// let same = builder.end(&[x]);
    /// let y = builder.conditional(c, then, same, "node 'choose'");
    /// let program = builder.finish(&[("y", y[0])]);
    /// assert!(program.text.contains("corert.cond %v0 @branch_0 @branch_1 (%chain, %v1)"));
    /// ```
    pub fn conditional(
        &mut self,
        condition: Value,
        then: RegionBody,
        otherwise: RegionBody,
        place: &str,
    ) -> Vec<Value> {
        let mut captured: Vec<Value> = Vec::new();
        let mut seen = HashSet::new();
        let all = then.captured.iter().chain(&otherwise.captured);
        captured.extend(
            all.map(|&(outer, _)| outer)
                .filter(|outer| seen.insert(*outer)),
        );
        let num_results = then.results.len();
        let names = [then, otherwise].map(|body| {
            let arguments = captured.iter().map(|outer| body.places.get(outer).copied());
            let arguments: Vec<Option<Value>> = arguments.collect();
            // A value that only the other branch uses is an argument without a use.
            let arguments = arguments
                .into_iter()
                .map(|argument| argument.unwrap_or_else(|| self.value()))
                .collect::<Vec<_>>();
            self.function("branch", arguments, body.ops, body.results)
        });
        let operands = [&[condition], &captured[..]].concat();
        let [then, otherwise] = names;
        let kind = OpKind::Conditional { then, otherwise };
        self.add(kind, &operands, num_results, place)
    }

    /// Repeats `body` as long as `condition` returns true. Both take the carried values;
    /// `condition` returns a Boolean, and `body` the carried values of the next iteration. Returns
    /// the last carried values.
    pub fn repeat(
        &mut self,
        carried: &[Value],
        condition: RegionBody,
        body: RegionBody,
        place: &str,
    ) -> Vec<Value> {
        let mut captured: Vec<Value> = Vec::new();
        let mut seen = HashSet::new();
        let all = condition.captured.iter().chain(&body.captured);
        captured.extend(
            all.map(|&(outer, _)| outer)
                .filter(|outer| seen.insert(*outer)),
        );
        let num_carried = carried.len();
        let names = [(condition, false), (body, true)].map(|(part, is_body)| {
            let mut arguments = part.arguments;
            for outer in &captured {
                let own = part.places.get(outer).copied();
                arguments.push(own.unwrap_or_else(|| self.value()));
            }
            let mut results = part.results;
            if is_body {
                results.extend_from_slice(&arguments[num_carried..]);
            }
            self.function("loop", arguments, part.ops, results)
        });
        let operands = [carried, &captured[..]].concat();
        let [condition, body] = names;
        let kind = OpKind::Repeat { condition, body };
        let mut results = self.add(kind, &operands, operands.len(), place);
        results.truncate(num_carried);
        results
    }

    /// Adds a function, and returns its name.
    fn function(
        &mut self,
        kind: &str,
        arguments: Vec<Value>,
        ops: Vec<Op>,
        results: Vec<Value>,
    ) -> String {
        let name = format!("{kind}_{}", self.functions.len());
        self.functions.push(Function {
            name: name.clone(),
            arguments,
            ops,
            results,
        });
        name
    }

    /// Adds an op to the function that is being written.
    fn add(
        &mut self,
        kind: OpKind,
        operands: &[Value],
        num_results: usize,
        place: &str,
    ) -> Vec<Value> {
        let operands: Vec<Value> = operands.iter().map(|&value| self.local(value)).collect();
        let results: Vec<Value> = (0..num_results).map(|_| self.value()).collect();
        let op = Op {
            kind,
            operands,
            results: results.clone(),
            place: place.to_owned(),
        };
        let mut written = String::new();
        text::write_op(&mut written, &op, self.num_ops);
        self.len_bytes += written.len() as u64;
        self.num_ops += 1;
        match self.open.last_mut() {
            Some(body) => body.ops.push(op),
            None => self.ops.push(op),
        }
        results
    }

    /// Adds an input.
    pub fn input(&mut self, name: &str) -> Value {
        let value = self.value_at(0);
        self.inputs.push((name.to_owned(), value));
        self.input_types.push(None);
        value
    }

    /// Adds an input of a declared type. Sessions check it before each run.
    pub fn declared_input(&mut self, name: &str, declared: InputType) -> Value {
        let value = self.input(name);
        if let Some(last) = self.input_types.last_mut() {
            *last = Some(declared);
        }
        value
    }

    /// Adds a weight, whose elements do not change any more.
    pub fn weight(&mut self, name: &str, tensor: DenseHostTensor) -> Value {
        let value = self.value_at(0);
        self.weights.push((Weight::new(name, tensor), value));
        value
    }

    /// Returns the length of the program's text so far, in bytes.
    #[must_use]
    pub fn len_bytes(&self) -> u64 {
        self.len_bytes
    }

    /// Returns the number of ops so far.
    #[must_use]
    pub fn num_ops(&self) -> usize {
        self.num_ops
    }

    /// Adds a call of an op. `place` identifies it in errors.
    pub fn call(
        &mut self,
        op: &str,
        operands: &[Value],
        attrs: &[(&str, Attr)],
        num_results: usize,
        place: &str,
    ) -> Vec<Value> {
        let attrs = attrs
            .iter()
            .map(|(name, attr)| ((*name).to_owned(), attr.clone()));
        let kind = OpKind::Call {
            name: op.to_owned(),
            attrs: attrs.collect(),
        };
        self.add(kind, operands, num_results, place)
    }

    /// Finishes the program, which returns these values.
    #[must_use]
    pub fn finish(self, outputs: &[(&str, Value)]) -> Program {
        let (inputs, input_values) = self.inputs.into_iter().unzip();
        let (weights, weight_values) = self.weights.into_iter().unzip();
        let body = Body {
            inputs: input_values,
            weights: weight_values,
            ops: self.ops,
            results: outputs.iter().map(|(_, value)| *value).collect(),
            functions: self.functions,
            num_values: u32::try_from(self.depths.len()).unwrap_or(u32::MAX),
        };
        let mut program = Program {
            text: String::new(),
            inputs,
            input_types: self.input_types,
            weights,
            output_types: vec![None; outputs.len()],
            lists: BTreeMap::new(),
            outputs: outputs.iter().map(|(name, _)| (*name).to_owned()).collect(),
            num_ops: 0,
            body,
        };
        program.refresh();
        program
    }
}
