//! Reshaping, and tensors created from shapes.

use tfrt::prelude::*;
use tfrt_tensor::{DenseHostTensor, Shape};

use crate::number::{Number, with_integer, with_real, with_size};
use crate::pairs::{Rows, common};
use crate::{
    Slots, axes_of, axis_of, check_empty, dense, dimension_numbers, extents, invalid, made,
    one_number, product, shape_of, unspecified, whole_numbers,
};

fn reshaped(x: &DenseHostTensor, dims: &[usize]) -> Result<DenseHostTensor> {
    Ok(x.reshaped(shape_of(dims)?)?)
}

/// Returns the elements with another shape. One extent may be -1, and is computed from the others;
/// 0 stands for the extent of `x` unless `allow_zero` is set. The memory is shared.
///
/// # Errors
/// If the shape has another number of elements.
#[tfrt_op("nn.Reshape")]
fn reshape(
    x: &AnyRef,
    shape: &AnyRef,
    #[attr(default = false)] allow_zero: bool,
) -> Result<DenseHostTensor> {
    const OP: &str = "nn.Reshape";
    let x = dense(x)?;
    let wanted = dimension_numbers(OP, "shape", &dense(shape)?)?;
    let refused = || {
        invalid(format!(
            "`{OP}`: a tensor of {} cannot be reshaped to {wanted:?}",
            x.shape()
        ))
    };
    let mut dims = Vec::with_capacity(wanted.len());
    let mut unknown = None;
    for (axis, &extent) in wanted.iter().enumerate() {
        dims.push(match extent {
            -1 if unknown.is_none() => {
                unknown = Some(axis);
                1
            }
            0 if !allow_zero => x.shape().dim(axis).ok_or_else(refused)?,
            extent => usize::try_from(extent).map_err(|_| refused())?,
        });
    }
    if let Some(axis) = unknown {
        let known = Shape::new(&dims)?.num_elements();
        dims[axis] = match known {
            0 if x.num_elements() == 0 => 0,
            known => x.num_elements().checked_div(known).ok_or_else(refused)?,
        };
    }
    if Shape::new(&dims)?.num_elements() != x.num_elements() {
        return Err(refused());
    }
    reshaped(&x, &dims)
}

/// Returns the elements as a matrix: dimensions before `axis` form its rows, the others its
/// columns.
///
/// # Errors
/// If there is no such axis.
#[tfrt_op("nn.Flatten")]
fn flatten(x: &AnyRef, #[attr(default = 1)] axis: i64) -> Result<DenseHostTensor> {
    let x = dense(x)?;
    let dims = x.shape().dims();
    let axis = match usize::try_from(axis) {
        Ok(axis) if axis == dims.len() => axis,
        _ => axis_of("nn.Flatten", axis, dims.len())?,
    };
    reshaped(&x, &[product(&dims[..axis]), product(&dims[axis..])])
}

/// Returns the elements without the dimensions of extent 1 that the second operand lists, or
/// without all of them.
///
/// # Errors
/// If a dimension that is listed does not exist, or has another extent.
#[tfrt_op("nn.Squeeze")]
fn squeeze(operands: &[AnyRef]) -> Result<DenseHostTensor> {
    const OP: &str = "nn.Squeeze";
    let slots = Slots::new(OP, operands, None);
    let x = slots.need(0, "x")?;
    let dims = x.shape().dims();
    let mut is_dropped: Vec<bool> = dims.iter().map(|&extent| extent == 1).collect();
    if let Some(axes) = slots.get(1)? {
        is_dropped.fill(false);
        for axis in axes_of(OP, &whole_numbers(OP, &axes)?, dims.len())? {
            if dims[axis] != 1 {
                return Err(invalid(format!(
                    "`{OP}`: expected dimension {axis} of {} to be 1, found {}",
                    x.shape(),
                    dims[axis]
                )));
            }
            is_dropped[axis] = true;
        }
    }
    let kept = dims.iter().zip(is_dropped).filter(|(_, dropped)| !dropped);
    reshaped(&x, &kept.map(|(&extent, _)| extent).collect::<Vec<_>>())
}

/// Returns the elements with additional dimensions of extent 1 at the positions in the second
/// operand, which refer to the result.
///
/// # Errors
/// If a position does not exist, or is listed twice.
#[tfrt_op("nn.Unsqueeze")]
fn unsqueeze(x: &AnyRef, axes: &AnyRef) -> Result<DenseHostTensor> {
    const OP: &str = "nn.Unsqueeze";
    let x = dense(x)?;
    let axes = dimension_numbers(OP, "axes", &dense(axes)?)?;
    let rank = x.shape().rank() + axes.len();
    let axes = axes_of(OP, &axes, rank)?;
    let mut own = x.shape().dims().iter();
    let dims = (0..rank).map(|axis| match axes.contains(&axis) {
        true => 1,
        false => own.next().copied().unwrap_or(1),
    });
    reshaped(&x, &dims.collect::<Vec<_>>())
}

