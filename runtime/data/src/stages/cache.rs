//! Elements that are kept after the first whole pass.

use std::sync::{Arc, OnceLock};

use tfrt_host::ExecutionContext;
use tfrt_support::Error;

use crate::cardinality::Cardinality;
use crate::dataset::{Dataset, Position, Stage};
use crate::iterator::Draw;
use crate::result::{IterationResult, Outcome};
use crate::token::{Machine, Serial, Step};

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

    fn make_iterator(&self, position: Position) -> Box<dyn Draw> {
        Box::new(Serial::new(CacheMachine {
            pass: match self.kept.get() {
                Some(_) => Pass::Kept(0),
                None => Pass::First {
                    input: self.input.iterator_below(position),
                    drawn: None,
                    outcomes: Vec::new(),
                },
            },
            kept: Arc::clone(&self.kept),
        }))
    }
}

#[derive(Debug)]
struct CacheMachine {
    pass: Pass,
    kept: Kept,
}

#[derive(Debug)]
enum Pass {
    First {
        input: Box<dyn Draw>,
        /// What is not known yet.
        drawn: Option<IterationResult>,
        outcomes: Vec<Outcome>,
    },
    /// Of what is kept, from here.
    Kept(usize),
}

impl Machine for CacheMachine {
    fn step(&mut self, _num_outstanding: usize, ctx: &ExecutionContext) -> Step {
        let (input, drawn, outcomes) = match &mut self.pass {
            Pass::First {
                input,
                drawn,
                outcomes,
            } => (input, drawn, outcomes),
            Pass::Kept(next) => {
                let kept = self.kept.get().and_then(|kept| kept.get(*next));
                *next = next.saturating_add(1);
                return Step::Answer(kept.cloned().unwrap_or(Outcome::END));
            }
        };
        let result = drawn.take();
        match result.unwrap_or_else(|| input.draw(ctx)).into_outcome() {
            Ok(Outcome::End(_)) => {
                // Passes that began before this one ended keep theirs; the first to end stays.
                let outcomes = std::mem::take(outcomes).into_boxed_slice();
                let _ = self.kept.set(outcomes);
                self.pass = Pass::Kept(usize::MAX);
                Step::Answer(Outcome::END)
            }
            Ok(outcome) => {
                outcomes.push(outcome.clone());
                Step::Answer(outcome)
            }
            Err(pending) => {
                let awaited = pending.as_any().clone();
                *drawn = Some(IterationResult::Pending(pending));
                Step::Wait(awaited)
            }
        }
    }
}

impl Dataset {
    /// The same elements, kept in memory after the first whole pass: later iterators do not draw from the input. Errors are kept, too.
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
