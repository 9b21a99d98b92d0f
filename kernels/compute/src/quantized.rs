//! Convolutions and products of bytes, whose sums are exact 32-bit integers.
//!
//! The input is unsigned, the filter is signed, and the sums of products become bytes again:
//!
//! ```text
//!   input ── windows ──► patches, one row of bytes for each pixel ─┐
//!                                                                  ├─► sums ─► scale, round, clamp ─► output
//!   filter ── pack ────► panels of 32 filters, four bytes of each ─┘
//! ```
//!
//! The micro-kernel multiplies four bytes of a row by four bytes of each filter of a panel at a
//! time, which is one instruction of processors with VNNI. Other processors run the same loops,
//! compiled for what they have. All of them compute the same sums.
//!
//! A signed input is read as an unsigned one by inverting its highest bit, which adds 128 to each
//! number and to the zero point.

mod tile;

mod numbers;

use std::ops::Range;

use tfrt_support::share::share;

use crate::convolution::Conv2dShape;
use crate::error::{ComputeError, check_len, checked_product};
use crate::job::{Plan, SharedSlice};
use crate::lanes::vectorised;
use crate::parallel::block_count;

pub use numbers::{ByteScale, add_bytes};

use numbers::WHOLE_NUMBERS;
use tile::{LANES, MAX_ROWS, Sums};

/// Bytes that the micro-kernel multiplies at a time.
const GROUP: usize = 4;

/// Bytes of patches that all panels pass over before the next pixels are taken up: they stay in the
/// second-level cache.
const CHUNK_BYTES: usize = 128 << 10;

/// Operations on bytes that take as long as one of other routines.
const OPERATIONS_PER_UNIT: usize = 8;

/// The plan of a convolution of bytes. A matrix product is a convolution of one row of pixels with
/// a window of one pixel.
///
/// Input and output are those of [`Conv2dShape`]. Sums wrap around.
///
/// ```
/// use tfrt_compute::convolution::{Conv2dShape, Padding, Window};
/// use tfrt_compute::job::Plan;
/// use tfrt_compute::parallel::Serial;
/// use tfrt_compute::quantized::{ByteConvolution, ByteOperands, Requantization};
///
/// let (row, pixels) = (Window::new(1, 1, 1, 1, Padding::Valid)?, Window::new(2, 1, 1, 1, Padding::Valid)?);
/// let plan = ByteConvolution::new(Conv2dShape::new(1, row, pixels, 2, 1)?, 1)?;
/// let mut filter = vec![0; plan.packed_filter_len()];
/// // The filter has the numbers 3 and -1.
/// plan.pack_filter(|place, _| [3, -1][place], &mut filter)?;
///
/// let requantization = Requantization { zero: 0, least: 0.0, greatest: 255.0 };
/// // Sums begin with 0: there is no bias, and no zero point is subtracted.
/// let operands = ByteOperands::new(&[10, 1, 20, 5], &filter, &[0], &[1.0], requantization);
/// let mut output = [0; 2];
/// let mut workspace = vec![0; plan.workspace_len() * plan.blocks()];
/// plan.run(&Serial, operands, &mut output, &mut workspace)?;
/// assert_eq!(output, [29, 55]);
/// # Ok::<(), tfrt_compute::ComputeError>(())
/// ```
#[derive(Clone, Debug)]
pub struct ByteConvolution {
    shape: Conv2dShape,
    /// Bytes of a window.
    window_len: usize,
    /// Bytes of a row of patches: whole groups.
    row_len: usize,
    chunk_pixels: usize,
    pixel_blocks: usize,
    panel_blocks: usize,
}

/// How a sum becomes a byte: `sum · factor` in single precision, rounded to the nearest whole
/// number, halves to even ones, plus the zero point, at least `least` and at most `greatest`, which
/// are whole numbers of 16 bits. The byte has the lowest bits of the number, so that it may be
/// signed. A NaN becomes the least number.
///
/// ```
/// use tfrt_compute::quantized::Requantization;
///
/// let signed = Requantization { zero: 1, least: -128.0, greatest: 127.0 };
/// assert_eq!(signed.byte(-6, 0.5) as i8, -2);
/// // The half is rounded before the zero point is added.
/// assert_eq!(signed.byte(1, 0.5), 1);
/// assert_eq!(signed.byte(3, 0.5), 3);
/// assert_eq!(signed.byte(1000, 0.5), 127);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Requantization {
    /// The zero point of the output.
    pub zero: i16,
    /// The least result.
    pub least: f32,
    /// The greatest result.
    pub greatest: f32,
}

