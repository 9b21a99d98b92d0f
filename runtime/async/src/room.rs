//! Values that lie in memory of their payloads.
//!
//! A small tensor owns a block for its elements. If the block has room for the value that holds the
//! tensor, both take a single allocation:
//!
//! ```text
//!  ┌─ value ──────────────┬─ memory of the payload ────────┐
//!  │ header │ payload ────┼──► …                           │   one block
//!  └──────────────────────┴────────────────────────────────┘
//! ```
//!
//! The block has two users, the value and the payload, either of which may end first: references to
//! the memory of the payload may outlive the value, and the payload of a value may be replaced. So
//! the owner of the block keeps it until it has no handles and the room is released:
//! [`BlockOwners`] counts both.
#![expect(unsafe_code, reason = "hands out room for values")]

mod owners;

use std::alloc::Layout;
use std::fmt;
use std::ptr::NonNull;

use crate::cell;

pub use owners::BlockOwners;

/// How to find room for a value in the memory of its payload.
///
/// A value that is created available with a payload that has room lies there; other values have
/// memory of their own. Nothing else distinguishes them.
pub struct Room<T: ?Sized> {
    claim: fn(&T) -> Option<NonNull<u8>>,
    release: unsafe fn(NonNull<u8>),
}

impl<T: ?Sized> Room<T> {
    /// Creates a description of room.
    ///
    /// # Safety
    /// 1. Where `claim` returns a place, it is valid for reads and writes of
    ///    [`layout`](Self::layout), aligned accordingly, and exclusively the caller's until
    ///    `release` is called with it, whatever happens to the payload until then.
    ///
    /// `release` is called once for each place, when the value there is gone.
    #[must_use]
    pub const unsafe fn new(
        claim: fn(&T) -> Option<NonNull<u8>>,
        release: unsafe fn(NonNull<u8>),
    ) -> Self {
        Self { claim, release }
    }

    /// Returns the room for a value with this payload, if there is any.
    #[inline]
    pub(crate) fn claim(&self, payload: &T) -> Option<NonNull<u8>> {
        (self.claim)(payload)
    }

    /// Returns room to its owner.
    ///
    /// # Safety
    /// 1. `place` came from [`claim`](Self::claim), and has not been released since.
    /// 2. It is not used afterwards.
    #[inline]
    pub(crate) unsafe fn release(&self, place: NonNull<u8>) {
        // SAFETY: duties 1 and 2.
        unsafe { (self.release)(place) };
    }
}

impl<T> Room<T> {
    /// Returns the layout of a value with such a payload.
    #[must_use]
    pub const fn layout() -> Layout {
        cell::layout_of_value::<T>()
    }
}

impl<T: ?Sized> fmt::Debug for Room<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Room").finish_non_exhaustive()
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use std::cell::Cell;
    use std::mem::MaybeUninit;

    use super::*;
    use crate::{AnyRef, Immutable, Value};

    type Place = MaybeUninit<[u64; 8]>;

    /// A payload whose room, if it has any, is a box that `release` drops.
    struct Roomy {
        has_room: bool,
        panics: bool,
    }

    thread_local! {
        static DROPPED: Cell<usize> = const { Cell::new(0) };
        static RELEASED: Cell<usize> = const { Cell::new(0) };
    }

    impl Drop for Roomy {
        fn drop(&mut self) {
            DROPPED.set(DROPPED.get() + 1);
            assert!(!self.panics, "as a test");
        }
    }

    impl Value for Roomy {
        const MLIR_TYPE: &'static str = "!test.roomy";
        const ROOM: Option<Room<Self>> = {
            // SAFETY: 1: a box of its own, large enough, which `release` drops.
            Some(unsafe { Room::new(claim, release) })
        };
    }

    impl Immutable for Roomy {}

    const _: () = assert!(size_of::<Place>() >= Room::<Roomy>::layout().size());

    fn claim(payload: &Roomy) -> Option<NonNull<u8>> {
        let place = || NonNull::from(Box::leak(Box::new(Place::uninit()))).cast();
        payload.has_room.then(place)
    }

    unsafe fn release(place: NonNull<u8>) {
        RELEASED.set(RELEASED.get() + 1);
        // SAFETY: `claim` leaked it from a box, and it is released once.
        drop(unsafe { Box::from_raw(place.cast::<Place>().as_ptr()) });
    }

    fn value(has_room: bool, panics: bool) -> AnyRef {
        AnyRef::available(Roomy { has_room, panics })
    }

    #[test]
    fn room_is_released_after_the_payload() {
        for has_room in [true, false] {
            DROPPED.set(0);
            RELEASED.set(0);
            let value = value(has_room, false);
            assert!(value.is_unique());
            let other = value.clone();
            assert!(!value.is_unique());
            drop(value);
            assert_eq!(
                other.get::<Roomy>().map(|payload| payload.has_room),
                Some(has_room)
            );
            assert_eq!(DROPPED.get() + RELEASED.get(), 0);
            drop(other);
            assert_eq!((DROPPED.get(), RELEASED.get()), (1, usize::from(has_room)));
        }
    }

    #[test]
    fn room_is_released_although_the_payload_panics() {
        RELEASED.set(0);
        drop(value(true, true));
        assert_eq!(RELEASED.get(), 1);
    }

    #[test]
    fn a_value_in_its_payload_becomes_a_function_result() {
        for is_shared in [false, true] {
            RELEASED.set(0);
            let value = value(true, false);
            let other = is_shared.then(|| value.clone());
            let given = value.into_given();
            assert!(!given.is_unique() && given.is::<Roomy>());
            drop(other);
            assert!(!given.is_unique() && given.get::<Roomy>().is_some());
            assert_eq!(RELEASED.get(), 0);
            drop(given);
            assert_eq!(RELEASED.get(), 1);
        }
    }
}
