//! A value that tells a stage that something has happened.

use std::fmt;
use std::sync::PoisonError;

use tfrt_async::{AnyRef, AsyncValueRef, Chain, Promise};

use crate::sync::Mutex;

/// Tells the one who waits, if anybody does, what happens next.
///
/// Whoever waits takes [`next`](Self::next) first and then checks whether it has happened already:
/// it either finds that, or the value becomes available.
pub(super) struct Signal(Mutex<Option<Awaited>>);

struct Awaited {
    promise: Promise<Chain>,
    value: AnyRef,
}

impl Signal {
    pub(super) fn new() -> Self {
        Self(Mutex::new(None))
    }

    /// Returns a value that becomes available with the next call of [`tell`](Self::tell).
    pub(super) fn next(&self) -> AnyRef {
        let mut awaited = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let awaited = awaited.get_or_insert_with(|| {
            let (promise, value) = AsyncValueRef::unconstructed();
            let value = value.into_any();
            Awaited { promise, value }
        });
        awaited.value.clone()
    }

    /// Tells whoever waits, after what it waits for has become visible.
    pub(super) fn tell(&self) {
        let awaited = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(Awaited { promise, .. }) = awaited {
            promise.emplace(Chain);
        }
    }
}

impl fmt::Debug for Signal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Signal").finish_non_exhaustive()
    }
}
