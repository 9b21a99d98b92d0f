//! Timers: callbacks at a time of the system clock.
//!
//! One thread per queue, started with the first timer; it sleeps until the earliest deadline. Callbacks run on it, one after
//! another, without the lock held, so they must be short and must not block.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, SystemTime};

type Callback = Box<dyn FnOnce() + Send>;

/// Runs callbacks at given times. Dropping it drops what is pending, without running it.
///
/// ```
/// use std::sync::mpsc;
/// use std::time::Duration;
/// use tfrt_host::TimerQueue;
///
/// let timers = TimerQueue::new();
/// let (sender, receiver) = mpsc::channel();
/// timers.schedule_after(Duration::from_millis(1), move || sender.send("fired").unwrap());
/// assert_eq!(receiver.recv(), Ok("fired"));
/// ```
#[derive(Debug, Default)]
pub struct TimerQueue {
    shared: Arc<Shared>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    pending: BinaryHeap<Reverse<Entry>>,
    num_scheduled: u64,
    is_closed: bool,
}

struct Entry {
    deadline: SystemTime,
    /// Timers of one deadline fire in the order of their scheduling.
    sequence: u64,
    is_cancelled: Arc<AtomicBool>,
    callback: Callback,
}

/// A scheduled callback, to be cancelled. Dropping the handle changes nothing.
#[derive(Clone, Debug)]
pub struct Timer {
    is_cancelled: Arc<AtomicBool>,
}

impl Timer {
    /// Keeps the callback from running, unless it has begun. Does not wait for one that has.
    pub fn cancel(&self) {
        // Only the flag itself is exchanged, no other memory: relaxed.
        self.is_cancelled.store(true, Ordering::Relaxed);
    }
}

impl TimerQueue {
    /// A queue without timers and without a thread.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Runs `callback` at `deadline`, or as soon as possible after it.
    pub fn schedule_at(
        &self,
        deadline: SystemTime,
        callback: impl FnOnce() + Send + 'static,
    ) -> Timer {
        let is_cancelled = Arc::new(AtomicBool::new(false));
        let mut state = self.shared.lock();
        let sequence = state.num_scheduled;
        state.num_scheduled += 1;
        state.pending.push(Reverse(Entry {
            deadline,
            sequence,
            is_cancelled: Arc::clone(&is_cancelled),
            // A callback that panics must not end the thread that the other timers need. It is caught here, by the code
            // that may be a kernel library's, as the code of the timers could not.
            callback: Box::new(|| drop(catch_unwind(AssertUnwindSafe(callback)))),
        }));
        drop(state);
        self.shared.changed.notify_one();
        self.start_thread();
        Timer { is_cancelled }
    }

    /// Runs `callback` after `delay`.
    pub fn schedule_after(
        &self,
        delay: Duration,
        callback: impl FnOnce() + Send + 'static,
    ) -> Timer {
        let now = SystemTime::now();
        // A deadline beyond the end of time is as good as none; a year from now stands for it.
        let deadline = now
            .checked_add(delay)
            .unwrap_or(now + Duration::from_secs(365 * 86_400));
        self.schedule_at(deadline, callback)
    }

    fn start_thread(&self) {
        let mut thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner);
        if thread.is_none() {
            let shared = Arc::clone(&self.shared);
            let started = std::thread::Builder::new()
                .name("tfrt-timers".into())
                .spawn(move || shared.run());
            *thread = started.ok();
        }
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn run(&self) {
        let mut state = self.lock();
        while !state.is_closed {
            let now = SystemTime::now();
            let wait = state
                .pending
                .peek()
                .map(|Reverse(next)| next.deadline.duration_since(now).unwrap_or_default());
            match wait {
                None => {
                    state = self
                        .changed
                        .wait(state)
                        .unwrap_or_else(PoisonError::into_inner)
                }
                Some(wait) if wait.is_zero() => {
                    let Some(Reverse(due)) = state.pending.pop() else {
                        continue;
                    };
                    drop(state);
                    due.run();
                    state = self.lock();
                }
                Some(wait) => {
                    state = self
                        .changed
                        .wait_timeout(state, wait)
                        .unwrap_or_else(PoisonError::into_inner)
                        .0;
                }
            }
        }
    }
}

impl Entry {
    fn run(self) {
        if !self.is_cancelled.load(Ordering::Relaxed) {
            (self.callback)();
        }
    }
}

impl Drop for TimerQueue {
    fn drop(&mut self) {
        let pending = {
            let mut state = self.shared.lock();
            state.is_closed = true;
            std::mem::take(&mut state.pending)
        };
        drop(pending);
        let thread = self
            .thread
            .get_mut()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        if thread.is_some() {
            self.shared.changed.notify_one();
        }
        // A callback may hold the last reference to the host; then the timer thread itself is here and cannot be joined.
        if let Some(thread) =
            thread.filter(|thread| thread.thread().id() != std::thread::current().id())
        {
            let _ = thread.join();
        }
    }
}

impl PartialEq for Entry {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Entry {}

impl PartialOrd for Entry {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Entry {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        (self.deadline, self.sequence).cmp(&(other.deadline, other.sequence))
    }
}

impl fmt::Debug for Shared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Shared")
            .field("pending", &self.lock().pending.len())
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc;

    #[test]
    fn timers_fire_in_order_of_their_deadlines() {
        let timers = TimerQueue::new();
        let (sender, receiver) = mpsc::channel();
        let now = SystemTime::now();
        for (name, delay_ms) in [("second", 20), ("first", 10), ("third", 30)] {
            let sender = sender.clone();
            timers.schedule_at(now + Duration::from_millis(delay_ms), move || {
                sender.send(name).unwrap()
            });
        }
        drop(sender);
        assert_eq!(
            receiver.iter().collect::<Vec<_>>(),
            ["first", "second", "third"]
        );
    }

    #[test]
    fn a_cancelled_timer_does_not_fire() {
        let timers = TimerQueue::new();
        let (sender, receiver) = mpsc::channel();
        let late = sender.clone();
        timers
            .schedule_after(Duration::from_millis(20), move || {
                late.send("cancelled").unwrap()
            })
            .cancel();
        timers.schedule_after(Duration::from_millis(40), move || {
            sender.send("kept").unwrap()
        });
        assert_eq!(receiver.iter().collect::<Vec<_>>(), ["kept"]);
    }

    #[test]
    fn dropping_the_queue_drops_what_is_pending() {
        let timers = TimerQueue::new();
        let (sender, receiver) = mpsc::channel::<()>();
        timers.schedule_after(Duration::from_secs(3600), move || drop(sender));
        drop(timers);
        assert!(receiver.recv().is_err());
    }
}
