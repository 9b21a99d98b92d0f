//! Softmax and normalizations. Statistics are computed in double precision.

use tfrt::prelude::*;
use tfrt_compute::normalization::{ChannelNorm, mean_and_variance};
use tfrt_compute::softmax;
use tfrt_kernels::numeric::{after, start_rows};
use tfrt_tensor::{DenseHostTensor, OwnedElementsMut};

use crate::number::{Number, with_real};
use crate::reductions::Plan;
use crate::row_norms::{self, Norm, Summand, kept_rows};
use crate::{
    Slots, allocate, axis_of, dense, invalid, made, product, real_numbers, scratch, unspecified,
};

/// Computes the softmax along an axis, or its logarithm. `coerces` merges all dimensions from the
/// axis on, as in ONNX before version 13.
///
/// # Errors
/// If there is no such axis, or the elements are not real numbers.
#[tfrt_op("nn.Softmax")]
fn softmax_op(
    x: &AnyRef,
    #[attr(default = -1)] axis: i64,
    #[attr(default = false)] is_log: bool,
    #[attr(default = false)] coerces: bool,
    ctx: &ExecutionContext,
) -> Result<DenseHostTensor> {
    const OP: &str = "nn.Softmax";
    let x = dense(x)?;
    let dims = x.shape().dims();
    // A scalar is a vector of one element.
    let axis = if dims.is_empty() {
        0
    } else {
        axis_of(OP, axis, dims.len())?
    };
    let extent = match coerces {
        true => product(dims.get(axis..).unwrap_or_default()),
        false => dims.get(axis).copied().unwrap_or(1),
    };
    let inner = match coerces {
        true => 1,
        false => product(dims.get(axis + 1..).unwrap_or_default()),
    };
    if inner == 1 && x.dtype() == DType::F32 && extent > 0 {
        let mut y = unspecified(ctx, DType::F32, dims)?;
        let function = if is_log {
            softmax::log_softmax::<f32>
        } else {
            softmax::softmax::<f32>
        };
        function(extent, &x.elements::<f32>()?, &mut y.elements_mut::<f32>()?)?;
        return Ok(y);
    }
    with_real!(OP, x.dtype(), T => {
        let from = x.elements::<T>()?;
        let mut y = unspecified(ctx, x.dtype(), dims)?;
        let mut to = y.elements_mut::<T>()?;
        let num_sets = from.len().checked_div(extent).unwrap_or(0);
        for set in 0..num_sets {
            let start = set / inner * extent * inner + set % inner;
            let places = (0..extent).map(|at| start + at * inner);
            let greatest = places.clone().map(|at| from[at].to_f64()).fold(f64::NEG_INFINITY, f64::max);
            let sum: f64 = places.clone().map(|at| (from[at].to_f64() - greatest).exp()).sum();
            for at in places {
                let shifted = from[at].to_f64() - greatest;
                to[at] = T::of_f64(if is_log { shifted - sum.ln() } else { shifted.exp() / sum });
            }
        }
        drop(to);
        Ok(y)
    })
}

/// Sets 1 at the first greatest element along an axis, and 0 elsewhere.
///
/// # Errors
/// If there is no such axis, or the elements are not real numbers.
#[tfrt_op("nn.Hardmax")]
fn hardmax(
    x: &AnyRef,
    #[attr(default = -1)] axis: i64,
    #[attr(default = false)] coerces: bool,
    ctx: &ExecutionContext,
) -> Result<DenseHostTensor> {
    const OP: &str = "nn.Hardmax";
    let x = dense(x)?;
    let dims = x.shape().dims();
    let axis = axis_of(OP, axis, dims.len())?;
    let (extent, inner) = match coerces {
        true => (product(&dims[axis..]), 1),
        false => (dims[axis], product(&dims[axis + 1..])),
    };
    with_real!(OP, x.dtype(), T => {
        let from = x.elements::<T>()?;
        let mut y = allocate(ctx, x.dtype(), dims)?;
        let mut to = y.elements_mut::<T>()?;
        for set in 0..from.len().checked_div(extent).unwrap_or(0) {
            let start = set / inner * extent * inner + set % inner;
            let places = (0..extent).map(|at| start + at * inner);
            let best = places.reduce(|best, at| if from[at] > from[best] { at } else { best });
            if let Some(best) = best {
                to[best] = T::of_f64(1.0);
            }
        }
        drop(to);
        Ok(y)
    })
}

