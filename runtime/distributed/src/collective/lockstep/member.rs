//! A member of a group whose operations start in lockstep.

use std::collections::{HashSet, VecDeque};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};

use tfrt_queue::Task;
use tfrt_support::{Error, ErrorCode};

use super::super::GroupMember;
use super::super::back_end::RingMember;
use super::super::direct::MemberPlace;
use super::super::ring::abandoned_in_use;
use super::agreement::{self, Agreed, Announcement};
use super::order::Order;
use super::{Connect, Control, Engine};
use crate::context::DistributedContext;

/// A member of a group that an [`Engine`] serves.
///
/// It performs the collectives of [`GroupMember`], on tensors in host memory. A back end whose
/// engine has operations of its own, on device memory, waits for [turns](Self::take_turn).
///
/// # Example
///
/// An engine for groups of one member, whose transfers are copies:
///
/// ```
/// use std::sync::Arc;
/// use tfrt_distributed::collective::lockstep::{self, Engine, Transfer};
/// use tfrt_distributed::collective::{GroupMember, Reduction};
/// use tfrt_support::{DType, Error};
/// # use std::sync::mpsc::channel;
/// # use tfrt_distributed::fabric::CommunicatorType;
/// # use tfrt_distributed::message::DistributedContextConfiguration;
/// # use tfrt_distributed::{Server, ServerConfig};
/// # use tfrt_host::HostContext;
/// # use tfrt_tensor::DenseHostTensor;
///
/// #[derive(Debug)]
/// struct Alone;
///
/// impl Engine for Alone {
///     fn reduces(&self, _: DType) -> bool {
///         true
///     }
///
///     fn start(&self, mut transfer: Transfer) {
///         let mut copy = || -> Result<(), Error> {
///             Ok(transfer.output.write()?.copy_from_slice(&transfer.input.read()?))
///         };
///         let copied = copy();
///         (transfer.done)(copied);
///     }
///
///     fn end(&self, _: &Error) {}
/// }
///
/// # let host = HostContext::builder().build();
/// # let in_process = CommunicatorType::find("in_process").ok_or("it is always linked")?;
/// # let addresses = [(in_process.free_address)()?];
/// # let cluster = DistributedContextConfiguration::local_cluster(&addresses);
/// # let server = Server::new(&host, ServerConfig::new("in_process", &addresses[0]))?;
/// # let (sender, done) = channel();
/// # server.initialize_single_client(Some(7), &cluster[0], move |outcome| sender.send(outcome).unwrap());
/// # host.quiesce()?;
/// # let context = done.try_recv()?.unwrap();
/// let member = lockstep::open("group1", &context, Box::new(|_, _| Ok(Arc::new(Alone))))?;
/// let numbers = DenseHostTensor::vector(&[1_i32, 2])?;
/// let sum = DenseHostTensor::vector(&[0_i32; 2])?;
/// let done = member.all_reduce("key", Reduction::Sum, numbers, sum.clone());
/// host.quiesce()?;
/// assert!(done.as_result().is_ok());
/// assert_eq!(*sum.elements::<i32>()?, [1, 2]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct LockstepMember {
    this: Weak<Self>,
    pub(super) context: Arc<DistributedContext>,
    group: String,
    pub(super) ring: Arc<RingMember>,
    engine: OnceLock<Arc<dyn Engine>>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// The keys of the operations in progress.
    in_use: HashSet<String>,
    order: Order<Start>,
    /// Operations whose turn it is, in order.
    turns: VecDeque<Start>,
    /// Whether a thread starts them.
    is_starting: bool,
}

/// Starts an operation.
type Start = Box<dyn FnOnce() + Send>;

/// An operation whose turn it is. Its key stays in use until this is dropped.
pub struct Turn {
    member: Arc<LockstepMember>,
    key: String,
    pub(super) agreed: Agreed,
}

impl fmt::Debug for Turn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Turn")
            .field("key", &self.key)
            .finish_non_exhaustive()
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        self.member.lock().in_use.remove(&self.key);
    }
}

impl Turn {
    /// Ends the group on all members: they may wait for this one inside the engine.
    pub fn fail(&self, error: &Error) {
        self.member.end(error);
    }
}

