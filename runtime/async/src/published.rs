//! Values that are read often and replaced rarely, such as tables of caches.
//!
//! ```text
//!  reader                              writer, one at a time
//!  ──────                              ─────────────────────
//!  1  count itself as a reader         4  exchange the pointer
//!  2  load the pointer, use the value  5  keep the old value among the replaced ones
//!  3  count itself out                 6  no readers? then free the replaced values
//! ```
//!
//! Readers take no lock: they write to one counter (1, 3). A writer does not wait for readers
//! either. The values that it cannot free yet are freed by the last reader that leaves, or by the
//! next writer.
//!
//! - P1. A value is alive while it is the current one, and while it is among the replaced ones.
//! - P2. The writer's lock is held during 4 to 6, and by any thread that frees values.
//! - P3. Replaced values are freed only after step 6 has read, by a read-modify-write, that the
//!   count is zero. The operations on the count have one order. A reader that counted itself before
//!   has counted itself out before: 3 is a release, and 6 acquires it, so its use of the value has
//!   ended. A reader that counts itself after acquires with 1 what 6 releases, so that 2 sees the
//!   exchange (4), or a later one, and finds no value that 6 frees.
//!
//! The models under `cfg(loom)` let these steps race.
#![expect(
    unsafe_code,
    reason = "readers use a value that a pointer refers to while writers replace it"
)]

use std::fmt;

use crate::sync::{AtomicPtr, AtomicUsize, Mutex, MutexGuard, Ordering};

/// A value that readers use without a lock while others replace it; see the module.
///
/// ```
/// use tfrt_async::Published;
///
/// let table = Published::new(vec![1, 2]);
/// table.replace(|old| {
///     let mut new = old.clone();
///     new.push(3);
///     new
/// });
/// assert_eq!(table.read(|table| table.len()), 3);
/// ```
pub struct Published<T> {
    /// The current value: from a box, never null.
    current: AtomicPtr<T>,
    /// The number of readers that may have loaded a pointer and may be using it.
    readers: AtomicUsize,
    /// Whether a replaced value is not freed yet: a hint for readers, which need no lock if there
    /// is none.
    has_replaced: AtomicUsize,
    /// The writer's lock, with the values that may still be in use.
    replaced: Mutex<Vec<Replaced<T>>>,
}

/// A replaced value, from a box without another owner.
struct Replaced<T>(*mut T);

// SAFETY: it owns a `T`, as a box does.
unsafe impl<T: Send> Send for Replaced<T> {}

impl<T> Drop for Replaced<T> {
    fn drop(&mut self) {
        // SAFETY: it owns the box, which no reader uses: P3.
        drop(unsafe { Box::from_raw(self.0) });
    }
}

/// Counts a reader out, also if it panics.
struct Reader<'a, T: Send + Sync>(&'a Published<T>);

impl<T: Send + Sync> Drop for Reader<'_, T> {
    fn drop(&mut self) {
        // AcqRel: the release pairs with the acquire of 6 in `free`; the acquire pairs with the
        // release there, so that the last reader sees the hint.
        let was_last = self.0.readers.fetch_sub(1, Ordering::AcqRel) == 1;
        // Relaxed: a hint.
        if was_last && self.0.has_replaced.load(Ordering::Relaxed) != 0 {
            self.0.free();
        }
    }
}

// Any thread may read, replace and drop values, so they must be `Send` and `Sync`: this block has
// the only constructor of `Published`.
impl<T: Send + Sync> Published<T> {
    /// Publishes a first value.
    #[must_use]
    pub fn new(value: T) -> Self {
        Self {
            current: AtomicPtr::new(Box::into_raw(Box::new(value))),
            readers: AtomicUsize::new(0),
            has_replaced: AtomicUsize::new(0),
            replaced: Mutex::new(Vec::new()),
        }
    }

    /// Calls `f` with the current value. No thread waits for `f`; it only delays freeing the values
    /// that are replaced meanwhile.
    #[inline]
    pub fn read<R>(&self, f: impl FnOnce(&T) -> R) -> R {
        // Acquire: pairs with the release of 6 in `free`.
        self.readers.fetch_add(1, Ordering::Acquire);
        let _reader = Reader(self);
        // Acquire: pairs with the release of 4 in `replace`.
        let current = self.current.load(Ordering::Acquire);
        // SAFETY: P1 and P3: this thread is counted as a reader, so that the value is not freed.
        f(unsafe { &*current })
    }

