//! Sequences and optional values.

use tfrt_import::ImportError;
use tfrt_import::program::Attr;
use tfrt_support::DType;

use super::{Call, Results, many};

/// The ops of this family.
pub(super) const OPS: &[&str] = &[
    "ConcatFromSequence",
    "Optional",
    "OptionalGetElement",
    "OptionalHasElement",
    "SequenceAt",
    "SequenceConstruct",
    "SequenceEmpty",
    "SequenceErase",
    "SequenceInsert",
    "SequenceLength",
    "SplitToSequence",
];

pub(super) fn lower(call: &mut Call<'_, '_>) -> Result<Option<Results>, ImportError> {
    let op = call.op;
    let (ours, attrs) = match op {
        "SequenceConstruct" => ("nn.List", Vec::new()),
        "SequenceEmpty" => {
            let dtype = match call.int("dtype") {
                None => DType::F32,
                Some(_) => match call.dtype("dtype")? {
                    Some(dtype) => dtype,
                    None => return Ok(None),
                },
            };
            ("nn.EmptyList", vec![("dtype", Attr::Type(dtype))])
        }
        "SequenceAt" => ("nn.ListAt", Vec::new()),
        "SequenceInsert" => ("nn.ListInsert", Vec::new()),
        "SequenceErase" => ("nn.ListErase", Vec::new()),
        "SequenceLength" => ("nn.ListLen", Vec::new()),
        "SplitToSequence" => {
            let keeps = call.int("keepdims").unwrap_or(1) != 0;
            let axis = call.int("axis").unwrap_or(0);
            let attrs = vec![("axis", Attr::Int(axis)), ("keep_dims", Attr::Bool(keeps))];
            ("nn.SplitToList", attrs)
        }
        "ConcatFromSequence" => {
            let axis = call.int("axis").unwrap_or(0);
            let attrs = vec![
                ("axis", Attr::Int(axis)),
                ("new_axis", Attr::Bool(call.flag("new_axis"))),
            ];
            ("nn.ConcatList", attrs)
        }
        // One that is there is the value itself.
        "Optional" if call.has(0) => return Ok(Some(vec![call.known(0)?])),
        "Optional" => ("nn.Absent", Vec::new()),
        "OptionalHasElement" => ("nn.IsPresent", Vec::new()),
        _ => ("nn.Present", Vec::new()),
    };
    let operands = call.operands()?;
    many(call.emit(ours, &operands, &attrs, 1))
}
