//! The choice of a back end, and the collectives of a context through it.
//!
//! A server names the back end of its collectives: one that is linked, or [`AUTO`], which takes
//! the first that suits a group. All tasks of a cluster must choose alike.

use std::sync::Arc;

use tfrt_async::{AsyncValueRef, Chain};
use tfrt_support::{Error, ErrorCode};
use tfrt_tensor::DenseHostTensor;

use super::schedule::Algorithm;
use super::{
    Collective, Collectives, GroupMember, RecursiveDoublingCollectives, Reduction, RingCollectives,
    TreeCollectives, ring,
};
use crate::cluster::TaskHandle;
use crate::context::DistributedContext;
use crate::error::RemoteError;

/// The name of the choice that depends on the group: shared memory between tasks of one machine if
/// it is linked, otherwise the ring.
pub const AUTO: &str = "auto";

/// The name of the default, which needs no connections of its own.
const RING: &str = "ring";

/// What [`AUTO`] takes, the best first.
const PREFERRED: [&str; 2] = ["shm", RING];

/// A back end by name. Registered when a program is linked; the first one of a name counts.
///
/// ```
/// use tfrt_distributed::collective::BackEnd;
///
/// assert_eq!(BackEnd::find("ring").map(|ring| ring.name), Some("ring"));
/// assert!(BackEnd::find("carrier_pigeon").is_none());
/// ```
#[derive(Clone, Copy, Debug)]
pub struct BackEnd {
    /// Its name.
    pub name: &'static str,
    /// Makes it. Fails if something that it needs is missing.
    pub make: fn() -> Result<Arc<dyn Collectives>, Error>,
    /// Whether it can connect the members of a group.
    pub suits: fn(&DistributedContext, &str) -> bool,
}

inventory::collect!(BackEnd);

inventory::submit! {
    BackEnd {
        name: RING,
        make: || Ok(Arc::new(RingCollectives)),
        suits: |_, _| true,
    }
}

inventory::submit! {
    BackEnd {
        name: "tree",
        make: || Ok(Arc::new(TreeCollectives)),
        suits: |context, group| context.allows_any_order(group),
    }
}

inventory::submit! {
    BackEnd {
        name: "recursive_doubling",
        make: || Ok(Arc::new(RecursiveDoublingCollectives)),
        suits: |context, group| context.allows_any_order(group),
    }
}

impl BackEnd {
    /// Returns the back end of this name.
    #[must_use]
    pub fn find(name: &str) -> Option<&'static Self> {
        inventory::iter::<Self>
            .into_iter()
            .find(|known| known.name == name)
    }
}

/// The choice of a server.
#[derive(Clone, Debug)]
pub(crate) enum Selection {
    Auto,
    Ring,
    Named(Arc<dyn Collectives>),
}

impl Selection {
    /// Returns the choice of this name. The back end is made here, since that may take a while.
    ///
    /// # Errors
    /// If there is none, or it cannot be made.
    pub(crate) fn parse(name: &str) -> Result<Self, Error> {
        match name {
            AUTO => return Ok(Self::Auto),
            RING => return Ok(Self::Ring),
            _ => {}
        }
        let Some(back_end) = BackEnd::find(name) else {
            let known = inventory::iter::<BackEnd>.into_iter();
            let mut known: Vec<&str> = known.map(|known| known.name).collect();
            known.push(AUTO);
            known.sort_unstable();
            known.dedup();
            let known = known.join("`, `");
            let message = format!("expected one of `{known}` as collectives, found `{name}`");
            return Err(Error::new(message).with_code(ErrorCode::InvalidArgument));
        };
        (back_end.make)().map(Self::Named)
    }

    /// Opens a group, unless its collectives go around the ring.
    pub(crate) fn open(
        &self,
        group: &str,
        context: &Arc<DistributedContext>,
    ) -> Result<Option<Arc<dyn GroupMember>>, Error> {
        match self {
            Self::Ring => Ok(None),
            Self::Named(named) => named.open(group, context).map(Some),
            Self::Auto => {
                let mut preferred = PREFERRED.iter().filter_map(|name| BackEnd::find(name));
                let suits = |back_end: &&BackEnd| (back_end.suits)(context, group);
                match preferred.find(suits).filter(|found| found.name != RING) {
                    None => Ok(None),
                    Some(found) => (found.make)()?.open(group, context).map(Some),
                }
            }
        }
    }
}

