//! Timers: callbacks after a delay, or at a time of the system clock.
//!
//! A queue has one thread, which starts with the first timer and sleeps until the earliest
//! deadline. It runs the callbacks one after another, without holding the lock, so they must be
//! short and must not block. Cancelling a timer removes it from the queue immediately and drops its
//! callback.

mod sleep;

use std::collections::BTreeMap;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, Weak};
use std::thread::JoinHandle;
use std::time::{Duration, Instant, SystemTime};

pub use sleep::Sleep;

type Callback = Box<dyn FnOnce() + Send>;

/// Runs callbacks at given times. Dropping it drops the pending callbacks without running them.
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
    /// Notified when there is a new earliest timer, or the queue was closed.
    changed: Condvar,
}

#[derive(Default)]
struct State {
    pending: BTreeMap<Key, Callback>,
    num_scheduled: u64,
    is_closed: bool,
}

/// The key of a timer in the queue. Timers with the same deadline fire in the order in which they
/// were scheduled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Key {
    deadline: Instant,
    sequence: u64,
}

/// A handle to cancel a scheduled callback. Dropping the handle has no effect.
///
/// ```
/// use std::time::Duration;
/// use tfrt_host::TimerQueue;
///
/// let timers = TimerQueue::new();
/// let timer = timers.schedule_after(Duration::from_secs(3600), || unreachable!());
/// assert_eq!(timers.num_pending(), 1);
/// timer.cancel();
/// assert_eq!(timers.num_pending(), 0);
/// ```
#[derive(Clone, Debug)]
pub struct Timer {
    queue: Weak<Shared>,
    key: Key,
}

impl Timer {
    /// Removes and drops the callback unless it has started. Does not wait for one that has.
    pub fn cancel(&self) {
        if let Some(queue) = self.queue.upgrade() {
            let callback = queue.lock().pending.remove(&self.key);
            // Dropped without the lock: it may use the queue.
            drop(callback);
        }
    }
}

impl TimerQueue {
    /// Creates a queue without timers and without a thread.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Runs `callback` at `deadline`, or as soon as possible after it.
    ///
    /// The time left is measured now: setting the system clock later has no effect on the timer.
    pub fn schedule_at(
        &self,
        deadline: SystemTime,
        callback: impl FnOnce() + Send + 'static,
    ) -> Timer {
        let time_left = deadline.duration_since(SystemTime::now());
        // An error means that the deadline has passed.
        self.schedule_after(time_left.unwrap_or_default(), callback)
    }

    /// Runs `callback` after `delay`.
    pub fn schedule_after(
        &self,
        delay: Duration,
        callback: impl FnOnce() + Send + 'static,
    ) -> Timer {
        let now = Instant::now();
        // If the clock cannot represent the deadline, use one in a year.
        let deadline = now
            .checked_add(delay)
            .unwrap_or(now + Duration::from_secs(365 * 86_400));
        // A panicking callback must not end the thread that the other timers need. The panic is
        // caught here, by the code that raised it, which may be in a kernel library.
        let callback: Callback = Box::new(|| drop(catch_unwind(AssertUnwindSafe(callback))));
        let mut state = self.shared.lock();
        let key = Key {
            deadline,
            sequence: state.num_scheduled,
        };
        state.num_scheduled += 1;
        state.pending.insert(key, callback);
        let is_first = state.is_first(key);
        drop(state);
        if is_first {
            self.shared.changed.notify_one();
        }
        self.start_thread();
        Timer {
            queue: Arc::downgrade(&self.shared),
            key,
        }
    }

    /// Returns the number of timers that have neither fired nor been cancelled.
    #[must_use]
    pub fn num_pending(&self) -> usize {
        self.shared.lock().pending.len()
    }

