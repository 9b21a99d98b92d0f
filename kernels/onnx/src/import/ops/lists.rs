//! Sequences and optional values.

use tfrt_import::program::Attr;
use tfrt_support::DType;

use super::{Attrs, Call, Family, Lowered, many};

/// The ops of this family.
pub(super) const OPS: Family = &[
    ("ConcatFromSequence", concat_from_sequence),
    ("Optional", optional),
    ("OptionalGetElement", |call| {
        list_op(call, "nn.Present", Vec::new())
    }),
    ("OptionalHasElement", |call| {
        list_op(call, "nn.IsPresent", Vec::new())
    }),
    ("SequenceAt", |call| list_op(call, "nn.ListAt", Vec::new())),
    ("SequenceConstruct", |call| {
        list_op(call, "nn.List", Vec::new())
    }),
    ("SequenceEmpty", sequence_empty),
    ("SequenceErase", |call| {
        list_op(call, "nn.ListErase", Vec::new())
    }),
    ("SequenceInsert", |call| {
        list_op(call, "nn.ListInsert", Vec::new())
    }),
    ("SequenceLength", |call| {
        list_op(call, "nn.ListLen", Vec::new())
    }),
    ("SplitToSequence", split_to_sequence),
];

/// Calls an op of lists with one result.
fn list_op(call: &mut Call<'_, '_>, ours: &str, attrs: Attrs) -> Lowered {
    let operands = call.operands()?;
    many(call.emit(ours, &operands, &attrs, 1))
}

fn sequence_empty(call: &mut Call<'_, '_>) -> Lowered {
    let dtype = match call.int("dtype") {
        None => DType::F32,
        Some(_) => match call.dtype("dtype")? {
            Some(dtype) => dtype,
            None => return Ok(None),
        },
    };
    list_op(call, "nn.EmptyList", vec![("dtype", Attr::Type(dtype))])
}

fn split_to_sequence(call: &mut Call<'_, '_>) -> Lowered {
    let keeps = call.int("keepdims").unwrap_or(1) != 0;
    let axis = call.int("axis").unwrap_or(0);
    let attrs = vec![("axis", Attr::Int(axis)), ("keep_dims", Attr::Bool(keeps))];
    list_op(call, "nn.SplitToList", attrs)
}

fn concat_from_sequence(call: &mut Call<'_, '_>) -> Lowered {
    let axis = call.int("axis").unwrap_or(0);
    let attrs = vec![
        ("axis", Attr::Int(axis)),
        ("new_axis", Attr::Bool(call.flag("new_axis"))),
    ];
    list_op(call, "nn.ConcatList", attrs)
}

fn optional(call: &mut Call<'_, '_>) -> Lowered {
    // One that is there is the value itself.
    if call.has(0) {
        return Ok(Some(vec![call.known(0)?]));
    }
    list_op(call, "nn.Absent", Vec::new())
}
