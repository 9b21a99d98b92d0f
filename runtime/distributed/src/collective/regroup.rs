//! Regroup: the members of a group that are left when others are lost agree on a group of their
//! own.
//!
//! ```text
//!  who is lost? ──► name of the group: `all~2` ──► a token to and from every survivor ──► all are there: done
//!       ▲                                                      │ another one is lost
//!       └──────────────────────────────────────────────────────┘
//! ```
//!
//! The name of the new group consists of that of the group in the configuration, and the positions
//! of all lost members. It is part of all keys. So members that know of different losses never mix
//! their messages; they wait for each other until they know of the same ones.

use std::fmt::Write;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tfrt_queue::Task;
use tfrt_support::{Error, ErrorCode};

use super::{epoch, ring};
use crate::cluster::TaskHandle;
use crate::context::DistributedContext;
use crate::error::{Gather, RemoteError, RemoteErrors};
use crate::payload::Payload;
use crate::server::Server;

/// The time before a token that did not arrive is sent again; each further one is twice as long.
const FIRST_PAUSE: Duration = Duration::from_millis(20);

/// The longest such time.
const MAX_PAUSE: Duration = Duration::from_secs(1);

/// Waits until all members of a group that are not lost have called this, and passes the name of
/// the group of these survivors to `done`. Without a lost member, that is the group itself.
///
/// A group with a lost member is of no use: its collectives fail immediately. Those of the new
/// group have other keys, so nothing that remains of the old ones disturbs them. `group` may be a
/// group of survivors, too.
///
/// `done` runs on the work queue, or immediately if there is nothing to wait for.
///
/// # Errors
/// If there is no such group, this task is not a member or is lost to another one, the task is
/// regrouping the group already, or the context is closed.
pub fn regroup(
    context: &Arc<DistributedContext>,
    group: &str,
    done: impl FnOnce(Result<String, Error>) + Send + 'static,
) {
    let base = context.survivors_of(group);
    let meeting = Arc::new(Meeting {
        _server: context.keep_server(),
        context: Arc::clone(context),
        base: base.unwrap_or_else(|| group.to_owned()),
        done: Mutex::new(Some(Box::new(done))),
    });
    // Whoever waits for this key is regrouping.
    let rendezvous = context.rendezvous();
    if rendezvous.try_receive(&meeting.own_key(), Box::new(|_| ())) {
        return meeting.meet();
    }
    let message = format!("group {} is being regrouped already", meeting.base);
    let error = Error::new(message).with_code(ErrorCode::AlreadyExists);
    meeting.finish(Err(error));
}

type Done = Box<dyn FnOnce(Result<String, Error>) + Send>;

/// The survivors of a group, while they wait for each other.
struct Meeting {
    context: Arc<DistributedContext>,
    /// The group of the configuration.
    base: String,
    done: Mutex<Option<Done>>,
    /// The meeting continues if the context is dropped.
    _server: Option<Arc<Server>>,
}

/// The survivors as this task knows them.
struct View {
    /// The name of their group.
    name: String,
    /// All members of the group of the configuration.
    members: Vec<TaskHandle>,
    /// The positions of the lost ones.
    lost: Vec<usize>,
    /// The own position.
    index: usize,
    /// How often these survivors have met: a token that came twice does not count later.
    round: u64,
    /// The reason why the survivors have to start again, or cannot meet.
    failure: Mutex<Option<Error>>,
}

impl View {
    fn others(&self) -> impl Iterator<Item = usize> {
        (0..self.members.len()).filter(|position| {
            *position != self.index && self.lost.binary_search(position).is_err()
        })
    }

    /// Returns the key of the token of the member at a position.
    fn key(&self, position: usize) -> String {
        format!("{}{}:{position}", token_prefix(&self.name), self.round)
    }

    fn failure(&self) -> MutexGuard<'_, Option<Error>> {
        self.failure.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Ends all waits for tokens with the first error.
    fn fail(&self, context: &DistributedContext, error: Error) {
        let mut failure = self.failure();
        if failure.is_some() {
            return;
        }
        *failure = Some(error.clone());
        drop(failure);
        self.end_waits(context, &error);
    }

    fn end_waits(&self, context: &DistributedContext, error: &Error) {
        for position in self.others() {
            context.rendezvous().give_up(&self.key(position), error);
        }
    }
}

/// Returns `true` if the network lost a token, or the task has no context: then the task either
/// answers later or is lost soon.
fn may_arrive_later(errors: &RemoteErrors) -> bool {
    let codes = [
        ErrorCode::RpcUnavailable,
        ErrorCode::RpcDeadlineExceeded,
        ErrorCode::RpcCancelled,
        ErrorCode::InvalidDistributedContextId,
    ];
    let mut errors = errors.as_slice().iter();
    errors.all(|error| codes.contains(&error.code))
}

fn token_prefix(name: &str) -> String {
    format!("{}:{name}:", ring::REGROUP)
}

impl Meeting {
    fn own_key(&self) -> String {
        format!("{}ing:{}", ring::REGROUP, self.base)
    }

