//! The state of the operations and messages under one key.
//!
//! ```text
//!  stream of a member    1st phase, 2nd phase ▪ 1st phase, error ▪ 1st phase …       ▪ ends a stream
//!                        └── operation ──────┘ └── next one ────┘
//! ```
//!
//! Invariants:
//!
//! X1. While an operation is in progress and the stream of a member for it has not ended, nothing
//! of that member waits: the operation takes all messages at once.
//! X2. An operation that ends before the stream of a member has the rest of the stream skipped.

use std::collections::VecDeque;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use prost::bytes::Bytes;
use tfrt_support::{Error, ErrorCode};

use super::super::header::{Kind, Operation, Part};
use super::MemberPlace;
use super::member::{DirectMember, Done};
use super::message::Arrival;
use crate::error::Gather;
use crate::server::Server;

/// What a member sends in a phase.
#[derive(Debug)]
pub(super) enum Outgoing {
    /// The same to all, with the dimensions of a tensor.
    All(Vec<usize>, Bytes),
    /// To each member its own. Nothing is sent to the member itself.
    Each(Vec<Bytes>),
}

/// Processes the messages of a phase, by member. That of the member itself is `None`.
pub(super) type Step = Box<dyn FnOnce(Vec<Option<Arrival>>) -> Result<Then, Error> + Send>;

/// Writes the result. Nothing that was borrowed is read any more.
pub(super) type Write = Box<dyn FnOnce() -> Result<(), Error> + Send>;

/// What follows a step.
pub(super) enum Then {
    Exchange(Outgoing, Step),
    Write(Write),
}

/// The operations and messages under one key.
#[derive(Debug)]
pub(super) struct Exchange {
    streams: Vec<Stream>,
    running: Option<Running>,
}

/// What a member has sent, and no operation has taken.
#[derive(Debug, Default)]
struct Stream {
    waiting: VecDeque<Arrival>,
    /// The number of streams whose rest is dropped.
    num_skipped: usize,
}

/// An operation in progress.
pub(super) struct Running {
    pub(super) part: Part,
    number: u64,
    /// The number of phases whose messages were sent.
    pub(super) num_sent: usize,
    pub(super) step: Option<Step>,
    pub(super) is_stepping: bool,
    incoming: Vec<Incoming>,
    pub(super) outcome: Arc<Outcome>,
    /// The group stays open as long as an operation is in progress.
    member: Arc<DirectMember>,
    /// So does the server: an operation that was started runs to completion.
    _server: Option<Arc<Server>>,
    /// Dropped last: then the operation may end.
    pub(super) work: Gather,
}

/// The stream of a member for the operation.
#[derive(Debug, Default)]
struct Incoming {
    messages: VecDeque<Arrival>,
    num_taken: usize,
    is_complete: bool,
}

/// The outcome of a delivery.
#[derive(Debug)]
pub(super) struct Delivery {
    /// The size of the messages that do not wait any more.
    pub(super) claimed_bytes: usize,
    pub(super) then: Delivered,
}

/// What a delivery leads to.
#[derive(Debug)]
pub(super) enum Delivered {
    Waits,
    /// All messages of a phase are there. The number is that of the operation.
    IsReady(u64),
    Fails(Error),
}

/// An operation that has failed.
pub(super) struct Failed {
    pub(super) running: Running,
    /// Whether its stream has not ended: the other members wait for it.
    pub(super) owes_last: bool,
}

impl Running {
    pub(super) fn new(
        part: Part,
        number: u64,
        (step, outcome): (Option<Step>, Arc<Outcome>),
        member: Arc<DirectMember>,
        work: Gather,
    ) -> Self {
        let MemberPlace { index, size } = member.place();
        let mut incoming: Vec<Incoming> = Vec::new();
        incoming.resize_with(size, Incoming::default);
        incoming[index].is_complete = true;
        Self {
            part,
            number,
            num_sent: 0,
            step,
            is_stepping: false,
            incoming,
            outcome,
            _server: member.context.keep_server(),
            member,
            work,
        }
    }

    /// Returns the member whose operation it is.
    pub(super) fn member(&self) -> &Arc<DirectMember> {
        &self.member
    }

    /// Takes the callback of the operation, unless it was called.
    pub(super) fn take_done(&self) -> Option<Done> {
        self.outcome.take_done()
    }

    /// Sets what is done once everything is sent.
    pub(super) fn set_write(&self, write: Write) {
        self.outcome.set_write(write);
    }

