//! Reductions along axes: which elements become one, and in which order.
//!
//! ```text
//!  shape [2, 3, 4, 5], axes [2, 3]       kept     [2 × 3]   of stride 20
//!  neighbouring axes become a group ─►   reduced  [4 × 5]   of stride 1
//! ```
//!
//! The elements that become one result are numbered in row-major order. Each of [`LANES`] lanes
//! combines every eighth one, in order, starting with the identity; then each lane of the first
//! half is combined with one of the other half, until one is left. The order depends on the shape
//! alone, so that every device computes the same bits.

use tfrt_support::{Error, ErrorCode};

/// The number of sums that are kept at once for a result.
pub const LANES: usize = 8;

/// The axes of a reduction.
///
/// ```
/// use tfrt_device::axes::ReducedAxes;
///
/// const ROWS: ReducedAxes<'_> = ReducedAxes { axes: &[-1], keep_dims: false };
/// assert!(!ROWS.keep_dims);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReducedAxes<'a> {
    /// Their numbers; negative ones count from the last axis.
    pub axes: &'a [i64],
    /// Whether the result keeps them, with an extent of 1.
    pub keep_dims: bool,
}

/// Neighbouring axes that are all reduced, or all kept.
///
/// ```
/// use tfrt_device::axes::AxisGroup;
///
/// // The last two axes of the shape [2, 3, 4].
/// let group = AxisGroup { extent: 12, stride: 1 };
/// assert_eq!(group.extent * group.stride, 12);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AxisGroup {
    /// The product of the extents.
    pub extent: usize,
    /// The distance of neighbours, in elements.
    pub stride: usize,
}

/// The steps of a reduction along axes.
///
/// ```
/// use tfrt_device::axes::{ReducedAxes, AxesPlan, AxisGroup};
///
/// let axes = ReducedAxes { axes: &[-1], keep_dims: true };
/// let plan = AxesPlan::new("my.sum", &axes, &[2, 3, 4])?;
/// assert_eq!(plan.extents, [2, 3, 1]);
/// assert_eq!(plan.kept, [AxisGroup { extent: 6, stride: 4 }]);
/// assert_eq!(plan.num_reduced(), 4);
/// # Ok::<(), tfrt_support::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AxesPlan {
    /// The extents of the result.
    pub extents: Vec<usize>,
    /// The groups that number the results, outermost first.
    pub kept: Vec<AxisGroup>,
    /// The groups that number the elements of a result, outermost first.
    pub reduced: Vec<AxisGroup>,
}

impl AxesPlan {
    /// Plans a reduction of operands of this shape.
    ///
    /// # Errors
    /// If there is no such axis, an axis is given twice, or there are too many elements to address.
    pub fn new(kernel: &str, axes: &ReducedAxes<'_>, extents: &[usize]) -> Result<Self, Error> {
        let rank = extents.len();
        // Distances of elements are products of extents, even if another extent is 0.
        let mut sizes = extents.iter().filter(|extent| **extent > 0);
        let num_elements = sizes.try_fold(1_usize, |product, extent| product.checked_mul(*extent));
        let invalid = |message: String| {
            Err(Error::new(format!("`{kernel}`: {message}")).with_code(ErrorCode::InvalidArgument))
        };
        if num_elements.is_none_or(|count| isize::try_from(count).is_err()) {
            return invalid(format!(
                "an operand of the shape {extents:?} has too many elements"
            ));
        }
        let mut is_reduced = vec![false; rank];
        for axis in axes.axes {
            let from_first = if *axis < 0 {
                *axis + rank as i64
            } else {
                *axis
            };
            let found = usize::try_from(from_first).ok();
            match found.and_then(|axis| is_reduced.get_mut(axis)) {
                Some(true) => return invalid(format!("axis {axis} is given twice")),
                Some(known) => *known = true,
                None => {
                    return invalid(format!(
                        "expected an operand with an axis {axis}, found {rank} dimensions"
                    ));
                }
            }
        }
        let dims = || extents.iter().zip(&is_reduced);
        let result = dims().filter_map(|(extent, is_reduced)| match (is_reduced, axes.keep_dims) {
            (false, _) => Some(*extent),
            (true, true) => Some(1),
            (true, false) => None,
        });
        let mut plan = Self {
            extents: result.collect(),
            kept: Vec::new(),
            reduced: Vec::new(),
        };
        // From the innermost axis on.
        let (mut stride, mut last) = (1_usize, None);
        for (extent, is_reduced) in dims().rev() {
            if *extent == 1 {
                continue;
            }
            let groups = if *is_reduced {
                &mut plan.reduced
            } else {
                &mut plan.kept
            };
            match groups.last_mut() {
                Some(group) if last == Some(*is_reduced) => group.extent *= extent,
                _ => groups.push(AxisGroup {
                    extent: *extent,
                    stride,
                }),
            }
            last = Some(*is_reduced);
            stride *= extent;
        }
        plan.kept.reverse();
        plan.reduced.reverse();
        Ok(plan)
    }

    /// Returns the number of results.
    #[must_use]
    pub fn num_results(&self) -> usize {
        num_elements(&self.kept)
    }

    /// Returns the number of elements that become one result.
    #[must_use]
    pub fn num_reduced(&self) -> usize {
        num_elements(&self.reduced)
    }
}

/// Returns the number of elements that groups number.
pub(crate) fn num_elements(groups: &[AxisGroup]) -> usize {
    groups.iter().map(|group| group.extent).product()
}

/// Returns the place of an element by its number.
pub(crate) fn offset(groups: &[AxisGroup], number: usize) -> usize {
    let (mut rest, mut offset) = (number, 0);
    for group in groups.iter().rev() {
        offset += rest % group.extent * group.stride;
        rest /= group.extent;
    }
    offset
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(axes: &'static [i64], extents: &[usize]) -> AxesPlan {
        let axes = ReducedAxes {
            axes,
            keep_dims: false,
        };
        AxesPlan::new("my.sum", &axes, extents).unwrap()
    }

    fn group(extent: usize, stride: usize) -> AxisGroup {
        AxisGroup { extent, stride }
    }

    #[test]
    fn neighbouring_axes_become_a_group() {
        let inner = plan(&[2, 3], &[2, 3, 4, 5]);
        assert_eq!(
            (inner.kept, inner.reduced),
            (vec![group(6, 20)], vec![group(20, 1)])
        );
        let mixed = plan(&[0, -2], &[2, 3, 1, 4, 5]);
        assert_eq!(mixed.extents, [3, 1, 5]);
        assert_eq!(mixed.kept, [group(3, 20), group(5, 1)]);
        assert_eq!(mixed.reduced, [group(2, 60), group(4, 5)]);
        assert_eq!(offset(&mixed.reduced, 5), 60 + 5);
    }

    #[test]
    fn missing_axes_are_errors() {
        let axes = |axes| ReducedAxes {
            axes,
            keep_dims: true,
        };
        for (given, message) in [
            (
                axes(&[2]),
                "`k`: expected an operand with an axis 2, found 2 dimensions",
            ),
            (
                axes(&[-3]),
                "`k`: expected an operand with an axis -3, found 2 dimensions",
            ),
            (axes(&[1, -1]), "`k`: axis -1 is given twice"),
        ] {
            let error = AxesPlan::new("k", &given, &[2, 3]).unwrap_err();
            assert_eq!(error.message(), message);
        }
    }
}
