//! Convolutions with 3 × 3 filters and a quarter of the multiplications: Winograd's minimal
//! filtering, `F(4×4, 3×3)`.
//!
//! 4 × 4 outputs come from a tile of 6 × 6 inputs. Both tile and filter are transformed to 6 × 6
//! numbers, whose 36 products (summed over the input channels) are transformed back:
//!
//! ```text
//!   tiles ──Bᵀ·d·B──► 36 × [tiles, in]  ·  36 × [in, out] ◄──G·g·Gᵀ── filter (once, when it is packed)
//!                             └────── = 36 × [tiles, out] ──Aᵀ·m·A──► 4 × 4 outputs of each tile
//! ```
//!
//! The transforms are those of the points 0, ±1, ±2, ∞. They subtract numbers of similar size,
//! which costs digits. This is the price of the speed, and the reason why the caller must choose
//! this plan explicitly.

use std::ops::Range;

use pulp::{NullaryFnOnce, Simd, WithSimd};
use tfrt_support::share::{share, shares};

use super::operands::{ConvolutionOperands, Filter};
use super::shape::Conv2dShape;
use crate::error::{ComputeError, check_len};
use crate::job::{Plan, SharedSlice};
use crate::lanes::{Lanes, dispatch, vectorised};
use crate::parallel::block_count;
use crate::tile::{self, Clamp, Epilogue, MAX_ROWS, PanelLayout, Tile};

/// Outputs of a tile along each axis.
const OUT: usize = 4;

/// Inputs of a tile along each axis, and products.
const SIDE: usize = 6;

/// Products of a tile.
const PRODUCTS: usize = SIDE * SIDE;

/// Filters that are transformed together.
const FILTERS: usize = 16;

/// The plan of a convolution of 3 × 3 windows with stride 1: faster than
/// [`Convolution`](super::Convolution), but less exact.
///
/// # Accuracy
/// With `in` input channels and `u = in · ε · max|input| · max|filter|`: on random data, errors are
/// below 256 `u`, which is 2 to 25 times those of the direct convolution; on the worst data, the
/// sums of the transforms' coefficients, 10² · 1² · 19², allow 36100 `u`.
///
/// ```
/// use tfrt_compute::convolution::{Conv2dShape, ConvolutionOperands, Padding, Window, Winograd};
/// use tfrt_compute::job::Plan;
/// use tfrt_compute::parallel::Serial;
///
/// let window = Window::new(4, 3, 1, 1, Padding::Same)?;
/// let plan = Winograd::new(Conv2dShape::new(1, window, window, 1, 1)?, 1)?;
/// let mut filter = vec![0.0; plan.packed_filter_len()];
/// plan.pack_filter(&[0.0, 0.0, 0.0, 0.0, 2.0, 0.0, 0.0, 0.0, 0.0], &mut filter)?;
///
/// let input: Vec<f32> = (0..16).map(|pixel| pixel as f32).collect();
/// let mut output = [0.0; 16];
/// let mut workspace = vec![0.0; plan.workspace_len() * plan.blocks()];
/// plan.run(&Serial, ConvolutionOperands::new(&input, &filter), &mut output, &mut workspace)?;
/// assert!(input.iter().zip(output).all(|(x, y)| (2.0 * x - y).abs() < 1e-4));
/// # Ok::<(), tfrt_compute::ComputeError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Winograd {
    shape: Conv2dShape,
    /// The layout of each of the 36 transformed filters.
    panels: PanelLayout,
    /// Tiles of a row of tiles, and of an image.
    tile_columns: usize,
    tiles: usize,
    /// Blocks over the tiles of one image.
    tile_blocks: usize,
    /// Blocks over the panels.
    panel_blocks: usize,
}

/// Tiles that are transformed before their products are computed: the filters are read once for so
/// many, whose transforms are still in the cache when they are needed.
const MAX_TILES: usize = 48;

