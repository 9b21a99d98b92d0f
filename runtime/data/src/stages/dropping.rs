//! Results that a stage draws and drops.
//!
//! A result may be pending when it is dropped, and its producer keeps memory for it until it is
//! available. A stage that drops many results therefore waits for the oldest once [`MAX_PENDING`]
//! of them are pending.

use std::collections::VecDeque;

use tfrt_async::AnyRef;

use crate::result::{IterationResult, Outcome};
use crate::token::StepResult;

/// How many dropped results may be pending.
const MAX_PENDING: usize = 1024;

/// The dropped results that are pending, oldest first.
#[derive(Debug, Default)]
pub(super) struct Dropped {
    pending: VecDeque<AnyRef>,
}

impl Dropped {
    /// Returns the value to wait for before the next draw, if there is one.
    pub(super) fn awaited(&mut self) -> Option<AnyRef> {
        while self.pending.front().is_some_and(AnyRef::is_available) {
            self.pending.pop_front();
        }
        let is_full = self.pending.len() >= MAX_PENDING;
        self.pending.front().filter(|_| is_full).cloned()
    }

    /// Drops a result. Returns whether it is known to be the end.
    pub(super) fn add(&mut self, result: IterationResult) -> bool {
        match result.into_outcome() {
            Ok(Outcome::End(_)) => true,
            Ok(_) => false,
            Err(pending) => {
                self.pending.push_back(pending.into_any());
                false
            }
        }
    }
}

/// Returns the answer to the oldest request, whose result is the oldest that was drawn.
pub(super) fn answer_oldest(drawn: &mut VecDeque<IterationResult>) -> StepResult {
    let Some(oldest) = drawn.pop_front() else {
        return StepResult::Answer(Outcome::END);
    };
    match oldest.into_outcome() {
        Ok(outcome) => StepResult::Answer(outcome),
        Err(pending) => {
            let awaited = pending.as_any().clone();
            drawn.push_front(IterationResult::Pending(pending));
            StepResult::Wait(awaited)
        }
    }
}
