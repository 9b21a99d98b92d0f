//! The first elements: so many, or as long as a predicate accepts them.

use tfrt_host::ExecutionContext;
use tfrt_support::Error;

use super::filter::{Verdict, decide};
use crate::cardinality::Cardinality;
use crate::checkpoint::{StateReader, StateWriter};
use crate::dataset::{Dataset, Position, Stage};
use crate::declared_state::Caller;
use crate::description::StageDescription;
use crate::element_types::{ElementTypes, check_predicate};
use crate::function::{At, BoundFunction, ElementFunction};
use crate::iterator::Draw;
use crate::result::{IterationResult, Outcome, Values};
use crate::token::{Machine, Serial, StepResult};

#[derive(Debug)]
struct Take {
    input: Dataset,
    /// All elements, if there is no number.
    count: Option<u64>,
}

impl Stage for Take {
    fn name(&self) -> &'static str {
        "take"
    }

    fn input_height(&self) -> u32 {
        self.input.height()
    }

    fn cardinality(&self) -> Cardinality {
        let len = self.input.cardinality();
        match (len, self.count) {
            (len, None) => len,
            (Cardinality::Finite(len), Some(count)) => Cardinality::Finite(len.min(count)),
            (Cardinality::Infinite, Some(count)) => Cardinality::Finite(count),
            (Cardinality::Unknown, Some(0)) => Cardinality::Finite(0),
            (Cardinality::Unknown, Some(_)) => Cardinality::Unknown,
        }
    }

    fn element_types(&self) -> ElementTypes {
        self.input.element_types()
    }

    fn describe(&self, to: &mut StageDescription<'_>) {
        match self.count {
            Some(count) => to.attribute("count", count),
            None => to.attribute("count", -1),
        }
        to.input(&self.input);
    }

    fn is_cheap_to_redraw(&self) -> bool {
        self.input.is_cheap_to_redraw()
    }

    fn is_seekable(&self) -> bool {
        self.input.is_seekable()
    }

    fn make_iterator(&self, position: Position) -> Box<dyn Draw> {
        Box::new(TakeIterator {
            input: self.input.iterator_below(position),
            count: self.count.unwrap_or(u64::MAX),
            num_left: self.count.unwrap_or(u64::MAX),
        })
    }
}

#[derive(Debug)]
struct TakeIterator {
    input: Box<dyn Draw>,
    count: u64,
    num_left: u64,
}

impl Draw for TakeIterator {
    fn draw(&mut self, ctx: &ExecutionContext) -> IterationResult {
        if self.num_left == 0 {
            return Outcome::END.into();
        }
        self.num_left -= 1;
        self.input.draw(ctx)
    }

    fn save(&mut self, to: &mut StateWriter<'_>) -> Result<(), Error> {
        to.u64(self.num_left);
        to.input(&mut *self.input)
    }

    fn restore(&mut self, from: &mut StateReader<'_>) -> Result<(), Error> {
        self.num_left = from.u64()?.min(self.num_left);
        from.input(&mut *self.input)
    }

    fn seek(&mut self, num_before: u64) -> Result<(), Error> {
        self.num_left = self.count.saturating_sub(num_before);
        self.input.seek(num_before)
    }
}

#[derive(Debug)]
struct TakeWhile {
    input: Dataset,
    predicate: BoundFunction,
}

impl Stage for TakeWhile {
    fn name(&self) -> &'static str {
        "take_while"
    }

    fn input_height(&self) -> u32 {
        self.input.height()
    }

    fn element_types(&self) -> ElementTypes {
        self.input.element_types()
    }

    fn describe(&self, to: &mut StageDescription<'_>) {
        self.predicate.describe(to);
        to.input(&self.input);
    }

    fn make_iterator(&self, position: Position) -> Box<dyn Draw> {
        Box::new(Serial::new(TakeWhileMachine {
            input: self.input.iterator_below(position),
            predicate: Caller::new(self.name(), &self.predicate, position),
            state: TakeWhileState::Taking,
            num_taken: 0,
        }))
    }
}

#[derive(Debug)]
struct TakeWhileMachine {
    input: Box<dyn Draw>,
    predicate: Caller,
    state: TakeWhileState,
    /// The number of results that were drawn before the current one.
    num_taken: u64,
}

#[derive(Debug)]
enum TakeWhileState {
    /// Nothing is under way.
    Taking,
    /// The predicate has not been asked about this result.
    Drawn(IterationResult),
    /// The predicate was asked about an element.
    Asked {
        values: Values,
        answer: Values,
    },
    Ended,
}

