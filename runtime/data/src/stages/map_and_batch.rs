//! Batches of the results of a function, which are written into the tensors of their batch as they
//! arrive.
//!
//! ```text
//!  input ──► call ─┐                ┌───────┐
//!  input ──► call ─┼─ in any order ─► row 1 │
//!  input ──► call ─┘                │ row 0 │ ──► the batch, once all rows are there
//!                                   └───────┘
//! ```
//!
//! The elements are those of a `map` below a `batch`. What differs is what is held: a result is
//! copied to its row and dropped as soon as it is available, whatever has become of those before
//! it. Ends and failed draws do not call the function.
//!
//! As in a `batch`, all results of a batch are drawn at once, unless there is a limit to the number
//! of results that are under way: then each call is a task of the work queue, and the next element
//! is drawn when a result has arrived. Calls of a function with a declared state take
//! [turns](crate::declared_state).

mod rows;
mod under_way;

use std::collections::VecDeque;
use std::sync::Arc;

use tfrt_async::{AnyRef, AsyncValueRef, Promises, run_when_ready_for};
use tfrt_host::ExecutionContext;
use tfrt_support::Error;

use super::MAX_DRAWS_PAST_END;
use super::batch::{MAX_PENDING, tensors, too_many_pending};
use crate::cardinality::Cardinality;
use crate::checked_work_ahead::CheckedWorkAhead;
use crate::checkpoint::{StateReader, StateWriter};
use crate::dataset::{Dataset, Position, Stage, positive_size};
use crate::declared_state::Caller;
use crate::description::StageDescription;
use crate::element_types::{ElementTypes, check_outer_state, check_parameters};
use crate::function::{At, BoundFunction, ElementFunction};
use crate::iterator::Draw;
use crate::result::{IterationResult, Outcome, Values, are_available};
use crate::token::{Machine, Serial, StepResult};
use crate::typed::IntoElementFunction;
use crate::work_ahead::WorkAhead;

use rows::{First, Rows};
use under_way::{Answer, Arrivals, Batch, ResultPromise};

const NAME: &str = "map_and_batch";

#[derive(Clone, Debug)]
struct MapAndBatch {
    input: Dataset,
    function: BoundFunction,
    batch_size: usize,
    drops_remainder: bool,
    /// How many results may be under way, if there is a limit.
    num_parallel: Option<CheckedWorkAhead>,
    /// How many results of a batch may be under way where there is no such limit.
    max_pending: usize,
}

impl Stage for MapAndBatch {
    fn name(&self) -> &'static str {
        NAME
    }

    fn input_height(&self) -> u32 {
        self.input.height().max(self.function.height_of_bound())
    }

    fn cardinality(&self) -> Cardinality {
        let size = self.batch_size as u64;
        self.input
            .cardinality()
            .map(|len| match self.drops_remainder {
                true => len / size,
                false => len.div_ceil(size),
            })
    }

    fn element_types(&self) -> ElementTypes {
        tensors(self.function.num_results())
    }

    fn describe(&self, to: &mut StageDescription<'_>) {
        self.function.describe(to);
        to.attribute("batch_size", self.batch_size);
        to.attribute("drop_remainder", self.drops_remainder);
        to.input(&self.input);
    }

    fn is_seekable(&self) -> bool {
        // A state depends on every call before.
        self.function.function().state().is_none() && self.input.is_seekable()
    }

    fn share_files(&self, num_workers: u64, index: u64) -> Option<Result<Dataset, Error>> {
        let share = |input| Self {
            input,
            ..self.clone()
        };
        self.input.share_files_of(num_workers, index, share)
    }

    fn make_iterator(&self, position: Position) -> Box<dyn Draw> {
        Box::new(Serial::new(MapAndBatchMachine {
            input: self.input.iterator_below(position),
            caller: Caller::new(NAME, &self.function, position),
            stage: self.clone(),
            num_drawn: 0,
            ready: VecDeque::new(),
            batches: VecDeque::new(),
            arrivals: Arc::new(Arrivals::new()),
        }))
    }
}

