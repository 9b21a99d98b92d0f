//! Back ends of collectives: the interface, and the one that every task has.

mod point_to_point;

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};

use prost::bytes::Bytes;
use tfrt_async::{AsyncValueRef, Chain, Value};
use tfrt_support::{Error, ErrorCode};
use tfrt_tensor::DenseHostTensor;

use super::all_gather::{all_gather_any_shape, all_gather_fixed_shape, key_of_shapes};
use super::all_reduce::{all_reduce, barrier, reduce_scatter};
use super::all_to_all::all_to_all;
use super::broadcast::broadcast;
use super::schedule::Algorithm;
use super::{Collective, Reduction, epoch, ring};
use crate::cluster::TaskHandle;
use crate::context::DistributedContext;
use crate::error::{RemoteError, RemoteErrors};
use crate::health::Watch;
use crate::payload::Payload;

/// A back end: a way to perform collectives.
pub trait Collectives: Send + Sync + fmt::Debug {
    /// Returns the name of the back end.
    fn name(&self) -> &'static str;

    /// Returns this task as a member of a group. The members find each other through `exchange`.
    ///
    /// # Errors
    /// If there is no such group, this task is not a member, or it has opened the group already.
    fn open(
        &self,
        group: &str,
        exchange: &Arc<DistributedContext>,
    ) -> Result<Arc<dyn GroupMember>, Error>;
}

/// This task as a member of a group. All members start the same operations, each under a key that
/// no other operation in progress has.
///
/// Results are written before the returned value becomes available, and tensors are not written by
/// others until then. If a member fails or is lost, the operation is an error on every member, and
/// the tensors that it writes may hold a part of the result.
pub trait GroupMember: Send + Sync + fmt::Debug {
    /// Returns the position of this member.
    fn index(&self) -> usize;

    /// Returns the number of members.
    fn size(&self) -> usize;

    /// Combines the tensors of all members, element by element, and writes the result into
    /// `output`, and into `input` if that is another tensor, unless the host
    /// [keeps inputs](super::AllReduceKeepsInput).
    fn all_reduce(
        &self,
        key: &str,
        reduction: Reduction,
        input: DenseHostTensor,
        output: DenseHostTensor,
    ) -> AsyncValueRef<Chain>;

    /// Combines the tensors of all members and writes the chunk of this member into `output`.
    fn reduce_scatter(
        &self,
        key: &str,
        reduction: Reduction,
        input: DenseHostTensor,
        output: DenseHostTensor,
    ) -> AsyncValueRef<Chain>;

    /// Writes the tensor of the member at position `sender` into the tensors of the others.
    fn broadcast(&self, key: &str, tensor: DenseHostTensor, sender: usize) -> AsyncValueRef<Chain>;

    /// Writes the tensors of all members, which have one shape, side by side along an axis.
    fn all_gather(
        &self,
        key: &str,
        input: DenseHostTensor,
        output: DenseHostTensor,
        axis: u64,
    ) -> AsyncValueRef<Chain>;

    /// Returns the tensors of all members side by side along an axis, in which they may differ.
    fn all_gather_any(
        &self,
        key: &str,
        input: DenseHostTensor,
        axis: u64,
    ) -> AsyncValueRef<DenseHostTensor>;

    /// Sends chunk j of `input` to member j, and writes the chunks for this member into `output`.
    fn all_to_all(
        &self,
        key: &str,
        input: DenseHostTensor,
        output: DenseHostTensor,
    ) -> AsyncValueRef<Chain>;

    /// Sends a tensor to the member at position `to`, which receives it under the same key. If this
    /// fails although both members live, the receive that belongs to it is an error, too.
    fn send(&self, key: &str, to: usize, tensor: &DenseHostTensor) -> AsyncValueRef<Chain>;

    /// Receives a tensor from the member at position `from`. If any member is lost before the
    /// tensor is there, this is an error: after that, the others may send nothing more in this
    /// group.
    fn recv(&self, key: &str, from: usize) -> AsyncValueRef<DenseHostTensor>;

    /// Waits until all members have called this.
    fn barrier(&self, key: &str) -> AsyncValueRef<Chain>;

