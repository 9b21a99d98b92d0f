//! Chunks as they arrive, in parts: the bytes of an element stay in the buffers of the connection.

use std::collections::VecDeque;

use prost::Message;
use prost::bytes::{Buf, Bytes};
use tonic::Status;

use super::assembly::malformed;
use super::{CHUNK_BYTES, MIN_KEPT_BYTES};
use crate::wire::{CHUNK_BYTES_KEY, DataChunk};

/// The bytes in front of a message: whether it is compressed, and its length.
const PREFIX_BYTES: usize = 5;

/// The most bytes of the fields of a chunk, other than its bytes of an element: more than they are,
/// so that a later version can add some.
const MAX_FIELD_BYTES: usize = 1 << 10;

/// Bytes in the parts in which they arrived, except that small parts in a row are one.
#[derive(Debug, Default)]
pub(super) struct Parts {
    parts: VecDeque<Bytes>,
    /// A copy of the small parts that arrived last: each alone would take more memory than its
    /// bytes.
    small: Vec<u8>,
    len: usize,
}

impl Parts {
    pub(super) fn len(&self) -> usize {
        self.len
    }

    pub(super) fn push(&mut self, part: Bytes) {
        self.len += part.len();
        if part.len() < MIN_KEPT_BYTES {
            self.small.extend_from_slice(&part);
        } else {
            self.end_small();
            self.parts.push_back(part);
        }
    }

    /// Makes one part of the small ones.
    fn end_small(&mut self) {
        if !self.small.is_empty() {
            self.parts.push_back(std::mem::take(&mut self.small).into());
        }
    }

    /// Returns the first part.
    fn front_mut(&mut self) -> Option<&mut Bytes> {
        if self.parts.is_empty() {
            self.end_small();
        }
        self.parts.front_mut()
    }

    /// Returns the parts, in order.
    pub(super) fn iter(&self) -> impl Iterator<Item = &[u8]> {
        self.parts
            .iter()
            .map(Bytes::as_ref)
            .chain([&self.small[..]])
    }

    /// Takes so many bytes, if they are there.
    fn take(&mut self, len: usize) -> Option<Self> {
        if len > self.len {
            return None;
        }
        let mut taken = Self::default();
        while taken.len < len {
            let front = self.front_mut()?;
            let part = front.split_to(front.len().min(len - taken.len));
            if front.is_empty() {
                self.parts.pop_front();
            }
            self.len -= part.len();
            taken.push(part);
        }
        Some(taken)
    }

    fn take_byte(&mut self) -> Option<u8> {
        let front = self.front_mut()?;
        let byte = front.get_u8();
        if front.is_empty() {
            self.parts.pop_front();
        }
        self.len -= 1;
        Some(byte)
    }

    /// Takes a number, and appends its bytes to `copy`.
    fn take_varint(&mut self, copy: &mut Vec<u8>) -> Result<u64, &'static str> {
        let mut number = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.take_byte().ok_or(ENDS_BEYOND)?;
            copy.push(byte);
            number |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Ok(number);
            }
        }
        Err("a number has more than 64 bits")
    }

    /// Takes the bytes of a field.
    fn take_field(&mut self, len: u64) -> Result<Self, &'static str> {
        let taken = usize::try_from(len).ok().and_then(|len| self.take(len));
        taken.ok_or(ENDS_BEYOND)
    }

    /// Takes so many bytes, and appends them to `copy`.
    fn take_into(&mut self, len: u64, copy: &mut Vec<u8>) -> Result<(), &'static str> {
        for part in self.take_field(len)? {
            copy.extend_from_slice(&part);
        }
        Ok(())
    }
}

/// Why a message that ends too early is malformed.
const ENDS_BEYOND: &str = "a field ends beyond it";

impl IntoIterator for Parts {
    type Item = Bytes;
    type IntoIter = std::collections::vec_deque::IntoIter<Bytes>;

    fn into_iter(mut self) -> Self::IntoIter {
        self.end_small();
        self.parts.into_iter()
    }
}

/// The messages of a stream.
#[derive(Debug)]
pub(super) struct Messages {
    arrived: Parts,
    /// The length of the next message, once it is known.
    len: Option<usize>,
    /// The limit of the next message.
    max_bytes: usize,
}

