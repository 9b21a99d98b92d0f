//! Equal ops on equal values become one, and so do equal constants; ops that nobody needs go.

use std::collections::HashMap;

use tfrt_support::DType;

use super::graph::Graph;
use super::{Applied, Phase, RewriteRule};
use crate::program::{Constant, OpKind, Value};

pub(super) const NAME: &str = "join-equal-ops";

pub(super) const UNUSED: &str = "drop-unused-ops";

pub(super) const RULES: &[RewriteRule] = &[
    RewriteRule {
        name: NAME,
        summary: "Computes equal ops on equal values once.",
        phase: Phase::Simplify,
        // It looks at all ops at once, and so does the other one.
        roots: &[],
        apply: |_, _| None,
    },
    RewriteRule {
        name: UNUSED,
        summary: "Drops ops that no output of the program is computed from. Their errors would not \
                  be seen, either.",
        phase: Phase::Simplify,
        roots: &[],
        apply: |_, _| None,
    },
];

/// Drops the ops that no result of a function is computed from.
pub(super) fn drop_unused(graph: &mut Graph, applied: &mut Vec<Applied>) {
    let all = 0..graph.num_numbers();
    let is_unused = |number: &usize| graph.op(*number).is_some() && !graph.is_used(*number);
    let last: Vec<usize> = all.clone().filter(is_unused).collect();
    if last.is_empty() {
        return;
    }
    let place = |number: usize| graph.op(number).map(|op| op.place.clone());
    let places: Vec<Option<String>> = all.map(place).collect();
    for number in last {
        graph.remove_if_unused(number);
    }
    let dropped = places.into_iter().enumerate();
    let dropped = dropped.filter(|(number, _)| graph.op(*number).is_none());
    let dropped = dropped.filter_map(|(_, place)| place);
    applied.extend(dropped.map(|place| Applied {
        rule: UNUSED,
        place,
    }));
}

/// Ops that return something else each time.
const RANDOM: &[&str] = &[
    "Random",
    "Bernoulli",
    "Multinomial",
    "Dropout",
    "Rng",
    "Variable",
];

/// Constants up to this size are compared.
const MAX_COMPARED_BYTES: usize = 1 << 10;

/// Joins all equal ops of a function, in one pass.
pub(super) fn join_equal(graph: &mut Graph, applied: &mut Vec<Applied>) {
    let mut seen: HashMap<String, usize> = HashMap::new();
    let mut constants: HashMap<(DType, String, Vec<u8>), Value> = HashMap::new();
    let mut numbers: Vec<usize> = (0..graph.num_numbers()).collect();
    numbers.sort_by_key(|&number| graph.order(number));
    let mut canonical: HashMap<Value, Value> = HashMap::new();
    for number in numbers {
        let Some(op) = graph.op(number) else {
            continue;
        };
        let OpKind::Call { name, attrs } = &op.kind else {
            continue;
        };
        if RANDOM.iter().any(|random| name.contains(random)) {
            continue;
        }
        let operands: Vec<Value> = op
            .operands
            .iter()
            .map(|&value| {
                let found = canonical.get(&value).copied();
                found.unwrap_or_else(|| {
                    let of = constant_key(graph.lazy_constant(value));
                    let same = of.map(|key| *constants.entry(key).or_insert(value));
                    let same = same.unwrap_or(value);
                    canonical.insert(value, same);
                    same
                })
            })
            .collect();
        let key = format!("{name} {operands:?} {attrs:?} {}", op.results.len());
        let results = op.results.clone();
        let place = op.place.clone();
        match seen.get(&key) {
            Some(&first) => {
                let Some(same) = graph.op(first).map(|op| op.results.clone()) else {
                    continue;
                };
                for (own, first) in results.into_iter().zip(same) {
                    canonical.insert(own, first);
                    graph.replace(own, first);
                }
                applied.push(Applied { rule: NAME, place });
            }
            None => {
                seen.insert(key, number);
            }
        }
    }
}

/// Returns what small constants are compared by.
fn constant_key(constant: Option<&Constant>) -> Option<(DType, String, Vec<u8>)> {
    let constant = constant?;
    if constant.len_bytes() > MAX_COMPARED_BYTES {
        return None;
    }
    let tensor = constant.tensor().ok()?;
    let bytes = tensor.buffer().read().ok()?;
    let key = (tensor.dtype(), tensor.shape().to_string(), bytes.to_vec());
    Some(key)
}