/// Permutes dimensions: dimension `i` of the result is dimension `perm[i]` of `x`. By default their
/// order is reversed.
///
/// # Errors
/// If the numbers are not a permutation of the dimensions.
#[tfrt_op("nn.Transpose")]
fn transpose(
    x: &AnyRef,
    #[attr] perm: Option<&[i64]>,
    ctx: &ExecutionContext,
) -> Result<DenseHostTensor> {
    const OP: &str = "nn.Transpose";
    let x = dense(x)?;
    let dims = x.shape().dims();
    let perm = match perm {
        Some(perm) => axes_of(OP, perm, dims.len())?,
        None => (0..dims.len()).rev().collect(),
    };
    if perm.len() != dims.len() {
        return Err(invalid(format!(
            "`{OP}`: expected a permutation of {} dimensions, found {perm:?}",
            dims.len()
        )));
    }
    permuted(OP, &x, &perm, ctx)
}

/// Returns a tensor with its dimensions permuted.
pub(crate) fn permuted(
    op: &'static str,
    x: &DenseHostTensor,
    perm: &[usize],
    ctx: &ExecutionContext,
) -> Result<DenseHostTensor> {
    let dims = x.shape().dims();
    let permuted: Vec<usize> = perm.iter().map(|&axis| dims[axis]).collect();
    let mut result = unspecified(ctx, x.dtype(), &permuted)?;
    with_size!(op, x.dtype(), N => {
        let from = x.buffer().read()?;
        let mut to = result.buffer_mut().write()?;
        let (from, to) = (from.as_chunks::<N>().0, to.as_chunks_mut::<N>().0);
        tfrt_compute::transpose::transpose(dims, perm, from, to)?;
        Ok(())
    })?;
    Ok(result)
}

/// Broadcasts a tensor to the common shape of the tensor and a list of extents.
///
/// # Errors
/// If they do not match.
#[tfrt_op("nn.Expand")]
fn expand(x: &AnyRef, shape: &AnyRef, ctx: &ExecutionContext) -> Result<DenseHostTensor> {
    const OP: &str = "nn.Expand";
    let x = dense(x)?;
    let shape = extents(OP, &dimension_numbers(OP, "shape", &dense(shape)?)?)?;
    let dims = common(OP, x.shape().dims(), &shape)?;
    stretched(OP, &x, &dims, ctx)
}

/// Returns a tensor, stretched to a shape that it fits.
pub(crate) fn stretched(
    op: &'static str,
    x: &DenseHostTensor,
    dims: &[usize],
    ctx: &ExecutionContext,
) -> Result<DenseHostTensor> {
    check_empty(dims)?;
    // `nn.Tile` has two dimensions for each of its operand's.
    let mut result = DenseHostTensor::unspecified(ctx.allocator(), x.dtype(), Shape::new(dims)?)?;
    with_size!(op, x.dtype(), N => {
        let from = x.buffer().read()?;
        let from = from.as_chunks::<N>().0;
        let mut to = result.buffer_mut().write()?;
        let rows = Rows::new([x.shape().dims()], dims);
        // Nothing begins where there is nothing.
        let len = rows.len.max(1);
        for (to, [place]) in to.as_chunks_mut::<N>().0.chunks_exact_mut(len).zip(rows.places()) {
            match rows.moves {
                [true] => to.copy_from_slice(&from[place..][..len]),
                [false] => to.fill(from[place]),
            }
        }
        Ok(())
    })?;
    Ok(result)
}

/// Repeats a tensor along each dimension. A list gives the numbers of repetitions.
///
/// # Errors
/// If the length of the list differs from the number of dimensions.
#[tfrt_op("nn.Tile")]
fn tile(x: &AnyRef, repeats: &AnyRef, ctx: &ExecutionContext) -> Result<DenseHostTensor> {
    const OP: &str = "nn.Tile";
    let x = dense(x)?;
    let repeats = extents(OP, &dimension_numbers(OP, "repeats", &dense(repeats)?)?)?;
    let dims = x.shape().dims();
    if repeats.len() != dims.len() {
        return Err(invalid(format!(
            "`{OP}`: expected {} elements for a tensor of {}, found {}",
            dims.len(),
            x.shape(),
            repeats.len()
        )));
    }
    // Each dimension as two: how often, and of what.
    let split: Vec<usize> = dims.iter().flat_map(|&extent| [1, extent]).collect();
    let both = repeats.iter().zip(dims);
    let wide: Vec<usize> = both.clone().flat_map(|(&n, &extent)| [n, extent]).collect();
    let tiled: Vec<usize> = both.map(|(n, extent)| n.saturating_mul(*extent)).collect();
    Shape::new(&tiled)?;
    let split = x.reshaped(Shape::new(&split)?)?;
    let stretched = stretched(OP, &split, &wide, ctx)?;
    reshaped(&stretched, &tiled)
}

