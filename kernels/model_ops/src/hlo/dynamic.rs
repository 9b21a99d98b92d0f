//! Ops whose shapes are operands, because a program has dimensions that are known only at run time;
//! and checks of such dimensions.

use tfrt::prelude::*;
use tfrt_tensor::DenseHostTensor;

use super::{element_wise, moves, places, products, random, windows};
use crate::{dense, invalid, whole_numbers};

/// Returns the numbers of a vector of integers.
fn listed(op: &'static str, operand: &AnyRef) -> Result<Vec<i64>> {
    whole_numbers(op, &dense(operand)?)
}

/// Creates a scalar tensor.
fn scalar<T: tfrt_tensor::Element>(ctx: &ExecutionContext, value: T) -> Result<DenseHostTensor> {
    let shape = tfrt_tensor::Shape::scalar();
    Ok(DenseHostTensor::from_elements(
        ctx.allocator(),
        shape,
        &[value],
    )?)
}

/// Returns the extent of a dimension, as an `i32`.
///
/// # Errors
/// If there is no such dimension, or the extent does not fit.
#[tfrt_op("hlo.DimensionSize")]
fn dimension_size(
    x: &AnyRef,
    #[attr] axis: i64,
    ctx: &ExecutionContext,
) -> Result<DenseHostTensor> {
    const OP: &str = "hlo.DimensionSize";
    let x = dense(x)?;
    let axis = crate::axis_of(OP, axis, x.shape().rank())?;
    let extent = x.shape().dims()[axis];
    let extent = i32::try_from(extent).map_err(|_| {
        invalid(format!(
            "`{OP}`: the extent {extent} does not fit in an i32"
        ))
    })?;
    scalar(ctx, extent)
}

/// Broadcasts the first operand to the shape in the second one. `axes` maps each dimension of the
/// operand to a dimension of the result.
///
/// # Errors
/// If an extent is neither 1 nor that of the result.
#[tfrt_op("hlo.DynamicBroadcastInDim")]
fn dynamic_broadcast_in_dim(
    x: &AnyRef,
    shape: &AnyRef,
    #[attr] axes: Option<&[i64]>,
    ctx: &ExecutionContext,
) -> Result<DenseHostTensor> {
    let dims = listed("hlo.DynamicBroadcastInDim", shape)?;
    moves::broadcast_in_dim(x, Some(&dims), axes, ctx)
}

/// Broadcasts tensors to their common shape, aligned at the last dimension. `axes` maps each
/// dimension of an operand of lower rank to a dimension of the result.
///
/// # Errors
/// If extents differ and neither is 1.
#[tfrt_op("hlo.BroadcastTogether")]
fn broadcast_together(
    operands: &[AnyRef],
    #[attr] axes: Option<&[i64]>,
    ctx: &ExecutionContext,
) -> Result<Vec<AnyRef>> {
    const OP: &str = "hlo.BroadcastTogether";
    let tensors = operands.iter().map(dense).collect::<Result<Vec<_>>>()?;
    let rank = tensors.iter().map(|tensor| tensor.shape().rank()).max();
    let rank = rank.unwrap_or(0);
    let mut dims = vec![1; rank];
    let mut all_axes = Vec::new();
    for tensor in &tensors {
        let own = tensor.shape().dims();
        let own_axes: Vec<i64> = match axes {
            Some(axes) if own.len() < rank => axes.to_vec(),
            _ => ((rank - own.len()) as i64..rank as i64).collect(),
        };
        let places = crate::axes_of(OP, &own_axes, rank)?;
        if places.len() != own.len() {
            return Err(invalid(format!(
                "`{OP}` needs {} axes for {}, found {own_axes:?}",
                own.len(),
                tensor.shape()
            )));
        }
        for (&place, &extent) in places.iter().zip(own) {
            if dims[place] == 1 {
                dims[place] = extent as i64;
            } else if extent != 1 && dims[place] != extent as i64 {
                return Err(invalid(format!(
                    "`{OP}` cannot broadcast extents {} and {extent} along axis {place}",
                    dims[place]
                )));
            }
        }
        all_axes.push(own_axes);
    }
    let results = operands.iter().zip(all_axes).map(|(operand, axes)| {
        let result = moves::broadcast_in_dim(operand, Some(&dims), Some(&axes), ctx)?;
        Ok(AnyRef::available(result))
    });
    results.collect()
}