impl Winograd {
    /// Plans a convolution for at most `width` threads.
    ///
    /// # Errors
    /// If the window is not 3 × 3 with stride and dilation 1, or the transformed filter cannot be
    /// addressed.
    pub fn new(shape: Conv2dShape, width: usize) -> Result<Self, ComputeError> {
        for window in [shape.rows, shape.columns] {
            let found = [window.size, window.stride, window.dilation];
            if found != [3, 1, 1] {
                return Err(ComputeError::new(format!(
                    "winograd: expected a window of size 3, stride 1 and dilation 1, found \
                     {found:?}"
                )));
            }
        }
        let panels = PanelLayout::new::<f32>(shape.in_channels, shape.out_channels);
        let tile_columns = shape.columns.output.div_ceil(OUT);
        let tiles = shape.rows.output.div_ceil(OUT) * tile_columns;
        crate::error::checked_product(
            "winograd",
            &[PRODUCTS, shape.in_channels, panels.panels(), panels.width],
        )?;
        crate::error::checked_product(
            "winograd",
            &[PRODUCTS, tiles, shape.in_channels.max(shape.out_channels)],
        )?;
        let blocks =
            block_count(width, usize::MAX, shape.operations() / 4).div_ceil(shape.batch.max(1));
        let tile_blocks = blocks.min(tiles / (2 * MAX_ROWS)).max(1);
        let panel_blocks = blocks
            .div_ceil(tile_blocks)
            .clamp(1, panels.panels().max(1));
        Ok(Self {
            shape,
            panels,
            tile_columns,
            tiles,
            tile_blocks,
            panel_blocks,
        })
    }

    /// Returns `true` if this is faster than the direct convolution: there are enough channels to
    /// hide the transforms, and enough pixels to compensate for reading four times as many numbers
    /// of the filter.
    #[must_use]
    pub fn suits(shape: &Conv2dShape) -> bool {
        let has_window = [shape.rows, shape.columns]
            .iter()
            .all(|window| (window.size, window.stride, window.dilation) == (3, 1, 1));
        let channels = shape.in_channels.min(shape.out_channels);
        has_window && channels >= 32 && shape.rows.output >= 10 && shape.columns.output >= 10
    }

    /// Returns the shape.
    #[must_use]
    pub fn shape(&self) -> &Conv2dShape {
        &self.shape
    }

    /// Returns the number of elements of the packed filter: four times that of the filter. The
    /// layout depends on the processor: do not store it in files.
    #[must_use]
    pub fn packed_filter_len(&self) -> usize {
        PRODUCTS * self.panels.len()
    }

    /// Transforms a filter `[3, 3, in_channels, out_channels]`, in double precision.
    ///
    /// # Errors
    /// If a slice does not have the right length.
    pub fn pack_filter(&self, filter: &[f32], packed: &mut [f32]) -> Result<(), ComputeError> {
        check_len("winograd", "filter", self.shape.filter_len(), filter.len())?;
        check_len(
            "winograd",
            "packed filter",
            self.packed_filter_len(),
            packed.len(),
        )?;
        vectorised(
            #[inline(always)]
            || self.transform_filters(filter, packed),
        );
        Ok(())
    }

    /// Transforms filters, [`FILTERS`] at a time: so many products are a line of the cache, which
    /// is written as a whole. The lines of the 36 products are often a power of two apart, so that
    /// they displace each other.
    #[inline(always)]
    fn transform_filters(&self, filter: &[f32], packed: &mut [f32]) {
        let (channels, out_channels) = (self.shape.in_channels, self.shape.out_channels);
        let (width, len) = (self.panels.width, self.panels.len());
        let mut products = [[0.0; FILTERS]; PRODUCTS];
        for panel in 0..self.panels.panels() {
            for channel in 0..channels {
                let place = panel * self.panels.panel_len() + channel * width;
                for first in (0..width).step_by(FILTERS) {
                    let stored = FILTERS.min(width - first);
                    let given = stored.min(out_channels.saturating_sub(panel * width + first));
                    let mut taps = [[0.0; FILTERS]; 9];
                    for (tap, weights) in taps.iter_mut().enumerate() {
                        let from = (tap * channels + channel) * out_channels;
                        let from = &filter[from..][..out_channels];
                        let from = from.get(panel * width + first..).unwrap_or_default();
                        for (to, &weight) in weights[..given].iter_mut().zip(from) {
                            *to = f64::from(weight);
                        }
                    }
                    transform_taps(&taps, &mut products);
                    for (product, numbers) in products.iter().enumerate() {
                        packed[product * len + place + first..][..stored]
                            .copy_from_slice(&numbers[..stored]);
                    }
                }
            }
        }
    }

