//! A gate that delays requests in tests, to execute them one by one.
//!
//! A permit releases the oldest request whose inputs are available, so a request that waits for the
//! results of another one cannot block that one. A permit without a request waits for one.

use std::collections::VecDeque;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tfrt_async::{AnyRef, AsyncValueRef, Chain, Promise, run_when_ready};
use tfrt_support::Error;

/// A request that is held back: its action once it is released.
type Held = Box<dyn FnOnce(Answered) + Send>;

/// Holds requests back until they are released.
///
/// ```
/// use tfrt_distributed::RequestGate;
///
/// let gate = RequestGate::new();
/// let first = gate.release();
/// gate.hold(&[], |answered| answered.pass());
/// assert!(first.is_concrete());
/// let second = gate.release();
/// gate.close();
/// assert!(second.is_error());
/// ```
#[derive(Default)]
pub struct RequestGate {
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    ready: VecDeque<Held>,
    permits: VecDeque<Promise<Chain>>,
    is_closed: bool,
}

/// Says that the answer to a released request was sent.
pub struct Answered(Promise<Chain>);

impl Answered {
    /// Says so.
    pub fn pass(self) {
        self.0.emplace(Chain);
    }
}

impl fmt::Debug for Answered {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Answered").finish_non_exhaustive()
    }
}

impl RequestGate {
    /// Creates a gate that holds everything back.
    #[must_use]
    pub fn new() -> Arc<Self> {
        Arc::default()
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Delays a request until its inputs are available and it is released. A request that arrives
    /// after the gate is closed is dropped.
    pub fn hold(
        self: &Arc<Self>,
        inputs: &[AnyRef],
        request: impl FnOnce(Answered) + Send + 'static,
    ) {
        let this = Arc::downgrade(self);
        run_when_ready(inputs, move || {
            if let Some(this) = this.upgrade() {
                this.add(Box::new(request));
            }
        });
    }

    fn add(&self, request: Held) {
        let mut state = self.lock();
        if state.is_closed {
            drop(state);
            // What it answers on is dropped with it, without the lock.
            drop(request);
            return;
        }
        match state.permits.pop_front() {
            Some(permit) => {
                drop(state);
                request(Answered(permit));
            }
            None => state.ready.push_back(request),
        }
    }

    /// Releases one request. The chain is available once that was answered, and an error if the
    /// gate is closed before.
    #[must_use]
    pub fn release(&self) -> AsyncValueRef<Chain> {
        let (promise, chain) = AsyncValueRef::unconstructed();
        let mut state = self.lock();
        if state.is_closed {
            drop(state);
            promise.set_error(closed());
            return chain;
        }
        match state.ready.pop_front() {
            Some(request) => {
                drop(state);
                request(Answered(promise));
            }
            None => state.permits.push_back(promise),
        }
        chain
    }

    /// Drops all requests, and turns all permits into errors.
    pub fn close(&self) {
        let mut state = self.lock();
        state.is_closed = true;
        let State { ready, permits, .. } = std::mem::take(&mut *state);
        state.is_closed = true;
        drop(state);
        for permit in permits {
            permit.set_error(closed());
        }
        drop(ready);
    }
}

#[cold]
fn closed() -> Error {
    Error::new("the server was closed before a request arrived")
}

impl fmt::Debug for RequestGate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = self.lock();
        f.debug_struct("RequestGate")
            .field("num_ready", &state.ready.len())
            .field("num_permits", &state.permits.len())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_without_its_inputs_does_not_block_others() {
        let gate = RequestGate::new();
        let (promise, input) = AnyRef::indirect();
        let order = Arc::new(Mutex::new(Vec::new()));
        let note = |name: &'static str| {
            let order = Arc::clone(&order);
            move |answered: Answered| {
                order.lock().unwrap().push(name);
                answered.pass();
            }
        };
        gate.hold(&[input], note("consumer"));
        gate.hold(&[], note("producer"));
        assert!(gate.release().is_concrete());
        let last = gate.release();
        assert!(!last.is_available());
        promise.forward_to(AnyRef::ready_chain());
        assert!(last.is_concrete());
        assert_eq!(*order.lock().unwrap(), ["producer", "consumer"]);
    }
}
