//! Values that are given one by one.

use std::any::Any;
use std::sync::Arc;

use tfrt_async::AnyRef;
use tfrt_host::ExecutionContext;
use tfrt_support::Error;

use crate::cardinality::Cardinality;
use crate::checkpoint::{StateReader, StateWriter, checksum};
use crate::dataset::{Dataset, Position, Stage, height_of};
use crate::description::{DIGEST, StageDescription};
use crate::digest::add_value;
use crate::element_types::ElementTypes;
use crate::iterator::Draw;
use crate::result::{IterationResult, Outcome, are_available};

#[derive(Debug)]
struct Given {
    outcomes: Arc<[Outcome]>,
    /// All values were available when the dataset was made.
    is_known: bool,
}

impl Stage for Given {
    fn name(&self) -> &'static str {
        "values"
    }

    fn input_height(&self) -> u32 {
        let values = self.outcomes.iter().filter_map(|outcome| match outcome {
            Outcome::Element(values) => Some(values),
            _ => None,
        });
        values.flatten().map(height_of).max().unwrap_or(0)
    }

    fn cardinality(&self) -> Cardinality {
        Cardinality::Finite(self.outcomes.len() as u64)
    }

    fn element_types(&self) -> ElementTypes {
        let elements = self.outcomes.iter().filter_map(|outcome| match outcome {
            Outcome::Element(values) => Some(values),
            _ => None,
        });
        ElementTypes::common_of(elements)
    }

    fn describe(&self, to: &mut StageDescription<'_>) {
        to.attribute("num_values", self.outcomes.len());
        if self.is_known {
            to.attribute(DIGEST, format_args!("{:016x}", digest(&self.outcomes)));
        }
    }

    fn is_cheap_to_redraw(&self) -> bool {
        true
    }

    fn is_seekable(&self) -> bool {
        true
    }

    fn make_iterator(&self, _position: Position) -> Box<dyn Draw> {
        Box::new(GivenIterator {
            outcomes: Arc::clone(&self.outcomes),
            next: 0,
        })
    }
}

/// Returns a checksum of the values, so that a checkpoint is not restored over other values. Values
/// of types that checkpoints cannot hold count by their type.
fn digest(outcomes: &[Outcome]) -> u64 {
    let mut bytes = Vec::new();
    for outcome in outcomes {
        let values = match outcome {
            Outcome::Element(values) => &values[..],
            Outcome::Error(error) => std::slice::from_ref(error),
            Outcome::End(_) => &[],
        };
        bytes.push(values.len() as u8);
        for value in values {
            add_value(value, &mut bytes);
        }
    }
    checksum(&bytes)
}

#[derive(Debug)]
struct GivenIterator {
    outcomes: Arc<[Outcome]>,
    next: usize,
}

impl Draw for GivenIterator {
    fn draw(&mut self, _ctx: &ExecutionContext) -> IterationResult {
        let Some(outcome) = self.outcomes.get(self.next) else {
            return Outcome::END.into();
        };
        self.next += 1;
        outcome.clone().into()
    }

    fn save(&mut self, to: &mut StateWriter<'_>) -> Result<(), Error> {
        to.count(self.next);
        Ok(())
    }

    fn restore(&mut self, from: &mut StateReader<'_>) -> Result<(), Error> {
        self.next = from.at_most(self.outcomes.len())?;
        Ok(())
    }

    fn seek(&mut self, num_before: u64) -> Result<(), Error> {
        let len = self.outcomes.len();
        self.next = usize::try_from(num_before).map_or(len, |next| next.min(len));
        Ok(())
    }
}

impl Dataset {
    /// Returns the given values, each an element with one component. They are shared, not copied.
    ///
    /// # Errors
    /// If a value is a dataset that is nested too deep.
    pub fn from_values(values: &[AnyRef]) -> Result<Self, Error> {
        Self::from_outcomes(values.iter().cloned().map(Outcome::one).collect())
    }

    /// Returns the outcomes, if they were given.
    pub(crate) fn given_outcomes(&self) -> Option<&[Outcome]> {
        let stage: &dyn Any = self.stage();
        stage.downcast_ref::<Given>().map(|given| &*given.outcomes)
    }

    /// Creates a dataset of outcomes that were drawn before.
    pub(crate) fn from_outcomes(outcomes: Vec<Outcome>) -> Result<Self, Error> {
        let is_known = outcomes.iter().all(|outcome| match outcome {
            Outcome::Element(values) => are_available(values),
            Outcome::End(_) | Outcome::Error(_) => true,
        });
        Self::new(Given {
            outcomes: outcomes.into(),
            is_known,
        })
    }
}