    fn meet(self: Arc<Self>) {
        let view = match self.view() {
            Ok(view) => Arc::new(view),
            Err(error) => return self.end(Err(error)),
        };
        let (this, seen) = (Arc::clone(&self), Arc::clone(&view));
        let all = Gather::new(move |_| {
            let queue = Arc::clone(this.context.host().queue());
            queue.add_task(Task::new(move || this.met(&seen)));
        });
        for position in view.others() {
            let (part, this, own_view) = (all.clone(), Arc::clone(&self), Arc::clone(&view));
            let receiver = move |token: Result<Payload, Error>| {
                if let Err(error) = token {
                    own_view.fail(&this.context, error);
                }
                drop(part);
            };
            let from = view.members[position];
            let key = view.key(position);
            self.context.receive(from, &key, Box::new(receiver));
            self.send_token(&view, from, all.clone(), FIRST_PAUSE);
        }
        // Waits that began after the failure.
        let failure = view.failure().clone();
        if let Some(error) = failure {
            view.end_waits(&self.context, &error);
        }
    }

    /// Returns who is left, and adds their group to the context.
    fn view(&self) -> Result<View, Error> {
        let context = &self.context;
        let (cluster, health) = (context.cluster(), context.health());
        let members = cluster.group(&self.base).map_err(RemoteError::into_plain)?;
        let own_task = cluster.own_task();
        let own_name = cluster.own_name();
        let index = members.iter().position(|member| *member == own_task);
        let index = index.ok_or_else(|| {
            let base = &self.base;
            let message =
                format!("The current task {own_name} is not part of the collective group {base}");
            Error::new(message).with_code(ErrorCode::InvalidArgument)
        })?;
        if let Some(other) = health.lost_to() {
            let other = cluster.task_name(other).map_err(RemoteError::into_plain)?;
            let message = format!("task {own_name} is lost to {other}");
            return Err(Error::new(message).with_code(ErrorCode::Unavailable));
        }
        let lost: Vec<usize> = (0..members.len())
            .filter(|position| health.lost(members[*position]).is_some())
            .collect();
        let name = self.name_without(&lost);
        if !lost.is_empty() {
            let left = (0..members.len()).filter(|position| lost.binary_search(position).is_err());
            let left = left.map(|position| members[position]).collect();
            context.add_survivors(&name, &self.base, left);
        }
        Ok(View {
            round: context.num_regroupings(&name),
            name,
            members: members.to_vec(),
            lost,
            index,
            failure: Mutex::default(),
        })
    }

    /// Returns the name of the group without the members at these positions.
    fn name_without(&self, lost: &[usize]) -> String {
        let mut name = self.base.clone();
        for (number, position) in lost.iter().enumerate() {
            let separator = if number == 0 { '~' } else { ',' };
            // Writing to a string does not fail.
            let _ = write!(name, "{separator}{position}");
        }
        name
    }

    /// Tells a member that this task is there. A token that the network lost is sent again, so it
    /// arrives at least once, and perhaps twice.
    fn send_token(
        self: &Arc<Self>,
        view: &Arc<View>,
        to: TaskHandle,
        part: Gather,
        pause: Duration,
    ) {
        let (this, own_view) = (Arc::clone(self), Arc::clone(view));
        let key = view.key(view.index);
        self.context.send_data(to, key, Vec::new(), move |answer| {
            let Err(errors) = answer else {
                // This part of the meeting is done.
                return drop(part);
            };
            let has_arrived = errors.code() == ErrorCode::AlreadyExists;
            if has_arrived || own_view.failure().is_some() {
                return;
            }
            let context = Arc::clone(&this.context);
            let is_lost = context.health().lost(to).is_some() || context.client(to).is_err();
            if is_lost || !may_arrive_later(&errors) {
                let error = errors.to_value(context.host());
                return own_view.fail(&context, error);
            }
            let queue = Arc::clone(context.host().queue());
            context.host().timers().schedule_after(pause, move || {
                queue.add_task(Task::new(move || {
                    this.send_token(&own_view, to, part, MAX_PAUSE.min(pause * 2));
                }));
            });
        });
    }

    /// Ends the meeting, or begins again without the members that were lost meanwhile.
    fn met(self: Arc<Self>, view: &View) {
        let Some(error) = view.failure().take() else {
            self.context.count_regrouping(&view.name);
            self.discard_others(&view.name);
            return self.end(Ok(view.name.clone()));
        };
        let health = self.context.health();
        let is_lost = |position: usize| health.lost(view.members[position]).is_some();
        let is_out = health.lost_to().is_some();
        match is_out || view.others().any(is_lost) {
            true => self.meet(),
            false => self.end(Err(error)),
        }
    }

    /// Drops all that remains of collectives of former groups.
    fn discard_others(&self, name: &str) {
        let mut former = self.context.survivor_groups(&self.base);
        former.push(self.base.clone());
        former.retain(|former| former != name);
        if former.is_empty() {
            return;
        }
        let prefixes: Vec<String> = former.iter().map(|name| token_prefix(name)).collect();
        let discard = format!("former groups of {}", self.base);
        let is_over = move |key: &str, payload: &Payload| {
            let is_token = prefixes.iter().any(|prefix| key.starts_with(prefix));
            let group = ring::group_in(key, payload).map(epoch::group_of);
            is_token || group.is_some_and(|group| former.iter().any(|former| former == group))
        };
        self.context.rendezvous().discard(discard, is_over);
    }

    fn end(&self, outcome: Result<String, Error>) {
        let over = Error::new("the group is regrouped");
        let rendezvous = self.context.rendezvous();
        rendezvous.give_up(&self.own_key(), &over);
        self.finish(outcome);
    }

    fn finish(&self, outcome: Result<String, Error>) {
        let done = self.done.lock();
        let done = done.unwrap_or_else(PoisonError::into_inner).take();
        if let Some(done) = done {
            done(outcome);
        }
    }
}

#[cfg(test)]
mod tests;
