//! The blocking side: threads for tasks that mostly wait.
//!
//! There are two kinds of threads. A fixed number of *pool* threads share one bounded queue.
//! *Dynamic* threads, of which there can be any number, run tasks that must not wait behind others:
//! such a task is passed to a free dynamic thread, or to a new one. A dynamic thread that has been
//! free for a second ends. Threads start when they are first needed.
//!
//! Everything is under one mutex, because a blocking task costs at least one system call anyway.
//! Invariant B1: there are at least as many free dynamic threads as tasks handed over. It is upheld
//! by `run` and by the threads, which end only when no task is handed over.
//!
//! # Termination
//!
//! 1. The flag is set and all threads are woken.
//! 2. A pool thread ends when the queue is empty, a dynamic thread when no task is handed over.

use std::collections::{HashMap, VecDeque};
use std::io;
use std::sync::Arc;
use std::time::Duration;

use super::Shared;
use crate::priority::PriorityLists;
use crate::role::{self, Role};
use crate::sync::thread::{self, JoinHandle, ThreadId};
use crate::sync::{Condvar, Mutex, MutexGuard, lock, wait, wait_timeout};
use crate::task::Task;

/// The number of tasks that may wait for each pool thread, as in the reference.
const QUEUED_PER_THREAD: usize = 1024;

/// The blocking pool of a queue.
#[derive(Debug)]
pub(crate) struct Blocking {
    num_threads: usize,
    max_queued: usize,
    /// The time for which a dynamic thread waits for its next task before it ends.
    dynamic_idle: Duration,
    state: Mutex<State>,
    /// Notified when tasks were queued, or when the flag was set.
    queued: Condvar,
    /// Notified when tasks were handed over, or when the flag was set.
    handed_over: Condvar,
}

#[derive(Debug)]
struct State {
    /// Tasks for pool threads, of the default priority and of others.
    queue: VecDeque<Task>,
    prioritized: PriorityLists,
    num_started: usize,
    num_idle: usize,
    /// Tasks for dynamic threads.
    handover: VecDeque<Task>,
    /// The number of dynamic threads that wait or are about to wait.
    num_free: usize,
    num_running: usize,
    num_accepted: u64,
    is_terminating: bool,
    /// A dynamic thread removes its own handle when it ends.
    handles: HashMap<ThreadId, JoinHandle<()>>,
}

/// The state of the pool at a moment when it was quiescent. Snapshots are equal only if no task was
/// accepted in between.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Snapshot {
    num_accepted: u64,
}

impl Blocking {
    pub(crate) fn new(num_threads: usize, dynamic_idle: Duration) -> Self {
        Self {
            num_threads,
            max_queued: num_threads.saturating_mul(QUEUED_PER_THREAD),
            dynamic_idle,
            state: Mutex::new(State::new()),
            queued: Condvar::new(),
            handed_over: Condvar::new(),
        }
    }

    pub(crate) fn num_threads(&self) -> usize {
        self.num_threads
    }

    /// Returns the number of tasks that wait for a thread.
    pub(crate) fn num_pending(&self) -> usize {
        let state = self.lock();
        state.num_queued() + state.handover.len()
    }

    /// Returns a snapshot if no task is pending or running.
    pub(crate) fn quiescent_snapshot(&self) -> Option<Snapshot> {
        let state = self.lock();
        state.is_quiescent().then_some(Snapshot {
            num_accepted: state.num_accepted,
        })
    }

    /// Tells the threads to end when they have no task.
    pub(crate) fn terminate(&self) {
        self.lock().is_terminating = true;
        self.queued.notify_all();
        self.handed_over.notify_all();
    }

    /// Returns the threads that have not ended, to be joined after [`terminate`](Self::terminate).
    pub(crate) fn take_threads(&self) -> Vec<JoinHandle<()>> {
        self.lock()
            .handles
            .drain()
            .map(|(_, handle)| handle)
            .collect()
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        lock(&self.state)
    }
}

impl State {
    fn new() -> Self {
        Self {
            queue: VecDeque::new(),
            prioritized: PriorityLists::new(),
            num_started: 0,
            num_idle: 0,
            handover: VecDeque::new(),
            num_free: 0,
            num_running: 0,
            num_accepted: 0,
            is_terminating: false,
            handles: HashMap::new(),
        }
    }

    fn num_queued(&self) -> usize {
        self.queue.len() + self.prioritized.len()
    }

