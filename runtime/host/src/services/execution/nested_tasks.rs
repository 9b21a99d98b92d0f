//! Tasks of queues that run them immediately, on a stack of bounded depth.
//!
//! A queue may run a task inside `add_task`, on the thread that adds it: by design, or because the
//! queue is full. Such a task adds others, which run inside it, and so on: a long program whose
//! kernels switch streams would overflow the stack. So tasks added too deep inside `add_task` are
//! deferred by the thread, and added when the outermost `add_task` returns:
//!
//! ```text
//!  add ─► task ─► add ─► task ─► … ─► add: too deep, kept back
//!  │ ◄─────────────────────────────────────────┘
//!  └─► add what was kept back ─► task ─► …
//! ```
//!
//! This affects only the order of tasks, which is unspecified: a compute task does not wait for
//! another one.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use tfrt_queue::{ConcurrentWorkQueue, RequestTag, Task};

/// The maximum number of nested additions in progress on one thread.
///
/// A queue that runs tasks immediately does so only below this depth; each level takes a few KiB of
/// stack in a debug build.
const MAX_NESTED: u32 = 16;

/// A deferred task.
struct Kept {
    queue: Arc<dyn ConcurrentWorkQueue>,
    tag: RequestTag,
    task: Task,
}

thread_local! {
    static NUM_NESTED: Cell<u32> = const { Cell::new(0) };

    /// `true` if the list may not be empty. Checking the list itself costs more.
    static HAS_KEPT: Cell<bool> = const { Cell::new(false) };

    static KEPT: RefCell<VecDeque<Kept>> = const { RefCell::new(VecDeque::new()) };
}

/// Adds a task to `queue`, now or soon.
// Inlined, so that the task is created where the queue takes it, instead of being copied there.
#[inline(always)]
pub(super) fn add(queue: &Arc<dyn ConcurrentWorkQueue>, tag: &RequestTag, task: Task) {
    let num_nested = NUM_NESTED.get();
    if num_nested < MAX_NESTED {
        NUM_NESTED.set(num_nested + 1);
        let _level = Level {
            num_outer: num_nested,
        };
        return queue.add_task_for(tag, task);
    }
    keep(queue, tag, task);
}

/// Defers a task.
#[cold]
fn keep(queue: &Arc<dyn ConcurrentWorkQueue>, tag: &RequestTag, task: Task) {
    let kept = Kept {
        queue: Arc::clone(queue),
        tag: *tag,
        task,
    };
    // A thread that is ending has no list any more. The tasks it adds nest without a bound.
    let mut kept = Some(kept);
    HAS_KEPT.set(true);
    let _ = KEPT.try_with(|list| list.borrow_mut().extend(kept.take()));
    if let Some(Kept { queue, tag, task }) = kept {
        queue.add_task_for(&tag, task);
    }
}

/// One addition in progress on this thread.
#[derive(Debug)]
struct Level {
    /// The number of additions around it.
    num_outer: u32,
}

impl Drop for Level {
    /// Adds the deferred tasks if this is the outermost addition, even if its queue panics: tasks
    /// are never lost.
    #[inline]
    fn drop(&mut self) {
        if self.num_outer == 0 && HAS_KEPT.get() {
            add_kept();
        }
        NUM_NESTED.set(self.num_outer);
    }
}

#[cold]
fn add_kept() {
    HAS_KEPT.set(false);
    // The level stays, so additions inside these are not outermost ones.
    while let Some(Kept { queue, tag, task }) = next_kept() {
        // A queue that panics may have taken the task; the code that added it has long returned.
        let add = AssertUnwindSafe(|| queue.add_task_for(&tag, task));
        drop(catch_unwind(add));
    }
}

fn next_kept() -> Option<Kept> {
    KEPT.try_with(|list| list.borrow_mut().pop_front())
        .ok()
        .flatten()
}

#[cfg(all(test, not(loom)))]
mod tests {
    use std::sync::Mutex;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use tfrt_async::AnyRef;
    use tfrt_queue::WouldDeadlock;

    use super::*;

    /// Runs every task immediately on the thread that adds it, and panics after task number
    /// `panics_after`.
    #[derive(Debug, Default)]
    struct Inline {
        num_run: AtomicUsize,
        panics_after: Option<usize>,
        depth: Mutex<(usize, usize)>,
    }

    impl ConcurrentWorkQueue for Inline {
        fn name(&self) -> String {
            "inline".into()
        }

        fn add_task(&self, task: Task) {
            {
                let mut depth = self.depth.lock().expect("no panic under the lock");
                depth.0 += 1;
                depth.1 = depth.1.max(depth.0);
            }
            let number = self.num_run.fetch_add(1, Ordering::Relaxed);
            task.run();
            self.depth.lock().expect("no panic under the lock").0 -= 1;
            if self.panics_after == Some(number) {
                // Unlike `panic!`, this skips the hook, which would clutter the output of a passing
                // test.
                std::panic::resume_unwind(Box::new("a queue"));
            }
        }

        fn add_blocking_task(&self, task: Task, _: bool) -> Result<(), Task> {
            Err(task)
        }

        fn await_values(&self, _: &[AnyRef]) -> Result<(), WouldDeadlock> {
            Ok(())
        }

        fn quiesce(&self) -> Result<(), WouldDeadlock> {
            Ok(())
        }

        fn parallelism_level(&self) -> usize {
            1
        }

        fn is_in_worker_thread(&self) -> bool {
            false
        }
    }

    /// Adds a task that adds the next one, `num_left` times.
    fn add_chain(queue: &Arc<dyn ConcurrentWorkQueue>, num_left: usize) {
        let next = Arc::clone(queue);
        let task = Task::new(move || {
            if num_left > 0 {
                add_chain(&next, num_left - 1);
            }
        });
        add(queue, &RequestTag::default(), task);
    }

    #[test]
    fn tasks_inside_tasks_nest_to_a_bound_and_all_run() {
        let inline = Arc::new(Inline::default());
        let queue: Arc<dyn ConcurrentWorkQueue> = inline.clone();
        add_chain(&queue, 100_000);
        assert_eq!(inline.num_run.load(Ordering::Relaxed), 100_001);
        let (now, most) = *inline.depth.lock().expect("no panic under the lock");
        assert_eq!((now, most), (0, MAX_NESTED as usize));
    }

    #[test]
    fn a_queue_that_panics_loses_nothing_that_was_kept_back() {
        for panics_after in [0, 5, 15, 20] {
            let inline = Arc::new(Inline {
                panics_after: Some(panics_after),
                ..Inline::default()
            });
            let queue: Arc<dyn ConcurrentWorkQueue> = inline.clone();
            drop(catch_unwind(AssertUnwindSafe(|| add_chain(&queue, 100))));
            assert_eq!(inline.num_run.load(Ordering::Relaxed), 101);
            assert_eq!(NUM_NESTED.get(), 0);
        }
    }
}
