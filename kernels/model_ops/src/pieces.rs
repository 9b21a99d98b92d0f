//! Concatenation, and parts of tensors.

use tfrt::prelude::*;
use tfrt_tensor::DenseHostTensor;

use crate::number::with_size;
use crate::{
    Slots, advance, allocate, axes_of, axis_of, dense, extents, invalid, product, scratch, strides,
    unspecified, whole_numbers,
};

/// Concatenates tensors along an axis.
///
/// # Errors
/// If their types or other dimensions differ.
#[tfrt_op("nn.Concat")]
fn concat(
    operands: &[AnyRef],
    #[attr] axis: i64,
    ctx: &ExecutionContext,
) -> Result<DenseHostTensor> {
    const OP: &str = "nn.Concat";
    let tensors = operands.iter().map(dense).collect::<Result<Vec<_>>>()?;
    concatenated(OP, &tensors, axis, ctx)
}

/// Tensors one after another along an axis.
pub(crate) fn concatenated(
    op: &'static str,
    tensors: &[DenseHostTensor],
    axis: i64,
    ctx: &ExecutionContext,
) -> Result<DenseHostTensor> {
    let Some(first) = tensors.first() else {
        return Err(invalid(format!(
            "`{op}`: expected at least one operand, found none"
        )));
    };
    let mut dims = first.shape().dims().to_vec();
    let axis = axis_of(op, axis, dims.len())?;
    dims[axis] = 0;
    for tensor in tensors {
        let mut others = tensor.shape().dims().to_vec();
        let fits = others.len() == dims.len() && tensor.dtype() == first.dtype();
        let extent = fits.then(|| std::mem::replace(&mut others[axis], dims[axis]));
        match extent {
            Some(extent) if others == dims => dims[axis] = dims[axis].saturating_add(extent),
            _ => {
                return Err(invalid(format!(
                    "`{op}`: {} cannot be concatenated after {} along axis {axis}",
                    tensor.metadata(),
                    first.metadata()
                )));
            }
        }
    }
    let mut result = unspecified(ctx, first.dtype(), &dims)?;
    let width = first.dtype().size_bytes().unwrap_or(1);
    let inner = product(&dims[axis + 1..]) * width;
    let row = dims[axis] * inner;
    if row == 0 {
        return Ok(result);
    }
    let mut to = result.buffer_mut().write()?;
    let mut start = 0;
    for tensor in tensors {
        let len = tensor.shape().dims()[axis] * inner;
        if len == 0 {
            continue;
        }
        let from = tensor.buffer().read()?;
        for (to, from) in to.chunks_exact_mut(row).zip(from.chunks_exact(len)) {
            to[start..start + len].copy_from_slice(from);
        }
        start += len;
    }
    drop(to);
    Ok(result)
}

/// Splits a tensor into `count` pieces along an axis. The second operand gives their sizes; without
/// it they have equal size, except for a smaller last one.
///
/// # Errors
/// If the sizes do not add up to the extent of the axis.
#[tfrt_op("nn.Split")]
fn split(
    operands: &[AnyRef],
    #[attr] count: i64,
    #[attr(default = 0)] axis: i64,
    ctx: &ExecutionContext,
) -> Result<Vec<AnyRef>> {
    const OP: &str = "nn.Split";
    let slots = Slots::new(OP, operands, None);
    let x = slots.need(0, "x")?;
    let dims = x.shape().dims();
    let axis = axis_of(OP, axis, dims.len())?;
    let extent = dims[axis];
    let count = usize::try_from(count).unwrap_or(0).max(1);
    let sizes = match slots.get(1)? {
        Some(sizes) => extents(OP, &whole_numbers(OP, &sizes)?)?,
        None => {
            let each = extent.div_ceil(count);
            let starts = (0..count).map(|piece| (piece * each).min(extent));
            starts.map(|start| each.min(extent - start)).collect()
        }
    };
    let sum = sizes
        .iter()
        .try_fold(0_usize, |sum, &size| sum.checked_add(size));
    if sizes.len() != count || sum != Some(extent) {
        return Err(invalid(format!(
            "`{OP}`: a dimension of size {extent} cannot be split into {count} parts of sizes \
             {sizes:?}"
        )));
    }
    let mut start = 0;
    let pieces = sizes.into_iter().map(|size| {
        let mut begin = vec![0; dims.len()];
        let mut piece = dims.to_vec();
        (begin[axis], piece[axis]) = (start, size);
        start += size;
        let steps = vec![1; dims.len()];
        Ok(AnyRef::available(window(
            OP, &x, &begin, &steps, &piece, ctx,
        )?))
    });
    pieces.collect()
}

