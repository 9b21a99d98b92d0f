//! Elements in random order, within a window.
//!
//! A ring holds elements; the one to deliver is chosen at random from all of them, and the first
//! one takes its place:
//!
//! ```text
//!  capacity 6      start s ─┐     ┌─ n = 4 elements
//!                 │   │ a │ b │ c │ d │   │        i = (random mod n + s) mod capacity, say that of c
//!                 │   │   │ b │ a │ d │   │        hands out c; a takes its place; s := s + 1, n := n - 1
//! ```
//!
//! A checkpoint over an input that is cheap to draw from has the number of delivered elements. The
//! random numbers alone determine which elements the ring then holds: only these are drawn from an
//! input that can seek.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use tfrt_async::AnyRef;
use tfrt_host::ExecutionContext;
use tfrt_support::Error;

use super::replay::{Replayable, Replaying};
use crate::cardinality::Cardinality;
use crate::checkpoint::{StateReader, StateWriter, damaged};
use crate::dataset::{Dataset, Position, Stage, positive_size, require_positive};
use crate::description::StageDescription;
use crate::element_types::ElementTypes;
use crate::iterator::Draw;
use crate::numbers::size_bytes_of;
use crate::observation::{HeldBytes, bytes_of_outcome};
use crate::philox::Philox;
use crate::result::{IterationResult, Outcome};
use crate::token::{Machine, Serial, StepResult, go_on_later};

/// The number of steps before other tasks get their turn.
const MOVES_PER_TASK: u64 = 1 << 16;

#[derive(Debug)]
struct Shuffle {
    input: Dataset,
    capacity: usize,
    /// The limit for the bytes of held elements, if there is one.
    max_bytes: Option<u64>,
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

    fn element_types(&self) -> ElementTypes {
        self.input.element_types()
    }

    fn describe(&self, to: &mut StageDescription<'_>) {
        to.attribute("buffer_size", self.capacity);
        if let Some(max_bytes) = self.max_bytes {
            to.attribute("buffer_bytes", max_bytes);
        }
        to.attribute("seed", self.seeds.0);
        to.attribute("seed2", self.seeds.1);
        to.attribute("reshuffle_each_iteration", self.num_passes.is_some());
        to.input(&self.input);
    }

    fn is_cheap_to_redraw(&self) -> bool {
        // Which pass it is, a new iterator does not know.
        self.num_passes.is_none() && self.input.is_cheap_to_redraw()
    }

    fn share_files(&self, num_workers: u64, index: u64) -> Option<Result<Dataset, Error>> {
        let share = |input| Self {
            input,
            capacity: self.capacity,
            max_bytes: self.max_bytes,
            seeds: self.seeds,
            num_passes: self.num_passes.as_ref().map(|_| Arc::default()),
        };
        self.input.share_files_of(num_workers, index, share)
    }

    fn make_iterator(&self, position: Position) -> Box<dyn Draw> {
        let pass = self.num_passes.as_ref().map_or(0, |num_passes| {
            // Orders nothing: relaxed.
            num_passes.fetch_add(1, Ordering::Relaxed)
        });
        let machine = ShuffleMachine {
            input: self.input.iterator_below(position),
            ring: Ring::new(self.capacity),
            max_bytes: self.max_bytes,
            num_bytes: 0,
            // The sizes of elements determine the number in the ring, so they have to be drawn.
            can_seek: position.keeps_order()
                && self.max_bytes.is_none()
                && self.input.is_seekable(),
            returning: None,
            num_inputs: match self.input.cardinality() {
                Cardinality::Finite(len) => len,
                _ => u64::MAX,
            },
            seeds: self.seeds,
            pass,
            num_passes: self.num_passes.clone(),
            numbers: Philox::new(self.seeds.0, self.seeds.1.wrapping_add(pass)),
            num_emitted: 0,
            drawn: None,
            has_ended: false,
            held: HeldBytes::of(self.name(), position),
        };
        let is_input_cheap = position.keeps_order() && self.input.is_cheap_to_redraw();
        Box::new(Serial::new(Replaying::new(machine, is_input_cheap)))
    }
}

#[derive(Debug)]
struct ShuffleMachine {
    input: Box<dyn Draw>,
    ring: Ring<Outcome>,
    max_bytes: Option<u64>,
    /// The size of the elements in the ring, if it is limited.
    num_bytes: u64,
    /// Whether the input can seek; and its number of elements.
    can_seek: bool,
    num_inputs: u64,
    /// The remaining work of a restore.
    returning: Option<Returning>,
    seeds: (i64, i64),
    /// The number of this pass, if each has an order of its own.
    pass: i64,
    num_passes: Option<Arc<AtomicI64>>,
    numbers: Philox,
    /// How many elements were handed out: for each, one number was used.
    num_emitted: u64,
    /// What was drawn, and is not known yet.
    drawn: Option<IterationResult>,
    has_ended: bool,
    held: HeldBytes,
}

