//! Collectives: operations that all members of a group start with the same key, and that end in the
//! same way on all of them.
//!
//! Members form a ring in the order of the configuration. There is no coordinator: every message
//! goes to the right neighbour, under a key that both sides know, and waits in the rendezvous there
//! until it is requested.
//!
//! ```text
//!   member 0 ──► member 1 ──► … ──► member G−1 ──┐
//!      ▲─────────────────────────────────────────┘        a message: header of 32 bytes, then elements or the text of an error
//! ```
//!
//! Small tensors are reduced in two rounds instead, in which every member sends to every other one.
//!
//! A member that fails, or cannot start, tells all others under a separate key, until they know: so
//! all members fail with the same message, whichever message is lost. A key may be used again once
//! the collective has ended on all members, with or without success: what is left of it is dropped.
//! Headers describe the operation of a member: if two members perform different operations, the
//! error names both.
//!
//! | module | contents |
//! |---|---|
//! | `header` | the operations of members as messages describe them |
//! | `ring` | a member: sending, receiving, failing |
//! | `abandonment` | how members tell each other that they have failed |
//! | `uses` | the uses of a key, one after the other |
//! | `sent` | the messages of a send from one member to another |
//! | `split` | the division of tensors into chunks, and of those into segments |
//! | `pieces` | a tensor in the memory that its parts arrived in |
//! | `reduction`, `user_reduction` | the functions that combine elements |
//! | `schedule` | reductions other than around the ring, step by step |
//! | `all_reduce` | all-reduce, reduce-scatter and barrier |
//! | `broadcast`, `all_gather`, `all_to_all` | the other collectives |
//! | `regroup` | the group of the members that are left when one is lost |
//! | `epoch` | the times between the aborts of a group, whose messages never mix |
//! | [`conformance`] | the suite that every back end passes |
//! | `back_end` | [`Collectives`]: all of them behind one interface |
//! | `selection` | the choice of a back end, and the collectives of a context through it |
//! | `checks` | what a member checks of its own tensors |
//! | [`direct`] | a member that exchanges messages with all others, over connections of its own |
//! | [`lockstep`] | a member of an engine whose operations start in the same order everywhere |

mod header;

mod ring;

mod abandonment;

pub(crate) mod uses;

mod sent;

mod split;

mod lent;

mod destination;

mod pieces;

mod reduction;

mod user_reduction;

mod schedule;

mod all_reduce;

mod broadcast;

mod all_gather;

mod all_to_all;

mod regroup;

pub(crate) mod epoch;

mod checks;

mod back_end;

mod selection;

pub mod direct;

pub mod lockstep;

pub mod conformance;

pub(crate) use back_end::is_member;
pub use back_end::{
    Collectives, GroupMember, RecursiveDoublingCollectives, RingCollectives, TreeCollectives,
    position_in,
};
pub use reduction::{Reducible, Reduction};
pub use regroup::regroup;
pub(crate) use ring::{group_of_own_key, is_listener};
pub(crate) use selection::Selection;
pub use selection::{
    AUTO, BackEnd, abandon, abandon_all_gather_any_shape, all_gather_any_shape,
    all_gather_fixed_shape, all_reduce, all_to_all, barrier, broadcast, reduce_scatter,
};
pub use user_reduction::{UserElement, UserReduction};

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use prost::bytes::Bytes;
use tfrt_host::HostContext;
use tfrt_support::Error;
use tfrt_tensor::{DenseHostTensor, HostBuffer, TensorError};

use crate::context::DistributedContext;
use crate::payload_memory::PayloadMemory;

/// The identity of a collective: its context, its group and its key.
#[derive(Clone, Debug)]
pub struct Collective {
    /// The context of the member.
    pub context: Arc<DistributedContext>,
    /// The name of the group.
    pub group: String,
    /// The key, which is the same on all members, and unique among the collectives in progress.
    pub key: String,
}

/// A setting of a host: whether all-reduces with another output leave their inputs as they are,
/// which saves a copy of the result. Off by default: the reference writes the result into the
/// input. Set it before operations start.
#[derive(Debug, Default)]
pub struct AllReduceKeepsInput(AtomicBool);

impl AllReduceKeepsInput {
    /// Returns `true` if `host` leaves inputs as they are.
    #[must_use]
    pub fn of(host: &HostContext) -> bool {
        // Relaxed: a setting that orders no other memory.
        host.shared_context(Self::default).0.load(Ordering::Relaxed)
    }

    /// Switches it on or off for `host`.
    pub fn set(host: &HostContext, keeps_input: bool) {
        // Relaxed: as above.
        let setting = host.shared_context(Self::default);
        setting.0.store(keeps_input, Ordering::Relaxed);
    }
}

/// Returns `true` if an all-reduce writes its result into `input`, too.
fn writes_input(host: &HostContext, input: &DenseHostTensor, output: &DenseHostTensor) -> bool {
    input.buffer().address() != output.buffer().address() && !AllReduceKeepsInput::of(host)
}

/// Returns the elements of a tensor in memory of its own.
fn copy_of(tensor: &DenseHostTensor, context: &DistributedContext) -> Result<HostBuffer, Error> {
    let memory = PayloadMemory::of(context.host());
    let copy = tensor.copied(memory.allocator(tensor.buffer().len_bytes()))?;
    Ok(copy.into_buffer())
}

/// Calls `write` with the bytes of a tensor.
fn write_by(
    tensor: &DenseHostTensor,
    write: impl FnOnce(&mut [u8]) -> Result<(), TensorError>,
) -> Result<(), TensorError> {
    // A handle of the same memory, which keeps its own borrows.
    let mut tensor = tensor.clone();
    write(&mut tensor.buffer_mut().write()?)
}

/// Writes all elements of a tensor.
fn write_all(tensor: &DenseHostTensor, bytes: &[u8]) -> Result<(), TensorError> {
    write_by(tensor, |elements| {
        if elements.len() != bytes.len() {
            return Err(TensorError::WrongBufferSize {
                expected: elements.len(),
                found: bytes.len(),
            });
        }
        elements.copy_from_slice(bytes);
        Ok(())
    })
}

/// Returns the bytes of a buffer that no one writes any more, without a copy.
fn shared_bytes(buffer: &HostBuffer) -> Result<Bytes, TensorError> {
    Ok(Bytes::from_owner(buffer.elements_owned::<u8>()?))
}

#[cfg(test)]
mod tests;
