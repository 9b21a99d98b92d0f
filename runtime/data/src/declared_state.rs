//! The state that a function has besides its arguments, and the order of the calls that change it.
//!
//! A function may count, draw random numbers, or read and write a table that is one of its bound
//! values. Two more functions declare this state: `save` returns it as values, and `restore` brings
//! it back. All calls of the three take *turns*: one begins when the one before has returned
//! available results, in the order in which stages drew the elements.
//!
//! ```text
//!  element 0 ──► call ──┐
//!  element 1 ─────────► call ──┐           whatever the stages above keep under way
//!  element 2 ────────────────► call ──┐
//!  checkpoint ──────────────────────► save
//! ```
//!
//! A checkpoint has the results of all calls before the `save`: stages write the elements that they
//! have drawn ahead by value. So the saved state is the one for the next element to be drawn, and
//! no call is made twice or left out.
//!
//! The iterators of a dataset share the state, as they share the bound values: the passes of a
//! `repeat` continue with it. Each open iterator writes it to a checkpoint. All of them write the
//! state behind the last call that any of them has made, and the first one that reads the
//! checkpoint restores it for all: an iterator that is restored later must not undo the calls that
//! others have made in between.
//!
//! A save may be late. Calls that iterators of other consumers make meanwhile need not be part of
//! the checkpoint, so only calls below the saved iterator make `save` be called again: a save ends,
//! however busy the others are.
//!
//! Calls are made for elements only, never for ends and failed draws, whose number may depend on
//! how far a stage draws ahead.

pub(crate) mod opener;

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use smallvec::SmallVec;
use tfrt_async::{AnyRef, AsyncValueRef, Chain, Promise, run_when_ready, run_when_ready_for};
use tfrt_host::{ExecutionContext, RequestContext};
use tfrt_support::Error;

use crate::checkpoint::{StateReader, StateWriter, damaged};
use crate::dataset::{Position, invalid};
use crate::element_types::ElementTypes;
use crate::function::{At, BoundFunction, ElementFunction};
use crate::result::{IterationResult, Outcome, ValuePromises, Values, are_available};

/// The functions that save and restore the state of another one.
#[derive(Debug)]
pub(crate) struct DeclaredState {
    pub(crate) save: ElementFunction,
    pub(crate) restore: ElementFunction,
    last_turn: Mutex<LastTurn>,
}

#[derive(Debug, Default)]
struct LastTurn {
    /// Becomes available when the turn is over, as an error if the call was lost.
    is_over: Option<AnyRef>,
    /// The number of turns that may change the state: those of calls and of restores.
    num_changes: u64,
    /// Those of live iterators, by [root](Position::root).
    below_roots: Vec<(u64, Weak<NumChanges>)>,
}

/// The number of changes by the iterators below one root. It is counted and read under the lock of
/// the last turn.
#[derive(Debug, Default)]
struct NumChanges(AtomicU64);

/// How often the state was changed.
#[derive(Clone, Copy, Debug, Default)]
struct Changes {
    all: u64,
    below_root: u64,
}

