//! Calls of functions as ops, replaced by the bodies of the functions.
//!
//! Preconditions: the program is verified. `tf.PartitionedCall` and `tf.StatefulPartitionedCall`
//! call the function that their function attribute `f` names: from tensor handles to tensor
//! handles, with a leading chain at both ends or at neither.
//!
//! For a call without an order, the called function starts from a new chain, and the chain that it
//! returns is dropped, so it must not have effects. A function that calls itself, directly or
//! indirectly, would expand forever: that is an error, and so is a function that grows beyond the
//! limit.
//!
//! Cost: linear in the size of the result.

use std::collections::{HashMap, HashSet};

use tfrt_compiler::passes::clone_body;
use tfrt_core::OpRegistry;
use tfrt_ir::{BlockId, Module, OpId, OpState, ValueId};
use tfrt_support::Diagnostic;

use crate::call::{Call, error_at, is_chain, is_handle, is_removable};
use crate::names;

/// How many ops a function may have when every call in it has been replaced.
pub const MAX_EXPANDED_OPS: usize = 100_000;

/// How deep calls may nest.
pub const MAX_CALL_DEPTH: usize = 64;

/// Replaces the calls in a function with the bodies of the called functions. Reports the calls that
/// cannot be replaced.
pub fn expand_calls(module: &mut Module, func: OpId, ops: &OpRegistry) -> Vec<Diagnostic> {
    let mut expansion = Expansion {
        ops,
        stack: Vec::new(),
        done: HashSet::new(),
        sizes: HashMap::new(),
    };
    expansion.run(module, func).err().into_iter().collect()
}

struct Expansion<'a> {
    ops: &'a OpRegistry,
    /// The functions whose calls are being replaced, outermost first.
    stack: Vec<OpId>,
    done: HashSet<OpId>,
    /// How many ops the functions have whose calls were replaced, with those inside of ops.
    sizes: HashMap<OpId, usize>,
}

impl Expansion<'_> {
    fn run(&mut self, module: &mut Module, func: OpId) -> Result<(), Diagnostic> {
        let Some(block) = module
            .entry_block(func)
            .filter(|_| !self.done.contains(&func))
        else {
            return Ok(());
        };
        self.stack.push(func);
        let size = num_ops(module, block);
        let mut ops = module.take_block_ops(block).into_iter();
        let outcome = self.expand(module, block, size, &mut ops);
        // What was not reached stays as it is.
        for op in ops {
            module.append_op(block, op);
        }
        self.sizes.insert(func, outcome?);
        self.stack.pop();
        self.done.insert(func);
        Ok(())
    }

    /// Appends ops to the block that they were taken from, and bodies in the place of calls.
    /// Returns the new number of ops, given the previous number `size`.
    fn expand(
        &mut self,
        module: &mut Module,
        block: BlockId,
        mut size: usize,
        ops: &mut impl Iterator<Item = OpId>,
    ) -> Result<usize, Diagnostic> {
        for op in ops {
            let called =
                Call::of(module, op).and_then(|call| Some((call.called_function(module)?, call)));
            let Some((name, call)) = called else {
                module.append_op(block, op);
                continue;
            };
            if let Err(finding) = self.expand_call(module, block, &mut size, &call, &name) {
                module.append_op(block, op);
                return Err(finding);
            }
        }
        Ok(size)
    }

    /// Appends the body of what a call calls.
    fn expand_call(
        &mut self,
        module: &mut Module,
        block: BlockId,
        size: &mut usize,
        call: &Call,
        name: &str,
    ) -> Result<(), Diagnostic> {
        let callee = self.callee(module, call, name)?;
        self.run(module, callee)?;
        *size += self.sizes.get(&callee).copied().unwrap_or(0);
        if *size > MAX_EXPANDED_OPS {
            let message = format!(
                "the function has more than {MAX_EXPANDED_OPS} ops after its calls are inlined"
            );
            return Err(error_at(module, call.op, message));
        }
        self.replace(module, block, call, callee, name)
    }

    /// Returns the function that a call means, which must not be one that is being expanded.
    fn callee(&self, module: &Module, call: &Call, name: &str) -> Result<OpId, Diagnostic> {
        // The call itself is in no block at the moment.
        let caller = self.stack.last().copied();
        let table = caller.and_then(|caller| module.nearest_symbol_table(caller));
        let found = table.and_then(|table| module.lookup_symbol(table, name));
        let Some(callee) = found.filter(|&op| module.is_func(op)) else {
            let message = format!("`{}` calls the unknown function `{name}`", call.name);
            return Err(error_at(module, call.op, message));
        };
        if let Some(position) = self.stack.iter().position(|&func| func == callee) {
            let path = self.stack[position..].iter().chain([&callee]);
            let path = path.map(|&func| module.symbol_name(func).unwrap_or_default());
            let path = path.collect::<Vec<_>>().join(" -> ");
            let message =
                format!("function `{name}` is called as an op and cannot call itself: {path}");
            return Err(error_at(module, call.op, message));
        }
        if self.stack.len() >= MAX_CALL_DEPTH {
            let message = format!(
                "calls of functions as ops are nested more than {MAX_CALL_DEPTH} levels deep"
            );
            return Err(error_at(module, call.op, message));
        }
        Ok(callee)
    }

    fn replace(
        &self,
        module: &mut Module,
        block: BlockId,
        call: &Call,
        callee: OpId,
        name: &str,
    ) -> Result<(), Diagnostic> {
        let refuse = |module: &Module, what: String| {
            let message = format!("function `{name}` is called as an op: it {what}");
            Err(error_at(module, call.op, message))
        };
        let Some(body) = module.entry_block(callee) else {
            return refuse(module, "has no body".to_owned());
        };
        if has_branches(module, callee) {
            return refuse(module, "has branches between blocks".to_owned());
        }
        let parameters = module.block_arguments(body).to_vec();
        let Some(&last) = module.block_ops(body).last() else {
            return refuse(module, "has no body".to_owned());
        };
        let returned = module.operands(last).to_vec();
        let takes_chain = parameters
            .first()
            .is_some_and(|&value| is_chain(module, value));
        let returns_chain = returned
            .first()
            .is_some_and(|&value| is_chain(module, value));
        if takes_chain != returns_chain {
            return refuse(
                module,
                "takes a chain or returns one, but not both".to_owned(),
            );
        }
        let skipped = usize::from(takes_chain);
        let others = parameters[skipped..].iter().chain(&returned[skipped..]);
        for &value in others {
            if !is_handle(module, value) {
                let ty = module.type_spelling(module.value_type(value));
                return refuse(
                    module,
                    format!("takes or returns a `{ty}` instead of a tensor handle"),
                );
            }
        }
        let arguments = call.arguments(module).to_vec();
        let results = call.results(module).to_vec();
        let expected = (parameters.len() - skipped, returned.len() - skipped);
        if expected != (arguments.len(), results.len()) {
            let (takes, returns) = expected;
            let (given, asked) = (arguments.len(), results.len());
            let what = format!(
                "takes {takes} and returns {returns} handles, but the call has {given} and {asked}"
            );
            return refuse(module, what);
        }
        if !call.is_ordered && has_effects(module, callee, self.ops) {
            let what = format!("has effects; call it with `{}`", names::EXECUTE_IN_ORDER);
            return refuse(module, what);
        }
        self.inline(module, block, call, body, takes_chain, arguments, &results);
        Ok(())
    }

    #[expect(
        clippy::too_many_arguments,
        reason = "all that was found out about one call"
    )]
    fn inline(
        &self,
        module: &mut Module,
        block: BlockId,
        call: &Call,
        body: BlockId,
        takes_chain: bool,
        arguments: Vec<ValueId>,
        results: &[ValueId],
    ) {
        let location = module.op_location(call.op);
        let mut values = Vec::new();
        if takes_chain {
            values.push(match call.chain(module) {
                Some(chain) => chain,
                None => {
                    let mut state = OpState::new(names::NEW_CHAIN, location);
                    state.result_types = vec![names::dialect_type(module, names::CHAIN_TYPE)];
                    let start = module.create_op(state);
                    module.append_op(block, start);
                    module.results(start)[0]
                }
            });
        }
        values.extend(arguments);
        let returned = clone_body(module, body, values, location, block);
        if let (Some(after), Some(before)) = (call.chain_result(module), call.chain(module)) {
            let after_body = returned.first().copied().filter(|_| takes_chain);
            module.replace_all_uses(after, after_body.unwrap_or(before));
        }
        for (result, value) in results.iter().zip(&returned[usize::from(takes_chain)..]) {
            module.replace_all_uses(*result, *value);
        }
        module.erase_op(call.op);
    }
}

