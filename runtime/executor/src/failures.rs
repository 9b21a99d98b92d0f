//! What direct kernels cannot read: errors, and values of other types than expected.
//!
//! A cell holds a payload and nothing else, so that a direct kernel cannot see there that a value is an error. Until something
//! fails it need not look: a table comes into being with the first failure, and kernels look for their operands in it only if
//! it is there.
//!
//! - F1. Who notes a failure does so before it counts the users of the register down, which whoever runs them has seen: a kernel
//!   that finds no table, or nothing in it for its operand, has an operand that did not fail.
#![expect(
    unsafe_code,
    reason = "publishes a table by compare-and-swap, so that nobody waits for who makes it"
)]

use std::ptr;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicPtr, Ordering};

use tfrt_async::AnyRef;

/// The failures of one invocation, by register.
///
/// Invariant F2: the pointer is null, or came from `Box::into_raw` and is freed by `drop` alone.
#[derive(Debug)]
pub(crate) struct Failures(AtomicPtr<Table>);

/// An error, or a value of another type, for each register that has one. Each is set by the producer of the register, once.
type Table = Box<[OnceLock<AnyRef>]>;

impl Failures {
    /// No failure.
    pub(crate) const fn new() -> Self {
        Self(AtomicPtr::new(ptr::null_mut()))
    }

    /// Whether anything has failed, as far as kernels that are ready can depend on it (F1).
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        // Relaxed: only the pointer is compared; `get` acquires what it points to.
        self.0.load(Ordering::Relaxed).is_null()
    }

    /// What `register` holds instead of a payload that direct kernels can read.
    pub(crate) fn get(&self, register: u32) -> Option<&AnyRef> {
        // Acquire pairs with the release in `note`: the table is complete.
        let table = self.0.load(Ordering::Acquire);
        // SAFETY: F2; it lives as long as `self`.
        let table = unsafe { table.as_ref() }?;
        table[register as usize].get()
    }

    /// Notes what `register`, one of `num_registers`, holds.
    #[cold]
    pub(crate) fn note(&self, register: u32, num_registers: usize, value: AnyRef) {
        let mut table = self.0.load(Ordering::Acquire);
        if table.is_null() {
            let made: Table = (0..num_registers).map(|_| OnceLock::new()).collect();
            let made = Box::into_raw(Box::new(made));
            // Release pairs with the acquires here and in `get`.
            match self
                .0
                .compare_exchange(table, made, Ordering::AcqRel, Ordering::Acquire)
            {
                Ok(_) => table = made,
                Err(current) => {
                    // SAFETY: just made, and nobody else has seen it.
                    drop(unsafe { Box::from_raw(made) });
                    table = current;
                }
            }
        }
        // SAFETY: F2, and not null; it lives as long as `self`.
        let table = unsafe { &*table };
        // A register has one producer, which fails once.
        let _ = table[register as usize].set(value);
    }
}

impl Drop for Failures {
    fn drop(&mut self) {
        let table = *self.0.get_mut();
        if !table.is_null() {
            // SAFETY: F2; nobody uses it any more.
            drop(unsafe { Box::from_raw(table) });
        }
    }
}
