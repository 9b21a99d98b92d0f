//! Requests and payloads to other tasks.
//!
//! Whoever comes first ends a call: the answer, the loss of the task, or the end of the context.
//! Executions that are under way when the context is closed are cancelled on their tasks.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use prost::bytes::Bytes;
use tfrt_host::ExecutionContext;
use tfrt_host::tracing::{Scope, TracingLevel};
use tfrt_support::ErrorCode;

use super::DistributedContext;
use crate::cluster::TaskHandle;
use crate::drain::Drain;
use crate::error::{Answer, RemoteError, RemoteErrors};
use crate::fabric::{self, CallOptions, RemoteClient};
use crate::health::PeerEnd;
use crate::last_reference::drop_on_queue;
use crate::message::{Call, CancelExecutionRequest, Method, SendDataRequest};
use crate::rendezvous;

/// The first wait before a payload is sent again to a task whose receive buffer is full; each
/// further one is twice as long.
const FIRST_PAUSE: Duration = Duration::from_millis(5);

/// The longest such wait.
const MAX_PAUSE: Duration = Duration::from_millis(500);

/// The executions on other tasks under way, by number, each with the right to cancel it.
#[derive(Default)]
pub(super) struct Executing(Mutex<HashMap<u64, Cancellable>>);

type Cancellable = (Arc<dyn RemoteClient>, CancelExecutionRequest);

impl Executing {
    fn lock(&self) -> MutexGuard<'_, HashMap<u64, Cancellable>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Enters an execution until the returned value is dropped.
    #[must_use = "the execution ends when it is dropped"]
    fn enter(
        self: &Arc<Self>,
        client: &Arc<dyn RemoteClient>,
        cancel: CancelExecutionRequest,
    ) -> Entered {
        let number = cancel.execution_id;
        self.lock().insert(number, (Arc::clone(client), cancel));
        Entered {
            all: Arc::clone(self),
            number,
        }
    }

    /// Cancels all executions. The requests that do so are parts of the work to drain.
    pub(super) fn cancel_all(&self, drain: &Drain) {
        let all = std::mem::take(&mut *self.lock());
        for (client, cancel) in all.into_values() {
            let work = drain.part();
            // The answer of the execution says what became of it.
            fabric::call(&*client, CallOptions::default(), cancel, |_| drop(work));
        }
    }
}

impl fmt::Debug for Executing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.lock().keys()).finish()
    }
}

/// An attempt to send a payload.
#[derive(Clone, Copy, Debug)]
struct Attempt {
    /// The wait before the next one.
    pause: Duration,
    deadline: Option<Instant>,
    has_light_reply: bool,
}

/// An execution on another task, until it is answered.
#[derive(Debug)]
struct Entered {
    all: Arc<Executing>,
    number: u64,
}

impl Drop for Entered {
    fn drop(&mut self) {
        let over = self.all.lock().remove(&self.number);
        // Without the lock: it may be the last reference to a client.
        drop(over);
    }
}

/// Returns the outcome of a request that is not answered.
fn unanswered(end: PeerEnd, task: String) -> RemoteErrors {
    match end {
        PeerEnd::Closed(error) => error.into(),
        PeerEnd::Lost(error) => {
            let lost = RemoteError::new(ErrorCode::RpcUnavailable, error.message);
            lost.from_task(task).into()
        }
    }
}

impl DistributedContext {
    /// Runs `send`, which sends a request to a task: as a task of the work queue of `ctx`, unless
    /// the transport does as much work elsewhere.
    pub(crate) fn send_from(
        &self,
        ctx: &ExecutionContext,
        task: TaskHandle,
        send: impl FnOnce() + Send + 'static,
    ) {
        // As for a call, no client of a lost task is made.
        let client = match self.health.peer_end(task) {
            None => self.client(task).ok(),
            Some(_) => None,
        };
        match client {
            Some(client) if client.hands_over() => send(),
            _ => ctx.enqueue(send),
        }
    }

    /// Returns `true` if payloads to a task may be lent: whoever sends them may write their memory
    /// once they were given back.
    pub(crate) fn may_lend_to(&self, task: TaskHandle) -> bool {
        // As for a call, no client of a lost task is made.
        self.health.peer_end(task).is_none()
            && self
                .client(task)
                .is_ok_and(|client| client.copies_payloads())
    }

    /// Sends a request to a task. If the task is lost before it answers, or the context is closed
    /// already, `done` immediately gets an error. If the context is closed while it waits, the
    /// answer may still come while the context is drained.
    pub fn call<C: Call>(
        &self,
        task: TaskHandle,
        options: CallOptions,
        request: C,
        done: impl FnOnce(Answer<C::Response>) + Send + 'static,
    ) {
        self.call_with(task, options, (request, None), done);
    }

