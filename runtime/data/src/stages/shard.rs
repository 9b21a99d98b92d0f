//! Every so many elements, for one of several workers that share a dataset.

use tfrt_host::ExecutionContext;
use tfrt_support::Error;

use crate::cardinality::Cardinality;
use crate::checkpoint::{StateReader, StateWriter};
use crate::dataset::{Dataset, Position, Stage, invalid, require_positive};
use crate::description::StageDescription;
use crate::iterator::Draw;
use crate::result::{IterationResult, Outcome};

#[derive(Debug)]
struct Shard {
    input: Dataset,
    num_shards: u64,
    index: u64,
}

impl Stage for Shard {
    fn name(&self) -> &'static str {
        "shard"
    }

    fn input_height(&self) -> u32 {
        self.input.height()
    }

    fn cardinality(&self) -> Cardinality {
        match self.input.cardinality() {
            Cardinality::Finite(len) => {
                let rest = u64::from(len % self.num_shards > self.index);
                Cardinality::Finite(len / self.num_shards + rest)
            }
            other => other,
        }
    }

    fn describe(&self, to: &mut StageDescription<'_>) {
        to.attribute("num_shards", self.num_shards);
        to.attribute("index", self.index);
        to.input(&self.input);
    }

    fn is_cheap_to_redraw(&self) -> bool {
        self.input.is_cheap_to_redraw()
    }

    fn make_iterator(&self, position: Position) -> Box<dyn Draw> {
        Box::new(ShardIterator {
            input: self.input.iterator_below(position),
            num_before: self.index,
            num_between: self.num_shards - 1,
        })
    }
}

#[derive(Debug)]
struct ShardIterator {
    input: Box<dyn Draw>,
    /// How many results to drop before the next one.
    num_before: u64,
    num_between: u64,
}

impl Draw for ShardIterator {
    fn draw(&mut self, ctx: &ExecutionContext) -> IterationResult {
        while self.num_before > 0 {
            if let Some(cancelled) = ctx.request().cancel_value() {
                return Outcome::Error(cancelled.clone()).into();
            }
            self.num_before -= 1;
            if let IterationResult::Known(Outcome::End(_)) = self.input.draw(ctx) {
                return Outcome::END.into();
            }
        }
        self.num_before = self.num_between;
        self.input.draw(ctx)
    }

    fn save(&mut self, to: &mut StateWriter<'_>) -> Result<(), Error> {
        to.u64(self.num_before);
        to.input(&mut *self.input)
    }

    fn restore(&mut self, from: &mut StateReader<'_>) -> Result<(), Error> {
        self.num_before = from.u64()?.min(self.num_between);
        from.input(&mut *self.input)
    }
}

impl Dataset {
    /// The elements whose number, counted from 0, has the remainder `index` when divided by `num_shards`.
    ///
    /// # Errors
    /// If the number of shards is not positive, the index is not one of a shard, or datasets are nested too deep.
    pub fn shard(&self, num_shards: i64, index: i64) -> Result<Self, Error> {
        let num_shards = require_positive("num_shards", num_shards)? as u64;
        let index = u64::try_from(index)
            .ok()
            .filter(|index| *index < num_shards);
        let Some(index) = index else {
            let message =
                format!("index must be at least 0 and less than num_shards, {num_shards}");
            return Err(invalid(message));
        };
        Self::new(Shard {
            input: self.clone(),
            num_shards,
            index,
        })
    }
}
