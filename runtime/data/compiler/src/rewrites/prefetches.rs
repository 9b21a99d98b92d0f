//! Prefetches above each other.

use tfrt_ir::{Module, OpId};

use super::Rewritten;
use crate::functions::Functions;
use crate::stage::{PREFETCH, attributes, constant, constant_before, input_stage, replace};

/// The attributes of a prefetch.
const IS_DETERMINISTIC: &str = "is_deterministic";
const AUTOTUNE: &str = "autotune";

/// The largest number of elements that one prefetch draws ahead.
const MAX_NUM_AHEAD: i64 = 1 << 20;

/// Merges two prefetches of given numbers of elements that keep the order.
pub(super) fn merge(module: &mut Module, _functions: &mut Functions, op: OpId) -> Rewritten {
    merged(module, op).into()
}

fn merged(module: &mut Module, op: OpId) -> Option<OpId> {
    let above = fixed_number(module, op)?;
    let below_op = input_stage(module, op, PREFETCH)?;
    let below = fixed_number(module, below_op)?;
    let sum = above
        .checked_add(below)
        .filter(|&sum| sum <= MAX_NUM_AHEAD)?;
    let &input = module.operands(below_op).first()?;
    let number = constant_before(module, op, sum)?;
    let attributes = attributes(module, op, &[]);
    replace(module, op, PREFETCH, vec![input, number], attributes)
}

/// Returns the number of a prefetch that keeps the order and does not tune it.
fn fixed_number(module: &Module, op: OpId) -> Option<i64> {
    if module.op_name(op) != PREFETCH || module.has_attr(op, AUTOTUNE) {
        return None;
    }
    let keeps_order = module.attribute_int(module.attr(op, IS_DETERMINISTIC)?)? != 0;
    let &number = module.operands(op).get(1)?;
    constant(module, number).filter(|&number| keeps_order && number >= 0)
}
