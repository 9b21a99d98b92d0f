//! Shapes, and tensors taken apart, joined and rearranged.

use tfrt_import::ImportError;
use tfrt_import::program::Attr;
use tfrt_support::DType;

use super::{Attrs, Call, Family, Lowered, axis, list, many, one, put, slotted};

/// The ops of this family.
pub(super) const OPS: Family = &[
    ("CenterCropPad", center_crop_pad),
    ("Concat", |call| along_axis(call, "nn.Concat")),
    ("DepthToSpace", depth_to_space),
    ("Flatten", |call| along_axis(call, "nn.Flatten")),
    ("Identity", |call| Ok(Some(vec![call.known(0)?]))),
    ("Pad", pad),
    ("Reshape", reshape),
    ("ReverseSequence", reverse_sequence),
    ("Shape", shape),
    ("SpaceToDepth", space_to_depth),
    ("Split", split),
    ("Transpose", transpose),
    ("Trilu", trilu),
];

fn along_axis(call: &mut Call<'_, '_>, ours: &str) -> Lowered {
    let attrs = [("axis", axis(call, 1))];
    let operands = call.operands()?;
    one(call.emit_one(ours, &operands, &attrs))
}

fn shape(call: &mut Call<'_, '_>) -> Lowered {
    let mut attrs = vec![("start", Attr::Int(call.int("start").unwrap_or(0)))];
    put(&mut attrs, "end", call.int("end").map(Attr::Int));
    let x = call.operand(0)?;
    one(call.emit_one("nn.Shape", &[x], &attrs))
}

fn reshape(call: &mut Call<'_, '_>) -> Lowered {
    let attrs = [("allow_zero", Attr::Bool(call.flag("allowzero")))];
    let operands = call.operands()?;
    one(call.emit_one("nn.Reshape", &operands, &attrs))
}

fn transpose(call: &mut Call<'_, '_>) -> Lowered {
    let mut attrs = Attrs::new();
    put(&mut attrs, "perm", list(call.ints("perm")));
    let x = call.operand(0)?;
    one(call.emit_one("nn.Transpose", &[x], &attrs))
}

fn split(call: &mut Call<'_, '_>) -> Lowered {
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
    let mut operands = call.operands()?;
    if let (1, [_, parts]) = (call.since, &mut operands[..]) {
        // The first version had lengths of the type of what is split.
        let whole = [("DstT", Attr::Type(DType::I64))];
        *parts = call.emit_one("tfrt.Cast", &[*parts], &whole);
    }
    many(call.emit("nn.Split", &operands, &attrs, count))
}

fn center_crop_pad(call: &mut Call<'_, '_>) -> Lowered {
    let mut attrs = Attrs::new();
    put(&mut attrs, "axes", list(call.ints("axes")));
    let operands = call.operands()?;
    one(call.emit_one("nn.CenterCropPad", &operands, &attrs))
}

fn pad(call: &mut Call<'_, '_>) -> Lowered {
    let mode = call.text("mode").unwrap_or_else(|| "constant".to_owned());
    let attrs = vec![("mode", Attr::Text(mode))];
    if call.since >= 11 || !call.has(2) {
        return slotted(call, "nn.Pad", attrs);
    }
    // The attribute is a number of single precision, whatever is padded.
    let [x, pads, value] = [call.operand(0)?, call.operand(1)?, call.operand(2)?];
    let value = call.emit_one("nn.CastLike", &[value, x], &[]);
    one(call.emit_one("nn.Pad", &[x, pads, value], &attrs))
}

fn trilu(call: &mut Call<'_, '_>) -> Lowered {
    let attrs = [("upper", Attr::Bool(call.int("upper").unwrap_or(1) != 0))];
    let operands = call.operands()?;
    one(call.emit_one("nn.Trilu", &operands, &attrs))
}

fn reverse_sequence(call: &mut Call<'_, '_>) -> Lowered {
    let attrs = [
        ("batch_axis", Attr::Int(call.int("batch_axis").unwrap_or(1))),
        ("time_axis", Attr::Int(call.int("time_axis").unwrap_or(0))),
    ];
    let operands = call.operands()?;
    one(call.emit_one("nn.ReverseSequence", &operands, &attrs))
}

fn depth_to_space(call: &mut Call<'_, '_>) -> Lowered {
    let is_crd = call.text("mode").is_some_and(|mode| mode == "CRD");
    let attrs = [block(call), ("columns_first", Attr::Bool(is_crd))];
    let x = call.operand(0)?;
    one(call.emit_one("nn.DepthToSpace", &[x], &attrs))
}

fn space_to_depth(call: &mut Call<'_, '_>) -> Lowered {
    let attrs = [block(call)];
    let x = call.operand(0)?;
    one(call.emit_one("nn.SpaceToDepth", &[x], &attrs))
}

/// Returns the attribute that is the size of blocks.
fn block(call: &Call<'_, '_>) -> (&'static str, Attr) {
    ("block", Attr::Int(call.int("blocksize").unwrap_or(1)))
}
