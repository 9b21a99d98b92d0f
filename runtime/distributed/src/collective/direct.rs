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
//! A back end whose members can read each other's memory may *lend* the elements of a message
//! instead of sending them. The operation of the receiver copies them to where they belong and then
//! drops them. An operation ends when nothing of it is lent any more, so no member may wait for the
//! end of its own loans before it reads those of others:
//!
//! D1. Elements that all members lend to each other are read in a step. Only a broadcast, whose
//! sender is the only lender, reads them when the result is written.
//!
//! | module | contents |
//! |---|---|
//! | `message` | messages, and their heads |
//! | `elements` | the elements of messages that have arrived |
//! | `exchange` | the state of the operations and messages under one key |
//! | `operations` | the collectives as exchanges |
//! | `member` | a member: what arrives, what waits, and what ends it |
//! | `in_progress` | its operations in progress: how they start, continue and fail |
//! | `cards` | how members find each other |
//! | `group_member` | its operations, as every back end has them |

mod exchange;

mod message;

mod elements;

mod operations;

mod member;

mod in_progress;

mod cards;

mod group_member;

use std::fmt;
use std::sync::{Arc, Weak};

use prost::bytes::Bytes;
use tfrt_support::Error;
use tfrt_tensor::HostBuffer;

use super::GroupMember;
use crate::context::DistributedContext;

pub use elements::LentElements;
use elements::MemberLoan;
use member::DirectMember;
pub use message::{MAX_HEAD_BYTES, Message};

/// The connections of a member to the other members of its group: all that a back end of direct
/// exchanges has to provide.
///
/// Each member makes a *card*, from which the others learn how to reach it. Messages to a member
/// arrive whole, once, and in order, or the connection is reported as broken.
///
/// # Example
///
/// Members in one process, whose messages pass through a channel and a thread:
///
/// ```
/// use std::sync::mpsc::{Sender, channel};
/// use std::sync::{Arc, Mutex};
/// use tfrt_distributed::collective::direct::{self, LinkEvents, Links, MemberPlace, Message};
/// use tfrt_distributed::collective::{GroupMember, Reduction};
/// # use tfrt_distributed::fabric::CommunicatorType;
/// # use tfrt_distributed::message::DistributedContextConfiguration;
/// # use tfrt_distributed::{Server, ServerConfig};
/// # use tfrt_host::HostContext;
/// # use tfrt_tensor::DenseHostTensor;
///
/// /// Messages under way: from, to.
/// type UnderWay = (usize, usize, Message);
///
/// #[derive(Debug)]
/// struct InProcess {
///     place: MemberPlace,
///     under_way: Sender<UnderWay>,
/// }
///
/// impl Links for InProcess {
///     fn card(&self) -> bytes::Bytes {
///         bytes::Bytes::new()
///     }
///
///     fn introduce(&self, _member: usize, _card: &[u8]) {}
///
///     fn send(&self, to: &[usize], message: &Message) {
///         for member in to {
///             let _ = self.under_way.send((self.place.index, *member, message.clone()));
///         }
///     }
///
///     fn lose(&self, _member: usize) {}
///
///     fn close(&self) {}
/// }
///
/// /// Hands messages to the members.
/// fn deliver(members: &[LinkEvents], from: usize, to: usize, message: &Message) {
///     let (member, elements) = (&members[to], &message.elements);
///     match member.announced(from, &message.head, elements.len() as u64) {
///         Ok(mut memory) => {
///             memory.write().unwrap().copy_from_slice(elements);
///             member.received(from, &message.head, memory);
///         }
///         Err(error) => member.broken(from, error.message()),
///     }
/// }
///
/// # let host = HostContext::builder().build();
/// # let in_process = CommunicatorType::find("in_process").ok_or("it is always linked")?;
/// # let addresses = [(in_process.free_address)()?, (in_process.free_address)()?];
/// # let cluster = DistributedContextConfiguration::local_cluster(&addresses);
/// # let servers = addresses.map(|address| Server::new(&host, ServerConfig::new("in_process", address)));
/// # let [client, worker] = servers.map(Result::unwrap);
/// # let (sender, done) = channel();
/// # client.initialize_single_client(Some(7), &cluster[0], move |outcome| sender.send(outcome).unwrap());
/// # host.quiesce()?;
/// # let contexts = [done.try_recv()?.unwrap(), worker.context(7).unwrap()];
/// let (under_way, arriving) = channel::<UnderWay>();
/// let all_events = Arc::new(Mutex::new(Vec::new()));
/// let mut members: Vec<Arc<dyn GroupMember>> = Vec::new();
/// for context in &contexts {
///     let (under_way, all_events) = (under_way.clone(), Arc::clone(&all_events));
///     let connect = move |events: LinkEvents, place: MemberPlace| {
///         all_events.lock().unwrap().push(events);
///         Ok(Arc::new(InProcess { place, under_way }) as Arc<dyn Links>)
///     };
///     members.push(direct::open("group1", context, Box::new(connect))?);
/// }
/// let mut sums = Vec::new();
/// for member in &members {
///     let number = DenseHostTensor::vector(&[20 + member.index() as i32])?;
///     sums.push((member.all_reduce("sum", Reduction::Sum, number.clone(), number.clone()), number));
/// }
/// // Two messages of each member, one for each phase.
/// let events = all_events.lock().unwrap().clone();
/// for _ in 0..4 {
///     host.quiesce()?;
///     let (from, to, message) = arriving.recv()?;
///     deliver(&events, from, to, &message);
/// }
/// host.quiesce()?;
/// for (done, sum) in sums {
///     assert!(done.as_result().is_ok());
///     assert_eq!(*sum.elements::<i32>()?, [41]);
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait Links: Send + Sync + fmt::Debug {
    /// Returns the card of this member.
    fn card(&self) -> Bytes;

    /// Connects to the member with this card. Does not block. Messages may have been sent to it
    /// before.
    fn introduce(&self, member: usize, card: &[u8]);

    /// Sends a message to other members. Does not block, and calls no event on the stack of the
    /// call. The message is dropped once it was sent so that it arrives even if this process ends,
    /// or if it will not be sent.
    fn send(&self, to: &[usize], message: &Message);

    /// Drops what was to be sent to a lost member, or [gives it up](Message::give_up). Does not
    /// block.
    fn lose(&self, member: usize);

    /// Drops the messages of [failed](Message::has_failed) operations whose elements are lent. Does
    /// not block.
    fn take_back(&self) {}

    /// Ends the connections once everything is sent and nothing is lent any more, but soon. Does
    /// not block.
    fn close(&self);
}