    /// Returns the number of tiles that a block transforms at a time.
    fn chunk_tiles(&self) -> usize {
        self.tiles.div_ceil(self.tile_blocks).min(MAX_TILES)
    }

    /// Returns the number of elements of the transformed inputs of a chunk.
    fn transformed_len(&self) -> usize {
        PRODUCTS * self.chunk_tiles() * self.shape.in_channels
    }

    /// Returns the maximum number of output channels that a block computes.
    fn block_channels(&self) -> usize {
        (self.panels.panels().div_ceil(self.panel_blocks) * self.panels.width)
            .min(self.shape.out_channels)
    }
}

/// A number for each of some filters.
type PerFilter<T> = [T; FILTERS];

/// Writes `G · g · Gᵀ` of the taps of some filters, row by row.
#[inline(always)]
fn transform_taps(taps: &[PerFilter<f64>; 9], products: &mut [PerFilter<f32>; PRODUCTS]) {
    let mut lines = [[[0.0; FILTERS]; SIDE]; 3];
    for (column, line) in lines.iter_mut().enumerate() {
        transform_filter([&taps[column], &taps[3 + column], &taps[6 + column]], line);
    }
    let mut numbers = [[0.0; FILTERS]; SIDE];
    for (row, products) in products.chunks_exact_mut(SIDE).enumerate() {
        transform_filter(
            [&lines[0][row], &lines[1][row], &lines[2][row]],
            &mut numbers,
        );
        for (products, numbers) in products.iter_mut().zip(&numbers) {
            for (product, &number) in products.iter_mut().zip(numbers) {
                *product = number as f32;
            }
        }
    }
}

/// Writes `G · g` for one column of some filters. Products with reciprocals take a fraction of the
/// time of quotients, and differ from them in the last digit of double precision.
#[inline(always)]
fn transform_filter(g: [&PerFilter<f64>; 3], transformed: &mut [PerFilter<f64>; SIDE]) {
    for filter in 0..FILTERS {
        let g = [g[0][filter], g[1][filter], g[2][filter]];
        let (even, odd) = (g[0] + g[2], g[1]);
        let far_even = g[0] * (1.0 / 24.0) + g[2] * (1.0 / 6.0);
        let far_odd = g[1] * (1.0 / 12.0);
        transformed[0][filter] = g[0] * 0.25;
        transformed[1][filter] = (even + odd) * (-1.0 / 6.0);
        transformed[2][filter] = (odd - even) * (1.0 / 6.0);
        transformed[3][filter] = far_even + far_odd;
        transformed[4][filter] = far_even - far_odd;
        transformed[5][filter] = g[2];
    }
}

// SAFETY: 1. A block's elements are the channels of its share of panels in the pixels of its share
// of tiles of its image: a partition of the output (`share`), as tiles do not overlap in it. 2.
// `blocks` is computed from fields that do not change.
#[expect(unsafe_code, reason = "the trait promises disjoint blocks")]
unsafe impl Plan for Winograd {
    type Element = f32;
    type Operands<'a> = ConvolutionOperands<'a>;

