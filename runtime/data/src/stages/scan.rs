//! A function of each element and of what it made of those before.

use std::sync::Arc;

use smallvec::SmallVec;
use tfrt_async::AnyRef;
use tfrt_host::ExecutionContext;
use tfrt_support::Error;

use crate::cardinality::Cardinality;
use crate::checkpoint::{StateReader, StateWriter};
use crate::dataset::{Dataset, Position, Stage, height_of, invalid};
use crate::declared_state::HandedOn;
use crate::description::StageDescription;
use crate::element_types::{ElementTypes, check_parameters, check_saved_state, check_state};
use crate::function::{At, ElementFunction};
use crate::iterator::Draw;
use crate::result::{IterationResult, Outcome, Values, are_available};
use crate::token::{Machine, Serial, StepResult};

#[derive(Debug)]
struct Scan {
    input: Dataset,
    state: Arc<[AnyRef]>,
    function: ElementFunction,
}

impl Stage for Scan {
    fn name(&self) -> &'static str {
        "scan"
    }

    fn input_height(&self) -> u32 {
        let heights = self.state.iter().map(height_of);
        self.input.height().max(heights.max().unwrap_or(0))
    }

    fn cardinality(&self) -> Cardinality {
        self.input.cardinality()
    }

    fn element_types(&self) -> ElementTypes {
        self.function.result_types().behind(self.state.len())
    }

    fn describe(&self, to: &mut StageDescription<'_>) {
        to.function(&self.function);
        to.values("num_state", &self.state);
        to.input(&self.input);
    }

    fn make_iterator(&self, position: Position) -> Box<dyn Draw> {
        Box::new(Serial::new(ScanMachine {
            input: self.input.iterator_below(position),
            state: self.state.iter().cloned().collect(),
            function: self.function.clone(),
            handed_on: HandedOn::new(self.name(), &self.function),
            before: None,
            drawn: None,
            num_scanned: 0,
        }))
    }
}

#[derive(Debug)]
struct ScanMachine {
    input: Box<dyn Draw>,
    /// What the last call returned first.
    state: Values,
    /// The state before the last call, which counts again if that call failed.
    before: Option<Values>,
    function: ElementFunction,
    /// How a checkpoint has the state.
    handed_on: HandedOn,
    /// What was drawn, until the function can be called with it.
    drawn: Option<IterationResult>,
    /// The number of processed results.
    num_scanned: u64,
}

impl ScanMachine {
    /// Goes back to the state before the last call if that has failed: one error is one element.
    fn undo_failed_call(&mut self) {
        if are_available(&self.state)
            && let Some(before) = self.before.take()
            && self.state.iter().any(AnyRef::is_error)
        {
            self.state = before;
        }
    }
}

impl Machine for ScanMachine {
    fn step(&mut self, _num_outstanding: usize, ctx: &ExecutionContext) -> StepResult {
        let drawn = self.drawn.take();
        let values = match drawn.unwrap_or_else(|| self.input.draw(ctx)).into_outcome() {
            Ok(Outcome::Element(values)) => values,
            Ok(Outcome::End(_)) => return StepResult::Answer(Outcome::END),
            Ok(failed) => {
                self.num_scanned = self.num_scanned.wrapping_add(1);
                return StepResult::Answer(failed);
            }
            Err(pending) => {
                let awaited = pending.as_any().clone();
                self.drawn = Some(IterationResult::Pending(pending));
                return StepResult::Wait(awaited);
            }
        };
        self.undo_failed_call();
        let mut arguments = self.state.iter().chain(&values);
        if let Some(awaited) = arguments.find(|value| !value.is_available()) {
            let awaited = awaited.clone();
            self.drawn = Some(Outcome::Element(values).into());
            return StepResult::Wait(awaited);
        }
        let arguments: SmallVec<[AnyRef; 4]> = self.state.iter().chain(&values).cloned().collect();
        let at = At::new("scan", self.num_scanned);
        self.num_scanned = self.num_scanned.wrapping_add(1);
        self.handed_on.forget();
        let mut results = self.function.call_at(ctx, &arguments, Some(at));
        let num_state = self.state.len();
        if results.len() < num_state {
            let message = format!(
                "expected a scan function with at least {num_state} results for its state, \
                 found {}",
                results.len()
            );
            return StepResult::Answer(Outcome::Error(at.emit(invalid(message), ctx)));
        }
        let outputs = results.drain(num_state..).collect();
        self.before = Some(std::mem::replace(&mut self.state, results));
        StepResult::Answer(Outcome::Element(outputs))
    }

    fn save(&mut self, to: &mut StateWriter<'_>) -> Result<(), Error> {
        self.undo_failed_call();
        to.u64(self.num_scanned);
        self.handed_on.save(&self.state, to)?;
        to.results(self.drawn.iter())?;
        to.input(&mut *self.input)
    }

    fn restore(&mut self, from: &mut StateReader<'_>) -> Result<(), Error> {
        self.num_scanned = from.u64()?;
        self.state = self.handed_on.restore(self.state.len(), from)?;
        self.drawn = from.results()?.pop_front();
        from.input(&mut *self.input)
    }
}

impl Dataset {
    /// Returns the results of a function of each element and a state, whose initial values are
    /// given. The function takes the state, then the components; it returns the next state, then
    /// the components of the result.
    ///
    /// # Errors
    /// If the function does not take and return the state, or does not take the components, as far
    /// as types are known, or datasets are nested too deep.
    pub fn scan_with(&self, state: &[AnyRef], function: ElementFunction) -> Result<Self, Error> {
        check_parameters("scan", &function, state, self)?;
        let types = ElementTypes::of_values(state);
        check_state("scan", &function, &types)?;
        check_saved_state("scan", &function, &types)?;
        Self::new(Scan {
            input: self.clone(),
            state: state.into(),
            function,
        })
    }
}
