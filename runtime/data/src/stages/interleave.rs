//! The elements of many datasets, in turns.
//!
//! A function makes a dataset of each element of the input. The iterators of these inner datasets
//! take the positions of a *cycle*:
//!
//! ```text
//!  input ──► opened: ▢ ▢ ▢ ──► cycle:  │ ▣ │ ▣ │   │ ▣ │
//!            oldest first               cursor ▲    an empty position takes the oldest opened one
//! ```
//!
//! The cursor takes up to a *block* of elements at its position and moves on. If an inner iterator
//! ends, its position becomes empty, and the cursor moves on at once. Whenever it reaches an empty
//! position, inputs are drawn until there are two inner iterators for each position, including
//! those being opened. The first element of each is requested at once.

use std::collections::VecDeque;

use tfrt_async::{AnyRef, AsyncValueRef, Promise, Value};
use tfrt_host::ExecutionContext;
use tfrt_support::Error;

use crate::cardinality::Cardinality;
use crate::checkpoint::{StateReader, StateWriter, damaged};
use crate::dataset::{Dataset, Position, Stage, invalid, positive_size};
use crate::declared_state::RestoredStates;
use crate::declared_state::opener::{Opener, OpeningCall, StateBefore};
use crate::description::StageDescription;
use crate::element_types::{
    ElementTypes, check_no_outer_state, check_outer_state, check_parameters, check_results,
};
use crate::function::{At, BoundFunction, ElementFunction};
use crate::iterator::Draw;
use crate::result::{IterationResult, Outcome, Values};
use crate::token::{Machine, STEPS_PER_TASK, Serial, StepResult, go_on_later};
use crate::work_ahead::WorkAhead;

const NAME: &str = "interleave";

/// The largest cycle: twice as many inputs are drawn before the first element.
const MAX_CYCLE_LENGTH: usize = 1 << 20;

#[derive(Clone, Debug)]
struct Interleave {
    input: Dataset,
    function: BoundFunction,
    /// The stage below has called the function: an element is its dataset, then the components
    /// that it was called with.
    is_called_below: bool,
    cycle_length: usize,
    block_length: usize,
}

impl Stage for Interleave {
    fn name(&self) -> &'static str {
        NAME
    }

    fn input_height(&self) -> u32 {
        self.input.height()
    }

    fn cardinality(&self) -> Cardinality {
        self.input.cardinality().at_most()
    }

    fn describe(&self, to: &mut StageDescription<'_>) {
        self.function.describe(to);
        to.attribute("cycle_length", self.cycle_length);
        to.attribute("block_length", self.block_length);
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
        Box::new(Serial::new(InterleaveMachine {
            input: self.input.iterator_below(position),
            opener: Opener::new(NAME, &self.function, position),
            is_called_below: self.is_called_below,
            position,
            cycle_length: self.cycle_length,
            block_length: self.block_length,
            cycle: Vec::new(),
            num_occupied: 0,
            opened: VecDeque::new(),
            has_noticed_end: false,
            cursor: 0,
            num_taken: 0,
            num_opened: 0,
            restoring: Vec::new(),
        }))
    }
}

#[derive(Debug)]
struct InterleaveMachine {
    input: Box<dyn Draw>,
    opener: Opener,
    /// See [`Interleave`].
    is_called_below: bool,
    position: Position,
    cycle_length: usize,
    block_length: usize,
    /// The positions that the cursor has reached so far. A restored position may not be open yet,
    /// or may never be.
    cycle: Vec<Option<Opening>>,
    num_occupied: usize,
    /// Those that have no position yet, oldest first.
    opened: VecDeque<Opening>,
    has_noticed_end: bool,
    cursor: usize,
    /// How many elements of the current block were handed out.
    num_taken: usize,
    /// The number of drawn inputs.
    num_opened: u64,
    /// The restored iterators that may not be open yet.
    restoring: Vec<AnyRef>,
}

/// What an inner iterator is opened for.
#[derive(Debug)]
struct Origin {
    at: At,
    /// The element of the input.
    element: Values,
    /// The state of the function before it was called.
    before: StateBefore,
}