/// Creates a tensor, of the shape in the operand, in which each element is its own index along a
/// dimension.
///
/// # Errors
/// If the dimension is out of range, or the element type is not numeric.
#[tfrt_op("hlo.DynamicIota")]
fn dynamic_iota(
    shape: &AnyRef,
    #[attr] dtype: DType,
    #[attr] axis: i64,
    ctx: &ExecutionContext,
) -> Result<DenseHostTensor> {
    let dims = listed("hlo.DynamicIota", shape)?;
    element_wise::iota(dtype, &dims, axis, ctx)
}

/// Pads the first operand with the second one, a scalar. The other operands list the padding
/// before, after and between elements along each axis.
///
/// # Errors
/// As `hlo.Pad`.
#[tfrt_op("hlo.DynamicPad")]
fn dynamic_pad(
    x: &AnyRef,
    value: &AnyRef,
    low: &AnyRef,
    high: &AnyRef,
    interior: &AnyRef,
    ctx: &ExecutionContext,
) -> Result<DenseHostTensor> {
    const OP: &str = "hlo.DynamicPad";
    let (low, high) = (listed(OP, low)?, listed(OP, high)?);
    let interior = listed(OP, interior)?;
    moves::pad(x, value, Some(&low), Some(&high), Some(&interior), ctx)
}

/// Returns the elements of the first operand from the indices in the second one up to those in the
/// third one, in the steps in the fourth one.
///
/// # Errors
/// If the slice is out of bounds.
#[tfrt_op("hlo.RealDynamicSlice")]
fn real_dynamic_slice(
    x: &AnyRef,
    starts: &AnyRef,
    limits: &AnyRef,
    steps: &AnyRef,
    ctx: &ExecutionContext,
) -> Result<DenseHostTensor> {
    const OP: &str = "hlo.RealDynamicSlice";
    let (starts, limits) = (listed(OP, starts)?, listed(OP, limits)?);
    let steps = listed(OP, steps)?;
    moves::slice(x, Some(&starts), Some(&limits), Some(&steps), ctx)
}

/// Gathers slices as `hlo.Gather` does. The third operand lists their sizes.
///
/// # Errors
/// If the dimensions do not match.
#[tfrt_op("hlo.DynamicGather")]
#[expect(
    clippy::too_many_arguments,
    reason = "they are the attributes of the op"
)]
fn dynamic_gather(
    x: &AnyRef,
    indices: &AnyRef,
    sizes: &AnyRef,
    #[attr] offset: Option<&[i64]>,
    #[attr] collapsed: Option<&[i64]>,
    #[attr] batching: Option<&[i64]>,
    #[attr] indices_batching: Option<&[i64]>,
    #[attr] map: Option<&[i64]>,
    #[attr] vector_axis: i64,
    ctx: &ExecutionContext,
) -> Result<DenseHostTensor> {
    let sizes = listed("hlo.DynamicGather", sizes)?;
    places::gather(
        x,
        indices,
        Some(&sizes),
        offset,
        collapsed,
        batching,
        indices_batching,
        map,
        vector_axis,
        ctx,
    )
}

