//! A member of a group: what arrives, what waits, and what ends it.

use std::collections::{HashMap, VecDeque};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};

use prost::bytes::Bytes;
use tfrt_host::allocator::{ArenaAllocator, HostAllocator};
use tfrt_queue::Task;
use tfrt_support::{Error, ErrorCode};
use tfrt_tensor::HostBuffer;

use super::super::{back_end, epoch};
use super::cards::Card;
use super::elements::{Elements, MemberLoan};
use super::exchange::Exchange;
use super::message::{Arrival, Head, Message};
use super::{Connect, LinkEvents, Links, MemberPlace};
use crate::cluster::TaskHandle;
use crate::context::DistributedContext;
use crate::error::RemoteErrors;
use crate::health::Watch;
use crate::payload::Payload;

/// The size of a waiting message in addition to its elements and head.
pub(super) const OVERHEAD_BYTES: usize = 256;

/// The memory that a member keeps between operations, in bytes. An all-reduce of four members needs
/// less than twice the size of its tensor.
const MAX_KEPT_BYTES: usize = 256 << 20;

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
    /// For the elements of messages, which are as large in one operation as in the next: memory
    /// from the system would have to be mapped and cleared for each.
    memory: Arc<ArenaAllocator>,
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
    /// Why nothing is received from any member that has not come already: one is lost.
    pub(super) lost: Option<Error>,
    pub(super) aborted: Option<Error>,
    /// The size of the messages that wait.
    pub(super) unclaimed_bytes: usize,
    pub(super) next_number: u64,
    /// Whether the member still waits for another member's abort.
    pub(super) listens: bool,
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
        let source = Arc::clone(context.host().allocator());
        let memory = Arc::new(ArenaAllocator::new(source).max_kept_bytes(MAX_KEPT_BYTES));
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
            memory,
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
            health.watch(*member, move |end| {
                if let Some(this) = this.upgrade() {
                    let error = RemoteErrors::from(end.into_error()).to_value(this.context.host());
                    this.broken(position, &error);
                    this.end_receives(&error);
                }
            })
        };
        // Set once, here.
        let _ = self
            .watches
            .set(self.members.iter().enumerate().map(watch).collect());
    }

    /// Returns the error of the connection to another member.
    pub(super) fn connection_error(&self, position: usize, cause: &str) -> Error {
        let task = self.context.cluster().task_name(self.members[position]);
        let task = task.map(|task| task.to_string()).unwrap_or_default();
        let message = format!("the connection to task {task} has ended: {cause}");
        Error::new(message).with_code(ErrorCode::Unavailable)
    }

    /// Returns the error of elements that another member does not lend any more.
    pub(super) fn loan_error(&self, position: usize, cause: &dyn fmt::Display) -> Error {
        let state = self.lock();
        // It may be known why.
        let known = state.aborted.as_ref().or_else(|| state.gone.get(&position));
        if let Some(error) = known {
            return error.clone();
        }
        drop(state);
        let task = self.context.cluster().task_name(self.members[position]);
        let task = task.map(|task| task.to_string()).unwrap_or_default();
        let message = format!("the elements of task {task} cannot be read: {cause}");
        Error::new(message).with_code(ErrorCode::Unavailable)
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
        let head_bytes = head.len();
        let head = Head::parse(head).ok_or_else(malformed)?;
        let len_bytes = usize::try_from(len_bytes).map_err(|_| self.full())?;
        let size = len_bytes.saturating_add(head_bytes + OVERHEAD_BYTES);
        self.claim(from, &head, len_bytes, size)?;
        let buffer = match head.is_tensor() {
            // The receiver may keep it for any time.
            true => HostBuffer::unspecified(self.context.host().allocator(), len_bytes),
            false => HostBuffer::unspecified(&self.memory(), len_bytes),
        };
        if buffer.is_err() {
            self.lock().unclaimed_bytes -= size;
        }
        Ok(buffer?)
    }

    /// Counts a message among those that wait.
    fn claim(
        &self,
        from: usize,
        head: &Head<'_>,
        len_bytes: usize,
        size: usize,
    ) -> Result<(), Error> {
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
        let total = state.unclaimed_bytes.checked_add(size);
        let total = total.ok_or_else(|| self.full())?;
        if !is_expected && total > limit {
            return Err(self.full());
        }
        state.unclaimed_bytes = total;
        Ok(())
    }

    fn full(&self) -> Error {
        let name = self.context.cluster().own_name();
        let message = format!("receive buffer of {name} is full");
        Error::new(message).with_code(ErrorCode::Unavailable)
    }

    /// Takes a message whose elements stay where they are.
    pub(super) fn lent(&self, from: usize, head: &[u8], loan: MemberLoan) -> Result<(), Error> {
        // No memory of this process waits.
        let size = head.len() + OVERHEAD_BYTES;
        let parsed = Head::parse(head).filter(Head::may_be_lent);
        let parsed = parsed.ok_or_else(malformed)?;
        self.claim(from, &parsed, loan.len_bytes(), size)?;
        self.deliver(
            from,
            &parsed,
            Arrival::new(&parsed, Elements::Lent(loan), size),
        );
        Ok(())
    }

    /// Has the elements dropped that failed operations lent.
    pub(super) fn take_back(&self) {
        if let Some(links) = self.links.get() {
            links.take_back();
        }
    }

    /// Returns the allocator for elements that are dropped with their operation.
    pub(super) fn memory(&self) -> Arc<dyn HostAllocator> {
        Arc::clone(&self.memory) as _
    }

    #[cfg(test)]
    pub(super) fn memory_statistics(&self) -> tfrt_host::allocator::ArenaStatistics {
        self.memory.statistics()
    }

    /// Returns memory to the host, if much is kept and nothing is in progress. Called without the
    /// lock: it may take its time.
    pub(super) fn trim_memory(&self) {
        if self.lock().exchanges.is_empty() {
            self.memory.trim();
        }
    }

    pub(super) fn received(&self, from: usize, head: &[u8], elements: HostBuffer) {
        let size = elements.len_bytes() + head.len() + OVERHEAD_BYTES;
        let Some(head) = Head::parse(head) else {
            // It was parsed when it was announced.
            return;
        };
        let arrival = Arrival::new(&head, Elements::Here(elements), size);
        self.deliver(from, &head, arrival);
    }

    fn deliver(&self, from: usize, head: &Head<'_>, arrival: Arrival) {
        let (key, size) = (head.key.to_owned(), arrival.size_bytes);
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

    /// Fails what is received from any member, because one is lost.
    fn end_receives(&self, error: &Error) {
        let mut state = self.lock();
        state.lost.get_or_insert_with(|| error.clone());
        let is_receiver =
            |_: &(usize, String), waiting: &mut Waiting| matches!(waiting, Waiting::Receiver(_));
        let receivers: Vec<_> = state.tensors.extract_if(is_receiver).collect();
        drop(state);
        for (_, waiting) in receivers {
            if let Waiting::Receiver(receiver) = waiting {
                receiver(Err(error.clone()));
            }
        }
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

#[cold]
fn malformed() -> Error {
    Error::new("malformed message of a collective")
}

impl Drop for DirectMember {
    fn drop(&mut self) {
        let state = self.state.get_mut().unwrap_or_else(PoisonError::into_inner);
        let over = Error::new("the group is closed");
        let rendezvous = self.context.rendezvous();
        if state.listens {
            rendezvous.give_up(&back_end::abort_key(&self.scope), &over);
        }
        self.stop_awaiting_cards(&over);
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
