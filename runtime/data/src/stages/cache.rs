//! Elements that are kept after the first whole pass.

use std::sync::{Arc, OnceLock};

use tfrt_host::ExecutionContext;
use tfrt_support::Error;

use super::copies::{copy_outcome, copy_writable};
use super::replay::{Replayable, Replaying};
use crate::cardinality::Cardinality;
use crate::checkpoint::{StateReader, StateWriter};
use crate::dataset::{Dataset, Position, Stage};
use crate::description::StageDescription;
use crate::element_types::ElementTypes;
use crate::iterator::Draw;
use crate::result::{IterationResult, Outcome};
use crate::token::{Machine, Serial, StepResult};

#[derive(Debug)]
struct Cache {
    input: Dataset,
    kept: Kept,
}

/// The outcomes of a whole pass, once there was one.
type Kept = Arc<OnceLock<Box<[Outcome]>>>;

impl Stage for Cache {
    fn name(&self) -> &'static str {
        "cache"
    }

    fn input_height(&self) -> u32 {
        self.input.height()
    }

    fn cardinality(&self) -> Cardinality {
        match self.kept.get() {
            Some(kept) => Cardinality::Finite(kept.len() as u64),
            None => self.input.cardinality(),
        }
    }

    fn element_types(&self) -> ElementTypes {
        self.input.element_types()
    }

    fn describe(&self, to: &mut StageDescription<'_>) {
        to.input(&self.input);
    }

    fn is_cheap_to_redraw(&self) -> bool {
        self.input.is_cheap_to_redraw()
    }

    fn make_iterator(&self, position: Position) -> Box<dyn Draw> {
        let machine = CacheMachine {
            pass: match self.kept.get() {
                Some(_) => Pass::Kept(0),
                None => Pass::First {
                    input: self.input.iterator_below(position),
                    drawn: None,
                    outcomes: Vec::new(),
                    was_cancelled: false,
                },
            },
            kept: Arc::clone(&self.kept),
            num_delivered: 0,
        };
        let is_input_cheap = position.keeps_order() && self.input.is_cheap_to_redraw();
        Box::new(Serial::new(Replaying::new(machine, is_input_cheap)))
    }
}

#[derive(Debug)]
struct CacheMachine {
    pass: Pass,
    kept: Kept,
    num_delivered: u64,
}

#[derive(Debug)]
enum Pass {
    First {
        input: Box<dyn Draw>,
        /// What is not known yet.
        drawn: Option<IterationResult>,
        outcomes: Vec<Outcome>,
        /// Whether a request that drew was cancelled: elements may be errors of the cancellation,
        /// which must not be kept.
        was_cancelled: bool,
    },
    /// Of what is kept, from here.
    Kept(usize),
}

impl Machine for CacheMachine {
    fn step(&mut self, _num_outstanding: usize, ctx: &ExecutionContext) -> StepResult {
        let (input, drawn, outcomes, was_cancelled) = match &mut self.pass {
            Pass::First {
                input,
                drawn,
                outcomes,
                was_cancelled,
            } => (input, drawn, outcomes, was_cancelled),
            Pass::Kept(next) => {
                let kept = self.kept.get().and_then(|kept| kept.get(*next));
                *next = next.saturating_add(1);
                self.num_delivered += u64::from(kept.is_some());
                return StepResult::Answer(kept.map_or(Outcome::END, |outcome| {
                    copy_outcome(outcome, copy_writable, ctx)
                }));
            }
        };
        if let Some(cancelled) = ctx.request().cancel_value() {
            *was_cancelled = true;
            return StepResult::Answer(Outcome::Error(cancelled.clone()));
        }
        let result = drawn.take();
        match result.unwrap_or_else(|| input.draw(ctx)).into_outcome() {
            Ok(Outcome::End(_)) => {
                let outcomes = std::mem::take(outcomes).into_boxed_slice();
                if !*was_cancelled {
                    // Passes that began before this one ended keep theirs; the first to end stays.
                    let _ = self.kept.set(outcomes);
                }
                self.pass = Pass::Kept(usize::MAX);
                StepResult::Answer(Outcome::END)
            }
            Ok(outcome) => {
                let handed_out = copy_outcome(&outcome, copy_writable, ctx);
                outcomes.push(outcome);
                self.num_delivered += 1;
                StepResult::Answer(handed_out)
            }
            Err(pending) => {
                let awaited = pending.as_any().clone();
                *drawn = Some(IterationResult::Pending(pending));
                StepResult::Wait(awaited)
            }
        }
    }

    fn save(&mut self, to: &mut StateWriter<'_>) -> Result<(), Error> {
        to.u64(self.num_delivered);
        match &mut self.pass {
            Pass::First {
                input,
                drawn,
                outcomes,
                was_cancelled,
            } => {
                to.bool(true);
                to.bool(*was_cancelled);
                to.results(drawn.iter())?;
                to.outcomes(outcomes.iter())?;
                to.input(&mut **input)
            }
            Pass::Kept(next) => {
                let kept = self.kept.get().map_or(&[][..], |kept| kept);
                to.bool(false);
                to.count((*next).min(kept.len()));
                to.outcomes(kept.iter())
            }
        }
    }

    fn restore(&mut self, from: &mut StateReader<'_>) -> Result<(), Error> {
        self.num_delivered = from.u64()?;
        if !from.bool()? {
            let next = from.at_most(usize::MAX)?;
            // If a whole pass was kept since, its outcomes are these.
            let _ = self.kept.set(from.outcomes()?.into());
            self.pass = Pass::Kept(next);
            return Ok(());
        }
        let is_cancelled_pass = from.bool()?;
        let (drawn, kept) = (from.results()?.pop_front(), from.outcomes()?);
        match &mut self.pass {
            Pass::First {
                input,
                drawn: to_be_drawn,
                outcomes,
                was_cancelled,
            } => {
                (*to_be_drawn, *outcomes, *was_cancelled) = (drawn, kept, is_cancelled_pass);
                from.input(&mut **input)
            }
            // A whole pass was kept since.
            Pass::Kept(next) => {
                *next = kept.len();
                from.bytes().map(drop)
            }
        }
    }
}

impl Replayable for CacheMachine {
    fn num_delivered(&self) -> u64 {
        self.num_delivered
    }
}

impl Dataset {
    /// Returns the same elements, kept in memory after the first complete pass: later iterators do
    /// not draw from the input. Errors are kept, too; a pass during which a request was cancelled
    /// is not. Consumers receive copies of the tensors, which they may change.
    ///
    /// # Errors
    /// If datasets are nested too deep.
    pub fn cache(&self) -> Result<Self, Error> {
        Self::new(Cache {
            input: self.clone(),
            kept: Arc::default(),
        })
    }
}