/// Returns the elements from `starts` up to but excluding `ends`, in `steps`, along the axes of the
/// fourth operand or the first ones. Negative numbers count from the end, and numbers out of range
/// stand for the end. With a negative step, an end that is the greatest number of 32 or 64 bits
/// stands for the beginning.
///
/// # Errors
/// If a step is 0, or the lists differ in length.
#[tfrt_op("nn.Slice")]
fn slice(
    operands: &[AnyRef],
    #[attr] slots: Option<&[i64]>,
    ctx: &ExecutionContext,
) -> Result<DenseHostTensor> {
    const OP: &str = "nn.Slice";
    let slots = Slots::new(OP, operands, slots);
    let x = slots.need(0, "x")?;
    let starts = whole_numbers(OP, &slots.need(1, "starts")?)?;
    let ends = whole_numbers(OP, &slots.need(2, "ends")?)?;
    let dims = x.shape().dims();
    let axes = match slots.get(3)? {
        Some(axes) => axes_of(OP, &whole_numbers(OP, &axes)?, dims.len())?,
        None => (0..starts.len().min(dims.len())).collect(),
    };
    let given = match slots.get(4)? {
        Some(steps) => whole_numbers(OP, &steps)?,
        None => vec![1; starts.len()],
    };
    if [ends.len(), axes.len(), given.len()] != [starts.len(); 3] {
        return Err(invalid(format!(
            "`{OP}`: expected as many starts as ends, axes and steps, found {}, {}, {} and {}",
            starts.len(),
            ends.len(),
            axes.len(),
            given.len()
        )));
    }
    let (mut begin, mut steps, mut sizes) =
        (vec![0; dims.len()], vec![1; dims.len()], dims.to_vec());
    for (index, &axis) in axes.iter().enumerate() {
        let extent = dims[axis] as i64;
        let from_start = |number: i64| {
            if number < 0 {
                number.saturating_add(extent)
            } else {
                number
            }
        };
        let (start, end, step) = (
            from_start(starts[index]),
            from_start(ends[index]),
            given[index],
        );
        let (start, end) = match step {
            0 => return Err(invalid(format!("`{OP}`: expected nonzero steps, found 0"))),
            1.. => (start.clamp(0, extent), end.clamp(0, extent)),
            // Nothing to start from: nothing is taken.
            _ if extent == 0 => (-1, -1),
            // The greatest numbers mean that all elements on the way are taken.
            _ if [i64::MAX, i32::MAX.into()].contains(&end) => (start.clamp(0, extent - 1), -1),
            _ => (start.clamp(0, extent - 1), end.clamp(-1, extent - 1)),
        };
        let distance = if step > 0 { end - start } else { start - end };
        let count = u64::try_from(distance)
            .unwrap_or(0)
            .div_ceil(step.unsigned_abs());
        begin[axis] = start.max(0) as usize;
        steps[axis] = step;
        sizes[axis] = count as usize;
    }
    window(OP, &x, &begin, &steps, &sizes, ctx)
}

/// Returns the elements from `begin` in `steps`, so many along each axis. They exist.
pub(crate) fn window(
    op: &'static str,
    x: &DenseHostTensor,
    begin: &[usize],
    steps: &[i64],
    sizes: &[usize],
    ctx: &ExecutionContext,
) -> Result<DenseHostTensor> {
    let mut result = unspecified(ctx, x.dtype(), sizes)?;
    if result.num_elements() == 0 {
        return Ok(result);
    }
    let own = strides(x.shape().dims());
    let Some(last) = sizes.len().checked_sub(1) else {
        return Ok(x.clone());
    };
    with_size!(op, x.dtype(), N => {
        let from = x.buffer().read()?;
        let from = from.as_chunks::<N>().0;
        let mut to = result.buffer_mut().write()?;
        let mut index = vec![0; last];
        for row in to.as_chunks_mut::<N>().0.chunks_exact_mut(sizes[last]) {
            let start: i64 = (0..last)
                .map(|axis| (begin[axis] as i64 + index[axis] as i64 * steps[axis]) * own[axis] as i64)
                .sum();
            let start = start + begin[last] as i64;
            if steps[last] == 1 {
                row.copy_from_slice(&from[start as usize..][..row.len()]);
            } else {
                for (at, to) in row.iter_mut().enumerate() {
                    *to = from[(start + at as i64 * steps[last]) as usize];
                }
            }
            advance(&mut index, &sizes[..last]);
        }
        Ok(())
    })?;
    Ok(result)
}

/// The source of a place that has the constant of a padding.
const CONSTANT: i64 = -1;

