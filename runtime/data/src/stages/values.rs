//! Values that are given one by one.

use std::sync::Arc;

use tfrt_async::AnyRef;
use tfrt_host::ExecutionContext;
use tfrt_support::Error;

use crate::dataset::{Dataset, Position, Stage, height_of};
use crate::iterator::Draw;
use crate::result::{IterationResult, Outcome};

#[derive(Debug)]
struct Given {
    values: Arc<[AnyRef]>,
}

impl Stage for Given {
    fn name(&self) -> &'static str {
        "values"
    }

    fn input_height(&self) -> u32 {
        self.values.iter().map(height_of).max().unwrap_or(0)
    }

    fn make_iterator(&self, _position: Position) -> Box<dyn Draw> {
        Box::new(GivenIterator {
            values: Arc::clone(&self.values),
            next: 0,
        })
    }
}

#[derive(Debug)]
struct GivenIterator {
    values: Arc<[AnyRef]>,
    next: usize,
}

impl Draw for GivenIterator {
    fn draw(&mut self, _ctx: &ExecutionContext) -> IterationResult {
        let Some(value) = self.values.get(self.next) else {
            return Outcome::END.into();
        };
        self.next += 1;
        Outcome::one(value.clone()).into()
    }
}

impl Dataset {
    /// The given values, each an element with one component. They are shared, not copied.
    ///
    /// # Errors
    /// If a value is a dataset that is nested too deep.
    pub fn from_values(values: &[AnyRef]) -> Result<Self, Error> {
        Self::new(Given {
            values: values.into(),
        })
    }
}
