//! Headers of messages between members: the operation that a member performs, and how to tell two
//! of them apart.

use std::fmt;

use tfrt_support::{DType, Error, ErrorCode};

use super::uses::KeyUse;
use super::{Reduction, epoch};

/// The number of bytes of the header of a message.
pub(super) const HEADER_BYTES: usize = 32;

/// The collective of a member, with the parameters that all members must share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Operation {
    AllReduce,
    ReduceScatter,
    /// The position of the sender.
    Broadcast(u32),
    /// The axis.
    AllGather(u32),
    /// The axis that the shapes are gathered for.
    GatherShapes(u32),
    AllToAll,
    Barrier,
}

impl Operation {
    /// Returns the number of the collective in headers, and its parameter.
    fn to_numbers(self) -> (u8, u32) {
        match self {
            Self::AllReduce => (1, 0),
            Self::ReduceScatter => (2, 0),
            Self::Broadcast(sender) => (3, sender),
            Self::AllGather(axis) => (4, axis),
            Self::GatherShapes(axis) => (5, axis),
            Self::AllToAll => (6, 0),
            Self::Barrier => (7, 0),
        }
    }

    /// Returns the name of the collective in messages.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::AllReduce => "allreduce",
            Self::ReduceScatter => "reducescatter",
            Self::Broadcast(_) => "broadcast",
            Self::AllGather(_) | Self::GatherShapes(_) => "allgather",
            Self::AllToAll => "alltoall",
            Self::Barrier => "barrier",
        }
    }

    /// Returns the number of phases of a direct exchange.
    pub(super) fn num_phases(self) -> usize {
        match self {
            Self::AllReduce => 2,
            _ => 1,
        }
    }

    fn from_numbers(number: u8, parameter: u32) -> Option<Self> {
        Some(match number {
            1 => Self::AllReduce,
            2 => Self::ReduceScatter,
            3 => Self::Broadcast(parameter),
            4 => Self::AllGather(parameter),
            5 => Self::GatherShapes(parameter),
            6 => Self::AllToAll,
            7 => Self::Barrier,
            _ => return None,
        })
    }
}

impl fmt::Display for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::AllReduce => f.write_str("an allreduce"),
            Self::ReduceScatter => f.write_str("a reducescatter"),
            Self::Broadcast(sender) => write!(f, "a broadcast of member {sender}"),
            Self::AllGather(axis) | Self::GatherShapes(axis) => {
                write!(f, "an allgather along axis {axis}")
            }
            Self::AllToAll => f.write_str("an alltoall"),
            Self::Barrier => f.write_str("a barrier"),
        }
    }
}

/// Returns a position or an axis as headers have it. Larger ones do not occur.
pub(super) fn parameter_of(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

/// The operation of a member, which must match that of its neighbours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Part {
    pub(super) operation: Operation,
    pub(super) dtype: DType,
    pub(super) num_elements: usize,
    pub(super) reduction: Option<Reduction>,
    /// Whether all members exchange chunks in two rounds, instead of passing them around the ring.
    pub(super) in_rounds: bool,
}

impl Part {
    /// Returns the error for two members that perform different operations under a key.
    #[cold]
    pub(super) fn mismatch(
        (group, key): (&str, &str),
        (member, theirs): (usize, Self),
        (index, own): (usize, Self),
    ) -> Error {
        let differs = theirs.reduction != own.reduction;
        // Tasks of different versions may choose different ways.
        let only_ways_differ = Self {
            in_rounds: own.in_rounds,
            ..theirs
        } == own;
        let what = |part: Self| {
            let (dtype, num_elements) = (part.dtype, part.num_elements);
            if theirs.operation != own.operation {
                return part.operation.to_string();
            }
            match part.reduction.filter(|_| differs) {
                Some(reduction) => format!("{} of {dtype}[{num_elements}]", reduction.name()),
                None if only_ways_differ => match part.in_rounds {
                    true => "an exchange in two rounds".to_owned(),
                    false => "an exchange around the ring".to_owned(),
                },
                None => format!("{dtype}[{num_elements}]"),
            }
        };
        let (name, group) = (own.operation.name(), epoch::group_of(group));
        let message = format!(
            "{name} key {key} of group {group}: member {member} has {}, member {index} has {}",
            what(theirs),
            what(own)
        );
        Error::new(message).with_code(ErrorCode::InvalidArgument)
    }
}

/// The content after a header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Elements,
    Error,
}

/// The header of a message.
///
/// ```text
///  0      1      2           3           4        8
///  │ kind │ type │ reduction │ operation │ member │ num_elements │
///  16               20            28        32
///  │ axis or sender │ fingerprint │ key use │
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Header {
    pub(super) kind: Kind,
    pub(super) part: Part,
    pub(super) member: usize,
    /// The use of the key, for messages that are told apart by it.
    pub(super) key_use: KeyUse,
}

