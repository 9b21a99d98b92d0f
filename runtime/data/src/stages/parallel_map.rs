//! A function of each element, with several calls under way.
//!
//! ```text
//!  input ──► slots, oldest first:  │ done │ called │ called │ waits for its element │ ──► the oldest, or the first that is done
//!                                  └─ as many as calls may be under way ────────────┘
//! ```
//!
//! Each call is a task of the work queue, so that functions that only compute run side by side,
//! too. A slot is taken from the draw of its element until its result is handed out: that bounds
//! the calls, and the elements that are held. The function is not called for ends and failed draws.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use tfrt_async::{AnyRef, AsyncValueRef, Chain, Promise, run_when_ready};
use tfrt_host::ExecutionContext;
use tfrt_support::Error;

use super::prefetch::{Skew, is_available_element};
use crate::cardinality::Cardinality;
use crate::checkpoint::{StateReader, StateWriter};
use crate::dataset::{Dataset, Position, Stage, invalid};
use crate::description::StageDescription;
use crate::function::{BoundFunction, ElementFunction};
use crate::iterator::Draw;
use crate::result::{IterationResult, Outcome, Values, are_available};
use crate::token::{Machine, Serial, StepResult};
use crate::tuner::Tuner;

/// The largest number of calls that may be under way.
const MAX_NUM_PARALLEL: i64 = 1 << 20;

#[derive(Debug)]
struct ParallelMap {
    input: Dataset,
    function: BoundFunction,
    /// How many calls may be under way; found by trying if there is no number.
    num_parallel: Option<usize>,
    is_deterministic: bool,
}

impl Stage for ParallelMap {
    fn name(&self) -> &'static str {
        "parallel_map"
    }

    fn input_height(&self) -> u32 {
        self.input.height().max(self.function.height_of_bound())
    }

    fn cardinality(&self) -> Cardinality {
        self.input.cardinality()
    }

    fn describe(&self, to: &mut StageDescription<'_>) {
        self.function.describe(to);
        to.input(&self.input);
    }

    fn make_iterator(&self, position: Position) -> Box<dyn Draw> {
        Box::new(Serial::new(ParallelMapMachine {
            input: self.input.iterator_below(position),
            function: self.function.clone(),
            degree: match self.num_parallel {
                Some(num_parallel) => Degree::Fixed(num_parallel),
                None => Degree::Unknown,
            },
            is_deterministic: self.is_deterministic,
            slots: VecDeque::new(),
            skew: Skew::default(),
            has_ended: false,
            calls: Arc::new(Calls {
                is_dropped: AtomicBool::new(false),
                awaited: Mutex::new(None),
            }),
        }))
    }
}

/// How many calls to keep under way.
#[derive(Debug)]
enum Degree {
    Fixed(usize),
    /// To be tuned; as many as there are threads at most, which is known with the first draw.
    Unknown,
    Tuned {
        tuner: Tuner,
        start: Instant,
    },
}

impl Degree {
    fn now(&mut self, ctx: &ExecutionContext) -> usize {
        if let Self::Unknown = self {
            let num_threads = ctx.queue().parallelism_level();
            *self = match is_tuning_off() {
                true => Self::Fixed(num_threads.max(1)),
                false => Self::Tuned {
                    tuner: Tuner::new(num_threads),
                    start: Instant::now(),
                },
            };
        }
        match self {
            Self::Fixed(degree) => *degree,
            Self::Tuned { tuner, .. } => tuner.degree(),
            Self::Unknown => 1,
        }
    }

    fn deliver(&mut self) {
        if let Self::Tuned { tuner, start } = self {
            tuner.deliver(start.elapsed());
        }
    }
}

/// Whether `TFRT_DATA_AUTOTUNE=off` is set.
fn is_tuning_off() -> bool {
    std::env::var_os("TFRT_DATA_AUTOTUNE").is_some_and(|value| value == "off")
}

#[derive(Debug)]
struct ParallelMapMachine {
    input: Box<dyn Draw>,
    function: BoundFunction,
    degree: Degree,
    is_deterministic: bool,
    /// Oldest first. An element is known when all of its values are available.
    slots: VecDeque<IterationResult>,
    /// Of the slots.
    skew: Skew,
    has_ended: bool,
    calls: Arc<Calls>,
}

/// What the tasks know of the iterator.
#[derive(Debug)]
struct Calls {
    /// Set when nobody can draw any more: tasks that have not begun do nothing. Orders nothing:
    /// relaxed.
    is_dropped: AtomicBool,
    /// Where the order is not kept: what the iterator waits for, until any call is done.
    awaited: Mutex<Option<Awaited>>,
}

struct Awaited {
    promise: Promise<Chain>,
    value: AnyRef,
}

impl std::fmt::Debug for Awaited {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.value.fmt(f)
    }
}

impl Calls {
    /// A value that becomes available when the next call is done.
    fn next_done(&self) -> AnyRef {
        let mut awaited = self.awaited.lock().unwrap_or_else(PoisonError::into_inner);
        let awaited = awaited.get_or_insert_with(|| {
            let (promise, value) = AsyncValueRef::unconstructed();
            let value = value.into_any();
            Awaited { promise, value }
        });
        awaited.value.clone()
    }

    /// Tells that a call is done, behind its outcome: who asked for `next_done` before and looks at
    /// the slots after sees one of both.
    fn tell_done(&self) {
        let awaited = self
            .awaited
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        if let Some(Awaited { promise, .. }) = awaited {
            promise.emplace(Chain);
        }
    }
}

