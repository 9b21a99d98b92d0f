//! Data movement: broadcasts, slices, padding.

use tfrt::prelude::*;
use tfrt_tensor::DenseHostTensor;

use super::{axes, load, numbers};
use crate::number::with_size;
use crate::pieces::window;
use crate::{advance, allocate, dense, extents, invalid, product, strides};

/// Copies an element of the operand to each element of the result. The source position is the inner
/// product of the result index and `steps`.
fn copied(
    op: &'static str,
    x: &DenseHostTensor,
    dims: &[usize],
    steps: &[usize],
    ctx: &ExecutionContext,
) -> Result<DenseHostTensor> {
    let mut result = allocate(ctx, x.dtype(), dims)?;
    if result.num_elements() == 0 {
        return Ok(result);
    }
    let Some((&last, outer)) = dims.split_last() else {
        return Ok(x.clone());
    };
    let (&last_step, outer_steps) = steps.split_last().unwrap_or((&0, &[]));
    with_size!(op, x.dtype(), N => {
        let from = x.buffer().read()?;
        let from = from.as_chunks::<N>().0;
        let mut to = result.buffer_mut().write()?;
        let mut index = vec![0; outer.len()];
        for row in to.as_chunks_mut::<N>().0.chunks_exact_mut(last) {
            let places = index.iter().zip(outer_steps);
            let start: usize = places.map(|(index, step)| index * step).sum();
            match last_step {
                0 => row.fill(from[start]),
                1 => row.copy_from_slice(&from[start..start + last]),
                _ => {
                    for (at, to) in row.iter_mut().enumerate() {
                        *to = from[start + at * last_step];
                    }
                }
            }
            advance(&mut index, outer);
        }
        Ok(())
    })?;
    Ok(result)
}

/// Broadcasts a tensor to a larger shape. `axes` maps each dimension of the operand to a dimension
/// of the result.
///
/// # Errors
/// If an extent is neither 1 nor that of the result.
#[tfrt_op("hlo.BroadcastInDim")]
pub(super) fn broadcast_in_dim(
    x: &AnyRef,
    #[attr] dims: Option<&[i64]>,
    #[attr] axes: Option<&[i64]>,
    ctx: &ExecutionContext,
) -> Result<DenseHostTensor> {
    const OP: &str = "hlo.BroadcastInDim";
    let x = dense(x)?;
    let dims = extents(OP, dims.unwrap_or_default())?;
    let axes = super::axes(OP, axes, dims.len())?;
    let own = x.shape().dims();
    let fits = axes.len() == own.len()
        && axes
            .iter()
            .zip(own)
            .all(|(&axis, &extent)| extent == 1 || extent == dims[axis]);
    if !fits {
        return Err(invalid(format!(
            "`{OP}` cannot broadcast {} to {dims:?} along {axes:?}",
            x.shape()
        )));
    }
    let mut steps = vec![0; dims.len()];
    for ((&axis, &extent), stride) in axes.iter().zip(own).zip(strides(own)) {
        steps[axis] = if extent == 1 { 0 } else { stride };
    }
    copied(OP, &x, &dims, &steps, ctx)
}

/// Returns the elements from `starts` up to `limits`, in `steps`.
///
/// # Errors
/// If the slice is out of bounds.
#[tfrt_op("hlo.Slice")]
pub(super) fn slice(
    x: &AnyRef,
    #[attr] starts: Option<&[i64]>,
    #[attr] limits: Option<&[i64]>,
    #[attr] steps: Option<&[i64]>,
    ctx: &ExecutionContext,
) -> Result<DenseHostTensor> {
    const OP: &str = "hlo.Slice";
    let x = dense(x)?;
    let dims = x.shape().dims();
    let rank = dims.len();
    let begin = extents(OP, &numbers(OP, "starts", starts, rank, 0)?)?;
    let end = extents(OP, &numbers(OP, "limits", limits, rank, 0)?)?;
    let steps = numbers(OP, "steps", steps, rank, 1)?;
    let mut sizes = vec![0; rank];
    for axis in 0..rank {
        if begin[axis] > end[axis] || end[axis] > dims[axis] || steps[axis] < 1 {
            return Err(invalid(format!(
                "`{OP}` cannot slice {}:{}:{} from {} elements along axis {axis}",
                begin[axis], end[axis], steps[axis], dims[axis]
            )));
        }
        sizes[axis] = (end[axis] - begin[axis]).div_ceil(steps[axis].unsigned_abs() as usize);
    }
    window(OP, &x, &begin, &steps, &sizes, ctx)
}