impl LockstepMember {
    pub(super) fn open(
        group: &str,
        context: &Arc<DistributedContext>,
        connect: Box<Connect<'_>>,
    ) -> Result<Arc<Self>, Error> {
        let ring = RingMember::open(group, context)?;
        let control = Control {
            ring: Arc::downgrade(&ring),
            context: Arc::clone(context),
        };
        let member = Arc::new_cyclic(|this| Self {
            this: this.clone(),
            context: Arc::clone(context),
            group: group.to_owned(),
            ring,
            engine: OnceLock::new(),
            state: Mutex::default(),
        });
        let engine = connect(&control, member.place());
        let engine = engine.inspect_err(|error| member.ring.abort(error))?;
        // Set once, here.
        let _ = member.engine.set(engine);
        Ok(member)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn engine(&self) -> Result<&Arc<dyn Engine>, Error> {
        let engine = self.engine.get();
        engine.ok_or_else(|| Error::new("the group is being opened"))
    }

    pub(super) fn group(&self) -> &str {
        &self.group
    }

    /// Returns the place of this member.
    #[must_use]
    pub fn place(&self) -> MemberPlace {
        MemberPlace {
            index: self.ring.index(),
            size: self.ring.size(),
        }
    }

    /// Returns a function that adds tasks to the work queue: results of operations resolve there.
    pub fn later(&self) -> impl FnOnce(Box<dyn FnOnce() + Send>) + Send + use<> {
        let queue = Arc::clone(self.context.host().queue());
        move |work| queue.add_task(Task::new(work))
    }

    /// Announces an operation, and calls `run` when its turn comes: on all members in the same
    /// order. `run` must not block, and must start the operation in the engine before it returns.
    /// It gets an error if the members do not agree, or the group is over; that may be on the stack
    /// of this call.
    pub fn take_turn(
        &self,
        key: &str,
        announcement: &Announcement,
        run: impl FnOnce(Result<Turn, Error>) + Send + 'static,
    ) {
        let Some(this) = self.this.upgrade() else {
            return run(Err(Error::new("the group is closed")));
        };
        let mut state = self.lock();
        if !state.in_use.insert(key.to_owned()) {
            drop(state);
            let name = announcement.part.operation.name();
            let message = format!("{name} key {key} of group {} is in use", self.group);
            return run(Err(Error::new(message).with_code(ErrorCode::AlreadyExists)));
        }
        let time = state.order.propose(key);
        drop(state);
        let ring_key = ring_key(key);
        let names = (self.group.as_str(), key, ring_key.as_str());
        let own_key = key.to_owned();
        agreement::agree(&*self.ring, names, announcement, time, move |outcome| {
            this.agreed(own_key, outcome, run);
        });
    }

    /// Starts the operations whose turns follow from an agreement.
    fn agreed(
        self: Arc<Self>,
        key: String,
        outcome: Result<Agreed, Error>,
        run: impl FnOnce(Result<Turn, Error>) + Send + 'static,
    ) {
        let mut state = self.lock();
        let (ready, failed) = match outcome {
            Ok(agreed) => {
                let time = agreed.time;
                let turn_key = key.clone();
                let member = Arc::clone(&self);
                let turn = move || {
                    run(Ok(Turn {
                        member,
                        key: turn_key,
                        agreed,
                    }));
                };
                (state.order.agree(&key, time, Box::new(turn)), None)
            }
            Err(error) => {
                state.in_use.remove(&key);
                (state.order.cancel(&key), Some((run, error)))
            }
        };
        state.turns.extend(ready);
        drop(state);
        if let Some((run, error)) = failed {
            run(Err(error));
        }
        self.start_all();
    }

    /// Starts the operations whose turn it is, one after the other, without the lock: they may end
    /// at once.
    fn start_all(&self) {
        let mut state = self.lock();
        if state.is_starting {
            // The thread that does so takes the new ones, too.
            return;
        }
        state.is_starting = true;
        while let Some(start) = state.turns.pop_front() {
            drop(state);
            start();
            state = self.lock();
        }
        state.is_starting = false;
    }

    /// Tells the others that this member cannot start an operation.
    ///
    /// # Errors
    /// If one with this key is in progress.
    pub(super) fn refuse(&self, key: &str, error: &Error) -> Result<(), Error> {
        if self.lock().in_use.contains(key) {
            return Err(abandoned_in_use(key, &self.group));
        }
        let refused = self.ring.abandon(&ring_key(key), error);
        // The agreement has a key of its own, which the user does not know.
        refused.map_err(|_| abandoned_in_use(key, &self.group))
    }

    /// Ends the group on all members.
    pub(super) fn end(&self, error: &Error) {
        self.ring.abort(error);
        if let Some(engine) = self.engine.get() {
            engine.end(error);
        }
    }
}

impl fmt::Debug for LockstepMember {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LockstepMember")
            .field("group", &self.group)
            .field("engine", &self.engine)
            .finish_non_exhaustive()
    }
}

/// Returns the key of the agreement on an operation.
fn ring_key(key: &str) -> String {
    format!("turn:{key}")
}
