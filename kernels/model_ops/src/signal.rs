//! Signals: Fourier transforms, windows, mel filters.

use std::f64::consts::PI;

use tfrt::prelude::*;
use tfrt_compute::fourier::{ComplexPair, Fourier};
use tfrt_tensor::{DenseHostTensor, OwnedElementsMut, Shape};

use crate::number::{Number, with_number, with_real};
use crate::{
    Slots, allocate, axis_of, dense, extents, invalid, made, one_number, product, real_numbers,
    scratch, whole_numbers,
};

/// Returns one integer that is not negative.
fn one_extent(op: &'static str, name: &str, tensor: &DenseHostTensor) -> Result<usize> {
    match whole_numbers(op, tensor)?[..] {
        [number] => Ok(extents(op, &[number])?[0]),
        ref numbers => Err(invalid(format!(
            "`{op}`: expected `{name}` with a single element, found {}",
            numbers.len()
        ))),
    }
}

/// Returns memory for complex numbers, whose parts follow each other.
fn pairs(len: usize, ctx: &ExecutionContext) -> Result<OwnedElementsMut<f64>> {
    scratch(ctx, len.saturating_mul(2))
}

/// Plans transforms of a length, if the request may have as much memory as the plan keeps.
fn planned(len: usize, ctx: &ExecutionContext) -> Result<Fourier> {
    let num_pairs = match len.is_power_of_two() {
        true => len / 2,
        // A chirp, and the roots and the kernel of a power of two.
        false => {
            let padded = len.saturating_mul(2).checked_next_power_of_two();
            padded.map_or(usize::MAX, |padded| padded.saturating_mul(2))
        }
    };
    crate::ask(ctx, num_pairs.saturating_mul(size_of::<ComplexPair>()))?;
    Ok(Fourier::new(len)?)
}

/// Computes the discrete Fourier transform along an axis of real numbers, `[…, 1]`, or complex
/// ones, `[…, 2]`: of `length` elements, padded with zeros or truncated. The second operand is the
/// length, by default the extent of the axis. `one_sided` keeps the first half of the result, which
/// determines the rest for real numbers; with `inverse`, it takes such a half and returns real
/// numbers.
///
/// # Errors
/// If there is no such axis, or the last extent is neither 1 nor 2.
#[tfrt_op("nn.Fourier")]
fn fourier(
    operands: &[AnyRef],
    #[attr] axis: i64,
    #[attr(default = false)] inverse: bool,
    #[attr(default = false)] one_sided: bool,
    #[attr] slots: Option<&[i64]>,
    ctx: &ExecutionContext,
) -> Result<DenseHostTensor> {
    const OP: &str = "nn.Fourier";
    let slots = Slots::new(OP, operands, slots);
    let x = slots.need(0, "x")?;
    let dims = x.shape().dims();
    let rank = dims.len();
    let axis = match slots.get(2)? {
        Some(axis) => one_number(OP, "axis", &axis)? as i64,
        None => axis,
    };
    let axis = axis_of(OP, axis, rank)?;
    let parts = dims[rank - 1];
    if axis + 1 == rank || !(1..=2).contains(&parts) {
        return Err(invalid(format!(
            "`{OP}`: {} cannot be transformed along axis {axis}",
            x.metadata()
        )));
    }
    let is_half = inverse && one_sided;
    let len = match slots.get(1)? {
        Some(len) => one_extent(OP, "length", &len)?,
        None if is_half => 2 * dims[axis].saturating_sub(1),
        None => dims[axis],
    };
    let kept = if one_sided && !inverse {
        len / 2 + 1
    } else {
        len
    };
    let mut shape = dims.to_vec();
    shape[axis] = kept;
    shape[rank - 1] = if is_half { 1 } else { 2 };
    let parts_out = shape[rank - 1];
    let mut y = allocate(ctx, x.dtype(), &shape)?;
    if y.num_elements() == 0 {
        return Ok(y);
    }
    let plan = planned(len, ctx)?;
    let (mut workspace, mut signal) = (pairs(plan.workspace_len(), ctx)?, pairs(len, ctx)?);
    let workspace = workspace.as_chunks_mut::<2>().0;
    let signal: &mut [ComplexPair] = signal.as_chunks_mut::<2>().0;
    let inner = product(&dims[axis + 1..rank - 1]);
    let from = real_numbers(OP, &x, ctx)?;
    with_real!(OP, x.dtype(), T => {
        let mut to = y.elements_mut::<T>()?;
        for outer in 0..product(&dims[..axis]) {
            for column in 0..inner {
                let at = |step: usize| {
                    let start = ((outer * dims[axis] + step) * inner + column) * parts;
                    [from[start], if parts == 2 { from[start + 1] } else { 0.0 }]
                };
                signal.fill([0.0; 2]);
                for (step, to) in signal.iter_mut().enumerate().take(dims[axis]) {
                    *to = at(step);
                }
                if is_half {
                    // The other half mirrors the first one.
                    for step in len / 2 + 1..len {
                        let [re, im] = signal[len - step];
                        signal[step] = [re, -im];
                    }
                }
                if inverse {
                    plan.backward(signal, workspace)?;
                } else {
                    plan.forward(signal, workspace)?;
                }
                for (step, value) in signal.iter().enumerate().take(kept) {
                    let start = ((outer * kept + step) * inner + column) * parts_out;
                    for part in 0..parts_out {
                        to[start + part] = T::of_f64(value[part]);
                    }
                }
            }
        }
        Ok(())
    })?;
    Ok(y)
}

