//! The gradient of a convolution's filter.
//!
//! For each tap of the filter, the pixels that it reads, transposed, times the gradient of the
//! output:
//!
//! ```text
//!   pixelsᵀ [in, pixels] · gradient [pixels, out] = [in, out], added up over lines and images
//! ```
//!
//! A block computes some input channels of one tap.

use tfrt_support::share::share;

use super::input_gradient::GradientOperands;
use super::shape::Conv2dShape;
use crate::error::{ComputeError, check_len};
use crate::job::{Plan, SharedSlice};
use crate::matmul::{Matmul, MatmulOperands, MatmulShape};
use crate::parallel::{Serial, block_count};

/// The plan of the gradient of a convolution's filter.
///
/// ```
/// use tfrt_compute::convolution::{Conv2dShape, FilterGradient, GradientOperands, Padding, Window};
/// use tfrt_compute::job::Plan;
/// use tfrt_compute::parallel::Serial;
///
/// let window = Window::new(3, 2, 1, 1, Padding::Valid)?;
/// let one = Window::new(1, 1, 1, 1, Padding::Valid)?;
/// let plan = FilterGradient::new(Conv2dShape::new(1, one, window, 1, 1)?, 1)?;
/// let mut filter_gradient = [0.0; 2];
/// let mut workspace = vec![0.0; plan.workspace_len() * plan.blocks()];
/// let operands = GradientOperands::new(&[1.0, 10.0], &[1.0, 2.0, 3.0]);
/// plan.run(&Serial, operands, &mut filter_gradient, &mut workspace)?;
/// assert_eq!(filter_gradient, [21.0, 32.0]);
/// # Ok::<(), tfrt_compute::ComputeError>(())
/// ```
#[derive(Clone, Debug)]
pub struct FilterGradient {
    shape: Conv2dShape,
    /// Output rows whose pixels are multiplied at a time.
    step_rows: usize,
    /// Blocks over the input channels of one tap.
    channel_blocks: usize,
}

/// Pixels whose products are added up in one go: enough to hide what storing the sums costs.
const STEP_PIXELS: usize = 512;

impl FilterGradient {
    /// Plans a gradient for at most `width` threads.
    ///
    /// # Errors
    /// If the shape has more elements than can be addressed.
    pub fn new(shape: Conv2dShape, width: usize) -> Result<Self, ComputeError> {
        let step_rows =
            (STEP_PIXELS / shape.columns.output.max(1)).clamp(1, shape.rows.output.max(1));
        let taps = shape.taps().max(1);
        let blocks = block_count(width, usize::MAX, shape.operations()).div_ceil(taps);
        let channel_blocks = blocks.clamp(1, shape.in_channels.div_ceil(12).max(1));
        let plan = Self {
            shape,
            step_rows,
            channel_blocks,
        };
        if shape.output_len() > 0 {
            // Both shapes of products that blocks use can be planned.
            plan.product(shape.in_channels, step_rows)?;
        }
        Ok(plan)
    }

    /// `pixelsᵀ · gradient` for some channels and some output rows.
    fn product(&self, channels: usize, rows: usize) -> Result<Matmul<f32>, ComputeError> {
        let shape = MatmulShape::new(
            channels,
            self.shape.out_channels,
            rows * self.shape.columns.output,
        );
        Matmul::new(shape.transposed(true, false), 1)
    }

    fn most_channels(&self) -> usize {
        self.shape.in_channels.div_ceil(self.channel_blocks)
    }

    fn pixels_len(&self) -> usize {
        self.most_channels() * self.step_rows * self.shape.columns.output
    }
}

// SAFETY: 1. A block's elements are those of its share of the input channels of its tap: a
// partition of the output (`share`).
// 2. `blocks` is computed from fields that do not change.
#[expect(unsafe_code, reason = "the trait promises disjoint blocks")]
unsafe impl Plan for FilterGradient {
    type Element = f32;
    type Operands<'a> = GradientOperands<'a>;

    fn name(&self) -> &'static str {
        "conv2d filter gradient"
    }

    fn blocks(&self) -> usize {
        self.shape.taps() * self.channel_blocks
    }

    fn output_len(&self) -> usize {
        self.shape.filter_len()
    }

    fn workspace_len(&self) -> usize {
        if self.shape.output_len() == 0 {
            return 0;
        }
        // The shares of channels differ by one, and the last step may have fewer rows.
        let channels = [
            self.shape.in_channels / self.channel_blocks,
            self.most_channels(),
        ];
        let rows = [self.step_rows, self.shape.rows.output % self.step_rows];
        let products = channels
            .into_iter()
            .flat_map(|channels| rows.map(|rows| self.product(channels, rows)));
        self.pixels_len()
            + products
                .flatten()
                .map(|product| product.workspace_len())
                .max()
                .unwrap_or(0)
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
            "input",
            self.shape.input_len(),
            operands.factor.len(),
        )
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
            batch,
            rows,
            columns,
            in_channels,
            out_channels,
        } = self.shape;
        let tap = block / self.channel_blocks;
        let (row_tap, column_tap) = (tap / columns.size, tap % columns.size);
        let channels = share(
            in_channels,
            self.channel_blocks,
            block % self.channel_blocks,
        );
        let start = (tap * in_channels + channels.start) * out_channels;
        // SAFETY: the channels of the tap are of this block's share (duty 1 of `Plan`).
        #[expect(unsafe_code, reason = "the blocks share the output")]
        let filter_gradient =
            unsafe { output.slice_mut(start..start + channels.len() * out_channels) };
        filter_gradient.fill(0.0);
        if self.shape.output_len() == 0 {
            // There may be any number of images without elements.
            return;
        }
        let (pixels, workspace) = workspace.split_at_mut(self.pixels_len());

        for image in 0..batch {
            for first in (0..rows.output).step_by(self.step_rows) {
                let step = first..(first + self.step_rows).min(rows.output);
                let count = step.len() * columns.output;
                let pixels = &mut pixels[..count * channels.len()];
                let mut targets = pixels.chunks_exact_mut(channels.len());
                for row in step.clone() {
                    let row = rows.source(row, row_tap);
                    for (column, target) in (0..columns.output).zip(&mut targets) {
                        match row.zip(columns.source(column, column_tap)) {
                            None => target.fill(0.0),
                            Some((row, column)) => {
                                let pixel = (image * rows.input + row) * columns.input + column;
                                target.copy_from_slice(
                                    &operands.factor[pixel * in_channels..][channels.clone()],
                                );
                            }
                        }
                    }
                }
                let gradient = (image * rows.output + step.start) * columns.output * out_channels;
                let gradient = &operands.output_gradient[gradient..][..count * out_channels];
                let product = self
                    .product(channels.len(), step.len())
                    .expect("no larger than what `new` planned");
                product
                    .run(
                        &Serial,
                        MatmulOperands::new(pixels, gradient).beta(1.0),
                        filter_gradient,
                        workspace,
                    )
                    .expect("lengths of the plan");
            }
        }
    }
}
