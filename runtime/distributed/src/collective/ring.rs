//! A member of a ring: it sends to its right neighbour, receives from its left one, and fails as a
//! whole.
//!
//! The first failure ends every wait of the member. This holds for both orders: the failure ends a
//! wait that was entered before it, and a wait that is entered after it detects the failure when it
//! checks again.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use prost::bytes::Bytes;
use tfrt_queue::Task;
use tfrt_support::{Error, ErrorCode};
use tfrt_tensor::HostBuffer;

use super::header::{Header, Kind, Part};
use super::{Collective, epoch};
use crate::cluster::TaskHandle;
use crate::error::{Answer, Gather, RemoteError, RemoteErrors};
use crate::health::Watch;
use crate::last_reference::drop_on_queue;
use crate::payload::Payload;
use crate::server::Server;

/// The member of a collective that this task is.
#[derive(Debug)]
pub(super) struct Ring {
    collective: Collective,
    /// The name of the collective in messages.
    name: &'static str,
    index: usize,
    members: Arc<[TaskHandle]>,
    state: Mutex<State>,
    /// Fail the member when another one is lost.
    watches: OnceLock<Vec<Watch>>,
    /// A collective that was started runs to completion, even if the context is dropped.
    _server: Option<Arc<Server>>,
}

#[derive(Debug, Default)]
struct State {
    failure: Option<Error>,
    /// Whether that was a send: then those of the other sends belong to it.
    is_of_send: bool,
    /// The keys of the waits under way.
    waiting: HashSet<String>,
    /// Whether the member listens for one that could not start.
    listens: bool,
}

impl Ring {
    /// Returns the member that this task is.
    ///
    /// # Errors
    /// If the group does not exist; `not_a_member` makes the error of a task that is none, from the
    /// name of the task.
    pub(super) fn join(
        collective: Collective,
        name: &'static str,
        not_a_member: impl FnOnce(&str) -> String,
    ) -> Result<Arc<Self>, Error> {
        let cluster = collective.context.cluster();
        let own_task = cluster.own_task();
        let members = collective
            .context
            .group(epoch::group_of(&collective.group))
            .map_err(RemoteError::into_plain)?;
        let position = members.iter().position(|member| *member == own_task);
        let index = position.ok_or_else(|| {
            Error::new(not_a_member(&cluster.own_name())).with_code(ErrorCode::InvalidArgument)
        })?;
        let this = Arc::new(Self {
            _server: collective.context.keep_server(),
            collective,
            name,
            index,
            members: Arc::clone(&members),
            state: Mutex::default(),
            watches: OnceLock::new(),
        });
        this.listen()?;
        // An abort before this is recorded, and a later one finds the listener.
        let epochs = this.collective.context.epochs();
        if let Some(aborted) = epochs.ended(&this.collective.group) {
            return Err(aborted);
        }
        this.watch(&members);
        Ok(this)
    }

    /// Fails when a member reports that it could not start.
    fn listen(self: &Arc<Self>) -> Result<(), Error> {
        let this = Arc::downgrade(self);
        let receiver = move |payload: Result<Payload, Error>| {
            let (Some(this), Ok(payload)) = (this.upgrade(), payload) else {
                return;
            };
            this.lock().listens = false;
            let text = payload.buffers().first().and_then(|text| text.read().ok());
            let text = text.map(|text| String::from_utf8_lossy(&text).into_owned());
            this.fail(&Error::new(text.unwrap_or_default()));
        };
        self.lock().listens = true;
        let key = abandonment_key(&self.collective);
        let rendezvous = self.collective.context.rendezvous();
        if rendezvous.try_receive(&key, Box::new(receiver)) {
            return Ok(());
        }
        self.lock().listens = false;
        let (key, group) = (
            &self.collective.key,
            epoch::group_of(&self.collective.group),
        );
        let message = format!("{} key {key} of group {group} is in use", self.name);
        Err(Error::new(message).with_code(ErrorCode::AlreadyExists))
    }

    /// Ends the part of the member: its key may be used again.
    pub(super) fn leave(&self) {
        let listens = std::mem::take(&mut self.lock().listens);
        if listens {
            let over = Error::new("the collective has ended");
            let rendezvous = self.collective.context.rendezvous();
            rendezvous.give_up(&abandonment_key(&self.collective), &over);
        }
    }

    /// Fails when one of the members is lost, or immediately if one already is.
    fn watch(self: &Arc<Self>, members: &[TaskHandle]) {
        let health = self.collective.context.health();
        let watch = |member: &TaskHandle| {
            let this = Arc::downgrade(self);
            health.watch(*member, move |end| {
                if let Some(this) = this.upgrade() {
                    let host = this.collective.context.host();
                    this.fail(&RemoteErrors::from(end.into_error()).to_value(host));
                }
            })
        };
        // Set once, here.
        let _ = self.watches.set(members.iter().map(watch).collect());
    }

    pub(super) fn collective(&self) -> &Collective {
        &self.collective
    }

    /// Returns the position of this member.
    pub(super) fn index(&self) -> usize {
        self.index
    }

