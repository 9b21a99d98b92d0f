//! The state word: whether a value is available, and what hangs on it.
//!
//! One pointer with two tag bits. Everything that happens to a value after its creation and before its destruction is a
//! transition of this word; the edges are those of the crate's drawing.
//!
//! | tag | state | pointer |
//! |---|---|---|
//! | 0 | unavailable | the newest waiter, or null |
//! | 2 | concrete | null: the payload is the value's own; else: the value that this one links to, one count of it |
//! | 3 | error | the boxed error |
//!
//! Invariant W1: an available word never changes. Upheld by `publish` and `register`, which exchange unavailable words only.
//! Invariant W2: the pointer is what the table says, and owned by the word. Upheld by the same two and by `encode`.
#![expect(unsafe_code, reason = "owns what a tagged pointer points to")]

use std::ptr::{self, NonNull};

use tfrt_support::Error;

use crate::any_ref::AnyRef;
use crate::cell::Header;
use crate::sync::{AtomicPtr, Ordering};
use crate::waiter::{Node, Waiter, Waiters};

const TAG_MASK: usize = 3;
const TAG_CONCRETE: usize = 2;
const TAG_ERROR: usize = 3;

const _: () = assert!(
    align_of::<Header>() > TAG_MASK
        && align_of::<Node>() > TAG_MASK
        && align_of::<Error>() > TAG_MASK,
    "the tag bits of every pointer in the word are free"
);

/// What a value becomes when it becomes available.
#[derive(Debug)]
pub(crate) enum Outcome {
    /// Its own payload, which is initialised.
    Payload,
    /// The payload of another value, which has one of its own.
    Link(AnyRef),
    /// An error.
    Error(Box<Error>),
}

/// What a value is right now.
#[derive(Debug)]
pub(crate) enum State<'a> {
    Unavailable,
    Payload,
    /// Alive at least as long as the word is borrowed, as the word owns a count of it.
    Link(NonNull<Header>),
    Error(&'a Error),
}

/// The word.
#[derive(Debug)]
pub(crate) struct Word(AtomicPtr<()>);

impl Word {
    /// An unavailable word without waiters: the start of edge 1.
    pub(crate) fn unavailable() -> Self {
        Self(AtomicPtr::new(ptr::null_mut()))
    }

    /// An available word: edge 6.
    pub(crate) fn available(outcome: Outcome) -> Self {
        Self(AtomicPtr::new(encode(outcome)))
    }

    /// The word of a value with its own payload, as a constant.
    #[cfg(not(loom))]
    pub(crate) const fn payload() -> Self {
        Self(AtomicPtr::new(ptr::without_provenance_mut(TAG_CONCRETE)))
    }

