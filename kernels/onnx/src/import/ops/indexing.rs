//! Elements at indices: gathered, scattered, chosen.

use tfrt_import::ImportError;
use tfrt_import::program::Attr;

use super::{Attrs, Call, Results, axis, many, one, put, slotted, unknown};

/// The ops of this family.
pub(super) const OPS: &[&str] = &[
    "Compress",
    "Gather",
    "GatherElements",
    "GatherND",
    "NonMaxSuppression",
    "OneHot",
    "Scatter",
    "ScatterElements",
    "ScatterND",
    "Slice",
    "TensorScatter",
    "TopK",
    "Unique",
];

pub(super) fn lower(call: &mut Call<'_, '_>) -> Result<Option<Results>, ImportError> {
    let op = call.op;
    match op {
        "Slice" => slotted(call, "nn.Slice", Vec::new()),
        "Gather" | "GatherElements" => {
            let ours = if op == "Gather" {
                "nn.Gather"
            } else {
                "nn.GatherElements"
            };
            let attrs = [("axis", axis(call, 0))];
            let operands = call.operands()?;
            one(call.emit_one(ours, &operands, &attrs))
        }
        "GatherND" => {
            let attrs = [("batch_dims", Attr::Int(call.int("batch_dims").unwrap_or(0)))];
            let operands = call.operands()?;
            one(call.emit_one("nn.GatherNd", &operands, &attrs))
        }
        "Scatter" | "ScatterElements" | "ScatterND" => {
            let reduction = call.text("reduction").unwrap_or_else(|| "none".to_owned());
            let mut attrs = vec![("reduction", Attr::Text(reduction))];
            let ours = if op == "ScatterND" {
                "nn.ScatterNd"
            } else {
                attrs.push(("axis", axis(call, 0)));
                "nn.ScatterElements"
            };
            let operands = call.operands()?;
            one(call.emit_one(ours, &operands, &attrs))
        }
        "TensorScatter" => {
            let wraps = match call.text("mode").as_deref() {
                None | Some("linear") => false,
                Some("circular") => true,
                other => return Err(unknown("mode", other)),
            };
            let attrs = [("axis", axis(call, -2)), ("wraps", Attr::Bool(wraps))];
            let operands = call.operands()?;
            one(call.emit_one("nn.TensorScatter", &operands, &attrs))
        }
        "OneHot" => {
            let attrs = [("axis", axis(call, -1))];
            let operands = call.operands()?;
            one(call.emit_one("nn.OneHot", &operands, &attrs))
        }
        "TopK" => {
            let attrs = [
                ("axis", axis(call, -1)),
                ("largest", Attr::Bool(call.int("largest").unwrap_or(1) != 0)),
            ];
            let operands = call.operands()?;
            many(call.emit("nn.TopK", &operands, &attrs, 2))
        }
        "Compress" => {
            let mut attrs = Attrs::new();
            put(&mut attrs, "axis", call.int("axis").map(Attr::Int));
            let operands = call.operands()?;
            one(call.emit_one("nn.Compress", &operands, &attrs))
        }
        "Unique" => {
            let is_sorted = call.int("sorted").unwrap_or(1) != 0;
            let mut attrs = vec![("sorted", Attr::Bool(is_sorted))];
            put(&mut attrs, "axis", call.int("axis").map(Attr::Int));
            let x = call.operand(0)?;
            many(call.emit("nn.Unique", &[x], &attrs, 4))
        }
        "NonMaxSuppression" => {
            let is_centered = Attr::Bool(call.flag("center_point_box"));
            slotted(
                call,
                "nn.NonMaxSuppression",
                vec![("is_centered", is_centered)],
            )
        }
        _ => Ok(None),
    }
}
