//! Runs any number of waiters with bounded nesting.
//!
//! A waiter may publish another value, whose waiters publish another, and so on for the length of a
//! program. Each level uses stack, so levels are counted per thread. At the last permitted level
//! publications no longer nest: their waiters go to a queue of the thread, which the frame at that
//! level drains before it returns.
//!
//! A waiter that panics does not prevent the others from running; the first panic resumes after all
//! have run.

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::panic;

use crate::any_ref::AnyRef;
use crate::dropping;
use crate::sync;
use crate::waiter::Waiters;

/// The maximum number of publications in progress on one thread, each inside a waiter of the
/// previous one.
///
/// A level was measured to use 272 bytes of stack in an optimised build and 1280 in an unoptimised
/// one (x86-64, a waiter that emplaces a number), so all levels together leave most of a 2 MiB
/// stack for the waiters themselves.
#[cfg(not(loom))]
const MAX_NESTING: u32 = 64;

/// Small under the model checker, so that the models reach the queue.
#[cfg(loom)]
const MAX_NESTING: u32 = 2;

sync::const_thread_local!(static NESTING: Cell<u32> = Cell::new(0));
sync::const_thread_local!(static DEFERRED: RefCell<VecDeque<(AnyRef, Waiters)>> = RefCell::new(VecDeque::new()));

/// The payload of a panic.
///
/// When one copy of the runtime calls code of another, a panic is returned in this form: see
/// [`crate::shared`].
pub(crate) type PanicPayload = Box<dyn Any + Send>;

/// Runs the waiters of `value`, which has just become available: newest first, on this thread.
///
/// They have run when this returns, unless this thread already publishes at the last level: then
/// they have run when the publication at that level returns.
///
/// # Panics
/// If a waiter panicked, after the others have run, unless the thread is already unwinding.
#[inline]
pub(crate) fn run_waiters(value: &AnyRef, waiters: Waiters) {
    if !waiters.is_empty() {
        run_some(value, waiters);
    }
}

fn run_some(value: &AnyRef, waiters: Waiters) {
    // If the thread-locals are gone, the thread is about to end and nothing can nest deeply any
    // more.
    let level = NESTING.try_with(Cell::get).unwrap_or(0) + 1;
    if level > MAX_NESTING {
        defer(value, waiters);
        return;
    }
    set_nesting(level);
    let mut first_panic = run_all(value, waiters);
    if level == MAX_NESTING {
        while let Some((value, waiters)) = next_deferred() {
            first_panic = keep_first(first_panic, run_all(&value, waiters));
        }
    }
    set_nesting(level - 1);
    if let Some(payload) = first_panic {
        resume(payload);
    }
}

/// Runs waiters, and returns the first panic.
#[inline]
fn run_all(value: &AnyRef, mut waiters: Waiters) -> Option<PanicPayload> {
    let mut first_panic = None;
    while let Some(waiter) = waiters.pop() {
        if let Err(payload) = waiter.run(value) {
            first_panic = keep_first(first_panic, Some(payload));
        }
    }
    first_panic
}

/// Returns the first panic, and drops the other one.
#[cold]
fn keep_first(first: Option<PanicPayload>, next: Option<PanicPayload>) -> Option<PanicPayload> {
    if first.is_none() {
        return next;
    }
    // Its drop may panic, and the remaining waiters must still run.
    dropping::quietly(|| drop(next));
    first
}

#[cold]
fn resume(payload: PanicPayload) {
    // A second panic while the thread unwinds would abort the process, and so would a panicking
    // drop of the first one's payload.
    match std::thread::panicking() {
        true => dropping::quietly(|| drop(payload)),
        false => panic::resume_unwind(payload),
    }
}

fn set_nesting(level: u32) {
    // Fails only if the thread is about to end, see `run_waiters`.
    let _ = NESTING.try_with(|nesting| nesting.set(level));
}

fn defer(value: &AnyRef, waiters: Waiters) {
    // The queue outlives every nested frame: this thread is inside a waiter of the frame that will
    // drain it.
    DEFERRED.with(|deferred| deferred.borrow_mut().push_back((value.clone(), waiters)));
}

fn next_deferred() -> Option<(AnyRef, Waiters)> {
    DEFERRED
        .try_with(|deferred| deferred.borrow_mut().pop_front())
        .ok()
        .flatten()
}
