//! Datasets one after the other.

use tfrt_host::ExecutionContext;
use tfrt_support::Error;

use crate::cardinality::Cardinality;
use crate::checkpoint::{StateReader, StateWriter};
use crate::dataset::{Dataset, Position, Stage};
use crate::description::StageDescription;
use crate::element_types::{ElementTypes, check_alike, common_types};
use crate::iterator::Draw;
use crate::result::{IterationResult, Outcome};
use crate::token::{Machine, Serial, StepResult};

#[derive(Debug)]
struct Concatenate {
    inputs: Box<[Dataset]>,
}

impl Stage for Concatenate {
    fn name(&self) -> &'static str {
        "concatenate"
    }

    fn input_height(&self) -> u32 {
        self.inputs.iter().map(Dataset::height).max().unwrap_or(0)
    }

    fn cardinality(&self) -> Cardinality {
        let cardinalities = self.inputs.iter().map(Dataset::cardinality);
        cardinalities.fold(Cardinality::Finite(0), Cardinality::plus)
    }

    fn element_types(&self) -> ElementTypes {
        common_types(&self.inputs)
    }

    fn describe(&self, to: &mut StageDescription<'_>) {
        for input in &self.inputs {
            to.input(input);
        }
    }

    fn is_cheap_to_redraw(&self) -> bool {
        self.inputs.iter().all(Dataset::is_cheap_to_redraw)
    }

    fn is_seekable(&self) -> bool {
        self.inputs.iter().all(Dataset::is_seekable)
    }

    fn make_iterator(&self, position: Position) -> Box<dyn Draw> {
        let inputs = self.inputs.iter().rev();
        Box::new(Serial::new(ConcatenateMachine {
            inputs: inputs.map(|input| input.iterator_below(position)).collect(),
            datasets: self.inputs.clone(),
            position,
            drawn: None,
        }))
    }
}

#[derive(Debug)]
struct ConcatenateMachine {
    /// Those that have not ended, the current one last.
    inputs: Vec<Box<dyn Draw>>,
    datasets: Box<[Dataset]>,
    position: Position,
    /// What was drawn, and is not known yet.
    drawn: Option<IterationResult>,
}

impl Machine for ConcatenateMachine {
    fn step(&mut self, _num_outstanding: usize, ctx: &ExecutionContext) -> StepResult {
        loop {
            let Some(input) = self.inputs.last_mut() else {
                return StepResult::Answer(Outcome::END);
            };
            let drawn = self.drawn.take();
            match drawn.unwrap_or_else(|| input.draw(ctx)).into_outcome() {
                Ok(Outcome::End(_)) => drop(self.inputs.pop()),
                Ok(outcome) => return StepResult::Answer(outcome),
                Err(pending) => {
                    let awaited = pending.as_any().clone();
                    self.drawn = Some(IterationResult::Pending(pending));
                    return StepResult::Wait(awaited);
                }
            }
        }
    }

    fn save(&mut self, to: &mut StateWriter<'_>) -> Result<(), Error> {
        to.count(self.inputs.len());
        to.results(self.drawn.iter())?;
        let mut inputs = self.inputs.iter_mut();
        inputs.try_for_each(|input| to.input(input))
    }

    fn restore(&mut self, from: &mut StateReader<'_>) -> Result<(), Error> {
        let num_left = from.at_most(self.inputs.len())?;
        self.inputs.truncate(num_left);
        self.drawn = from.results()?.pop_front();
        let mut inputs = self.inputs.iter_mut();
        inputs.try_for_each(|input| from.input(input))
    }

    fn seek(&mut self, num_before: u64) -> Result<(), Error> {
        let (mut rest, mut num_ended) = (num_before, 0);
        for dataset in &self.datasets {
            match dataset.cardinality() {
                Cardinality::Finite(len) if len <= rest => {
                    rest -= len;
                    num_ended += 1;
                }
                _ => break,
            }
        }
        self.drawn = None;
        let left = self.datasets[num_ended..].iter().rev();
        let inputs = left.map(|dataset| dataset.iterator_below(self.position));
        self.inputs = inputs.collect();
        match self.inputs.last_mut() {
            Some(input) => input.seek(rest),
            None => Ok(()),
        }
    }
}

impl Dataset {
    /// Returns the elements of all `inputs`, one dataset after the other.
    ///
    /// # Errors
    /// If the elements of two inputs are known to be of different types, or datasets are nested too
    /// deep.
    pub fn concatenate(inputs: &[Self]) -> Result<Self, Error> {
        check_alike("concatenate", inputs)?;
        Self::new(Concatenate {
            inputs: inputs.into(),
        })
    }
}
