//! The end of a context: work under way ends by itself, or is cut after a while.
//!
//! ```text
//!  open ── begin ──► draining ──┬─ the last part of the work ends ──► over
//!                               └─ the limit passes ────────────────► over; what is left is cut
//! ```
//!
//! The parts are the requests that run here for other tasks, until their last kernel has ended, and
//! the requests to other tasks, until they are answered. Work that begins while the context drains
//! fails immediately, and nobody waits for it.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use tfrt_host::{HostContext, Timer};
use tfrt_queue::Task;
use tfrt_support::ErrorCode;

use crate::error::{Answer, Gather, RemoteError};

/// The callback for the end: an error if something was cut.
type OnEnd = Box<dyn FnOnce(Answer<()>) + Send>;

/// The work of a context, which is drained once.
pub(crate) struct Drain {
    host: Weak<HostContext>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// Keeps the drain from ending before it begins. The work refers to the drain, so this is a
    /// cycle until [`Drain::begin`].
    own_part: Option<Gather>,
    /// Ends the drain at the limit.
    timer: Option<Timer>,
    outcome: Option<Answer<()>>,
    waiting: Vec<OnEnd>,
}

impl Drain {
    /// Creates the drain of a context without work under way. It is not freed before it has
    /// [begun](Self::begin).
    pub(crate) fn new(host: &Arc<HostContext>) -> Arc<Self> {
        let this = Arc::new(Self {
            host: Arc::downgrade(host),
            state: Mutex::default(),
        });
        let drained = Arc::clone(&this);
        let work = Gather::new(move |_| drained.end(Ok(())));
        this.lock().own_part = Some(work);
        this
    }

    /// Creates a drain that has begun, without work of its own: the caller [ends](Self::end) it.
    pub(crate) fn closing(host: &Arc<HostContext>) -> Arc<Self> {
        Arc::new(Self {
            host: Arc::downgrade(host),
            state: Mutex::default(),
        })
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns a part of the work, which ends when it is dropped. None once the drain has begun.
    pub(crate) fn part(&self) -> Option<Gather> {
        self.lock().own_part.clone()
    }

    /// Waits for the work under way, but no longer than `limit`. Later calls have no effect, and
    /// return `false`.
    #[must_use = "only the first call begins the drain"]
    pub(crate) fn begin(self: &Arc<Self>, limit: Duration) -> bool {
        let own_part = self.lock().own_part.take();
        if own_part.is_none() {
            return false;
        }
        // Without the lock: it may be the last part.
        drop(own_part);
        let Some(host) = self.host.upgrade() else {
            return true;
        };
        let mut state = self.lock();
        if state.outcome.is_some() {
            return true;
        }
        let this = Arc::clone(self);
        state.timer = Some(host.timers().schedule_after(limit, move || {
            let message = format!("requests under way had not ended after {limit:?}");
            let cut = RemoteError::new(ErrorCode::DeadlineExceeded, message);
            this.end(Err(cut.into()));
        }));
        true
    }

    /// Calls back at the end: as a task of the work queue, or immediately if it is over.
    pub(crate) fn on_end(&self, callback: impl FnOnce(Answer<()>) + Send + 'static) {
        let mut state = self.lock();
        let Some(outcome) = state.outcome.clone() else {
            state.waiting.push(Box::new(callback));
            return;
        };
        drop(state);
        callback(outcome);
    }

    /// Ends the drain, unless it is over.
    pub(crate) fn end(&self, outcome: Answer<()>) {
        let mut state = self.lock();
        if state.outcome.is_some() {
            return;
        }
        state.outcome = Some(outcome.clone());
        let timer = state.timer.take();
        let waiting = std::mem::take(&mut state.waiting);
        drop(state);
        if let Some(timer) = timer {
            timer.cancel();
        }
        if waiting.is_empty() {
            return;
        }
        let call = move || {
            for callback in waiting {
                callback(outcome.clone());
            }
        };
        // The last part may end on any thread, such as that of the timers.
        match self.host.upgrade() {
            Some(host) => host.queue().add_task(Task::new(call)),
            None => call(),
        }
    }
}

impl fmt::Debug for Drain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = self.lock();
        f.debug_struct("Drain")
            .field("has_begun", &state.own_part.is_none())
            .field("outcome", &state.outcome)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::{Receiver, channel};

    use super::*;
    use crate::testing::{host, wait};

    fn outcome_of(drain: &Drain) -> Receiver<Answer<()>> {
        let (sender, outcome) = channel();
        drain.on_end(move |found| sender.send(found).unwrap());
        outcome
    }

    #[test]
    fn a_drain_ends_with_the_last_part() {
        let host = host("s");
        let drain = Drain::new(&host);
        let (first, second) = (drain.part(), drain.part());
        assert!(drain.begin(Duration::from_secs(3600)));
        assert!(drain.part().is_none(), "later work is not a part");
        let outcome = outcome_of(&drain);
        drop(first);
        host.quiesce().unwrap();
        assert!(outcome.try_recv().is_err());
        drop(second);
        assert_eq!(wait(&host, &outcome), Ok(()));
        assert_eq!(host.timers().num_pending(), 0);
        assert_eq!(outcome_of(&drain).try_recv(), Ok(Ok(())));
    }

    #[test]
    fn a_drain_ends_at_the_limit() {
        let host = host("mstd:1");
        let drain = Drain::new(&host);
        let endless = drain.part();
        assert!(drain.begin(Duration::from_millis(1)));
        let error = wait(&host, &outcome_of(&drain)).unwrap_err();
        assert_eq!(
            error.to_string(),
            "DeadlineExceeded: requests under way had not ended after 1ms"
        );
        drop(endless);
    }

    #[test]
    fn a_drain_without_work_is_over_at_once() {
        let host = host("s");
        let drain = Drain::new(&host);
        assert!(drain.begin(Duration::from_secs(3600)));
        assert!(!drain.begin(Duration::from_secs(3600)), "only once");
        assert_eq!(outcome_of(&drain).try_recv(), Ok(Ok(())));
    }
}