impl Machine for ShuffleMachine {
    fn step(&mut self, _num_outstanding: usize, ctx: &ExecutionContext) -> StepResult {
        while !self.has_ended && !self.is_full() {
            if let Some(cancelled) = ctx.request().cancel_value() {
                return StepResult::Answer(Outcome::Error(cancelled.clone()));
            }
            match self.draw(ctx) {
                Ok(Outcome::End(_)) => self.has_ended = true,
                Ok(outcome) => self.store(outcome),
                Err(awaited) => return StepResult::Wait(awaited),
            }
        }
        self.held
            .tell(|| self.ring.iter().map(bytes_of_outcome).sum());
        StepResult::Answer(self.emit())
    }

    fn save(&mut self, to: &mut StateWriter<'_>) -> Result<(), Error> {
        to.u64(self.num_emitted);
        to.bool(self.has_ended);
        to.results(self.drawn.iter())?;
        // From the start of the ring, so that where that is does not matter.
        to.outcomes(self.ring.iter())?;
        to.input(&mut *self.input)
    }

    fn restore(&mut self, from: &mut StateReader<'_>) -> Result<(), Error> {
        self.num_emitted = from.u64()?;
        self.has_ended = from.bool()?;
        self.drawn = from.results()?.pop_front();
        for outcome in from.outcomes()? {
            if self.ring.is_full() {
                return Err(damaged(
                    "the shuffle buffer holds more elements than its size",
                ));
            }
            self.store(outcome);
        }
        self.numbers.skip(self.num_emitted);
        from.input(&mut *self.input)
    }
}

impl Replayable for ShuffleMachine {
    fn num_delivered(&self) -> u64 {
        self.num_emitted
    }

    fn advance_to(&mut self, goal: u64, ctx: &ExecutionContext) -> Option<StepResult> {
        // A user's stage may claim to be seekable without implementing `seek`.
        self.can_seek &= self.returning.is_some() || self.input.seek(0).is_ok();
        if !self.can_seek {
            return self.deliver_to_nobody(goal, ctx);
        }
        if let Some(cancelled) = ctx.request().cancel_value() {
            return Some(StepResult::Answer(Outcome::Error(cancelled.clone())));
        }
        let mut returning = self.returning.take().unwrap_or_else(|| {
            let ring = Ring::new(self.ring.capacity);
            Returning::Shuffling(ring, 0)
        });
        let step = self.go_back(&mut returning, goal, ctx);
        if step.is_some() {
            self.returning = Some(returning);
        }
        step
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
            // Later passes continue from there, unless other iterators of this dataset are ahead:
            // orders must not repeat.
            num_passes.fetch_max(from.i64()?, Ordering::Relaxed);
        }
        Ok(())
    }
}

/// The steps of a restore that does not draw the delivered elements again.
#[derive(Debug)]
enum Returning {
    /// The numbers of the elements are being shuffled; this many were put into the ring.
    Shuffling(Ring<u64>, u64),
    /// The elements with these numbers are being drawn. Then the input continues at this number.
    Drawing(VecDeque<u64>, u64),
}

impl ShuffleMachine {
    fn is_full(&self) -> bool {
        self.ring.is_full()
            || (self.ring.num_filled > 0 && self.max_bytes.is_some_and(|max| self.num_bytes >= max))
    }

    /// Returns the next outcome, or the value to wait for before the next call. Sizes are those of
    /// available values.
    fn draw(&mut self, ctx: &ExecutionContext) -> Result<Outcome, AnyRef> {
        let drawn = self.drawn.take();
        match drawn.unwrap_or_else(|| self.input.draw(ctx)).into_outcome() {
            Ok(Outcome::Element(values)) if self.max_bytes.is_some() => {
                match values.iter().find(|value| !value.is_available()).cloned() {
                    Some(awaited) => {
                        self.drawn = Some(Outcome::Element(values).into());
                        Err(awaited)
                    }
                    None => Ok(Outcome::Element(values)),
                }
            }
            Ok(outcome) => Ok(outcome),
            Err(pending) => {
                let awaited = pending.as_any().clone();
                self.drawn = Some(IterationResult::Pending(pending));
                Err(awaited)
            }
        }
    }

    fn store(&mut self, outcome: Outcome) {
        self.num_bytes += self.size_bytes(&outcome);
        self.ring.push(outcome);
    }

    fn size_bytes(&self, outcome: &Outcome) -> u64 {
        match outcome {
            Outcome::Element(values) if self.max_bytes.is_some() => size_bytes_of(values),
            _ => 0,
        }
    }

    fn emit(&mut self) -> Outcome {
        match self.ring.take(&mut self.numbers) {
            Some(outcome) => {
                self.num_emitted = self.num_emitted.wrapping_add(1);
                self.num_bytes -= self.size_bytes(&outcome);
                outcome
            }
            None => Outcome::END,
        }
    }

