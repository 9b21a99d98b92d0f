//! Partially known shapes.

use std::fmt;

use tfrt_async::identity::TypeIdentity;
use tfrt_async::{Immutable, Value};

use super::{Shape, ShapeError, Sizes, write_list};
use crate::identity;

/// An unknown dimension of a [`PartialShape`] in attributes, files and printed text.
pub const UNKNOWN: i64 = -1;

/// The sizes of dimensions as far as they are known: some of them, or even their number, may be
/// unknown.
///
/// ```
/// use tfrt_tensor::PartialShape;
///
/// let shape = PartialShape::new(&[-1, 57])?;
/// assert_eq!(shape.to_string(), "[-1, 57]");
/// assert_eq!(shape.to_shape().unwrap_err().to_string(), "Unknown dimensions at following indices = [0]");
/// assert_eq!(PartialShape::unranked().to_string(), "Unknown rank");
/// # Ok::<(), tfrt_tensor::ShapeError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct PartialShape {
    /// No number is below -1; none if the rank is unknown.
    dims: Option<Box<[i64]>>,
}

impl PartialShape {
    /// Creates a shape with these dimensions; -1 stands for an unknown one.
    ///
    /// # Errors
    /// [`ShapeError::Negative`] for any other number below zero.
    pub fn new(dims: &[i64]) -> Result<Self, ShapeError> {
        let below = dims.iter().position(|&dim| dim < UNKNOWN);
        match below {
            Some(position) => Err(ShapeError::Negative {
                position,
                dim: dims[position],
            }),
            None => Ok(Self {
                dims: Some(dims.into()),
            }),
        }
    }

    /// Creates a shape of unknown rank.
    #[must_use]
    pub const fn unranked() -> Self {
        Self { dims: None }
    }

    /// Returns the dimensions, -1 for one that is not known, or `None` if the rank is unknown.
    #[must_use]
    pub fn dims(&self) -> Option<&[i64]> {
        self.dims.as_deref()
    }

    /// Returns the number of dimensions, if that is known.
    #[must_use]
    pub fn rank(&self) -> Option<usize> {
        self.dims().map(<[i64]>::len)
    }

    /// Returns `true` if a tensor of this shape could be one of the shape `other`.
    #[must_use]
    pub fn is_compatible_with(&self, other: &Shape) -> bool {
        self.dims().is_none_or(|dims| {
            dims.len() == other.rank()
                && dims.iter().zip(other.dims()).all(|(&dim, &size)| {
                    usize::try_from(dim).is_ok_and(|dim| dim == size) || dim == UNKNOWN
                })
        })
    }

    /// Creates a shape with these dimensions, all of which are known.
    fn of_known(dims: &[usize]) -> Self {
        // They come from attributes and tensors, so that no dimension is above `i64::MAX` and
        // nothing is replaced.
        let signed = |&dim: &usize| i64::try_from(dim).unwrap_or(i64::MAX);
        Self {
            dims: Some(dims.iter().map(signed).collect()),
        }
    }

    /// Converts the shape to a complete one, if all of it is known.
    ///
    /// # Errors
    /// Those of [`to_sizes`](Self::to_sizes), and [`ShapeError::TooLarge`].
    pub fn to_shape(&self) -> Result<Shape, ShapeError> {
        self.to_sizes()?.to_shape()
    }

    /// Returns the sizes of the dimensions, if they are all known.
    ///
    /// # Errors
    /// [`ShapeError::UnknownRank`] and [`ShapeError::UnknownDimensions`].
    pub fn to_sizes(&self) -> Result<Sizes, ShapeError> {
        let dims = self.dims().ok_or(ShapeError::UnknownRank)?;
        let unknown: Box<[usize]> = dims
            .iter()
            .enumerate()
            .filter(|&(_, &dim)| dim == UNKNOWN)
            .map(|(position, _)| position)
            .collect();
        if unknown.is_empty() {
            Sizes::from_signed(dims)
        } else {
            Err(ShapeError::UnknownDimensions(unknown))
        }
    }
}

impl From<&Shape> for PartialShape {
    fn from(shape: &Shape) -> Self {
        Self::of_known(shape.dims())
    }
}

impl From<&Sizes> for PartialShape {
    fn from(sizes: &Sizes) -> Self {
        Self::of_known(sizes.dims())
    }
}

impl fmt::Display for PartialShape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.dims() {
            Some(dims) => write_list(f, dims),
            None => f.write_str("Unknown rank"),
        }
    }
}

impl Value for PartialShape {
    const MLIR_TYPE: &'static str = "!ts.partial_shape";
    const IDENTITY: TypeIdentity<Self> = identity::of_this_crate();
}

impl Immutable for PartialShape {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_full_shapes_become_shapes() {
        let convert = |dims: &[i64]| PartialShape::new(dims).unwrap().to_shape();
        assert_eq!(convert(&[1, 4]), Shape::new(&[1, 4]));
        assert_eq!(
            convert(&[-1, 4, -1]).unwrap_err().to_string(),
            "Unknown dimensions at following indices = [0, 2]"
        );
        assert_eq!(
            PartialShape::unranked().to_shape(),
            Err(ShapeError::UnknownRank)
        );
        assert_eq!(
            PartialShape::new(&[3, -2]),
            Err(ShapeError::Negative {
                position: 1,
                dim: -2
            })
        );
    }

    #[test]
    fn open_dimensions_fit_any_size() {
        let full = Shape::new(&[2, 3]).unwrap();
        let fits = |dims: &[i64]| PartialShape::new(dims).unwrap().is_compatible_with(&full);
        assert!(
            fits(&[2, 3]) && fits(&[-1, 3]) && PartialShape::unranked().is_compatible_with(&full)
        );
        assert!(!fits(&[2, 4]) && !fits(&[-1]));
    }
}
