//! Signals.

use tfrt_import::ImportError;
use tfrt_import::program::Attr;
use tfrt_support::DType;

use super::{Call, Results, many, slotted};

/// The ops of this family.
pub(super) const OPS: &[&str] = &[
    "BlackmanWindow",
    "DFT",
    "HammingWindow",
    "HannWindow",
    "MelWeightMatrix",
    "STFT",
];

pub(super) fn lower(call: &mut Call<'_, '_>) -> Result<Option<Results>, ImportError> {
    match call.op {
        "DFT" => {
            // The axis was an attribute before version 20, and the first one behind the batch.
            let missing = if call.since < 20 { 1 } else { -2 };
            let attrs = vec![
                ("axis", Attr::Int(call.int("axis").unwrap_or(missing))),
                ("inverse", Attr::Bool(call.flag("inverse"))),
                ("one_sided", Attr::Bool(call.flag("onesided"))),
            ];
            slotted(call, "nn.Fourier", attrs)
        }
        "STFT" => {
            let is_half = call.int("onesided").unwrap_or(1) != 0;
            slotted(
                call,
                "nn.ShortTimeFourier",
                vec![("one_sided", Attr::Bool(is_half))],
            )
        }
        op => {
            let dtype = match call.int("output_datatype") {
                None => DType::F32,
                Some(_) => match call.dtype("output_datatype")? {
                    Some(dtype) => dtype,
                    None => return Ok(None),
                },
            };
            let dtype = ("dtype", Attr::Type(dtype));
            let operands = call.operands()?;
            let function = match op {
                "HannWindow" => "hann",
                "HammingWindow" => "hamming",
                "BlackmanWindow" => "blackman",
                _ => return many(call.emit("nn.MelWeights", &operands, &[dtype], 1)),
            };
            let attrs = [
                ("function", Attr::Text(function.to_owned())),
                dtype,
                (
                    "periodic",
                    Attr::Bool(call.int("periodic").unwrap_or(1) != 0),
                ),
            ];
            many(call.emit("nn.Window", &operands, &attrs, 1))
        }
    }
}
