//! Objects of other tasks live as long as their ids are held here.
//!
//! ```text
//!  last copy of an id dropped ──► Lease ──► Releases ── 64 ids, or 10 ms after the first ──► DeleteRemoteObjects
//! ```
//!
//! A request keeps the ids that it uses until it is answered, so an object is deleted after all
//! requested uses. It does not matter whether the request succeeded: deleting an object that was
//! never created is harmless.
//!
//! Requests may overtake each other. So a context is closed on a task once that task has answered
//! all requests to delete objects.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};
use std::time::Duration;

use tfrt_queue::Task;

use crate::cluster::TaskHandle;
use crate::context::DistributedContext;
use crate::fabric::CallOptions;
use crate::message::{DeleteRemoteObjectsRequest, RemoteObjectIdProto};
use crate::object::RemoteObjectId;

/// The maximum number of ids that are sent together.
const BATCH: usize = 64;

/// The time for which an id waits for others.
const MAX_WAIT: Duration = Duration::from_millis(10);

/// Releases an object when it is dropped.
pub(crate) struct Lease {
    id: RemoteObjectIdProto,
    /// The task that produces the object, once known, if the object lives on another one.
    producer: OnceLock<Arc<str>>,
    releases: Weak<Releases>,
}

impl Lease {
    /// Returns the task that produces the object, if that is known and not the one it lives on.
    pub(crate) fn producer(&self) -> Option<&Arc<str>> {
        self.producer.get()
    }

    /// Says which task produces the object, on which it does not live. The first one counts.
    pub(crate) fn set_producer(&self, task: &str) {
        // Said once.
        let _ = self.producer.set(Arc::from(task));
    }

    /// Returns the context that created the id.
    pub(crate) fn context(&self) -> Option<Arc<DistributedContext>> {
        self.releases.upgrade()?.context()
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        if let Some(releases) = self.releases.upgrade() {
            let mut id = std::mem::take(&mut self.id);
            if let Some(producer) = self.producer.get() {
                id.producer = producer.to_string();
            }
            releases.add(id);
        }
    }
}

impl fmt::Debug for Lease {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Lease").finish_non_exhaustive()
    }
}

/// The objects without remaining ids, until their tasks are notified.
#[derive(Debug, Default)]
pub(crate) struct Releases {
    context: OnceLock<Weak<DistributedContext>>,
    waiting: Mutex<Waiting>,
}

#[derive(Debug, Default)]
struct Waiting {
    ids: Vec<RemoteObjectIdProto>,
    is_scheduled: bool,
    /// The tasks that have not answered all requests.
    sent: HashMap<TaskHandle, Sent>,
}

/// The requests to a task without an answer.
#[derive(Default)]
struct Sent {
    num_requests: usize,
    /// What runs once they are answered.
    then: Vec<Box<dyn FnOnce() + Send>>,
}

impl fmt::Debug for Sent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sent")
            .field("num_requests", &self.num_requests)
            .finish_non_exhaustive()
    }
}

impl Releases {
    /// Says which context the objects belong to.
    pub(crate) fn belong_to(&self, context: &Arc<DistributedContext>) {
        // Said once, by who made the context.
        let _ = self.context.set(Arc::downgrade(context));
    }

    /// Returns the same id with a lease.
    pub(crate) fn lease(self: &Arc<Self>, id: RemoteObjectId) -> RemoteObjectId {
        let lease = Lease {
            id: (&id).into(),
            producer: OnceLock::new(),
            releases: Arc::downgrade(self),
        };
        id.with_lease(lease)
    }

    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn context(&self) -> Option<Arc<DistributedContext>> {
        self.context.get()?.upgrade()
    }

    fn add(self: &Arc<Self>, id: RemoteObjectIdProto) {
        let Some(context) = self.context() else {
            return;
        };
        let mut waiting = self.lock();
        waiting.ids.push(id);
        if waiting.ids.len() >= BATCH {
            let ids = std::mem::take(&mut waiting.ids);
            drop(waiting);
            return self.send(&context, ids);
        }
        if waiting.is_scheduled {
            return;
        }
        waiting.is_scheduled = true;
        drop(waiting);
        let this = Arc::downgrade(self);
        let queue = Arc::clone(context.host().queue());
        context.host().timers().schedule_after(MAX_WAIT, move || {
            queue.add_task(Task::new(move || {
                if let Some(this) = this.upgrade() {
                    this.end_wait();
                }
            }));
        });
    }

    fn end_wait(self: &Arc<Self>) {
        self.lock().is_scheduled = false;
        self.flush();
    }

    /// Tells the tasks now.
    pub(crate) fn flush(self: &Arc<Self>) {
        let ids = std::mem::take(&mut self.lock().ids);
        if let Some(context) = self.context() {
            self.send(&context, ids);
        }
    }

    /// Tells each task which of its objects are not needed any more.
    fn send(self: &Arc<Self>, context: &DistributedContext, ids: Vec<RemoteObjectIdProto>) {
        for (task, request) in deletions(context, ids) {
            self.lock().sent.entry(task).or_default().num_requests += 1;
            let this = Arc::clone(self);
            // Whether the objects could be deleted does not matter to those that wait. But a lost
            // request would leave them there.
            let options = CallOptions {
                // A few seconds: the close of the context waits for them, also if the task is gone.
                max_retries: 6,
                ..CallOptions::default()
            };
            context.call(task, options, request, move |_| {
                this.note_answer(task);
            });
        }
    }

    fn note_answer(&self, task: TaskHandle) {
        let mut waiting = self.lock();
        let Entry::Occupied(mut sent) = waiting.sent.entry(task) else {
            return;
        };
        sent.get_mut().num_requests -= 1;
        if sent.get().num_requests > 0 {
            return;
        }
        let then = sent.remove().then;
        // They may take the lock.
        drop(waiting);
        for action in then {
            action();
        }
    }

    /// Runs an action once no request to the task is without an answer.
    pub(crate) fn when_answered(&self, task: TaskHandle, action: impl FnOnce() + Send + 'static) {
        if let Some(sent) = self.lock().sent.get_mut(&task) {
            sent.then.push(Box::new(action));
            return;
        }
        action();
    }
}

/// Returns the request for each task that has some of the objects.
fn deletions(
    context: &DistributedContext,
    ids: Vec<RemoteObjectIdProto>,
) -> HashMap<TaskHandle, DeleteRemoteObjectsRequest> {
    let mut of_tasks: HashMap<TaskHandle, DeleteRemoteObjectsRequest> = HashMap::new();
    let mut add = |task: TaskHandle, id: RemoteObjectIdProto| {
        let request = of_tasks
            .entry(task)
            .or_insert_with(|| DeleteRemoteObjectsRequest {
                context_id: context.id(),
                input: Vec::new(),
            });
        request.input.push(id);
    };
    for mut id in ids {
        // The result of an execution is an object of the task that executes it, too.
        let producer = std::mem::take(&mut id.producer);
        if let Ok(producer) = context.cluster().find(&producer) {
            add(producer, id.clone());
        }
        if let Some(device) = context.devices().get(&id.device) {
            add(device.task(), id);
        }
    }
    of_tasks
}
