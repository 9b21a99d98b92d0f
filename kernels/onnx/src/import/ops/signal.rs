//! Signals.

use tfrt_import::ImportError;
use tfrt_import::program::Attr;
use tfrt_support::DType;

use super::{Call, Family, Lowered, many, slotted};

/// The ops of this family.
pub(super) const OPS: Family = &[
    ("BlackmanWindow", |call| window(call, "blackman")),
    ("DFT", fourier),
    ("HammingWindow", |call| window(call, "hamming")),
    ("HannWindow", |call| window(call, "hann")),
    ("MelWeightMatrix", mel_weights),
    ("STFT", short_time_fourier),
];

fn fourier(call: &mut Call<'_, '_>) -> Lowered {
    // The axis was an attribute before version 20, and the first one behind the batch.
    let missing = if call.since < 20 { 1 } else { -2 };
    let attrs = vec![
        ("axis", Attr::Int(call.int("axis").unwrap_or(missing))),
        ("inverse", Attr::Bool(call.flag("inverse"))),
        ("one_sided", Attr::Bool(call.flag("onesided"))),
    ];
    slotted(call, "nn.Fourier", attrs)
}

fn short_time_fourier(call: &mut Call<'_, '_>) -> Lowered {
    let is_half = call.int("onesided").unwrap_or(1) != 0;
    slotted(
        call,
        "nn.ShortTimeFourier",
        vec![("one_sided", Attr::Bool(is_half))],
    )
}

/// Returns the element type of the result; nothing if we do not have it.
fn output_type(call: &mut Call<'_, '_>) -> Result<Option<DType>, ImportError> {
    match call.int("output_datatype") {
        None => Ok(Some(DType::F32)),
        Some(_) => call.dtype("output_datatype"),
    }
}

fn window(call: &mut Call<'_, '_>, function: &str) -> Lowered {
    let Some(dtype) = output_type(call)? else {
        return Ok(None);
    };
    let attrs = [
        ("function", Attr::Text(function.to_owned())),
        ("dtype", Attr::Type(dtype)),
        (
            "periodic",
            Attr::Bool(call.int("periodic").unwrap_or(1) != 0),
        ),
    ];
    let operands = call.operands()?;
    many(call.emit("nn.Window", &operands, &attrs, 1))
}

fn mel_weights(call: &mut Call<'_, '_>) -> Lowered {
    let Some(dtype) = output_type(call)? else {
        return Ok(None);
    };
    let operands = call.operands()?;
    many(call.emit(
        "nn.MelWeights",
        &operands,
        &[("dtype", Attr::Type(dtype))],
        1,
    ))
}