#[derive(Debug)]
struct MapAndBatchMachine {
    input: Box<dyn Draw>,
    caller: Caller,
    stage: MapAndBatch,
    num_drawn: u64,
    /// Batches that were complete at a save, and not requested before it. They come before the
    /// others.
    ready: VecDeque<Outcome>,
    /// The batches that requests wait for, oldest first.
    batches: VecDeque<Begun>,
    arrivals: Arc<Arrivals>,
}

#[derive(Debug)]
enum FirstResult {
    Known(First),
    Pending(AsyncValueRef<Outcome>),
}

impl FirstResult {
    fn of(drawn: &IterationResult) -> Self {
        match drawn {
            IterationResult::Known(outcome) => Self::Known(First::of(outcome)),
            IterationResult::Pending(pending) => Self::Pending(pending.clone()),
        }
    }
}

/// A batch that is drawn, or waits for its first result.
#[derive(Debug)]
struct Begun {
    batch: Arc<Batch>,
    num_left: u64,
    num_drawn: usize,
    first: FirstResult,
    /// What the batch is if it could not be drawn.
    refused: Option<AnyRef>,
}

impl Begun {
    /// Returns what the first result is, or the value to wait for.
    fn settle_first(&mut self) -> Result<First, AnyRef> {
        if let FirstResult::Pending(pending) = &self.first {
            if !pending.is_available() {
                return Err(pending.as_any().clone());
            }
            self.first = FirstResult::Known(First::of(&Outcome::of_available(pending)));
        }
        match &self.first {
            FirstResult::Known(first) => Ok(first.clone()),
            FirstResult::Pending(pending) => Err(pending.as_any().clone()),
        }
    }

    /// Counts draws that are made or left out.
    fn count_draws(&mut self, num_draws: u64) {
        self.num_left -= num_draws;
        if num_draws > 0 && self.num_left == 0 {
            self.batch.end_draws();
        }
    }

    fn refuse(&mut self, error: AnyRef) {
        self.refused = Some(error);
        self.batch.give_up();
        self.count_draws(self.num_left);
    }
}

impl Machine for MapAndBatchMachine {
    fn step(&mut self, num_outstanding: usize, ctx: &ExecutionContext) -> StepResult {
        if let Some(outcome) = self.ready.pop_front() {
            return StepResult::Answer(outcome);
        }
        let limited = self.draw(num_outstanding, ctx);
        match self.answer_front(false, limited) {
            Ok(outcome) => StepResult::Answer(outcome),
            Err(awaited) => StepResult::Wait(awaited),
        }
    }

    fn save(&mut self, to: &mut StateWriter<'_>) -> Result<(), Error> {
        // Requests behind the save may have begun batches.
        let ctx = to.exec_ctx();
        if let Some(cancelled) = ctx.request().cancel_value() {
            let error = cancelled.error_if_present().cloned();
            return Err(error.unwrap_or_else(|| Error::new("the request was cancelled")));
        }
        let limited = self.draw(self.batches.len(), ctx);
        while !self.batches.is_empty() {
            match self.answer_front(true, limited.clone()) {
                Ok(outcome) => self.ready.push_back(outcome),
                Err(awaited) => {
                    to.wait_for(awaited);
                    return Ok(());
                }
            }
        }
        to.u64(self.num_drawn);
        self.caller.save(to)?;
        to.outcomes(self.ready.iter())?;
        to.input(&mut *self.input)
    }

    fn restore(&mut self, from: &mut StateReader<'_>) -> Result<(), Error> {
        self.num_drawn = from.u64()?;
        self.caller.restore(from)?;
        self.ready = from.outcomes()?.into();
        from.input(&mut *self.input)
    }

    fn seek(&mut self, num_before: u64) -> Result<(), Error> {
        self.ready.clear();
        self.num_drawn = num_before.saturating_mul(self.stage.batch_size as u64);
        self.input.seek(self.num_drawn)
    }
}

impl MapAndBatchMachine {
    /// Draws what the first batches lack. If too many results are under way for that, returns a
    /// value that becomes available when the next one has arrived.
    fn draw(&mut self, num_batches: usize, ctx: &ExecutionContext) -> Option<AnyRef> {
        let max_under_way = self.max_under_way(ctx);
        for place in 0..num_batches {
            if place == self.batches.len() {
                self.begin(ctx);
            }
            while self.batches[place].num_left > 0 {
                let limited = self.arrivals.next_if_full(max_under_way);
                if limited.is_some() {
                    return limited;
                }
                self.draw_into(place, ctx);
            }
        }
        None
    }

