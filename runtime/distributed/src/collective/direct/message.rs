//! Messages between members, and their heads.

use std::sync::Arc;

use prost::bytes::Bytes;
use tfrt_support::{DType, Error, ErrorCode};
use tfrt_tensor::DenseHostTensor;

use crate::error::Gather;

use super::elements::Elements;
use super::exchange::Outcome;

use super::super::header::{HEADER_BYTES, Header, Kind, Operation, Part};
use super::super::uses::KeyUse;

/// The largest head of a message.
pub const MAX_HEAD_BYTES: usize = 1 << 16;

/// The number of bytes between the header of an operation and the dimensions.
const FIXED_BYTES: usize = 4;

const IS_LAST: u8 = 1;
const IS_TENSOR: u8 = 2;

/// A message to other members: see the example of [`Links`](super::Links). Cloning shares its
/// bytes.
#[derive(Clone, Debug)]
pub struct Message {
    /// Says what the message is, in at most [`MAX_HEAD_BYTES`].
    pub head: Bytes,
    /// Elements, or the text of an error.
    pub elements: Bytes,
    /// The operation ends after its messages were dropped.
    _work: Option<Gather>,
    /// That of the operation.
    outcome: Option<Arc<Outcome>>,
    may_be_lent: bool,
}

impl Message {
    /// Fails the operation whose message cannot be sent to a member, but cannot be dropped either,
    /// for example because a library still holds its elements.
    pub fn give_up(&self, to: usize) {
        if let Some(outcome) = &self.outcome {
            outcome.give_up(to);
        }
    }

    /// Returns `true` if the elements may be lent instead of sent: the operation of the receiver
    /// takes them, or fails.
    #[must_use]
    pub fn may_be_lent(&self) -> bool {
        self.may_be_lent
    }

    /// Returns `true` if the operation has failed: its elements need not arrive.
    #[must_use]
    pub fn has_failed(&self) -> bool {
        let outcome = self.outcome.as_ref();
        outcome.is_some_and(|outcome| outcome.is_over())
    }

    /// Sets the outcome that [`give_up`](Self::give_up) fails.
    pub(super) fn failing(self, outcome: &Arc<Outcome>) -> Self {
        Self {
            outcome: Some(Arc::clone(outcome)),
            ..self
        }
    }

    /// Creates the message of a phase.
    pub(super) fn elements(
        part: Part,
        member: usize,
        key: &str,
        is_last: bool,
        dims: &[usize],
        (elements, work): (Bytes, Gather),
    ) -> Self {
        let flags = if is_last { IS_LAST } else { 0 };
        let head = head((Kind::Elements, part, member), flags, dims, key);
        Self {
            head,
            elements,
            _work: Some(work),
            outcome: None,
            may_be_lent: true,
        }
    }

    /// Creates the message of an operation that failed.
    pub(super) fn error(part: Part, member: usize, key: &str, error: &Error) -> Self {
        Self {
            head: head((Kind::Error, part, member), IS_LAST, &[], key),
            elements: Bytes::copy_from_slice(error.message().as_bytes()),
            _work: None,
            outcome: None,
            may_be_lent: false,
        }
    }

    /// Creates the message of a tensor that is sent to one member.
    pub(super) fn tensor(
        member: usize,
        key: &str,
        tensor: &DenseHostTensor,
        (elements, work): (Bytes, Gather),
    ) -> Result<Self, Error> {
        let part = Part {
            operation: Operation::Barrier,
            dtype: tensor.dtype(),
            num_elements: tensor.num_elements(),
            reduction: None,
            in_rounds: false,
        };
        let dims = tensor.shape().dims();
        let head = head(
            (Kind::Elements, part, member),
            IS_LAST | IS_TENSOR,
            dims,
            key,
        );
        if head.len() > MAX_HEAD_BYTES {
            let found = key.len();
            let message = format!("a key of {found} bytes is too long for a message");
            return Err(Error::new(message).with_code(ErrorCode::InvalidArgument));
        }
        Ok(Self {
            head,
            elements,
            _work: Some(work),
            outcome: None,
            // It waits for its receiver, which may not come, but its sender need not.
            may_be_lent: false,
        })
    }
}

