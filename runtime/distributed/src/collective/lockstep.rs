//! Engines whose operations start in the same order on all members, as those of NCCL must.
//!
//! Programs start collectives in any order, and many at a time. So every operation is agreed on
//! first, through the ring of the context:
//!
//! ```text
//!  operation ──► announced to all members ──► agreed: same operation everywhere ──► its turn ──► engine
//!                     all-gather                          │                          `order`
//!                                                         └── members differ: an error on all
//! ```
//!
//! The announcements also carry a clock, from which every member derives the same order of turns
//! without further messages.
//!
//! An operation that cannot start on a member fails alone, on all members. After the agreement, an
//! error of one member ends the group: the others may wait for it inside the engine.
//!
//! The engine transfers and reduces bytes. Everything else is here: chunks of different sizes,
//! shapes, means, and elements that the engine cannot reduce. Sends, receives and barriers go
//! through the ring: the receiver of a tensor may come at any time, but an engine would wait for
//! it.
//!
//! | module | contents |
//! |---|---|
//! | `agreement` | announcements, and what follows from those of all members |
//! | `order` | the order of turns |
//! | `member` | a member: what is in use, and the way of an operation to its turn |
//! | `operations` | the collectives as transfers |

mod agreement;

mod order;

mod member;

mod operations;

use std::fmt;
use std::sync::{Arc, Weak};

use tfrt_support::{DType, Error};
use tfrt_tensor::{DenseHostTensor, HostBuffer};

use super::back_end::RingMember;
use super::direct::MemberPlace;
use super::{GroupMember, Reduction};
use crate::context::DistributedContext;

pub use agreement::Announcement;
pub use member::{LockstepMember, Turn};

/// An engine, as a member of a group uses it: all that a back end in lockstep has to provide. See
/// the example of [`LockstepMember`].
pub trait Engine: Send + Sync + fmt::Debug {
    /// Returns `true` if the engine reduces elements of a type. It reduces those of 32 bits.
    fn reduces(&self, dtype: DType) -> bool;

    /// Starts a transfer. All members start the same ones, in the same order. Does not block.
    ///
    /// As long as a transfer is in progress, the engine looks for a [failure](Control::failure) of
    /// the group, and ends with it.
    fn start(&self, transfer: Transfer);

    /// Ends all transfers in progress with an error, and refuses later ones. Does not block.
    fn end(&self, error: &Error);
}

/// One transfer of an engine: see the example of [`LockstepMember`].
pub struct Transfer {
    /// What is transferred.
    pub kind: TransferKind,
    /// The bytes of this member.
    pub input: HostBuffer,
    /// The result.
    pub output: HostBuffer,
    /// Called once: after the result is written, or with an error. It only adds a task to the work
    /// queue.
    pub done: Box<dyn FnOnce(Result<(), Error>) + Send>,
}

impl fmt::Debug for Transfer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Transfer")
            .field("kind", &self.kind)
            .finish_non_exhaustive()
    }
}

/// The kinds of transfers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TransferKind {
    /// The inputs of all members are combined, element by element. Every member gets the result.
    AllReduce {
        /// The type of the elements.
        dtype: DType,
        /// The function that combines elements.
        combine: Combine,
    },
    /// The inputs of all members are combined, and every member gets one of as many blocks of one
    /// size as there are members.
    ReduceScatter {
        /// The type of the elements.
        dtype: DType,
        /// The function that combines elements.
        combine: Combine,
    },
    /// The inputs of all members, which have one size, are concatenated.
    AllGather,
    /// Members send ranges of bytes of their inputs to each other.
    Exchange {
        /// The position of a member, and the range of the input that it gets.
        sends: Vec<(usize, std::ops::Range<usize>)>,
        /// The position of a member, and the range of the output for what it sends.
        receives: Vec<(usize, std::ops::Range<usize>)>,
    },
}

