//! What a stage has drawn, until all of it is there.

use tfrt_async::AnyRef;
use tfrt_host::ExecutionContext;
use tfrt_support::Error;

use crate::checkpoint::{StateReader, StateWriter};
use crate::iterator::Draw;
use crate::result::{IterationResult, Outcome};

/// A draw of a stage that looks at the values of elements.
#[derive(Debug, Default)]
pub(super) struct WholeDraw {
    /// What was drawn, while something of it is pending.
    drawn: Option<IterationResult>,
}

impl WholeDraw {
    /// The next outcome, with values that are available; or what to wait for before asking again.
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
