//! Normalisation: of batches, layers, groups and along axes.

use tfrt_import::ImportError;
use tfrt_import::program::Attr;

use super::{Attrs, Call, Results, axis, many, one};

/// The ops of this family.
pub(super) const OPS: &[&str] = &[
    "BatchNormalization",
    "GroupNormalization",
    "Hardmax",
    "InstanceNormalization",
    "LRN",
    "LayerNormalization",
    "LogSoftmax",
    "LpNormalization",
    "MeanVarianceNormalization",
    "RMSNormalization",
    "Softmax",
];

pub(super) fn lower(call: &mut Call<'_, '_>) -> Result<Option<Results>, ImportError> {
    let op = call.op;
    match op {
        "LpNormalization" => {
            let attrs = [
                ("axis", axis(call, -1)),
                ("p", Attr::Int(call.int("p").unwrap_or(2))),
            ];
            let x = call.operand(0)?;
            one(call.emit_one("nn.LpNormalization", &[x], &attrs))
        }
        "Softmax" | "LogSoftmax" | "Hardmax" => {
            // Before version 13 all dimensions from the axis on were one.
            let coerces = call.since < 13;
            let mut attrs = vec![
                ("axis", axis(call, if coerces { 1 } else { -1 })),
                ("coerces", Attr::Bool(coerces)),
            ];
            let ours = if op == "Hardmax" {
                "nn.Hardmax"
            } else {
                attrs.push(("is_log", Attr::Bool(op == "LogSoftmax")));
                "nn.Softmax"
            };
            let x = call.operand(0)?;
            one(call.emit_one(ours, &[x], &attrs))
        }
        "BatchNormalization" => batch_normalization(call),
        "InstanceNormalization" => {
            let attrs = [(
                "epsilon",
                Attr::Float(call.float("epsilon").unwrap_or(1e-5)),
            )];
            let operands = call.operands()?;
            one(call.emit_one("nn.InstanceNormalization", &operands, &attrs))
        }
        "GroupNormalization" => {
            let attrs = [
                (
                    "epsilon",
                    Attr::Float(call.float("epsilon").unwrap_or(1e-5)),
                ),
                ("num_groups", Attr::Int(call.int("num_groups").unwrap_or(1))),
            ];
            let operands = call.operands()?;
            one(call.emit_one("nn.GroupNormalization", &operands, &attrs))
        }
        "LayerNormalization" | "RMSNormalization" => {
            let attrs = vec![
                (
                    "epsilon",
                    Attr::Float(call.float("epsilon").unwrap_or(1e-5)),
                ),
                ("axis", axis(call, -1)),
            ];
            if op == "RMSNormalization" {
                let operands = call.operands()?;
                return one(call.emit_one("nn.RmsNormalization", &operands, &attrs));
            }
            let (operands, slots) = call.slots()?;
            let attrs: Attrs = attrs.into_iter().chain(slots).collect();
            many(call.emit("nn.LayerNormalization", &operands, &attrs, 3))
        }
        "LRN" => {
            let number =
                |name: &str, missing: f32| Attr::Float(call.float(name).unwrap_or(missing));
            let attrs = [
                ("size", Attr::Int(call.int("size").unwrap_or(1))),
                ("alpha", number("alpha", 1e-4)),
                ("beta", number("beta", 0.75)),
                ("bias", number("bias", 1.0)),
            ];
            let x = call.operand(0)?;
            one(call.emit_one("nn.LocalResponseNormalization", &[x], &attrs))
        }
        "MeanVarianceNormalization" => {
            let axes = call.ints("axes").unwrap_or(&[0, 2, 3]);
            let x = call.operand(0)?;
            let attrs = [("axes", Attr::Ints(axes.to_vec()))];
            one(call.emit_one("nn.MeanVarianceNormalization", &[x], &attrs))
        }
        _ => Ok(None),
    }
}

fn batch_normalization(call: &mut Call<'_, '_>) -> Result<Option<Results>, ImportError> {
    let epsilon = (
        "epsilon",
        Attr::Float(call.float("epsilon").unwrap_or(1e-5)),
    );
    // Before version 14, results beyond the first asked for training, unless `is_test` said
    // otherwise.
    let wants_more = (1..5).any(|result| call.wants(result));
    let trained = call.since < 14 && wants_more && call.int("is_test") != Some(1);
    let is_training = call.flag("training_mode") || trained;
    if trained && (call.wants(3) || call.wants(4)) {
        call.reason = Some("BatchNormalization with saved statistics".to_owned());
        return Ok(None);
    }
    if call.since < 9 && call.int("spatial") == Some(0) {
        call.reason = Some("BatchNormalization with `spatial` 0".to_owned());
        return Ok(None);
    }
    let operands = call.operands()?;
    if !is_training {
        let y = call.emit_one("nn.BatchNormalization", &operands, &[epsilon]);
        return one(y);
    }
    let momentum = (
        "momentum",
        Attr::Float(call.float("momentum").unwrap_or(0.9)),
    );
    many(call.emit(
        "nn.BatchNormalizationTraining",
        &operands,
        &[epsilon, momentum],
        3,
    ))
}
