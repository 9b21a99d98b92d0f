//! The number of values alive, for leak checks.

pub(crate) mod scope;

pub(crate) use scope::{enter, leave};

pub use scope::LiveScope;

/// Returns the number of counted AsyncValues that are alive in the process.
///
/// The count is kept only in builds with debug assertions; otherwise it is always 0. The ready
/// chain is not counted.
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
#[cfg(not(loom))]
pub(crate) use count::{adopt, place};

#[cfg(debug_assertions)]
mod count {
    // `std`'s atomics under loom too: the count is for people, not part of a protocol. Relaxed,
    // because it orders nothing; a caller that needs an exact number has joined the other threads.
    #[cfg(not(loom))]
    use std::sync::OnceLock;
    use std::sync::atomic::{AtomicUsize, Ordering};

    static LIVE: AtomicUsize = AtomicUsize::new(0);

    /// In a library, the program's count.
    #[cfg(not(loom))]
    static PROGRAM: OnceLock<&'static AtomicUsize> = OnceLock::new();

    /// Returns the count that this copy of the crate maintains.
    #[cfg(not(loom))]
    pub(crate) fn place() -> &'static AtomicUsize {
        PROGRAM.get().copied().unwrap_or(&LIVE)
    }

    #[cfg(loom)]
    fn place() -> &'static AtomicUsize {
        &LIVE
    }

    /// Makes this copy of the crate maintain the count of another copy.
    #[cfg(not(loom))]
    pub(crate) fn adopt(place: &'static AtomicUsize) {
        PROGRAM.get_or_init(|| place);
    }

    pub(crate) fn get() -> usize {
        place().load(Ordering::Relaxed)
    }

    pub(crate) fn add_one() {
        place().fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn remove_one() {
        place().fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(not(debug_assertions))]
mod count {
    #[cfg(not(loom))]
    use std::sync::atomic::AtomicUsize;

    /// Never read.
    #[cfg(not(loom))]
    pub(crate) fn place() -> &'static AtomicUsize {
        static NOTHING: AtomicUsize = AtomicUsize::new(0);
        &NOTHING
    }

    #[cfg(not(loom))]
    pub(crate) fn adopt(_place: &'static AtomicUsize) {}

    pub(crate) fn get() -> usize {
        0
    }

    pub(crate) fn add_one() {}

    pub(crate) fn remove_one() {}
}
