//! Convolutions of images whose channels come before their planes, over any number of dimensions
//! and in any number of groups.
//!
//! In single precision, some filters F of a group are multiplied with the pixels under their taps,
//! tile by tile of the output's planes:
//!
//! ```text
//!   filters [F, channels · taps] × columns [channels · taps, places of a tile] ─► a tile of F planes
//! ```
//!
//! A tile is so small that its columns stay in the second-level cache, unless filters are large.
//! The division depends on the shape alone, and so does the result.

use std::ops::Range;

use tfrt::prelude::*;
use tfrt_compute::ComputeError;
use tfrt_compute::job::Plan;
use tfrt_compute::matmul::{Matmul, MatmulOperands, MatmulShape};
use tfrt_compute::parallel::Serial;
use tfrt_kernels::numeric::try_start_rows;
use tfrt_tensor::DenseHostTensor;

use super::{Axis, for_each_window};
use crate::allocate;
use crate::number::{Number, with_real};

/// The number of elements of the columns of a tile: 256 KiB.
const TILE_LEN: usize = 64 << 10;

/// The least number of places of a tile.
const MIN_TILE_PLACES: usize = 64;

/// The same if one place has more than [`TILE_LEN`] products.
const MIN_DEEP_TILE_PLACES: usize = 16;

/// The number of parts of the work, if the filters divide so. Each thread computes some of them.
const NUM_PARTS: usize = 16;

/// The most filters of a part, unless there are more than [`NUM_PARTS`] times as many. Each part
/// copies the pixels under its taps again, so that smaller parts take longer together.
const PART_FILTERS: usize = 32;

/// The least number of filters of a part, if those of a group are divided.
const MIN_FILTERS: usize = 8;

/// The most elements of an operand of windows of one pixel that is multiplied as it is, not in
/// tiles: the product copies it.
const MAX_WHOLE_LEN: usize = 1 << 20;

/// A convolution.
#[derive(Clone, Debug)]
pub(super) struct PlaneConv {
    pub(super) batch: usize,
    pub(super) channels: usize,
    pub(super) filters: usize,
    pub(super) group: usize,
    pub(super) axes: Vec<Axis>,
}

impl PlaneConv {
    /// Starts the convolution of `x` with the filters `w` into `y`, all of which have the right
    /// shapes.
    pub(super) fn start(
        self,
        [x, w]: [&DenseHostTensor; 2],
        bias: Option<&DenseHostTensor>,
        y: &mut DenseHostTensor,
        ctx: &ExecutionContext,
    ) -> Result<AsyncValueRef<Chain>> {
        let (x, w) = (x.elements_owned::<f32>()?, w.elements_owned::<f32>()?);
        let bias = bias
            .map(DenseHostTensor::elements_owned::<f32>)
            .transpose()?;
        let num_filters = self.filters_at_a_time();
        let places = self.places();
        let (row_len, operations) = (
            num_filters * places,
            y.num_elements().saturating_mul(self.depth()),
        );
        let plan = Matmul::<f32>::new(
            MatmulShape::new(num_filters, self.tile_places(), self.depth()),
            1,
        )?;
        let output = y.elements_mut_owned::<f32>()?;
        try_start_rows(ctx, output, row_len, operations, move |rows, part| {
            let mut memory = TileMemory::new(&self, &plan);
            for (row, planes) in rows.zip(part.chunks_exact_mut(row_len)) {
                let bias = bias.as_deref();
                self.multiply(row, [&x, &w], bias, planes, (&plan, &mut memory))?;
            }
            Ok(())
        })
    }

