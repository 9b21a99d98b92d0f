//! Lost tasks of a context, and the callbacks that wait for them.
//!
//! ```text
//!            heartbeat          two are missing, or their stream broke
//!   unknown ───────────► alive ────────────────────────────────────────► suspect
//!                          │ ◄─────────────── heartbeat ──────────────────── │
//!                          │                                                 │ nobody listens,
//!      another incarnation,│                                                 │ no heartbeat for
//!      context closed      └────────────────► lost, for good ◄───────────────┘ the failure timeout
//! ```
//!
//! Every task of a context watches every other one: it gets five heartbeats in each failure
//! timeout, from a stream if the transport has such, and as answers to requests otherwise.
//! Heartbeats bypass the work queues, so a task sends them even if its kernels run for long. A task
//! that has sent none yet has four times as long, because it may be starting. A stream that breaks
//! is opened again at once: that shows whether somebody still listens.
//!
//! All tasks agree on the lost ones in the end: heartbeats name the tasks that are lost to the
//! sender, and the receiver loses them, too. A task that was silent for too long and goes on is
//! told by the heartbeats of the others that it is lost to them. It then loses them.
//!
//! `rounds` decides what heartbeats mean, and `detector` asks for them.
//!
//! [`Health::watch`] registers a callback, which runs on the work queue once the task is lost.

mod detector;

mod rounds;

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::sync::{Arc, PoisonError, Weak};
use std::time::Duration;

use tfrt_host::log;
use tfrt_queue::Task;
use tfrt_support::ErrorCode;

use crate::cluster::TaskHandle;
use crate::context::DistributedContext;
use crate::error::RemoteError;
use crate::message::{HeartbeatRequest, HeartbeatResponse, LostTask};
use crate::sync::{Mutex, MutexGuard};

pub(crate) use detector::Detector;

/// The number of heartbeats that are sent in a failure timeout.
const HEARTBEATS: u32 = 5;

/// The shortest time between two heartbeats.
const MIN_INTERVAL: Duration = Duration::from_millis(1);

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
    /// The tasks whose heartbeats are missing, and that are not lost yet.
    suspects: HashSet<TaskHandle>,
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

    /// Returns `true` if heartbeats of a task are missing, or their stream broke: it may be lost
    /// soon, or send the next one.
    #[must_use]
    pub fn is_suspect(&self, task: TaskHandle) -> bool {
        self.lock().suspects.contains(&task)
    }

    /// Records whether heartbeats of a task are missing.
    pub(crate) fn set_suspect(&self, task: TaskHandle, is_suspect: bool) {
        let mut state = self.lock();
        match is_suspect && !state.lost.contains_key(&task) {
            true => state.suspects.insert(task),
            false => state.suspects.remove(&task),
        };
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
        state.suspects.remove(&task);
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

/// Returns the time between heartbeats, which is never zero, or the timers would do nothing else.
pub(crate) fn interval(timeout: Duration) -> Duration {
    (timeout / HEARTBEATS).max(MIN_INTERVAL)
}

pub(crate) fn no_heartbeat(timeout: Duration) -> String {
    format!("no heartbeat for {timeout:?}")
}

/// Answers a heartbeat, as the process of an incarnation. The tasks that the sender names are lost
/// from now on, unless the sender itself is.
pub(crate) fn answer(
    context: &Arc<DistributedContext>,
    request: &HeartbeatRequest,
    incarnation: u64,
) -> HeartbeatResponse {
    let sender = context.cluster().find(&request.sender).ok();
    let is_lost = sender.is_some_and(|sender| context.health().lost(sender).is_some());
    if sender.is_some() && !is_lost {
        lose_named(context, &request.lost);
    }
    HeartbeatResponse {
        incarnation,
        is_lost,
        lost: match is_lost {
            // It has no say, and is told nothing.
            true => Vec::new(),
            false => lost_tasks(context),
        },
    }
}

/// Loses the tasks that another one has lost.
fn lose_named(context: &Arc<DistributedContext>, named: &[LostTask]) {
    let (cluster, health) = (context.cluster(), context.health());
    for lost in named {
        let named = cluster.find(&lost.name).ok();
        let other = named.filter(|task| *task != cluster.own_task());
        if let Some(task) = other.filter(|task| health.lost(*task).is_none()) {
            declare_lost(context, task, &lost.cause);
        }
    }
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
