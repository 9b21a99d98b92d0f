//! Shared ownership of pooled memory, for what lives as long as a task: with weak references, and as the waker of a future.
//!
//! - A1. `strong` is the number of [`PooledArc`]s. The value is there while it is above zero, and never again.
//! - A2. `weak` is the number of [`PooledWeak`]s, and one more while there is a `PooledArc`. The block is there while it is above
//!   zero.
#![expect(unsafe_code, reason = "counts the owners of a block of memory")]

use std::fmt;
use std::marker::PhantomData;
use std::mem::ManuallyDrop;
use std::ops::Deref;
use std::ptr::NonNull;
use std::task::{RawWaker, RawWakerVTable, Waker};

use super::{Pooled, leak};
use crate::sync::{AtomicU64, Ordering};

// A count of 64 bits is not wrapped by leaks: that would take centuries.
struct Block<T> {
    strong: AtomicU64,
    weak: AtomicU64,
    value: ManuallyDrop<T>,
}

/// What an [`Arc`](std::sync::Arc) is, in memory that threads keep for the next one.
///
/// Invariant: it owns one of `strong` (A1), so that the value is there.
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
// SAFETY: as above: a reference allows nothing that a clone does not.
unsafe impl<T: Send + Sync> Sync for PooledArc<T> {}

/// A reference to what a [`PooledArc`] owns, which does not keep it.
///
/// Invariant: it owns one of `weak` (A2), so that the block is there.
pub struct PooledWeak<T> {
    block: NonNull<Block<T>>,
}

// SAFETY: as for `PooledArc`, which it may become.
unsafe impl<T: Send + Sync> Send for PooledWeak<T> {}
// SAFETY: as above.
unsafe impl<T: Send + Sync> Sync for PooledWeak<T> {}

/// What wakes a task whose [`PooledArc`] is a waker.
pub trait WakePooled: Send + Sync + Sized + 'static {
    /// Wakes the task. May be called by any thread, at any time.
    fn wake(this: &PooledArc<Self>);
}

impl<T> PooledArc<T> {
    /// Puts `value` into memory of its own.
    #[inline]
    pub fn new(value: T) -> Self {
        let block = leak(Block {
            strong: AtomicU64::new(1),
            weak: AtomicU64::new(1),
            value: ManuallyDrop::new(value),
        });
        Self {
            block,
            owns: PhantomData,
        }
    }

    /// A reference that does not keep the value.
    pub fn downgrade(this: &Self) -> PooledWeak<T> {
        // Relaxed: the caller keeps the block, and whoever it hands the new reference to learns of the block by that.
        this.block().weak.fetch_add(1, Ordering::Relaxed);
        PooledWeak { block: this.block }
    }

    #[inline]
    fn block(&self) -> &Block<T> {
        // SAFETY: A2, as there is a `PooledArc`.
        unsafe { self.block.as_ref() }
    }

    /// Gives up the reference without giving up its count.
    #[inline]
    fn into_raw(self) -> NonNull<Block<T>> {
        ManuallyDrop::new(self).block
    }

    /// # Safety
    /// 1. The caller gives away one of `strong`.
    #[inline]
    unsafe fn from_raw(block: NonNull<Block<T>>) -> Self {
        Self {
            block,
            owns: PhantomData,
        }
    }
}

impl<T: WakePooled> PooledArc<T> {
    /// Calls `f` with a waker of this task. It costs a count only if it is cloned.
    #[inline]
    pub fn with_waker<R>(&self, f: impl FnOnce(&Waker) -> R) -> R {
        // SAFETY: the data and the table of `raw_waker` go together; what they refer to may be used by any thread, by the bound.
        let waker = unsafe { Waker::from_raw(raw_waker(self.block)) };
        // It does not own a count, and must not give one back.
        f(&ManuallyDrop::new(waker))
    }
}

/// A waker that owns one of `strong`, if the caller gives it one.
fn raw_waker<T: WakePooled>(block: NonNull<Block<T>>) -> RawWaker {
    let table =
        const { &RawWakerVTable::new(clone::<T>, wake::<T>, wake_by_ref::<T>, drop_waker::<T>) };
    RawWaker::new(block.as_ptr().cast(), table)
}

/// The owner that a waker is, which goes on to be one.
///
/// # Safety
/// 1. `data` is that of a [`raw_waker`] of `T`, whose count is there for as long as the result is used.
unsafe fn owner<T>(data: *const ()) -> ManuallyDrop<PooledArc<T>> {
    // SAFETY: duty 1: a block, which is not null.
    let block = unsafe { NonNull::new_unchecked(data.cast_mut().cast()) };
    // SAFETY: duty 1: the copy is not dropped.
    ManuallyDrop::new(unsafe { PooledArc::from_raw(block) })
}

/// # Safety
/// Those of a waker's table, which are the duty of [`owner`].
unsafe fn clone<T: WakePooled>(data: *const ()) -> RawWaker {
    // SAFETY: the duty is ours.
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
/// Those of a waker's table, which are the duty of [`owner`].
unsafe fn wake_by_ref<T: WakePooled>(data: *const ()) {
    // SAFETY: the duty is ours.
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
    /// The owner that it becomes, if there is one.
    #[must_use]
    pub fn upgrade(&self) -> Option<PooledArc<T>> {
        let strong = &self.block().strong;
        let more = |owners: u64| (owners > 0).then(|| owners + 1);
        // Acquire: the value is as those left it that gave their counts to others. Relaxed on failure: it is gone (A1).
        let before = strong.fetch_update(Ordering::Acquire, Ordering::Relaxed, more);
        before.ok()?;
        // SAFETY: the count that was just added.
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
        // Relaxed: the caller owns a count already, and whoever it hands the new one to learns of the value by that.
        self.block().strong.fetch_add(1, Ordering::Relaxed);
        // SAFETY: the count that was just added.
        unsafe { Self::from_raw(self.block) }
    }
}

impl<T> Drop for PooledArc<T> {
    #[inline]
    fn drop(&mut self) {
        // Release: what this owner did happens before the last one drops the value. Acquire, for the last one, pairs with that.
        if self.block().strong.fetch_sub(1, Ordering::AcqRel) != 1 {
            return;
        }
        // Its owner is gone (A1), but the block is still ours, also if the value panics as it goes.
        let _block = PooledWeak { block: self.block };
        // SAFETY: A2: the block is there.
        let value = unsafe { &raw mut (*self.block.as_ptr()).value };
        // SAFETY: A1: the last owner; nobody else refers to the value.
        let value = unsafe { &mut *value };
        // SAFETY: A1: and nobody does so again.
        unsafe { ManuallyDrop::drop(value) };
    }
}

impl<T> Drop for PooledWeak<T> {
    #[inline]
    fn drop(&mut self) {
        // Release and acquire: as above, for the memory.
        if self.block().weak.fetch_sub(1, Ordering::AcqRel) == 1 {
            // SAFETY: A2: it came from `leak`, and it is not used any more. Of the value, it drops nothing.
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

    /// Counts how often it is woken.
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
