//! A member of a group: what is in progress, what waits, and what ends it.

use std::collections::{HashMap, VecDeque};
use std::fmt::{self, Write};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};

use prost::bytes::Bytes;
use tfrt_async::{AsyncValueRef, Chain};
use tfrt_queue::Task;
use tfrt_support::{Error, ErrorCode};
use tfrt_tensor::HostBuffer;

use super::super::header::Part;
use super::super::{back_end, epoch, ring};
use super::exchange::{Delivered, Exchange, Failed, Outcome, Outgoing, Running, Step, Then};
use super::message::{Arrival, Head, MAX_HEAD_BYTES, Message};
use super::{Connect, LinkEvents, Links, MemberPlace};
use crate::cluster::TaskHandle;
use crate::context::DistributedContext;
use crate::error::{Gather, RemoteErrors};
use crate::health::Watch;
use crate::payload::Payload;

/// The size of a waiting message in addition to its elements and head.
pub(super) const OVERHEAD_BYTES: usize = 256;

/// A member that exchanges messages with all others.
pub(super) struct DirectMember {
    pub(super) this: Weak<Self>,
    pub(super) context: Arc<DistributedContext>,
    pub(super) group: String,
    /// The epoch of the group that the member was opened in.
    pub(super) epoch: u64,
    /// Its name, which is part of all keys.
    pub(super) scope: String,
    pub(super) members: Arc<[TaskHandle]>,
    pub(super) index: usize,
    pub(super) links: OnceLock<Arc<dyn Links>>,
    pub(super) state: Mutex<State>,
    /// Report lost members.
    pub(super) watches: OnceLock<Vec<Watch>>,
}