    fn is_quiescent(&self) -> bool {
        self.num_running == 0 && self.num_queued() == 0 && self.handover.is_empty()
    }

    fn push(&mut self, priority: i32, task: Task) {
        if priority == 0 {
            self.queue.push_back(task);
        } else {
            self.prioritized.push(priority, task);
        }
        self.num_accepted += 1;
    }

    fn pop(&mut self) -> Option<Task> {
        self.prioritized
            .pop(|| !self.queue.is_empty())
            .or_else(|| self.queue.pop_front())
    }
}

/// Queues a task for a pool thread, or returns it if the queue is full.
pub(super) fn enqueue(shared: &Arc<Shared>, priority: i32, task: Task) -> Result<(), Task> {
    let blocking = &shared.blocking;
    let mut state = blocking.lock();
    let num_queued = state.num_queued();
    if num_queued >= blocking.max_queued {
        return Err(task);
    }
    if num_queued >= state.num_idle && state.num_started < blocking.num_threads {
        let name = format!("tfrt-blocking-{}", state.num_started);
        match spawn(shared, &mut state, name, run_pool_thread) {
            Ok(()) => state.num_started += 1,
            // Without a thread the task would wait forever.
            Err(_) if state.num_started == 0 => return Err(task),
            Err(_) => {}
        }
    }
    state.push(priority, task);
    blocking.queued.notify_one();
    Ok(())
}

/// Hands a task over to a dynamic thread, or returns it if none is free and none can be started.
pub(super) fn run(shared: &Arc<Shared>, task: Task) -> Result<(), Task> {
    let blocking = &shared.blocking;
    let mut state = blocking.lock();
    state.handover.push_back(task);
    state.num_accepted += 1;
    if state.handover.len() > state.num_free {
        match spawn(
            shared,
            &mut state,
            "tfrt-dynamic".into(),
            run_dynamic_thread,
        ) {
            Ok(()) => state.num_free += 1,
            // By B1 the other tasks that are handed over have threads; only this one, the last, has
            // none.
            Err(_) => return state.handover.pop_back().map_or(Ok(()), Err),
        }
    }
    blocking.handed_over.notify_one();
    Ok(())
}

fn spawn(
    shared: &Arc<Shared>,
    state: &mut State,
    name: String,
    life: fn(&Shared),
) -> io::Result<()> {
    let in_thread = Arc::clone(shared);
    let handle = shared.spawner.spawn(name, move || {
        let _role = role::enter(in_thread.id(), Role::Blocking);
        life(&in_thread);
    })?;
    state.handles.insert(handle.thread().id(), handle);
    Ok(())
}

fn run_pool_thread(shared: &Shared) {
    let blocking = &shared.blocking;
    let mut state = blocking.lock();
    loop {
        if let Some(task) = state.pop() {
            state = run_unlocked(shared, state, task, |_| {});
        } else if state.is_terminating {
            return;
        } else {
            state.num_idle += 1;
            state = wait(&blocking.queued, state);
            state.num_idle -= 1;
        }
    }
}

fn run_dynamic_thread(shared: &Shared) {
    let blocking = &shared.blocking;
    let mut state = blocking.lock();
    loop {
        let mut is_time_up = false;
        while state.handover.is_empty() && !state.is_terminating && !is_time_up {
            let Blocking {
                handed_over,
                dynamic_idle,
                ..
            } = blocking;
            (state, is_time_up) = wait_timeout(handed_over, &blocking.state, state, *dynamic_idle);
        }
        state.num_free -= 1;
        let Some(task) = state.handover.pop_front() else {
            state.handles.remove(&thread::current().id());
            return;
        };
        state = run_unlocked(shared, state, task, |state| state.num_free += 1);
    }
}

/// Runs a task without the lock. `done` changes the state in the step in which the task stops
/// counting as running.
fn run_unlocked<'a>(
    shared: &'a Shared,
    mut state: MutexGuard<'a, State>,
    task: Task,
    done: impl FnOnce(&mut State),
) -> MutexGuard<'a, State> {
    state.num_running += 1;
    drop(state);
    task.run_and_survive();
    let mut state = shared.blocking.lock();
    state.num_running -= 1;
    done(&mut state);
    if state.is_quiescent() {
        drop(state);
        shared.quiescence.notify();
        state = shared.blocking.lock();
    }
    state
}
