//! A function of each element.
//!
//! The function is called for every result that is drawn, ends and failed draws included: its
//! arguments are errors then, so that kernels that depend on them are skipped, and others run.

use tfrt_async::AnyRef;
use tfrt_host::ExecutionContext;
use tfrt_support::Error;

use crate::cardinality::Cardinality;
use crate::checkpoint::{StateReader, StateWriter};
use crate::dataset::{Dataset, Position, Stage};
use crate::description::StageDescription;
use crate::function::{BoundFunction, ElementFunction};
use crate::iterator::Draw;
use crate::result::{IterationResult, Outcome, are_available};

#[derive(Debug)]
struct Map {
    input: Dataset,
    function: BoundFunction,
}

impl Stage for Map {
    fn name(&self) -> &'static str {
        "map"
    }

    fn input_height(&self) -> u32 {
        self.input.height().max(self.function.height_of_bound())
    }

    fn cardinality(&self) -> Cardinality {
        self.input.cardinality()
    }

    fn describe(&self, to: &mut StageDescription<'_>) {
        self.function.describe(to);
        to.input(&self.input);
    }

    fn make_iterator(&self, position: Position) -> Box<dyn Draw> {
        Box::new(MapIterator {
            input: self.input.iterator_below(position),
            function: self.function.clone(),
        })
    }
}

#[derive(Debug)]
struct MapIterator {
    input: Box<dyn Draw>,
    function: BoundFunction,
}

impl Draw for MapIterator {
    fn draw(&mut self, ctx: &ExecutionContext) -> IterationResult {
        match self.input.draw(ctx) {
            // The usual case, without another look at what is known.
            IterationResult::Known(Outcome::Element(values)) if are_available(&values) => {
                Outcome::Element(self.function.call(ctx, &values)).into()
            }
            result => self.function.apply(result, ctx),
        }
    }

    fn save(&mut self, to: &mut StateWriter<'_>) -> Result<(), Error> {
        to.input(&mut *self.input)
    }

    fn restore(&mut self, from: &mut StateReader<'_>) -> Result<(), Error> {
        from.input(&mut *self.input)
    }
}

impl Dataset {
    /// The results of a function of each element. The function takes the bound values, then the
    /// components.
    ///
    /// # Errors
    /// If datasets are nested too deep.
    pub fn map_with(&self, function: ElementFunction, bound: &[AnyRef]) -> Result<Self, Error> {
        Self::new(Map {
            input: self.clone(),
            function: BoundFunction::new(function, bound),
        })
    }
}
