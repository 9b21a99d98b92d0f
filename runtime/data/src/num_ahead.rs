//! How many elements a source reads ahead.

use std::sync::Arc;

use tfrt_host::ExecutionContext;

use crate::checked_work_ahead::CheckedWorkAhead;
use crate::dataset::Position;
use crate::observation::Decisions;
use crate::options::RamBudget;
use crate::tuner::{LearnedNumber, Tuner, Turns, is_tuning_off};

/// The largest number of elements that a source reads ahead if it finds the number by experiment
/// and the pipeline sets no other limit.
const MAX_TUNED: usize = 1024;

/// How many elements a source reads ahead: a number of its own, unless the pipeline gives another
/// one, or lets the source find it; see
/// [`Dataset::with_read_ahead`](crate::Dataset::with_read_ahead).
///
/// A source asks for the [number](Self::now) and reports what it reads and hands out, from which a
/// tuned number learns. Elements of a tuned source take their memory from the budget of the host.
///
/// ```
/// use tfrt_data::{NumAhead, Position};
/// use tfrt_host::{ExecutionContext, HostContext, RequestContextBuilder};
///
/// let ctx = ExecutionContext::new(RequestContextBuilder::new(HostContext::builder().build()).build());
/// // In `Stage::make_iterator`, with the name of the stage and its position.
/// let mut num_ahead = NumAhead::of("my_source", Position::ROOT, 80);
/// // Before it reads.
/// assert_eq!(num_ahead.now(&ctx), 80);
/// let num_elements = num_ahead.begin(60, 1 << 20);
/// assert_eq!(num_elements, 60);
/// // Sixty elements of ten bytes were read, and one of them is handed out.
/// num_ahead.end(std::iter::repeat_n(10, 60));
/// num_ahead.deliver(10);
/// ```
#[derive(Debug)]
pub struct NumAhead {
    number: Number,
    learned: LearnedNumber,
    decisions: Decisions,
}

#[derive(Debug)]
enum Number {
    Fixed(usize),
    /// To be found with the first draw, which knows the host.
    Unknown(CheckedWorkAhead),
    Tuned(Box<Tuned>),
}

#[derive(Debug)]
struct Tuned {
    tuner: Tuner,
    budget: Arc<RamBudget>,
    /// The bytes of elements that are held, which were taken from the budget.
    num_held: u64,
    /// The bytes that were taken for elements that are being read.
    num_reserved: u64,
    /// The bytes of the largest element so far.
    largest: Option<u64>,
}

impl NumAhead {
    /// Creates the number of a source whose iterator stands at `position`. If the pipeline gives
    /// no number, it is `default`.
    #[must_use]
    pub fn of(stage: &'static str, position: Position, default: usize) -> Self {
        let number = position.read_ahead();
        Self {
            number: number.map_or(Number::Fixed(default), Number::Unknown),
            learned: LearnedNumber::default(),
            decisions: Decisions::of(stage, position),
        }
    }

    /// Lets a tuned number begin with what other iterators of the stage have `learned`, and adds
    /// to it.
    #[must_use]
    pub fn learning(mut self, learned: &LearnedNumber) -> Self {
        self.learned = learned.clone();
        self
    }

    /// Returns the number of elements to hold.
    #[inline]
    pub fn now(&mut self, ctx: &ExecutionContext) -> usize {
        match &self.number {
            Number::Fixed(number) => *number,
            Number::Tuned(tuned) => tuned.tuner.degree(),
            Number::Unknown(given) => {
                let given = *given;
                self.start(given, ctx)
            }
        }
    }

    #[cold]
    fn start(&mut self, given: CheckedWorkAhead, ctx: &ExecutionContext) -> usize {
        let max = given.max.unwrap_or(MAX_TUNED);
        let (number, num_ahead) = match given.is_tuned && !is_tuning_off() {
            false => (Number::Fixed(max), max),
            true => {
                let turns = ctx.host().shared_context(Turns::new);
                let tuner = Tuner::new(max, turns, &self.learned);
                let num_ahead = tuner.degree();
                let tuned = Tuned {
                    tuner,
                    budget: RamBudget::of(ctx.host()),
                    num_held: 0,
                    num_reserved: 0,
                    largest: None,
                };
                (Number::Tuned(Box::new(tuned)), num_ahead)
            }
        };
        self.number = number;
        self.decisions.tell(num_ahead);
        num_ahead
    }

    /// Returns how many of `wanted` elements may be read now, if the source stops reading after
    /// `max_bytes`: all of them, or fewer if the memory does not suffice. Until the size of an
    /// element is known, it is one. [`end`](Self::end) follows, or nothing was read.
    pub fn begin(&mut self, wanted: usize, max_bytes: u64) -> usize {
        match &mut self.number {
            Number::Tuned(tuned) => tuned.begin(wanted, max_bytes),
            Number::Fixed(_) | Number::Unknown(_) => wanted,
        }
    }

    /// Counts the elements that were read, by their bytes.
    pub fn end(&mut self, elements: impl Iterator<Item = u64>) {
        if let Number::Tuned(tuned) = &mut self.number {
            tuned.end(elements);
        }
    }

    /// Counts an element that is handed out, of so many bytes.
    #[inline]
    pub fn deliver(&mut self, num_bytes: u64) {
        if let Number::Tuned(tuned) = &mut self.number {
            let before = tuned.tuner.degree();
            tuned.deliver(num_bytes);
            let degree = tuned.tuner.degree();
            if degree != before {
                self.decisions.tell(degree);
            }
        }
    }
}

impl Tuned {
    fn begin(&mut self, wanted: usize, max_bytes: u64) -> usize {
        self.budget
            .give_back(std::mem::take(&mut self.num_reserved));
        let Some(largest) = self.largest else {
            return wanted.min(1);
        };
        let num_left = self.budget.num_left();
        let fitting = num_left.checked_div(largest).unwrap_or(u64::MAX);
        // What is read before the source stops, and one element more.
        let most = max_bytes.saturating_add(largest);
        let num_elements = match num_left >= most {
            true => wanted,
            false => usize::try_from(fitting).map_or(wanted, |fitting| fitting.min(wanted)),
        };
        self.num_reserved = largest.saturating_mul(num_elements as u64).min(most);
        self.budget.take(self.num_reserved);
        num_elements
    }

    fn end(&mut self, elements: impl Iterator<Item = u64>) {
        self.budget
            .give_back(std::mem::take(&mut self.num_reserved));
        for num_bytes in elements {
            self.num_held += num_bytes;
            self.budget.take(num_bytes);
            self.largest = self.largest.max(Some(num_bytes));
        }
    }

    fn deliver(&mut self, num_bytes: u64) {
        let num_bytes = num_bytes.min(self.num_held);
        self.num_held -= num_bytes;
        self.budget.give_back(num_bytes);
        self.tuner.deliver(self.tuner.now());
    }
}

impl Drop for Tuned {
    fn drop(&mut self) {
        self.budget.give_back(self.num_held + self.num_reserved);
    }
}
