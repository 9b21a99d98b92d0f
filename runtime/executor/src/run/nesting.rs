//! Counts the functions that have started inside one another on the stack of one thread, and those
//! whose state is only on that stack.

use std::cell::Cell;

use tfrt_host::HostContext;
use tfrt_support::{Error, ErrorCode};

/// The bound. A function that would start deeper starts as a task, on a stack of its own.
///
/// In a debug build one level takes about 4 KiB, so 128 of them fit many times into the 2 MiB of a
/// test thread.
const MAX_NESTED: u32 = 128;

/// The bound for synchronous functions, which cannot be deferred. One level takes half as much.
const MAX_NESTED_SYNC: u32 = 256;

/// The functions on the stack of this thread.
#[derive(Clone, Copy, Debug)]
struct Count {
    /// All of them.
    nested: u32,
    /// Those that are not invocations of the host: their state is on the stack, too.
    runs: u32,
}

thread_local! {
    static COUNT: Cell<Count> = const { Cell::new(Count { nested: 0, runs: 0 }) };
}

/// A function that has started on the stack of this thread and has not returned.
#[derive(Debug)]
pub(crate) struct Nesting {
    is_run: Cell<bool>,
}

impl Nesting {
    /// Enters a function that is an invocation of the host. Returns `None` if there are too many.
    #[inline]
    pub(crate) fn enter() -> Option<Self> {
        Self::enter_with(false, MAX_NESTED)
    }

    /// Enters a function whose state is on the stack, which counts as an unfinished invocation of
    /// the host. Returns `None` if there are too many of either.
    #[inline]
    pub(crate) fn enter_run(host: &HostContext) -> Option<Self> {
        let num_others = num_runs();
        host.has_room_for_invocation(num_others)
            .then(|| Self::enter_with(true, MAX_NESTED))
            .flatten()
    }

    /// Enters a synchronous function. Returns `None` if there are too many.
    #[inline]
    pub(crate) fn enter_sync() -> Option<Self> {
        Self::enter_with(true, MAX_NESTED_SYNC)
    }

    #[inline]
    fn enter_with(is_run: bool, max_nested: u32) -> Option<Self> {
        let Count { nested, runs } = COUNT.get();
        if nested >= max_nested {
            return None;
        }
        COUNT.set(Count {
            nested: nested + 1,
            runs: runs + u32::from(is_run),
        });
        Some(Self {
            is_run: Cell::new(is_run),
        })
    }

    /// Records that the state of the function is no longer on the stack.
    pub(crate) fn end_run(&self) {
        if self.is_run.replace(false) {
            let count = COUNT.get();
            COUNT.set(Count {
                runs: count.runs - 1,
                ..count
            });
        }
    }
}

impl Drop for Nesting {
    #[inline]
    fn drop(&mut self) {
        let Count { nested, runs } = COUNT.get();
        COUNT.set(Count {
            nested: nested - 1,
            runs: runs - u32::from(self.is_run.get()),
        });
    }
}

/// Returns the error of a function that must not start deeper and cannot be deferred.
#[cold]
pub(crate) fn too_deep() -> Error {
    let message = format!(
        "calls of synchronous functions are nested more than {MAX_NESTED_SYNC} levels deep"
    );
    Error::new(message).with_code(ErrorCode::ResourceExhausted)
}

/// Returns the number of functions whose state is only on the stack of this thread. They count as
/// unfinished invocations of the host.
#[inline]
pub(crate) fn num_runs() -> usize {
    COUNT.get().runs as usize
}
