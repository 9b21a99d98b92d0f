//! A type-erased closure that is called once. Small ones are stored in place.
//!
//! ```text
//!  Closure { words: [ptr; 3], vtable ──► call, discard, drop }
//!            ▲
//!            └── the closure itself, if it fits, or else a box of it
//! ```
//!
//! Invariant C1: `words` holds a value of the type that `vtable` was made for, which is `Send`,
//! until `call` or `drop` takes it. Upheld by `in_place`, the only constructor, and by these two,
//! which consume the closure.
#![expect(unsafe_code, reason = "stores small closures without an allocation")]

use std::any::Any;
use std::mem::{ManuallyDrop, MaybeUninit};
use std::panic::{self, AssertUnwindSafe};

/// The payload of a panic.
pub(super) type PanicPayload = Box<dyn Any + Send>;

/// Room for a few references. Together with the vtable, this is 32 bytes, half a cache line.
///
/// The words are pointers, so that pointers stored here keep their provenance.
type Words = [MaybeUninit<*mut ()>; 3];

/// A closure to be called once.
pub(super) struct Closure {
    words: Words,
    vtable: &'static VTable,
}

// SAFETY: C1: the stored value is `Send`, and the vtable holds only functions.
unsafe impl Send for Closure {}

/// The operations on a closure. They are compiled in the crate that made the closure, which may be
/// a kernel library: a panic is caught, and its payload dropped, by the copy of the standard
/// library that raised it.
struct VTable {
    /// Takes the closure out and calls it.
    ///
    /// Duties: 1. C1 holds, and this takes the value.
    call: unsafe fn(*mut Words) -> Result<(), PanicPayload>,
    /// Takes the closure out and drops it. Duties: as for `call`.
    drop: unsafe fn(*mut Words),
    /// Drops the payload of a panic, even if that panics.
    discard: fn(PanicPayload),
}

impl Closure {
    /// Stores `f`, in place if it fits and otherwise in a box.
    pub(super) fn new<F: FnOnce() + Send + 'static>(f: F) -> Self {
        if const { fits::<F>() } {
            Self::in_place(f)
        } else {
            Self::in_place(Box::new(f))
        }
    }

    fn in_place<F: FnOnce() + Send + 'static>(f: F) -> Self {
        assert!(
            const { fits::<F>() },
            "a closure that is stored in place fits"
        );
        let mut words: Words = [MaybeUninit::uninit(); 3];
        // SAFETY: `f` fits in size and alignment, and the words hold no value that would be
        // overwritten.
        unsafe { words.as_mut_ptr().cast::<F>().write(f) };
        Self {
            words,
            vtable: &VTable {
                call: call::<F>,
                drop: drop_in_place::<F>,
                discard,
            },
        }
    }

    /// Calls the closure. Returns the payload of its panic, if it panics.
    #[inline]
    pub(super) fn call(self) -> Result<(), PanicPayload> {
        let mut this = ManuallyDrop::new(self);
        // SAFETY: 1: C1 held for `self`, which is never dropped.
        unsafe { (this.vtable.call)(&raw mut this.words) }
    }

    /// Calls the closure and catches its panic, whatever the payload is.
    #[inline]
    pub(super) fn call_and_survive(self) {
        let discard = self.vtable.discard;
        if let Err(payload) = self.call() {
            discard(payload);
        }
    }
}

impl Drop for Closure {
    fn drop(&mut self) {
        // SAFETY: 1: C1 holds until now, and nothing uses the closure after its drop.
        unsafe { (self.vtable.drop)(&raw mut self.words) }
    }
}

const fn fits<F>() -> bool {
    size_of::<F>() <= size_of::<Words>() && align_of::<F>() <= align_of::<Words>()
}

/// See [`VTable::call`].
unsafe fn call<F: FnOnce()>(words: *mut Words) -> Result<(), PanicPayload> {
    // SAFETY: duty 1: the words hold an `F`, and only this takes it.
    let f = unsafe { words.cast::<F>().read() };
    // The call consumes the closure. State that it shares with others is in types that are sound to
    // use after a panic.
    panic::catch_unwind(AssertUnwindSafe(f))
}

/// See [`VTable::drop`].
unsafe fn drop_in_place<F>(words: *mut Words) {
    // SAFETY: duty 1: the words hold an `F`, and only this takes it.
    unsafe { words.cast::<F>().drop_in_place() }
}

/// See [`VTable::discard`].
#[cold]
fn discard(payload: PanicPayload) {
    if let Err(next) = panic::catch_unwind(AssertUnwindSafe(|| drop(payload))) {
        // A payload that panics while it is dropped may do so again, so it is leaked.
        std::mem::forget(next);
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use std::sync::Arc;
    use std::sync::mpsc::channel;

    use super::*;

    /// Calls a closure that holds `extra`, drops another one, and checks that both are gone.
    fn check<T: Send + 'static>(extra: fn() -> T) {
        let owner = Arc::new(());
        let (sender, receiver) = channel();
        for is_called in [true, false] {
            let (held, sender, extra) = (Arc::clone(&owner), sender.clone(), extra());
            let closure = Closure::new(move || {
                let _extra = &extra;
                sender.send(Arc::strong_count(&held)).expect("still there");
            });
            if is_called {
                assert!(closure.call().is_ok());
            } else {
                drop(closure);
            }
            assert_eq!(Arc::strong_count(&owner), 1, "the closure is gone");
        }
        assert_eq!(receiver.try_iter().collect::<Vec<_>>(), [2]);
    }

    #[repr(align(64))]
    struct Wide(#[expect(dead_code, reason = "takes up room")] [u8; 64]);

    #[test]
    fn a_closure_of_any_size_is_called_once_and_dropped_once() {
        check(|| ());
        check(|| 1_usize);
        check(|| [1_usize; 40]);
        check(|| Wide([1; 64]));
    }

    #[test]
    fn three_words_fit_and_four_do_not() {
        const { assert!(fits::<[usize; 3]>() && !fits::<[usize; 4]>() && !fits::<Wide>()) };
        assert_eq!(size_of::<Closure>(), 4 * size_of::<usize>());
        assert_eq!(size_of::<Option<Closure>>(), size_of::<Closure>());
    }

    #[test]
    fn a_payload_that_panics_when_it_is_dropped_is_survived() {
        struct Bomb;
        impl Drop for Bomb {
            fn drop(&mut self) {
                panic::resume_unwind(Box::new("the second panic"));
            }
        }
        Closure::new(|| panic::resume_unwind(Box::new(Bomb))).call_and_survive();
    }
}
