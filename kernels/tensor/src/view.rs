//! Views of dense tensors by coordinates, with the rank and the element type known at compile time.
//!
//! A view is a borrow: while it lives, the elements cannot be written by others. Coordinates are
//! row-major.

use std::fmt;
use std::ops::{Index, IndexMut};

use crate::buffer::{Elements, ElementsMut};
use crate::shape::FixedRankShape;

/// Elements that are being read.
///
/// ```
/// use std::sync::Arc;
/// use tfrt_host::allocator::{HostAllocator, Malloc};
/// use tfrt_tensor::{DenseHostTensor, Shape};
///
/// let allocator: Arc<dyn HostAllocator> = Arc::new(Malloc);
/// let tensor = DenseHostTensor::from_fn(&allocator, Shape::new(&[2, 3])?, |position| position as i32)?;
/// let view = tensor.view::<i32, 2>()?;
/// assert_eq!((view[[1, 2]], view.get([2, 0]), view.row(1)), (5, None, &[3, 4, 5][..]));
/// # Ok::<(), tfrt_tensor::TensorError>(())
/// ```
pub struct TensorView<'a, T, const RANK: usize> {
    shape: FixedRankShape<RANK>,
    strides: [usize; RANK],
    elements: Elements<'a, T>,
}

/// Elements that are being written.
///
/// ```
/// use std::sync::Arc;
/// use tfrt_host::allocator::{HostAllocator, Malloc};
/// use tfrt_tensor::{DenseHostTensor, Shape};
///
/// let allocator: Arc<dyn HostAllocator> = Arc::new(Malloc);
/// let mut identity = DenseHostTensor::filled(&allocator, Shape::new(&[2, 2])?, 0.0_f64)?;
/// let mut view = identity.view_mut::<f64, 2>()?;
/// view[[0, 0]] = 1.0;
/// view[[1, 1]] = 1.0;
/// drop(view);
/// assert_eq!(*identity.elements::<f64>()?, [1.0, 0.0, 0.0, 1.0]);
/// # Ok::<(), tfrt_tensor::TensorError>(())
/// ```
pub struct TensorViewMut<'a, T, const RANK: usize> {
    shape: FixedRankShape<RANK>,
    strides: [usize; RANK],
    elements: ElementsMut<'a, T>,
}

/// Returns where an element lies, if its coordinates are within the shape.
#[inline]
fn position<const RANK: usize>(
    dims: [usize; RANK],
    strides: [usize; RANK],
    coordinates: [usize; RANK],
) -> Option<usize> {
    let mut position = 0;
    for axis in 0..RANK {
        if coordinates[axis] >= dims[axis] {
            return None;
        }
        position += coordinates[axis] * strides[axis];
    }
    Some(position)
}

#[cold]
fn outside<const RANK: usize>(coordinates: [usize; RANK], shape: FixedRankShape<RANK>) -> ! {
    panic!("the index {coordinates:?} is out of bounds for a tensor of shape {shape:?}")
}

