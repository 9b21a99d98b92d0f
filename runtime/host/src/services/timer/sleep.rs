//! Sleeping without a thread: a timer as a future.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use super::{Timer, TimerQueue};

/// A future that is ready after a delay. Created by [`TimerQueue::sleep`].
#[must_use = "futures do nothing unless they are polled"]
pub struct Sleep {
    state: Arc<State>,
    timer: Timer,
}

#[derive(Default)]
struct State(Mutex<Stage>);

#[derive(Default)]
enum Stage {
    /// Not polled yet.
    #[default]
    Running,
    /// The task that polled last will be woken.
    Awaited(Waker),
    Over,
}

impl Sleep {
    pub(super) fn new(timers: &TimerQueue, delay: Duration) -> Self {
        let state = Arc::new(State::default());
        let timer = timers.schedule_after(delay, {
            let state = Arc::clone(&state);
            move || {
                let before = std::mem::replace(&mut *state.lock(), Stage::Over);
                // Without the lock: waking runs code of the executor.
                if let Stage::Awaited(waker) = before {
                    waker.wake();
                }
            }
        });
        Self { state, timer }
    }
}

impl State {
    fn lock(&self) -> MutexGuard<'_, Stage> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Future for Sleep {
    type Output = ();

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        let waker = context.waker().clone();
        let mut stage = self.state.lock();
        if let Stage::Over = *stage {
            return Poll::Ready(());
        }
        let before = std::mem::replace(&mut *stage, Stage::Awaited(waker));
        drop(stage);
        // The previous waker is dropped without the lock.
        drop(before);
        Poll::Pending
    }
}

impl Drop for Sleep {
    fn drop(&mut self) {
        self.timer.cancel();
        // The timer may keep the state until its deadline, but not the task.
        let before = std::mem::replace(&mut *self.state.lock(), Stage::Over);
        drop(before);
    }
}

impl fmt::Debug for Sleep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let is_over = matches!(*self.state.lock(), Stage::Over);
        f.debug_struct("Sleep")
            .field("is_over", &is_over)
            .finish_non_exhaustive()
    }
}