impl NumChanges {
    fn count(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

impl LastTurn {
    fn changes(&self, below_root: &NumChanges) -> Changes {
        Changes {
            all: self.num_changes,
            below_root: below_root.get(),
        }
    }

    fn take_next(&mut self) -> Turn {
        let (over, is_over) = AsyncValueRef::unconstructed();
        let previous = self.is_over.replace(is_over.into_any());
        Turn {
            previous: previous.filter(|turn| !turn.is_available()),
            over,
        }
    }
}

impl DeclaredState {
    pub(crate) fn new(save: ElementFunction, restore: ElementFunction) -> Self {
        Self {
            save,
            restore,
            last_turn: Mutex::default(),
        }
    }

    fn last_turn(&self) -> MutexGuard<'_, LastTurn> {
        self.last_turn
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns what the iterators below a root count their changes with.
    fn changes_below(&self, root: u64) -> Arc<NumChanges> {
        let known = &mut self.last_turn().below_roots;
        known.retain(|(_, changes)| changes.strong_count() > 0);
        let of_root = known.iter().find(|(of, _)| *of == root);
        of_root
            .and_then(|(_, changes)| changes.upgrade())
            .unwrap_or_else(|| {
                let changes = Arc::default();
                known.push((root, Arc::downgrade(&changes)));
                changes
            })
    }

    /// Takes the next turn, in which the state may change.
    fn take_turn(&self, changes: &NumChanges) -> Turn {
        let mut last = self.last_turn();
        last.num_changes = last.num_changes.wrapping_add(1);
        changes.count();
        last.take_next()
    }

    /// Takes the next turn, for a call of `save`. Returns it with the changes before.
    fn take_turn_to_save(&self, changes: &NumChanges) -> (Turn, Changes) {
        let mut last = self.last_turn();
        (last.take_next(), last.changes(changes))
    }

    /// Returns the changes so far, including those that wait for their turn.
    fn changes(&self, changes: &NumChanges) -> Changes {
        self.last_turn().changes(changes)
    }

    /// Checks the types of both functions, as far as they are known. `save` takes values of the
    /// types `taken`. If the stage hands its state from call to call, `restore` returns that state,
    /// and otherwise it also takes these values.
    pub(crate) fn check(
        &self,
        stage: &str,
        taken: &ElementTypes,
        is_handed_on: bool,
    ) -> Result<(), Error> {
        let check =
            |name: &str, what: &str, expected: &ElementTypes, found: &ElementTypes| match expected
                .conflicts_with(found)
            {
                true => Err(invalid(format!(
                    "`{stage}` expects a function `{name}` that {what} {expected}, found {found}"
                ))),
                false => Ok(()),
            };
        check("save", "takes", taken, &self.save.parameter_types())?;
        let saved = self.save.result_types();
        let restored_from = match is_handed_on {
            true => saved,
            false => taken.followed_by(&saved),
        };
        let found = self.restore.parameter_types();
        check("restore", "takes", &restored_from, &found)?;
        match is_handed_on {
            true => check("restore", "returns", taken, &self.restore.result_types()),
            false => Ok(()),
        }
    }

    /// Reads what `save` has returned.
    fn read(&self, of: &Owner, from: &mut StateReader<'_>) -> Result<Values, Error> {
        let values = from.values()?;
        let expected = self.save.result_types();
        let found = ElementTypes::of_values(&values);
        if values.len() != self.save.num_results() || expected.conflicts_with(&found) {
            return Err(damaged(&format!(
                "expected a state of type {expected} of {of}, found {found}"
            )));
        }
        Ok(values)
    }
}

/// The right to make the next call.
#[derive(Debug)]
pub(crate) struct Turn {
    /// Becomes available when the turn before is over, unless that is so.
    previous: Option<AnyRef>,
    /// If it is dropped with a call that is lost, the turn is over, too.
    over: Promise<Chain>,
}

impl Turn {
    /// Returns what a call has to wait for besides its arguments.
    pub(crate) fn previous(&self) -> Option<&AnyRef> {
        self.previous.as_ref()
    }

    /// Ends the turn when the results of its call are available.
    pub(crate) fn end_with(self, results: &[AnyRef]) {
        let over = self.over;
        run_when_ready(results, move || over.emplace(Chain));
    }

    /// Ends the turn without a call, once the one before is over.
    pub(crate) fn pass(self) {
        let Self { previous, over } = self;
        run_when_ready(previous.as_slice(), move || over.emplace(Chain));
    }
}

/// A function of a stage, as errors name it.
#[derive(Clone, Debug)]
struct Owner {
    stage: &'static str,
    function: Arc<str>,
}

impl Owner {
    /// Returns the error of `save` or `restore`.
    #[cold]
    fn failed(&self, what: &str, error: &Error) -> Error {
        let failed = Error::new(format!(
            "the state of {self} cannot be {what}: {}",
            error.message()
        ));
        let failed = failed.with_code(error.code());
        failed.set_place_if_unset(error.place().clone());
        failed
    }
}

impl std::fmt::Display for Owner {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "the function {} of `{}`", self.function, self.stage)
    }
}