/// Returns the mean and the variance of numbers.
fn moments(numbers: impl Iterator<Item = f64> + Clone) -> (f64, f64) {
    let (sum, count) = numbers
        .clone()
        .fold((0.0, 0.0), |(sum, n), x| (sum + x, n + 1.0));
    let mean = sum / count;
    let squares: f64 = numbers.map(|x| (x - mean) * (x - mean)).sum();
    (mean, squares / count)
}

/// Normalizes `x`, whose channels are its second dimension, by means and variances:
/// `(x - mean) / √(variance + epsilon) · scale + bias`.
///
/// # Errors
/// If there is not one number for each channel, or the elements are not real numbers.
#[tfrt_op("nn.BatchNormalization")]
fn batch_normalization(
    x: &AnyRef,
    scale: &AnyRef,
    bias: &AnyRef,
    mean: &AnyRef,
    variance: &AnyRef,
    #[attr] epsilon: f32,
    ctx: &ExecutionContext,
) -> Result<AnyRef> {
    const OP: &str = "nn.BatchNormalization";
    let x = dense(x)?;
    let [scale, bias, mean, variance] =
        channel_parameters(OP, &x, [scale, bias, mean, variance], ctx)?;
    let epsilon = f64::from(epsilon);
    let norms = (0..scale.len()).map(|channel| ChannelNorm {
        mean: mean[channel],
        factor: scale[channel] / (variance[channel] + epsilon).sqrt(),
        offset: bias[channel],
    });
    let channels = Channels::new(&x, norms.collect());
    if x.dtype() != DType::F32 || x.num_elements() == 0 {
        return Ok(AnyRef::available(channels.normalized(OP, &x, ctx)?));
    }
    let mut y = unspecified(ctx, DType::F32, x.shape().dims())?;
    let (from, output) = (x.elements_owned::<f32>()?, y.elements_mut_owned::<f32>()?);
    let row_len = channels.row_len();
    let operations = 4 * output.len();
    let done = start_rows(ctx, output, row_len, operations, move |rows, part| {
        let from = &from[rows.start * row_len..rows.end * row_len];
        channels.apply(rows.start, from, part);
    })?;
    Ok(after(done, y))
}

/// Planes with fewer elements are normalized together with those of the other channels.
const MIN_PLANE_LEN: usize = 32;

/// The norms of channels, which are the second dimension of a tensor.
struct Channels {
    /// One for each channel; where planes are small, one for each element of an image.
    norms: Vec<ChannelNorm>,
    /// The elements of a plane.
    inner: usize,
}

impl Channels {
    fn new(x: &DenseHostTensor, norms: Vec<ChannelNorm>) -> Self {
        let inner = product(x.shape().dims().get(2..).unwrap_or_default());
        let norms = match inner {
            2..MIN_PLANE_LEN => norms
                .iter()
                .flat_map(|&norm| std::iter::repeat_n(norm, inner))
                .collect(),
            _ => norms,
        };
        Self { norms, inner }
    }

    /// Returns how many elements are normalized at once: those of a plane, or of an image.
    fn row_len(&self) -> usize {
        match self.inner {
            ..MIN_PLANE_LEN => self.norms.len(),
            inner => inner,
        }
    }

    /// Normalizes rows, the first of which has this number.
    fn apply(&self, first: usize, input: &[f32], output: &mut [f32]) {
        let row_len = self.row_len();
        let rows = input
            .chunks_exact(row_len)
            .zip(output.chunks_exact_mut(row_len));
        for (row, (input, output)) in (first..).zip(rows) {
            match self.inner {
                ..MIN_PLANE_LEN => ChannelNorm::apply_each(&self.norms, input, output),
                _ => self.norms[row % self.norms.len()].apply(input, output),
            }
        }
    }

