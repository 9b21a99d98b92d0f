//! The state word: whether a value is available, and what it owns in that state.
//!
//! One pointer with two tag bits. Every state change of a value between its creation and
//! destruction is a transition of this word; the edges are those of the drawing in the crate
//! documentation.
//!
//! | tag | state | pointer |
//! |---|---|---|
//! | 0 | unavailable | the newest waiter, or null |
//! | 2 | concrete | null: the payload is the value's own; else: the value that this one links to, one count of it |
//! | 3 | error | the boxed error |
//!
//! Invariant W1: an available word never changes. Upheld by `publish` and `register`, which
//! exchange only unavailable words.
#![expect(unsafe_code, reason = "owns what a tagged pointer points to")]

use std::ptr::{self, NonNull};

use tfrt_support::Error;

use crate::any_ref::AnyRef;
use crate::cell::Header;
use crate::sync::{AtomicPtr, Ordering};
use crate::waiter::{self, Node, Waiter, Waiters};

const TAG_MASK: usize = 3;
const TAG_CONCRETE: usize = 2;
const TAG_ERROR: usize = 3;

const _: () = assert!(
    align_of::<Header>() > TAG_MASK
        && align_of::<Node>() > TAG_MASK
        && align_of::<Error>() > TAG_MASK,
    "the tag bits of every pointer in the word are free"
);

/// The content of an available value.
#[derive(Debug)]
pub(crate) enum Outcome {
    /// Its own payload, which is initialised.
    Payload,
    /// The payload of another value, which has its own.
    Link(AnyRef),
    /// An error.
    Error(Box<Error>),
}

/// The current state of a value.
#[derive(Debug)]
pub(crate) enum State<'a> {
    Unavailable,
    Payload,
    /// Alive at least as long as the word is borrowed, since the word owns a count of it.
    Link(NonNull<Header>),
    Error(&'a Error),
}

/// The state word.
#[derive(Debug)]
pub(crate) struct Word(AtomicPtr<()>);

impl Word {
    /// Creates an unavailable word without waiters: the start of edge 1.
    pub(crate) fn unavailable() -> Self {
        Self(AtomicPtr::new(ptr::null_mut()))
    }

    /// Creates an available word: edge 6.
    pub(crate) fn available(outcome: Outcome) -> Self {
        Self(AtomicPtr::new(encode(outcome)))
    }

    /// Creates the word of a value with its own payload, as a constant.
    #[cfg(not(loom))]
    pub(crate) const fn payload() -> Self {
        Self(AtomicPtr::new(ptr::without_provenance_mut(TAG_CONCRETE)))
    }

