//! A number of elements that is stated, and compared with what is drawn.

use tfrt_host::ExecutionContext;
use tfrt_support::{Error, ErrorCode};

use crate::cardinality::Cardinality;
use crate::checkpoint::{StateReader, StateWriter};
use crate::dataset::{Dataset, Position, Stage, invalid};
use crate::description::StageDescription;
use crate::element_types::ElementTypes;
use crate::iterator::Draw;
use crate::result::{IterationResult, Outcome};
use crate::token::{Machine, Serial, StepResult};

#[derive(Debug)]
struct AssertCardinality {
    input: Dataset,
    expected: u64,
}

impl Stage for AssertCardinality {
    fn name(&self) -> &'static str {
        "assert_cardinality"
    }

    fn input_height(&self) -> u32 {
        self.input.height()
    }

    fn cardinality(&self) -> Cardinality {
        Cardinality::Finite(self.expected)
    }

    fn element_types(&self) -> ElementTypes {
        self.input.element_types()
    }

    fn describe(&self, to: &mut StageDescription<'_>) {
        to.attribute("expected", self.expected);
        to.input(&self.input);
    }

    fn is_cheap_to_redraw(&self) -> bool {
        self.input.is_cheap_to_redraw()
    }

    fn make_iterator(&self, position: Position) -> Box<dyn Draw> {
        Box::new(Serial::new(AssertCardinalityMachine {
            input: self.input.iterator_below(position),
            expected: self.expected,
            num_delivered: 0,
            drawn: None,
            has_ended: false,
        }))
    }
}

#[derive(Debug)]
struct AssertCardinalityMachine {
    input: Box<dyn Draw>,
    expected: u64,
    num_delivered: u64,
    /// What was drawn, and is not known yet.
    drawn: Option<IterationResult>,
    has_ended: bool,
}

impl Machine for AssertCardinalityMachine {
    fn step(&mut self, _num_outstanding: usize, ctx: &ExecutionContext) -> StepResult {
        if self.has_ended {
            return StepResult::Answer(Outcome::END);
        }
        let drawn = self.drawn.take();
        let outcome = match drawn.unwrap_or_else(|| self.input.draw(ctx)).into_outcome() {
            Ok(outcome) => outcome,
            Err(pending) => {
                let awaited = pending.as_any().clone();
                self.drawn = Some(IterationResult::Pending(pending));
                return StepResult::Wait(awaited);
            }
        };
        let expected = self.expected;
        let found = match outcome {
            Outcome::End(_) if self.num_delivered < expected => {
                format!("expected {expected} elements, found {}", self.num_delivered)
            }
            Outcome::Element(_) if self.num_delivered == expected => {
                format!("expected {expected} elements, found more")
            }
            outcome => {
                self.num_delivered += u64::from(outcome.is_element());
                return StepResult::Answer(outcome);
            }
        };
        self.has_ended = true;
        let error = Error::new(found).with_code(ErrorCode::FailedPrecondition);
        StepResult::Answer(Outcome::error(ctx.emit_error(error)))
    }

    fn save(&mut self, to: &mut StateWriter<'_>) -> Result<(), Error> {
        to.u64(self.num_delivered);
        to.bool(self.has_ended);
        to.results(self.drawn.iter())?;
        to.input(&mut *self.input)
    }

    fn restore(&mut self, from: &mut StateReader<'_>) -> Result<(), Error> {
        self.num_delivered = from.u64()?;
        self.has_ended = from.bool()?;
        self.drawn = from.results()?.pop_front();
        from.input(&mut *self.input)
    }
}

impl Dataset {
    /// Returns the same elements, whose number must be `expected`: fewer or more are an error,
    /// after which the sequence ends. If the number of elements of the input is unknown, this
    /// declares it.
    ///
    /// ```
    /// use tfrt_data::{Cardinality, Dataset};
    ///
    /// let even = Dataset::range(0, 10, 1)?.filter(|x: i64| x % 2 == 0)?;
    /// assert_eq!(even.cardinality(), Cardinality::Unknown);
    /// assert_eq!(even.assert_cardinality(5)?.cardinality(), Cardinality::Finite(5));
    /// # Ok::<(), tfrt_support::Error>(())
    /// ```
    ///
    /// # Errors
    /// If the number is negative, or datasets are nested too deep.
    pub fn assert_cardinality(&self, expected: i64) -> Result<Self, Error> {
        let expected = u64::try_from(expected)
            .map_err(|_| invalid(format!("cardinality must not be negative, not {expected}")))?;
        Self::new(AssertCardinality {
            input: self.clone(),
            expected,
        })
    }
}
