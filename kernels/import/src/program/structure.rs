//! Programs as data: functions, their ops, and the values between them.

use std::collections::HashSet;

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

impl OpKind {
    /// Returns the functions that an op calls.
    fn callees(&self) -> impl Iterator<Item = &str> {
        let names = match self {
            Self::Call { .. } => None,
            Self::Conditional { then, otherwise } => Some([then, otherwise]),
            Self::Repeat { condition, body } => Some([condition, body]),
        };
        names.into_iter().flatten().map(String::as_str)
    }
}

impl Body {
    /// Drops the inner functions that nothing calls.
    pub(crate) fn drop_unused_functions(&mut self) {
        let mut used: HashSet<String> = HashSet::new();
        let mut pending: Vec<&Op> = self.ops.iter().collect();
        while let Some(op) = pending.pop() {
            for name in op.kind.callees() {
                if used.insert(name.to_owned()) {
                    let called = self.functions.iter();
                    let called = called.filter(|function| function.name == name);
                    pending.extend(called.flat_map(|function| &function.ops));
                }
            }
        }
        self.functions
            .retain(|function| used.contains(&function.name));
    }

    /// Returns the number of ops, including those of inner functions.
    pub(crate) fn num_ops(&self) -> usize {
        let inner = self.functions.iter().map(|function| function.ops.len());
        self.ops.len() + inner.sum::<usize>()
    }
}
