//! Fourier transforms of the last dimensions of a tensor. All arithmetic is in double precision.

use tfrt::prelude::*;
use tfrt_compute::fourier::Fourier;
use tfrt_tensor::{DenseHostTensor, Shape};

use super::complex::{Complex, conjugate};
use super::element::Type;
use crate::{dense, extents, invalid, product};

/// Computes Fourier transforms of the last dimensions of a tensor, whose extents are `lengths`.
/// `kind` is `FFT`, `IFFT`, `RFFT` or `IRFFT`. A transform of real numbers keeps the first half of
/// the last dimension, plus one element; its inverse takes such a half.
///
/// # Errors
/// If the type or the dimensions of the operand do not match the transform.
#[tfrt_op("hlo.Fft")]
fn fft(
    x: &AnyRef,
    #[attr] kind: &str,
    #[attr] lengths: &[i64],
    ctx: &ExecutionContext,
) -> Result<DenseHostTensor> {
    const OP: &str = "hlo.Fft";
    let x = dense(x)?;
    let lengths = extents(OP, lengths)?;
    let dims = x.shape().dims();
    let (takes_real, gives_real) = match kind {
        "FFT" | "IFFT" => (false, false),
        "RFFT" => (true, false),
        "IRFFT" => (false, true),
        _ => {
            return Err(invalid(format!(
                "`{OP}` has no transform `{kind}`: expected `FFT`, `IFFT`, `RFFT` or `IRFFT`"
            )));
        }
    };
    let (ty, count) = Type::parts(OP, x.dtype())?;
    let is_real = count == 1;
    let half = |length: usize| if length == 0 { 0 } else { length / 2 + 1 };
    let fits = ty.is_real()
        && matches!(ty.dtype, DType::F32 | DType::F64)
        && is_real == takes_real
        && (1..=3).contains(&lengths.len())
        && lengths.len() <= dims.len();
    let outer_rank = dims.len().saturating_sub(lengths.len());
    let mut own_lengths = lengths.clone();
    if gives_real && let Some(last) = own_lengths.last_mut() {
        *last = half(*last);
    }
    if !fits || dims[outer_rank..] != own_lengths {
        return Err(invalid(format!(
            "`{OP}` cannot compute {kind} of {lengths:?} elements from {}",
            x.metadata()
        )));
    }
    let outer = &dims[..outer_rank];
    let full_dims = [outer, &lengths[..]].concat();
    let mut result_dims = full_dims.clone();
    if takes_real && let Some(last) = result_dims.last_mut() {
        *last = half(*last);
    }
    let dtype = match (gives_real, ty.dtype) {
        (true, other) => other,
        (false, DType::F32) => DType::Complex64,
        (false, _) => DType::Complex128,
    };
    // Refuses a result that is too large before anything is computed.
    let num_elements = Shape::new(&full_dims)?.num_elements();
    crate::allocate(ctx, dtype, &result_dims)?;
    let mut signal: Vec<Complex> = super::room(OP, num_elements)?;
    let (_, planes) = super::planes(OP, &x)?;
    let imaginary = |at: usize| planes.get(1).map_or(0.0, |plane| f64::from_bits(plane[at]));
    let given = |at: usize| [f64::from_bits(planes[0][at]), imaginary(at)];
    let (length, own) = match lengths.last().zip(own_lengths.last()) {
        Some((&length, &own)) => (length, own),
        None => (0, 0),
    };
    for row in 0..num_elements.checked_div(length).unwrap_or(0) {
        signal.extend((0..length).map(|at| match at < own {
            true => given(row * own + at),
            false => [0.0; 2],
        }));
    }
    let inverse = matches!(kind, "IFFT" | "IRFFT");
    if num_elements > 0 {
        let last = lengths.len() - 1;
        // The other axes first, while only half of the last one is known.
        for axis in (0..last).rev() {
            transform(&mut signal, &full_dims, outer_rank + axis, inverse)?;
        }
        if gives_real {
            for row in signal.chunks_exact_mut(length) {
                for at in own..length {
                    row[at] = conjugate(row[length - at]);
                }
            }
        }
        transform(&mut signal, &full_dims, outer_rank + last, inverse)?;
    }
    let kept = result_dims.last().copied().unwrap_or(0);
    let parts = if gives_real { 1 } else { 2 };
    let plane = |part: usize| -> Result<Vec<u64>> {
        let mut plane = super::room(OP, product(&result_dims))?;
        for row in signal.chunks_exact(length.max(1)) {
            plane.extend(row.iter().take(kept).map(|x| ty.round(x[part])));
        }
        Ok(plane)
    };
    let planes = (0..parts).map(plane).collect::<Result<Vec<_>>>()?;
    super::store_planes(OP, ctx, dtype, &result_dims, &planes)
}

/// Transforms all rows along an axis.
fn transform(signal: &mut [Complex], dims: &[usize], axis: usize, inverse: bool) -> Result<()> {
    let (length, inner) = (dims[axis], product(&dims[axis + 1..]));
    let plan = Fourier::new(length)?;
    let mut workspace = vec![[0.0; 2]; plan.workspace_len()];
    let mut row = vec![[0.0; 2]; length];
    for block in signal.chunks_exact_mut(length * inner) {
        for column in 0..inner {
            for (at, element) in row.iter_mut().enumerate() {
                *element = block[at * inner + column];
            }
            match inverse {
                true => plan.backward(&mut row, &mut workspace)?,
                false => plan.forward(&mut row, &mut workspace)?,
            }
            for (at, element) in row.iter().enumerate() {
                block[at * inner + column] = *element;
            }
        }
    }
    Ok(())
}