    /// Tells the other members that this one cannot start an operation: theirs fail with the text
    /// of `error`.
    ///
    /// # Errors
    /// `AlreadyExists` if an operation with this key is in progress on this task. It goes on: the
    /// other members take part in it, and none of them waits for a second one with its key, because
    /// each refuses that.
    fn abandon(&self, key: &str, error: &Error) -> Result<(), Error>;

    /// Ends all operations of the group on all members with an error, and refuses later ones. To
    /// go on, every member drops the group and opens it again. Nothing that the ended operations
    /// have sent reaches those after that, even if they have the same keys.
    fn abort(&self, error: &Error);
}

/// The default: messages around the ring of members, over the transport of the context.
///
/// ```
/// use std::sync::Arc;
/// use std::sync::mpsc::channel;
/// use tfrt_distributed::collective::{Collectives, Reduction, RingCollectives};
/// use tfrt_distributed::fabric::CommunicatorType;
/// use tfrt_distributed::message::DistributedContextConfiguration;
/// use tfrt_distributed::{Server, ServerConfig};
/// use tfrt_host::HostContext;
/// use tfrt_tensor::DenseHostTensor;
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
/// // Both tasks, here in one process, are members of the group.
/// let mut sums = Vec::new();
/// for context in &contexts {
///     let member = RingCollectives.open("group1", context)?;
///     let number = DenseHostTensor::vector(&[20 + member.index() as i32])?;
///     sums.push((member.all_reduce("sum", Reduction::Sum, number.clone(), number.clone()), number));
/// }
/// host.quiesce()?;
/// for (done, sum) in sums {
///     assert!(done.as_result().is_ok());
///     assert_eq!(*sum.elements::<i32>()?, [41]);
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct RingCollectives;

impl Collectives for RingCollectives {
    fn name(&self) -> &'static str {
        "ring"
    }

    fn open(
        &self,
        group: &str,
        exchange: &Arc<DistributedContext>,
    ) -> Result<Arc<dyn GroupMember>, Error> {
        Ok(RingMember::open(group, exchange)?)
    }
}

/// Reductions and barriers along a tree of members, whatever the size of the tensors: the few steps
/// suit small ones, and the ring is faster for large ones. The other collectives go around the
/// ring. The results of floating-point reductions may differ from those of the ring in the last
/// bits, so a group must [allow](crate::message::CollectiveGroupConfiguration::order) any order.
///
/// ```
/// use std::sync::Arc;
/// use std::sync::mpsc::channel;
/// use tfrt_distributed::collective::{Collectives, Reduction, TreeCollectives};
/// use tfrt_distributed::fabric::CommunicatorType;
/// use tfrt_distributed::message::{ANY_ORDER, DistributedContextConfiguration};
/// use tfrt_distributed::{Server, ServerConfig};
/// use tfrt_host::HostContext;
/// use tfrt_tensor::DenseHostTensor;
///
/// # let host = HostContext::builder().build();
/// # let in_process = CommunicatorType::find("in_process").ok_or("it is always linked")?;
/// # let addresses = [(in_process.free_address)()?, (in_process.free_address)()?];
/// let mut configs = DistributedContextConfiguration::local_cluster(&addresses);
/// for group in configs.iter_mut().flat_map(|config| &mut config.collective_groups) {
///     group.order = ANY_ORDER.to_owned();
/// }
/// # let servers = addresses.map(|address| Server::new(&host, ServerConfig::new("in_process", address)));
/// # let [client, worker] = servers.map(Result::unwrap);
/// # let (sender, done) = channel();
/// # client.initialize_single_client(Some(1), &configs[0], move |outcome| sender.send(outcome).unwrap());
/// # host.quiesce()?;
/// # let contexts = [done.try_recv()?.unwrap(), worker.context(1).unwrap()];
///
/// let mut sums = Vec::new();
/// for context in &contexts {
///     let member = TreeCollectives.open("group1", context)?;
///     let number = DenseHostTensor::vector(&[20 + member.index() as i32])?;
///     sums.push((member.all_reduce("sum", Reduction::Sum, number.clone(), number.clone()), number));
/// }
/// host.quiesce()?;
/// for (done, sum) in sums {
///     assert!(done.as_result().is_ok());
///     assert_eq!(*sum.elements::<i32>()?, [41]);
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct TreeCollectives;

