//! The watch of a context over its other tasks.
//!
//! A round comes once in each interval. It opens the streams of heartbeats that are missing, sends
//! requests to the tasks that have no streams, and reports the tasks that were silent for too long.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tfrt_host::Timer;
use tfrt_support::ErrorCode;

use super::rounds::{Heard, Rounds};
use super::{HeartbeatRequest, declare_lost, interval, lose_named, lost_tasks};
use crate::cluster::TaskHandle;
use crate::context::DistributedContext;
use crate::error::Answer;
use crate::fabric::{self, CallOptions, Pace, RemoteClient, Sign, Watching};
use crate::last_reference::drop_on_queue;
use crate::message::HeartbeatResponse;

/// The first wait before a stream that broke is opened once more; each further one is twice as
/// long, up to an interval. The first attempt may still meet a connection that is about to end.
const FIRST_PAUSE: Duration = Duration::from_millis(20);

/// The number of heartbeats after which a stream that breaks is opened again at once: one that ends
/// each time after the first is not opened without a pause.
const NUM_LASTING: u32 = 2;

/// Hears heartbeats, and reports lost tasks.
#[derive(Debug)]
pub(crate) struct Detector {
    timeout: Duration,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    is_over: bool,
    timer: Option<Timer>,
    rounds: Rounds,
    /// The streams of the tasks that are not lost.
    links: HashMap<TaskHandle, Link>,
    /// The number of the next stream.
    next_stream: u64,
}

/// The way on which heartbeats of a task come.
#[derive(Debug)]
struct Link {
    stream: Stream,
    /// The next wait before the stream is opened again, if it has broken or the task is known to
    /// live.
    pause: Option<Duration>,
}

/// How heartbeats of a task come.
#[derive(Debug)]
enum Stream {
    /// The next round opens a stream.
    Closed,
    /// The stream of this number, and how many heartbeats have come from it. The watch is missing
    /// while the stream is being opened.
    Open {
        number: u64,
        num_heard: u32,
        watching: Option<Watching>,
    },
    /// By requests alone: the task has no streams, or the transport has none.
    None,
}

impl Stream {
    fn is_number(&self, expected: u64) -> bool {
        matches!(self, Self::Open { number, .. } if *number == expected)
    }
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
        let link = || Link {
            stream: Stream::Closed,
            pause: all_are_alive.then_some(FIRST_PAUSE),
        };
        let rounds = Rounds::new(tasks, timeout, all_are_alive, Instant::now());
        let this = Arc::new(Self {
            timeout,
            state: Mutex::new(State {
                is_over: false,
                timer: None,
                rounds,
                links: tasks.iter().map(|task| (*task, link())).collect(),
                next_stream: 0,
            }),
        });
        this.schedule(context, Duration::ZERO);
        this
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sends and hears no heartbeat any more.
    pub(crate) fn stop(&self) {
        let mut state = self.lock();
        state.is_over = true;
        if let Some(timer) = state.timer.take() {
            timer.cancel();
        }
        let links = std::mem::take(&mut state.links);
        drop(state);
        // Without the lock: the streams end.
        drop(links);
    }

    /// Returns `true` if every task has sent a heartbeat.
    #[cfg(test)]
    pub(super) fn knows_everybody(&self) -> bool {
        let state = self.lock();
        let mut peers = state.rounds.peers.values();
        peers.all(|peer| peer.incarnation.is_some())
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
        let mut state = self.lock();
        // Heartbeats of other tasks may have named them.
        let health = context.health();
        let is_lost = |task| health.lost(task).is_some();
        let due = state.rounds.round(Instant::now(), is_lost);
        let State { rounds, links, .. } = &mut *state;
        let gone: Vec<_> = links.extract_if(|task, _| !rounds.knows(*task)).collect();
        let (mut asked, mut unwatched) = (Vec::new(), Vec::new());
        for task in due.asked {
            match links.get(&task).map(|link| &link.stream) {
                Some(Stream::Closed) => unwatched.push(task),
                Some(Stream::None) => asked.push(task),
                Some(Stream::Open { .. }) | None => {}
            }
        }
        for task in due.suspects {
            health.set_suspect(task, true);
        }
        drop(state);
        // Without the lock: their streams end.
        drop(gone);
        for (task, cause) in due.silent {
            declare_lost(context, task, &cause);
        }
        for task in unwatched {
            self.watch(context, task);
        }
        for task in asked {
            self.ask(context, task);
        }
    }

    fn request(context: &DistributedContext) -> HeartbeatRequest {
        HeartbeatRequest {
            context_id: context.id(),
            sender: context.cluster().own_name(),
            lost: lost_tasks(context),
        }
    }

