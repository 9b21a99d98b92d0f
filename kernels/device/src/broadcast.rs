//! The shapes of operands and results.

use tfrt_support::{Error, ErrorCode};

/// How operands of several shapes traverse a common one, as in NumPy.
///
/// Dimensions are matched from the last to the first; an extent of 1 is repeated, and a missing
/// dimension counts as 1. Dimensions of extent 1 are left out, and neighbours that all operands
/// traverse in the same way are merged.
///
/// ```
/// use tfrt_device::broadcast::CommonShape;
///
/// let broadcast = CommonShape::new("my.add", &[&[4, 1, 3], &[2, 1]])?;
/// assert_eq!(broadcast.shape(), [4, 2, 3]);
/// assert_eq!(broadcast.extents(), [4, 2, 3]);
/// assert_eq!(broadcast.strides(0), [3, 0, 1]);
/// let error = CommonShape::new("my.add", &[&[2], &[3]]).unwrap_err();
/// assert_eq!(error.message(), "`my.add`: expected equal extents or 1, found 2 and 3 in [2] and [3]");
/// # Ok::<(), tfrt_support::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommonShape {
    shape: Vec<usize>,
    count: usize,
    extents: Vec<usize>,
    /// The strides of each operand.
    strides: Vec<Vec<usize>>,
}

impl CommonShape {
    /// Matches shapes; messages name the kernel.
    ///
    /// # Errors
    /// If two extents differ and neither is 1, or there are too many elements to address.
    pub fn new(kernel: &str, shapes: &[&[usize]]) -> Result<Self, Error> {
        let rank = shapes.iter().map(|shape| shape.len()).max().unwrap_or(0);
        let extent = |shape: &[usize], axis: usize| {
            let axis = (axis + shape.len()).checked_sub(rank);
            axis.map_or(1, |axis| shape[axis])
        };
        let mut shape = vec![1; rank];
        for (axis, common) in shape.iter_mut().enumerate() {
            for (index, operand) in shapes.iter().enumerate() {
                match (*common, extent(operand, axis)) {
                    (a, b) if a == b => {}
                    (_, 1) => {}
                    (1, extent) => *common = extent,
                    (a, b) => {
                        let earlier = shapes[..index]
                            .iter()
                            .find(|earlier| extent(earlier, axis) == a);
                        let earlier = earlier.copied().unwrap_or_default();
                        return Err(Error::new(format!(
                            "`{kernel}`: expected equal extents or 1, found {a} and {b} in \
                             {earlier:?} and {operand:?}"
                        ))
                        .with_code(ErrorCode::InvalidArgument));
                    }
                }
            }
        }
        let count = if shape.contains(&0) {
            Some(0)
        } else {
            let product = shape
                .iter()
                .try_fold(1_usize, |count, extent| count.checked_mul(*extent));
            product.filter(|count| isize::try_from(*count).is_ok())
        };
        let Some(count) = count else {
            return Err(Error::new(format!(
                "`{kernel}`: a result of shape {shape:?} has too many elements"
            ))
            .with_code(ErrorCode::InvalidArgument));
        };
        let (mut extents, mut strides) = (Vec::new(), vec![Vec::new(); shapes.len()]);
        if count > 0 {
            let mut inner = vec![1_usize; shapes.len()];
            for axis in (0..rank).rev() {
                let here: Vec<usize> = shapes
                    .iter()
                    .zip(&inner)
                    .map(|(operand, stride)| {
                        if extent(operand, axis) == 1 {
                            0
                        } else {
                            *stride
                        }
                    })
                    .collect();
                for (stride, operand) in inner.iter_mut().zip(shapes) {
                    *stride *= extent(operand, axis);
                }
                if shape[axis] == 1 {
                    continue;
                }
                let is_continued = extents.last().is_some_and(|extent: &usize| {
                    here.iter().zip(&strides).all(|(stride, known)| {
                        known.last().is_some_and(|last| *stride == last * extent)
                    })
                });
                match extents.last_mut() {
                    Some(last) if is_continued => *last *= shape[axis],
                    _ => {
                        extents.push(shape[axis]);
                        for (known, stride) in strides.iter_mut().zip(here) {
                            known.push(stride);
                        }
                    }
                }
            }
            extents.reverse();
            strides.iter_mut().for_each(|strides| strides.reverse());
        }
        Ok(Self {
            shape,
            count,
            extents,
            strides,
        })
    }

    /// Returns the common shape.
    #[must_use]
    pub fn shape(&self) -> &[usize] {
        &self.shape
    }

    /// Returns the number of elements of the common shape.
    #[must_use]
    pub fn count(&self) -> usize {
        self.count
    }

    /// Returns the extents of the merged dimensions, outermost first; none for a single element.
    #[must_use]
    pub fn extents(&self) -> &[usize] {
        &self.extents
    }

    /// Returns how far an operand moves in each merged dimension, in elements.
    ///
    /// # Panics
    /// If there is no such operand.
    #[must_use]
    pub fn strides(&self, operand: usize) -> &[usize] {
        &self.strides[operand]
    }

    /// Returns the first elements of the operands in a row of the innermost dimension.
    pub(crate) fn starts(&self, row: usize, starts: &mut [usize]) {
        starts.fill(0);
        let mut rest = row;
        let Some((_, outer)) = self.extents.split_last() else {
            return;
        };
        for (axis, extent) in outer.iter().enumerate().rev() {
            let coordinate = rest % extent;
            rest /= extent;
            for (start, strides) in starts.iter_mut().zip(&self.strides) {
                *start += coordinate * strides[axis];
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_shapes_and_single_elements_are_one_dimension() {
        let broadcast = CommonShape::new("k", &[&[2, 3, 4], &[2, 3, 4], &[], &[1, 1]]).unwrap();
        assert_eq!(broadcast.extents(), [24]);
        let strides: Vec<_> = (0..4).map(|operand| broadcast.strides(operand)).collect();
        assert_eq!(strides, [[1], [1], [0], [0]]);
    }

    #[test]
    fn rows_start_where_coordinates_say() {
        let broadcast = CommonShape::new("k", &[&[2, 1, 3], &[4, 1]]).unwrap();
        let mut starts = [0; 2];
        broadcast.starts(5, &mut starts);
        assert_eq!(starts, [3, 1]);
    }

    #[test]
    fn an_extent_of_zero_is_matched_and_too_many_elements_are_refused() {
        let broadcast = CommonShape::new("k", &[&[0, 3], &[1, 3]]).unwrap();
        assert_eq!((broadcast.count(), broadcast.shape()), (0, &[0, 3][..]));
        assert!(CommonShape::new("k", &[&[0], &[2]]).is_err());
        let large = [usize::MAX, 1];
        let error = CommonShape::new("k", &[&large, &[1, 2]]).unwrap_err();
        assert!(error.message().contains("too many elements"), "{error}");
    }
}
