//! Who owns a block that has room for a value: its handles, and the value in the room.
//!
//! ```text
//!                          1 claim                     3 the last handle goes
//!  handles ─────────────────────────► handles, value ─────────────────────────► value
//!     │    ◄─────────────────────────                                             │
//!     │            2 release                                                      │
//!     └── 3 the last handle goes ───────────► freed ◄─────────────── 2 release ───┘
//! ```
//!
//! One word has the number of handles, a mark for all handles together, and a mark for the value.
//! Whoever removes the last mark frees the block.
//!
//! 1. The only handle claims the room, which is free.
//! 2. The value is gone, and releases the room. If no mark is left, it frees the block.
//! 3. The count becomes zero first. The mark of the handles goes once the owner of the last handle
//!    has ended what lies in the block: until then, a release does not free it.
//!
//! The models under `cfg(loom)` let these edges race.

use std::fmt;

use crate::sync::{AtomicUsize, Ordering, fence};

/// The mark of the handles.
const HANDLES: usize = 1 << (usize::BITS - 1);
/// The mark of the value in the room.
const VALUE: usize = HANDLES >> 1;
/// The count of handles, below the marks.
const COUNT: usize = VALUE - 1;

/// The owners of a block of memory: handles, and perhaps a value in the [room](crate::Room) of the
/// block.
///
/// The type only counts: who uses it frees the block when it says so.
///
/// ```
/// use tfrt_async::BlockOwners;
///
/// let owners = BlockOwners::with_room();
/// assert!(owners.claim_room());
/// assert!(!owners.claim_room(), "it is in use");
/// assert!(owners.remove_handle(), "it was the last one");
/// assert!(!owners.end_handles(), "the value is still there");
/// assert!(owners.release_room(), "now the block is free");
/// ```
pub struct BlockOwners(AtomicUsize);

impl BlockOwners {
    /// Creates the count of a block without room that has one handle.
    #[inline]
    #[must_use]
    pub fn without_room() -> Self {
        Self(AtomicUsize::new(1))
    }

    /// Creates the count of a block with room, which is free, that has one handle.
    #[inline]
    #[must_use]
    pub fn with_room() -> Self {
        Self(AtomicUsize::new(HANDLES | 1))
    }

    /// Returns `true` if there is exactly one handle. Then everything that the other handles did
    /// happened before this returns.
    #[inline]
    #[must_use]
    pub fn is_unique(&self) -> bool {
        // Acquire pairs with the release in `remove_handle`.
        self.0.load(Ordering::Acquire) & COUNT == 1
    }

    /// Adds a handle. Only the owner of a handle may call this.
    ///
    /// # Panics
    /// If there are more handles than memory could hold.
    #[inline]
    pub fn add_handle(&self) {
        // Relaxed: the caller has a handle, and handing over the new one synchronises with its
        // recipient.
        let before = self.0.fetch_add(1, Ordering::Relaxed);
        assert!(
            before & COUNT < COUNT / 2,
            "a block has more handles than there can be"
        );
    }

    /// Removes a handle. Returns `true` if it was the last one.
    ///
    /// In that case, everything that the other handles did happened before this returns. A block
    /// without room is free then; for one with room, [`end_handles`](Self::end_handles) comes next.
    #[inline]
    #[must_use]
    pub fn remove_handle(&self) -> bool {
        // Release pairs with the fence below: all uses through this handle come before the end.
        let before = self.0.fetch_sub(1, Ordering::Release);
        if before & COUNT != 1 {
            return false;
        }
        fence(Ordering::Acquire);
        true
    }

    /// Ends the ownership of the handles, once the last one was removed from a block with room.
    /// Returns `true` if the block is free. In that case, everything that values in the room did
    /// happened before this returns.
    ///
    /// Otherwise another thread may free the block, and `self` with it, even before this returns.
    #[inline]
    #[must_use]
    pub fn end_handles(&self) -> bool {
        // Acquire pairs with the release in `release_room`. Without handles nobody claims the room,
        // so that it stays unused.
        if self.0.load(Ordering::Acquire) & VALUE == 0 {
            return true;
        }
        // Release: what the handles did comes before the end of the block; acquire: and so does
        // what the value did.
        self.0.fetch_and(!HANDLES, Ordering::AcqRel) & VALUE == 0
    }

    /// Claims the room for a value, and returns `true`, unless it is used or other handles exist. A
    /// block without room has none to claim. Only the owner of a handle may call this.
    #[inline]
    #[must_use]
    pub fn claim_room(&self) -> bool {
        // Relaxed: only the exchange claims. A handle that is passed on has company, and a failed
        // exchange would cost as much as a successful one.
        if self.0.load(Ordering::Relaxed) != HANDLES | 1 {
            return false;
        }
        // Acquire pairs with the release in `release_room`: a former value has been destroyed.
        self.0
            .compare_exchange(
                HANDLES | 1,
                HANDLES | VALUE | 1,
                Ordering::Acquire,
                Ordering::Relaxed,
            )
            .is_ok()
    }

    /// Releases room that was [claimed](Self::claim_room). Returns `true` if the block is free. In
    /// that case, everything that the handles did happened before this returns.
    ///
    /// Otherwise another thread may free the block, and `self` with it, even before this returns.
    #[inline]
    #[must_use]
    pub fn release_room(&self) -> bool {
        // Release: what the value did comes before the end of the block, and before the next value;
        // acquire: what the handles did comes before the end of the block.
        self.0.fetch_and(!VALUE, Ordering::AcqRel) & HANDLES == 0
    }
}

impl fmt::Debug for BlockOwners {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Relaxed: for people.
        let word = self.0.load(Ordering::Relaxed);
        f.debug_struct("BlockOwners")
            .field("num_handles", &(word & COUNT))
            .field("has_value", &(word & VALUE != 0))
            .finish()
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn only_the_last_owner_frees_the_block() {
        let owners = BlockOwners::with_room();
        assert!(owners.claim_room());
        assert!(!owners.release_room());
        assert!(owners.claim_room());
        assert!(owners.remove_handle());
        assert!(!owners.end_handles());
        assert!(owners.release_room());

        let owners = BlockOwners::with_room();
        assert!(owners.claim_room());
        assert!(owners.remove_handle());
        assert!(!owners.release_room(), "the last handle is not done");
        assert!(owners.end_handles());
    }

    #[test]
    fn only_a_unique_handle_of_a_block_with_room_claims_it() {
        let owners = BlockOwners::with_room();
        owners.add_handle();
        assert!(!owners.is_unique() && !owners.claim_room());
        assert!(!owners.remove_handle());
        assert!(owners.is_unique() && owners.claim_room());
        assert!(!owners.claim_room());
        assert!(!BlockOwners::without_room().claim_room());
    }

    #[test]
    fn the_count_is_shown_without_the_marks() {
        let owners = BlockOwners::with_room();
        owners.add_handle();
        assert_eq!(
            format!("{owners:?}"),
            "BlockOwners { num_handles: 2, has_value: false }"
        );
    }
}
