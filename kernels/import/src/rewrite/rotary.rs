//! Rotary embeddings from their pieces.

use tfrt_support::DType;

use super::attention::check_mask;
use super::graph::Graph;
use super::infer::{Dim, axis_of};
use super::matching::{constant_integers, operand_of, orders};
use super::{Phase, RewriteRule};
use crate::program::Value;

pub(super) const RULES: &[RewriteRule] = &[RewriteRule {
    name: "rotary-from-pieces",
    summary: "Computes `x · cos + concat(-b, a) · sin`, where `a` and `b` are the halves of `x`, in \
              one pass.",
    phase: Phase::Combine,
    roots: &["tf.AddV2"],
    apply: rotary,
}];

fn rotary(graph: &mut Graph, number: usize) -> Option<Value> {
    let (x, cos, sin) = orders(graph, number)
        .into_iter()
        .find_map(|(straight, turned)| parts(graph, straight, turned))?;
    let place = graph.place(number).to_owned();
    let operands = [x, cos, sin];
    Some(graph.make(number, "nn.RotateHalves", &operands, Vec::new(), 1, &place)[0])
}

/// Returns `x` and the two tables of `x · cos + concat(-b, a) · sin`.
fn parts(graph: &Graph, straight: Value, turned: Value) -> Option<(Value, Value, Value)> {
    let product = |value: Value| {
        let product = graph.made_by(value, "tf.Mul")?;
        graph.is_used_once(value).then(|| orders(graph, product))
    };
    let (first, second) = (product(straight)?, product(turned)?);
    let pairs = first
        .iter()
        .flat_map(|first| second.iter().map(move |second| (*first, *second)));
    let mut pairs = pairs.filter_map(|((x, cos), (halves, sin))| {
        is_turned(graph, halves, x).then_some((x, cos, sin))
    });
    let (x, cos, sin) = pairs.next()?;
    let known = graph.known(x);
    let dims = known.dims?;
    if known.dtype != Some(DType::F32) {
        return None;
    }
    for table in [cos, sin] {
        check_mask(graph, table, DType::F32, &dims).ok()?;
        if graph.known(table).dims?.last() != dims.last() {
            return None;
        }
    }
    Some((x, cos, sin))
}

/// Returns `true` if a value is `concat(-b, a)` of the halves of `x`.
fn is_turned(graph: &Graph, value: Value, x: Value) -> bool {
    let Some(concat) = graph.made_by(value, "nn.Concat") else {
        return false;
    };
    let Some(Dim::Fixed(size)) = graph.known(x).dims.and_then(|dims| dims.last().copied()) else {
        return false;
    };
    let rank = graph.known(x).rank().unwrap_or(0);
    let is_last = |axis: i64| axis_of(axis, rank).is_some_and(|axis| axis + 1 == rank);
    let joins = graph.int(concat, "axis").is_some_and(is_last);
    let &[negated, first] = graph.operands(concat) else {
        return false;
    };
    let Some(second) = operand_of(graph, negated, "nn.Neg") else {
        return false;
    };
    joins
        && size % 2 == 0
        && graph.is_used_once(value)
        && is_half(graph, first, x, 0, size)
        && is_half(graph, second, x, 1, size)
}

/// Returns `true` if a value is the first or second half of `x` along the last axis.
fn is_half(graph: &Graph, value: Value, x: Value, half: usize, size: usize) -> bool {
    let rank = graph.known(x).rank().unwrap_or(0);
    let is_last = |axis: i64| axis_of(axis, rank).is_some_and(|axis| axis + 1 == rank);
    let len = graph
        .known(value)
        .dims
        .and_then(|dims| dims.last().copied());
    if len != Some(Dim::Fixed(size / 2)) {
        return false;
    }
    if let Some((split, piece)) = graph.piece(value, "nn.Split") {
        return graph.operand(split, 0) == Some(x)
            && piece == half
            && graph.op(split).is_some_and(|op| op.results.len() == 2)
            && graph.int(split, "axis").is_some_and(is_last);
    }
    let Some(slice) = graph.made_by(value, "nn.Slice") else {
        return false;
    };
    let numbers = |slot: usize| constant_integers(graph, graph.slot(slice, slot)?);
    let axis = match graph.slot(slice, 3) {
        Some(_) => numbers(3),
        None => Some(vec![0]),
    };
    let step = match graph.slot(slice, 4) {
        Some(_) => numbers(4),
        None => Some(vec![1]),
    };
    let start = numbers(1);
    let (Some([axis]), Some([step]), Some([start])) =
        (axis.as_deref(), step.as_deref(), start.as_deref())
    else {
        return false;
    };
    // Starts before zero count from the end.
    let start = if *start < 0 {
        start.saturating_add(size as i64)
    } else {
        *start
    };
    graph.slot(slice, 0) == Some(x)
        && is_last(*axis)
        && *step == 1
        && start == (half * (size / 2)) as i64
}
