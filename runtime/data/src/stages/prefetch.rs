//! Elements that are drawn before they are asked for.

use std::collections::VecDeque;

use tfrt_host::ExecutionContext;
use tfrt_support::Error;

use super::degree::Degree;
use crate::cardinality::Cardinality;
use crate::checked_work_ahead::CheckedWorkAhead;
use crate::checkpoint::{StateReader, StateWriter};
use crate::dataset::{Dataset, Position, Stage};
use crate::description::StageDescription;
use crate::element_types::ElementTypes;
use crate::iterator::Draw;
use crate::observation::{HeldBytes, bytes_of_results};
use crate::result::{IterationResult, Outcome, are_available};
use crate::tuner::LearnedNumber;
use crate::work_ahead::WorkAhead;

#[derive(Clone, Debug)]
struct Prefetch {
    input: Dataset,
    /// How many results to draw ahead.
    num_ahead: CheckedWorkAhead,
    learned: LearnedNumber,
    is_deterministic: bool,
}

impl Stage for Prefetch {
    fn name(&self) -> &'static str {
        "prefetch"
    }

    fn input_height(&self) -> u32 {
        self.input.height()
    }

    fn cardinality(&self) -> Cardinality {
        self.input.cardinality()
    }

    fn element_types(&self) -> ElementTypes {
        self.input.element_types()
    }

    fn describe(&self, to: &mut StageDescription<'_>) {
        to.input(&self.input);
    }

    fn is_cheap_to_redraw(&self) -> bool {
        self.is_deterministic && self.input.is_cheap_to_redraw()
    }

    fn is_seekable(&self) -> bool {
        self.is_deterministic && self.input.is_seekable()
    }

    fn share_files(&self, num_workers: u64, index: u64) -> Option<Result<Dataset, Error>> {
        let share = |input| Self {
            input,
            ..self.clone()
        };
        self.input.share_files_of(num_workers, index, share)
    }

    fn make_iterator(&self, position: Position) -> Box<dyn Draw> {
        Box::new(PrefetchIterator {
            input: self.input.iterator_below(position),
            num_ahead: Degree::new(self.num_ahead, &self.learned, self.name(), position),
            is_deterministic: self.is_deterministic && position.keeps_order(),
            buffer: VecDeque::new(),
            skew: Skew::new(position),
            held: HeldBytes::of(self.name(), position),
        })
    }
}

#[derive(Debug)]
struct PrefetchIterator {
    input: Box<dyn Draw>,
    num_ahead: Degree,
    is_deterministic: bool,
    /// Oldest first.
    buffer: VecDeque<IterationResult>,
    skew: Skew,
    held: HeldBytes,
}

impl Draw for PrefetchIterator {
    fn draw(&mut self, ctx: &ExecutionContext) -> IterationResult {
        let num_ahead = self.num_ahead.now(self.buffer.len(), ctx);
        // One more than is held behind the draw. A tuned number may have become smaller.
        while self.buffer.len() <= num_ahead
            && (self.buffer.is_empty() || self.num_ahead.may_begin())
        {
            let result = self.input.draw(ctx);
            self.num_ahead.begin_unchanged(&result);
            self.buffer.push_back(result);
        }
        self.held.tell(|| bytes_of_results(self.buffer.iter()));
        if self.is_deterministic {
            return self.hand_out(0);
        }
        self.skew.number(self.buffer.len());
        let chosen = match self.skew.is_oldest_late() {
            true => 0,
            false => self
                .buffer
                .iter()
                .position(is_available_element)
                .unwrap_or(0),
        };
        self.skew.hand_out(chosen);
        self.hand_out(chosen)
    }

    fn save(&mut self, to: &mut StateWriter<'_>) -> Result<(), Error> {
        to.results(self.buffer.iter())?;
        to.input(&mut *self.input)
    }

    fn restore(&mut self, from: &mut StateReader<'_>) -> Result<(), Error> {
        self.buffer = from.results()?;
        from.input(&mut *self.input)
    }

    fn seek(&mut self, num_before: u64) -> Result<(), Error> {
        self.buffer.clear();
        self.num_ahead.clear();
        self.skew.clear();
        self.input.seek(num_before)
    }
}

impl PrefetchIterator {
    fn hand_out(&mut self, chosen: usize) -> IterationResult {
        self.num_ahead.deliver(chosen, None);
        let result = self.buffer.remove(chosen);
        result.unwrap_or_else(|| Outcome::END.into())
    }
}

/// How many elements have overtaken those that a stage holds.
#[derive(Debug)]
pub(super) struct Skew {
    /// How many may overtake another one.
    max: u64,
    /// The numbers of the elements that are held, in the order in which they were drawn.
    numbers: VecDeque<u64>,
    num_drawn: u64,
    num_handed_out: u64,
}

impl Skew {
    /// Creates the count for a stage whose iterator stands at `position`.
    pub(super) fn new(position: Position) -> Self {
        Self {
            max: position.max_skew(),
            numbers: VecDeque::new(),
            num_drawn: 0,
            num_handed_out: 0,
        }
    }

    /// Numbers the elements that were drawn since: so many are held.
    pub(super) fn number(&mut self, num_held: usize) {
        while self.numbers.len() < num_held {
            self.numbers.push_back(self.num_drawn);
            self.num_drawn += 1;
        }
    }

    /// Returns `true` if no further element may overtake the oldest. All elements before the oldest
    /// were delivered; any other delivered elements have overtaken it.
    pub(super) fn is_oldest_late(&self) -> bool {
        let oldest = self.numbers.front();
        oldest.is_some_and(|number| self.num_handed_out - number >= self.max)
    }

    /// Counts the element that is handed out: one of those that are held.
    pub(super) fn hand_out(&mut self, chosen: usize) {
        if self.numbers.remove(chosen).is_some() {
            self.num_handed_out += 1;
        }
    }

    /// Forgets what is held: it lies behind the end.
    pub(super) fn clear(&mut self) {
        self.numbers.clear();
        (self.num_drawn, self.num_handed_out) = (0, 0);
    }
}

/// Returns `true` if a consumer could use the result at once, and it is not the end.
pub(super) fn is_available_element(result: &IterationResult) -> bool {
    match result {
        IterationResult::Known(Outcome::Element(values)) => are_available(values),
        IterationResult::Known(Outcome::Error(_)) => true,
        IterationResult::Known(Outcome::End(_)) => false,
        IterationResult::Pending(pending) => {
            pending.is_error()
                || pending.get().is_some_and(|outcome| match outcome {
                    Outcome::Element(values) => are_available(values),
                    Outcome::Error(_) => true,
                    Outcome::End(_) => false,
                })
        }
    }
}

impl Dataset {
    /// Returns the same elements, of which the next `num_ahead` are drawn before they are
    /// requested; -1 stands for the number of threads. A [tuned](WorkAhead::tuned) number is
    /// between one and this one. With `is_deterministic`, the order is kept; otherwise available
    /// elements overtake pending ones.
    ///
    /// # Errors
    /// If the number is less than -1 or larger than 2^20, or datasets are nested too deep.
    pub fn prefetch_with(
        &self,
        num_ahead: impl Into<WorkAhead>,
        is_deterministic: bool,
    ) -> Result<Self, Error> {
        Self::new(Prefetch {
            input: self.clone(),
            num_ahead: num_ahead.into().check("prefetch_num", 0, false)?,
            learned: LearnedNumber::default(),
            is_deterministic,
        })
    }
}
