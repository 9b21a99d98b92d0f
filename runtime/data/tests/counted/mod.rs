//! A stage that counts draws.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tfrt_data::{
    Cardinality, Dataset, Draw, ElementTypes, IterationResult, Position, Stage, StageDescription,
    StateReader, StateWriter,
};
use tfrt_host::ExecutionContext;
use tfrt_support::Error;

/// Counts draws from a dataset and passes everything on: a stage that a user wrote.
#[derive(Debug)]
pub struct Counted {
    pub input: Dataset,
    pub count: Arc<AtomicUsize>,
}

impl Stage for Counted {
    fn name(&self) -> &'static str {
        "counted"
    }

    fn input_height(&self) -> u32 {
        self.input.height()
    }

    fn describe(&self, to: &mut StageDescription<'_>) {
        to.input(&self.input);
    }

    fn is_cheap_to_redraw(&self) -> bool {
        self.input.is_cheap_to_redraw()
    }

    fn cardinality(&self) -> Cardinality {
        self.input.cardinality()
    }

    fn element_types(&self) -> ElementTypes {
        self.input.element_types()
    }

    fn is_seekable(&self) -> bool {
        self.input.is_seekable()
    }

    fn make_iterator(&self, position: Position) -> Box<dyn Draw> {
        Box::new(CountedIterator(
            self.input.iterator_below(position),
            Arc::clone(&self.count),
        ))
    }
}

#[derive(Debug)]
struct CountedIterator(Box<dyn Draw>, Arc<AtomicUsize>);

impl Draw for CountedIterator {
    fn draw(&mut self, ctx: &ExecutionContext) -> IterationResult {
        self.1.fetch_add(1, Ordering::Relaxed);
        self.0.draw(ctx)
    }

    fn save(&mut self, to: &mut StateWriter<'_>) -> Result<(), Error> {
        to.input(&mut *self.0)
    }

    fn restore(&mut self, from: &mut StateReader<'_>) -> Result<(), Error> {
        from.input(&mut *self.0)
    }

    fn seek(&mut self, num_before: u64) -> Result<(), Error> {
        self.0.seek(num_before)
    }
}
