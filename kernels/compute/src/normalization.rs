//! Batch normalisation with given statistics: `(x - mean) / √(variance + ε) · scale + offset`, per
//! channel; and layer normalisation, with the statistics of each row.

use std::ops::Range;

use crate::error::{ComputeError, check_len};
use crate::lanes::vectorised;
use crate::math::Real;
use crate::softmax::sum;

/// The parameters, with one element for each channel.
///
/// ```
/// use tfrt_compute::normalization::BatchNorm;
///
/// let norm = BatchNorm { scale: &[2.0], offset: &[1.0], mean: &[3.0], variance: &[4.0], epsilon: 0.0 };
/// let mut tensor = [3.0_f32, 5.0];
/// norm.apply_in_place(&mut tensor)?;
/// assert_eq!(tensor, [1.0, 3.0]);
/// # Ok::<(), tfrt_compute::ComputeError>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct BatchNorm<'a, T> {
    /// The factor of the normalised value.
    pub scale: &'a [T],
    /// The summand.
    pub offset: &'a [T],
    /// The mean that is subtracted.
    pub mean: &'a [T],
    /// The variance, whose square root is the divisor.
    pub variance: &'a [T],
    /// The number that is added to the variance.
    pub epsilon: T,
}

/// Layer normalisation: each row is normalised to mean 0 and variance 1, scaled and shifted.
/// `(x - mean(row)) / √(variance(row) + ε) · scale + offset`.
///
/// ```
/// use tfrt_compute::normalization::LayerNorm;
///
/// let norm = LayerNorm { scale: &[1.0, 1.0], offset: &[0.0, 10.0], epsilon: 0.0 };
/// let mut output = [0.0_f32; 4];
/// norm.apply(&[1.0, 3.0, 7.0, 5.0], &mut output)?;
/// assert_eq!(output, [-1.0, 11.0, 1.0, 9.0]);
/// # Ok::<(), tfrt_compute::ComputeError>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct LayerNorm<'a, T> {
    /// The factor of each element of a row.
    pub scale: &'a [T],
    /// The summand for each element of a row.
    pub offset: &'a [T],
    /// The number that is added to the variance.
    pub epsilon: T,
}

impl<T: Real> LayerNorm<'_, T> {
    /// Normalises rows. The variance is computed from the differences from the mean, which loses no
    /// digits if the mean is large.
    ///
    /// # Errors
    /// If the slices differ in length, or do not consist of rows.
    pub fn apply(&self, input: &[T], output: &mut [T]) -> Result<(), ComputeError> {
        let row_len = self.scale.len();
        check_len("layer_norm", "offset", row_len, self.offset.len())?;
        check_len("layer_norm", "output", input.len(), output.len())?;
        let whole = input.len().checked_div(row_len).unwrap_or(0) * row_len;
        check_len("layer_norm", "input", whole, input.len())?;
        let count = T::from_usize(row_len);
        vectorised(
            #[inline(always)]
            || {
                let rows = input.chunks_exact(row_len.max(1));
                for (row, output) in rows.zip(output.chunks_exact_mut(row_len.max(1))) {
                    let mean = sum(row) / count;
                    for (y, &x) in output.iter_mut().zip(row) {
                        *y = (x - mean) * (x - mean);
                    }
                    let factor = (sum(output) / count + self.epsilon).rsqrt();
                    let parameters = self.scale.iter().zip(self.offset);
                    for ((y, &x), (&scale, &offset)) in output.iter_mut().zip(row).zip(parameters) {
                        *y = ((x - mean) * factor).mul_add(scale, offset);
                    }
                }
            },
        );
        Ok(())
    }
}

/// Normalisation of rows with statistics in double precision: by mean and variance, or by the root
/// mean square alone.
///
/// ```
/// use tfrt_compute::normalization::RowNorm;
///
/// let norm = RowNorm { scale: None, offset: Some(&[0.0, 10.0]), epsilon: 0.0, is_centred: true };
/// let mut output = [0.0_f32; 2];
/// assert_eq!(norm.apply_row(&[1.0, 3.0], &mut output), (2.0, 1.0));
/// assert_eq!(output, [-1.0, 11.0]);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct RowNorm<'a> {
    /// The factor of each element of a row; by default one.
    pub scale: Option<&'a [f32]>,
    /// The summand of each element of a row; by default zero.
    pub offset: Option<&'a [f32]>,
    /// The number that is added to the variance.
    pub epsilon: f64,
    /// Whether the mean is subtracted.
    pub is_centred: bool,
}

