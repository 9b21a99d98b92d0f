//! A function of each element, with several calls under way.
//!
//! ```text
//!  input ──► slots, oldest first:  │ done │ called │ called │ waits for its element │ ──► the oldest, or the first that is done
//!                                  └─ as many as calls may be under way ────────────┘
//! ```
//!
//! Each call is a task of the work queue, so that functions that only compute also run
//! concurrently. A slot is occupied from the draw of its element until the delivery of its result:
//! that limits the calls and the held elements. The function is not called for ends and failed
//! draws. Calls of a function with a declared state take [turns](crate::declared_state).
//!
//! A tuned map also has a slot for each request that waits for an answer, so that a call that takes
//! long does not stop the others; a [gate](gate) limits the calls that are under way.

mod calls;
mod gate;

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use tfrt_async::{AnyRef, Promise, run_when_ready};
use tfrt_host::ExecutionContext;
use tfrt_support::Error;

use super::degree::Degree;
use super::prefetch::{Skew, is_available_element};
use crate::cardinality::Cardinality;
use crate::checked_work_ahead::CheckedWorkAhead;
use crate::checkpoint::{StateReader, StateWriter};
use crate::dataset::{Dataset, Position, Stage};
use crate::declared_state::{Turn, Turns};
use crate::description::StageDescription;
use crate::element_types::{ElementTypes, check_outer_state, check_parameters};
use crate::function::{At, BoundFunction, ElementFunction};
use crate::iterator::Draw;
use crate::observation::{HeldBytes, bytes_of_results};
use crate::result::{IterationResult, Outcome, Values, are_available};
use crate::token::{Machine, Serial, StepResult};
use crate::tuner::LearnedNumber;
use crate::work_ahead::WorkAhead;

use calls::Calls;
use gate::Gate;

#[derive(Clone, Debug)]
struct ParallelMap {
    input: Dataset,
    function: BoundFunction,
    /// How many calls may be under way.
    num_parallel: CheckedWorkAhead,
    learned: LearnedNumber,
    is_deterministic: bool,
    /// The results are followed by the components that the function was called with. A checkpoint
    /// has only these, and the function is called again: it makes datasets, which no checkpoint can
    /// contain.
    keeps_arguments: bool,
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

    fn element_types(&self) -> ElementTypes {
        let results = self.function.result_types();
        match self.keeps_arguments {
            true => results.followed_by(&self.input.element_types()),
            false => results,
        }
    }

    fn describe(&self, to: &mut StageDescription<'_>) {
        self.function.describe(to);
        to.input(&self.input);
    }

    fn share_files(&self, num_workers: u64, index: u64) -> Option<Result<Dataset, Error>> {
        let share = |input| Self {
            input,
            ..self.clone()
        };
        self.input.share_files_of(num_workers, index, share)
    }

    fn make_iterator(&self, position: Position) -> Box<dyn Draw> {
        Box::new(Serial::new(ParallelMapMachine {
            input: self.input.iterator_below(position),
            function: self.function.clone(),
            turns: Turns::of(self.name(), &self.function, position),
            degree: Degree::new(self.num_parallel, &self.learned, self.name(), position).of_calls(),
            is_deterministic: self.is_deterministic && position.keeps_order(),
            keeps_arguments: self.keeps_arguments,
            slots: VecDeque::new(),
            skew: Skew::new(position),
            held: HeldBytes::of(self.name(), position),
            has_ended: false,
            num_drawn: 0,
            limit: 0,
            calls: Arc::new(Calls::new(self.num_parallel.is_tuned.then(|| Gate::new(0)))),
        }))
    }
}

#[derive(Debug)]
struct ParallelMapMachine {
    input: Box<dyn Draw>,
    function: BoundFunction,
    /// The turns of a function with a declared state, whose calls never overlap.
    turns: Option<Box<Turns>>,
    degree: Degree,
    is_deterministic: bool,
    keeps_arguments: bool,
    /// Oldest first. An element is known when all of its values are available.
    slots: VecDeque<IterationResult>,
    /// Of the slots.
    skew: Skew,
    held: HeldBytes,
    has_ended: bool,
    num_drawn: u64,
    /// How many calls the gate allows.
    limit: usize,
    calls: Arc<Calls<ReadyCall>>,
}