impl Header {
    pub(super) fn to_bytes(self) -> [u8; HEADER_BYTES] {
        let mut bytes = [0; HEADER_BYTES];
        bytes[0] = u8::from(self.kind == Kind::Error) | u8::from(self.part.in_rounds) << 1;
        bytes[1] = self.part.dtype.code();
        let (reduction, fingerprint) = self.part.reduction.map_or((0, 0), Reduction::to_numbers);
        bytes[2] = reduction;
        bytes[20..28].copy_from_slice(&fingerprint.to_le_bytes());
        let (operation, parameter) = self.part.operation.to_numbers();
        bytes[3] = operation;
        bytes[4..8].copy_from_slice(&parameter_of(self.member).to_le_bytes());
        bytes[8..16].copy_from_slice(&(self.part.num_elements as u64).to_le_bytes());
        bytes[16..20].copy_from_slice(&parameter.to_le_bytes());
        bytes[28..].copy_from_slice(&self.key_use.bits().to_le_bytes());
        bytes
    }

    pub(super) fn parse(bytes: &[u8]) -> Option<Self> {
        let bytes: &[u8; HEADER_BYTES] = bytes.try_into().ok()?;
        let [b0, b1, b2, b3, b4, b5, b6, b7] = *bytes[8..].first_chunk()?;
        let num_elements = u64::from_le_bytes([b0, b1, b2, b3, b4, b5, b6, b7]);
        let fingerprint = u64::from_le_bytes(*bytes[20..].first_chunk()?);
        Some(Self {
            kind: match bytes[0] {
                0 | 2 => Kind::Elements,
                1 | 3 => Kind::Error,
                _ => return None,
            },
            part: Part {
                operation: Operation::from_numbers(
                    bytes[3],
                    u32::from_le_bytes(*bytes[16..].first_chunk()?),
                )?,
                dtype: DType::from_code(bytes[1])?,
                num_elements: usize::try_from(num_elements).ok()?,
                reduction: match bytes[2] {
                    0 => None,
                    number => Some(Reduction::from_numbers(number, fingerprint)?),
                },
                in_rounds: bytes[0] & 2 != 0,
            },
            member: u32::from_le_bytes(*bytes[4..].first_chunk()?) as usize,
            key_use: KeyUse::from_bits(u32::from_le_bytes(*bytes[28..].first_chunk()?)),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_that_differ_only_in_their_ways_are_told_so() {
        let ring = Part {
            operation: Operation::AllReduce,
            dtype: DType::F32,
            num_elements: 4,
            reduction: Some(Reduction::Sum),
            in_rounds: false,
        };
        let rounds = Part {
            in_rounds: true,
            ..ring
        };
        let error = Part::mismatch(("g", "k"), (1, ring), (2, rounds));
        assert_eq!(
            error.message(),
            "allreduce key k of group g: member 1 has an exchange around the ring, member 2 has an \
             exchange in two rounds"
        );
    }

    #[test]
    fn headers_come_back_as_they_were() {
        for (reduction, operation) in [
            (None, Operation::Broadcast(7)),
            (None, Operation::AllGather(1 << 20)),
            (None, Operation::GatherShapes(0)),
            (Some(Reduction::Sum), Operation::AllReduce),
            (Some(Reduction::Mean), Operation::ReduceScatter),
            (Some(Reduction::Sum), Operation::Barrier),
            (None, Operation::AllToAll),
        ] {
            let header = Header {
                kind: Kind::Error,
                part: Part {
                    operation,
                    dtype: DType::F16,
                    num_elements: 1 << 40,
                    reduction,
                    in_rounds: operation == Operation::AllReduce,
                },
                member: 300,
                key_use: KeyUse::from_bits(0x0102_0304),
            };
            assert_eq!(Header::parse(&header.to_bytes()), Some(header));
        }
        assert_eq!(Header::parse(&[0; 31]), None);
        assert_eq!(Header::parse(&[0; 32]), None, "no type has the code 0");
        let good = Header {
            kind: Kind::Elements,
            part: Part {
                operation: Operation::AllReduce,
                dtype: DType::F32,
                num_elements: 1,
                reduction: None,
                in_rounds: false,
            },
            member: 0,
            key_use: KeyUse::default(),
        };
        for (position, wild) in [(0, 4), (1, 0), (2, 6), (2, 7), (3, 0), (3, 8)] {
            let mut bytes = good.to_bytes();
            bytes[position] = wild;
            assert_eq!(Header::parse(&bytes), None, "{wild} at {position}");
        }
    }
}
