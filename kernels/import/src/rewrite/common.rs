//! Equal ops on equal values become one, and so do equal constants.

use std::collections::HashMap;

use tfrt_support::DType;
use tfrt_tensor::DenseHostTensor;

use super::graph::Graph;
use super::{Applied, Phase, RewriteRule};
use crate::program::{Constant, OpKind, Value};

pub(super) const NAME: &str = "join-equal-ops";

pub(super) const RULES: &[RewriteRule] = &[RewriteRule {
    name: NAME,
    summary: "Computes equal ops on equal values once.",
    phase: Phase::Simplify,
    // It looks at all ops at once.
    roots: &[],
    apply: |_, _| None,
}];

/// Ops that return something else each time.
const RANDOM: &[&str] = &[
    "Random",
    "Bernoulli",
    "Multinomial",
    "Dropout",
    "Rng",
    "Variable",
];

/// Constants up to this size are compared by all their bytes at once.
const MAX_KEY_BYTES: usize = 1 << 10;

/// The number of different large constants of one key that others are compared with.
const MAX_COMPARED: usize = 8;

/// Constants so far, of which equal ones are the same value.
#[derive(Default)]
struct Constants(HashMap<ConstantKey, Vec<Value>>);

/// What constants are told apart by: all bytes of small ones, the first and last ones of others.
type ConstantKey = (DType, String, Vec<u8>);

impl Constants {
    /// Returns the first constant that is equal to one, or the constant itself.
    fn first(&mut self, graph: &Graph, value: Value) -> Value {
        let Some(constant) = graph.lazy_constant(value) else {
            return value;
        };
        let Some((key, tensor)) = key_of(constant) else {
            return value;
        };
        let all = self.0.entry(key).or_default();
        let is_small = constant.len_bytes() <= MAX_KEY_BYTES;
        let mut known = all.iter().copied();
        let same = known.find(|&known| is_small || is_equal(graph, known, tensor));
        same.unwrap_or_else(|| {
            if all.len() < MAX_COMPARED {
                all.push(value);
            }
            value
        })
    }
}

/// Joins all equal ops of a function, in one pass.
pub(super) fn join_equal(graph: &mut Graph, applied: &mut Vec<Applied>) {
    let mut seen: HashMap<String, usize> = HashMap::new();
    let mut constants = Constants::default();
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
                    let same = constants.first(graph, value);
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

/// Returns what a constant is told apart by, and its tensor. Large filters that are still to be
/// changed are not compared, as that would take memory for all of them.
fn key_of(constant: &Constant) -> Option<(ConstantKey, &DenseHostTensor)> {
    let is_small = constant.len_bytes() <= MAX_KEY_BYTES;
    let tensor = match is_small {
        true => constant.tensor().ok()?,
        false => constant.ready()?,
    };
    let bytes = tensor.buffer().read().ok()?;
    let known = match is_small {
        true => bytes.to_vec(),
        false => [
            &bytes[..MAX_KEY_BYTES / 2],
            &bytes[bytes.len() - MAX_KEY_BYTES / 2..],
        ]
        .concat(),
    };
    Some(((tensor.dtype(), tensor.shape().to_string(), known), tensor))
}

/// Returns `true` if a constant has the same bytes as a tensor of the same type.
fn is_equal(graph: &Graph, constant: Value, tensor: &DenseHostTensor) -> bool {
    let known = graph.lazy_constant(constant).and_then(Constant::ready);
    let read = known.map(|known| (known.buffer().read(), tensor.buffer().read()));
    matches!(read, Some((Ok(a), Ok(b))) if *a == *b)
}
