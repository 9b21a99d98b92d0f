//! Functions that make datasets, with a declared state.
//!
//! A checkpoint cannot contain a dataset: it has the element for which the dataset was made, and a
//! restore calls the function again. What the function makes may depend on its state, so the state
//! before the call is saved with each call, in the same turn:
//!
//! ```text
//!  element 0 ──► save, call ──┐
//!  element 1 ────────────────► save, call ──┐
//!  checkpoint: element 1, the state before it ──► save, the state behind both
//! ```
//!
//! To call the function again takes one turn, too, which leaves the state as it was: other
//! iterators may have made calls since the checkpoint was read.
//!
//! ```text
//!  save ──► restore the state before the element ──► call ──► restore what was saved first
//! ```

use tfrt_async::{AnyRef, run_when_ready, run_when_ready_for};
use tfrt_host::ExecutionContext;
use tfrt_support::Error;

use super::{Owner, Turn, Turns};
use crate::checkpoint::{StateReader, StateWriter};
use crate::dataset::Position;
use crate::function::{At, BoundFunction, ElementFunction};
use crate::result::{Outcome, ValuePromises, Values};

/// A function that an iterator calls to make datasets.
#[derive(Debug)]
pub(crate) struct Opener {
    function: BoundFunction,
    turns: Option<Box<Turns>>,
}

/// The state before a call, if the function declares one.
#[derive(Clone, Debug, Default)]
pub(crate) struct StateBefore(Option<Values>);

/// The right to make the next call.
#[derive(Debug)]
pub(crate) struct OpeningCall {
    function: BoundFunction,
    state: Option<CallOfState>,
}

#[derive(Debug)]
struct CallOfState {
    turn: Turn,
    /// See [`Turns::restored`].
    restored: Option<AnyRef>,
    save: ElementFunction,
}

impl Opener {
    /// Creates the opener of a new iterator of `stage`.
    pub(crate) fn new(stage: &'static str, function: &BoundFunction, position: Position) -> Self {
        Self {
            function: function.clone(),
            turns: Turns::of(stage, function, position),
        }
    }

    /// Takes the next turn, for a result that was drawn.
    pub(crate) fn begin(&mut self) -> OpeningCall {
        let state = self.turns.as_mut().map(|turns| CallOfState {
            restored: turns.restored(),
            turn: turns.take(),
            save: turns.state.save.clone(),
        });
        OpeningCall {
            function: self.function.clone(),
            state,
        }
    }

    /// Calls the function again for an element of a checkpoint, in the state before its first call.
    pub(crate) fn call_again(
        &mut self,
        element: Values,
        before: &StateBefore,
        ctx: &ExecutionContext,
        at: At,
    ) -> Values {
        let (Some(turns), StateBefore(Some(before))) = (&mut self.turns, before) else {
            return self.function.call_when_available(element, ctx, at);
        };
        let (promises, datasets) = ValuePromises::new(self.function.num_results());
        let again = Again {
            of: turns.of.clone(),
            restored: turns.restored(),
            turn: turns.take(),
            save: turns.state.save.clone(),
            restore: turns.state.restore.clone(),
            function: self.function.clone(),
            ctx: ctx.clone(),
            at,
            promises,
        };
        again.begin(element, before.clone());
        datasets
    }

    /// Writes the state behind all calls, if the function declares one.
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

    /// Writes the state before a call.
    pub(crate) fn save_before(
        &self,
        before: &StateBefore,
        to: &mut StateWriter<'_>,
    ) -> Result<(), Error> {
        let (Some(turns), StateBefore(Some(before))) = (&self.turns, before) else {
            return Ok(());
        };
        let failed = before.iter().find_map(AnyRef::error_if_present);
        let written = match failed {
            Some(error) => Err(error.clone()),
            None => to.values(before),
        };
        written.map_err(|error| turns.of.failed("saved", &error))
    }

    /// Reads what [`save_before`](Self::save_before) has written.
    pub(crate) fn restore_before(&self, from: &mut StateReader<'_>) -> Result<StateBefore, Error> {
        let before = self.turns.as_ref();
        let before = before.map(|turns| turns.state.read(&turns.of, from));
        before.transpose().map(StateBefore)
    }
}

