//! The number of values alive, for leak checks.

/// How many counted AsyncValues are alive in the process.
///
/// It is kept in builds with debug assertions only; elsewhere it is always 0. The ready chain is not counted.
///
/// ```
/// use tfrt_async::live_values;
///
/// let before = live_values();
/// // Run a program, and drop its results.
/// assert_eq!(live_values(), before, "the program leaks");
/// ```
#[must_use]
pub fn live_values() -> usize {
    count::get()
}

pub(crate) use count::{add_one, remove_one};

#[cfg(debug_assertions)]
mod count {
    // `std`'s under loom too: a count for people, not part of a protocol. Relaxed, because it orders nothing; who
    // wants an exact number has joined the other threads.
    use std::sync::atomic::{AtomicUsize, Ordering};

    static LIVE: AtomicUsize = AtomicUsize::new(0);

    pub(crate) fn get() -> usize {
        LIVE.load(Ordering::Relaxed)
    }

    pub(crate) fn add_one() {
        LIVE.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn remove_one() {
        LIVE.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(not(debug_assertions))]
mod count {
    pub(crate) fn get() -> usize {
        0
    }

    pub(crate) fn add_one() {}

    pub(crate) fn remove_one() {}
}
