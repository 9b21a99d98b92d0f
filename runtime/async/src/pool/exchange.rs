//! Full magazines on their way between threads.
//!
//! A thread comes here once for each magazine that it fills or empties, and never waits: if another
//! thread is just here, it calls the allocator instead. A few magazines of each size are kept until
//! the process ends.
//!
//! The exchange does not use the shim of atomics: like the table of types, it outlives every model.
//!
//! Invariant E1: each place holds null or the first block of a full magazine of its size, whose
//! blocks nobody else uses. Upheld by `give`.

use std::ptr::NonNull;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, TryLockError};

use super::{Kept, SIZES};

/// The largest number of magazines that are kept of a size.
const MAX_MAGAZINES: usize = 8;

/// The magazines of one size.
struct Shelf {
    /// How many there are, for threads that need not come in to see that there are none. It may be
    /// out of date: the places decide.
    len: AtomicUsize,
    places: Mutex<Places>,
}

struct Places([Option<NonNull<Kept>>; MAX_MAGAZINES]);

// SAFETY: E1: the blocks belong to the place, and so to whoever holds the lock.
unsafe impl Send for Places {}

static SHELVES: [Shelf; SIZES.len()] = [const {
    Shelf {
        len: AtomicUsize::new(0),
        places: Mutex::new(Places([None; MAX_MAGAZINES])),
    }
}; SIZES.len()];

impl Shelf {
    /// Accesses the places, unless another thread is at it. Updates the number of magazines.
    fn with<R>(&self, access: impl FnOnce(&mut Places) -> R) -> Option<R> {
        let mut places = match self.places.try_lock() {
            Ok(places) => places,
            // Nothing panics while the lock is held.
            Err(TryLockError::Poisoned(error)) => error.into_inner(),
            Err(TryLockError::WouldBlock) => return None,
        };
        let result = access(&mut places);
        let len = places.0.iter().flatten().count();
        // Relaxed: the lock orders accesses to blocks; this number orders nothing.
        self.len.store(len, Ordering::Relaxed);
        Some(result)
    }
}

/// Hands a magazine on. Returns `true` if it was taken.
///
/// # Safety
/// 1. It is a full magazine of this class, whose blocks nobody else uses, and the caller transfers
///    ownership if this returns `true`.
pub(super) unsafe fn give(class: usize, magazine: NonNull<Kept>) -> bool {
    let place_it = |places: &mut Places| {
        let free = places.0.iter_mut().find(|place| place.is_none());
        // E1 by duty 1.
        free.map(|place| *place = Some(magazine)).is_some()
    };
    SHELVES[class].with(place_it).unwrap_or(false)
}

/// Takes a full magazine of a class, if there is one.
pub(super) fn take(class: usize) -> Option<NonNull<Kept>> {
    let shelf = &SHELVES[class];
    // Relaxed: see `len`.
    if shelf.len.load(Ordering::Relaxed) == 0 {
        return None;
    }
    shelf
        .with(|places| places.0.iter_mut().find_map(Option::take))
        .flatten()
}