    /// Returns a tensor, normalized.
    fn normalized(
        &self,
        op: &'static str,
        x: &DenseHostTensor,
        ctx: &ExecutionContext,
    ) -> Result<DenseHostTensor> {
        if x.dtype() == DType::F32 && x.num_elements() > 0 {
            let mut y = unspecified(ctx, DType::F32, x.shape().dims())?;
            self.apply(0, &x.elements::<f32>()?, &mut y.elements_mut::<f32>()?);
            return Ok(y);
        }
        let row_len = self.row_len();
        with_real!(op, x.dtype(), T => {
            let from = x.elements::<T>()?;
            made(ctx, x.shape().dims(), |at| {
                let norm = match self.inner {
                    ..MIN_PLANE_LEN => at % row_len,
                    inner => at / inner % self.norms.len(),
                };
                T::of_f64(self.norms[norm].of(from[at].to_f64()))
            })
        })
    }
}

/// Vectors with a number for each channel.
fn channel_parameters<const N: usize>(
    op: &'static str,
    x: &DenseHostTensor,
    operands: [&AnyRef; N],
    ctx: &ExecutionContext,
) -> Result<[OwnedElementsMut<f64>; N]> {
    let channels = x.shape().dim(1).unwrap_or(1);
    let mut found = [const { None }; N];
    for (found, operand) in found.iter_mut().zip(operands) {
        let numbers = real_numbers(op, &dense(operand)?, ctx)?;
        if numbers.len() != channels {
            return Err(invalid(format!(
                "`{op}`: expected {channels} elements for the channels of {}, found {}",
                x.metadata(),
                numbers.len()
            )));
        }
        *found = Some(numbers);
    }
    Ok(found.map(|numbers| numbers.expect("each operand has its numbers")))
}

/// Normalizes `x` by the means and variances of its own channels. Also returns the running
/// statistics, `before · momentum + own · (1 - momentum)`, and its own: each time the means, then
/// the variances.
///
/// # Errors
/// Those of `nn.BatchNormalization`.
#[tfrt_op("nn.BatchNormalizationTraining")]
#[expect(clippy::too_many_arguments, reason = "as many as the op has")]
fn batch_normalization_training(
    x: &AnyRef,
    scale: &AnyRef,
    bias: &AnyRef,
    mean: &AnyRef,
    variance: &AnyRef,
    #[attr] epsilon: f32,
    #[attr] momentum: f32,
    ctx: &ExecutionContext,
) -> Result<(
    DenseHostTensor,
    DenseHostTensor,
    DenseHostTensor,
    DenseHostTensor,
    DenseHostTensor,
)> {
    const OP: &str = "nn.BatchNormalizationTraining";
    let (x, before_mean, before_variance) = (dense(x)?, dense(mean)?, dense(variance)?);
    let [scale, bias, mean, variance] =
        channel_parameters(OP, &x, [scale, bias, mean, variance], ctx)?;
    let own = channel_moments(OP, &x, ctx)?;
    let channels = mean.len();
    let (epsilon, momentum) = (f64::from(epsilon), f64::from(momentum));
    let norms = own.iter().enumerate();
    let norms = norms.map(|(channel, &(mean, variance))| ChannelNorm {
        mean,
        factor: scale[channel] / (variance + epsilon).sqrt(),
        offset: bias[channel],
    });
    let y = Channels::new(&x, norms.collect()).normalized(OP, &x, ctx)?;
    let numbers = |like: &DenseHostTensor, number: &dyn Fn(usize) -> f64| with_real!(OP, like.dtype(), T => made(ctx, &[channels], |at| T::of_f64(number(at))));
    let mixed = |before: f64, own: f64| before * momentum + own * (1.0 - momentum);
    Ok((
        y,
        numbers(&before_mean, &|at| mixed(mean[at], own[at].0))?,
        numbers(&before_variance, &|at| mixed(variance[at], own[at].1))?,
        numbers(&before_mean, &|at| own[at].0)?,
        numbers(&before_variance, &|at| own[at].1)?,
    ))
}

