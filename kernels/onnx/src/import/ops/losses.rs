//! Losses of classifiers.

use tfrt_import::ImportError;
use tfrt_import::program::Attr;

use super::{Call, Results, many, put};

/// The ops of this family.
pub(super) const OPS: &[&str] = &["NegativeLogLikelihoodLoss", "SoftmaxCrossEntropyLoss"];

pub(super) fn lower(call: &mut Call<'_, '_>) -> Result<Option<Results>, ImportError> {
    let reduction = call.text("reduction").unwrap_or_else(|| "mean".to_owned());
    let mut attrs = vec![("reduction", Attr::Text(reduction))];
    put(
        &mut attrs,
        "ignore_index",
        call.int("ignore_index").map(Attr::Int),
    );
    let mut operands = call.operands()?;
    if call.op == "NegativeLogLikelihoodLoss" {
        return many(call.emit("nn.NegativeLogLikelihood", &operands, &attrs, 1));
    }
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
