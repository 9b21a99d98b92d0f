//! Removal of private functions that nothing refers to.

use std::collections::{HashMap, HashSet};

use tfrt_ir::symbols::SYMBOL_VISIBILITY;
use tfrt_ir::{BlockId, Module, OpId};

use crate::passes::references::References;

/// Removes the private functions inside `root` that no op refers to, and then those that only
/// removed functions referred to.
pub(super) fn prune(module: &mut Module, root: OpId) {
    let mut references = References::default();
    let mut counts: HashMap<OpId, usize> = HashMap::new();
    for op in module.walk(root) {
        for func in references.of_op(module, op) {
            *counts.entry(func).or_default() += 1;
        }
    }
    let functions = module.walk(root).into_iter();
    let mut unused: Vec<OpId> = functions
        .filter(|&op| is_private(module, op) && !counts.contains_key(&op))
        .collect();
    let mut dropped = HashSet::new();
    while let Some(func) = unused.pop() {
        for op in module.walk(func) {
            for target in references.of_op(module, op) {
                let count = counts.entry(target).or_default();
                *count = count.saturating_sub(1);
                if *count == 0 && is_private(module, target) {
                    unused.push(target);
                }
            }
        }
        dropped.insert(func);
    }
    let blocks: HashSet<BlockId> = dropped
        .iter()
        .filter_map(|op| module.op_block(*op))
        .collect();
    for block in blocks {
        module.erase_ops(block, |op| dropped.contains(&op));
    }
}

fn is_private(module: &Module, op: OpId) -> bool {
    let visibility = module.attr(op, SYMBOL_VISIBILITY);
    module.is_func(op)
        && visibility.and_then(|visibility| module.attribute_str(visibility)) == Some("private")
}
