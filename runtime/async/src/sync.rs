//! Atomics, cells and thread-locals: those of `std`, or those of loom under the model checker.
//!
//! The table of types and the exchange of free blocks do not use this shim: they outlive every
//! model and are not part of any.

#[cfg(not(loom))]
mod shim {
    pub(crate) use atomic_waker::AtomicWaker;
    pub(crate) use crossbeam_utils::atomic::AtomicCell;
    pub(crate) use std::sync::atomic::{
        AtomicPtr, AtomicU8, AtomicU32, AtomicU64, AtomicUsize, Ordering, fence,
    };
    pub(crate) use std::sync::{Mutex, MutexGuard};

    /// A thread-local whose initial value is a constant.
    macro_rules! const_thread_local {
        (static $name:ident: $payload:ty = $init:expr) => {
            std::thread_local! { static $name: $payload = const { $init } }
        };
    }

    pub(crate) use const_thread_local;

    /// A cell with the interface of loom's.
    #[derive(Debug)]
    #[repr(transparent)]
    pub(crate) struct UnsafeCell<T>(std::cell::UnsafeCell<T>);

    impl<T> UnsafeCell<T> {
        pub(crate) const fn new(inner: T) -> Self {
            Self(std::cell::UnsafeCell::new(inner))
        }

        #[inline]
        pub(crate) fn with<R>(&self, f: impl FnOnce(*const T) -> R) -> R {
            f(self.0.get())
        }

        #[inline]
        pub(crate) fn with_mut<R>(&self, f: impl FnOnce(*mut T) -> R) -> R {
            f(self.0.get())
        }
    }
}

#[cfg(loom)]
mod shim {
    use std::task::Waker;

    pub(crate) use loom::cell::UnsafeCell;
    pub(crate) use loom::sync::atomic::{
        AtomicPtr, AtomicU8, AtomicU32, AtomicU64, AtomicUsize, Ordering, fence,
    };
    pub(crate) use loom::sync::{Mutex, MutexGuard};

    /// A thread-local whose initial value is a constant; loom does not make use of that.
    macro_rules! const_thread_local {
        (static $name:ident: $payload:ty = $init:expr) => {
            loom::thread_local! { static $name: $payload = $init }
        };
    }

    pub(crate) use const_thread_local;

    /// The interface of `crossbeam_utils`'s cell, implemented with a lock that loom can model.
    #[derive(Debug)]
    pub(crate) struct AtomicCell<T>(loom::sync::Mutex<T>);

    impl<T: Default> AtomicCell<T> {
        pub(crate) fn new(inner: T) -> Self {
            Self(loom::sync::Mutex::new(inner))
        }

        pub(crate) fn take(&self) -> T {
            std::mem::take(&mut *self.0.lock().unwrap())
        }
    }

    /// The interface of `atomic_waker`, implemented with a lock that loom can model.
    #[derive(Debug)]
    pub(crate) struct AtomicWaker(loom::sync::Mutex<Option<Waker>>);

    impl Default for AtomicWaker {
        fn default() -> Self {
            Self(loom::sync::Mutex::new(None))
        }
    }

    impl AtomicWaker {
        pub(crate) fn register(&self, waker: &Waker) {
            *self.0.lock().unwrap() = Some(waker.clone());
        }

        pub(crate) fn take(&self) -> Option<Waker> {
            self.0.lock().unwrap().take()
        }

        pub(crate) fn wake(&self) {
            if let Some(waker) = self.take() {
                waker.wake();
            }
        }
    }
}

pub(crate) use shim::*;