/// Computes the Fourier transforms of frames of a signal, `[batch, length, 1]` or
/// `[batch, length, 2]`. Operands are the signal, the distance between frames, a window that is
/// multiplied with each frame, and the length of frames; the last two may be omitted. `one_sided`
/// keeps the first half of each.
///
/// # Errors
/// If the operands do not match.
#[tfrt_op("nn.ShortTimeFourier")]
fn short_time_fourier(
    operands: &[AnyRef],
    #[attr(default = true)] one_sided: bool,
    #[attr] slots: Option<&[i64]>,
    ctx: &ExecutionContext,
) -> Result<DenseHostTensor> {
    const OP: &str = "nn.ShortTimeFourier";
    let slots = Slots::new(OP, operands, slots);
    let x = slots.need(0, "signal")?;
    let step = one_extent(OP, "frame_step", &slots.need(1, "frame_step")?)?;
    let window = slots
        .get(2)?
        .map(|window| real_numbers(OP, &window, ctx))
        .transpose()?;
    let (batch, len, parts) = match *x.shape().dims() {
        [batch, len] => (batch, len, 1),
        [batch, len, parts @ 1..=2] => (batch, len, parts),
        _ => {
            return Err(invalid(format!(
                "`{OP}`: expected signals, found {}",
                x.metadata()
            )));
        }
    };
    let frame = match (slots.get(3)?, &window) {
        (Some(length), _) => one_extent(OP, "frame_length", &length)?,
        (None, Some(window)) => window.len(),
        (None, None) => len,
    };
    if step == 0 || frame == 0 || frame > len || window.as_ref().is_some_and(|w| w.len() != frame) {
        return Err(invalid(format!(
            "`{OP}`: a signal of length {len} cannot be split into frames of length {frame} with \
             step {step}"
        )));
    }
    let frames = 1 + (len - frame) / step;
    let kept = if one_sided { frame / 2 + 1 } else { frame };
    let mut y = allocate(ctx, x.dtype(), &[batch, frames, kept, 2])?;
    let plan = planned(frame, ctx)?;
    let (mut workspace, mut signal) = (pairs(plan.workspace_len(), ctx)?, pairs(frame, ctx)?);
    let workspace = workspace.as_chunks_mut::<2>().0;
    let signal: &mut [ComplexPair] = signal.as_chunks_mut::<2>().0;
    let from = real_numbers(OP, &x, ctx)?;
    with_real!(OP, x.dtype(), T => {
        let mut to = y.elements_mut::<T>()?;
        for (number, to) in to.chunks_exact_mut(kept * 2).enumerate() {
            let start = number / frames * len + number % frames * step;
            for (at, value) in signal.iter_mut().enumerate() {
                let weight = window.as_ref().map_or(1.0, |window| window[at]);
                let place = (start + at) * parts;
                let imaginary = if parts == 2 { from[place + 1] } else { 0.0 };
                *value = [weight * from[place], weight * imaginary];
            }
            plan.forward(signal, workspace)?;
            for (to, value) in to.iter_mut().zip(signal.iter().flatten()) {
                *to = T::of_f64(*value);
            }
        }
        Ok(())
    })?;
    Ok(y)
}

