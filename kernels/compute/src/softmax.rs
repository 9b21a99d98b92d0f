//! Softmax, its logarithm, and the associated loss and gradient.
//!
//! All functions work on `len / row_len` independent rows.
//!
//! # Accuracy
//! Relative error below `(16 + row_len / 32 + |x - max|) · ε` for [`softmax`], where `x - max` is
//! the distance of a number from the greatest of its row, which is rounded before it becomes an
//! exponent; absolute error below `16 · ε · (1 + max|x|)` for [`log_softmax`].

use crate::error::{ComputeError, check_len};
use crate::lanes::vectorised;
use crate::math::Real;

/// Computes `output = eˣ / Σ eˣ` along each row. The maximum is subtracted first, so no exponential
/// overflows.
///
/// # Errors
/// If the slices differ in length, or do not consist of whole rows.
///
/// ```
/// let mut output = [0.0_f32; 2];
/// tfrt_compute::softmax::softmax(2, &[1000.0, 1000.0], &mut output)?;
/// assert_eq!(output, [0.5, 0.5]);
/// # Ok::<(), tfrt_compute::ComputeError>(())
/// ```
pub fn softmax<T: Real>(
    row_len: usize,
    logits: &[T],
    output: &mut [T],
) -> Result<(), ComputeError> {
    check_rows("softmax", row_len, logits.len(), output.len())?;
    vectorised(
        #[inline(always)]
        || {
            for (logits, output) in logits
                .chunks_exact(row_len.max(1))
                .zip(output.chunks_exact_mut(row_len.max(1)))
            {
                let greatest = greatest(logits);
                for (y, &x) in output.iter_mut().zip(logits) {
                    *y = (x - greatest).exp();
                }
                let factor = T::from(1) / sum(output);
                output.iter_mut().for_each(|y| *y = *y * factor);
            }
        },
    );
    Ok(())
}

/// Computes `output = x - ln(Σ eˣ)` along each row.
///
/// # Errors
/// If the slices differ in length, or do not consist of whole rows.
pub fn log_softmax<T: Real>(
    row_len: usize,
    logits: &[T],
    output: &mut [T],
) -> Result<(), ComputeError> {
    check_rows("log_softmax", row_len, logits.len(), output.len())?;
    vectorised(
        #[inline(always)]
        || {
            for (logits, output) in logits
                .chunks_exact(row_len.max(1))
                .zip(output.chunks_exact_mut(row_len.max(1)))
            {
                let greatest = greatest(logits);
                for (y, &x) in output.iter_mut().zip(logits) {
                    *y = (x - greatest).exp();
                }
                let logarithm = sum(output).ln();
                for (y, &x) in output.iter_mut().zip(logits) {
                    *y = (x - greatest) - logarithm;
                }
            }
        },
    );
    Ok(())
}

/// `eˣ / Σ eˣ` over all elements, without subtracting the maximum: large elements overflow.
pub fn unstabilised_softmax_in_place<T: Real>(tensor: &mut [T]) {
    vectorised(
        #[inline(always)]
        || {
            tensor.iter_mut().for_each(|x| *x = x.exp());
            let factor = sum(tensor);
            tensor.iter_mut().for_each(|x| *x = *x / factor);
        },
    );
}

/// Returns the cross entropy of `softmax(logits)` and `labels` for each row, and its gradient with
/// respect to the logits.
///
/// `loss = -Σ labels · log_softmax(logits)`; `gradient = softmax(logits) · Σ labels - labels`.
///
/// # Errors
/// If `labels` or `gradient` differ in length from `logits`, rows do not fill them, or there is not
/// one loss for each row.
pub fn softmax_cross_entropy<T: Real>(
    row_len: usize,
    logits: &[T],
    labels: &[T],
    loss: &mut [T],
    gradient: &mut [T],
) -> Result<(), ComputeError> {
    check_rows(
        "softmax_cross_entropy",
        row_len,
        logits.len(),
        gradient.len(),
    )?;
    check_len(
        "softmax_cross_entropy",
        "labels",
        logits.len(),
        labels.len(),
    )?;
    check_len(
        "softmax_cross_entropy",
        "loss",
        logits.len() / row_len.max(1),
        loss.len(),
    )?;
    vectorised(
        #[inline(always)]
        || {
            let row_len = row_len.max(1);
            let rows = logits
                .chunks_exact(row_len)
                .zip(labels.chunks_exact(row_len));
            for ((logits, labels), (gradient, loss)) in
                rows.zip(gradient.chunks_exact_mut(row_len).zip(loss))
            {
                let greatest = greatest(logits);
                for (y, &x) in gradient.iter_mut().zip(logits) {
                    *y = (x - greatest).exp();
                }
                let total = sum(gradient);
                let logarithm = total.ln();
                *loss = T::from(0);
                for (&x, &label) in logits.iter().zip(labels) {
                    // Where a label is zero, an infinite logit does not count.
                    let term = label * (logarithm - (x - greatest));
                    *loss += T::select(label == T::from(0), T::from(0), term);
                }
                let factor = sum(labels) / total;
                for (y, &label) in gradient.iter_mut().zip(labels) {
                    *y = *y * factor - label;
                }
            }
        },
    );
    Ok(())
}

/// Returns the greatest element; a NaN is passed over, and makes the sum of the powers NaN anyway.
#[inline(always)]
fn greatest<T: Real>(row: &[T]) -> T {
    let mut partial = [T::NEG_INFINITY; SIDE_BY_SIDE];
    let mut raise = |chunk: &[T]| {
        for (best, &x) in partial.iter_mut().zip(chunk) {
            *best = if x > *best { x } else { *best };
        }
    };
    let chunks = row.chunks_exact(SIDE_BY_SIDE);
    raise(chunks.remainder());
    chunks.for_each(raise);
    partial
        .into_iter()
        .fold(T::NEG_INFINITY, |best, x| if x > best { x } else { best })
}

const SIDE_BY_SIDE: usize = 32;

/// Returns a sum in an order that the processor does not change.
#[inline(always)]
pub(crate) fn sum<T: Real>(row: &[T]) -> T {
    let mut partial = [T::from(0); SIDE_BY_SIDE];
    let chunks = row.chunks_exact(SIDE_BY_SIDE);
    let rest = chunks.remainder();
    for chunk in chunks {
        partial
            .iter_mut()
            .zip(chunk)
            .for_each(|(sum, &x)| *sum += x);
    }
    partial.iter_mut().zip(rest).for_each(|(sum, &x)| *sum += x);
    partial.into_iter().fold(T::from(0), |sum, x| sum + x)
}

fn check_rows(
    routine: &str,
    row_len: usize,
    input: usize,
    output: usize,
) -> Result<(), ComputeError> {
    check_len(routine, "output", input, output)?;
    let is_filled = if row_len == 0 {
        input == 0
    } else {
        input.is_multiple_of(row_len)
    };
    if is_filled {
        return Ok(());
    }
    Err(ComputeError::new(format!(
        "{routine}: expected rows of {row_len} elements, found {input} elements in all"
    )))
}
