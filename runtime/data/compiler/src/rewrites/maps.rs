//! Maps: above each other, below a batch, and with several calls at a time.

use tfrt_ir::{Module, OpId, parse_type};

use super::Rewritten;
use crate::functions::Functions;
use crate::stage::{
    BATCH, BATCH_OF_TENSORS, FUNCTION, MAP, MAP_AND_BATCH, ON_ERROR, PARALLEL_MAP, STATE,
    attributes, constant_before, dataset_before, input_stage, replace,
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

/// The type of the tensors of elements and batches.
const TENSOR: &str = "!t.tensor";

/// Moves a map with an elementwise function above the batch above it: one call serves a batch.
pub(super) fn vectorize(module: &mut Module, functions: &mut Functions, op: OpId) -> Option<OpId> {
    let name = match module.op_name(op) {
        BATCH => BATCH,
        BATCH_OF_TENSORS => BATCH_OF_TENSORS,
        _ => return None,
    };
    let below = input_stage(module, op, MAP)?;
    let function = functions.of(module, below)?;
    let tensor = parse_type(module, TENSOR)?;
    let mut types = function.inputs.iter().chain(&function.results);
    if !function.is_elementwise || types.any(|ty| *ty != tensor) {
        return None;
    }
    // Bound tensors have the shape of an element.
    let &[input] = module.operands(below) else {
        return None;
    };
    if name == BATCH_OF_TENSORS && function.inputs.len() != 1 {
        return None;
    }
    let &size = module.operands(op).get(1)?;
    let function = module.attr(below, FUNCTION)?;
    let mut of_map = vec![(FUNCTION.to_owned(), function)];
    let mut of_batch = attributes(module, op, &[]);
    // The policy is for the errors of both.
    if let Some(place) = of_batch.iter().position(|(name, _)| name == ON_ERROR) {
        of_map.push(of_batch.remove(place));
    }
    let batches = dataset_before(module, op, name, vec![input, size], of_batch)?;
    replace(module, op, MAP, vec![batches], of_map)
}

/// Merges a batch with the map below it, if it does not show that ends do not call its function:
/// the function is pure, or declares a state and so is never called for them.
pub(super) fn merge_into_batch(
    module: &mut Module,
    functions: &mut Functions,
    op: OpId,
) -> Option<OpId> {
    if module.op_name(op) != BATCH {
        return None;
    }
    let below = input_stage(module, op, MAP)?;
    let declares_state = STATE.iter().all(|name| module.has_attr(below, name));
    if !declares_state {
        functions.of(module, below)?;
    }
    let functions = [FUNCTION].into_iter().chain(STATE);
    let functions = functions.filter_map(|name| Some((name, module.attr(below, name)?)));
    let functions: Vec<_> = functions.collect();
    let &size = module.operands(op).get(1)?;
    let mut operands = module.operands(below).to_vec();
    operands.insert(1, size);
    let attributes = attributes(module, op, &functions);
    replace(module, op, MAP_AND_BATCH, operands, attributes)
}
