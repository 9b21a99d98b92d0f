//! The synchronization primitives of the modelled protocols: those of `std` and crossbeam, or those
//! of loom under the model checker.

#[cfg(not(loom))]
mod shim {
    pub(crate) use std::sync::atomic::{AtomicUsize, Ordering};
    pub(crate) use std::sync::{Mutex, MutexGuard};
}

#[cfg(loom)]
mod shim {
    pub(crate) use loom::sync::atomic::{AtomicUsize, Ordering};
    pub(crate) use loom::sync::{Mutex, MutexGuard};
}

pub(crate) use shim::*;
