//! A payload that arrives on a data connection: its bytes are read to where they stay.

use prost::bytes::BufMut;
use prost::bytes::buf::Limit;
use tfrt_distributed::fabric::ArrivedPayload;
use tfrt_distributed::rendezvous::PayloadRoom;
use tfrt_distributed::{Payload, PayloadMemory};
use tfrt_tensor::{FillingBuffer, HostBuffer, TensorError};
use tonic::Status;

use super::MAX_ELEMENTS;
use crate::wire::DataChunk;

/// Elements of at most so many bytes get their memory at once.
const MIN_MEMORY_BYTES: usize = 4 << 20;

/// The factor by which the memory of a larger one may exceed the bytes that have arrived.
const MAX_GROWTH: usize = 8;

/// A payload of which a part has arrived.
#[derive(Debug)]
pub(super) struct Arrival {
    memory: PayloadMemory,
    head: DataChunk,
    /// The elements that are whole, and the one that arrives.
    elements: Vec<HostBuffer>,
    current: Option<Element>,
    room: PayloadRoom,
}

#[derive(Debug)]
struct Element {
    size: usize,
    crc32c: u32,
    memory: FillingBuffer,
    /// The number of bytes that there is memory for.
    capacity: usize,
}

impl Arrival {
    /// Begins a payload of at most so many bytes, for which `room` is reserved.
    pub(super) fn begin(
        head: DataChunk,
        max_bytes: u64,
        memory: PayloadMemory,
        room: PayloadRoom,
    ) -> Result<Self, Status> {
        let num_elements = head.element_bytes.len();
        if num_elements > MAX_ELEMENTS {
            return Err(malformed(&format!(
                "expected at most {MAX_ELEMENTS} elements, found {num_elements}"
            )));
        }
        let total = head.total_bytes();
        if total > max_bytes {
            let message =
                format!("a payload of {total} bytes exceeds the limit of {max_bytes} bytes");
            return Err(Status::resource_exhausted(message));
        }
        let mut this = Self {
            memory,
            elements: Vec::with_capacity(num_elements),
            head,
            current: None,
            room,
        };
        this.begin_element()?;
        Ok(this)
    }

    /// Returns `true` once all bytes have arrived.
    pub(super) fn is_whole(&self) -> bool {
        self.current.is_none()
    }

    /// Returns the memory for the next bytes, all of which are of one element.
    pub(super) fn memory(&mut self, num_bytes: usize) -> Result<Limit<&mut FillingBuffer>, Status> {
        let number = self.elements.len();
        let element = self
            .current
            .as_mut()
            .ok_or_else(|| malformed("expected as many bytes as were announced, found more"))?;
        let end = element.memory.len_bytes() + num_bytes;
        if num_bytes == 0 || end > element.size {
            let size = element.size;
            return Err(malformed(&format!(
                "the bytes of element {number} do not add up to its size of {size} bytes"
            )));
        }
        if end > element.capacity {
            element.capacity = element.size.min(end.saturating_mul(MAX_GROWTH));
            let mut larger =
                FillingBuffer::new(self.memory.allocator(element.capacity), element.capacity)
                    .map_err(exhausted)?;
            std::mem::swap(&mut larger, &mut element.memory);
            element
                .memory
                .append(larger.as_bytes())
                .map_err(exhausted)?;
        }
        Ok((&mut element.memory).limit(num_bytes))
    }

    /// Notes that the [memory](Self::memory) was filled. `sums` are the checksum of the element up
    /// to here, and what it has to be; none of bytes without a checksum.
    pub(super) fn filled(&mut self, sums: Option<(u32, u64)>) -> Result<(), Status> {
        let number = self.elements.len();
        let Some(mut element) = self.current.take() else {
            return Ok(());
        };
        if let Some((summed, expected)) = sums {
            element.crc32c = summed;
            if u64::from(summed) != expected {
                return Err(malformed(&format!("element {number} has a wrong checksum")));
            }
        }
        if element.memory.len_bytes() < element.size {
            self.current = Some(element);
            return Ok(());
        }
        self.elements.push(element.memory.finish());
        self.begin_element()
    }

    /// Returns the checksum of the current element up to here.
    pub(super) fn crc32c(&self) -> u32 {
        self.current.as_ref().map_or(0, |element| element.crc32c)
    }

    /// Makes room for the next element with bytes, if there is one.
    fn begin_element(&mut self) -> Result<(), Status> {
        while let Some(&size) = self.head.element_bytes.get(self.elements.len()) {
            let size = usize::try_from(size).unwrap_or(usize::MAX);
            let capacity = size.min(MIN_MEMORY_BYTES);
            let memory =
                FillingBuffer::new(self.memory.allocator(capacity), capacity).map_err(exhausted)?;
            if size > 0 {
                self.current = Some(Element {
                    size,
                    crc32c: 0,
                    memory,
                    capacity,
                });
                return Ok(());
            }
            self.elements.push(memory.finish());
        }
        Ok(())
    }

    /// Returns the payload, which is whole.
    pub(super) fn finish(self) -> ArrivedPayload {
        ArrivedPayload {
            context_id: self.head.context_id,
            instance_key: self.head.instance_key,
            payload: Payload::new(self.elements),
            room: self.room,
        }
    }

    /// Returns the number of bytes that there is memory for.
    #[cfg(test)]
    pub(super) fn capacity(&self) -> usize {
        self.current.as_ref().map_or(0, |element| element.capacity)
    }
}

#[cold]
fn exhausted(error: TensorError) -> Status {
    Status::resource_exhausted(format!("cannot keep a payload: {error}"))
}

#[cold]
pub(super) fn malformed(what: &str) -> Status {
    Status::invalid_argument(format!("malformed payload: {what}"))
}
