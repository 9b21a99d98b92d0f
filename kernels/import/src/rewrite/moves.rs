//! Functions of elements between transpositions that undo each other.
//!
//! ```text
//!  Transpose ─► function ─► function ─► Transpose⁻¹     ──►     function ─► function
//!                   └─ number, or another Transpose
//! ```

use std::collections::HashMap;

use super::expansions::{ELEMENT_WISE, only_tensor};
use super::graph::Graph;
use super::identities::{has_rank, permutation};
use super::{Phase, RewriteRule};
use crate::program::Value;

pub(super) const RULES: &[RewriteRule] = &[RewriteRule {
    name: "drop-transposes-around-elements",
    summary: "Drops transpositions that undo each other before and behind functions of elements.",
    phase: Phase::Simplify,
    roots: &["nn.Transpose"],
    apply: without_transposes,
}];

/// Functions of elements of two tensors.
pub(super) const OF_TWO: &[&str] = &["nn.Div", "nn.Max", "nn.Min", "tf.AddV2", "tf.Mul", "tf.Sub"];

/// The most functions between two transpositions.
const MAX_FUNCTIONS: usize = 16;

fn without_transposes(graph: &mut Graph, number: usize) -> Option<Value> {
    let perm = permutation(graph, number)?;
    let root = graph.operand(number, 0)?;
    // A transposition of a transposition is the business of another rule.
    graph
        .made_by(root, "nn.Transpose")
        .is_none()
        .then_some(())?;
    let (mut functions, mut pending) = (Vec::new(), vec![root]);
    let mut moved = HashMap::new();
    while let Some(value) = pending.pop() {
        if let Some(source) = undone(graph, value, &perm) {
            moved.insert(value, source);
            continue;
        }
        let function = graph.maker(value)?;
        let is_free = graph.is_used_once(value) && functions.len() < MAX_FUNCTIONS;
        if !is_free {
            return None;
        }
        functions.push(function);
        let (operands, name) = (graph.operands(function), graph.name(function)?);
        // Numbers stay as they are, and tensors of one rank are broadcast in any order of the axes.
        let has_own_rank = |&side: &Value| has_rank(graph, side, perm.len());
        let tensor = only_tensor(graph, function).filter(|_| ELEMENT_WISE.contains(&name));
        match (tensor, operands) {
            (Some(tensor), _) => pending.push(operands[tensor]),
            (None, [_, _]) if OF_TWO.contains(&name) && operands.iter().all(has_own_rank) => {
                pending.extend(operands);
            }
            _ => return None,
        }
    }
    // What makes an operand was found after what uses it.
    for function in functions.into_iter().rev() {
        let operands = graph.operands(function).iter();
        let operands: Vec<Value> = operands
            .map(|operand| moved.get(operand).copied().unwrap_or(*operand))
            .collect();
        let (name, result) = (graph.name(function)?.to_owned(), graph.result(function)?);
        let (attrs, place) = (
            graph.attrs(function).to_vec(),
            graph.place(function).to_owned(),
        );
        let y = graph.make(number, &name, &operands, attrs, 1, &place)[0];
        moved.insert(result, y);
    }
    moved.get(&root).copied()
}

/// Returns what a transposition makes of a value, if the inverse one makes that value.
fn undone(graph: &Graph, value: Value, perm: &[usize]) -> Option<Value> {
    let before = graph.made_by(value, "nn.Transpose")?;
    let first = permutation(graph, before)?;
    let source = graph.operand(before, 0)?;
    let fits = first.len() == perm.len() && has_rank(graph, source, perm.len());
    let both = perm.iter().map(|&axis| first[axis]);
    (fits && both.is_sorted()).then_some(source)
}