    /// Returns the current state. The publication of an available state happened before this
    /// returns.
    #[inline]
    pub(crate) fn state(&self) -> State<'_> {
        // Acquire pairs with the release in `publish`.
        let word = self.0.load(Ordering::Acquire);
        let pointer = untagged(word);
        match tag(word) {
            TAG_CONCRETE => NonNull::new(pointer.cast()).map_or(State::Payload, State::Link),
            // SAFETY: W2: it points to an error; W1: it does so until the word is destroyed.
            TAG_ERROR => State::Error(unsafe { &*pointer.cast::<Error>() }),
            _ => State::Unavailable,
        }
    }

    /// Returns `true` if the value is available. Its publication then happened before this returns.
    #[inline]
    pub(crate) fn is_available(&self) -> bool {
        // Acquire pairs with the release in `publish`.
        tag(self.0.load(Ordering::Acquire)) != 0
    }

    /// Returns `true` if the value is available and not an error. Its publication then happened
    /// before this returns.
    #[inline]
    pub(crate) fn is_concrete(&self) -> bool {
        // Acquire pairs with the release in `publish`.
        tag(self.0.load(Ordering::Acquire)) == TAG_CONCRETE
    }

    /// Returns the header that has the payload, if there is one: that of the value itself, which is
    /// `own`, or that of the value that it links to. This takes fewer instructions than to
    /// distinguish all states. The publication of the payload then happened before this returns.
    #[inline]
    pub(crate) fn holder(&self, own: NonNull<Header>) -> Option<NonNull<Header>> {
        // Acquire pairs with the release in `publish`.
        let word = self.0.load(Ordering::Acquire);
        if word.addr() == TAG_CONCRETE {
            return Some(own);
        }
        match tag(word) {
            TAG_CONCRETE => NonNull::new(untagged(word).cast()),
            _ => None,
        }
    }

    /// Returns the value that a concrete word links to, or `None` if the payload is the value's
    /// own.
    ///
    /// The result is meaningless for a word that is not concrete.
    #[inline]
    pub(crate) fn link_if_concrete(&self) -> Option<NonNull<Header>> {
        // Acquire pairs with the release in `publish`.
        NonNull::new(untagged(self.0.load(Ordering::Acquire)).cast())
    }

    /// Edge 2: adds a waiter, or returns it if the value is available.
    pub(crate) fn register(&self, mut waiter: Waiter) -> Result<(), Waiter> {
        // Acquire pairs with the release in `publish`, in case the waiter runs immediately.
        let mut current = self.0.load(Ordering::Acquire);
        loop {
            if tag(current) != 0 {
                return Err(waiter);
            }
            let head = waiter.on_top_of(current.cast());
            // Release pairs with the acquire in `publish`, which reads the node; a later
            // registration in front of this one continues its release sequence. Acquire on failure
            // as above.
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

    /// Returns `true` if a waiter that needs the value is registered.
    ///
    /// # Safety
    /// The value cannot become available meanwhile.
    pub(crate) unsafe fn has_consumer(&self) -> bool {
        // Acquire pairs with the release in `register`: the nodes can be read.
        let word = self.0.load(Ordering::Acquire);
        // SAFETY: the caller's duty: publication, which alone takes the list of an unavailable word
        // and runs its waiters, does not happen meanwhile.
        tag(word) == 0 && unsafe { waiter::has_consumer(word.cast()) }
    }

    /// Edges 3 and 4: makes the value available and takes its waiters, or returns the outcome if
    /// the value was already available.
    ///
    /// For [`Outcome::Payload`], the caller has initialised the payload and does not access it
    /// again.
    #[inline]
    pub(crate) fn publish(&self, outcome: Outcome) -> Result<Waiters, Outcome> {
        let published = encode(outcome);
        // Relaxed: only the exchange below has to synchronise.
        let mut current = self.0.load(Ordering::Relaxed);
        loop {
            if tag(current) != 0 {
                // SAFETY: just encoded, and the exchange did not take ownership of it.
                return Err(unsafe { decode(published) });
            }
            // Release pairs with the acquire of every reader above: they see the payload, the error
            // or the target. Acquire pairs with the release in `register`: the nodes can be read.
            // Relaxed on failure: the outcome of the other publisher is not read.
            match self.0.compare_exchange_weak(
                current,
                published,
                Ordering::AcqRel,
                Ordering::Relaxed,
            ) {
                // SAFETY: W2 implies duty 1; the exchange took the list out of the word, which
                // implies duty 2.
                Ok(waiters) => return Ok(unsafe { Waiters::from_head(waiters.cast()) }),
                Err(changed) => current = changed,
            }
        }
    }
}

impl Drop for Word {
    /// Edge 5. The last owner is gone, so the word is not accessed otherwise.
    #[inline]
    fn drop(&mut self) {
        // Relaxed: the reference count ordered everything before.
        let word = self.0.load(Ordering::Relaxed);
        debug_assert!(
            tag(word) != 0 || word.is_null(),
            "a value with waiters is never destroyed"
        );
        // The word does not own the value's own payload.
        if !untagged(word).is_null() {
            // SAFETY: W2: a word with a pointer and without waiters is available; it is not used
            // again.
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

/// Returns the outcome of an available word.
///
/// # Safety
/// 1. `word` came from [`encode`].
/// 2. The caller transfers ownership: the word is not decoded again, nor read as a state.
unsafe fn decode(word: *mut ()) -> Outcome {
    let pointer = untagged(word);
    if tag(word) == TAG_ERROR {
        // SAFETY: duties 1 and 2: `encode` made it from a box, whose ownership is taken back here.
        Outcome::Error(unsafe { Box::from_raw(pointer.cast::<Error>()) })
    } else if let Some(header) = NonNull::new(pointer.cast()) {
        // SAFETY: duties 1 and 2: `encode` made it from a reference, whose count is taken back
        // here.
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