/// Creates a window of the given length: `hann`, `hamming` or `blackman`. A `periodic` window is a
/// symmetric one that is longer by one element, without its last element.
///
/// # Errors
/// If there is no such window, or the operand is not a single extent.
#[tfrt_op("nn.Window")]
fn window(
    size: &AnyRef,
    #[attr] function: &str,
    #[attr] dtype: DType,
    #[attr(default = true)] periodic: bool,
    ctx: &ExecutionContext,
) -> Result<DenseHostTensor> {
    const OP: &str = "nn.Window";
    let size = one_extent(OP, "size", &dense(size)?)?;
    let terms: [f64; 3] = match function {
        "hann" => [0.5, 0.5, 0.0],
        "hamming" => [25.0 / 46.0, 21.0 / 46.0, 0.0],
        "blackman" => [0.42, 0.5, 0.08],
        other => return Err(invalid(format!("`{OP}`: unknown function `{other}`"))),
    };
    let period = if periodic {
        size
    } else {
        size.saturating_sub(1)
    } as f64;
    with_number!(OP, dtype, T => made(ctx, &[size], |at| {
        let angle = if period == 0.0 { 0.0 } else { 2.0 * PI * at as f64 / period };
        <T as Number>::of_f64(terms[0] - terms[1] * angle.cos() + terms[2] * (2.0 * angle).cos())
    }))
}

/// Creates the matrix that converts spectra to mel spectra, `[length / 2 + 1, bins]`: each column
/// is a triangle. Operands are the number of bins, the length of the transform, the sample rate,
/// and the lowest and the highest frequency.
///
/// # Errors
/// If an operand is not one number, or a frequency is outside of the spectrum.
#[tfrt_op("nn.MelWeights")]
fn mel_weights(
    num_bins: &AnyRef,
    length: &AnyRef,
    rate: &AnyRef,
    lowest: &AnyRef,
    highest: &AnyRef,
    #[attr] dtype: DType,
    ctx: &ExecutionContext,
) -> Result<DenseHostTensor> {
    const OP: &str = "nn.MelWeights";
    let bins = one_extent(OP, "num_mel_bins", &dense(num_bins)?)?;
    let length = one_extent(OP, "dft_length", &dense(length)?)?;
    let rate = one_extent(OP, "sample_rate", &dense(rate)?)?;
    let lowest = one_number(OP, "lower_edge_hertz", &dense(lowest)?)?;
    let highest = one_number(OP, "upper_edge_hertz", &dense(highest)?)?;
    let rows = length / 2 + 1;
    let shape = Shape::new(&[rows, bins])?;
    let mel = |hertz: f64| 2595.0 * (1.0 + hertz / 700.0).log10();
    let step = (mel(highest) - mel(lowest)) / (bins as f64 + 2.0);
    let mut matrix = allocate(ctx, DType::F64, shape.dims())?;
    {
        let mut matrix = matrix.elements_mut::<f64>()?;
        let edge = |at: usize| {
            let hertz = 700.0 * (10_f64.powf((at as f64 * step + mel(lowest)) / 2595.0) - 1.0);
            let place = ((length as f64 + 1.0) * hertz / rate as f64).floor();
            if (0.0..rows as f64).contains(&place) {
                return Ok(place as usize);
            }
            Err(invalid(format!(
                "`{OP}`: {hertz} Hz is outside of the spectrum"
            )))
        };
        for bin in 0..bins {
            let (low, centre, high) = (edge(bin)?, edge(bin + 1)?, edge(bin + 2)?);
            if low == centre {
                matrix[centre * bins + bin] = 1.0;
            }
            for row in low..=centre.max(low) {
                if low < centre {
                    matrix[row * bins + bin] = (row - low) as f64 / (centre - low) as f64;
                }
            }
            for row in centre..high {
                matrix[row * bins + bin] = (high - row) as f64 / (high - centre) as f64;
            }
        }
    }
    let numbers = matrix.elements::<f64>()?;
    with_number!(OP, dtype, T => made(ctx, shape.dims(), |at| <T as Number>::of_f64(numbers[at])))
}
