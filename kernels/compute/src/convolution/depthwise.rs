//! Depthwise convolution: every channel has a filter of its own.
//!
//! The sums of some neighbouring pixels, in some channels, are in registers while the taps of the
//! window pass. Pixels whose windows reach into padding are computed one by one.

use std::ops::Range;

use pulp::{Simd, WithSimd};

use super::shape::Conv2dShape;
use crate::activation::Activation;
use crate::error::{ComputeError, check_len};
use crate::lanes::{Lanes, dispatch};
use crate::tile::Clamp;

/// Registers of channels that are summed at a time.
const VECTORS: usize = 2;

/// Pixels that are summed at a time: they share the loads of the filter.
const PIXELS: usize = 4;

/// The columns of most windows.
const NARROW: usize = 3;

/// A depthwise convolution, line by line of the output.
///
/// # Shapes
/// Those of [`Conv2dShape`] with as many input as output channels, but the filter is
/// `[rows.size, columns.size, channels]`.
///
/// ```
/// use tfrt_compute::Activation;
/// use tfrt_compute::convolution::{Conv2dShape, Depthwise, Padding, Window};
///
/// let rows = Window::new(1, 1, 1, 1, Padding::Valid)?;
/// let columns = Window::new(3, 2, 1, 1, Padding::Valid)?;
/// let plan = Depthwise::new(Conv2dShape::new(1, rows, columns, 2, 2)?)?;
/// let (input, filter) = ([1.0, 10.0, 2.0, 20.0, 3.0, 30.0], [1.0, 1.0, 1.0, 0.5]);
/// let mut output = [0.0; 4];
/// plan.lines(&input, &filter, None, false, Activation::None, 0..1, &mut output)?;
/// assert_eq!(output, [3.0, 20.0, 5.0, 35.0]);
/// # Ok::<(), tfrt_compute::ComputeError>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Depthwise {
    shape: Conv2dShape,
}

impl Depthwise {
    /// Plans a convolution.
    ///
    /// # Errors
    /// If there are not as many input as output channels.
    pub fn new(shape: Conv2dShape) -> Result<Self, ComputeError> {
        if shape.in_channels != shape.out_channels {
            return Err(ComputeError::new(format!(
                "depthwise convolution: expected {} output channels, found {}",
                shape.in_channels, shape.out_channels
            )));
        }
        Ok(Self { shape })
    }

    /// Returns the number of lines of all output images; zero if they have no elements.
    #[must_use]
    pub fn num_lines(&self) -> usize {
        match self.shape.output_len() {
            0 => 0,
            _ => self.shape.batch * self.shape.rows.output,
        }
    }

    /// Returns the number of elements of an output line.
    #[must_use]
    pub fn line_len(&self) -> usize {
        self.shape.columns.output * self.shape.out_channels
    }

    /// Computes some lines of the output; `output` contains only those. A bias may be omitted, and
    /// the previous content of the output may be added before the last function.
    ///
    /// # Errors
    /// If the length of a slice does not match.
    #[expect(clippy::too_many_arguments, reason = "as many as a convolution has")]
    pub fn lines(
        &self,
        input: &[f32],
        filter: &[f32],
        bias: Option<&[f32]>,
        adds_output: bool,
        activation: Activation,
        lines: Range<usize>,
        output: &mut [f32],
    ) -> Result<(), ComputeError> {
        let shape = &self.shape;
        let channels = shape.in_channels;
        check_len(
            "depthwise convolution",
            "input",
            shape.input_len(),
            input.len(),
        )?;
        let filter_len = shape.rows.size * shape.columns.size * channels;
        check_len("depthwise convolution", "filter", filter_len, filter.len())?;
        if let Some(bias) = bias {
            check_len("depthwise convolution", "bias", channels, bias.len())?;
        }
        let expected = lines.len() * self.line_len();
        check_len("depthwise convolution", "output", expected, output.len())?;
        if lines.end > self.num_lines() {
            return Err(ComputeError::new("depthwise convolution: no such line"));
        }
        if expected == 0 {
            return Ok(());
        }
        dispatch(Lines {
            shape: self.shape,
            line_len: self.line_len(),
            input,
            filter,
            bias,
            adds_output,
            activation,
            lines,
            output,
        });
        Ok(())
    }
}

/// Some lines of the output.
struct Lines<'a> {
    shape: Conv2dShape,
    line_len: usize,
    input: &'a [f32],
    filter: &'a [f32],
    bias: Option<&'a [f32]>,
    adds_output: bool,
    activation: Activation,
    lines: Range<usize>,
    output: &'a mut [f32],
}