impl Collectives for TreeCollectives {
    fn name(&self) -> &'static str {
        "tree"
    }

    fn open(
        &self,
        group: &str,
        exchange: &Arc<DistributedContext>,
    ) -> Result<Arc<dyn GroupMember>, Error> {
        open_in_any_order(self.name(), Algorithm::Tree, group, exchange)
    }
}

/// Reductions and barriers by recursive doubling, in the fewest steps. The same holds as for
/// [`TreeCollectives`].
///
/// ```
/// use std::sync::Arc;
/// use std::sync::mpsc::channel;
/// use tfrt_distributed::collective::{Collectives, Reduction, RecursiveDoublingCollectives};
/// use tfrt_distributed::fabric::CommunicatorType;
/// use tfrt_distributed::message::{ANY_ORDER, DistributedContextConfiguration};
/// use tfrt_distributed::{Server, ServerConfig};
/// use tfrt_host::HostContext;
/// use tfrt_tensor::DenseHostTensor;
///
/// # let host = HostContext::builder().build();
/// # let in_process = CommunicatorType::find("in_process").ok_or("it is always linked")?;
/// # let addresses = [(in_process.free_address)()?, (in_process.free_address)()?];
/// let mut configs = DistributedContextConfiguration::local_cluster(&addresses);
/// for group in configs.iter_mut().flat_map(|config| &mut config.collective_groups) {
///     group.order = ANY_ORDER.to_owned();
/// }
/// # let servers = addresses.map(|address| Server::new(&host, ServerConfig::new("in_process", address)));
/// # let [client, worker] = servers.map(Result::unwrap);
/// # let (sender, done) = channel();
/// # client.initialize_single_client(Some(1), &configs[0], move |outcome| sender.send(outcome).unwrap());
/// # host.quiesce()?;
/// # let contexts = [done.try_recv()?.unwrap(), worker.context(1).unwrap()];
///
/// let mut sums = Vec::new();
/// for context in &contexts {
///     let member = RecursiveDoublingCollectives.open("group1", context)?;
///     let number = DenseHostTensor::vector(&[20 + member.index() as i32])?;
///     sums.push((member.all_reduce("sum", Reduction::Sum, number.clone(), number.clone()), number));
/// }
/// host.quiesce()?;
/// for (done, sum) in sums {
///     assert!(done.as_result().is_ok());
///     assert_eq!(*sum.elements::<i32>()?, [41]);
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct RecursiveDoublingCollectives;

impl Collectives for RecursiveDoublingCollectives {
    fn name(&self) -> &'static str {
        "recursive_doubling"
    }

    fn open(
        &self,
        group: &str,
        exchange: &Arc<DistributedContext>,
    ) -> Result<Arc<dyn GroupMember>, Error> {
        open_in_any_order(self.name(), Algorithm::RecursiveDoubling, group, exchange)
    }
}

/// Opens a group with an algorithm whose order is not that of the ring.
fn open_in_any_order(
    name: &str,
    algorithm: Algorithm,
    group: &str,
    exchange: &Arc<DistributedContext>,
) -> Result<Arc<dyn GroupMember>, Error> {
    position_in(group, exchange)?;
    if !exchange.allows_any_order(group) {
        let message = format!(
            "the collectives `{name}` combine elements in an order of their own, but group {group} \
             has the order of the ring: set its order to `any`"
        );
        return Err(Error::new(message).with_code(ErrorCode::FailedPrecondition));
    }
    Ok(RingMember::open_with(algorithm, group, exchange)?)
}

/// A member that starts the collectives of this crate.
pub(super) struct RingMember {
    this: Weak<Self>,
    context: Arc<DistributedContext>,
    group: String,
    /// The epoch of the group that the member was opened in.
    epoch: u64,
    /// Its name, which is part of all keys.
    scope: String,
    members: Arc<[TaskHandle]>,
    index: usize,
    /// How it reduces tensors.
    algorithm: Algorithm,
    state: Mutex<State>,
    /// End what is received when a member is lost.
    watches: OnceLock<Vec<Watch>>,
}

