//! All-to-all: every member sends a chunk of its tensor to every other one.
//!
//! Each tensor is divided into as many chunks as there are members. Chunk j of member i goes from i
//! to j, under the key `group:group:KEY:i:j`: directly, not around the ring. The result of member j
//! has the chunks with its number, in the order of the members.

use std::sync::{Arc, Mutex, PoisonError};

use prost::bytes::Bytes;
use tfrt_support::{Error, ErrorCode};
use tfrt_tensor::{DenseHostTensor, HostBuffer, TensorError};

use super::header::{Operation, Part};
use super::ring::Ring;
use super::split::{chunk, chunk_bytes};
use super::{Collective, write_all};
use crate::error::{Answer, Gather};

/// Sends chunk j of `input` to member j, and writes the chunks for this member into `output`: with
/// G members, the elements of each tensor are divided into G chunks, of which the first ones have
/// one more element if the division has a remainder. All inputs must have the same
/// number of elements.
///
/// `done` runs on the work queue, or immediately if the collective cannot start.
pub(super) fn all_to_all(
    collective: Collective,
    input: DenseHostTensor,
    output: DenseHostTensor,
    done: impl FnOnce(Result<(), Error>) + Send + 'static,
) {
    let ring = match Ring::join_as_member(collective, "alltoall") {
        Ok(ring) => ring,
        Err(error) => return done(Err(error)),
    };
    match AllToAll::new(Arc::clone(&ring), &input, &output) {
        Ok(this) => this.run(&input, output, done),
        Err(error) => {
            ring.refuse(&error);
            done(Err(error));
        }
    }
}

struct AllToAll {
    ring: Arc<Ring>,
    part: Part,
    element_bytes: usize,
    /// The chunks for this member.
    result: Mutex<HostBuffer>,
}

impl AllToAll {
    fn new(
        ring: Arc<Ring>,
        input: &DenseHostTensor,
        output: &DenseHostTensor,
    ) -> Result<Arc<Self>, Error> {
        let allocator = Arc::clone(ring.collective().context.host().allocator());
        if output.dtype() != input.dtype() {
            return Err(TensorError::WrongDType {
                expected: input.dtype(),
                found: output.dtype(),
            }
            .into());
        }
        let (index, size) = (ring.index(), ring.size());
        let chunk_len = chunk(input.num_elements(), size, index).len();
        let (expected, found) = (size * chunk_len, output.num_elements());
        if found != expected {
            let message = format!(
                "expected an output of {size} chunks of {chunk_len} elements, found {found} \
                 elements"
            );
            return Err(Error::new(message).with_code(ErrorCode::InvalidArgument));
        }
        let element_bytes = tfrt_tensor::element_bytes(input.dtype())?;
        let result = HostBuffer::zeroed(&allocator, expected * element_bytes, 64)?;
        Ok(Arc::new(Self {
            part: Part {
                operation: Operation::AllToAll,
                dtype: input.dtype(),
                num_elements: input.num_elements(),
                reduction: None,
                in_rounds: false,
            },
            element_bytes,
            result: Mutex::new(result),
            ring,
        }))
    }

    fn run(
        self: Arc<Self>,
        input: &DenseHostTensor,
        output: DenseHostTensor,
        done: impl FnOnce(Result<(), Error>) + Send + 'static,
    ) {
        let this = Arc::clone(&self);
        let work = self
            .ring
            .work(move |sends| done(this.finish(sends, &output)));
        let (index, size) = (self.ring.index(), self.ring.size());
        for position in 0..size {
            let bytes = match self.bytes_for(position, input) {
                Ok(bytes) => bytes,
                Err(error) => return self.ring.fail(&error.into()),
            };
            if position == index {
                if let Err(error) = self.store(index, &bytes) {
                    self.ring.fail(&error);
                }
                continue;
            }
            let key = self.key(index, position);
            self.ring
                .send_to(position, key, self.part, bytes, work.clone());
            Arc::clone(&self).receive(position, work.clone());
        }
    }

    fn finish(&self, sends: Answer<()>, output: &DenseHostTensor) -> Result<(), Error> {
        self.ring.leave();
        self.ring.outcome(sends)?;
        let result = self.result.lock();
        let result = result.unwrap_or_else(PoisonError::into_inner);
        Ok(write_all(output, &result.read()?)?)
    }

    fn key(&self, from: usize, to: usize) -> String {
        let Collective { group, key, .. } = self.ring.collective();
        format!("{group}:{group}:{key}:{from}:{to}")
    }

    fn bytes_for(&self, position: usize, input: &DenseHostTensor) -> Result<Bytes, TensorError> {
        let (len, size) = (self.part.num_elements, self.ring.size());
        let range = chunk_bytes(len, size, position, self.element_bytes);
        Ok(Bytes::copy_from_slice(&input.buffer().read()?[range]))
    }

    fn receive(self: Arc<Self>, position: usize, work: Gather) {
        let (ring, key) = (
            Arc::clone(&self.ring),
            self.key(position, self.ring.index()),
        );
        ring.receive_from(position, key, self.part, move |received| {
            let stored = received.and_then(|data| self.store(position, &data.read()?));
            if let Err(error) = stored {
                self.ring.fail(&error);
            }
            drop(work);
        });
    }

    /// Stores the chunk of a member.
    fn store(&self, position: usize, data: &[u8]) -> Result<(), Error> {
        let result = self.result.lock();
        let mut result = result.unwrap_or_else(PoisonError::into_inner);
        let expected = result.len_bytes() / self.ring.size();
        if data.len() != expected {
            let found = data.len();
            return Err(TensorError::WrongBufferSize { expected, found }.into());
        }
        let start = position * expected;
        result.write()?[start..start + expected].copy_from_slice(data);
        Ok(())
    }
}