    /// Returns the number of members.
    pub(super) fn size(&self) -> usize {
        self.members.len()
    }

    /// Returns the position of the right neighbour.
    pub(super) fn right(&self) -> usize {
        (self.index + 1) % self.size()
    }

    /// Returns the position of a task in the group.
    pub(super) fn position_of(&self, task: TaskHandle) -> Option<usize> {
        self.members.iter().position(|member| *member == task)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the first part of the work of this member, at whose end `finish` runs as a task of
    /// the work queue.
    pub(super) fn work(&self, finish: impl FnOnce(Answer<()>) + Send + 'static) -> Gather {
        let queue = Arc::clone(self.collective.context.host().queue());
        // Parts end on threads of the transport, too.
        Gather::new(move |sends| queue.add_task(Task::new(move || finish(sends))))
    }

    /// Returns the reason why the member failed, if it did.
    pub(super) fn failure(&self) -> Option<Error> {
        self.lock().failure.clone()
    }

    /// Returns the outcome of the member after all its work has ended: its first failure, and if
    /// that was a send, the errors of all sends.
    pub(super) fn outcome(&self, sends: Answer<()>) -> Result<(), Error> {
        let state = self.lock();
        match (&state.failure, sends) {
            (Some(_), Err(errors)) if state.is_of_send => {
                Err(errors.to_value(self.collective.context.host()))
            }
            (Some(error), _) => Err(error.clone()),
            (None, _) => Ok(()),
        }
    }

    /// Fails, unless the member failed before, and ends all waits.
    pub(super) fn fail(&self, error: &Error) {
        self.fail_as(error, false);
    }

    /// Returns `false` if the member failed before.
    fn fail_as(&self, error: &Error, is_of_send: bool) -> bool {
        let mut state = self.lock();
        if state.failure.is_some() {
            return false;
        }
        state.failure = Some(error.clone());
        state.is_of_send = is_of_send;
        let waiting = std::mem::take(&mut state.waiting);
        drop(state);
        for key in waiting {
            self.collective.context.rendezvous().give_up(&key, error);
        }
        true
    }

    /// Sends elements to the right neighbour. The part of the work is over when they were received.
    pub(super) fn send(self: &Arc<Self>, key: String, part: Part, elements: Bytes, work: Gather) {
        self.send_to(self.right(), key, part, elements, work);
    }

    /// Sends elements to the member at a position. The part of the work is over when they were
    /// received.
    pub(super) fn send_to(
        self: &Arc<Self>,
        position: usize,
        key: String,
        part: Part,
        elements: Bytes,
        work: Gather,
    ) {
        let header = self.header(Kind::Elements, part);
        self.send_message(position, key, vec![header, elements], work, true);
    }

    /// Sends the error of this member on.
    pub(super) fn send_error(
        self: &Arc<Self>,
        key: String,
        part: Part,
        error: &Error,
        work: Gather,
    ) {
        self.send_error_to(self.right(), key, part, error, work);
    }

    /// Sends the error of this member to the member at a position.
    pub(super) fn send_error_to(
        self: &Arc<Self>,
        position: usize,
        key: String,
        part: Part,
        error: &Error,
        work: Gather,
    ) {
        let header = self.header(Kind::Error, part);
        let text = Bytes::copy_from_slice(error.message().as_bytes());
        // If that fails, too, it does not add anything.
        self.send_message(position, key, vec![header, text], work, false);
    }

    fn send_message(
        self: &Arc<Self>,
        position: usize,
        instance_key: String,
        payload: Vec<Bytes>,
        work: Gather,
        is_told: bool,
    ) {
        let this = Arc::clone(self);
        let context = &self.collective.context;
        let to = self.members[position];
        context.send_data_light(to, instance_key, payload, move |answer| {
            let failed = answer.err().inspect(|errors| {
                let host = this.collective.context.host();
                this.fail_as(&errors.to_value(host), true);
            });
            // Before the work: its end drops the other reference, on the work queue.
            let queue = Arc::clone(this.collective.context.host().queue());
            drop_on_queue(&queue, this);
            match failed {
                Some(errors) if is_told => work.fail(errors),
                _ => drop(work),
            }
        });
    }

    /// Calls `f` with the elements that the left neighbour sends under a key, as a task of the work
    /// queue; or with the error of that member or of this one.
    pub(super) fn receive(
        self: &Arc<Self>,
        key: String,
        part: Part,
        f: impl FnOnce(Result<HostBuffer, Error>) + Send + 'static,
    ) {
        let left = (self.index + self.size() - 1) % self.size();
        self.receive_from(left, key, part, f);
    }

    /// As [`receive`](Self::receive), from the member at a position.
    pub(super) fn receive_from(
        self: &Arc<Self>,
        position: usize,
        key: String,
        part: Part,
        f: impl FnOnce(Result<HostBuffer, Error>) + Send + 'static,
    ) {
        let mut state = self.lock();
        if let Some(error) = state.failure.clone() {
            drop(state);
            return f(Err(error));
        }
        state.waiting.insert(key.clone());
        drop(state);
        let (this, own_key) = (Arc::clone(self), key.clone());
        let receiver = move |payload: Result<Payload, Error>| {
            let queue = Arc::clone(this.collective.context.host().queue());
            queue.add_task(Task::new(move || {
                this.lock().waiting.remove(&own_key);
                f(payload.and_then(|payload| this.open(&payload, part)));
            }));
        };
        let context = &self.collective.context;
        context.receive_light(self.members[position], &key, Box::new(receiver));
        if let Some(error) = self.failure() {
            context.rendezvous().give_up(&key, &error);
        }
    }

    /// Returns the elements of a message.
    fn open(&self, payload: &Payload, own: Part) -> Result<HostBuffer, Error> {
        let malformed = || {
            Error::new("malformed message of a collective").with_code(ErrorCode::InvalidArgument)
        };
        let [header, elements] = payload.buffers() else {
            return Err(malformed());
        };
        let bytes = header.read()?;
        let header = Header::parse(&bytes).ok_or_else(malformed)?;
        if header.kind == Kind::Error {
            let text = String::from_utf8_lossy(&elements.read()?).into_owned();
            return Err(Error::new(text));
        }
        if header.part != own {
            let Collective { group, key, .. } = &self.collective;
            let theirs = (header.member, header.part);
            let error = Part::mismatch((group, key), theirs, (self.index, own));
            let is_same_exchange =
                header.part.operation == own.operation && header.part.in_rounds == own.in_rounds;
            // The others would wait for ever, because nobody receives what they send. So would this
            // member, because they send something else.
            if !is_same_exchange && self.fail_as(&error, false) {
                abandon(&self.collective, &error);
            }
            return Err(error);
        }
        Ok(elements.clone())
    }

    fn header(&self, kind: Kind, part: Part) -> Bytes {
        Bytes::from_owner(
            Header {
                kind,
                part,
                member: self.index,
            }
            .to_bytes(),
        )
    }
}

impl Drop for Ring {
    fn drop(&mut self) {
        self.leave();
    }
}

/// The starts of keys that belong to a group without being those of a collective. Names of groups
/// have no `~`, so they are never confused with one.
pub(super) const SENT: &str = "~sent:";
pub(super) const ABORTED: &str = "~aborted:";
pub(super) const CARD: &str = "~card:";
const ABANDONED: &str = "~abandoned:";
const OWN_KEYS: [&str; 4] = [SENT, ABORTED, CARD, ABANDONED];

/// The start of the keys under which members regroup.
pub(super) const REGROUP: &str = "~regroup";

/// Returns `true` for keys under which a member waits, as long as its group or collective lasts,
/// for messages that may never come, or may come twice.
pub(crate) fn is_listener(key: &str) -> bool {
    let starts = [ABORTED, CARD, ABANDONED, REGROUP];
    starts.iter().any(|start| key.starts_with(start))
}

/// Returns the group, or the epoch of a group, among whose members a payload is a message.
pub(super) fn group_in<'key>(key: &'key str, payload: &Payload) -> Option<&'key str> {
    // Names of groups have no colon.
    if let Some(rest) = OWN_KEYS.iter().find_map(|start| key.strip_prefix(start)) {
        return rest.split(':').next();
    }
    // Payloads of programs may have such keys, too.
    let has_header = || match payload.buffers() {
        [header, _] => header
            .read()
            .is_ok_and(|bytes| Header::parse(&bytes).is_some()),
        _ => false,
    };
    let (group, _) = key.split_once(':')?;
    has_header().then_some(group)
}

