//! The parts of a program that compute on images whose channels come last.

use std::collections::{HashMap, HashSet};

use crate::program::{Attr, Op, OpKind, Program, Value};
use crate::rewrite::KEEP_CHANNELS;

/// Ops that compute on images whose channels come last, each of which has an operand of another
/// one.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LayoutRegion {
    /// The number of its ops.
    pub num_ops: usize,
    /// Where its first op comes from.
    pub first: String,
    /// Where its last op comes from.
    pub last: String,
}

fn name_of(op: &Op) -> &str {
    match &op.kind {
        OpKind::Call { name, .. } => name,
        OpKind::Conditional { .. } | OpKind::Repeat { .. } => "",
    }
}

fn is_channels_last(op: &Op) -> bool {
    let is_flag =
        |(name, attr): &(String, Attr)| name == "channels_last" && *attr == Attr::Bool(true);
    match &op.kind {
        OpKind::Call { attrs, .. } => attrs.iter().any(is_flag),
        _ => false,
    }
}

impl Program {
    /// Returns the regions of the program's function with channels last, in order.
    #[must_use]
    pub fn layout_regions(&self) -> Vec<LayoutRegion> {
        let ops = &self.body.ops;
        let mut neighbours: HashMap<Value, Vec<usize>> = HashMap::new();
        for (index, op) in ops.iter().enumerate() {
            for &value in op.operands.iter().chain(&op.results) {
                neighbours.entry(value).or_default().push(index);
            }
        }
        let weights: HashSet<Value> = self.body.weights.iter().copied().collect();
        let mut seen = vec![false; ops.len()];
        let mut regions = Vec::new();
        for start in 0..ops.len() {
            if seen[start] || !is_channels_last(&ops[start]) {
                continue;
            }
            seen[start] = true;
            let (mut members, mut pending) = (vec![start], vec![start]);
            while let Some(at) = pending.pop() {
                let values = ops[at].operands.iter().chain(&ops[at].results);
                // Ops that share a weight need not share images.
                let values = values.filter(|value| !weights.contains(value));
                // All ops that share a value are met with the first one of them.
                for next in values
                    .filter_map(|value| neighbours.remove(value))
                    .flatten()
                {
                    let op = &ops[next];
                    let belongs = is_channels_last(op) || KEEP_CHANNELS.contains(&name_of(op));
                    if belongs && !std::mem::replace(&mut seen[next], true) {
                        members.push(next);
                        pending.push(next);
                    }
                }
            }
            let place = |index: Option<&usize>| index.map_or("", |&at| &ops[at].place).to_owned();
            regions.push(LayoutRegion {
                num_ops: members.len(),
                first: place(members.iter().min()),
                last: place(members.iter().max()),
            });
        }
        regions
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::ProgramBuilder;

    #[test]
    fn regions_end_where_channels_move() {
        let mut builder = ProgramBuilder::default();
        let last = [("channels_last", Attr::Bool(true))];
        let perm = [("perm", Attr::Ints(vec![0, 3, 1, 2]))];
        let mut x = builder.input("x");
        for (op, place) in [("nn.Conv", "a"), ("nn.Relu", "b"), ("nn.MaxPool", "c")] {
            let attrs = if op == "nn.Relu" { &[][..] } else { &last };
            x = builder.call(op, &[x], attrs, 1, place)[0];
        }
        x = builder.call("nn.Transpose", &[x], &perm, 1, "moved")[0];
        x = builder.call("nn.Relu", &[x], &[], 1, "outside")[0];
        x = builder.call("nn.Conv", &[x], &last, 1, "d")[0];
        // The last `Relu` is before a convolution with channels last, without a transposition.
        let regions = builder.finish(&[("y", x)]).layout_regions();
        let found: Vec<(usize, &str, &str)> = regions
            .iter()
            .map(|region| (region.num_ops, &*region.first, &*region.last))
            .collect();
        assert_eq!(found, [(3, "a", "c"), (2, "outside", "d")]);
    }
}
