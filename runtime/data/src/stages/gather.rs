//! Batches that are assembled once all of their elements are available.

use std::collections::VecDeque;
use std::fmt;

use tfrt_async::AnyRef;
use tfrt_host::ExecutionContext;
use tfrt_support::Error;

use crate::checkpoint::{StateReader, StateWriter};
use crate::iterator::Draw;
use crate::result::{IterationResult, Outcome};
use crate::token::{Machine, Serial, StepResult};

/// Assembles a batch from its elements.
pub(super) trait Assemble: fmt::Debug + Send + Sync + 'static {
    /// Returns the batch of these elements and failed draws. There is at least one, and all values
    /// are available.
    fn assemble(&self, rows: &[Outcome], ctx: &ExecutionContext) -> Outcome;
}

/// The largest number of elements that are drawn ahead for batches after the next one.
const MAX_AHEAD: usize = 1 << 16;

#[derive(Debug)]
pub(super) struct Gather<A> {
    input: Box<dyn Draw>,
    batch_size: usize,
    drops_remainder: bool,
    batch: A,
    /// The drawn results of the next batches, oldest first.
    drawn: VecDeque<IterationResult>,
    has_ended: bool,
}

impl<A: Assemble> Machine for Gather<A> {
    fn step(&mut self, num_outstanding: usize, ctx: &ExecutionContext) -> StepResult {
        let batch_size = self.batch_size;
        // Draws the elements of all requested batches, so that their values are made concurrently.
        let num_wanted = batch_size.saturating_mul(num_outstanding.max(1));
        let num_wanted = num_wanted.min(batch_size.max(MAX_AHEAD));
        while !self.has_ended && self.drawn.len() < num_wanted {
            if let Some(cancelled) = ctx.request().cancel_value() {
                return StepResult::Answer(Outcome::Error(cancelled.clone()));
            }
            match self.input.draw(ctx) {
                IterationResult::Known(Outcome::End(_)) => self.has_ended = true,
                result => self.drawn.push_back(result),
            }
        }
        if let Some(awaited) = self.await_drawn() {
            return StepResult::Wait(awaited);
        }
        let is_whole = self.drawn.len() >= batch_size;
        if self.drawn.is_empty() || (self.drops_remainder && !is_whole) {
            self.drawn.clear();
            return StepResult::Answer(Outcome::END);
        }
        let num_rows = self.drawn.len().min(batch_size);
        let rows = self.drawn.drain(..num_rows);
        let rows: Vec<Outcome> = rows.filter_map(|row| row.into_outcome().ok()).collect();
        StepResult::Answer(self.batch.assemble(&rows, ctx))
    }

    fn save(&mut self, to: &mut StateWriter<'_>) -> Result<(), Error> {
        to.bool(self.has_ended);
        to.results(self.drawn.iter())?;
        to.input(&mut *self.input)
    }

    fn restore(&mut self, from: &mut StateReader<'_>) -> Result<(), Error> {
        self.has_ended = from.bool()?;
        self.drawn = from.results()?;
        from.input(&mut *self.input)
    }
}

impl<A: Assemble> Gather<A> {
    /// Creates an iterator over batches.
    pub(super) fn iterator(
        input: Box<dyn Draw>,
        batch_size: usize,
        drops_remainder: bool,
        batch: A,
    ) -> Box<dyn Draw> {
        Box::new(Serial::new(Self {
            input,
            batch_size,
            drops_remainder,
            batch,
            drawn: VecDeque::new(),
            has_ended: false,
        }))
    }

    /// Returns the value to wait for before the batch can be assembled. Drops the results after an
    /// end.
    fn await_drawn(&mut self) -> Option<AnyRef> {
        for index in 0..self.drawn.len().min(self.batch_size) {
            if let Some(awaited) = self.drawn[index].settle() {
                return Some(awaited);
            }
            match &self.drawn[index] {
                IterationResult::Known(Outcome::End(_)) => {
                    self.drawn.truncate(index);
                    self.has_ended = true;
                    return None;
                }
                IterationResult::Known(Outcome::Element(values)) => {
                    if let Some(awaited) = values.iter().find(|value| !value.is_available()) {
                        return Some(awaited.clone());
                    }
                }
                _ => {}
            }
        }
        None
    }
}
