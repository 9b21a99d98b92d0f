//! Lost tasks of a context, and the callbacks that wait for them.
//!
//! ```text
//!            heartbeat answered                         no answer for the failure timeout,
//!   unknown ───────────────────► alive ──────────────► nobody listens, another incarnation, ──► lost, for good
//!                                  ▲ │ answered again   context closed
//!                                  └─┘
//! ```
//!
//! Every task of a context sends a heartbeat to every other one, five times in each failure
//! timeout. Heartbeats bypass the work queues, so a task answers even if its kernels run for long.
//! A task that has not answered yet has four times as long, because it may be starting.
//!
//! All tasks agree on the lost ones in the end: heartbeats name the tasks that are lost to the
//! sender, and the receiver loses them, too. A task that was silent for too long and goes on is
//! told by the answers to its heartbeats that it is lost to the others. It then loses them.
//!
//! `rounds` decides what the answers mean.
//!
//! [`Health::watch`] registers a callback, which runs on the work queue once the task is lost.

mod rounds;

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, PoisonError, Weak};
use std::time::{Duration, Instant};

use tfrt_host::Timer;
use tfrt_host::log;
use tfrt_queue::Task;
use tfrt_support::ErrorCode;

use crate::cluster::TaskHandle;
use crate::context::DistributedContext;
use crate::error::{Answer, RemoteError};
use crate::fabric::{self, CallOptions};
use crate::last_reference::drop_on_queue;
use crate::message::{HeartbeatRequest, HeartbeatResponse, LostTask};
use crate::sync::{Mutex, MutexGuard};

use rounds::{Heard, Rounds};

/// The number of heartbeats that are sent in a failure timeout.
const HEARTBEATS: u32 = 5;

/// The shortest time between two heartbeats.
const MIN_INTERVAL: Duration = Duration::from_millis(1);

/// The number of failure timeouts until the first heartbeat of a task is due.
const START_UP: u32 = 4;

/// The reason why nothing comes from a task any more.
///
/// ```
/// use tfrt_distributed::health::PeerEnd;
/// use tfrt_distributed::RemoteError;
/// use tfrt_support::ErrorCode;
///
/// let closed = PeerEnd::Closed(RemoteError::new(ErrorCode::Cancelled, "context 7 is closed"));
/// assert_eq!(closed.into_error().message, "context 7 is closed");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PeerEnd {
    /// The task is lost.
    Lost(RemoteError),
    /// The context is closed on this task.
    Closed(RemoteError),
}

impl PeerEnd {
    /// Returns the error of what only the task could have made available.
    #[must_use]
    pub fn into_error(self) -> RemoteError {
        match self {
            Self::Lost(error) | Self::Closed(error) => error,
        }
    }
}

/// The callback for the end of a wait for a task.
type OnPeerEnd = Box<dyn FnOnce(PeerEnd) + Send>;

/// The lost tasks of a context, and the watches of the others.
///
/// ```
/// use std::sync::Arc;
/// use std::sync::mpsc::channel;
/// use tfrt_distributed::health::Health;
/// use tfrt_distributed::{RemoteError, TaskHandle};
/// use tfrt_support::ErrorCode;
///
/// let health = Arc::new(Health::default());
/// let (sender, lost) = channel();
/// let _watch = health.watch(TaskHandle::NONE, move |end| sender.send(end).unwrap());
/// for callback in health.mark_lost(TaskHandle::NONE, RemoteError::new(ErrorCode::Unavailable, "gone")) {
///     callback();
/// }
/// assert_eq!(lost.try_recv().unwrap().into_error().message, "gone");
/// assert!(health.lost(TaskHandle::NONE).is_some());
/// ```
#[derive(Default)]
pub struct Health(Mutex<State>);