#[derive(Default)]
struct State {
    /// The operations in progress, by number.
    in_progress: HashMap<u64, Operation>,
    next_number: u64,
    aborted: Option<Error>,
    /// The keys of the sends in progress.
    sending: HashSet<String>,
    /// Whether the member still waits for another member's abort.
    listens: bool,
}

/// What ends an operation.
#[derive(Clone, Debug)]
enum Operation {
    /// The keys of the collectives that it consists of.
    Collectives(Vec<String>),
    /// The key of the awaited payload.
    Receive(String),
}

/// Returns the members of a group, and the position of this task among them.
///
/// # Errors
/// If there is no such group, or this task is not a member.
pub fn position_in(
    group: &str,
    context: &DistributedContext,
) -> Result<(Arc<[TaskHandle]>, usize), Error> {
    let cluster = context.cluster();
    let members = context.group(group).map_err(RemoteError::into_plain)?;
    let own_task = cluster.own_task();
    let index = members.iter().position(|member| *member == own_task);
    let index = index.ok_or_else(|| {
        let task = cluster.own_name();
        let message =
            format!("The current task {task} is not part of the collective group {group}");
        Error::new(message).with_code(ErrorCode::InvalidArgument)
    })?;
    Ok((members, index))
}

/// Returns `true` if this task is a member of a group.
pub(crate) fn is_member(group: &str, context: &DistributedContext) -> bool {
    position_in(group, context).is_ok()
}

/// Checks the position of a member of a group.
pub(super) fn check_position(position: usize, size: usize, group: &str) -> Result<usize, Error> {
    if position < size {
        return Ok(position);
    }
    let message = format!("expected a member below {size} of group {group}, found {position}");
    Err(Error::new(message).with_code(ErrorCode::InvalidArgument))
}

#[cold]
pub(super) fn is_open_already(group: &str) -> Error {
    let message = format!("group {group} is open already");
    Error::new(message).with_code(ErrorCode::AlreadyExists)
}

/// Returns the key under which a member waits for another member's abort. Whoever waits for it has
/// opened the group.
pub(super) fn abort_key(scope: &str) -> String {
    format!("{}{scope}", ring::ABORTED)
}

/// Returns the error that a payload contains as text.
pub(super) fn error_in(payload: &Payload) -> Error {
    let text = payload.buffers().first().and_then(|text| text.read().ok());
    let text = text.map(|text| String::from_utf8_lossy(&text).into_owned());
    Error::new(text.unwrap_or_default())
}

/// Tells the other members of an epoch that it is over.
pub(super) fn tell_abort(
    context: &Arc<DistributedContext>,
    scope: &str,
    (members, index): (&[TaskHandle], usize),
    error: &Error,
) {
    let text = Bytes::copy_from_slice(error.message().as_bytes());
    for (position, member) in members.iter().enumerate() {
        if position != index {
            context.deliver(*member, abort_key(scope), vec![text.clone()], ());
        }
    }
}

/// Drops what arrives for epochs of a group before `next`.
pub(super) fn discard_epochs(context: &DistributedContext, group: &str, next: u64) {
    let of_group = group.to_owned();
    let is_over = move |key: &str, payload: &Payload| {
        let of = ring::group_in(key, payload);
        of.is_some_and(|name| epoch::is_before(name, &of_group, next))
    };
    let discard = format!("epochs of {group}");
    context.rendezvous().discard(discard, is_over);
    if let Some(over) = next.checked_sub(1) {
        context.uses().forget(&epoch::epoch_name(group, over));
    }
}

impl RingMember {
    pub(super) fn open(group: &str, context: &Arc<DistributedContext>) -> Result<Arc<Self>, Error> {
        Self::open_with(Algorithm::Ring, group, context)
    }

