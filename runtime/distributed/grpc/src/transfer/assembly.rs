//! The payload of chunks that arrive.

use std::future::poll_fn;
use std::pin::Pin;

use http_body::Body as _;
use prost::bytes::Bytes;
use tfrt_distributed::fabric::ArrivedPayload;
use tfrt_distributed::rendezvous::PayloadRoom;
use tfrt_distributed::{Payload, PayloadMemory};
use tfrt_tensor::{FillingBuffer, HostBuffer, TensorError};
use tonic::Status;
use tonic::body::Body;

use super::CHUNK_BYTES;
use super::chunk::{Chunk, Messages, Parts};
use crate::wire::DataChunk;

/// The factor by which the memory of an element may exceed the bytes that have arrived.
const MAX_GROWTH: u64 = 8;

/// The most elements of a payload that is sent in chunks.
const MAX_ELEMENTS: usize = 1 << 16;

/// Takes the chunks of a body, which are messages of at most so many bytes. Before the bytes of the
/// payload arrive, `expect` reserves room for it, or refuses it.
pub(crate) async fn receive(
    mut body: Body,
    max_message_bytes: usize,
    mut assembly: Assembly,
    expect: impl FnOnce(&DataChunk) -> Result<PayloadRoom, Status>,
) -> Result<ArrivedPayload, Status> {
    let mut expect = Some(expect);
    let mut messages = Messages::new(max_message_bytes);
    while let Some(frame) = poll_fn(|context| Pin::new(&mut body).poll_frame(context)).await {
        let Ok(part) = frame?.into_data() else {
            continue;
        };
        messages.push(part);
        while let Some(message) = messages.next()? {
            assembly.add(message)?;
            if let Some(head) = &assembly.head
                && let Some(expect) = expect.take()
            {
                assembly.room = expect(head)?;
            }
        }
    }
    match messages.has_rest() {
        true => Err(malformed("the stream ends within a chunk".to_owned())),
        false => assembly.finish(),
    }
}

/// A payload that arrives in chunks.
#[derive(Debug)]
pub(crate) struct Assembly {
    max_bytes: u64,
    memory: PayloadMemory,
    room: PayloadRoom,
    /// The content of the first chunk, or `None` before it arrives.
    head: Option<DataChunk>,
    /// The elements that are whole, and the one that arrives.
    elements: Vec<HostBuffer>,
    current: Option<Element>,
}

/// An element that arrives.
#[derive(Debug)]
struct Element {
    size: u64,
    num_arrived: u64,
    crc32c: u32,
    memory: Memory,
}

#[derive(Debug)]
enum Memory {
    /// What has arrived, while it is little.
    Waiting(Parts),
    /// Memory for the whole element.
    Whole(FillingBuffer),
}

impl Assembly {
    /// Creates a payload of at most this many bytes.
    pub(crate) fn new(max_bytes: u64, memory: PayloadMemory) -> Self {
        Self {
            max_bytes,
            memory,
            room: PayloadRoom::default(),
            head: None,
            elements: Vec::new(),
            current: None,
        }
    }

    /// Takes the next chunk.
    pub(super) fn add(&mut self, message: Parts) -> Result<(), Status> {
        let chunk = Chunk::decode(message)?;
        if self.head.is_none() {
            return self.begin(chunk);
        }
        let mut element = match self.current.take() {
            Some(element) => element,
            None => self.next_element()?.ok_or_else(|| {
                malformed("expected as many elements as announced, found more".to_owned())
            })?,
        };
        let number = self.elements.len();
        let num_bytes = chunk.bytes.len() as u64;
        let (size, num_arrived) = (element.size, element.num_arrived + num_bytes);
        if num_bytes == 0 || num_arrived > size {
            return Err(malformed(format!(
                "the chunks of element {number} do not add up to its size of {size} bytes"
            )));
        }
        element.num_arrived = num_arrived;
        element.memory = element.memory.with_room(size, num_arrived, &self.memory)?;
        for part in chunk.bytes {
            // While the bytes are in the cache.
            element.crc32c = crc32c::crc32c_append(element.crc32c, &part);
            element.memory.add(part)?;
        }
        if num_arrived < size {
            self.current = Some(element);
            return Ok(());
        }
        if chunk.fields.crc32c != Some(element.crc32c) {
            return Err(malformed(format!("element {number} has a wrong checksum")));
        }
        if let Memory::Whole(filled) = element.memory {
            self.elements.push(filled.finish());
        }
        Ok(())
    }

