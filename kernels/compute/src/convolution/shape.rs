//! The shapes of a convolution's operands.

use super::window::Window;
use crate::error::{ComputeError, checked_product, product};

/// The shape of a two-dimensional convolution.
///
/// # Shapes
/// Input `[batch, rows.input, columns.input, in_channels]`, filter
/// `[rows.size, columns.size, in_channels, out_channels]`, output
/// `[batch, rows.output, columns.output, out_channels]`.
///
/// ```
/// use tfrt_compute::convolution::{Conv2dShape, Padding, Window};
///
/// let rows = Window::new(56, 3, 1, 1, Padding::Same)?;
/// let shape = Conv2dShape::new(1, rows, rows, 64, 64)?;
/// assert_eq!(shape.output_len(), 56 * 56 * 64);
/// assert_eq!(shape.operations(), 2 * 9 * 64 * 64 * 56 * 56);
/// # Ok::<(), tfrt_compute::ComputeError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Conv2dShape {
    /// Images.
    pub batch: usize,
    /// The window over the rows (height) of an image.
    pub rows: Window,
    /// The window over the columns (width) of an image.
    pub columns: Window,
    /// Channels of the input.
    pub in_channels: usize,
    /// Channels of the output.
    pub out_channels: usize,
}

impl Conv2dShape {
    /// Checks that all tensors of the convolution can be addressed.
    ///
    /// # Errors
    /// If one of them has too many elements.
    pub fn new(
        batch: usize,
        rows: Window,
        columns: Window,
        in_channels: usize,
        out_channels: usize,
    ) -> Result<Self, ComputeError> {
        for extents in [
            [batch, rows.padded(), columns.padded(), in_channels],
            [rows.size, columns.size, in_channels, out_channels],
            [batch, rows.output, columns.output, out_channels],
        ] {
            checked_product("conv2d", &extents)?;
        }
        Ok(Self {
            batch,
            rows,
            columns,
            in_channels,
            out_channels,
        })
    }

    /// Returns the number of elements of the input.
    #[must_use]
    pub fn input_len(&self) -> usize {
        product(&[
            self.batch,
            self.rows.input,
            self.columns.input,
            self.in_channels,
        ])
    }

    /// Returns the number of elements of the filter.
    #[must_use]
    pub fn filter_len(&self) -> usize {
        product(&[
            self.rows.size,
            self.columns.size,
            self.in_channels,
            self.out_channels,
        ])
    }

    /// Returns the number of elements of the output.
    #[must_use]
    pub fn output_len(&self) -> usize {
        product(&[
            self.batch,
            self.rows.output,
            self.columns.output,
            self.out_channels,
        ])
    }

    /// Returns the number of additions and multiplications, including those with padding.
    #[must_use]
    pub fn operations(&self) -> usize {
        2_usize
            .saturating_mul(self.output_len())
            .saturating_mul(self.taps().saturating_mul(self.in_channels))
    }

    /// Places of the filter; none if it has no elements, since its extents may then be of any size.
    pub(crate) fn taps(&self) -> usize {
        if self.filter_len() == 0 {
            return 0;
        }
        self.rows.size * self.columns.size
    }

    /// Elements of one input image.
    pub(crate) fn image_len(&self) -> usize {
        product(&[self.rows.input, self.columns.input, self.in_channels])
    }

    /// Pixels of one output image; none if no output has an element.
    pub(crate) fn pixels(&self) -> usize {
        if self.output_len() == 0 {
            return 0;
        }
        self.rows.output * self.columns.output
    }
}
