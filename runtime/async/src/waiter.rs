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
/// Invariant N1: a node is the first field of a `Full<F>` from the pool, and `run` is
/// `run_full::<F>` of that `F`. Upheld by `Waiter::new`, the only constructor of nodes.
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

/// A waiter that is not on a list. Invariant N2: it owns its node.
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

/// Runs the closure of a node and frees both.
///
/// # Safety
/// 1. `node` is the first field of a `Full<F>` from the pool.
/// 2. The caller transfers ownership of it.
unsafe fn run_full<F: FnOnce(&AnyRef)>(
    node: NonNull<Node>,
    value: &AnyRef,
) -> Result<(), PanicPayload> {
    // SAFETY: duties 1 and 2. The pointer covers the whole block.
    let full = unsafe { Pooled::from_leaked(node.cast::<Full<F>>()) };
    // The block is freed before the waiter runs, which may need one.
    let Full { f, .. } = full.into_inner();
    // The closure is consumed even if it panics, and the value never changes once available, so no
    // half-finished state is observable.
    panic::catch_unwind(AssertUnwindSafe(|| f(value)))
}

// SAFETY: a waiter owns its closure, which is `Send` by the bound of `Waiter::new`; the node owns
// nothing else.
unsafe impl Send for Waiter {}

// SAFETY: as for `Waiter`, of which this is a list.
unsafe impl Send for Waiters {}