impl Requantization {
    /// Returns the byte that a sum becomes.
    #[inline(always)]
    #[must_use]
    pub fn byte(&self, sum: i32, factor: f32) -> u8 {
        let zero = f32::from(self.zero);
        let (least, greatest) = (self.least - zero, self.greatest - zero);
        let scaled = sum as f32 * factor;
        // A NaN fails the comparison, and becomes the least number.
        let raised = if scaled > least { scaled } else { least };
        let limited = if raised > greatest { greatest } else { raised };
        // The sum is rounded to a whole number, halves to even ones, and its last bits are those of
        // this number. A conversion `as i32` would keep the compiler from using vectors.
        let bits = (limited + WHOLE_NUMBERS).to_bits();
        bits.wrapping_add_signed(self.zero.into()) as u8
    }
}

/// The operands of a [`ByteConvolution`].
#[derive(Clone, Copy, Debug)]
pub struct ByteOperands<'a> {
    input: &'a [u8],
    flip: u8,
    zero: u8,
    filter: &'a [i8],
    starts: &'a [i32],
    filter_zeros: &'a [i32],
    factors: &'a [f32],
    requantization: Requantization,
}

impl<'a> ByteOperands<'a> {
    /// Convolves unsigned bytes, padded with zeros. Sums begin with `starts`, and are scaled by
    /// `factors`: one number for each filter.
    #[must_use]
    pub fn new(
        input: &'a [u8],
        filter: &'a [i8],
        starts: &'a [i32],
        factors: &'a [f32],
        requantization: Requantization,
    ) -> Self {
        Self {
            input,
            flip: 0,
            zero: 0,
            filter,
            starts,
            filter_zeros: &[],
            factors,
            requantization,
        }
    }

    /// Convolves unsigned bytes for [`ByteSums`].
    #[must_use]
    pub fn of_sums(input: &'a [u8], filter: &'a [i8], starts: &'a [i32]) -> Self {
        let unused = Requantization {
            zero: 0,
            least: 0.0,
            greatest: 0.0,
        };
        Self::new(input, filter, starts, &[], unused)
    }

    /// Subtracts a number from all those of each filter, for [`ByteSums`]. The number of elements
    /// is that of filters, or 0.
    #[must_use]
    pub fn filter_zeros(self, filter_zeros: &'a [i32]) -> Self {
        Self {
            filter_zeros,
            ..self
        }
    }

    /// Pads the input with this byte, which is its zero point.
    #[must_use]
    pub fn zero(self, zero: u8) -> Self {
        Self { zero, ..self }
    }

    /// Reads bytes of the input and their zero point as signed numbers, to which 128 is added.
    #[must_use]
    pub fn signed_input(self) -> Self {
        Self { flip: 128, ..self }
    }
}

impl ByteConvolution {
    /// Plans a convolution for at most `width` threads.
    ///
    /// # Errors
    /// If the packed filter cannot be addressed.
    pub fn new(shape: Conv2dShape, width: usize) -> Result<Self, ComputeError> {
        let window_len = shape.taps() * shape.in_channels;
        let row_len = window_len.next_multiple_of(GROUP);
        let panels = shape.out_channels.div_ceil(LANES);
        checked_product("bytes", &[panels, row_len, LANES])?;
        let pixels = shape.batch * shape.pixels();
        let chunk_pixels = (CHUNK_BYTES / row_len.max(1))
            .next_multiple_of(MAX_ROWS)
            .min(pixels.next_multiple_of(MAX_ROWS))
            .max(MAX_ROWS);
        checked_product("bytes", &[chunk_pixels, row_len])?;
        let operations = shape.operations() / OPERATIONS_PER_UNIT;
        let blocks = block_count(width, usize::MAX, operations);
        let pixel_blocks = blocks.min(pixels / (4 * MAX_ROWS)).max(1);
        Ok(Self {
            shape,
            window_len,
            row_len,
            chunk_pixels,
            pixel_blocks,
            panel_blocks: blocks.div_ceil(pixel_blocks).clamp(1, panels.max(1)),
        })
    }

    /// Returns the number of bytes of the packed filter. The layout is the same on all processors.
    #[must_use]
    pub fn packed_filter_len(&self) -> usize {
        self.shape.out_channels.div_ceil(LANES) * self.row_len * LANES
    }

