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
//!
//! A stream that was destroyed is *settled* once the host has waited for all of its work: that work
//! comes before all work that is enqueued from then on, and no clock has to hold it. The streams
//! are settled one after the other, and each piece of work knows how many were settled when it was
//! enqueued. So the clocks of a program that creates and destroys streams do not grow.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// A stream, as clocks and memory know it.
#[derive(Debug)]
pub(super) struct Life {
    stream: u64,
    /// The place after all work of the stream, once there will be no more, or else [`NEVER`].
    end: AtomicU64,
    /// The number of settled streams, once this is one of them, or else [`NEVER`].
    settled: AtomicU64,
}

/// What no place and no number of streams reaches.
const NEVER: u64 = u64::MAX;

impl Life {
    pub(super) fn new(stream: u64) -> Arc<Self> {
        Arc::new(Self {
            stream,
            end: AtomicU64::new(NEVER),
            settled: AtomicU64::new(NEVER),
        })
    }

    pub(super) fn stream(&self) -> u64 {
        self.stream
    }

    /// Notes that the stream accepts no work after this place.
    pub(super) fn close(&self, end: u64) {
        // ordering: read by who looks for streams to settle, now or later.
        self.end.store(end, Ordering::Relaxed);
    }

    /// Returns `true` if this is one of the first `num_settled` streams that were settled.
    fn is_settled(&self, num_settled: u64) -> bool {
        // ordering: `num_settled` was read under the lock under which this was written.
        self.settled.load(Ordering::Relaxed) <= num_settled
    }
}

/// How much work of each stream comes before something.
#[derive(Clone, Debug, Default)]
pub(super) struct Clock(Arc<BTreeMap<u64, (Arc<Life>, u64)>>);

impl Clock {
    /// Adds the work of a stream up to a place.
    pub(super) fn add(&mut self, life: &Arc<Life>, place: u64) {
        if !self.has(life, place) {
            let places = Arc::make_mut(&mut self.0);
            places.insert(life.stream, (Arc::clone(life), place));
        }
    }

    /// Adds all that another clock has.
    pub(super) fn join(&mut self, other: &Self) {
        if Arc::ptr_eq(&self.0, &other.0) {
            return;
        }
        for (life, place) in other.0.values() {
            self.add(life, *place);
        }
    }

    /// Forgets the first `num_settled` streams that were settled.
    fn forget_settled(&mut self, num_settled: u64) {
        if self
            .0
            .values()
            .any(|(life, _)| life.is_settled(num_settled))
        {
            let places = Arc::make_mut(&mut self.0);
            places.retain(|_, (life, _)| !life.is_settled(num_settled));
        }
    }

    /// Returns `true` if the work of a stream up to a place comes before.
    fn has(&self, life: &Life, place: u64) -> bool {
        let known = self.0.get(&life.stream);
        place == 0 || known.is_some_and(|(_, known)| *known >= place)
    }

    /// Returns the number of streams whose places it holds.
    #[cfg(test)]
    pub(super) fn num_streams(&self) -> usize {
        self.0.len()
    }
}

/// The work that the host has waited for. It comes before all work that is enqueued later.
#[derive(Debug, Default)]
pub(super) struct Seen {
    clock: Clock,
    num_settled: u64,
}

impl Seen {
    /// Adds all that a clock has, and settles streams.
    pub(super) fn add(&mut self, clock: &Clock) {
        self.clock.join(clock);
        for (life, place) in self.clock.0.values() {
            // ordering: as in `close`.
            let is_over = *place >= life.end.load(Ordering::Relaxed);
            // The caller's clock may still have a stream that was settled before. Its number stays,
            // because work that was enqueued since relies on it.
            if is_over && life.settled.load(Ordering::Relaxed) == NEVER {
                self.num_settled += 1;
                // ordering: pieces of work read it that were enqueued under the same lock later.
                life.settled.store(self.num_settled, Ordering::Relaxed);
            }
        }
        self.clock.forget_settled(self.num_settled);
    }