    fn open_with(
        algorithm: Algorithm,
        group: &str,
        context: &Arc<DistributedContext>,
    ) -> Result<Arc<Self>, Error> {
        let (members, index) = position_in(group, context)?;
        let number = context.epochs().current(group);
        let member = Arc::new_cyclic(|this| Self {
            this: this.clone(),
            context: Arc::clone(context),
            group: group.to_owned(),
            epoch: number,
            scope: epoch::epoch_name(group, number),
            members,
            index,
            algorithm,
            state: Mutex::default(),
            watches: OnceLock::new(),
        });
        let weak = member.this.clone();
        let receiver = move |payload: Result<Payload, Error>| {
            let (Some(this), Ok(payload)) = (weak.upgrade(), payload) else {
                return;
            };
            this.lock().listens = false;
            this.end(&error_in(&payload));
        };
        member.lock().listens = true;
        let rendezvous = context.rendezvous();
        if rendezvous.try_receive(&abort_key(&member.scope), Box::new(receiver)) {
            let is_over = context.epochs().current(group) > number;
            let took_part = member.lock().aborted.is_some();
            // A former member that was about to end its epoch has done so meanwhile.
            if is_over && !took_part {
                return Self::open_with(algorithm, group, context);
            }
            member.watch();
            return Ok(member);
        }
        // The receiver is that of the other one.
        member.lock().listens = false;
        Err(is_open_already(group))
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Ends what is received when a member is lost.
    fn watch(&self) {
        let health = self.context.health();
        let watch = |member: &TaskHandle| {
            let this = self.this.clone();
            health.watch(*member, move |end| {
                if let Some(this) = this.upgrade() {
                    let error = RemoteErrors::from(end.into_error()).to_value(this.context.host());
                    this.end_receives(&error);
                }
            })
        };
        // Set once, here.
        let _ = self.watches.set(self.members.iter().map(watch).collect());
    }

    fn end_receives(&self, error: &Error) {
        let key_of = |operation: &Operation| match operation {
            Operation::Receive(key) => Some(key.clone()),
            Operation::Collectives(_) => None,
        };
        let keys: Vec<String> = self
            .lock()
            .in_progress
            .values()
            .filter_map(key_of)
            .collect();
        for key in keys {
            self.context.rendezvous().give_up(&key, error);
        }
    }

    /// Returns `true` if the group was aborted.
    pub(super) fn is_aborted(&self) -> bool {
        self.lock().aborted.is_some()
    }

    /// Returns the reason why the group was aborted, if it was, or why one of its members is lost.
    pub(super) fn failure(&self) -> Option<Error> {
        let aborted = self.lock().aborted.clone();
        aborted.or_else(|| {
            let health = self.context.health();
            let lost = self.members.iter().find_map(|member| health.lost(*member));
            lost.map(|lost| RemoteErrors::from(lost).to_value(self.context.host()))
        })
    }

    fn collective(&self, key: &str) -> Collective {
        Collective {
            context: Arc::clone(&self.context),
            group: self.scope.clone(),
            key: key.to_owned(),
        }
    }

    /// Enters an operation. Returns its number, or the error of a group that was aborted.
    fn enter(&self, operation: Operation) -> Result<u64, Error> {
        let mut state = self.lock();
        if let Some(error) = &state.aborted {
            return Err(error.clone());
        }
        let number = state.next_number;
        state.next_number += 1;
        state.in_progress.insert(number, operation);
        Ok(number)
    }

    /// Starts an operation, and returns the value that its callback resolves.
    fn start<T: Value>(
        &self,
        operation: Operation,
        start: impl FnOnce(Box<dyn FnOnce(Result<T, Error>) + Send>),
    ) -> AsyncValueRef<T> {
        let number = match self.enter(operation) {
            Ok(number) => number,
            Err(error) => return AsyncValueRef::error(error),
        };
        let (promise, value) = AsyncValueRef::unconstructed();
        let this = self.this.clone();
        start(Box::new(move |outcome| {
            if let Some(this) = this.upgrade() {
                this.lock().in_progress.remove(&number);
            }
            match outcome {
                Ok(result) => promise.emplace(result),
                Err(error) => promise.set_error(error),
            }
        }));
        value
    }

    /// Starts a collective that writes its results into tensors.
    fn start_collective(
        &self,
        key: &str,
        start: impl FnOnce(Collective, Box<dyn FnOnce(Result<(), Error>) + Send>),
    ) -> AsyncValueRef<Chain> {
        let collective = self.collective(key);
        let operation = Operation::Collectives(vec![key.to_owned()]);
        self.start(operation, |done| {
            start(
                collective,
                Box::new(|outcome| done(outcome.map(|()| Chain))),
            );
        })
    }

    fn member(&self, position: usize) -> Result<TaskHandle, Error> {
        let position = check_position(position, self.members.len(), &self.group)?;
        Ok(self.members[position])
    }

    /// Ends the operations of this member.
    fn end(&self, error: &Error) {
        let mut state = self.lock();
        if state.aborted.is_some() {
            return;
        }
        state.aborted = Some(error.clone());
        let in_progress = std::mem::take(&mut state.in_progress);
        drop(state);
        // Before the operations end: those that start between the two detect it.
        self.context.epochs().end(&self.group, self.epoch, error);
        for operation in in_progress.into_values() {
            match operation {
                Operation::Collectives(keys) => {
                    for key in keys {
                        ring::interrupt(&self.collective(&key), error);
                    }
                }
                Operation::Receive(key) => self.context.rendezvous().give_up(&key, error),
            }
        }
        discard_epochs(&self.context, &self.group, self.epoch + 1);
    }
}

impl GroupMember for RingMember {
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
        self.start_collective(key, |collective, done| {
            all_reduce(collective, self.algorithm, reduction, input, output, done);
        })
    }

