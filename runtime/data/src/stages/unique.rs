//! Datasets without repeated elements.

use std::collections::HashSet;

use tfrt_host::ExecutionContext;
use tfrt_support::Error;

use super::whole::WholeDraw;
use crate::cardinality::Cardinality;
use crate::checkpoint::{StateReader, StateWriter};
use crate::dataset::{Dataset, Position, Stage};
use crate::description::StageDescription;
use crate::element_types::ElementTypes;
use crate::function::At;
use crate::iterator::Draw;
use crate::result::{Outcome, Values};
use crate::token::{Machine, STEPS_PER_TASK, Serial, StepResult, go_on_later};

#[derive(Debug)]
struct Unique {
    input: Dataset,
}

impl Stage for Unique {
    fn name(&self) -> &'static str {
        "unique"
    }

    fn input_height(&self) -> u32 {
        self.input.height()
    }

    fn cardinality(&self) -> Cardinality {
        self.input.cardinality().at_most()
    }

    fn element_types(&self) -> ElementTypes {
        self.input.element_types()
    }

    fn describe(&self, to: &mut StageDescription<'_>) {
        to.input(&self.input);
    }

    fn is_cheap_to_redraw(&self) -> bool {
        self.input.is_cheap_to_redraw()
    }

    fn make_iterator(&self, position: Position) -> Box<dyn Draw> {
        Box::new(Serial::new(UniqueMachine {
            input: self.input.iterator_below(position),
            drawn: WholeDraw::default(),
            num_drawn: 0,
            seen: HashSet::new(),
        }))
    }
}

#[derive(Debug)]
struct UniqueMachine {
    input: Box<dyn Draw>,
    drawn: WholeDraw,
    num_drawn: u64,
    /// The previous elements, encoded as in checkpoints: equal bytes are equal values of equal
    /// types.
    seen: HashSet<Box<[u8]>>,
}

impl Machine for UniqueMachine {
    fn step(&mut self, _num_outstanding: usize, ctx: &ExecutionContext) -> StepResult {
        for _ in 0..STEPS_PER_TASK {
            if let Some(cancelled) = ctx.request().cancel_value() {
                return StepResult::Answer(Outcome::Error(cancelled.clone()));
            }
            let outcome = match self.drawn.next(&mut *self.input, ctx) {
                Ok(outcome) => outcome,
                Err(awaited) => return StepResult::Wait(awaited),
            };
            let at = At::new("unique", self.num_drawn);
            self.num_drawn = self.num_drawn.wrapping_add(1);
            let values = match outcome {
                // Errors are not compared: each is delivered.
                Outcome::Element(values) if !values.iter().any(|value| value.is_error()) => values,
                outcome => return StepResult::Answer(outcome),
            };
            match key_of(&values, ctx) {
                Ok(key) => {
                    if self.seen.insert(key) {
                        return StepResult::Answer(Outcome::Element(values));
                    }
                }
                Err(error) => return StepResult::Answer(Outcome::Error(at.emit(error, ctx))),
            }
        }
        go_on_later(ctx)
    }

    fn save(&mut self, to: &mut StateWriter<'_>) -> Result<(), Error> {
        to.u64(self.num_drawn);
        self.drawn.save(to)?;
        // Sorted, so that equal states are equal bytes.
        let mut seen: Vec<_> = self.seen.iter().collect();
        seen.sort_unstable();
        to.count(seen.len());
        seen.into_iter().for_each(|key| to.bytes(key));
        to.input(&mut *self.input)
    }

    fn restore(&mut self, from: &mut StateReader<'_>) -> Result<(), Error> {
        self.num_drawn = from.u64()?;
        self.drawn.restore(from)?;
        for _ in 0..from.count()? {
            self.seen.insert(from.bytes()?.into());
        }
        from.input(&mut *self.input)
    }
}

fn key_of(values: &Values, ctx: &ExecutionContext) -> Result<Box<[u8]>, Error> {
    let mut key = StateWriter::new(ctx);
    key.values(values)
        .map_err(|_| Error::new("an element that cannot be compared"))?;
    Ok(key.finish().unwrap_or_default().into())
}

impl Dataset {
    /// Returns the dataset without repeated elements. Numbers, strings and tensors can be compared:
    /// they are equal if their types, shapes and bits are equal. All distinct elements are kept in
    /// memory.
    ///
    /// ```
    /// use tfrt_data::Dataset;
    /// use tfrt_host::{ExecutionContext, HostContext, RequestContextBuilder};
    /// use tfrt_support::Error;
    ///
    /// let ctx = ExecutionContext::new(RequestContextBuilder::new(HostContext::builder().build()).build());
    /// let remainders = Dataset::range(4, 20, 1)?.map(|x: i64| x % 3)?.unique()?;
    /// let found = remainders.elements::<i64, _>(&ctx).collect::<Result<Vec<_>, _>>()?;
    /// assert_eq!(found, [1, 2, 0]);
    /// # Ok::<(), Error>(())
    /// ```
    ///
    /// # Errors
    /// If datasets are nested too deep.
    pub fn unique(&self) -> Result<Self, Error> {
        Self::new(Unique {
            input: self.clone(),
        })
    }
}
