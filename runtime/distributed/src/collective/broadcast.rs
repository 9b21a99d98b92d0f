//! Broadcast: the tensor of one member, on every member.
//!
//! The tensor is divided into as many chunks as there are members. Each chunk travels around the
//! ring, from the sender to its left neighbour, under the key `group:group:KEY:CHUNK:RECEIVER`.

use std::sync::{Arc, Mutex, PoisonError};

use prost::bytes::Bytes;
use tfrt_support::{Error, ErrorCode};
use tfrt_tensor::{DenseHostTensor, HostBuffer, TensorError};

use super::header::{Operation, Part, parameter_of};
use super::ring::{Ring, abandon};
use super::split::chunk_bytes;
use super::{Collective, copy_of, lend, write_all};
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
    match Broadcast::new(collective.clone(), &tensor, sender) {
        Ok(this) => this.run(tensor, done),
        Err(error) => {
            abandon(&collective, &error);
            done(Err(error));
        }
    }
}

struct Broadcast {
    ring: Arc<Ring>,
    part: Part,
    element_bytes: usize,
    /// The position of the sender.
    sender: usize,
    elements: Mutex<HostBuffer>,
}

impl Broadcast {
    fn new(
        collective: Collective,
        tensor: &DenseHostTensor,
        sender: TaskHandle,
    ) -> Result<Arc<Self>, Error> {
        let group = collective.group.clone();
        let context = Arc::clone(&collective.context);
        let ring = Ring::join(collective, "broadcast", |task| {
            format!("The current task {task} is not part of the collective group {group}")
        })?;
        let position = ring.position_of(sender).map(Ok).unwrap_or_else(|| {
            let name = context.cluster().task_name(sender);
            let name = name.map_err(RemoteError::into_plain)?;
            let message = format!("The sender {name} is not part of the collective group {group}");
            Err(Error::new(message).with_code(ErrorCode::InvalidArgument))
        })?;
        Ok(Arc::new(Self {
            part: Part {
                operation: Operation::Broadcast(parameter_of(position)),
                dtype: tensor.dtype(),
                num_elements: tensor.num_elements(),
                reduction: None,
            },
            element_bytes: tfrt_tensor::element_bytes(tensor.dtype())?,
            sender: position,
            elements: Mutex::new(copy_of(tensor, &context)?),
            ring,
        }))
    }

    fn run(
        self: Arc<Self>,
        tensor: DenseHostTensor,
        done: impl FnOnce(Result<(), Error>) + Send + 'static,
    ) {
        let this = Arc::clone(&self);
        let work = Gather::new(move |sends| done(this.finish(sends, &tensor)));
        if self.ring.size() == 1 {
            return;
        }
        for chunk in 0..self.ring.size() {
            if self.ring.index() == self.sender {
                match self.bytes_of(chunk) {
                    Ok(bytes) => {
                        let key = self.key(chunk, self.ring.right());
                        self.ring.send(key, self.part, bytes, work.clone());
                    }
                    Err(error) => self.ring.fail(&error.into()),
                }
            } else {
                Arc::clone(&self).receive(chunk, work.clone());
            }
        }
    }

    fn finish(&self, sends: Answer<()>, tensor: &DenseHostTensor) -> Result<(), Error> {
        self.ring.leave();
        self.ring.outcome(sends)?;
        if self.ring.index() != self.sender {
            let elements = self.elements.lock();
            let elements = elements.unwrap_or_else(PoisonError::into_inner);
            write_all(tensor, &elements.read()?)?;
        }
        Ok(())
    }

    fn key(&self, chunk: usize, receiver: usize) -> String {
        let Collective { group, key, .. } = self.ring.collective();
        format!("{group}:{group}:{key}:{chunk}:{receiver}")
    }

    fn range(&self, chunk: usize) -> std::ops::Range<usize> {
        let num_elements = self.part.num_elements;
        chunk_bytes(num_elements, self.ring.size(), chunk, self.element_bytes)
    }

    fn bytes_of(&self, chunk: usize) -> Result<Bytes, TensorError> {
        let elements = self.elements.lock();
        let elements = elements.unwrap_or_else(PoisonError::into_inner);
        Ok(Bytes::copy_from_slice(&elements.read()?[self.range(chunk)]))
    }

    fn receive(self: Arc<Self>, chunk: usize, work: Gather) {
        let (ring, key) = (Arc::clone(&self.ring), self.key(chunk, self.ring.index()));
        ring.receive(key, self.part, move |received| {
            let right = self.ring.right();
            let is_last = right == self.sender;
            match received.and_then(|data| Ok(self.store(chunk, &data)?)) {
                Ok(_) if is_last => {}
                Ok(data) => {
                    let key = self.key(chunk, right);
                    self.ring.send(key, self.part, data, work);
                }
                Err(error) => {
                    self.ring.fail(&error);
                    if !is_last {
                        let key = self.key(chunk, right);
                        self.ring.send_error(key, self.part, &error, work);
                    }
                }
            }
        });
    }

    fn store(&self, chunk: usize, data: &HostBuffer) -> Result<Bytes, TensorError> {
        let range = self.range(chunk);
        if data.len_bytes() != range.len() {
            return Err(TensorError::WrongBufferSize {
                expected: range.len(),
                found: data.len_bytes(),
            });
        }
        let elements = self.elements.lock();
        let mut elements = elements.unwrap_or_else(PoisonError::into_inner);
        elements.write()?[range].copy_from_slice(&data.read()?);
        lend(data)
    }
}
