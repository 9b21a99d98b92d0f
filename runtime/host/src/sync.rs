//! The primitives of the cancellation protocol: those of `std`, or those of loom under the model
//! checker.

#[cfg(not(loom))]
mod shim {
    pub(crate) use std::sync::atomic::{AtomicU8, Ordering};
    pub(crate) use std::sync::{Mutex, MutexGuard, OnceLock};

    pub(crate) use tfrt_async::shared;
}

#[cfg(loom)]
mod shim {
    use std::fmt;

    pub(crate) use loom::sync::atomic::{AtomicU8, Ordering};
    pub(crate) use loom::sync::{Mutex, MutexGuard};

    use loom::sync::atomic::AtomicBool;

    /// Like the cell in `std`, with atomics that loom models: a write is a release, and a read
    /// acquires it.
    #[derive(Debug)]
    pub(crate) struct OnceLock<T> {
        /// In a model, threads switch only at loom's operations, of which this cell has none.
        value: std::sync::OnceLock<T>,
        is_set: AtomicBool,
    }

    impl<T> OnceLock<T> {
        pub(crate) fn new() -> Self {
            Self {
                value: std::sync::OnceLock::new(),
                is_set: AtomicBool::new(false),
            }
        }

        pub(crate) fn set(&self, value: T) -> Result<(), T> {
            self.value.set(value)?;
            self.is_set.store(true, Ordering::Release);
            Ok(())
        }

        pub(crate) fn get(&self) -> Option<&T> {
            match self.is_set.load(Ordering::Acquire) {
                true => self.value.get(),
                false => None,
            }
        }
    }

    /// Models load no kernel libraries, so there is no state to share.
    pub(crate) mod shared {
        use super::fmt;

        #[derive(Debug)]
        pub(crate) struct SharedState;

        impl SharedState {
            pub(crate) fn of_this_copy() -> Self {
                Self
            }

            #[expect(unsafe_code, reason = "has the signature of what it stands for")]
            pub(crate) unsafe fn adopt(&self) -> Result<(), AdoptError> {
                Err(AdoptError)
            }
        }

        #[derive(Debug)]
        pub(crate) struct AdoptError;

        impl fmt::Display for AdoptError {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a model loads no libraries")
            }
        }
    }
}

pub(crate) use shim::*;
