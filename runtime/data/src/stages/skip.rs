//! All elements but the first ones.

use tfrt_host::ExecutionContext;
use tfrt_support::Error;

use super::MAX_DRAWS_PAST_END;
use crate::cardinality::Cardinality;
use crate::checkpoint::{StateReader, StateWriter};
use crate::dataset::{Dataset, Position, Stage};
use crate::description::StageDescription;
use crate::iterator::Draw;
use crate::result::{IterationResult, Outcome};

#[derive(Debug)]
struct Skip {
    input: Dataset,
    count: u64,
}

impl Stage for Skip {
    fn name(&self) -> &'static str {
        "skip"
    }

    fn input_height(&self) -> u32 {
        self.input.height()
    }

    fn cardinality(&self) -> Cardinality {
        self.input
            .cardinality()
            .map(|len| len.saturating_sub(self.count))
    }

    fn describe(&self, to: &mut StageDescription<'_>) {
        to.attribute("count", self.count);
        to.input(&self.input);
    }

    fn is_cheap_to_redraw(&self) -> bool {
        self.input.is_cheap_to_redraw()
    }

    fn make_iterator(&self, position: Position) -> Box<dyn Draw> {
        Box::new(SkipIterator {
            input: self.input.iterator_below(position),
            num_left: self.count,
        })
    }
}

#[derive(Debug)]
struct SkipIterator {
    input: Box<dyn Draw>,
    /// How many results are still to be dropped.
    num_left: u64,
}

impl Draw for SkipIterator {
    fn draw(&mut self, ctx: &ExecutionContext) -> IterationResult {
        while self.num_left > 0 {
            if let Some(cancelled) = ctx.request().cancel_value() {
                return Outcome::Error(cancelled.clone()).into();
            }
            self.num_left -= 1;
            if let IterationResult::Known(Outcome::End(_)) = self.input.draw(ctx) {
                self.num_left = self.num_left.min(MAX_DRAWS_PAST_END);
            }
        }
        self.input.draw(ctx)
    }

    fn save(&mut self, to: &mut StateWriter<'_>) -> Result<(), Error> {
        to.u64(self.num_left);
        to.input(&mut *self.input)
    }

    fn restore(&mut self, from: &mut StateReader<'_>) -> Result<(), Error> {
        self.num_left = from.u64()?.min(self.num_left);
        from.input(&mut *self.input)
    }
}

impl Dataset {
    /// The elements behind the first `count`; all of them if the count is not positive. The first draw draws and drops the others.
    ///
    /// # Errors
    /// If datasets are nested too deep.
    pub fn skip(&self, count: i64) -> Result<Self, Error> {
        Self::new(Skip {
            input: self.clone(),
            count: u64::try_from(count).unwrap_or(0),
        })
    }
}
