use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, channel};

use tfrt_async::AnyRef;
use tfrt_queue::{ConcurrentWorkQueue, WouldDeadlock, create_queue};

use super::*;
use crate::{HostContext, RequestContextBuilder};

const QUEUES: [&str; 3] = ["s", "mstd:1,1", "mstd:4,1"];

fn context(queue: Arc<dyn ConcurrentWorkQueue>) -> ExecutionContext {
    let host = HostContext::builder().queue(queue).build();
    ExecutionContext::new(RequestContextBuilder::new(host).build())
}

fn context_of(queue: &str) -> ExecutionContext {
    context(create_queue(queue).expect("one of ours"))
}

type Outcome = Result<(), FailedBlock>;

/// Returns an `on_done` callback for a loop, and the channel that receives its outcome.
fn end() -> (impl FnOnce(Outcome) + Send + Sync, Receiver<Outcome>) {
    let (sender, receiver) = channel();
    (move |outcome| drop(sender.send(outcome)), receiver)
}

/// Returns the outcome of a loop, which has ended exactly once.
fn ended(ctx: &ExecutionContext, outcomes: &Receiver<Outcome>) -> Result<(), (usize, String)> {
    ctx.host().quiesce().expect("not a thread of the queue");
    let outcome = outcomes.try_recv().expect("the loop has ended");
    assert!(outcomes.try_recv().is_err(), "it has ended once");
    outcome.map_err(|failed| (failed.start, failed.error.message().to_owned()))
}

#[test]
fn every_index_is_in_one_block() {
    for queue in QUEUES {
        for (total, block_size) in [(0, 5), (1, 5), (5, 5), (6, 5), (1000, 1), (100_003, 10)] {
            let ctx = context_of(queue);
            let counts: Arc<[AtomicUsize]> = (0..total).map(|_| AtomicUsize::new(0)).collect();
            let (on_done, outcomes) = end();
            let in_body = Arc::clone(&counts);
            let body = move |block: Range<usize>| {
                assert_eq!(block.len(), block_size.min(total - block.start));
                in_body[block].iter().for_each(|count| {
                    count.fetch_add(1, Ordering::Relaxed);
                });
                Ok(())
            };
            parallel_for(&ctx, total, BlockSize::Fixed(block_size), body, on_done);
            assert_eq!(ended(&ctx, &outcomes), Ok(()));
            let is_once = |count: &AtomicUsize| count.load(Ordering::Relaxed) == 1;
            assert!(counts.iter().all(is_once));
        }
    }
}

#[test]
fn the_lowest_block_that_failed_is_told() {
    for queue in QUEUES {
        let ctx = context_of(queue);
        let (on_done, outcomes) = end();
        let body = |block: Range<usize>| match block.start {
            30.. => Err(Error::new(format!("block {}", block.start))),
            _ => Ok(()),
        };
        parallel_for(&ctx, 1000, BlockSize::Fixed(10), body, on_done);
        assert_eq!(ended(&ctx, &outcomes), Err((30, "block 30".into())));
    }
}

#[test]
fn a_block_that_panics_has_failed_and_the_others_run() {
    for queue in QUEUES {
        for first_to_panic in [0, 500] {
            let ctx = context_of(queue);
            let (on_done, outcomes) = end();
            let num_run = Arc::new(AtomicUsize::new(0));
            let in_body = Arc::clone(&num_run);
            let body = move |block: Range<usize>| {
                in_body.fetch_add(1, Ordering::Relaxed);
                if block.start >= first_to_panic {
                    // Unlike `panic!`, this skips the hook.
                    std::panic::resume_unwind(Box::new("on purpose"));
                }
                Ok(())
            };
            parallel_for(&ctx, 1000, BlockSize::Fixed(2), body, on_done);
            let end = first_to_panic + 2;
            let message =
                format!("block {first_to_panic}..{end} of a parallel loop panicked: on purpose");
            assert_eq!(ended(&ctx, &outcomes), Err((first_to_panic, message)));
            assert_eq!(num_run.load(Ordering::Relaxed), 500);
        }
    }
}

