//! A function of each element.
//!
//! The function is called for every drawn result, including ends and failed draws: its arguments
//! are then errors, so kernels that depend on them are skipped, and others run. A function with a
//! declared state is called for elements only.

use tfrt_async::AnyRef;
use tfrt_host::ExecutionContext;
use tfrt_support::Error;

use crate::cardinality::Cardinality;
use crate::checkpoint::{StateReader, StateWriter};
use crate::dataset::{Dataset, Position, Stage};
use crate::declared_state::Caller;
use crate::description::StageDescription;
use crate::element_types::{ElementTypes, check_outer_state, check_parameters};
use crate::function::{At, BoundFunction, ElementFunction};
use crate::iterator::Draw;
use crate::result::{IterationResult, Outcome, are_available};

#[derive(Clone, Debug)]
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

    fn element_types(&self) -> ElementTypes {
        self.function.result_types()
    }

    fn describe(&self, to: &mut StageDescription<'_>) {
        self.function.describe(to);
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
        Box::new(MapIterator {
            input: self.input.iterator_below(position),
            function: Caller::new(self.name(), &self.function, position),
            num_drawn: 0,
        })
    }
}

#[derive(Debug)]
struct MapIterator {
    input: Box<dyn Draw>,
    function: Caller,
    num_drawn: u64,
}

impl Draw for MapIterator {
    fn draw(&mut self, ctx: &ExecutionContext) -> IterationResult {
        let at = At::new("map", self.num_drawn);
        self.num_drawn = self.num_drawn.wrapping_add(1);
        match self.input.draw(ctx) {
            // The usual case, without another look at what is known.
            IterationResult::Known(Outcome::Element(values)) if are_available(&values) => {
                Outcome::Element(self.function.call(ctx, &values, at)).into()
            }
            result => self.function.apply(result, ctx, at),
        }
    }

    fn save(&mut self, to: &mut StateWriter<'_>) -> Result<(), Error> {
        to.u64(self.num_drawn);
        self.function.save(to)?;
        to.input(&mut *self.input)
    }

    fn restore(&mut self, from: &mut StateReader<'_>) -> Result<(), Error> {
        self.num_drawn = from.u64()?;
        self.function.restore(from)?;
        from.input(&mut *self.input)
    }

    fn seek(&mut self, num_before: u64) -> Result<(), Error> {
        self.num_drawn = num_before;
        self.input.seek(num_before)
    }
}

impl Dataset {
    /// Returns the results of a function of each element. The function takes the bound values, then
    /// the components.
    ///
    /// # Errors
    /// If the function does not take the components, as far as their types are known, or datasets
    /// are nested too deep.
    pub fn map_with(&self, function: ElementFunction, bound: &[AnyRef]) -> Result<Self, Error> {
        check_parameters("map", &function, bound, self)?;
        check_outer_state("map", &function, bound)?;
        Self::new(Map {
            input: self.clone(),
            function: BoundFunction::new(function, bound),
        })
    }
}