/// Convolves a tensor with filters as `hlo.Convolution` does. The third operand lists the low and
/// high padding of each spatial dimension.
///
/// # Errors
/// If the dimensions do not match.
#[tfrt_op("hlo.DynamicConvolution")]
#[expect(
    clippy::too_many_arguments,
    reason = "they are the attributes of the op"
)]
fn dynamic_convolution(
    lhs: &AnyRef,
    rhs: &AnyRef,
    padding: &AnyRef,
    #[attr] order: &[i64],
    #[attr] steps: Option<&[i64]>,
    #[attr] lhs_dilations: Option<&[i64]>,
    #[attr] rhs_dilations: Option<&[i64]>,
    #[attr] reversed: Option<&[i64]>,
    #[attr] groups: &[i64],
    #[attr] dtype: DType,
    ctx: &ExecutionContext,
) -> Result<DenseHostTensor> {
    let padding = listed("hlo.DynamicConvolution", padding)?;
    products::convolution(
        lhs,
        rhs,
        order,
        steps,
        Some(&padding),
        lhs_dilations,
        rhs_dilations,
        reversed,
        groups,
        dtype,
        ctx,
    )
}

/// Reduces windows as `hlo.ReduceWindow` does. The last five operands are lists: the sizes and
/// steps of the windows, the dilations of the tensors, the dilations of the windows, and the low
/// and high padding of each axis.
///
/// # Errors
/// If the program or the windows do not match the operands.
#[tfrt_op("hlo.DynamicReduceWindow")]
fn dynamic_reduce_window(
    operands: &[AnyRef],
    #[attr] program: &str,
    ctx: &ExecutionContext,
) -> Result<Vec<AnyRef>> {
    const OP: &str = "hlo.DynamicReduceWindow";
    let Some((reduced, lists)) = operands.split_last_chunk::<5>() else {
        return Err(invalid(format!(
            "`{OP}` needs five lists of numbers, found {} operands",
            operands.len()
        )));
    };
    let [sizes, steps, base_dilations, dilations, padding] = lists;
    windows::reduce_window(
        reduced,
        program,
        &listed(OP, sizes)?,
        Some(&listed(OP, steps)?),
        Some(&listed(OP, base_dilations)?),
        Some(&listed(OP, dilations)?),
        Some(&listed(OP, padding)?),
        ctx,
    )
}

/// Returns the next state and random bits, in the shape in the second operand.
///
/// # Errors
/// As `hlo.RngBitGenerator`.
#[tfrt_op("hlo.DynamicRngBitGenerator")]
fn dynamic_rng_bit_generator(
    state: &AnyRef,
    shape: &AnyRef,
    #[attr] algorithm: &str,
    #[attr] dtype: DType,
    ctx: &ExecutionContext,
) -> Result<(DenseHostTensor, DenseHostTensor)> {
    let dims = listed("hlo.DynamicRngBitGenerator", shape)?;
    random::rng_bit_generator(state, algorithm, dtype, Some(&dims), ctx)
}

/// Fails unless the first operand, a scalar, is true. The other operands are integers that `{0}`,
/// `{1}`, … in the message stand for. Returns the first operand.
///
/// # Errors
/// If the first operand is false, with the message.
#[tfrt_op("hlo.Expect")]
fn expect(operands: &[AnyRef], #[attr] message: &str) -> Result<DenseHostTensor> {
    const OP: &str = "hlo.Expect";
    let Some((condition, values)) = operands.split_first() else {
        return Err(invalid(format!("`{OP}` needs a condition")));
    };
    let condition = dense(condition)?;
    if element_wise::scalar(OP, "condition", &condition)? == 0 {
        let mut text = message.to_owned();
        for (index, value) in values.iter().enumerate() {
            let value = dense(value)?.elements_text()?;
            text = text.replace(&format!("{{{index}}}"), &value);
        }
        return Err(invalid(text));
    }
    Ok(condition)
}

/// Returns the first operand once all others are available. The result is an error if one of them
/// is.
#[tfrt_op("hlo.After")]
fn after(operands: &[AnyRef]) -> Result<DenseHostTensor> {
    match operands {
        [x, ..] => dense(x),
        [] => Err(invalid("`hlo.After` needs an operand")),
    }
}
