//! Depthwise convolution: every channel has a filter of its own.

use std::ops::Range;

use super::shape::Conv2dShape;
use crate::activation::Activation;
use crate::error::{ComputeError, check_len};
use crate::lanes::vectorised;

/// Channels that are summed at a time, in registers.
const CHUNK: usize = 64;

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
        vectorised(
            #[inline(always)]
            || {
                for (line, to) in lines.zip(output.chunks_exact_mut(self.line_len())) {
                    self.line(input, filter, bias, adds_output, line, to);
                    for pixel in to.chunks_exact_mut(channels) {
                        if let Activation::Clip(low, high) = activation {
                            clamp(pixel, low, high);
                        }
                        match activation {
                            Activation::Relu => clamp(pixel, 0.0, f32::INFINITY),
                            Activation::Relu6 => clamp(pixel, 0.0, 6.0),
                            _ => activation.finish(pixel),
                        }
                    }
                }
            },
        );
        Ok(())
    }

    #[inline(always)]
    fn line(
        &self,
        input: &[f32],
        filter: &[f32],
        bias: Option<&[f32]>,
        adds_output: bool,
        line: usize,
        output: &mut [f32],
    ) {
        let (rows, columns) = (&self.shape.rows, &self.shape.columns);
        let channels = self.shape.in_channels;
        let (image, row) = (line / rows.output, line % rows.output);
        let image = &input[image * self.shape.image_len()..][..self.shape.image_len()];
        let taps = rows.taps(row);
        for (column, pixel) in output.chunks_exact_mut(channels).enumerate() {
            let column_taps = columns.taps(column);
            for first in (0..channels).step_by(CHUNK) {
                let len = CHUNK.min(channels - first);
                let mut sums = [0.0_f32; CHUNK];
                if let Some(bias) = bias {
                    sums[..len].copy_from_slice(&bias[first..first + len]);
                }
                for tap in taps.clone() {
                    let from_row = row * rows.stride + tap * rows.dilation - rows.before;
                    for column_tap in column_taps.clone() {
                        let from_column = column * columns.stride + column_tap * columns.dilation
                            - columns.before;
                        let place = (from_row * columns.input + from_column) * channels + first;
                        let weight = (tap * columns.size + column_tap) * channels + first;
                        if len == CHUNK {
                            let (x, w) = (&image[place..][..CHUNK], &filter[weight..][..CHUNK]);
                            for ((sum, &x), &w) in sums.iter_mut().zip(x).zip(w) {
                                *sum = x.mul_add(w, *sum);
                            }
                        } else {
                            let (x, w) = (&image[place..][..len], &filter[weight..][..len]);
                            for ((sum, &x), &w) in sums.iter_mut().zip(x).zip(w) {
                                *sum = x.mul_add(w, *sum);
                            }
                        }
                    }
                }
                let to = &mut pixel[first..first + len];
                if adds_output {
                    to.iter_mut().zip(&sums).for_each(|(to, sum)| *to += sum);
                } else {
                    to.copy_from_slice(&sums[..len]);
                }
            }
        }
    }
}

#[inline(always)]
fn clamp(pixel: &mut [f32], low: f32, high: f32) {
    for x in pixel {
        let at_least = if *x < low { low } else { *x };
        *x = if at_least > high { high } else { at_least };
    }
}
