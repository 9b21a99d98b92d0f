//! Programs under user-defined work queues: one that runs tasks at once, a slow one, and one that
//! loses tasks.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, ThreadId};

use tfrt_async::AnyRef;
use tfrt_executor::Program;
use tfrt_host::{ExecutionContext, HostContext, RequestContextBuilder};
use tfrt_queue::{ConcurrentWorkQueue, Task, WouldDeadlock};

use crate::support::{
    ASYNC_SUM, COUNT_ANY, Graph, Node, SUM, alone, build, outcome, queue_of, registry,
};

fn start(queue: Arc<dyn ConcurrentWorkQueue>, graph: Graph) -> (Arc<HostContext>, Vec<AnyRef>) {
    let host = HostContext::builder()
        .registry(registry())
        .queue(queue)
        .build();
    let program = Program::load(&host, &build(&[graph])).expect("the kernels exist");
    let ctx = ExecutionContext::new(RequestContextBuilder::new(Arc::clone(&host)).build());
    let main = program.function("f0").expect("the first function");
    let results = main.execute(&ctx, &[]);
    (host, results)
}

/// Runs every task at once, on the thread that adds it.
#[derive(Debug)]
struct Inline;

impl ConcurrentWorkQueue for Inline {
    fn name(&self) -> String {
        "inline".into()
    }

    fn add_task(&self, task: Task) {
        task.run();
    }

    fn add_blocking_task(&self, task: Task, _: bool) -> Result<(), Task> {
        Err(task)
    }

