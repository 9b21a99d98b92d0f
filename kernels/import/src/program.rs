//! Programs of ops, as importers write them.
//!
//! A program is one function, `main`, in MLIR text: its arguments are handles of the inputs, then of the weights, and its body runs one op after
//! another. So it holds no data, and can be printed, read and run like any other program.

use std::fmt::Write;

use tfrt_support::DType;
use tfrt_tensor::DenseHostTensor;

/// The name of the function that a program is.
pub const FUNCTION: &str = "main";

/// A value of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Value(u32);

/// An attribute of an op.
#[derive(Clone, Debug, PartialEq)]
pub enum Attr {
    /// A truth value.
    Bool(bool),
    /// A whole number.
    Int(i64),
    /// A number.
    Float(f32),
    /// A text.
    Text(String),
    /// Whole numbers. An empty list cannot be told from a list of anything else: leave the attribute out.
    Ints(Vec<i64>),
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
    num_values: u32,
    num_ops: usize,
}

/// A tensor that a program is given when it is loaded.
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
    /// The weights, which are the arguments behind the inputs.
    pub weights: Vec<Weight>,
    /// The names of the results.
    pub outputs: Vec<String>,
    /// How many ops it has.
    pub num_ops: usize,
}

impl ProgramBuilder {
    fn value(&mut self) -> Value {
        let value = Value(self.num_values);
        self.num_values += 1;
        value
    }

    /// Adds an input.
    pub fn input(&mut self, name: &str) -> Value {
        let value = self.value();
        self.inputs.push((name.to_owned(), value));
        value
    }

    /// Adds a weight.
    pub fn weight(&mut self, name: &str, tensor: DenseHostTensor) -> Value {
        let value = self.value();
        let name = name.to_owned();
        self.weights.push((Weight { name, tensor }, value));
        value
    }

    /// How many ops there are so far.
    #[must_use]
    pub fn num_ops(&self) -> usize {
        self.num_ops
    }

    /// Adds a call of an op. `place` is what errors say of it.
    pub fn call(
        &mut self,
        op: &str,
        operands: &[Value],
        attrs: &[(&str, Attr)],
        num_results: usize,
        place: &str,
    ) -> Vec<Value> {
        let results: Vec<Value> = (0..num_results).map(|_| self.value()).collect();
        self.num_ops += 1;
        let body = &mut self.body;
        body.push_str("  ");
        if !results.is_empty() {
            let _ = write!(body, "{} = ", names(results.iter().copied()));
        }
        let operands = names(operands.iter().copied());
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

    /// The program that returns these values.
    #[must_use]
    pub fn finish(self, outputs: &[(&str, Value)]) -> Program {
        const HANDLE: &str = "!corert.tensorhandle";
        let inputs = self.inputs.iter().map(|(_, value)| value);
        let arguments = inputs.chain(self.weights.iter().map(|(_, value)| value));
        let arguments = arguments.map(|value| format!("%v{}: {HANDLE}", value.0));
        let types = vec![HANDLE; outputs.len()].join(", ");
        let results = names(outputs.iter().map(|(_, value)| *value));
        let text = format!(
            "func @{FUNCTION}({}) -> ({types}) {{\n  %chain = tfrt.new.chain\n  \
             %cpu = corert.get_op_handler %chain \"cpu\"\n{}  tfrt.return {results} : {types}\n}}\n",
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
        Attr::Float(value) if value.is_finite() => {
            // The shortest text that means this number; an exponent needs a fraction before it.
            let text = format!("{value:?}");
            let text = match text.split_once('e') {
                Some((digits, exponent)) if !digits.contains('.') => {
                    format!("{digits}.0e{exponent}")
                }
                _ => text,
            };
            format!("{text} : f32")
        }
        Attr::Float(value) => format!("0x{:08X} : f32", value.to_bits()),
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
            other => other.to_string(),
        },
    }
}

/// A text as MLIR quotes it: bytes that are not printable ASCII as two hexadecimal digits.
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
        check(Attr::Type(DType::Ui8), "ui8");
        check(Attr::Text("a\"\n".to_owned()), "\"a\\22\\0A\"");
    }
}