impl RowNorm<'_> {
    /// Normalises a row. Returns its mean, which is zero if it is not subtracted, and the
    /// reciprocal of its deviation.
    ///
    /// # Panics
    /// If the row, its output and the parameters differ in length.
    pub fn apply_row(&self, row: &[f32], output: &mut [f32]) -> (f64, f64) {
        let len = row.len();
        assert_eq!(len, output.len(), "input and output of a normalisation");
        for parameter in [self.scale, self.offset].into_iter().flatten() {
            assert_eq!(
                len,
                parameter.len(),
                "a row and the parameters of its normalisation"
            );
        }
        vectorised(
            #[inline(always)]
            || {
                let count = len as f64;
                let mean = match self.is_centred {
                    true => sum_of(row, |x| x) / count,
                    false => 0.0,
                };
                let variance = sum_of(row, |x| (x - mean) * (x - mean)) / count;
                let factor = 1.0 / (variance + self.epsilon).sqrt();
                let normal = |x: f32| (f64::from(x) - mean) * factor;
                match (self.scale, self.offset) {
                    (Some(scale), Some(offset)) => {
                        let parameters = scale.iter().zip(offset);
                        for ((y, &x), (&scale, &offset)) in
                            output.iter_mut().zip(row).zip(parameters)
                        {
                            *y = (normal(x) * f64::from(scale) + f64::from(offset)) as f32;
                        }
                    }
                    (Some(scale), None) => {
                        for ((y, &x), &scale) in output.iter_mut().zip(row).zip(scale) {
                            *y = (normal(x) * f64::from(scale)) as f32;
                        }
                    }
                    (None, offset) => {
                        for (y, &x) in output.iter_mut().zip(row) {
                            *y = normal(x) as f32;
                        }
                        for (y, &offset) in output.iter_mut().zip(offset.into_iter().flatten()) {
                            *y += offset;
                        }
                    }
                }
                (mean, factor)
            },
        )
    }
}

/// Normalisation of a channel: `(x - mean) · factor + offset`, in double precision, rounded once.
///
/// ```
/// use tfrt_compute::normalization::{ChannelNorm, mean_and_variance};
///
/// let channel = [[1.0, 3.0], [5.0, 7.0]];
/// let (mean, variance) = mean_and_variance(channel.iter().map(|part| &part[..]));
/// assert_eq!((mean, variance), (4.0, 5.0));
/// let norm = ChannelNorm { mean, factor: 2.0, offset: 1.0 };
/// let mut output = [0.0; 2];
/// norm.apply(&channel[0], &mut output);
/// assert_eq!(output, [-5.0, -1.0]);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ChannelNorm {
    /// The number that is subtracted.
    pub mean: f64,
    /// The factor of the difference.
    pub factor: f64,
    /// The summand.
    pub offset: f64,
}

impl ChannelNorm {
    /// Returns the result for a number.
    #[inline(always)]
    #[must_use]
    pub fn of(self, x: f64) -> f64 {
        (x - self.mean) * self.factor + self.offset
    }

    /// Normalises numbers of the channel.
    ///
    /// # Panics
    /// If input and output differ in length.
    pub fn apply(self, input: &[f32], output: &mut [f32]) {
        assert_eq!(input.len(), output.len(), "input and output of a channel");
        vectorised(
            #[inline(always)]
            || {
                for (y, &x) in output.iter_mut().zip(input) {
                    *y = self.of(x.into()) as f32;
                }
            },
        );
    }

    /// Normalises numbers of several channels, each by the norm at its position.
    ///
    /// # Panics
    /// If the slices differ in length.
    pub fn apply_each(norms: &[Self], input: &[f32], output: &mut [f32]) {
        assert_eq!(input.len(), output.len(), "input and output of channels");
        assert_eq!(input.len(), norms.len(), "numbers and their norms");
        vectorised(
            #[inline(always)]
            || {
                for ((y, &x), norm) in output.iter_mut().zip(input).zip(norms) {
                    *y = norm.of(x.into()) as f32;
                }
            },
        );
    }
}

/// Returns the mean and the variance of all numbers of some slices, in double precision. Of no
/// numbers, they are NaN.
pub fn mean_and_variance<'a>(parts: impl Iterator<Item = &'a [f32]> + Clone) -> (f64, f64) {
    vectorised(
        #[inline(always)]
        || {
            let (mut sum, mut len) = (0.0, 0);
            for part in parts.clone() {
                sum += sum_of(part, |x| x);
                len += part.len();
            }
            let (mean, mut squares) = (sum / len as f64, 0.0);
            for part in parts {
                squares += sum_of(part, |x| (x - mean) * (x - mean));
            }
            (mean, squares / len as f64)
        },
    )
}

