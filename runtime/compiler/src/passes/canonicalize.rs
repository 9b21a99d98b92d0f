//! Canonicalization: removes unused ops, and replaces ops with known results by constants.
//!
//! Preconditions: the program is verified. Everything this pass knows about an op comes from its
//! declaration: that it is [`PURE`](OpTraits::PURE), that it is a [`CONSTANT`](OpTraits::CONSTANT),
//! how it folds. Ops that declare none of these stay, and so does an op that is given an optional
//! chain: it is ordered with others.
//!
//! Phases:
//! 1. *fold*: each user of an op that folds uses a new constant instead, unless that user could
//!    then start too early;
//! 2. *gather*: within each isolated op, constants move to the front of its entry block, and equal
//!    ones become one;
//! 3. *sweep*: pure ops without users are removed, last to first, so that their unused operands are
//!    removed with them.
//!
//! Ordering: ops with effects are neither removed nor moved. A constant does not wait for anything.
//! If the operands of an op that folds have to be waited for, a constant replaces its result only
//! if these operands are available without waiting, or if the user waits for the same values by its
//! other operands. Running the pass twice changes nothing more.
//!
//! Cost: linear in the number of ops, plus, for each removed op, the number of uses of its
//! operands.

use std::collections::{HashMap, HashSet};

use tfrt_ir::{AttrId, BlockId, Module, NameId, OpId, OpState, TypeId, Use};
use tfrt_ods::OpTraits;

use super::{availability, has_traits, is_unused};

/// Canonicalizes everything inside `root`.
///
/// ```
/// use std::sync::Arc;
/// use tfrt_compiler::passes::canonicalize;
/// use tfrt_ir::{ParseOptions, PrintOptions, Registry, parse, print};
/// use tfrt_ods::{OpDef, OpTraits, ResultDef, TypeConstraint};
///
/// static MAKE: OpDef = OpDef {
///     results: &[ResultDef::new("value", TypeConstraint::Exact("i32"))],
///     traits: OpTraits::PURE,
///     assembly_format: Some("attr-dict"),
///     ..OpDef::new("my.make")
/// };
///
/// let registry = Arc::new(Registry::new([&MAKE], [])?);
/// let mut module = parse("%a = my.make\n", "p.mlir", &registry, &ParseOptions::default()).map_err(|errors| errors[0].to_string())?;
/// let root = module.root();
/// canonicalize(&mut module, root);
/// assert_eq!(print(&module, &PrintOptions::default()), "module {\n}\n");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn canonicalize(module: &mut Module, root: OpId) {
    fold(module, root);
    gather_constants(module, root);
    while sweep(module, root) {}
}

/// Phase 1.
fn fold(module: &mut Module, root: OpId) {
    // The constants to insert, each with the op that it precedes, and the blocks of these ops.
    let mut constants = HashMap::new();
    let mut blocks = Vec::new();
    for op in module.walk(root) {
        let block = module.op_block(op);
        if let (Some(block), Some(constant)) = (block, folded(module, op)) {
            constants.insert(op, constant);
            if blocks.last() != Some(&block) {
                blocks.push(block);
            }
        }
    }
    for block in blocks {
        for op in module.take_block_ops(block) {
            if let Some(constant) = constants.remove(&op) {
                module.append_op(block, constant);
            }
            module.append_op(block, op);
        }
    }
}

/// Replaces the result of `op` by a new constant in all uses whose op does not start earlier
/// because of it. Returns the constant, which is not in a block yet, or `None` if `op` does not
/// fold or there are no such uses.
fn folded(module: &mut Module, op: OpId) -> Option<OpId> {
    let [result] = *module.results(op) else {
        return None;
    };
    if has_traits(module, op, OpTraits::CONSTANT) {
        return None;
    }
    let folded = module.fold_op(op)?;
    let users: Vec<Use> = module
        .uses(result)
        .filter(|user| !folded.is_ordered || availability::follows_without(module, op, *user))
        .collect();
    if users.is_empty() {
        return None;
    }
    let mut state = OpState::new(folded.op.name, module.op_location(op));
    let attribute = folded.op.attributes.first()?.name.to_owned();
    state.attributes.push((attribute, folded.value));
    state.result_types.push(module.value_type(result));
    let constant = module.create_op(state);
    let stated = module.results(constant)[0];
    for Use { op, operand } in users {
        module.set_operand(op, operand, stated);
    }
    Some(constant)
}