/// An inner iterator.
#[derive(Debug)]
pub(super) struct Inner {
    origin: Origin,
    dataset: Dataset,
    iterator: Box<dyn Draw>,
    /// What was requested of it and not handed out.
    requested: Option<IterationResult>,
}

/// What an input became.
#[derive(Debug)]
pub(super) enum Opening {
    Inner(Inner),
    /// Neither the input nor what the function makes of it is known.
    Later(AsyncValueRef<OpenedLater>),
    /// The end of the input.
    End,
    Failed(AnyRef),
}

/// What an input became, when that was known at last. Taken out once.
#[derive(Debug)]
pub(super) struct OpenedLater(Option<Opening>);

impl Value for OpenedLater {
    const MLIR_TYPE: &'static str = "!tfrt_data.opened";
    const IS_MUTABLE: bool = true;
}

impl Machine for InterleaveMachine {
    fn step(&mut self, _num_outstanding: usize, ctx: &ExecutionContext) -> StepResult {
        let mut num_ended = 0;
        while num_ended < STEPS_PER_TASK {
            if let Some(cancelled) = ctx.request().cancel_value() {
                return StepResult::Answer(Outcome::Error(cancelled.clone()));
            }
            if self.cycle.get(self.cursor).is_none_or(Option::is_none) {
                if let Some(step) = self.occupy(ctx) {
                    return step;
                }
                if self.has_noticed_end && self.num_occupied == 0 {
                    return StepResult::Answer(Outcome::END);
                }
            }
            let inner = match self.open_restored() {
                Ok(Some(inner)) => inner,
                Ok(None) => {
                    self.go_on();
                    continue;
                }
                Err(step) => return step,
            };
            match inner.draw(ctx) {
                Ok(Outcome::End(_)) => {
                    num_ended += 1;
                    self.vacate();
                    self.go_on();
                }
                Ok(outcome) => {
                    self.num_taken += 1;
                    if self.num_taken >= self.block_length {
                        self.go_on();
                    }
                    return StepResult::Answer(outcome);
                }
                Err(awaited) => return StepResult::Wait(awaited),
            }
        }
        go_on_later(ctx)
    }

    fn save(&mut self, to: &mut StateWriter<'_>) -> Result<(), Error> {
        // One that opens requests an element, and may change a state that others have written.
        let all = self.cycle.iter().flatten().chain(&self.opened);
        let mut pending = all.filter_map(Opening::pending).peekable();
        if pending.peek().is_some() {
            pending.for_each(|later| to.wait_for(later));
            return Ok(());
        }
        self.opener.save(to)?;
        to.bool(self.has_noticed_end);
        to.u64(self.num_opened);
        to.count(self.cursor);
        to.count(self.num_taken);
        to.count(self.cycle.len());
        for place in &mut self.cycle {
            to.bool(place.is_some());
            if let Some(place) = place {
                place.save(&self.opener, to)?;
            }
        }
        to.count(self.opened.len());
        for opening in &mut self.opened {
            opening.save(&self.opener, to)?;
        }
        to.input(&mut *self.input)
    }

    fn restore(&mut self, from: &mut StateReader<'_>) -> Result<(), Error> {
        self.opener.restore(from)?;
        self.has_noticed_end = from.bool()?;
        self.num_opened = from.u64()?;
        let cursor = from.at_most(self.cycle_length - 1)?;
        self.num_taken = from.at_most(self.block_length)?;
        let num_positions = from.at_most(self.cycle_length)?;
        for _ in 0..num_positions {
            let is_occupied = from.bool()?;
            self.num_occupied += usize::from(is_occupied);
            let mut restore = || Opening::restore(from, NAME, &mut self.opener, self.position);
            let place = is_occupied.then(&mut restore).transpose()?;
            if matches!(place, Some(Opening::End)) {
                return Err(damaged("the end of the input has a position in a cycle"));
            }
            self.cycle.push(place);
        }
        // The cursor is at one of these positions, or goes on to the first that it never came to.
        self.cursor = cursor.min(num_positions);
        for _ in 0..from.count()? {
            let opening = Opening::restore(from, NAME, &mut self.opener, self.position)?;
            self.opened.push_back(opening);
        }
        let all = self.cycle.iter().flatten().chain(&self.opened);
        self.restoring = all.filter_map(Opening::pending).collect();
        from.input(&mut *self.input)
    }
}

