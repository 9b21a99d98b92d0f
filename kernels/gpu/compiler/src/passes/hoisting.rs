//! `--gpu-tfrt-hoisting`: handles of libraries are created once, and everything that is created
//! once can be created before the program runs.
//!
//! A call of a library's `create` in a function becomes a call of a new function, whose result is
//! kept. The function `tfrt_gpu_preload_resources` calls every function that creates an object from
//! a context.

use std::collections::{HashMap, HashSet};

use tfrt_compiler::passes::{Pass, PassScope};
use tfrt_ir::{LocationId, Module, OpId, TypeId, ValueId};

use super::edit::{self, Builder, CHAIN, CONTEXT, RETURN};

/// The pass.
pub const PASS: Pass = Pass {
    name: "gpu-tfrt-hoisting",
    summary: "Create library handles only once, and add a function that creates them in advance",
    scope: PassScope::Module,
    run: |module, root, _| {
        hoist_handles(module, root);
        preload(module, root);
        Vec::new()
    },
    ..super::NO_PASS
};

/// The ops whose results are kept.
const HOISTED: [&str; 3] = [
    "tfrt_gpu.blas.create",
    "tfrt_gpu.dnn.create",
    "tfrt_gpu.solver.create",
];

/// The function that makes everything which is kept.
const PRELOAD: &str = "tfrt_gpu_preload_resources";

/// Returns `true` if a function makes something of a context and nothing else.
fn takes_a_context(module: &Module, func: OpId) -> bool {
    let signature = module.signature(func);
    signature.is_some_and(
        |(inputs, _)| matches!(inputs, &[input] if module.type_spelling(input) == CONTEXT),
    )
}

fn hoist_handles(module: &mut Module, root: OpId) {
    let Some(body) = module.entry_block(root) else {
        return;
    };
    let symbols = module.block_ops(body).iter();
    let symbols = symbols.filter_map(|&op| module.symbol_name(op));
    let mut names: HashSet<String> = symbols.map(str::to_owned).collect();
    let functions: Vec<OpId> = module.functions(root).collect();
    for func in functions {
        if takes_a_context(module, func) {
            continue;
        }
        let mut creators: HashMap<(&str, ValueId), String> = HashMap::new();
        for op in module.walk(func) {
            let name = module.op_name(op);
            let kind = HOISTED.into_iter().find(|&hoisted| hoisted == name);
            let (Some(kind), &[context], &[handle]) =
                (kind, module.operands(op), module.results(op))
            else {
                continue;
            };
            let creator = match creators.get(&(kind, context)) {
                Some(creator) => creator.clone(),
                None => {
                    let creator = free_name(&mut names, kind);
                    let types = [module.value_type(context), module.value_type(handle)];
                    let location = module.op_location(op);
                    let made = creator_of(module, kind, &creator, types, location);
                    if let Some(index) = module.op_index(func) {
                        module.insert_op(body, index, made);
                    }
                    creators.insert((kind, context), creator.clone());
                    creator
                }
            };
            call_once(module, op, &creator, context, handle);
        }
    }
}

/// Returns an unused symbol name: `name`, or `name_0`, `name_1`, ….
fn free_name(names: &mut HashSet<String>, name: &str) -> String {
    let numbered = (0..).map(|number| format!("{name}_{number}"));
    let mut candidates = std::iter::once(name.to_owned()).chain(numbered);
    let free = candidates.find(|candidate| names.insert(candidate.clone()));
    free.unwrap_or_default()
}

/// Returns a function that creates a handle.
fn creator_of(
    module: &mut Module,
    kind: &str,
    name: &str,
    [context, handle]: [TypeId; 2],
    location: LocationId,
) -> OpId {
    let (func, block) = edit::create_typed_function(module, name, &[context], &[handle], location);
    let argument = module.block_arguments(block)[0];
    let mut builder = Builder {
        module,
        block,
        location,
    };
    let made = builder.typed(kind, &[argument], &[], vec![handle]);
    builder.op(RETURN, &made, &[], &[]);
    func
}

/// Replaces the creation of a handle.
fn call_once(module: &mut Module, op: OpId, creator: &str, context: ValueId, handle: ValueId) {
    let (Some(block), Some(index)) = (module.op_block(op), module.op_index(op)) else {
        return;
    };
    let function = module.flat_symbol_attr(creator);
    let mut state = tfrt_ir::OpState::new("tfrt.once", module.op_location(op));
    state.operands.push(context);
    state.result_types.push(module.value_type(handle));
    state.attributes.push(("function".into(), function));
    let once = module.create_op(state);
    module.insert_op(block, index, once);
    let kept = module.results(once)[0];
    module.replace_all_uses(handle, kept);
    module.erase_op(op);
}

/// Adds the function that calls everything which makes something of a context.
fn preload(module: &mut Module, root: OpId) {
    let Some(body) = module.entry_block(root) else {
        return;
    };
    if module.lookup_symbol(root, PRELOAD).is_some() {
        return;
    }
    let makers: Vec<(String, Vec<TypeId>)> = module
        .functions(root)
        .filter(|&func| takes_a_context(module, func))
        .filter_map(|func| {
            let (_, results) = module.signature(func)?;
            Some((module.symbol_name(func)?.to_owned(), results.to_vec()))
        })
        .collect();
    let location = module.op_location(root);
    let (func, block) = edit::create_function(module, PRELOAD, &[CONTEXT], &[CHAIN], location);
    let context = module.block_arguments(block)[0];
    let mut builder = Builder {
        module,
        block,
        location,
    };
    let mut made = Vec::new();
    for (name, results) in makers {
        let function = builder.module.flat_symbol_attr(&name);
        made.extend(builder.typed("tfrt.once", &[context], &[("function", function)], results));
    }
    let name = if made.is_empty() {
        "tfrt.new.chain"
    } else {
        "tfrt.merge.chains"
    };
    let chain = builder.value(name, &made, &[], CHAIN);
    builder.op(RETURN, &[chain], &[], &[]);
    module.append_op(body, func);
}
