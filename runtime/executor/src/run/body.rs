//! A function body as runners see it: its code, and what runs of it have found out.

use std::sync::OnceLock;

use super::batch::GroupCost;
use super::block::BlockLayout;
use super::constants::Constants;
use super::in_order::Habit;
use super::links::Links;
use super::pace::Pace;
use crate::lower::code::Code;

/// The body of a function.
#[derive(Debug)]
pub(crate) struct Body {
    pub(crate) code: Code,
    pub(crate) constants: Constants,
    /// How its kernels call functions.
    pub(crate) links: Links,
    /// The block of an invocation, laid out for the first one; nothing if it would be too large.
    pub(crate) block: OnceLock<Option<BlockLayout>>,
    /// Whether its kernels have had their results when they returned.
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
            constants: Constants::default(),
            block: OnceLock::new(),
            habit: Habit::default(),
            pace: Pace::default(),
            group_cost: GroupCost::default(),
        }
    }
}
