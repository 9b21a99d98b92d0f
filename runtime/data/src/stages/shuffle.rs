//! Elements in random order, within a window.
//!
//! A ring holds elements; the one to hand out is drawn from all of them, and the first one takes its place:
//!
//! ```text
//!  capacity 6      start s ─┐     ┌─ n = 4 elements
//!                 │   │ a │ b │ c │ d │   │        i = (random mod n + s) mod capacity, say that of c
//!                 │   │   │ b │ a │ d │   │        hands out c; a takes its place; s := s + 1, n := n - 1
//! ```

use std::sync::atomic::{AtomicI64, Ordering};

use tfrt_host::ExecutionContext;
use tfrt_support::Error;

use crate::cardinality::Cardinality;
use crate::dataset::{Dataset, Position, Stage, require_positive};
use crate::iterator::Draw;
use crate::philox::Philox;
use crate::result::{IterationResult, Outcome};
use crate::token::{Machine, Serial, Step};

#[derive(Debug)]
struct Shuffle {
    input: Dataset,
    capacity: usize,
    seeds: (i64, i64),
    /// How many passes were begun, if each has an order of its own.
    num_passes: Option<AtomicI64>,
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

    fn make_iterator(&self, position: Position) -> Box<dyn Draw> {
        let pass = self.num_passes.as_ref().map_or(0, |num_passes| {
            // Orders nothing: relaxed.
            num_passes.fetch_add(1, Ordering::Relaxed)
        });
        Box::new(Serial::new(ShuffleMachine {
            input: self.input.iterator_below(position),
            capacity: self.capacity,
            numbers: Philox::new(self.seeds.0, self.seeds.1.wrapping_add(pass)),
            slots: Vec::new(),
            start: 0,
            num_filled: 0,
            drawn: None,
            has_ended: false,
        }))
    }
}

#[derive(Debug)]
struct ShuffleMachine {
    input: Box<dyn Draw>,
    capacity: usize,
    numbers: Philox,
    /// The ring, as far as it was ever filled. It grows to the capacity before a slot is used again.
    slots: Vec<Outcome>,
    start: usize,
    num_filled: usize,
    /// What was drawn, and is not known yet.
    drawn: Option<IterationResult>,
    has_ended: bool,
}

impl Machine for ShuffleMachine {
    fn step(&mut self, _num_outstanding: usize, ctx: &ExecutionContext) -> Step {
        while !self.has_ended && self.num_filled < self.capacity {
            if let Some(cancelled) = ctx.request().cancel_value() {
                return Step::Answer(Outcome::Error(cancelled.clone()));
            }
            let drawn = self.drawn.take();
            match drawn.unwrap_or_else(|| self.input.draw(ctx)).into_outcome() {
                Ok(Outcome::End(_)) => self.has_ended = true,
                Ok(outcome) => self.store(outcome),
                Err(pending) => {
                    let awaited = pending.as_any().clone();
                    self.drawn = Some(IterationResult::Pending(pending));
                    return Step::Wait(awaited);
                }
            }
        }
        Step::Answer(self.emit())
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
        outcome
    }
}

impl Dataset {
    /// The same elements in random order: each is drawn from the next `buffer_size` ones. Equal seeds give equal orders, for every
    /// iterator and every pass.
    ///
    /// # Errors
    /// If the size is not positive, or datasets are nested too deep.
    pub fn shuffle(&self, buffer_size: i64, seed: i64, seed2: i64) -> Result<Self, Error> {
        self.shuffle_with(buffer_size, seed, seed2, false)
    }

    /// As [`shuffle`](Self::shuffle). If `reshuffles`, each iterator that is made has another order, so that the passes of a repeat do:
    /// the second seed grows by one with each.
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
            num_passes: reshuffles.then(AtomicI64::default),
        })
    }
}
