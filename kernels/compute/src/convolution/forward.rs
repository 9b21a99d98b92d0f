//! The convolution itself.
//!
//! A pixel of the output is a row of the micro-kernel's A: its runs are the rows of its window,
//! read directly from the input. If windows reach into padding, a block copies the rows that it
//! needs into its workspace, surrounded by zeros.
//!
//! ```text
//!   chunk of output rows ─► input rows (copied if padded) ─► for each panel of filters ─► for each tile of pixels
//! ```
//!
//! A chunk is so small that its input stays in the second-level cache while all panels pass over
//! it; a panel is read from front to back for each tile, which the processor prefetches.

use std::ops::Range;

use pulp::{Simd, WithSimd};
use tfrt_support::share::{share, shares};

use super::operands::{ConvolutionOperands, Filter};
use super::shape::Conv2dShape;
use crate::error::{ComputeError, check_len, product};
use crate::job::{Plan, SharedSlice};
use crate::lanes::dispatch;
use crate::parallel::block_count;
use crate::tile::{self, Epilogue, MAX_ROWS, PanelLayout, Sums, Tile};

/// The plan of a convolution: the rows to copy, the layout of the filter, and the division of the
/// work.
///
/// `activation((input ∗ filter) · scale + shift)`, with one scale and one shift for each output
/// channel: a bias is a shift, a batch normalisation is both
/// ([`crate::normalization::BatchNorm::fold`]). The previous content of the output may be added
/// ([`ConvolutionOperands::adding_to_output`]).
///
/// The filter is best [packed](Self::pack_filter) once and kept. Otherwise each block packs it,
/// some panels at a time, in the block's workspace: plans [for plain
/// filters](Self::for_plain_filter) divide the work so that this happens once. The result is the
/// same, bit by bit.
///
/// # Accuracy
/// Each output is one chain of fused multiply-adds: the error is below `k · 2⁻²⁴ · Σ|input·filter|`
/// with `k` the products of one output.
///
/// ```
/// use tfrt_compute::convolution::{Conv2dShape, Convolution, ConvolutionOperands, Padding, Window};
/// use tfrt_compute::job::Plan;
/// use tfrt_compute::parallel::Serial;
///
/// let window = Window::new(3, 2, 1, 1, Padding::Valid)?;
/// let plan = Convolution::new(Conv2dShape::new(1, window, window, 1, 1)?, 1);
/// let mut filter = vec![0.0; plan.packed_filter_len()];
/// plan.pack_filter(&[1.0, 0.0, 0.0, 1.0], &mut filter)?;
///
/// let input = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0];
/// let mut output = [0.0; 4];
/// let mut workspace = vec![0.0; plan.workspace_len() * plan.blocks()];
/// plan.run(&Serial, ConvolutionOperands::new(&input, &filter), &mut output, &mut workspace)?;
/// assert_eq!(output, [6.0, 8.0, 12.0, 14.0]);
/// # Ok::<(), tfrt_compute::ComputeError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Convolution {
    shape: Conv2dShape,
    panels: PanelLayout,
    /// Whether windows reach into padding, so that the input is copied.
    is_copied: bool,
    /// Elements between neighbouring columns of what the micro-kernel reads.
    pixel_stride: usize,
    /// The starts of a window's runs.
    taps: Vec<usize>,
    /// Elements of a run.
    run: usize,
    /// Output rows of a chunk.
    chunk_rows: usize,
    /// Blocks over the output rows of one image.
    row_blocks: usize,
    /// Blocks over the panels.
    panel_blocks: usize,
    /// Panels that a block packs at a time, if the filter is not packed; zero if it must be.
    group_panels: usize,
}

/// Bytes of input that a chunk may have: a quarter of the second-level cache of the processors that
/// we have measured, as the filters pass through it as well.
const CHUNK_BYTES: usize = 256 << 10;

