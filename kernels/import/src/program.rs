//! Programs of ops, as importers write them.
//!
//! A program is a function, `main`, in MLIR text: its arguments are handles of the inputs, then of
//! the weights, and its body runs one op after another. So it contains no data, and can be printed,
//! read and run like any other program.
//!
//! Branches and the bodies of loops are separate functions. The builder passes values of the
//! enclosing functions that they use as additional arguments.

use std::collections::{HashMap, HashSet};
use std::fmt::Write;

use tfrt_support::DType;
use tfrt_tensor::DenseHostTensor;

/// The name of a program's function.
pub const FUNCTION: &str = "main";

/// The spelling of handles.
const HANDLE: &str = "!corert.tensorhandle";

/// The spelling of chains.
const CHAIN: &str = "!tfrt.chain";

/// A value of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Value(u32);

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
    weights: Vec<(Weight, Value)>,
    body: String,
    /// Functions inside others that are being written, outermost first.
    open: Vec<RegionBody>,
    /// Functions that are finished, as text.
    functions: String,
    num_functions: usize,
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
    text: String,
    results: Vec<Value>,
}

/// A tensor that is passed to a program when it is loaded.
#[derive(Clone, Debug)]
pub struct Weight {
    /// Its name, which may be empty.
    pub name: String,
    /// Its elements.
    pub tensor: DenseHostTensor,
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
    /// The number of its ops.
    pub num_ops: usize,
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
        let mut names = Vec::new();
        for body in [then, otherwise] {
            let arguments = captured.iter().map(|outer| body.places.get(outer).copied());
            let arguments: Vec<Option<Value>> = arguments.collect();
            // A value that only the other branch uses is an argument without a use.
            let arguments = arguments
                .into_iter()
                .map(|argument| argument.unwrap_or_else(|| self.value()))
                .collect::<Vec<_>>();
            names.push(self.function("branch", &arguments, &body.text, &body.results));
        }
        let operands = [&[condition], &captured[..]].concat();
        let call = format!("corert.cond $0 @{} @{}", names[0], names[1]);
        self.call_function(&call, &operands, num_results, place)
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
        let mut names = Vec::new();
        for (part, is_body) in [(condition, false), (body, true)] {
            let mut arguments = part.arguments.clone();
            for outer in &captured {
                let own = part.places.get(outer).copied();
                arguments.push(own.unwrap_or_else(|| self.value()));
            }
            let mut results = part.results.clone();
            if is_body {
                results.extend_from_slice(&arguments[num_carried..]);
            }
            names.push(self.function("loop", &arguments, &part.text, &results));
        }
        let operands = [carried, &captured[..]].concat();
        let call = format!("corert.while @{} @{}", names[0], names[1]);
        let mut results = self.call_function(&call, &operands, operands.len(), place);
        results.truncate(num_carried);
        results
    }

    /// Adds the text of a function, and returns its name.
    fn function(
        &mut self,
        kind: &str,
        arguments: &[Value],
        text: &str,
        results: &[Value],
    ) -> String {
        let name = format!("{kind}_{}", self.num_functions);
        self.num_functions += 1;
        let arguments = arguments
            .iter()
            .map(|value| format!(", %v{}: {HANDLE}", value.0));
        let arguments: String = arguments.collect();
        let types = format!(", {HANDLE}").repeat(results.len());
        let results: String = results
            .iter()
            .map(|value| format!(", %v{}", value.0))
            .collect();
        let _ = writeln!(
            self.functions,
            "func private @{name}(%chain: {CHAIN}{arguments}) -> ({CHAIN}{types}) {{\n  \
             %cpu = \"corert.handler_of_device\"() {{ device = \"CPU:0\" }} : () -> !corert.ophandler\n{text}  tfrt.return %chain{results} : {CHAIN}{types}\n}}"
        );
        name
    }

    /// Adds a kernel that takes the chain and handles; the first operand replaces `$0` in `call`,
    /// if present.
    fn call_function(
        &mut self,
        call: &str,
        operands: &[Value],
        num_results: usize,
        place: &str,
    ) -> Vec<Value> {
        let operands: Vec<Value> = operands.iter().map(|&value| self.local(value)).collect();
        let (call, operands) = match (call.contains("$0"), operands.split_first()) {
            (true, Some((first, others))) => (
                call.replace("$0", &format!("%v{}", first.0)),
                others.to_vec(),
            ),
            _ => (call.to_owned(), operands),
        };
        let results: Vec<Value> = (0..num_results).map(|_| self.value()).collect();
        self.num_ops += 1;
        let chain = format!("%chain_{}", self.num_ops);
        let made: String = results
            .iter()
            .map(|value| format!(", %v{}", value.0))
            .collect();
        let given: String = operands
            .iter()
            .map(|value| format!(", %v{}", value.0))
            .collect();
        let types = |count: usize| vec![HANDLE; count].join(", ");
        let line = format!(
            "  {chain}{made} = {call} (%chain{given}) : ({}) -> ({}) loc({})\n",
            types(operands.len()),
            types(num_results),
            quoted(place)
        );
        self.text().push_str(&line);
        results
    }

    /// Returns the text of the function that is being written.
    fn text(&mut self) -> &mut String {
        match self.open.last_mut() {
            Some(body) => &mut body.text,
            None => &mut self.body,
        }
    }

    /// Adds an input.
    pub fn input(&mut self, name: &str) -> Value {
        let value = self.value_at(0);
        self.inputs.push((name.to_owned(), value));
        value
    }

    /// Adds a weight.
    pub fn weight(&mut self, name: &str, tensor: DenseHostTensor) -> Value {
        let value = self.value_at(0);
        let name = name.to_owned();
        self.weights.push((Weight { name, tensor }, value));
        value
    }

    /// Returns the length of the program's text so far, in bytes.
    #[must_use]
    pub fn len_bytes(&self) -> u64 {
        let open: usize = self.open.iter().map(|body| body.text.len()).sum();
        (self.body.len() + self.functions.len() + open) as u64
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
        let operands: Vec<Value> = operands.iter().map(|&value| self.local(value)).collect();
        let results: Vec<Value> = (0..num_results).map(|_| self.value()).collect();
        self.num_ops += 1;
        let body = self.text();
        body.push_str("  ");
        if !results.is_empty() {
            let _ = write!(body, "{} = ", names(results.iter().copied()));
        }
        let operands = names(operands.into_iter());
        let _ = write!(body, "corert.executeop(%cpu) \"{op}\"({operands})");
        if !attrs.is_empty() {
            let attrs = attrs
                .iter()
                .map(|(name, attr)| format!("{name} = {}", spelled(attr)));
            let _ = write!(body, " {{ {} }}", attrs.collect::<Vec<_>>().join(", "));
        }
        let _ = writeln!(body, " : {num_results} loc({})", quoted(place));
        results
    }

    /// Finishes the program, which returns these values.
    #[must_use]
    pub fn finish(self, outputs: &[(&str, Value)]) -> Program {
        let inputs = self.inputs.iter().map(|(_, value)| value);
        let arguments = inputs.chain(self.weights.iter().map(|(_, value)| value));
        let arguments = arguments.map(|value| format!("%v{}: {HANDLE}", value.0));
        let types = vec![HANDLE; outputs.len()].join(", ");
        let results = names(outputs.iter().map(|(_, value)| *value));
        let text = format!(
            "{}func @{FUNCTION}({}) -> ({types}) {{\n  %chain = tfrt.new.chain\n  \
             %cpu = corert.get_op_handler %chain \"cpu\"\n{}  tfrt.return {results} : {types}\n}}\n",
            self.functions,
            arguments.collect::<Vec<_>>().join(", "),
            self.body,
        );
        Program {
            text,
            inputs: self.inputs.into_iter().map(|(name, _)| name).collect(),
            weights: self.weights.into_iter().map(|(weight, _)| weight).collect(),
            outputs: outputs.iter().map(|(name, _)| (*name).to_owned()).collect(),
            num_ops: self.num_ops,
        }
    }
}