    /// Replaces the current value with one that `make` derives from it. Writers take turns; readers
    /// do not wait. If `make` panics, the value stays. `make` must not replace the value itself.
    pub fn replace(&self, make: impl FnOnce(&T) -> T) {
        {
            let mut replaced = self.lock();
            // Relaxed: other writers held the lock.
            let current = self.current.load(Ordering::Relaxed);
            // SAFETY: P1: it is the current value, which only the holder of the lock replaces (P2).
            let new = make(unsafe { &*current });
            let new = Box::into_raw(Box::new(new));
            // Release: pairs with the acquire of 2 in `read`.
            let old = self.current.swap(new, Ordering::AcqRel);
            replaced.push(Replaced(old));
            // Relaxed: step 6 releases it.
            self.has_replaced.store(1, Ordering::Relaxed);
        }
        self.free();
    }

    /// Frees the replaced values, if no reader can be using them. If another thread holds the lock,
    /// that thread frees the values.
    #[cold]
    fn free(&self) {
        let freed = {
            let Ok(mut replaced) = self.replaced.try_lock() else {
                return;
            };
            // AcqRel: see P3. This is a read-modify-write, because a load may read an earlier
            // count.
            if self.readers.fetch_add(0, Ordering::AcqRel) != 0 {
                return;
            }
            self.has_replaced.store(0, Ordering::Relaxed);
            std::mem::take(&mut *replaced)
        };
        // Outside of the lock: dropping a value may run anything.
        drop(freed);
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Replaced<T>>> {
        match self.replaced.lock() {
            Ok(guard) => guard,
            // The list is consistent between any two operations.
            Err(poisoned) => poisoned.into_inner(),
        }
    }
}

impl<T> Drop for Published<T> {
    fn drop(&mut self) {
        // Relaxed: the owner has exclusive access.
        let current = self.current.load(Ordering::Relaxed);
        drop(Replaced(current));
    }
}

impl<T: fmt::Debug + Send + Sync> fmt::Debug for Published<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.read(|value| f.debug_tuple("Published").field(value).finish())
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::AtomicBool;

    use super::*;

    #[test]
    fn value_is_freed_when_its_last_reader_leaves() {
        let value = Arc::new(());
        let published = Published::new(Arc::clone(&value));
        published.read(|_| {
            published.read(|_| published.replace(|_| Arc::default()));
            assert_eq!(Arc::strong_count(&value), 2, "it is in use");
        });
        assert_eq!(Arc::strong_count(&value), 1);
        published.replace(|_| Arc::clone(&value));
        published.replace(|_| Arc::default());
        assert_eq!(Arc::strong_count(&value), 1, "nobody reads");
    }

    #[test]
    fn panics_leave_the_value() {
        let published = Published::new(1);
        let panics = |f: &mut dyn FnMut()| {
            assert!(std::panic::catch_unwind(std::panic::AssertUnwindSafe(f)).is_err());
        };
        panics(&mut || published.replace(|_| panic!("as a test")));
        panics(&mut || published.read(|_| panic!("as a test")));
        assert_eq!(published.read(|value| *value), 1);
        // The reader that panicked does not keep values alive.
        let value = Arc::new(());
        let published = Published::new(Arc::clone(&value));
        panics(&mut || published.read(|_| panic!("as a test")));
        published.replace(|_| Arc::default());
        assert_eq!(Arc::strong_count(&value), 1);
    }

    #[test]
    fn threads_read_while_others_replace() {
        let (published, ends) = (Published::new([0_u64; 8]), AtomicBool::new(false));
        std::thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| {
                    while !ends.load(Ordering::Relaxed) {
                        let is_whole = |value: &[u64; 8]| value.iter().all(|x| *x == value[0]);
                        assert!(published.read(is_whole));
                    }
                });
            }
            for _ in 0..10_000 {
                published.replace(|value| value.map(|x| x + 1));
            }
            ends.store(true, Ordering::Relaxed);
        });
        assert_eq!(published.read(|value| value[0]), 10_000);
    }
}
