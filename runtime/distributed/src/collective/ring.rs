//! A member of a ring: it sends to its right neighbour, receives from its left one, and fails as a
//! whole.
//!
//! The first failure ends every wait of the member. This holds for both orders: the failure ends a
//! wait that was entered before it, and a wait that is entered after it detects the failure when it
//! checks again.
//!
//! A member that fails by itself tells [all others](super::abandonment), because they may wait for
//! what it does not send any more, or for what never arrived. One that fails because it was told
//! tells nobody. What the others have sent for the [use of the key](super::uses) that has failed is
//! dropped, now and when it arrives.

use std::collections::HashMap;
use std::fmt;
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};
use std::time::Duration;

use prost::bytes::Bytes;
use tfrt_queue::Task;
use tfrt_support::{Error, ErrorCode};
use tfrt_tensor::{DenseHostTensor, HostBuffer};

use super::abandonment::{ABANDONED, Abandonment, abandonment_key};
use super::header::{Header, Kind, Part};
use super::lent::lend;
use super::uses::{Belongs, OwnUse};
use super::{Collective, epoch, shared_bytes};
use crate::cluster::TaskHandle;
use crate::error::{Answer, Gather, RemoteError, RemoteErrors};
use crate::health::Watch;
use crate::last_reference::drop_on_queue;
use crate::payload::Payload;
use crate::payload_memory::PayloadMemory;
use crate::rendezvous::Entered;
use crate::server::Server;

/// How long a member that has failed waits until the others know, before it ends. A program that
/// uses the key again then finds them ready, as a rule; nothing depends on it.
const MAX_TELLING: Duration = Duration::from_millis(200);

/// The member of a collective that this task is.
#[derive(Debug)]
pub(super) struct Ring {
    collective: Collective,
    /// The name of the collective in messages.
    name: &'static str,
    /// Known from when the member listens: the use before has ended then.
    key_use: OnceLock<OwnUse>,
    /// Whether the end of the collective is one of its key. It is not for the first of two
    /// collectives that belong together.
    ends_use: bool,
    index: usize,
    members: Arc<[TaskHandle]>,
    state: Mutex<State>,
    /// The member that is not told of what goes wrong here, if there is one.
    untold: OnceLock<TaskHandle>,
    /// Fail the member when another one is lost.
    watches: OnceLock<Vec<Watch>>,
    /// A collective that was started runs to completion, even if the context is dropped.
    _server: Option<Arc<Server>>,
}

#[derive(Default)]
struct State {
    failure: Option<Error>,
    /// Whether that was a send: then those of the other sends belong to it.
    is_of_send: bool,
    /// The keys of the waits under way, with the numbers of the receivers once they have entered.
    waiting: HashMap<String, Option<u64>>,
    /// The number of the receiver that listens for a member that has failed.
    listener: Option<u64>,
    /// Whether the member listens no more.
    has_left: bool,
    /// The collective that this one follows: it fails, too, if this one does.
    first: Weak<Ring>,
    /// Whether the use of the key has ended.
    has_ended_use: bool,
    /// Whether the other members are being told of the failure for the first time.
    is_telling: bool,
    /// What follows once they were told.
    on_told: Option<Box<dyn FnOnce() + Send>>,
    /// Whether the outcome is decided.
    is_over: bool,
}

/// What a member fails of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Cause {
    /// A message could not be sent.
    Send,
    /// Something that the other members may not know of.
    Own,
    /// Another member performs another operation.
    Differs,
    /// Something that another member has told.
    Told,
}

/// A message, as the member that receives it takes it.
enum Opened {
    Elements(HostBuffer),
    Fails(Error, Cause),
    /// It belongs to a use of the key that has ended, or another task has sent it.
    Past,
    /// It belongs to a later use: the member that has sent it has failed.
    Future,
}

impl Ring {
    /// Returns the member that this task is.
    ///
    /// # Errors
    /// If the group does not exist; `not_a_member` makes the error of a task that is none, from the
    /// name of the task. The other members need not be told of these errors.
    pub(super) fn join(
        collective: Collective,
        name: &'static str,
        not_a_member: impl FnOnce(&str) -> String,
    ) -> Result<Arc<Self>, Error> {
        Self::join_as(collective, name, true, not_a_member)
    }

    /// As [`join`](Self::join), with the error that most collectives have for a task that is not a
    /// member.
    pub(super) fn join_as_member(
        collective: Collective,
        name: &'static str,
    ) -> Result<Arc<Self>, Error> {
        let group = collective.group.clone();
        Self::join(collective, name, |task| {
            format!("The current task {task} is not part of the collective group {group}")
        })
    }