impl InterleaveMachine {
    /// Moves the cursor to the next position.
    fn go_on(&mut self) {
        self.num_taken = 0;
        // Once the end is noticed, positions that the cursor never came to stay empty.
        let num_positions = match self.has_noticed_end {
            true => self.cycle.len(),
            false => self.cycle_length,
        };
        self.cursor += 1;
        if self.cursor >= num_positions {
            self.cursor = 0;
            self.remove_empty_positions();
        }
    }

    /// Once the end is reached, empty positions stay empty. When they are the majority, they are
    /// removed, so that the cursor does not walk a long cycle for a few elements.
    fn remove_empty_positions(&mut self) {
        if self.has_noticed_end && self.num_occupied < self.cycle.len() / 2 {
            self.cycle.retain(Option::is_some);
        }
    }

    fn vacate(&mut self) {
        if self.cycle[self.cursor].take().is_some() {
            self.num_occupied -= 1;
        }
    }

    /// Returns the iterator at the cursor, if there is one. A restored iterator may be pending or
    /// may have failed.
    fn open_restored(&mut self) -> Result<Option<&mut Inner>, StepResult> {
        let Some(place) = self.cycle.get_mut(self.cursor) else {
            return Ok(None);
        };
        if let Some(Opening::Later(later)) = place {
            if !later.is_available() {
                return Err(StepResult::Wait(later.as_any().clone()));
            }
            *place = Some(take_out(later));
        }
        if let Some(Opening::Failed(error)) = place {
            let error = error.clone();
            self.vacate();
            self.go_on();
            return Err(StepResult::Answer(Outcome::Error(error)));
        }
        match &mut self.cycle[self.cursor] {
            Some(Opening::Inner(inner)) => Ok(Some(inner)),
            _ => Ok(None),
        }
    }

    /// Puts the oldest opened iterator at the cursor, unless the end of the input was noticed.
    fn occupy(&mut self, ctx: &ExecutionContext) -> Option<StepResult> {
        if self.has_noticed_end {
            return None;
        }
        while self.num_occupied + self.opened.len() < 2 * self.cycle_length {
            // A new iterator requests an element, for which it may call a function whose declared
            // state comes with an iterator that is being restored.
            while let Some(later) = self.restoring.last() {
                if !later.is_available() {
                    return Some(StepResult::Wait(later.clone()));
                }
                self.restoring.pop();
            }
            let at = At::new(NAME, self.num_opened);
            self.num_opened = self.num_opened.wrapping_add(1);
            let drawn = self.input.draw(ctx);
            let call = (!self.is_called_below).then(|| self.opener.begin());
            let opening = open(call, drawn, self.position, at, ctx);
            self.opened.push_back(opening);
        }
        let mut opening = self.opened.pop_front()?;
        if let Opening::Later(later) = &opening {
            if !later.is_available() {
                let awaited = later.as_any().clone();
                self.opened.push_front(opening);
                return Some(StepResult::Wait(awaited));
            }
            opening = take_out(later);
        }
        match opening {
            Opening::Inner(inner) => {
                if self.cursor == self.cycle.len() {
                    self.cycle.push(None);
                }
                self.cycle[self.cursor] = Some(Opening::Inner(inner));
                self.num_occupied += 1;
                None
            }
            Opening::End => {
                self.has_noticed_end = true;
                self.opened.clear();
                None
            }
            Opening::Failed(error) => {
                if self.cursor == self.cycle.len() {
                    self.cycle.push(None);
                }
                self.go_on();
                Some(StepResult::Answer(Outcome::Error(error)))
            }
            Opening::Later(_) => None,
        }
    }
}

pub(super) fn take_out(later: &AsyncValueRef<OpenedLater>) -> Opening {
    match later.try_write().map(|mut opened| opened.0.take()) {
        Ok(Some(opening)) => opening,
        // The work that should have opened it was dropped.
        _ => Opening::Failed(later.as_any().clone()),
    }
}

