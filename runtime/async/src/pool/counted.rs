//! Shared ownership of pooled memory for objects that live as long as a task, with weak references
//! and wakers.
//!
//! - A1. `strong` is the number of [`PooledArc`]s. The value exists while it is above zero; it
//!   never rises from zero.
//! - A2. `weak` is the number of [`PooledWeak`]s, plus one while there is a `PooledArc`. The block
//!   exists while it is above zero.
#![expect(unsafe_code, reason = "counts the owners of a block of memory")]

use std::fmt;
use std::marker::PhantomData;
use std::mem::ManuallyDrop;
use std::ops::Deref;
use std::ptr::NonNull;
use std::task::{RawWaker, RawWakerVTable, Waker};

use super::{Pooled, reserve};
use crate::sync::{AtomicU64, Ordering};

// A leak cannot wrap a 64-bit count: that would take centuries.
struct Block<T> {
    strong: AtomicU64,
    weak: AtomicU64,
    value: ManuallyDrop<T>,
}

/// Like an [`Arc`](std::sync::Arc), in memory that threads keep for reuse.
///
/// Invariant: it owns one count of `strong` (A1), so the value exists.
///
/// ```
/// use tfrt_async::pool::PooledArc;
///
/// let seven = PooledArc::new(7);
/// let weak = PooledArc::downgrade(&seven);
/// assert_eq!(weak.upgrade().as_deref(), Some(&7));
/// drop(seven);
/// assert!(weak.upgrade().is_none());
/// ```
pub struct PooledArc<T> {
    block: NonNull<Block<T>>,
    owns: PhantomData<Block<T>>,
}

// SAFETY: as for `Arc`: owners on several threads share the value, and any of them may drop it.
unsafe impl<T: Send + Sync> Send for PooledArc<T> {}
// SAFETY: as above: a reference permits nothing that a clone does not.
unsafe impl<T: Send + Sync> Sync for PooledArc<T> {}

/// A weak reference to the value of a [`PooledArc`].
///
/// Invariant: it owns one count of `weak` (A2), so the block exists.
pub struct PooledWeak<T> {
    block: NonNull<Block<T>>,
}

// SAFETY: as for `PooledArc`, to which it can be upgraded.
unsafe impl<T: Send + Sync> Send for PooledWeak<T> {}
// SAFETY: as above.
unsafe impl<T: Send + Sync> Sync for PooledWeak<T> {}

/// A task whose [`PooledArc`] acts as its waker.
pub trait WakePooled: Send + Sync + Sized + 'static {
    /// Wakes the task. May be called by any thread, at any time.
    fn wake(this: &PooledArc<Self>);
}

impl<T> PooledArc<T> {
    /// Moves `value` into its own block.
    #[inline]
    pub fn new(value: T) -> Self {
        let write = |place: *mut T| {
            // SAFETY: it is the place of the value, which is ours.
            unsafe { place.write(value) };
        };
        // SAFETY: 1: the closure writes the value.
        unsafe { Self::new_in_place(write) }
    }

    /// Creates a value in its own block, where `write` puts it: for values that are written part by
    /// part, as they are too large to be moved there. The memory leaks if `write` panics.
    ///
    /// # Safety
    /// 1. `write` initialises the value in the place that it gets.
    #[inline]
    pub unsafe fn new_in_place(write: impl FnOnce(*mut T)) -> Self {
        let block = reserve::<Block<T>>();
        // SAFETY: the field is in the block.
        let strong = unsafe { &raw mut (*block.as_ptr()).strong };
        // SAFETY: the block is exclusively ours.
        unsafe { strong.write(AtomicU64::new(1)) };
        // SAFETY: as above.
        let weak = unsafe { &raw mut (*block.as_ptr()).weak };
        // SAFETY: as above.
        unsafe { weak.write(AtomicU64::new(1)) };
        // SAFETY: as above.
        let value = unsafe { &raw mut (*block.as_ptr()).value };
        write(value.cast());
        Self {
            block,
            owns: PhantomData,
        }
    }