    fn reduce_scatter(
        &self,
        key: &str,
        reduction: Reduction,
        input: DenseHostTensor,
        output: DenseHostTensor,
    ) -> AsyncValueRef<Chain> {
        self.start_collective(key, |collective, done| {
            reduce_scatter(collective, self.algorithm, reduction, input, output, done);
        })
    }

    fn broadcast(&self, key: &str, tensor: DenseHostTensor, sender: usize) -> AsyncValueRef<Chain> {
        let sender = match self.member(sender) {
            Ok(sender) => sender,
            Err(error) => {
                let error = ring::abandon_with(&self.collective(key), error);
                return AsyncValueRef::error(error);
            }
        };
        self.start_collective(key, |collective, done| {
            broadcast(collective, tensor, sender, done);
        })
    }

    fn all_gather(
        &self,
        key: &str,
        input: DenseHostTensor,
        output: DenseHostTensor,
        axis: u64,
    ) -> AsyncValueRef<Chain> {
        self.start_collective(key, |collective, done| {
            all_gather_fixed_shape(collective, input, output, axis, done);
        })
    }

    fn all_gather_any(
        &self,
        key: &str,
        input: DenseHostTensor,
        axis: u64,
    ) -> AsyncValueRef<DenseHostTensor> {
        let collective = self.collective(key);
        let operation = Operation::Collectives(vec![key.to_owned(), key_of_shapes(key)]);
        self.start(operation, |done| {
            all_gather_any_shape(collective, input, axis, done);
        })
    }

    fn all_to_all(
        &self,
        key: &str,
        input: DenseHostTensor,
        output: DenseHostTensor,
    ) -> AsyncValueRef<Chain> {
        self.start_collective(key, |collective, done| {
            all_to_all(collective, input, output, done);
        })
    }

    fn send(&self, key: &str, to: usize, tensor: &DenseHostTensor) -> AsyncValueRef<Chain> {
        self.send_tensor(key, to, tensor)
    }

    fn recv(&self, key: &str, from: usize) -> AsyncValueRef<DenseHostTensor> {
        self.recv_tensor(key, from)
    }

    fn barrier(&self, key: &str) -> AsyncValueRef<Chain> {
        self.start_collective(key, |collective, done| {
            barrier(collective, self.algorithm, done);
        })
    }

    fn abandon(&self, key: &str, error: &Error) -> Result<(), Error> {
        // The others may gather tensors of any shape, and tell each other these first.
        ring::abandon_with_first(&self.collective(key), key_of_shapes(key), error)
    }

    fn abort(&self, error: &Error) {
        let members = (&*self.members, self.index);
        tell_abort(&self.context, &self.scope, members, error);
        self.end(error);
    }
}

impl Drop for RingMember {
    fn drop(&mut self) {
        let state = self.state.get_mut().unwrap_or_else(PoisonError::into_inner);
        if state.listens {
            let over = Error::new("the group is closed");
            let rendezvous = self.context.rendezvous();
            rendezvous.give_up(&abort_key(&self.scope), &over);
        }
    }
}

impl fmt::Debug for RingMember {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RingMember")
            .field("group", &self.group)
            .field("index", &self.index)
            .finish_non_exhaustive()
    }
}