/// Bytes of filters that may stay in that cache while pixels pass: then the output is written row
/// by row.
///
/// Measured on Zen 4: ResNet-50's layer from 64 to 256 channels of 56 × 56 pixels gains a sixth by
/// it.
const RESIDENT_FILTER_BYTES: usize = 256 << 10;

/// Bytes of panels that a block packs at a time: they stay in the second-level cache while pixels
/// pass.
const GROUP_BYTES: usize = 512 << 10;

impl Convolution {
    /// Plans a convolution for at most `width` threads, with a packed filter.
    #[must_use]
    pub fn new(shape: Conv2dShape, width: usize) -> Self {
        let (rows, columns) = (shape.rows, shape.columns);
        let channels = shape.in_channels;
        let panels = PanelLayout::new::<f32>(shape.taps() * channels, shape.out_channels);
        let is_padded = (rows.before, rows.after, columns.before, columns.after) != (0, 0, 0, 0);
        let is_copied = is_padded && channels > 0;
        let pixel_stride = channels;
        // Without elements, extents may be so large that no line can be addressed.
        let line = match (shape.output_len(), is_copied) {
            (0, _) => 0,
            (_, true) => columns.padded() * pixel_stride,
            (_, false) => product(&[columns.input, pixel_stride]),
        };
        // Neighbouring columns of a window lie side by side: one run for each row of the window.
        let (taps, run) = if shape.taps() == 0 || line == 0 {
            (Vec::new(), 0)
        } else if columns.dilation == 1 && pixel_stride == channels {
            (
                (0..rows.size)
                    .map(|row| row * rows.dilation * line)
                    .collect(),
                columns.size * channels,
            )
        } else {
            let tap =
                |row, column| row * rows.dilation * line + column * columns.dilation * pixel_stride;
            (
                (0..rows.size)
                    .flat_map(|row| (0..columns.size).map(move |column| tap(row, column)))
                    .collect(),
                channels,
            )
        };
        let row_bytes = rows.stride.saturating_mul(line * size_of::<f32>()).max(1);
        let chunk_rows = (CHUNK_BYTES / row_bytes).clamp(1, rows.output.max(1));
        let blocks =
            block_count(width, usize::MAX, shape.operations()).div_ceil(shape.batch.max(1));
        // Rows first: their blocks share nothing but the edges of windows. The filters of small
        // images are divided, too.
        let row_blocks = blocks.min((shape.pixels() / (4 * MAX_ROWS)).clamp(1, rows.output.max(1)));
        let panel_blocks = blocks.div_ceil(row_blocks).clamp(1, panels.panels().max(1));
        Self {
            shape,
            panels,
            is_copied,
            pixel_stride,
            taps,
            run,
            chunk_rows,
            row_blocks,
            panel_blocks,
            group_panels: 0,
        }
    }

    /// Changes the plan to a filter that is not packed.
    #[must_use]
    pub fn for_plain_filter(self) -> Self {
        // Panels first: else every block would pack all of them.
        let blocks = self.row_blocks * self.panel_blocks;
        let panel_blocks = blocks.min(self.panels.panels()).max(1);
        let max_rows =
            (self.shape.pixels() / (4 * MAX_ROWS)).clamp(1, self.shape.rows.output.max(1));
        let panel_bytes = (self.panels.panel_len() * size_of::<f32>()).max(1);
        let share = self.panels.panels().div_ceil(panel_blocks);
        Self {
            panel_blocks,
            row_blocks: blocks.div_ceil(panel_blocks).clamp(1, max_rows),
            group_panels: (GROUP_BYTES / panel_bytes).clamp(1, share.max(1)),
            ..self
        }
    }

    /// Returns the shape.
    #[must_use]
    pub fn shape(&self) -> &Conv2dShape {
        &self.shape
    }

    /// Returns the number of elements of the packed filter. The layout depends on the processor:
    /// in files, [`packed_layout`](crate::packed_layout) must be stored with it.
    #[must_use]
    pub fn packed_filter_len(&self) -> usize {
        self.panels.len()
    }

