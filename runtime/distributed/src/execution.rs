//! The executions that other tasks have started here, which they may cancel.
//!
//! ```text
//!  client                                       task
//!  request is cancelled ── CancelExecution ──► Executions::cancel ──► the request of the execution is cancelled
//!                                               │ its own remote executions are, in the same way
//!                                               └ unavailable results become errors, and the answer is that error
//! ```
//!
//! A cancellation may overtake its execution, which is then cancelled when it begins. A context
//! that is closed cancels all of them.

use std::collections::{HashMap, VecDeque};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use tfrt_async::{AnyRef, IndirectPromise};
use tfrt_host::{CancelHook, RequestContext};
use tfrt_support::Error;

use crate::error::Gather;
use crate::name::TaskName;

/// The number of cancellations without an execution that are remembered.
const MAX_EARLY: usize = 1024;

/// The executions of a context on one task, by the numbers that their clients chose.
///
/// ```
/// use std::sync::Arc;
/// use tfrt_distributed::Executions;
/// use tfrt_host::{HostContext, RequestContextBuilder};
///
/// let executions = Arc::new(Executions::default());
/// let request = RequestContextBuilder::new(HostContext::builder().build()).build();
/// let running = executions.begin(7, &request);
/// executions.cancel(7);
/// assert!(request.is_cancelled());
/// drop(running);
/// assert_eq!(executions.len(), 0);
/// ```
#[derive(Default)]
pub struct Executions(Mutex<State>);

#[derive(Default)]
struct State {
    /// By the numbers of their clients. Nothing but chance and good manners keeps two clients from
    /// the same number: both executions are then cancelled by it.
    running: HashMap<u64, Vec<Started>>,
    /// The number that tells the next execution from others of the same number.
    next_serial: u64,
    /// Cancelled before they began, oldest first, each with the task that did so.
    cancelled: VecDeque<(u64, Option<TaskName>)>,
    /// The reason why the context is closed.
    closed: Option<Error>,
}

#[derive(Debug)]
struct Started {
    serial: u64,
    request: Weak<RequestContext>,
    /// The task that has started it, if it proved its name.
    starter: Option<TaskName>,
}

/// Returns `true` if an execution that `starter` has started may be cancelled by `canceller`: the
/// same task, unless one of them has no name.
fn may_cancel(starter: Option<&TaskName>, canceller: Option<&TaskName>) -> bool {
    starter.is_none() || canceller.is_none() || starter == canceller
}

impl Executions {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Enters an execution until the returned value is dropped. If it was cancelled before, so is
    /// its request.
    #[must_use = "the execution ends when it is dropped"]
    pub fn begin(self: &Arc<Self>, id: u64, request: &Arc<RequestContext>) -> Running {
        self.begin_for(id, request, None)
    }

    /// As [`begin`](Self::begin), for a task that is named if it has proved its name: no other one
    /// may cancel the execution then.
    pub(crate) fn begin_for(
        self: &Arc<Self>,
        id: u64,
        request: &Arc<RequestContext>,
        starter: Option<TaskName>,
    ) -> Running {
        let mut state = self.lock();
        let closed = state.closed.clone();
        let mut cancelled = state.cancelled.iter();
        let early = cancelled
            .position(|(early, by)| *early == id && may_cancel(starter.as_ref(), by.as_ref()));
        if let Some(position) = early {
            state.cancelled.remove(position);
        }
        let serial = state.next_serial;
        state.next_serial += 1;
        let started = Started {
            serial,
            request: Arc::downgrade(request),
            starter,
        };
        state.running.entry(id).or_default().push(started);
        drop(state);
        match (closed, early) {
            (Some(error), _) => request.cancel_with(error),
            (None, Some(_)) => request.cancel(),
            (None, None) => {}
        }
        Running {
            executions: Arc::clone(self),
            id,
            serial,
        }
    }

    /// Cancels an execution, now or when it begins.
    pub fn cancel(&self, id: u64) {
        self.cancel_for(id, None);
    }

    /// As [`cancel`](Self::cancel), for a task that is named if it has proved its name. It cancels
    /// only what it has started.
    pub(crate) fn cancel_for(&self, id: u64, canceller: Option<TaskName>) {
        let mut state = self.lock();
        let Some(started) = state.running.get(&id) else {
            if state.cancelled.len() == MAX_EARLY {
                state.cancelled.pop_front();
            }
            state.cancelled.push_back((id, canceller));
            return;
        };
        let theirs = started
            .iter()
            .filter(|started| may_cancel(started.starter.as_ref(), canceller.as_ref()));
        let requests: Vec<_> = theirs
            .filter_map(|started| started.request.upgrade())
            .collect();
        drop(state);
        for request in requests {
            request.cancel();
        }
    }

    /// Cancels all executions with an error, also those that begin later.
    pub(crate) fn close(&self, error: &Error) {
        let mut state = self.lock();
        state.closed.get_or_insert_with(|| error.clone());
        let running: Vec<_> = state
            .running
            .values()
            .flatten()
            .filter_map(|started| started.request.upgrade())
            .collect();
        drop(state);
        for request in running {
            request.cancel_with(error.clone());
        }
    }