    /// Packs a filter. `number` returns the number at a place of the window of a filter; places are
    /// in the order of `[rows, columns, in_channels]`. Returns the sum of the numbers of each
    /// filter.
    ///
    /// # Errors
    /// If `packed` does not have the right length.
    pub fn pack_filter(
        &self,
        number: impl Fn(usize, usize) -> i8,
        packed: &mut [i8],
    ) -> Result<Vec<i32>, ComputeError> {
        check_len(
            "bytes",
            "packed filter",
            self.packed_filter_len(),
            packed.len(),
        )?;
        let filters = self.shape.out_channels;
        let mut sums = vec![0_i32; filters];
        let panel_len = self.row_len * LANES;
        if panel_len == 0 {
            return Ok(sums);
        }
        for (panel, packed) in packed.chunks_exact_mut(panel_len).enumerate() {
            for (group, packed) in packed.chunks_exact_mut(GROUP * LANES).enumerate() {
                for (lane, packed) in packed.chunks_exact_mut(GROUP).enumerate() {
                    let filter = panel * LANES + lane;
                    for (at, packed) in packed.iter_mut().enumerate() {
                        let place = group * GROUP + at;
                        let is_inside = filter < filters && place < self.window_len;
                        *packed = if is_inside { number(place, filter) } else { 0 };
                        if is_inside {
                            sums[filter] = sums[filter].wrapping_add((*packed).into());
                        }
                    }
                }
            }
        }
        Ok(sums)
    }

    /// Returns `true` if the windows of neighbouring pixels lie one behind the other in the input.
    fn reads_in_place(&self) -> bool {
        let windows = [self.shape.rows, self.shape.columns];
        self.row_len == self.window_len
            && windows.iter().all(|window| {
                (window.size, window.stride, window.before, window.after) == (1, 1, 0, 0)
            })
    }

    /// Copies the windows of some pixels.
    fn gather(&self, operands: &ByteOperands<'_>, pixels: Range<usize>, patches: &mut [u8]) {
        if self.row_len == 0 {
            return;
        }
        let (rows, columns) = (self.shape.rows, self.shape.columns);
        let channels = self.shape.in_channels;
        let padding = operands.zero ^ operands.flip;
        for (pixel, patch) in pixels.zip(patches.chunks_exact_mut(self.row_len)) {
            let (line, column) = (pixel / columns.output, pixel % columns.output);
            let (image, row) = (line / rows.output, line % rows.output);
            // Taps that lie side by side in the image.
            let inside = columns.taps(column);
            let is_dense = columns.dilation == 1;
            let mut lines = patch.chunks_exact_mut(columns.size * channels);
            for row_tap in 0..rows.size {
                let Some(line) = lines.next() else {
                    break;
                };
                let Some(source_row) = rows.source(row, row_tap) else {
                    line.fill(padding);
                    continue;
                };
                let source = (image * rows.input + source_row) * columns.input;
                line[..inside.start * channels].fill(padding);
                line[inside.end * channels..].fill(padding);
                let first = columns.source(column, inside.start);
                if is_dense && let Some(first) = first {
                    let from = &operands.input[(source + first) * channels..];
                    let to = &mut line[inside.start * channels..inside.end * channels];
                    copy(&from[..to.len()], to, operands.flip);
                    continue;
                }
                for tap in inside.clone() {
                    if let Some(place) = columns.source(column, tap) {
                        let from = &operands.input[(source + place) * channels..][..channels];
                        let to = &mut line[tap * channels..][..channels];
                        copy(from, to, operands.flip);
                    }
                }
            }
            // Numbers of the filter are zero there.
            patch[self.window_len..].fill(0);
        }
    }
}

/// Copies bytes, and inverts the bits of `flip`.
#[inline(always)]
fn copy(from: &[u8], to: &mut [u8], flip: u8) {
    if flip == 0 {
        to.copy_from_slice(from);
        return;
    }
    for (to, &from) in to.iter_mut().zip(from) {
        *to = from ^ flip;
    }
}

impl ByteConvolution {
    fn check_input(&self, operands: ByteOperands<'_>) -> Result<(), ComputeError> {
        let ByteOperands { input, filter, .. } = operands;
        check_len("bytes", "input", self.shape.input_len(), input.len())?;
        check_len(
            "bytes",
            "packed filter",
            self.packed_filter_len(),
            filter.len(),
        )?;
        let channels = self.shape.out_channels;
        check_len("bytes", "starts", channels, operands.starts.len())
    }