    /// What the value is. What made it so happened before this returns.
    #[inline]
    pub(crate) fn state(&self) -> State<'_> {
        // Acquire pairs with the release in `publish`.
        let word = self.0.load(Ordering::Acquire);
        let pointer = untagged(word);
        match tag(word) {
            TAG_CONCRETE => NonNull::new(pointer.cast()).map_or(State::Payload, State::Link),
            // SAFETY: W2 says that it points to an error; W1 that it does so until the word is destroyed.
            TAG_ERROR => State::Error(unsafe { &*pointer.cast::<Error>() }),
            _ => State::Unavailable,
        }
    }

    /// Whether the value is available. What made it so happened before this returns true.
    #[inline]
    pub(crate) fn is_available(&self) -> bool {
        // Acquire pairs with the release in `publish`.
        tag(self.0.load(Ordering::Acquire)) != 0
    }

    /// Whether the value is available and no error. What made it so happened before this returns true.
    #[inline]
    pub(crate) fn is_concrete(&self) -> bool {
        // Acquire pairs with the release in `publish`.
        tag(self.0.load(Ordering::Acquire)) == TAG_CONCRETE
    }

    /// The value that a concrete word links to; none if the payload is the value's own.
    ///
    /// On a word that is not concrete the answer is meaningless.
    #[inline]
    pub(crate) fn link_if_concrete(&self) -> Option<NonNull<Header>> {
        // Acquire pairs with the release in `publish`.
        NonNull::new(untagged(self.0.load(Ordering::Acquire)).cast())
    }

    /// Edge 2: adds a waiter, or gives it back if the value is available.
    pub(crate) fn register(&self, mut waiter: Waiter) -> Result<(), Waiter> {
        // Acquire pairs with the release in `publish`, for the case that the waiter runs at once.
        let mut current = self.0.load(Ordering::Acquire);
        loop {
            if tag(current) != 0 {
                return Err(waiter);
            }
            let head = waiter.on_top_of(current.cast());
            // Release pairs with the acquire in `publish`, which reads the node; a later registration on top of this
            // one continues its release sequence. Acquire on failure as above.
            match self.0.compare_exchange_weak(
                current,
                head.cast(),
                Ordering::Release,
                Ordering::Acquire,
            ) {
                Ok(_) => return Ok(()),
                Err(changed) => current = changed,
            }
        }
    }

    /// Edges 3 and 4: makes the value available and takes its waiters, or gives the outcome back if it was available before.
    ///
    /// For [`Outcome::Payload`] the caller has initialised the payload and will not touch it again.
    #[inline]
    pub(crate) fn publish(&self, outcome: Outcome) -> Result<Waiters, Outcome> {
        let published = encode(outcome);
        // Relaxed: the exchange below is what counts.
        let mut current = self.0.load(Ordering::Relaxed);
        loop {
            if tag(current) != 0 {
                // SAFETY: just encoded, and the exchange did not give it away.
                return Err(unsafe { decode(published) });
            }
            // Release pairs with the acquire of every reader above: they see the payload, the error or the target.
            // Acquire pairs with the release in `register`: the nodes can be read. Relaxed on failure: another
            // publisher's outcome is not looked at.
            match self.0.compare_exchange_weak(
                current,
                published,
                Ordering::AcqRel,
                Ordering::Relaxed,
            ) {
                // SAFETY: W2 gives duty 1; the exchange took the list out of the word, which gives duty 2.
                Ok(waiters) => return Ok(unsafe { Waiters::from_head(waiters.cast()) }),
                Err(changed) => current = changed,
            }
        }
    }
}

impl Drop for Word {
    /// Edge 5. The last owner is gone, so that nobody else looks at the word.
    #[inline]
    fn drop(&mut self) {
        // Relaxed: the count ordered everything before.
        let word = self.0.load(Ordering::Relaxed);
        debug_assert!(
            tag(word) != 0 || word.is_null(),
            "a value with waiters is never destroyed"
        );
        // A payload of its own is not the word's.
        if !untagged(word).is_null() {
            // SAFETY: W2: with a pointer and without waiters, the word is available; it is not used again.
            drop(unsafe { decode(word) });
        }
    }
}

fn encode(outcome: Outcome) -> *mut () {
    let (pointer, tag) = match outcome {
        Outcome::Payload => (ptr::null_mut::<()>(), TAG_CONCRETE),
        Outcome::Link(target) => (target.into_header().as_ptr().cast(), TAG_CONCRETE),
        Outcome::Error(error) => (Box::into_raw(error).cast(), TAG_ERROR),
    };
    pointer.map_addr(|address| address | tag)
}

/// The outcome of an available word.
///
/// # Safety
/// 1. `word` came from [`encode`].
/// 2. The caller gives it away: it is not decoded again, nor looked at as a state.
unsafe fn decode(word: *mut ()) -> Outcome {
    let pointer = untagged(word);
    if tag(word) == TAG_ERROR {
        // SAFETY: duties 1 and 2: `encode` made it from a box, whose ownership comes back here.
        Outcome::Error(unsafe { Box::from_raw(pointer.cast::<Error>()) })
    } else if let Some(header) = NonNull::new(pointer.cast()) {
        // SAFETY: duties 1 and 2: `encode` made it from a reference, whose count comes back here.
        Outcome::Link(unsafe { AnyRef::from_header(header) })
    } else {
        Outcome::Payload
    }
}

#[inline]
fn tag(word: *mut ()) -> usize {
    word.addr() & TAG_MASK
}

#[inline]
fn untagged(word: *mut ()) -> *mut () {
    word.map_addr(|address| address & !TAG_MASK)
}