/// Clamps the starts of a slice of `sizes`, so that it lies inside the tensor.
fn clamped(
    op: &'static str,
    starts: &[AnyRef],
    dims: &[usize],
    sizes: &[usize],
) -> Result<Vec<usize>> {
    if starts.len() != dims.len() || sizes.len() != dims.len() {
        return Err(invalid(format!(
            "`{op}` needs {} starts and sizes, found {} and {}",
            dims.len(),
            starts.len(),
            sizes.len()
        )));
    }
    let places = starts.iter().zip(dims.iter().zip(sizes));
    let places = places.map(|(start, (&extent, &size))| {
        let numbers = crate::whole_numbers(op, &dense(start)?)?;
        let (&[start], Some(room)) = (&numbers[..], extent.checked_sub(size)) else {
            return Err(invalid(format!(
                "`{op}` cannot slice {size} of {extent} elements from {numbers:?}"
            )));
        };
        Ok(start.clamp(0, room as i64) as usize)
    });
    places.collect()
}

/// Returns a slice that starts at the indices in the other operands, clamped so that it is inside.
///
/// # Errors
/// If the slice is larger than the tensor.
#[tfrt_op("hlo.DynamicSlice")]
fn dynamic_slice(
    operands: &[AnyRef],
    #[attr] sizes: Option<&[i64]>,
    ctx: &ExecutionContext,
) -> Result<DenseHostTensor> {
    const OP: &str = "hlo.DynamicSlice";
    let [x, starts @ ..] = operands else {
        return Err(invalid(format!("`{OP}` needs an operand")));
    };
    let x = dense(x)?;
    let sizes = extents(OP, sizes.unwrap_or_default())?;
    let begin = clamped(OP, starts, x.shape().dims(), &sizes)?;
    window(OP, &x, &begin, &vec![1; sizes.len()], &sizes, ctx)
}

/// Writes the second operand into the first one, at the indices in the others, clamped so that it
/// is inside.
///
/// # Errors
/// If the second operand is larger than the first one, or of another type.
#[tfrt_op("hlo.DynamicUpdateSlice")]
fn dynamic_update_slice(operands: &[AnyRef], ctx: &ExecutionContext) -> Result<DenseHostTensor> {
    const OP: &str = "hlo.DynamicUpdateSlice";
    let [x, update, starts @ ..] = operands else {
        return Err(invalid(format!("`{OP}` needs two operands")));
    };
    let (x, update) = (dense(x)?, dense(update)?);
    if x.dtype() != update.dtype() {
        return Err(invalid(format!(
            "`{OP}` needs an update of {}, found {}",
            x.dtype(),
            update.dtype()
        )));
    }
    let (dims, sizes) = (x.shape().dims(), update.shape().dims());
    let begin = clamped(OP, starts, dims, sizes)?;
    let mut result = x.copied(ctx.allocator())?;
    if update.num_elements() == 0 {
        return Ok(result);
    }
    let own = strides(dims);
    let first: usize = begin.iter().zip(&own).map(|(at, step)| at * step).sum();
    let (row, outer) = sizes
        .split_last()
        .map_or((1, sizes), |(&row, outer)| (row, outer));
    {
        let width = x.dtype().size_bytes().unwrap_or(1);
        let from = update.buffer().read()?;
        let mut to = result.buffer_mut().write()?;
        let mut index = vec![0; outer.len()];
        for from in from.chunks_exact(row * width) {
            let place: usize = index.iter().zip(&own).map(|(at, step)| at * step).sum();
            let start = (first + place) * width;
            to[start..start + from.len()].copy_from_slice(from);
            advance(&mut index, outer);
        }
    }
    Ok(result)
}