    /// Computes the convolution of any real type, by its definition.
    pub(super) fn by_definition(
        &self,
        [x, w]: [&DenseHostTensor; 2],
        bias: Option<&DenseHostTensor>,
        dims: &[usize],
        ctx: &ExecutionContext,
    ) -> Result<DenseHostTensor> {
        let Self {
            batch,
            channels,
            filters,
            group,
            ..
        } = *self;
        let per_group = channels / group;
        with_real!("nn.Conv", x.dtype(), T => {
            let (from, w) = (x.elements::<T>()?, w.elements::<T>()?);
            let bias = bias.map(DenseHostTensor::elements::<T>).transpose()?;
            let mut y = allocate(ctx, x.dtype(), dims)?;
            if y.num_elements() == 0 {
                return Ok(y);
            }
            let (pixels, places, taps) = (self.pixels(), self.places(), self.taps());
            let mut to = y.elements_mut::<T>()?;
            for_each_window(&self.axes, |output, window| {
                for image in 0..batch {
                    for filter in 0..filters {
                        let first = filter / (filters / group) * per_group;
                        let mut sum = bias.as_ref().map_or(0.0, |bias| bias[filter].to_f64());
                        for channel in 0..per_group {
                            let plane = (image * channels + first + channel) * pixels;
                            let kernel = (filter * per_group + channel) * taps;
                            sum += window.iter().map(|&(tap, place)| {
                                from[plane + place].to_f64() * w[kernel + tap].to_f64()
                            }).sum::<f64>();
                        }
                        to[(image * filters + filter) * places + output] = T::of_f64(sum);
                    }
                }
            });
            drop(to);
            Ok(y)
        })
    }

    fn places(&self) -> usize {
        self.axes.iter().map(|axis| axis.output).product()
    }

    fn pixels(&self) -> usize {
        self.axes.iter().map(|axis| axis.input).product()
    }

    fn taps(&self) -> usize {
        let sizes = self.axes.iter().map(|axis| axis.size);
        sizes.fold(1, usize::saturating_mul)
    }

    /// Returns the number of products of an element of the output.
    fn depth(&self) -> usize {
        match self.channels / self.group {
            0 => 0,
            channels => channels * self.taps(),
        }
    }

    /// Returns the number of filters of a product: a divisor of those of a group.
    fn filters_at_a_time(&self) -> usize {
        let all = self.filters / self.group;
        // Whole groups keep a few threads busy, and copy their pixels only once.
        if self.batch * self.group >= NUM_PARTS / 4 {
            return all;
        }
        let most = (all / NUM_PARTS).max(PART_FILTERS);
        let mut divisors = (MIN_FILTERS..=most).rev();
        let divisor = divisors.find(|&count| all.is_multiple_of(count));
        divisor.filter(|_| all > 0).unwrap_or(all)
    }

    /// Returns `true` if windows of one pixel read the input where it lies.
    fn reads_in_place(&self) -> bool {
        let is_pointwise = self.axes.iter().all(|axis| {
            axis.size == 1 && axis.stride == 1 && axis.before == 0 && axis.output == axis.input
        });
        is_pointwise && self.depth().saturating_mul(self.places()) <= MAX_WHOLE_LEN
    }

    fn tile_places(&self) -> usize {
        if self.reads_in_place() {
            return self.places();
        }
        let fitting = match TILE_LEN / self.depth().max(1) {
            0 => MIN_DEEP_TILE_PLACES,
            places => places.max(MIN_TILE_PLACES).next_multiple_of(16),
        };
        fitting.min(self.places())
    }

    /// Computes the planes of some filters of one image.
    fn multiply(
        &self,
        row: usize,
        [x, w]: [&[f32]; 2],
        bias: Option<&[f32]>,
        planes: &mut [f32],
        (plan, memory): (&Matmul<f32>, &mut TileMemory),
    ) -> Result<(), ComputeError> {
        let (places, pixels, depth) = (self.places(), self.pixels(), self.depth());
        let num_filters = planes.len() / places;
        let rows_of_image = self.filters / num_filters;
        let (image, filter) = (row / rows_of_image, row % rows_of_image * num_filters);
        let (in_group, out_group) = (self.channels / self.group, self.filters / self.group);
        let channel = image * self.channels + filter / out_group * in_group;
        let x = &x[channel * pixels..][..in_group * pixels];
        let w = &w[filter * depth..][..num_filters * depth];
        let bias = |number: usize| bias.map_or(0.0, |bias| bias[filter + number]);
        let tile_places = plan.shape().n;
        if self.reads_in_place() {
            for (number, plane) in planes.chunks_exact_mut(places).enumerate() {
                plane.fill(bias(number));
            }
            let operands = MatmulOperands::new(w, x).beta(1.0);
            return plan.run(&Serial, operands, planes, &mut memory.workspace);
        }
        for start in (0..places).step_by(tile_places.max(1)) {
            let tile = start..places.min(start + tile_places);
            self.gather(x, tile.clone(), memory);
            for (number, sums) in memory.sums.chunks_exact_mut(tile_places).enumerate() {
                sums.fill(bias(number));
            }
            let operands = MatmulOperands::new(w, &memory.columns).beta(1.0);
            plan.run(&Serial, operands, &mut memory.sums, &mut memory.workspace)?;
            let rows = memory.sums.chunks_exact(tile_places);
            for (plane, sums) in planes.chunks_exact_mut(places).zip(rows) {
                plane[tile.clone()].copy_from_slice(&sums[..tile.len()]);
            }
        }
        Ok(())
    }

