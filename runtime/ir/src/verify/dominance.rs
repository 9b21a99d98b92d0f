//! Dominance: which definitions precede which uses on every path.
//!
//! In a region with one block, this is the order of the ops. In a region with several, a block
//! dominates another if every path from the first block to the other leads through it; the
//! immediate dominators are computed by the iterative algorithm of Cooper, Harvey and Kennedy, once
//! for each region that needs it. The ops in the blocks of a module are not ordered.

use std::cell::RefCell;
use std::collections::HashMap;

use tfrt_support::entity::SecondaryMap;

use crate::module::{BlockId, Module, OpId, RegionId, ValueDef, ValueId};

pub(super) struct Dominance<'a> {
    module: &'a Module,
    /// The position of each op in its block.
    order: SecondaryMap<OpId, u32>,
    predecessors: HashMap<BlockId, Vec<BlockId>>,
    regions: RefCell<HashMap<RegionId, Tree>>,
}

/// The immediate dominators of the reachable blocks of a region; that of the first block is itself.
#[derive(Default)]
struct Tree {
    parents: HashMap<BlockId, BlockId>,
    /// The position of each block in reverse post-order.
    ranks: HashMap<BlockId, usize>,
}

impl<'a> Dominance<'a> {
    pub(super) fn new(module: &'a Module) -> Self {
        let mut order = SecondaryMap::default();
        let mut predecessors: HashMap<BlockId, Vec<BlockId>> = HashMap::new();
        for op in module.walk(module.root()) {
            for &block in module
                .regions(op)
                .iter()
                .flat_map(|region| module.blocks(*region))
            {
                for (position, &inner) in module.block_ops(block).iter().enumerate() {
                    order[inner] = position as u32;
                    for &successor in module.successors(inner) {
                        predecessors.entry(successor).or_default().push(block);
                    }
                }
            }
        }
        Self {
            module,
            order,
            predecessors,
            regions: RefCell::default(),
        }
    }

    /// Returns `true` if the block has predecessors.
    pub(super) fn has_predecessors(&self, block: BlockId) -> bool {
        self.predecessors.contains_key(&block)
    }

    /// Returns `true` if `inner` is `outer` or a region of an op somewhere in it.
    pub(super) fn is_inside(&self, inner: RegionId, outer: RegionId) -> bool {
        std::iter::successors(Some(inner), |region| self.region_around(*region))
            .any(|region| region == outer)
    }

    fn region_around(&self, region: RegionId) -> Option<RegionId> {
        let block = self.module.op_block(self.module.region_op(region)?)?;
        Some(self.module.block_region(block))
    }

    /// Returns `true` if there is a path from the first block of its region to this block.
    pub(super) fn is_reachable(&self, block: BlockId) -> bool {
        let region = self.module.block_region(block);
        if self.module.blocks(region).first() == Some(&block) {
            return true;
        }
        self.with_tree(region, |tree| tree.ranks.contains_key(&block))
    }

    /// Returns `true` if `value` is defined before `op` runs, on every path.
    pub(super) fn properly_dominates(&self, value: ValueId, op: OpId) -> bool {
        let module = self.module;
        let Some(block) = module.value_block(value) else {
            return false;
        };
        let region = module.block_region(block);
        // The use itself, or the op in the same region that contains it.
        let Some(here) = std::iter::once(op).chain(module.ancestors(op)).find(|op| {
            module
                .op_block(*op)
                .is_some_and(|block| module.block_region(block) == region)
        }) else {
            return false;
        };
        let Some(here_block) = module.op_block(here) else {
            return false;
        };
        match module.value_def(value) {
            ValueDef::Argument { .. } => self.block_dominates(block, here_block),
            ValueDef::Result { op: definer, .. } if here_block == block => {
                let has_order = !module
                    .region_op(region)
                    .is_some_and(|op| module.is_module(op));
                if definer == here {
                    op == here && !has_order
                } else {
                    !has_order || self.order[definer] < self.order[here]
                }
            }
            ValueDef::Result { .. } => self.block_dominates(block, here_block),
        }
    }

    /// Returns `true` if every path to `other` leads through `block`, or they are equal.
    fn block_dominates(&self, block: BlockId, other: BlockId) -> bool {
        if block == other {
            return true;
        }
        self.with_tree(self.module.block_region(block), |tree| {
            let mut current = other;
            while let Some(&parent) = tree.parents.get(&current) {
                if parent == block {
                    return true;
                }
                if parent == current {
                    return false;
                }
                current = parent;
            }
            // `other` is unreachable, so every block dominates it.
            !tree.ranks.contains_key(&other)
        })
    }

    fn with_tree<R>(&self, region: RegionId, ask: impl FnOnce(&Tree) -> R) -> R {
        let mut regions = self.regions.borrow_mut();
        ask(regions.entry(region).or_insert_with(|| self.tree(region)))
    }

    fn tree(&self, region: RegionId) -> Tree {
        let Some(&entry) = self.module.blocks(region).first() else {
            return Tree::default();
        };
        let order = self.reverse_post_order(entry);
        let ranks: HashMap<BlockId, usize> = order
            .iter()
            .enumerate()
            .map(|(rank, block)| (*block, rank))
            .collect();
        let mut parents: HashMap<BlockId, BlockId> = HashMap::from([(entry, entry)]);
        let mut is_changed = true;
        while is_changed {
            is_changed = false;
            for &block in &order[1..] {
                let mut common: Option<BlockId> = None;
                for predecessor in self.predecessors.get(&block).into_iter().flatten() {
                    if parents.contains_key(predecessor) {
                        common = Some(match common {
                            None => *predecessor,
                            Some(other) => intersect(&parents, &ranks, other, *predecessor),
                        });
                    }
                }
                if let Some(common) = common
                    && parents.insert(block, common) != Some(common)
                {
                    is_changed = true;
                }
            }
        }
        Tree { parents, ranks }
    }

    fn reverse_post_order(&self, entry: BlockId) -> Vec<BlockId> {
        let mut order = Vec::new();
        let mut seen = std::collections::HashSet::from([entry]);
        let mut pending = vec![(entry, 0)];
        while let Some((block, next)) = pending.pop() {
            let successors = self
                .module
                .last_op(block)
                .map_or(&[][..], |terminator| self.module.successors(terminator));
            match successors.get(next) {
                Some(&successor) => {
                    pending.push((block, next + 1));
                    let is_near =
                        self.module.block_region(successor) == self.module.block_region(entry);
                    if is_near && seen.insert(successor) {
                        pending.push((successor, 0));
                    }
                }
                None => order.push(block),
            }
        }
        order.reverse();
        order
    }
}

/// Returns the nearest common dominator.
fn intersect(
    parents: &HashMap<BlockId, BlockId>,
    ranks: &HashMap<BlockId, usize>,
    mut a: BlockId,
    mut b: BlockId,
) -> BlockId {
    while a != b {
        if ranks[&a] > ranks[&b] {
            a = parents[&a];
        } else {
            b = parents[&b];
        }
    }
    a
}
