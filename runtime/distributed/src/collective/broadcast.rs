//! Broadcast: the tensor of one member, on every member.
//!
//! The tensor is divided into as many chunks as there are members, and each chunk into segments.
//! Each segment travels around the ring, from the sender to its left neighbour, under the key
//! `group:group:KEY:CHUNK:RECEIVER`; all but the first one of a chunk with their numbers behind it.
//!
//! What has arrived stays where it is until all of it can be written: a broadcast that fails leaves
//! tensors as they are.

use std::sync::Arc;

use prost::bytes::Bytes;
use tfrt_support::{Error, ErrorCode};
use tfrt_tensor::{DenseHostTensor, HostBuffer, TensorError};

use super::header::{Operation, Part, parameter_of};
use super::pieces::Pieces;
use super::ring::Ring;
use super::split::{chunk, num_segments, segment};
use super::{Collective, lend, sent_copy};
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
        Ok(this) => this.run(tensor, done),
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
    /// What has arrived.
    pieces: Pieces,
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
            pieces: Pieces::new(ring.size() * num_segments),
            num_segments,
            ring,
        }))
    }

    fn run(
        self: Arc<Self>,
        tensor: DenseHostTensor,
        done: impl FnOnce(Result<(), Error>) + Send + 'static,
    ) {
        let this = Arc::clone(&self);
        let own = tensor.clone();
        let work = self
            .ring
            .work(move |sends| done(this.finish(sends, &tensor)));
        if self.ring.size() == 1 {
            return;
        }
        // All chunks at once, from their starts on.
        for number in 0..self.num_segments {
            for chunk in 0..self.ring.size() {
                let place = (chunk, number);
                if self.ring.index() == self.sender {
                    match self.copy_of(&own, place) {
                        Ok(bytes) => {
                            let key = self.key(place, self.ring.right());
                            self.ring.send(key, self.part, bytes, work.clone());
                        }
                        Err(error) => self.ring.fail(&error.into()),
                    }
                } else {
                    Arc::clone(&self).receive(place, work.clone());
                }
            }
        }
    }

    fn finish(&self, sends: Answer<()>, tensor: &DenseHostTensor) -> Result<(), Error> {
        self.ring.leave();
        self.ring.outcome(sends)?;
        if self.ring.index() != self.sender {
            self.pieces.write(tensor)?;
        }
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
        let elements = segment(within, self.num_segments, number);
        elements.start * self.element_bytes..elements.end * self.element_bytes
    }

    fn copy_of(&self, tensor: &DenseHostTensor, place: Place) -> Result<Bytes, TensorError> {
        let bytes = tensor.buffer().read()?;
        sent_copy(&bytes[self.range(place)], &self.ring.collective().context)
    }

    fn receive(self: Arc<Self>, place: Place, work: Gather) {
        let (ring, key) = (Arc::clone(&self.ring), self.key(place, self.ring.index()));
        ring.receive(key, self.part, move |received| {
            let right = self.ring.right();
            let is_last = right == self.sender;
            match received.and_then(|data| Ok(self.store(place, &data)?)) {
                Ok(_) if is_last => {}
                Ok(data) => {
                    let key = self.key(place, right);
                    self.ring.send(key, self.part, data, work);
                }
                Err(error) => self.ring.fail(&error),
            }
        });
    }

    fn store(&self, place: Place, data: &HostBuffer) -> Result<Bytes, TensorError> {
        let (expected, found) = (self.range(place).len(), data.len_bytes());
        if found != expected {
            return Err(TensorError::WrongBufferSize { expected, found });
        }
        let (chunk, number) = place;
        self.pieces
            .put(chunk * self.num_segments + number, data.clone());
        lend(data)
    }
}