/// Calls the function for a drawn input, and makes an iterator of its dataset as soon as the
/// dataset is available. Without a call, the input begins with the dataset.
fn open(
    call: Option<OpeningCall>,
    drawn: IterationResult,
    position: Position,
    at: At,
    ctx: &ExecutionContext,
) -> Opening {
    let open_known = move |drawn, ctx: &ExecutionContext| match call {
        Some(call) => open_known(call, drawn, position, at, ctx),
        None => open_made(drawn, position, at, ctx),
    };
    match drawn.into_outcome() {
        Ok(drawn) => open_known(drawn, ctx),
        Err(pending) => {
            let (promise, later) = AsyncValueRef::unconstructed();
            let ctx = ctx.clone();
            IterationResult::Pending(pending).and_then_for(promise, move |drawn, promise| {
                publish(promise, open_known(drawn, &ctx));
            });
            Opening::Later(later)
        }
    }
}

/// Makes an iterator of the dataset that a drawn input begins with.
fn open_made(drawn: Outcome, position: Position, at: At, ctx: &ExecutionContext) -> Opening {
    match drawn {
        Outcome::Element(mut values) => {
            let origin = Origin {
                at,
                element: values.drain(1.min(values.len())..).collect(),
                before: StateBefore::default(),
            };
            open_dataset_of(values, origin, Start::New, position, ctx)
        }
        Outcome::End(_) => Opening::End,
        Outcome::Error(error) => Opening::Failed(error),
    }
}

/// Does the work of [`open`], for a known input.
pub(super) fn open_known(
    call: OpeningCall,
    drawn: Outcome,
    position: Position,
    at: At,
    ctx: &ExecutionContext,
) -> Opening {
    let element = match &drawn {
        Outcome::Element(values) => values.clone(),
        _ => Values::new(),
    };
    match call.call(drawn, ctx, at) {
        (Outcome::Element(datasets), before) => {
            let origin = Origin {
                at,
                element,
                before,
            };
            open_dataset_of(datasets, origin, Start::New, position, ctx)
        }
        (Outcome::Error(error), _) => Opening::Failed(error),
        (Outcome::End(_), _) => Opening::End,
    }
}

/// Tells what an input became, once that is known.
fn publish(promise: Promise<OpenedLater>, opening: Opening) {
    match opening {
        Opening::Later(later) => later.and_then(move |later| {
            promise.emplace(OpenedLater(Some(take_out(later))));
        }),
        opening => promise.emplace(OpenedLater(Some(opening))),
    }
}

/// How an inner iterator begins.
enum Start {
    /// At the start; its first element is requested.
    New,
    /// Where a checkpoint says.
    Restored {
        requested: Option<IterationResult>,
        state: Box<[u8]>,
        /// The declared states that the same checkpoint has restored.
        restored: RestoredStates,
    },
}

fn open_dataset_of(
    datasets: Values,
    origin: Origin,
    start: Start,
    position: Position,
    ctx: &ExecutionContext,
) -> Opening {
    let value = match dataset_among(&datasets) {
        Ok(value) => value,
        Err(error) => return Opening::Failed(origin.at.emit(error, ctx)),
    };
    if value.is_available() {
        return open_dataset(value, origin, start, position, ctx);
    }
    let (promise, later) = AsyncValueRef::unconstructed();
    let ctx = ctx.clone();
    value.and_then(move |value| {
        let opening = open_dataset(value, origin, start, position, &ctx);
        promise.emplace(OpenedLater(Some(opening)));
    });
    Opening::Later(later)
}

/// Returns the only result of the function.
fn dataset_among(results: &Values) -> Result<&AnyRef, Error> {
    match &results[..] {
        [dataset] => Ok(dataset),
        _ => Err(invalid(format!(
            "expected one dataset as the result of a function, found {} results",
            results.len()
        ))),
    }
}

