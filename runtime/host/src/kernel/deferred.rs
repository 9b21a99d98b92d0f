//! Kernels that may continue after the executor's call: on the blocking pool, or as a future on the
//! work queue.
//!
//! The code that runs the rest of such a kernel owns everything that the kernel borrows. Like every
//! kernel, it drops that before any result is visible, so a buffer without other references is free
//! for the kernels that follow. If the request is cancelled before the rest begins, the results
//! become the cancel value. The same applies while a future waits; it is then dropped immediately,
//! or at the end of the poll in progress.

mod blocking;

mod future;

pub(crate) mod kept;

mod places;

mod promises;

mod wake_state;

pub(crate) use blocking::run_blocking;
pub(crate) use future::{direct, run_future};
