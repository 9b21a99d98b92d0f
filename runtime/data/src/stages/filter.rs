//! The elements that a predicate accepts.
//!
//! An element is *undecided* until the result of the predicate is available. There are never more
//! undecided elements than requests: one is drawn for each request, and one for each rejected
//! element.

use std::collections::VecDeque;

use tfrt_async::AnyRef;
use tfrt_host::ExecutionContext;
use tfrt_support::Error;

use crate::cardinality::Cardinality;
use crate::checkpoint::{StateReader, StateWriter};
use crate::dataset::{Dataset, Position, Stage, invalid};
use crate::declared_state::Caller;
use crate::description::StageDescription;
use crate::element_types::{ElementTypes, check_predicate};
use crate::function::{At, BoundFunction, ElementFunction};
use crate::iterator::Draw;
use crate::result::{IterationResult, Outcome, Values, are_available};
use crate::token::{Machine, STEPS_PER_TASK, Serial, StepResult, go_on_later};

#[derive(Clone, Debug)]
struct Filter {
    input: Dataset,
    predicate: BoundFunction,
}

impl Stage for Filter {
    fn name(&self) -> &'static str {
        "filter"
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
        self.predicate.describe(to);
        to.input(&self.input);
    }

    fn share_files(&self, num_workers: u64, index: u64) -> Option<Result<Dataset, Error>> {
        let share = |input| Self {
            input,
            ..self.clone()
        };
        self.input.share_files_of(num_workers, index, share)
    }

    fn make_iterator(&self, position: Position) -> Box<dyn Draw> {
        Box::new(Serial::new(FilterMachine {
            input: self.input.iterator_below(position),
            predicate: Caller::new(self.name(), &self.predicate, position),
            undecided: VecDeque::new(),
            num_asked: 0,
        }))
    }
}

#[derive(Debug)]
struct FilterMachine {
    input: Box<dyn Draw>,
    predicate: Caller,
    undecided: VecDeque<Undecided>,
    /// The number of results to which the predicate was applied.
    num_asked: u64,
}

#[derive(Debug)]
struct Undecided {
    result: IterationResult,
    /// What the predicate made of it.
    verdict: IterationResult,
    at: At,
}

/// What the predicate says.
pub(super) enum Verdict {
    Accepts,
    Rejects,
    Fails(AnyRef),
}

impl Machine for FilterMachine {
    fn step(&mut self, num_outstanding: usize, ctx: &ExecutionContext) -> StepResult {
        for _ in 0..STEPS_PER_TASK {
            if let Some(cancelled) = ctx.request().cancel_value() {
                return StepResult::Answer(Outcome::Error(cancelled.clone()));
            }
            if self.undecided.is_empty() && num_outstanding == 1 {
                // The usual case: nothing is kept.
                match self.input.draw(ctx) {
                    IterationResult::Known(Outcome::Element(values)) if are_available(&values) => {
                        let at = self.next_asked();
                        let answer = self.predicate.call(ctx, &values, at);
                        match decide(&answer, at, ctx) {
                            Ok(verdict) => match conclude(verdict, values) {
                                Some(outcome) => return StepResult::Answer(outcome),
                                None => continue,
                            },
                            Err(_) => self.undecided.push_back(Undecided {
                                result: Outcome::Element(values).into(),
                                verdict: Outcome::Element(answer).into(),
                                at,
                            }),
                        }
                    }
                    result => self.ask(result, ctx),
                }
            }
            while self.undecided.len() < num_outstanding {
                let result = self.input.draw(ctx);
                self.ask(result, ctx);
            }
            match self.judge_oldest(ctx) {
                Some(step) => return step,
                None => continue,
            }
        }
        go_on_later(ctx)
    }

    fn save(&mut self, to: &mut StateWriter<'_>) -> Result<(), Error> {
        to.count(self.undecided.len());
        to.u64(self.num_asked);
        self.predicate.save(to)?;
        for Undecided {
            result, verdict, ..
        } in &self.undecided
        {
            to.result(result)?;
            to.result(verdict)?;
        }
        to.input(&mut *self.input)
    }