    /// Opens the stream of heartbeats of a task, unless there is one.
    fn watch(self: &Arc<Self>, context: &Arc<DistributedContext>, task: TaskHandle) {
        let mut state = self.lock();
        let own_number = state.next_stream;
        let Some(link) = state.links.get_mut(&task) else {
            return;
        };
        let Stream::Closed = link.stream else {
            return;
        };
        link.stream = Stream::Open {
            number: own_number,
            num_heard: 0,
            watching: None,
        };
        state.next_stream += 1;
        drop(state);
        let Some(client) = client_of_living(context, task) else {
            if let Some(link) = self.lock().links.get_mut(&task)
                && link.stream.is_number(own_number)
            {
                link.stream = Stream::Closed;
            }
            return;
        };
        let pace = Pace {
            interval: interval(self.timeout),
            limit: self.timeout,
        };
        let (this, weak) = (Arc::downgrade(self), Arc::downgrade(context));
        let hear = move |sign: Sign| {
            let Some(context) = weak.upgrade() else {
                return;
            };
            if let Some(this) = this.upgrade() {
                this.hear_sign(&context, task, own_number, sign);
            }
            let queue = Arc::clone(context.host().queue());
            drop_on_queue(&queue, context);
        };
        let Some(begun) = client.watch(Self::request(context), pace, Box::new(hear)) else {
            return self.hear_sign(context, task, own_number, Sign::Unsupported);
        };
        let mut begun = Some(begun);
        // It may be over already.
        if let Some(link) = self.lock().links.get_mut(&task)
            && let Stream::Open {
                number, watching, ..
            } = &mut link.stream
            && *number == own_number
        {
            *watching = begun.take();
        }
        drop(begun);
    }

    /// Takes what has come from a stream.
    fn hear_sign(
        self: &Arc<Self>,
        context: &Arc<DistributedContext>,
        task: TaskHandle,
        stream: u64,
        sign: Sign,
    ) {
        let mut state = self.lock();
        let link = state.links.get_mut(&task);
        let Some(link) = link.filter(|link| link.stream.is_number(stream)) else {
            return;
        };
        let ended = match &sign {
            Sign::Heartbeat(_) => {
                if let Stream::Open { num_heard, .. } = &mut link.stream {
                    *num_heard = num_heard.saturating_add(1);
                    if *num_heard >= NUM_LASTING {
                        link.pause = None;
                    }
                }
                None
            }
            Sign::Over(_) => Some(std::mem::replace(&mut link.stream, Stream::Closed)),
            Sign::Unsupported => Some(std::mem::replace(&mut link.stream, Stream::None)),
        };
        let num_heard = match ended {
            Some(Stream::Open { num_heard, .. }) => num_heard,
            _ => 0,
        };
        let pause = match (num_heard, link.pause) {
            (NUM_LASTING.., _) => Some(Duration::ZERO),
            (0, pause) => pause.filter(|_| ended.is_some()),
            (_, pause) => Some(pause.unwrap_or(FIRST_PAUSE)),
        };
        if let Some(pause) = pause {
            let next = (pause * 2).max(FIRST_PAUSE);
            link.pause = Some(next.min(interval(self.timeout)));
        }
        if num_heard > 0 {
            // With the lock: rounds, streams and heartbeats are in one order.
            context.health().set_suspect(task, true);
        }
        drop(state);
        // Without the lock.
        drop(ended);
        match sign {
            Sign::Heartbeat(heartbeat) => {
                self.hear(context, task, Ok(heartbeat));
            }
            Sign::Unsupported => self.ask(context, task),
            Sign::Over(errors) => {
                if self.hear(context, task, Err(errors)) {
                    // Whoever does not listen any more is lost.
                    return;
                }
                match pause {
                    Some(Duration::ZERO) => self.watch(context, task),
                    Some(pause) => self.watch_later(context, task, pause),
                    // It may be starting: the next round tries again.
                    None => {}
                }
            }
        }
    }

    fn watch_later(
        self: &Arc<Self>,
        context: &Arc<DistributedContext>,
        task: TaskHandle,
        pause: Duration,
    ) {
        let (this, weak) = (Arc::downgrade(self), Arc::downgrade(context));
        context.host().timers().schedule_after(pause, move || {
            let Some(context) = weak.upgrade() else {
                return;
            };
            if let Some(this) = this.upgrade() {
                this.watch(&context, task);
            }
            let queue = Arc::clone(context.host().queue());
            drop_on_queue(&queue, context);
        });
    }

    /// Sends a heartbeat as a request.
    fn ask(self: &Arc<Self>, context: &Arc<DistributedContext>, task: TaskHandle) {
        let Some(client) = client_of_living(context, task) else {
            return;
        };
        let options = CallOptions {
            timeout: Some(self.timeout),
            ..CallOptions::default()
        };
        let request = Self::request(context);
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

    /// Takes what has come from a task, and returns `true` if the task is lost by it.
    fn hear(
        &self,
        context: &Arc<DistributedContext>,
        task: TaskHandle,
        answer: Answer<HeartbeatResponse>,
    ) -> bool {
        let mut named = Vec::new();
        let heard = match answer {
            Ok(response) if response.is_lost => Heard::LostUs,
            Ok(response) => {
                named = response.lost;
                Heard::Alive(response.incarnation)
            }
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
        let (has_lost_us, is_alive) = (heard == Heard::LostUs, matches!(heard, Heard::Alive(_)));
        let mut state = self.lock();
        if state.is_over || !state.rounds.knows(task) {
            return false;
        }
        let Some(cause) = state.rounds.hear(task, heard, Instant::now()) else {
            if is_alive {
                context.health().set_suspect(task, false);
                drop(state);
                lose_named(context, &named);
            }
            return false;
        };
        let gone = state.links.remove(&task);
        drop(state);
        // Without the lock: its stream ends.
        drop(gone);
        if has_lost_us {
            context.health().set_lost_to(task);
        }
        declare_lost(context, task, &cause);
        true
    }
}

/// Returns the client of a task, unless the task is lost: another client of it would connect again.
fn client_of_living(
    context: &DistributedContext,
    task: TaskHandle,
) -> Option<Arc<dyn RemoteClient>> {
    let is_over = context.health().peer_end(task).is_some();
    (!is_over).then(|| context.client(task).ok()).flatten()
}
