//! Pooling over windows of NHWC images, and its gradients.

use std::ops::Range;

use crate::convolution::Window;
use crate::element::Ordered;
use crate::error::{ComputeError, check_len, checked_product, product};
use crate::lanes::vectorised;
use crate::math::Real;

/// The shape of a two-dimensional pooling.
///
/// # Shapes
/// Input `[batch, rows.input, columns.input, channels]`, output
/// `[batch, rows.output, columns.output, channels]`.
///
/// ```
/// use tfrt_compute::convolution::{Padding, Window};
/// use tfrt_compute::pooling::Pooling;
///
/// let window = Window::new(4, 2, 2, 1, Padding::Valid)?;
/// let pooling = Pooling::new(1, Window::new(1, 1, 1, 1, Padding::Valid)?, window, 1)?;
/// let mut output = [0; 2];
/// pooling.max(i32::MIN, &[1, 5, 3, 2], &mut output)?;
/// assert_eq!(output, [5, 3]);
/// # Ok::<(), tfrt_compute::ComputeError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Pooling {
    /// Images.
    pub batch: usize,
    /// The window over the rows (height) of an image.
    pub rows: Window,
    /// The window over the columns (width) of an image.
    pub columns: Window,
    /// Channels.
    pub channels: usize,
}

/// The divisor of a window's sum.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AverageOf {
    /// The number of the window's elements in the image.
    Image,
    /// The number of all elements of the window; padding counts as zeros.
    Window,
}

impl Pooling {
    /// Checks that the images can be addressed.
    ///
    /// # Errors
    /// If they have too many elements.
    pub fn new(
        batch: usize,
        rows: Window,
        columns: Window,
        channels: usize,
    ) -> Result<Self, ComputeError> {
        // The padding is never looked at, so it may be of any size.
        checked_product("pooling", &[batch, rows.input, columns.input, channels])?;
        checked_product("pooling", &[batch, rows.output, columns.output, channels])?;
        Ok(Self {
            batch,
            rows,
            columns,
            channels,
        })
    }

    /// Returns the number of elements of the input.
    #[must_use]
    pub fn input_len(&self) -> usize {
        product(&[
            self.batch,
            self.rows.input,
            self.columns.input,
            self.channels,
        ])
    }

    /// Returns the number of elements of the output.
    #[must_use]
    pub fn output_len(&self) -> usize {
        product(&[
            self.batch,
            self.rows.output,
            self.columns.output,
            self.channels,
        ])
    }

    /// Returns the number of lines of all output images, the unit of
    /// [`max_lines`](Self::max_lines). Zero if the lines have no elements.
    #[must_use]
    pub fn lines(&self) -> usize {
        if self.output_len() == 0 {
            return 0;
        }
        self.batch * self.rows.output
    }

    /// Returns the number of elements of an output line; zero if the output has none.
    #[must_use]
    pub fn line_len(&self) -> usize {
        if self.output_len() == 0 {
            return 0;
        }
        self.columns.output * self.channels
    }

    /// Returns the greatest element of each window, but at least `start`; NaNs are ignored.
    ///
    /// # Errors
    /// If the length of a slice does not match its shape; the output is then unchanged.
    pub fn max<T: Ordered>(
        &self,
        start: T,
        input: &[T],
        output: &mut [T],
    ) -> Result<(), ComputeError> {
        self.max_lines(start, input, 0..self.lines(), output)
    }

    /// Like [`max`](Self::max), for some lines of the output; `output` contains only those.
    ///
    /// # Errors
    /// Those of `max`.
    pub fn max_lines<T: Ordered>(
        &self,
        start: T,
        input: &[T],
        lines: Range<usize>,
        output: &mut [T],
    ) -> Result<(), ComputeError> {
        self.check_lines(input.len(), &lines, output.len())?;
        vectorised(
            #[inline(always)]
            || {
                output.fill(start);
                self.for_each_tap(lines, |at, source| {
                    let pixel = &mut output[at..][..self.channels];
                    for (best, &x) in pixel.iter_mut().zip(&input[source..][..self.channels]) {
                        *best = if x > *best { x } else { *best };
                    }
                });
            },
        );
        Ok(())
    }

    /// Like [`max_lines`](Self::max_lines), but a window with a NaN has a NaN as its result.
    ///
    /// # Errors
    /// Those of `max`.
    pub fn max_lines_or_nan<T: Real>(
        &self,
        input: &[T],
        lines: Range<usize>,
        output: &mut [T],
    ) -> Result<(), ComputeError> {
        self.check_lines(input.len(), &lines, output.len())?;
        vectorised(
            #[inline(always)]
            || {
                output.fill(T::NEG_INFINITY);
                self.for_each_tap(lines, |at, source| {
                    let pixel = &mut output[at..][..self.channels];
                    for (best, &x) in pixel.iter_mut().zip(&input[source..][..self.channels]) {
                        // Nothing is greater than a NaN, so that it stays.
                        *best = if x > *best || x.partial_cmp(&x).is_none() {
                            x
                        } else {
                            *best
                        };
                    }
                });
            },
        );
        Ok(())
    }

    /// Returns the mean of each window.
    ///
    /// # Errors
    /// If the length of a slice does not match its shape; the output is then unchanged.
    pub fn average<T: Real>(
        &self,
        of: AverageOf,
        input: &[T],
        output: &mut [T],
    ) -> Result<(), ComputeError> {
        self.average_lines(of, input, 0..self.lines(), output)
    }