    fn name(&self) -> &'static str {
        "winograd"
    }

    fn blocks(&self) -> usize {
        self.shape.batch.max(1) * self.tile_blocks * self.panel_blocks
    }

    fn output_len(&self) -> usize {
        self.shape.output_len()
    }

    fn workspace_len(&self) -> usize {
        self.transformed_len() + PRODUCTS * self.chunk_tiles() * self.block_channels()
    }

    fn check(&self, operands: Self::Operands<'_>) -> Result<(), ComputeError> {
        check_len(
            "winograd",
            "input",
            self.shape.input_len(),
            operands.input.len(),
        )?;
        let Filter::Packed(filter) = operands.filter else {
            return Err(ComputeError::new(
                "winograd: expected a packed filter, found an unpacked one",
            ));
        };
        check_len(
            "winograd",
            "packed filter",
            self.packed_filter_len(),
            filter.len(),
        )?;
        for (name, values) in [("scale", operands.scale), ("shift", operands.shift)] {
            if let Some(values) = values {
                check_len("winograd", name, self.shape.out_channels, values.len())?;
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
        let Filter::Packed(filter) = operands.filter else {
            unreachable!("`check` has refused filters that are not packed");
        };
        let panel_block = block % self.panel_blocks;
        let tile_block = block / self.panel_blocks % self.tile_blocks;
        let image = block / self.panel_blocks / self.tile_blocks;
        let panels = share(self.panels.panels(), self.panel_blocks, panel_block);
        let width = self.panels.width;
        let (transformed, products) = workspace.split_at_mut(self.transformed_len());
        let tiles = share(self.tiles, self.tile_blocks, tile_block);
        let chunks = tiles.len().div_ceil(MAX_TILES);
        for chunk in 0..chunks {
            let chunk = share(tiles.len(), chunks, chunk);
            let channels = panels.start * width..(panels.end * width).min(self.shape.out_channels);
            dispatch(Chunk {
                plan: self,
                operands,
                filter,
                image,
                tiles: tiles.start + chunk.start..tiles.start + chunk.end,
                panels: panels.clone(),
                channels,
                transformed,
                products,
                output,
            });
        }
    }
}

/// Some tiles of an image in some output channels, through all three steps.
struct Chunk<'a> {
    plan: &'a Winograd,
    operands: ConvolutionOperands<'a>,
    /// Transformed, and packed.
    filter: &'a [f32],
    image: usize,
    tiles: Range<usize>,
    panels: Range<usize>,
    channels: Range<usize>,
    /// `[36, tiles, in_channels]`.
    transformed: &'a mut [f32],
    /// `[36, tiles, channels]`.
    products: &'a mut [f32],
    output: &'a SharedSlice<'a, f32>,
}

impl WithSimd for Chunk<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(mut self, simd: S) {
        // Each step is a function of its own, so that its registers are its own.
        simd.vectorize(InOneFunction(simd, &mut self, transform_inputs));
        simd.vectorize(InOneFunction(simd, &mut self, multiply));
        simd.vectorize(InOneFunction(simd, &mut self, transform_outputs));
    }
}

struct InOneFunction<'a, 'b, S, F>(S, &'a mut Chunk<'b>, F);

impl<S: Simd, F: FnOnce(S, &mut Chunk<'_>)> NullaryFnOnce for InOneFunction<'_, '_, S, F> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        (self.2)(self.0, self.1);
    }
}

/// `Bᵀ · d · B` of each tile, for as many channels at a time as a register holds.
#[inline(always)]
fn transform_inputs<S: Simd>(simd: S, chunk: &mut Chunk<'_>) {
    let Winograd {
        shape,
        tile_columns,
        ..
    } = *chunk.plan;
    let (rows, columns, channels) = (shape.rows, shape.columns, shape.in_channels);
    let image = &chunk.operands.input[chunk.image * shape.image_len()..][..shape.image_len()];
    let plane = chunk.tiles.len() * channels;
    for (index, tile) in chunk.tiles.clone().enumerate() {
        let (top, left) = (tile / tile_columns * OUT, tile % tile_columns * OUT);
        // Where the pixels of the tile lie; those in the padding, or beyond it, nowhere.
        let pixels: [[Option<usize>; SIDE]; SIDE] = std::array::from_fn(|row| {
            let row = (top + row)
                .checked_sub(rows.before)
                .filter(|&row| row < rows.input);
            std::array::from_fn(|column| {
                let column = (left + column)
                    .checked_sub(columns.before)
                    .filter(|&column| column < columns.input);
                row.zip(column)
                    .map(|(row, column)| (row * columns.input + column) * channels)
            })
        });
        for channel in (0..channels).step_by(S::F32_LANES) {
            let len = S::F32_LANES.min(channels - channel);
            let mut lines = [[simd.splat_f32s(0.0); SIDE]; SIDE];
            for column in 0..SIDE {
                let mut d = [simd.splat_f32s(0.0); SIDE];
                for row in 0..SIDE {
                    if let Some(pixel) = pixels[row][column] {
                        d[row] = load(simd, &image[pixel + channel..][..len]);
                    }
                }
                for (line, value) in lines.iter_mut().zip(transform_input(simd, d)) {
                    line[column] = value;
                }
            }
            for (row, line) in lines.into_iter().enumerate() {
                for (column, value) in transform_input(simd, line).into_iter().enumerate() {
                    let place = (row * SIDE + column) * plane + index * channels + channel;
                    store(simd, &mut chunk.transformed[place..][..len], value);
                }
            }
        }
    }
}

