//! What is still under way at one point of a body, and which of it an op has to wait for.
//!
//! A [`Step`] is something that an op does in one order, or to one place in memory. It is done when all its tokens are available.
//! Of each order and place there is a [`Front`]: the steps that the next one may have to wait for.
//!
//! A step need not be waited for by itself if that follows from other values: an op starts when all its operands are available,
//! and so a value says that everything has happened which the op that gives it waited for
//! ([`availability`](crate::passes::availability)). [`Positions::needed`] leaves those out.
//! What remains is the least that implies all of the steps, and there is only one such choice: a step can be implied by later ones
//! alone, never by earlier ones.

use std::collections::{HashMap, HashSet};

use tfrt_ir::{Module, OpId, ValueDef, ValueId};

use crate::passes::availability::implied_by_results;

/// Something that is under way until all its tokens are available.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Step {
    /// The op whose step it is; the holder of the body for what was under way when the body started.
    pub(super) op: OpId,
    /// What to wait for. Nothing can be waited for if there is none.
    pub(super) tokens: Vec<ValueId>,
    /// Whether the pass owes an order to it, unlike to what its author ordered.
    pub(super) is_owed: bool,
}

/// The steps of one order, or at one place, that the next one may have to wait for.
#[derive(Clone, Debug, Default)]
pub(super) struct Front {
    writers: Vec<Step>,
    /// Those that may happen at the same time, after all the writers.
    readers: Vec<Step>,
}

impl Front {
    /// What a step has to wait for.
    pub(super) fn before(&self, is_write: bool) -> impl Iterator<Item = &Step> {
        let readers = self.readers.iter().filter(move |_| is_write);
        self.writers.iter().chain(readers)
    }

    /// Notes a step that waits for what is [before](Self::before) it.
    pub(super) fn advance(&mut self, step: Step, is_write: bool) {
        if is_write {
            self.readers.clear();
            self.writers = vec![step];
        } else {
            self.readers.push(step);
        }
    }

    /// Notes a step that may wait for nothing.
    pub(super) fn join(&mut self, step: Step, is_write: bool) {
        if is_write {
            self.writers.push(step);
        } else {
            self.readers.push(step);
        }
    }
}

/// Where the ops of a body stand, in terms of those before them.
#[derive(Debug, Default)]
pub(super) struct Positions {
    by_op: HashMap<OpId, usize>,
    /// Of a chain that a body returns, the one that went in: it is waited for inside.
    went_in: HashMap<ValueId, ValueId>,
}

impl Positions {
    /// Notes that an op comes next.
    pub(super) fn push(&mut self, op: OpId) {
        let position = self.by_op.len() + 1;
        self.by_op.insert(op, position);
    }

    /// Notes that a chain comes out of a body that waits for another one.
    pub(super) fn push_lane(&mut self, went_in: ValueId, came_out: ValueId) {
        self.went_in.insert(came_out, went_in);
    }

    /// The position of what returns a value: zero for arguments.
    fn of_value(&self, module: &Module, value: ValueId) -> usize {
        match module.value_def(value) {
            ValueDef::Result { op, .. } => self.by_op.get(&op).copied().unwrap_or(0),
            ValueDef::Argument { .. } => 0,
        }
    }

    fn of_step(&self, module: &Module, step: &Step) -> usize {
        let tokens = step.tokens.iter();
        let latest = tokens.map(|token| self.of_value(module, *token)).max();
        latest.unwrap_or_else(|| self.by_op.get(&step.op).copied().unwrap_or(0))
    }

    /// The steps, latest first, that remain to be waited for when `known` are available, each of them not implied by the others.
    ///
    /// Looks at values between the earliest step and here only.
    pub(super) fn needed(
        &self,
        module: &Module,
        mut steps: Vec<Step>,
        known: &[ValueId],
    ) -> Vec<Step> {
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

/// The values that are known to be available, as far back as it matters.
struct Available<'a> {
    positions: &'a Positions,
    module: &'a Module,
    /// What stands before this position does not matter.
    floor: usize,
    values: HashSet<ValueId>,
}

impl Available<'_> {
    /// Adds values, and those that were available before them.
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
