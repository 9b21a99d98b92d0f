//! Shapes whose rank is part of their type.

use std::fmt;

use super::{Shape, ShapeError, write_list};

/// The sizes of `RANK` dimensions.
///
/// ```
/// use tfrt_tensor::{FixedRankShape, Shape};
///
/// let shape = FixedRankShape::<2>::try_from(&Shape::new(&[7, 8])?)?;
/// assert_eq!(shape.dims(), [7, 8]);
/// assert!(FixedRankShape::<3>::try_from(&shape.to_shape()).is_err());
/// # Ok::<(), tfrt_tensor::ShapeError>(())
/// ```
// S1 holds for the dimensions: they are those of a `Shape`.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct FixedRankShape<const RANK: usize>([usize; RANK]);

impl<const RANK: usize> FixedRankShape<RANK> {
    /// Creates a shape with these dimensions.
    ///
    /// # Errors
    /// [`ShapeError::TooLarge`].
    pub fn new(dims: [usize; RANK]) -> Result<Self, ShapeError> {
        Shape::new(&dims).map(|_| Self(dims))
    }

    /// Returns the sizes of the dimensions, outermost first.
    #[inline]
    #[must_use]
    pub const fn dims(self) -> [usize; RANK] {
        self.0
    }

    /// Returns the number of elements.
    #[inline]
    #[must_use]
    pub fn num_elements(self) -> usize {
        self.0.iter().product()
    }

    /// Converts the shape to one without the rank in its type.
    #[must_use]
    pub fn to_shape(self) -> Shape {
        Shape(self.0.into())
    }

    /// Returns the row-major stride of each dimension, in elements.
    #[must_use]
    pub fn strides(self) -> [usize; RANK] {
        let mut strides = [1; RANK];
        for position in (1..RANK).rev() {
            strides[position - 1] = strides[position] * self.0[position].max(1);
        }
        strides
    }
}

impl<const RANK: usize> TryFrom<&Shape> for FixedRankShape<RANK> {
    type Error = ShapeError;

    /// # Errors
    /// [`ShapeError::WrongRank`].
    fn try_from(shape: &Shape) -> Result<Self, ShapeError> {
        shape.to_array().map(Self)
    }
}

impl<const RANK: usize> fmt::Display for FixedRankShape<RANK> {
    /// Writes the shape like a [`Shape`], but as `[]` if there are no elements.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.num_elements() == 0 {
            f.write_str("[]")
        } else {
            write_list(f, &self.0)
        }
    }
}

impl<const RANK: usize> fmt::Debug for FixedRankShape<RANK> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_list(f, &self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shape_without_elements_prints_as_nothing() {
        assert_eq!(FixedRankShape::new([7, 0]).unwrap().to_string(), "[]");
        assert_eq!(FixedRankShape::new([7, 8]).unwrap().to_string(), "[7, 8]");
        assert_eq!(FixedRankShape::new([]).unwrap().to_string(), "[]");
    }

    #[test]
    fn strides_are_those_of_the_shape() {
        let shape = FixedRankShape::new([2, 3, 4]).unwrap();
        assert_eq!(shape.strides()[..], shape.to_shape().strides());
    }
}