/// Returns `true` if control may go from block to block in a function: a body with such branches
/// cannot stand in the middle of a block.
fn has_branches(module: &Module, func: OpId) -> bool {
    module.walk(func).into_iter().any(|op| {
        let mut regions = module.regions(op).iter();
        !module.successors(op).is_empty() || regions.any(|&region| module.blocks(region).len() > 1)
    })
}

/// Returns the number of ops in a block, including nested ops.
fn num_ops(module: &Module, block: BlockId) -> usize {
    let ops = module.block_ops(block).iter();
    ops.map(|&op| module.walk(op).len()).sum()
}

/// Returns `true` if an op of a program writes to its operands, according to declarations.
pub(crate) fn writes_to_operands(module: &Module, ops: &OpRegistry) -> bool {
    let funcs = module.functions(module.root());
    let mut blocks = funcs.filter_map(|func| module.entry_block(func));
    blocks.any(|block| {
        let calls = module.block_ops(block).iter();
        let mut calls = calls.filter_map(|&op| Call::of(module, op));
        calls.any(|call| {
            let mut device_types = ops.device_types();
            device_types.any(|ty| {
                let registered = call.registered(ops, ty);
                registered.is_some_and(|op| op.writes_to_operands())
            })
        })
    })
}

/// Returns `true` if a function has effects besides computing its results, according to
/// declarations and registrations.
pub(crate) fn has_effects(module: &Module, func: OpId, ops: &OpRegistry) -> bool {
    let Some(block) = module.entry_block(func) else {
        return false;
    };
    module.block_ops(block).iter().any(|&op| {
        if module.op_name(op) == names::RETURN {
            return false;
        }
        match Call::of(module, op) {
            Some(call) if call.is_ordered => match call.device_type(module, ops) {
                Some(ty) if call.called_function(module).is_none() => call
                    .registered(ops, &ty)
                    .is_none_or(|op| op.has_side_effects()),
                _ => true,
            },
            Some(_) => false,
            None => !is_removable(module, op),
        }
    })
}