    #[cfg(test)]
    pub(super) fn clock(&self) -> &Clock {
        &self.clock
    }
}

/// What comes before the next piece of work of a stream.
#[derive(Clone, Debug, Default)]
pub(super) struct Before {
    pub(super) clock: Clock,
    num_settled: u64,
}

impl Before {
    /// Adds the work that the host has waited for.
    pub(super) fn join_seen(&mut self, seen: &Seen) {
        self.clock.join(&seen.clock);
        if self.num_settled != seen.num_settled {
            self.num_settled = seen.num_settled;
            self.clock.forget_settled(self.num_settled);
        }
    }
}

/// A piece of work: its stream, its place there, and what comes before it.
#[derive(Clone, Debug)]
pub(super) struct Moment {
    pub(super) life: Arc<Life>,
    pub(super) place: u64,
    pub(super) before: Before,
}

impl Moment {
    /// Returns `true` if a write comes before this piece of work, or is part of it.
    pub(super) fn is_after(&self, write: &Write) -> bool {
        write.life.stream == self.life.stream
            || write.life.is_settled(self.before.num_settled)
            || self.before.clock.has(&write.life, write.place)
    }

    /// Returns this piece of work as the last write to some memory.
    pub(super) fn as_write(&self) -> Write {
        Write {
            life: Arc::clone(&self.life),
            place: self.place,
        }
    }
}

/// The piece of work that has written some memory last.
#[derive(Clone, Debug)]
pub(super) struct Write {
    pub(super) life: Arc<Life>,
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
        let lives = [1, 2, 3].map(Life::new);
        let (mut one, mut other) = (Clock::default(), Clock::default());
        one.add(&lives[0], 3);
        other.add(&lives[0], 2);
        other.add(&lives[1], 5);
        one.join(&other);
        assert!(one.has(&lives[0], 3) && one.has(&lives[1], 5) && one.has(&lives[2], 0));
        assert!(!one.has(&lives[0], 4) && !one.has(&lives[2], 1) && !other.has(&lives[0], 3));
    }

    /// Returns a piece of work of a stream.
    fn moment(life: &Arc<Life>, before: &Before) -> Moment {
        Moment {
            life: Arc::clone(life),
            place: 4,
            before: before.clone(),
        }
    }

    #[test]
    fn a_stream_is_after_its_own_writes_and_those_it_has_waited_for() {
        let lives = [1, 2, 9].map(Life::new);
        let mut before = Before::default();
        before.clock.add(&lives[0], 2);
        let moment = moment(&lives[2], &before);
        let write = |stream: usize, place| Write {
            life: Arc::clone(&lives[stream]),
            place,
        };
        assert!(moment.is_after(&write(2, 4)) && moment.is_after(&write(0, 2)));
        assert!(!moment.is_after(&write(0, 3)) && !moment.is_after(&write(1, 1)));
    }

    #[test]
    fn work_enqueued_after_a_stream_was_settled_is_after_its_writes() {
        let [gone, open, other] = [1, 2, 3].map(Life::new);
        let write = Write {
            life: Arc::clone(&gone),
            place: 2,
        };
        let (mut seen, mut before) = (Seen::default(), Before::default());
        let early = moment(&other, &before);
        let mut clock = Clock::default();
        clock.add(&gone, 2);
        clock.add(&open, 7);
        seen.add(&clock);
        before.join_seen(&seen);
        assert_eq!(before.clock.num_streams(), 2);
        gone.close(3);
        seen.add(&Clock::default());
        assert_eq!(seen.clock.num_streams(), 2, "one piece of work is left");
        clock.add(&gone, 3);
        seen.add(&clock);
        before.join_seen(&seen);
        assert_eq!(
            (seen.clock.num_streams(), before.clock.num_streams()),
            (1, 1)
        );
        let settled = moment(&other, &before);
        assert!(settled.is_after(&write));
        seen.add(&clock);
        assert!(settled.is_after(&write), "a stream is settled once");
        assert!(!early.is_after(&write), "it was enqueued before");
    }
}