impl Messages {
    /// Creates a stream of messages of at most so many bytes. All but the first one have bytes of
    /// an element, and a lower limit.
    pub(super) fn new(max_bytes: usize) -> Self {
        Self {
            arrived: Parts::default(),
            len: None,
            max_bytes,
        }
    }

    pub(super) fn push(&mut self, part: Bytes) {
        self.arrived.push(part);
    }

    /// Returns `true` if a message has begun to arrive.
    pub(super) fn has_rest(&self) -> bool {
        self.len.is_some() || self.arrived.len() > 0
    }

    /// Returns the next message, if the whole of it is there.
    pub(super) fn next(&mut self) -> Result<Option<Parts>, Status> {
        let len = match self.len {
            Some(len) => len,
            None if self.arrived.len() < PREFIX_BYTES => return Ok(None),
            None => {
                let mut prefix = [0; PREFIX_BYTES];
                prefix.fill_with(|| self.arrived.take_byte().unwrap_or(0));
                let [compressed, len @ ..] = prefix;
                if compressed != 0 {
                    return Err(Status::unimplemented("chunks are not compressed"));
                }
                let (len, limit) = (u32::from_be_bytes(len) as usize, self.max_bytes);
                if len > limit {
                    return Err(Status::out_of_range(format!(
                        "a chunk of {len} bytes exceeds the limit of {limit} bytes"
                    )));
                }
                *self.len.insert(len)
            }
        };
        let message = self.arrived.take(len);
        if message.is_some() {
            self.len = None;
            self.max_bytes = self.max_bytes.min(CHUNK_BYTES + MAX_FIELD_BYTES);
        }
        Ok(message)
    }
}

/// A chunk: its message without the bytes, and these.
#[derive(Debug)]
pub(super) struct Chunk {
    pub(super) fields: DataChunk,
    pub(super) bytes: Parts,
}

impl Chunk {
    pub(super) fn decode(message: Parts) -> Result<Self, Status> {
        let not_a_message = |why: &str| malformed(format!("a chunk is not a message: {why}"));
        let (fields, bytes) = split(message).map_err(not_a_message)?;
        let fields =
            DataChunk::decode(&fields[..]).map_err(|error| not_a_message(&error.to_string()))?;
        Ok(Self { fields, bytes })
    }
}