    /// Returns a reference that does not keep the value alive.
    pub fn downgrade(this: &Self) -> PooledWeak<T> {
        // Relaxed: the caller keeps the block alive, and handing over the new reference
        // synchronises with its recipient.
        this.block().weak.fetch_add(1, Ordering::Relaxed);
        PooledWeak { block: this.block }
    }

    #[inline]
    fn block(&self) -> &Block<T> {
        // SAFETY: A2: `self` is a `PooledArc`.
        unsafe { self.block.as_ref() }
    }

    /// Gives up the reference without dropping its count.
    #[inline]
    fn into_raw(self) -> NonNull<Block<T>> {
        ManuallyDrop::new(self).block
    }

    /// # Safety
    /// 1. The caller transfers ownership of one count of `strong`.
    #[inline]
    unsafe fn from_raw(block: NonNull<Block<T>>) -> Self {
        Self {
            block,
            owns: PhantomData,
        }
    }
}

impl<T: WakePooled> PooledArc<T> {
    /// Calls `f` with a waker of this task. Only cloning the waker touches the count.
    #[inline]
    pub fn with_waker<R>(&self, f: impl FnOnce(&Waker) -> R) -> R {
        // SAFETY: the data and the table of `raw_waker` match; the bound lets any thread use the
        // task.
        let waker = unsafe { Waker::from_raw(raw_waker(self.block)) };
        // It does not own a count, so it must not be dropped.
        f(&ManuallyDrop::new(waker))
    }
}

/// Returns a waker that owns one count of `strong` if the caller transfers one to it.
fn raw_waker<T: WakePooled>(block: NonNull<Block<T>>) -> RawWaker {
    let table =
        const { &RawWakerVTable::new(clone::<T>, wake::<T>, wake_by_ref::<T>, drop_waker::<T>) };
    RawWaker::new(block.as_ptr().cast(), table)
}

/// Returns the owner behind a waker, without taking over its count.
///
/// # Safety
/// 1. `data` belongs to a [`raw_waker`] of `T`, whose count is held for as long as the result is
///    used.
unsafe fn owner<T>(data: *const ()) -> ManuallyDrop<PooledArc<T>> {
    // SAFETY: duty 1: the pointer is a block, so it is not null.
    let block = unsafe { NonNull::new_unchecked(data.cast_mut().cast()) };
    // SAFETY: duty 1: the copy is not dropped.
    ManuallyDrop::new(unsafe { PooledArc::from_raw(block) })
}

/// # Safety
/// Those of a waker's table, which include the duty of [`owner`].
unsafe fn clone<T: WakePooled>(data: *const ()) -> RawWaker {
    // SAFETY: the caller fulfils the duty.
    let owner = unsafe { owner::<T>(data) };
    raw_waker(PooledArc::clone(&owner).into_raw())
}

/// # Safety
/// Those of a waker's table. 1. The waker owns a count, and is not used again.
unsafe fn wake<T: WakePooled>(data: *const ()) {
    // SAFETY: the duty of `owner`.
    let owner = unsafe { owner::<T>(data) };
    // Duty 1.
    T::wake(&ManuallyDrop::into_inner(owner));
}

/// # Safety
/// Those of a waker's table, which include the duty of [`owner`].
unsafe fn wake_by_ref<T: WakePooled>(data: *const ()) {
    // SAFETY: the caller fulfils the duty.
    let owner = unsafe { owner::<T>(data) };
    T::wake(&owner);
}

/// # Safety
/// Those of a waker's table. 1. The waker owns a count, and is not used again.
unsafe fn drop_waker<T>(data: *const ()) {
    // SAFETY: the duty of `owner`.
    let owner = unsafe { owner::<T>(data) };
    // Duty 1.
    drop(ManuallyDrop::into_inner(owner));
}

impl<T> PooledWeak<T> {
    /// Upgrades to an owner, if the value still exists.
    #[must_use]
    pub fn upgrade(&self) -> Option<PooledArc<T>> {
        let strong = &self.block().strong;
        let more = |owners: u64| (owners > 0).then(|| owners + 1);
        // Acquire pairs with the release of the decrements: the value is as the previous owners
        // left it. Relaxed on failure: the value is gone (A1).
        let before = strong.fetch_update(Ordering::Acquire, Ordering::Relaxed, more);
        before.ok()?;
        // SAFETY: the new reference takes the count just added.
        Some(unsafe { PooledArc::from_raw(self.block) })
    }