    /// Returns a future that is ready after `delay`, on any executor. Dropping it cancels the
    /// timer.
    ///
    /// ```
    /// use std::time::Duration;
    /// use tfrt_host::HostContext;
    ///
    /// async fn patient(host: &HostContext) -> i32 {
    ///     host.timers().sleep(Duration::from_millis(1)).await;
    ///     7
    /// }
    /// # let host = HostContext::builder().build();
    /// # let mut future = std::pin::pin!(patient(&host));
    /// # let (sender, receiver) = std::sync::mpsc::channel();
    /// # struct Wake(std::sync::mpsc::Sender<()>);
    /// # impl std::task::Wake for Wake {
    /// #     fn wake(self: std::sync::Arc<Self>) { let _ = self.0.send(()); }
    /// # }
    /// # let waker = std::sync::Arc::new(Wake(sender)).into();
    /// # let mut context = std::task::Context::from_waker(&waker);
    /// # while future.as_mut().poll(&mut context).is_pending() {
    /// #     receiver.recv()?;
    /// # }
    /// # Ok::<(), std::sync::mpsc::RecvError>(())
    /// ```
    pub fn sleep(&self, delay: Duration) -> Sleep {
        Sleep::new(self, delay)
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

impl State {
    fn is_first(&self, key: Key) -> bool {
        self.pending
            .first_key_value()
            .is_some_and(|(first, _)| *first == key)
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn run(&self) {
        let mut state = self.lock();
        while !state.is_closed {
            let Some(next) = state.pending.first_entry() else {
                state = self
                    .changed
                    .wait(state)
                    .unwrap_or_else(PoisonError::into_inner);
                continue;
            };
            let time_left = next
                .key()
                .deadline
                .saturating_duration_since(Instant::now());
            if time_left.is_zero() {
                let callback = next.remove();
                drop(state);
                callback();
                state = self.lock();
            } else {
                state = self
                    .changed
                    .wait_timeout(state, time_left)
                    .unwrap_or_else(PoisonError::into_inner)
                    .0;
            }
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
        // A callback may drop the last reference to the host. Then this is the timer thread itself,
        // which cannot be joined.
        if let Some(thread) =
            thread.filter(|thread| thread.thread().id() != std::thread::current().id())
        {
            let _ = thread.join();
        }
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

    /// Keeps the thread of the timers busy until the sender is dropped, so that no timer fires
    /// while a test schedules others.
    fn hold(timers: &TimerQueue) -> mpsc::Sender<()> {
        let (release, held) = mpsc::channel();
        timers.schedule_at(SystemTime::UNIX_EPOCH, move || {
            // An error: the sender was dropped.
            let _ = held.recv();
        });
        release
    }

    #[test]
    fn timers_fire_in_order_of_their_deadlines() {
        let timers = TimerQueue::new();
        let (sender, receiver) = mpsc::channel();
        let held = hold(&timers);
        let now = SystemTime::now();
        for (name, delay_ms) in [("second", 20), ("first", 10), ("third", 30)] {
            let sender = sender.clone();
            timers.schedule_at(now + Duration::from_millis(delay_ms), move || {
                sender.send(name).unwrap()
            });
        }
        drop((sender, held));
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
        let held = hold(&timers);
        timers
            .schedule_after(Duration::from_millis(1), move || {
                late.send("cancelled").unwrap()
            })
            .cancel();
        timers.schedule_after(Duration::from_millis(2), move || {
            sender.send("kept").unwrap()
        });
        drop(held);
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

    #[test]
    fn a_cancelled_timer_leaves_the_queue_with_its_callback() {
        let timers = TimerQueue::new();
        let held = Arc::new(());
        let later: Vec<Timer> = (0..10)
            .map(|hours| {
                let held = Arc::clone(&held);
                let delay = Duration::from_secs(3600 * (hours % 3 + 1));
                timers.schedule_after(delay, move || drop(held))
            })
            .collect();
        assert_eq!((timers.num_pending(), Arc::strong_count(&held)), (10, 11));
        later.iter().take(9).for_each(Timer::cancel);
        assert_eq!((timers.num_pending(), Arc::strong_count(&held)), (1, 2));
        // Cancelling again, or after the queue is gone, has no effect.
        later[0].cancel();
        drop(timers);
        later[9].cancel();
        assert_eq!(Arc::strong_count(&held), 1);
    }

    #[test]
    fn a_callback_that_is_dropped_may_use_the_queue() {
        struct UsesQueue(Weak<Shared>);
        impl Drop for UsesQueue {
            fn drop(&mut self) {
                let queue = self.0.upgrade().expect("the queue is there");
                assert!(queue.lock().pending.is_empty());
            }
        }
        let timers = TimerQueue::new();
        let uses = UsesQueue(Arc::downgrade(&timers.shared));
        timers
            .schedule_after(Duration::from_secs(3600), move || drop(uses))
            .cancel();
    }
}