impl Machine for ParallelMapMachine {
    fn step(&mut self, num_outstanding: usize, ctx: &ExecutionContext) -> StepResult {
        if let Some(cancelled) = ctx.request().cancel_value() {
            return StepResult::Answer(Outcome::Error(cancelled.clone()));
        }
        let num_slots = self.open_gate(num_outstanding, ctx);
        while !self.has_ended && self.slots.len() < num_slots && self.degree.may_begin() {
            match self.input.draw(ctx) {
                IterationResult::Known(Outcome::End(_)) => self.has_ended = true,
                drawn => {
                    let at = At::new("parallel_map", self.num_drawn);
                    self.num_drawn = self.num_drawn.wrapping_add(1);
                    self.degree.begin(&drawn);
                    let slot = self.start(drawn, at, ctx);
                    self.slots.push_back(slot);
                }
            }
        }
        self.skew.number(self.slots.len());
        self.held.tell(|| bytes_of_results(self.slots.iter()));
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
        self.degree.deliver(chosen, Some(&outcome));
        if outcome.is_end() {
            // What lies behind was drawn beyond the end.
            self.slots.clear();
            self.skew.clear();
            self.degree.clear();
            self.has_ended = true;
        } else {
            self.skew.hand_out(chosen);
        }
        StepResult::Answer(outcome)
    }

    fn save(&mut self, to: &mut StateWriter<'_>) -> Result<(), Error> {
        to.bool(self.has_ended);
        to.u64(self.num_drawn);
        if let Some(turns) = &mut self.turns {
            turns.save(to)?;
        }
        match self.keeps_arguments {
            true => self.save_arguments(to)?,
            false => to.results(self.slots.iter())?,
        }
        to.input(&mut *self.input)
    }

    fn restore(&mut self, from: &mut StateReader<'_>) -> Result<(), Error> {
        self.has_ended = from.bool()?;
        self.num_drawn = from.u64()?;
        if let Some(turns) = &mut self.turns {
            turns.restore(from)?;
        }
        self.slots = from.results()?;
        if self.keeps_arguments {
            let num_slots = self.slots.len() as u64;
            for (index, slot) in std::mem::take(&mut self.slots).into_iter().enumerate() {
                let number = self.num_drawn.saturating_sub(num_slots - index as u64);
                let slot = self.start(slot, At::new("parallel_map", number), from.exec_ctx());
                self.slots.push_back(slot);
            }
            // A save waits for these calls, and may come before the first draw.
            self.open_gate(0, from.exec_ctx());
        }
        from.input(&mut *self.input)
    }
}

impl ParallelMapMachine {
    /// Writes the slots with the arguments of their calls in place of the results.
    fn save_arguments(&self, to: &mut StateWriter<'_>) -> Result<(), Error> {
        let num_results = self.function.num_results();
        to.count(self.slots.len());
        for slot in &self.slots {
            match slot.clone().into_outcome() {
                Ok(Outcome::Element(values)) => {
                    let arguments = values.into_iter().skip(num_results).collect();
                    to.outcome(&Outcome::Element(arguments))?;
                }
                Ok(outcome) => to.outcome(&outcome)?,
                Err(pending) => to.wait_for(pending.into_any()),
            }
        }
        Ok(())
    }

    /// Allows as many calls as the degree says. Returns the number of slots.
    fn open_gate(&mut self, num_outstanding: usize, ctx: &ExecutionContext) -> usize {
        let degree = self.degree.now(self.slots.len(), ctx);
        if let Some(gate) = self.calls.gate.as_ref().filter(|_| self.limit != degree) {
            self.limit = degree;
            gate.allow(degree).into_iter().for_each(ReadyCall::begin);
        }
        match self.degree.is_tuned() {
            true => degree.saturating_add(num_outstanding),
            false => degree,
        }
    }

