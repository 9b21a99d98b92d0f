//! Elements that functions generate from a state.
//!
//! ```text
//!  init ──► state ──► next ──► (true, state, element) ──► next ──► … ──► (false, state, …) ──► finish
//! ```

use tfrt_async::{AnyRef, Value, run_when_ready};
use tfrt_host::ExecutionContext;
use tfrt_support::Error;

use crate::checkpoint::{StateReader, StateWriter};
use crate::dataset::{Dataset, Position, Stage, invalid};
use crate::declared_state::HandedOn;
use crate::description::StageDescription;
use crate::element_types::{ElementTypes, check_no_outer_state, check_saved_state, check_state};
use crate::function::{At, BoundFunction, ElementFunction};
use crate::iterator::Draw;
use crate::result::{Outcome, Values, are_available};
use crate::token::{Machine, Serial, StepResult};
use crate::typed::IntoElementFunction;

const NAME: &str = "generator";

#[derive(Clone, Debug)]
struct Generator {
    init: BoundFunction,
    next: ElementFunction,
    finish: Option<ElementFunction>,
    num_state: usize,
}

impl Stage for Generator {
    fn name(&self) -> &'static str {
        NAME
    }

    fn input_height(&self) -> u32 {
        self.init.height_of_bound()
    }

    fn element_types(&self) -> ElementTypes {
        self.next.result_types().behind(1 + self.num_state)
    }

    fn describe(&self, to: &mut StageDescription<'_>) {
        self.init.describe(to);
        to.function(&self.next);
        if let Some(finish) = &self.finish {
            to.function(finish);
        }
    }

    fn make_iterator(&self, _position: Position) -> Box<dyn Draw> {
        Box::new(Serial::new(GeneratorMachine {
            handed_on: HandedOn::new(NAME, &self.next),
            stage: self.clone(),
            state: None,
            called: None,
            num_called: 0,
            has_ended: false,
            ctx: None,
        }))
    }
}

#[derive(Debug)]
struct GeneratorMachine {
    stage: Generator,
    /// How a checkpoint has the state.
    handed_on: HandedOn,
    /// The state that the last call returned; `None` before the first call.
    state: Option<Values>,
    /// The results of `next`, until its first result is available.
    called: Option<Values>,
    num_called: u64,
    has_ended: bool,
    /// The context of `finish`, if the iterator is dropped before the end.
    ctx: Option<ExecutionContext>,
}

impl Machine for GeneratorMachine {
    fn step(&mut self, _num_outstanding: usize, ctx: &ExecutionContext) -> StepResult {
        if self.has_ended {
            return StepResult::Answer(Outcome::END);
        }
        if let Some(cancelled) = ctx.request().cancel_value() {
            return StepResult::Answer(Outcome::Error(cancelled.clone()));
        }
        let at = At::new(NAME, self.num_called);
        self.handed_on.forget();
        let results = match self.called.take() {
            Some(results) => results,
            None => {
                let init = &self.stage.init;
                let state = self.state.get_or_insert_with(|| init.call(ctx, &[], at));
                if self.stage.finish.is_some() && self.ctx.is_none() {
                    self.ctx = Some(ctx.clone());
                }
                if let Some(awaited) = state.iter().find(|value| !value.is_available()) {
                    return StepResult::Wait(awaited.clone());
                }
                if let Some(failed) = state.iter().find(|value| value.is_error()).cloned() {
                    // Without a state, there are no further elements.
                    self.has_ended = true;
                    return StepResult::Answer(Outcome::Error(failed));
                }
                self.stage.next.call_at(ctx, state, Some(at))
            }
        };
        let num_state = self.stage.num_state;
        if results.len() <= num_state {
            self.has_ended = true;
            let message = format!(
                "a function of a generator returns whether there is an element, its state of {num_state} values and the element, and only has {} results",
                results.len()
            );
            return StepResult::Answer(Outcome::Error(at.emit(invalid(message), ctx)));
        }
        if !results[0].is_available() {
            let awaited = results[0].clone();
            self.called = Some(results);
            return StepResult::Wait(awaited);
        }
        self.num_called = self.num_called.wrapping_add(1);
        match results[0].get::<bool>() {
            Some(true) => {
                let mut results = results.into_iter().skip(1);
                self.state = Some(results.by_ref().take(num_state).collect());
                StepResult::Answer(Outcome::Element(results.collect()))
            }
            Some(false) => {
                self.state = Some(results.into_iter().skip(1).take(num_state).collect());
                self.end();
                StepResult::Answer(Outcome::END)
            }
            None => {
                // The next call would fail in the same way, forever.
                self.end();
                let found = &results[0];
                StepResult::Answer(Outcome::Error(match found.is_error() {
                    true => found.clone(),
                    false => {
                        let found = found.mlir_type().unwrap_or("none");
                        let message = format!("expected a truth value first, found `{found}`");
                        at.emit(invalid(message), ctx)
                    }
                }))
            }
        }
    }

    fn save(&mut self, to: &mut StateWriter<'_>) -> Result<(), Error> {
        let mut called = self.called.iter().flatten();
        if let Some(pending) = called.find(|value| !value.is_available()) {
            to.wait_for(pending.clone());
            return Ok(());
        }
        to.bool(self.has_ended);
        to.u64(self.num_called);
        let (state, called) = self.state_and_called();
        to.bool(state.is_some());
        if let Some(state) = &state {
            self.handed_on.save(state, to)?;
        }
        to.bool(called.is_some());
        if let Some(called) = &called {
            to.values(called)?;
        }
        Ok(())
    }