    /// As [`call`](Self::call), with an execution that is cancelled when the context is closed.
    pub(crate) fn call_with<C: Call>(
        &self,
        task: TaskHandle,
        options: CallOptions,
        (request, cancel): (C, Option<CancelExecutionRequest>),
        done: impl FnOnce(Answer<C::Response>) + Send + 'static,
    ) {
        let name = self.cluster.task_name(task).unwrap_or_default();
        // Without a client: one of a lost task would connect again.
        if let Some(end) = self.health.peer_end(task) {
            return done(Err(unanswered(end, name)));
        }
        let client = match self.client(task) {
            Ok(client) => client,
            Err(error) => return done(Err(error.into())),
        };
        let own_name = name.clone();
        let has_light_reply = options.has_light_reply;
        let queue = Arc::clone(self.host.queue());
        // A request to the own task may wait for something that only the end of the server ends,
        // and an execution for something that only the end of the cluster ends.
        let keeps_server = task != self.cluster.own_task();
        let server = keeps_server.then(|| self.keep_server()).flatten();
        let cluster = match C::METHOD {
            Method::RegisterFunction | Method::SendData => self.keep_cluster(),
            _ => None,
        };
        let work = self.drain.part();
        let executing = cancel.map(|cancel| self.executing.enter(&client, cancel));
        // Whoever takes it calls it: the answer, the loss of the task, or the end of the context.
        let done = Arc::new(Mutex::new(Some(done)));
        let take =
            |done: &Mutex<Option<_>>| done.lock().unwrap_or_else(PoisonError::into_inner).take();
        let on_end = Arc::clone(&done);
        let watch = self.health.watch(task, move |end| {
            if let Some(done) = take(&on_end) {
                done(Err(unanswered(end, name)));
            }
        });
        if let Some(end) = self.health.peer_end(task) {
            drop(executing);
            // A watch that began before the context was closed has not called back, and its
            // callback goes with it.
            if let Some(done) = take(&done) {
                done(Err(unanswered(end, own_name)));
            }
            return;
        }
        fabric::call(&*client, options, request, move |answer| {
            drop(watch);
            drop(executing);
            let mut kept = Some((server, cluster, work));
            if has_light_reply && let Some((server, cluster, work)) = kept.take() {
                // Whoever waits for the reply keeps the context.
                drop(work);
                if let Some(server) = server {
                    drop_on_queue(&queue, server);
                }
                if let Some(cluster) = cluster {
                    cluster.drop_on_queue(&queue);
                }
            }
            if let Some(done) = take(&done) {
                done(answer.map_err(|errors| errors.unavailable(&own_name)));
            }
            drop(kept);
        });
    }

    /// Sends a payload to the receiver of a key on a task. While the receive buffer of the task is
    /// full, the payload is sent again after a delay.
    pub fn send_data(
        self: &Arc<Self>,
        to: TaskHandle,
        key: impl Into<String>,
        payload: Vec<Bytes>,
        done: impl FnOnce(Answer<()>) + Send + 'static,
    ) {
        self.send_data_within(None, to, key, payload, done);
    }

    /// As [`send_data`](Self::send_data), for a `done` that takes little time and waits for
    /// nothing: it may run on a thread of the transport.
    pub(crate) fn send_data_light(
        self: &Arc<Self>,
        to: TaskHandle,
        key: String,
        payload: Vec<Bytes>,
        done: impl FnOnce(Answer<()>) + Send + 'static,
    ) {
        self.start_sending(None, to, (key, payload), Box::new(done), true);
    }

    /// As [`send_data`](Self::send_data), but gives up after `timeout`, if there is one: the
    /// outcome is then an error with the code `RpcDeadlineExceeded`.
    pub fn send_data_within(
        self: &Arc<Self>,
        timeout: Option<Duration>,
        to: TaskHandle,
        key: impl Into<String>,
        payload: Vec<Bytes>,
        done: impl FnOnce(Answer<()>) + Send + 'static,
    ) {
        self.start_sending(timeout, to, (key.into(), payload), Box::new(done), false);
    }

    fn start_sending(
        self: &Arc<Self>,
        timeout: Option<Duration>,
        to: TaskHandle,
        (instance_key, payload): (String, Vec<Bytes>),
        done: Box<dyn FnOnce(Answer<()>) + Send>,
        has_light_reply: bool,
    ) {
        let deadline = timeout.and_then(|timeout| Instant::now().checked_add(timeout));
        let request = SendDataRequest {
            context_id: self.id,
            instance_key,
            payload,
        };
        // `tfrt cluster trace` draws an arrow from here to the slice of the task that receives it.
        let _scope = Scope::enter(TracingLevel::Debug, || {
            let to = self.cluster.task_name(to).unwrap_or_default();
            format!("send {} to {to}", request.instance_key)
        });
        let attempt = Attempt {
            pause: FIRST_PAUSE,
            deadline,
            has_light_reply,
        };
        self.send_again(to, request, attempt, done);
    }

    fn send_again(
        self: &Arc<Self>,
        to: TaskHandle,
        request: SendDataRequest,
        attempt: Attempt,
        done: Box<dyn FnOnce(Answer<()>) + Send>,
    ) {
        let Attempt {
            pause, deadline, ..
        } = attempt;
        let left = deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
        let options = CallOptions {
            timeout: left,
            has_light_reply: attempt.has_light_reply,
            ..CallOptions::default()
        };
        let (this, server) = (Arc::clone(self), self.keep_server());
        let again = request.clone();
        self.call(to, options, request, move |answer| match answer {
            Err(errors) if rendezvous::is_full(&errors) => {
                // The next attempt comes no later than the deadline.
                let pause = left.map_or(pause, |left| pause.min(left));
                if pause.is_zero() {
                    let own = format!("SendData: the deadline passed: {errors}");
                    return done(Err(
                        RemoteError::new(ErrorCode::RpcDeadlineExceeded, own).into()
                    ));
                }
                let queue = Arc::clone(this.host.queue());
                let host = Arc::clone(&this.host);
                host.timers().schedule_after(pause, move || {
                    queue.add_task(tfrt_queue::Task::new(move || {
                        let next = Attempt {
                            pause: MAX_PAUSE.min(pause * 2),
                            ..attempt
                        };
                        this.send_again(to, again, next, done);
                        drop(server);
                    }));
                });
            }
            answer => {
                drop(again);
                let queue = Arc::clone(this.host.queue());
                drop_on_queue(&queue, this);
                if let Some(server) = server {
                    drop_on_queue(&queue, server);
                }
                done(answer.map(|_| ()));
            }
        });
    }
}

#[cfg(test)]
mod tests;
