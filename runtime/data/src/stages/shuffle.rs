//! Elements in random order, within a window.
//!
//! A ring holds elements; the one to hand out is drawn from all of them, and the first one takes
//! its place:
//!
//! ```text
//!  capacity 6      start s ─┐     ┌─ n = 4 elements
//!                 │   │ a │ b │ c │ d │   │        i = (random mod n + s) mod capacity, say that of c
//!                 │   │   │ b │ a │ d │   │        hands out c; a takes its place; s := s + 1, n := n - 1
//! ```

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use tfrt_host::ExecutionContext;
use tfrt_support::Error;

use super::replay::{Replayable, Replaying};
use crate::cardinality::Cardinality;
use crate::checkpoint::{StateReader, StateWriter, damaged};
use crate::dataset::{Dataset, Position, Stage, require_positive};
use crate::description::StageDescription;
use crate::iterator::Draw;
use crate::philox::Philox;
use crate::result::{IterationResult, Outcome};
use crate::token::{Machine, Serial, StepResult};

#[derive(Debug)]
struct Shuffle {
    input: Dataset,
    capacity: usize,
    seeds: (i64, i64),
    /// How many passes were begun, if each has an order of its own.
    num_passes: Option<Arc<AtomicI64>>,
}

impl Stage for Shuffle {
    fn name(&self) -> &'static str {
        "shuffle"
    }

    fn input_height(&self) -> u32 {
        self.input.height()
    }

    fn cardinality(&self) -> Cardinality {
        self.input.cardinality()
    }

    fn describe(&self, to: &mut StageDescription<'_>) {
        to.attribute("buffer_size", self.capacity);
        to.attribute("seed", self.seeds.0);
        to.attribute("seed2", self.seeds.1);
        to.attribute("reshuffle_each_iteration", self.num_passes.is_some());
        to.input(&self.input);
    }

    fn is_cheap_to_redraw(&self) -> bool {
        // Which pass it is, a new iterator does not know.
        self.num_passes.is_none() && self.input.is_cheap_to_redraw()
    }

    fn make_iterator(&self, position: Position) -> Box<dyn Draw> {
        let pass = self.num_passes.as_ref().map_or(0, |num_passes| {
            // Orders nothing: relaxed.
            num_passes.fetch_add(1, Ordering::Relaxed)
        });
        let machine = ShuffleMachine {
            input: self.input.iterator_below(position),
            capacity: self.capacity,
            seeds: self.seeds,
            pass,
            num_passes: self.num_passes.clone(),
            numbers: Philox::new(self.seeds.0, self.seeds.1.wrapping_add(pass)),
            num_emitted: 0,
            slots: Vec::new(),
            start: 0,
            num_filled: 0,
            drawn: None,
            has_ended: false,
        };
        let is_input_cheap = self.input.is_cheap_to_redraw();
        Box::new(Serial::new(Replaying::new(machine, is_input_cheap)))
    }
}

#[derive(Debug)]
struct ShuffleMachine {
    input: Box<dyn Draw>,
    capacity: usize,
    seeds: (i64, i64),
    /// The number of this pass, if each has an order of its own.
    pass: i64,
    num_passes: Option<Arc<AtomicI64>>,
    numbers: Philox,
    /// How many elements were handed out: for each, one number was used.
    num_emitted: u64,
    /// The ring, as far as it was ever filled. It grows to the capacity before a slot is used
    /// again.
    slots: Vec<Outcome>,
    start: usize,
    num_filled: usize,
    /// What was drawn, and is not known yet.
    drawn: Option<IterationResult>,
    has_ended: bool,
}

impl Machine for ShuffleMachine {
    fn step(&mut self, _num_outstanding: usize, ctx: &ExecutionContext) -> StepResult {
        while !self.has_ended && self.num_filled < self.capacity {
            if let Some(cancelled) = ctx.request().cancel_value() {
                return StepResult::Answer(Outcome::Error(cancelled.clone()));
            }
            let drawn = self.drawn.take();
            match drawn.unwrap_or_else(|| self.input.draw(ctx)).into_outcome() {
                Ok(Outcome::End(_)) => self.has_ended = true,
                Ok(outcome) => self.store(outcome),
                Err(pending) => {
                    let awaited = pending.as_any().clone();
                    self.drawn = Some(IterationResult::Pending(pending));
                    return StepResult::Wait(awaited);
                }
            }
        }
        StepResult::Answer(self.emit())
    }

