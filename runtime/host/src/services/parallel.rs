//! Parallel loops over a range of indices.
//!
//! The range is split into blocks, which the threads that run the loop claim by counting; see
//! `claims`. The caller runs a first block; one task for each worker claims the rest. So a block
//! costs an increment of a counter rather than a task, and a faster thread runs more blocks.
//!
//! Claimed blocks are run to their end by the thread that claimed them. So when no thread runs the
//! loop and no block is free, all of them are done.

use std::cell::Cell;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, PoisonError};

use tfrt_queue::Task;
use tfrt_support::{Error, ErrorCode};

use self::claims::{Claims, Position};
use crate::kernel::panic::panic_message;
use crate::services::execution::ExecutionContext;
use crate::services::running::RunningKernel;

mod claims;

/// The size of the blocks of a loop.
///
/// ```
/// use tfrt_host::parallel::BlockSize;
///
/// assert_eq!(BlockSize::Fixed(10).resolve(1000, 2), 10);
/// assert_eq!(BlockSize::Min(10).resolve(1000, 2), 125);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BlockSize {
    /// Exactly this many indices each.
    Fixed(usize),
    /// At least this many; more if every worker still gets four blocks.
    Min(usize),
}

impl BlockSize {
    /// Returns the number of indices in a block of a loop over `total`, shared by `num_workers`; at
    /// least 1.
    #[must_use]
    pub fn resolve(self, total: usize, num_workers: usize) -> usize {
        let wanted = match self {
            Self::Fixed(size) => size,
            Self::Min(size) => size.max(total / (4 * num_workers.max(1))),
        };
        wanted.min(total).max(1)
    }
}

/// The failure of a loop: the lowest block that failed.
///
/// ```
/// use tfrt_host::parallel::{BlockSize, parallel_for};
/// use tfrt_host::{ExecutionContext, HostContext, RequestContextBuilder};
/// use tfrt_support::Error;
///
/// let host = HostContext::builder().build();
/// let ctx = ExecutionContext::new(RequestContextBuilder::new(host.clone()).build());
/// let body = |block: std::ops::Range<usize>| match block.start {
///     7.. => Err(Error::new("too far")),
///     _ => Ok(()),
/// };
/// parallel_for(&ctx, 100, BlockSize::Fixed(7), body, |outcome| {
///     assert_eq!(outcome.map_err(|failed| failed.start), Err(7));
/// });
/// host.quiesce().unwrap();
/// ```
#[derive(Clone, Debug)]
pub struct FailedBlock {
    /// The first index of the block.
    pub start: usize,
    /// Its error.
    pub error: Error,
}

/// Runs `body` for every block of `0..total`, on the work queue of `ctx`, then calls `on_done`
/// once, on the thread that finishes last. If `total` is 0, `on_done` runs immediately; a single
/// block runs on the calling thread. Does not wait.
///
/// A block fails if `body` returns an error or panics; later blocks still run, and `on_done`
/// receives the lowest failed block. Once the request of `ctx` is cancelled, blocks that have not
/// started are skipped: if no other block failed, the first of them fails with the error of the
/// request.
///
/// ```
/// use std::sync::Arc;
/// use std::sync::atomic::{AtomicUsize, Ordering};
/// use tfrt_host::parallel::{BlockSize, parallel_for};
/// use tfrt_host::{ExecutionContext, HostContext, RequestContextBuilder};
///
/// let host = HostContext::builder().build();
/// let ctx = ExecutionContext::new(RequestContextBuilder::new(host.clone()).build());
/// let sum = Arc::new(AtomicUsize::new(0));
/// let partial = sum.clone();
/// let body = move |block: std::ops::Range<usize>| {
///     partial.fetch_add(block.sum::<usize>(), Ordering::Relaxed);
///     Ok(())
/// };
/// parallel_for(&ctx, 100, BlockSize::Fixed(7), body, |outcome| assert!(outcome.is_ok()));
/// host.quiesce().unwrap();
/// assert_eq!(sum.load(Ordering::Relaxed), 4950);
/// ```
pub fn parallel_for(
    ctx: &ExecutionContext,
    total: usize,
    block_size: BlockSize,
    body: impl Fn(Range<usize>) -> Result<(), Error> + Send + Sync + 'static,
    on_done: impl FnOnce(Result<(), FailedBlock>) + Send + Sync + 'static,
) {
    let body = move |(): &mut (), block| body(block);
    parallel_for_with(ctx, total, block_size, || (), body, on_done);
}