    /// Rearranges a filter `[rows, columns, in_channels, out_channels]`; worth keeping if the
    /// filter is used again. Memory aligned to 64 bytes makes the convolution a few percent faster.
    ///
    /// # Errors
    /// If a slice does not have the right length.
    pub fn pack_filter(&self, filter: &[f32], packed: &mut [f32]) -> Result<(), ComputeError> {
        check_len("conv2d", "filter", self.shape.filter_len(), filter.len())?;
        check_len(
            "conv2d",
            "packed filter",
            self.packed_filter_len(),
            packed.len(),
        )?;
        self.panels.pack(filter, packed);
        Ok(())
    }

    /// Returns the number of elements of the copy of padded input rows.
    fn copy_len(&self) -> usize {
        if self.is_copied && self.shape.output_len() > 0 {
            self.input_rows(self.chunk_rows) * self.line()
        } else {
            0
        }
    }

    /// Returns the number of input rows, with padding, that some output rows read.
    fn input_rows(&self, output_rows: usize) -> usize {
        (output_rows - 1) * self.shape.rows.stride + self.shape.rows.extent()
    }

    /// Returns the number of elements of a line that the micro-kernel reads.
    fn line(&self) -> usize {
        let columns = self.shape.columns;
        if self.is_copied {
            columns.padded() * self.pixel_stride
        } else {
            columns.input * self.pixel_stride
        }
    }

    /// Copies the input rows under some output rows, surrounded by zeros.
    fn copy_rows(&self, image: &[f32], first_output_row: usize, copy: &mut [f32]) {
        let (rows, columns) = (self.shape.rows, self.shape.columns);
        let row_len = columns.input * self.shape.in_channels;
        let before = columns.before * self.pixel_stride;
        let first = first_output_row * rows.stride;
        for (offset, line) in copy.chunks_exact_mut(self.line()).enumerate() {
            match (first + offset)
                .checked_sub(rows.before)
                .filter(|&row| row < rows.input)
            {
                None => line.fill(0.0),
                Some(row) => {
                    line[..before].fill(0.0);
                    line[before..][..row_len].copy_from_slice(&image[row * row_len..][..row_len]);
                    line[before + row_len..].fill(0.0);
                }
            }
        }
    }
}

// SAFETY: 1. A block's elements are the channels of its share of panels in the pixels of its share
// of rows in its image: a partition of the output (`share`). 2. `blocks` is computed from fields
// that do not change.
#[expect(unsafe_code, reason = "the trait promises disjoint blocks")]
unsafe impl Plan for Convolution {
    type Element = f32;
    type Operands<'a> = ConvolutionOperands<'a>;

    fn name(&self) -> &'static str {
        "conv2d"
    }

    fn blocks(&self) -> usize {
        self.shape.batch.max(1) * self.row_blocks * self.panel_blocks
    }

    fn output_len(&self) -> usize {
        self.shape.output_len()
    }

    fn workspace_len(&self) -> usize {
        self.copy_len() + self.group_panels * self.panels.panel_len()
    }

    fn check(&self, operands: Self::Operands<'_>) -> Result<(), ComputeError> {
        check_len(
            "conv2d",
            "input",
            self.shape.input_len(),
            operands.input.len(),
        )?;
        match operands.filter {
            Filter::Packed(filter) => check_len(
                "conv2d",
                "packed filter",
                self.packed_filter_len(),
                filter.len(),
            )?,
            Filter::Plain(_) if self.group_panels == 0 => {
                return Err(ComputeError::new(
                    "conv2d: expected a packed filter, as planned, found an unpacked one",
                ));
            }
            Filter::Plain(filter) => {
                check_len("conv2d", "filter", self.shape.filter_len(), filter.len())?;
            }
        }
        for (name, values) in [("scale", operands.scale), ("shift", operands.shift)] {
            if let Some(values) = values {
                check_len("conv2d", name, self.shape.out_channels, values.len())?;
            }
        }
        Ok(())
    }

    fn compute(
        &self,
        block: usize,
        operands: Self::Operands<'_>,
        output: &SharedSlice<'_, f32>,
        workspace: &mut [f32],
    ) {
        if self.shape.output_len() == 0 {
            return;
        }
        dispatch(Block {
            plan: self,
            block,
            operands,
            output,
            workspace,
        });
    }
}