impl OpeningCall {
    /// Calls the function for a known result, and returns the result with the datasets in place of
    /// the values. A function with a state is called for elements only.
    pub(crate) fn call(
        self,
        drawn: Outcome,
        ctx: &ExecutionContext,
        at: At,
    ) -> (Outcome, StateBefore) {
        let Self { function, state } = self;
        let Some(CallOfState {
            turn,
            restored,
            save,
        }) = state
        else {
            let made = function.apply_to(drawn, ctx, at);
            return (made, StateBefore::default());
        };
        let Outcome::Element(values) = drawn else {
            turn.pass();
            return (drawn, StateBefore::default());
        };
        let (promises, datasets) = ValuePromises::new(function.num_results());
        let (promises_before, before) = ValuePromises::new(save.num_results());
        let num_values = values.len();
        let mut awaited = values;
        awaited.extend(turn.previous().cloned());
        awaited.extend(restored.clone());
        let (bound, ctx) = (Values::from(function.bound()), ctx.clone());
        awaited.extend(bound.iter().cloned());
        run_when_ready_for(awaited, promises, move |mut values, promises| {
            values.truncate(num_values);
            if let Some(failed) = restored.filter(AnyRef::is_error) {
                promises_before.fail(&failed);
                promises.fail(&failed);
                return turn.end_with(&[]);
            }
            let saved = save.call(&ctx, &bound);
            promises_before.forward_to(saved.iter().cloned());
            run_when_ready_for(saved, promises, move |_, promises| {
                let results = function.call(&ctx, &values, at);
                drop(values);
                promises.forward_to(results.iter().cloned());
                turn.end_with(&results);
            });
        });
        (Outcome::Element(datasets), StateBefore(Some(before)))
    }
}

/// A call that is made again.
struct Again {
    of: Owner,
    turn: Turn,
    /// See [`Turns::restored`].
    restored: Option<AnyRef>,
    save: ElementFunction,
    restore: ElementFunction,
    function: BoundFunction,
    ctx: ExecutionContext,
    at: At,
    promises: ValuePromises,
}

impl Again {
    /// Waits for the values and the turn before, and saves the state.
    fn begin(self, element: Values, before: Values) {
        let bound = self.function.bound();
        let awaited: Values = element
            .iter()
            .chain(&before)
            .chain(bound)
            .chain(self.turn.previous())
            .chain(&self.restored)
            .cloned()
            .collect();
        run_when_ready(&awaited, move || {
            let failed = self.restored.as_ref().filter(|state| state.is_error());
            if let Some(failed) = failed.cloned() {
                return self.end(Err(failed));
            }
            let now = self.save.call(&self.ctx, self.function.bound());
            let awaited = now.clone();
            run_when_ready(&awaited, move || {
                if let Some(error) = now.iter().find_map(AnyRef::error_if_present) {
                    let error = self.of.failed("saved", error);
                    return self.end(Err(AnyRef::error(error)));
                }
                self.restore_before(&element, &before, now);
            });
        });
    }

    /// Restores the state before the call, and makes it.
    fn restore_before(self, element: &Values, before: &Values, now: Values) {
        let restored = self.restored_to(before);
        let (awaited, element) = (restored.clone(), element.clone());
        run_when_ready(&awaited, move || {
            if let Some(error) = restored.iter().find_map(AnyRef::error_if_present) {
                let error = AnyRef::error(self.of.failed("restored", error));
                return self.restore_now(Err(error), &now);
            }
            let datasets = self.function.call(&self.ctx, &element, self.at);
            let awaited = datasets.clone();
            run_when_ready(&awaited, move || self.restore_now(Ok(datasets), &now));
        });
    }

    /// Restores the state that there was.
    fn restore_now(self, datasets: Result<Values, AnyRef>, now: &Values) {
        let restored = self.restored_to(now);
        let awaited = restored.clone();
        run_when_ready(&awaited, move || {
            let failed = restored.iter().find_map(AnyRef::error_if_present);
            let failed = failed.map(|error| AnyRef::error(self.of.failed("restored", error)));
            let datasets = match failed {
                Some(failed) => datasets.and(Err(failed)),
                None => datasets,
            };
            self.end(datasets);
        });
    }

    /// Calls `restore`.
    fn restored_to(&self, state: &Values) -> Values {
        let bound = self.function.bound();
        let arguments: Values = bound.iter().chain(state).cloned().collect();
        self.restore.call(&self.ctx, &arguments)
    }

    fn end(self, datasets: Result<Values, AnyRef>) {
        // The next turn begins first: those who wait for the datasets may take their time.
        self.turn.end_with(&[]);
        match datasets {
            Ok(datasets) => self.promises.forward_to(datasets),
            Err(error) => self.promises.fail(&error),
        }
    }
}
