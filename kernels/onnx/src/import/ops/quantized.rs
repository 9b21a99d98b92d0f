//! Quantised numbers.

use tfrt_import::ImportError;
use tfrt_import::program::Attr;

use super::windows::windows;
use super::{Attrs, Call, Results, many, put, slotted};

/// The ops of this family.
pub(super) const OPS: &[&str] = &[
    "ConvInteger",
    "DequantizeLinear",
    "DynamicQuantizeLinear",
    "MatMulInteger",
    "QLinearConv",
    "QuantizeLinear",
];

pub(super) fn lower(call: &mut Call<'_, '_>) -> Result<Option<Results>, ImportError> {
    match call.op {
        "DynamicQuantizeLinear" => {
            let x = call.operand(0)?;
            many(call.emit("nn.DynamicQuantize", &[x], &[], 3))
        }
        "MatMulInteger" => slotted(call, "nn.MatMulInteger", Attrs::new()),
        "ConvInteger" => {
            let mut attrs = windows(call)?;
            attrs.push(("group", Attr::Int(call.int("group").unwrap_or(1))));
            slotted(call, "nn.ConvInteger", attrs)
        }
        "QLinearConv" => {
            let mut attrs = windows(call)?;
            attrs.push(("group", Attr::Int(call.int("group").unwrap_or(1))));
            let operands = call.operands()?;
            many(call.emit("nn.QuantizedConv", &operands, &attrs, 1))
        }
        op => {
            let mut attrs = vec![
                ("axis", Attr::Int(call.int("axis").unwrap_or(1))),
                ("block", Attr::Int(call.int("block_size").unwrap_or(0))),
            ];
            if call.int("output_dtype").is_some_and(|code| code != 0) {
                let Some(dtype) = call.dtype("output_dtype")? else {
                    return Ok(None);
                };
                put(&mut attrs, "dtype", Some(Attr::Type(dtype)));
            }
            let ours = match op {
                "QuantizeLinear" => "nn.Quantize",
                _ => "nn.Dequantize",
            };
            let operands = call.operands()?;
            many(call.emit(ours, &operands, &attrs, 1))
        }
    }
}