impl WithSimd for Lines<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let (rows, columns) = (self.shape.rows, self.shape.columns);
        let row_len = columns.input * self.shape.in_channels;
        let image_len = self.shape.image_len();
        let inside = columns.whole();
        for (line, output) in self.lines.zip(self.output.chunks_exact_mut(self.line_len)) {
            let (image, row) = (line / rows.output, line % rows.output);
            let line = Line {
                shape: &self.shape,
                image: &self.input[image * image_len..][..image_len],
                row_len,
                filter: self.filter,
                bias: self.bias,
                adds_output: self.adds_output,
                clamp: self.activation.clamp(),
                row,
                row_taps: rows.taps(row),
            };
            let mut column = 0;
            while column < columns.output {
                // Some pixels are computed a second time rather than one by one, unless something
                // would be added to them a second time.
                let first = match self.adds_output {
                    false if inside.contains(&column) => {
                        column.min(inside.end.saturating_sub(PIXELS))
                    }
                    _ => column,
                };
                if inside.start <= first && first + PIXELS <= inside.end {
                    line.pixels::<S, PIXELS>(simd, first, output);
                    column = first + PIXELS;
                } else {
                    line.pixels::<S, 1>(simd, column, output);
                    column += 1;
                }
            }
            self.activation.finish(output);
        }
    }
}

/// A line of the output.
struct Line<'a> {
    shape: &'a Conv2dShape,
    /// The image that it is made from.
    image: &'a [f32],
    /// The elements of a row of the image.
    row_len: usize,
    filter: &'a [f32],
    bias: Option<&'a [f32]>,
    adds_output: bool,
    clamp: Clamp<f32>,
    row: usize,
    /// The rows of the window that are in the image.
    row_taps: Range<usize>,
}

impl Line<'_> {
    /// Computes neighbouring pixels whose windows have the taps of the first.
    #[inline(always)]
    fn pixels<S: Simd, const P: usize>(&self, simd: S, column: usize, output: &mut [f32]) {
        let channels = self.shape.in_channels;
        let lanes = f32::lanes::<S>();
        let taps = &self.shape.columns.taps(column);
        let whole = channels - channels % lanes;
        let wide = whole - whole % (VECTORS * lanes);
        let columns = &self.shape.columns;
        let is_narrow = P == PIXELS && (columns.size, columns.dilation) == (NARROW, 1);
        match if is_narrow { columns.stride } else { 0 } {
            1 => self.narrow::<S, P, 1>(simd, column, (wide, whole), output),
            2 => self.narrow::<S, P, 2>(simd, column, (wide, whole), output),
            _ => {
                let place = (column, taps);
                for first in (0..wide).step_by(VECTORS * lanes) {
                    let len = VECTORS * lanes;
                    self.channels::<S, P, VECTORS>(simd, place, first, len, output);
                }
                for first in (wide..whole).step_by(lanes) {
                    self.channels::<S, P, 1>(simd, place, first, lanes, output);
                }
            }
        }
        if whole < channels {
            self.channels::<S, P, 1>(simd, (column, taps), whole, channels - whole, output);
        }
    }

    /// Computes `len` channels of pixels with these column taps: as many as `V` registers have room
    /// for, or fewer than one register has.
    #[inline(always)]
    fn channels<S: Simd, const P: usize, const V: usize>(
        &self,
        simd: S,
        (column, taps): (usize, &Range<usize>),
        first: usize,
        len: usize,
        output: &mut [f32],
    ) {
        let (rows, columns) = (&self.shape.rows, &self.shape.columns);
        let channels = self.shape.in_channels;
        let start = match self.bias {
            Some(bias) => load::<S, V>(simd, &bias[first..][..len]),
            None => [simd.splat_f32s(0.0); V],
        };
        let mut sums = [start; P];
        let pixel_step = columns.stride * channels;
        for row_tap in self.row_taps.clone() {
            let from = self.row * rows.stride + row_tap * rows.dilation - rows.before;
            let pixels = &self.image[from * self.row_len..][..self.row_len];
            let weights = &self.filter[row_tap * columns.size * channels..];
            for column_tap in taps.clone() {
                let weights = load::<S, V>(simd, &weights[column_tap * channels + first..][..len]);
                let from = column * columns.stride + column_tap * columns.dilation - columns.before;
                let pixels = &pixels[from * channels + first..];
                for (pixel, sums) in sums.iter_mut().enumerate() {
                    let x = load::<S, V>(simd, &pixels[pixel * pixel_step..][..len]);
                    for vector in 0..V {
                        sums[vector] = simd.mul_add_f32s(x[vector], weights[vector], sums[vector]);
                    }
                }
            }
        }
        self.store(simd, &sums, column, first, len, output);
    }

    /// Computes neighbouring pixels whose windows are three columns wide and in the image, in
    /// channels that fill registers: `wide` of them in several at a time, the others of `whole` in
    /// one.
    #[inline(always)]
    fn narrow<S: Simd, const P: usize, const STRIDE: usize>(
        &self,
        simd: S,
        column: usize,
        (wide, whole): (usize, usize),
        output: &mut [f32],
    ) {
        let lanes = f32::lanes::<S>();
        for first in (0..wide).step_by(VECTORS * lanes) {
            self.whole_channels::<S, P, VECTORS, STRIDE>(simd, column, first, output);
        }
        for first in (wide..whole).step_by(lanes) {
            self.whole_channels::<S, P, 1, STRIDE>(simd, column, first, output);
        }
    }

    /// Computes channels that fill `V` registers for [`narrow`](Self::narrow). Each element of the
    /// image is loaded once, for all windows that it is in.
    #[inline(always)]
    fn whole_channels<S: Simd, const P: usize, const V: usize, const STRIDE: usize>(
        &self,
        simd: S,
        column: usize,
        first: usize,
        output: &mut [f32],
    ) {
        let rows = &self.shape.rows;
        let channels = self.shape.in_channels;
        let len = V * f32::lanes::<S>();
        let start = match self.bias {
            Some(bias) => load::<S, V>(simd, &bias[first..][..len]),
            None => [simd.splat_f32s(0.0); V],
        };
        let mut sums = [start; P];
        let under_windows = (P - 1) * STRIDE + NARROW;
        let from_column = column * STRIDE - self.shape.columns.before;
        for row_tap in self.row_taps.clone() {
            let from = self.row * rows.stride + row_tap * rows.dilation - rows.before;
            let pixels = &self.image[from * self.row_len..][..self.row_len];
            let pixels = Spaced::<V> {
                elements: &pixels[from_column * channels + first..],
                step: channels,
                num: under_windows,
            };
            let weights = Spaced::<V> {
                elements: &self.filter[row_tap * NARROW * channels + first..],
                step: channels,
                num: NARROW,
            };
            weights.check::<S>();
            pixels.check::<S>();
            let weights: [[S::f32s; V]; NARROW] = std::array::from_fn(|tap| {
                #[expect(
                    unsafe_code,
                    reason = "a check for each load takes longer than the load"
                )]
                // SAFETY: checked above, and there are as many taps.
                unsafe {
                    weights.load::<S>(tap)
                }
            });
            for place in 0..under_windows {
                #[expect(
                    unsafe_code,
                    reason = "a check for each load takes longer than the load"
                )]
                // SAFETY: checked above, and `place` is below the number.
                let x = unsafe { pixels.load::<S>(place) };
                for (pixel, sums) in sums.iter_mut().enumerate() {
                    let tap = place.checked_sub(pixel * STRIDE);
                    if let Some(weights) = tap.and_then(|tap| weights.get(tap)) {
                        for vector in 0..V {
                            sums[vector] =
                                simd.mul_add_f32s(x[vector], weights[vector], sums[vector]);
                        }
                    }
                }
            }
        }
        self.store(simd, &sums, column, first, len, output);
    }

    /// Turns the sums of pixels in `len` channels into elements of the output.
    #[inline(always)]
    fn store<S: Simd, const P: usize, const V: usize>(
        &self,
        simd: S,
        sums: &[[S::f32s; V]; P],
        column: usize,
        first: usize,
        len: usize,
        output: &mut [f32],
    ) {
        let channels = self.shape.in_channels;
        for (pixel, sums) in sums.iter().enumerate() {
            let to = &mut output[(column + pixel) * channels + first..][..len];
            let before = match self.adds_output {
                true => load::<S, V>(simd, to),
                false => [simd.splat_f32s(-0.0); V],
            };
            let mut values = *sums;
            for vector in 0..V {
                if self.adds_output {
                    values[vector] = simd.add_f32s(before[vector], values[vector]);
                }
                values[vector] = self.clamp.apply(simd, values[vector]);
            }
            match (f32::vectors_mut::<S>(to), values) {
                ((whole, []), values) if whole.len() == V => whole.copy_from_slice(&values),
                ((_, rest), values) => f32::store_partial(simd, rest, values[0]),
            }
        }
    }
}