/// Returns the mean and the variance of each channel, in one pass over its planes.
fn channel_moments(
    op: &'static str,
    x: &DenseHostTensor,
    ctx: &ExecutionContext,
) -> Result<Vec<(f64, f64)>> {
    let dims = x.shape().dims();
    let channels = dims.get(1).copied().unwrap_or(1);
    let inner = product(dims.get(2..).unwrap_or_default());
    let images = product(dims.get(..1).unwrap_or_default());
    let place = move |image: usize, channel: usize| (image * channels + channel) * inner;
    if x.dtype() == DType::F32 {
        let from = &x.elements::<f32>()?[..];
        let own = (0..channels).map(|channel| {
            mean_and_variance((0..images).map(move |image| &from[place(image, channel)..][..inner]))
        });
        return Ok(own.collect());
    }
    let numbers = &real_numbers(op, x, ctx)?[..];
    let own = (0..channels).map(|channel| {
        moments((0..images).flat_map(move |image| {
            let plane = &numbers[place(image, channel)..][..inner];
            plane.iter().copied()
        }))
    });
    Ok(own.collect())
}

/// Normalizes each channel of each image by its own mean and variance.
///
/// # Errors
/// If there is not one number for each channel, or the elements are not real numbers.
#[tfrt_op("nn.InstanceNormalization")]
fn instance_normalization(
    x: &AnyRef,
    scale: &AnyRef,
    bias: &AnyRef,
    #[attr] epsilon: f32,
    ctx: &ExecutionContext,
) -> Result<AnyRef> {
    const OP: &str = "nn.InstanceNormalization";
    let x = dense(x)?;
    let [scale, bias] = channel_parameters(OP, &x, [scale, bias], ctx)?;
    grouped(OP, &x, scale.len(), (scale, bias), epsilon, ctx)
}

/// Normalizes groups of channels of each image by their own mean and variance.
///
/// # Errors
/// If there is not one number for each channel, the groups differ in size, or the elements are not
/// real numbers.
#[tfrt_op("nn.GroupNormalization")]
fn group_normalization(
    x: &AnyRef,
    scale: &AnyRef,
    bias: &AnyRef,
    #[attr] epsilon: f32,
    #[attr] num_groups: i64,
    ctx: &ExecutionContext,
) -> Result<AnyRef> {
    const OP: &str = "nn.GroupNormalization";
    let x = dense(x)?;
    let channels = x.shape().dim(1).unwrap_or(1);
    let groups = usize::try_from(num_groups).unwrap_or(0);
    if groups == 0 || !channels.is_multiple_of(groups) {
        return Err(invalid(format!(
            "`{OP}`: {channels} channels cannot be divided into {num_groups} groups"
        )));
    }
    let parameters = |operand: &AnyRef| {
        let numbers = real_numbers(OP, &dense(operand)?, ctx)?;
        // One for each group means one for each of its channels.
        match numbers.len() {
            len if len == channels => Ok(numbers),
            len if len == groups => {
                let each = channels / groups;
                let mut repeated = scratch::<f64>(ctx, channels)?;
                for (repeated, &number) in repeated.chunks_exact_mut(each.max(1)).zip(&*numbers) {
                    repeated.fill(number);
                }
                Ok(repeated)
            }
            len => Err(invalid(format!(
                "`{OP}`: expected {channels} elements, found {len}"
            ))),
        }
    };
    let (scale, bias) = (parameters(scale)?, parameters(bias)?);
    grouped(OP, &x, groups, (scale, bias), epsilon, ctx)
}