    fn max_under_way(&self, ctx: &ExecutionContext) -> usize {
        match self.stage.num_parallel {
            None => usize::MAX,
            Some(CheckedWorkAhead { max: Some(max), .. }) => max,
            Some(CheckedWorkAhead { max: None, .. }) => ctx.queue().parallelism_level().max(1),
        }
    }

    fn begin(&mut self, ctx: &ExecutionContext) {
        let MapAndBatch {
            function,
            batch_size,
            drops_remainder,
            ..
        } = &self.stage;
        let rows = Rows::new(*batch_size, function.num_results());
        self.batches.push_back(Begun {
            batch: Batch::new(rows, *drops_remainder, &self.arrivals, ctx),
            num_left: *batch_size as u64,
            num_drawn: 0,
            first: FirstResult::Known(First::End),
            refused: None,
        });
    }

    /// Draws one result of a batch.
    fn draw_into(&mut self, place: usize, ctx: &ExecutionContext) {
        let begun = &mut self.batches[place];
        if let Some(cancelled) = ctx.request().cancel_value() {
            return begun.refuse(cancelled.clone());
        }
        let drawn = self.input.draw(ctx);
        let at = At::new(NAME, self.num_drawn);
        self.num_drawn = self.num_drawn.wrapping_add(1);
        let index = begun.num_drawn;
        begun.num_drawn += 1;
        if index == 0 {
            begun.first = FirstResult::of(&drawn);
        }
        let is_end = matches!(drawn, IterationResult::Known(Outcome::End(_)));
        let result = match drawn {
            IterationResult::Known(Outcome::Element(values))
                if self.stage.num_parallel.is_none() && are_available(&values) =>
            {
                Outcome::Element(self.caller.call(ctx, &values, at)).into()
            }
            IterationResult::Known(Outcome::Element(_)) | IterationResult::Pending(_) => {
                let promise = begun.batch.promise(index);
                self.call_later(drawn, promise, at, ctx);
                return self.count_drawn(place, ctx);
            }
            known => known,
        };
        let begun = &mut self.batches[place];
        let has_memory = match result {
            IterationResult::Known(Outcome::Element(values)) if !are_available(&values) => {
                arrive_with(values, begun.batch.promise(index));
                true
            }
            IterationResult::Known(outcome) => begun.batch.add(index, &outcome),
            IterationResult::Pending(_) => true,
        };
        if is_end || !has_memory {
            // However many there are: the batch ends here, or is an error.
            let num_left = begun.num_left.min(1 + MAX_DRAWS_PAST_END);
            begun.num_left = num_left;
        }
        self.count_drawn(place, ctx);
    }

    fn count_drawn(&mut self, place: usize, ctx: &ExecutionContext) {
        let (begun, max) = (&mut self.batches[place], self.stage.max_pending);
        // The number for all batches is at hand; that for one of them takes its lock.
        if self.arrivals.num_under_way() > max && begun.batch.num_pending() > max {
            let error = too_many_pending(max, self.stage.batch_size);
            return begun.refuse(AnyRef::error(ctx.emit_error(error)));
        }
        begun.count_draws(1);
    }

    /// Calls the function for a drawn element once its values are available.
    fn call_later(
        &mut self,
        drawn: IterationResult,
        promise: ResultPromise,
        at: At,
        ctx: &ExecutionContext,
    ) {
        if self.caller.has_state() {
            let result = self.caller.apply(drawn, ctx, at);
            return result.and_then_for(promise, |outcome, promise| match outcome {
                Outcome::Element(values) => arrive_with(values, promise),
                outcome => promise.arrive(outcome),
            });
        }
        let call = Call {
            function: self.stage.function.clone(),
            ctx: ctx.clone(),
            at,
            is_task: self.stage.num_parallel.is_some(),
        };
        drawn.and_then_for(promise, move |outcome, promise| match outcome {
            Outcome::Element(values) => {
                run_when_ready_for(values, promise, move |values, promise| {
                    call.begin(values, promise);
                });
            }
            outcome => promise.arrive(outcome),
        });
    }