    /// Returns the reason why the context is closed, if it is.
    pub(crate) fn closed(&self) -> Option<Error> {
        self.lock().closed.clone()
    }

    /// Returns the number of executions in progress.
    #[must_use]
    pub fn len(&self) -> usize {
        self.lock().running.values().map(Vec::len).sum()
    }

    /// Returns `true` if there is no execution in progress.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl fmt::Debug for Executions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Executions")
            .field("num_running", &self.len())
            .finish_non_exhaustive()
    }
}

/// An execution in progress.
#[derive(Debug)]
pub struct Running {
    executions: Arc<Executions>,
    id: u64,
    serial: u64,
}

impl Running {
    /// Ends the execution. Returns an error if its context is closed: then what it has waited for
    /// may have ended before it was cancelled itself, and its results are gone.
    pub(crate) fn end(self) -> Option<Error> {
        self.executions.closed()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let mut state = self.executions.lock();
        if let Some(started) = state.running.get_mut(&self.id) {
            started.retain(|started| started.serial != self.serial);
            if started.is_empty() {
                state.running.remove(&self.id);
            }
        }
    }
}

/// A datum of a request that runs for another task: it ends with the request, after the last
/// kernel.
#[derive(Debug)]
pub(crate) struct UnderWay {
    /// None in a context that is closed.
    pub(crate) _part: Option<Gather>,
}

/// Returns the results of an execution such that those that are not available when its request is
/// cancelled become errors then. The hook must live until all are available.
pub(crate) fn ending_with(
    request: &Arc<RequestContext>,
    results: Vec<AnyRef>,
) -> (Vec<AnyRef>, Option<CancelHook>) {
    if results.iter().all(AnyRef::is_available) {
        return (results, None);
    }
    let mut promises = Vec::new();
    let shielded = results.into_iter().map(|result| {
        if result.is_available() {
            return result;
        }
        let (promise, shielded) = AnyRef::indirect();
        let promise = Arc::new(Mutex::new(Some(promise)));
        promises.push(Arc::clone(&promise));
        let own = result.clone();
        result.watch(move |_| {
            if let Some(promise) = take(&promise) {
                promise.forward_to(own);
            }
        });
        shielded
    });
    let shielded = shielded.collect();
    let end = {
        let request = Arc::downgrade(request);
        move || {
            let request: Option<Arc<RequestContext>> = request.upgrade();
            let value = request.and_then(|request| request.cancel_value().cloned());
            let value = value.unwrap_or_else(|| AnyRef::error(Error::cancelled()));
            for promise in &promises {
                if let Some(promise) = take(promise) {
                    promise.forward_to(value.clone());
                }
            }
        }
    };
    let end = Arc::new(end);
    let on_cancel = Arc::clone(&end);
    let hook = request.on_cancel(move || on_cancel());
    if hook.is_none() {
        end();
    }
    (shielded, hook)
}

fn take(promise: &Mutex<Option<IndirectPromise>>) -> Option<IndirectPromise> {
    promise
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .take()
}

#[cfg(test)]
mod tests {
    use tfrt_host::RequestContextBuilder;

    use super::*;
    use crate::testing::host;

    fn request() -> Arc<RequestContext> {
        RequestContextBuilder::new(host("s")).build()
    }

    #[test]
    fn a_cancellation_may_come_before_its_execution() {
        let executions = Arc::new(Executions::default());
        executions.cancel(7);
        let [other, cancelled, again] = [(); 3].map(|()| request());
        let _other = executions.begin(8, &other);
        assert!(!other.is_cancelled());
        drop(executions.begin(7, &cancelled));
        assert!(cancelled.is_cancelled());
        // It counts once.
        let _again = executions.begin(7, &again);
        assert!(!again.is_cancelled());
    }

    #[test]
    fn executions_with_one_number_end_on_their_own() {
        let executions = Arc::new(Executions::default());
        let [first, second, third] = [(); 3].map(|()| request());
        let first_runs = executions.begin(7, &first);
        let _second = executions.begin(7, &second);
        assert_eq!(executions.len(), 2);
        // The end of one does not hide the other, which its client and the context still cancel.
        drop(first_runs);
        assert_eq!(executions.len(), 1);
        executions.cancel(7);
        assert!(second.is_cancelled() && !first.is_cancelled());
        let _third = executions.begin(7, &third);
        executions.close(&Error::new("closed"));
        assert!(third.is_cancelled());
    }

    #[test]
    fn executions_of_a_closed_context_are_cancelled_whenever_they_begin() {
        let executions = Arc::new(Executions::default());
        let [before, after] = [(); 2].map(|()| request());
        let _before = executions.begin(1, &before);
        executions.close(&Error::new("context 1 is closed"));
        let _after = executions.begin(2, &after);
        for request in [before, after] {
            let value = request.cancel_value().unwrap();
            let error = value.error_if_present().unwrap();
            assert_eq!(error.message(), "context 1 is closed");
        }
    }
}