    /// Returns the next step, or `None` when the shuffle is in the state after `goal` elements.
    fn go_back(
        &mut self,
        returning: &mut Returning,
        goal: u64,
        ctx: &ExecutionContext,
    ) -> Option<StepResult> {
        if let Returning::Shuffling(ring, num_drawn) = returning {
            let stop = goal.min(self.num_emitted.saturating_add(MOVES_PER_TASK));
            while self.num_emitted < stop {
                while !ring.is_full() && *num_drawn < self.num_inputs {
                    ring.push(*num_drawn);
                    *num_drawn += 1;
                }
                if ring.take(&mut self.numbers).is_none() {
                    // There are fewer elements: it is the end.
                    self.num_emitted = goal;
                    break;
                }
                self.num_emitted = self.num_emitted.wrapping_add(1);
            }
            if self.num_emitted < goal {
                return Some(go_on_later(ctx));
            }
            let numbers = ring.iter().copied().collect();
            *returning = Returning::Drawing(numbers, *num_drawn);
        }
        if let Returning::Drawing(numbers, next) = returning {
            while let Some(&number) = numbers.front() {
                if self.drawn.is_none()
                    && let Err(error) = self.input.seek(number)
                {
                    return Some(StepResult::Answer(Outcome::error(ctx.emit_error(error))));
                }
                match self.draw(ctx) {
                    Ok(outcome) => self.store(outcome),
                    Err(awaited) => return Some(StepResult::Wait(awaited)),
                }
                numbers.pop_front();
            }
            if let Err(error) = self.input.seek(*next) {
                return Some(StepResult::Answer(Outcome::error(ctx.emit_error(error))));
            }
        }
        None
    }
}

/// The ring of the diagram above. It grows to its capacity before a slot is used again.
#[derive(Debug)]
struct Ring<T> {
    capacity: usize,
    /// The slots that were used so far.
    slots: Vec<Option<T>>,
    start: usize,
    num_filled: usize,
}

impl<T> Ring<T> {
    fn new(capacity: usize) -> Self {
        Self {
            capacity,
            slots: Vec::new(),
            start: 0,
            num_filled: 0,
        }
    }

    fn is_full(&self) -> bool {
        self.num_filled >= self.capacity
    }

    /// Adds an element to a ring that is not full.
    fn push(&mut self, element: T) {
        let slot = (self.start + self.num_filled) % self.capacity;
        match self.slots.get_mut(slot) {
            Some(place) => *place = Some(element),
            None => self.slots.push(Some(element)),
        }
        self.num_filled += 1;
    }

    /// Takes the element that the next random number selects, if there is one.
    fn take(&mut self, numbers: &mut Philox) -> Option<T> {
        if self.num_filled == 0 {
            return None;
        }
        let number = numbers.next_u32() as usize;
        let chosen = (number % self.num_filled + self.start) % self.capacity;
        self.slots.swap(chosen, self.start);
        let element = self.slots[self.start].take();
        self.start = (self.start + 1) % self.capacity;
        self.num_filled -= 1;
        element
    }

    /// Returns the elements from the start of the ring, independently of its place.
    fn iter(&self) -> impl ExactSizeIterator<Item = &T> {
        (0..self.num_filled).map(|index| {
            let slot = (self.start + index) % self.capacity;
            self.slots[slot].as_ref().expect("a slot that is filled")
        })
    }
}

impl Dataset {
    /// Returns the same elements in random order: each is chosen from the next `buffer_size`
    /// elements. Equal seeds produce equal orders, for every iterator and every pass; see
    /// [`shuffle_with`](Self::shuffle_with) for a different order in each pass.
    ///
    /// # Errors
    /// If the size is not positive, or datasets are nested too deep.
    pub fn shuffle(&self, buffer_size: i64, seed: i64, seed2: i64) -> Result<Self, Error> {
        self.shuffle_with(buffer_size, seed, seed2, false)
    }

    /// Shuffles as [`shuffle`](Self::shuffle) does. With `reshuffles`, each new iterator has
    /// another order, and so has each pass of a repeat: the second seed grows by one with each.
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
        self.shuffle_within(buffer_size, None, seed, seed2, reshuffles)
    }

    /// Shuffles as [`shuffle_with`](Self::shuffle_with) does, with a buffer that is also limited in
    /// bytes: once its elements take `buffer_bytes`, no more are drawn. The size of an element is
    /// that of its tensors and strings, and 32 bytes for each value.
    ///
    /// # Errors
    /// If a size is not positive, or datasets are nested too deep.
    pub fn shuffle_within(
        &self,
        buffer_size: i64,
        buffer_bytes: Option<i64>,
        seed: i64,
        seed2: i64,
        reshuffles: bool,
    ) -> Result<Self, Error> {
        let max_bytes = buffer_bytes
            .map(|num_bytes| require_positive("buffer_bytes", num_bytes))
            .transpose()?;
        Self::new(Shuffle {
            input: self.clone(),
            capacity: positive_size("buffer_size", buffer_size)?,
            max_bytes: max_bytes.map(i64::unsigned_abs),
            seeds: (seed, seed2),
            num_passes: reshuffles.then(Arc::default),
        })
    }
}