/// Starts a collective: through a back end of its own, or around the ring of the context.
fn start(
    collective: Collective,
    done: impl FnOnce(Result<(), Error>) + Send + 'static,
    through: impl FnOnce(&dyn GroupMember, &str) -> AsyncValueRef<Chain>,
    around: impl FnOnce(Collective, Box<dyn FnOnce(Result<(), Error>) + Send>),
) {
    match collective.context.group_member(&collective.group) {
        Ok(None) => around(collective, Box::new(done)),
        Ok(Some(member)) => {
            let ended = through(&*member, &collective.key);
            ended.and_then(|ended| done(ended.as_result().map(|_| ())));
        }
        Err(error) => done(Err(error)),
    }
}

/// Combines a tensor with those of the other members and writes the result into `output`, and also
/// into `input` if that is another tensor, unless the host
/// [keeps inputs](super::AllReduceKeepsInput).
///
/// `done` runs on the work queue, or immediately if the collective cannot start.
pub fn all_reduce(
    collective: Collective,
    reduction: Reduction,
    input: DenseHostTensor,
    output: DenseHostTensor,
    done: impl FnOnce(Result<(), Error>) + Send + 'static,
) {
    let tensors = (input.clone(), output.clone());
    start(
        collective,
        done,
        |member, key| member.all_reduce(key, reduction, tensors.0, tensors.1),
        |collective, done| {
            let around = Algorithm::Ring;
            super::all_reduce::all_reduce(collective, around, reduction, input, output, done)
        },
    );
}

/// Waits until all members of the group have called this.
///
/// `done` runs on the work queue, or immediately if the collective cannot start.
pub fn barrier(collective: Collective, done: impl FnOnce(Result<(), Error>) + Send + 'static) {
    start(
        collective,
        done,
        |member, key| member.barrier(key),
        |collective, done| super::all_reduce::barrier(collective, Algorithm::Ring, done),
    );
}

/// Combines a tensor with those of the other members and writes the chunk of this member into
/// `output`: with G members, the elements are divided into G chunks, of which the first ones have
/// one more element if the division has a remainder. Member i gets chunk i.
///
/// `done` runs on the work queue, or immediately if the collective cannot start.
pub fn reduce_scatter(
    collective: Collective,
    reduction: Reduction,
    input: DenseHostTensor,
    output: DenseHostTensor,
    done: impl FnOnce(Result<(), Error>) + Send + 'static,
) {
    let tensors = (input.clone(), output.clone());
    start(
        collective,
        done,
        |member, key| member.reduce_scatter(key, reduction, tensors.0, tensors.1),
        |collective, done| {
            let around = Algorithm::Ring;
            super::all_reduce::reduce_scatter(collective, around, reduction, input, output, done)
        },
    );
}

/// Writes the tensor of `sender` into `tensor`, which has the same type and shape on all members.
///
/// `done` runs on the work queue, or immediately if the collective cannot start.
pub fn broadcast(
    collective: Collective,
    tensor: DenseHostTensor,
    sender: TaskHandle,
    done: impl FnOnce(Result<(), Error>) + Send + 'static,
) {
    let position = sender_position(&collective, sender);
    let own = tensor.clone();
    start(
        collective,
        done,
        |member, key| match position {
            Ok(position) => member.broadcast(key, own, position),
            Err(error) => {
                let abandoned = member.abandon(key, &error);
                AsyncValueRef::error(abandoned.err().unwrap_or(error))
            }
        },
        |collective, done| super::broadcast::broadcast(collective, tensor, sender, done),
    );
}