/// `Bᵀ · d` for one column of a tile.
#[inline(always)]
fn transform_input<S: Simd>(simd: S, d: [S::f32s; SIDE]) -> [S::f32s; SIDE] {
    let scaled = |factor: f32, x, y| simd.mul_add_f32s(simd.splat_f32s(factor), x, y);
    // Pairs of points ±1 and ±2 share their even and odd parts.
    let (near_even, near_odd) = (scaled(-4.0, d[2], d[4]), scaled(-4.0, d[1], d[3]));
    let (far_even, far_odd) = (simd.sub_f32s(d[4], d[2]), simd.sub_f32s(d[3], d[1]));
    [
        scaled(4.0, d[0], scaled(-5.0, d[2], d[4])),
        simd.add_f32s(near_even, near_odd),
        simd.sub_f32s(near_even, near_odd),
        scaled(2.0, far_odd, far_even),
        scaled(-2.0, far_odd, far_even),
        scaled(4.0, d[1], scaled(-5.0, d[3], d[5])),
    ]
}

/// The 36 matrix products, on the micro-kernel.
#[inline(always)]
fn multiply<S: Simd>(simd: S, chunk: &mut Chunk<'_>) {
    let plan = chunk.plan;
    let (in_channels, width) = (plan.shape.in_channels, plan.panels.width);
    let (tiles, channels) = (chunk.tiles.len(), chunk.channels.len());
    let plain = Epilogue {
        alpha: 1.0,
        beta: 0.0,
        scale: None,
        shift: None,
        adds_output: false,
        clamp: Clamp::None,
    };
    let parts = tile::tile_count::<S>(tiles);
    let mut sums = tile::zeros::<S, f32>(simd);
    for product in 0..PRODUCTS {
        let data = &chunk.transformed[product * tiles * in_channels..][..tiles * in_channels];
        for panel in chunk.panels.clone() {
            let panel_len = plan.panels.panel_len();
            let rows_of = |product, panel| {
                let start = product * plan.panels.len() + panel * panel_len;
                &chunk.filter[start..][..panel_len]
            };
            let next = match (product + 1, panel + 1) {
                (_, next) if next < chunk.panels.end => rows_of(product, next),
                (next, _) if next < PRODUCTS => rows_of(next, chunk.panels.start),
                _ => &[],
            };
            let first = panel * width - chunk.channels.start;
            let len = width.min(channels - first);
            for (rows, part) in shares(tiles, parts).zip(shares(panel_len, parts)) {
                let micro = Tile {
                    data,
                    taps: &[0],
                    run: in_channels,
                    panel: rows_of(product, panel),
                    next: next.get(part).unwrap_or_default(),
                };
                let mut bases = [0; MAX_ROWS];
                bases
                    .iter_mut()
                    .zip(rows.clone())
                    .for_each(|(base, row)| *base = row * in_channels);
                tile::compute::<S, f32>(simd, &micro, &bases[..rows.len()], &mut sums);
                let place = (product * tiles + rows.start) * channels + first;
                let products = chunk.products[place..].chunks_mut(channels);
                if len == tile::panel_width::<S, f32>() {
                    for (products, sums) in products.zip(&sums[..rows.len()]) {
                        let len = tile::panel_width::<S, f32>();
                        plain.store(simd, sums, first, &mut products[..len]);
                    }
                } else {
                    for (products, sums) in products.zip(&sums[..rows.len()]) {
                        plain.store(simd, sums, first, &mut products[..len]);
                    }
                }
            }
        }
    }
}

