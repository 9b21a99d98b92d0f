//! Reductions and running results along axes.

use tfrt_import::ImportError;
use tfrt_import::program::Attr;

use super::{Call, Results, axis, one};

/// The ops of this family.
pub(super) const OPS: &[&str] = &[
    "ArgMax",
    "ArgMin",
    "CumProd",
    "CumSum",
    "ReduceL1",
    "ReduceL2",
    "ReduceLogSum",
    "ReduceLogSumExp",
    "ReduceMax",
    "ReduceMean",
    "ReduceMin",
    "ReduceProd",
    "ReduceSum",
    "ReduceSumSquare",
];

pub(super) fn lower(call: &mut Call<'_, '_>) -> Result<Option<Results>, ImportError> {
    let op = call.op;
    match op {
        "CumSum" | "CumProd" => {
            let attrs = [
                ("multiplies", Attr::Bool(op == "CumProd")),
                ("exclusive", Attr::Bool(call.flag("exclusive"))),
                ("reverse", Attr::Bool(call.flag("reverse"))),
            ];
            let operands = call.operands()?;
            one(call.emit_one("nn.Cumulate", &operands, &attrs))
        }
        "ArgMax" | "ArgMin" => {
            let attrs = [
                ("is_max", Attr::Bool(op == "ArgMax")),
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
        _ => {
            let Some(function) = reduction(op) else {
                return Ok(None);
            };
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
    }
}

fn reduction(op: &str) -> Option<&'static str> {
    Some(match op {
        "ReduceSum" => "sum",
        "ReduceMean" => "mean",
        "ReduceMax" => "max",
        "ReduceMin" => "min",
        "ReduceProd" => "prod",
        "ReduceL1" => "l1",
        "ReduceL2" => "l2",
        "ReduceLogSum" => "log_sum",
        "ReduceLogSumExp" => "log_sum_exp",
        "ReduceSumSquare" => "sum_square",
        _ => return None,
    })
}