    /// Copies the pixels under the taps of a tile's windows: a row for each tap of each channel.
    /// Padding is zeros.
    fn gather(&self, x: &[f32], tile: Range<usize>, memory: &mut TileMemory) {
        let Some((last, outer)) = self.axes.split_last() else {
            return;
        };
        if self.depth() == 0 {
            return;
        }
        let (pixels, taps, tile_places) = (self.pixels(), self.taps(), memory.tile_places);
        let TileMemory { columns, lines, .. } = memory;
        for outer_tap in 0..taps / last.size {
            lines.clear();
            let mut place = tile.start;
            while place < tile.end {
                let column = place % last.output;
                let end = tile.end.min(place - column + last.output);
                lines.push(Line {
                    places: place - tile.start..end - tile.start,
                    column,
                    source: source_line(outer, place / last.output, outer_tap)
                        .map(|line| line * last.input),
                });
                place = end;
            }
            for (channel, plane) in x.chunks_exact(pixels.max(1)).enumerate() {
                for tap in 0..last.size {
                    let row = channel * taps + outer_tap * last.size + tap;
                    let row = &mut columns[row * tile_places..][..tile_places];
                    let inside = last.windows_inside(tap);
                    for line in &*lines {
                        let to = &mut row[line.places.clone()];
                        match line.source {
                            Some(start) => {
                                let from = &plane[start..][..last.input];
                                copy_line((inside.clone(), last.stride), line.column, from, to);
                            }
                            None => to.fill(0.0),
                        }
                    }
                }
            }
        }
    }
}

/// What a thread needs for its tiles.
struct TileMemory {
    tile_places: usize,
    columns: Vec<f32>,
    sums: Vec<f32>,
    workspace: Vec<f32>,
    lines: Vec<Line>,
}

/// The part of a tile within a line of the output, along the last dimension.
struct Line {
    /// Where it is in the tile.
    places: Range<usize>,
    /// Where it begins in the line.
    column: usize,
    /// Where the input line that the tap reads begins; `None` in the padding.
    source: Option<usize>,
}

impl TileMemory {
    fn new(conv: &PlaneConv, plan: &Matmul<f32>) -> Self {
        let shape = plan.shape();
        let num_places = match conv.reads_in_place() {
            true => 0,
            false => shape.n,
        };
        Self {
            tile_places: shape.n,
            // The last tile may have fewer places: what is left of earlier ones is not used.
            columns: vec![0.0; conv.depth() * num_places],
            sums: vec![0.0; shape.m * num_places],
            workspace: vec![0.0; plan.workspace_len() * plan.blocks()],
            lines: Vec::new(),
        }
    }
}

/// Returns the number of the input's line that a tap reads for a line of the output. Lines and taps
/// are counted over all dimensions but the last one.
fn source_line(axes: &[Axis], mut output_line: usize, mut tap: usize) -> Option<usize> {
    let (mut line, mut step) = (0, 1);
    for axis in axes.iter().rev() {
        let source = axis.source(output_line % axis.output, tap % axis.size)?;
        line += source * step;
        step *= axis.input;
        output_line /= axis.output;
        tap /= axis.size;
    }
    Some(line)
}

/// Copies what a tap reads from a line of the input, for neighbouring places from `column` on.
/// Padding is zeros.
fn copy_line(
    ((inside, source), stride): ((Range<usize>, usize), usize),
    column: usize,
    line: &[f32],
    to: &mut [f32],
) {
    let end = column + to.len();
    let first = inside.start.clamp(column, end);
    let last = inside.end.clamp(first, end);
    to[..first - column].fill(0.0);
    to[last - column..].fill(0.0);
    let to = &mut to[first - column..last - column];
    if to.is_empty() {
        return;
    }
    let line = &line[source + (first - inside.start) * stride..];
    match stride {
        1 => to.copy_from_slice(&line[..to.len()]),
        stride => {
            for (to, from) in to.iter_mut().zip(line.iter().step_by(stride)) {
                *to = *from;
            }
        }
    }
}
