//! Quantised numbers.

use tfrt_import::program::Attr;

use super::windows::windows;
use super::{Attrs, Call, Family, Lowered, many, put, slotted};

/// The ops of this family.
pub(super) const OPS: Family = &[
    ("ConvInteger", conv_integer),
    ("DequantizeLinear", |call| scaled(call, "nn.Dequantize")),
    ("DynamicQuantizeLinear", dynamic_quantize_linear),
    ("MatMulInteger", |call| {
        slotted(call, "nn.MatMulInteger", Attrs::new())
    }),
    ("QLinearConv", quantized_conv),
    ("QuantizeLinear", |call| scaled(call, "nn.Quantize")),
];

fn dynamic_quantize_linear(call: &mut Call<'_, '_>) -> Lowered {
    let x = call.operand(0)?;
    many(call.emit("nn.DynamicQuantize", &[x], &[], 3))
}

fn conv_integer(call: &mut Call<'_, '_>) -> Lowered {
    let mut attrs = windows(call)?;
    attrs.push(("group", Attr::Int(call.int("group").unwrap_or(1))));
    slotted(call, "nn.ConvInteger", attrs)
}

fn quantized_conv(call: &mut Call<'_, '_>) -> Lowered {
    let mut attrs = windows(call)?;
    attrs.push(("group", Attr::Int(call.int("group").unwrap_or(1))));
    let operands = call.operands()?;
    many(call.emit("nn.QuantizedConv", &operands, &attrs, 1))
}

/// Converts between numbers and bytes that represent them.
fn scaled(call: &mut Call<'_, '_>, ours: &str) -> Lowered {
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
    let operands = call.operands()?;
    many(call.emit(ours, &operands, &attrs, 1))
}