/// What connections report to their member: see the example of [`Links`]. Cloning shares it.
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

    /// Passes on a message whose elements another member lends. It must be one that
    /// [may be lent](Message::may_be_lent).
    ///
    /// # Errors
    /// As for [`announced`](Self::announced).
    pub fn lent(
        &self,
        from: usize,
        head: &[u8],
        elements: Box<dyn LentElements>,
    ) -> Result<(), Error> {
        let member = self.member.upgrade();
        let member = member.ok_or_else(|| Error::new("the group is closed"))?;
        if !member.is_other(from) {
            return Err(Error::new("malformed message of a collective"));
        }
        let loan = MemberLoan::new(elements, Weak::clone(&self.member), from);
        member.lent(from, head, loan)
    }

    /// Reports that nothing arrives from a member any more, and why.
    pub fn broken(&self, member: usize, cause: &str) {
        if let Some(this) = self.member.upgrade().filter(|this| this.is_other(member)) {
            this.broken(member, &this.connection_error(member, cause));
        }
    }

    /// Reports that a member cannot be connected, and why. The other member, which may not notice
    /// it, is told.
    pub fn unreachable(&self, member: usize, cause: &str) {
        if let Some(this) = self.member.upgrade().filter(|this| this.is_other(member))
            && this.broken(member, &this.connection_error(member, cause))
        {
            this.tell_unreachable(member, cause);
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
///
/// ```
/// use tfrt_distributed::collective::direct::MemberPlace;
///
/// let place = MemberPlace { index: 2, size: 4 };
/// assert!(place.index < place.size);
/// ```
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

#[cfg(test)]
mod tests;
