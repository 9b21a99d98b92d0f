//! A function body as runners see it: its code, and what earlier runs have learned about it.

use std::sync::OnceLock;

use super::batch::GroupCost;
use super::block::BlockLayout;
use super::constants::Constants;
use super::habit::Habit;
use super::links::{Carrying, Links};
use super::pace::Pace;
use crate::lower::code::Code;

/// The body of a function.
#[derive(Debug)]
pub(crate) struct Body {
    pub(crate) code: Code,
    pub(crate) constants: Constants,
    /// How its kernels call functions.
    pub(crate) links: Links,
    /// How one round of the function follows another, computed for the first round; `None` if that
    /// takes more than copies of cells.
    pub(crate) carrying: OnceLock<Option<Carrying>>,
    /// The layout of an invocation's block, computed for the first invocation; `None` if the block
    /// would be too large.
    pub(crate) block: OnceLock<Option<BlockLayout>>,
    /// Whether the results of its kernels were available when the kernels returned.
    pub(crate) habit: Habit,
    /// Whether one thread has been enough.
    pub(crate) pace: Pace,
    /// How long batches take.
    pub(crate) group_cost: GroupCost,
}

impl Body {
    pub(crate) fn new(code: Code) -> Self {
        Self {
            links: Links::of(&code),
            code,
            carrying: OnceLock::new(),
            constants: Constants::default(),
            block: OnceLock::new(),
            habit: Habit::default(),
            pace: Pace::default(),
            group_cost: GroupCost::default(),
        }
    }
}