    /// Begins the next step, if it has not begun and its messages are there.
    pub(super) fn try_begin(&mut self) -> Delivered {
        let index = self.member.index;
        let mut others = self.incoming.iter().enumerate();
        let is_ready = !self.is_stepping
            && self.step.is_some()
            && others.all(|(member, incoming)| member == index || !incoming.messages.is_empty());
        if !is_ready {
            return Delivered::Waits;
        }
        self.is_stepping = true;
        Delivered::IsReady(self.number)
    }

    /// Takes a message of a member.
    fn take(
        &mut self,
        from: usize,
        arrival: Arrival,
        (group, key): (&str, &str),
    ) -> Result<(), Error> {
        let incoming = &mut self.incoming[from];
        incoming.num_taken += 1;
        // A member that performs another operation may send more or fewer messages.
        let num_phases = arrival.part.operation.num_phases();
        incoming.is_complete = arrival.is_last || incoming.num_taken >= num_phases;
        if arrival.kind == Kind::Error {
            return Err(Error::new(arrival.text()));
        }
        if arrival.part != self.part {
            let (theirs, own) = ((from, arrival.part), (self.member.index, self.part));
            return Err(Part::mismatch((group, key), theirs, own));
        }
        incoming.messages.push_back(arrival);
        Ok(())
    }
}

impl fmt::Debug for Running {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Running")
            .field("part", &self.part)
            .field("number", &self.number)
            .finish_non_exhaustive()
    }
}

impl Exchange {
    pub(super) fn new(size: usize) -> Self {
        let mut streams = Vec::new();
        streams.resize_with(size, Stream::default);
        Self {
            streams,
            running: None,
        }
    }

    /// Returns `true` if nothing has to be remembered.
    pub(super) fn is_empty(&self) -> bool {
        let is_idle = |stream: &Stream| stream.waiting.is_empty() && stream.num_skipped == 0;
        self.running.is_none() && self.streams.iter().all(is_idle)
    }

    pub(super) fn is_running(&self) -> bool {
        self.running.is_some()
    }

    /// Returns the operation in progress if it has this number.
    pub(super) fn running_mut(&mut self, number: u64) -> Option<&mut Running> {
        self.running
            .as_mut()
            .filter(|running| running.number == number)
    }

    /// Returns the number of bytes that the operation in progress expects at most from a member.
    pub(super) fn expected_bytes(&self, from: usize) -> Option<usize> {
        let running = self.running.as_ref().filter(|_| self.awaits(from))?;
        if let Operation::GatherShapes(_) = running.part.operation {
            // Each member decides on the size of its tensor.
            return Some(usize::MAX);
        }
        let element_bytes = tfrt_tensor::element_bytes(running.part.dtype).ok()?;
        running.part.num_elements.checked_mul(element_bytes)
    }

    /// Returns `true` if the operation in progress needs more of a member.
    pub(super) fn awaits(&self, member: usize) -> bool {
        let running = self.running.as_ref();
        running.is_some_and(|running| !running.incoming[member].is_complete)
    }

    /// Starts an operation. None is in progress.
    pub(super) fn start(&mut self, running: Running) {
        debug_assert!(self.running.is_none(), "the key is not in use");
        self.running = Some(running);
    }

    /// Processes a message that has arrived. `names` are those of the group and the key.
    pub(super) fn deliver(
        &mut self,
        from: usize,
        arrival: Arrival,
        names: (&str, &str),
    ) -> Delivery {
        let size = arrival.size_bytes;
        let stream = &mut self.streams[from];
        if stream.num_skipped > 0 {
            if arrival.is_last {
                stream.num_skipped -= 1;
            }
            return Delivery {
                claimed_bytes: size,
                then: Delivered::Waits,
            };
        }
        match &mut self.running {
            Some(running) if !running.incoming[from].is_complete => Delivery {
                claimed_bytes: size,
                then: match running.take(from, arrival, names) {
                    Ok(()) => running.try_begin(),
                    Err(error) => Delivered::Fails(error),
                },
            },
            _ => {
                stream.waiting.push_back(arrival);
                Delivery {
                    claimed_bytes: 0,
                    then: Delivered::Waits,
                }
            }
        }
    }