/// As many groups of `V` registers of elements, the first of each `step` behind that of the one
/// before.
struct Spaced<'a, const V: usize> {
    elements: &'a [f32],
    step: usize,
    num: usize,
}

impl<const V: usize> Spaced<'_, V> {
    /// # Panics
    /// If the elements of a group do not exist.
    #[inline(always)]
    fn check<S: Simd>(&self) {
        let len = V * f32::lanes::<S>();
        let last = self.elements.len().checked_sub(len);
        let needed = (self.num - 1).saturating_mul(self.step);
        assert!(last.is_some_and(|last| needed <= last), "all groups exist");
    }

    /// Returns a group.
    ///
    /// # Safety
    /// 1. [`check`](Self::check) was called for `S`.
    /// 2. `index` is below `num`.
    #[inline(always)]
    #[expect(
        unsafe_code,
        reason = "a check for each load takes longer than the load"
    )]
    unsafe fn load<S: Simd>(&self, index: usize) -> [S::f32s; V] {
        // SAFETY: the elements from there on that `V` registers hold exist (1, 2); the check
        // excludes that the product overflows.
        let first = unsafe { self.elements.as_ptr().add(index * self.step) };
        // SAFETY: as above; registers are plain numbers, which need not be aligned here.
        unsafe { first.cast::<[S::f32s; V]>().read_unaligned() }
    }
}

/// Returns as many registers of a slice's elements; if it does not fill one, that one is filled up
/// with zeros.
#[inline(always)]
fn load<S: Simd, const V: usize>(simd: S, slice: &[f32]) -> [S::f32s; V] {
    match f32::vectors::<S>(slice) {
        (whole, []) if whole.len() == V => std::array::from_fn(|vector| whole[vector]),
        (_, rest) => [f32::load_partial(simd, rest); V],
    }
}
