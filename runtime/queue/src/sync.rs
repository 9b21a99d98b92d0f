//! Synchronization primitives: from `std`, or from loom when the protocols are model-checked.

#[cfg(not(loom))]
mod shim {
    pub(crate) use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering, fence};
    pub(crate) use std::sync::{Condvar, Mutex, MutexGuard};

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
    pub(crate) use loom::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering, fence};
    pub(crate) use loom::sync::{Condvar, Mutex, MutexGuard};

    /// A thread-local whose initial value is a constant; loom's does not profit from that.
    macro_rules! const_thread_local {
        (static $name:ident: $payload:ty = $init:expr) => {
            loom::thread_local! { static $name: $payload = $init }
        };
    }

    pub(crate) use const_thread_local;
}

pub(crate) use shim::*;