/// Returns the extents of a tensor, or of its dimensions from `start` to `end`.
#[tfrt_op("nn.Shape")]
fn shape(
    x: &AnyRef,
    #[attr(default = 0)] start: i64,
    #[attr] end: Option<i64>,
    ctx: &ExecutionContext,
) -> Result<DenseHostTensor> {
    let x = dense(x)?;
    let dims = x.shape().dims();
    let rank = dims.len() as i64;
    let place = |number: i64| {
        let from_start = if number < 0 {
            number.saturating_add(rank)
        } else {
            number
        };
        from_start.clamp(0, rank) as usize
    };
    let (start, end) = (place(start), end.map_or(dims.len(), place));
    let part = dims.get(start..end).unwrap_or_default();
    made(ctx, &[part.len()], |at| part[at] as i64)
}

/// Returns the extent that all operands have along an axis, as a list of one number: `axes` has an
/// axis for each operand.
///
/// # Errors
/// If there is no such axis, or the extents differ.
#[tfrt_op("nn.CommonExtent")]
fn common_extent(
    operands: &[AnyRef],
    #[attr] axes: &[i64],
    ctx: &ExecutionContext,
) -> Result<DenseHostTensor> {
    const OP: &str = "nn.CommonExtent";
    if axes.len() != operands.len() {
        return Err(invalid(format!(
            "`{OP}`: expected an axis for each of {} operands, found {}",
            operands.len(),
            axes.len()
        )));
    }
    let mut first = None;
    for (number, (operand, &axis)) in operands.iter().zip(axes).enumerate() {
        let x = dense(operand)?;
        let extent = x.shape().dims()[axis_of(OP, axis, x.shape().rank())?];
        let first = *first.get_or_insert(extent);
        if extent != first {
            return Err(invalid(format!(
                "`{OP}`: expected operands of one length, found {first} for operand 0 and \
                 {extent} for operand {number}"
            )));
        }
    }
    made(ctx, &[1], |_| first.unwrap_or(0) as i64)
}

/// Returns the number of elements of a tensor.
#[tfrt_op("nn.Size")]
fn size(x: &AnyRef, ctx: &ExecutionContext) -> Result<DenseHostTensor> {
    let len = dense(x)?.num_elements() as i64;
    made(ctx, &[], |_| len)
}

/// Creates a tensor of the given shape, filled with the value of the second operand.
///
/// # Errors
/// If the shape is invalid, or the second operand does not have exactly one element.
#[tfrt_op("nn.Fill")]
fn fill(shape: &AnyRef, value: &AnyRef, ctx: &ExecutionContext) -> Result<DenseHostTensor> {
    const OP: &str = "nn.Fill";
    let dims = extents(OP, &dimension_numbers(OP, "shape", &dense(shape)?)?)?;
    let value = dense(value)?;
    if value.num_elements() != 1 {
        return Err(invalid(format!(
            "`{OP}`: expected a value with a single element"
        )));
    }
    stretched(OP, &reshaped(&value, &[])?, &dims, ctx)
}

/// Returns the numbers from `start` up to but excluding `limit`, in steps of `delta`.
///
/// # Errors
/// If the step is 0, or the operands are not numbers of one type.
#[tfrt_op("nn.Range")]
fn range(
    start: &AnyRef,
    limit: &AnyRef,
    delta: &AnyRef,
    ctx: &ExecutionContext,
) -> Result<DenseHostTensor> {
    const OP: &str = "nn.Range";
    let (start, limit, delta) = (dense(start)?, dense(limit)?, dense(delta)?);
    let number = |name, tensor: &DenseHostTensor| one_number(OP, name, tensor);
    let (from, to, step) = (
        number("start", &start)?,
        number("limit", &limit)?,
        number("delta", &delta)?,
    );
    if step == 0.0 {
        return Err(invalid(format!("`{OP}`: expected a nonzero step, found 0")));
    }
    let is_same = [&limit, &delta]
        .iter()
        .all(|other| other.dtype() == start.dtype());
    if !is_same {
        return Err(invalid(format!(
            "`{OP}`: expected operands of the same type"
        )));
    }
    if matches!(
        start.dtype(),
        DType::F16 | DType::Bf16 | DType::F32 | DType::F64
    ) {
        let count = ((to - from) / step).ceil().max(0.0);
        return with_real!(OP, start.dtype(), T => {
            made(ctx, &[count as usize], |at| T::of_f64(from + at as f64 * step))
        });
    }
    // Double precision does not hold all integers.
    with_integer!(OP, start.dtype(), T => {
        let whole = |tensor: &DenseHostTensor| -> Result<i128> {
            Ok(i128::from(tensor.elements::<T>()?[0]))
        };
        let (from, to, step) = (whole(&start)?, whole(&limit)?, whole(&delta)?);
        let (distance, length) = if step < 0 { (from - to, -step) } else { (to - from, step) };
        let count = if distance <= 0 { 0 } else { (distance - 1) / length + 1 };
        let count = usize::try_from(count).unwrap_or(usize::MAX);
        made(ctx, &[count], |at| (from + at as i128 * step) as T)
    })
}