macro_rules! impl_view {
    ($view:ident, $elements:ident) => {
        impl<'a, T, const RANK: usize> $view<'a, T, RANK> {
            pub(crate) fn new(shape: FixedRankShape<RANK>, elements: $elements<'a, T>) -> Self {
                debug_assert_eq!(shape.num_elements(), elements.len());
                Self {
                    shape,
                    strides: shape.strides(),
                    elements,
                }
            }

            /// Returns the shape.
            #[inline]
            #[must_use]
            pub fn shape(&self) -> FixedRankShape<RANK> {
                self.shape
            }

            /// Returns the sizes of the dimensions, outermost first.
            #[inline]
            #[must_use]
            pub fn dims(&self) -> [usize; RANK] {
                self.shape.dims()
            }

            /// Returns all elements, in row-major order.
            #[inline]
            #[must_use]
            pub fn elements(&self) -> &[T] {
                &self.elements
            }

            /// Returns the element at these coordinates, if it exists.
            #[inline]
            #[must_use]
            pub fn get(&self, coordinates: [usize; RANK]) -> Option<&T> {
                let position = position(self.dims(), self.strides, coordinates)?;
                self.elements.get(position)
            }

            /// Returns the elements below `index` of the outermost dimension, in row-major order.
            ///
            /// # Panics
            /// If the index is out of range, or the rank is 0.
            #[inline]
            #[must_use]
            pub fn row(&self, index: usize) -> &[T] {
                &self.elements[row_range(self.shape, index)]
            }
        }

        impl<T, const RANK: usize> Index<[usize; RANK]> for $view<'_, T, RANK> {
            type Output = T;

            /// # Panics
            /// If there is no such element.
            #[inline]
            fn index(&self, coordinates: [usize; RANK]) -> &T {
                match self.get(coordinates) {
                    Some(element) => element,
                    None => outside(coordinates, self.shape),
                }
            }
        }

        impl<T: fmt::Debug, const RANK: usize> fmt::Debug for $view<'_, T, RANK> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_struct(stringify!($view))
                    .field("shape", &self.shape)
                    .field("elements", &self.elements)
                    .finish()
            }
        }
    };
}

impl_view!(TensorView, Elements);
impl_view!(TensorViewMut, ElementsMut);

/// Returns where the elements below `index` of the outermost dimension lie.
#[inline]
fn row_range<const RANK: usize>(
    shape: FixedRankShape<RANK>,
    index: usize,
) -> std::ops::Range<usize> {
    let dims = shape.dims();
    assert!(
        dims.first().is_some_and(|&rows| index < rows),
        "row {index} is out of bounds for a tensor of shape {shape:?}"
    );
    let row_len: usize = dims[1..].iter().product();
    index * row_len..(index + 1) * row_len
}

impl<T, const RANK: usize> TensorViewMut<'_, T, RANK> {
    /// Returns all elements, in row-major order.
    #[inline]
    #[must_use]
    pub fn elements_mut(&mut self) -> &mut [T] {
        &mut self.elements
    }

    /// Returns the elements below `index` of the outermost dimension, in row-major order.
    ///
    /// # Panics
    /// If the index is out of range, or the rank is 0.
    #[inline]
    #[must_use]
    pub fn row_mut(&mut self, index: usize) -> &mut [T] {
        &mut self.elements[row_range(self.shape, index)]
    }
}

impl<T, const RANK: usize> IndexMut<[usize; RANK]> for TensorViewMut<'_, T, RANK> {
    /// # Panics
    /// If there is no such element.
    #[inline]
    fn index_mut(&mut self, coordinates: [usize; RANK]) -> &mut T {
        let (shape, strides) = (self.shape, self.strides);
        let element =
            position(shape.dims(), strides, coordinates).and_then(|at| self.elements.get_mut(at));
        match element {
            Some(element) => element,
            None => outside(coordinates, shape),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::malloc;
    use crate::{DenseHostTensor, Shape};

    #[test]
    fn coordinates_are_row_major_and_bounded() {
        let shape = Shape::new(&[2, 3, 4]).unwrap();
        let tensor = DenseHostTensor::from_fn(&malloc(), shape, |at| at as u16).unwrap();
        let view = tensor.view::<u16, 3>().unwrap();
        assert_eq!(view[[1, 2, 3]], 23);
        assert_eq!(view[[0, 1, 0]], 4);
        assert_eq!(view.get([0, 3, 0]), None);
        assert_eq!(view.row(1), &view.elements()[12..]);
        assert!(tensor.view::<u16, 2>().is_err());
    }

    #[test]
    fn a_scalar_has_one_element_and_no_coordinates() {
        let mut tensor = DenseHostTensor::filled(&malloc(), Shape::scalar(), 1_i8).unwrap();
        tensor.view_mut::<i8, 0>().unwrap()[[]] = 4;
        assert_eq!(tensor.view::<i8, 0>().unwrap()[[]], 4);
    }
}
