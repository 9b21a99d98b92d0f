//! The gradient of a convolution's input, which is also a transposed convolution.
//!
//! The product of lines of the output's gradient and the transposed filter contains the
//! contributions of all taps of their windows; each is added to the pixel that the tap reads.
//!
//! ```text
//!   gradient of output lines [pixels, out] · filterᵀ [out, taps · in] = [pixels, taps · in]  ─ added to ─►  input lines
//! ```
//!
//! A block computes some lines of the input: it processes the output lines whose windows reach
//! them, and drops contributions to other lines.

use std::ops::Range;

use tfrt_support::share::share;

use super::shape::Conv2dShape;
use crate::error::{ComputeError, check_len};
use crate::job::{Plan, SharedSlice};
use crate::matmul::{Matmul, MatmulOperands, MatmulShape};
use crate::parallel::{Serial, block_count};

/// The plan of the gradient of a convolution's input.
///
/// ```
/// use tfrt_compute::convolution::{Conv2dShape, GradientOperands, InputGradient, Padding, Window};
/// use tfrt_compute::job::Plan;
/// use tfrt_compute::parallel::Serial;
///
/// let window = Window::new(3, 2, 1, 1, Padding::Valid)?;
/// let one = Window::new(1, 1, 1, 1, Padding::Valid)?;
/// let plan = InputGradient::new(Conv2dShape::new(1, one, window, 1, 1)?, 1)?;
/// let mut filter = vec![0.0; plan.packed_filter_len()];
/// plan.pack_filter(&[1.0, 10.0], &mut filter)?;
///
/// let mut input_gradient = [0.0; 3];
/// let mut workspace = vec![0.0; plan.workspace_len() * plan.blocks()];
/// plan.run(&Serial, GradientOperands::new(&[1.0, 2.0], &filter), &mut input_gradient, &mut workspace)?;
/// assert_eq!(input_gradient, [1.0, 12.0, 20.0]);
/// # Ok::<(), tfrt_compute::ComputeError>(())
/// ```
#[derive(Clone, Debug)]
pub struct InputGradient {
    shape: Conv2dShape,
    /// The output lines of a product.
    lines: usize,
    /// So many output lines times the transposed filter.
    product: Matmul<f32>,
    /// Blocks over the lines of one input image.
    row_blocks: usize,
}

/// The operands of the gradient of a convolution.
#[derive(Clone, Copy, Debug)]
pub struct GradientOperands<'a> {
    /// The gradient of the output.
    pub output_gradient: &'a [f32],
    /// The other factor: the packed filter for the gradient of the input, the input for that of the
    /// filter.
    pub factor: &'a [f32],
    /// What is added to each element of the gradient of the input, by its channel. May be empty.
    pub shift: &'a [f32],
}

impl<'a> GradientOperands<'a> {
    /// Creates the two operands.
    #[must_use]
    pub fn new(output_gradient: &'a [f32], factor: &'a [f32]) -> Self {
        Self {
            output_gradient,
            factor,
            shift: &[],
        }
    }

    /// Adds a number to each channel of the gradient of the input, as the bias of a transposed
    /// convolution is. The gradient of a filter has none.
    #[must_use]
    pub fn shift(mut self, shift: &'a [f32]) -> Self {
        self.shift = shift;
        self
    }
}

/// The pixels of a product, if lines are short: so many rows of a product keep its routine busy.
const MIN_PIXELS: usize = 48;

/// The most elements of the product of several lines, which is read from the second-level cache.
const MAX_PRODUCT_LEN: usize = 1 << 18;

impl InputGradient {
    /// Plans a gradient for at most `width` threads.
    ///
    /// # Errors
    /// If the shape has more elements than can be addressed.
    pub fn new(shape: Conv2dShape, width: usize) -> Result<Self, ComputeError> {
        // An output without elements passes nothing on, and its lines need not be addressable.
        let columns = if shape.output_len() == 0 {
            0
        } else {
            shape.columns.output
        };
        let terms = terms(&shape);
        let lines = MIN_PIXELS.div_ceil(columns.max(1));
        let line_len = columns.saturating_mul(terms).max(1);
        let most_lines = (MAX_PRODUCT_LEN / line_len).min(shape.rows.output);
        let lines = lines.min(most_lines).max(1);
        let product = product_of_lines(&shape, lines * columns)?;
        let blocks =
            block_count(width, usize::MAX, shape.operations()).div_ceil(shape.batch.max(1));
        // Blocks smaller than a window would compute more lines for their neighbours than for
        // themselves.
        let most = shape.rows.input / shape.rows.extent().saturating_mul(2);
        Ok(Self {
            shape,
            lines,
            product,
            row_blocks: blocks.clamp(1, most.max(1)),
        })
    }

    /// Returns the number of elements of the packed filter. The layout depends on the processor: do
    /// not store it in files.
    #[must_use]
    pub fn packed_filter_len(&self) -> usize {
        self.product.packed_b_len()
    }

    /// Rearranges a filter `[rows, columns, in_channels, out_channels]`.
    ///
    /// # Errors
    /// If a slice does not have the right length.
    pub fn pack_filter(&self, filter: &[f32], packed: &mut [f32]) -> Result<(), ComputeError> {
        self.product.pack_b(filter, packed)
    }

