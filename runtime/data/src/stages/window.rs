//! Windows: datasets of consecutive elements.
//!
//! ```text
//!  size 3, shift 2, stride 1       0 1 2 3 4 5 6 …   ──►   [0 1 2]  [2 3 4]  [4 5 6]  …
//!  size 2, shift 3, stride 2       0 1 2 3 4 5 6 …   ──►   [0 2]    [3 5]    …
//! ```

use std::collections::VecDeque;

use tfrt_async::AnyRef;
use tfrt_host::ExecutionContext;
use tfrt_support::Error;

use crate::cardinality::Cardinality;
use crate::checkpoint::{StateReader, StateWriter};
use crate::dataset::{Dataset, Position, Stage, invalid, positive_size};
use crate::description::StageDescription;
use crate::element_types::ElementTypes;
use crate::iterator::Draw;
use crate::result::{IterationResult, Outcome};
use crate::token::{Machine, Serial, StepResult};

#[derive(Clone, Debug)]
struct Window {
    input: Dataset,
    size: usize,
    shift: usize,
    stride: usize,
    /// How many elements a whole window spans.
    span: usize,
    drops_remainder: bool,
}

impl Stage for Window {
    fn name(&self) -> &'static str {
        "window"
    }

    fn input_height(&self) -> u32 {
        self.input.height()
    }

    fn cardinality(&self) -> Cardinality {
        let (shift, span) = (self.shift as u64, self.span as u64);
        self.input
            .cardinality()
            .map(|len| match self.drops_remainder {
                true if len < span => 0,
                true => (len - span) / shift + 1,
                false => len.div_ceil(shift),
            })
    }

    fn element_types(&self) -> ElementTypes {
        ElementTypes::of::<Dataset>()
    }

    fn describe(&self, to: &mut StageDescription<'_>) {
        to.attribute("size", self.size);
        to.attribute("shift", self.shift);
        to.attribute("stride", self.stride);
        to.attribute("drop_remainder", self.drops_remainder);
        to.input(&self.input);
    }

    fn is_cheap_to_redraw(&self) -> bool {
        self.input.is_cheap_to_redraw()
    }

    fn is_seekable(&self) -> bool {
        self.input.is_seekable()
    }

    fn make_iterator(&self, position: Position) -> Box<dyn Draw> {
        Box::new(Serial::new(WindowMachine {
            input: self.input.iterator_below(position),
            window: self.clone(),
            buffer: VecDeque::new(),
            num_to_drop: 0,
            drawn: None,
            has_ended: false,
        }))
    }
}

#[derive(Debug)]
struct WindowMachine {
    input: Box<dyn Draw>,
    window: Window,
    /// From the start of the next window.
    buffer: VecDeque<Outcome>,
    /// How many elements lie between what was drawn and the next window.
    num_to_drop: usize,
    /// What was drawn, and is not known yet.
    drawn: Option<IterationResult>,
    has_ended: bool,
}

impl Machine for WindowMachine {
    fn step(&mut self, _num_outstanding: usize, ctx: &ExecutionContext) -> StepResult {
        while !self.has_ended && self.buffer.len() < self.window.span {
            if let Some(cancelled) = ctx.request().cancel_value() {
                return StepResult::Answer(Outcome::Error(cancelled.clone()));
            }
            let drawn = self.drawn.take();
            match drawn.unwrap_or_else(|| self.input.draw(ctx)).into_outcome() {
                Ok(Outcome::End(_)) => self.has_ended = true,
                Ok(_) if self.num_to_drop > 0 => self.num_to_drop -= 1,
                Ok(outcome) => self.buffer.push_back(outcome),
                Err(pending) => {
                    let awaited = pending.as_any().clone();
                    self.drawn = Some(IterationResult::Pending(pending));
                    return StepResult::Wait(awaited);
                }
            }
        }
        let is_whole = self.buffer.len() >= self.window.span;
        if self.buffer.is_empty() || (self.window.drops_remainder && !is_whole) {
            return StepResult::Answer(Outcome::END);
        }
        let Window {
            size,
            shift,
            stride,
            ..
        } = self.window;
        let elements = self.buffer.iter().step_by(stride).take(size).cloned();
        let window = Dataset::from_outcomes(elements.collect());
        let num_dropped = shift.min(self.buffer.len());
        self.buffer.drain(..num_dropped);
        self.num_to_drop = shift - num_dropped;
        StepResult::Answer(match window {
            Ok(window) => Outcome::one(AnyRef::available(window)),
            Err(error) => Outcome::error(ctx.emit_error(error)),
        })
    }

    fn save(&mut self, to: &mut StateWriter<'_>) -> Result<(), Error> {
        to.count(self.num_to_drop);
        to.bool(self.has_ended);
        to.results(self.drawn.iter())?;
        to.outcomes(self.buffer.iter())?;
        to.input(&mut *self.input)
    }

    fn restore(&mut self, from: &mut StateReader<'_>) -> Result<(), Error> {
        self.num_to_drop = from.at_most(self.window.shift)?;
        self.has_ended = from.bool()?;
        self.drawn = from.results()?.pop_front();
        self.buffer = from.outcomes()?.into();
        from.input(&mut *self.input)
    }

    fn seek(&mut self, num_before: u64) -> Result<(), Error> {
        self.buffer.clear();
        self.num_to_drop = 0;
        (self.drawn, self.has_ended) = (None, false);
        let shift = self.window.shift as u64;
        self.input.seek(num_before.saturating_mul(shift))
    }
}

impl Dataset {
    /// Returns datasets of `size` elements each, consisting of every `stride`-th element; each
    /// starts `shift` elements after the previous one. Without `drops_remainder`, the last ones may
    /// be smaller.
    ///
    /// # Errors
    /// If a number is not positive, a window spans more than 2^32 elements, or datasets are nested
    /// too deep.
    pub fn window(
        &self,
        size: i64,
        shift: i64,
        stride: i64,
        drops_remainder: bool,
    ) -> Result<Self, Error> {
        const MAX_SPAN: usize = 1 << 32;
        let size = positive_size("size", size)?;
        let stride = positive_size("stride", stride)?;
        let span = (size - 1)
            .checked_mul(stride)
            .filter(|span| *span < MAX_SPAN);
        let Some(span) = span else {
            return Err(invalid(format!(
                "expected a window that spans at most {MAX_SPAN} elements, found {size} elements \
                 with a stride of {stride}"
            )));
        };
        Self::new(Window {
            input: self.clone(),
            size,
            shift: positive_size("shift", shift)?,
            stride,
            span: span + 1,
            drops_remainder,
        })
    }
}
