//! Rendezvous: where the parts of one computation exchange values.
//!
//! A computation that is split into parts has *edges*: values that one part makes and another one
//! needs. Neither part waits for the other to begin: the receiver gets an indirect value at once,
//! and the sender says later what it stands for.
//!
//! ```text
//!   send(edge, value) ──► promise ─┐
//!                                  ├─► value ──► receive(edge), any number of times
//!   abort(error) ──────────────────┘
//! ```
//!
//! Each edge has one outcome, the first of: the value that is sent, the error of an abort, and the
//! error that nobody sent a value, once the rendezvous is gone. A receiver does not wait for ever:
//! those who might send keep the rendezvous alive, and receivers do not. The exception is a value
//! that waits for itself, because it is computed from what is received over the edge that it is
//! sent over: it never arrives, as with a promise that is forwarded to its own value. A function
//! that was split by devices does not have such edges, as it had an order before.
//!
//! Senders that race for one edge are told apart by an atomic exchange of its promise. Everything
//! else is the protocol of values: an abort is [`AnyRef::try_set_error`], which what a promise
//! publishes later yields to.

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
/// assert_eq!(error.message(), "nobody sent a value over edge 1 of the rendezvous");
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
    /// An exchange of so many values.
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

    /// How many values are exchanged.
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
    /// If a waiter does, after the others have run.
    pub fn send(&self, edge: usize, value: AnyRef) -> Result<(), Error> {
        let promise = self.edge(edge)?.promise.take();
        let promise = promise.ok_or_else(|| {
            Error::new(format!("edge {edge} of the rendezvous is sent over twice"))
                .with_code(ErrorCode::AlreadyExists)
        })?;
        promise.forward_to(value);
        Ok(())
    }

    /// The value that is sent over an edge: there, or still to come.
    ///
    /// # Errors
    /// If there is no such edge.
    pub fn receive(&self, edge: usize) -> Result<AnyRef, Error> {
        Ok(self.edge(edge)?.value.clone())
    }

    /// Makes an error of every value that is not available.
    ///
    /// # Panics
    /// If a waiter does, after the others have run.
    pub fn abort(&self, error: &Error) {
        for edge in &self.edges {
            edge.value.try_set_error(error.clone());
        }
    }

    fn edge(&self, index: usize) -> Result<&Edge, Error> {
        self.edges.get(index).ok_or_else(|| {
            let count = self.edges.len();
            Error::new(format!(
                "the rendezvous has no edge {index}: {count} in all"
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
                        "nobody sent a value over edge {index} of the rendezvous"
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
            "edge 0 of the rendezvous is sent over twice"
        );
        let missing = rendezvous.receive(1).unwrap_err();
        assert_eq!(missing.message(), "the rendezvous has no edge 1: 1 in all");
    }
}
