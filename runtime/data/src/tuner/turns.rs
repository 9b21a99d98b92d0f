//! One experiment at a time: the tuners of a host take turns.
//!
//! A tuner that moves its number changes the rates of all stages of its pipeline, and uses threads
//! that other pipelines miss. A tuner therefore experiments only while it has the *turn*, from its
//! first move until it settles. The others leave their numbers alone, and ignore what they
//! measured meanwhile.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// A turn that was not renewed for so long may be taken: its stage is not drawn from.
const LEASE: Duration = Duration::from_secs(10);

/// The turns of the tuners of a host.
#[derive(Debug)]
pub(crate) struct Turns {
    start: Instant,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    num_tuners: u64,
    /// The tuner that has the turn, and when it was renewed.
    holder: Option<(u64, Duration)>,
    /// How often the turn was taken or given back.
    num_changes: u64,
}

impl Turns {
    pub(crate) fn new() -> Self {
        Self {
            start: Instant::now(),
            state: Mutex::default(),
        }
    }

    /// Returns the time on the clock of all tuners.
    pub(crate) fn now(&self) -> Duration {
        self.start.elapsed()
    }

    /// Returns the name of a new tuner.
    pub(super) fn join(&self) -> u64 {
        self.change(|state| {
            state.num_tuners += 1;
            state.num_tuners
        })
    }

    /// Takes or renews the turn of a tuner. Returns `false` if another one has it.
    pub(super) fn take(&self, tuner: u64, now: Duration) -> bool {
        self.change(|state| {
            match state.holder {
                Some((holder, _)) if holder == tuner => {}
                Some((_, renewed)) if now.saturating_sub(renewed) < LEASE => return false,
                Some(_) | None => state.num_changes += 1,
            }
            state.holder = Some((tuner, now));
            true
        })
    }

    /// Ends the turn of a tuner, if it has one.
    pub(super) fn give_back(&self, tuner: u64) {
        self.change(|state| {
            if state.holder.is_some_and(|(holder, _)| holder == tuner) {
                state.holder = None;
                state.num_changes += 1;
            }
        });
    }

    /// Returns what changes whenever the turn begins or ends, or nothing if another tuner has the
    /// turn: a measurement counts if this is the same before and after.
    pub(super) fn calm(&self, tuner: u64) -> Option<u64> {
        self.change(|state| match state.holder {
            Some((holder, _)) if holder != tuner => None,
            _ => Some(state.num_changes),
        })
    }

    fn change<T>(&self, change: impl FnOnce(&mut State) -> T) -> T {
        change(&mut self.state.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_tuner_has_the_turn_until_it_gives_it_back_or_falls_silent() {
        let turns = Turns::new();
        let (first, second) = (turns.join(), turns.join());
        let at = Duration::from_secs;
        assert!(turns.take(first, at(0)) && turns.take(first, at(5)));
        assert!(!turns.take(second, at(14)));
        assert!(turns.calm(first).is_some() && turns.calm(second).is_none());
        // Only its holder ends it.
        turns.give_back(second);
        assert!(turns.calm(second).is_none());
        let before = turns.calm(first);
        turns.give_back(first);
        assert!(turns.calm(first) != before && turns.take(second, at(14)));
        // The first has not drawn for long.
        assert!(!turns.take(first, at(23)));
        assert!(turns.take(first, at(24)));
    }
}
