//! A queue without threads that runs tasks in a random order.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use tfrt_async::{AnyRef, run_when_ready};

use crate::queue::{ConcurrentWorkQueue, WouldDeadlock};
use crate::role::{self, QueueId, Role};
use crate::task::Task;
use crate::waits;

/// Runs tasks on the threads that wait, in an order that depends on a seed. With one waiting
/// thread, a run can be repeated. Priorities are ignored.
///
/// ```
/// use std::sync::{Arc, Mutex};
/// use tfrt_queue::testing::RandomOrderQueue;
/// use tfrt_queue::{ConcurrentWorkQueue, enqueue_work};
///
/// let order_of = |seed| {
///     let queue = RandomOrderQueue::new(seed);
///     let order = Arc::new(Mutex::new(Vec::new()));
///     for number in 0..10 {
///         let order = order.clone();
///         enqueue_work(&queue, move || order.lock().unwrap().push(number));
///     }
///     queue.quiesce().unwrap();
///     Arc::into_inner(order).unwrap().into_inner().unwrap()
/// };
/// assert_eq!(order_of(7), order_of(7));
/// assert_ne!(order_of(7), order_of(8));
/// ```
#[derive(Debug)]
pub struct RandomOrderQueue {
    // Shared with waiters of values, which may outlive the queue.
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    state: Mutex<State>,
    /// Notified when tasks were added, when a task is done, or when awaited values are available.
    changed: Condvar,
}

#[derive(Debug)]
struct State {
    tasks: Vec<Task>,
    num_running: usize,
    /// The state of the generator, which is SplitMix64.
    random: u64,
}

impl RandomOrderQueue {
    /// Creates a queue whose order depends on `seed`.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        let state = State {
            tasks: Vec::new(),
            num_running: 0,
            random: seed,
        };
        Self {
            shared: Arc::new(Shared {
                state: Mutex::new(state),
                changed: Condvar::new(),
            }),
        }
    }

    fn id(&self) -> QueueId {
        QueueId::of(&*self.shared)
    }

    /// Runs tasks until `is_done`, which is called under the lock.
    fn run_until(&self, is_done: impl Fn(&State) -> bool) -> Result<(), WouldDeadlock> {
        if self.is_in_worker_thread() {
            return Err(WouldDeadlock);
        }
        let mut state = self.shared.lock();
        while !is_done(&state) {
            let Some(task) = state.pick() else {
                state = self
                    .shared
                    .changed
                    .wait(state)
                    .unwrap_or_else(PoisonError::into_inner);
                continue;
            };
            state.num_running += 1;
            drop(state);
            {
                let _role = role::enter(self.id(), Role::Compute);
                task.run_and_survive();
            }
            state = self.shared.lock();
            state.num_running -= 1;
            self.shared.changed.notify_all();
        }
        Ok(())
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        // No code panics while it holds the lock.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn pick(&mut self) -> Option<Task> {
        let len = self.tasks.len() as u64;
        (len > 0).then(|| {
            let index = self.next_random() % len;
            self.tasks.swap_remove(index as usize)
        })
    }

    fn next_random(&mut self) -> u64 {
        self.random = self.random.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.random ^ (self.random >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }
}

impl ConcurrentWorkQueue for RandomOrderQueue {
    fn name(&self) -> String {
        "random-order".into()
    }

    fn add_task(&self, task: Task) {
        self.shared.lock().tasks.push(task);
        self.shared.changed.notify_all();
    }

    /// Rejects every task that must not be queued, because there is no thread for it.
    fn add_blocking_task(&self, task: Task, allow_queuing: bool) -> Result<(), Task> {
        if !allow_queuing {
            return Err(task);
        }
        self.add_task(task);
        Ok(())
    }

    fn await_values(&self, values: &[AnyRef]) -> Result<(), WouldDeadlock> {
        let shared = Arc::clone(&self.shared);
        let is_ready = Arc::new(Mutex::new(false));
        let setter = Arc::clone(&is_ready);
        run_when_ready(values, move || {
            *setter.lock().unwrap_or_else(PoisonError::into_inner) = true;
            // Under the lock, as a waiter could otherwise miss it between its check and its wait.
            drop(shared.lock());
            shared.changed.notify_all();
        });
        self.run_until(|_| *is_ready.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn quiesce(&self) -> Result<(), WouldDeadlock> {
        let _wait = waits::begin(self.id())?;
        self.run_until(|state| state.tasks.is_empty() && state.num_running == 0)
    }

    fn parallelism_level(&self) -> usize {
        1
    }

    fn is_in_worker_thread(&self) -> bool {
        role::current(self.id()).is_some()
    }
}

impl Drop for RandomOrderQueue {
    /// Runs the remaining tasks.
    fn drop(&mut self) {
        // This thread does not run a task of this queue, because the wait that runs it would borrow
        // the queue.
        let _ = self.quiesce();
    }
}
