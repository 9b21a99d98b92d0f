//! The elements of several datasets side by side.

use tfrt_async::{AnyRef, run_when_ready};
use tfrt_host::ExecutionContext;
use tfrt_support::Error;

use crate::cardinality::Cardinality;
use crate::checkpoint::{StateReader, StateWriter};
use crate::dataset::{Dataset, Position, Stage};
use crate::description::StageDescription;
use crate::iterator::Draw;
use crate::result::{IterationResult, Outcome, Values};

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

    fn describe(&self, to: &mut StageDescription<'_>) {
        for input in &self.inputs {
            to.input(input);
        }
    }

    fn is_cheap_to_redraw(&self) -> bool {
        self.inputs.iter().all(Dataset::is_cheap_to_redraw)
    }

    fn make_iterator(&self, position: Position) -> Box<dyn Draw> {
        let iterators = self.inputs.iter();
        Box::new(ZipIterator {
            inputs: iterators
                .map(|input| input.iterator_below(position))
                .collect(),
        })
    }
}

#[derive(Debug)]
struct ZipIterator {
    inputs: Vec<Box<dyn Draw>>,
}

impl Draw for ZipIterator {
    fn draw(&mut self, ctx: &ExecutionContext) -> IterationResult {
        if self.inputs.is_empty() {
            return Outcome::END.into();
        }
        let results: Vec<_> = self
            .inputs
            .iter_mut()
            .map(|input| input.draw(ctx))
            .collect();
        let pending = |result: &IterationResult| match result {
            IterationResult::Pending(pending) => Some(pending.as_any().clone()),
            IterationResult::Known(_) => None,
        };
        let awaited: Vec<AnyRef> = results.iter().filter_map(pending).collect();
        if awaited.iter().all(AnyRef::is_available) {
            return combine(results).into();
        }
        let (promise, result) = IterationResult::pending();
        run_when_ready(&awaited, move || promise.emplace(combine(results)));
        result
    }

    fn save(&mut self, to: &mut StateWriter<'_>) -> Result<(), Error> {
        let mut inputs = self.inputs.iter_mut();
        inputs.try_for_each(|input| to.input(input))
    }

    fn restore(&mut self, from: &mut StateReader<'_>) -> Result<(), Error> {
        let mut inputs = self.inputs.iter_mut();
        inputs.try_for_each(|input| from.input(input))
    }
}

/// One outcome of several that are known: the end if one of them is, and otherwise the first failed draw.
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
    /// The components of the elements of all `inputs`, one behind the other. Ends with the shortest; each step draws from all inputs, in
    /// their order. Of no inputs, there are no elements.
    ///
    /// # Errors
    /// If datasets are nested too deep.
    pub fn zip(inputs: &[Self]) -> Result<Self, Error> {
        Self::new(Zip {
            inputs: inputs.into(),
        })
    }
}
