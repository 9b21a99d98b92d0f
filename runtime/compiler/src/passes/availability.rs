//! Values whose availability another value implies.
//!
//! An op starts when all of its operands are available. So an available value implies that all
//! values on which it depends, back to arguments, are available. Two kinds of ops imply nothing: an
//! op that is marked as non-strict, and a call, which inlining may replace by a body that does not
//! wait.

use std::collections::HashSet;

use tfrt_ir::{Module, OpId, Use, ValueId};
use tfrt_ods::OpTraits;

use super::has_traits;
use crate::NON_STRICT_ATTRIBUTE;

/// Returns the operands that are available when a result of `op` is.
pub(super) fn implied_by_results(module: &Module, op: OpId) -> &[ValueId] {
    let says_nothing =
        module.has_attr(op, NON_STRICT_ATTRIBUTE) || has_traits(module, op, OpTraits::CALL);
    if says_nothing {
        &[]
    } else {
        module.operands(op)
    }
}

/// Returns `true` if a value is available from the start: it depends only on pure ops.
pub(super) fn is_there_at_once(module: &Module, value: ValueId) -> bool {
    let mut seen = HashSet::new();
    let mut pending = vec![value];
    while let Some(value) = pending.pop() {
        match module.defining_op(value) {
            Some(op) if has_traits(module, op, OpTraits::PURE) => {
                if seen.insert(op) {
                    pending.extend(module.operands(op));
                }
            }
            _ => return false,
        }
    }
    true
}

/// Returns `true` if `user` would wait for all operands of `op` even if it used another value
/// instead of the result of `op`.
pub(super) fn follows_without(module: &Module, op: OpId, user: Use) -> bool {
    let awaited = module.operands(op).iter().copied();
    let awaited: Vec<ValueId> = awaited
        .filter(|value| !is_there_at_once(module, *value))
        .collect();
    if awaited.is_empty() {
        return true;
    }
    if has_traits(module, user.op, OpTraits::TERMINATOR)
        || implied_by_results(module, user.op).is_empty()
    {
        // For an op that waits for the user, the other operands of the user imply nothing.
        return false;
    }
    let operands = module.operands(user.op).iter().enumerate();
    let mut pending: Vec<ValueId> = operands
        .filter(|(operand, _)| *operand != user.operand)
        .map(|(_, value)| *value)
        .collect();
    let mut available = HashSet::new();
    while let Some(value) = pending.pop() {
        if !available.insert(value) {
            continue;
        }
        // The result of `op` cannot stand in for itself: this may be a second use, which is
        // replaced too.
        if let Some(maker) = module.defining_op(value).filter(|maker| *maker != op) {
            pending.extend(implied_by_results(module, maker));
        }
    }
    awaited.iter().all(|value| available.contains(value))
}
