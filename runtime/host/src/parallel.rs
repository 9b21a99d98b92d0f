//! Parallel loops over a range of indices.
//!
//! The range is cut into blocks. The caller hands the upper half of its blocks to the work queue, again and again, and
//! runs the last one itself; whoever gets a half does the same. So work spreads over the workers in logarithmic time.

use std::ops::Range;
use std::sync::Arc;

use crate::execution::ExecutionContext;

/// How large the blocks of a loop are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BlockSize {
    /// This many indices each.
    Fixed(usize),
    /// At least this many; more where that still gives every worker four blocks.
    Min(usize),
}

impl BlockSize {
    /// The number of indices in a block of a loop over `total`, with `num_workers` to share it; at least 1.
    #[must_use]
    pub fn resolve(self, total: usize, num_workers: usize) -> usize {
        let wanted = match self {
            Self::Fixed(size) => size,
            Self::Min(size) => size.max(total / (4 * num_workers.max(1))),
        };
        wanted.min(total).max(1)
    }
}

/// Runs `body` for every block of `0..total`, on the work queue of `ctx`, and then `on_done`, once, on the thread that
/// finishes last. Without indices `on_done` runs at once; a single block runs on the calling thread. Does not wait.
///
/// Once the request of `ctx` is cancelled, a task leaves out all but the first of the blocks that it has in hand. `body`
/// finds the cancel value there.
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
/// parallel_for(&ctx, 100, BlockSize::Fixed(7), move |block| {
///     partial.fetch_add(block.sum::<usize>(), Ordering::Relaxed);
/// }, || {});
/// host.quiesce().unwrap();
/// assert_eq!(sum.load(Ordering::Relaxed), 4950);
/// ```
pub fn parallel_for(
    ctx: &ExecutionContext,
    total: usize,
    block_size: BlockSize,
    body: impl Fn(Range<usize>) + Send + Sync + 'static,
    on_done: impl FnOnce() + Send + Sync + 'static,
) {
    if total == 0 {
        return on_done();
    }
    let block_size = block_size.resolve(total, ctx.queue().parallelism_level());
    if total <= block_size {
        body(0..total);
        return on_done();
    }
    let num_blocks = total.div_ceil(block_size);
    let work = Arc::new(Loop {
        ctx: ctx.clone(),
        total,
        block_size,
        body,
        _on_done: OnDone(Some(on_done)),
    });
    Loop::run_blocks(work, 0..num_blocks);
}

/// A loop is cut into no more tasks than this; beyond it, a task runs several blocks, one after the other.
///
/// It bounds the memory of what is queued at once, to a few megabytes, and is far more than any machine has workers.
const MAX_TASKS: usize = 1 << 16;

/// The state that the tasks of one loop share. The last task drops it, which runs `on_done`.
struct Loop<B, D: FnOnce()> {
    ctx: ExecutionContext,
    total: usize,
    block_size: usize,
    body: B,
    /// Declared last, so that everything else is gone when it runs. Only ever dropped.
    _on_done: OnDone<D>,
}

struct OnDone<D: FnOnce()>(Option<D>);

impl<D: FnOnce()> Drop for OnDone<D> {
    fn drop(&mut self) {
        if let Some(on_done) = self.0.take() {
            on_done();
        }
    }
}

impl<B, D> Loop<B, D>
where
    B: Fn(Range<usize>) + Send + Sync + 'static,
    D: FnOnce() + Send + Sync + 'static,
{
    fn run_blocks(self: Arc<Self>, mut blocks: Range<usize>) {
        if self.ctx.request().is_cancelled() {
            // One block is enough for the body to learn of it.
            blocks.end = blocks.start + 1;
        }
        let blocks_per_task = self.total.div_ceil(self.block_size).div_ceil(MAX_TASKS);
        while blocks.len() > blocks_per_task {
            let middle = blocks.start + blocks.len() / 2;
            let upper = middle..blocks.end;
            let work = Arc::clone(&self);
            self.ctx.enqueue(move || work.run_blocks(upper));
            blocks.end = middle;
        }
        for block in blocks {
            let start = block * self.block_size;
            (self.body)(start..self.total.min(start + self.block_size));
            if self.ctx.request().is_cancelled() {
                break;
            }
        }
        // Dropping the last reference runs `on_done`; `Arc` orders every block before that.
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_loop_of_many_blocks_is_cut_into_few_tasks() {
        use std::sync::atomic::{AtomicUsize, Ordering};
        let host = crate::HostContext::builder().build();
        let ctx =
            ExecutionContext::new(crate::RequestContextBuilder::new(Arc::clone(&host)).build());
        let counts = Arc::new([const { AtomicUsize::new(0) }; 2]);
        let (in_body, in_end) = (Arc::clone(&counts), Arc::clone(&counts));
        let total = 3 * MAX_TASKS + 1;
        parallel_for(
            &ctx,
            total,
            BlockSize::Fixed(1),
            move |block| {
                in_body[0].fetch_add(block.len(), Ordering::Relaxed);
            },
            move || {
                in_end[1].fetch_add(1, Ordering::Relaxed);
            },
        );
        host.quiesce().expect("not a thread of the queue");
        assert_eq!(
            [0, 1].map(|index| counts[index].load(Ordering::Relaxed)),
            [total, 1]
        );
    }

    #[test]
    fn block_sizes_follow_their_policy() {
        assert_eq!(BlockSize::Fixed(7).resolve(100, 2), 7);
        assert_eq!(BlockSize::Fixed(700).resolve(100, 2), 100);
        assert_eq!(BlockSize::Min(5).resolve(800, 2), 100);
        assert_eq!(BlockSize::Min(5).resolve(8, 2), 5);
    }
}