impl Machine for ParallelMapMachine {
    fn step(&mut self, _num_outstanding: usize, ctx: &ExecutionContext) -> StepResult {
        if let Some(cancelled) = ctx.request().cancel_value() {
            return StepResult::Answer(Outcome::Error(cancelled.clone()));
        }
        let degree = self.degree.now(ctx);
        while !self.has_ended && self.slots.len() < degree {
            match self.input.draw(ctx) {
                IterationResult::Known(Outcome::End(_)) => self.has_ended = true,
                drawn => {
                    let slot = self.start(drawn, ctx);
                    self.slots.push_back(slot);
                }
            }
        }
        self.skew.number(self.slots.len());
        let chosen = match self.choose() {
            Ok(chosen) => chosen,
            Err(awaited) => return StepResult::Wait(awaited),
        };
        let Some(slot) = self.slots.get_mut(chosen) else {
            return StepResult::Answer(Outcome::END);
        };
        if let Some(awaited) = slot.settle() {
            return StepResult::Wait(awaited);
        }
        let outcome = self.slots.remove(chosen).map(IterationResult::into_outcome);
        let Some(Ok(outcome)) = outcome else {
            return StepResult::Answer(Outcome::END);
        };
        if outcome.is_end() {
            // What lies behind was drawn beyond the end.
            self.slots.clear();
            self.skew.clear();
            self.has_ended = true;
        } else {
            self.skew.hand_out(chosen);
        }
        self.degree.deliver();
        StepResult::Answer(outcome)
    }

    fn save(&mut self, to: &mut StateWriter<'_>) -> Result<(), Error> {
        to.bool(self.has_ended);
        to.results(self.slots.iter())?;
        to.input(&mut *self.input)
    }

    fn restore(&mut self, from: &mut StateReader<'_>) -> Result<(), Error> {
        self.has_ended = from.bool()?;
        self.slots = from.results()?;
        from.input(&mut *self.input)
    }
}

impl ParallelMapMachine {
    /// The slot to hand out next; or what to wait for, if any slot will do and none is done.
    fn choose(&self) -> Result<usize, AnyRef> {
        if self.is_deterministic || self.skew.is_oldest_late() || self.slots.len() < 2 {
            return Ok(0);
        }
        let first_done = || self.slots.iter().position(is_available_element);
        if let Some(done) = first_done() {
            return Ok(done);
        }
        let next_done = self.calls.next_done();
        // A call may have been done in between.
        match first_done() {
            Some(done) => Ok(done),
            // The oldest may be the end, or wait for its element: nobody tells of that.
            None if self.slots.front().is_some_and(IterationResult::is_known) => Ok(0),
            None => Err(next_done),
        }
    }

    /// Begins the call for a drawn element. Ends and errors are passed on.
    fn start(&self, drawn: IterationResult, ctx: &ExecutionContext) -> IterationResult {
        if let IterationResult::Known(Outcome::Error(_)) = drawn {
            return drawn;
        }
        let (promise, result) = IterationResult::pending();
        let call = Call {
            function: self.function.clone(),
            ctx: ctx.clone(),
            promise,
            calls: Arc::clone(&self.calls),
        };
        drawn.and_then(move |outcome| match outcome {
            Outcome::Element(values) => {
                let awaited = values.clone();
                run_when_ready(&awaited, move || {
                    let ctx = call.ctx.clone();
                    ctx.enqueue(move || call.run(&values));
                });
            }
            outcome => call.finish(outcome),
        });
        result
    }
}

/// A call of the function for one element.
struct Call {
    function: BoundFunction,
    ctx: ExecutionContext,
    promise: Promise<Outcome>,
    calls: Arc<Calls>,
}

impl Call {
    fn run(self, values: &Values) {
        if let Some(cancelled) = self.ctx.request().cancel_value() {
            let cancelled = cancelled.clone();
            return self.finish(Outcome::Error(cancelled));
        }
        if self.calls.is_dropped.load(Ordering::Relaxed) {
            // Nobody sees it.
            return self.finish(Outcome::END);
        }
        let results = self.function.call(&self.ctx, values);
        if are_available(&results) {
            return self.finish(Outcome::Element(results));
        }
        let awaited = results.clone();
        run_when_ready(&awaited, move || self.finish(Outcome::Element(results)));
    }

    fn finish(self, outcome: Outcome) {
        self.promise.emplace(outcome);
        self.calls.tell_done();
    }
}

impl Drop for ParallelMapMachine {
    fn drop(&mut self) {
        self.calls.is_dropped.store(true, Ordering::Relaxed);
    }
}

impl Dataset {
    /// The results of a function of each element, with up to `num_parallel` calls under way, each a
    /// task of the work queue; -1 finds by trying how many make the pipeline fastest, of as many as
    /// there are threads. The function takes the bound values, then the components. It is not
    /// called for the end.
    ///
    /// The order of elements is kept if `is_deterministic`. Otherwise results are handed out as
    /// they come, none more than 1000 elements late; which ones there are does not change.
    ///
    /// # Errors
    /// If the number is neither -1 nor between 1 and 2^20, or datasets are nested too deep.
    pub fn parallel_map_with(
        &self,
        function: ElementFunction,
        bound: &[AnyRef],
        num_parallel: i64,
        is_deterministic: bool,
    ) -> Result<Self, Error> {
        let num_parallel = match num_parallel {
            -1 => None,
            1..=MAX_NUM_PARALLEL => Some(num_parallel as usize),
            _ => {
                return Err(invalid(format!(
                    "num_parallel must be -1 or between 1 and {MAX_NUM_PARALLEL}, not {num_parallel}"
                )));
            }
        };
        Self::new(ParallelMap {
            input: self.clone(),
            function: BoundFunction::new(function, bound),
            num_parallel,
            is_deterministic,
        })
    }
}
