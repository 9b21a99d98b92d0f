//! What is computed for each element by itself, and conversions of elements.

use tfrt_import::ImportError;
use tfrt_import::names::shown;
use tfrt_import::program::Attr;
use tfrt_import::report::UnsupportedKind;
use tfrt_support::DType;

use super::{Call, Family, Lowered, one, slotted, unknown};
use crate::element_type::ElementType;

/// The ops of this family.
pub(super) const OPS: Family = &[
    ("BitCast", bit_cast),
    ("BitShift", bit_shift),
    ("Cast", cast),
    ("CastLike", cast_like),
    ("Celu", |call| with_alpha(call, "celu", 1.0)),
    ("Clip", |call| slotted(call, "nn.Clip", Vec::new())),
    ("Elu", |call| with_alpha(call, "elu", 1.0)),
    ("Gelu", gelu),
    ("HardSigmoid", hard_sigmoid),
    ("IsInf", is_inf),
    ("LeakyRelu", |call| with_alpha(call, "leaky_relu", 0.01)),
    ("Max", |call| folded(call, "nn.Max")),
    ("Min", |call| folded(call, "nn.Min")),
    ("Mod", remainder),
    ("PRelu", prelu),
    ("Selu", selu),
    ("Shrink", shrink),
    ("Sum", sum),
    ("Swish", |call| with_alpha(call, "swish", 1.0)),
    ("ThresholdedRelu", |call| {
        with_alpha(call, "thresholded_relu", 1.0)
    }),
];

/// Applies an op of two operands to any number of them, one after the other.
fn folded(call: &mut Call<'_, '_>, ours: &str) -> Lowered {
    let operands = call.operands()?;
    let (&first, others) = operands
        .split_first()
        .ok_or_else(|| ImportError::new("expected an operand, found none"))?;
    let all = others.iter().fold(first, |so_far, &next| {
        call.emit_one(ours, &[so_far, next], &[])
    });
    one(all)
}

fn sum(call: &mut Call<'_, '_>) -> Lowered {
    // Sums of half precision are rounded once.
    let rounds_each = matches!(
        call.result_type.and_then(ElementType::dtype),
        None | Some(DType::F16 | DType::Bf16)
    );
    let operands = call.operands()?;
    if operands.len() > 2 && rounds_each {
        return one(call.emit_one("nn.Sum", &operands, &[]));
    }
    folded(call, "tf.AddV2")
}

/// Applies a function with two numbers to each element.
fn activation(call: &mut Call<'_, '_>, function: &str, alpha: f32, beta: f32) -> Lowered {
    let attrs = [
        ("function", Attr::Text(function.to_owned())),
        ("alpha", Attr::Float(alpha)),
        ("beta", Attr::Float(beta)),
    ];
    let x = call.operand(0)?;
    one(call.emit_one("nn.Activation", &[x], &attrs))
}

/// Applies a function with the number `alpha` to each element.
fn with_alpha(call: &mut Call<'_, '_>, function: &str, missing: f32) -> Lowered {
    let alpha = call.float("alpha").unwrap_or(missing);
    activation(call, function, alpha, 0.0)
}

fn selu(call: &mut Call<'_, '_>) -> Lowered {
    // The oldest version rounded its defaults.
    let (alpha, gamma) = match call.since {
        ..6 => (1.6732, 1.0507),
        _ => (1.673_263_2, 1.050_701),
    };
    let alpha = call.float("alpha").unwrap_or(alpha);
    let gamma = call.float("gamma").unwrap_or(gamma);
    activation(call, "selu", alpha, gamma)
}

fn hard_sigmoid(call: &mut Call<'_, '_>) -> Lowered {
    let alpha = call.float("alpha").unwrap_or(0.2);
    let beta = call.float("beta").unwrap_or(0.5);
    activation(call, "hard_sigmoid", alpha, beta)
}

fn shrink(call: &mut Call<'_, '_>) -> Lowered {
    let bias = call.float("bias").unwrap_or(0.0);
    let lambda = call.float("lambd").unwrap_or(0.5);
    activation(call, "shrink", bias, lambda)
}

fn gelu(call: &mut Call<'_, '_>) -> Lowered {
    let is_tanh = call.text("approximate").is_some_and(|mode| mode == "tanh");
    let function = if is_tanh { "gelu_tanh" } else { "gelu" };
    activation(call, function, 0.0, 0.0)
}

fn is_inf(call: &mut Call<'_, '_>) -> Lowered {
    let flag = |name: &str| Attr::Bool(call.int(name).unwrap_or(1) != 0);
    let attrs = [
        ("detects_negative", flag("detect_negative")),
        ("detects_positive", flag("detect_positive")),
    ];
    let x = call.operand(0)?;
    one(call.emit_one("nn.IsInf", &[x], &attrs))
}

fn remainder(call: &mut Call<'_, '_>) -> Lowered {
    let fmod = call.int("fmod").unwrap_or(0);
    if !matches!(fmod, 0 | 1) {
        return Err(ImportError::new(format!(
            "attribute `fmod`: expected 0 or 1, found {fmod}"
        )));
    }
    let attrs = [("fmod", Attr::Bool(fmod == 1))];
    let operands = call.operands()?;
    one(call.emit_one("nn.Mod", &operands, &attrs))
}

fn bit_shift(call: &mut Call<'_, '_>) -> Lowered {
    let ours = match call.text("direction").as_deref() {
        Some("LEFT") => "nn.ShiftLeft",
        Some("RIGHT") => "nn.ShiftRight",
        other => return Err(unknown("direction", other)),
    };
    let operands = call.operands()?;
    one(call.emit_one(ours, &operands, &[]))
}

fn cast(call: &mut Call<'_, '_>) -> Lowered {
    let (wanted, given) = match (call.int("to"), call.text("to")) {
        (None, Some(name)) => (ElementType::from_name(&name), name),
        (code, _) => {
            let code = code.unwrap_or(0);
            let found = i32::try_from(code).ok().and_then(ElementType::from_code);
            (found, code.to_string())
        }
    };
    let wanted = wanted.ok_or_else(|| {
        let given = shown(&given);
        ImportError::new(format!("attribute `to`: {given} is not an element type"))
    })?;
    let dtype = wanted
        .dtype()
        .filter(|dtype| dtype.size_bytes().is_some_and(|size| size <= 8));
    let Some(dtype) = dtype.filter(|_| !matches!(wanted.code(), 14 | 15)) else {
        call.reason = Some((UnsupportedKind::Type, format!("Cast to {wanted}")));
        return Ok(None);
    };
    let x = call.operand(0)?;
    one(call.emit_one("tfrt.Cast", &[x], &[("DstT", Attr::Type(dtype))]))
}

fn cast_like(call: &mut Call<'_, '_>) -> Lowered {
    let operands = call.operands()?;
    one(call.emit_one("nn.CastLike", &operands, &[]))
}

fn prelu(call: &mut Call<'_, '_>) -> Lowered {
    let attrs = [("by_channel", Attr::Bool(call.since < 7))];
    let operands = call.operands()?;
    one(call.emit_one("nn.PRelu", &operands, &attrs))
}

fn bit_cast(call: &mut Call<'_, '_>) -> Lowered {
    let Some(dtype) = call.dtype("to")? else {
        return Ok(None);
    };
    let x = call.operand(0)?;
    one(call.emit_one("nn.BitCast", &[x], &[("dtype", Attr::Type(dtype))]))
}
