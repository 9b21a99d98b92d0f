//! The scopes of names of values and blocks.

use std::collections::HashMap;

use crate::ids::{BlockId, RegionId, ValueId};

/// The definition of a name.
#[derive(Clone, Copy)]
pub(super) struct Definition {
    pub(super) value: ValueId,
    /// The offset of its definition or first use.
    pub(super) offset: usize,
    /// `true` if its definition has not been read yet.
    pub(super) is_placeholder: bool,
}

/// The names visible in one isolated region, or in the whole text.
#[derive(Default)]
pub(super) struct IsolatedScope<'s> {
    pub(super) values: HashMap<&'s str, HashMap<u64, Definition>>,
    /// The names that go out of scope with each open region.
    pub(super) regions: Vec<Vec<&'s str>>,
}

/// The blocks of one region.
#[derive(Default)]
pub(super) struct BlockScope<'s> {
    pub(super) blocks: HashMap<&'s str, BlockId>,
    /// Blocks that were referenced but not defined yet, with the offset of the first reference.
    pub(super) undefined: HashMap<BlockId, usize>,
    pub(super) region: Option<RegionId>,
}

/// All names in a text.
pub(super) struct Scopes<'s> {
    pub(super) isolated: Vec<IsolatedScope<'s>>,
    pub(super) blocks: Vec<BlockScope<'s>>,
    /// The offset of the first use of each value that is not defined yet.
    pub(super) undefined: HashMap<ValueId, usize>,
}

/// A saved state of the scopes.
pub(super) struct ScopesMark {
    num_isolated: usize,
    num_blocks: usize,
    pub(super) undefined: HashMap<ValueId, usize>,
}

impl Scopes<'_> {
    pub(super) fn mark(&self) -> ScopesMark {
        ScopesMark {
            num_isolated: self.isolated.len(),
            num_blocks: self.blocks.len(),
            undefined: self.undefined.clone(),
        }
    }

    /// Closes the scopes opened since then, the first of which is isolated.
    pub(super) fn rewind(&mut self, mark: ScopesMark) {
        self.isolated.truncate(mark.num_isolated);
        self.blocks.truncate(mark.num_blocks);
        self.undefined = mark.undefined;
    }

    pub(super) fn new() -> Self {
        let outermost = IsolatedScope {
            values: HashMap::new(),
            regions: vec![Vec::new()],
        };
        Self {
            isolated: vec![outermost],
            blocks: vec![BlockScope::default()],
            undefined: HashMap::new(),
        }
    }
}
