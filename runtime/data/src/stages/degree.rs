//! How many elements a stage holds at a time, and the memory that they take.
//!
//! A stage asks before it draws: [`Degree::now`] is the number of elements, and
//! [`Degree::may_begin`] says whether there is memory for one more. It tells what it draws and
//! hands out, from which a tuned number learns. A fixed number ignores the memory: it was chosen.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use tfrt_async::AnyRef;
use tfrt_host::ExecutionContext;

use crate::checked_work_ahead::CheckedWorkAhead;
use crate::dataset::Position;
use crate::numbers::size_bytes_of;
use crate::observation::Decisions;
use crate::options::{CpuBudget, RamBudget, TakenCalls};
use crate::result::{IterationResult, Outcome};
use crate::tuner::{LearnedNumber, Tuner, Turns, is_tuning_off};

/// How many elements to hold at a time.
#[derive(Debug)]
pub(super) struct Degree {
    number: Number,
    /// Whether the elements are calls, which take threads.
    is_of_calls: bool,
    decisions: Decisions,
}

#[derive(Debug)]
enum Number {
    /// To be found with the first draw, which knows the number of threads.
    Unknown(CheckedWorkAhead, LearnedNumber),
    Fixed(usize),
    Tuned {
        tuner: Box<Tuner>,
        held: HeldMemory,
        /// What the stage has taken of the host's budget of calls, if it makes some and there is
        /// one.
        calls: Option<TakenCalls>,
    },
}

impl Degree {
    /// Creates the degree of a stage whose iterator stands at `position`. A tuned one goes on with
    /// what other iterators of the stage have `learned`.
    pub(super) fn new(
        work_ahead: CheckedWorkAhead,
        learned: &LearnedNumber,
        stage: &'static str,
        at: Position,
    ) -> Self {
        Self {
            number: Number::Unknown(work_ahead, learned.clone()),
            is_of_calls: false,
            decisions: Decisions::of(stage, at),
        }
    }

    /// Says that the elements are calls, of which a tuned stage has at most as many as the host
    /// allows.
    pub(super) fn of_calls(mut self) -> Self {
        self.is_of_calls = true;
        self
    }

    /// Returns the number of elements to hold, given the number that are held.
    #[inline]
    pub(super) fn now(&mut self, num_held: usize, ctx: &ExecutionContext) -> usize {
        match &mut self.number {
            Number::Fixed(degree) => *degree,
            Number::Tuned { tuner, calls, .. } => match calls {
                Some(calls) => calls.take(tuner.degree()),
                None => tuner.degree(),
            },
            Number::Unknown(work_ahead, learned) => {
                let (work_ahead, learned) = (*work_ahead, learned.clone());
                self.start(work_ahead, &learned, num_held, ctx)
            }
        }
    }

    #[cold]
    fn start(
        &mut self,
        of: CheckedWorkAhead,
        learned: &LearnedNumber,
        num_held: usize,
        ctx: &ExecutionContext,
    ) -> usize {
        let threads = || ctx.queue().parallelism_level().max(1);
        let max = of.max.unwrap_or_else(threads);
        let (number, degree) = match of.is_tuned && max > 0 && !is_tuning_off() {
            false => (Number::Fixed(max), max),
            true => {
                let turns = ctx.host().shared_context(Turns::new);
                let tuner = Box::new(Tuner::new(max, turns, learned));
                let held = HeldMemory::new(RamBudget::of(ctx.host()), num_held);
                let budget = self.is_of_calls.then(|| CpuBudget::of(ctx.host()));
                let mut calls = budget.flatten().map(TakenCalls::none_of);
                let degree = match &mut calls {
                    Some(calls) => calls.take(tuner.degree()),
                    None => tuner.degree(),
                };
                (Number::Tuned { tuner, held, calls }, degree)
            }
        };
        self.number = number;
        self.decisions.tell(degree);
        degree
    }

    /// Returns `true` if the number is found by experiment.
    #[inline]
    pub(super) fn is_tuned(&self) -> bool {
        matches!(self.number, Number::Tuned { .. })
    }

    /// Returns `true` if there is memory for one more element.
    #[inline]
    pub(super) fn may_begin(&self) -> bool {
        match &self.number {
            Number::Tuned { held, .. } => held.may_begin(),
            Number::Fixed(_) | Number::Unknown(..) => true,
        }
    }

    /// Counts a drawn result, which the stage makes another one of.
    #[inline]
    pub(super) fn begin(&mut self, drawn: &IterationResult) {
        if let Number::Tuned { held, .. } = &mut self.number {
            held.begin(drawn);
        }
    }

