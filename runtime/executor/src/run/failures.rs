//! Values that direct kernels cannot read: errors, and values of other types than expected.
//!
//! A cell holds only a payload, so a direct kernel cannot tell from it that a value is an error.
//! Until something fails, it does not need to: the first failure creates a table, and kernels look
//! up their operands only if the table exists.
//!
//! - L1. A failure is recorded before the users of its register are counted down, and the thread
//!   that runs a user has seen that count. So if a kernel finds no table, or no entry for its
//!   operand, that operand did not fail.
//! - L2. The table is made once. Its pointer is null, or came from `Box::into_raw` and is freed by
//!   `drop` alone.
//! - L3. An entry is set once, by the producer of its register. It is null, or owns a reference to
//!   a value.
#![expect(
    unsafe_code,
    reason = "publishes a table by compare-and-swap, so that nobody waits for who makes it"
)]

use std::fmt;
use std::mem::ManuallyDrop;
use std::ptr;

use tfrt_async::AnyRef;
use tfrt_support::entity::EntityId;

use super::sync::{AtomicPtr, Ordering};
use crate::lower::code::RegisterId;

/// The failures of one invocation, by register.
pub(crate) struct Failures(AtomicPtr<Table>);

type Table = Box<[Entry]>;

/// An error, or a value of another type than expected.
struct Entry(AtomicPtr<()>);

impl Failures {
    /// Returns an empty set of failures.
    pub(crate) fn none() -> Self {
        Self(AtomicPtr::new(ptr::null_mut()))
    }

    /// Returns `true` if nothing has failed that a ready kernel may depend on (L1).
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        // Relaxed: only the pointer is compared; `get` acquires the table that it points to.
        self.0.load(Ordering::Relaxed).is_null()
    }

    /// Returns the value that a register holds instead of a payload that direct kernels can read.
    pub(crate) fn get(&self, register: RegisterId) -> Option<AnyRef> {
        // Acquire pairs with the release in `note`: the table is complete.
        let table = self.0.load(Ordering::Acquire);
        // SAFETY: L2; it lives as long as `self`.
        let table = unsafe { table.as_ref() }?;
        table[register.index()].get()
    }

    /// Records the value of a register, one of `num_registers`. Called by its producer, once.
    #[cold]
    pub(crate) fn note(&self, register: RegisterId, num_registers: usize, value: AnyRef) {
        let mut table = self.0.load(Ordering::Acquire);
        if table.is_null() {
            let made: Table = (0..num_registers).map(|_| Entry::empty()).collect();
            let made = Box::into_raw(Box::new(made));
            // Release pairs with the acquires here and in `get`.
            let found = self
                .0
                .compare_exchange(table, made, Ordering::AcqRel, Ordering::Acquire);
            table = match found {
                Ok(_) => made,
                Err(current) => {
                    // SAFETY: just made, and no other thread has seen it.
                    drop(unsafe { Box::from_raw(made) });
                    current
                }
            };
        }
        // SAFETY: L2, and not null; it lives as long as `self`.
        let table = unsafe { &*table };
        table[register.index()].set(value);
    }
}

impl Drop for Failures {
    fn drop(&mut self) {
        // Relaxed: `&mut self` is exclusive.
        let table = self.0.load(Ordering::Relaxed);
        if !table.is_null() {
            // SAFETY: L2; it is not used any more.
            drop(unsafe { Box::from_raw(table) });
        }
    }
}

impl fmt::Debug for Failures {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Failures(is_empty: {})", self.is_empty())
    }
}

impl Entry {
    fn empty() -> Self {
        Self(AtomicPtr::new(ptr::null_mut()))
    }

    fn get(&self) -> Option<AnyRef> {
        // Acquire pairs with the release in `set`.
        let word = ptr::NonNull::new(self.0.load(Ordering::Acquire))?;
        // SAFETY: L3: the entry owns a reference, and keeps it.
        let owned = ManuallyDrop::new(unsafe { AnyRef::from_raw(word) });
        Some(AnyRef::clone(&owned))
    }

    fn set(&self, value: AnyRef) {
        let word = value.into_raw();
        // Release pairs with the acquire in `get`. L3: it was null.
        self.0.store(word.as_ptr(), Ordering::Release);
    }
}

impl Drop for Entry {
    fn drop(&mut self) {
        // Relaxed: `&mut self` is exclusive.
        if let Some(word) = ptr::NonNull::new(self.0.load(Ordering::Relaxed)) {
            // SAFETY: L3; the entry is not used again.
            drop(unsafe { AnyRef::from_raw(word) });
        }
    }
}

#[cfg(all(test, loom))]
mod loom_models {
    use std::sync::Arc;

    use loom::thread;

    use super::*;
    use crate::run::ready_count::ReadyCount;

    fn register(index: usize) -> RegisterId {
        RegisterId::from_index(index)
    }

    /// L1 and L2: two producers fail at once, and the thread that finds their common user ready
    /// finds both failures.
    #[test]
    fn loom_a_ready_kernel_finds_the_failures_of_its_operands() {
        loom::model(|| {
            let shared = Arc::new((Failures::none(), ReadyCount::starting_at(2)));
            let fail = |shared: &(Failures, ReadyCount), index: usize| {
                let (failures, count) = shared;
                failures.note(register(index), 2, AnyRef::available(index as i32));
                if count.count_down(false) {
                    assert!(!failures.is_empty());
                    for index in 0..2 {
                        let found = failures.get(register(index));
                        let found = found.and_then(|value| value.get::<i32>().copied());
                        assert_eq!(found, Some(index as i32), "a failure is missing");
                    }
                }
            };
            let other = {
                let shared = Arc::clone(&shared);
                thread::spawn(move || fail(&shared, 1))
            };
            fail(&shared, 0);
            other.join().expect("a model does not panic");
        });
    }
}