/// Makes an iterator of a dataset in an available value. The first element of a new iterator is
/// requested.
fn open_dataset(
    value: &AnyRef,
    origin: Origin,
    start: Start,
    position: Position,
    ctx: &ExecutionContext,
) -> Opening {
    let at = origin.at;
    let Some(dataset) = value.get::<Dataset>() else {
        return Opening::Failed(match value.is_error() {
            true => value.clone(),
            false => {
                let found = value.mlir_type().unwrap_or("none");
                let error = invalid(format!(
                    "expected a dataset as the result of a function, found `{found}`"
                ));
                at.emit(error, ctx)
            }
        });
    };
    let opened = dataset
        .try_iterator_below(position)
        .and_then(|mut iterator| {
            let requested = match start {
                Start::New => Some(iterator.draw(ctx)),
                Start::Restored {
                    requested,
                    state,
                    restored,
                } => {
                    let mut from = StateReader::new(&state, ctx).sharing(restored);
                    from.iterator_of(dataset, &mut *iterator)?;
                    requested
                }
            };
            Ok(Inner {
                origin,
                dataset: dataset.clone(),
                iterator,
                requested,
            })
        });
    match opened {
        Ok(inner) => Opening::Inner(inner),
        Err(error) => Opening::Failed(at.emit(error, ctx)),
    }
}

impl Inner {
    /// Draws the next element, or returns the value to wait for.
    pub(super) fn draw(&mut self, ctx: &ExecutionContext) -> Result<Outcome, AnyRef> {
        let requested = self.requested.take();
        let result = requested.unwrap_or_else(|| self.iterator.draw(ctx));
        result.into_outcome().map_err(|pending| {
            let awaited = pending.as_any().clone();
            self.requested = Some(IterationResult::Pending(pending));
            awaited
        })
    }
}

impl Opening {
    /// Returns what to wait for, if it is not known what the input became.
    fn pending(&self) -> Option<AnyRef> {
        match self {
            Self::Later(later) if !later.is_available() => Some(later.as_any().clone()),
            _ => None,
        }
    }

    /// Writes what the input became, for which `opener` has called its function.
    pub(super) fn save(&mut self, opener: &Opener, to: &mut StateWriter<'_>) -> Result<(), Error> {
        if let Self::Later(later) = self {
            if !later.is_available() {
                to.wait_for(later.as_any().clone());
                return Ok(());
            }
            *self = take_out(later);
        }
        match self {
            Self::Inner(inner) => {
                to.count(0);
                let Origin {
                    at,
                    element,
                    before,
                } = &inner.origin;
                to.u64(at.number());
                to.values(element)?;
                opener.save_before(before, to)?;
                to.results(inner.requested.iter())?;
                to.section(|to| to.iterator_of(&inner.dataset, &mut *inner.iterator))
            }
            Self::End => {
                to.count(1);
                Ok(())
            }
            Self::Failed(error) => {
                to.count(2);
                to.outcome(&Outcome::Error(error.clone()))
            }
            // Taken out just now.
            Self::Later(_) => Ok(()),
        }
    }

    /// Reads what [`save`](Self::save) has written, and opens the inner iterator again.
    pub(super) fn restore(
        from: &mut StateReader<'_>,
        stage: &'static str,
        opener: &mut Opener,
        position: Position,
    ) -> Result<Self, Error> {
        Ok(match from.at_most(2)? {
            0 => {
                let at = At::new(stage, from.u64()?);
                let element = from.values()?;
                let before = opener.restore_before(from)?;
                let start = Start::Restored {
                    requested: from.results()?.pop_front(),
                    state: from.bytes()?.into(),
                    restored: from.restored_states().clone(),
                };
                let ctx = from.exec_ctx();
                let datasets = opener.call_again(element.clone(), &before, ctx, at);
                let origin = Origin {
                    at,
                    element,
                    before,
                };
                open_dataset_of(datasets, origin, start, position, ctx)
            }
            1 => Self::End,
            _ => match from.outcome()? {
                Outcome::Error(error) => Self::Failed(error),
                _ => return Err(damaged("a failed opening has no error")),
            },
        })
    }
}