/// The states that one checkpoint has restored so far.
#[derive(Clone, Debug, Default)]
pub(crate) struct RestoredStates(Arc<Mutex<HashMap<StateKey, RestoredState>>>);

/// The addresses of a declared state and of the bound values that its functions take.
type StateKey = SmallVec<[usize; 2]>;

#[derive(Debug)]
struct RestoredState {
    /// See [`Turns::restored`].
    restored: AnyRef,
    /// Nothing else gets their addresses.
    _of: (Arc<DeclaredState>, Arc<[AnyRef]>),
}

/// The only restore of a state from a checkpoint.
#[derive(Debug)]
struct Restore {
    turn: Turn,
    promise: Promise<Chain>,
}

impl RestoredStates {
    /// Returns what becomes available when the state is restored. The first caller for this state
    /// also gets the restore, which it has to make.
    fn begin(&self, turns: &Turns) -> (AnyRef, Option<Restore>) {
        let state = Arc::as_ptr(&turns.state).addr();
        let bound = turns.bound.iter().map(AnyRef::address);
        let key = std::iter::once(state).chain(bound).collect();
        let mut states = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = states.get(&key) {
            return (known.restored.clone(), None);
        }
        let (promise, restored) = AsyncValueRef::unconstructed();
        let restored = restored.into_any();
        // Others wait for the restore as soon as they find it here, so its turn comes before
        // theirs.
        let turn = turns.state.take_turn(&turns.changes);
        states.insert(
            key,
            RestoredState {
                restored: restored.clone(),
                _of: (Arc::clone(&turns.state), Arc::clone(&turns.bound)),
            },
        );
        (restored, Some(Restore { turn, promise }))
    }
}

/// What `save` has returned.
#[derive(Debug)]
struct Saved {
    values: Values,
    /// See [`StateWriter::save_number`].
    save: u64,
    /// The changes before the call, of a state that iterators share.
    before: Changes,
    /// The request that it was called for.
    request: Weak<RequestContext>,
}

impl Saved {
    fn new(values: Values, before: Changes, to: &StateWriter<'_>) -> Self {
        Self {
            values,
            save: to.save_number(),
            before,
            request: Arc::downgrade(to.exec_ctx().request()),
        }
    }

    /// Returns `true` unless the call failed for another request, which may have been cancelled.
    fn is_for(&self, ctx: &ExecutionContext) -> bool {
        std::ptr::eq(self.request.as_ptr(), Arc::as_ptr(ctx.request()))
            || !self.values.iter().any(AnyRef::is_error)
    }

    /// Returns `true` if the state has not changed since the call. Other consumers' iterators may
    /// have changed it since this save began.
    fn is_current(&self, now: Changes, to: &StateWriter<'_>) -> bool {
        let is_this_save = self.save == to.save_number();
        self.before.all == now.all || (is_this_save && self.before.below_root == now.below_root)
    }

    /// Writes the values once they are available. Returns them for the next save, which calls
    /// `save` again if this fails.
    fn write(self, of: &Owner, to: &mut StateWriter<'_>) -> Result<Self, Error> {
        if let Some(error) = self.values.iter().find_map(AnyRef::error_if_present) {
            return Err(of.failed("saved", error));
        }
        match to.values(&self.values) {
            Ok(()) => Ok(self),
            Err(error) => Err(of.failed("saved", &error)),
        }
    }
}

/// The turns of one iterator, with a function whose state is declared.
#[derive(Debug)]
pub(crate) struct Turns {
    of: Owner,
    state: Arc<DeclaredState>,
    bound: Arc<[AnyRef]>,
    changes: Arc<NumChanges>,
    /// Becomes available when the state of a checkpoint is restored, as an error if that fails.
    restored: Option<AnyRef>,
    /// What `save` has returned last.
    saved: Option<Saved>,
}

