//! Direct exchanges: every member sends to every other one, over connections of a back end.
//!
//! A collective has one or two *phases*. In each, every member sends a message to every other
//! member, perhaps without elements, and continues when one of each has arrived.
//!
//! ```text
//!               phase 1                         phase 2 (all-reduce only)
//!  member i ──► chunk j of the input to j   ──► the combined chunk i to all      a message: head, elements
//!           ◄── chunk i of all inputs       ◄── the combined chunks of the others
//! ```
//!
//! So all members learn of every operation that differs from their own, and a failed member is
//! noticed by all. An all-reduce sends and receives as many bytes as around the ring, in two steps
//! instead of 2G−2, and combines elements in the same order: the results have the same bits.
//!
//! The messages of a member under a key form *streams*, one for each operation, and arrive in
//! order. The last message of a stream is marked: it is that of the last phase, or an error. A
//! member whose operation failed drops the rest of the streams that belong to it, so later
//! operations with the key find only what is theirs.
//!
//! Messages that arrive before the operation wait here. Their size is limited; a member that sends
//! more is cut off.
//!
//! | module | contents |
//! |---|---|
//! | `message` | messages, and their heads |
//! | `exchange` | the state of the operations and messages under one key |
//! | `operations` | the collectives as exchanges |

mod exchange;

mod message;

mod operations;

use std::collections::{HashMap, VecDeque};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};

use prost::bytes::Bytes;
use tfrt_async::{AsyncValueRef, Chain};
use tfrt_queue::Task;
use tfrt_support::{Error, ErrorCode};
use tfrt_tensor::{DenseHostTensor, HostBuffer, Shape};

use super::header::{Operation, Part};
use super::{GroupMember, Reduction, back_end, epoch, ring};
use crate::cluster::TaskHandle;
use crate::context::DistributedContext;
use crate::error::{Gather, RemoteErrors};
use crate::health::Watch;
use crate::payload::Payload;

use exchange::{Delivered, Exchange, Failed, Outcome, Outgoing, Running, Step, Then};
use message::{Arrival, Head};
pub use message::{MAX_HEAD_BYTES, Message};

/// The size of a waiting message in addition to its elements and head.
const OVERHEAD_BYTES: usize = 256;

/// The connections of a member to the other members of its group: all that a back end of direct
/// exchanges has to provide.
///
/// Each member makes a *card*, from which the others learn how to reach it. Messages to a member
/// arrive whole, once, and in order, or the connection is reported as broken.
pub trait Links: Send + Sync + fmt::Debug {
    /// Returns the card of this member.
    fn card(&self) -> Bytes;

    /// Connects to the member with this card. Does not block. Messages may have been sent to it
    /// before.
    fn introduce(&self, member: usize, card: &[u8]);

    /// Sends a message to other members. Does not block, and calls no event on the stack of the
    /// call. The message is dropped once it was sent, and no end of this process loses it; or if it
    /// will not be sent.
    fn send(&self, to: &[usize], message: &Message);

    /// Drops what was to be sent to a lost member. Does not block.
    fn lose(&self, member: usize);

    /// Ends the connections once everything is sent, but soon. Does not block.
    fn close(&self);
}

/// What connections report to their member. Cloning shares it.
#[derive(Clone, Debug)]
pub struct LinkEvents {
    member: Weak<DirectMember>,
}

impl LinkEvents {
    /// Returns memory for the elements of a message whose head has arrived.
    ///
    /// # Errors
    /// If the head is malformed, or too much waits here already. The connection then reports that
    /// it is broken.
    pub fn announced(&self, from: usize, head: &[u8], len_bytes: u64) -> Result<HostBuffer, Error> {
        let member = self.member.upgrade();
        let member = member.ok_or_else(|| Error::new("the group is closed"))?;
        if !member.is_other(from) {
            return Err(Error::new("malformed message of a collective"));
        }
        member.announced(from, head, len_bytes)
    }

    /// Passes a message on, with the memory from [`announced`](Self::announced).
    pub fn received(&self, from: usize, head: &[u8], elements: HostBuffer) {
        if let Some(member) = self.member.upgrade().filter(|member| member.is_other(from)) {
            member.received(from, head, elements);
        }
    }

