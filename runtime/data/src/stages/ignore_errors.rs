//! The elements that are not errors.

use tfrt_host::{ExecutionContext, log};
use tfrt_support::Error;

use crate::cardinality::Cardinality;
use crate::checkpoint::{StateReader, StateWriter};
use crate::dataset::{Dataset, Position, Stage};
use crate::description::StageDescription;
use crate::iterator::Draw;
use crate::result::{IterationResult, Outcome, Values};
use crate::token::{Machine, STEPS_PER_TASK, Serial, StepResult, go_on_later};

#[derive(Debug)]
struct IgnoreErrors {
    input: Dataset,
    logs: bool,
}

impl Stage for IgnoreErrors {
    fn name(&self) -> &'static str {
        "ignore_errors"
    }

    fn input_height(&self) -> u32 {
        self.input.height()
    }

    fn cardinality(&self) -> Cardinality {
        self.input.cardinality().at_most()
    }

    fn describe(&self, to: &mut StageDescription<'_>) {
        to.input(&self.input);
    }

    fn is_cheap_to_redraw(&self) -> bool {
        self.input.is_cheap_to_redraw()
    }

    fn make_iterator(&self, position: Position) -> Box<dyn Draw> {
        Box::new(Serial::new(IgnoreErrorsMachine {
            input: self.input.iterator_below(position),
            logs: self.logs,
            drawn: None,
            num_ignored: 0,
            first: None,
        }))
    }
}

#[derive(Debug)]
struct IgnoreErrorsMachine {
    input: Box<dyn Draw>,
    logs: bool,
    /// What was drawn, and is not known yet.
    drawn: Option<IterationResult>,
    num_ignored: u64,
    /// The first error, until it is told.
    first: Option<Error>,
}

impl Machine for IgnoreErrorsMachine {
    fn step(&mut self, _num_outstanding: usize, ctx: &ExecutionContext) -> StepResult {
        for _ in 0..STEPS_PER_TASK {
            // A cancelled request fails all draws, which is nothing to leave out.
            if let Some(cancelled) = ctx.request().cancel_value() {
                return StepResult::Answer(Outcome::Error(cancelled.clone()));
            }
            let drawn = self.drawn.take();
            match drawn.unwrap_or_else(|| self.input.draw(ctx)).into_outcome() {
                Ok(Outcome::Element(values)) => match pending_in(&values) {
                    Some(awaited) => {
                        self.drawn = Some(Outcome::Element(values).into());
                        return StepResult::Wait(awaited);
                    }
                    None => match values.iter().find_map(|value| value.error_if_present()) {
                        Some(error) => self.ignore(error.clone()),
                        None => return StepResult::Answer(Outcome::Element(values)),
                    },
                },
                Ok(Outcome::Error(failed)) => {
                    let unknown = || Error::new("a failed draw");
                    self.ignore(failed.error_if_present().cloned().unwrap_or_else(unknown));
                }
                Ok(Outcome::End(_)) => {
                    self.tell();
                    return StepResult::Answer(Outcome::END);
                }
                Err(pending) => {
                    let awaited = pending.as_any().clone();
                    self.drawn = Some(IterationResult::Pending(pending));
                    return StepResult::Wait(awaited);
                }
            }
        }
        go_on_later(ctx)
    }

    fn save(&mut self, to: &mut StateWriter<'_>) -> Result<(), Error> {
        to.u64(self.num_ignored);
        to.results(self.drawn.iter())?;
        to.input(&mut *self.input)
    }

    fn restore(&mut self, from: &mut StateReader<'_>) -> Result<(), Error> {
        self.num_ignored = from.u64()?;
        self.drawn = from.results()?.pop_front();
        from.input(&mut *self.input)
    }
}

/// A value that is not available.
fn pending_in(values: &Values) -> Option<tfrt_async::AnyRef> {
    values.iter().find(|value| !value.is_available()).cloned()
}

impl IgnoreErrorsMachine {
    fn ignore(&mut self, error: Error) {
        self.num_ignored += 1;
        self.first.get_or_insert(error);
    }

    /// Logs how many errors were left out, if there was one since the last time.
    fn tell(&mut self) {
        if let Some(first) = self.first.take().filter(|_| self.logs) {
            log::write_line(
                log::Level::Warning,
                file!(),
                line!(),
                format_args!(
                    "an `ignore_errors` dataset left out errors: {} in all, the first: {}",
                    self.num_ignored,
                    first.message()
                ),
            );
        }
    }
}

impl Drop for IgnoreErrorsMachine {
    fn drop(&mut self) {
        // A pass that was not finished left out errors, too.
        self.tell();
    }
}

impl Dataset {
    /// The elements without those that failed to be drawn, or of which a component is an error. If
    /// `logs`, a warning at the end of a pass tells how many were left out.
    ///
    /// ```
    /// use tfrt_data::Dataset;
    /// use tfrt_host::{ExecutionContext, HostContext, RequestContextBuilder};
    /// use tfrt_support::Error;
    ///
    /// let ctx = ExecutionContext::new(RequestContextBuilder::new(HostContext::builder().build()).build());
    /// let inverse = |x: i64| 12_i64.checked_div(x).ok_or_else(|| Error::new("division by zero"));
    /// let inverses = Dataset::range(-1, 3, 1)?.map(inverse)?.ignore_errors(false)?;
    /// let found = inverses.elements::<i64, _>(&ctx).collect::<Result<Vec<_>, _>>()?;
    /// assert_eq!(found, [-12, 12, 6]);
    /// # Ok::<(), Error>(())
    /// ```
    ///
    /// # Errors
    /// If datasets are nested too deep.
    pub fn ignore_errors(&self, logs: bool) -> Result<Self, Error> {
        Self::new(IgnoreErrors {
            input: self.clone(),
            logs,
        })
    }
}
