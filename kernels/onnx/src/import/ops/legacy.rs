//! Old versions of ops whose operands have another form. Ranks are known only when the model runs,
//! so that shapes are computed then.

use tfrt_import::ImportError;
use tfrt_import::program::{Attr, Value};
use tfrt_support::DType;

use super::super::call::{Call, numbers_tensor, scalar};

/// Ops that aligned their second operand at an axis of the first one before version 7.
const ALIGNED: &[&str] = &[
    "Add", "And", "Div", "Equal", "Greater", "Less", "Mul", "Or", "Pow", "Sub", "Xor",
];

/// Returns the axis at which the second operand lies, if it is not at the end.
pub(super) fn axis_of_second(call: &Call<'_, '_>) -> Option<i64> {
    let is_aligned = call.since < 7 && ALIGNED.contains(&call.op) && call.flag("broadcast");
    call.int("axis").filter(|&axis| is_aligned && axis != -1)
}

/// Returns both operands; the second one gets dimensions of extent 1 at its end, so that its first
/// dimension lies at an axis of the first operand.
pub(super) fn aligned(call: &mut Call<'_, '_>, axis: i64) -> Result<[Value; 2], ImportError> {
    let (a, b) = (call.operand(0)?, call.operand(1)?);
    let from_axis = call.emit_one("nn.Shape", &[a], &[("start", Attr::Int(axis))]);
    let own = call.emit_one("nn.Shape", &[b], &[("start", Attr::Int(0))]);
    let [wanted, present] = [from_axis, own].map(|shape| call.emit_one("nn.Size", &[shape], &[]));
    let missing = call.emit_one("tf.Sub", &[wanted, present], &[]);
    let first = call.weight(numbers_tensor(&[0])?);
    let missing = call.emit_one("nn.Unsqueeze", &[missing, first], &[]);
    let one = call.weight(scalar(1_i64)?);
    let ones = call.emit_one("nn.Fill", &[missing, one], &[]);
    let dims = call.emit_one("nn.Concat", &[own, ones], &[("axis", Attr::Int(0))]);
    let attrs = [("allow_zero", Attr::Bool(true))];
    Ok([a, call.emit_one("nn.Reshape", &[b, dims], &attrs)])
}

/// Repeats a tensor along one axis, as `Tile` did in its first version: the operands after the
/// tensor are the number of repetitions and the axis, both of the type of the tensor.
pub(super) fn tile(call: &mut Call<'_, '_>) -> Result<Value, ImportError> {
    let x = call.operand(0)?;
    let whole = [("DstT", Attr::Type(DType::I64))];
    let (count, axis) = (call.operand(1)?, call.operand(2)?);
    let [count, axis] = [count, axis].map(|number| call.emit_one("tfrt.Cast", &[number], &whole));
    let shape = call.emit_one("nn.Shape", &[x], &[("start", Attr::Int(0))]);
    let rank = call.emit_one("nn.Size", &[shape], &[]);
    let [zero, one] = [scalar(0_i64)?, scalar(1_i64)?].map(|number| call.weight(number));
    let axes = call.emit_one("nn.Range", &[zero, rank, one], &[]);
    let is_axis = call.emit_one("nn.Equal", &[axes, axis], &[]);
    let repeats = call.emit_one("nn.Where", &[is_axis, count, one], &[]);
    Ok(call.emit_one("nn.Tile", &[x, repeats], &[]))
}

/// Normalizes each place of each channel by statistics of its own, as `BatchNormalization` with
/// `spatial` 0 did before version 9: the operands after the tensor have its shape, without batch.
pub(super) fn batch_norm_of_places(call: &mut Call<'_, '_>) -> Result<Value, ImportError> {
    let [x, scale, bias] = [call.operand(0)?, call.operand(1)?, call.operand(2)?];
    let [mean, variance] = [call.operand(3)?, call.operand(4)?];
    let epsilon = call.weight(scalar(call.float("epsilon").unwrap_or(1e-5))?);
    let epsilon = call.emit_one("nn.CastLike", &[epsilon, variance], &[]);
    let variance = call.emit_one("tf.AddV2", &[variance, epsilon], &[]);
    let deviation = call.emit_one("nn.Sqrt", &[variance], &[]);
    let factor = call.emit_one("nn.Div", &[scale, deviation], &[]);
    let centred = call.emit_one("tf.Sub", &[x, mean], &[]);
    let scaled = call.emit_one("tf.Mul", &[centred, factor], &[]);
    Ok(call.emit_one("tf.AddV2", &[scaled, bias], &[]))
}