    /// As [`join`](Self::join), for a collective that another one with the same use of a key
    /// follows.
    pub(super) fn join_first(
        collective: Collective,
        name: &'static str,
        not_a_member: impl FnOnce(&str) -> String,
    ) -> Result<Arc<Self>, Error> {
        Self::join_as(collective, name, false, not_a_member)
    }

    fn join_as(
        collective: Collective,
        name: &'static str,
        ends_use: bool,
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
            key_use: OnceLock::new(),
            ends_use,
            index,
            members: Arc::clone(&members),
            state: Mutex::default(),
            untold: OnceLock::new(),
            watches: OnceLock::new(),
        });
        if !this.listen() {
            let (key, group) = (
                &this.collective.key,
                epoch::group_of(&this.collective.group),
            );
            let message = format!("{name} key {key} of group {group} is in use");
            return Err(Error::new(message).with_code(ErrorCode::AlreadyExists));
        }
        this.key_use();
        // An abort before this is recorded, and a later one finds the listener.
        let epochs = this.collective.context.epochs();
        if let Some(aborted) = epochs.ended(&this.collective.group) {
            return Err(aborted);
        }
        this.watch(&members);
        Ok(this)
    }

    /// Fails when a member reports that it has failed. Returns `false` if another collective
    /// listens.
    fn listen(self: &Arc<Self>) -> bool {
        if self.lock().has_left {
            return true;
        }
        let this = Arc::downgrade(self);
        let receiver = move |payload: Result<Payload, Error>| {
            let (Some(this), Ok(payload)) = (this.upgrade(), payload) else {
                return;
            };
            let Abandonment { error, key_use } = Abandonment::of_payload(&payload);
            match this.key_use().compare(key_use) {
                Belongs::Present => this.fail_of(&error, Cause::Told),
                // The place of the listener was free for a moment: whoever took it is told. Those
                // of later uses are refused before they come here.
                Belongs::Past | Belongs::Future => drop(this.listen()),
            }
            let queue = Arc::clone(this.collective.context.host().queue());
            drop_on_queue(&queue, this);
        };
        let key = abandonment_key(&self.collective);
        let rendezvous = self.collective.context.rendezvous();
        match rendezvous.try_receive_light(&key, Box::new(receiver)) {
            Entered::IsTaken => return false,
            Entered::WasCalled => {}
            Entered::Waits(number) => {
                let mut state = self.lock();
                if state.has_left {
                    drop(state);
                    rendezvous.withdraw(&key, number);
                } else {
                    // The receiver may have been called meanwhile, and another one listen.
                    state.listener = state.listener.max(Some(number));
                }
            }
        }
        true
    }

    fn key_use(&self) -> OwnUse {
        let Collective {
            context,
            group,
            key,
        } = &self.collective;
        *self
            .key_use
            .get_or_init(|| context.uses().current(group, key))
    }

    /// Ends the part of the member: its key may be used again.
    pub(super) fn leave(&self) {
        self.stop_listening();
        self.end_use();
    }

    fn stop_listening(&self) {
        let mut state = self.lock();
        state.has_left = true;
        let listener = state.listener.take();
        drop(state);
        if let Some(number) = listener {
            let key = abandonment_key(&self.collective);
            let rendezvous = self.collective.context.rendezvous();
            rendezvous.withdraw(&key, number);
        }
    }

    /// Ends the use of the key, unless it has ended.
    fn end_use(&self) {
        let has_ended = std::mem::replace(&mut self.lock().has_ended_use, true);
        if !has_ended && self.ends_use {
            let Collective {
                context,
                group,
                key,
            } = &self.collective;
            context.uses().end(group, key);
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

    /// Returns the position of the left neighbour.
    pub(super) fn left(&self) -> usize {
        (self.index + self.size() - 1) % self.size()
    }

    /// Returns the position of a task in the group.
    pub(super) fn position_of(&self, task: TaskHandle) -> Option<usize> {
        self.members.iter().position(|member| *member == task)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the first part of the work of this member, at whose end `finish` runs as a task of
    /// the work queue. If the member has failed by itself, the others were told of it by then, as
    /// far as they answer soon.
    pub(super) fn work(
        self: &Arc<Self>,
        finish: impl FnOnce(Answer<()>) + Send + 'static,
    ) -> Gather {
        let this = Arc::clone(self);
        // Parts end on threads of the transport, too.
        let queue = Arc::clone(self.collective.context.host().queue());
        Gather::new(move |sends| {
            let task = Task::new(move || finish(sends));
            let own_queue = Arc::clone(&queue);
            this.when_told(Box::new(move || own_queue.add_task(task)));
            drop_on_queue(&queue, this);
        })
    }

    /// Calls `f` once the outcome is decided: now, or when the others were told of a failure.
    fn when_told(&self, f: Box<dyn FnOnce() + Send>) {
        let mut state = self.lock();
        if state.is_telling {
            state.on_told = Some(f);
            return;
        }
        state.is_over = true;
        drop(state);
        f();
    }

    fn on_told(&self) {
        let mut state = self.lock();
        state.is_telling = false;
        let on_told = state.on_told.take();
        state.is_over |= on_told.is_some();
        drop(state);
        if let Some(on_told) = on_told {
            on_told();
        }
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

    /// Fails, unless the member failed before, ends all waits, and tells the other members.
    pub(super) fn fail(self: &Arc<Self>, error: &Error) {
        self.fail_of(error, Cause::Own);
    }

    /// Says which collective this one follows: it fails, too, if this one does.
    pub(super) fn follows(&self, first: &Arc<Self>) {
        self.lock().first = Arc::downgrade(first);
        if let Some(error) = self.failure() {
            first.fail_of(&error, Cause::Told);
        }
    }

    /// Says which member needs nothing of the others: it is not told of what goes wrong here,
    /// unless the operations differ or a message is lost. So its outcome does not depend on who is
    /// faster.
    pub(super) fn does_not_tell(&self, position: usize) {
        // Set once, before anything can go wrong.
        let _ = self.untold.set(self.members[position]);
    }

    /// Takes no part in the collective, because of an error that the other members fail with.
    pub(super) fn refuse(self: &Arc<Self>, error: &Error) {
        self.fail(error);
        self.leave();
    }

    fn fail_of(self: &Arc<Self>, error: &Error, cause: Cause) {
        let mut state = self.lock();
        if state.failure.is_some() || state.is_over {
            return;
        }
        state.failure = Some(error.clone());
        state.is_of_send = cause == Cause::Send;
        state.is_telling = cause != Cause::Told;
        let waiting = std::mem::take(&mut state.waiting);
        let first = state.first.upgrade();
        drop(state);
        // Before anything else: what comes from now on is not for this member. Nobody listens any
        // more when the use has ended, so that a listener gets nothing of later uses.
        self.stop_listening();
        self.end_use();
        let rendezvous = self.collective.context.rendezvous();
        for (key, number) in waiting {
            // One without a number gives itself up when it has entered.
            if let Some(number) = number {
                rendezvous.give_up_numbered(&key, number, error);
            }
        }
        rendezvous.sweep();
        if let Some(first) = first {
            first.fail_of(error, Cause::Told);
        }
        if cause != Cause::Told {
            let this = Arc::clone(self);
            let told = Gather::new(move |_| {
                this.on_told();
                let queue = Arc::clone(this.collective.context.host().queue());
                drop_on_queue(&queue, this);
            });
            let abandonment = Abandonment {
                error: error.clone(),
                key_use: self.key_use().key_use(),
            };
            let untold = self.untold.get().filter(|_| cause == Cause::Own);
            abandonment.tell_others(&self.collective, untold.copied(), &told);
            self.stop_telling_later();
        }
    }

    /// Ends the wait for members that are slow to answer.
    fn stop_telling_later(self: &Arc<Self>) {
        let this = Arc::downgrade(self);
        let host = self.collective.context.host();
        let queue = Arc::clone(host.queue());
        host.timers().schedule_after(MAX_TELLING, move || {
            if let Some(this) = this.upgrade() {
                this.on_told();
                drop_on_queue(&queue, this);
            }
        });
    }

    /// Returns bytes of a tensor of this member, to send to the member at a position: where they
    /// are, if the transport only reads them. The work lasts until it has given them back. Others
    /// get a copy, because the program may write the tensor when the work has ended.
    pub(super) fn own_bytes(
        &self,
        tensor: &DenseHostTensor,
        range: Range<usize>,
        position: usize,
        work: &Gather,
    ) -> Result<Bytes, Error> {
        let context = &self.collective.context;
        if context.may_lend_to(self.members[position]) {
            return Ok(lend(tensor, work)?.slice(range));
        }
        let memory = PayloadMemory::of(context.host());
        let bytes = &tensor.buffer().read()?[range];
        let copy = HostBuffer::copied(memory.allocator(bytes.len()), bytes)?;
        Ok(shared_bytes(&copy)?)
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
        if self.failure().is_some() {
            // Nobody waits for it.
            return drop(work);
        }
        let this = Arc::clone(self);
        let context = &self.collective.context;
        let (to, payload) = (self.members[position], vec![self.header(part), elements]);
        context.send_data_light(to, key, payload, move |answer| {
            let failed = answer.err().inspect(|errors| {
                let host = this.collective.context.host();
                this.fail_of(&errors.to_value(host), Cause::Send);
            });
            // Before the work: its end drops the other reference, on the work queue.
            let queue = Arc::clone(this.collective.context.host().queue());
            drop_on_queue(&queue, this);
            match failed {
                Some(errors) => work.fail(errors),
                None => drop(work),
            }
        });
    }

    /// Calls `f` with the elements that the left neighbour sends under a key, as a task of the work
    /// queue; or with the error of that member or of this one, which has failed then.
    pub(super) fn receive(
        self: &Arc<Self>,
        key: String,
        part: Part,
        f: impl FnOnce(Result<HostBuffer, Error>) + Send + 'static,
    ) {
        self.receive_from(self.left(), key, part, f);
    }

    /// As [`receive`](Self::receive), from the member at a position.
    pub(super) fn receive_from(
        self: &Arc<Self>,
        position: usize,
        key: String,
        part: Part,
        f: impl FnOnce(Result<HostBuffer, Error>) + Send + 'static,
    ) {
        self.receive_light_from(position, key, part, |received| {
            Some(Box::new(move || f(received)))
        });
    }

    /// As [`receive_from`](Self::receive_from), for an `f` that takes little time and waits for
    /// nothing: it may run on a thread of the transport, which saves a change of threads. What it
    /// returns runs as a task of the work queue. It [releases](Self::release) what it refers to.
    pub(super) fn receive_light_from(
        self: &Arc<Self>,
        position: usize,
        key: String,
        part: Part,
        f: impl FnOnce(Result<HostBuffer, Error>) -> Option<Rest> + Send + 'static,
    ) {
        self.receive_boxed(position, key, part, Box::new(f));
    }

    /// Receives elements of the left neighbour under a key, passes them on to the right one if
    /// there is a `next` key, and then calls `keep` with them, as a task of the work queue. The
    /// work lasts until then. `check` takes little time: it may run on a thread of the transport.
    pub(super) fn relay(
        self: &Arc<Self>,
        (key, next): (String, Option<String>),
        part: Part,
        check: impl FnOnce(&HostBuffer) -> Result<(), Error> + Send + 'static,
        keep: impl FnOnce(HostBuffer) + Send + 'static,
        work: Gather,
    ) {
        let this = Arc::clone(self);
        self.receive_light_from(self.left(), key, part, move |received| {
            let passed_on = received.and_then(|data| {
                check(&data)?;
                if let Some(next) = next {
                    this.send(next, part, shared_bytes(&data)?, work.clone());
                }
                Ok(data)
            });
            Some(match passed_on {
                Ok(data) => Box::new(move || {
                    keep(data);
                    drop(work);
                }),
                Err(error) => this.failing(error, work),
            })
        });
    }

    /// Returns the rest of the work with a message that is wrong: the member fails, and then that
    /// part of its work ends.
    pub(super) fn failing(self: &Arc<Self>, error: Error, work: Gather) -> Rest {
        let this = Arc::clone(self);
        Box::new(move || {
            this.fail(&error);
            drop(work);
        })
    }

    /// Drops a reference to what belongs to the collective, on any thread.
    pub(super) fn release<T: Send + Sync + 'static>(&self, reference: Arc<T>) {
        drop_on_queue(self.collective.context.host().queue(), reference);
    }

    fn receive_boxed(self: &Arc<Self>, position: usize, key: String, part: Part, f: OnReceived) {
        let mut state = self.lock();
        if let Some(error) = state.failure.clone() {
            drop(state);
            return run_rest(f(Err(error)));
        }
        state.waiting.insert(key.clone(), None);
        drop(state);
        let (this, own_key) = (Arc::clone(self), key.clone());
        let receiver = move |payload: Result<Payload, Error>| {
            let queue = Arc::clone(this.collective.context.host().queue());
            let Some(elements) = this.open_expected(position, &payload, part) else {
                queue.add_task(Task::new(move || {
                    this.lock().waiting.remove(&own_key);
                    this.take_in(position, own_key, part, payload, f);
                }));
                return;
            };
            this.lock().waiting.remove(&own_key);
            let rest = f(Ok(elements));
            drop_on_queue(&queue, this);
            if let Some(rest) = rest {
                queue.add_task(Task::new(rest));
            }
        };
        let context = &self.collective.context;
        let entered = context.receive_light(self.members[position], &key, Box::new(receiver));
        let Some(number) = entered else {
            return;
        };
        let mut state = self.lock();
        // It may have been called meanwhile, and a later one wait: later numbers are greater.
        if let Some(known) = state.waiting.get_mut(&key) {
            *known = (*known).max(entered);
        }
        let failure = state.failure.clone();
        drop(state);
        if let Some(error) = failure {
            context.rendezvous().give_up_numbered(&key, number, &error);
        }
    }

    /// Returns the elements of a payload, if it is the expected message.
    fn open_expected(
        &self,
        position: usize,
        payload: &Result<Payload, Error>,
        part: Part,
    ) -> Option<HostBuffer> {
        let payload = payload.as_ref().ok()?;
        match payload
            .may_be_of(self.members[position])
            .then(|| self.open(payload, part))?
        {
            Opened::Elements(elements) => Some(elements),
            _ => None,
        }
    }

    /// Takes what has arrived under a key.
    fn take_in(
        self: &Arc<Self>,
        position: usize,
        key: String,
        part: Part,
        payload: Result<Payload, Error>,
        f: OnReceived,
    ) {
        let opened = match &payload {
            Ok(payload) if payload.may_be_of(self.members[position]) => self.open(payload, part),
            // The expected member may still send.
            Ok(_) => Opened::Past,
            Err(error) => Opened::Fails(error.clone(), Cause::Own),
        };
        match opened {
            Opened::Elements(elements) => run_rest(f(Ok(elements))),
            Opened::Fails(error, cause) => {
                self.fail_of(&error, cause);
                run_rest(f(Err(error)));
            }
            Opened::Past => self.receive_boxed(position, key, part, f),
            Opened::Future => {
                let Collective { group, key: of, .. } = &self.collective;
                let (name, group) = (self.name, epoch::group_of(group));
                let message = format!("{name} key {of} of group {group}: member {position} failed");
                let error = Error::new(message).with_code(ErrorCode::Unavailable);
                self.fail_of(&error, Cause::Told);
                if let Ok(payload) = payload {
                    // Whatever has taken its place is as late as this member.
                    let rendezvous = self.collective.context.rendezvous();
                    let _ = rendezvous.put_back(&key, payload);
                }
                run_rest(f(Err(error)));
            }
        }
    }

    /// Returns what a message says.
    fn open(&self, payload: &Payload, own: Part) -> Opened {
        let malformed = || {
            let error = Error::new("malformed message of a collective");
            Opened::Fails(error.with_code(ErrorCode::InvalidArgument), Cause::Own)
        };
        let [header, elements] = payload.buffers() else {
            return malformed();
        };
        let header = match header.read() {
            Ok(bytes) => Header::parse(&bytes),
            Err(error) => return Opened::Fails(error.into(), Cause::Own),
        };
        let Some(header) = header else {
            return malformed();
        };
        match self.key_use().compare(header.key_use) {
            Belongs::Past => return Opened::Past,
            Belongs::Future => return Opened::Future,
            Belongs::Present => {}
        }
        if header.kind == Kind::Error {
            // Older versions tell errors in place of elements.
            let text = elements.read();
            let text = text.map(|text| String::from_utf8_lossy(&text).into_owned());
            return Opened::Fails(Error::new(text.unwrap_or_default()), Cause::Own);
        }
        if header.part != own {
            let Collective { group, key, .. } = &self.collective;
            let theirs = (header.member, header.part);
            let error = Part::mismatch((group, key), theirs, (self.index, own));
            let is_same_exchange =
                header.part.operation == own.operation && header.part.in_rounds == own.in_rounds;
            return Opened::Fails(
                error,
                match is_same_exchange {
                    true => Cause::Own,
                    false => Cause::Differs,
                },
            );
        }
        Opened::Elements(elements.clone())
    }

    fn header(&self, part: Part) -> Bytes {
        Bytes::from_owner(
            Header {
                kind: Kind::Elements,
                part,
                member: self.index,
                key_use: self.key_use().key_use(),
            }
            .to_bytes(),
        )
    }
}

/// Gets the elements of a message, or the error that the member has failed with.
type OnReceived = Box<dyn FnOnce(Result<HostBuffer, Error>) -> Option<Rest> + Send>;

/// What takes longer of the work with a message.
pub(super) type Rest = Box<dyn FnOnce() + Send>;

fn run_rest(rest: Option<Rest>) {
    if let Some(rest) = rest {
        rest();
    }
}

impl fmt::Debug for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("State")
            .field("failure", &self.failure)
            .field("waiting", &self.waiting)
            .finish_non_exhaustive()
    }
}