/// Returns the position of the sender of a broadcast.
fn sender_position(collective: &Collective, sender: TaskHandle) -> Result<usize, Error> {
    let Collective { context, group, .. } = collective;
    let members = context.group(group).map_err(RemoteError::into_plain)?;
    let position = members.iter().position(|member| *member == sender);
    position.map(Ok).unwrap_or_else(|| {
        let name = context.cluster().task_name(sender);
        let name = name.map_err(RemoteError::into_plain)?;
        let message = format!("The sender {name} is not part of the collective group {group}");
        Err(Error::new(message).with_code(ErrorCode::InvalidArgument))
    })
}

/// Gathers tensors of one shape into `output`.
///
/// `done` runs on the work queue, or immediately if the collective cannot start.
pub fn all_gather_fixed_shape(
    collective: Collective,
    input: DenseHostTensor,
    output: DenseHostTensor,
    axis: u64,
    done: impl FnOnce(Result<(), Error>) + Send + 'static,
) {
    let tensors = (input.clone(), output.clone());
    start(
        collective,
        done,
        |member, key| member.all_gather(key, tensors.0, tensors.1, axis),
        |collective, done| {
            super::all_gather::all_gather_fixed_shape(collective, input, output, axis, done);
        },
    );
}

/// Gathers tensors that differ along the axis.
///
/// `done` runs on the work queue, or immediately if the collective cannot start.
pub fn all_gather_any_shape(
    collective: Collective,
    input: DenseHostTensor,
    axis: u64,
    done: impl FnOnce(Result<DenseHostTensor, Error>) + Send + 'static,
) {
    match collective.context.group_member(&collective.group) {
        Ok(None) => super::all_gather::all_gather_any_shape(collective, input, axis, done),
        Ok(Some(member)) => {
            let gathered = member.all_gather_any(&collective.key, input, axis);
            gathered.and_then(|gathered| done(gathered.as_result().cloned()));
        }
        Err(error) => done(Err(error)),
    }
}

/// Sends chunk j of `input` to member j, and writes the chunks for this member into `output`: with
/// G members, the elements of each tensor are divided into G chunks, of which the first ones have
/// one more element if the division has a remainder. All inputs must have the same number of
/// elements.
///
/// `done` runs on the work queue, or immediately if the collective cannot start.
pub fn all_to_all(
    collective: Collective,
    input: DenseHostTensor,
    output: DenseHostTensor,
    done: impl FnOnce(Result<(), Error>) + Send + 'static,
) {
    let tensors = (input.clone(), output.clone());
    start(
        collective,
        done,
        |member, key| member.all_to_all(key, tensors.0, tensors.1),
        |collective, done| super::all_to_all::all_to_all(collective, input, output, done),
    );
}

/// Tells the other members of a group that this task cannot take part in a collective, because of
/// `error`: theirs fail with its text.
///
/// # Errors
/// `AlreadyExists` if a collective with the key is in progress on this task: see
/// [`GroupMember::abandon`](super::GroupMember::abandon).
pub fn abandon(collective: &Collective, error: &Error) -> Result<(), Error> {
    match collective.context.group_member(&collective.group) {
        Ok(None) => ring::abandon(collective, error),
        Ok(Some(member)) => member.abandon(&collective.key, error),
        // The group is of no use to the others, who were told.
        Err(_) => Ok(()),
    }
}

/// As [`abandon`], for an all-gather of any shapes.
///
/// # Errors
/// Those of [`abandon`].
pub fn abandon_all_gather_any_shape(collective: &Collective, error: &Error) -> Result<(), Error> {
    match collective.context.group_member(&collective.group) {
        Ok(None) => {
            // The members tell each other their shapes first.
            let of_shapes = super::all_gather::key_of_shapes(&collective.key);
            ring::abandon_with_first(collective, of_shapes, error)
        }
        Ok(Some(member)) => member.abandon(&collective.key, error),
        // As above.
        Err(_) => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_collectives_are_refused() {
        let error = Selection::parse("pigeon").unwrap_err();
        assert_eq!(
            error.message(),
            "expected one of `auto`, `recursive_doubling`, `ring`, `tree` as collectives, found \
             `pigeon`"
        );
        assert!(matches!(Selection::parse("auto"), Ok(Selection::Auto)));
    }
}
