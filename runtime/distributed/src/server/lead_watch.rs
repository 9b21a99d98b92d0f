//! The watch of a task that takes part in an initialization over the lead task.
//!
//! The waiting task sends heartbeats to the lead task. At first there is no context, so they are
//! about one that does not exist: any answer, also an error that says so, shows that the process
//! lives. Once the lead task has [requested a context](LeadWatch::enter), only one that has this
//! context, too, shows that the initialization goes on.
//!
//! The wait ends with an error if the lead task
//!
//! - was there, and has shown no sign of life for the failure timeout: it is lost,
//! - has lost this task,
//! - has not requested the context in time, whether it answers or not, or
//! - cannot be talked to for a reason that stays, such as another task at its address.
//!
//! A lead task at whose address nobody listens, or that has forgotten the context, is not lost at
//! once: it may have been started again, and has the failure timeout to request a context anew.
//!
//! The log tells what is waited for, when that changes.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tfrt_host::{HostContext, Timer, log};
use tfrt_queue::Task;
use tfrt_support::ErrorCode;

use super::roll_call::REPORT_INTERVAL;
use crate::cluster::TaskInfo;
use crate::error::{Answer, RemoteError, RemoteErrors};
use crate::fabric::{self, CallOptions, RemoteClient};
use crate::health;
use crate::last_reference::drop_on_queue;
use crate::message::{HeartbeatRequest, HeartbeatResponse};

/// The id in heartbeats as long as there is no context. Those that are drawn are not zero.
const NO_CONTEXT: u64 = 0;

/// Called on the work queue when the wait has failed.
type OnFailed = Box<dyn FnOnce(RemoteError) + Send>;

/// How long a task waits.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    /// A lead task that was silent for this long, after it has answered once, is lost.
    pub(super) failure_timeout: Duration,
    /// The end of the wait for the request of the lead task.
    pub(super) deadline: Instant,
}

/// Watches over the lead task, from its [start](Self::start) until it is [stopped](Self::stop).
pub(super) struct LeadWatch {
    host: Arc<HostContext>,
    own_name: String,
    leader: TaskInfo,
    /// None without a network.
    client: Option<Arc<dyn RemoteClient>>,
    limits: Limits,
    state: Mutex<State>,
}

struct State {
    /// None at the end.
    on_failed: Option<OnFailed>,
    timer: Option<Timer>,
    /// The context that the lead task has requested last.
    context: Option<u64>,
    began: Instant,
    last_round: Instant,
    /// The last sign of life, if there was one.
    last_sign: Option<Instant>,
    /// Whether the lead task had answered when that was reported last.
    reported: Option<bool>,
    /// The error of the last heartbeat, if it was not answered.
    cause: Option<String>,
}

impl State {
    fn show_life(&mut self) {
        self.last_sign = Some(Instant::now());
        self.cause = None;
    }
}

impl LeadWatch {
    /// Creates a watch, which does nothing yet.
    pub(super) fn new(
        host: &Arc<HostContext>,
        own_name: String,
        leader: TaskInfo,
        client: Option<Arc<dyn RemoteClient>>,
        limits: Limits,
        on_failed: impl FnOnce(RemoteError) + Send + 'static,
    ) -> Self {
        let now = Instant::now();
        Self {
            host: Arc::clone(host),
            own_name,
            leader,
            client,
            limits,
            state: Mutex::new(State {
                on_failed: Some(Box::new(on_failed)),
                timer: None,
                context: None,
                began: now,
                last_round: now,
                last_sign: None,
                reported: None,
                cause: None,
            }),
        }
    }

    /// Starts to watch.
    pub(super) fn start(self: &Arc<Self>) {
        self.schedule(Duration::ZERO);
    }

    /// Records that the lead task has requested a context.
    pub(super) fn enter(&self, context_id: u64) {
        let mut state = self.lock();
        state.context = Some(context_id);
        state.show_life();
    }