/// Sums a function of each element, in as many sums as a register may hold.
#[inline(always)]
fn sum_of(row: &[f32], function: impl Fn(f64) -> f64) -> f64 {
    const LANES: usize = 16;
    let mut sums = [0.0_f64; LANES];
    let (chunks, rest) = row.as_chunks::<LANES>();
    for chunk in chunks {
        for (sum, &x) in sums.iter_mut().zip(chunk) {
            *sum += function(f64::from(x));
        }
    }
    let rest = rest.iter().map(|&x| function(f64::from(x))).sum::<f64>();
    sums.iter().sum::<f64>() + rest
}

impl<T: Real> BatchNorm<'_, T> {
    /// Returns the number of channels.
    ///
    /// # Errors
    /// If the lengths of the parameters differ.
    pub fn channels(&self) -> Result<usize, ComputeError> {
        let channels = self.scale.len();
        check_len("batch_norm", "offset", channels, self.offset.len())?;
        check_len("batch_norm", "mean", channels, self.mean.len())?;
        check_len("batch_norm", "variance", channels, self.variance.len())?;
        Ok(channels)
    }

    /// Folds the parameters into one factor and one summand for each channel, for fusion with a
    /// convolution: `x · scale + shift`.
    ///
    /// The result differs from [`apply`](Self::apply) in the last digits if the mean is large
    /// relative to the deviation.
    ///
    /// # Errors
    /// If a slice does not have an element for each channel.
    pub fn fold(&self, scale: &mut [T], shift: &mut [T]) -> Result<(), ComputeError> {
        let channels = self.channels()?;
        check_len("batch_norm", "folded scale", channels, scale.len())?;
        check_len("batch_norm", "folded shift", channels, shift.len())?;
        for channel in 0..channels {
            scale[channel] = self.factor(channel);
            shift[channel] = (-self.mean[channel]).mul_add(scale[channel], self.offset[channel]);
        }
        Ok(())
    }

    #[inline(always)]
    fn factor(&self, channel: usize) -> T {
        (self.variance[channel] + self.epsilon).rsqrt() * self.scale[channel]
    }

    /// Normalises rows of channels.
    ///
    /// # Errors
    /// If the slices differ in length, or do not consist of rows of channels.
    pub fn apply(&self, input: &[T], output: &mut [T]) -> Result<(), ComputeError> {
        check_len("batch_norm", "output", input.len(), output.len())?;
        let channels = self.check_rows(input.len())?;
        self.in_strips(channels, |strip| {
            for (input, output) in input
                .chunks_exact(channels)
                .zip(output.chunks_exact_mut(channels))
            {
                let pairs = input[strip.range()].iter().zip(&mut output[strip.range()]);
                for ((&x, y), (factor, mean, offset)) in pairs.zip(strip.parameters()) {
                    *y = (x - mean).mul_add(factor, offset);
                }
            }
        });
        Ok(())
    }

    /// Like [`apply`](Self::apply), in place.
    ///
    /// # Errors
    /// If the tensor does not consist of rows of channels.
    pub fn apply_in_place(&self, tensor: &mut [T]) -> Result<(), ComputeError> {
        let channels = self.check_rows(tensor.len())?;
        self.in_strips(channels, |strip| {
            for row in tensor.chunks_exact_mut(channels) {
                for (x, (factor, mean, offset)) in
                    row[strip.range()].iter_mut().zip(strip.parameters())
                {
                    *x = (*x - mean).mul_add(factor, offset);
                }
            }
        });
        Ok(())
    }

    /// Runs a pass for each group of channels.
    #[inline(always)]
    fn in_strips(&self, channels: usize, mut pass: impl FnMut(&Strip<'_, T>)) {
        vectorised(
            #[inline(always)]
            || {
                for first in (0..channels).step_by(STRIP) {
                    let range = first..(first + STRIP).min(channels);
                    let mut factors = [T::from(0); STRIP];
                    for (factor, channel) in factors.iter_mut().zip(range.clone()) {
                        *factor = self.factor(channel);
                    }
                    let factors = &factors[..range.len()];
                    pass(&Strip {
                        first,
                        factors,
                        mean: &self.mean[range.clone()],
                        offset: &self.offset[range],
                    });
                }
            },
        );
    }

    fn check_rows(&self, len: usize) -> Result<usize, ComputeError> {
        let channels = self.channels()?;
        let is_filled = if channels == 0 {
            len == 0
        } else {
            len.is_multiple_of(channels)
        };
        if is_filled {
            return Ok(channels);
        }
        Err(ComputeError::new(format!(
            "batch_norm: expected rows of {channels} channels, found {len} elements"
        )))
    }
}

/// The parameters of a few neighbouring channels.
struct Strip<'a, T> {
    first: usize,
    factors: &'a [T],
    mean: &'a [T],
    offset: &'a [T],
}

