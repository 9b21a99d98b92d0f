//! Reductions and running results along axes.

use tfrt_import::program::Attr;

use super::{Call, Family, Lowered, axis, one};

/// The ops of this family.
pub(super) const OPS: Family = &[
    ("ArgMax", |call| arg_extreme(call, true)),
    ("ArgMin", |call| arg_extreme(call, false)),
    ("CumProd", |call| cumulate(call, true)),
    ("CumSum", |call| cumulate(call, false)),
    ("ReduceL1", |call| reduce(call, "l1")),
    ("ReduceL2", |call| reduce(call, "l2")),
    ("ReduceLogSum", |call| reduce(call, "log_sum")),
    ("ReduceLogSumExp", |call| reduce(call, "log_sum_exp")),
    ("ReduceMax", |call| reduce(call, "max")),
    ("ReduceMean", |call| reduce(call, "mean")),
    ("ReduceMin", |call| reduce(call, "min")),
    ("ReduceProd", |call| reduce(call, "prod")),
    ("ReduceSum", |call| reduce(call, "sum")),
    ("ReduceSumSquare", |call| reduce(call, "sum_square")),
];

fn cumulate(call: &mut Call<'_, '_>, multiplies: bool) -> Lowered {
    let attrs = [
        ("multiplies", Attr::Bool(multiplies)),
        ("exclusive", Attr::Bool(call.flag("exclusive"))),
        ("reverse", Attr::Bool(call.flag("reverse"))),
    ];
    let operands = call.operands()?;
    one(call.emit_one("nn.Cumulate", &operands, &attrs))
}

fn arg_extreme(call: &mut Call<'_, '_>, is_max: bool) -> Lowered {
    let attrs = [
        ("is_max", Attr::Bool(is_max)),
        ("axis", axis(call, 0)),
        (
            "keep_dims",
            Attr::Bool(call.int("keepdims").unwrap_or(1) != 0),
        ),
        ("takes_last", Attr::Bool(call.flag("select_last_index"))),
    ];
    let x = call.operand(0)?;
    one(call.emit_one("nn.ArgExtreme", &[x], &attrs))
}

fn reduce(call: &mut Call<'_, '_>, function: &str) -> Lowered {
    let attrs = [
        ("function", Attr::Text(function.to_owned())),
        (
            "keep_dims",
            Attr::Bool(call.int("keepdims").unwrap_or(1) != 0),
        ),
        (
            "keeps_without_axes",
            Attr::Bool(call.flag("noop_with_empty_axes")),
        ),
    ];
    let operands = call.operands()?;
    one(call.emit_one("nn.Reduce", &operands, &attrs))
}