impl Turns {
    /// Returns the turns of a new iterator, if the function declares a state.
    pub(crate) fn of(
        stage: &'static str,
        function: &BoundFunction,
        position: Position,
    ) -> Option<Box<Self>> {
        let state = Arc::clone(function.function().state()?);
        Some(Box::new(Self {
            of: Owner {
                stage,
                function: function.function().description().into(),
            },
            changes: state.changes_below(position.root()),
            state,
            bound: function.bound().into(),
            restored: None,
            saved: None,
        }))
    }

    /// Takes the next turn, for an element that was drawn.
    pub(crate) fn take(&mut self) -> Turn {
        self.state.take_turn(&self.changes)
    }

    /// Returns what the calls wait for, if the state is still being restored or could not be.
    pub(crate) fn restored(&mut self) -> Option<AnyRef> {
        let is_done = |restored: &AnyRef| restored.is_available() && !restored.is_error();
        if self.restored.as_ref().is_some_and(is_done) {
            self.restored = None;
        }
        self.restored.clone()
    }

    /// Calls the function in its turn, once the values are available.
    fn call(
        &mut self,
        function: &BoundFunction,
        values: Values,
        ctx: &ExecutionContext,
        at: At,
    ) -> Values {
        let (turn, restored) = (self.take(), self.restored());
        if turn.previous.is_none() && restored.is_none() && are_available(&values) {
            let results = function.call(ctx, &values, at);
            turn.end_with(&results);
            return results;
        }
        let (promises, results) = ValuePromises::new(function.num_results());
        let call = Call { turn, restored };
        let (function, ctx) = (function.clone(), ctx.clone());
        call.begin(values, promises, move |values| {
            function.call(&ctx, values, at)
        });
        results
    }

    fn apply(
        &mut self,
        function: &BoundFunction,
        result: IterationResult,
        ctx: &ExecutionContext,
        at: At,
    ) -> IterationResult {
        let pending = match result.into_outcome() {
            Ok(Outcome::Element(values)) => {
                return Outcome::Element(self.call(function, values, ctx, at)).into();
            }
            Ok(Outcome::End(_)) => return Outcome::END.into(),
            Ok(failed) => return failed.into(),
            Err(pending) => pending,
        };
        let (promise, result) = IterationResult::pending();
        let (function, ctx) = (function.clone(), ctx.clone());
        let call = Call {
            restored: self.restored(),
            turn: self.take(),
        };
        IterationResult::Pending(pending).and_then_for(promise, move |outcome, promise| {
            let Outcome::Element(values) = outcome else {
                call.turn.pass();
                return promise.emplace(match outcome {
                    Outcome::End(_) => Outcome::END,
                    failed => failed,
                });
            };
            let (promises, results) = ValuePromises::new(function.num_results());
            promise.emplace(Outcome::Element(results));
            call.begin(values, promises, move |values| {
                function.call(&ctx, values, at)
            });
        });
        result
    }

    /// Writes the state behind all calls so far.
    pub(crate) fn save(&mut self, to: &mut StateWriter<'_>) -> Result<(), Error> {
        if let Some(restored) = self.restored() {
            match restored.error_if_present() {
                Some(error) => return Err(error.clone()),
                None => to.wait_for(restored),
            }
            return Ok(());
        }
        let now = self.state.changes(&self.changes);
        let kept = self.saved.take();
        let kept = kept.filter(|saved| saved.is_current(now, to) && saved.is_for(to.exec_ctx()));
        let saved = kept.unwrap_or_else(|| self.call_save(to));
        self.saved = Some(saved.write(&self.of, to)?);
        Ok(())
    }

    /// Calls `save` in its turn.
    fn call_save(&self, to: &StateWriter<'_>) -> Saved {
        let save = self.state.save.clone();
        let (promises, values) = ValuePromises::new(save.num_results());
        let (turn, before) = self.state.take_turn_to_save(&self.changes);
        let call = Call {
            turn,
            restored: None,
        };
        let (bound, ctx) = (self.bound.iter().cloned().collect(), to.exec_ctx().clone());
        call.begin(bound, promises, move |bound| save.call(&ctx, bound));
        Saved::new(values, before, to)
    }

