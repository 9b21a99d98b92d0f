//! Rendezvous: the exchange of values between the parts of one computation.
//!
//! A computation that is split into parts has *edges*: values that one part produces and another
//! one needs. Neither part waits for the other to start: the receiver gets an indirect value
//! immediately, and the sender resolves it later.
//!
//! ```text
//!   send(edge, value) ──► promise ─┐
//!                                  ├─► value ──► receive(edge), any number of times
//!   abort(error) ──────────────────┘
//! ```
//!
//! The outcome of an edge is the first of: the value that is sent, the error of an abort, and, once
//! the rendezvous is dropped, the error that no value was sent. A receiver does not wait forever:
//! potential senders keep the rendezvous alive, and receivers do not. The exception is a value that
//! waits for itself because it is computed from the value received over its own edge: it never
//! arrives, like a promise that is forwarded to its own value. A function that was partitioned by
//! device does not have such edges, because its ops had an order before.
//!
//! An atomic exchange of the promise decides between senders that race for one edge. Everything
//! else is the protocol of values: an abort is [`AnyRef::try_set_error`], and later publications of
//! the promise have no effect.

use std::fmt;

use tfrt_support::{Error, ErrorCode};

use crate::any_ref::AnyRef;
use crate::promise::IndirectPromise;
use crate::sync::AtomicCell;

/// The exchange of one computation; see the module.
///
/// ```
/// use tfrt_async::{AnyRef, Rendezvous};
///
/// let rendezvous = Rendezvous::new(2);
/// let received = rendezvous.receive(0)?;
/// assert!(!received.is_available());
/// rendezvous.send(0, AnyRef::available(7_i32))?;
/// assert_eq!(received.get::<i32>(), Some(&7));
///
/// let never = rendezvous.receive(1)?;
/// drop(rendezvous);
/// let error = never.error_if_present().unwrap();
/// assert_eq!(error.message(), "no value was sent over edge 1 of the rendezvous");
/// # Ok::<(), tfrt_support::Error>(())
/// ```
pub struct Rendezvous {
    edges: Box<[Edge]>,
}

/// One value on its way from one part to others.
struct Edge {
    /// Whoever takes it out sends the value.
    promise: AtomicCell<Option<IndirectPromise>>,
    value: AnyRef,
}

impl Rendezvous {
    /// Creates a rendezvous for this number of values.
    #[must_use]
    pub fn new(num_edges: usize) -> Self {
        let edge = |_| {
            let (promise, value) = AnyRef::indirect();
            Edge {
                promise: AtomicCell::new(Some(promise)),
                value,
            }
        };
        Self {
            edges: (0..num_edges).map(edge).collect(),
        }
    }

    /// Returns the number of exchanged values.
    #[must_use]
    pub fn num_edges(&self) -> usize {
        self.edges.len()
    }

    /// Sends a value, which may be unavailable or an error. After an [`abort`](Self::abort) the
    /// value is dropped.
    ///
    /// # Errors
    /// If there is no such edge, or a value was sent over it before.
    ///
    /// # Panics
    /// If a waiter panics, after the others have run.
    pub fn send(&self, edge: usize, value: AnyRef) -> Result<(), Error> {
        let promise = self.edge(edge)?.promise.take();
        let promise = promise.ok_or_else(|| {
            Error::new(format!("edge {edge} of the rendezvous received two values"))
                .with_code(ErrorCode::AlreadyExists)
        })?;
        promise.forward_to(value);
        Ok(())
    }

    /// Returns the value that is sent over an edge, which may be unavailable.
    ///
    /// # Errors
    /// If there is no such edge.
    pub fn receive(&self, edge: usize) -> Result<AnyRef, Error> {
        Ok(self.edge(edge)?.value.clone())
    }

    /// Makes an error of every value that is not available.
    ///
    /// # Panics
    /// If a waiter panics, after the others have run.
    pub fn abort(&self, error: &Error) {
        for edge in &self.edges {
            edge.value.try_set_error(error.clone());
        }
    }

    fn edge(&self, index: usize) -> Result<&Edge, Error> {
        self.edges.get(index).ok_or_else(|| {
            let count = self.edges.len();
            Error::new(format!(
                "expected an edge of the rendezvous below {count}, found edge {index}"
            ))
            .with_code(ErrorCode::InvalidArgument)
        })
    }
}

impl Drop for Rendezvous {
    fn drop(&mut self) {
        for (index, edge) in self.edges.iter().enumerate() {
            if let Some(promise) = edge.promise.take() {
                promise.set_error(
                    Error::new(format!(
                        "no value was sent over edge {index} of the rendezvous"
                    ))
                    .with_code(ErrorCode::Cancelled),
                );
            }
        }
    }
}

impl fmt::Debug for Rendezvous {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let arrived = self.edges.iter().map(|edge| edge.value.is_available());
        f.debug_struct("Rendezvous")
            .field("arrived", &arrived.collect::<Vec<_>>())
            .finish()
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::AsyncValueRef;

    fn message(value: &AnyRef) -> Option<&str> {
        value.error_if_present().map(Error::message)
    }

    #[test]
    fn the_cell_of_a_promise_has_no_lock() {
        assert!(AtomicCell::<Option<IndirectPromise>>::is_lock_free());
    }

    #[test]
    fn a_value_may_be_received_before_it_is_available() {
        let rendezvous = Rendezvous::new(1);
        let (promise, later) = AsyncValueRef::<i32>::unconstructed();
        rendezvous.send(0, later.into_any()).unwrap();
        let received = rendezvous.receive(0).unwrap();
        drop(rendezvous);
        promise.emplace(5);
        assert_eq!(received.get::<i32>(), Some(&5));
    }

    #[test]
    fn an_abort_is_the_outcome_of_what_has_not_arrived() {
        let rendezvous = Rendezvous::new(3);
        let (promise, later) = AsyncValueRef::<i32>::unconstructed();
        rendezvous.send(0, AnyRef::available(1_i32)).unwrap();
        rendezvous.send(1, later.into_any()).unwrap();
        rendezvous.abort(&Error::new("broken"));
        promise.emplace(2);
        rendezvous.send(2, AnyRef::available(3_i32)).unwrap();
        let [first, second, third] = [0, 1, 2].map(|edge| rendezvous.receive(edge).unwrap());
        assert_eq!(first.get::<i32>(), Some(&1));
        assert_eq!(message(&second), Some("broken"));
        assert_eq!(message(&third), Some("broken"));
    }

    #[test]
    fn misuse_is_an_error() {
        let rendezvous = Rendezvous::new(1);
        rendezvous.send(0, AnyRef::available(1_i32)).unwrap();
        let twice = rendezvous.send(0, AnyRef::available(1_i32)).unwrap_err();
        assert_eq!(
            twice.message(),
            "edge 0 of the rendezvous received two values"
        );
        let missing = rendezvous.receive(1).unwrap_err();
        assert_eq!(
            missing.message(),
            "expected an edge of the rendezvous below 1, found edge 1"
        );
    }
}