/// Returns the key under which members learn that another one could not start.
fn abandonment_key(collective: &Collective) -> String {
    let Collective { key, group, .. } = collective;
    format!("{ABANDONED}{group}:{key}")
}

/// Ends the part that this task takes in a collective. Collectives of an epoch that is over do not
/// start any more.
pub(super) fn interrupt(collective: &Collective, error: &Error) {
    let text = HostBuffer::from_owner(error.message().as_bytes().to_vec());
    let text = Payload::new(text.into_iter().collect());
    let rendezvous = collective.context.rendezvous();
    // Another member may have said so already.
    let _ = rendezvous.send(&abandonment_key(collective), text);
}

/// Tells the other members that this one could not start: they would wait for it forever.
pub(super) fn abandon(collective: &Collective, error: &Error) {
    let context = &collective.context;
    let own_task = context.cluster().own_task();
    let Ok(members) = context.group(epoch::group_of(&collective.group)) else {
        return;
    };
    // Where the key is in use, this task takes part already.
    let takes_part = error.code() == ErrorCode::AlreadyExists;
    if takes_part || !members.contains(&own_task) {
        return;
    }
    for member in members.iter().filter(|member| **member != own_task) {
        let text = Bytes::copy_from_slice(error.message().as_bytes());
        // Another member may have said so already, and a lost one has no use for it. A full buffer
        // delays the message: without it, the member would wait forever.
        context.send_data(*member, abandonment_key(collective), vec![text], |_| ());
    }
}
