//! The number of values alive, for leak checks.

pub(crate) mod scope;

pub(crate) use scope::{enter, leave};

pub use scope::LiveScope;

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
#[cfg(not(loom))]
pub(crate) use count::{adopt, place};

#[cfg(debug_assertions)]
mod count {
    // `std`'s under loom too: a count for people, not part of a protocol. Relaxed, because it orders nothing; who
    // wants an exact number has joined the other threads.
    #[cfg(not(loom))]
    use std::sync::OnceLock;
    use std::sync::atomic::{AtomicUsize, Ordering};

    static LIVE: AtomicUsize = AtomicUsize::new(0);

    /// The count of the program, in a library.
    #[cfg(not(loom))]
    static PROGRAM: OnceLock<&'static AtomicUsize> = OnceLock::new();

    /// The count that this copy of the crate keeps.
    #[cfg(not(loom))]
    pub(crate) fn place() -> &'static AtomicUsize {
        PROGRAM.get().copied().unwrap_or(&LIVE)
    }

    #[cfg(loom)]
    fn place() -> &'static AtomicUsize {
        &LIVE
    }

    /// Lets this copy of the crate keep the count of another one.
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

    /// Nobody looks at it.
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
