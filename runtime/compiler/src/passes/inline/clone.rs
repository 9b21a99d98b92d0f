//! Copies ops to another place.

use std::collections::HashMap;

use tfrt_ir::{BlockId, Location, LocationId, Module, OpId, OpState, RegionId, ValueId};

/// Appends a copy of every op of `body` except the last one to `block`, with `arguments` instead of
/// the arguments of `body`. Returns the operands of the last op, in terms of the copy.
///
/// Every region inside `body` has one block, so that values are defined before they are used. The
/// locations of the copies are those of a call at `call_location`.
pub fn clone_body(
    module: &mut Module,
    body: BlockId,
    arguments: Vec<ValueId>,
    call_location: LocationId,
    block: BlockId,
) -> Vec<ValueId> {
    let parameters = module.block_arguments(body).iter().copied();
    let mut values: HashMap<ValueId, ValueId> = parameters.zip(arguments).collect();
    let ops = module.block_ops(body).to_vec();
    let Some((&last, ops)) = ops.split_last() else {
        return Vec::new();
    };
    let mut pending: Vec<(OpId, BlockId)> = ops.iter().rev().map(|op| (*op, block)).collect();
    while let Some((op, block)) = pending.pop() {
        let location = at_call(module, module.op_location(op), call_location);
        let mut state = OpState::new(module.op_name(op), location);
        state.operands = mapped(module, op, &values);
        let results = module.results(op).iter();
        state.result_types = results.map(|result| module.value_type(*result)).collect();
        let attributes = module.attributes(op).iter();
        state.attributes = attributes
            .map(|(name, value)| (module.name(*name).to_owned(), *value))
            .collect();
        for region in module.regions(op).to_vec() {
            state
                .regions
                .push(open_region(module, region, &mut values, &mut pending));
        }
        let copy = module.create_op(state);
        let results = module.results(op).iter().copied();
        values.extend(results.zip(module.results(copy).iter().copied()));
        module.append_op(block, copy);
    }
    mapped(module, last, &values)
}

/// Makes a region with the blocks of another one, whose ops are still to be copied.
fn open_region(
    module: &mut Module,
    region: RegionId,
    values: &mut HashMap<ValueId, ValueId>,
    pending: &mut Vec<(OpId, BlockId)>,
) -> RegionId {
    let copy = module.create_region();
    for block in module.blocks(region).to_vec() {
        let arguments = module.block_arguments(block).to_vec();
        let types: Vec<_> = arguments
            .iter()
            .map(|argument| module.value_type(*argument))
            .collect();
        let block_copy = module.create_block(copy, &types);
        values.extend(
            arguments
                .into_iter()
                .zip(module.block_arguments(block_copy).iter().copied()),
        );
        let ops = module.block_ops(block).iter().rev();
        pending.extend(ops.map(|op| (*op, block_copy)));
    }
    copy
}

fn mapped(module: &Module, op: OpId, values: &HashMap<ValueId, ValueId>) -> Vec<ValueId> {
    let operands = module.operands(op).iter();
    operands
        .map(|operand| values.get(operand).copied().unwrap_or(*operand))
        .collect()
}

fn at_call(module: &mut Module, callee: LocationId, caller: LocationId) -> LocationId {
    module.intern_location(Location::CallSite { callee, caller })
}
