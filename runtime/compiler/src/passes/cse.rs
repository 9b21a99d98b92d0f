//! Common subexpressions: an op that computes the same as an earlier one is replaced by it.
//!
//! Preconditions: the program is verified. Two ops are equal if they have the same name, operands,
//! attributes and types of results. Ops without regions that are declared
//! [`PURE`](OpTraits::PURE) are merged, unless a chain orders them. Pure ops without users are
//! removed as well.
//!
//! An op replaces those that it dominates: the ops behind it in its block, those in regions of such
//! ops that see its results, and, from the first block of a region, those in the other blocks.
//!
//! Ordering: both ops wait for the same operands, so nothing starts earlier or later than before.
//!
//! Cost: linear in the number of ops, times the depth of the nesting.

use std::collections::{HashMap, HashSet};

use tfrt_ir::{AttrId, BlockId, Module, NameId, OpId, TypeId, ValueId};
use tfrt_ods::OpTraits;

use super::{has_traits, is_unused, takes_optional_chain};

/// Merges equal ops inside `root`.
///
/// ```
/// use std::sync::Arc;
/// use tfrt_compiler::passes::merge_equal_ops;
/// use tfrt_ir::{ParseOptions, PrintOptions, Registry, parse, print};
/// use tfrt_ods::{OpDef, OpTraits, OperandDef, ResultDef, TypeConstraint};
///
/// static MAKE: OpDef = OpDef {
///     results: &[ResultDef::new("value", TypeConstraint::Exact("i32"))],
///     traits: OpTraits::PURE,
///     assembly_format: Some("attr-dict"),
///     ..OpDef::new("my.make")
/// };
/// static TAKE: OpDef = OpDef {
///     operands: &[OperandDef::variadic("values", TypeConstraint::Exact("i32"))],
///     assembly_format: Some("operands attr-dict"),
///     ..OpDef::new("my.take")
/// };
///
/// let registry = Arc::new(Registry::new([&MAKE, &TAKE], [])?);
/// let text = "%a = my.make\n%b = my.make\nmy.take %a, %b\n";
/// let mut module = parse(text, "p.mlir", &registry, &ParseOptions::default()).map_err(|errors| errors[0].to_string())?;
/// let root = module.root();
/// merge_equal_ops(&mut module, root);
/// let text = "module {\n  %0 = my.make\n  my.take %0, %0\n}\n";
/// assert_eq!(print(&module, &PrintOptions::default()), text);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn merge_equal_ops(module: &mut Module, root: OpId) {
    let mut known: HashMap<BlockId, HashMap<Key, OpId>> = HashMap::new();
    let mut dead = HashSet::new();
    let mut blocks = Vec::new();
    // The walk reaches an op after everything that dominates it.
    for op in module.walk(root) {
        let Some(block) = module.op_block(op).filter(|_| op != root) else {
            continue;
        };
        if !is_unused(module, op) {
            if !is_mergeable(module, op) {
                continue;
            }
            let key = Key::of(module, op);
            let earlier =
                scopes(module, block).find_map(|scope| known.get(&scope)?.get(&key).copied());
            let Some(earlier) = earlier else {
                known.entry(block).or_default().insert(key, op);
                continue;
            };
            for index in 0..module.results(op).len() {
                let merged = module.results(earlier)[index];
                module.replace_all_uses(module.results(op)[index], merged);
            }
        }
        dead.insert(op);
        if blocks.last() != Some(&block) {
            blocks.push(block);
        }
    }
    for &op in &dead {
        for inner in module.walk(op) {
            module.set_operands(inner, Vec::new());
        }
    }
    for block in blocks {
        module.erase_ops(block, |op| dead.contains(&op));
    }
}

/// The properties that equal ops share.
#[derive(PartialEq, Eq, Hash)]
struct Key {
    name: NameId,
    operands: Vec<ValueId>,
    attributes: Vec<(NameId, AttrId)>,
    result_types: Vec<TypeId>,
}

impl Key {
    fn of(module: &Module, op: OpId) -> Self {
        let results = module.results(op).iter();
        Self {
            name: module.op_name_id(op),
            operands: module.operands(op).to_vec(),
            attributes: module.attributes(op).to_vec(),
            result_types: results.map(|&result| module.value_type(result)).collect(),
        }
    }
}

fn is_mergeable(module: &Module, op: OpId) -> bool {
    has_traits(module, op, OpTraits::PURE)
        && !has_traits(module, op, OpTraits::TERMINATOR)
        && !takes_optional_chain(module, op)
        && module.regions(op).is_empty()
        && module.successors(op).is_empty()
}

/// Returns the blocks whose ops dominate a place in `block`, as far as they precede it in the walk:
/// the block itself, the first block of its region, and so on outwards, up to an op whose regions
/// see only their own values.
fn scopes(module: &Module, block: BlockId) -> impl Iterator<Item = BlockId> + '_ {
    std::iter::successors(Some(block), |&block| {
        let region = module.block_region(block);
        match module.blocks(region).first() {
            Some(&first) if first != block => Some(first),
            _ => {
                let op = module.region_op(region)?;
                module.op_block(op).filter(|_| !module.is_isolated(op))
            }
        }
    })
}