    /// Reports that nothing arrives from a member any more, and why.
    pub fn broken(&self, member: usize, cause: &str) {
        if let Some(this) = self.member.upgrade().filter(|this| this.is_other(member)) {
            let task = this.context.cluster().task_name(this.members[member]);
            let task = task.map(|task| task.to_string()).unwrap_or_default();
            let message = format!("the connection to task {task} has ended: {cause}");
            let error = Error::new(message).with_code(ErrorCode::Unavailable);
            this.broken(member, &error);
        }
    }
}

impl LinkEvents {
    /// Reports that nothing arrives any more, from any member.
    pub fn failed(&self, cause: &str) {
        let others = self.member.upgrade().map(|member| member.others());
        for member in others.into_iter().flatten() {
            self.broken(member, cause);
        }
    }
}

/// Makes the connections of a member.
pub type Connect<'a> = dyn FnOnce(LinkEvents, MemberPlace) -> Result<Arc<dyn Links>, Error> + 'a;

/// The place of a member in its group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemberPlace {
    /// The position of this member.
    pub index: usize,
    /// The number of members.
    pub size: usize,
}

/// Opens a group whose members are connected by `connect`.
///
/// # Errors
/// If there is no such group, this task is not a member or has opened the group already, or it
/// cannot be connected.
pub fn open(
    group: &str,
    context: &Arc<DistributedContext>,
    connect: Box<Connect<'_>>,
) -> Result<Arc<dyn GroupMember>, Error> {
    Ok(DirectMember::open(group, context, connect)?)
}

/// A member that exchanges messages with all others.
struct DirectMember {
    this: Weak<Self>,
    context: Arc<DistributedContext>,
    group: String,
    /// The epoch of the group that the member was opened in.
    epoch: u64,
    /// Its name, which is part of all keys.
    scope: String,
    members: Arc<[TaskHandle]>,
    index: usize,
    links: OnceLock<Arc<dyn Links>>,
    state: Mutex<State>,
    /// Report lost members.
    watches: OnceLock<Vec<Watch>>,
}

#[derive(Default)]
struct State {
    /// What is in progress or waits, by key.
    exchanges: HashMap<String, Exchange>,
    /// Tensors and their receivers, by sender and key.
    tensors: HashMap<(usize, String), Waiting>,
    /// Why nothing arrives from a member any more.
    gone: HashMap<usize, Error>,
    aborted: Option<Error>,
    /// The size of the messages that wait.
    unclaimed_bytes: usize,
    next_number: u64,
    /// Whether the member still waits for another member's abort.
    listens: bool,
}

/// What a member tells the others when it opens a group.
enum Card<'a> {
    Card(Bytes),
    /// Why it could not be connected.
    Failure(&'a Error),
}

impl Card<'_> {
    fn to_payload(&self) -> Vec<Bytes> {
        match self {
            Self::Card(card) => vec![card.clone()],
            Self::Failure(error) => {
                vec![
                    Bytes::copy_from_slice(error.message().as_bytes()),
                    Bytes::new(),
                ]
            }
        }
    }
}

/// Sent tensors, or a receiver that waits for one.
enum Waiting {
    Tensors(VecDeque<Arrival>),
    Receiver(Box<dyn FnOnce(Result<Arrival, Error>) + Send>),
}

/// The callback for the outcome of an operation.
type Done = Box<dyn FnOnce(Result<(), Error>) + Send>;

/// Work that is done once the lock is released.
type Later = Box<dyn FnOnce() + Send>;

impl DirectMember {
    fn open(
        group: &str,
        context: &Arc<DistributedContext>,
        connect: Box<Connect<'_>>,
    ) -> Result<Arc<Self>, Error> {
        let (members, index) = back_end::position_in(group, context)?;
        let number = context.epochs().current(group);
        let member = Arc::new_cyclic(|this| Self {
            this: this.clone(),
            context: Arc::clone(context),
            group: group.to_owned(),
            epoch: number,
            scope: epoch::epoch_name(group, number),
            members,
            index,
            links: OnceLock::new(),
            state: Mutex::default(),
            watches: OnceLock::new(),
        });
        member.listen()?;
        let is_over = context.epochs().current(group) > number;
        if is_over && member.lock().aborted.is_none() {
            // A former member that was about to end its epoch has done so meanwhile.
            return Self::open(group, context, connect);
        }
        let events = LinkEvents {
            member: member.this.clone(),
        };
        let size = member.members.len();
        let links = connect(events, MemberPlace { index, size });
        let links = links.inspect_err(|error| member.tell_others(&Card::Failure(error)))?;
        let card = links.card();
        // Set once, here.
        let _ = member.links.set(links);
        member.watch();
        member.tell_others(&Card::Card(card));
        member.await_cards();
        Ok(member)
    }

