//! Elements at indices: gathered, scattered, chosen.

use tfrt_import::program::Attr;

use super::{Attrs, Call, Family, Lowered, axis, many, one, put, slotted, unknown};

/// The ops of this family.
pub(super) const OPS: Family = &[
    ("Compress", compress),
    ("Gather", |call| gather(call, "nn.Gather")),
    ("GatherElements", |call| gather(call, "nn.GatherElements")),
    ("GatherND", gather_nd),
    ("NonMaxSuppression", non_max_suppression),
    ("OneHot", one_hot),
    ("Scatter", scatter_elements),
    ("ScatterElements", scatter_elements),
    ("ScatterND", scatter_nd),
    ("Slice", |call| slotted(call, "nn.Slice", Vec::new())),
    ("TensorScatter", tensor_scatter),
    ("TopK", top_k),
    ("Unique", unique),
];

fn gather(call: &mut Call<'_, '_>, ours: &str) -> Lowered {
    let attrs = [("axis", axis(call, 0))];
    let operands = call.operands()?;
    one(call.emit_one(ours, &operands, &attrs))
}

fn scatter_elements(call: &mut Call<'_, '_>) -> Lowered {
    let reduction = call.text("reduction").unwrap_or_else(|| "none".to_owned());
    let attrs = [
        ("reduction", Attr::Text(reduction)),
        ("axis", axis(call, 0)),
    ];
    let operands = call.operands()?;
    one(call.emit_one("nn.ScatterElements", &operands, &attrs))
}

fn scatter_nd(call: &mut Call<'_, '_>) -> Lowered {
    let reduction = call.text("reduction").unwrap_or_else(|| "none".to_owned());
    let attrs = [("reduction", Attr::Text(reduction))];
    let operands = call.operands()?;
    one(call.emit_one("nn.ScatterNd", &operands, &attrs))
}

fn gather_nd(call: &mut Call<'_, '_>) -> Lowered {
    let attrs = [("batch_dims", Attr::Int(call.int("batch_dims").unwrap_or(0)))];
    let operands = call.operands()?;
    one(call.emit_one("nn.GatherNd", &operands, &attrs))
}

fn tensor_scatter(call: &mut Call<'_, '_>) -> Lowered {
    let wraps = match call.text("mode").as_deref() {
        None | Some("linear") => false,
        Some("circular") => true,
        other => return Err(unknown("mode", other)),
    };
    let attrs = [("axis", axis(call, -2)), ("wraps", Attr::Bool(wraps))];
    let operands = call.operands()?;
    one(call.emit_one("nn.TensorScatter", &operands, &attrs))
}

fn one_hot(call: &mut Call<'_, '_>) -> Lowered {
    let attrs = [("axis", axis(call, -1))];
    let operands = call.operands()?;
    one(call.emit_one("nn.OneHot", &operands, &attrs))
}

fn top_k(call: &mut Call<'_, '_>) -> Lowered {
    let attrs = [
        ("axis", axis(call, -1)),
        ("largest", Attr::Bool(call.int("largest").unwrap_or(1) != 0)),
    ];
    let operands = call.operands()?;
    many(call.emit("nn.TopK", &operands, &attrs, 2))
}

fn compress(call: &mut Call<'_, '_>) -> Lowered {
    let mut attrs = Attrs::new();
    put(&mut attrs, "axis", call.int("axis").map(Attr::Int));
    let operands = call.operands()?;
    one(call.emit_one("nn.Compress", &operands, &attrs))
}

fn unique(call: &mut Call<'_, '_>) -> Lowered {
    let is_sorted = call.int("sorted").unwrap_or(1) != 0;
    let mut attrs = vec![("sorted", Attr::Bool(is_sorted))];
    put(&mut attrs, "axis", call.int("axis").map(Attr::Int));
    let x = call.operand(0)?;
    many(call.emit("nn.Unique", &[x], &attrs, 4))
}

fn non_max_suppression(call: &mut Call<'_, '_>) -> Lowered {
    let is_centered = Attr::Bool(call.flag("center_point_box"));
    slotted(
        call,
        "nn.NonMaxSuppression",
        vec![("is_centered", is_centered)],
    )
}