    /// Returns the oldest batch, or what to wait for: `limited`, if that keeps batches from being
    /// drawn. Unless `is_whole`, the values of the batch may be pending.
    fn answer_front(&mut self, is_whole: bool, limited: Option<AnyRef>) -> Result<Outcome, AnyRef> {
        let Some(begun) = self.batches.front_mut() else {
            return Ok(Outcome::END);
        };
        if let Some(error) = begun.refused.take() {
            self.batches.pop_front();
            return Ok(Outcome::Error(error));
        }
        if let Some(limited) = limited.clone().filter(|_| begun.num_left > 0) {
            return Err(limited);
        }
        // If there is more to draw, each result that arrives lets another one begin.
        let or_limited = |awaited: AnyRef| limited.unwrap_or(awaited);
        let outcome = match begun.settle_first() {
            Err(pending) => return Err(or_limited(pending)),
            Ok(First::Error(error)) => Outcome::Error(error),
            Ok(First::End) => Outcome::END,
            Ok(First::Element) => match begun.batch.answer(is_whole) {
                Answer::Batch(outcome) => outcome,
                Answer::Wait(complete) => return Err(or_limited(complete)),
            },
        };
        if !outcome.is_element() {
            begun.batch.give_up();
        }
        self.batches.pop_front();
        Ok(outcome)
    }
}

impl Drop for MapAndBatchMachine {
    /// The input is dropped next: by then, nobody needs its results.
    fn drop(&mut self) {
        for begun in self.batches.drain(..) {
            begun.batch.give_up();
        }
    }
}

/// A call of the function for one element.
struct Call {
    function: BoundFunction,
    ctx: ExecutionContext,
    at: At,
    is_task: bool,
}

impl Call {
    /// Makes the call for values that are available.
    fn begin(self, values: Values, promise: ResultPromise) {
        if !self.is_task {
            return self.run(values, promise);
        }
        let ctx = self.ctx.clone();
        ctx.enqueue(move || {
            if let Some(cancelled) = self.ctx.request().cancel_value() {
                return promise.fail(cancelled, self.function.num_results());
            }
            // Nobody sees the result of a call that nobody needs: the promise is dropped.
            if promise.have_consumer() {
                self.run(values, promise);
            }
        });
    }

    fn run(self, values: Values, promise: ResultPromise) {
        let results = self.function.call(&self.ctx, &values, self.at);
        // Another element may be drawn in its place when the result arrives.
        drop(values);
        arrive_with(results, promise);
    }
}

/// Writes a row once its values are available.
fn arrive_with(values: Values, promise: ResultPromise) {
    run_when_ready_for(values, promise, |values, promise| {
        promise.arrive(Outcome::Element(values));
    });
}

impl Dataset {
    /// Returns batches of the results of a function of each element, as
    /// [`map`](Self::map) and [`batch`](Self::batch) do together. Each result is copied into the
    /// tensor of its batch as soon as it is available, and dropped.
    ///
    /// ```
    /// use tfrt_data::Dataset;
    /// use tfrt_host::{ExecutionContext, HostContext, RequestContextBuilder};
    /// use tfrt_support::Error;
    /// use tfrt_tensor::DenseHostTensor;
    ///
    /// let ctx = ExecutionContext::new(RequestContextBuilder::new(HostContext::builder().build()).build());
    /// let squares = Dataset::range(0, 5, 1)?.map_and_batch(|x: i64| x * x, 3)?;
    /// let mut found = Vec::new();
    /// for batch in squares.elements::<DenseHostTensor, _>(&ctx) {
    ///     found.push(batch?.elements::<i64>()?.to_vec());
    /// }
    /// assert_eq!(found, [vec![0, 1, 4], vec![9, 16]]);
    /// # Ok::<(), Error>(())
    /// ```
    ///
    /// # Errors
    /// If the size is not positive, the function does not take the components, as far as their
    /// types are known, or datasets are nested too deep.
    pub fn map_and_batch<M>(
        &self,
        function: impl IntoElementFunction<M>,
        batch_size: i64,
    ) -> Result<Self, Error> {
        self.map_and_batch_with(
            function.into_element_function(),
            &[],
            batch_size,
            None,
            false,
        )
    }

