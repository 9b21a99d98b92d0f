//! Shapes in computations of programs: sizes of dimensions, possibly too large for a tensor.

use std::fmt;

use tfrt_async::identity::TypeIdentity;
use tfrt_async::{Immutable, Value};

use super::{Shape, ShapeError, write_list};
use crate::identity;

/// The sizes of all dimensions, with any number of elements: the payload of `!ts.shape`.
///
/// Code that counts elements or creates a tensor converts it to a [`Shape`], which fails if the
/// elements exceed the address space.
///
/// ```
/// use tfrt_tensor::Sizes;
///
/// let huge = Sizes::from_signed(&[1 << 40, 1 << 40])?;
/// assert_eq!(huge.to_string(), "[1099511627776, 1099511627776]");
/// assert_eq!(
///     huge.to_shape().unwrap_err().to_string(),
///     "the shape [1099511627776, 1099511627776] has too many elements"
/// );
/// # Ok::<(), tfrt_tensor::ShapeError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Sizes(Box<[usize]>);

impl Sizes {
    /// Creates sizes from these dimensions.
    #[must_use]
    pub fn new(dims: &[usize]) -> Self {
        Self(dims.into())
    }

    /// Creates sizes from signed dimensions, as in attributes.
    ///
    /// # Errors
    /// [`ShapeError::Negative`].
    pub fn from_signed(dims: &[i64]) -> Result<Self, ShapeError> {
        let size = |(position, &dim): (usize, &i64)| {
            usize::try_from(dim).map_err(|_| ShapeError::Negative { position, dim })
        };
        dims.iter()
            .enumerate()
            .map(size)
            .collect::<Result<_, _>>()
            .map(Self)
    }

    /// Returns the sizes, outermost first.
    #[must_use]
    pub fn dims(&self) -> &[usize] {
        &self.0
    }

    /// Returns the number of elements.
    ///
    /// # Errors
    /// [`ShapeError::TooLarge`].
    pub fn num_elements(&self) -> Result<usize, ShapeError> {
        if self.0.contains(&0) {
            return Ok(0);
        }
        self.to_shape().map(|shape| shape.num_elements())
    }

    /// Returns the shape of a tensor.
    ///
    /// # Errors
    /// [`ShapeError::TooLarge`].
    pub fn to_shape(&self) -> Result<Shape, ShapeError> {
        Shape::new(&self.0)
    }
}

impl From<&Shape> for Sizes {
    fn from(shape: &Shape) -> Self {
        Self::new(shape.dims())
    }
}

impl fmt::Display for Sizes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_list(f, &self.0)
    }
}

impl Value for Sizes {
    const MLIR_TYPE: &'static str = "!ts.shape";
    const IDENTITY: TypeIdentity<Self> = identity::of_this_crate();
}

impl Immutable for Sizes {}

/// The sizes of `RANK` dimensions: the payload of `!ts.fixed_rank_shape.RANK`.
///
/// ```
/// use tfrt_tensor::{FixedRankSizes, Sizes};
///
/// let sizes = FixedRankSizes::<2>::try_from(&Sizes::new(&[7, 8]))?;
/// assert_eq!(sizes.to_string(), "[7, 8]");
/// # Ok::<(), tfrt_tensor::ShapeError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FixedRankSizes<const RANK: usize>([usize; RANK]);

impl<const RANK: usize> TryFrom<&Sizes> for FixedRankSizes<RANK> {
    type Error = ShapeError;

    /// # Errors
    /// [`ShapeError::WrongRank`].
    fn try_from(sizes: &Sizes) -> Result<Self, ShapeError> {
        let dims = sizes.dims();
        dims.try_into()
            .map(Self)
            .map_err(|_| ShapeError::WrongRank {
                expected: RANK,
                found: dims.len(),
            })
    }
}

impl<const RANK: usize> fmt::Display for FixedRankSizes<RANK> {
    /// Writes the sizes like [`Sizes`], but as `[]` if there are no elements.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.contains(&0) {
            true => f.write_str("[]"),
            false => write_list(f, &self.0),
        }
    }
}

// One by one, because the rank is part of the spelling.
macro_rules! impl_value {
    ($($rank:literal)+) => {
        $(impl Value for FixedRankSizes<$rank> {
            const MLIR_TYPE: &'static str = concat!("!ts.fixed_rank_shape.", $rank);
            const IDENTITY: TypeIdentity<Self> = identity::of_this_crate();
        }

        impl Immutable for FixedRankSizes<$rank> {})+
    };
}

impl_value!(0 1 2 3 4 5 6);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_of_no_elements_print_as_nothing_where_the_rank_is_fixed() {
        let print = |dims: &[usize]| {
            FixedRankSizes::<2>::try_from(&Sizes::new(dims)).map(|sizes| sizes.to_string())
        };
        assert_eq!(print(&[7, 0]).as_deref(), Ok("[]"));
        assert_eq!(print(&[7, 8]).as_deref(), Ok("[7, 8]"));
        assert!(print(&[7]).is_err());
    }

    #[test]
    fn elements_are_counted_where_a_zero_makes_them_few() {
        let huge = usize::MAX;
        assert_eq!(Sizes::new(&[huge, 0, huge]).num_elements(), Ok(0));
        assert_eq!(Sizes::new(&[]).num_elements(), Ok(1));
        assert!(Sizes::new(&[huge, 2]).num_elements().is_err());
    }
}