impl Drop for Ring {
    fn drop(&mut self) {
        self.stop_listening();
    }
}

/// The starts of keys that belong to a group without being those of a collective. Names of groups
/// have no `~`, so they are never confused with one.
pub(super) const SENT: &str = "~sent:";
pub(super) const ABORTED: &str = "~aborted:";
pub(super) const CARD: &str = "~card:";
const OWN_KEYS: [&str; 4] = [SENT, ABORTED, CARD, ABANDONED];

/// The start of the keys under which members regroup.
pub(super) const REGROUP: &str = "~regroup";

/// Returns `true` for keys under which a member waits, as long as its group or collective lasts,
/// for messages that may never come, or may come twice.
pub(crate) fn is_listener(key: &str) -> bool {
    let starts = [ABORTED, CARD, ABANDONED, REGROUP];
    starts.iter().any(|start| key.starts_with(start))
}

/// Returns the group whose members alone send payloads with this key, if there is one.
pub(crate) fn group_of_own_key(key: &str) -> Option<&str> {
    // Names of groups have no colon.
    let rest = OWN_KEYS.iter().find_map(|start| key.strip_prefix(start))?;
    rest.split(':').next().map(epoch::group_of)
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

/// Ends the part that this task takes in a collective. Collectives of an epoch that is over do not
/// start any more.
pub(super) fn interrupt(collective: &Collective, error: &Error) {
    let uses = collective.context.uses();
    let key_use = uses.current(&collective.group, &collective.key).key_use();
    let error = error.clone();
    Abandonment { error, key_use }.tell_own(collective);
}

/// Tells the other members that this one does not start a collective: they would wait for it
/// forever.
///
/// # Errors
/// If a collective with the key is in progress here. It goes on: the others take part in it, and
/// nobody waits for a second one, because every task refuses that.
pub(super) fn abandon(collective: &Collective, error: &Error) -> Result<(), Error> {
    abandon_all(collective, error, Vec::new())
}

/// As [`abandon`], for an error of this task. Returns that, or the reason why the others were not
/// told.
pub(super) fn abandon_with(collective: &Collective, error: Error) -> Error {
    abandon(collective, &error).err().unwrap_or(error)
}

/// As [`abandon`], for a collective that follows [a first one](Ring::join_first) under another key.
pub(super) fn abandon_with_first(
    collective: &Collective,
    first_key: String,
    error: &Error,
) -> Result<(), Error> {
    let first = Collective {
        key: first_key,
        ..collective.clone()
    };
    let joined = Ring::join_first(first, "", |_| String::new());
    abandon_all(collective, error, vec![joined])
}

/// As [`abandon`], for the first one of two collectives alone.
pub(super) fn abandon_first(collective: &Collective, error: &Error) {
    // Where the key is in use, this task takes part already.
    if let Ok(ring) = Ring::join_first(collective.clone(), "", |_| String::new()) {
        ring.refuse(error);
    }
}

fn abandon_all(
    collective: &Collective,
    error: &Error,
    mut joined: Vec<Result<Arc<Ring>, Error>>,
) -> Result<(), Error> {
    // All of them, before any end: the others go on if one of the keys is in use.
    joined.push(Ring::join(collective.clone(), "", |_| String::new()));
    let is_in_use = |joined: &Result<Arc<Ring>, Error>| {
        let code = joined.as_ref().err().map(Error::code);
        code == Some(ErrorCode::AlreadyExists)
    };
    if joined.iter().any(is_in_use) {
        let group = epoch::group_of(&collective.group);
        return Err(abandoned_in_use(&collective.key, group));
    }
    // A task that is not a member tells nobody, and those of an aborted group were told.
    for ring in joined.into_iter().flatten() {
        ring.refuse(error);
    }
    Ok(())
}

/// Returns the error of abandoning a collective whose key is in use on this task.
#[cold]
pub(super) fn abandoned_in_use(key: &str, group: &str) -> Error {
    let message = format!("cannot abandon key {key} of group {group}: it is in use");
    Error::new(message).with_code(ErrorCode::AlreadyExists)
}
