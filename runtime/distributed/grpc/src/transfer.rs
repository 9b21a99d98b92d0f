//! Large payloads in chunks.
//!
//! ```text
//!  key, sizes of the elements │ bytes │ bytes │ bytes + checksum │ bytes + checksum │ …
//!                             └──── first element ─────┘└──── second ────┘
//! ```
//!
//! A sender creates each chunk when the connection has room for it. A receiver allocates memory as
//! bytes arrive, regardless of announced sizes.

use prost::Message;
use prost::bytes::Bytes;
use tfrt_distributed::message::SendDataRequest;
use tonic::Status;

use crate::wire::DataChunk;

/// The most bytes of a chunk.
const CHUNK_BYTES: usize = 1 << 20;

/// The factor by which the memory of an element may exceed the bytes that have arrived.
const MAX_GROWTH: u64 = 8;

/// The most elements of a payload that is sent in chunks.
const MAX_ELEMENTS: usize = 1 << 16;

/// Returns the chunks of a payload, each made on demand.
pub(crate) fn chunks(request: &SendDataRequest) -> impl Iterator<Item = DataChunk> + Send + use<> {
    let head = DataChunk {
        context_id: request.context_id,
        instance_key: request.instance_key.clone(),
        element_bytes: request
            .payload
            .iter()
            .map(|bytes| bytes.len() as u64)
            .collect(),
        ..DataChunk::default()
    };
    let elements = request.payload.clone().into_iter().flat_map(pieces);
    std::iter::once(head).chain(elements)
}

fn pieces(element: Bytes) -> impl Iterator<Item = DataChunk> + Send {
    let mut rest = element;
    let mut crc32c = 0;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let bytes = rest.split_to(rest.len().min(CHUNK_BYTES));
        crc32c = crc32c::crc32c_append(crc32c, &bytes);
        Some(DataChunk {
            bytes,
            crc32c: rest.is_empty().then_some(crc32c),
            ..DataChunk::default()
        })
    })
}

/// A payload that arrives in chunks.
#[derive(Debug)]
pub(crate) struct Assembly {
    max_bytes: u64,
    /// The content of the first chunk, or `None` before it arrives.
    head: Option<DataChunk>,
    elements: Vec<Vec<u8>>,
    /// The checksum of the last element so far.
    crc32c: u32,
}

impl Assembly {
    /// Creates a payload of at most this many bytes.
    pub(crate) fn new(max_bytes: u64) -> Self {
        Self {
            max_bytes,
            head: None,
            elements: Vec::new(),
            crc32c: 0,
        }
    }

    /// Takes the next chunk.
    pub(crate) fn add(&mut self, bytes: Bytes) -> Result<(), Status> {
        let chunk = DataChunk::decode(bytes)
            .map_err(|error| malformed(format!("a chunk is not a message: {error}")))?;
        let Some(head) = &self.head else {
            return self.begin(chunk);
        };
        if self
            .elements
            .last()
            .is_none_or(|element| is_whole(head, self.elements.len(), element))
        {
            self.elements.push(Vec::new());
            // Elements without bytes have no chunks.
            while head.element_bytes.get(self.elements.len() - 1) == Some(&0) {
                self.elements.push(Vec::new());
            }
        }
        let number = self.elements.len();
        let (Some(element), Some(&size)) =
            (self.elements.last_mut(), head.element_bytes.get(number - 1))
        else {
            return Err(malformed(
                "expected as many elements as announced, found more".to_owned(),
            ));
        };
        let new_size = element.len() as u64 + chunk.bytes.len() as u64;
        if chunk.bytes.is_empty() || new_size > size {
            return Err(malformed(format!(
                "the chunks of element {} do not add up to its size of {size} bytes",
                number - 1
            )));
        }
        // An element of which a part has arrived moves at most a few times while it grows.
        let is_begun = element.len() as u64 >= size / MAX_GROWTH;
        let room = match is_begun {
            true => usize::try_from(size).unwrap_or(usize::MAX) - element.len(),
            false => chunk.bytes.len(),
        };
        element
            .try_reserve(room)
            .map_err(|_| Status::resource_exhausted("cannot allocate memory for a payload"))?;
        if element.is_empty() {
            self.crc32c = 0;
        }
        // While the bytes are in the cache.
        self.crc32c = crc32c::crc32c_append(self.crc32c, &chunk.bytes);
        element.extend_from_slice(&chunk.bytes);
        if new_size == size && chunk.crc32c != Some(self.crc32c) {
            return Err(malformed(format!(
                "element {} has a wrong checksum",
                number - 1
            )));
        }
        Ok(())
    }

