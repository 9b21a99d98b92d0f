//! Waiters of a value that is not available yet: one block of memory each, linked into a stack.
//!
//! Not a queue: each waiter runs once, newest first, on the thread that makes the value available.
//! A waiter is never dropped without having run, because a value with waiters has a promise, and a
//! promise always publishes.
#![expect(
    unsafe_code,
    reason = "a node and its closure are one allocation behind a thin pointer"
)]

use std::panic::{self, AssertUnwindSafe};
use std::ptr::{self, NonNull};

use crate::any_ref::AnyRef;
use crate::nesting::PanicPayload;
use crate::pool::{self, Pooled};

/// Code that waits for a value.
pub(crate) trait Wait: Send + 'static {
    /// Runs with the value that has become available.
    fn run(self, value: &AnyRef);

    /// Returns `true` if the value is needed.
    fn is_consumer(&self) -> bool;
}

/// The head of a waiter, in front of what waits.
///
/// Invariant N1: a node is the first field of a `Full<W>` from the pool, and `run` and
/// `is_consumer` are `run_full::<W>` and `is_consumer_full::<W>` of that `W`. Upheld by
/// `Waiter::new`, the only constructor of nodes.
#[repr(C)]
pub(crate) struct Node {
    next: *mut Node,
    run: unsafe fn(NonNull<Node>, &AnyRef) -> Result<(), PanicPayload>,
    is_consumer: unsafe fn(NonNull<Node>) -> bool,
}

#[repr(C)]
struct Full<W> {
    node: Node,
    wait: W,
}

/// A waiter that is not on a list. Invariant N2: it owns its node.
#[must_use = "a waiter that does not run is lost"]
pub(crate) struct Waiter(NonNull<Node>);

impl Waiter {
    pub(crate) fn new<W: Wait>(wait: W) -> Self {
        let node = Node {
            next: ptr::null_mut(),
            run: run_full::<W>,
            is_consumer: is_consumer_full::<W>,
        };
        Self(pool::leak(Full { node, wait }).cast())
    }

    /// Runs the closure with the value that has become available. Returns the closure's panic.
    pub(crate) fn run(self, value: &AnyRef) -> Result<(), PanicPayload> {
        // SAFETY: N2: the node is alive and not accessed otherwise.
        let run = unsafe { (*self.0.as_ptr()).run };
        // SAFETY: N1 implies duty 1; N2 and the move of `self` imply duty 2.
        unsafe { run(self.0, value) }
    }

    /// Links the node in front of `rest` and returns it as the new head of the list.
    pub(crate) fn on_top_of(&mut self, rest: *mut Node) -> *mut Node {
        // SAFETY: N2: the node is alive and not accessed otherwise.
        unsafe { (*self.0.as_ptr()).next = rest };
        self.0.as_ptr()
    }
}

/// Returns `true` if a waiter of the list needs the value.
///
/// # Safety
/// `head` is null or came from [`Waiter::on_top_of`], as did every list it was linked to, and
/// nobody takes the list meanwhile.
pub(crate) unsafe fn has_consumer(head: *mut Node) -> bool {
    let mut next = head;
    while let Some(node) = NonNull::new(next) {
        // SAFETY: the caller's duty: the nodes of the list are alive, and are not written.
        let Node {
            next: rest,
            is_consumer,
            ..
        } = *unsafe { node.as_ref() };
        // SAFETY: N1 implies the duty, with the caller's, that nobody runs the waiter meanwhile.
        if unsafe { is_consumer(node) } {
            return true;
        }
        next = rest;
    }
    false
}

/// The waiters that publication took off a value, newest first. Invariant L1: it owns the linked
/// nodes.
#[must_use = "waiters that do not run are lost"]
pub(crate) struct Waiters(*mut Node);

impl Waiters {
    /// Creates the list that starts at `head`.
    ///
    /// # Safety
    /// 1. `head` is null or came from [`Waiter::on_top_of`], as did every list it was linked to.
    /// 2. The caller transfers ownership of the list.
    pub(crate) unsafe fn from_head(head: *mut Node) -> Self {
        Self(head)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_null()
    }

    /// Removes and returns the newest waiter.
    pub(crate) fn pop(&mut self) -> Option<Waiter> {
        let node = NonNull::new(self.0)?;
        // SAFETY: L1: the node is alive and not accessed otherwise.
        self.0 = unsafe { (*node.as_ptr()).next };
        Some(Waiter(node))
    }
}

/// Runs what waits behind a node and frees both.
///
/// # Safety
/// 1. `node` is the first field of a `Full<W>` from the pool.
/// 2. The caller transfers ownership of it.
unsafe fn run_full<W: Wait>(node: NonNull<Node>, value: &AnyRef) -> Result<(), PanicPayload> {
    // SAFETY: duties 1 and 2. The pointer covers the whole block.
    let full = unsafe { Pooled::from_leaked(node.cast::<Full<W>>()) };
    // The block is freed before the waiter runs, which may need one.
    let Full { wait, .. } = full.into_inner();
    // What waits is consumed even if it panics, and the value never changes once available, so no
    // half-finished state is observable.
    panic::catch_unwind(AssertUnwindSafe(|| wait.run(value)))
}

/// # Safety
/// `node` is the first field of a `Full<W>` from the pool, which is neither run nor written
/// meanwhile.
unsafe fn is_consumer_full<W: Wait>(node: NonNull<Node>) -> bool {
    // SAFETY: the duty. The pointer covers the whole block.
    let full = unsafe { node.cast::<Full<W>>().as_ref() };
    full.wait.is_consumer()
}

// SAFETY: a waiter owns what waits, which is `Send` by the bound of `Wait`; the node owns nothing
// else.
unsafe impl Send for Waiter {}

// SAFETY: as for `Waiter`, of which this is a list.
unsafe impl Send for Waiters {}