    /// Processes what arrived before the operation in progress started.
    pub(super) fn deliver_waiting(&mut self, names: (&str, &str)) -> Delivery {
        let mut claimed_bytes = 0;
        let mut failure = None;
        let Some(running) = &mut self.running else {
            return Delivery {
                claimed_bytes,
                then: Delivered::Waits,
            };
        };
        for (from, stream) in self.streams.iter_mut().enumerate() {
            while !running.incoming[from].is_complete {
                let Some(arrival) = stream.waiting.pop_front() else {
                    break;
                };
                claimed_bytes += arrival.size_bytes;
                if let Err(error) = running.take(from, arrival, names) {
                    failure.get_or_insert(error);
                }
            }
        }
        Delivery {
            claimed_bytes,
            then: match failure {
                Some(error) => Delivered::Fails(error),
                None => running.try_begin(),
            },
        }
    }

    /// Begins the step of an operation whose messages are there. Returns `None` if the operation
    /// has failed meanwhile.
    pub(super) fn begin_step(&mut self, number: u64) -> Option<(Step, Vec<Option<Arrival>>)> {
        let running = self.running_mut(number)?;
        let step = running.step.take()?;
        let incoming = running.incoming.iter_mut();
        Some((step, incoming.map(|one| one.messages.pop_front()).collect()))
    }

    /// Ends the operation in progress. The rest of the streams that belong to it is skipped.
    pub(super) fn end(&mut self) -> Option<Running> {
        let running = self.running.take()?;
        for (stream, incoming) in self.streams.iter_mut().zip(&running.incoming) {
            if !incoming.is_complete {
                debug_assert!(stream.waiting.is_empty(), "X1");
                stream.num_skipped += 1;
            }
        }
        Some(running)
    }

    /// Ends the operation in progress as a failure.
    pub(super) fn fail(&mut self) -> Option<Failed> {
        let running = self.end()?;
        let owes_last = running.num_sent < running.part.operation.num_phases();
        Some(Failed { running, owes_last })
    }
}

/// The outcome of an operation: told once.
pub(super) struct Outcome {
    /// The member whose operation it is, kept alive by `done`.
    member: Weak<DirectMember>,
    done: Mutex<Option<Done>>,
    write: Mutex<Option<Write>>,
}

impl Outcome {
    pub(super) fn new(member: Arc<DirectMember>, done: Done) -> Self {
        let weak = Arc::downgrade(&member);
        let done = move |outcome| {
            done(outcome);
            drop(member);
        };
        Self {
            member: weak,
            done: Mutex::new(Some(Box::new(done))),
            write: Mutex::default(),
        }
    }

    /// Returns work at whose end the result is written.
    pub(super) fn work(self: &Arc<Self>) -> Gather {
        let this = Arc::clone(self);
        Gather::new(move |_| {
            // From here on, the operation cannot be given up.
            if let Some(done) = this.take_done()
                && let Some(member) = this.member.upgrade()
            {
                member.later(move || this.finish(done));
            }
        })
    }

    /// Returns `true` once the operation has failed, or has nothing left to send.
    pub(super) fn is_over(&self) -> bool {
        self.lock_done().is_none()
    }

    /// Fails the operation, of which something cannot be sent to another member.
    pub(super) fn give_up(&self, to: usize) {
        // `done` keeps the member alive.
        if let (Some(member), Some(done)) = (self.member.upgrade(), self.take_done()) {
            let write = self.lock_write().take();
            let error = member.loss_of(to);
            member.later(move || {
                drop(write);
                done(Err(error));
            });
        }
    }

    /// Sets what is done at the end.
    pub(super) fn set_write(&self, write: Write) {
        *self.lock_write() = Some(write);
        let unused = if self.is_over() {
            self.lock_write().take()
        } else {
            None
        };
        drop(unused);
    }

    fn lock_done(&self) -> MutexGuard<'_, Option<Done>> {
        self.done.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn take_done(&self) -> Option<Done> {
        self.lock_done().take()
    }

    fn lock_write(&self) -> MutexGuard<'_, Option<Write>> {
        self.write.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Writes the result.
    fn finish(&self, done: Done) {
        let write = self.lock_write().take();
        let cancelled = || Error::new("the operation was dropped").with_code(ErrorCode::Cancelled);
        let outcome = write.map_or_else(|| Err(cancelled()), |write| write());
        if let Some(member) = self.member.upgrade() {
            member.trim_memory();
        }
        done(outcome);
    }
}

impl fmt::Debug for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Outcome").finish_non_exhaustive()
    }
}
