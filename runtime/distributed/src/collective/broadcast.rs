//! Broadcast: the tensor of one member, on every member.
//!
//! The tensor is divided into as many chunks as there are members, and each chunk into segments.
//! Each segment travels around the ring, from the sender to its left neighbour, under the key
//! `group:group:KEY:CHUNK:RECEIVER`; all but the first one of a chunk with their numbers behind it.
//!
//! A segment is passed on, and then written. A broadcast that fails may have written parts of the
//! tensors of receivers.

use std::sync::Arc;

use tfrt_support::{Error, ErrorCode};
use tfrt_tensor::{DenseHostTensor, HostBuffer, TensorError};

use super::Collective;
use super::destination::Destination;
use super::header::{Operation, Part, parameter_of};
use super::ring::Ring;
use super::split::{byte_range, chunk, num_segments, segment};
use crate::cluster::TaskHandle;
use crate::error::{Answer, Gather, RemoteError};

/// Writes the tensor of `sender` into `tensor`, which has the same type and shape on all members.
///
/// `done` runs on the work queue, or immediately if the collective cannot start.
pub(super) fn broadcast(
    collective: Collective,
    tensor: DenseHostTensor,
    sender: TaskHandle,
    done: impl FnOnce(Result<(), Error>) + Send + 'static,
) {
    let ring = match Ring::join_as_member(collective, "broadcast") {
        Ok(ring) => ring,
        Err(error) => return done(Err(error)),
    };
    match Broadcast::new(Arc::clone(&ring), &tensor, sender) {
        Ok(this) => this.run(&tensor, done),
        Err(error) => {
            ring.refuse(&error);
            done(Err(error));
        }
    }
}

/// A segment: its chunk, and its number there.
type Place = (usize, usize);

struct Broadcast {
    ring: Arc<Ring>,
    part: Part,
    element_bytes: usize,
    /// The position of the sender.
    sender: usize,
    num_segments: usize,
    /// The tensor of a receiver.
    destination: Destination,
}

impl Broadcast {
    fn new(
        ring: Arc<Ring>,
        tensor: &DenseHostTensor,
        sender: TaskHandle,
    ) -> Result<Arc<Self>, Error> {
        let Collective { context, group, .. } = ring.collective();
        let position = ring.position_of(sender).map(Ok).unwrap_or_else(|| {
            let name = context.cluster().task_name(sender);
            let name = name.map_err(RemoteError::into_plain)?;
            let message = format!("The sender {name} is not part of the collective group {group}");
            Err(Error::new(message).with_code(ErrorCode::InvalidArgument))
        })?;
        if position != ring.index() {
            // It is done once it has sent all.
            ring.does_not_tell(position);
        }
        let element_bytes = tfrt_tensor::element_bytes(tensor.dtype())?;
        let num_segments = num_segments(tensor.num_elements(), ring.size(), element_bytes);
        Ok(Arc::new(Self {
            part: Part {
                operation: Operation::Broadcast(parameter_of(position)),
                dtype: tensor.dtype(),
                num_elements: tensor.num_elements(),
                reduction: None,
                in_rounds: false,
            },
            element_bytes,
            sender: position,
            destination: Destination::new(tensor.buffer().clone()),
            num_segments,
            ring,
        }))
    }

    fn run(
        self: Arc<Self>,
        tensor: &DenseHostTensor,
        done: impl FnOnce(Result<(), Error>) + Send + 'static,
    ) {
        let this = Arc::clone(&self);
        let work = self.ring.work(move |sends| done(this.finish(sends)));
        if self.ring.size() == 1 {
            return;
        }
        // All chunks at once, from their starts on.
        for number in 0..self.num_segments {
            for chunk in 0..self.ring.size() {
                let place = (chunk, number);
                if self.ring.index() == self.sender {
                    let right = self.ring.right();
                    let range = self.range(place);
                    match self.ring.own_bytes(tensor, range, right, &work) {
                        Ok(bytes) => {
                            let key = self.key(place, right);
                            self.ring.send(key, self.part, bytes, work.clone());
                        }
                        Err(error) => self.ring.fail(&error),
                    }
                } else {
                    Arc::clone(&self).receive(place, work.clone());
                }
            }
        }
    }

    fn finish(&self, sends: Answer<()>) -> Result<(), Error> {
        self.ring.leave();
        self.ring.outcome(sends)?;
        self.destination.finish()?;
        Ok(())
    }

    fn key(&self, (chunk, number): Place, receiver: usize) -> String {
        let Collective { group, key, .. } = self.ring.collective();
        match number {
            0 => format!("{group}:{group}:{key}:{chunk}:{receiver}"),
            _ => format!("{group}:{group}:{key}:{chunk}:{receiver}:{number}"),
        }
    }

    /// Returns where a segment is among all bytes.
    fn range(&self, (index, number): Place) -> std::ops::Range<usize> {
        let within = chunk(self.part.num_elements, self.ring.size(), index);
        byte_range(
            segment(within, self.num_segments, number),
            self.element_bytes,
        )
    }

    fn receive(self: Arc<Self>, place: Place, work: Gather) {
        let (ring, part) = (Arc::clone(&self.ring), self.part);
        let right = ring.right();
        let next = (right != self.sender).then(|| self.key(place, right));
        let key = self.key(place, ring.index());
        let checking = Arc::clone(&self);
        ring.relay(
            (key, next),
            part,
            move |data| Ok(checking.check_size(place, data)?),
            move |data| {
                self.destination.write(|bytes| {
                    bytes[self.range(place)].copy_from_slice(&data.read()?);
                    Ok(())
                });
            },
            work,
        );
    }

    fn check_size(&self, place: Place, data: &HostBuffer) -> Result<(), TensorError> {
        let (expected, found) = (self.range(place).len(), data.len_bytes());
        match found == expected {
            true => Ok(()),
            false => Err(TensorError::WrongBufferSize { expected, found }),
        }
    }
}