/// `Aᵀ · m · A` of each tile, what is fused onto it, and the pixels that the image has.
#[inline(always)]
fn transform_outputs<S: Simd>(simd: S, chunk: &mut Chunk<'_>) {
    let Winograd {
        shape,
        tile_columns,
        ..
    } = *chunk.plan;
    let operands = chunk.operands;
    let epilogue = Epilogue {
        alpha: 1.0,
        beta: 0.0,
        scale: operands.scale,
        shift: operands.shift,
        adds_output: operands.adds_output,
        clamp: operands.activation.clamp(),
    };
    let channels = chunk.channels.len();
    let plane = chunk.tiles.len() * channels;
    for (index, tile) in chunk.tiles.clone().enumerate() {
        let (top, left) = (tile / tile_columns * OUT, tile % tile_columns * OUT);
        let (height, width) = (
            OUT.min(shape.rows.output - top),
            OUT.min(shape.columns.output - left),
        );
        for channel in (0..channels).step_by(S::F32_LANES) {
            let len = S::F32_LANES.min(channels - channel);
            let mut lines = [[simd.splat_f32s(0.0); SIDE]; OUT];
            for column in 0..SIDE {
                let mut m = [simd.splat_f32s(0.0); SIDE];
                for (row, m) in m.iter_mut().enumerate() {
                    let place = (row * SIDE + column) * plane + index * channels + channel;
                    *m = load(simd, &chunk.products[place..][..len]);
                }
                for (line, value) in lines.iter_mut().zip(transform_output(simd, m)) {
                    line[column] = value;
                }
            }
            let first = chunk.channels.start + channel;
            for (row, line) in lines.into_iter().enumerate().take(height) {
                for (column, value) in transform_output(simd, line)
                    .into_iter()
                    .enumerate()
                    .take(width)
                {
                    let line = (chunk.image * shape.rows.output + top + row) * shape.columns.output;
                    let start = (line + left + column) * shape.out_channels + first;
                    // SAFETY: the pixel is of a tile, and the channels are of the panels, of this
                    // block's share (duty 1 of `Plan`); each is visited once.
                    #[expect(unsafe_code, reason = "the pixels of a block are not contiguous")]
                    let elements = unsafe { chunk.output.slice_mut(start..start + len) };
                    epilogue.store(simd, &[value], first, elements);
                    operands.activation.finish(elements);
                }
            }
        }
    }
}

/// `Aᵀ · m` for one column of products.
#[inline(always)]
fn transform_output<S: Simd>(simd: S, m: [S::f32s; SIDE]) -> [S::f32s; OUT] {
    let scaled = |factor: f32, x, y| simd.mul_add_f32s(simd.splat_f32s(factor), x, y);
    let (near_even, near_odd) = (simd.add_f32s(m[1], m[2]), simd.sub_f32s(m[1], m[2]));
    let (far_even, far_odd) = (simd.add_f32s(m[3], m[4]), simd.sub_f32s(m[3], m[4]));
    [
        simd.add_f32s(m[0], simd.add_f32s(near_even, far_even)),
        scaled(2.0, far_odd, near_odd),
        scaled(4.0, far_even, near_even),
        simd.add_f32s(m[5], scaled(8.0, far_odd, near_odd)),
    ]
}

/// Returns a register of a slice's elements; missing elements are zero.
#[inline(always)]
fn load<S: Simd>(simd: S, slice: &[f32]) -> S::f32s {
    match f32::vectors::<S>(slice) {
        (&[vector], []) => vector,
        _ => simd.partial_load_f32s(slice),
    }
}

#[inline(always)]
fn store<S: Simd>(simd: S, slice: &mut [f32], value: S::f32s) {
    match f32::vectors_mut::<S>(slice) {
        ([vector], []) => *vector = value,
        _ => simd.partial_store_f32s(slice, value),
    }
}