/// Returns a head:
///
/// ```text
///  0        32      33     34   36         36 + 8 · rank
///  │ header │ flags │ rank │ 0  │ dimensions │ key │
/// ```
fn head((kind, part, member): (Kind, Part, usize), flags: u8, dims: &[usize], key: &str) -> Bytes {
    let header = Header {
        kind,
        part,
        member,
        // The messages of a member under a key arrive in order.
        key_use: KeyUse::default(),
    };
    let mut bytes = Vec::with_capacity(HEADER_BYTES + FIXED_BYTES + 8 * dims.len() + key.len());
    bytes.extend_from_slice(&header.to_bytes());
    // Shapes have fewer dimensions.
    let rank = u8::try_from(dims.len()).unwrap_or(u8::MAX);
    bytes.extend_from_slice(&[flags, rank, 0, 0]);
    for dim in &dims[..usize::from(rank)] {
        bytes.extend_from_slice(&(*dim as u64).to_le_bytes());
    }
    bytes.extend_from_slice(key.as_bytes());
    bytes.into()
}

/// The head of a received message.
#[derive(Debug)]
pub(super) struct Head<'a> {
    header: Header,
    flags: u8,
    dims: Vec<usize>,
    pub(super) key: &'a str,
}

impl<'a> Head<'a> {
    /// Reads a head. Returns `None` if it is malformed.
    pub(super) fn parse(bytes: &'a [u8]) -> Option<Self> {
        if bytes.len() > MAX_HEAD_BYTES {
            return None;
        }
        let (header, rest) = bytes.split_at_checked(HEADER_BYTES)?;
        let (fixed, rest) = rest.split_at_checked(FIXED_BYTES)?;
        let (dims, key) = rest.split_at_checked(8 * usize::from(fixed[1]))?;
        let dim = |bytes: &[u8]| {
            let number = u64::from_le_bytes(*bytes.first_chunk()?);
            usize::try_from(number).ok()
        };
        Some(Self {
            header: Header::parse(header)?,
            flags: fixed[0],
            dims: dims.chunks_exact(8).map(dim).collect::<Option<_>>()?,
            key: std::str::from_utf8(key).ok()?,
        })
    }

    /// Returns `true` for the message of an operation, which may be lent.
    pub(super) fn may_be_lent(&self) -> bool {
        self.header.kind == Kind::Elements && !self.is_tensor()
    }

    /// Returns `true` for a tensor that is sent to one member.
    pub(super) fn is_tensor(&self) -> bool {
        self.flags & IS_TENSOR != 0
    }
}

/// A message that has arrived.
#[derive(Debug)]
pub(super) struct Arrival {
    pub(super) kind: Kind,
    pub(super) part: Part,
    /// Whether the stream of the operation ends with it.
    pub(super) is_last: bool,
    pub(super) dtype: DType,
    pub(super) dims: Vec<usize>,
    pub(super) elements: Elements,
    /// The size for the limit of what waits.
    pub(super) size_bytes: usize,
}

impl Arrival {
    pub(super) fn new(head: &Head<'_>, elements: Elements, size_bytes: usize) -> Self {
        Self {
            kind: head.header.kind,
            part: head.header.part,
            is_last: head.flags & IS_LAST != 0,
            dtype: head.header.part.dtype,
            dims: head.dims.clone(),
            elements,
            size_bytes,
        }
    }

    /// Returns the text of an error.
    pub(super) fn text(&self) -> String {
        let text = match &self.elements {
            Elements::Here(text) => text.read().ok(),
            Elements::Lent(_) => None,
        };
        text.map_or_else(String::new, |text| {
            String::from_utf8_lossy(&text).into_owned()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heads_come_back_as_they_were() {
        let part = Part {
            operation: Operation::AllToAll,
            dtype: DType::F32,
            num_elements: 6,
            reduction: None,
            in_rounds: false,
        };
        let message = Message::elements(
            part,
            3,
            "step: 1",
            true,
            &[2, 3],
            (Bytes::new(), Gather::new(|_| ())),
        );
        let head = Head::parse(&message.head).unwrap();
        assert_eq!((head.key, &head.dims[..]), ("step: 1", &[2, 3][..]));
        assert_eq!((head.header.part, head.header.member), (part, 3));
        assert!(!head.is_tensor() && head.flags & IS_LAST != 0);
        for len in 0..HEADER_BYTES + FIXED_BYTES + 16 {
            assert!(Head::parse(&message.head[..len]).is_none(), "{len} bytes");
        }
        let mut wild = message.head.to_vec();
        *wild.last_mut().unwrap() = 0xff;
        assert!(Head::parse(&wild).is_none(), "a key is text");
        wild.resize(MAX_HEAD_BYTES + 1, b'k');
        assert!(Head::parse(&wild).is_none(), "a head is short");
    }
}