fn names(values: impl Iterator<Item = Value>) -> String {
    let names = values.map(|value| format!("%v{}", value.0));
    names.collect::<Vec<_>>().join(", ")
}

fn spelled(attr: &Attr) -> String {
    match attr {
        Attr::Bool(value) => value.to_string(),
        Attr::Int(value) => format!("{value} : i64"),
        Attr::Float(value) => number(*value),
        Attr::Floats(values) => {
            let values = values.iter().map(|&value| number(value));
            format!("[{}]", values.collect::<Vec<_>>().join(", "))
        }
        Attr::Text(value) => quoted(value),
        Attr::Ints(values) => {
            let values = values.iter().map(|value| format!("{value} : i64"));
            format!("[{}]", values.collect::<Vec<_>>().join(", "))
        }
        Attr::Type(dtype) => match dtype {
            DType::Ui8 => "ui8".to_owned(),
            DType::Ui16 => "ui16".to_owned(),
            DType::Ui32 => "ui32".to_owned(),
            DType::Ui64 => "ui64".to_owned(),
            DType::Complex64 => "complex<f32>".to_owned(),
            DType::Complex128 => "complex<f64>".to_owned(),
            other => other.to_string(),
        },
    }
}

/// Returns a number as MLIR spells it, so that no digit is lost.
fn number(value: f32) -> String {
    if !value.is_finite() {
        return format!("0x{:08X} : f32", value.to_bits());
    }
    // The shortest text that means this number; an exponent needs a fraction before it.
    let text = format!("{value:?}");
    let text = match text.split_once('e') {
        Some((digits, exponent)) if !digits.contains('.') => format!("{digits}.0e{exponent}"),
        _ => text,
    };
    format!("{text} : f32")
}

/// Returns a text as MLIR quotes it: bytes that are not printable ASCII as two hexadecimal digits.
fn quoted(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('"');
    for byte in text.bytes() {
        match byte {
            b'"' | b'\\' => {
                let _ = write!(quoted, "\\{byte:02X}");
            }
            b' '..=b'~' => quoted.push(char::from(byte)),
            _ => {
                let _ = write!(quoted, "\\{byte:02X}");
            }
        }
    }
    quoted.push('"');
    quoted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attributes_are_spelled_so_that_they_are_read_as_they_are() {
        let check = |attr: Attr, expected: &str| assert_eq!(spelled(&attr), expected);
        check(Attr::Float(1e-5), "1.0e-5 : f32");
        check(Attr::Float(1.5), "1.5 : f32");
        check(Attr::Float(f32::NEG_INFINITY), "0xFF800000 : f32");
        check(Attr::Ints(vec![1, -2]), "[1 : i64, -2 : i64]");
        check(
            Attr::Floats(vec![0.5, f32::INFINITY]),
            "[0.5 : f32, 0x7F800000 : f32]",
        );
        check(Attr::Type(DType::Ui8), "ui8");
        check(Attr::Text("a\"\n".to_owned()), "\"a\\22\\0A\"");
    }
}