    /// Returns the output rows whose windows may reach some input rows.
    fn output_rows(&self, input_rows: &Range<usize>) -> Range<usize> {
        let rows = self.shape.rows;
        let first = (input_rows.start + rows.before + 1)
            .saturating_sub(rows.extent())
            .div_ceil(rows.stride);
        let end = (input_rows.end + rows.before).div_ceil(rows.stride);
        first.min(rows.output)..end.min(rows.output)
    }

    /// Adds the contributions of the windows of one output line to the input lines of a block.
    fn add_line(
        &self,
        passed: &[f32],
        output_row: usize,
        input_rows: &Range<usize>,
        input_gradient: &mut [f32],
    ) {
        let Conv2dShape {
            rows,
            columns,
            in_channels,
            ..
        } = self.shape;
        let taps_len = rows.size * columns.size * in_channels;
        crate::lanes::vectorised(
            #[inline(always)]
            || {
                for (column, passed) in passed.chunks_exact(taps_len).enumerate() {
                    for row_tap in rows.taps(output_row) {
                        let source = rows
                            .source(output_row, row_tap)
                            .filter(|row| input_rows.contains(row));
                        let Some(row) = source else { continue };
                        for column_tap in columns.taps(column) {
                            let Some(column) = columns.source(column, column_tap) else {
                                continue;
                            };
                            let pixel = (row - input_rows.start) * columns.input + column;
                            let sums = &mut input_gradient[pixel * in_channels..][..in_channels];
                            let terms = &passed
                                [(row_tap * columns.size + column_tap) * in_channels..]
                                [..in_channels];
                            sums.iter_mut()
                                .zip(terms)
                                .for_each(|(sum, &term)| *sum += term);
                        }
                    }
                }
            },
        );
    }
}

/// Returns the number of contributions of an output pixel.
fn terms(shape: &Conv2dShape) -> usize {
    shape.taps() * shape.in_channels
}

/// Returns the product of some output pixels with the transposed filter.
fn product_of_lines(shape: &Conv2dShape, pixels: usize) -> Result<Matmul<f32>, ComputeError> {
    let product = MatmulShape::new(pixels, terms(shape), shape.out_channels);
    Matmul::new(product.transposed(false, true), 1)
}

// SAFETY: 1. A block's elements are its share of the lines of its image: a partition of the output
// (`share`). 2. `blocks` is computed from fields that do not change.
#[expect(unsafe_code, reason = "the trait promises disjoint blocks")]
unsafe impl Plan for InputGradient {
    type Element = f32;
    type Operands<'a> = GradientOperands<'a>;

    fn name(&self) -> &'static str {
        "conv2d input gradient"
    }

    fn blocks(&self) -> usize {
        self.shape.batch.max(1) * self.row_blocks
    }

    fn output_len(&self) -> usize {
        self.shape.input_len()
    }

    fn workspace_len(&self) -> usize {
        self.product.output_len() + self.product.workspace_len()
    }

    fn check(&self, operands: Self::Operands<'_>) -> Result<(), ComputeError> {
        check_len(
            self.name(),
            "output gradient",
            self.shape.output_len(),
            operands.output_gradient.len(),
        )?;
        check_len(
            self.name(),
            "packed filter",
            self.packed_filter_len(),
            operands.factor.len(),
        )?;
        match operands.shift {
            [] => Ok(()),
            shift => check_len(self.name(), "shift", self.shape.in_channels, shift.len()),
        }
    }

    fn compute(
        &self,
        block: usize,
        operands: Self::Operands<'_>,
        output: &SharedSlice<'_, f32>,
        workspace: &mut [f32],
    ) {
        if self.output_len() == 0 {
            return;
        }
        let Conv2dShape {
            rows,
            columns,
            in_channels,
            out_channels,
            ..
        } = self.shape;
        let image = block / self.row_blocks;
        let input_rows = share(rows.input, self.row_blocks, block % self.row_blocks);
        let line_len = columns.input * in_channels;
        let start = (image * rows.input + input_rows.start) * line_len;
        // SAFETY: the lines are of this block's share (duty 1 of `Plan`).
        #[expect(unsafe_code, reason = "the blocks share the output")]
        let input_gradient =
            unsafe { output.slice_mut(start..start + input_rows.len() * line_len) };
        match operands.shift {
            [] => input_gradient.fill(0.0),
            shift => {
                for pixel in input_gradient.chunks_exact_mut(in_channels) {
                    pixel.copy_from_slice(shift);
                }
            }
        }
        if self.product.output_len() == 0 {
            return;
        }
        let (passed, workspace) = workspace.split_at_mut(self.product.output_len());
        let output_rows = self.output_rows(&input_rows);
        let line_len = columns.output * out_channels;
        let passed_len = columns.output * terms(&self.shape);
        for first in output_rows.clone().step_by(self.lines) {
            let lines = self.lines.min(output_rows.end - first);
            let start = (image * rows.output + first) * line_len;
            let gradient = &operands.output_gradient[start..][..lines * line_len];
            let last;
            let product = match lines == self.lines {
                true => &self.product,
                false => {
                    last = product_of_lines(&self.shape, lines * columns.output)
                        .expect("a part of the plan's product");
                    &last
                }
            };
            let passed = &mut passed[..lines * passed_len];
            let operands = MatmulOperands::packed(gradient, operands.factor);
            product
                .run(&Serial, operands, passed, workspace)
                .expect("lengths of the plan");
            for (line, passed) in passed.chunks_exact(passed_len.max(1)).enumerate() {
                self.add_line(passed, first + line, &input_rows, input_gradient);
            }
        }
    }
}
