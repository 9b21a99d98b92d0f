//! Waiters of a value that is not available yet: one block of memory each, linked into a stack.
//!
//! Not a queue: each waiter runs once, newest first, on the thread that makes the value available. A waiter is never
//! dropped without having run, because a value with waiters has a promise, and a promise always publishes.
#![expect(
    unsafe_code,
    reason = "a node and its closure are one allocation behind a thin pointer"
)]

use std::panic::{self, AssertUnwindSafe};
use std::ptr::{self, NonNull};

use crate::any_ref::AnyRef;
use crate::nesting::PanicPayload;
use crate::pool::{self, Pooled};

/// The head of a waiter, in front of its closure.
///
/// Invariant N1: a node is the first field of a `Full<F>` that the pool was given, and `run` is `run_full::<F>` of that
/// `F`. Upheld by `Waiter::new`, the only maker of nodes.
#[repr(C)]
pub(crate) struct Node {
    next: *mut Node,
    run: unsafe fn(NonNull<Node>, &AnyRef) -> Result<(), PanicPayload>,
}

#[repr(C)]
struct Full<F> {
    node: Node,
    f: F,
}

/// A waiter that is on no list, or no longer. Invariant N2: it owns its node.
#[must_use = "a waiter that does not run is lost"]
pub(crate) struct Waiter(NonNull<Node>);

impl Waiter {
    pub(crate) fn new<F: FnOnce(&AnyRef) + Send + 'static>(f: F) -> Self {
        let node = Node {
            next: ptr::null_mut(),
            run: run_full::<F>,
        };
        Self(pool::leak(Full { node, f }).cast())
    }

    /// Runs the closure with the value that has become available. Gives back what it panics with.
    pub(crate) fn run(self, value: &AnyRef) -> Result<(), PanicPayload> {
        // SAFETY: N2, so that the node is alive and nobody else touches it.
        let run = unsafe { (*self.0.as_ptr()).run };
        // SAFETY: N1 gives duty 1, N2 and the move of `self` give duty 2.
        unsafe { run(self.0, value) }
    }

    /// The node on top of `rest`, as the new head of that list.
    pub(crate) fn on_top_of(&mut self, rest: *mut Node) -> *mut Node {
        // SAFETY: N2, so that the node is alive and nobody else touches it.
        unsafe { (*self.0.as_ptr()).next = rest };
        self.0.as_ptr()
    }
}

/// The waiters that publication took off a value, newest first. Invariant L1: it owns the nodes it links.
#[must_use = "waiters that do not run are lost"]
pub(crate) struct Waiters(*mut Node);

impl Waiters {
    /// The list that starts at `head`.
    ///
    /// # Safety
    /// 1. `head` is null or came from [`Waiter::on_top_of`], as did every list it was put on top of.
    /// 2. The caller gives the list away: nobody else uses it any more.
    pub(crate) unsafe fn from_head(head: *mut Node) -> Self {
        Self(head)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_null()
    }

    /// Takes the newest waiter off the list.
    pub(crate) fn pop(&mut self) -> Option<Waiter> {
        let node = NonNull::new(self.0)?;
        // SAFETY: L1, so that the node is alive and nobody else touches it.
        self.0 = unsafe { (*node.as_ptr()).next };
        Some(Waiter(node))
    }
}

/// Runs the closure of a node and frees both.
///
/// # Safety
/// 1. `node` is the first field of a `Full<F>` that the pool was given.
/// 2. The caller owns it and gives it away.
unsafe fn run_full<F: FnOnce(&AnyRef)>(
    node: NonNull<Node>,
    value: &AnyRef,
) -> Result<(), PanicPayload> {
    // SAFETY: duties 1 and 2. The pointer was made from the whole block, so it may be used for all of it.
    let full = unsafe { Pooled::from_leaked(node.cast::<Full<F>>()) };
    // The block is free again before the waiter runs, which may need one.
    let Full { f, .. } = full.into_inner();
    // A waiter is gone when it panics, and the value is available and never changes: nothing is seen half done.
    panic::catch_unwind(AssertUnwindSafe(|| f(value)))
}

// SAFETY: a waiter owns its closure, which is `Send` by the bound of `Waiter::new`; nothing else hangs on the node.
unsafe impl Send for Waiter {}

// SAFETY: as for `Waiter`, of which this is a list.
unsafe impl Send for Waiters {}
