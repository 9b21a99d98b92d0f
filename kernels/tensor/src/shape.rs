//! Shapes: the sizes of the dimensions of a tensor, outermost first.
//!
//! There are three kinds. A [`Shape`] is completely known, and its rank is part of the value. A
//! [`FixedRankShape`] is completely known, and its rank is part of the type. A [`PartialShape`] may
//! have unknown dimensions, or even an unknown rank. Programs compute with [`Sizes`], which may be
//! too large for a tensor.
//!
//! Invariant S1: the product of those dimensions of a `Shape` that are not zero is at most
//! [`MAX_ELEMENTS`]. So counting elements never overflows, nor does counting the elements below a
//! dimension. Upheld by the constructors.

mod fixed_rank;

mod partial;

mod sizes;

use std::fmt;

use tfrt_support::Extents;

pub use fixed_rank::FixedRankShape;
pub use partial::PartialShape;
pub use sizes::{FixedRankSizes, Sizes};

/// The maximum number of elements of a shape.
pub const MAX_ELEMENTS: usize = isize::MAX as usize;

/// The sizes of all dimensions.
///
/// ```
/// use tfrt_tensor::Shape;
///
/// let shape = Shape::new(&[2, 3])?;
/// assert_eq!((shape.rank(), shape.num_elements()), (2, 6));
/// assert_eq!(shape.to_string(), "[2, 3]");
/// assert_eq!(Shape::scalar().num_elements(), 1);
/// # Ok::<(), tfrt_tensor::ShapeError>(())
/// ```
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Shape(Extents);

impl Shape {
    /// Returns the shape of a single element: rank 0.
    #[inline]
    #[must_use]
    pub fn scalar() -> Self {
        Self(Extents::from([]))
    }

    /// Creates a shape with these dimensions.
    ///
    /// # Errors
    /// [`ShapeError::TooLarge`].
    pub fn new(dims: &[usize]) -> Result<Self, ShapeError> {
        let product = dims
            .iter()
            .filter(|&&dim| dim != 0)
            .try_fold(1_usize, |product, &dim| product.checked_mul(dim));
        match product {
            Some(product) if product <= MAX_ELEMENTS => Ok(Self(Extents::from(dims))),
            _ => Err(ShapeError::too_large(dims)),
        }
    }

    /// Creates a shape from signed dimensions, as in attributes and files.
    ///
    /// # Errors
    /// [`ShapeError::Negative`] and [`ShapeError::TooLarge`].
    pub fn from_signed(dims: &[i64]) -> Result<Self, ShapeError> {
        Sizes::from_signed(dims)?.to_shape()
    }

    /// Returns the sizes of the dimensions, outermost first.
    #[inline]
    #[must_use]
    pub fn dims(&self) -> &[usize] {
        &self.0
    }

    /// Returns the sizes of the dimensions, as metadata has them.
    #[inline]
    #[must_use]
    pub fn extents(&self) -> &Extents {
        &self.0
    }

    /// Returns the number of dimensions.
    #[inline]
    #[must_use]
    pub fn rank(&self) -> usize {
        self.dims().len()
    }

    /// Returns the number of elements: the product of all dimensions.
    #[inline]
    #[must_use]
    pub fn num_elements(&self) -> usize {
        // S1: no overflow.
        self.dims().iter().product()
    }

    /// Returns the size of one dimension, if it exists.
    #[must_use]
    pub fn dim(&self, position: usize) -> Option<usize> {
        self.dims().get(position).copied()
    }

    /// Returns the row-major stride of each dimension, in elements.
    ///
    /// ```
    /// use tfrt_tensor::Shape;
    ///
    /// assert_eq!(Shape::new(&[2, 3, 4])?.strides(), [12, 4, 1]);
    /// # Ok::<(), tfrt_tensor::ShapeError>(())
    /// ```
    #[must_use]
    pub fn strides(&self) -> Vec<usize> {
        let mut strides = vec![1; self.rank()];
        for position in (1..self.rank()).rev() {
            // Zero sizes count as one, so that S1 bounds these products too.
            strides[position - 1] = strides[position] * self.dims()[position].max(1);
        }
        strides
    }

    /// Returns the dimensions, if there are exactly `RANK`.
    ///
    /// # Errors
    /// [`ShapeError::WrongRank`].
    pub fn to_array<const RANK: usize>(&self) -> Result<[usize; RANK], ShapeError> {
        self.dims().try_into().map_err(|_| ShapeError::WrongRank {
            expected: RANK,
            found: self.rank(),
        })
    }
}