#[derive(Default)]
struct State {
    lost: HashMap<TaskHandle, RemoteError>,
    watching: HashMap<u64, (TaskHandle, OnPeerEnd)>,
    next_watch: u64,
    /// The first task that has lost this one.
    lost_to: Option<TaskHandle>,
    /// The reason why nothing comes from any task any more: the context is closed.
    ended: Option<RemoteError>,
}

impl State {
    /// Returns the reason why nothing comes from a task any more, if so. Its loss comes first.
    fn peer_end(&self, task: TaskHandle) -> Option<PeerEnd> {
        let lost = self.lost.get(&task).cloned().map(PeerEnd::Lost);
        lost.or_else(|| self.ended.clone().map(PeerEnd::Closed))
    }
}

impl Health {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the reason why a task is lost, if it is.
    #[must_use]
    pub fn lost(&self, task: TaskHandle) -> Option<RemoteError> {
        self.lock().lost.get(&task).cloned()
    }

    /// Returns the reason why nothing comes from a task any more, if so.
    pub(crate) fn peer_end(&self, task: TaskHandle) -> Option<PeerEnd> {
        self.lock().peer_end(task)
    }

    /// Returns the error of a context that is closed.
    pub(crate) fn end_if_closed(&self) -> Option<RemoteError> {
        self.lock().ended.clone()
    }

    /// Calls `on_end` once if the task is lost or the context is closed while the watch exists,
    /// or immediately if either has already happened.
    #[must_use = "the watch ends when it is dropped"]
    pub fn watch(
        self: &Arc<Self>,
        task: TaskHandle,
        on_end: impl FnOnce(PeerEnd) + Send + 'static,
    ) -> Watch {
        let mut state = self.lock();
        let number = state.next_watch;
        state.next_watch += 1;
        if let Some(end) = state.peer_end(task) {
            drop(state);
            on_end(end);
        } else {
            state.watching.insert(number, (task, Box::new(on_end)));
        }
        Watch {
            health: Arc::downgrade(self),
            number,
        }
    }

    /// Records that a task is lost, unless that is known, and returns its watches, to be called
    /// without locks held.
    #[must_use = "waiters for the task are not released until this is called"]
    pub fn mark_lost(
        &self,
        task: TaskHandle,
        error: RemoteError,
    ) -> Vec<impl FnOnce() + Send + use<>> {
        let mut state = self.lock();
        if state.lost.contains_key(&task) {
            return Vec::new();
        }
        state.lost.insert(task, error.clone());
        let of_task = state
            .watching
            .extract_if(|_, (watched, _)| *watched == task);
        let of_task = of_task.map(|(_, (_, on_end))| {
            let lost = PeerEnd::Lost(error.clone());
            move || on_end(lost)
        });
        of_task.collect()
    }

    /// Records that the context is closed: later watches end with this error. Those that exist wait
    /// for what is under way.
    pub(crate) fn close(&self, error: &RemoteError) {
        self.lock().ended.get_or_insert_with(|| error.clone());
    }

    /// Returns all watches of a context that is closed and drained, to be called without locks
    /// held.
    #[must_use = "waiters are not released until this is called"]
    pub(crate) fn end(&self, error: &RemoteError) -> Vec<impl FnOnce() + Send + use<>> {
        let mut state = self.lock();
        let watching = state.watching.drain();
        let watching = watching.map(|(_, (_, on_end))| {
            let closed = PeerEnd::Closed(error.clone());
            move || on_end(closed)
        });
        watching.collect()
    }

    /// Returns the lost tasks, with the reasons.
    #[must_use]
    pub fn all_lost(&self) -> Vec<(TaskHandle, RemoteError)> {
        let state = self.lock();
        let lost = state.lost.iter();
        lost.map(|(task, error)| (*task, error.clone())).collect()
    }

    /// Returns the first task that has lost this one, if there is one.
    #[must_use]
    pub fn lost_to(&self) -> Option<TaskHandle> {
        self.lock().lost_to
    }

    /// Records that a task has lost this one.
    fn set_lost_to(&self, task: TaskHandle) {
        self.lock().lost_to.get_or_insert(task);
    }

