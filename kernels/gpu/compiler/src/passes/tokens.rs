//! `--async-tfrt-streamify`: tokens that enter or leave an `async.execute` become a chain and an
//! event.
//!
//! A value `!async.value<!gpu.async.token>` becomes two, of a chain and of an event. Casts hold the
//! old and the new values together.

use tfrt_compiler::passes::Pass;
use tfrt_ir::{Module, OpId, TypeId, ValueId};

use super::edit::{self, Builder, CHAIN, EVENT, TOKEN};
use crate::dialects::content_of;

/// The pass.
pub const PASS: Pass = Pass {
    name: "async-tfrt-streamify",
    summary: "Replace the tokens of `async.execute` with chains and events",
    run: |module, func, _| {
        for op in module.walk(func) {
            match module.op_name(op) {
                "async.execute" => convert_execute(module, op),
                "async.await" => convert_await(module, op),
                _ => {}
            }
        }
        edit::erase_unused_casts(module, func);
        Vec::new()
    },
    ..super::NO_PASS
};

/// Returns the types that a type becomes, or `None` if it stays.
fn converted(module: &mut Module, ty: TypeId) -> Option<Vec<TypeId>> {
    let spellings = match module.type_spelling(ty) {
        TOKEN => [CHAIN.to_owned(), EVENT.to_owned()],
        _ if content_of(module, ty) == Some(TOKEN) => {
            [CHAIN, EVENT].map(|ty| format!("!async.value<{ty}>"))
        }
        _ => return None,
    };
    Some(
        spellings
            .map(|spelling| edit::type_of(module, &spelling))
            .to_vec(),
    )
}

/// Casts those of `values` that are converted, at the end of the builder's block.
fn convert_values(builder: &mut Builder<'_>, values: &[ValueId]) -> Vec<ValueId> {
    let mut all = Vec::new();
    for &value in values {
        match converted(builder.module, builder.module.value_type(value)) {
            Some(types) => all.extend(builder.cast(&[value], &types)),
            None => all.push(value),
        }
    }
    all
}

/// Runs `edit` so that it appends to the block of `op`, right before `op`.
fn before(module: &mut Module, op: OpId, edit: impl FnOnce(&mut Builder<'_>)) {
    let (Some(block), Some(index)) = (module.op_block(op), module.op_index(op)) else {
        return;
    };
    let ops = module.take_block_ops(block);
    let (first, rest) = ops.split_at(index);
    for &op in first {
        module.append_op(block, op);
    }
    let location = module.op_location(op);
    let mut builder = Builder {
        module,
        block,
        location,
    };
    edit(&mut builder);
    for &op in rest {
        module.append_op(block, op);
    }
}

fn convert_execute(module: &mut Module, op: OpId) {
    let Some(segments) = module.operand_segments(op, 2) else {
        return;
    };
    convert_body(module, op);
    let (mut operands, mut types) = (Vec::new(), Vec::new());
    // The results, as they were, with the types that they are of now.
    let mut replaced: Vec<(ValueId, Vec<TypeId>)> = Vec::new();
    for result in module.results(op).to_vec() {
        let old = module.value_type(result);
        let new = converted(module, old).unwrap_or_else(|| vec![old]);
        types.extend(&new);
        replaced.push((result, new));
    }
    before(module, op, |builder| {
        let old = builder.module.operands(op).to_vec();
        operands = convert_values(builder, &old);
    });
    let num_values = operands.len() - segments[0];
    if operands == module.operands(op) && types == edit::types_of(module, module.results(op)) {
        return;
    }
    let new = edit::recreate(module, op, operands, types);
    let sizes = tfrt_ir::syntax::segment_sizes(module, &[segments[0], num_values]);
    module.set_attr(new, tfrt_ir::syntax::SEGMENT_SIZES, sizes);
    let mut results = module.results(new).to_vec().into_iter();
    let next = next_op(module, new);
    for (old, types) in replaced {
        let parts: Vec<ValueId> = results.by_ref().take(types.len()).collect();
        if let [same] = parts[..] {
            module.replace_all_uses(old, same);
            continue;
        }
        let ty = module.value_type(old);
        if let Some(next) = next {
            before(module, next, |builder| {
                let whole = builder.typed(edit::CAST, &parts, &[], vec![ty]);
                builder.module.replace_all_uses(old, whole[0]);
            });
        }
    }
    module.erase_op(op);
}

fn next_op(module: &Module, op: OpId) -> Option<OpId> {
    let ops = module.block_ops(module.op_block(op)?);
    ops.get(module.op_index(op)? + 1).copied()
}

/// Converts the arguments and the yields of the body.
fn convert_body(module: &mut Module, op: OpId) {
    let Some(entry) = module.entry_block(op) else {
        return;
    };
    let mut index = 0;
    while let Some(&argument) = module.block_arguments(entry).get(index) {
        let Some(types) = converted(module, module.value_type(argument)) else {
            index += 1;
            continue;
        };
        let num_parts = types.len();
        let mut parts = Vec::with_capacity(num_parts);
        for (offset, ty) in types.into_iter().enumerate() {
            parts.push(module.insert_block_argument(entry, index + 1 + offset, ty));
        }
        let ty = module.value_type(argument);
        let location = module.op_location(op);
        let ops = module.take_block_ops(entry);
        let mut builder = Builder {
            module,
            block: entry,
            location,
        };
        let whole = builder.typed(edit::CAST, &parts, &[], vec![ty])[0];
        module.replace_all_uses(argument, whole);
        for op in ops {
            module.append_op(entry, op);
        }
        module.remove_block_argument(entry, index);
        index += num_parts;
    }
    for block in module.blocks(module.regions(op)[0]).to_vec() {
        let Some(end) = module.last_op(block) else {
            continue;
        };
        if module.op_name(end) != "async.yield" {
            continue;
        }
        let mut values = Vec::new();
        before(module, end, |builder| {
            let old = builder.module.operands(end).to_vec();
            values = convert_values(builder, &old);
        });
        module.set_operands(end, values);
    }
}

/// Awaits the parts of a value.
fn convert_await(module: &mut Module, op: OpId) {
    let (&[value], &[result]) = (module.operands(op), module.results(op)) else {
        return;
    };
    let Some(parts) = edit::cast_source(module, &[value]) else {
        return;
    };
    let ty = module.value_type(result);
    let contents: Option<Vec<String>> = parts
        .iter()
        .map(|&part| content_of(module, module.value_type(part)).map(str::to_owned))
        .collect();
    let Some(contents) = contents else {
        return;
    };
    // Whatever stands between the brackets of a dialect's type is text, and need not be a type.
    let mut contents_are_types = contents.iter();
    if !contents_are_types.all(|content| tfrt_ir::parse_type(module, content).is_some()) {
        return;
    }
    before(module, op, |builder| {
        builder.location = builder.module.op_location(op);
        let awaited = parts.iter().zip(&contents);
        let awaited: Vec<ValueId> = awaited
            .map(|(&part, content)| builder.value("async.await", &[part], &[], content))
            .collect();
        let whole = builder.typed(edit::CAST, &awaited, &[], vec![ty]);
        builder.module.replace_all_uses(result, whole[0]);
    });
    module.erase_op(op);
}
