//! A drawn result, kept until all of its values are available.

use tfrt_async::AnyRef;
use tfrt_host::ExecutionContext;
use tfrt_support::Error;

use crate::checkpoint::{StateReader, StateWriter};
use crate::iterator::Draw;
use crate::result::{IterationResult, Outcome};

/// The current draw of a stage that reads the values of elements.
#[derive(Debug, Default)]
pub(super) struct WholeDraw {
    /// The drawn result, while a part of it is pending.
    drawn: Option<IterationResult>,
}

impl WholeDraw {
    /// Returns the next outcome with available values, or the value to wait for before the next
    /// call.
    pub(super) fn next(
        &mut self,
        input: &mut dyn Draw,
        ctx: &ExecutionContext,
    ) -> Result<Outcome, AnyRef> {
        let drawn = self.drawn.take();
        match drawn.unwrap_or_else(|| input.draw(ctx)).into_outcome() {
            Ok(Outcome::Element(values)) => {
                match values.iter().find(|value| !value.is_available()).cloned() {
                    Some(awaited) => {
                        self.drawn = Some(Outcome::Element(values).into());
                        Err(awaited)
                    }
                    None => Ok(Outcome::Element(values)),
                }
            }
            Ok(outcome) => Ok(outcome),
            Err(pending) => {
                let awaited = pending.as_any().clone();
                self.drawn = Some(IterationResult::Pending(pending));
                Err(awaited)
            }
        }
    }

    pub(super) fn save(&self, to: &mut StateWriter<'_>) -> Result<(), Error> {
        to.results(self.drawn.iter())
    }

    pub(super) fn restore(&mut self, from: &mut StateReader<'_>) -> Result<(), Error> {
        self.drawn = from.results()?.pop_front();
        Ok(())
    }
}