    /// Counts a drawn result that the stage hands out as it is, once it is known.
    #[inline]
    pub(super) fn begin_unchanged(&mut self, drawn: &IterationResult) {
        if let Number::Tuned { held, .. } = &mut self.number {
            held.begin_unchanged(drawn);
        }
    }

    /// Counts a result that is handed out: the one at this place among those that are held.
    #[inline]
    pub(super) fn deliver(&mut self, chosen: usize, result: Option<&Outcome>) {
        if let Number::Tuned { tuner, held, .. } = &mut self.number {
            let before = tuner.degree();
            tuner.deliver(tuner.now());
            held.end(chosen, result);
            if tuner.degree() != before {
                self.decisions.tell(tuner.degree());
            }
        }
    }

    /// Forgets the elements that are held: they lie behind the end.
    pub(super) fn clear(&mut self) {
        if let Number::Tuned { held, .. } = &mut self.number {
            held.clear();
        }
    }
}

/// The memory of the elements of a tuned stage, taken from the budget of the host. The size of the
/// largest previous element and result is the estimate for another one. Until the first result is
/// known, the stage holds one element.
#[derive(Debug)]
struct HeldMemory {
    budget: Arc<RamBudget>,
    /// The bytes that were taken from the budget for each element, oldest first.
    taken: VecDeque<u64>,
    /// The size of the largest element that the stage makes a result of.
    largest_drawn: u64,
    largest_result: Largest,
}

impl HeldMemory {
    fn new(budget: Arc<RamBudget>, num_held: usize) -> Self {
        Self {
            budget,
            // Results of a checkpoint are not counted.
            taken: std::iter::repeat_n(0, num_held).collect(),
            largest_drawn: 0,
            largest_result: Largest::default(),
        }
    }

    fn may_begin(&self) -> bool {
        if self.taken.is_empty() {
            return true;
        }
        let largest = self.largest_result.get();
        largest.is_some_and(|of_result| self.budget.has_left(self.largest_drawn + of_result))
    }

    fn begin(&mut self, drawn: &IterationResult) {
        if let IterationResult::Known(Outcome::Element(values)) = drawn {
            self.largest_drawn = self.largest_drawn.max(size_bytes_of(values));
        }
        self.take();
    }

    fn begin_unchanged(&mut self, drawn: &IterationResult) {
        self.largest_result.measure(drawn);
        self.take();
    }

    fn take(&mut self) {
        let num_bytes = self.largest_drawn + self.largest_result.get().unwrap_or(0);
        self.budget.take(num_bytes);
        self.taken.push_back(num_bytes);
    }

    fn end(&mut self, chosen: usize, result: Option<&Outcome>) {
        if let Some(Outcome::Element(values)) = result {
            self.largest_result.raise(size_bytes_of(values));
        }
        if let Some(num_bytes) = self.taken.remove(chosen) {
            self.budget.give_back(num_bytes);
        }
    }

    /// Removes the elements that were begun after the end.
    fn clear(&mut self) {
        self.budget.give_back(self.taken.drain(..).sum());
    }
}

impl Drop for HeldMemory {
    fn drop(&mut self) {
        self.clear();
    }
}

/// The size of the largest result that is known so far, in bytes.
#[derive(Clone, Debug, Default)]
struct Largest(Arc<Mutex<Option<u64>>>);

impl Largest {
    fn get(&self) -> Option<u64> {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn raise(&self, num_bytes: u64) {
        let mut largest = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        *largest = Some(largest.unwrap_or(0).max(num_bytes));
    }

    /// Counts a result as soon as it is known. This watches values and does not keep them.
    fn measure(&self, result: &IterationResult) {
        match result {
            IterationResult::Known(outcome) => self.measure_outcome(outcome),
            IterationResult::Pending(pending) => {
                let this = self.clone();
                pending.as_any().watch(move |value| {
                    if let Some(outcome) = value.get::<Outcome>() {
                        this.measure_outcome(outcome);
                    }
                });
            }
        }
    }

    fn measure_outcome(&self, outcome: &Outcome) {
        let Outcome::Element(values) = outcome else {
            return;
        };
        if values.iter().all(AnyRef::is_available) {
            return self.raise(size_bytes_of(values));
        }
        let sum = Arc::new(Mutex::new((values.len(), 0)));
        for value in values {
            let (this, sum) = (self.clone(), Arc::clone(&sum));
            value.watch(move |value| {
                let mut sum = sum.lock().unwrap_or_else(PoisonError::into_inner);
                sum.0 -= 1;
                sum.1 += size_bytes_of(std::slice::from_ref(value));
                if sum.0 == 0 {
                    this.raise(sum.1);
                }
            });
        }
    }
}
