//! Reductions, and functions of rows.

use half::f16;
use tfrt::prelude::*;
use tfrt_compute::ShapeError;
use tfrt_compute::reduction::{Axes, Reduction};
use tfrt_compute::softmax;
use tfrt_tensor::{DenseHostTensor, Element, Shape};

use super::metadata::same;
use super::{allocate, mismatched, unsupported, with_dtype};

/// Ranks of tensors whose means can be computed.
const MEAN_RANKS: std::ops::RangeInclusive<usize> = 1..=4;

/// Computes the means along some dimensions, which a vector of i32 lists; negative ones count from the end. With `keep_dims` they
/// are kept, with the extent 1.
///
/// # Errors
/// `tf.Mean reduction index must be in [-input_rank, input_rank) range`, `tf.Mean reduction indices must be unique`,
/// `Unsupported reduction ranks: …`, `unsupported dtype for TfMeanOp`.
#[tfrt_op("tf.Mean")]
fn mean(
    x: &DenseHostTensor,
    reduction_indices: &DenseHostTensor,
    #[attr] keep_dims: Option<bool>,
    ctx: &ExecutionContext,
) -> Result<DenseHostTensor> {
    let rank = x.shape().rank();
    let indices = reduction_indices.elements::<i32>()?;
    let mut axes: Vec<isize> = Vec::with_capacity(indices.len());
    for &index in &*indices {
        let from_start = if index < 0 {
            rank as i64 + i64::from(index)
        } else {
            index.into()
        };
        match isize::try_from(from_start) {
            Ok(axis) if (0..rank as i64).contains(&from_start) => axes.push(axis),
            _ => {
                return Err(unsupported(
                    "tf.Mean reduction index must be in [-input_rank, input_rank) range",
                ));
            }
        }
    }
    axes.sort_unstable();
    if axes.windows(2).any(|pair| pair[0] == pair[1]) {
        return Err(unsupported("tf.Mean reduction indices must be unique"));
    }
    if !MEAN_RANKS.contains(&rank) {
        return Err(unsupported(format!(
            "Unsupported reduction ranks: input rank {rank}, {} reduced",
            axes.len()
        )));
    }
    reduce(
        Reduction::Mean,
        x,
        &axes,
        keep_dims.unwrap_or(false),
        "unsupported dtype for TfMeanOp",
        ctx,
    )
}

/// Reduces a tensor along some of its axes.
pub(super) fn reduce(
    reduction: Reduction,
    x: &DenseHostTensor,
    axes: &[isize],
    keeps_axes: bool,
    unsupported_dtype: &str,
    ctx: &ExecutionContext,
) -> Result<DenseHostTensor> {
    let axes = Axes::new(x.shape().dims(), axes)?;
    let shape = Shape::new(&axes.output_shape(keeps_axes))?;
    let mut result = allocate(x.dtype(), shape, ctx)?;
    with_dtype!(
        x.dtype(),
        T in [u8, u16, u32, u64, i8, i16, i32, i64, f16, f32, f64] => {
            axes.reduce(reduction, &x.elements::<T>()?, &mut result.elements_mut::<T>()?)?;
            Ok(result)
        },
        else Err(unsupported(unsupported_dtype))
    )
}

/// Computes `eˣ / Σ eˣ` along the last dimension.
///
/// # Errors
/// `unsupported dtype`.
#[tfrt_op("tf.Softmax", metadata = same)]
fn soft_max(logits: &AnyRef, ctx: &ExecutionContext) -> Result<DenseHostTensor> {
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
#[tfrt_op("tf.LogSoftmax", metadata = same)]
fn log_soft_max(logits: &AnyRef, ctx: &ExecutionContext) -> Result<DenseHostTensor> {
    rows(
        logits,
        ctx,
        softmax::log_softmax::<f32>,
        softmax::log_softmax::<f64>,
    )
}

/// A function of rows of this length.
type RowFunction<T> = fn(usize, &[T], &mut [T]) -> Result<(), ShapeError>;

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
