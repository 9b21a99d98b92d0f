//! Sums, means and extremes along dimensions, and positions of extremes.

use tfrt::prelude::*;
use tfrt_compute::reduction::{self, Axes, Reduction};
use tfrt_tensor::{DenseHostTensor, Shape};

use super::{
    allocate, axis_of, invalid, number_of, numbers_of, unsupported, unsupported_dtype, with_number,
};

/// Ranks of tensors whose means can be computed.
const MEAN_RANKS: std::ops::RangeInclusive<usize> = 1..=4;

/// Computes the means along some dimensions, which a vector of i32 lists; negative ones count from
/// the end. `keep_dims` keeps them with extent 1.
///
/// # Errors
/// `tf.Mean reduction index must be in [-input_rank, input_rank) range`,
/// `tf.Mean reduction indices must be unique`, `Unsupported reduction ranks: …`,
/// `unsupported dtype for TfMeanOp`.
#[tfrt_op("tf.Mean", function = mean)]
pub fn compute_mean(
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
    with_number!(
        x.dtype(),
        T => {
            axes.reduce(reduction, &x.elements::<T>()?, &mut result.elements_mut::<T>()?)?;
            Ok(result)
        },
        else Err(unsupported(unsupported_dtype))
    )
}

/// Computes the sums along some dimensions, which a vector of i32 or i64 lists; negative ones count
/// from the end. `keep_dims` keeps them with extent 1.
///
/// # Errors
/// If a dimension does not exist, or is listed twice.
#[tfrt_op("tf.Sum", function = sum)]
pub fn compute_sum(
    x: &DenseHostTensor,
    reduction_indices: &DenseHostTensor,
    #[attr(default = false)] keep_dims: bool,
    ctx: &ExecutionContext,
) -> Result<DenseHostTensor> {
    reduce_listed(
        "tf.Sum",
        Reduction::Sum,
        x,
        reduction_indices,
        keep_dims,
        ctx,
    )
}

/// Computes the products along some dimensions, which a vector of i32 or i64 lists; negative ones
/// count from the end. `keep_dims` keeps them with extent 1.
///
/// # Errors
/// If a dimension does not exist, or is listed twice.
#[tfrt_op("tf.Prod", function = prod)]
pub fn compute_prod(
    x: &DenseHostTensor,
    reduction_indices: &DenseHostTensor,
    #[attr(default = false)] keep_dims: bool,
    ctx: &ExecutionContext,
) -> Result<DenseHostTensor> {
    reduce_listed(
        "tf.Prod",
        Reduction::Product,
        x,
        reduction_indices,
        keep_dims,
        ctx,
    )
}

/// Computes the greatest elements along some dimensions, which a vector of i32 or i64 lists;
/// negative ones count from the end. `keep_dims` keeps them with extent 1.
///
/// # Errors
/// If a dimension does not exist, or is listed twice.
#[tfrt_op("tf.Max", function = max)]
pub fn compute_max(
    x: &DenseHostTensor,
    reduction_indices: &DenseHostTensor,
    #[attr(default = false)] keep_dims: bool,
    ctx: &ExecutionContext,
) -> Result<DenseHostTensor> {
    reduce_listed(
        "tf.Max",
        Reduction::Max,
        x,
        reduction_indices,
        keep_dims,
        ctx,
    )
}

/// Computes the least elements along some dimensions, which a vector of i32 or i64 lists; negative
/// ones count from the end. `keep_dims` keeps them with extent 1.
///
/// # Errors
/// If a dimension does not exist, or is listed twice.
#[tfrt_op("tf.Min", function = min)]
pub fn compute_min(
    x: &DenseHostTensor,
    reduction_indices: &DenseHostTensor,
    #[attr(default = false)] keep_dims: bool,
    ctx: &ExecutionContext,
) -> Result<DenseHostTensor> {
    reduce_listed(
        "tf.Min",
        Reduction::Min,
        x,
        reduction_indices,
        keep_dims,
        ctx,
    )
}

fn reduce_listed(
    op: &str,
    reduction: Reduction,
    x: &DenseHostTensor,
    indices: &DenseHostTensor,
    keeps_axes: bool,
    ctx: &ExecutionContext,
) -> Result<DenseHostTensor> {
    let rank = x.shape().rank();
    let listed = numbers_of(op, "reduction_indices", indices)?;
    let axes = listed
        .iter()
        .map(|&axis| Ok(axis_of(op, axis, rank)? as isize));
    let axes = axes.collect::<Result<Vec<_>>>()?;
    reduce(
        reduction,
        x,
        &axes,
        keeps_axes,
        &format!("`{op}` does not support {}", x.dtype()),
        ctx,
    )
}

/// Returns the positions of the greatest elements along a dimension, as i64 or, depending on
/// `output_type`, i32. Of equal elements, it is the first.
///
/// # Errors
/// If the dimension does not exist, or is empty.
#[tfrt_op("tf.ArgMax", function = argmax)]
pub fn compute_argmax(
    x: &DenseHostTensor,
    dimension: &DenseHostTensor,
    #[attr] output_type: Option<DType>,
    ctx: &ExecutionContext,
) -> Result<DenseHostTensor> {
    const OP: &str = "tf.ArgMax";
    let dims = x.shape().dims();
    let axis = axis_of(OP, number_of(OP, "dimension", dimension)?, dims.len())?;
    let shape = Shape::new(&[&dims[..axis], &dims[axis + 1..]].concat())?;
    let output_type = output_type.unwrap_or(DType::I64);
    let mut result = allocate(output_type, shape, ctx)?;
    let axis = axis as isize;
    with_number!(
        x.dtype(),
        T => {
            let x = x.elements::<T>()?;
            match output_type {
                DType::I32 => reduction::argmax(dims, axis, &x, &mut result.elements_mut::<i32>()?)?,
                DType::I64 => reduction::argmax(dims, axis, &x, &mut result.elements_mut::<i64>()?)?,
                other => return Err(invalid(format!("`{OP}`: expected a result type i32 or i64, found {other}"))),
            }
            Ok(result)
        },
        else Err(unsupported_dtype(OP, x.dtype()))
    )
}