impl TransferKind {
    /// Returns the transfer of so many bytes of a member to all others.
    #[must_use]
    pub fn broadcast(place: MemberPlace, sender: usize, num_bytes: usize) -> Self {
        let others = (0..place.size).filter(|member| *member != sender);
        let (sends, receives) = match place.index == sender {
            true => (
                others.map(|member| (member, 0..num_bytes)).collect(),
                Vec::new(),
            ),
            false => (Vec::new(), vec![(sender, 0..num_bytes)]),
        };
        Self::Exchange { sends, receives }
    }
}

/// The functions by which engines combine elements. The order is theirs.
///
/// ```
/// use tfrt_distributed::collective::Reduction;
/// use tfrt_distributed::collective::lockstep::Combine;
///
/// assert_eq!(Combine::of(Reduction::Mean)?, Combine::Sum);
/// # Ok::<(), tfrt_support::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Combine {
    /// The sum. Integers wrap.
    Sum,
    /// The product. Integers wrap.
    Prod,
    /// The larger one. The result is undefined if one is NaN.
    Max,
    /// The smaller one, likewise.
    Min,
}

impl Combine {
    /// Returns the function of a reduction; means are divided later.
    ///
    /// # Errors
    /// If it is a function of the program's.
    pub fn of(reduction: Reduction) -> Result<Self, Error> {
        Ok(match reduction {
            Reduction::Sum | Reduction::Mean => Self::Sum,
            Reduction::Prod => Self::Prod,
            Reduction::Max => Self::Max,
            Reduction::Min => Self::Min,
            Reduction::User(user) => {
                let name = user.name();
                return Err(super::all_gather::invalid(format!(
                    "expected `sum`, `prod`, `min`, `max` or `mean`, found the reduction `{name}`, \
                     which runs on the CPU only"
                )));
            }
        })
    }
}

/// The connection of an engine to the group of its member, which the engine is made with. Cloning
/// shares it.
#[derive(Clone, Debug)]
pub struct Control {
    ring: Weak<RingMember>,
    context: Arc<DistributedContext>,
}

impl Control {
    /// Returns the reason why the group was aborted, or why a member is lost, if so.
    #[must_use]
    pub fn failure(&self) -> Option<Error> {
        self.ring.upgrade()?.failure()
    }

    /// Ends the group on all members, unless it was aborted.
    pub fn abort(&self, error: &Error) {
        if let Some(ring) = self.ring.upgrade().filter(|ring| !ring.is_aborted()) {
            ring.abort(error);
        }
    }

    /// Sends the bytes of member 0 to all members. `bytes` are those bytes there, and memory of the
    /// same size for them on the others. `done` runs on the work queue, or immediately if this
    /// cannot start.
    ///
    /// # Errors
    /// If the bytes cannot be allocated.
    pub fn share(
        &self,
        bytes: &[u8],
        done: impl FnOnce(Result<Vec<u8>, Error>) + Send + 'static,
    ) -> Result<(), Error> {
        let tensor = DenseHostTensor::from_elements(
            self.context.host().allocator(),
            tfrt_tensor::Shape::new(&[bytes.len()])?,
            bytes,
        )?;
        let Some(ring) = self.ring.upgrade() else {
            return Err(Error::new("the group is closed"));
        };
        let shared = ring.broadcast("share", tensor.clone(), 0);
        shared.and_then(move |shared| {
            let bytes = shared.as_result();
            done(bytes.and_then(|_| Ok(tensor.elements::<u8>()?.to_vec())));
        });
        Ok(())
    }
}

/// Makes the engine of a member.
pub type Connect<'a> = dyn FnOnce(&Control, MemberPlace) -> Result<Arc<dyn Engine>, Error> + 'a;

/// Opens a group whose members use an engine that `connect` makes.
///
/// # Errors
/// If there is no such group, this task is not a member or has opened the group already, or the
/// engine is missing. The other members are told, and the group is over for them, too.
pub fn open(
    group: &str,
    context: &Arc<DistributedContext>,
    connect: Box<Connect<'_>>,
) -> Result<Arc<LockstepMember>, Error> {
    LockstepMember::open(group, context, connect)
}

#[cfg(test)]
mod tests;