    /// Ends the watch: it calls nobody any more.
    pub(super) fn stop(&self) {
        let mut state = self.lock();
        let unused = state.on_failed.take();
        if let Some(timer) = state.timer.take() {
            timer.cancel();
        }
        drop(state);
        drop(unused);
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn schedule(self: &Arc<Self>, delay: Duration) {
        let mut state = self.lock();
        if state.on_failed.is_none() {
            return;
        }
        let weak = Arc::downgrade(self);
        let timers = self.host.timers();
        state.timer = Some(timers.schedule_after(delay, move || {
            if let Some(this) = weak.upgrade() {
                this.round();
                let interval = health::interval(this.limits.failure_timeout);
                this.schedule(interval.min(REPORT_INTERVAL));
                let queue = Arc::clone(this.host.queue());
                drop_on_queue(&queue, this);
            }
        }));
    }

    /// Runs on the thread of the timers.
    fn round(self: &Arc<Self>) {
        let now = Instant::now();
        let timeout = self.limits.failure_timeout;
        let mut state = self.lock();
        // This process was stopped for a while: the silence is its own.
        if now - state.last_round > timeout / 2 && state.last_sign.is_some() {
            state.last_sign = Some(now);
        }
        state.last_round = now;
        let silence = state
            .last_sign
            .map(|last| now.saturating_duration_since(last));
        if silence.is_some_and(|silence| silence > timeout) {
            let cause = state.cause.take();
            let cause = cause.unwrap_or_else(|| health::no_heartbeat(timeout));
            drop(state);
            return self.fail(self.lost(&cause));
        }
        if state.context.is_none() && now > self.limits.deadline {
            let error = self.waited_in_vain(&state);
            drop(state);
            return self.fail(error);
        }
        let is_present = state.last_sign.is_some();
        let is_due = now - state.began >= REPORT_INTERVAL;
        if is_due && state.reported.replace(is_present) != Some(is_present) {
            let TaskInfo { name, address, .. } = &self.leader;
            match is_present {
                false => log::info!("waiting for {name} at {address}, which leads"),
                true => log::info!("{name}, which leads, is there; waiting for other tasks"),
            }
        }
        let context = state.context;
        drop(state);
        // Also if the last one is under way: its connection may have ended with another process.
        self.ask(context);
    }

    fn ask(self: &Arc<Self>, context: Option<u64>) {
        let Some(client) = &self.client else {
            return;
        };
        let request = HeartbeatRequest {
            context_id: context.unwrap_or(NO_CONTEXT),
            sender: self.own_name.clone(),
            lost: Vec::new(),
        };
        let options = CallOptions {
            timeout: Some(self.limits.failure_timeout),
            ..CallOptions::default()
        };
        let weak = Arc::downgrade(self);
        fabric::call(&**client, options, request, move |answer| {
            if let Some(this) = weak.upgrade() {
                this.hear(context, answer);
                let queue = Arc::clone(this.host.queue());
                drop_on_queue(&queue, this);
            }
        });
    }

    /// Runs on a thread of the transport. The answer is about `context`.
    fn hear(&self, context: Option<u64>, answer: Answer<HeartbeatResponse>) {
        let mut state = self.lock();
        if state.context != context {
            // It says nothing about the context that was requested in the meantime.
            return;
        }
        let errors = match answer {
            Ok(response) if response.is_lost && context.is_some() => {
                drop(state);
                return self.fail(self.lost("it has lost this task"));
            }
            Ok(_) => return state.show_life(),
            Err(errors) => errors,
        };
        match errors.code() {
            ErrorCode::RpcUnavailable
            | ErrorCode::RpcDeadlineExceeded
            | ErrorCode::RpcCancelled => state.cause = Some(errors.to_string()),
            ErrorCode::RpcUnknown => {
                drop(state);
                self.fail(self.cannot_follow(&errors));
            }
            // Those of the task itself.
            _ if context.is_none() => state.show_life(),
            _ => state.cause = Some(errors.to_string()),
        }
    }

    fn lost(&self, cause: &str) -> RemoteError {
        health::lost_error(&self.leader.name.to_string(), cause)
    }

    /// That the lead task cannot be talked to, which stays so.
    fn cannot_follow(&self, errors: &RemoteErrors) -> RemoteError {
        let TaskInfo { name, address, .. } = &self.leader;
        let message = format!("cannot follow {name} at {address}, which leads: {errors}");
        RemoteError::new(errors.code(), message)
    }

    fn waited_in_vain(&self, state: &State) -> RemoteError {
        let TaskInfo { name, address, .. } = &self.leader;
        let why = match (&state.last_sign, &state.cause) {
            (Some(_), _) => "it answers, but has not created the context",
            (None, Some(cause)) => cause,
            (None, None) => "it does not answer",
        };
        let message = format!("waited in vain for {name} at {address}, which leads: {why}");
        RemoteError::new(ErrorCode::RpcDeadlineExceeded, message)
    }

    fn fail(&self, error: RemoteError) {
        let Some(on_failed) = self.lock().on_failed.take() else {
            return;
        };
        let queue = self.host.queue();
        queue.add_task(Task::new(move || on_failed(error)));
    }
}

impl Drop for LeadWatch {
    fn drop(&mut self) {
        self.stop();
    }
}

impl fmt::Debug for LeadWatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LeadWatch")
            .field("leader", &self.leader)
            .field("limits", &self.limits)
            .finish_non_exhaustive()
    }
}