/// Reverses the order of elements along some axes.
///
/// # Errors
/// If an axis is out of range.
#[tfrt_op("hlo.Reverse")]
fn reverse(
    x: &AnyRef,
    #[attr] axes: Option<&[i64]>,
    ctx: &ExecutionContext,
) -> Result<DenseHostTensor> {
    const OP: &str = "hlo.Reverse";
    let x = dense(x)?;
    let dims = x.shape().dims();
    let (mut begin, mut steps) = (vec![0; dims.len()], vec![1; dims.len()]);
    for axis in super::axes(OP, axes, dims.len())? {
        (begin[axis], steps[axis]) = (dims[axis].saturating_sub(1), -1);
    }
    window(OP, &x, &begin, &steps, dims, ctx)
}

/// Pads the first operand with the second one, a scalar, before, after and between its elements
/// along each axis. Negative `low` and `high` padding removes elements.
///
/// # Errors
/// If an attribute does not list one number for each axis, or an extent would be negative.
#[tfrt_op("hlo.Pad")]
pub(super) fn pad(
    x: &AnyRef,
    value: &AnyRef,
    #[attr] low: Option<&[i64]>,
    #[attr] high: Option<&[i64]>,
    #[attr] interior: Option<&[i64]>,
    ctx: &ExecutionContext,
) -> Result<DenseHostTensor> {
    const OP: &str = "hlo.Pad";
    let (x, value) = (dense(x)?, dense(value)?);
    let dims = x.shape().dims();
    let rank = dims.len();
    let low = numbers(OP, "low", low, rank, 0)?;
    let high = numbers(OP, "high", high, rank, 0)?;
    let interior = numbers(OP, "interior", interior, rank, 0)?;
    if value.dtype() != x.dtype() || value.num_elements() != 1 {
        return Err(invalid(format!(
            "`{OP}` cannot pad {} with {}",
            x.dtype(),
            value.metadata()
        )));
    }
    let mut sizes = vec![0; rank];
    for axis in 0..rank {
        let extent = dims[axis] as i128;
        let between = (extent - 1).max(0) * i128::from(interior[axis]);
        let size = extent + between + i128::from(low[axis]) + i128::from(high[axis]);
        let size = usize::try_from(size).ok().filter(|_| interior[axis] >= 0);
        sizes[axis] = size.ok_or_else(|| {
            invalid(format!(
                "`{OP}` cannot pad {} elements by {}, {} and {}",
                dims[axis], low[axis], high[axis], interior[axis]
            ))
        })?;
    }
    let mut result = allocate(ctx, x.dtype(), &sizes)?;
    let own = strides(&sizes);
    with_size!(OP, x.dtype(), N => {
        let value = value.buffer().read()?.as_chunks::<N>().0[0];
        let from = x.buffer().read()?;
        let mut to = result.buffer_mut().write()?;
        let to = to.as_chunks_mut::<N>().0;
        to.fill(value);
        let mut index = vec![0; rank];
        for element in from.as_chunks::<N>().0 {
            let place = (0..rank).try_fold(0, |place, axis| {
                let at = index[axis] as i128 * (i128::from(interior[axis]) + 1) + i128::from(low[axis]);
                let at = usize::try_from(at).ok().filter(|&at| at < sizes[axis])?;
                Some(place + at * own[axis])
            });
            if let Some(place) = place {
                to[place] = *element;
            }
            advance(&mut index, dims);
        }
        Ok(())
    })?;
    Ok(result)
}

/// The windows along one axis of a tensor, for windowed reductions and convolutions.
#[derive(Clone, Debug)]
pub(super) struct WindowAxis {
    pub(super) size: usize,
    pub(super) step: usize,
    pub(super) low: i64,
    /// The distance between elements of the tensor, with padding in between.
    pub(super) base_dilation: usize,
    /// The distance between elements of the window.
    pub(super) dilation: usize,
    /// The number of elements of the tensor.
    pub(super) extent: usize,
    /// The number of windows.
    pub(super) count: usize,
}

impl WindowAxis {
    /// Returns the position in the tensor of an element of a window, or `None` for padding.
    pub(super) fn place(&self, window: usize, element: usize) -> Option<usize> {
        // `WindowNumbers::axes` bounds the numbers of an axis, so the products fit into an `i64`.
        let at = (window * self.step + element * self.dilation) as i64 - self.low;
        let at = usize::try_from(at).ok()?;
        let place = at / self.base_dilation;
        (at % self.base_dilation == 0 && place < self.extent).then_some(place)
    }
}

