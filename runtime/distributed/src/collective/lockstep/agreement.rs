//! Announcements of operations, and what follows from those of all members.

use tfrt_support::{DType, Error};
use tfrt_tensor::{DenseHostTensor, Shape};

use super::super::all_gather::invalid;
use super::super::header::{HEADER_BYTES, Header, Kind, Operation, Part, parameter_of};
use super::super::uses::KeyUse;
use super::super::{GroupMember, Reduction};
use super::order::Order;

/// The most dimensions of a tensor that is announced with its shape.
const MAX_RANK: usize = 16;

/// The number of bytes of an announcement.
///
/// ```text
///  0        32     40     48                  176
///  │ header │ time │ rank │ 16 dimensions of 8 │
/// ```
const BYTES: usize = HEADER_BYTES + 8 + 8 + 8 * MAX_RANK;

/// The operation of a member, as it tells it to the others: they must announce the same.
///
/// ```
/// use tfrt_distributed::collective::Reduction;
/// use tfrt_distributed::collective::lockstep::Announcement;
/// use tfrt_support::DType;
///
/// let sum = Announcement::all_reduce(Reduction::Sum, DType::F32, 1000);
/// assert_ne!(sum, Announcement::all_reduce(Reduction::Max, DType::F32, 1000));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Announcement {
    pub(super) part: Part,
    /// The shape, if that may differ.
    pub(super) dims: Vec<usize>,
}

impl Announcement {
    fn new(operation: Operation, dtype: DType, num_elements: usize) -> Self {
        Self {
            part: Part {
                operation,
                dtype,
                num_elements,
                reduction: None,
                in_rounds: false,
            },
            dims: Vec::new(),
        }
    }

    fn reducing(mut self, reduction: Reduction) -> Self {
        self.part.reduction = Some(reduction);
        self
    }

    /// Announces an all-reduce of tensors of this size.
    #[must_use]
    pub fn all_reduce(reduction: Reduction, dtype: DType, num_elements: usize) -> Self {
        Self::new(Operation::AllReduce, dtype, num_elements).reducing(reduction)
    }

    /// Announces a reduce-scatter of tensors of this size.
    #[must_use]
    pub fn reduce_scatter(reduction: Reduction, dtype: DType, num_elements: usize) -> Self {
        Self::new(Operation::ReduceScatter, dtype, num_elements).reducing(reduction)
    }

    /// Announces a broadcast of the member at position `sender`.
    #[must_use]
    pub fn broadcast(sender: usize, dtype: DType, num_elements: usize) -> Self {
        let operation = Operation::Broadcast(parameter_of(sender));
        Self::new(operation, dtype, num_elements)
    }

    /// Announces an all-gather of tensors of this size along an axis.
    #[must_use]
    pub fn all_gather(axis: u64, dtype: DType, num_elements: usize) -> Self {
        let axis = u32::try_from(axis).unwrap_or(u32::MAX);
        Self::new(Operation::AllGather(axis), dtype, num_elements)
    }

    /// Announces an all-gather of tensors that may differ along the axis.
    pub(super) fn all_gather_any(axis: u64, tensor: &DenseHostTensor) -> Self {
        let axis = u32::try_from(axis).unwrap_or(u32::MAX);
        let operation = Operation::GatherShapes(axis);
        Self {
            dims: tensor.shape().dims().to_vec(),
            ..Self::new(operation, tensor.dtype(), 0)
        }
    }

    /// Announces an all-to-all of inputs of this size.
    #[must_use]
    pub fn all_to_all(dtype: DType, num_elements: usize) -> Self {
        Self::new(Operation::AllToAll, dtype, num_elements)
    }

    /// Announces a barrier.
    pub(super) fn barrier() -> Self {
        Self::new(Operation::Barrier, DType::Ui8, 0)
    }

    fn to_bytes(&self, member: usize, time: u64) -> Result<[u8; BYTES], Error> {
        let rank = self.dims.len();
        if rank > MAX_RANK {
            return Err(invalid(format!(
                "expected at most {MAX_RANK} dimensions, found {rank}"
            )));
        }
        let header = Header {
            kind: Kind::Elements,
            part: self.part,
            member,
            key_use: KeyUse::default(),
        };
        let mut bytes = [0; BYTES];
        bytes[..HEADER_BYTES].copy_from_slice(&header.to_bytes());
        let numbers = [time, rank as u64].into_iter();
        let numbers = numbers.chain(self.dims.iter().map(|dim| *dim as u64));
        for (place, number) in bytes[HEADER_BYTES..].chunks_exact_mut(8).zip(numbers) {
            place.copy_from_slice(&number.to_le_bytes());
        }
        Ok(bytes)
    }