    /// Returns the slot to hand out next; or what to wait for, if any slot will do and none is
    /// done.
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
    fn start(&mut self, drawn: IterationResult, at: At, ctx: &ExecutionContext) -> IterationResult {
        if let IterationResult::Known(Outcome::Error(_)) = drawn {
            return drawn;
        }
        let (promise, result) = IterationResult::pending();
        let restored = self.turns.as_mut().and_then(|turns| turns.restored());
        let call = Call {
            turn: self.turns.as_mut().map(|turns| turns.take()),
            restored: restored.clone(),
            function: self.function.clone(),
            ctx: ctx.clone(),
            at,
            promise,
            calls: Arc::clone(&self.calls),
            keeps_arguments: self.keeps_arguments,
        };
        drawn.and_then(move |outcome| match outcome {
            Outcome::Element(values) => {
                let mut awaited = values.clone();
                awaited.extend(call.turn.as_ref().and_then(Turn::previous).cloned());
                awaited.extend(restored);
                run_when_ready(&awaited, move || ReadyCall { call, values }.enter());
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
    at: At,
    promise: Promise<Outcome>,
    calls: Arc<Calls<ReadyCall>>,
    /// The turn of a function with a declared state, and what it waits for if that state is being
    /// restored.
    turn: Option<Turn>,
    restored: Option<AnyRef>,
    keeps_arguments: bool,
}

impl Call {
    fn finish(self, outcome: Outcome) {
        self.promise.emplace(outcome);
        self.calls.tell_done();
        if let Some(turn) = self.turn {
            turn.pass();
        }
    }
}

/// A call whose element is available.
struct ReadyCall {
    call: Call,
    values: Values,
}

impl ReadyCall {
    /// Begins, if the gate allows it, and otherwise waits there.
    fn enter(self) {
        let calls = Arc::clone(&self.call.calls);
        let first = match &calls.gate {
            Some(gate) => gate.enter(self),
            None => Some(self),
        };
        first.into_iter().for_each(Self::begin);
    }

    fn begin(self) {
        let ctx = self.call.ctx.clone();
        let begun = Begun(Some(self));
        ctx.enqueue(move || begun.run());
    }

    fn run(self) {
        let Self { call, values } = self;
        if let Some(cancelled) = call.ctx.request().cancel_value() {
            let cancelled = cancelled.clone();
            return Self::finish(call, Outcome::Error(cancelled));
        }
        if call.calls.is_dropped.load(Ordering::Relaxed) {
            // Nobody sees it.
            return Self::finish(call, Outcome::END);
        }
        let failed = call
            .restored
            .as_ref()
            .filter(|restored| restored.is_error());
        if let Some(failed) = failed.cloned() {
            return Self::finish(call, Outcome::Error(failed));
        }
        let mut results = call.function.call(&call.ctx, &values, call.at);
        if call.keeps_arguments {
            results.extend(values.iter().cloned());
        }
        if are_available(&results) {
            return Self::finish(call, Outcome::Element(results));
        }
        let awaited = results.clone();
        run_when_ready(&awaited, move || {
            Self::finish(call, Outcome::Element(results));
        });
    }

    /// Lets the next call begin before the consumers of the outcome take their time.
    fn finish(call: Call, outcome: Outcome) {
        let next = call.calls.gate.as_ref().and_then(Gate::leave);
        next.into_iter().for_each(Self::begin);
        call.finish(outcome);
    }
}

/// A call that is a task.
struct Begun(Option<ReadyCall>);

impl Begun {
    fn run(mut self) {
        if let Some(ready) = self.0.take() {
            ready.run();
        }
    }
}

impl Drop for Begun {
    /// The queue may have dropped the task: the calls that wait for it are dropped, too, and their
    /// results are errors.
    fn drop(&mut self) {
        let gate = self
            .0
            .as_ref()
            .and_then(|lost| lost.call.calls.gate.as_ref());
        drop(gate.map(Gate::lose));
    }
}

impl Drop for ParallelMapMachine {
    fn drop(&mut self) {
        self.calls.is_dropped.store(true, Ordering::Relaxed);
        let waiting = self.calls.gate.as_ref().map(Gate::take_waiting);
        for ready in waiting.into_iter().flatten() {
            ready.call.finish(Outcome::END);
        }
    }
}

impl Dataset {
    /// Returns the results of a function of each element, with up to `num_parallel` concurrent
    /// calls, each a task of the work queue; -1 finds the fastest number by experiment, up to the
    /// number of threads, and draws as many more elements as there are requests. The function
    /// takes the bound values, then the components. It is not called for the end.
    ///
    /// With `is_deterministic`, the order of elements is kept. Otherwise results are delivered as
    /// they become available, at most 1000 elements late; the set of results is the same.
    ///
    /// # Errors
    /// If the number is neither -1 nor between 1 and 2^20, the function does not take the
    /// components, as far as their types are known, or datasets are nested too deep.
    pub fn parallel_map_with(
        &self,
        function: ElementFunction,
        bound: &[AnyRef],
        num_parallel: impl Into<WorkAhead>,
        is_deterministic: bool,
    ) -> Result<Self, Error> {
        check_parameters("parallel_map", &function, bound, self)?;
        check_outer_state("parallel_map", &function, bound)?;
        Self::new(ParallelMap {
            input: self.clone(),
            function: BoundFunction::new(function, bound),
            num_parallel: num_parallel.into().check("num_parallel", 1, true)?,
            learned: LearnedNumber::default(),
            is_deterministic,
            keeps_arguments: false,
        })
    }

    /// Returns the results of a function of each element, as
    /// [`parallel_map_with`](Self::parallel_map_with) does, each followed by the element.
    pub(super) fn calls_with_arguments(
        &self,
        function: ElementFunction,
        num_parallel: impl Into<WorkAhead>,
        is_deterministic: bool,
    ) -> Result<Self, Error> {
        Self::new(ParallelMap {
            input: self.clone(),
            function: BoundFunction::new(function, &[]),
            num_parallel: num_parallel.into().check("num_parallel", 1, true)?,
            learned: LearnedNumber::default(),
            is_deterministic,
            keeps_arguments: true,
        })
    }
}
