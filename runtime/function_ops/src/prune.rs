//! Pruning: ops that contribute to neither a result nor an effect are removed before execution,
//! which is greedy and would run them.
//!
//! Preconditions: the program is verified.
//!
//! Phases:
//! 1. *loosen*: an op that runs in an order, but is registered without effects, leaves that order:
//!    it runs without one, and its successors follow its predecessor;
//! 2. *sweep*: ops that only make their results go if nobody needs those, last to first.
//!
//! Ordering: an op without effects passes its chain on unchanged, so loosening it drops no order.
//! Cost: linear in the number of ops.

use std::collections::HashSet;

use tfrt_core::OpRegistry;
use tfrt_ir::{Module, OpId, OpState};

use crate::call::{Call, is_removable};
use crate::names;

/// Removes what a function does for nobody.
pub fn prune(module: &mut Module, func: OpId, ops: &OpRegistry) {
    loosen(module, func, ops);
    sweep(module, func);
}

/// Phase 1.
fn loosen(module: &mut Module, func: OpId, ops: &OpRegistry) {
    let Some(block) = module.entry_block(func) else {
        return;
    };
    // The block is built anew, so that no op has to be looked for in it.
    for op in module.take_block_ops(block) {
        let kept = loosened(module, op, ops).unwrap_or(op);
        module.append_op(block, kept);
        if kept != op {
            module.erase_op(op);
        }
    }
}

/// Returns the op that takes the place of one that need not run in an order.
fn loosened(module: &mut Module, op: OpId, ops: &OpRegistry) -> Option<OpId> {
    let call = Call::of(module, op)?;
    let (before, after) = (call.chain(module)?, call.chain_result(module)?);
    // Without a type of devices, whoever makes the op decides.
    let ty = call.device_type(module, ops)?;
    let registered = call.registered(ops, &ty)?;
    if registered.has_side_effects() || !registered.can_run() {
        return None;
    }
    let mut state = OpState::new(names::EXECUTE, module.op_location(op));
    state.operands = module.operands(op).to_vec();
    state.operands.remove(1);
    let results = call.results(module).to_vec();
    state.result_types = results
        .iter()
        .map(|result| module.value_type(*result))
        .collect();
    let attributes = module.attributes(op).iter();
    state.attributes = attributes
        .map(|(name, value)| (module.name(*name).to_owned(), *value))
        .collect();
    let loose = module.create_op(state);
    module.replace_all_uses(after, before);
    for (index, result) in results.into_iter().enumerate() {
        let replacement = module.results(loose)[index];
        module.replace_all_uses(result, replacement);
    }
    Some(loose)
}

/// Phase 2: removes ops that only make unused results.
pub(crate) fn sweep(module: &mut Module, func: OpId) {
    let Some(block) = module.entry_block(func) else {
        return;
    };
    let mut dead = HashSet::new();
    for op in module.block_ops(block).to_vec().into_iter().rev() {
        let is_used = |module: &Module| {
            let mut results = module.results(op).iter();
            results.any(|result| module.uses(*result).len() != 0)
        };
        if !is_removable(module, op) || is_used(module) {
            continue;
        }
        for inner in module.walk(op) {
            module.set_operands(inner, Vec::new());
        }
        dead.insert(op);
    }
    if !dead.is_empty() {
        module.erase_ops(block, |op| dead.contains(&op));
    }
}
