//! The elements of several datasets side by side.

use std::collections::VecDeque;

use tfrt_host::ExecutionContext;
use tfrt_support::Error;

use crate::cardinality::Cardinality;
use crate::checkpoint::{StateReader, StateWriter};
use crate::dataset::{Dataset, Position, Stage};
use crate::description::StageDescription;
use crate::element_types::ElementTypes;
use crate::iterator::Draw;
use crate::result::{IterationResult, Outcome, Values};
use crate::token::{Machine, Serial, StepResult};

#[derive(Debug)]
struct Zip {
    inputs: Box<[Dataset]>,
}

impl Stage for Zip {
    fn name(&self) -> &'static str {
        "zip"
    }

    fn input_height(&self) -> u32 {
        self.inputs.iter().map(Dataset::height).max().unwrap_or(0)
    }

    fn cardinality(&self) -> Cardinality {
        let cardinalities = self.inputs.iter().map(Dataset::cardinality);
        cardinalities
            .reduce(Cardinality::min)
            .unwrap_or(Cardinality::Finite(0))
    }

    fn element_types(&self) -> ElementTypes {
        let types = self.inputs.iter().map(Dataset::element_types);
        let all = types.reduce(|all, types| all.followed_by(&types));
        all.unwrap_or_default()
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
        let iterators = self.inputs.iter();
        Box::new(Serial::new(ZipMachine {
            inputs: iterators
                .map(|input| input.iterator_below(position))
                .collect(),
            rows: VecDeque::new(),
        }))
    }
}

#[derive(Debug)]
struct ZipMachine {
    inputs: Vec<Box<dyn Draw>>,
    /// What was drawn for requests that wait, oldest first: one result of each input.
    rows: VecDeque<Vec<IterationResult>>,
}

impl Machine for ZipMachine {
    fn step(&mut self, num_outstanding: usize, ctx: &ExecutionContext) -> StepResult {
        if self.inputs.is_empty() {
            return StepResult::Answer(Outcome::END);
        }
        while self.rows.len() < num_outstanding {
            let draws = self.inputs.iter_mut().map(|input| input.draw(ctx));
            let row = draws.collect();
            self.rows.push_back(row);
        }
        let oldest = self.rows.front_mut().into_iter().flatten();
        if let Some(awaited) = oldest.filter_map(IterationResult::settle).next() {
            return StepResult::Wait(awaited);
        }
        StepResult::Answer(self.rows.pop_front().map_or(Outcome::END, combine))
    }

    fn save(&mut self, to: &mut StateWriter<'_>) -> Result<(), Error> {
        to.count(self.rows.len());
        self.rows
            .iter()
            .try_for_each(|row| to.results(row.iter()))?;
        let mut inputs = self.inputs.iter_mut();
        inputs.try_for_each(|input| to.input(input))
    }

    fn restore(&mut self, from: &mut StateReader<'_>) -> Result<(), Error> {
        for _ in 0..from.count()? {
            let row = from.results()?;
            self.rows.push_back(row.into());
        }
        let mut inputs = self.inputs.iter_mut();
        inputs.try_for_each(|input| from.input(input))
    }

    fn seek(&mut self, num_before: u64) -> Result<(), Error> {
        self.rows.clear();
        let mut inputs = self.inputs.iter_mut();
        inputs.try_for_each(|input| input.seek(num_before))
    }
}

/// Combines several known outcomes: the end if one of them is the end, and otherwise the first
/// failed draw.
fn combine(results: Vec<IterationResult>) -> Outcome {
    let mut all = Some(Values::new());
    let mut failed = None;
    for result in results {
        match result.into_outcome() {
            Ok(Outcome::Element(values)) => {
                if let Some(all) = &mut all {
                    all.extend(values);
                }
            }
            Ok(Outcome::Error(error)) => {
                failed.get_or_insert(error);
            }
            Ok(Outcome::End(_)) | Err(_) => all = None,
        }
    }
    match (all, failed) {
        (None, _) => Outcome::END,
        (_, Some(error)) => Outcome::Error(error),
        (Some(values), None) => Outcome::Element(values),
    }
}

impl Dataset {
    /// Returns elements with the components of all `inputs`, one after another. Ends with the
    /// shortest; each step draws from all inputs, in order. Without inputs, the dataset is empty.
    ///
    /// # Errors
    /// If datasets are nested too deep.
    pub fn zip(inputs: &[Self]) -> Result<Self, Error> {
        Self::new(Zip {
            inputs: inputs.into(),
        })
    }
}