    fn begin(&mut self, head: Chunk) -> Result<(), Status> {
        if head.bytes.len() > 0 || head.fields.crc32c.is_some() {
            return Err(malformed(
                "expected a first chunk without data, found bytes of an element".to_owned(),
            ));
        }
        let num_elements = head.fields.element_bytes.len();
        if num_elements > MAX_ELEMENTS {
            return Err(malformed(format!(
                "expected at most {MAX_ELEMENTS} elements, found {num_elements}"
            )));
        }
        let total = head.fields.total_bytes();
        if total > self.max_bytes {
            let limit = self.max_bytes;
            let message = format!("a payload of {total} bytes exceeds the limit of {limit} bytes");
            return Err(Status::resource_exhausted(message));
        }
        self.head = Some(head.fields);
        Ok(())
    }

    /// Returns the next element with bytes, if there is one: elements without bytes have no chunks.
    fn next_element(&mut self) -> Result<Option<Element>, Status> {
        let sizes = self
            .head
            .as_ref()
            .map_or(&[][..], |head| &head.element_bytes);
        while let Some(&size) = sizes.get(self.elements.len()) {
            if size > 0 {
                return Ok(Some(Element {
                    size,
                    num_arrived: 0,
                    crc32c: 0,
                    memory: Memory::Waiting(Parts::default()),
                }));
            }
            let empty = FillingBuffer::new(self.memory.allocator(0), 0).map_err(exhausted)?;
            self.elements.push(empty.finish());
        }
        Ok(None)
    }

    /// Returns the payload, once all chunks have arrived.
    pub(super) fn finish(mut self) -> Result<ArrivedPayload, Status> {
        if self.head.is_none() {
            return Err(malformed(
                "expected at least one chunk, found none".to_owned(),
            ));
        }
        let unfinished = match self.current.take() {
            Some(element) => Some(element),
            None => self.next_element()?,
        };
        if let Some(element) = unfinished {
            let (number, arrived, size) = (self.elements.len(), element.num_arrived, element.size);
            return Err(malformed(format!(
                "element {number} ends after {arrived} of {size} bytes"
            )));
        }
        let head = self.head.unwrap_or_default();
        Ok(ArrivedPayload {
            context_id: head.context_id,
            instance_key: head.instance_key,
            payload: Payload::new(self.elements),
            room: self.room,
        })
    }

    /// Returns the memory for bytes that have not arrived yet.
    #[cfg(test)]
    pub(super) fn has_memory(&self) -> bool {
        let current = self.current.as_ref();
        current.is_some_and(|element| matches!(element.memory, Memory::Whole(_)))
    }
}

impl Memory {
    /// Returns memory for an element of this size, once enough of it has arrived.
    fn with_room(
        self,
        size: u64,
        num_arrived: u64,
        memory: &PayloadMemory,
    ) -> Result<Self, Status> {
        let is_little = num_arrived < size / MAX_GROWTH && size > CHUNK_BYTES as u64;
        match self {
            Self::Waiting(parts) if !is_little => {
                let capacity = usize::try_from(size).unwrap_or(usize::MAX);
                let allocator = memory.allocator(capacity);
                let mut whole = FillingBuffer::new(allocator, capacity).map_err(exhausted)?;
                for part in parts.iter() {
                    whole.append(part).map_err(exhausted)?;
                }
                Ok(Self::Whole(whole))
            }
            waiting_or_whole => Ok(waiting_or_whole),
        }
    }

    /// Appends a part, for which there is room.
    fn add(&mut self, part: Bytes) -> Result<(), Status> {
        match self {
            Self::Whole(filling) => filling.append(&part).map_err(exhausted)?,
            Self::Waiting(parts) => parts.push(part),
        }
        Ok(())
    }
}

#[cold]
fn exhausted(error: TensorError) -> Status {
    Status::resource_exhausted(format!("cannot keep a payload: {error}"))
}

#[cold]
pub(super) fn malformed(what: String) -> Status {
    Status::invalid_argument(format!("malformed payload: {what}"))
}
