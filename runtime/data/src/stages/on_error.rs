//! Policies of single stages for errors.

use tfrt_host::{ExecutionContext, log};
use tfrt_support::Error;

use super::whole::WholeDraw;
use crate::cardinality::Cardinality;
use crate::checkpoint::{StateReader, StateWriter};
use crate::dataset::{Dataset, Position, Stage};
use crate::description::StageDescription;
use crate::element_types::ElementTypes;
use crate::iterator::Draw;
use crate::policy::OnError;
use crate::result::Outcome;
use crate::token::{Machine, STEPS_PER_TASK, Serial, StepResult, go_on_later};

#[derive(Clone, Debug)]
struct WithoutErrors {
    name: &'static str,
    input: Dataset,
    /// The number of errors that are skipped in a pass. The next one ends it.
    max_ignored: u64,
    logs: bool,
}

impl Stage for WithoutErrors {
    fn name(&self) -> &'static str {
        self.name
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
        if self.max_ignored < u64::MAX {
            to.attribute("max_ignored", self.max_ignored);
        }
        to.input(&self.input);
    }

    fn is_cheap_to_redraw(&self) -> bool {
        self.input.is_cheap_to_redraw()
    }

    fn share_files(&self, num_workers: u64, index: u64) -> Option<Result<Dataset, Error>> {
        let share = |input| Self {
            input,
            ..self.clone()
        };
        self.input.share_files_of(num_workers, index, share)
    }

    fn make_iterator(&self, position: Position) -> Box<dyn Draw> {
        Box::new(Serial::new(WithoutErrorsMachine {
            input: self.input.iterator_below(position),
            stage: self.clone(),
            drawn: WholeDraw::default(),
            num_ignored: 0,
            first: None,
            has_ended: false,
        }))
    }
}

#[derive(Debug)]
struct WithoutErrorsMachine {
    input: Box<dyn Draw>,
    stage: WithoutErrors,
    drawn: WholeDraw,
    num_ignored: u64,
    /// The first error, until it is logged.
    first: Option<Error>,
    has_ended: bool,
}

impl Machine for WithoutErrorsMachine {
    fn step(&mut self, _num_outstanding: usize, ctx: &ExecutionContext) -> StepResult {
        for _ in 0..STEPS_PER_TASK {
            if self.has_ended {
                return StepResult::Answer(Outcome::END);
            }
            // A cancelled request fails all draws. These errors are not skipped.
            if let Some(cancelled) = ctx.request().cancel_value() {
                return StepResult::Answer(Outcome::Error(cancelled.clone()));
            }
            let outcome = match self.drawn.next(&mut *self.input, ctx) {
                Ok(outcome) => outcome,
                Err(awaited) => return StepResult::Wait(awaited),
            };
            let error = match &outcome {
                Outcome::Element(values) => {
                    values.iter().find_map(|value| value.error_if_present())
                }
                Outcome::Error(failed) => failed.error_if_present(),
                Outcome::End(_) => {
                    self.tell();
                    return StepResult::Answer(Outcome::END);
                }
            };
            match (error, &outcome) {
                (None, Outcome::Element(_)) => return StepResult::Answer(outcome),
                (Some(error), _) if self.num_ignored < self.stage.max_ignored => {
                    self.num_ignored += 1;
                    self.first.get_or_insert_with(|| error.clone());
                }
                (None, _) if self.num_ignored < self.stage.max_ignored => {
                    self.num_ignored += 1;
                    self.first
                        .get_or_insert_with(|| Error::new("a failed draw"));
                }
                _ => {
                    self.has_ended = true;
                    self.tell();
                    return StepResult::Answer(outcome);
                }
            }
        }
        go_on_later(ctx)
    }

    fn save(&mut self, to: &mut StateWriter<'_>) -> Result<(), Error> {
        to.bool(self.has_ended);
        to.u64(self.num_ignored);
        self.drawn.save(to)?;
        to.input(&mut *self.input)
    }

    fn restore(&mut self, from: &mut StateReader<'_>) -> Result<(), Error> {
        self.has_ended = from.bool()?;
        self.num_ignored = from.u64()?;
        self.drawn.restore(from)?;
        from.input(&mut *self.input)
    }
}

impl WithoutErrorsMachine {
    /// Logs the number of skipped errors, if there are new ones.
    fn tell(&mut self) {
        if let Some(first) = self.first.take().filter(|_| self.stage.logs) {
            let s = if self.num_ignored == 1 { "" } else { "s" };
            log::write_line(
                log::Level::Warning,
                file!(),
                line!(),
                format_args!(
                    "an `{}` dataset ignored {} error{s}, the first: {}",
                    self.stage.name,
                    self.num_ignored,
                    first.message()
                ),
            );
        }
    }
}

impl Drop for WithoutErrorsMachine {
    fn drop(&mut self) {
        // An unfinished pass may have skipped errors, too.
        self.tell();
    }
}

impl Dataset {
    /// Removes failed draws, and elements of which a component is an error. With `logs`, a warning
    /// at the end of a pass reports their number.
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
        Self::new(WithoutErrors {
            name: "ignore_errors",
            input: self.clone(),
            max_ignored: u64::MAX,
            logs,
        })
    }

    /// Sets the policy for errors of this stage, and of the stages below it without a policy of
    /// their own. An error is a failed draw, or an element of which a component is an error.
    ///
    /// ```
    /// use tfrt_data::{Dataset, OnError};
    /// use tfrt_host::{ExecutionContext, HostContext, RequestContextBuilder};
    /// use tfrt_support::Error;
    ///
    /// let ctx = ExecutionContext::new(RequestContextBuilder::new(HostContext::builder().build()).build());
    /// let inverse = |x: i64| 12_i64.checked_div(x).ok_or_else(|| Error::new("division by zero"));
    /// let inverses = Dataset::range(-1, 3, 1)?.map(inverse)?;
    /// let found = |policy: OnError| -> Result<Vec<Result<i64, String>>, Error> {
    ///     let elements = inverses.on_error(policy)?.elements::<i64, _>(&ctx);
    ///     Ok(elements.map(|x| x.map_err(|error| error.to_string())).collect())
    /// };
    /// let error = Err("division by zero, at element 1 of `map`".to_owned());
    /// assert_eq!(found(OnError::Fail)?, [Ok(-12), error.clone(), Ok(12), Ok(6)]);
    /// assert_eq!(found(OnError::Stop)?, [Ok(-12), error]);
    /// // A warning in the log has the number of skipped errors.
    /// assert_eq!(found(OnError::Skip { max: 1 })?, [Ok(-12), Ok(12), Ok(6)]);
    /// # Ok::<(), Error>(())
    /// ```
    ///
    /// # Errors
    /// If datasets are nested too deep.
    pub fn on_error(&self, policy: OnError) -> Result<Self, Error> {
        let max_ignored = match policy {
            OnError::Fail => return Ok(self.clone()),
            OnError::Skip { max } => max,
            OnError::Stop => 0,
        };
        Self::new(WithoutErrors {
            name: "on_error",
            input: self.clone(),
            max_ignored,
            logs: true,
        })
    }
}