    fn parse(bytes: &[u8]) -> Option<(Self, u64)> {
        let (header, rest) = bytes.split_at_checked(HEADER_BYTES)?;
        let (numbers, []) = rest.as_chunks::<8>() else {
            return None;
        };
        let [time, rank, dims @ ..] = numbers else {
            return None;
        };
        let rank = usize::try_from(u64::from_le_bytes(*rank)).ok()?;
        let dims = dims.get(..rank)?.iter();
        let dims = dims.map(|dim| usize::try_from(u64::from_le_bytes(*dim)).ok());
        let announcement = Self {
            part: Header::parse(header)?.part,
            dims: dims.collect::<Option<_>>()?,
        };
        let time = u64::from_le_bytes(*time);
        (time <= Order::<()>::MAX_TIME).then_some((announcement, time))
    }
}

/// What the members have agreed on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Agreed {
    /// The time of the operation.
    pub(super) time: u64,
    /// The shapes that the members have announced.
    pub(super) dims: Vec<Vec<usize>>,
}

/// Announces an operation to all members. `done` gets the agreement, or the error of an operation
/// that differs between members: the same on all of them.
pub(super) fn agree(
    ring: &dyn GroupMember,
    (group, key, ring_key): (&str, &str, &str),
    announcement: &Announcement,
    time: u64,
    done: impl FnOnce(Result<Agreed, Error>) + Send + 'static,
) {
    let size = ring.size();
    let tensors = announcement.to_bytes(ring.index(), time).and_then(|bytes| {
        let own = DenseHostTensor::vector(&bytes)?.reshaped(Shape::new(&[1, BYTES])?)?;
        let all = DenseHostTensor::vector(&vec![0_u8; size * BYTES])?;
        Ok((own, all.reshaped(Shape::new(&[size, BYTES])?)?))
    });
    let (own, all) = match tensors {
        Ok(tensors) => tensors,
        Err(error) => {
            // The key is this operation's, so that nothing else is in progress under it.
            let _ = ring.abandon(ring_key, &error);
            return done(Err(error));
        }
    };
    let (group, key) = (group.to_owned(), key.to_owned());
    let gathered = ring.all_gather(ring_key, own, all.clone(), 0);
    gathered.and_then(move |gathered| {
        let gathered = gathered.as_result();
        done(gathered.and_then(|_| compare((&group, &key), &all.elements::<u8>()?)));
    });
}

/// Compares the announcements of all members.
fn compare(names: (&str, &str), bytes: &[u8]) -> Result<Agreed, Error> {
    let mut agreed = Agreed {
        time: 0,
        dims: Vec::new(),
    };
    let mut first = None;
    for (member, bytes) in bytes.chunks_exact(BYTES).enumerate() {
        let parsed = Announcement::parse(bytes);
        let (announcement, time) =
            parsed.ok_or_else(|| invalid("malformed message of a collective"))?;
        let expected = *first.get_or_insert(announcement.part);
        if announcement.part != expected {
            return Err(Part::mismatch(
                names,
                (member, announcement.part),
                (0, expected),
            ));
        }
        agreed.time = agreed.time.max(time);
        agreed.dims.push(announcement.dims);
    }
    Ok(agreed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn announcements_come_back_as_they_were() {
        let tensor = DenseHostTensor::vector(&[1.0_f32; 6]).unwrap();
        let tensor = tensor.reshaped(Shape::new(&[2, 3]).unwrap()).unwrap();
        for announcement in [
            Announcement::all_gather_any(1, &tensor),
            Announcement::all_reduce(Reduction::Mean, DType::Bf16, 1 << 40),
            Announcement::broadcast(3, DType::I1, 0),
            Announcement::barrier(),
        ] {
            let bytes = announcement.to_bytes(5, 77).unwrap();
            assert_eq!(Announcement::parse(&bytes), Some((announcement, 77)));
            for len in [0, 31, 32, BYTES - 1] {
                assert_eq!(Announcement::parse(&bytes[..len]), None);
            }
            let mut late = bytes;
            late[32..40].fill(0xff);
            assert_eq!(Announcement::parse(&late), None, "clocks would end");
            let mut wide = bytes;
            wide[40..48].fill(0xff);
            assert_eq!(Announcement::parse(&wide), None, "the rank is too large");
        }
    }

    #[test]
    fn members_that_differ_get_one_error() {
        let sum = Announcement::all_reduce(Reduction::Sum, DType::F32, 7);
        let longer = Announcement::all_reduce(Reduction::Sum, DType::F32, 8);
        let all = |announcements: [&Announcement; 3]| {
            let bytes = announcements.into_iter().enumerate();
            let bytes = bytes.map(|(member, one)| one.to_bytes(member, member as u64));
            let bytes: Vec<u8> = bytes.flat_map(Result::unwrap).collect();
            compare(("g~epoch1", "k"), &bytes)
        };
        assert_eq!(all([&sum; 3]).unwrap().time, 2);
        assert_eq!(
            all([&sum, &sum, &longer]).unwrap_err().message(),
            "allreduce key k of group g: member 2 has f32[8], member 0 has f32[7]"
        );
    }
}
