//! Synchronization primitives and threads: from `std`, or from loom under the model checker.

use std::sync::PoisonError;
use std::time::Duration;

#[cfg(loom)]
mod injector;

#[cfg(not(loom))]
mod shim {
    pub(crate) use crossbeam_deque::Injector;
    pub(crate) use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering, fence};
    pub(crate) use std::sync::{Condvar, Mutex, MutexGuard};
    pub(crate) use std::thread;

    /// A thread-local whose initial value is a constant.
    macro_rules! const_thread_local {
        (static $name:ident: $payload:ty = $init:expr) => {
            std::thread_local! { static $name: $payload = const { $init } }
        };
    }

    pub(crate) use const_thread_local;
}

#[cfg(loom)]
mod shim {
    pub(crate) use super::injector::Injector;
    pub(crate) use loom::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering, fence};
    pub(crate) use loom::sync::{Condvar, Mutex, MutexGuard};
    pub(crate) use loom::thread;

    /// A thread-local whose initial value is a constant; loom does not benefit from that.
    macro_rules! const_thread_local {
        (static $name:ident: $payload:ty = $init:expr) => {
            loom::thread_local! { static $name: $payload = $init }
        };
    }

    pub(crate) use const_thread_local;
}

pub(crate) use shim::*;

/// Locks `mutex`. No code of this crate panics while it holds a lock, so the value of a poisoned
/// mutex is sound.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Waits for a notification of `condvar`.
pub(crate) fn wait<'a, T>(condvar: &Condvar, guard: MutexGuard<'a, T>) -> MutexGuard<'a, T> {
    condvar.wait(guard).unwrap_or_else(PoisonError::into_inner)
}

/// Waits for a notification of `condvar`, for at most `timeout`. Returns `true` if the wait timed
/// out. `guard` locks `mutex`.
#[cfg(not(loom))]
pub(crate) fn wait_timeout<'a, T>(
    condvar: &Condvar,
    _mutex: &'a Mutex<T>,
    guard: MutexGuard<'a, T>,
    timeout: Duration,
) -> (MutexGuard<'a, T>, bool) {
    let (guard, result) = condvar
        .wait_timeout(guard, timeout)
        .unwrap_or_else(PoisonError::into_inner);
    (guard, result.timed_out())
}

/// As above. Loom does not model time: a timeout of zero may expire at any moment, and any other
/// one never does.
#[cfg(loom)]
pub(crate) fn wait_timeout<'a, T>(
    condvar: &Condvar,
    mutex: &'a Mutex<T>,
    guard: MutexGuard<'a, T>,
    timeout: Duration,
) -> (MutexGuard<'a, T>, bool) {
    if timeout.is_zero() {
        drop(guard);
        thread::yield_now();
        (lock(mutex), true)
    } else {
        (wait(condvar, guard), false)
    }
}
