//! Synchronization primitives: from `std`, or from loom when the protocols are model-checked.

#[cfg(not(loom))]
mod shim {
    pub(crate) use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering, fence};
    pub(crate) use std::sync::{Condvar, Mutex, MutexGuard};
}

#[cfg(loom)]
mod shim {
    pub(crate) use loom::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering, fence};
    pub(crate) use loom::sync::{Condvar, Mutex, MutexGuard};
}

pub(crate) use shim::*;