    fn block(&self) -> &Block<T> {
        // SAFETY: A2, as there is a `PooledWeak`.
        unsafe { self.block.as_ref() }
    }
}

impl<T> Deref for PooledArc<T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        &self.block().value
    }
}

impl<T> Clone for PooledArc<T> {
    #[inline]
    fn clone(&self) -> Self {
        // Relaxed: the caller already owns a count, and handing over the new one synchronises with
        // its recipient.
        self.block().strong.fetch_add(1, Ordering::Relaxed);
        // SAFETY: the new reference takes the count just added.
        unsafe { Self::from_raw(self.block) }
    }
}

impl<T> Drop for PooledArc<T> {
    #[inline]
    fn drop(&mut self) {
        // Release: what this owner did happens before the last one drops the value. Acquire, for
        // the last one, pairs with that.
        if self.block().strong.fetch_sub(1, Ordering::AcqRel) != 1 {
            return;
        }
        // The last owner is gone (A1), but its weak count keeps the block, even if the value's drop
        // panics.
        let _block = PooledWeak { block: self.block };
        // SAFETY: A2: the block exists.
        let value = unsafe { &raw mut (*self.block.as_ptr()).value };
        // SAFETY: A1: this was the last owner; the value is not referenced otherwise.
        let value = unsafe { &mut *value };
        // SAFETY: A1: it is never referenced again.
        unsafe { ManuallyDrop::drop(value) };
    }
}

impl<T> Drop for PooledWeak<T> {
    #[inline]
    fn drop(&mut self) {
        // Release and acquire: as above, for the memory.
        if self.block().weak.fetch_sub(1, Ordering::AcqRel) == 1 {
            // SAFETY: A2: the block came from `leak` and is not used afterwards. The value is
            // `ManuallyDrop`, so it is not dropped again.
            drop(unsafe { Pooled::from_leaked(self.block) });
        }
    }
}

impl<T: fmt::Debug> fmt::Debug for PooledArc<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        T::fmt(self, f)
    }
}

impl<T> fmt::Debug for PooledWeak<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("(PooledWeak)")
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::AtomicUsize;

    use super::*;

    #[test]
    fn a_value_goes_with_its_last_owner() {
        let alive = Arc::new(());
        let first = PooledArc::new(Arc::clone(&alive));
        let second = first.clone();
        let weak = PooledArc::downgrade(&first);
        drop(first);
        drop(weak.upgrade());
        assert_eq!(Arc::strong_count(&alive), 2);
        drop(second);
        assert_eq!(Arc::strong_count(&alive), 1);
        assert!(weak.upgrade().is_none());
    }

    /// Counts its wakes.
    struct Task {
        num_woken: AtomicUsize,
        _alive: Arc<()>,
    }

    impl WakePooled for Task {
        fn wake(this: &PooledArc<Self>) {
            this.num_woken.fetch_add(1, Ordering::Relaxed);
        }
    }

    #[test]
    fn wakers_are_owners_but_for_one_that_is_lent() {
        let alive = Arc::new(());
        let task = PooledArc::new(Task {
            num_woken: AtomicUsize::new(0),
            _alive: Arc::clone(&alive),
        });
        let kept = task.with_waker(|waker| {
            waker.wake_by_ref();
            [waker.clone(), waker.clone(), waker.clone()]
        });
        let weak = PooledArc::downgrade(&task);
        drop(task);
        let [first, second, third] = kept;
        assert!(first.will_wake(&second));
        first.wake();
        drop(second);
        let num_woken = weak
            .upgrade()
            .map(|task| task.num_woken.load(Ordering::Relaxed));
        assert_eq!((num_woken, Arc::strong_count(&alive)), (Some(2), 2));
        drop(third);
        assert_eq!(Arc::strong_count(&alive), 1);
    }
}