/// Like [`parallel_for`], with state shared by blocks that run consecutively on one thread. `make`
/// creates it far less often than once per block.
///
/// ```
/// use std::ops::Range;
/// use tfrt_host::parallel::{BlockSize, parallel_for_with};
/// use tfrt_host::{ExecutionContext, HostContext, RequestContextBuilder};
///
/// let host = HostContext::builder().build();
/// let ctx = ExecutionContext::new(RequestContextBuilder::new(host.clone()).build());
/// let body = |buffer: &mut Vec<usize>, block: Range<usize>| {
///     buffer.clear();
///     buffer.extend(block);
///     Ok(())
/// };
/// parallel_for_with(&ctx, 100, BlockSize::Fixed(7), Vec::new, body, |_outcome| {});
/// host.quiesce().unwrap();
/// ```
pub fn parallel_for_with<S>(
    ctx: &ExecutionContext,
    total: usize,
    block_size: BlockSize,
    make: impl Fn() -> S + Send + Sync + 'static,
    body: impl Fn(&mut S, Range<usize>) -> Result<(), Error> + Send + Sync + 'static,
    on_done: impl FnOnce(Result<(), FailedBlock>) + Send + Sync + 'static,
) {
    if total == 0 {
        return on_done(Ok(()));
    }
    let num_workers = ctx.queue().parallelism_level();
    let block_size = block_size.resolve(total, num_workers);
    let num_blocks = total.div_ceil(block_size);
    let work = Arc::new(Loop {
        _running: ctx.running_kernel(),
        ctx: ctx.clone(),
        total,
        make,
        body,
        progress: Progress {
            block_size,
            claims: Claims::new(num_blocks, num_workers),
            failed: Mutex::new(None),
            on_done: Some(on_done),
        },
    });
    if num_blocks > 1 {
        let make_task = || {
            let work = Arc::clone(&work);
            Task::new(move || work.take_turn())
        };
        let num_tasks = num_workers.min(num_blocks - 1);
        let mut tasks = std::iter::repeat_with(make_task).take(num_tasks);
        ctx.queue().add_tasks_for(ctx.request().tag(), &mut tasks);
    }
    work.run_blocks(1);
}

/// After this many blocks a task yields to other tasks, and continues as a new one.
///
/// Enqueuing and dequeuing a task costs a few hundred instructions, which is negligible for this
/// many blocks.
const BLOCKS_PER_TURN: usize = 64;

/// The state shared by the tasks of one loop. The last of them drops it, which ends the loop.
struct Loop<M, B, D: FnOnce(Result<(), FailedBlock>)> {
    ctx: ExecutionContext,
    total: usize,
    make: M,
    body: B,
    /// The kernel whose loop this is.
    _running: Option<RunningKernel>,
    /// Declared last, so that everything else has been dropped when the loop ends.
    progress: Progress<D>,
}