/// Adds elements before and after those of each axis, or removes some if the numbers are negative.
/// The mode is `constant`: the value of the third operand or 0; `edge`: the nearest element;
/// `reflect`: the elements mirrored at the edge; or `wrap`: the elements at the other end. The
/// second operand has the numbers before all axes, then those after; the fourth lists the axes, by
/// default all.
///
/// # Errors
/// If there are not two numbers for each axis, or there is nothing to take elements from.
#[tfrt_op("nn.Pad")]
fn pad(
    operands: &[AnyRef],
    #[attr] mode: &str,
    #[attr] slots: Option<&[i64]>,
    ctx: &ExecutionContext,
) -> Result<DenseHostTensor> {
    const OP: &str = "nn.Pad";
    let slots = Slots::new(OP, operands, slots);
    let x = slots.need(0, "x")?;
    let pads = whole_numbers(OP, &slots.need(1, "pads")?)?;
    let dims = x.shape().dims();
    let axes = match slots.get(3)? {
        Some(axes) => axes_of(OP, &whole_numbers(OP, &axes)?, dims.len())?,
        None => (0..dims.len()).collect(),
    };
    if pads.len() != 2 * axes.len() {
        return Err(invalid(format!(
            "`{OP}`: expected {} elements for {} axes, found {}",
            2 * axes.len(),
            axes.len(),
            pads.len()
        )));
    }
    let (mut before, mut padded) = (vec![0_i64; dims.len()], dims.to_vec());
    for (index, &axis) in axes.iter().enumerate() {
        let (begin, end) = (pads[index], pads[axes.len() + index]);
        let extent = i128::from(begin) + i128::from(end) + dims[axis] as i128;
        before[axis] = begin;
        padded[axis] = usize::try_from(extent.max(0)).map_err(|_| {
            invalid(format!(
                "`{OP}`: expected a valid dimension, found {extent}"
            ))
        })?;
    }
    let source: fn(i64, i64) -> Option<i64> = match mode {
        "constant" => |at, extent| (0..extent).contains(&at).then_some(at),
        "edge" => |at, extent| (extent > 0).then(|| at.clamp(0, extent - 1)),
        "reflect" => |at, extent| match extent {
            0 => None,
            1 => Some(0),
            _ => {
                let period = 2 * (extent - 1);
                let at = at.rem_euclid(period);
                Some(at.min(period - at))
            }
        },
        "wrap" => |at, extent| (extent > 0).then(|| at.rem_euclid(extent)),
        other => return Err(invalid(format!("`{OP}`: unknown mode `{other}`"))),
    };
    let value = slots.get(2)?;
    if let Some(value) = &value
        && !(value.dtype() == x.dtype() && value.num_elements() == 1)
    {
        return Err(invalid(format!(
            "`{OP}`: {} cannot be padded by {}",
            x.dtype(),
            value.metadata()
        )));
    }
    let mut result = unspecified(ctx, x.dtype(), &padded)?;
    if result.num_elements() == 0 {
        return Ok(result);
    }
    let is_constant = mode == "constant";
    // Where each place along each axis comes from; `CONSTANT` for the constant.
    let mut places = Vec::with_capacity(dims.len());
    for (axis, &extent) in dims.iter().enumerate() {
        if extent == 0 && !is_constant {
            return Err(invalid(format!(
                "`{OP}`: no elements to repeat along axis {axis}"
            )));
        }
        let mut found = scratch::<i64>(ctx, padded[axis])?;
        for (at, found) in (0..).zip(found.iter_mut()) {
            let place = source(i64::saturating_sub(at, before[axis]), extent as i64);
            *found = place.unwrap_or(CONSTANT);
        }
        places.push(found);
    }
    let own = strides(dims);
    let (columns, middle) = match places.pop() {
        Some(columns) => {
            let axis = places.len();
            // The elements that keep their order.
            let start = before[axis].clamp(0, padded[axis] as i64);
            let end = before[axis].saturating_add(dims[axis] as i64);
            let end = end.clamp(start, padded[axis] as i64);
            (columns, start as usize..end as usize)
        }
        // A scalar is a row of one element.
        None => (scratch(ctx, 1)?, 0..1),
    };
    let rows = padded.split_last().map_or(&[][..], |(_, rows)| rows);
    with_size!(OP, x.dtype(), N => {
        let from = x.buffer().read()?;
        let from = from.as_chunks::<N>().0;
        let constant = match &value {
            Some(value) => value.buffer().read()?.as_chunks::<N>().0[0],
            None => [0; N],
        };
        let mut to = result.buffer_mut().write()?;
        let mut index = vec![0; rows.len()];
        for to in to.as_chunks_mut::<N>().0.chunks_exact_mut(columns.len()) {
            let row = index.iter().zip(&places).zip(&own);
            let row = row.map(|((&at, places), own)| Some(usize::try_from(places[at]).ok()? * own));
            let row = row.sum::<Option<usize>>();
            match row {
                None => to.fill(constant),
                Some(row) => {
                    if !middle.is_empty() {
                        let first = row + columns[middle.start] as usize;
                        to[middle.clone()].copy_from_slice(&from[first..][..middle.len()]);
                    }
                    for part in [0..middle.start, middle.end..columns.len()] {
                        let (to, places) = (&mut to[part.clone()], &columns[part]);
                        if is_constant {
                            to.fill(constant);
                            continue;
                        }
                        for (to, &place) in to.iter_mut().zip(places) {
                            *to = from[row + place as usize];
                        }
                    }
                }
            }
            advance(&mut index, rows);
        }
        Ok(())
    })?;
    Ok(result)
}

