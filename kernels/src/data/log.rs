//! A dataset that prints a line for each draw, for tests; and an example of a custom dataset.

use tfrt::data::{
    Cardinality, Dataset, Draw, IterationResult, Position, Stage, StageDescription, StateReader,
    StateWriter,
};
use tfrt::prelude::*;

use crate::text::print_line_if_possible;

#[derive(Debug)]
struct Log {
    input: Dataset,
}

impl Stage for Log {
    fn name(&self) -> &'static str {
        "log"
    }

    fn input_height(&self) -> u32 {
        self.input.height()
    }

    fn cardinality(&self) -> Cardinality {
        self.input.cardinality()
    }

    fn describe(&self, to: &mut StageDescription<'_>) {
        to.input(&self.input);
    }

    fn make_iterator(&self, position: Position) -> Box<dyn Draw> {
        Box::new(LogIterator {
            input: self.input.iterator_below(position),
        })
    }
}

#[derive(Debug)]
struct LogIterator {
    input: Box<dyn Draw>,
}

impl Draw for LogIterator {
    fn draw(&mut self, ctx: &ExecutionContext) -> IterationResult {
        print_line_if_possible("LogDatasetIterator::GetNext called");
        self.input.draw(ctx)
    }

    fn save(&mut self, to: &mut StateWriter<'_>) -> Result<()> {
        to.input(&mut *self.input)
    }

    fn restore(&mut self, from: &mut StateReader<'_>) -> Result<()> {
        from.input(&mut *self.input)
    }
}

/// Creates a dataset of the same elements that prints `LogDatasetIterator::GetNext called` whenever
/// one is drawn.
#[tfrt_kernel("tfrt_data.log_dataset", results(dataset))]
fn log_dataset(input: &Dataset) -> Result<Dataset> {
    Dataset::new(Log {
        input: input.clone(),
    })
}
