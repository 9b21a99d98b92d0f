//! The lowering of each op.
//!
//! To add an op: list it in its family, and implement an op if none exists yet. The
//! attributes of our ops are canonical, so everything specific to ONNX ends here.

use tfrt_import::ImportError;
use tfrt_import::names::shown;
use tfrt_import::program::{Attr, Value};

use super::Known;
use super::call::Call;

mod constants;

mod element_wise;

mod images;

mod indexing;

mod legacy;

mod lists;

mod losses;

mod normalization;

mod products;

mod quantized;

mod random;

mod recurrent;

mod reductions;

mod shapes;

mod signal;

mod windows;

type Results = Vec<Known>;

/// What a node becomes: its results, or nothing if it is not supported.
type Lowered = Result<Option<Results>, ImportError>;

/// The names of ops, and how each is lowered.
type Family = &'static [(&'static str, fn(&mut Call<'_, '_>) -> Lowered)];

/// Returns the result of an op with one.
fn one(value: Value) -> Lowered {
    many(vec![value])
}

/// Returns the results of an op with several.
fn many(values: Vec<Value>) -> Lowered {
    Ok(Some(values.into_iter().map(Known::Value).collect()))
}

/// Ops that are one of ours, operands and all.
const SAME: &[(&str, &str)] = &[
    ("Abs", "nn.Abs"),
    ("Acos", "nn.Acos"),
    ("Acosh", "nn.Acosh"),
    ("Add", "tf.AddV2"),
    ("And", "nn.And"),
    ("Asin", "nn.Asin"),
    ("Asinh", "nn.Asinh"),
    ("Atan", "nn.Atan"),
    ("Atanh", "nn.Atanh"),
    ("BitwiseAnd", "nn.BitwiseAnd"),
    ("BitwiseNot", "nn.BitwiseNot"),
    ("BitwiseOr", "nn.BitwiseOr"),
    ("BitwiseXor", "nn.BitwiseXor"),
    ("Ceil", "nn.Ceil"),
    ("Cos", "nn.Cos"),
    ("Cosh", "nn.Cosh"),
    ("Det", "nn.Det"),
    ("Div", "nn.Div"),
    ("Equal", "nn.Equal"),
    ("Erf", "nn.Erf"),
    ("Exp", "nn.Exp"),
    ("Expand", "nn.Expand"),
    ("Floor", "nn.Floor"),
    ("Greater", "tf.Greater"),
    ("GreaterOrEqual", "tf.GreaterEqual"),
    ("HardSwish", "nn.HardSwish"),
    ("IsNaN", "nn.IsNaN"),
    ("Less", "tf.Less"),
    ("LessOrEqual", "tf.LessEqual"),
    ("Log", "nn.Log"),
    ("MatMul", "nn.MatMul"),
    ("Mean", "nn.Mean"),
    ("Mish", "nn.Mish"),
    ("Mul", "tf.Mul"),
    ("Neg", "nn.Neg"),
    ("NonZero", "nn.NonZero"),
    ("Not", "tf.LogicalNot"),
    ("Or", "nn.Or"),
    ("Pow", "nn.Pow"),
    ("QLinearMatMul", "nn.QuantizedMatMul"),
    ("Range", "nn.Range"),
    ("Reciprocal", "nn.Reciprocal"),
    ("Relu", "nn.Relu"),
    ("Round", "nn.Round"),
    ("Sigmoid", "nn.Sigmoid"),
    ("Sign", "nn.Sign"),
    ("Sin", "nn.Sin"),
    ("Sinh", "nn.Sinh"),
    ("Size", "nn.Size"),
    ("Softplus", "nn.Softplus"),
    ("Softsign", "nn.Softsign"),
    ("Sqrt", "nn.Sqrt"),
    ("Squeeze", "nn.Squeeze"),
    ("Sub", "tf.Sub"),
    ("Tan", "nn.Tan"),
    ("Tanh", "nn.Tanh"),
    ("Tile", "nn.Tile"),
    ("Unsqueeze", "nn.Unsqueeze"),
    ("Where", "nn.Where"),
    ("Xor", "nn.Xor"),
];

/// All other ops.
const FAMILIES: &[Family] = &[
    constants::OPS,
    element_wise::OPS,
    images::OPS,
    indexing::OPS,
    lists::OPS,
    losses::OPS,
    normalization::OPS,
    products::OPS,
    quantized::OPS,
    random::OPS,
    recurrent::OPS,
    reductions::OPS,
    shapes::OPS,
    signal::OPS,
    windows::OPS,
];

/// Returns `true` if an op is lowered at all.
pub(super) fn is_known(op: &str) -> bool {
    names().any(|known| known == op)
}

/// Returns the names of all ops that are lowered.
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    let same = SAME.iter().map(|(name, _)| *name);
    let others = FAMILIES.iter().copied().flatten();
    same.chain(others.map(|(name, _)| *name))
}

/// Lowers a node. Returns its results; nothing if it is not supported.
pub(super) fn lower(call: &mut Call<'_, '_>) -> Lowered {
    if (call.op, call.since) == ("Tile", 1) {
        return one(legacy::tile(call)?);
    }
    if let Some((_, op)) = SAME.iter().find(|(known, _)| *known == call.op) {
        let operands = match legacy::axis_of_second(call) {
            Some(axis) => legacy::aligned(call, axis)?.to_vec(),
            None => call.operands()?,
        };
        return one(call.emit_one(op, &operands, &[]));
    }
    let mut others = FAMILIES.iter().copied().flatten();
    match others.find(|(name, _)| *name == call.op) {
        Some((_, lower)) => lower(call),
        None => Ok(None),
    }
}

type Attrs = Vec<(&'static str, Attr)>;

/// Adds an attribute, if there is a value for it.
fn put(attrs: &mut Attrs, name: &'static str, value: Option<Attr>) {
    attrs.extend(value.map(|value| (name, value)));
}

/// Returns a list, unless it is empty.
fn list(values: Option<&[i64]>) -> Option<Attr> {
    let values = values.filter(|values| !values.is_empty());
    values.map(|values| Attr::Ints(values.to_vec()))
}

/// Returns the attribute `axis`.
fn axis(call: &Call<'_, '_>, missing: i64) -> Attr {
    Attr::Int(call.int("axis").unwrap_or(missing))
}

fn unknown(attribute: &str, found: Option<&str>) -> ImportError {
    let found = shown(found.unwrap_or_default()).to_string();
    ImportError::new(format!("attribute `{attribute}` cannot be `{found}`"))
}

/// Returns an op whose operands may be omitted.
fn slotted(call: &mut Call<'_, '_>, ours: &str, attrs: Attrs) -> Lowered {
    let (operands, slots) = call.slots()?;
    let attrs: Attrs = attrs.into_iter().chain(slots).collect();
    one(call.emit_one(ours, &operands, &attrs))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::opset;

    #[test]
    fn every_op_that_is_lowered_is_one_of_onnx_and_listed_once() {
        let mut seen = std::collections::HashSet::new();
        for name in names() {
            assert!(!opset::versions(name).is_empty(), "{name}");
            assert!(seen.insert(name), "{name}");
        }
    }
}
