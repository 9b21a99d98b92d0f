//! The error of another type from which an [`Error`](super::Error) was created.
//!
//! It may be an object of a kernel library, whose code panics on its own: only the copy of the
//! runtime that made it looks into it, and it is dropped by code of that copy, which lets no panic
//! out.

use std::error::Error as StdError;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// The stored form of an error.
pub(super) trait Kept: Send + Sync + fmt::Debug {
    /// Returns the error, if this copy of the runtime made it.
    fn error(&self) -> &(dyn StdError + Send + Sync + 'static);

    /// Returns where the copy that made it has [`HOME`].
    fn home(&self) -> usize;
}

/// Each copy of the runtime in a process has its own.
static HOME: u8 = 0;

fn home() -> usize {
    (&raw const HOME).addr()
}

/// The error itself. It exists until it is dropped.
struct Original(Option<Box<dyn StdError + Send + Sync>>);

/// Keeps an error of this copy.
pub(super) fn keep(error: Box<dyn StdError + Send + Sync>) -> std::sync::Arc<dyn Kept> {
    std::sync::Arc::new(Original(Some(error)))
}

/// Returns the error, if this copy keeps it.
pub(super) fn look(kept: &dyn Kept) -> Option<&(dyn StdError + Send + Sync + 'static)> {
    (kept.home() == home()).then(|| kept.error())
}

impl Kept for Original {
    fn error(&self) -> &(dyn StdError + Send + Sync + 'static) {
        self.0.as_deref().expect("it is there until it is dropped")
    }

    fn home(&self) -> usize {
        home()
    }
}

impl Drop for Original {
    fn drop(&mut self) {
        let error = self.0.take();
        if let Err(panic) = catch_unwind(AssertUnwindSafe(|| drop(error))) {
            // What it panicked with may panic as it goes away, too.
            std::mem::forget(panic);
        }
    }
}

impl fmt::Debug for Original {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Not the error's own `Debug`, which may panic.
        f.debug_struct("Original").finish_non_exhaustive()
    }
}
