//! The stored list of a value's users: see the module `uses`.

use crate::ids::OpId;

/// A use, as stored in lists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) op: OpId,
    pub(super) operand: u32,
}

/// The uses of a value.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct UseList {
    pub(super) newest: Option<Place>,
    pub(super) len: usize,
}

/// The neighbours of a use in its list.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Neighbours {
    pub(super) newer: Option<Place>,
    pub(super) older: Option<Place>,
}