/// Crops or pads the axes of a tensor evenly on both sides to the given extents. An odd element is
/// at the end, and padding is 0. The axes are those of `axes`, by default all.
///
/// # Errors
/// If the number of extents differs from that of the axes.
#[tfrt_op("nn.CenterCropPad")]
fn center_crop_pad(
    x: &AnyRef,
    shape: &AnyRef,
    #[attr] axes: Option<&[i64]>,
    ctx: &ExecutionContext,
) -> Result<DenseHostTensor> {
    const OP: &str = "nn.CenterCropPad";
    let x = dense(x)?;
    let dims = x.shape().dims();
    let wanted = extents(OP, &whole_numbers(OP, &dense(shape)?)?)?;
    let axes = match axes {
        Some(axes) => axes_of(OP, axes, dims.len())?,
        None => (0..dims.len()).collect(),
    };
    if axes.len() != wanted.len() {
        return Err(invalid(format!(
            "`{OP}`: expected {} dimensions, found {}",
            axes.len(),
            wanted.len()
        )));
    }
    let (mut shape, mut sizes) = (dims.to_vec(), dims.to_vec());
    let (mut begin, mut offset) = (vec![0; dims.len()], vec![0; dims.len()]);
    for (&axis, &extent) in axes.iter().zip(&wanted) {
        shape[axis] = extent;
        sizes[axis] = extent.min(dims[axis]);
        begin[axis] = dims[axis].saturating_sub(extent) / 2;
        offset[axis] = extent.saturating_sub(dims[axis]) / 2;
    }
    let middle = window(OP, &x, &begin, &vec![1; dims.len()], &sizes, ctx)?;
    if sizes == shape {
        return Ok(middle);
    }
    let mut result = allocate(ctx, x.dtype(), &shape)?;
    let own = strides(&shape);
    with_size!(OP, x.dtype(), N => {
        let from = middle.buffer().read()?;
        let mut to = result.buffer_mut().write()?;
        let to = to.as_chunks_mut::<N>().0;
        let mut index = vec![0; sizes.len()];
        for element in from.as_chunks::<N>().0 {
            let at: usize = (0..sizes.len()).map(|axis| (index[axis] + offset[axis]) * own[axis]).sum();
            to[at] = *element;
            advance(&mut index, &sizes);
        }
        Ok(())
    })?;
    Ok(result)
}

/// Keeps the elements of the upper or the lower triangle of each matrix, from the diagonal of the
/// second operand on; the others are 0.
///
/// # Errors
/// If the tensor does not consist of matrices.
#[tfrt_op("nn.Trilu")]
fn trilu(
    operands: &[AnyRef],
    #[attr(default = true)] upper: bool,
    ctx: &ExecutionContext,
) -> Result<DenseHostTensor> {
    const OP: &str = "nn.Trilu";
    let slots = Slots::new(OP, operands, None);
    let x = slots.need(0, "x")?;
    let diagonal = match slots.get(1)? {
        Some(k) => whole_numbers(OP, &k)?.first().copied().unwrap_or(0),
        None => 0,
    };
    let &[.., rows, columns] = x.shape().dims() else {
        return Err(invalid(format!(
            "`{OP}`: expected matrices, found {}",
            x.metadata()
        )));
    };
    let mut result = allocate(ctx, x.dtype(), x.shape().dims())?;
    with_size!(OP, x.dtype(), N => {
        let from = x.buffer().read()?;
        let mut to = result.buffer_mut().write()?;
        let pairs = to.as_chunks_mut::<N>().0.iter_mut().zip(from.as_chunks::<N>().0);
        for (at, (to, from)) in pairs.enumerate() {
            let (row, column) = (at / columns % rows, at % columns);
            let distance = (column as i64 - row as i64).saturating_sub(diagonal);
            if if upper { distance >= 0 } else { distance <= 0 } {
                *to = *from;
            }
        }
        Ok(())
    })?;
    Ok(result)
}

/// Returns the same elements under other dimensions, of which there are as many.
pub(crate) fn with_dims(x: &DenseHostTensor, dims: &[usize]) -> Result<DenseHostTensor> {
    Ok(x.reshaped(crate::shape_of(dims)?)?)
}
