//! Programs as data: functions, their ops, and the values between them.

use super::{Attr, Value};

/// An op of a program.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Op {
    pub(crate) kind: OpKind,
    /// The values that it takes. The first operand of a conditional is its condition.
    pub(crate) operands: Vec<Value>,
    /// The values that it makes.
    pub(crate) results: Vec<Value>,
    /// Where it comes from, for errors.
    pub(crate) place: String,
}

/// What an op does.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum OpKind {
    /// Calls an op of the library.
    Call {
        name: String,
        attrs: Vec<(String, Attr)>,
    },
    /// Calls one of two functions.
    Conditional { then: String, otherwise: String },
    /// Calls a function as long as another one returns true.
    Repeat { condition: String, body: String },
}

/// A branch, or a part of a loop.
#[derive(Clone, Debug)]
pub(crate) struct Function {
    pub(crate) name: String,
    pub(crate) arguments: Vec<Value>,
    pub(crate) ops: Vec<Op>,
    pub(crate) results: Vec<Value>,
}

/// A program without its weights and names.
#[derive(Clone, Debug, Default)]
pub(crate) struct Body {
    pub(crate) inputs: Vec<Value>,
    /// The arguments that are weights, in the order of the program's weights.
    pub(crate) weights: Vec<Value>,
    pub(crate) ops: Vec<Op>,
    pub(crate) results: Vec<Value>,
    pub(crate) functions: Vec<Function>,
    /// The number of the next new value.
    pub(crate) num_values: u32,
}

impl Body {
    /// Returns the number of ops, including those of inner functions.
    pub(crate) fn num_ops(&self) -> usize {
        let inner = self.functions.iter().map(|function| function.ops.len());
        self.ops.len() + inner.sum::<usize>()
    }
}