    /// Returns the number of watches.
    #[must_use]
    pub fn num_watches(&self) -> usize {
        self.lock().watching.len()
    }
}

impl fmt::Debug for Health {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = self.lock();
        f.debug_struct("Health")
            .field("lost", &state.lost)
            .field("num_watches", &state.watching.len())
            .finish()
    }
}

/// Keeps a callback of [`Health::watch`].
#[derive(Debug)]
pub struct Watch {
    health: Weak<Health>,
    number: u64,
}

impl Drop for Watch {
    fn drop(&mut self) {
        let Some(health) = self.health.upgrade() else {
            return;
        };
        let forgotten = health.lock().watching.remove(&self.number);
        // Without the lock.
        drop(forgotten);
    }
}

/// Sends heartbeats, and reports lost tasks.
#[derive(Debug)]
pub(crate) struct Detector {
    timeout: Duration,
    state: Mutex<Watching>,
}

#[derive(Debug)]
struct Watching {
    is_over: bool,
    timer: Option<Timer>,
    rounds: Rounds,
}

impl Detector {
    /// Watches over other tasks of `context` from now on. A caller that has communicated with all
    /// of them passes `all_are_alive`.
    pub(crate) fn start(
        context: &Arc<DistributedContext>,
        tasks: &[TaskHandle],
        timeout: Duration,
        all_are_alive: bool,
    ) -> Arc<Self> {
        let this = Arc::new(Self {
            timeout,
            state: Mutex::new(Watching {
                is_over: false,
                timer: None,
                rounds: Rounds::new(tasks, timeout, all_are_alive, Instant::now()),
            }),
        });
        this.schedule(context, Duration::ZERO);
        this
    }

    fn lock(&self) -> MutexGuard<'_, Watching> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sends no heartbeat any more.
    pub(crate) fn stop(&self) {
        let mut state = self.lock();
        state.is_over = true;
        if let Some(timer) = state.timer.take() {
            timer.cancel();
        }
    }

    fn schedule(self: &Arc<Self>, context: &Arc<DistributedContext>, delay: Duration) {
        let mut state = self.lock();
        if state.is_over {
            return;
        }
        let (this, weak) = (Arc::clone(self), Arc::downgrade(context));
        // The thread of the timers sends heartbeats itself: the work queue may be busy for long.
        state.timer = Some(context.host().timers().schedule_after(delay, move || {
            if let Some(context) = weak.upgrade() {
                this.round(&context);
                this.schedule(&context, interval(this.timeout));
                let queue = Arc::clone(context.host().queue());
                drop_on_queue(&queue, context);
            }
        }));
    }

    fn round(self: &Arc<Self>, context: &Arc<DistributedContext>) {
        // Heartbeats of other tasks may have named them.
        let is_lost = |task| context.health().lost(task).is_some();
        let due = self.lock().rounds.round(Instant::now(), is_lost);
        for (task, cause) in due.silent {
            declare_lost(context, task, &cause);
        }
        let request = HeartbeatRequest {
            context_id: context.id(),
            sender: context.cluster().own_name(),
            lost: lost_tasks(context),
        };
        for task in due.asked {
            self.ask(context, task, request.clone());
        }
    }

    fn ask(
        self: &Arc<Self>,
        context: &Arc<DistributedContext>,
        task: TaskHandle,
        request: HeartbeatRequest,
    ) {
        let Ok(client) = context.client(task) else {
            return;
        };
        let options = CallOptions {
            timeout: Some(self.timeout),
            ..CallOptions::default()
        };
        let (this, context) = (Arc::downgrade(self), Arc::downgrade(context));
        fabric::call(&*client, options, request, move |answer| {
            let Some(context) = context.upgrade() else {
                return;
            };
            if let Some(this) = this.upgrade() {
                this.hear(&context, task, answer);
            }
            let queue = Arc::clone(context.host().queue());
            drop_on_queue(&queue, context);
        });
    }