    /// Returns `true` if the patches of some operands are copied.
    fn copies(&self, operands: &ByteOperands<'_>) -> bool {
        !self.reads_in_place() || operands.flip != 0
    }

    /// Computes the sums of a block. `store` is given the sums of the filters of a panel for a
    /// pixel: the number of the pixel, the filters, the sums, and the patch.
    #[inline(always)]
    fn for_each_sum(
        &self,
        block: usize,
        operands: ByteOperands<'_>,
        workspace: &mut [u8],
        mut store: impl FnMut(usize, Range<usize>, &[i32; LANES], &[u8]),
    ) {
        if self.shape.output_len() == 0 {
            return;
        }
        let channels = self.shape.out_channels;
        let pixels = self.shape.batch * self.shape.pixels();
        let pixels = share(pixels, self.pixel_blocks, block / self.panel_blocks);
        let panels = channels.div_ceil(LANES);
        let panels = share(panels, self.panel_blocks, block % self.panel_blocks);
        let copies = self.copies(&operands);
        for first in pixels.clone().step_by(self.chunk_pixels) {
            let chunk = first..(first + self.chunk_pixels).min(pixels.end);
            let patches = if copies {
                let patches = &mut workspace[..chunk.len() * self.row_len];
                vectorised(
                    #[inline(always)]
                    || self.gather(&operands, chunk.clone(), patches),
                );
                &*patches
            } else {
                &operands.input[chunk.start * self.row_len..chunk.end * self.row_len]
            };
            for panel in panels.clone() {
                let filters = panel * LANES..((panel + 1) * LANES).min(channels);
                let panel_len = self.row_len * LANES;
                let packed = &operands.filter[panel * panel_len..][..panel_len];
                for tile in chunk.clone().step_by(MAX_ROWS) {
                    let rows = MAX_ROWS.min(chunk.end - tile);
                    let patches = &patches[(tile - chunk.start) * self.row_len..];
                    let patches = &patches[..rows * self.row_len];
                    let mut sums: Sums = [[0; LANES]; MAX_ROWS];
                    tile::sums(patches, self.row_len, packed, &mut sums[..rows]);
                    for (row, sums) in sums[..rows].iter().enumerate() {
                        let patch = &patches[row * self.row_len..][..self.row_len];
                        store(tile + row, filters.clone(), sums, patch);
                    }
                }
            }
        }
    }
}

// SAFETY: 1. A block's elements are the filters of its share of panels in its share of pixels: a
// partition of the output (`share`). 2. `blocks` is computed from fields that do not change.
#[expect(unsafe_code, reason = "the trait promises disjoint blocks")]
unsafe impl Plan for ByteConvolution {
    type Element = u8;
    type Operands<'a> = ByteOperands<'a>;

    fn name(&self) -> &'static str {
        "bytes"
    }

    fn blocks(&self) -> usize {
        self.pixel_blocks * self.panel_blocks
    }

    fn output_len(&self) -> usize {
        self.shape.output_len()
    }

    fn workspace_len(&self) -> usize {
        if self.output_len() == 0 {
            return 0;
        }
        self.chunk_pixels * self.row_len
    }

    fn check(&self, operands: Self::Operands<'_>) -> Result<(), ComputeError> {
        self.check_input(operands)?;
        let channels = self.shape.out_channels;
        check_len("bytes", "filter zeros", 0, operands.filter_zeros.len())?;
        check_len("bytes", "factors", channels, operands.factors.len())
    }

    fn compute(
        &self,
        block: usize,
        operands: Self::Operands<'_>,
        output: &SharedSlice<'_, u8>,
        workspace: &mut [u8],
    ) {
        let channels = self.shape.out_channels;
        self.for_each_sum(block, operands, workspace, |pixel, filters, sums, _| {
            let (first, last) = (
                pixel * channels + filters.start,
                pixel * channels + filters.end,
            );
            // SAFETY: the pixel and the filters are of this block's share (duty 1 of `Plan`); a
            // slice lives for this pass only.
            #[expect(unsafe_code, reason = "rows of a block are not contiguous")]
            let bytes = unsafe { output.slice_mut(first..last) };
            let (starts, factors) = (
                &operands.starts[filters.clone()],
                &operands.factors[filters],
            );
            store(&operands.requantization, sums, starts, factors, bytes);
        });
    }
}