impl<S, M, B, D> Loop<M, B, D>
where
    M: Fn() -> S + Send + Sync + 'static,
    B: Fn(&mut S, Range<usize>) -> Result<(), Error> + Send + Sync + 'static,
    D: FnOnce(Result<(), FailedBlock>) + Send + Sync + 'static,
{
    /// Runs one turn of a task.
    fn take_turn(self: Arc<Self>) {
        if self.run_blocks(BLOCKS_PER_TURN) {
            let work = Arc::clone(&self);
            self.ctx.enqueue(move || work.take_turn());
        }
    }

    /// Claims up to `max_blocks` and runs them. Returns `false` if there are no more.
    fn run_blocks(&self, max_blocks: usize) -> bool {
        let worker = || self.ctx.queue().current_worker().unwrap_or(0);
        let mut position = self.progress.claims.position_of(worker);
        let Some(first) = self.claim(&mut position) else {
            return false;
        };
        let claimed = Cell::new(first);
        let run = || {
            let mut shared = (self.make)();
            for _ in 1..max_blocks {
                self.run_block(&mut shared, claimed.get());
                let Some(next) = self.claim(&mut position) else {
                    return false;
                };
                claimed.set(next);
            }
            self.run_block(&mut shared, claimed.get());
            true
        };
        // State left half-finished by a panic is dropped, except for what the author shares through
        // types that are sound to observe in that state.
        catch_unwind(AssertUnwindSafe(run)).unwrap_or_else(|payload| {
            let Range { start, end } = self.range_of(claimed.get());
            let message = panic_message(&*payload);
            let text = format!("block {start}..{end} of a parallel loop panicked: {message}");
            let error = Error::new(text).with_code(ErrorCode::Internal);
            self.progress
                .fail(Failure::OfBody, FailedBlock { start, error });
            true
        })
    }

    /// Claims the next block, unless all are claimed or the request is cancelled.
    #[inline]
    fn claim(&self, position: &mut Position) -> Option<usize> {
        let claims = &self.progress.claims;
        let block = claims.claim(position)?;
        match self.ctx.request().cancel_value() {
            None => Some(block),
            Some(cancelled) => {
                // Nobody runs the free blocks either.
                let start = self.range_of(block.min(claims.lowest_free())).start;
                let error = cancelled.error_if_present().cloned();
                let error = error.expect("a request is cancelled with an error");
                self.progress
                    .fail(Failure::Skipped, FailedBlock { start, error });
                None
            }
        }
    }

    #[inline]
    fn run_block(&self, shared: &mut S, block: usize) {
        let range = self.range_of(block);
        let start = range.start;
        if let Err(error) = (self.body)(shared, range) {
            self.progress
                .fail(Failure::OfBody, FailedBlock { start, error });
        }
    }

    fn range_of(&self, block: usize) -> Range<usize> {
        let start = block * self.progress.block_size;
        start
            ..self
                .total
                .min(start.saturating_add(self.progress.block_size))
    }
}

/// Why a block failed. What a loop tells comes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Failure {
    /// The body failed, which may be why the request is cancelled.
    OfBody,
    /// The block was skipped, because the request is cancelled.
    Skipped,
}

/// The progress of a loop. Dropping it ends the loop.
struct Progress<D: FnOnce(Result<(), FailedBlock>)> {
    block_size: usize,
    claims: Claims,
    /// The lowest block that failed. Locked only when a block fails.
    failed: Mutex<Option<(Failure, FailedBlock)>>,
    /// Taken by `drop`.
    on_done: Option<D>,
}

impl<D: FnOnce(Result<(), FailedBlock>)> Progress<D> {
    #[cold]
    fn fail(&self, failure: Failure, block: FailedBlock) {
        let mut first = self.failed.lock().unwrap_or_else(PoisonError::into_inner);
        let is_first = first
            .as_ref()
            .is_none_or(|(of, lowest)| (failure, block.start) < (*of, lowest.start));
        if is_first {
            *first = Some((failure, block));
        }
    }
}

impl<D: FnOnce(Result<(), FailedBlock>)> Drop for Progress<D> {
    fn drop(&mut self) {
        let failed = self
            .failed
            .get_mut()
            .unwrap_or_else(PoisonError::into_inner);
        let lowest_free = self.claims.lowest_free();
        let lost = || {
            let error = Error::new("the work queue lost the tasks of a parallel loop");
            FailedBlock {
                start: lowest_free * self.block_size,
                error: error.with_code(ErrorCode::Internal),
            }
        };
        // Every claimed block has run. Unclaimed blocks remain only if tasks were dropped instead
        // of run.
        let failed = failed
            .take()
            .map(|(_, block)| block)
            .or_else(|| (lowest_free < self.claims.num_blocks()).then(lost));
        if let Some(on_done) = self.on_done.take() {
            on_done(failed.map_or(Ok(()), Err));
        }
    }
}

#[cfg(test)]
mod tests;
