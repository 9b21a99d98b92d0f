//! Several passes over the input.

use std::collections::VecDeque;

use tfrt_host::ExecutionContext;
use tfrt_support::Error;

use super::MAX_DRAWS_PAST_END;
use crate::cardinality::Cardinality;
use crate::checkpoint::{StateReader, StateWriter};
use crate::dataset::{Dataset, Position, Stage};
use crate::description::StageDescription;
use crate::element_types::ElementTypes;
use crate::iterator::{Draw, cannot_seek};
use crate::result::{IterationResult, Outcome};
use crate::token::{Machine, STEPS_PER_TASK, Serial, StepResult, go_on_later};

#[derive(Clone, Debug)]
struct Repeat {
    input: Dataset,
    /// For ever if it is negative.
    count: i64,
}

impl Stage for Repeat {
    fn name(&self) -> &'static str {
        "repeat"
    }

    fn input_height(&self) -> u32 {
        self.input.height()
    }

    fn cardinality(&self) -> Cardinality {
        self.input
            .cardinality()
            .times(u64::try_from(self.count).ok())
    }

    fn element_types(&self) -> ElementTypes {
        self.input.element_types()
    }

    fn describe(&self, to: &mut StageDescription<'_>) {
        to.attribute("count", self.count);
        to.input(&self.input);
    }

    fn is_cheap_to_redraw(&self) -> bool {
        self.input.is_cheap_to_redraw()
    }

    fn is_seekable(&self) -> bool {
        self.input.is_seekable() && matches!(self.input.cardinality(), Cardinality::Finite(1..))
    }

    fn share_files(&self, num_workers: u64, index: u64) -> Option<Result<Dataset, Error>> {
        let share = |input| Self {
            input,
            ..self.clone()
        };
        self.input.share_files_of(num_workers, index, share)
    }

    fn make_iterator(&self, position: Position) -> Box<dyn Draw> {
        Box::new(Serial::new(RepeatMachine {
            pass: self.input.iterator_below(position),
            input: self.input.clone(),
            num_passes: u64::try_from(self.count).ok(),
            position,
            drawn: VecDeque::new(),
            has_no_pass: self.count == 0,
            num_passes_left: u64::try_from(self.count).ok(),
            is_pass_empty: true,
            has_drawn: false,
            has_ended: false,
        }))
    }
}

#[derive(Debug)]
struct RepeatMachine {
    input: Dataset,
    position: Position,
    /// The current pass.
    pass: Box<dyn Draw>,
    /// Results of the current pass, oldest first, one for each request.
    drawn: VecDeque<IterationResult>,
    has_no_pass: bool,
    /// The number of all passes; `None` if they never end.
    num_passes: Option<u64>,
    /// The current pass included; none if there is no last one.
    num_passes_left: Option<u64>,
    /// The current pass has had no element. Failed draws do not count: a file that is missing fails
    /// in each pass.
    is_pass_empty: bool,
    has_drawn: bool,
    has_ended: bool,
}

impl Machine for RepeatMachine {
    fn step(&mut self, num_outstanding: usize, ctx: &ExecutionContext) -> StepResult {
        if self.has_no_pass {
            // One draw, as in the reference, which learns from it how many components there are.
            if !self.has_drawn {
                self.has_drawn = true;
                drop(self.pass.draw(ctx));
            }
            return StepResult::Answer(Outcome::END);
        }
        for _ in 0..STEPS_PER_TASK {
            if self.has_ended {
                return StepResult::Answer(Outcome::END);
            }
            if let Some(cancelled) = ctx.request().cancel_value() {
                return StepResult::Answer(Outcome::Error(cancelled.clone()));
            }
            while self.drawn.len() + 1 < num_outstanding {
                let result = self.pass.draw(ctx);
                self.drawn.push_back(result);
            }
            let oldest = match self.drawn.len() < num_outstanding {
                true => {
                    let newest = self.pass.draw(ctx);
                    match self.drawn.pop_front() {
                        Some(oldest) => {
                            self.drawn.push_back(newest);
                            oldest
                        }
                        None => newest,
                    }
                }
                false => self.drawn.pop_front().unwrap_or(Outcome::END.into()),
            };
            match oldest.into_outcome() {
                Ok(Outcome::End(_)) => self.end_pass(),
                Ok(outcome) => {
                    self.is_pass_empty &= !outcome.is_element();
                    return StepResult::Answer(outcome);
                }
                Err(pending) => {
                    let awaited = pending.as_any().clone();
                    self.drawn.push_front(IterationResult::Pending(pending));
                    return StepResult::Wait(awaited);
                }
            }
        }
        // Only empty passes come here.
        go_on_later(ctx)
    }

    fn save(&mut self, to: &mut StateWriter<'_>) -> Result<(), Error> {
        to.bool(self.is_pass_empty);
        to.bool(self.has_drawn);
        to.bool(self.has_ended);
        to.u64(self.num_passes_left.unwrap_or(0));
        to.results(self.drawn.iter())?;
        to.input(&mut *self.pass)
    }

    fn restore(&mut self, from: &mut StateReader<'_>) -> Result<(), Error> {
        self.is_pass_empty = from.bool()?;
        self.has_drawn = from.bool()?;
        self.has_ended = from.bool()?;
        let num_left = from.u64()?;
        if let Some(num_passes_left) = &mut self.num_passes_left {
            *num_passes_left = num_left.min(*num_passes_left);
            // The last pass has ended.
            self.has_ended |= num_left == 0;
        }
        self.drawn = from.results()?;
        from.input(&mut *self.pass)
    }

    fn seek(&mut self, num_before: u64) -> Result<(), Error> {
        let Cardinality::Finite(len @ 1..) = self.input.cardinality() else {
            return Err(cannot_seek::<Self>(num_before));
        };
        let (pass, num_before) = (num_before / len, num_before % len);
        self.drawn.clear();
        self.pass = self.input.iterator_below(self.position);
        self.is_pass_empty = num_before == 0;
        self.num_passes_left = self
            .num_passes
            .map(|num_passes| num_passes.saturating_sub(pass));
        self.has_ended = self.num_passes_left == Some(0);
        self.pass.seek(num_before)
    }
}

impl RepeatMachine {
    /// Begins the next pass, if there is one. What was drawn beyond the end is dropped.
    fn end_pass(&mut self) {
        self.drawn.clear();
        if let Some(num_left) = &mut self.num_passes_left {
            *num_left -= 1;
        }
        let num_left = self.num_passes_left.unwrap_or(u64::MAX);
        // Empty passes could go on for longer than anybody waits.
        self.has_ended = num_left == 0 || (self.is_pass_empty && num_left > MAX_DRAWS_PAST_END);
        if !self.has_ended {
            self.pass = self.input.iterator_below(self.position);
            self.is_pass_empty = true;
        }
    }
}

impl Dataset {
    /// Returns the elements of `count` passes; a negative count repeats forever, unless a whole
    /// pass has no element.
    ///
    /// # Errors
    /// If datasets are nested too deep.
    pub fn repeat(&self, count: i64) -> Result<Self, Error> {
        Self::new(Repeat {
            input: self.clone(),
            count,
        })
    }
}