    fn restore(&mut self, from: &mut StateReader<'_>) -> Result<(), Error> {
        let num_undecided = from.count()?;
        self.num_asked = from.u64()?;
        self.predicate.restore(from)?;
        for index in 0..num_undecided {
            let (result, verdict) = (from.result()?, from.result()?);
            let num_behind = (num_undecided - index) as u64;
            self.undecided.push_back(Undecided {
                result,
                verdict,
                at: At::new("filter", self.num_asked.saturating_sub(num_behind)),
            });
        }
        from.input(&mut *self.input)
    }
}

impl FilterMachine {
    /// Asks the predicate about a drawn result.
    fn ask(&mut self, result: IterationResult, ctx: &ExecutionContext) {
        let at = self.next_asked();
        let verdict = self.predicate.apply(result.clone(), ctx, at);
        self.undecided.push_back(Undecided {
            result,
            verdict,
            at,
        });
    }

    /// Returns the element to which the predicate is applied next.
    fn next_asked(&mut self) -> At {
        let at = At::new("filter", self.num_asked);
        self.num_asked = self.num_asked.wrapping_add(1);
        at
    }

    /// Decides the oldest undecided element; returns `None` if it was rejected.
    fn judge_oldest(&mut self, ctx: &ExecutionContext) -> Option<StepResult> {
        let oldest = self.undecided.front_mut()?;
        let pending = match oldest.result.settle() {
            Some(pending) => Some(pending),
            // The end and a failed draw need no verdict.
            None if oldest.result.is_element() => oldest.verdict.settle(),
            None => None,
        };
        if let Some(pending) = pending {
            return Some(StepResult::Wait(pending));
        }
        if let IterationResult::Known(Outcome::Element(answer)) = &oldest.verdict
            && oldest.result.is_element()
            && let Some(pending) = answer.iter().find(|value| !value.is_available())
        {
            return Some(StepResult::Wait(pending.clone()));
        }
        let Undecided {
            result,
            verdict,
            at,
        } = self.undecided.pop_front()?;
        let (values, verdict) = match (result.into_outcome(), verdict.into_outcome()) {
            (Ok(Outcome::Element(values)), Ok(Outcome::Element(answer))) => {
                match decide(&answer, at, ctx) {
                    Ok(verdict) => (values, verdict),
                    Err(_) => return None,
                }
            }
            (Ok(Outcome::Element(_)), Ok(failed)) | (Ok(failed), _) => {
                return Some(StepResult::Answer(failed));
            }
            _ => return None,
        };
        conclude(verdict, values).map(StepResult::Answer)
    }
}

/// Returns the outcome for an element, if there is one.
fn conclude(verdict: Verdict, values: Values) -> Option<Outcome> {
    match verdict {
        Verdict::Accepts => Some(Outcome::Element(values)),
        Verdict::Rejects => None,
        Verdict::Fails(error) => Some(Outcome::Error(error)),
    }
}

/// Returns the verdict in the results of the predicate, or the one that is not available.
pub(super) fn decide<'a>(
    answer: &'a Values,
    at: At,
    ctx: &ExecutionContext,
) -> Result<Verdict, &'a AnyRef> {
    let fail = |message: String| Ok(Verdict::Fails(at.emit(invalid(message), ctx)));
    let [answer] = &answer[..] else {
        let found = answer.len();
        return fail(format!(
            "expected a predicate with one result, found {found} results"
        ));
    };
    if !answer.is_available() {
        return Err(answer);
    }
    match answer.get::<bool>() {
        Some(true) => Ok(Verdict::Accepts),
        Some(false) => Ok(Verdict::Rejects),
        None if answer.is_error() => Ok(Verdict::Fails(answer.clone())),
        None => fail(format!(
            "expected a predicate with a result of type `i1`, found `{}`",
            answer.mlir_type().unwrap_or("none")
        )),
    }
}

impl Dataset {
    /// Returns the elements for which `predicate` returns true. An error of the predicate takes the
    /// place of its element.
    ///
    /// # Errors
    /// If datasets are nested too deep.
    pub fn filter_with(&self, predicate: ElementFunction) -> Result<Self, Error> {
        check_predicate("filter", &predicate, self)?;
        Self::new(Filter {
            input: self.clone(),
            predicate: BoundFunction::new(predicate, &[]),
        })
    }
}