fn grouped(
    op: &'static str,
    x: &DenseHostTensor,
    groups: usize,
    (scale, bias): (OwnedElementsMut<f64>, OwnedElementsMut<f64>),
    epsilon: f32,
    ctx: &ExecutionContext,
) -> Result<AnyRef> {
    let dims = x.shape().dims();
    let inner = product(dims.get(2..).unwrap_or_default()).max(1);
    let each = scale.len() / groups.max(1);
    let set_len = (each * inner).max(1);
    // The norm of a channel of a set, by the statistics of the set.
    let norm = move |set: usize, channel: usize, (mean, variance): (f64, f64)| {
        let channel = set % groups * each + channel;
        ChannelNorm {
            mean,
            factor: scale[channel] / (variance + f64::from(epsilon)).sqrt(),
            offset: bias[channel],
        }
    };
    if x.dtype() == DType::F32 && x.num_elements() > 0 {
        let mut y = unspecified(ctx, DType::F32, dims)?;
        let (from, output) = (x.elements_owned::<f32>()?, y.elements_mut_owned::<f32>()?);
        let operations = 8 * output.len();
        let done = start_rows(ctx, output, set_len, operations, move |sets, part| {
            let from = from[sets.start * set_len..].chunks_exact(set_len);
            for (set, (from, to)) in sets.zip(from.zip(part.chunks_exact_mut(set_len))) {
                let found = mean_and_variance(std::iter::once(from));
                let planes = from.chunks_exact(inner).zip(to.chunks_exact_mut(inner));
                for (channel, (from, to)) in planes.enumerate() {
                    norm(set, channel, found).apply(from, to);
                }
            }
        })?;
        return Ok(after(done, y));
    }
    let y = with_real!(op, x.dtype(), T => {
        let from = x.elements::<T>()?;
        let mut found = (0.0, 0.0);
        made(ctx, dims, |at| {
            let set = at / set_len;
            if at % set_len == 0 {
                found = moments(from[at..][..set_len].iter().map(|x| x.to_f64()));
            }
            let norm = norm(set, at % set_len / inner, found);
            T::of_f64(norm.of(from[at].to_f64()))
        })
    })?;
    Ok(AnyRef::available(y))
}

/// Normalizes all dimensions from an axis on by their mean and variance, scales them and adds a
/// bias, which may be omitted. Also returns the means and the reciprocals of the standard
/// deviations, in single precision.
///
/// # Errors
/// If there is no such axis, scale or bias do not match, or the elements are not real numbers.
#[tfrt_op("nn.LayerNormalization")]
fn layer_normalization(
    operands: &[AnyRef],
    #[attr(default = -1)] axis: i64,
    #[attr] epsilon: f32,
    #[attr] slots: Option<&[i64]>,
    ctx: &ExecutionContext,
) -> Result<(AnyRef, AnyRef, AnyRef)> {
    const OP: &str = "nn.LayerNormalization";
    let slots = Slots::new(OP, operands, slots);
    let x = slots.need(0, "x")?;
    let axis = axis_of(OP, axis, x.shape().rank())?;
    let (outer, inner) = x.shape().dims().split_at(axis);
    let dims = [outer, &vec![1; inner.len()]].concat();
    if is_of_single_rows(&x, slots, inner)? {
        let norm = single_norm(slots, epsilon, true)?;
        let (means, write_mean) = kept_rows(&dims, 1, ctx)?;
        let (factors, write_factor) = kept_rows(&dims, 1, ctx)?;
        let keep = move |row: usize, _: &[f32], (mean, factor): (f64, f64)| {
            write_mean(row, &[mean as f32]);
            write_factor(row, &[factor as f32]);
        };
        let (sizes, keep) = (
            (x.shape().dims(), product(inner)),
            Some(Box::new(keep) as _),
        );
        let (done, y) = row_norms::start(sizes, vec![Summand::in_order(&x)?], norm, keep, ctx)?;
        let [y, means, factors] = [y, means, factors].map(|result| after(done.clone(), result));
        return Ok((y, means, factors));
    }
    let (y, statistics) = layer(OP, slots, axis, epsilon, true, ctx)?;
    // Rows without elements have no statistics.
    let statistics = statistics.as_chunks::<2>().0;
    let of = |at: usize| statistics.get(at).copied().unwrap_or([f64::NAN; 2]);
    let means = made(ctx, &dims, |at| of(at)[0] as f32)?;
    let factors = made(ctx, &dims, |at| of(at)[1] as f32)?;
    let [y, means, factors] = [y, means, factors].map(AnyRef::available);
    Ok((y, means, factors))
}