#[derive(Default)]
pub(super) struct State {
    /// What is in progress or waits, by key.
    pub(super) exchanges: HashMap<String, Exchange>,
    /// Tensors and their receivers, by sender and key.
    pub(super) tensors: HashMap<(usize, String), Waiting>,
    /// The cards of the other members that have come.
    pub(super) cards: HashMap<usize, Bytes>,
    /// Why nothing arrives from a member any more.
    pub(super) gone: HashMap<usize, Error>,
    pub(super) aborted: Option<Error>,
    /// The size of the messages that wait.
    pub(super) unclaimed_bytes: usize,
    pub(super) next_number: u64,
    /// Whether the member still waits for another member's abort.
    pub(super) listens: bool,
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
pub(super) enum Waiting {
    Tensors(VecDeque<Arrival>),
    Receiver(Box<dyn FnOnce(Result<Arrival, Error>) + Send>),
}

/// The callback for the outcome of an operation.
pub(super) type Done = Box<dyn FnOnce(Result<(), Error>) + Send>;

/// Work that is done once the lock is released.
pub(super) type Later = Box<dyn FnOnce() + Send>;

impl DirectMember {
    pub(super) fn open(
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

    /// Returns the key under which a member with this card learns that another one cannot be
    /// connected with it. A member that opens the group again has another card.
    fn refusal_key(&self, from: usize, to: usize, card: &[u8]) -> String {
        let mut key = self.card_key(from, to) + ":";
        for byte in card {
            // Writing to a string does not fail.
            let _ = write!(key, "{byte:02x}");
        }
        key
    }

    /// Tells another member that it cannot be connected with this one. One whose card has not come
    /// learns it from the connection.
    pub(super) fn tell_unreachable(&self, position: usize, cause: &str) {
        let Some(card) = self.lock().cards.get(&position).cloned() else {
            return;
        };
        let key = self.refusal_key(self.index, position, &card);
        let text = Bytes::copy_from_slice(cause.as_bytes());
        // A lost one has no use for it.
        self.context
            .send_data(self.members[position], key, vec![text], |_| ());
    }

    /// Returns the error of the connection to another member.
    pub(super) fn connection_error(&self, position: usize, cause: &str) -> Error {
        let task = self.context.cluster().task_name(self.members[position]);
        let task = task.map(|task| task.to_string()).unwrap_or_default();
        let message = format!("the connection to task {task} has ended: {cause}");
        Error::new(message).with_code(ErrorCode::Unavailable)
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
        let own_card = self.links.get().map(|links| links.card());
        for position in self.others() {
            if let Some(card) = &own_card {
                self.await_refusal(position, card);
            }
            let weak = self.this.clone();
            let receiver = move |payload: Result<Payload, Error>| {
                let (Some(this), Ok(payload)) = (weak.upgrade(), payload) else {
                    return;
                };
                let buffers = payload.buffers();
                let card = buffers.first().map(HostBuffer::read);
                match (card, this.links.get()) {
                    (Some(Ok(card)), Some(links)) if buffers.len() == 1 => {
                        let kept = Bytes::copy_from_slice(&card);
                        this.lock().cards.insert(position, kept);
                        links.introduce(position, &card);
                    }
                    _ => {
                        this.broken(position, &back_end::error_in(&payload));
                    }
                }
            };
            let key = self.card_key(position, self.index);
            let from = self.members[position];
            self.context.receive(from, &key, Box::new(receiver));
        }
    }

    fn await_refusal(&self, position: usize, own_card: &[u8]) {
        let weak = self.this.clone();
        let receiver = move |payload: Result<Payload, Error>| {
            if let (Some(this), Ok(payload)) = (weak.upgrade(), payload) {
                let cause = back_end::error_in(&payload);
                this.broken(position, &this.connection_error(position, cause.message()));
            }
        };
        let key = self.refusal_key(position, self.index, own_card);
        let from = self.members[position];
        self.context.receive(from, &key, Box::new(receiver));
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn place(&self) -> MemberPlace {
        MemberPlace {
            index: self.index,
            size: self.members.len(),
        }
    }

    /// Returns `true` for the position of another member.
    pub(super) fn is_other(&self, position: usize) -> bool {
        position < self.members.len() && position != self.index
    }

    /// Returns the positions of the other members.
    pub(super) fn others(&self) -> impl Iterator<Item = usize> + use<> {
        let index = self.index;
        (0..self.members.len()).filter(move |position| *position != index)
    }

    pub(super) fn send(&self, to: &[usize], message: &Message) {
        if let Some(links) = self.links.get() {
            links.send(to, message);
        }
    }

    /// Adds a task to the work queue.
    pub(super) fn later(&self, task: impl FnOnce() + Send + 'static) {
        self.context.host().queue().add_task(Task::new(task));
    }

    pub(super) fn announced(
        &self,
        from: usize,
        head: &[u8],
        len_bytes: u64,
    ) -> Result<HostBuffer, Error> {
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
        let is_expected = if head.is_tensor() {
            let waiting = state.tensors.get(&(from, head.key.to_owned()));
            matches!(waiting, Some(Waiting::Receiver(_)))
        } else {
            let exchange = state.exchanges.get(head.key);
            let expected = exchange.and_then(|exchange| exchange.expected_bytes(from));
            expected.is_some_and(|expected| len_bytes <= expected)
        };
        let limit = self.context.rendezvous().max_bytes();
        let total = state.unclaimed_bytes.checked_add(size).ok_or_else(full)?;
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

    pub(super) fn received(&self, from: usize, head: &[u8], elements: HostBuffer) {
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

    /// Fails what needs a member from which nothing arrives any more. Returns `false` if that was
    /// known.
    pub(super) fn broken(&self, member: usize, error: &Error) -> bool {
        let mut later: Vec<Later> = Vec::new();
        let mut state = self.lock();
        if state.gone.contains_key(&member) {
            return false;
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
        true
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
                .failing(&running.outcome)
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
    pub(super) fn start(
        &self,
        key: &str,
        part: Part,
        prepare: impl FnOnce(&Gather) -> Result<(Outgoing, Step), Error>,
        done: Done,
    ) {
        let Some(this) = self.this.upgrade() else {
            return done(Err(Error::new("the group is closed")));
        };
        let outcome = Arc::new(Outcome::new(Arc::clone(&this), done));
        // Ends once all is done and sent.
        let work = outcome.work();
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
    pub(super) fn start_collective(
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

    pub(super) fn member(&self, position: usize) -> Result<usize, Error> {
        back_end::check_position(position, self.members.len(), &self.group)
    }

    /// Returns why nothing can be sent to a member.
    pub(super) fn loss_of(&self, to: usize) -> Error {
        let state = self.lock();
        let error = state.aborted.as_ref().or_else(|| state.gone.get(&to));
        let error = error.cloned();
        error.unwrap_or_else(|| Error::new("the group is closed"))
    }

    /// Fails everything in progress, and refuses later operations.
    pub(super) fn fail_all(&self, error: &Error) -> bool {
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
        // What was announced and has not arrived still counts, until it does.
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
    pub(super) fn end(&self, error: &Error) {
        // Before the operations end: those that start between the two detect it.
        self.context.epochs().end(&self.group, self.epoch, error);
        if self.fail_all(error) {
            back_end::discard_epochs(&self.context, &self.group, self.epoch + 1);
        }
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
        let own_card = self.links.get().map(|links| links.card());
        for position in (0..self.members.len()).filter(|position| *position != self.index) {
            // It waits no more for the cards that did not come.
            rendezvous.give_up(&self.card_key(position, self.index), &over);
            if let Some(card) = &own_card {
                rendezvous.give_up(&self.refusal_key(position, self.index, card), &over);
            }
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