struct Block<'a> {
    plan: &'a Convolution,
    block: usize,
    operands: ConvolutionOperands<'a>,
    output: &'a SharedSlice<'a, f32>,
    workspace: &'a mut [f32],
}

impl WithSimd for Block<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let plan = self.plan;
        let panel_block = self.block % plan.panel_blocks;
        let row_block = self.block / plan.panel_blocks % plan.row_blocks;
        let image = self.block / plan.panel_blocks / plan.row_blocks;
        let source =
            &self.operands.input[image * plan.shape.image_len()..][..plan.shape.image_len()];
        let rows = share(plan.shape.rows.output, plan.row_blocks, row_block);
        let panels = share(plan.panels.panels(), plan.panel_blocks, panel_block);
        let (copy, group) = self.workspace.split_at_mut(plan.copy_len());
        // The chunk whose input rows are in `copy`.
        let mut copied = None;

        let group_panels = match self.operands.filter {
            Filter::Packed(_) => panels.len(),
            Filter::Plain(_) => plan.group_panels,
        };
        for first in panels.clone().step_by(group_panels.max(1)) {
            let panels = first..(first + group_panels).min(panels.end);
            let packed = match self.operands.filter {
                Filter::Packed(filter) => &filter[panels.start * plan.panels.panel_len()..],
                Filter::Plain(filter) => {
                    plan.panels.pack_some(simd, filter, panels.clone(), group);
                    &*group
                }
            };
            for chunk in rows.clone().step_by(plan.chunk_rows) {
                let chunk = chunk..(chunk + plan.chunk_rows).min(rows.end);
                let data = if plan.is_copied {
                    if copied.as_ref() != Some(&chunk) {
                        let len = plan.input_rows(chunk.len()) * plan.line();
                        plan.copy_rows(source, chunk.start, &mut copy[..len]);
                        copied = Some(chunk.clone());
                    }
                    &*copy
                } else {
                    &source[chunk.start * plan.shape.rows.stride * plan.line()..]
                };
                Chunk {
                    plan,
                    operands: &self.operands,
                    data,
                    image,
                    rows: chunk,
                    panels: panels.clone(),
                    packed,
                    output: self.output,
                }
                .compute(simd);
            }
        }
    }
}

/// Some output rows of one image.
struct Chunk<'a> {
    plan: &'a Convolution,
    operands: &'a ConvolutionOperands<'a>,
    /// The input from the first row that the first output row reads.
    data: &'a [f32],
    image: usize,
    rows: Range<usize>,
    panels: Range<usize>,
    /// The filter, from the first of the panels on.
    packed: &'a [f32],
    output: &'a SharedSlice<'a, f32>,
}

