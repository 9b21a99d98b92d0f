//! Functions of one tensor.

use tfrt::prelude::*;
use tfrt_compute::ComputeError;
use tfrt_compute::math::Real;
use tfrt_compute::unary::{self, Unary};
use tfrt_tensor::{DenseHostTensor, Element};

fn apply<T: Element + Real>(
    function: Unary,
    input: &DenseHostTensor,
    out: &mut DenseHostTensor,
) -> Result<()> {
    out.expect_shape(input.shape())?;
    unary::apply(
        function,
        &input.elements::<T>()?,
        &mut out.elements_mut::<T>()?,
    );
    Ok(())
}

/// Computes the natural logarithm of each element.
#[tfrt_kernel("tf_sync.Log.{T}", T = [f32, f64], sync)]
fn log<T: Element + Real>(input: &DenseHostTensor, out: &mut DenseHostTensor) -> Result<()> {
    apply::<T>(Unary::Ln, input, out)
}

/// Computes `ln(1 + x)` for each element.
#[tfrt_kernel("tf_sync.Log1p.{T}", T = [f32, f64], sync)]
fn log1p<T: Element + Real>(input: &DenseHostTensor, out: &mut DenseHostTensor) -> Result<()> {
    apply::<T>(Unary::Ln1p, input, out)
}

/// Computes `1 / √x` for each element.
#[tfrt_kernel("tf_sync.Rsqrt.{T}", T = [f32, f64], sync)]
fn rsqrt<T: Element + Real>(input: &DenseHostTensor, out: &mut DenseHostTensor) -> Result<()> {
    apply::<T>(Unary::Rsqrt, input, out)
}

/// Computes `1 / (1 + e⁻ˣ)` for each element.
#[tfrt_kernel("tf_sync.Sigmoid.{T}", T = [f32, f64], sync)]
fn sigmoid<T: Element + Real>(input: &DenseHostTensor, out: &mut DenseHostTensor) -> Result<()> {
    apply::<T>(Unary::Sigmoid, input, out)
}

/// Applies a function to the rows of a tensor: its elements along the last dimension.
fn apply_to_rows<T: Element>(
    routine: impl Fn(usize, &[T], &mut [T]) -> Result<(), ComputeError>,
    logits: &DenseHostTensor,
    out: &mut DenseHostTensor,
) -> Result<()> {
    out.expect_shape(logits.shape())?;
    let row_len = logits.shape().dims().last().copied().unwrap_or(1);
    Ok(routine(
        row_len,
        &logits.elements::<T>()?,
        &mut out.elements_mut::<T>()?,
    )?)
}

/// Computes `eˣ / Σ eˣ` along the last dimension.
#[tfrt_kernel("tf_sync.Softmax.{T}", T = [f32, f64], sync)]
fn softmax<T: Element + Real>(logits: &DenseHostTensor, out: &mut DenseHostTensor) -> Result<()> {
    apply_to_rows::<T>(tfrt_compute::softmax::softmax, logits, out)
}

/// Computes `ln(eˣ / Σ eˣ)` along the last dimension.
#[tfrt_kernel("tf_sync.LogSoftmax.{T}", T = [f32, f64], sync)]
fn log_softmax<T: Element + Real>(
    logits: &DenseHostTensor,
    out: &mut DenseHostTensor,
) -> Result<()> {
    apply_to_rows::<T>(tfrt_compute::softmax::log_softmax, logits, out)
}