/// The plan of a convolution of bytes whose output are the sums.
///
/// ```
/// use tfrt_compute::convolution::{Conv2dShape, Padding, Window};
/// use tfrt_compute::job::Plan;
/// use tfrt_compute::parallel::Serial;
/// use tfrt_compute::quantized::{ByteConvolution, ByteOperands, ByteSums};
///
/// let one = Window::new(1, 1, 1, 1, Padding::Valid)?;
/// let plan = ByteConvolution::new(Conv2dShape::new(1, one, one, 2, 1)?, 1)?;
/// let mut filter = vec![0; plan.packed_filter_len()];
/// plan.pack_filter(|place, _| [3, -1][place], &mut filter)?;
///
/// let plan = ByteSums::new(plan);
/// // Without its zero point, the filter has the numbers 2 and -2.
/// let operands = ByteOperands::of_sums(&[10, 200], &filter, &[5]).filter_zeros(&[1]);
/// let mut sums = [0];
/// plan.run(&Serial, operands, &mut sums, &mut [])?;
/// assert_eq!(sums, [5 + 20 - 400]);
/// # Ok::<(), tfrt_compute::ComputeError>(())
/// ```
#[derive(Clone, Debug)]
pub struct ByteSums(ByteConvolution);

impl ByteSums {
    /// Creates the plan from that of the same convolution into bytes.
    #[must_use]
    pub fn new(convolution: ByteConvolution) -> Self {
        Self(convolution)
    }

    /// Returns the plan of the same convolution into bytes.
    #[must_use]
    pub fn convolution(&self) -> &ByteConvolution {
        &self.0
    }
}

// SAFETY: the blocks are those of the `ByteConvolution`, see there.
#[expect(unsafe_code, reason = "the trait promises disjoint blocks")]
unsafe impl Plan for ByteSums {
    type Element = i32;
    type Operands<'a> = ByteOperands<'a>;

    fn name(&self) -> &'static str {
        "byte sums"
    }

    fn blocks(&self) -> usize {
        self.0.blocks()
    }

    fn output_len(&self) -> usize {
        self.0.output_len()
    }

    fn workspace_len(&self) -> usize {
        0
    }

    fn check(&self, operands: Self::Operands<'_>) -> Result<(), ComputeError> {
        self.0.check_input(operands)?;
        let (channels, zeros) = (self.0.shape.out_channels, operands.filter_zeros);
        match zeros.is_empty() {
            true => Ok(()),
            false => check_len("bytes", "filter zeros", channels, zeros.len()),
        }
    }

    fn compute(
        &self,
        block: usize,
        operands: Self::Operands<'_>,
        output: &SharedSlice<'_, i32>,
        _workspace: &mut [i32],
    ) {
        // Patches are bytes, which the workspace does not have.
        let mut patches = match self.0.copies(&operands) {
            true => vec![0; self.0.workspace_len()],
            false => Vec::new(),
        };
        let channels = self.0.shape.out_channels;
        self.0.for_each_sum(
            block,
            operands,
            &mut patches,
            |pixel, filters, sums, patch| {
                let (first, last) = (
                    pixel * channels + filters.start,
                    pixel * channels + filters.end,
                );
                // SAFETY: as in `ByteConvolution`.
                #[expect(unsafe_code, reason = "rows of a block are not contiguous")]
                let output = unsafe { output.slice_mut(first..last) };
                let starts = &operands.starts[filters.clone()];
                for ((out, &sum), &start) in output.iter_mut().zip(sums).zip(starts) {
                    *out = sum.wrapping_add(start);
                }
                if operands.filter_zeros.is_empty() {
                    return;
                }
                let of_patch = sum_of(patch);
                for (out, &zero) in output.iter_mut().zip(&operands.filter_zeros[filters]) {
                    *out = out.wrapping_sub(of_patch.wrapping_mul(zero));
                }
            },
        );
    }
}

/// Returns the sum of bytes.
fn sum_of(bytes: &[u8]) -> i32 {
    vectorised(
        #[inline(always)]
        || {
            let numbers = bytes.iter().map(|&byte| i32::from(byte));
            numbers.fold(0, i32::wrapping_add)
        },
    )
}

/// Stores sums as bytes.
fn store(
    requantization: &Requantization,
    sums: &[i32; LANES],
    starts: &[i32],
    factors: &[f32],
    bytes: &mut [u8],
) {
    vectorised(
        #[inline(always)]
        || {
            let numbers = sums.iter().zip(starts).zip(factors);
            for (byte, ((&sum, &start), &factor)) in bytes.iter_mut().zip(numbers) {
                *byte = requantization.byte(sum.wrapping_add(start), factor);
            }
        },
    );
}

#[cfg(test)]
mod tests;