/// Divides all dimensions from an axis on by their root mean square, and scales them.
///
/// # Errors
/// If there is no such axis, the scale does not fit, or the elements are not real numbers.
#[tfrt_op("nn.RmsNormalization")]
fn rms_normalization(
    operands: &[AnyRef],
    #[attr(default = -1)] axis: i64,
    #[attr] epsilon: f32,
    ctx: &ExecutionContext,
) -> Result<AnyRef> {
    const OP: &str = "nn.RmsNormalization";
    let slots = Slots::new(OP, operands, None);
    let x = slots.need(0, "x")?;
    let axis = axis_of(OP, axis, x.shape().rank())?;
    let inner = &x.shape().dims()[axis..];
    if is_of_single_rows(&x, slots, inner)? {
        let norm = single_norm(slots, epsilon, false)?;
        let sizes = (x.shape().dims(), product(inner));
        let (done, y) = row_norms::start(sizes, vec![Summand::in_order(&x)?], norm, None, ctx)?;
        return Ok(after(done, y));
    }
    let (y, _) = layer(OP, slots, axis, epsilon, false, ctx)?;
    Ok(AnyRef::available(y))
}

/// Returns `true` if there are rows of single precision, and if the parameters have an element for
/// each of a row.
fn is_of_single_rows(x: &DenseHostTensor, slots: Slots<'_>, inner: &[usize]) -> Result<bool> {
    let is_row =
        |tensor: &DenseHostTensor| tensor.dtype() == DType::F32 && tensor.shape().dims() == inner;
    let fits = slots.get(1)?.iter().chain(&slots.get(2)?).all(is_row);
    Ok(fits && x.dtype() == DType::F32 && x.num_elements() > 0)
}

/// Returns the normalization of such rows.
fn single_norm(slots: Slots<'_>, epsilon: f32, is_centred: bool) -> Result<Norm> {
    let (scale, bias) = (slots.get(1)?, slots.get(2)?);
    Norm::new(scale.as_ref(), bias.as_ref(), epsilon, is_centred)
}

/// Rows, and pairs of the mean and the reciprocal of the deviation of each.
type Normalized = (DenseHostTensor, OwnedElementsMut<f64>);

/// Normalizes rows of any real numbers.
fn layer(
    op: &'static str,
    slots: Slots<'_>,
    axis: usize,
    epsilon: f32,
    is_centred: bool,
    ctx: &ExecutionContext,
) -> Result<Normalized> {
    let x = slots.need(0, "x")?;
    let dims = x.shape().dims();
    let inner = &dims[axis..];
    let len = product(inner);
    let stretched = |operand: Option<DenseHostTensor>| {
        let Some(operand) = operand else {
            return Ok(None);
        };
        let numbers = real_numbers(op, &operand, ctx)?;
        // What has more dimensions than are normalized is stretched over all of them.
        let to = if operand.shape().rank() > inner.len() {
            dims
        } else {
            inner
        };
        if crate::pairs::common(op, operand.shape().dims(), to)? != to {
            return Err(invalid(format!(
                "`{op}`: {} and the scale {} are incompatible",
                x.metadata(),
                operand.metadata()
            )));
        }
        // Rows without elements, or no rows, have no use for them.
        let count = if x.num_elements() == 0 {
            0
        } else {
            product(to)
        };
        let places = crate::pairs::Stretched::new(operand.shape().dims(), to).places();
        let mut stretched = scratch::<f64>(ctx, count)?;
        for (to, place) in stretched.iter_mut().zip(places) {
            *to = numbers[place];
        }
        Ok(Some(stretched))
    };
    let scale = stretched(slots.get(1)?)?;
    let bias = stretched(slots.get(2)?)?;
    with_real!(op, x.dtype(), T => {
        let from = x.elements::<T>()?;
        let epsilon = f64::from(epsilon);
        let mut statistics = scratch::<f64>(ctx, 2 * (from.len() / len.max(1)))?;
        let sets = from.chunks_exact(len.max(1));
        for (found, set) in statistics.as_chunks_mut::<2>().0.iter_mut().zip(sets) {
            let set = set.iter().map(|x| x.to_f64());
            *found = if is_centred {
                let (mean, variance) = moments(set);
                [mean, 1.0 / (variance + epsilon).sqrt()]
            } else {
                let squares: f64 = set.map(|x| x * x).sum();
                [0.0, 1.0 / (squares / len as f64 + epsilon).sqrt()]
            };
        }
        let of_rows = statistics.as_chunks::<2>().0;
        let y = made(ctx, dims, |at| {
            let [mean, factor] = of_rows[at / len];
            let number = |of: &Option<OwnedElementsMut<f64>>, missing| {
                of.as_ref().map_or(missing, |numbers| numbers[at % numbers.len()])
            };
            let normal = (from[at].to_f64() - mean) * factor;
            T::of_f64(normal * number(&scale, 1.0) + number(&bias, 0.0))
        })?;
        Ok((y, statistics))
    })
}

