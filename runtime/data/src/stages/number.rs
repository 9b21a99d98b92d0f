//! Elements with their numbers.

use tfrt_async::AnyRef;
use tfrt_host::ExecutionContext;
use tfrt_support::Error;

use crate::cardinality::Cardinality;
use crate::checkpoint::{StateReader, StateWriter};
use crate::dataset::{Dataset, Position, Stage};
use crate::description::StageDescription;
use crate::element_types::ElementTypes;
use crate::iterator::Draw;
use crate::result::{IterationResult, Outcome};

#[derive(Debug)]
struct Number {
    input: Dataset,
    start: i64,
}

impl Stage for Number {
    fn name(&self) -> &'static str {
        "enumerate"
    }

    fn input_height(&self) -> u32 {
        self.input.height()
    }

    fn cardinality(&self) -> Cardinality {
        self.input.cardinality()
    }

    fn element_types(&self) -> ElementTypes {
        ElementTypes::of::<i64>().followed_by(&self.input.element_types())
    }

    fn describe(&self, to: &mut StageDescription<'_>) {
        to.attribute("start", self.start);
        to.input(&self.input);
    }

    fn is_cheap_to_redraw(&self) -> bool {
        self.input.is_cheap_to_redraw()
    }

    fn is_seekable(&self) -> bool {
        self.input.is_seekable()
    }

    fn make_iterator(&self, position: Position) -> Box<dyn Draw> {
        Box::new(NumberIterator {
            input: self.input.iterator_below(position),
            start: self.start,
            next: self.start,
        })
    }
}

#[derive(Debug)]
struct NumberIterator {
    input: Box<dyn Draw>,
    start: i64,
    next: i64,
}

impl Draw for NumberIterator {
    fn draw(&mut self, ctx: &ExecutionContext) -> IterationResult {
        let number = self.next;
        self.next = number.wrapping_add(1);
        match self.input.draw(ctx).into_outcome() {
            Ok(outcome) => numbered(outcome, number).into(),
            Err(pending) => {
                let (promise, result) = IterationResult::pending();
                IterationResult::Pending(pending).and_then_for(promise, move |outcome, promise| {
                    promise.emplace(numbered(outcome, number));
                });
                result
            }
        }
    }

    fn save(&mut self, to: &mut StateWriter<'_>) -> Result<(), Error> {
        to.i64(self.next);
        to.input(&mut *self.input)
    }

    fn restore(&mut self, from: &mut StateReader<'_>) -> Result<(), Error> {
        self.next = from.i64()?;
        from.input(&mut *self.input)
    }

    fn seek(&mut self, num_before: u64) -> Result<(), Error> {
        self.next = self.start.wrapping_add(num_before as i64);
        self.input.seek(num_before)
    }
}

fn numbered(mut outcome: Outcome, number: i64) -> Outcome {
    if let Outcome::Element(values) = &mut outcome {
        values.insert(0, AnyRef::available(number));
    }
    outcome
}

impl Dataset {
    /// Returns the same elements, each with its number, counted from `start`, as an additional
    /// first component. A failed draw has a number, too.
    ///
    /// # Errors
    /// If datasets are nested too deep.
    pub fn enumerate(&self, start: i64) -> Result<Self, Error> {
        Self::new(Number {
            input: self.clone(),
            start,
        })
    }
}
