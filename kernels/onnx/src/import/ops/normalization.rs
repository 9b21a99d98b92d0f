//! Normalisation: of batches, layers, groups and along axes.

use tfrt_import::program::Attr;
use tfrt_import::report::UnsupportedKind;

use super::{Attrs, Call, Family, Lowered, axis, legacy, many, one};

/// The ops of this family.
pub(super) const OPS: Family = &[
    ("BatchNormalization", batch_normalization),
    ("GroupNormalization", group_normalization),
    ("Hardmax", hardmax),
    ("InstanceNormalization", instance_normalization),
    ("LRN", local_response_normalization),
    ("LayerNormalization", layer_normalization),
    ("LogSoftmax", |call| softmax(call, true)),
    ("LpNormalization", lp_normalization),
    ("MeanVarianceNormalization", mean_variance_normalization),
    ("RMSNormalization", rms_normalization),
    ("Softmax", |call| softmax(call, false)),
];

fn softmax(call: &mut Call<'_, '_>, is_log: bool) -> Lowered {
    let mut attrs = row_attributes(call);
    attrs.push(("is_log", Attr::Bool(is_log)));
    let x = call.operand(0)?;
    one(call.emit_one("nn.Softmax", &[x], &attrs))
}

fn hardmax(call: &mut Call<'_, '_>) -> Lowered {
    let attrs = row_attributes(call);
    let x = call.operand(0)?;
    one(call.emit_one("nn.Hardmax", &[x], &attrs))
}

/// Returns the attributes that say what a row is.
fn row_attributes(call: &Call<'_, '_>) -> Attrs {
    // Before version 13 all dimensions from the axis on were one.
    let coerces = call.since < 13;
    vec![
        ("axis", axis(call, if coerces { 1 } else { -1 })),
        ("coerces", Attr::Bool(coerces)),
    ]
}

fn lp_normalization(call: &mut Call<'_, '_>) -> Lowered {
    let attrs = [
        ("axis", axis(call, -1)),
        ("p", Attr::Int(call.int("p").unwrap_or(2))),
    ];
    let x = call.operand(0)?;
    one(call.emit_one("nn.LpNormalization", &[x], &attrs))
}

fn instance_normalization(call: &mut Call<'_, '_>) -> Lowered {
    let attrs = [(
        "epsilon",
        Attr::Float(call.float("epsilon").unwrap_or(1e-5)),
    )];
    let operands = call.operands()?;
    one(call.emit_one("nn.InstanceNormalization", &operands, &attrs))
}

fn group_normalization(call: &mut Call<'_, '_>) -> Lowered {
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

fn mean_variance_normalization(call: &mut Call<'_, '_>) -> Lowered {
    let axes = call.ints("axes").unwrap_or(&[0, 2, 3]);
    let x = call.operand(0)?;
    let attrs = [("axes", Attr::Ints(axes.to_vec()))];
    one(call.emit_one("nn.MeanVarianceNormalization", &[x], &attrs))
}

/// Returns the attributes of a normalization of rows.
fn norm_attributes(call: &Call<'_, '_>) -> Attrs {
    vec![
        (
            "epsilon",
            Attr::Float(call.float("epsilon").unwrap_or(1e-5)),
        ),
        ("axis", axis(call, -1)),
    ]
}

fn rms_normalization(call: &mut Call<'_, '_>) -> Lowered {
    let attrs = norm_attributes(call);
    let operands = call.operands()?;
    one(call.emit_one("nn.RmsNormalization", &operands, &attrs))
}

fn layer_normalization(call: &mut Call<'_, '_>) -> Lowered {
    let mut attrs = norm_attributes(call);
    let (operands, slots) = call.slots()?;
    attrs.extend(slots);
    many(call.emit("nn.LayerNormalization", &operands, &attrs, 3))
}

fn local_response_normalization(call: &mut Call<'_, '_>) -> Lowered {
    let number = |name: &str, missing: f32| Attr::Float(call.float(name).unwrap_or(missing));
    let attrs = [
        ("size", Attr::Int(call.int("size").unwrap_or(1))),
        ("alpha", number("alpha", 1e-4)),
        ("beta", number("beta", 0.75)),
        ("bias", number("bias", 1.0)),
    ];
    let x = call.operand(0)?;
    one(call.emit_one("nn.LocalResponseNormalization", &[x], &attrs))
}

fn batch_normalization(call: &mut Call<'_, '_>) -> Lowered {
    let epsilon = (
        "epsilon",
        Attr::Float(call.float("epsilon").unwrap_or(1e-5)),
    );
    // Before version 14, results beyond the first asked for training, unless `is_test` said
    // otherwise.
    let wants_more = (1..5).any(|result| call.wants(result));
    let trained = call.since < 14 && wants_more && call.int("is_test") != Some(1);
    let is_training = call.flag("training_mode") || trained;
    if call.since < 9 && call.int("spatial") == Some(0) {
        if is_training {
            let what = "BatchNormalization with `spatial` 0 in training".to_owned();
            call.reason = Some((UnsupportedKind::Form, what));
            return Ok(None);
        }
        return one(legacy::batch_norm_of_places(call)?);
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
        5,
    ))
}
