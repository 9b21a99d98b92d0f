//! Maps: above each other, below a batch, and with several calls at a time.

use tfrt_ir::{Module, OpId};

use super::Rewritten;
use crate::functions::Functions;
use crate::stage::{
    BATCH, FUNCTION, MAP, MAP_AND_BATCH, PARALLEL_MAP, attributes, constant_before, input_stage,
    replace,
};

/// Merges two maps with pure functions.
pub(super) fn merge(module: &mut Module, functions: &mut Functions, op: OpId) -> Rewritten {
    merged(module, functions, op).into()
}

fn merged(module: &mut Module, functions: &mut Functions, op: OpId) -> Option<OpId> {
    if module.op_name(op) != MAP {
        return None;
    }
    let below = input_stage(module, op, MAP)?;
    let (first, second) = (functions.of(module, below)?, functions.of(module, op)?);
    // The dataset, then the bound values.
    let mut operands = module.operands(below).to_vec();
    let num_first = operands.len() - 1;
    let more_bound = module.operands(op)[1..].to_vec();
    let num_second = more_bound.len();
    let both = functions.in_sequence(module, (&first, num_first), (&second, num_second))?;
    operands.extend(more_bound);
    let attributes = attributes(module, op, &[(FUNCTION, both)]);
    replace(module, op, MAP, operands, attributes)
}

/// Turns a map with a pure function into a parallel one: it may be called at any time, and it does
/// not show that ends do not call it.
pub(super) fn parallelize(
    module: &mut Module,
    functions: &mut Functions,
    op: OpId,
    num_parallel: i64,
) -> Option<OpId> {
    if module.op_name(op) != MAP {
        return None;
    }
    functions.of(module, op)?;
    let mut operands = module.operands(op).to_vec();
    let number = constant_before(module, op, num_parallel)?;
    operands.insert(1, number);
    let attributes = attributes(module, op, &[]);
    replace(module, op, PARALLEL_MAP, operands, attributes)
}

/// Merges a batch with the map below it.
pub(super) fn merge_into_batch(module: &mut Module, op: OpId) -> Option<OpId> {
    if module.op_name(op) != BATCH {
        return None;
    }
    let below = input_stage(module, op, MAP)?;
    let function = module.attr(below, FUNCTION)?;
    let &size = module.operands(op).get(1)?;
    let mut operands = module.operands(below).to_vec();
    operands.insert(1, size);
    let attributes = attributes(module, op, &[(FUNCTION, function)]);
    replace(module, op, MAP_AND_BATCH, operands, attributes)
}
