//! Running waiters without bound on their number and with a bound on their nesting.
//!
//! A waiter may publish another value, whose waiters publish another, and so on, as long as a program is. Each level costs
//! stack, so that levels are counted per thread. At the last level allowed nothing nests any more: what is published there
//! goes to a queue of the thread, which the frame at that level drains before it returns.
//!
//! A waiter that panics does not keep the others from running; the first panic goes on when all have run.

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::panic;

use crate::any_ref::AnyRef;
use crate::dropping;
use crate::sync;
use crate::waiter::Waiters;

/// How many publications may be under way on one thread, each inside a waiter of the one before.
///
/// A level was measured to cost 272 bytes of stack in an optimised build and 1280 in another one (x86-64, a waiter that emplaces
/// a number), so that all of them together leave a stack of 2 MiB nearly whole for what waiters themselves use.
#[cfg(not(loom))]
const MAX_NESTING: u32 = 64;

/// Small under the model checker, so that the queue comes within reach.
#[cfg(loom)]
const MAX_NESTING: u32 = 2;

sync::const_thread_local!(static NESTING: Cell<u32> = Cell::new(0));
sync::const_thread_local!(static DEFERRED: RefCell<VecDeque<(AnyRef, Waiters)>> = RefCell::new(VecDeque::new()));

/// What a panic was raised with.
///
/// Where code of one copy of the runtime is called by another one, a panic is given back as this: see [`crate::shared`].
pub(crate) type PanicPayload = Box<dyn Any + Send>;

/// Runs the waiters of `value`, which has just become available: newest first, on this thread.
///
/// When it returns they have run, unless this thread already publishes at the last level: then they have run when the
/// publication at that level returns.
///
/// # Panics
/// If one of them did, after the others have run, and unless the thread is unwinding already.
#[inline]
pub(crate) fn run_waiters(value: &AnyRef, waiters: Waiters) {
    if !waiters.is_empty() {
        run_some(value, waiters);
    }
}

fn run_some(value: &AnyRef, waiters: Waiters) {
    let mut first_panic = None;
    // Where the thread-locals are gone, the thread is about to end, and nothing is left that could nest deep.
    let level = NESTING.try_with(Cell::get).unwrap_or(0) + 1;
    if level > MAX_NESTING {
        defer(value, waiters);
        return;
    }
    set_nesting(level);
    run_all(value, waiters, &mut first_panic);
    if level == MAX_NESTING {
        while let Some((value, waiters)) = next_deferred() {
            run_all(&value, waiters, &mut first_panic);
        }
    }
    set_nesting(level - 1);
    if let Some(payload) = first_panic {
        // A second panic while the thread unwinds would end the process, and so would one of what it was raised with.
        match std::thread::panicking() {
            true => dropping::quietly(|| drop(payload)),
            false => panic::resume_unwind(payload),
        }
    }
}

fn run_all(value: &AnyRef, mut waiters: Waiters, first_panic: &mut Option<PanicPayload>) {
    while let Some(waiter) = waiters.pop() {
        if let Err(payload) = waiter.run(value) {
            match first_panic {
                None => *first_panic = Some(payload),
                // It may panic as it goes, and the waiters that follow are still to run.
                Some(_) => dropping::quietly(|| drop(payload)),
            }
        }
    }
}

fn set_nesting(level: u32) {
    // Fails only where the thread is about to end, see `run_waiters`.
    let _ = NESTING.try_with(|nesting| nesting.set(level));
}

fn defer(value: &AnyRef, waiters: Waiters) {
    // The queue outlives every frame that nests: this thread is inside a waiter of the frame that will drain it.
    DEFERRED.with(|deferred| deferred.borrow_mut().push_back((value.clone(), waiters)));
}

fn next_deferred() -> Option<(AnyRef, Waiters)> {
    DEFERRED
        .try_with(|deferred| deferred.borrow_mut().pop_front())
        .ok()
        .flatten()
}
