//! `--tfrt-streamify-ops=ops=a,b`: wraps ops in `tfrt_gpu.streamify`.
//!
//! Each run of consecutive ops with the given names becomes one wrapper. Values that are used after
//! the run are its results. Ops inside a wrapper do not change.

use tfrt_compiler::passes::{Pass, PassOptions};
use tfrt_ir::{BlockId, Module, OpId, OpState, ValueId};
use tfrt_support::Diagnostic;

use super::edit::{self, CHAIN, RETURN, STREAM, STREAMIFY};
use super::views;

/// The pass.
pub const PASS: Pass = Pass {
    name: "tfrt-streamify-ops",
    summary: "Wrap the named ops in `tfrt_gpu.streamify`",
    options: &["ops"],
    run: by_name,
    ..super::NO_PASS
};

/// The pass as it was called before, for ops of the dialect `wrap`. It also lowers views of memory.
pub const OLDER_PASS: Pass = Pass {
    name: "test-gpu-async-conversion",
    summary: "Wrap ops of the dialect `wrap` in `tfrt_gpu.streamify`",
    run: |module, func, _| {
        views::lower(module, func);
        streamify(module, func, |name| name.starts_with("wrap."))
    },
    ..super::NO_PASS
};

fn by_name(module: &mut Module, func: OpId, options: &PassOptions) -> Vec<Diagnostic> {
    let names: Vec<&str> = options.list("ops").collect();
    streamify(module, func, |name| names.contains(&name))
}

/// Wraps the ops inside `func` whose name is chosen.
fn streamify(module: &mut Module, func: OpId, is_chosen: impl Fn(&str) -> bool) -> Vec<Diagnostic> {
    let mut pending = vec![func];
    while let Some(op) = pending.pop() {
        for region in module.regions(op).to_vec() {
            for block in module.blocks(region).to_vec() {
                wrap_runs(module, block, &is_chosen);
                let inner = module.block_ops(block).iter().copied();
                pending.extend(inner.filter(|&op| !edit::is_streamify(module, op)));
            }
        }
    }
    Vec::new()
}

fn wrap_runs(module: &mut Module, block: BlockId, is_chosen: &impl Fn(&str) -> bool) {
    let mut run = Vec::new();
    for op in module.take_block_ops(block) {
        if is_chosen(module.op_name(op)) {
            run.push(op);
            continue;
        }
        wrap(module, block, std::mem::take(&mut run));
        module.append_op(block, op);
    }
    wrap(module, block, run);
}

/// Appends a wrapper of these ops, which are in no block.
fn wrap(module: &mut Module, block: BlockId, run: Vec<OpId>) {
    let Some(&first) = run.first() else {
        return;
    };
    let location = module.op_location(first);
    let types = [CHAIN, STREAM].map(|ty| edit::type_of(module, ty));
    let region = module.create_region();
    let body = module.create_block(region, &types);
    let mut results: Vec<ValueId> = Vec::new();
    for &op in &run {
        module.append_op(body, op);
        results.extend(module.results(op));
    }
    let outside = |module: &Module, value: ValueId| -> Vec<_> {
        let uses = module.uses(value);
        uses.filter(|used| !is_inside(module, used.op, region))
            .collect()
    };
    results.retain(|&value| !outside(module, value).is_empty());
    let mut state = OpState::new(STREAMIFY[0], location);
    state.result_types = edit::types_of(module, &results);
    state.regions.push(region);
    let wrapper = module.create_op(state);
    for (index, &value) in results.iter().enumerate() {
        let result = module.results(wrapper)[index];
        for used in outside(module, value) {
            module.set_operand(used.op, used.operand, result);
        }
    }
    let mut end = OpState::new(RETURN, location);
    end.operands.push(module.block_arguments(body)[0]);
    end.operands.extend(results);
    let end = module.create_op(end);
    module.append_op(body, end);
    module.append_op(block, wrapper);
}

/// Returns `true` if the op is in a region, at any depth.
fn is_inside(module: &Module, op: OpId, region: tfrt_ir::RegionId) -> bool {
    let mut ops = std::iter::once(op).chain(module.ancestors(op));
    ops.any(|op| {
        let block = module.op_block(op);
        block.is_some_and(|block| module.block_region(block) == region)
    })
}