impl Default for Shape {
    fn default() -> Self {
        Self::scalar()
    }
}

impl TryFrom<&Extents> for Shape {
    type Error = ShapeError;

    /// # Errors
    /// [`ShapeError::TooLarge`].
    fn try_from(extents: &Extents) -> Result<Self, ShapeError> {
        Self::new(extents)
    }
}

impl PartialEq<Extents> for Shape {
    #[inline]
    fn eq(&self, extents: &Extents) -> bool {
        self.0 == *extents
    }
}

impl From<&Shape> for Extents {
    #[inline]
    fn from(shape: &Shape) -> Self {
        shape.0.clone()
    }
}

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_list(f, self.dims())
    }
}

impl fmt::Debug for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Returns `[2, 3]`
fn write_list<T: fmt::Display>(f: &mut fmt::Formatter<'_>, items: &[T]) -> fmt::Result {
    f.write_str("[")?;
    for (position, item) in items.iter().enumerate() {
        let separator = if position == 0 { "" } else { ", " };
        write!(f, "{separator}{item}")?;
    }
    f.write_str("]")
}

/// The reasons why a shape is invalid.
///
/// ```
/// use tfrt_tensor::{Shape, ShapeError};
///
/// let error = Shape::from_signed(&[2, -3]).unwrap_err();
/// assert_eq!(error, ShapeError::Negative { position: 1, dim: -3 });
/// assert_eq!(error.to_string(), "dimension 1 is negative: -3");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ShapeError {
    /// A dimension is below zero.
    Negative {
        /// The position of the dimension.
        position: usize,
        /// Its size.
        dim: i64,
    },
    /// The shape has more than [`MAX_ELEMENTS`] elements.
    TooLarge {
        /// The dimensions.
        dims: Box<[usize]>,
    },
    /// Another number of dimensions is needed.
    WrongRank {
        /// The required number.
        expected: usize,
        /// The actual number.
        found: usize,
    },
    /// The shape is partial, and even its rank is unknown.
    UnknownRank,
    /// The shape is partial, and these dimensions are unknown.
    UnknownDimensions(Box<[usize]>),
}

impl ShapeError {
    #[cold]
    fn too_large(dims: &[usize]) -> Self {
        Self::TooLarge { dims: dims.into() }
    }
}

impl fmt::Display for ShapeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Negative { position, dim } => {
                write!(f, "dimension {position} is negative: {dim}")
            }
            Self::TooLarge { dims } => {
                f.write_str("the shape ")?;
                write_list(f, dims)?;
                f.write_str(" has too many elements")
            }
            Self::WrongRank { expected, found } => {
                write!(f, "expected a shape of rank {expected}, found rank {found}")
            }
            Self::UnknownRank => f.write_str("Unknown rank"),
            Self::UnknownDimensions(positions) => {
                f.write_str("Unknown dimensions at following indices = ")?;
                write_list(f, positions)
            }
        }
    }
}

impl std::error::Error for ShapeError {}

tfrt_support::convert_errors!(ShapeError);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapes_of_any_rank_keep_their_dimensions() {
        for rank in 0..12 {
            let dims: Vec<usize> = (1..=rank).collect();
            let shape = Shape::new(&dims).unwrap();
            assert_eq!(shape.dims(), dims);
            assert_eq!(shape.num_elements(), dims.iter().product::<usize>());
        }
    }

    #[test]
    fn products_that_overflow_are_refused_even_beside_a_zero() {
        let huge = 1 << 33;
        assert_eq!(
            Shape::new(&[huge, 0, huge]),
            Err(ShapeError::too_large(&[huge, 0, huge]))
        );
        assert!(Shape::new(&[huge, 0]).is_ok());
        assert!(Shape::new(&[MAX_ELEMENTS]).is_ok());
        assert!(Shape::new(&[MAX_ELEMENTS + 1]).is_err());
    }

    #[test]
    fn equal_dimensions_are_equal_shapes() {
        assert_eq!(Shape::new(&[2, 3]), Shape::from_signed(&[2, 3]));
        assert_ne!(Shape::new(&[2, 3]), Shape::new(&[3, 2]));
        assert_ne!(Shape::new(&[]), Shape::new(&[1]));
    }

    #[test]
    fn strides_of_an_empty_shape_do_not_vanish() {
        assert_eq!(Shape::new(&[4, 0, 3]).unwrap().strides(), [3, 3, 1]);
        assert_eq!(Shape::scalar().strides(), [0_usize; 0]);
    }
}