impl<T: Real> Strip<'_, T> {
    #[inline(always)]
    fn range(&self) -> Range<usize> {
        self.first..self.first + self.factors.len()
    }

    /// `(factor, mean, offset)` of each channel.
    #[inline(always)]
    fn parameters(&self) -> impl Iterator<Item = (T, T, T)> {
        let means = self.mean.iter().zip(self.offset);
        self.factors
            .iter()
            .zip(means)
            .map(|(&factor, (&mean, &offset))| (factor, mean, offset))
    }
}

/// Channels whose factors and sums fit on the stack.
const STRIP: usize = 256;

/// Rows that are summed one after another, before their sum is added to the whole.
const BLOCK: usize = 128;

/// The input and the results of the gradient of a batch normalisation in training.
///
/// With `n` rows of channels, `r = 1 / √(variance + ε)` and `xc = input - mean`:
/// `gamma = Σ dy · xc · r`, `beta = Σ dy`,
/// `input = scale · r · (dy - mean(dy) - xc · r² · mean(dy · xc))`.
#[derive(Debug)]
pub struct BatchNormGradients<'a, T> {
    /// The gradient with respect to the input.
    pub input: &'a mut [T],
    /// The gradient with respect to the scale.
    pub gamma: &'a mut [T],
    /// The gradient with respect to the offset.
    pub beta: &'a mut [T],
}

/// Computes the gradients of a batch normalisation; `norm.offset` is not used.
///
/// # Errors
/// If the lengths of the slices do not match; the results are then unchanged.
pub fn batch_norm_gradients<T: Real>(
    norm: &BatchNorm<'_, T>,
    output_gradient: &[T],
    input: &[T],
    gradients: BatchNormGradients<'_, T>,
) -> Result<(), ComputeError> {
    let channels = norm.check_rows(input.len())?;
    check_len(
        "batch_norm",
        "output gradient",
        input.len(),
        output_gradient.len(),
    )?;
    check_len(
        "batch_norm",
        "input gradient",
        input.len(),
        gradients.input.len(),
    )?;
    check_len(
        "batch_norm",
        "gamma gradient",
        channels,
        gradients.gamma.len(),
    )?;
    check_len(
        "batch_norm",
        "beta gradient",
        channels,
        gradients.beta.len(),
    )?;
    if channels == 0 {
        return Ok(());
    }
    let rows = input.len() / channels;
    let count = T::from_usize(rows);
    vectorised(
        #[inline(always)]
        || {
            for first in (0..channels).step_by(STRIP) {
                let strip = first..(first + STRIP).min(channels);
                let len = strip.len();
                let place = |row: usize| row * channels + strip.start..row * channels + strip.end;
                let mean = &norm.mean[strip.clone()];
                let (mut sums, mut products) = ([T::from(0); STRIP], [T::from(0); STRIP]);
                let (sums, products) = (&mut sums[..len], &mut products[..len]);
                for start in (0..rows).step_by(BLOCK) {
                    let (mut block_sums, mut block_products) =
                        ([T::from(0); STRIP], [T::from(0); STRIP]);
                    let (block_sums, block_products) =
                        (&mut block_sums[..len], &mut block_products[..len]);
                    for row in start..(start + BLOCK).min(rows) {
                        let (dy, x) = (&output_gradient[place(row)], &input[place(row)]);
                        for index in 0..len {
                            block_sums[index] += dy[index];
                            block_products[index] =
                                dy[index].mul_add(x[index] - mean[index], block_products[index]);
                        }
                    }
                    for index in 0..len {
                        sums[index] += block_sums[index];
                        products[index] += block_products[index];
                    }
                }
                // Per channel: input = factor · (dy - mean_dy - xc · slope).
                let (mut factor, mut slope) = ([T::from(0); STRIP], [T::from(0); STRIP]);
                let (factor, slope) = (&mut factor[..len], &mut slope[..len]);
                for index in 0..len {
                    let channel = first + index;
                    let r = (norm.variance[channel] + norm.epsilon).rsqrt();
                    gradients.gamma[channel] = products[index] * r;
                    gradients.beta[channel] = sums[index];
                    factor[index] = norm.scale[channel] * r;
                    slope[index] = r * r * (products[index] / count);
                    sums[index] = sums[index] / count;
                }
                for row in 0..rows {
                    let (dy, x) = (&output_gradient[place(row)], &input[place(row)]);
                    let dx = &mut gradients.input[place(row)];
                    for index in 0..len {
                        let centred = x[index] - mean[index];
                        dx[index] =
                            factor[index] * ((dy[index] - sums[index]) - centred * slope[index]);
                    }
                }
            }
        },
    );
    Ok(())
}
