//! Losses of classifiers.

use tfrt_import::program::Attr;

use super::{Attrs, Call, Family, Lowered, many, put};

/// The ops of this family.
pub(super) const OPS: Family = &[
    ("NegativeLogLikelihoodLoss", negative_log_likelihood),
    ("SoftmaxCrossEntropyLoss", softmax_cross_entropy),
];

fn negative_log_likelihood(call: &mut Call<'_, '_>) -> Lowered {
    let attrs = loss_attributes(call);
    let operands = call.operands()?;
    many(call.emit("nn.NegativeLogLikelihood", &operands, &attrs, 1))
}

fn softmax_cross_entropy(call: &mut Call<'_, '_>) -> Lowered {
    let attrs = loss_attributes(call);
    let mut operands = call.operands()?;
    let softmax = [
        ("axis", Attr::Int(1)),
        ("is_log", Attr::Bool(true)),
        ("coerces", Attr::Bool(false)),
    ];
    let logarithms = call.emit_one("nn.Softmax", &operands[..1], &softmax);
    operands[0] = logarithms;
    let loss = call.emit_one("nn.NegativeLogLikelihood", &operands, &attrs);
    many(vec![loss, logarithms])
}

/// Returns the attributes of every loss.
fn loss_attributes(call: &Call<'_, '_>) -> Attrs {
    let reduction = call.text("reduction").unwrap_or_else(|| "mean".to_owned());
    let mut attrs = vec![("reduction", Attr::Text(reduction))];
    put(
        &mut attrs,
        "ignore_index",
        call.int("ignore_index").map(Attr::Int),
    );
    attrs
}