    /// Returns batches as [`map_and_batch`](Self::map_and_batch) does. The function takes the bound
    /// values, then the components.
    ///
    /// With `num_parallel`, each call is a task of the work queue, and at most so many results are
    /// under way; -1 stands for the number of threads. Otherwise, all elements of a batch are drawn
    /// at once, and the function is called as soon as they are available. With `drops_remainder`, a
    /// smaller last batch is dropped.
    ///
    /// # Errors
    /// If the size is not positive, `num_parallel` is neither -1 nor between 1 and 2^20, the
    /// function does not take the components, as far as their types are known, or datasets are
    /// nested too deep.
    pub fn map_and_batch_with(
        &self,
        function: ElementFunction,
        bound: &[AnyRef],
        batch_size: i64,
        num_parallel: Option<i64>,
        drops_remainder: bool,
    ) -> Result<Self, Error> {
        check_parameters(NAME, &function, bound, self)?;
        check_outer_state(NAME, &function, bound)?;
        let num_parallel = num_parallel.map(WorkAhead::fixed);
        let num_parallel = num_parallel.map(|number| number.check("num_parallel", 1, false));
        Self::new(MapAndBatch {
            input: self.clone(),
            function: BoundFunction::new(function, bound),
            batch_size: positive_size("batch_size", batch_size)?,
            drops_remainder,
            num_parallel: num_parallel.transpose()?,
            max_pending: MAX_PENDING,
        })
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use std::sync::Mutex;

    use tfrt_async::IndirectPromise;
    use tfrt_host::{HostContext, RequestContextBuilder};
    use tfrt_tensor::DenseHostTensor;

    use super::*;

    const BATCH_SIZE: usize = 50;

    /// A batch of the numbers from 0, of which at most four may be pending.
    fn batch(num_parallel: Option<i64>, function: ElementFunction) -> Dataset {
        let limit = num_parallel.map(|number| {
            let number = WorkAhead::fixed(number);
            number.check("num_parallel", 1, false).unwrap()
        });
        let made = Dataset::new(MapAndBatch {
            input: Dataset::range(0, BATCH_SIZE as i64, 1).unwrap(),
            function: BoundFunction::new(function, &[]),
            batch_size: BATCH_SIZE,
            drops_remainder: false,
            num_parallel: limit,
            max_pending: 4,
        });
        made.unwrap()
    }

    fn context() -> ExecutionContext {
        let host = HostContext::builder().diagnostic_handler(|_| ()).build();
        ExecutionContext::new(RequestContextBuilder::new(host).build())
    }

    #[test]
    fn results_that_have_arrived_are_not_pending() {
        let same = || ElementFunction::from_closure(1, 1, |_, values| Ok(values.into()));
        for num_parallel in [Some(1), Some(4), None] {
            let ctx = context();
            let mut iterator = batch(num_parallel, same()).iterator();
            let drawn = iterator.draw(&ctx);
            ctx.host().quiesce().unwrap();
            let Ok(Outcome::Element(values)) = drawn.into_outcome() else {
                panic!("expected a batch with {num_parallel:?}");
            };
            let tensor = values[0].get::<DenseHostTensor>().unwrap();
            let expected: Vec<i64> = (0..BATCH_SIZE as i64).collect();
            assert_eq!(*tensor.elements::<i64>().unwrap(), expected);
        }
    }

    #[test]
    fn a_batch_with_too_many_pending_results_is_an_error() {
        let promises = Arc::new(Mutex::new(Vec::<IndirectPromise>::new()));
        let kept = Arc::clone(&promises);
        let late = ElementFunction::from_closure(1, 1, move |_, _| {
            let (promise, value) = AnyRef::indirect();
            kept.lock().unwrap().push(promise);
            Ok([value].into_iter().collect())
        });
        let mut iterator = batch(None, late).iterator();
        let drawn = iterator.draw(&context());
        let Ok(Outcome::Error(error)) = drawn.into_outcome() else {
            panic!("expected an error");
        };
        assert_eq!(
            error.error_if_present().unwrap().message(),
            "expected at most 4 unavailable elements in a batch of 50, found more"
        );
        // What would have been the sixth is not drawn.
        assert_eq!(promises.lock().unwrap().len(), 5);
    }
}
