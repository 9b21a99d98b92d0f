//! `--async-to-tfrt`: `async.execute` becomes a kernel, `tfrt_test.do.async`.
//!
//! The kernel takes the values of the op, and the outer values that its region uses. A value
//! `!async.value<T>` becomes a `T`, which may become available later, so awaiting it needs no op.
//! Tokens `!async.token` vanish: only values order ops.

use std::collections::HashMap;

use tfrt_compiler::passes::Pass;
use tfrt_ir::syntax::{SEGMENT_SIZES, segment_sizes};
use tfrt_ir::{BlockId, Module, OpId, OpState, TypeId, ValueId};

use super::edit::{self, RETURN};
use crate::dialects::content_of;

/// The pass.
pub const PASS: Pass = Pass {
    name: "async-to-tfrt",
    summary: "Replace `async.execute` with a kernel",
    run: |module, func, _| {
        drop_tokens(module, func);
        let mut replaced = Vec::new();
        for op in module.walk_post_order(func) {
            let name = module.op_name(op);
            if name == "async.await" {
                convert_await(module, op);
            } else if name == "async.execute" && convert_execute(module, op).is_some() {
                replaced.push(op);
            }
        }
        for &op in replaced.iter().rev() {
            let mut results = module.results(op).iter();
            if results.all(|&result| module.uses(result).len() == 0) {
                module.erase_op(op);
            }
        }
        super::illegal(module, func, |name| name.starts_with("async."), |_| None)
    },
    ..super::NO_PASS
};

/// The type of tokens that order the ops of regions.
const ASYNC_TOKEN: &str = "!async.token";

/// Erases what waits for tokens, in all regions: awaits, and the dependencies of `async.execute`.
fn drop_tokens(module: &mut Module, func: OpId) {
    for op in module.walk(func) {
        match module.op_name(op) {
            "async.await" => {
                let waits_only = module.results(op).is_empty()
                    && matches!(module.operands(op), &[token] if edit::is_a(module, token, ASYNC_TOKEN));
                if waits_only {
                    module.erase_op(op);
                }
            }
            "async.execute" => {
                let Some(segments) = module.operand_segments(op, 2) else {
                    continue;
                };
                if segments[0] > 0 {
                    let values = module.operands(op)[segments[0]..].to_vec();
                    let sizes = segment_sizes(module, &[0, values.len()]);
                    module.set_operands(op, values);
                    module.set_attr(op, SEGMENT_SIZES, sizes);
                }
            }
            _ => {}
        }
    }
}

/// Puts the kernel before the op, which stays because of its token.
fn convert_execute(module: &mut Module, op: OpId) -> Option<()> {
    let &token = module.results(op).first()?;
    if !edit::is_a(module, token, ASYNC_TOKEN) {
        return None;
    }
    let segments = module.operand_segments(op, 2)?;
    let (block, index) = (module.op_block(op)?, module.op_index(op)?);
    let entry = module.entry_block(op)?;
    let mut types: Vec<TypeId> = Vec::new();
    for index in 1..module.results(op).len() {
        let result = module.results(op)[index];
        let content = content_of(module, module.value_type(result))?.to_owned();
        types.push(tfrt_ir::parse_type(module, &content)?);
    }
    let mut operands = module.operands(op)[segments[0]..].to_vec();
    capture(module, op, entry, &mut operands);
    end_with_returns(module, op);
    let mut state = OpState::new("tfrt_test.do.async", module.op_location(op));
    state.operands = operands;
    state.result_types = types;
    state.regions = module.take_regions(op);
    let kernel = module.create_op(state);
    module.insert_op(block, index, kernel);
    for (number, value) in module.results(kernel).to_vec().into_iter().enumerate() {
        let old = module.results(op)[number + 1];
        module.replace_all_uses(old, value);
    }
    Some(())
}

/// Makes what the region of `op` uses from outside its arguments.
fn capture(module: &mut Module, op: OpId, entry: BlockId, operands: &mut Vec<ValueId>) {
    let region = module.block_region(entry);
    let mut arguments: HashMap<ValueId, ValueId> = HashMap::new();
    for inner in module.walk(op).into_iter().skip(1) {
        for (number, value) in module.operands(inner).to_vec().into_iter().enumerate() {
            if is_inside(module, value, region) {
                continue;
            }
            let argument = *arguments.entry(value).or_insert_with(|| {
                operands.push(value);
                let ty = module.value_type(value);
                module.add_block_argument(entry, ty)
            });
            module.set_operand(inner, number, argument);
        }
    }
}

/// Returns `true` if a value is defined in a region, at any depth.
fn is_inside(module: &Module, value: ValueId, region: tfrt_ir::RegionId) -> bool {
    let Some(block) = module.value_block(value) else {
        return false;
    };
    let around = |inner: &tfrt_ir::RegionId| {
        let block = module.op_block(module.region_op(*inner)?)?;
        Some(module.block_region(block))
    };
    std::iter::successors(Some(module.block_region(block)), around).any(|inner| inner == region)
}

fn end_with_returns(module: &mut Module, op: OpId) {
    for region in module.regions(op).to_vec() {
        for block in module.blocks(region).to_vec() {
            let Some(end) = module.last_op(block) else {
                continue;
            };
            if module.op_name(end) == "async.yield" {
                let mut state = OpState::new(RETURN, module.op_location(end));
                state.operands = module.operands(end).to_vec();
                module.erase_op(end);
                let end = module.create_op(state);
                module.append_op(block, end);
            }
        }
    }
}

/// Replaces the content of a value, once that is no longer a value to be awaited.
fn convert_await(module: &mut Module, op: OpId) {
    let (&[value], &[result]) = (module.operands(op), module.results(op)) else {
        return;
    };
    if edit::types_of(module, &[value]) == edit::types_of(module, &[result]) {
        module.replace_all_uses(result, value);
        module.erase_op(op);
    }
}
