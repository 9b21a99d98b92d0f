//! All elements but the first ones.

use std::collections::VecDeque;

use tfrt_host::ExecutionContext;
use tfrt_support::Error;

use super::MAX_DRAWS_PAST_END;
use super::dropping::{Dropped, answer_oldest};
use crate::cardinality::Cardinality;
use crate::checkpoint::{StateReader, StateWriter};
use crate::dataset::{Dataset, Position, Stage};
use crate::description::StageDescription;
use crate::element_types::ElementTypes;
use crate::iterator::Draw;
use crate::result::{IterationResult, Outcome};
use crate::token::{Machine, Serial, StepResult};

#[derive(Debug)]
struct Skip {
    input: Dataset,
    count: u64,
}

impl Stage for Skip {
    fn name(&self) -> &'static str {
        "skip"
    }

    fn input_height(&self) -> u32 {
        self.input.height()
    }

    fn cardinality(&self) -> Cardinality {
        self.input
            .cardinality()
            .map(|len| len.saturating_sub(self.count))
    }

    fn element_types(&self) -> ElementTypes {
        self.input.element_types()
    }

    fn describe(&self, to: &mut StageDescription<'_>) {
        to.attribute("count", self.count);
        to.input(&self.input);
    }

    fn is_cheap_to_redraw(&self) -> bool {
        self.input.is_cheap_to_redraw()
    }

    fn is_seekable(&self) -> bool {
        self.input.is_seekable()
    }

    fn make_iterator(&self, position: Position) -> Box<dyn Draw> {
        Box::new(Serial::new(SkipMachine {
            input: self.input.iterator_below(position),
            count: self.count,
            num_left: self.count,
            dropped: Dropped::default(),
            drawn: VecDeque::new(),
        }))
    }
}

#[derive(Debug)]
struct SkipMachine {
    input: Box<dyn Draw>,
    count: u64,
    /// How many results are still to be dropped.
    num_left: u64,
    dropped: Dropped,
    /// Results for outstanding requests, oldest first.
    drawn: VecDeque<IterationResult>,
}

impl Machine for SkipMachine {
    fn step(&mut self, num_outstanding: usize, ctx: &ExecutionContext) -> StepResult {
        while self.num_left > 0 {
            if let Some(cancelled) = ctx.request().cancel_value() {
                return StepResult::Answer(Outcome::Error(cancelled.clone()));
            }
            if let Some(awaited) = self.dropped.awaited() {
                return StepResult::Wait(awaited);
            }
            self.num_left -= 1;
            let result = self.input.draw(ctx);
            if self.dropped.add(result) {
                self.num_left = self.num_left.min(MAX_DRAWS_PAST_END);
            }
        }
        while self.drawn.len() < num_outstanding {
            let result = self.input.draw(ctx);
            if self.drawn.is_empty() && num_outstanding == 1 {
                // The usual case: nothing is kept.
                match result.into_outcome() {
                    Ok(outcome) => return StepResult::Answer(outcome),
                    Err(pending) => self.drawn.push_back(IterationResult::Pending(pending)),
                }
            } else {
                self.drawn.push_back(result);
            }
        }
        answer_oldest(&mut self.drawn)
    }

    fn save(&mut self, to: &mut StateWriter<'_>) -> Result<(), Error> {
        to.u64(self.num_left);
        to.results(self.drawn.iter())?;
        to.input(&mut *self.input)
    }

    fn restore(&mut self, from: &mut StateReader<'_>) -> Result<(), Error> {
        self.num_left = from.u64()?.min(self.num_left);
        self.drawn = from.results()?;
        from.input(&mut *self.input)
    }

    fn seek(&mut self, num_before: u64) -> Result<(), Error> {
        self.num_left = 0;
        self.drawn.clear();
        self.input.seek(self.count.saturating_add(num_before))
    }
}

impl Dataset {
    /// Returns the elements after the first `count`; all elements if the count is not positive. The
    /// first draw draws and drops the others.
    ///
    /// # Errors
    /// If datasets are nested too deep.
    pub fn skip(&self, count: i64) -> Result<Self, Error> {
        Self::new(Skip {
            input: self.clone(),
            count: u64::try_from(count).unwrap_or(0),
        })
    }
}
