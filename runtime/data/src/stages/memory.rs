//! Elements that are remembered in the first pass and repeated for ever.

use std::collections::VecDeque;

use tfrt_async::{AnyRef, Immutable, Value};
use tfrt_host::ExecutionContext;
use tfrt_support::Error;

use super::copies::{CopyValue, copy_outcome};
use super::replay::{Replayable, Replaying};
use crate::cardinality::Cardinality;
use crate::checkpoint::{StateReader, StateWriter};
use crate::dataset::{Dataset, Position, Stage, invalid};
use crate::description::StageDescription;
use crate::element_types::ElementTypes;
use crate::iterator::Draw;
use crate::result::{IterationResult, Outcome};
use crate::token::{Machine, Serial, StepResult};

#[derive(Debug)]
struct Memory {
    input: Dataset,
    copy: CopyValue,
}

impl Stage for Memory {
    fn name(&self) -> &'static str {
        "memory"
    }

    fn input_height(&self) -> u32 {
        self.input.height()
    }

    fn cardinality(&self) -> Cardinality {
        self.input.cardinality().times(None)
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
        let machine = MemoryMachine {
            input: self.input.iterator_below(position),
            copy: self.copy,
            drawn: VecDeque::new(),
            remembered: Vec::new(),
            next: None,
            num_delivered: 0,
        };
        let is_input_cheap = position.keeps_order() && self.input.is_cheap_to_redraw();
        Box::new(Serial::new(Replaying::new(machine, is_input_cheap)))
    }
}

#[derive(Debug)]
struct MemoryMachine {
    input: Box<dyn Draw>,
    copy: CopyValue,
    /// Results that are not known yet, oldest first.
    drawn: VecDeque<IterationResult>,
    remembered: Vec<Outcome>,
    /// What to hand out next, once the first pass has ended.
    next: Option<usize>,
    num_delivered: u64,
}

impl Machine for MemoryMachine {
    fn step(&mut self, num_outstanding: usize, ctx: &ExecutionContext) -> StepResult {
        if let Some(next) = self.next {
            return StepResult::Answer(self.replay(next, ctx));
        }
        if let Some(cancelled) = ctx.request().cancel_value() {
            return StepResult::Answer(Outcome::Error(cancelled.clone()));
        }
        while self.drawn.len() < num_outstanding {
            let result = self.input.draw(ctx);
            self.drawn.push_back(result);
        }
        let Some(oldest) = self.drawn.pop_front() else {
            return StepResult::Answer(Outcome::END);
        };
        match oldest.into_outcome() {
            Ok(Outcome::End(_)) => {
                self.drawn.clear();
                StepResult::Answer(self.replay(0, ctx))
            }
            Ok(outcome) => {
                let handed_out = copy_outcome(&outcome, self.copy, ctx);
                self.remembered.push(outcome);
                self.num_delivered += 1;
                StepResult::Answer(handed_out)
            }
            Err(pending) => {
                let awaited = pending.as_any().clone();
                self.drawn.push_front(IterationResult::Pending(pending));
                StepResult::Wait(awaited)
            }
        }
    }

    fn save(&mut self, to: &mut StateWriter<'_>) -> Result<(), Error> {
        to.u64(self.num_delivered);
        to.bool(self.next.is_some());
        to.count(self.next.unwrap_or(0));
        to.results(self.drawn.iter())?;
        to.outcomes(self.remembered.iter())?;
        to.input(&mut *self.input)
    }

    fn restore(&mut self, from: &mut StateReader<'_>) -> Result<(), Error> {
        self.num_delivered = from.u64()?;
        let has_ended = from.bool()?;
        let next = from.at_most(usize::MAX)?;
        self.drawn = from.results()?;
        self.remembered = from.outcomes()?;
        self.next = has_ended.then_some(next.min(self.remembered.len().saturating_sub(1)));
        from.input(&mut *self.input)
    }
}

impl Replayable for MemoryMachine {
    fn num_delivered(&self) -> u64 {
        self.num_delivered
    }
}

impl MemoryMachine {
    fn replay(&mut self, next: usize, ctx: &ExecutionContext) -> Outcome {
        let Some(outcome) = self.remembered.get(next) else {
            // Nothing is remembered.
            self.next = Some(0);
            return Outcome::END;
        };
        self.next = Some((next + 1) % self.remembered.len());
        self.num_delivered += 1;
        copy_outcome(outcome, self.copy, ctx)
    }
}

/// Returns a copy of an available value with a payload of type `T`. An error is itself.
fn copy_value<T: Value + Immutable + Clone>(value: &AnyRef, ctx: &ExecutionContext) -> AnyRef {
    match value.get::<T>() {
        Some(payload) => AnyRef::available(payload.clone()),
        None if value.is_error() => value.clone(),
        None => AnyRef::error(ctx.emit_error(invalid(format!(
            "expected a cached element of type `{}`, found `{}`",
            T::MLIR_TYPE,
            value.mlir_type().unwrap_or("none")
        )))),
    }
}

impl Dataset {
    /// Returns the same elements, followed by copies of them, forever. Each iterator keeps the
    /// elements of its first pass; an input without elements just ends. Components have payloads of
    /// type `T`.
    ///
    /// # Errors
    /// If datasets are nested too deep.
    pub fn memory<T: Value + Immutable + Clone>(&self) -> Result<Self, Error> {
        Self::new(Memory {
            input: self.clone(),
            copy: copy_value::<T>,
        })
    }
}