/// The attributes of windows, with numbers for each axis.
pub(super) struct WindowNumbers<'a> {
    pub(super) sizes: &'a [i64],
    pub(super) steps: Option<&'a [i64]>,
    pub(super) base_dilations: Option<&'a [i64]>,
    pub(super) dilations: Option<&'a [i64]>,
    /// The low and high padding of each axis.
    pub(super) padding: Option<&'a [i64]>,
}

impl WindowNumbers<'_> {
    pub(super) fn axes(&self, op: &str, dims: &[usize]) -> Result<Vec<WindowAxis>> {
        /// Exceeds any extent, and is so small that products fit into an integer.
        const GREATEST: i64 = 1 << 30;
        let rank = dims.len();
        let sizes = numbers(op, "sizes", Some(self.sizes), rank, 1)?;
        let steps = numbers(op, "steps", self.steps, rank, 1)?;
        let base = numbers(op, "base_dilations", self.base_dilations, rank, 1)?;
        let dilations = numbers(op, "dilations", self.dilations, rank, 1)?;
        let padding = numbers(op, "padding", self.padding, 2 * rank, 0)?;
        let axis = |axis: usize| {
            let positive = [sizes[axis], steps[axis], base[axis], dilations[axis]];
            let pads = [padding[2 * axis], padding[2 * axis + 1]];
            let is_valid = positive.iter().all(|number| (1..GREATEST).contains(number))
                && pads.iter().all(|pad| pad.abs() < GREATEST)
                && (dims[axis] as i64) < GREATEST;
            if !is_valid {
                return Err(invalid(format!(
                    "`{op}` needs valid windows, found {positive:?}, padded by {pads:?}, along an axis of {}",
                    dims[axis]
                )));
            }
            let dilated = |extent: i64, dilation: i64| match extent {
                0 => 0,
                _ => (extent - 1) * dilation + 1,
            };
            let padded = dilated(dims[axis] as i64, base[axis]) + pads[0] + pads[1];
            let room = padded - dilated(sizes[axis], dilations[axis]);
            let count = if room < 0 || padded < 0 {
                0
            } else {
                room / steps[axis] + 1
            };
            Ok(WindowAxis {
                size: sizes[axis] as usize,
                step: steps[axis] as usize,
                low: pads[0],
                base_dilation: base[axis] as usize,
                dilation: dilations[axis] as usize,
                extent: dims[axis],
                count: count as usize,
            })
        };
        (0..rank).map(axis).collect()
    }
}

/// Returns the position in a tensor of an element of a window, or `None` for padding.
pub(super) fn window_place(
    axes: &[WindowAxis],
    own: &[usize],
    window: &[usize],
    element: &[usize],
) -> Option<usize> {
    let all = axes.iter().zip(own).zip(window.iter().zip(element));
    all.into_iter()
        .try_fold(0, |place, ((axis, stride), (&window, &element))| {
            Some(place + axis.place(window, element)? * stride)
        })
}

/// Permutes dimensions: dimension `axis` of the result is `perm[axis]` of the operand. The elements
/// have the representation of `element`.
pub(super) fn permuted(
    op: &'static str,
    elements: &[u64],
    dims: &[usize],
    perm: &[usize],
) -> Result<Vec<u64>> {
    let own = strides(dims);
    let sizes: Vec<usize> = perm.iter().map(|&axis| dims[axis]).collect();
    let mut index = vec![0; perm.len()];
    let mut moved = super::room(op, elements.len())?;
    for _ in 0..product(&sizes) {
        let places = perm.iter().zip(&index);
        let place: usize = places.map(|(&axis, at)| own[axis] * at).sum();
        advance(&mut index, &sizes);
        moved.push(elements[place]);
    }
    Ok(moved)
}

/// Returns an operand as a tensor, and its elements.
pub(super) fn loaded(op: &'static str, x: &AnyRef) -> Result<(DenseHostTensor, Vec<u64>)> {
    let x = dense(x)?;
    let elements = load(op, &x)?;
    Ok((x, elements))
}

/// Returns the axes of a tensor that an attribute lists.
pub(super) fn listed(op: &str, given: Option<&[i64]>, x: &DenseHostTensor) -> Result<Vec<usize>> {
    axes(op, given, x.shape().rank())
}
