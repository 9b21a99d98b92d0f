//! The order of work on different streams: which work is done before other work begins.
//!
//! ```text
//!   stream A:  write x ── record e                A's clock: { A: 1 }
//!                              └──────┐
//!   stream B:               wait e ── read x      B's clock: { A: 1 } ─► the write comes first
//!   stream C:  read x                             C's clock: { }      ─► nothing orders the two
//! ```
//!
//! A [`Clock`] holds, for each stream, how much of its work comes before something else. Events
//! carry clocks from stream to stream; a wait of the host carries one to all work that is enqueued
//! later. While a piece of work runs, its thread knows [its own clock](running). So memory can tell
//! whether an access comes after the last write by another stream.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::Arc;

/// How much work of each stream, by the stream's number, comes before something.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Clock(Arc<BTreeMap<u64, u64>>);

impl Clock {
    /// Adds the work of a stream up to a place.
    pub(super) fn add(&mut self, stream: u64, place: u64) {
        if !self.has(stream, place) {
            Arc::make_mut(&mut self.0).insert(stream, place);
        }
    }

    /// Adds all that another clock has.
    pub(super) fn join(&mut self, other: &Self) {
        if Arc::ptr_eq(&self.0, &other.0) {
            return;
        }
        for (&stream, &place) in &*other.0 {
            self.add(stream, place);
        }
    }

    /// Returns `true` if the work of a stream up to a place comes before.
    pub(super) fn has(&self, stream: u64, place: u64) -> bool {
        place == 0 || self.0.get(&stream).is_some_and(|known| *known >= place)
    }
}

/// A piece of work: its stream, its place there, and what comes before it.
#[derive(Clone, Debug)]
pub(super) struct Moment {
    pub(super) stream: u64,
    pub(super) place: u64,
    pub(super) clock: Clock,
}

impl Moment {
    /// Returns `true` if a write comes before this piece of work, or is part of it.
    pub(super) fn is_after(&self, write: Write) -> bool {
        write.stream == self.stream || self.clock.has(write.stream, write.place)
    }

    /// Returns this piece of work as the last write to some memory.
    pub(super) fn as_write(&self) -> Write {
        Write {
            stream: self.stream,
            place: self.place,
        }
    }
}

/// The piece of work that has written some memory last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Write {
    pub(super) stream: u64,
    pub(super) place: u64,
}

thread_local! {
    static RUNNING: RefCell<Option<Moment>> = const { RefCell::new(None) };
}

/// Runs a piece of work of a stream's thread.
pub(super) fn run<R>(moment: Moment, work: impl FnOnce() -> R) -> R {
    RUNNING.set(Some(moment));
    let result = work();
    RUNNING.set(None);
    result
}

/// Calls `look` with the piece of work that this thread runs, if it is the thread of a stream.
pub(super) fn running<R>(look: impl FnOnce(Option<&Moment>) -> R) -> R {
    RUNNING.with_borrow(|moment| look(moment.as_ref()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clocks_join() {
        let (mut one, mut other) = (Clock::default(), Clock::default());
        one.add(1, 3);
        other.add(1, 2);
        other.add(2, 5);
        one.join(&other);
        assert!(one.has(1, 3) && one.has(2, 5) && one.has(3, 0));
        assert!(!one.has(1, 4) && !one.has(3, 1) && !other.has(1, 3));
    }

    #[test]
    fn a_stream_is_after_its_own_writes_and_those_it_has_waited_for() {
        let mut clock = Clock::default();
        clock.add(1, 2);
        let moment = Moment {
            stream: 9,
            place: 4,
            clock,
        };
        let write = |stream, place| Write { stream, place };
        assert!(moment.is_after(write(9, 4)) && moment.is_after(write(1, 2)));
        assert!(!moment.is_after(write(1, 3)) && !moment.is_after(write(2, 1)));
    }
}
