//! Stages that deliver what they draw.

use tfrt_ir::{Module, OpId};

use super::Rewritten;
use crate::functions::Functions;
use crate::stage::{PREFETCH, REPEAT, SHARD, SKIP, TAKE, constant, replace_by};

/// Removes a stage that changes nothing.
pub(super) fn remove(module: &mut Module, _functions: &mut Functions, op: OpId) -> Rewritten {
    let number = |operand: usize| {
        let value = module.operands(op).get(operand);
        value.and_then(|&value| constant(module, value))
    };
    let is_no_op = match module.op_name(op) {
        // No pass, or no end, is something else.
        REPEAT => number(1) == Some(1),
        SKIP => number(1).is_some_and(|count| count <= 0),
        TAKE => number(1).is_some_and(|count| count < 0),
        // One element is drawn when one is asked for.
        PREFETCH => number(1) == Some(0),
        SHARD => number(1) == Some(1) && number(2) == Some(0),
        _ => false,
    };
    match module.operands(op).first() {
        Some(&input) if is_no_op => {
            replace_by(module, op, input);
            Rewritten::Removed
        }
        _ => Rewritten::Unchanged,
    }
}