    /// Reads a state, and restores it in its turn, unless another iterator has read it from the
    /// same checkpoint.
    pub(crate) fn restore(&mut self, from: &mut StateReader<'_>) -> Result<(), Error> {
        let saved = self.state.read(&self.of, from)?;
        let (restored, first) = from.restored_states().begin(self);
        if let Some(restore) = first {
            self.call_restore(restore, saved, from.exec_ctx());
        }
        match restored.error_if_present() {
            Some(error) => Err(error.clone()),
            None => {
                self.restored = Some(restored);
                Ok(())
            }
        }
    }

    fn call_restore(&self, of_checkpoint: Restore, saved: Values, ctx: &ExecutionContext) {
        let Restore { turn, promise } = of_checkpoint;
        let arguments: Values = self.bound.iter().cloned().chain(saved).collect();
        let (restore, ctx) = (self.state.restore.clone(), ctx.clone());
        let of = self.of.clone();
        let awaited: Values = arguments.iter().chain(turn.previous()).cloned().collect();
        run_when_ready(&awaited, move || {
            let results = restore.call(&ctx, &arguments);
            let awaited = results.clone();
            run_when_ready(&awaited, move || {
                match results.iter().find_map(AnyRef::error_if_present) {
                    Some(error) => promise.set_error(of.failed("restored", error)),
                    None => promise.emplace(Chain),
                }
                turn.end_with(&[]);
            });
        });
    }
}

/// A call in its turn.
#[derive(Debug)]
struct Call {
    turn: Turn,
    /// See [`Turns::restored`].
    restored: Option<AnyRef>,
}

impl Call {
    /// Makes the call once its values, and the turn before, are there.
    fn begin(
        self,
        values: Values,
        promises: ValuePromises,
        call: impl FnOnce(&[AnyRef]) -> Values + Send + 'static,
    ) {
        let Self { turn, restored } = self;
        let num_values = values.len();
        let mut awaited = values;
        awaited.extend(turn.previous().cloned());
        awaited.extend(restored.clone());
        run_when_ready_for(awaited, promises, move |mut values, promises| {
            values.truncate(num_values);
            let failed = restored.filter(AnyRef::is_error);
            let results = match failed {
                Some(error) => SmallVec::from_elem(error, promises.len()),
                None => call(&values),
            };
            drop(values);
            promises.forward_to(results.iter().cloned());
            turn.end_with(&results);
        });
    }
}

/// A function that an iterator calls for its elements.
#[derive(Debug)]
pub(crate) struct Caller {
    function: BoundFunction,
    turns: Option<Box<Turns>>,
}

impl Caller {
    /// Creates the caller of a new iterator of `stage`.
    pub(crate) fn new(stage: &'static str, function: &BoundFunction, position: Position) -> Self {
        Self {
            function: function.clone(),
            turns: Turns::of(stage, function, position),
        }
    }

    /// Returns `true` if the function declares a state: its calls must not be made again.
    pub(crate) fn has_state(&self) -> bool {
        self.turns.is_some()
    }

    /// Calls the function with values that are available.
    #[inline]
    pub(crate) fn call(&mut self, ctx: &ExecutionContext, values: &[AnyRef], at: At) -> Values {
        match &mut self.turns {
            None => self.function.call(ctx, values, at),
            Some(turns) => turns.call(&self.function, values.into(), ctx, at),
        }
    }

    /// Calls the function once all values are available.
    pub(crate) fn call_when_available(
        &mut self,
        values: Values,
        ctx: &ExecutionContext,
        at: At,
    ) -> Values {
        match &mut self.turns {
            None => self.function.call_when_available(values, ctx, at),
            Some(turns) => turns.call(&self.function, values, ctx, at),
        }
    }

    /// Returns the result of a draw with the results of the function in place of the values: see
    /// [`BoundFunction::apply`]. A function with a state is called for elements only.
    #[inline]
    pub(crate) fn apply(
        &mut self,
        result: IterationResult,
        ctx: &ExecutionContext,
        at: At,
    ) -> IterationResult {
        match &mut self.turns {
            None => self.function.apply(result, ctx, at),
            Some(turns) => turns.apply(&self.function, result, ctx, at),
        }
    }

