//! Attention from its pieces.

use tfrt_support::DType;

use super::graph::Graph;
use super::infer::Dim;
use super::matching::{factors, orders, uniform};
use super::{Phase, RewriteRule, fused_place};
use crate::program::{Attr, Value};

pub(super) const RULES: &[RewriteRule] = &[RewriteRule {
    name: "attention-from-pieces",
    summary: "Computes `softmax(q · kᵀ · scale + mask) · v` without storing the scores.",
    phase: Phase::Combine,
    roots: &["nn.MatMul"],
    apply: attention,
}];

/// What the scores of an attention are.
struct Scores {
    q: Value,
    k: Value,
    scale: f64,
    mask: Option<Value>,
}

fn attention(graph: &mut Graph, number: usize) -> Option<Value> {
    if !is_plain(graph, number) || graph.flag(number, "transpose_b") {
        return None;
    }
    let &[weights, v] = graph.operands(number) else {
        return None;
    };
    let (probabilities, zeroes_nan) = match without_nan(graph, weights) {
        Some(probabilities) => (probabilities, true),
        None => (weights, false),
    };
    let softmax = graph.made_by(probabilities, "nn.Softmax")?;
    let axis = graph.int(softmax, "axis").unwrap_or(-1);
    let rank = graph
        .known(v)
        .rank()
        .filter(|&rank| (3..=4).contains(&rank))?;
    let is_last = axis == -1 || usize::try_from(axis).ok() == rank.checked_sub(1);
    let is_log = graph.flag(softmax, "is_log") || graph.flag(softmax, "coerces");
    if !is_last || is_log || !graph.is_used_once(weights) {
        return None;
    }
    let scores = graph.operand(softmax, 0)?;
    if !graph.is_used_once(scores) {
        return None;
    }
    let found = scores_of(graph, scores)?;
    // The batches must be the same, as broadcasting is left to the pieces.
    let [q, k, values] = [found.q, found.k, v].map(|value| graph.known(value));
    let (Some(q), Some(k), Some(values)) = (q.dims, k.dims, values.dims) else {
        return None;
    };
    let batch = rank - 2;
    let is_same = q.len() == rank
        && k.len() == rank
        && q[..batch] == k[..batch]
        && k[..batch] == values[..batch];
    let is_single = [found.q, found.k, v]
        .iter()
        .all(|&value| graph.known(value).dtype == Some(DType::F32));
    if !is_same || !is_single {
        return None;
    }
    if let Some(mask) = found.mask {
        let mask = graph.known(mask);
        let dims = mask.dims?;
        if mask.dtype != Some(DType::F32) || dims.len() > rank {
            return None;
        }
        // The mask may be broadcast to the scores, but not the scores to the mask.
        let scores = [&q[..batch], &[q[rank - 2], k[rank - 2]][..]].concat();
        let is_larger = |(own, scores): (&Dim, &Dim)| {
            own.fixed()
                .is_some_and(|own| own != 1 && scores.fixed().is_some_and(|scores| scores != own))
        };
        if dims.iter().zip(&scores[rank - dims.len()..]).any(is_larger) {
            return None;
        }
    }
    let place = fused_place(graph.place(softmax), graph.place(number));
    let mut operands = vec![found.q, found.k, v];
    operands.extend(found.mask);
    let mut attrs = vec![("scale".to_owned(), Attr::Float(found.scale as f32))];
    if zeroes_nan {
        attrs.push(("zeroes_nan".to_owned(), Attr::Bool(true)));
    }
    Some(
        graph.make(
            number,
            "nn.DotProductAttention",
            &operands,
            attrs,
            1,
            &place,
        )[0],
    )
}

/// Returns `p` of `where(is_nan(p), 0, p)`, which exporters write for rows that are masked whole.
fn without_nan(graph: &Graph, value: Value) -> Option<Value> {
    let choice = graph.made_by(value, "nn.Where")?;
    let &[condition, zero, p] = graph.operands(choice) else {
        return None;
    };
    let asked = graph.operand(graph.made_by(condition, "nn.IsNaN")?, 0)?;
    let is_zero = uniform(graph, zero, p) == Some(0.0);
    // Nothing but the two ops may see the values.
    let is_free = graph.users(p).len() == 2 && graph.is_used_once(condition);
    (asked == p && is_zero && is_free && !graph.is_result(p)).then_some(p)
}

fn is_plain(graph: &Graph, number: usize) -> bool {
    graph.operands(number).len() == 2
        && graph.ints(number, "slots").is_none()
        && !graph.flag(number, "transpose_a")
}

/// Returns the parts of `q · kᵀ · scale + mask`.
fn scores_of(graph: &Graph, scores: Value) -> Option<Scores> {
    if let Some(found) = products(graph, scores, None) {
        return Some(found);
    }
    let sum = graph.made_by(scores, "tf.AddV2")?;
    orders(graph, sum).into_iter().find_map(|(product, mask)| {
        let is_free = graph.is_used_once(product);
        is_free
            .then(|| products(graph, product, Some(mask)))
            .flatten()
    })
}

/// Returns the parts of `q · kᵀ · scale`; the scale may be on the product or on either factor.
fn products(graph: &Graph, value: Value, mask: Option<Value>) -> Option<Scores> {
    let (found, mut scale) = factors(graph, value);
    let &[product] = &found[..] else {
        return None;
    };
    let number = graph.made_by(product, "nn.MatMul")?;
    if !is_plain(graph, number) || !graph.flag(number, "transpose_b") {
        return None;
    }
    if product != value && !graph.is_used_once(product) {
        return None;
    }
    let &[mut q, mut k] = graph.operands(number) else {
        return None;
    };
    for side in [&mut q, &mut k] {
        let (found, factor) = factors(graph, *side);
        if let &[inner] = &found[..]
            && inner != *side
        {
            (*side, scale) = (inner, scale * factor);
        }
    }
    Some(Scores { q, k, scale, mask })
}