    /// Like [`average`](Self::average), for some lines of the output; `output` contains only those.
    ///
    /// # Errors
    /// Those of `average`.
    pub fn average_lines<T: Real>(
        &self,
        of: AverageOf,
        input: &[T],
        lines: Range<usize>,
        output: &mut [T],
    ) -> Result<(), ComputeError> {
        self.check_lines(input.len(), &lines, output.len())?;
        vectorised(
            #[inline(always)]
            || {
                output.fill(T::from(0));
                self.for_each_tap(lines.clone(), |at, source| {
                    let pixel = &mut output[at..][..self.channels];
                    for (sum, &x) in pixel.iter_mut().zip(&input[source..][..self.channels]) {
                        *sum += x;
                    }
                });
                let pixels = output.chunks_exact_mut(self.channels.max(1));
                for (index, pixel) in pixels.enumerate() {
                    let line = (lines.start + index / self.columns.output) % self.rows.output;
                    let count = T::from_usize(self.divisor(of, line, index % self.columns.output));
                    pixel.iter_mut().for_each(|sum| *sum = *sum / count);
                }
            },
        );
        Ok(())
    }

    /// Returns the gradient of [`max`](Self::max): each output's gradient goes to the first
    /// greatest element of its window. A window without an element above `start` contributes
    /// nothing.
    ///
    /// # Errors
    /// If the length of a slice does not match its shape; the result is then unchanged.
    pub fn max_gradient<T: Ordered>(
        &self,
        start: T,
        input: &[T],
        output_gradient: &[T],
        input_gradient: &mut [T],
    ) -> Result<(), ComputeError> {
        check_len("pooling", "input", self.input_len(), input.len())?;
        check_len(
            "pooling",
            "output gradient",
            self.output_len(),
            output_gradient.len(),
        )?;
        check_len(
            "pooling",
            "input gradient",
            self.input_len(),
            input_gradient.len(),
        )?;
        input_gradient.fill(T::default());
        for (pixel, gradients) in output_gradient
            .chunks_exact(self.channels.max(1))
            .enumerate()
        {
            for (channel, &gradient) in gradients.iter().enumerate() {
                let (mut best, mut place) = (start, None);
                self.for_each_source(
                    pixel / self.columns.output,
                    pixel % self.columns.output,
                    |source| {
                        let x = input[source + channel];
                        if x > best {
                            (best, place) = (x, Some(source + channel));
                        }
                    },
                );
                if let Some(place) = place {
                    input_gradient[place] = input_gradient[place].plus(gradient);
                }
            }
        }
        Ok(())
    }

    /// Returns the gradient of [`average`](Self::average): each output's gradient is spread evenly
    /// over its window.
    ///
    /// # Errors
    /// If the length of a slice does not match its shape; the result is then unchanged.
    pub fn average_gradient<T: Real>(
        &self,
        of: AverageOf,
        output_gradient: &[T],
        input_gradient: &mut [T],
    ) -> Result<(), ComputeError> {
        check_len(
            "pooling",
            "output gradient",
            self.output_len(),
            output_gradient.len(),
        )?;
        check_len(
            "pooling",
            "input gradient",
            self.input_len(),
            input_gradient.len(),
        )?;
        input_gradient.fill(T::from(0));
        for (pixel, gradients) in output_gradient
            .chunks_exact(self.channels.max(1))
            .enumerate()
        {
            let (line, column) = (pixel / self.columns.output, pixel % self.columns.output);
            let share =
                T::from(1) / T::from_usize(self.divisor(of, line % self.rows.output, column));
            self.for_each_source(line, column, |source| {
                for (sum, &gradient) in input_gradient[source..][..self.channels]
                    .iter_mut()
                    .zip(gradients)
                {
                    *sum += gradient * share;
                }
            });
        }
        Ok(())
    }

    fn divisor(&self, of: AverageOf, row: usize, column: usize) -> usize {
        match of {
            AverageOf::Window => self.rows.size.saturating_mul(self.columns.size),
            AverageOf::Image => self.rows.taps(row).len() * self.columns.taps(column).len(),
        }
    }

    fn check_lines(
        &self,
        input: usize,
        lines: &Range<usize>,
        output: usize,
    ) -> Result<(), ComputeError> {
        check_len("pooling", "input", self.input_len(), input)?;
        if lines.start > lines.end || lines.end > self.lines() {
            return Err(ComputeError::new(format!(
                "pooling: expected lines within 0..{}, found {lines:?}",
                self.lines()
            )));
        }
        check_len("pooling", "output", lines.len() * self.line_len(), output)
    }

    /// Visits the positions of a window's pixels in order, only those in the image: there may be
    /// any number of them in the padding.
    #[inline(always)]
    fn for_each_source(&self, line: usize, column: usize, mut visit: impl FnMut(usize)) {
        let (image, row) = (line / self.rows.output, line % self.rows.output);
        let columns = self.columns.taps(column);
        for row_tap in self.rows.taps(row) {
            let source_row =
                row * self.rows.stride + row_tap * self.rows.dilation - self.rows.before;
            let line = (image * self.rows.input + source_row) * self.columns.input;
            for column_tap in columns.clone() {
                let source_column = column * self.columns.stride
                    + column_tap * self.columns.dilation
                    - self.columns.before;
                visit((line + source_column) * self.channels);
            }
        }
    }

    /// Visits `(place in the output part, place in the input)` for each pixel of each window.
    #[inline(always)]
    fn for_each_tap(&self, lines: Range<usize>, mut visit: impl FnMut(usize, usize)) {
        for (index, line) in lines.enumerate() {
            for column in 0..self.columns.output {
                let at = (index * self.columns.output + column) * self.channels;
                self.for_each_source(
                    line,
                    column,
                    #[inline(always)]
                    |source| visit(at, source),
                );
            }
        }
    }
}
