//! The execution of the blocks of a routine.
//!
//! A routine determines the division of its work, not the threads that run it. It passes the number
//! of blocks to a [`Parallel`], which the owner of threads implements. The division never changes a
//! result: every output element is computed by one block, in one order, regardless of
//! [`Parallel::width`].

/// Runs the blocks of a routine, on whatever threads it has.
///
/// ```
/// use std::sync::atomic::{AtomicUsize, Ordering};
/// use tfrt_compute::parallel::{Parallel, Serial};
///
/// let sum = AtomicUsize::new(0);
/// Serial.run(4, &|block| {
///     sum.fetch_add(block, Ordering::Relaxed);
/// });
/// assert_eq!(sum.into_inner(), 6);
/// ```
pub trait Parallel: Sync {
    /// Returns the number of blocks that may run at the same time, at least 1. A routine divides
    /// its work accordingly.
    fn width(&self) -> usize;

    /// Calls `body` once with each number below `blocks`, in any order, and returns when all calls
    /// have returned.
    fn run(&self, blocks: usize, body: &(dyn Fn(usize) + Sync));
}

/// Runs all blocks on the calling thread, in order.
#[derive(Clone, Copy, Debug, Default)]
pub struct Serial;

impl Parallel for Serial {
    fn width(&self) -> usize {
        1
    }

    fn run(&self, blocks: usize, body: &(dyn Fn(usize) + Sync)) {
        for block in 0..blocks {
            body(block);
        }
    }
}

/// Runs the blocks on `width` new threads, for programs without a work queue, tests and benchmarks.
///
/// Starting threads costs tens of microseconds per call; a work queue is faster.
#[derive(Clone, Copy, Debug)]
pub struct ScopedThreads {
    width: usize,
}

impl ScopedThreads {
    /// Uses at most `width` threads, including the calling one.
    #[must_use]
    pub fn new(width: usize) -> Self {
        Self {
            width: width.max(1),
        }
    }
}

impl Parallel for ScopedThreads {
    fn width(&self) -> usize {
        self.width
    }

    fn run(&self, blocks: usize, body: &(dyn Fn(usize) + Sync)) {
        let next = std::sync::atomic::AtomicUsize::new(0);
        let work = || {
            loop {
                // Relaxed: the number alone is shared; joining the threads orders what they wrote.
                let block = next.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
                if block >= blocks {
                    break;
                }
                body(block);
            }
        };
        std::thread::scope(|scope| {
            for _ in 1..self.width.min(blocks) {
                scope.spawn(work);
            }
            work();
        });
    }
}

/// Returns into how many blocks to divide a number of operations, in so many indivisible units, for
/// `width` threads.
///
/// A block is worth handing over from about [`MIN_BLOCK_OPERATIONS`]; a few more blocks than
/// threads compensate for threads that are slowed down. All threads get as many, if there are
/// enough of them: of three blocks for two threads, one thread would run two. Between two blocks, a
/// kernel can stop: one thread gets several only where that is worth it.
pub(crate) fn block_count(width: usize, units: usize, operations: usize) -> usize {
    if width <= 1 {
        let most = units.clamp(1, MAX_BLOCKS_OF_ONE_THREAD);
        return (operations / STOPPABLE_OPERATIONS).clamp(1, most);
    }
    let count = (width * BLOCKS_PER_THREAD)
        .min(operations / MIN_BLOCK_OPERATIONS)
        .clamp(1, units.max(1));
    match count / width {
        0 => count,
        of_thread => of_thread * width,
    }
}

/// A few microseconds of arithmetic: several times what handing a task to another thread costs.
const MIN_BLOCK_OPERATIONS: usize = 1 << 18;
const BLOCKS_PER_THREAD: usize = 4;

/// Some tenths of a second of arithmetic, after which somebody may want a kernel to stop.
const STOPPABLE_OPERATIONS: usize = MIN_BLOCK_OPERATIONS << 16;
/// Blocks may need memory of their own.
const MAX_BLOCKS_OF_ONE_THREAD: usize = 16;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_thread_gets_blocks_only_of_work_that_takes_long() {
        let blocks = |units, operations| block_count(1, units, operations);
        assert_eq!(blocks(usize::MAX, STOPPABLE_OPERATIONS), 1);
        assert_eq!(blocks(usize::MAX, 4 * STOPPABLE_OPERATIONS), 4);
        assert_eq!(blocks(3, 4 * STOPPABLE_OPERATIONS), 3);
        assert_eq!(blocks(0, 4 * STOPPABLE_OPERATIONS), 1);
        let most = block_count(1, usize::MAX, usize::MAX);
        assert_eq!(most, MAX_BLOCKS_OF_ONE_THREAD);
    }
}
