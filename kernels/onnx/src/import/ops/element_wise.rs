//! What is computed for each element by itself, and conversions of elements.

use tfrt_import::ImportError;
use tfrt_import::program::Attr;

use super::{Call, Results, one, slotted, unknown};
use crate::element_type::ElementType;

/// The ops of this family.
pub(super) const OPS: &[&str] = &[
    "BitCast",
    "BitShift",
    "Cast",
    "CastLike",
    "Celu",
    "Clip",
    "Elu",
    "Gelu",
    "HardSigmoid",
    "IsInf",
    "LeakyRelu",
    "Max",
    "Min",
    "Mod",
    "PRelu",
    "Selu",
    "Shrink",
    "Sum",
    "Swish",
    "ThresholdedRelu",
];

pub(super) fn lower(call: &mut Call<'_, '_>) -> Result<Option<Results>, ImportError> {
    let op = call.op;
    match op {
        "Sum" | "Max" | "Min" => {
            let ours = match op {
                "Sum" => "tf.AddV2",
                "Max" => "nn.Max",
                _ => "nn.Min",
            };
            let operands = call.operands()?;
            let (&first, others) = operands
                .split_first()
                .ok_or_else(|| ImportError::new("expected an operand, found none"))?;
            let all = others.iter().fold(first, |so_far, &next| {
                call.emit_one(ours, &[so_far, next], &[])
            });
            one(all)
        }
        "Elu" | "LeakyRelu" | "Selu" | "Celu" | "HardSigmoid" | "ThresholdedRelu" | "Swish"
        | "Gelu" | "Shrink" => {
            let is_tanh = call.text("approximate").is_some_and(|mode| mode == "tanh");
            let (function, alpha, beta) = match op {
                "Elu" => ("elu", call.float("alpha").unwrap_or(1.0), 0.0),
                "LeakyRelu" => ("leaky_relu", call.float("alpha").unwrap_or(0.01), 0.0),
                "Selu" => {
                    // The oldest version rounded its defaults.
                    let (alpha, gamma) = match call.since {
                        ..6 => (1.6732, 1.0507),
                        _ => (1.673_263_2, 1.050_701),
                    };
                    (
                        "selu",
                        call.float("alpha").unwrap_or(alpha),
                        call.float("gamma").unwrap_or(gamma),
                    )
                }
                "Celu" => ("celu", call.float("alpha").unwrap_or(1.0), 0.0),
                "HardSigmoid" => (
                    "hard_sigmoid",
                    call.float("alpha").unwrap_or(0.2),
                    call.float("beta").unwrap_or(0.5),
                ),
                "ThresholdedRelu" => ("thresholded_relu", call.float("alpha").unwrap_or(1.0), 0.0),
                "Swish" => ("swish", call.float("alpha").unwrap_or(1.0), 0.0),
                "Shrink" => (
                    "shrink",
                    call.float("bias").unwrap_or(0.0),
                    call.float("lambd").unwrap_or(0.5),
                ),
                _ if is_tanh => ("gelu_tanh", 0.0, 0.0),
                _ => ("gelu", 0.0, 0.0),
            };
            let attrs = [
                ("function", Attr::Text(function.to_owned())),
                ("alpha", Attr::Float(alpha)),
                ("beta", Attr::Float(beta)),
            ];
            let x = call.operand(0)?;
            one(call.emit_one("nn.Activation", &[x], &attrs))
        }
        "IsInf" => {
            let flag = |name: &str| Attr::Bool(call.int(name).unwrap_or(1) != 0);
            let attrs = [
                ("detects_negative", flag("detect_negative")),
                ("detects_positive", flag("detect_positive")),
            ];
            let x = call.operand(0)?;
            one(call.emit_one("nn.IsInf", &[x], &attrs))
        }
        "Mod" => {
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
        "BitShift" => {
            let ours = match call.text("direction").as_deref() {
                Some("LEFT") => "nn.ShiftLeft",
                Some("RIGHT") => "nn.ShiftRight",
                other => return Err(unknown("direction", other)),
            };
            let operands = call.operands()?;
            one(call.emit_one(ours, &operands, &[]))
        }
        "Clip" => slotted(call, "nn.Clip", Vec::new()),
        "Cast" => {
            let wanted = match call.int("to") {
                Some(code) => i32::try_from(code).ok().and_then(ElementType::from_code),
                None => call
                    .text("to")
                    .and_then(|name| ElementType::from_name(&name)),
            };
            let wanted = wanted.ok_or_else(|| ImportError::new("`to` is not an element type"))?;
            let dtype = wanted
                .dtype()
                .filter(|dtype| dtype.size_bytes().is_some_and(|size| size <= 8));
            let Some(dtype) = dtype.filter(|_| !matches!(wanted.code(), 14 | 15)) else {
                call.reason = Some(format!("Cast to {wanted}"));
                return Ok(None);
            };
            let x = call.operand(0)?;
            one(call.emit_one("tfrt.Cast", &[x], &[("DstT", Attr::Type(dtype))]))
        }
        "CastLike" => {
            let operands = call.operands()?;
            one(call.emit_one("nn.CastLike", &operands, &[]))
        }
        "PRelu" => {
            let attrs = [("by_channel", Attr::Bool(call.since < 7))];
            let operands = call.operands()?;
            one(call.emit_one("nn.PRelu", &operands, &attrs))
        }
        "BitCast" => {
            let Some(dtype) = call.dtype("to")? else {
                return Ok(None);
            };
            let x = call.operand(0)?;
            one(call.emit_one("nn.BitCast", &[x], &[("dtype", Attr::Type(dtype))]))
        }
        _ => Ok(None),
    }
}