    fn save(&mut self, to: &mut StateWriter<'_>) -> Result<(), Error> {
        to.u64(self.num_emitted);
        to.bool(self.has_ended);
        to.results(self.drawn.iter())?;
        // From the start of the ring, so that where that is does not matter.
        to.count(self.num_filled);
        for index in 0..self.num_filled {
            to.outcome(&self.slots[(self.start + index) % self.capacity])?;
        }
        to.input(&mut *self.input)
    }

    fn restore(&mut self, from: &mut StateReader<'_>) -> Result<(), Error> {
        self.num_emitted = from.u64()?;
        self.has_ended = from.bool()?;
        self.drawn = from.results()?.pop_front();
        self.slots = from.outcomes()?;
        self.num_filled = self.slots.len();
        if self.num_filled > self.capacity {
            return Err(damaged("a shuffle holds more elements than its size"));
        }
        self.numbers.skip(self.num_emitted);
        from.input(&mut *self.input)
    }
}

impl Replayable for ShuffleMachine {
    fn num_delivered(&self) -> u64 {
        self.num_emitted
    }

    fn save_start(&mut self, to: &mut StateWriter<'_>) {
        if let Some(num_passes) = &self.num_passes {
            to.i64(self.pass);
            to.i64(num_passes.load(Ordering::Relaxed));
        }
    }

    fn restore_start(&mut self, from: &mut StateReader<'_>) -> Result<(), Error> {
        if let Some(num_passes) = &self.num_passes {
            self.pass = from.i64()?;
            self.numbers = Philox::new(self.seeds.0, self.seeds.1.wrapping_add(self.pass));
            // The passes that follow go on from there, unless other iterators of this dataset are
            // ahead: orders must not repeat.
            num_passes.fetch_max(from.i64()?, Ordering::Relaxed);
        }
        Ok(())
    }
}

impl ShuffleMachine {
    fn store(&mut self, outcome: Outcome) {
        let slot = (self.start + self.num_filled) % self.capacity;
        match self.slots.get_mut(slot) {
            Some(place) => *place = outcome,
            None => self.slots.push(outcome),
        }
        self.num_filled += 1;
    }

    fn emit(&mut self) -> Outcome {
        if self.num_filled == 0 {
            return Outcome::END;
        }
        let number = self.numbers.next_u32() as usize;
        let chosen = (number % self.num_filled + self.start) % self.capacity;
        self.slots.swap(chosen, self.start);
        let outcome = std::mem::replace(&mut self.slots[self.start], Outcome::END);
        self.start = (self.start + 1) % self.capacity;
        self.num_filled -= 1;
        self.num_emitted += 1;
        outcome
    }
}

impl Dataset {
    /// The same elements in random order: each is drawn from the next `buffer_size` ones. Equal
    /// seeds give equal orders, for every iterator and every pass; see
    /// [`shuffle_with`](Self::shuffle_with) for passes with orders of their own.
    ///
    /// # Errors
    /// If the size is not positive, or datasets are nested too deep.
    pub fn shuffle(&self, buffer_size: i64, seed: i64, seed2: i64) -> Result<Self, Error> {
        self.shuffle_with(buffer_size, seed, seed2, false)
    }

    /// As [`shuffle`](Self::shuffle). If `reshuffles`, each iterator that is made has another
    /// order, so that the passes of a repeat do: the second seed grows by one with each.
    ///
    /// # Errors
    /// If the size is not positive, or datasets are nested too deep.
    pub fn shuffle_with(
        &self,
        buffer_size: i64,
        seed: i64,
        seed2: i64,
        reshuffles: bool,
    ) -> Result<Self, Error> {
        Self::new(Shuffle {
            input: self.clone(),
            capacity: require_positive("buffer_size", buffer_size)?,
            seeds: (seed, seed2),
            num_passes: reshuffles.then(Arc::default),
        })
    }
}
