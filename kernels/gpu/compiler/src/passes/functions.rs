//! `--func-tfrt-streamify`: functions that work on a stream take a chain and the stream, and return
//! a chain.
//!
//! A function works on a stream if it has at least two `gpu.wait` that start or end asynchronous
//! work, and only the last one waits. Its first arguments become a chain and a stream, and it
//! returns the chain of the last wait. A function that does nothing gets the same signature.
//!
//! Inside of `tfrt_gpu.streamify`, calls and loops of such functions pass the chain and the stream
//! on. The body of a loop also returns the stream, because a loop carries all arguments of its
//! body. In a pipeline of one function, as in `func(func-tfrt-streamify)`, callers stay as they
//! are.

use std::collections::HashSet;

use tfrt_compiler::passes::{Pass, PassScope};
use tfrt_ir::symbols::{ARGUMENT_ATTRIBUTES, RESULT_ATTRIBUTES};
use tfrt_ir::{Attribute, BlockId, Module, OpId, OpState, ValueId};

use super::edit::{self, Builder, CHAIN, RETURNS, STREAM, TOKEN};

/// The pass.
pub const PASS: Pass = Pass {
    name: "func-tfrt-streamify",
    summary: "Add a chain and a stream to the parameters of functions that use a stream",
    scope: PassScope::Op,
    run: |module, root, _| {
        if module.is_func(root) {
            streamify(module, root);
        } else {
            let changed = streamify_functions(module, root);
            streamify_callers(module, root, &changed);
        }
        Vec::new()
    },
    ..super::NO_PASS
};

/// Converts the functions of a module, and returns the names of those that changed.
fn streamify_functions(module: &mut Module, root: OpId) -> HashSet<String> {
    let functions: Vec<OpId> = module.functions(root).collect();
    let changed = functions
        .into_iter()
        .filter(|&func| streamify(module, func));
    let changed: Vec<OpId> = changed.collect();
    let names = changed.iter().filter_map(|&func| module.symbol_name(func));
    names.map(str::to_owned).collect()
}

/// Converts a function if it works on a stream.
fn streamify(module: &mut Module, func: OpId) -> bool {
    let Some(entry) = module.entry_block(func) else {
        return false;
    };
    let Some(end) = only_return(module, func) else {
        return false;
    };
    if module.block_ops(entry) == [end] && module.operands(end).is_empty() {
        let [chain, _] = add_arguments(module, func, entry);
        return_chain(module, func, end, chain);
        return true;
    }
    let Some(waits) = waits_of(module, func, end) else {
        return false;
    };
    let Some((&last, firsts)) = waits.split_last() else {
        return false;
    };
    let [chain, stream] = add_arguments(module, func, entry);
    let location = module.op_location(func);
    let ops = module.take_block_ops(entry);
    let mut builder = Builder {
        module,
        block: entry,
        location,
    };
    let token = builder.token(chain, stream);
    let start = builder.value("gpu.wait", &[token], &[], TOKEN);
    for op in ops {
        module.append_op(entry, op);
    }
    for &wait in firsts {
        module.set_operands(wait, vec![start]);
    }
    let chain = end_with_token(module, last);
    return_chain(module, func, end, chain);
    true
}

/// Returns the only return of a function.
fn only_return(module: &Module, func: OpId) -> Option<OpId> {
    let &[region] = module.regions(func) else {
        return None;
    };
    let last = module
        .blocks(region)
        .iter()
        .map(|&block| module.last_op(block));
    let mut returns = last
        .flatten()
        .filter(|&op| module.successors(op).is_empty());
    let end = returns.next()?;
    let is_return = RETURNS.contains(&module.op_name(end));
    (is_return && returns.next().is_none()).then_some(end)
}

/// Returns the waits of a function that start something, and the last one, which ends everything.
fn waits_of(module: &Module, func: OpId, end: OpId) -> Option<Vec<OpId>> {
    let is_async = |op: OpId| !module.results(op).is_empty();
    let mut waits = module.walk(func);
    waits.retain(|&op| {
        module.op_name(op) == "gpu.wait" && (!is_async(op) || module.operands(op).is_empty())
    });
    let (&last, firsts) = waits.split_last()?;
    // What the last one waits for has to reach the end of the function.
    let is_at_top = module.op_block(last) == module.op_block(end);
    let fits = !firsts.is_empty() && firsts.iter().all(|&op| is_async(op)) && !is_async(last);
    (fits && is_at_top).then_some(waits)
}

/// Inserts the arguments, and returns their values.
fn add_arguments(module: &mut Module, func: OpId, entry: BlockId) -> [ValueId; 2] {
    let types = [CHAIN, STREAM].map(|ty| edit::type_of(module, ty));
    let chain = module.insert_block_argument(entry, 0, types[0]);
    let stream = module.insert_block_argument(entry, 1, types[1]);
    if let Some((inputs, results)) = module.signature(func) {
        let inputs = [&types, inputs].concat();
        let results = results.to_vec();
        edit::set_signature(module, func, &inputs, &results);
    }
    insert_dictionaries(module, func, ARGUMENT_ATTRIBUTES, 0, 2);
    [chain, stream]
}