    fn restore(&mut self, from: &mut StateReader<'_>) -> Result<(), Error> {
        self.has_ended = from.bool()?;
        self.num_called = from.u64()?;
        if from.bool()? {
            let state = self.handed_on.restore(self.stage.num_state, from)?;
            self.ctx =
                (self.stage.finish.is_some() && !self.has_ended).then(|| from.exec_ctx().clone());
            self.state = Some(state);
        }
        if from.bool()? {
            let mut called = from.values()?;
            if let Some(state) = &self.state
                && self.handed_on.is_declared()
                && !called.is_empty()
            {
                called.insert_many(1, state.iter().cloned());
            }
            self.called = Some(called);
        }
        Ok(())
    }
}

impl GeneratorMachine {
    /// Returns the state and the results of `next` as a checkpoint has them. If the state is
    /// declared, the results are without it: their state takes the place of the one before, which
    /// counts only if the call failed.
    fn state_and_called(&self) -> (Option<Values>, Option<Values>) {
        let num_state = self.stage.num_state;
        match &self.called {
            Some(called) if self.handed_on.is_declared() && called.len() > num_state => {
                let mut called = called.clone();
                let next = called.drain(1..=num_state).collect();
                let has_failed = called[0].get::<bool>().is_none();
                if has_failed {
                    called.truncate(1);
                    return (self.state.clone(), Some(called));
                }
                (Some(next), Some(called))
            }
            called => (self.state.clone(), called.clone()),
        }
    }

    /// Ends the sequence, and calls `finish` with the last state.
    fn end(&mut self) {
        self.has_ended = true;
        let (Some(finish), Some(ctx)) = (self.stage.finish.take(), self.ctx.take()) else {
            return;
        };
        let Some(state) = self.state.take() else {
            return;
        };
        let at = At::new(NAME, self.num_called);
        let awaited = state.clone();
        run_when_ready(&awaited, move || {
            if are_available(&state) {
                drop(finish.call_at(&ctx, &state, Some(at)));
            }
        });
    }
}

impl Drop for GeneratorMachine {
    fn drop(&mut self) {
        if !self.has_ended {
            self.end();
        }
    }
}

impl Dataset {
    /// Returns the dataset of the elements that a function generates from a state. The function
    /// takes the state, and returns a Boolean, the next state, and the components of an element.
    /// `false` is the end: the components are then ignored. An error of the function ends the
    /// sequence.
    ///
    /// ```
    /// use tfrt_data::Dataset;
    /// use tfrt_host::{ExecutionContext, HostContext, RequestContextBuilder};
    /// use tfrt_support::Error;
    ///
    /// let ctx = ExecutionContext::new(RequestContextBuilder::new(HostContext::builder().build()).build());
    /// let powers = Dataset::generate(1_i64, |x: i64| (x < 100, 3 * x, x))?;
    /// let found = powers.elements::<i64, _>(&ctx).collect::<Result<Vec<_>, _>>()?;
    /// assert_eq!(found, [1, 3, 9, 27, 81]);
    /// # Ok::<(), Error>(())
    /// ```
    ///
    /// # Errors
    /// If the function has the wrong types, as far as they are known, or the state is a dataset
    /// that is nested too deep.
    pub fn generate<M>(
        state: impl Value,
        next: impl IntoElementFunction<M>,
    ) -> Result<Self, Error> {
        let itself = |_: &ExecutionContext, values: &[AnyRef]| Ok(values.iter().cloned().collect());
        let state = AnyRef::available(state);
        let types = ElementTypes::of_values([&state]);
        let init = ElementFunction::from_named_closure("itself", 1, 1, itself);
        let init = init.with_types(types.clone(), types);
        Self::generator_with(init, &[state], next.into_element_function(), None)
    }

    /// Returns a dataset as [`generate`](Self::generate) does. `init` takes `arguments` and returns
    /// the first state; it is called when the first element is drawn. `finish` is called with the
    /// last state: at the end, or when the iterator is dropped. An iterator that is restored from a
    /// checkpoint continues with the saved state, without a call of `init`.
    ///
    /// # Errors
    /// If the functions have the wrong types, as far as they are known, or an argument is a dataset
    /// that is nested too deep.
    pub fn generator_with(
        init: ElementFunction,
        arguments: &[AnyRef],
        next: ElementFunction,
        finish: Option<ElementFunction>,
    ) -> Result<Self, Error> {
        let (expected, found) = (init.parameter_types(), ElementTypes::of_values(arguments));
        if expected.conflicts_with(&found) {
            return Err(invalid(format!(
                "`{NAME}` expects arguments of type {expected}, found {found}"
            )));
        }
        let state = init.result_types();
        for function in [Some(&next), finish.as_ref()].into_iter().flatten() {
            let found = function.parameter_types();
            if state.conflicts_with(&found) {
                return Err(invalid(format!(
                    "`{NAME}` expects a function of its state, {state}, found one of {found}"
                )));
            }
        }
        check_state(NAME, &next, &ElementTypes::of::<bool>().followed_by(&state))?;
        check_saved_state(NAME, &next, &state)?;
        for function in [Some(&init), finish.as_ref()].into_iter().flatten() {
            check_no_outer_state(NAME, function)?;
        }
        Self::new(Generator {
            num_state: init.num_results(),
            init: BoundFunction::new(init, arguments),
            next,
            finish,
        })
    }
}