impl Machine for TakeWhileMachine {
    fn step(&mut self, _num_outstanding: usize, ctx: &ExecutionContext) -> StepResult {
        let at = At::new("take_while", self.num_taken);
        loop {
            match std::mem::replace(&mut self.state, TakeWhileState::Ended) {
                TakeWhileState::Ended => return StepResult::Answer(Outcome::END),
                TakeWhileState::Taking => {
                    self.state = TakeWhileState::Drawn(self.input.draw(ctx));
                }
                TakeWhileState::Drawn(result) => match result.into_outcome() {
                    Ok(Outcome::Element(values)) => {
                        let answer = self.predicate.call_when_available(values.clone(), ctx, at);
                        self.state = TakeWhileState::Asked { values, answer };
                    }
                    Ok(Outcome::End(_)) => {}
                    Ok(failed) => {
                        self.num_taken = self.num_taken.wrapping_add(1);
                        self.state = TakeWhileState::Taking;
                        return StepResult::Answer(failed);
                    }
                    Err(pending) => {
                        let awaited = pending.as_any().clone();
                        self.state = TakeWhileState::Drawn(IterationResult::Pending(pending));
                        return StepResult::Wait(awaited);
                    }
                },
                TakeWhileState::Asked { values, answer } => {
                    let outcome = match decide(&answer, at, ctx) {
                        Ok(Verdict::Accepts) => Outcome::Element(values),
                        Ok(Verdict::Rejects) => continue,
                        Ok(Verdict::Fails(error)) => Outcome::Error(error),
                        Err(pending) => {
                            let awaited = pending.clone();
                            self.state = TakeWhileState::Asked { values, answer };
                            return StepResult::Wait(awaited);
                        }
                    };
                    self.num_taken = self.num_taken.wrapping_add(1);
                    self.state = TakeWhileState::Taking;
                    return StepResult::Answer(outcome);
                }
            }
        }
    }

    fn save(&mut self, to: &mut StateWriter<'_>) -> Result<(), Error> {
        to.u64(self.num_taken);
        self.predicate.save(to)?;
        match &self.state {
            TakeWhileState::Taking => to.count(0),
            TakeWhileState::Ended => to.count(1),
            TakeWhileState::Drawn(result) => {
                to.count(2);
                to.result(result)?;
            }
            TakeWhileState::Asked { values, answer } if self.predicate.has_state() => {
                to.count(3);
                to.values(values)?;
                to.values(answer)?;
            }
            // Asked again after the restore.
            TakeWhileState::Asked { values, .. } => {
                to.count(2);
                to.outcome(&Outcome::Element(values.clone()))?;
            }
        }
        to.input(&mut *self.input)
    }

    fn restore(&mut self, from: &mut StateReader<'_>) -> Result<(), Error> {
        self.num_taken = from.u64()?;
        self.predicate.restore(from)?;
        self.state = match from.at_most(3)? {
            0 => TakeWhileState::Taking,
            1 => TakeWhileState::Ended,
            2 => TakeWhileState::Drawn(from.result()?),
            _ => TakeWhileState::Asked {
                values: from.values()?,
                answer: from.values()?,
            },
        };
        from.input(&mut *self.input)
    }
}

impl Dataset {
    /// Returns the first `count` elements; all of them if the count is negative. No more are drawn.
    ///
    /// # Errors
    /// If datasets are nested too deep.
    pub fn take(&self, count: i64) -> Result<Self, Error> {
        Self::new(Take {
            input: self.clone(),
            count: u64::try_from(count).ok(),
        })
    }

    /// Returns the elements before the first one for which `predicate` returns false. An error of
    /// the predicate takes the place of its element.
    ///
    /// # Errors
    /// If the predicate does not take the components or return a Boolean, as far as types are
    /// known, or datasets are nested too deep.
    pub fn take_while_with(&self, predicate: ElementFunction) -> Result<Self, Error> {
        check_predicate("take_while", &predicate, self)?;
        Self::new(TakeWhile {
            input: self.clone(),
            predicate: BoundFunction::new(predicate, &[]),
        })
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use tfrt_async::{AnyRef, IndirectPromise};
    use tfrt_host::{HostContext, RequestContextBuilder};

    use super::*;

    /// A machine over the number 7, whose predicate counts its calls and returns this answer.
    fn machine(num_calls: &Arc<AtomicUsize>) -> (TakeWhileMachine, IndirectPromise) {
        let (promise, answer) = AnyRef::indirect();
        let num_calls = Arc::clone(num_calls);
        let predicate = ElementFunction::from_closure(1, 1, move |_, _| {
            num_calls.fetch_add(1, Ordering::Relaxed);
            Ok([answer.clone()].into_iter().collect())
        });
        let predicate = predicate.with_state(|| 0_i64, |_: i64| ());
        let machine = TakeWhileMachine {
            input: Dataset::range(7, 8, 1)
                .unwrap()
                .iterator_below(Position::ROOT),
            predicate: Caller::new(
                "take_while",
                &BoundFunction::new(predicate, &[]),
                Position::ROOT,
            ),
            state: TakeWhileState::Taking,
            num_taken: 0,
        };
        (machine, promise)
    }

    /// A machine may be saved between any two steps.
    #[test]
    fn an_answer_of_a_predicate_with_a_state_is_saved() {
        let host = HostContext::builder().build();
        let ctx = ExecutionContext::new(RequestContextBuilder::new(host).build());
        let num_calls = Arc::default();
        let (mut asked, promise) = machine(&num_calls);
        let StepResult::Wait(answer) = asked.step(1, &ctx) else {
            panic!("the answer is pending");
        };
        promise.forward_to(AnyRef::available(true));
        assert!(answer.is_available());
        let mut to = StateWriter::new(&ctx);
        asked.save(&mut to).unwrap();
        let saved = to.finish().unwrap();

        let (mut restored, _promise) = machine(&num_calls);
        restored
            .restore(&mut StateReader::new(&saved, &ctx))
            .unwrap();
        let step = restored.step(1, &ctx);
        let StepResult::Answer(Outcome::Element(values)) = step else {
            panic!("expected the element, found {step:?}");
        };
        assert_eq!(values[0].get::<i64>(), Some(&7));
        assert_eq!(num_calls.load(Ordering::Relaxed), 1);
    }
}