/// Checks the function of an interleave and its lengths. Returns the length of the cycle and that
/// of a block.
fn check_interleave(
    input: &Dataset,
    function: &ElementFunction,
    cycle_length: i64,
    block_length: i64,
) -> Result<(usize, usize), Error> {
    check_parameters(NAME, function, &[], input)?;
    check_outer_state(NAME, function, &[])?;
    check_results(NAME, function, &ElementTypes::of::<Dataset>())?;
    let cycle_length = positive_size("cycle_length", cycle_length)?;
    if cycle_length > MAX_CYCLE_LENGTH {
        return Err(invalid(format!(
            "cycle_length must be at most {MAX_CYCLE_LENGTH}, not {cycle_length}"
        )));
    }
    let block_length = positive_size("block_length", block_length)?;
    Ok((cycle_length, block_length))
}

impl Dataset {
    /// Returns the elements of the datasets that are the elements, in turns, as
    /// [`interleave_with`](Self::interleave_with) does.
    ///
    /// # Errors
    /// As `interleave_with`.
    pub fn flatten(&self, cycle_length: i64, block_length: i64) -> Result<Self, Error> {
        let itself = |_: &ExecutionContext, values: &[AnyRef]| Ok(values.iter().cloned().collect());
        let function = ElementFunction::from_named_closure("itself", 1, 1, itself);
        self.interleave_with(function, cycle_length, block_length)
    }

    /// Returns the elements of the datasets that a function makes of the elements, in turns:
    /// `cycle_length` datasets are open at a time, and each delivers `block_length` elements per
    /// turn.
    ///
    /// # Errors
    /// If a length is not positive, the cycle is longer than 2^20, the function does not take the
    /// components or return a dataset, as far as types are known, or datasets are nested too deep.
    pub fn interleave_with(
        &self,
        function: ElementFunction,
        cycle_length: i64,
        block_length: i64,
    ) -> Result<Self, Error> {
        let (cycle_length, block_length) =
            check_interleave(self, &function, cycle_length, block_length)?;
        Self::new(Interleave {
            input: self.clone(),
            function: BoundFunction::new(function, &[]),
            is_called_below: false,
            cycle_length,
            block_length,
        })
    }

    /// Returns the same elements as [`interleave_with`](Self::interleave_with), with up to
    /// `num_parallel` concurrent calls of the function, as in
    /// [`parallel_map_with`](Self::parallel_map_with). If `is_deterministic` is false, datasets take
    /// their turns in the order in which they become available.
    ///
    /// ```
    /// use tfrt_data::{Dataset, IntoElementFunction};
    /// use tfrt_host::{ExecutionContext, HostContext, RequestContextBuilder};
    /// use tfrt_support::Error;
    ///
    /// let ctx = ExecutionContext::new(RequestContextBuilder::new(HostContext::builder().build()).build());
    /// let inner = (|x: i64| Dataset::range(x, x + 2, 1)).into_element_function();
    /// let turns = Dataset::range(0, 3, 1)?.parallel_interleave_with(inner, 2, 1, 4, true)?;
    /// let turns: Vec<i64> = turns.elements(&ctx).collect::<Result<_, Error>>()?;
    /// assert_eq!(turns, [0, 1, 1, 2, 2, 3]);
    /// # Ok::<(), Error>(())
    /// ```
    ///
    /// # Errors
    /// If the number is neither -1 nor between 1 and 2^20, a length is not positive, the cycle is
    /// longer than 2^20, the function does not take the components or return a dataset, as far as
    /// types are known, it declares a state, or datasets are nested too deep. Calls of a function
    /// with a state never overlap: `interleave_with` makes them.
    pub fn parallel_interleave_with(
        &self,
        function: ElementFunction,
        cycle_length: i64,
        block_length: i64,
        num_parallel: impl Into<WorkAhead>,
        is_deterministic: bool,
    ) -> Result<Self, Error> {
        let (cycle_length, block_length) =
            check_interleave(self, &function, cycle_length, block_length)?;
        check_no_outer_state("parallel_interleave", &function)?;
        let calls = self.calls_with_arguments(function.clone(), num_parallel, is_deterministic)?;
        Self::new(Interleave {
            input: calls,
            function: BoundFunction::new(function, &[]),
            is_called_below: true,
            cycle_length,
            block_length,
        })
    }
}
