//! Kernels that may go on after the executor has called them: on the blocking pool, or as a future on the work queue.
//!
//! Whatever runs the rest of such a kernel owns all that the kernel borrows. It drops that before anybody sees a result, as every
//! kernel does, so that a buffer that nobody else refers to is free for the kernels that follow. A request that is cancelled
//! before the rest begins makes its results the cancel value. So it does while a future waits, which is then dropped at once, or
//! as soon as the poll under way is over.

mod blocking;

mod future;

pub(crate) mod kept;

mod promises;

mod wake_state;

pub(crate) use blocking::run_blocking;
pub(crate) use future::{direct, run_future};
