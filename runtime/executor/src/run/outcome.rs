//! A result of an invocation: given by the kernel that makes it and taken by the caller, in either
//! order.
//!
//! ```text
//!              give                   take
//!    Empty ──────────► Given ─────────────────────► Taken
//!      │                                              ▲
//!      │ take: the caller gets an indirect value      │ give: the promise is kept
//!      └─────────────► Promised ──────────────────────┘
//! ```
//!
//! - O1. Giving and taking happen once each. They race for one exchange of the word, and the second
//!   one finds what the first one has left.
//! - O2. The word is null (Empty, Taken), a value (Given), or a promise with the lowest bit set
//!   (Promised), and owns it.
#![expect(unsafe_code, reason = "owns what a tagged pointer points to")]

use std::ptr::{self, NonNull};

use tfrt_async::{AnyRef, IndirectPromise};

use super::sync::{AtomicPtr, Ordering};

const PROMISED: usize = 1;

/// A result that is given once and taken once.
#[derive(Debug)]
pub(crate) struct ResultSlot(AtomicPtr<()>);

impl ResultSlot {
    /// Returns an empty slot.
    pub(crate) fn new() -> Self {
        Self(AtomicPtr::new(ptr::null_mut()))
    }

    /// Sets the result, which may be unavailable. Called once.
    ///
    /// If the caller came first, returns its promise and the result. The kernel must then resolve
    /// the promise with the result, which runs the waiters of the caller's value.
    pub(crate) fn give(&self, value: AnyRef) -> Option<(IndirectPromise, AnyRef)> {
        let given = value.into_raw().as_ptr();
        // Release pairs with the acquire in `take` if the caller comes second; acquire pairs with
        // the release there if it came first.
        let found =
            self.0
                .compare_exchange(ptr::null_mut(), given, Ordering::AcqRel, Ordering::Acquire);
        let promised = found.err()?;
        // Relaxed: the slot is taken; only `drop` reads it again.
        self.0.store(ptr::null_mut(), Ordering::Relaxed);
        // SAFETY: the exchange failed, so the word still owns the value.
        let value = unsafe { owned_value(given) };
        // SAFETY: O2, and O1: a word that is neither empty nor given before it is given is
        // promised.
        let promise = unsafe { owned_promise(promised) };
        Some((promise, value))
    }

    /// Returns the result: the value that was given, or a value that will forward to it. Called
    /// once.
    pub(crate) fn take(&self) -> AnyRef {
        // Acquire pairs with the release in `give`.
        let mut found = self.0.load(Ordering::Acquire);
        if found.is_null() {
            let (promise, value) = AnyRef::indirect();
            let promised = promise
                .into_raw()
                .as_ptr()
                .map_addr(|address| address | PROMISED);
            // Release pairs with the acquire in `give`; acquire with its release.
            match self
                .0
                .compare_exchange(found, promised, Ordering::AcqRel, Ordering::Acquire)
            {
                Ok(_) => return value,
                Err(given) => {
                    // SAFETY: the exchange failed, so `promised` still owns the promise.
                    drop(unsafe { owned_promise(promised) });
                    found = given;
                }
            }
        }
        // Relaxed: the slot is taken; only `drop` reads it again.
        self.0.store(ptr::null_mut(), Ordering::Relaxed);
        // SAFETY: O2, and O1: a word that is not empty before it is taken is given.
        unsafe { owned_value(found) }
    }
}

impl Drop for ResultSlot {
    fn drop(&mut self) {
        // Relaxed: `&mut self` is exclusive.
        let word = self.0.load(Ordering::Relaxed);
        if word.is_null() {
            return;
        }
        if word.addr() & PROMISED != 0 {
            // SAFETY: O2; the word is not used again. A promise that is dropped makes its value an
            // error.
            drop(unsafe { owned_promise(word) });
        } else {
            // SAFETY: O2; the word is not used again.
            drop(unsafe { owned_value(word) });
        }
    }
}

/// # Safety
/// 1. `word` came from a value, whose ownership passes to the caller.
unsafe fn owned_value(word: *mut ()) -> AnyRef {
    let raw = NonNull::new(word).expect("a value is not null");
    // SAFETY: duty 1.
    unsafe { AnyRef::from_raw(raw) }
}

/// # Safety
/// 1. `word` came from a promise, whose ownership passes to the caller.
unsafe fn owned_promise(word: *mut ()) -> IndirectPromise {
    let raw = NonNull::new(word.map_addr(|address| address & !PROMISED));
    let raw = raw.expect("a promise is not null");
    // SAFETY: duty 1.
    unsafe { IndirectPromise::from_raw(raw) }
}

/// Gives 7, and resolves the promise if the caller came first.
#[cfg(test)]
fn give_and_keep(slot: &ResultSlot) {
    if let Some((promise, value)) = slot.give(AnyRef::available(7_i32)) {
        promise.forward_to(value);
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn a_result_that_was_given_is_taken_as_it_is() {
        let slot = ResultSlot::new();
        let value = AnyRef::available(7_i32);
        assert!(slot.give(value.clone()).is_none());
        assert!(slot.take().ptr_eq(&value));
    }

    #[test]
    fn a_result_that_is_taken_first_stands_for_what_is_given() {
        let slot = ResultSlot::new();
        let taken = slot.take();
        assert!(!taken.is_available());
        give_and_keep(&slot);
        assert_eq!(taken.get::<i32>(), Some(&7));
    }

    #[test]
    fn a_result_that_is_never_given_is_an_error() {
        let slot = ResultSlot::new();
        let taken = slot.take();
        drop(slot);
        assert!(taken.is_error());
    }

    #[test]
    fn a_result_that_is_never_taken_goes_away() {
        let value = AnyRef::available(7_i32);
        let slot = ResultSlot::new();
        assert!(slot.give(value.clone()).is_none());
        drop(slot);
        assert!(value.is_unique());
    }
}

#[cfg(all(test, loom))]
mod loom_models {
    use std::sync::Arc;

    use loom::thread;

    use super::*;

    /// O1: a caller takes the result while a kernel gives it. The caller gets the result in either
    /// order.
    #[test]
    fn loom_a_result_is_exchanged_once() {
        loom::model(|| {
            let slot = Arc::new(ResultSlot::new());
            let giver = {
                let slot = Arc::clone(&slot);
                thread::spawn(move || give_and_keep(&slot))
            };
            let taken = slot.take();
            giver.join().expect("a model does not panic");
            assert_eq!(taken.get::<i32>(), Some(&7));
        });
    }
}