/// Divides each element by a power of the sum of the squares of its neighbours in other channels.
///
/// # Errors
/// If there are no channels, or the elements are not real numbers.
#[tfrt_op("nn.LocalResponseNormalization")]
fn local_response_normalization(
    x: &AnyRef,
    #[attr] size: i64,
    #[attr] alpha: f32,
    #[attr] beta: f32,
    #[attr] bias: f32,
    ctx: &ExecutionContext,
) -> Result<DenseHostTensor> {
    const OP: &str = "nn.LocalResponseNormalization";
    let x = dense(x)?;
    let dims = x.shape().dims();
    let (Some(&channels), Ok(size @ 1..)) = (dims.get(1), usize::try_from(size)) else {
        return Err(invalid(format!(
            "`{OP}`: expected channels and a positive size"
        )));
    };
    let inner = product(&dims[2..]);
    let (before, after) = ((size - 1) / 2, size / 2);
    let [alpha, beta, bias] = [alpha, beta, bias].map(f64::from);
    with_real!(OP, x.dtype(), T => {
        let from = x.elements::<T>()?;
        made(ctx, dims, |at| {
            let channel = at / inner % channels;
            let (start, end) = (channel.saturating_sub(before), (channel + after).min(channels - 1));
            let squares: f64 = (start..=end).map(|other| {
                let x = from[at - channel * inner + other * inner].to_f64();
                x * x
            }).sum();
            T::of_f64(from[at].to_f64() / (bias + alpha / size as f64 * squares).powf(beta))
        })
    })
}

/// Subtracts the mean from the elements along the axes of `axes`, and divides by their standard
/// deviation plus 1e-9.
///
/// # Errors
/// If there is no such axis, or the elements are not real numbers.
#[tfrt_op("nn.MeanVarianceNormalization")]
fn mean_variance_normalization(
    x: &AnyRef,
    #[attr] axes: &[i64],
    ctx: &ExecutionContext,
) -> Result<DenseHostTensor> {
    const OP: &str = "nn.MeanVarianceNormalization";
    let x = dense(x)?;
    let plan = Plan::new(
        x.shape().dims(),
        &crate::axes_of(OP, axes, x.shape().rank())?,
        true,
        ctx,
    )?;
    with_real!(OP, x.dtype(), T => {
        let from = x.elements::<T>()?;
        let mut y = allocate(ctx, x.dtype(), x.shape().dims())?;
        {
            let mut to = y.elements_mut::<T>()?;
            for (at, start) in plan.starts().enumerate() {
                let set = || plan.set(&from, at).map(Number::to_f64);
                let count = plan.set_len() as f64;
                let mean = set().sum::<f64>() / count;
                let variance = set().map(|x| (x - mean) * (x - mean)).sum::<f64>() / count;
                let factor = 1.0 / (variance.sqrt() + 1e-9);
                for offset in plan.offsets() {
                    let x = from[start + offset].to_f64();
                    to[start + offset] = T::of_f64((x - mean) * factor);
                }
            }
        }
        Ok(y)
    })
}