    fn await_values(&self, values: &[AnyRef]) -> Result<(), WouldDeadlock> {
        match values.iter().all(AnyRef::is_available) {
            true => Ok(()),
            false => Err(WouldDeadlock),
        }
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

/// A chain that changes its stream with every step. Each step has another user on the stream of the
/// step before, so the next step must become a task.
fn zigzag(num_steps: usize, op: &'static tfrt_ods::OpDef) -> Graph {
    let mut nodes = vec![Node::new(op, &[])];
    let mut last = 0;
    for step in 0..num_steps {
        let stream = u32::from(step % 2 == 0);
        nodes.push(Node::new(op, &[last]).on(stream));
        nodes.push(Node::new(&SUM, &[last]).on(1 - stream));
        last = nodes.len() - 2;
    }
    Graph {
        returns: vec![last, nodes.len() - 1],
        nodes,
        num_arguments: 0,
    }
}

#[test]
fn a_queue_that_runs_tasks_at_once_does_not_deepen_the_stack_with_the_program() {
    let _alone = alone();
    let num_steps = if cfg!(miri) { 200 } else { 50_000 };
    for op in [&SUM, &ASYNC_SUM] {
        let (_host, results) = start(Arc::new(Inline), zigzag(num_steps, op));
        let length = i64::try_from(num_steps).expect("a small number");
        let outcomes: Vec<_> = results.iter().map(outcome).collect();
        assert_eq!(outcomes, [Ok(length + 1), Ok(length + 1)], "{}", op.name);
    }
}

/// One thread that pauses before every task.
#[derive(Debug)]
struct Slow {
    shared: Arc<SlowShared>,
    thread: Option<thread::JoinHandle<()>>,
    id: ThreadId,
}

#[derive(Debug, Default)]
struct SlowShared {
    state: Mutex<SlowState>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct SlowState {
    tasks: VecDeque<Task>,
    /// Tasks wait until the gate is open.
    is_open: bool,
    is_running: bool,
    is_closed: bool,
}

impl SlowShared {
    fn lock(&self) -> MutexGuard<'_, SlowState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn work(&self) {
        let mut state = self.lock();
        loop {
            let next = match state.is_open {
                true => state.tasks.pop_front(),
                false => None,
            };
            if let Some(task) = next {
                state.is_running = true;
                drop(state);
                (0..100).for_each(|_| thread::yield_now());
                task.run();
                state = self.lock();
                state.is_running = false;
                self.changed.notify_all();
            } else if state.is_closed {
                return;
            } else {
                state = self
                    .changed
                    .wait(state)
                    .unwrap_or_else(PoisonError::into_inner);
            }
        }
    }
}

impl Slow {
    fn new() -> Self {
        let shared = Arc::new(SlowShared::default());
        let of_thread = Arc::clone(&shared);
        let thread = thread::spawn(move || of_thread.work());
        Self {
            shared,
            id: thread.thread().id(),
            thread: Some(thread),
        }
    }

    fn open(&self) {
        self.shared.lock().is_open = true;
        self.shared.changed.notify_all();
    }

    fn wait_until(&self, is_over: impl Fn(&SlowState) -> bool) -> Result<(), WouldDeadlock> {
        if self.is_in_worker_thread() {
            return Err(WouldDeadlock);
        }
        let mut state = self.shared.lock();
        while !is_over(&state) {
            state = self
                .shared
                .changed
                .wait(state)
                .unwrap_or_else(PoisonError::into_inner);
        }
        Ok(())
    }
}

impl ConcurrentWorkQueue for Slow {
    fn name(&self) -> String {
        "slow".into()
    }

    fn add_task(&self, task: Task) {
        self.shared.lock().tasks.push_back(task);
        self.shared.changed.notify_all();
    }

    fn add_blocking_task(&self, task: Task, allow_queuing: bool) -> Result<(), Task> {
        if !allow_queuing {
            return Err(task);
        }
        self.add_task(task);
        Ok(())
    }

    fn await_values(&self, values: &[AnyRef]) -> Result<(), WouldDeadlock> {
        // In these tests, only tasks make values available.
        self.wait_until(|_| values.iter().all(AnyRef::is_available))
    }

    fn quiesce(&self) -> Result<(), WouldDeadlock> {
        self.wait_until(|state| state.tasks.is_empty() && !state.is_running)
    }

    fn parallelism_level(&self) -> usize {
        1
    }

    fn is_in_worker_thread(&self) -> bool {
        thread::current().id() == self.id
    }
}

impl Drop for Slow {
    fn drop(&mut self) {
        self.shared.lock().is_closed = true;
        self.shared.changed.notify_all();
        // Dropped by its own thread when a task held the last reference to the host.
        if let Some(thread) = self.thread.take().filter(|_| !self.is_in_worker_thread()) {
            thread.join().expect("no task of these tests panics");
        }
    }
}

#[test]
fn a_slow_queue_changes_no_outcome() {
    let _alone = alone();
    let num_steps = 100;
    let queue = Arc::new(Slow::new());
    let (host, results) = start(Arc::clone(&queue) as _, zigzag(num_steps, &ASYNC_SUM));
    assert!(!results[0].is_available(), "no task has run");
    queue.open();
    host.await_available(&results).expect("not the worker");
    host.quiesce().expect("not the worker");
    assert_eq!(outcome(&results[0]), Ok(101));
}

/// Loses every task after the first few: drops it, and panics.
#[derive(Debug)]
struct Losing {
    inner: Arc<dyn ConcurrentWorkQueue>,
    num_kept: Mutex<u32>,
    parallelism_level: usize,
}

impl ConcurrentWorkQueue for Losing {
    fn name(&self) -> String {
        "losing".into()
    }

    fn add_task(&self, task: Task) {
        {
            let mut num_kept = self.num_kept.lock().unwrap_or_else(PoisonError::into_inner);
            if *num_kept > 0 {
                *num_kept -= 1;
                drop(num_kept);
                return self.inner.add_task(task);
            }
        }
        drop(task);
        // Unlike `panic!`, this does not call the hook, which would clutter the output of a test
        // that passes.
        std::panic::resume_unwind(Box::new("a queue that is full"));
    }

    fn add_blocking_task(&self, task: Task, _: bool) -> Result<(), Task> {
        Err(task)
    }

    fn await_values(&self, values: &[AnyRef]) -> Result<(), WouldDeadlock> {
        self.inner.await_values(values)
    }

    fn quiesce(&self) -> Result<(), WouldDeadlock> {
        self.inner.quiesce()
    }

    fn parallelism_level(&self) -> usize {
        self.parallelism_level
    }

    fn is_in_worker_thread(&self) -> bool {
        self.inner.is_in_worker_thread()
    }
}

#[test]
fn what_a_queue_loses_becomes_an_error_and_nobody_waits_for_it() {
    let alone = alone();
    // Kernels without operands, each on its own stream, so that all but one become tasks.
    let num_kernels = 10;
    for num_kept in 0..num_kernels {
        for op in [&SUM, &ASYNC_SUM] {
            let graph = Graph {
                nodes: (0..num_kernels)
                    .map(|stream| Node::new(op, &[]).on(stream))
                    .collect(),
                returns: (0..num_kernels as usize).collect(),
                num_arguments: 0,
            };
            let queue = Losing {
                inner: queue_of("s"),
                num_kept: Mutex::new(num_kept),
                parallelism_level: 1,
            };
            let (host, results) = start(Arc::new(queue), graph);
            host.quiesce().expect("not a worker");
            let num_lost = results.iter().filter(|result| {
                assert!(result.is_available(), "{num_kept} kept: {result:?}");
                outcome(result).is_err()
            });
            // The first task holds all kernels but the first one. Further tasks are those that the
            // kernels themselves add, if any.
            let num_lost = num_lost.count();
            let num_expected = match (num_kept, std::ptr::eq(op, &ASYNC_SUM)) {
                (0, _) => num_kernels - 1,
                (_, true) => num_kernels - num_kept,
                (_, false) => 0,
            };
            assert!(
                num_lost >= num_expected as usize,
                "{num_kept} kept, {num_lost} lost"
            );
        }
        alone.assert_nothing_left(&format!("with {num_kept} tasks kept"));
    }
}

#[test]
fn what_a_task_keeps_for_itself_runs_though_the_queue_loses_what_it_gives_away() {
    let _alone = alone();
    let num_kernels = 10;
    let mut nodes: Vec<Node> = (0..num_kernels)
        .map(|stream| Node::new(&SUM, &[]).on(stream))
        .collect();
    // A kernel that does not wait, so that the order of the kernels is not known in advance.
    nodes.push(Node::new(&COUNT_ANY, &[]).non_strict().on(num_kernels - 1));
    let graph = Graph {
        nodes,
        returns: (0..num_kernels as usize).collect(),
        num_arguments: 0,
    };
    let queue = Losing {
        inner: queue_of("s"),
        // The task of all kernels but the first one, which gives away half of them, and then half
        // of the rest, as long as it can.
        num_kept: Mutex::new(1),
        parallelism_level: 2,
    };
    let (host, results) = start(Arc::new(queue), graph);
    host.quiesce().expect("not a worker");
    let outcomes: Vec<_> = results.iter().map(outcome).collect();
    let num_run = outcomes.iter().filter(|outcome| outcome.is_ok()).count();
    assert_eq!(num_run, 2, "{outcomes:?}");
}
