//! How many functions have started inside one another on the stack of one thread, and how many of them run on that stack alone.

use std::cell::Cell;

use tfrt_host::HostContext;
use tfrt_support::{Error, ErrorCode};

/// The bound. A function that starts deeper does so as a task, on a stack of its own.
///
/// In a debug build one level takes about 4 KiB, so that 128 of them fit many times into the 2 MiB of a test thread.
const MAX_NESTED: u32 = 128;

/// The bound for synchronous functions, which cannot start later. One level takes half as much.
const MAX_NESTED_SYNC: u32 = 256;

/// Functions on the stack of this thread.
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

/// One function that has started on the stack of this thread, and has not returned.
#[derive(Debug)]
pub(crate) struct Nesting {
    is_run: Cell<bool>,
}

impl Nesting {
    /// A function that is an invocation of the host. Nothing if there are too many.
    #[inline]
    pub(crate) fn enter() -> Option<Self> {
        Self::enter_with(false, MAX_NESTED)
    }

    /// A function whose state is on the stack, which counts as an unfinished invocation of the host. Nothing if there are too many
    /// of either.
    #[inline]
    pub(crate) fn enter_run(host: &HostContext) -> Option<Self> {
        let nesting = Self::enter_with(true, MAX_NESTED)?;
        // This run is among those of the thread already.
        let num_others = num_runs() - 1;
        host.has_room_for_invocation(num_others).then_some(nesting)
    }

    /// A synchronous function. Nothing if there are too many.
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

    /// The state of the function is not on the stack any more.
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

/// The error of a function that cannot start deeper, and not later either.
#[cold]
pub(crate) fn too_deep() -> Error {
    let message =
        format!("calls of synchronous functions are nested deeper than {MAX_NESTED_SYNC}");
    Error::new(message).with_code(ErrorCode::ResourceExhausted)
}

/// How many functions run on the stack of this thread alone, as unfinished as invocations of the host.
#[inline]
pub(crate) fn num_runs() -> usize {
    COUNT.get().runs as usize
}