    /// Ends the member when another one aborts the group, or the context is closed.
    fn listen(&self) -> Result<(), Error> {
        let weak = self.this.clone();
        let receiver = move |payload: Result<Payload, Error>| {
            let Some(this) = weak.upgrade() else {
                return;
            };
            this.lock().listens = false;
            match payload {
                Ok(payload) => this.end(&back_end::error_in(&payload)),
                Err(closed) => {
                    this.fail_all(&closed);
                }
            }
        };
        self.lock().listens = true;
        let key = back_end::abort_key(&self.scope);
        let rendezvous = self.context.rendezvous();
        if rendezvous.try_receive(&key, Box::new(receiver)) {
            return Ok(());
        }
        self.lock().listens = false;
        Err(back_end::is_open_already(&self.group))
    }

    fn watch(&self) {
        let health = self.context.health();
        let watch = |(position, member): (usize, &TaskHandle)| {
            let this = self.this.clone();
            health.watch(*member, move |lost| {
                if let Some(this) = this.upgrade() {
                    let error = RemoteErrors::from(lost).to_value(this.context.host());
                    this.broken(position, &error);
                }
            })
        };
        // Set once, here.
        let _ = self
            .watches
            .set(self.members.iter().enumerate().map(watch).collect());
    }

    fn card_key(&self, from: usize, to: usize) -> String {
        format!("{}{}:{from}:{to}", ring::CARD, self.scope)
    }

    /// Tells the other members how to reach this one, or that it cannot be reached.
    fn tell_others(&self, card: &Card<'_>) {
        for position in self.others() {
            let weak = self.this.clone();
            let key = self.card_key(self.index, position);
            let to = self.members[position];
            self.context
                .send_data(to, key, card.to_payload(), move |answer| {
                    if let (Err(errors), Some(this)) = (answer, weak.upgrade()) {
                        let error = errors.to_value(this.context.host());
                        this.broken(position, &error);
                    }
                });
        }
    }