    /// Writes what a call has returned, if the function declares a state: it must not be called
    /// again for the same values. Another function is.
    pub(crate) fn save_answer(
        &self,
        answer: &Values,
        to: &mut StateWriter<'_>,
    ) -> Result<(), Error> {
        match &self.turns {
            None => Ok(()),
            Some(_) => to.values(answer),
        }
    }

    /// Reads what [`save_answer`](Self::save_answer) has written, or calls the function again.
    pub(crate) fn restore_answer(
        &mut self,
        values: &Values,
        from: &mut StateReader<'_>,
        at: At,
    ) -> Result<Values, Error> {
        match &self.turns {
            None => Ok(self.call_when_available(values.clone(), from.exec_ctx(), at)),
            Some(_) => from.values(),
        }
    }

    /// Writes the state of the function, if it declares one.
    pub(crate) fn save(&mut self, to: &mut StateWriter<'_>) -> Result<(), Error> {
        match &mut self.turns {
            None => Ok(()),
            Some(turns) => turns.save(to),
        }
    }

    /// Reads what [`save`](Self::save) has written.
    pub(crate) fn restore(&mut self, from: &mut StateReader<'_>) -> Result<(), Error> {
        match &mut self.turns {
            None => Ok(()),
            Some(turns) => turns.restore(from),
        }
    }
}

/// The state that a stage hands from one call of its function to the next, as a checkpoint has it:
/// the values themselves, or what the function `save` of a declared state makes of them.
#[derive(Debug)]
pub(crate) struct HandedOn {
    of: Owner,
    state: Option<Arc<DeclaredState>>,
    /// What `save` has returned since the last call.
    saved: Option<Saved>,
}

impl HandedOn {
    pub(crate) fn new(stage: &'static str, function: &ElementFunction) -> Self {
        Self {
            of: Owner {
                stage,
                function: function.description().into(),
            },
            state: function.state().cloned(),
            saved: None,
        }
    }

    /// Returns `true` if a checkpoint has what the function `save` makes of the state.
    pub(crate) fn is_declared(&self) -> bool {
        self.state.is_some()
    }

    /// Says that the state is another one than that of the last save.
    pub(crate) fn forget(&mut self) {
        self.saved = None;
    }

    /// Writes a state. An error in its place, behind which there is nothing, is written as it is.
    pub(crate) fn save(&mut self, values: &Values, to: &mut StateWriter<'_>) -> Result<(), Error> {
        let Some(state) = &self.state else {
            return to.values(values);
        };
        if let Some(pending) = values.iter().find(|value| !value.is_available()) {
            to.wait_for(pending.clone());
            return Ok(());
        }
        let has_failed = values.iter().any(AnyRef::is_error);
        to.bool(has_failed);
        if has_failed {
            return to.values(values);
        }
        let ctx = to.exec_ctx();
        let kept = self.saved.take().filter(|saved| saved.is_for(ctx));
        let saved = kept.unwrap_or_else(|| {
            // The stage forgets it when the state is another one.
            Saved::new(state.save.call(ctx, values), Changes::default(), to)
        });
        self.saved = Some(saved.write(&self.of, to)?);
        Ok(())
    }

    /// Reads a state of so many values. They may be pending.
    pub(crate) fn restore(
        &mut self,
        num_values: usize,
        from: &mut StateReader<'_>,
    ) -> Result<Values, Error> {
        let values = match &self.state {
            Some(state) if !from.bool()? => {
                let saved = state.read(&self.of, from)?;
                let restored = state.restore.call(from.exec_ctx(), &saved);
                if let Some(error) = restored.iter().find_map(AnyRef::error_if_present) {
                    return Err(self.of.failed("restored", error));
                }
                restored
            }
            _ => from.values()?,
        };
        if values.len() != num_values {
            return Err(damaged(&format!(
                "expected {num_values} values as the state of a {}, found {}",
                self.of.stage,
                values.len()
            )));
        }
        Ok(values)
    }
}