impl Chunk<'_> {
    #[inline(always)]
    fn compute<S: Simd>(&self, simd: S) {
        let plan = self.plan;
        let pixels = self.rows.len() * plan.shape.columns.output;
        let tiles = tile::tile_count::<S>(pixels);
        let mut sums = tile::zeros::<S, f32>(simd);
        // Either the filters stay in the cache, and the output is written row by row; or the pixels
        // do.
        if self.panels.len() * plan.panels.panel_len() * size_of::<f32>() <= RESIDENT_FILTER_BYTES {
            for pixels in shares(pixels, tiles) {
                let bases = self.bases(&pixels);
                for panel in self.panels.clone() {
                    self.tile(simd, (pixels.clone(), &bases), (panel, &[]), &mut sums);
                }
            }
        } else {
            let panel_len = plan.panels.panel_len();
            for panel in self.panels.clone() {
                let next = match panel + 1 < self.panels.end {
                    true => self.panel(panel + 1),
                    false => &[],
                };
                for (pixels, part) in shares(pixels, tiles).zip(shares(panel_len, tiles)) {
                    let bases = self.bases(&pixels);
                    let next = next.get(part).unwrap_or_default();
                    self.tile(simd, (pixels, &bases), (panel, next), &mut sums);
                }
            }
        }
    }

    /// Returns the filters of one panel.
    #[inline(always)]
    fn panel(&self, panel: usize) -> &[f32] {
        let panel_len = self.plan.panels.panel_len();
        &self.packed[(panel - self.panels.start) * panel_len..][..panel_len]
    }

    /// Returns where the windows of some pixels begin.
    #[inline(always)]
    fn bases(&self, pixels: &Range<usize>) -> [usize; MAX_ROWS] {
        let plan = self.plan;
        let columns = plan.shape.columns;
        let mut bases = [0; MAX_ROWS];
        let row_step = plan.shape.rows.stride * plan.line();
        let column_step = columns.stride * plan.pixel_stride;
        let mut column = pixels.start % columns.output;
        let mut line = pixels.start / columns.output * row_step;
        let mut base = line + column * column_step;
        for place in &mut bases[..pixels.len()] {
            *place = base;
            base += column_step;
            column += 1;
            if column == columns.output {
                column = 0;
                line += row_step;
                base = line;
            }
        }
        bases
    }

    /// Computes some pixels of the chunk, whose windows begin at `bases`, in the channels of one
    /// panel, and fetches a part of the next one.
    #[inline(always)]
    fn tile<S: Simd>(
        &self,
        simd: S,
        (pixels, bases): (Range<usize>, &[usize; MAX_ROWS]),
        (panel, next): (usize, &[f32]),
        sums: &mut Sums<S, f32>,
    ) {
        let Self { plan, operands, .. } = *self;
        let out_channels = plan.shape.out_channels;
        let tile = Tile {
            data: self.data,
            taps: &plan.taps,
            run: plan.run,
            panel: self.panel(panel),
            next,
        };
        tile::compute::<S, f32>(simd, &tile, &bases[..pixels.len()], sums);

        let epilogue = Epilogue {
            alpha: 1.0,
            beta: 0.0,
            scale: operands.scale,
            shift: operands.shift,
            adds_output: operands.adds_output,
            clamp: operands.activation.clamp(),
        };
        let first_channel = panel * plan.panels.width;
        let channels = plan.panels.width.min(out_channels - first_channel);
        let first_row = self.image * plan.shape.rows.output + self.rows.start;
        let first_pixel = first_row * plan.shape.columns.output + pixels.start;
        let epilogue = epilogue.of_panel(simd, first_channel..first_channel + channels);
        let epilogue = epilogue.expect("sums are neither scaled nor added to");
        let width = tile::panel_width::<S, f32>();
        if channels == width {
            epilogue.store_rows(simd, &sums[..pixels.len()], |pixel| {
                let start = (first_pixel + pixel) * out_channels + first_channel;
                // SAFETY: the pixel and the channels are of this block's share (duty 1 of `Plan`),
                // and each is visited once.
                #[expect(unsafe_code, reason = "rows of a block are not contiguous")]
                let elements = unsafe { self.output.slice_mut(start..start + width) };
                elements
            });
        } else {
            epilogue.store_rows(simd, &sums[..pixels.len()], |pixel| {
                let start = (first_pixel + pixel) * out_channels + first_channel;
                // SAFETY: as above.
                #[expect(unsafe_code, reason = "rows of a block are not contiguous")]
                let elements = unsafe { self.output.slice_mut(start..start + channels) };
                elements
            });
        }
        if operands.activation.has_finish() {
            for pixel in 0..pixels.len() {
                let start = (first_pixel + pixel) * out_channels + first_channel;
                // SAFETY: as above; those slices are no longer in use.
                #[expect(unsafe_code, reason = "rows of a block are not contiguous")]
                let elements = unsafe { self.output.slice_mut(start..start + channels) };
                operands.activation.finish(elements);
            }
        }
    }
}