    fn begin(&mut self, head: DataChunk) -> Result<(), Status> {
        if !head.bytes.is_empty() || head.crc32c.is_some() {
            return Err(malformed(
                "expected a first chunk without data, found bytes of an element".to_owned(),
            ));
        }
        let num_elements = head.element_bytes.len();
        if num_elements > MAX_ELEMENTS {
            return Err(malformed(format!(
                "expected at most {MAX_ELEMENTS} elements, found {num_elements}"
            )));
        }
        let sizes = head.element_bytes.iter();
        let total = sizes.fold(0_u64, |total, size| total.saturating_add(*size));
        if total > self.max_bytes {
            let limit = self.max_bytes;
            let message = format!("a payload of {total} bytes exceeds the limit of {limit} bytes");
            return Err(Status::resource_exhausted(message));
        }
        self.head = Some(head);
        Ok(())
    }

    /// Returns the payload, once all chunks have arrived.
    pub(crate) fn finish(mut self) -> Result<SendDataRequest, Status> {
        let head = self
            .head
            .ok_or_else(|| malformed("expected at least one chunk, found none".to_owned()))?;
        // Elements without bytes at the end.
        self.elements
            .resize_with(head.element_bytes.len(), Vec::new);
        for (number, (element, size)) in self.elements.iter().zip(&head.element_bytes).enumerate() {
            if element.len() as u64 != *size {
                let arrived = element.len();
                return Err(malformed(format!(
                    "element {number} ends after {arrived} of {size} bytes"
                )));
            }
        }
        Ok(SendDataRequest {
            context_id: head.context_id,
            instance_key: head.instance_key,
            payload: self.elements.into_iter().map(Bytes::from).collect(),
        })
    }
}

fn is_whole(head: &DataChunk, number: usize, element: &[u8]) -> bool {
    head.element_bytes.get(number - 1) == Some(&(element.len() as u64))
}

fn malformed(what: String) -> Status {
    Status::invalid_argument(format!("malformed payload: {what}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The chunks of a payload as they are sent.
    fn chunks(request: &SendDataRequest) -> impl Iterator<Item = Bytes> {
        super::chunks(request).map(|chunk| chunk.encode_to_vec().into())
    }

    fn request(sizes: &[usize]) -> SendDataRequest {
        let element = |(index, size): (usize, &usize)| {
            let bytes: Vec<u8> = (0..*size).map(|i| (i * 7 + index) as u8).collect();
            Bytes::from(bytes)
        };
        SendDataRequest {
            context_id: 3,
            instance_key: "key".to_owned(),
            payload: sizes.iter().enumerate().map(element).collect(),
        }
    }

    fn assemble(chunks: impl IntoIterator<Item = Bytes>) -> Result<SendDataRequest, Status> {
        let mut assembly = Assembly::new(1 << 30);
        for chunk in chunks {
            assembly.add(chunk)?;
        }
        assembly.finish()
    }

    const SIZES: [&[usize]; 7] = [
        &[],
        &[0],
        &[1],
        &[CHUNK_BYTES],
        &[0, 0, CHUNK_BYTES + 1, 0, 5, 0],
        &[3 * CHUNK_BYTES - 1, 2],
        &[2, 0, 0, CHUNK_BYTES],
    ];

    #[test]
    fn payloads_arrive_whole() {
        for sizes in SIZES {
            let request = request(sizes);
            assert_eq!(assemble(chunks(&request)).unwrap(), request, "{sizes:?}");
        }
    }

    #[test]
    fn a_payload_that_lacks_or_repeats_a_chunk_is_refused() {
        for sizes in SIZES {
            let chunks: Vec<Bytes> = chunks(&request(sizes)).collect();
            for damaged in 0..chunks.len() {
                let mut lacking = chunks.clone();
                lacking.remove(damaged);
                assert!(assemble(lacking).is_err(), "{sizes:?} without {damaged}");
                let mut repeating = chunks.clone();
                repeating.insert(damaged, chunks[damaged].clone());
                assert!(assemble(repeating).is_err(), "{sizes:?} twice {damaged}");
            }
        }
    }

    #[test]
    fn damaged_bytes_are_found() {
        let chunks: Vec<Bytes> = chunks(&request(&[10, 20])).collect();
        for damaged in 1..chunks.len() {
            for at in 0..chunks[damaged].len() {
                let mut chunks = chunks.clone();
                let mut bytes = chunks[damaged].to_vec();
                bytes[at] ^= 1;
                chunks[damaged] = bytes.into();
                assert!(assemble(chunks).is_err(), "byte {at} of chunk {damaged}");
            }
        }
    }

    #[test]
    fn announced_sizes_take_no_memory() {
        let head = DataChunk {
            element_bytes: vec![1 << 29, 1 << 29],
            ..DataChunk::default()
        };
        let mut assembly = Assembly::new(1 << 30);
        assembly.add(head.encode_to_vec().into()).unwrap();
        assert_eq!(assembly.elements.capacity(), 0);
        let error = Assembly::new((1 << 30) - 1).add(head.encode_to_vec().into());
        assert_eq!(
            error.unwrap_err().message(),
            "a payload of 1073741824 bytes exceeds the limit of 1073741823 bytes"
        );
        let wild = DataChunk {
            element_bytes: vec![u64::MAX; 3],
            ..DataChunk::default()
        };
        assert!(
            Assembly::new(1 << 30)
                .add(wild.encode_to_vec().into())
                .is_err()
        );
    }
}