/// Makes a function return `value` as its result number `index`.
fn insert_result(module: &mut Module, func: OpId, end: OpId, index: usize, value: ValueId) {
    let mut operands = module.operands(end).to_vec();
    operands.insert(index, value);
    module.set_operands(end, operands);
    let ty = module.value_type(value);
    if let Some((inputs, results)) = module.signature(func) {
        let (inputs, mut results) = (inputs.to_vec(), results.to_vec());
        results.insert(index, ty);
        edit::set_signature(module, func, &inputs, &results);
    }
    insert_dictionaries(module, func, RESULT_ATTRIBUTES, index, 1);
}

fn return_chain(module: &mut Module, func: OpId, end: OpId, chain: ValueId) {
    insert_result(module, func, end, 0, chain);
}

/// Keeps the attributes of arguments or results with theirs.
fn insert_dictionaries(module: &mut Module, func: OpId, name: &str, at: usize, count: usize) {
    let Some(attribute) = module.attr(func, name) else {
        return;
    };
    if let Attribute::Array(elements) = module.attribute(attribute) {
        let mut elements = elements.to_vec();
        let empty = module.dictionary_attr(Vec::new());
        elements.splice(at..at, std::iter::repeat_n(empty, count));
        let value = module.intern_attribute(Attribute::Array(elements.into()));
        module.set_attr(func, name, value);
    }
}

/// Replaces the last wait by one that returns a token, and returns the chain of that.
fn end_with_token(module: &mut Module, wait: OpId) -> ValueId {
    let token = edit::type_of(module, TOKEN);
    let operands = module.operands(wait).to_vec();
    let new = edit::recreate(module, wait, operands, vec![token]);
    module.erase_op(wait);
    let mut cast = OpState::new(edit::CAST, module.op_location(new));
    cast.operands = module.results(new).to_vec();
    cast.result_types = [CHAIN, STREAM].map(|ty| edit::type_of(module, ty)).to_vec();
    let cast = module.create_op(cast);
    if let (Some(block), Some(index)) = (module.op_block(new), module.op_index(new)) {
        module.insert_op(block, index + 1, cast);
    }
    module.results(cast)[0]
}

/// Passes chains and streams to the changed functions that are called in regions on a stream.
fn streamify_callers(module: &mut Module, root: OpId, changed: &HashSet<String>) {
    let callee = |module: &Module, op: OpId| -> Option<(String, bool)> {
        let is_loop = match module.op_name(op) {
            "tfrt.call" => false,
            "tfrt.while" => true,
            _ => return None,
        };
        let name = module.attr(op, if is_loop { "body_fn" } else { "callee" })?;
        let name = module.attribute_flat_symbol(name)?;
        changed.contains(name).then(|| (name.to_owned(), is_loop))
    };
    let ops = module.walk(root);
    let mut callers = Vec::new();
    for wrapper in ops.into_iter().filter(|&op| edit::is_streamify(module, op)) {
        let Some(body) = module.entry_block(wrapper) else {
            continue;
        };
        for &op in module.block_ops(body) {
            if let Some((name, is_loop)) = callee(module, op) {
                callers.push((body, op, name, is_loop));
            }
        }
    }
    let loops = callers.iter().filter(|(.., is_loop)| *is_loop);
    let bodies: HashSet<String> = loops.map(|(_, _, name, _)| name.clone()).collect();
    for name in &bodies {
        let Some(func) = module.lookup_symbol(root, name) else {
            continue;
        };
        let (Some(end), Some(entry)) = (only_return(module, func), module.entry_block(func)) else {
            continue;
        };
        let stream = module.block_arguments(entry)[1];
        insert_result(module, func, end, 1, stream);
    }
    for (body, op, name, is_loop) in callers {
        pass_stream_on(module, body, op, is_loop, bodies.contains(&name));
    }
}

/// Makes a call or a loop take the chain and the stream of the region. The current chain is what
/// the region returns first.
fn pass_stream_on(
    module: &mut Module,
    body: BlockId,
    op: OpId,
    is_loop: bool,
    returns_stream: bool,
) {
    let (Some(end), &[_, stream, ..]) = (module.last_op(body), module.block_arguments(body)) else {
        return;
    };
    let Some(&chain) = module.operands(end).first() else {
        return;
    };
    let mut operands = module.operands(op).to_vec();
    let first = usize::from(is_loop).min(operands.len());
    operands.splice(first..first, [chain, stream]);
    let added: &[&str] = if returns_stream {
        &[CHAIN, STREAM]
    } else {
        &[CHAIN]
    };
    let mut types: Vec<_> = added.iter().map(|ty| edit::type_of(module, ty)).collect();
    let num_added = types.len();
    types.extend(edit::types_of(module, module.results(op)));
    let new = edit::recreate(module, op, operands, types);
    for (index, old) in module.results(op).to_vec().into_iter().enumerate() {
        let result = module.results(new)[num_added + index];
        module.replace_all_uses(old, result);
    }
    module.erase_op(op);
    let chain = module.results(new)[0];
    module.set_operand(end, 0, chain);
}
