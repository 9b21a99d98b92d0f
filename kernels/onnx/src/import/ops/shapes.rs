//! Shapes, and tensors taken apart, joined and rearranged.

use tfrt_import::ImportError;
use tfrt_import::program::Attr;

use super::{Attrs, Call, Results, axis, list, many, one, put, slotted};

/// The ops of this family.
pub(super) const OPS: &[&str] = &[
    "CenterCropPad",
    "Concat",
    "DepthToSpace",
    "Flatten",
    "Identity",
    "Pad",
    "Reshape",
    "ReverseSequence",
    "Shape",
    "SpaceToDepth",
    "Split",
    "Transpose",
    "Trilu",
];

pub(super) fn lower(call: &mut Call<'_, '_>) -> Result<Option<Results>, ImportError> {
    let op = call.op;
    match op {
        "Identity" => Ok(Some(vec![call.known(0)?])),
        "Shape" => {
            let mut attrs = vec![("start", Attr::Int(call.int("start").unwrap_or(0)))];
            put(&mut attrs, "end", call.int("end").map(Attr::Int));
            let x = call.operand(0)?;
            one(call.emit_one("nn.Shape", &[x], &attrs))
        }
        "Reshape" => {
            let attrs = [("allow_zero", Attr::Bool(call.flag("allowzero")))];
            let operands = call.operands()?;
            one(call.emit_one("nn.Reshape", &operands, &attrs))
        }
        "Flatten" | "Concat" => {
            let (ours, missing) = if op == "Flatten" {
                ("nn.Flatten", 1)
            } else {
                ("nn.Concat", 1)
            };
            let attrs = [("axis", axis(call, missing))];
            let operands = call.operands()?;
            one(call.emit_one(ours, &operands, &attrs))
        }
        "Transpose" => {
            let mut attrs = Attrs::new();
            put(&mut attrs, "perm", list(call.ints("perm")));
            let x = call.operand(0)?;
            one(call.emit_one("nn.Transpose", &[x], &attrs))
        }
        "Split" => {
            let count = call.num_results();
            if let Some(declared) = call.int("num_outputs")
                && usize::try_from(declared) != Ok(count)
            {
                return Err(ImportError::new(format!(
                    "attribute `num_outputs`: expected {count}, the number of results, found \
                     {declared}"
                )));
            }
            let attrs = [("count", Attr::Int(count as i64)), ("axis", axis(call, 0))];
            let operands = call.operands()?;
            many(call.emit("nn.Split", &operands, &attrs, count))
        }
        "DepthToSpace" | "SpaceToDepth" => {
            let mut attrs = vec![("block", Attr::Int(call.int("blocksize").unwrap_or(1)))];
            let ours = if op == "DepthToSpace" {
                let is_crd = call.text("mode").is_some_and(|mode| mode == "CRD");
                attrs.push(("columns_first", Attr::Bool(is_crd)));
                "nn.DepthToSpace"
            } else {
                "nn.SpaceToDepth"
            };
            let x = call.operand(0)?;
            one(call.emit_one(ours, &[x], &attrs))
        }
        "CenterCropPad" => {
            let mut attrs = Attrs::new();
            put(&mut attrs, "axes", list(call.ints("axes")));
            let operands = call.operands()?;
            one(call.emit_one("nn.CenterCropPad", &operands, &attrs))
        }
        "Pad" => {
            let mode = call.text("mode").unwrap_or_else(|| "constant".to_owned());
            slotted(call, "nn.Pad", vec![("mode", Attr::Text(mode))])
        }
        "Trilu" => {
            let attrs = [("upper", Attr::Bool(call.int("upper").unwrap_or(1) != 0))];
            let operands = call.operands()?;
            one(call.emit_one("nn.Trilu", &operands, &attrs))
        }
        "ReverseSequence" => {
            let attrs = [
                ("batch_axis", Attr::Int(call.int("batch_axis").unwrap_or(1))),
                ("time_axis", Attr::Int(call.int("time_axis").unwrap_or(0))),
            ];
            let operands = call.operands()?;
            one(call.emit_one("nn.ReverseSequence", &operands, &attrs))
        }
        _ => Ok(None),
    }
}