#[test]
fn what_blocks_share_is_made_now_and_then() {
    for queue in QUEUES {
        let ctx = context_of(queue);
        let (on_done, outcomes) = end();
        let (num_made, num_dropped) =
            (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        struct Shared(Arc<AtomicUsize>);
        impl Drop for Shared {
            fn drop(&mut self) {
                self.0.fetch_add(1, Ordering::Relaxed);
            }
        }
        let (in_make, in_drop) = (Arc::clone(&num_made), Arc::clone(&num_dropped));
        let make = move || {
            in_make.fetch_add(1, Ordering::Relaxed);
            Shared(Arc::clone(&in_drop))
        };
        let body = |_: &mut Shared, _| Ok(());
        parallel_for_with(&ctx, 10_000, BlockSize::Fixed(1), make, body, on_done);
        assert_eq!(ended(&ctx, &outcomes), Ok(()));
        let made = num_made.load(Ordering::Relaxed);
        let max_made = 10_000 / BLOCKS_PER_TURN + 1 + 2 * ctx.queue().parallelism_level();
        assert!((1..=max_made).contains(&made), "{made}");
        assert_eq!(num_dropped.load(Ordering::Relaxed), made);
    }
}

#[test]
fn a_cancelled_request_leaves_out_the_rest() {
    for queue in QUEUES {
        let ctx = context_of(queue);
        let (on_done, outcomes) = end();
        let num_run = Arc::new(AtomicUsize::new(0));
        let (in_body, body_ctx) = (Arc::clone(&num_run), ctx.clone());
        let body = move |_| {
            if in_body.fetch_add(1, Ordering::Relaxed) == 9 {
                body_ctx.request().cancel();
            }
            Ok(())
        };
        parallel_for(&ctx, usize::MAX, BlockSize::Fixed(1), body, on_done);
        let (start, message) = ended(&ctx, &outcomes).expect_err("it was cancelled");
        assert_eq!(message, "Cancelled");
        // All blocks below the first skipped one have run.
        let num_run = num_run.load(Ordering::Relaxed);
        assert!(start <= num_run, "{start} of {num_run}");
    }
}

#[test]
fn what_the_loop_holds_is_gone_when_it_ends() {
    for queue in QUEUES {
        let ctx = context_of(queue);
        let held = Arc::new(());
        let (sender, counts) = channel();
        let in_end = Arc::downgrade(&held);
        let body = move |_| {
            let _held = &held;
            Ok(())
        };
        let on_done = move |_| sender.send(in_end.strong_count()).expect("read below");
        parallel_for(&ctx, 100, BlockSize::Fixed(1), body, on_done);
        ctx.host().quiesce().expect("not a thread of the queue");
        assert_eq!(counts.try_recv(), Ok(0));
    }
}

/// Has three workers, of which this thread is one, and loses every task.
#[derive(Debug)]
struct Careless {
    worker: usize,
}

impl ConcurrentWorkQueue for Careless {
    fn name(&self) -> String {
        "careless".into()
    }

    fn add_task(&self, task: Task) {
        drop(task);
    }

    fn add_blocking_task(&self, task: Task, _allow_queuing: bool) -> Result<(), Task> {
        Err(task)
    }

    fn await_values(&self, _values: &[AnyRef]) -> Result<(), WouldDeadlock> {
        Ok(())
    }

    fn quiesce(&self) -> Result<(), WouldDeadlock> {
        Ok(())
    }

    fn parallelism_level(&self) -> usize {
        3
    }

    fn is_in_worker_thread(&self) -> bool {
        false
    }

    fn current_worker(&self) -> Option<usize> {
        Some(self.worker)
    }
}

#[test]
fn lost_tasks_are_no_success() {
    // The first worker has run the first block, and another one another.
    for (worker, lowest_lost) in [(0, 10), (1, 0), (2, 0)] {
        let ctx = context(Arc::new(Careless { worker }));
        let (on_done, outcomes) = end();
        parallel_for(&ctx, 100, BlockSize::Fixed(10), |_| Ok(()), on_done);
        let message = "the work queue lost the tasks of a parallel loop";
        assert_eq!(ended(&ctx, &outcomes), Err((lowest_lost, message.into())));
    }
}

#[test]
fn the_first_skipped_block_may_be_of_another_worker() {
    let ctx = context(Arc::new(Careless { worker: 2 }));
    ctx.request().cancel();
    let (on_done, outcomes) = end();
    parallel_for(&ctx, 100, BlockSize::Fixed(10), |_| Ok(()), on_done);
    assert_eq!(ended(&ctx, &outcomes), Err((0, "Cancelled".into())));
}

#[test]
fn a_block_that_cancels_the_request_is_told() {
    for queue in QUEUES {
        let ctx = context_of(queue);
        let (on_done, outcomes) = end();
        let body_ctx = ctx.clone();
        let body = move |block: Range<usize>| {
            if block.start < 60 {
                return Ok(());
            }
            body_ctx.request().cancel();
            Err(Error::new("it failed"))
        };
        // Blocks of other workers are skipped, which may be lower ones.
        parallel_for(&ctx, 100, BlockSize::Fixed(1), body, on_done);
        let (start, message) = ended(&ctx, &outcomes).expect_err("a block failed");
        assert_eq!(message, "it failed");
        assert!(start >= 60, "{start}");
    }
}

#[test]
fn block_sizes_follow_their_policy() {
    assert_eq!(BlockSize::Fixed(7).resolve(100, 2), 7);
    assert_eq!(BlockSize::Fixed(700).resolve(100, 2), 100);
    assert_eq!(BlockSize::Min(5).resolve(800, 2), 100);
    assert_eq!(BlockSize::Min(5).resolve(8, 2), 5);
}
