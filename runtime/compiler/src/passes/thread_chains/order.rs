//! The steps that are pending at one point of a body, and those of them that an op has to wait for.
//!
//! A [`PendingStep`] is something that an op does in one order, or to one place in memory. It is
//! done when all its tokens are available. Each order and each place has a [`Front`]: the steps
//! that the next one may have to wait for.
//!
//! An op need not wait for a step if other values imply it: an op starts when all its operands are
//! available, so an available value implies that everything for which its op waited is done
//! ([`availability`](crate::passes::availability)). [`Positions::needed`] leaves such steps out.
//! The rest is the smallest set that implies all of the steps. It is unique: only later steps can
//! imply a step, never earlier ones.

use std::collections::{HashMap, HashSet};

use tfrt_ir::{Module, OpId, ValueDef, ValueId};

use crate::passes::availability::implied_by_results;

/// Something that is pending until all its tokens are available.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct PendingStep {
    /// The op whose step it is, or the holder of the body for what was pending when the body
    /// started.
    pub(super) op: OpId,
    /// The values to wait for. If there are none, the step cannot be waited for.
    pub(super) tokens: Vec<ValueId>,
    /// Whether the pass must keep the order of this step. False for steps that their author
    /// ordered.
    pub(super) is_owed: bool,
}

/// The steps of one order, or at one place, that the next one may have to wait for.
#[derive(Clone, Debug, Default)]
pub(super) struct Front {
    writers: Vec<PendingStep>,
    /// The steps that may run at the same time, after all the writers.
    readers: Vec<PendingStep>,
}

impl Front {
    /// Returns the steps that the next step has to wait for.
    pub(super) fn before(&self, is_write: bool) -> impl Iterator<Item = &PendingStep> {
        let readers = self.readers.iter().filter(move |_| is_write);
        self.writers.iter().chain(readers)
    }

    /// Adds a step that waits for those [before](Self::before) it.
    pub(super) fn advance(&mut self, step: PendingStep, is_write: bool) {
        if is_write {
            self.readers.clear();
            self.writers = vec![step];
        } else {
            self.readers.push(step);
        }
    }

    /// Adds a step that does not necessarily wait for others.
    pub(super) fn join(&mut self, step: PendingStep, is_write: bool) {
        if is_write {
            self.writers.push(step);
        } else {
            self.readers.push(step);
        }
    }
}

/// The positions of the ops of a body, as far as they have been added.
#[derive(Debug, Default)]
pub(super) struct Positions {
    by_op: HashMap<OpId, usize>,
    /// For a chain that a body returns, the chain that went in: the body waits for it.
    went_in: HashMap<ValueId, ValueId>,
}

impl Positions {
    /// Adds the next op.
    pub(super) fn push(&mut self, op: OpId) {
        let position = self.by_op.len() + 1;
        self.by_op.insert(op, position);
    }

    /// Adds a chain that comes out of a body which waits for the chain that went in.
    pub(super) fn push_lane(&mut self, went_in: ValueId, came_out: ValueId) {
        self.went_in.insert(came_out, went_in);
    }

    /// Returns the position of the op that returns a value, or zero for arguments.
    fn of_value(&self, module: &Module, value: ValueId) -> usize {
        match module.value_def(value) {
            ValueDef::Result { op, .. } => self.by_op.get(&op).copied().unwrap_or(0),
            ValueDef::Argument { .. } => 0,
        }
    }

    fn of_step(&self, module: &Module, step: &PendingStep) -> usize {
        let tokens = step.tokens.iter();
        let latest = tokens.map(|token| self.of_value(module, *token)).max();
        latest.unwrap_or_else(|| self.by_op.get(&step.op).copied().unwrap_or(0))
    }

    /// Returns the steps, latest first, that still have to be waited for when `known` are
    /// available. None of them is implied by the others.
    ///
    /// Looks only at values between the earliest step and here.
    pub(super) fn needed(
        &self,
        module: &Module,
        mut steps: Vec<PendingStep>,
        known: &[ValueId],
    ) -> Vec<PendingStep> {
        steps.sort_by_key(|step| std::cmp::Reverse((self.of_step(module, step), step.op)));
        let floor = steps
            .iter()
            .flat_map(|step| &step.tokens)
            .map(|token| self.of_value(module, *token))
            .min()
            .unwrap_or(0);
        let mut available = Available {
            positions: self,
            module,
            floor,
            values: HashSet::new(),
        };
        available.add(known);
        let mut needed = Vec::new();
        for step in steps {
            let is_implied = !step.tokens.is_empty()
                && step
                    .tokens
                    .iter()
                    .all(|token| available.values.contains(token));
            if !is_implied {
                available.add(&step.tokens);
                needed.push(step);
            }
        }
        needed
    }
}

/// The values that are known to be available, as far back as needed.
struct Available<'a> {
    positions: &'a Positions,
    module: &'a Module,
    /// Anything before this position is irrelevant.
    floor: usize,
    values: HashSet<ValueId>,
}

impl Available<'_> {
    /// Adds values, and those that must have been available before them.
    fn add(&mut self, values: &[ValueId]) {
        let mut pending = values.to_vec();
        while let Some(value) = pending.pop() {
            if !self.values.insert(value) {
                continue;
            }
            let Some(op) = self.module.defining_op(value) else {
                continue;
            };
            if self.positions.of_value(self.module, value) > self.floor {
                pending.extend(implied_by_results(self.module, op));
                pending.extend(self.positions.went_in.get(&value));
            }
        }
    }
}