    fn await_cards(&self) {
        for position in self.others() {
            let weak = self.this.clone();
            let receiver = move |payload: Result<Payload, Error>| {
                let (Some(this), Ok(payload)) = (weak.upgrade(), payload) else {
                    return;
                };
                let buffers = payload.buffers();
                let card = buffers.first().map(HostBuffer::read);
                match (card, this.links.get()) {
                    (Some(Ok(card)), Some(links)) if buffers.len() == 1 => {
                        links.introduce(position, &card);
                    }
                    _ => this.broken(position, &back_end::error_in(&payload)),
                }
            };
            let key = self.card_key(position, self.index);
            let from = self.members[position];
            self.context.receive(from, &key, Box::new(receiver));
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn place(&self) -> MemberPlace {
        MemberPlace {
            index: self.index,
            size: self.members.len(),
        }
    }

    /// Returns `true` for the position of another member.
    fn is_other(&self, position: usize) -> bool {
        position < self.members.len() && position != self.index
    }

    /// Returns the positions of the other members.
    fn others(&self) -> impl Iterator<Item = usize> + use<> {
        let index = self.index;
        (0..self.members.len()).filter(move |position| *position != index)
    }

    fn send(&self, to: &[usize], message: &Message) {
        if let Some(links) = self.links.get() {
            links.send(to, message);
        }
    }

    /// Adds a task to the work queue.
    fn later(&self, task: impl FnOnce() + Send + 'static) {
        self.context.host().queue().add_task(Task::new(task));
    }

    fn announced(&self, from: usize, head: &[u8], len_bytes: u64) -> Result<HostBuffer, Error> {
        let malformed = || Error::new("malformed message of a collective");
        let head_bytes = head.len();
        let head = Head::parse(head).ok_or_else(malformed)?;
        let full = || {
            let name = self.context.cluster().own_name();
            let message = format!("receive buffer of {name} is full");
            Error::new(message).with_code(ErrorCode::Unavailable)
        };
        let len_bytes = usize::try_from(len_bytes).map_err(|_| full())?;
        let size = len_bytes.saturating_add(head_bytes + OVERHEAD_BYTES);
        let mut state = self.lock();
        let exchange = state.exchanges.get(head.key);
        let expected = exchange.and_then(|exchange| exchange.expected_bytes(from));
        let is_expected = expected.is_some_and(|expected| len_bytes <= expected);
        let limit = self.context.rendezvous().max_bytes();
        let total = state.unclaimed_bytes.saturating_add(size);
        if !is_expected && total > limit {
            return Err(full());
        }
        state.unclaimed_bytes = total;
        drop(state);
        let allocator = self.context.host().allocator();
        let buffer = HostBuffer::zeroed(allocator, len_bytes, 64);
        if buffer.is_err() {
            self.lock().unclaimed_bytes -= size;
        }
        Ok(buffer?)
    }

    fn received(&self, from: usize, head: &[u8], elements: HostBuffer) {
        let size = elements.len_bytes() + head.len() + OVERHEAD_BYTES;
        let Some(head) = Head::parse(head) else {
            // It was parsed when it was announced.
            return;
        };
        let key = head.key.to_owned();
        let arrival = Arrival::new(&head, elements, size);
        let mut state = self.lock();
        let mut later: Vec<Later> = Vec::new();
        if head.is_tensor() {
            self.deliver_tensor(&mut state, from, key, arrival, &mut later);
        } else if state.aborted.is_some() {
            state.unclaimed_bytes -= size;
        } else {
            let size = self.members.len();
            let exchange = state.exchanges.entry(key.clone());
            let exchange = exchange.or_insert_with(|| Exchange::new(size));
            let outcome = exchange.deliver(from, arrival, (&self.scope, &key));
            state.unclaimed_bytes -= outcome.claimed_bytes;
            self.follow(&mut state, &key, outcome.then, &mut later);
            self.forget_if_empty(&mut state, &key);
        }
        drop(state);
        for work in later {
            work();
        }
    }

    /// Hands a tensor to its receiver.
    fn deliver_tensor(
        &self,
        state: &mut State,
        from: usize,
        key: String,
        arrival: Arrival,
        later: &mut Vec<Later>,
    ) {
        if state.aborted.is_some() {
            state.unclaimed_bytes -= arrival.size_bytes;
            return;
        }
        match state.tensors.remove(&(from, key.clone())) {
            Some(Waiting::Receiver(receiver)) => {
                state.unclaimed_bytes -= arrival.size_bytes;
                later.push(Box::new(move || receiver(Ok(arrival))));
            }
            Some(Waiting::Tensors(mut tensors)) => {
                tensors.push_back(arrival);
                state.tensors.insert((from, key), Waiting::Tensors(tensors));
            }
            None => {
                let tensors = Waiting::Tensors(VecDeque::from([arrival]));
                state.tensors.insert((from, key), tensors);
            }
        }
    }

    /// Fails what needs a member from which nothing arrives any more.
    fn broken(&self, member: usize, error: &Error) {
        let mut later: Vec<Later> = Vec::new();
        let mut state = self.lock();
        if state.gone.contains_key(&member) {
            return;
        }
        state.gone.insert(member, error.clone());
        let exchanges = state.exchanges.iter();
        let failing = exchanges.filter(|(_, exchange)| exchange.awaits(member));
        let failing: Vec<String> = failing.map(|(key, _)| key.clone()).collect();
        for key in failing {
            self.fail(&mut state, &key, error, &mut later);
            self.forget_if_empty(&mut state, &key);
        }
        let receivers = state.tensors.extract_if(|(from, _), waiting| {
            *from == member && matches!(waiting, Waiting::Receiver(_))
        });
        for (_, waiting) in receivers {
            if let Waiting::Receiver(receiver) = waiting {
                let error = error.clone();
                later.push(Box::new(move || receiver(Err(error))));
            }
        }
        drop(state);
        if let Some(links) = self.links.get() {
            links.lose(member);
        }
        for work in later {
            work();
        }
    }

    /// Fails the operation under a key, if one is in progress.
    fn fail(&self, state: &mut State, key: &str, error: &Error, later: &mut Vec<Later>) {
        let Some(exchange) = state.exchanges.get_mut(key) else {
            return;
        };
        let Some(Failed { running, owes_last }) = exchange.fail() else {
            return;
        };
        if owes_last {
            // Under the lock: nothing of the stream is sent after its last message.
            let others: Vec<usize> = self.others().collect();
            let message = Message::error(running.part, self.index, key, error);
            self.send(&others, &message);
        }
        let error = error.clone();
        later.push(Box::new(move || {
            let member = Arc::clone(running.member());
            if let Some(done) = running.take_done() {
                member.later(move || done(Err(error)));
            }
            // Without the lock: its elements are released.
            drop(running);
        }));
    }

    /// Does what follows a delivery.
    fn follow(&self, state: &mut State, key: &str, outcome: Delivered, later: &mut Vec<Later>) {
        match outcome {
            Delivered::Waits => {}
            Delivered::IsReady(number) => later.push(self.step(key, number)),
            Delivered::Fails(error) => self.fail(state, key, &error, later),
        }
    }

    fn forget_if_empty(&self, state: &mut State, key: &str) {
        if state.exchanges.get(key).is_some_and(Exchange::is_empty) {
            state.exchanges.remove(key);
        }
    }

    /// Returns the work that performs the next step of an operation, all of whose messages are
    /// there.
    fn step(&self, key: &str, number: u64) -> Later {
        let (weak, key) = (self.this.clone(), key.to_owned());
        Box::new(move || {
            if let Some(this) = weak.upgrade() {
                let own = Arc::clone(&this);
                this.later(move || own.run_step(&key, number));
            }
        })
    }

    fn run_step(&self, key: &str, number: u64) {
        let mut state = self.lock();
        let exchange = state.exchanges.get_mut(key);
        let Some((step, arrivals)) = exchange.and_then(|exchange| exchange.begin_step(number))
        else {
            return;
        };
        drop(state);
        let then = step(arrivals);
        let mut later: Vec<Later> = Vec::new();
        let mut state = self.lock();
        let Some(running) = state
            .exchanges
            .get_mut(key)
            .and_then(|exchange| exchange.running_mut(number))
        else {
            // It failed meanwhile.
            return;
        };
        match then {
            Ok(Then::Exchange(outgoing, next)) => {
                running.step = Some(next);
                running.is_stepping = false;
                self.send_phase(key, running, &outgoing);
                if let Delivered::IsReady(number) = running.try_begin() {
                    later.push(self.step(key, number));
                }
            }
            Ok(Then::Write(write)) => {
                let exchange = state.exchanges.get_mut(key);
                if let Some(running) = exchange.and_then(Exchange::end) {
                    running.set_write(write);
                    // Its end, unless some elements are still being sent.
                    later.push(Box::new(move || drop(running)));
                }
            }
            Err(error) => self.fail(&mut state, key, &error, &mut later),
        }
        self.forget_if_empty(&mut state, key);
        drop(state);
        for work in later {
            work();
        }
    }

    /// Sends the messages of the next phase.
    fn send_phase(&self, key: &str, running: &mut Running, outgoing: &Outgoing) {
        running.num_sent += 1;
        let part = running.part;
        let is_last = running.num_sent == part.operation.num_phases();
        let message = |dims: &[usize], elements: &Bytes| {
            let content = (elements.clone(), running.work.clone());
            Message::elements(part, self.index, key, is_last, dims, content)
        };
        match outgoing {
            Outgoing::All(dims, elements) => {
                let others: Vec<usize> = self.others().collect();
                self.send(&others, &message(dims, elements));
            }
            Outgoing::Each(elements) => {
                for position in self.others() {
                    self.send(&[position], &message(&[], &elements[position]));
                }
            }
        }
    }

    /// Starts an operation. `prepare` gets the part of the work that keeps borrowed elements, and
    /// returns what is sent first.
    fn start(
        &self,
        key: &str,
        part: Part,
        prepare: impl FnOnce(&Gather) -> Result<(Outgoing, Step), Error>,
        done: Done,
    ) {
        let Some(this) = self.this.upgrade() else {
            return done(Err(Error::new("the group is closed")));
        };
        let outcome = Arc::new(Outcome::new(done));
        let (finished, member) = (Arc::clone(&outcome), Arc::clone(&this));
        // Ends once all is done and sent.
        let work = Gather::new(move |_| member.later(move || finished.finish()));
        let prepared = match key.len() > MAX_HEAD_BYTES / 2 {
            true => {
                let (limit, found) = (MAX_HEAD_BYTES / 2, key.len());
                let message = format!("expected a key of at most {limit} bytes, found {found}");
                Err(Error::new(message).with_code(ErrorCode::InvalidArgument))
            }
            false => prepare(&work),
        };
        let mut later: Vec<Later> = Vec::new();
        let mut state = self.lock();
        let size = self.members.len();
        let (number, aborted) = (state.next_number, state.aborted.clone());
        let gone = state.gone.iter().min_by_key(|(position, _)| **position);
        let gone = gone.map(|(_, error)| error.clone());
        let exchange = state.exchanges.entry(key.to_owned());
        let exchange = exchange.or_insert_with(|| Exchange::new(size));
        let refused = aborted.or_else(|| {
            exchange.is_running().then(|| {
                let (name, group) = (part.operation.name(), &self.group);
                let message = format!("{name} key {key} of group {group} is in use");
                Error::new(message).with_code(ErrorCode::AlreadyExists)
            })
        });
        if let Some(error) = refused {
            self.forget_if_empty(&mut state, key);
            drop(state);
            if let Some(done) = outcome.take_done() {
                done(Err(error));
            }
            return;
        }
        let (first, failure) = match (prepared, gone) {
            (Ok(first), None) => (Some(first), None),
            (Err(error), _) | (Ok(_), Some(error)) => (None, Some(error)),
        };
        let (outgoing, step) = first.unzip();
        let mut running = Running::new(part, number, (step, outcome), this, work);
        if let Some(outgoing) = outgoing {
            self.send_phase(key, &mut running, &outgoing);
        }
        exchange.start(running);
        let waited = exchange.deliver_waiting((&self.scope, key));
        state.next_number += 1;
        state.unclaimed_bytes -= waited.claimed_bytes;
        let outcome = failure.map_or(waited.then, Delivered::Fails);
        self.follow(&mut state, key, outcome, &mut later);
        self.forget_if_empty(&mut state, key);
        drop(state);
        for work in later {
            work();
        }
    }

    /// Starts an operation whose result is written into tensors.
    fn start_collective(
        &self,
        key: &str,
        part: Part,
        prepare: impl FnOnce(&Gather) -> Result<(Outgoing, Step), Error>,
    ) -> AsyncValueRef<Chain> {
        let (promise, chain) = AsyncValueRef::unconstructed();
        let done = |outcome| match outcome {
            Ok(()) => promise.emplace(Chain),
            Err(error) => promise.set_error(error),
        };
        self.start(key, part, prepare, Box::new(done));
        chain
    }

    fn member(&self, position: usize) -> Result<usize, Error> {
        back_end::check_position(position, self.members.len(), &self.group)
    }

    /// Fails everything in progress, and refuses later operations.
    fn fail_all(&self, error: &Error) -> bool {
        let mut later: Vec<Later> = Vec::new();
        let mut state = self.lock();
        if state.aborted.is_some() {
            return false;
        }
        state.aborted = Some(error.clone());
        let keys: Vec<String> = state.exchanges.keys().cloned().collect();
        for key in keys {
            self.fail(&mut state, &key, error, &mut later);
        }
        let exchanges = std::mem::take(&mut state.exchanges);
        let tensors = std::mem::take(&mut state.tensors);
        state.unclaimed_bytes = 0;
        drop(state);
        drop(exchanges);
        for waiting in tensors.into_values() {
            if let Waiting::Receiver(receiver) = waiting {
                receiver(Err(error.clone()));
            }
        }
        for work in later {
            work();
        }
        // What was said about the operations above is still sent.
        if let Some(links) = self.links.get() {
            links.close();
        }
        true
    }

    /// Ends the epoch of this member.
    fn end(&self, error: &Error) {
        // Before the operations end: those that start between the two detect it.
        self.context.epochs().end(&self.group, self.epoch, error);
        if self.fail_all(error) {
            back_end::discard_epochs(&self.context, &self.group, self.epoch + 1);
        }
    }
}

impl GroupMember for DirectMember {
    fn index(&self) -> usize {
        self.index
    }

    fn size(&self) -> usize {
        self.members.len()
    }

    fn all_reduce(
        &self,
        key: &str,
        reduction: Reduction,
        input: DenseHostTensor,
        output: DenseHostTensor,
    ) -> AsyncValueRef<Chain> {
        let part = operations::reduction_of(Operation::AllReduce, reduction, &input);
        let (place, host) = (self.place(), Arc::clone(self.context.host()));
        self.start_collective(key, part, |work| {
            operations::all_reduce(place, &host, reduction, input, output, work)
        })
    }

    fn reduce_scatter(
        &self,
        key: &str,
        reduction: Reduction,
        input: DenseHostTensor,
        output: DenseHostTensor,
    ) -> AsyncValueRef<Chain> {
        let part = operations::reduction_of(Operation::ReduceScatter, reduction, &input);
        let (place, host) = (self.place(), Arc::clone(self.context.host()));
        self.start_collective(key, part, |work| {
            operations::reduce_scatter(place, &host, reduction, input, output, work)
        })
    }

    fn broadcast(&self, key: &str, tensor: DenseHostTensor, sender: usize) -> AsyncValueRef<Chain> {
        let part = operations::part_of(operations::sender(sender), &tensor);
        let known = self.member(sender);
        let place = self.place();
        self.start_collective(key, part, |work| {
            operations::broadcast(place, tensor, known?, work)
        })
    }

    fn all_gather(
        &self,
        key: &str,
        input: DenseHostTensor,
        output: DenseHostTensor,
        axis: u64,
    ) -> AsyncValueRef<Chain> {
        let part = operations::part_of(operations::gather_along(axis), &input);
        let place = self.place();
        self.start_collective(key, part, |work| {
            operations::all_gather(place, input, output, axis, work)
        })
    }

    fn all_gather_any(
        &self,
        key: &str,
        input: DenseHostTensor,
        axis: u64,
    ) -> AsyncValueRef<DenseHostTensor> {
        let part = operations::gather_any_along(axis, &input);
        let place = self.place();
        let (promise, value) = AsyncValueRef::unconstructed();
        let result = Arc::new(Mutex::new(None));
        let gathered = Arc::clone(&result);
        let done = move |outcome: Result<(), Error>| {
            let gathered = gathered.lock().unwrap_or_else(PoisonError::into_inner);
            let gathered = { gathered }.take();
            let missing = || Error::new("the members gathered nothing");
            match outcome.and_then(|()| gathered.ok_or_else(missing)) {
                Ok(tensor) => promise.emplace(tensor),
                Err(error) => promise.set_error(error),
            }
        };
        let host = Arc::clone(self.context.host());
        self.start(
            key,
            part,
            |work| operations::all_gather_any(place, &host, input, axis, result, work),
            Box::new(done),
        );
        value
    }

    fn all_to_all(
        &self,
        key: &str,
        input: DenseHostTensor,
        output: DenseHostTensor,
    ) -> AsyncValueRef<Chain> {
        let part = operations::part_of(Operation::AllToAll, &input);
        let place = self.place();
        self.start_collective(key, part, |work| {
            operations::all_to_all(place, input, output, work)
        })
    }

    fn send(&self, key: &str, to: usize, tensor: &DenseHostTensor) -> AsyncValueRef<Chain> {
        let prepared = self.member(to).and_then(|to| {
            let state = self.lock();
            let refused = state.aborted.as_ref().or_else(|| state.gone.get(&to));
            refused.map_or(Ok(to), |error| Err(error.clone()))
        });
        let to = match prepared {
            Ok(to) => to,
            Err(error) => return AsyncValueRef::error(error),
        };
        let (promise, chain) = AsyncValueRef::unconstructed();
        let Some(this) = self.this.upgrade() else {
            return AsyncValueRef::error(Error::new("the group is closed"));
        };
        let work = Gather::new(move |_| {
            let own = Arc::clone(&this);
            this.later(move || {
                let state = own.lock();
                let failure = state.aborted.clone();
                let failure = failure.or_else(|| state.gone.get(&to).cloned());
                drop(state);
                match failure {
                    None => promise.emplace(Chain),
                    Some(error) => promise.set_error(error),
                }
            });
        });
        let message = operations::lend(tensor, &work)
            .and_then(|elements| Message::tensor(self.index, key, tensor, (elements, work)));
        let message = match message {
            Ok(message) => message,
            Err(error) => return AsyncValueRef::error(error),
        };
        if to != self.index {
            self.send(&[to], &message);
            return chain;
        }
        let allocator = self.context.host().allocator();
        match HostBuffer::copied(allocator, &message.elements) {
            Ok(copy) => {
                let size = copy.len_bytes() + message.head.len() + OVERHEAD_BYTES;
                self.lock().unclaimed_bytes += size;
                self.received(to, &message.head, copy);
                chain
            }
            Err(error) => AsyncValueRef::error(error.into()),
        }
    }

    fn recv(&self, key: &str, from: usize) -> AsyncValueRef<DenseHostTensor> {
        let from = match self.member(from) {
            Ok(from) => from,
            Err(error) => return AsyncValueRef::error(error),
        };
        let (promise, value) = AsyncValueRef::unconstructed();
        // The group stays open as long as a receiver waits.
        let Some(this) = self.this.upgrade() else {
            return AsyncValueRef::error(Error::new("the group is closed"));
        };
        let receiver = move |arrival: Result<Arrival, Error>| {
            let tensor = arrival.and_then(|arrival| {
                let (dtype, elements) = (arrival.dtype, arrival.elements);
                let shape = Shape::new(&arrival.dims)?;
                Ok(DenseHostTensor::from_buffer(dtype, shape, elements)?)
            });
            // Waiters run on the work queue.
            this.later(move || match tensor {
                Ok(tensor) => promise.emplace(tensor),
                Err(error) => promise.set_error(error),
            });
        };
        let mut state = self.lock();
        let place = (from, key.to_owned());
        let outcome = match (state.aborted.clone(), state.tensors.remove(&place)) {
            (Some(error), _) => Err(error),
            (None, Some(Waiting::Tensors(mut tensors))) => match tensors.pop_front() {
                Some(arrival) => {
                    state.unclaimed_bytes -= arrival.size_bytes;
                    if !tensors.is_empty() {
                        state.tensors.insert(place, Waiting::Tensors(tensors));
                    }
                    Ok(arrival)
                }
                None => Err(Error::new("no tensor waits")),
            },
            (None, Some(first)) => {
                state.tensors.insert(place, first);
                let message = format!("Two receivers for key {key}.");
                Err(Error::new(message).with_code(ErrorCode::AlreadyExists))
            }
            (None, None) => match state.gone.get(&from) {
                Some(error) => Err(error.clone()),
                None => {
                    let waiting = Waiting::Receiver(Box::new(receiver));
                    state.tensors.insert(place, waiting);
                    return value;
                }
            },
        };
        drop(state);
        receiver(outcome);
        value
    }

    fn barrier(&self, key: &str) -> AsyncValueRef<Chain> {
        self.start_collective(key, operations::BARRIER, |_| Ok(operations::barrier()))
    }

    fn abandon(&self, key: &str, error: &Error) {
        let error = error.clone();
        self.start(key, operations::BARRIER, |_| Err(error), Box::new(|_| ()));
    }

    fn abort(&self, error: &Error) {
        back_end::tell_abort(
            &self.context,
            &self.scope,
            (&self.members, self.index),
            error,
        );
        self.end(error);
    }
}

impl Drop for DirectMember {
    fn drop(&mut self) {
        let state = self.state.get_mut().unwrap_or_else(PoisonError::into_inner);
        let over = Error::new("the group is closed");
        let rendezvous = self.context.rendezvous();
        if state.listens {
            rendezvous.give_up(&back_end::abort_key(&self.scope), &over);
        }
        for position in (0..self.members.len()).filter(|position| *position != self.index) {
            // It waits no more for the cards that did not come.
            rendezvous.give_up(&self.card_key(position, self.index), &over);
        }
        if let Some(links) = self.links.get() {
            links.close();
        }
    }
}

impl fmt::Debug for DirectMember {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DirectMember")
            .field("group", &self.group)
            .field("index", &self.index)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
