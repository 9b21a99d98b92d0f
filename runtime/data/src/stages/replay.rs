//! Stages that deliver their elements again to come back to where they were.
//!
//! A buffer of numbers that are cheap to make takes more space in a checkpoint than the number of
//! delivered elements. A stage over an input that is cheap to draw from is restored by drawing and
//! dropping that many elements, or without drawing them, if the stage supports that.

use tfrt_host::ExecutionContext;
use tfrt_support::Error;

use crate::checkpoint::{StateReader, StateWriter};
use crate::result::Outcome;
use crate::token::{Machine, STEPS_PER_TASK, StepResult, go_on_later};

/// A machine whose state follows from how many outcomes it has delivered.
pub(crate) trait Replayable: Machine {
    /// Returns the number of delivered outcomes; those of cancelled requests do not count.
    fn num_delivered(&self) -> u64;

    /// Moves to the state after `goal` delivered outcomes. Returns the next step, or `None` when
    /// the state is reached.
    fn advance_to(&mut self, goal: u64, ctx: &ExecutionContext) -> Option<StepResult> {
        self.deliver_to_nobody(goal, ctx)
    }

    /// Draws and drops outcomes until `goal` of them are delivered.
    fn deliver_to_nobody(&mut self, goal: u64, ctx: &ExecutionContext) -> Option<StepResult> {
        for _ in 0..STEPS_PER_TASK {
            if self.num_delivered() >= goal {
                return None;
            }
            if let Some(cancelled) = ctx.request().cancel_value() {
                return Some(StepResult::Answer(Outcome::Error(cancelled.clone())));
            }
            match self.step(1, ctx) {
                // Only further ends follow the end.
                StepResult::Answer(Outcome::End(_)) => return None,
                StepResult::Answer(_) => {}
                wait => return Some(wait),
            }
        }
        Some(go_on_later(ctx))
    }

    /// Writes what has to be known before the first draw.
    fn save_start(&mut self, to: &mut StateWriter<'_>) {
        let _ = to;
    }

    /// Reads what has to be known before the first draw.
    fn restore_start(&mut self, from: &mut StateReader<'_>) -> Result<(), Error> {
        let _ = from;
        Ok(())
    }
}

/// A machine that is restored by replaying, if its input is cheap.
#[derive(Debug)]
pub(crate) struct Replaying<M> {
    machine: M,
    /// How many outcomes were delivered in the pass that is replayed.
    goal: u64,
    is_input_cheap: bool,
}

impl<M: Replayable> Replaying<M> {
    pub(crate) fn new(machine: M, is_input_cheap: bool) -> Self {
        Self {
            machine,
            goal: 0,
            is_input_cheap,
        }
    }
}

impl<M: Replayable> Machine for Replaying<M> {
    #[inline]
    fn step(&mut self, num_outstanding: usize, ctx: &ExecutionContext) -> StepResult {
        if self.goal > 0 {
            if let Some(step) = self.machine.advance_to(self.goal, ctx) {
                return step;
            }
            self.goal = 0;
        }
        self.machine.step(num_outstanding, ctx)
    }

    fn save(&mut self, to: &mut StateWriter<'_>) -> Result<(), Error> {
        let num_delivered = self.machine.num_delivered();
        let is_replayed = self.is_input_cheap || self.goal > num_delivered;
        to.bool(is_replayed);
        self.machine.save_start(to);
        if !is_replayed {
            return self.machine.save(to);
        }
        to.u64(self.goal.max(num_delivered));
        Ok(())
    }

    fn restore(&mut self, from: &mut StateReader<'_>) -> Result<(), Error> {
        let is_replayed = from.bool()?;
        self.machine.restore_start(from)?;
        if !is_replayed {
            return self.machine.restore(from);
        }
        self.goal = from.u64()?;
        Ok(())
    }
}
