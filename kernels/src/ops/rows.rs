//! Functions of rows along the last dimension.

use tfrt::core::metadata::{partial, same_as};
use tfrt::prelude::*;
use tfrt_compute::ComputeError;
use tfrt_compute::normalization::LayerNorm;
use tfrt_compute::softmax;
use tfrt_tensor::{DenseHostTensor, Element};

use super::{allocate, invalid, mismatched, unsupported, unsupported_dtype, with_dtype};

/// Computes `eˣ / Σ eˣ` along the last dimension.
///
/// # Errors
/// `unsupported dtype`.
#[tfrt_op("tf.Softmax", metadata = same_as, partial = partial::same_as, function = softmax)]
pub fn compute_softmax(logits: &AnyRef, ctx: &ExecutionContext) -> Result<DenseHostTensor> {
    rows(
        logits,
        ctx,
        softmax::softmax::<f32>,
        softmax::softmax::<f64>,
    )
}

/// Computes `ln(eˣ / Σ eˣ)` along the last dimension.
///
/// # Errors
/// `unsupported dtype`.
#[tfrt_op("tf.LogSoftmax", metadata = same_as, partial = partial::same_as, function = log_softmax)]
pub fn compute_log_softmax(logits: &AnyRef, ctx: &ExecutionContext) -> Result<DenseHostTensor> {
    rows(
        logits,
        ctx,
        softmax::log_softmax::<f32>,
        softmax::log_softmax::<f64>,
    )
}

/// A function of rows of this length.
type RowFunction<T> = fn(usize, &[T], &mut [T]) -> Result<(), ComputeError>;

fn rows(
    logits: &AnyRef,
    ctx: &ExecutionContext,
    single: RowFunction<f32>,
    double: RowFunction<f64>,
) -> Result<DenseHostTensor> {
    fn apply<T: Element>(
        function: RowFunction<T>,
        logits: &DenseHostTensor,
        ctx: &ExecutionContext,
    ) -> Result<DenseHostTensor> {
        let row_len = logits.shape().dims().last().copied().unwrap_or(1);
        let mut result = allocate(T::DTYPE, logits.shape().clone(), ctx)?;
        function(
            row_len,
            &logits.elements::<T>()?,
            &mut result.elements_mut::<T>()?,
        )?;
        Ok(result)
    }
    let logits = logits.try_read::<DenseHostTensor>().map_err(mismatched)?;
    match logits.dtype() {
        DType::F32 => apply(single, &logits, ctx),
        DType::F64 => apply(double, &logits, ctx),
        _ => Err(unsupported("unsupported dtype")),
    }
}

/// Normalizes each row to mean 0 and variance 1, multiplies it by `scale` and adds `offset`, which
/// are rows, too.
///
/// # Errors
/// If `scale` or `offset` are not rows of the element type of `x`.
#[tfrt_op("tf._FusedLayerNorm", metadata = layer_norm_metadata, function = layer_norm)]
pub fn compute_layer_norm(
    x: &DenseHostTensor,
    scale: &DenseHostTensor,
    offset: &DenseHostTensor,
    #[attr(default = 1e-5)] epsilon: f32,
    ctx: &ExecutionContext,
) -> Result<DenseHostTensor> {
    layer_norm_metadata(
        &x.metadata(),
        &scale.metadata(),
        &offset.metadata(),
        epsilon,
    )?;
    let mut result = allocate(x.dtype(), x.shape().clone(), ctx)?;
    with_dtype!(
        x.dtype(),
        T in [f32, f64] => {
            let (scale, offset) = (scale.elements::<T>()?, offset.elements::<T>()?);
            let norm = LayerNorm {
                scale: &scale,
                offset: &offset,
                epsilon: T::from(epsilon),
            };
            norm.apply(&x.elements::<T>()?, &mut result.elements_mut::<T>()?)?;
            Ok(result)
        },
        else Err(unsupported_dtype("tf._FusedLayerNorm", x.dtype()))
    )
}

fn layer_norm_metadata(
    x: &TensorMetadata,
    scale: &TensorMetadata,
    offset: &TensorMetadata,
    _epsilon: f32,
) -> Result<TensorMetadata> {
    let is_row = |side: &TensorMetadata| {
        side.dtype == x.dtype && side.extents.len() == 1 && side.extents.last() == x.extents.last()
    };
    if !is_row(scale) || !is_row(offset) {
        return Err(invalid(format!(
            "`tf._FusedLayerNorm`: expected `scale` and `offset` of the size of a row of {x}, \
             found {scale} and {offset}"
        )));
    }
    Ok(x.clone())
}
