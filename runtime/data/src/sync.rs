//! The primitives of the protocols that models explore: those of `std` and of crossbeam, or those
//! of loom under the model checker.

#[cfg(not(loom))]
mod shim {
    pub(crate) use std::sync::Mutex;
    pub(crate) use std::sync::atomic::{AtomicUsize, Ordering};
}

#[cfg(loom)]
mod shim {
    pub(crate) use loom::sync::Mutex;
    pub(crate) use loom::sync::atomic::{AtomicUsize, Ordering};
}

pub(crate) use shim::*;
