//! The properties of a tensor except its data: element type and extents.
//!
//! Allocation, memory planning and checks do not need a tensor type: a kernel's metadata function
//! goes from the metadata of operands to that of results.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::ops::Deref;

use crate::DType;

/// The element type and the extents of a tensor.
///
/// ```
/// use tfrt_support::DType;
/// use tfrt_support::TensorMetadata;
///
/// let matrix = TensorMetadata::new(DType::F32, [2, 3]);
/// assert_eq!((matrix.extents.len(), matrix.num_elements()), (2, Some(6)));
/// assert_eq!(matrix.size_bytes(), Some(24));
/// assert_eq!(matrix.to_string(), "f32 [2, 3]");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct TensorMetadata {
    /// The type of each element.
    pub dtype: DType,
    /// The number of elements along each dimension, outermost first; empty for a scalar.
    pub extents: Extents,
}

impl TensorMetadata {
    /// That of a tensor of this element type and these extents.
    #[inline]
    #[must_use]
    pub fn new(dtype: DType, extents: impl Into<Extents>) -> Self {
        Self {
            dtype,
            extents: extents.into(),
        }
    }

    /// Returns how many elements there are in all, if a `usize` can say it.
    #[must_use]
    pub fn num_elements(&self) -> Option<usize> {
        // An extent of zero decides, however large the others are.
        if self.extents.contains(&0) {
            return Some(0);
        }
        self.extents
            .iter()
            .try_fold(1_usize, |count, &extent| count.checked_mul(extent))
    }

    /// Returns how many bytes the elements take, if they are of a fixed size and a `usize` can say
    /// it.
    #[must_use]
    pub fn size_bytes(&self) -> Option<usize> {
        self.num_elements()?.checked_mul(self.dtype.size_bytes()?)
    }
}

impl fmt::Display for TensorMetadata {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.dtype, self.extents)
    }
}

/// The extents of a tensor, outermost first. As many as almost every tensor has are kept in place.
///
/// ```
/// use tfrt_support::Extents;
///
/// let extents: Extents = [2, 3, 4].into_iter().collect();
/// assert_eq!(&extents[1..], [3, 4]);
/// assert_eq!(extents, Extents::from([2, 3, 4]));
/// ```
#[derive(Clone)]
pub struct Extents(Repr);

/// The number of extents that are kept in place.
const NUM_IN_PLACE: usize = 6;

#[derive(Clone)]
enum Repr {
    /// Places behind the last extent are zero.
    InPlace {
        rank: Rank,
        extents: [usize; NUM_IN_PLACE],
    },
    Boxed(Box<[usize]>),
}

/// How many extents are kept in place. As wide as an extent, so that there is nothing between the
/// fields of [`Repr`], and it is copied in few pieces.
#[derive(Clone, Copy, PartialEq, Eq)]
#[repr(usize)]
enum Rank {
    Zero,
    One,
    Two,
    Three,
    Four,
    Five,
    Six,
}

const _: () = assert!(Rank::Six as usize == NUM_IN_PLACE);
const _: () = assert!(size_of::<Extents>() == size_of::<[usize; NUM_IN_PLACE + 1]>());

impl Rank {
    /// Returns the rank of this many extents, if they are kept in place.
    #[inline]
    const fn of(len: usize) -> Option<Self> {
        Some(match len {
            0 => Self::Zero,
            1 => Self::One,
            2 => Self::Two,
            3 => Self::Three,
            4 => Self::Four,
            5 => Self::Five,
            6 => Self::Six,
            _ => return None,
        })
    }
}

impl Deref for Extents {
    type Target = [usize];

    #[inline]
    fn deref(&self) -> &[usize] {
        match &self.0 {
            Repr::InPlace { rank, extents } => &extents[..*rank as usize],
            Repr::Boxed(extents) => extents,
        }
    }
}

impl From<&[usize]> for Extents {
    #[inline]
    fn from(given: &[usize]) -> Self {
        match Rank::of(given.len()) {
            Some(rank) => {
                let mut extents = [0; NUM_IN_PLACE];
                extents[..given.len()].copy_from_slice(given);
                Self(Repr::InPlace { rank, extents })
            }
            None => Self(Repr::Boxed(given.into())),
        }
    }
}

impl<const RANK: usize> From<[usize; RANK]> for Extents {
    #[inline]
    fn from(given: [usize; RANK]) -> Self {
        Self::from(given.as_slice())
    }
}

impl FromIterator<usize> for Extents {
    fn from_iter<I: IntoIterator<Item = usize>>(given: I) -> Self {
        let mut extents = [0; NUM_IN_PLACE];
        let mut given = given.into_iter();
        for index in 0..NUM_IN_PLACE {
            match given.next() {
                Some(extent) => extents[index] = extent,
                None => return Self::from(&extents[..index]),
            }
        }
        match given.next() {
            None => Self::from(extents),
            Some(next) => Self(Repr::Boxed(
                extents.into_iter().chain([next]).chain(given).collect(),
            )),
        }
    }
}

impl PartialEq for Extents {
    #[inline]
    fn eq(&self, other: &Self) -> bool {
        match (&self.0, &other.0) {
            // Few places are compared or all of them, whatever the rank: that takes neither a loop
            // nor a call.
            (
                Repr::InPlace { rank, extents },
                Repr::InPlace {
                    rank: other_rank,
                    extents: others,
                },
            ) => {
                let [a, b, ..] = extents;
                let [other_a, other_b, ..] = others;
                rank == other_rank
                    && (a ^ other_a) | (b ^ other_b) == 0
                    && (matches!(rank, Rank::Zero | Rank::One | Rank::Two)
                        || extents[2..] == others[2..])
            }
            _ => **self == **other,
        }
    }
}

impl Eq for Extents {}

impl Hash for Extents {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (**self).hash(state);
    }
}

impl fmt::Debug for Extents {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(&**self).finish()
    }
}

/// As a tensor shape: `[2, 3]`.
impl fmt::Display for Extents {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self:?}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_number_of_extents_is_kept() {
        for rank in 0..2 * NUM_IN_PLACE {
            let given: Vec<usize> = (1..=rank).collect();
            let collected: Extents = given.iter().copied().collect();
            assert_eq!(*collected, *given);
            assert_eq!(collected, Extents::from(given.as_slice()));
            assert_ne!(
                collected,
                Extents::from([&given[..], &[0]].concat().as_slice())
            );
            let others: Extents = given.iter().map(|extent| extent + 1).collect();
            assert_eq!(collected == others, rank == 0);
        }
    }

    #[test]
    fn extents_that_differ_in_one_place_differ() {
        for rank in 1..2 * NUM_IN_PLACE {
            let given: Vec<usize> = (1..=rank).collect();
            let extents = Extents::from(given.as_slice());
            assert_eq!(extents.clone(), extents);
            for place in 0..rank {
                let mut other = given.clone();
                other[place] += 1;
                assert_ne!(Extents::from(other.as_slice()), extents);
            }
        }
    }

    #[test]
    fn sizes_do_not_overflow() {
        let of = |extents: [usize; 3]| TensorMetadata::new(DType::F64, extents);
        assert_eq!(of([usize::MAX, 2, 1]).num_elements(), None);
        assert_eq!(of([usize::MAX, 2, 0]).num_elements(), Some(0));
        assert_eq!(of([usize::MAX / 4, 1, 1]).size_bytes(), None);
        assert_eq!(TensorMetadata::new(DType::String, [2]).size_bytes(), None);
    }
}
