//! Every so many elements, for one of several workers that share a dataset.

use std::collections::VecDeque;

use tfrt_async::AnyRef;
use tfrt_host::{ExecutionContext, log};
use tfrt_support::Error;

use super::dropping::{Dropped, answer_oldest};
use crate::cardinality::Cardinality;
use crate::checkpoint::{StateReader, StateWriter};
use crate::dataset::{Dataset, Position, Stage, invalid, require_positive};
use crate::description::StageDescription;
use crate::element_types::ElementTypes;
use crate::iterator::Draw;
use crate::result::{IterationResult, Outcome};
use crate::token::{Machine, Serial, StepResult};

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

    fn element_types(&self) -> ElementTypes {
        self.input.element_types()
    }

    fn describe(&self, to: &mut StageDescription<'_>) {
        to.attribute("num_shards", self.num_shards);
        to.attribute("index", self.index);
        to.input(&self.input);
    }

    fn is_cheap_to_redraw(&self) -> bool {
        self.input.is_cheap_to_redraw()
    }

    fn is_seekable(&self) -> bool {
        self.input.is_seekable()
    }

    fn make_iterator(&self, position: Position) -> Box<dyn Draw> {
        Box::new(Serial::new(ShardMachine {
            input: self.input.iterator_below(position),
            index: self.index,
            num_before: self.index,
            num_between: self.num_shards - 1,
            dropped: Dropped::default(),
            drawn: VecDeque::new(),
        }))
    }
}

#[derive(Debug)]
struct ShardMachine {
    input: Box<dyn Draw>,
    index: u64,
    /// How many results to drop before the next one.
    num_before: u64,
    num_between: u64,
    dropped: Dropped,
    /// Results for outstanding requests, oldest first.
    drawn: VecDeque<IterationResult>,
}

impl ShardMachine {
    /// Draws the next element of the shard, or says what to wait for first.
    fn draw_next(&mut self, ctx: &ExecutionContext) -> Result<IterationResult, AnyRef> {
        while self.num_before > 0 {
            if let Some(cancelled) = ctx.request().cancel_value() {
                return Ok(Outcome::Error(cancelled.clone()).into());
            }
            if let Some(awaited) = self.dropped.awaited() {
                return Err(awaited);
            }
            self.num_before -= 1;
            let result = self.input.draw(ctx);
            if self.dropped.add(result) {
                return Ok(Outcome::END.into());
            }
        }
        self.num_before = self.num_between;
        Ok(self.input.draw(ctx))
    }
}

impl Machine for ShardMachine {
    fn step(&mut self, num_outstanding: usize, ctx: &ExecutionContext) -> StepResult {
        while self.drawn.len() < num_outstanding {
            match self.draw_next(ctx) {
                Ok(result) => self.drawn.push_back(result),
                Err(awaited) if self.drawn.is_empty() => return StepResult::Wait(awaited),
                // The oldest request comes first.
                Err(_) => break,
            }
        }
        answer_oldest(&mut self.drawn)
    }

    fn save(&mut self, to: &mut StateWriter<'_>) -> Result<(), Error> {
        to.u64(self.num_before);
        to.results(self.drawn.iter())?;
        to.input(&mut *self.input)
    }

    fn restore(&mut self, from: &mut StateReader<'_>) -> Result<(), Error> {
        self.num_before = from.u64()?.min(self.num_between);
        self.drawn = from.results()?;
        from.input(&mut *self.input)
    }

    fn seek(&mut self, num_before: u64) -> Result<(), Error> {
        self.num_before = self.index;
        self.drawn.clear();
        let num_shards = self.num_between + 1;
        self.input.seek(num_before.saturating_mul(num_shards))
    }
}

impl Dataset {
    /// Returns the share of worker `index` of `num_shards`. If the elements come from files, the
    /// workers share the files, or the records of each file if there are fewer files than workers.
    /// Otherwise they share the elements as [`shard`](Self::shard) does: every worker then makes
    /// all elements, and the log has a warning.
    ///
    /// Maps, filters, shuffles, prefetches, interleaves, repeats, policies for errors and batches
    /// may stand above the files. Each worker makes its own batches.
    ///
    /// ```
    /// use tfrt_data::Dataset;
    ///
    /// let numbers = Dataset::range(0, 10, 1)?;
    /// let share = numbers.auto_shard(4, 1)?;
    /// assert_eq!(share.name(), "shard");
    /// # Ok::<(), tfrt_support::Error>(())
    /// ```
    ///
    /// # Errors
    /// As `shard`.
    pub fn auto_shard(&self, num_shards: i64, index: i64) -> Result<Self, Error> {
        // This also reports invalid numbers.
        let by_element = self.shard(num_shards, index)?;
        let (num_workers, worker) = (num_shards as u64, index as u64);
        if let Some(by_file) = self.stage().share_files(num_workers, worker) {
            return by_file;
        }
        log::write_line(
            log::Level::Warning,
            file!(),
            line!(),
            format_args!(
                "`{}` is not made of files that workers could share: each of {num_shards} makes all elements, and leaves out those of the others",
                self.name()
            ),
        );
        Ok(by_element)
    }

    /// Returns the elements whose number, counted from 0, has the remainder `index` when divided by
    /// `num_shards`.
    ///
    /// # Errors
    /// If the number of shards is not positive, the index is out of range, or datasets are nested
    /// too deep.
    pub fn shard(&self, num_shards: i64, index: i64) -> Result<Self, Error> {
        let num_shards = require_positive("num_shards", num_shards)?.unsigned_abs();
        let worker = u64::try_from(index).ok();
        let Some(worker) = worker.filter(|worker| *worker < num_shards) else {
            let last = num_shards - 1;
            return Err(invalid(format!(
                "index must be between 0 and {last}, not {index}"
            )));
        };
        Self::new(Shard {
            input: self.clone(),
            num_shards,
            index: worker,
        })
    }
}
