//! Filters above each other.

use tfrt_ir::{Module, OpId};

use super::Rewritten;
use crate::functions::Functions;
use crate::stage::{FILTER, FUNCTION, attributes, input_stage, replace};

/// Merges two filters with pure predicates.
pub(super) fn merge(module: &mut Module, functions: &mut Functions, op: OpId) -> Rewritten {
    merged(module, functions, op).into()
}

fn merged(module: &mut Module, functions: &mut Functions, op: OpId) -> Option<OpId> {
    if module.op_name(op) != FILTER {
        return None;
    }
    let below = input_stage(module, op, FILTER)?;
    let (first, second) = (functions.of(module, below)?, functions.of(module, op)?);
    let both = functions.both(module, &first, &second)?;
    let operands = module.operands(below).to_vec();
    let attributes = attributes(module, op, &[(FUNCTION, both)]);
    replace(module, op, FILTER, operands, attributes)
}
