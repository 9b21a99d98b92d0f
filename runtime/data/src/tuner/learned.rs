//! What the tuners of a stage hand on from pass to pass.

use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use super::{Phase, Turns};

/// The number that a tuned stage has found, for all of its iterators: each goes on where the last
/// one has stopped, so that the passes of a `repeat` do not begin their experiments anew.
///
/// A stage keeps one and gives it to each iterator that it makes; see
/// [`NumAhead::learning`](crate::NumAhead::learning). The elements do not depend on it.
///
/// ```
/// use tfrt_data::{LearnedNumber, NumAhead, Position};
/// use tfrt_host::{ExecutionContext, HostContext, RequestContextBuilder};
///
/// /// A stage that reads records ahead.
/// struct Records {
///     learned: LearnedNumber,
/// }
///
/// impl Records {
///     /// Returns the number of a new iterator, as `Stage::make_iterator` needs it.
///     fn num_ahead(&self, position: Position) -> NumAhead {
///         NumAhead::of("records", position, 16).learning(&self.learned)
///     }
/// }
///
/// let ctx = ExecutionContext::new(RequestContextBuilder::new(HostContext::builder().build()).build());
/// let records = Records { learned: LearnedNumber::default() };
/// // The pipeline around this position does not ask for a tuned number.
/// assert_eq!(records.num_ahead(Position::ROOT).now(&ctx), 16);
/// ```
#[derive(Clone, Debug, Default)]
pub struct LearnedNumber(Arc<Mutex<Learned>>);

#[derive(Debug, Default)]
struct Learned {
    num_tuners: u64,
    /// How far the newest tuner came, with its maximum, in its host.
    last: Option<(usize, Weak<Turns>, Progress)>,
}

/// How far a tuner came.
#[derive(Clone, Copy, Debug)]
pub(super) struct Progress {
    pub(super) degree: usize,
    pub(super) phase: Phase,
    /// When the period began.
    pub(super) start: Option<Duration>,
    /// What was delivered since.
    pub(super) num_delivered: u64,
    /// The longest time between two deliveries since.
    pub(super) longest_gap: Duration,
    /// When an element was last delivered.
    pub(super) last: Duration,
}

impl LearnedNumber {
    /// Returns the number of a new tuner, and how far the one before came.
    pub(super) fn begin(&self, max: usize, turns: &Arc<Turns>) -> (u64, Option<Progress>) {
        let mut learned = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        learned.num_tuners += 1;
        let last = learned.last.as_ref().filter(|(of_max, of_host, _)| {
            *of_max == max && of_host.as_ptr() == Arc::as_ptr(turns)
        });
        (learned.num_tuners, last.map(|&(_, _, progress)| progress))
    }

    /// Keeps how far a tuner came, unless there is a newer one.
    pub(super) fn publish(&self, number: u64, max: usize, turns: &Arc<Turns>, progress: Progress) {
        let mut learned = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if learned.num_tuners == number {
            learned.last = Some((max, Arc::downgrade(turns), progress));
        }
    }
}