    fn hear(
        &self,
        context: &Arc<DistributedContext>,
        task: TaskHandle,
        answer: Answer<HeartbeatResponse>,
    ) {
        let heard = match answer {
            Ok(response) if response.is_lost => Heard::LostUs,
            Ok(response) => Heard::Alive(response.incarnation),
            Err(errors) if errors.code() == ErrorCode::InvalidDistributedContextId => {
                Heard::NoContext {
                    closed: format!("it closed context {}", context.id()),
                    error: errors.to_string(),
                }
            }
            Err(errors) if fabric::nobody_listens(&errors) => Heard::NobodyListens {
                error: errors.to_string(),
                has_spoken: context.belongs_to(task),
            },
            Err(errors) => Heard::Nothing(errors.to_string()),
        };
        let has_lost_us = heard == Heard::LostUs;
        let lost_by = self.lock().rounds.hear(task, heard, Instant::now());
        let Some(cause) = lost_by else {
            return;
        };
        if has_lost_us {
            context.health().set_lost_to(task);
        }
        declare_lost(context, task, &cause);
    }
}

/// Returns the time between heartbeats, which is never zero, or the timers would do nothing else.
pub(crate) fn interval(timeout: Duration) -> Duration {
    (timeout / HEARTBEATS).max(MIN_INTERVAL)
}

pub(crate) fn no_heartbeat(timeout: Duration) -> String {
    format!("no heartbeat for {timeout:?}")
}

/// Answers a heartbeat: whether the sender is lost to this task. The tasks that the sender names
/// are lost from now on.
pub(crate) fn answer(context: &Arc<DistributedContext>, request: &HeartbeatRequest) -> bool {
    let (cluster, health) = (context.cluster(), context.health());
    let Ok(sender) = cluster.find(&request.sender) else {
        return false;
    };
    if health.lost(sender).is_some() {
        // It no longer has a say.
        return true;
    }
    for lost in &request.lost {
        let named = cluster.find(&lost.name).ok();
        let other = named.filter(|task| *task != cluster.own_task());
        if let Some(task) = other.filter(|task| health.lost(*task).is_none()) {
            declare_lost(context, task, &lost.cause);
        }
    }
    false
}

/// Returns the error of what only the task `name` could have made available.
pub(crate) fn lost_error(name: &str, cause: &str) -> RemoteError {
    let message = format!("{}{cause}", lost_prefix(name));
    RemoteError::new(ErrorCode::Unavailable, message)
}

/// Returns the start of the error for a lost task, before the cause.
fn lost_prefix(name: &str) -> String {
    format!("task {name} is lost: ")
}

/// Returns the tasks of a context that are lost to this one.
fn lost_tasks(context: &DistributedContext) -> Vec<LostTask> {
    let to_message = |(task, error): (TaskHandle, RemoteError)| {
        let name = context.cluster().task_name(task).ok()?;
        let cause = error.message.strip_prefix(&lost_prefix(&name));
        let cause = cause.unwrap_or(&error.message).to_owned();
        Some(LostTask { name, cause })
    };
    let lost = context.health().all_lost().into_iter();
    lost.filter_map(to_message).collect()
}

/// Tells everybody who waits for a task that it is lost.
fn declare_lost(context: &Arc<DistributedContext>, task: TaskHandle, cause: &str) {
    let Ok(name) = context.cluster().task_name(task) else {
        return;
    };
    let error = lost_error(&name, cause);
    log::info!("context {}: {}", context.id(), error.message);
    let callbacks = context.health().mark_lost(task, error);
    let context = Arc::clone(context);
    // Waiters run on the work queue.
    let queue = Arc::clone(context.host().queue());
    queue.add_task(Task::new(move || {
        for callback in callbacks {
            callback();
        }
        context.on_task_lost(task);
    }));
}

#[cfg(test)]
mod tests;

#[cfg(all(test, loom))]
mod loom_models;