/// The properties that equal constants share.
type ConstantKey = (NameId, Vec<(NameId, AttrId)>, Vec<TypeId>);

/// Phase 2.
fn gather_constants(module: &mut Module, root: OpId) {
    for scope in module.walk(root) {
        if module.is_module(scope) || !module.is_isolated(scope) {
            continue;
        }
        for region in module.regions(scope).to_vec() {
            let blocks = blocks_of_scope(module, module.blocks(region));
            let constants = blocks.iter().flat_map(|block| module.block_ops(*block));
            let constants: Vec<OpId> = constants
                .copied()
                .filter(|&op| {
                    has_traits(module, op, OpTraits::CONSTANT | OpTraits::PURE)
                        && module.operands(op).is_empty()
                })
                .collect();
            if let (Some(&entry), false) = (blocks.first(), constants.is_empty()) {
                gather_into(module, entry, constants);
            }
        }
    }
}

/// Returns these blocks, and those in regions that see the same values.
fn blocks_of_scope(module: &Module, outermost: &[BlockId]) -> Vec<BlockId> {
    let mut blocks = outermost.to_vec();
    let mut next = 0;
    while let Some(&block) = blocks.get(next) {
        next += 1;
        let open = module
            .block_ops(block)
            .iter()
            .filter(|op| !module.is_isolated(**op));
        for &region in open.flat_map(|op| module.regions(*op)) {
            blocks.extend(module.blocks(region));
        }
    }
    blocks
}

fn gather_into(module: &mut Module, entry: BlockId, constants: Vec<OpId>) {
    let mut first_of: HashMap<ConstantKey, OpId> = HashMap::new();
    let mut leading = Vec::new();
    for op in constants {
        let types = module.results(op).iter();
        let key = (
            module.op_name_id(op),
            module.attributes(op).to_vec(),
            types.map(|result| module.value_type(*result)).collect(),
        );
        match first_of.get(&key) {
            Some(&first) => {
                for index in 0..module.results(op).len() {
                    module
                        .replace_all_uses(module.results(op)[index], module.results(first)[index]);
                }
            }
            None => {
                first_of.insert(key, op);
                leading.push(op);
            }
        }
    }
    if module.block_ops(entry).starts_with(&leading) {
        return;
    }
    let is_leading: HashSet<OpId> = leading.iter().copied().collect();
    let mut blocks: Vec<_> = leading.iter().map(|op| module.op_block(*op)).collect();
    // The constants of a block follow each other.
    blocks.dedup();
    for block in blocks.into_iter().flatten().filter(|&block| block != entry) {
        for op in module.take_block_ops(block) {
            if !is_leading.contains(&op) {
                module.append_op(block, op);
            }
        }
    }
    let rest = module.take_block_ops(entry);
    let rest = rest.into_iter().filter(|op| !is_leading.contains(op));
    for op in leading.into_iter().chain(rest) {
        module.append_op(entry, op);
    }
}

/// Phase 3. Returns `true` if any op was removed. If blocks are not listed in the order in which
/// they run, one sweep may miss some ops.
fn sweep(module: &mut Module, root: OpId) -> bool {
    let mut dead = HashSet::new();
    let mut blocks = Vec::new();
    for op in module.walk(root).into_iter().rev() {
        let Some(block) = module.op_block(op).filter(|_| op != root) else {
            continue;
        };
        if !is_unused(module, op) {
            continue;
        }
        for inner in module.walk(op) {
            module.set_operands(inner, Vec::new());
        }
        dead.insert(op);
        // The ops of a block follow each other in the walk, except for the ops nested in them.
        if blocks.last() != Some(&block) {
            blocks.push(block);
        }
    }
    for block in blocks {
        module.erase_ops(block, |op| dead.contains(&op));
    }
    !dead.is_empty()
}