/// Takes the bytes of an element out of a message. Returns the other fields, and the bytes.
fn split(mut message: Parts) -> Result<(Vec<u8>, Parts), &'static str> {
    let (mut fields, mut bytes) = (Vec::new(), Parts::default());
    while message.len() > 0 {
        let start = fields.len();
        let key = message.take_varint(&mut fields)?;
        if key == u64::from(CHUNK_BYTES_KEY) {
            let len = message.take_varint(&mut fields)?;
            fields.truncate(start);
            // The last one counts, as for every field.
            bytes = message.take_field(len)?;
            continue;
        }
        // Fields of later versions are skipped, whose type gives their length.
        match key & 7 {
            0 => drop(message.take_varint(&mut fields)?),
            1 => message.take_into(8, &mut fields)?,
            2 => {
                let len = message.take_varint(&mut fields)?;
                message.take_into(len, &mut fields)?;
            }
            5 => message.take_into(4, &mut fields)?,
            3 | 4 => return Err("a field is a group, which chunks do not have"),
            _ => return Err("a field has an unknown type"),
        }
    }
    Ok((fields, bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(bytes: &[u8], size: usize) -> Parts {
        let mut parts = Parts::default();
        for part in bytes.chunks(size) {
            parts.push(Bytes::copy_from_slice(part));
        }
        parts
    }

    fn whole(parts: Parts) -> Vec<u8> {
        parts.into_iter().flatten().collect()
    }

    #[test]
    fn a_chunk_is_read_like_any_message_however_it_is_cut() {
        let mut message = DataChunk {
            context_id: 5,
            instance_key: "key".to_owned(),
            element_bytes: vec![1, 300, 70_000],
            bytes: Bytes::from_static(b"an element"),
            crc32c: Some(9),
        };
        let mut encoded = message.encode_to_vec();
        // Fields of a later version: a number, eight bytes, four bytes and a text.
        encoded.extend(b"\xa0\x06\x96\x01\xa9\x06\0\0\0\0\0\0\0\0\xb5\x06\0\0\0\0\xba\x06\x02xy");
        for size in 1..=encoded.len() {
            let chunk = Chunk::decode(parts(&encoded, size)).unwrap();
            assert_eq!(whole(chunk.bytes), b"an element");
            message.bytes = Bytes::new();
            assert_eq!(chunk.fields, message);
        }
        for len in 1..encoded.len() {
            let expected = DataChunk::decode(&encoded[..len]).is_ok();
            let found = Chunk::decode(parts(&encoded[..len], 3)).is_ok();
            assert_eq!(found, expected, "the first {len} bytes");
        }
    }

    #[test]
    fn a_malformed_chunk_is_refused_with_the_reason() {
        for (message, reason) in [
            (&b"\x08"[..], "a field ends beyond it"),
            (b"\x22\x05abc", "a field ends beyond it"),
            (b"\xa1\x06abc", "a field ends beyond it"),
            (
                b"\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01",
                "a number has more than 64 bits",
            ),
            (
                b"\xa3\x06\xa4\x06",
                "a field is a group, which chunks do not have",
            ),
            (b"\xa4\x06", "a field is a group, which chunks do not have"),
            (b"\xa6\x06", "a field has an unknown type"),
        ] {
            let error = Chunk::decode(parts(message, 2)).unwrap_err();
            let expected = format!("malformed payload: a chunk is not a message: {reason}");
            assert_eq!(error.message(), expected, "{message:x?}");
        }
    }

    #[test]
    fn small_parts_take_little_more_memory_than_their_bytes() {
        let large = 3 * MIN_KEPT_BYTES;
        let sizes = std::iter::repeat_n(1, 10_000)
            .chain([large])
            .chain(std::iter::repeat_n(MIN_KEPT_BYTES - 1, 100));
        let mut arrived = Parts::default();
        let mut expected = Vec::new();
        for (number, size) in sizes.enumerate() {
            let part = vec![number as u8; size];
            expected.extend_from_slice(&part);
            arrived.push(part.into());
        }
        let num_parts = arrived.parts.len() + 1;
        assert_eq!(
            num_parts, 3,
            "the small parts, the large one, the small parts"
        );
        assert!(arrived.small.capacity() <= 2 * arrived.small.len());
        assert_eq!(arrived.len(), expected.len());
        let front = arrived.take(10).unwrap();
        assert_eq!(whole(front), expected[..10]);
        assert_eq!(whole(arrived), expected[10..]);
    }

    #[test]
    fn only_the_first_message_may_be_large() {
        let limit = CHUNK_BYTES + MAX_FIELD_BYTES;
        let mut messages = Messages::new(2 * limit);
        let prefix = |len: usize| [&[0][..], &(len as u32).to_be_bytes()].concat();
        for len in [limit + 1, limit] {
            messages.push(prefix(len).into());
            messages.push(vec![0; len].into());
            assert_eq!(
                messages.next().unwrap().map(|message| message.len()),
                Some(len)
            );
        }
        messages.push(prefix(limit + 1).into());
        assert_eq!(
            messages.next().unwrap_err().message(),
            "a chunk of 1049601 bytes exceeds the limit of 1049600 bytes"
        );
    }

    #[test]
    fn messages_are_found_however_the_stream_is_cut() {
        let stream = [
            &[0, 0, 0, 0, 3][..],
            b"abc",
            &[0; 5],
            &[0, 0, 0, 0, 1],
            b"d",
        ]
        .concat();
        for size in 1..=stream.len() {
            let mut messages = Messages::new(3);
            let mut found = Vec::new();
            for part in stream.chunks(size) {
                messages.push(Bytes::copy_from_slice(part));
                while let Some(message) = messages.next().unwrap() {
                    found.push(whole(message));
                }
            }
            assert_eq!(found, [&b"abc"[..], b"", b"d"]);
            assert!(!messages.has_rest());
        }
        for (stream, expected) in [
            (
                &b"\0\0\0\0\x04"[..],
                "a chunk of 4 bytes exceeds the limit of 3 bytes",
            ),
            (b"\x01\0\0\0\x01x", "chunks are not compressed"),
        ] {
            let mut messages = Messages::new(3);
            messages.push(Bytes::from_static(stream));
            assert_eq!(messages.next().unwrap_err().message(), expected);
        }
        let mut begun = Messages::new(3);
        begun.push(Bytes::from_static(b"\0\0\0\0\x01"));
        assert!(begun.next().unwrap().is_none());
        assert!(begun.has_rest());
    }
}
