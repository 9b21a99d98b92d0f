//! Elements by index: gathers, scatters.
//!
//! Indices are integers; negative ones count from the end. One out of range is an error.

use tfrt::prelude::*;
use tfrt_tensor::{DenseHostTensor, Element, I1, OwnedElementsMut, Shape};

use crate::number::{Number, with_number, with_size, with_type};
use crate::{
    advance, allocate, axis_of, dense, invalid, made, one_number, product, real_numbers, scratch,
    strides, unspecified, whole_numbers,
};

/// Returns the place that a number means.
fn place_of(op: &str, number: i64, extent: usize) -> Result<usize> {
    let from_start = if number < 0 {
        number.saturating_add(extent as i64)
    } else {
        number
    };
    let place = usize::try_from(from_start).ok();
    place.filter(|&place| place < extent).ok_or_else(|| {
        invalid(format!(
            "`{op}`: index {number} is out of range for a dimension of size {extent}"
        ))
    })
}

/// Returns the places that indices mean.
pub(crate) fn places_of(
    op: &'static str,
    indices: &DenseHostTensor,
    extent: usize,
) -> Result<Vec<i64>> {
    let mut places = whole_numbers(op, indices)?;
    for place in &mut places {
        // It fits: so did the number.
        *place = place_of(op, *place, extent)? as i64;
    }
    Ok(places)
}

/// Gathers slices by their indices along an axis. The dimensions of the indices replace this axis
/// in the result.
///
/// # Errors
/// If there is no such axis or slice.
#[tfrt_op("nn.Gather")]
fn gather(
    x: &AnyRef,
    indices: &AnyRef,
    #[attr(default = 0)] axis: i64,
    ctx: &ExecutionContext,
) -> Result<DenseHostTensor> {
    const OP: &str = "nn.Gather";
    let (x, indices) = (dense(x)?, dense(indices)?);
    let dims = x.shape().dims();
    let axis = axis_of(OP, axis, dims.len())?;
    let places = places_of(OP, &indices, dims[axis])?;
    let shape = [&dims[..axis], indices.shape().dims(), &dims[axis + 1..]].concat();
    let mut result = unspecified(ctx, x.dtype(), &shape)?;
    let width = x.dtype().size_bytes().unwrap_or(1);
    let row = product(&dims[axis + 1..]) * width;
    if row == 0 || places.is_empty() || dims[axis] == 0 {
        return Ok(result);
    }
    {
        let from = x.buffer().read()?;
        let mut to = result.buffer_mut().write()?;
        let blocks = from.chunks_exact(dims[axis] * row);
        for (from, to) in blocks.zip(to.chunks_exact_mut(places.len() * row)) {
            for (to, &place) in to.chunks_exact_mut(row).zip(&places) {
                to.copy_from_slice(&from[place as usize * row..][..row]);
            }
        }
    }
    Ok(result)
}

/// Returns the places in `dims` of the elements that `indices`, of shape `shape`, names along an
/// axis: in its other dimensions an element stands for itself.
fn places_along(
    op: &str,
    dims: &[usize],
    axis: usize,
    shape: &[usize],
    indices: &[i64],
    ctx: &ExecutionContext,
) -> Result<OwnedElementsMut<u64>> {
    let fits = shape.len() == dims.len()
        && (0..dims.len()).all(|other| other == axis || shape[other] <= dims[other]);
    if !fits {
        return Err(invalid(format!(
            "`{op}`: indices of shape {shape:?} are incompatible with a tensor of shape {dims:?} \
             along axis {axis}"
        )));
    }
    let own = strides(dims);
    let mut index = vec![0; shape.len()];
    let mut places = scratch::<u64>(ctx, indices.len())?;
    for (place, &number) in places.iter_mut().zip(indices) {
        let along = place_of(op, number, dims[axis])?;
        let steps = (0..dims.len()).map(|at| if at == axis { along } else { index[at] } * own[at]);
        *place = steps.sum::<usize>() as u64;
        advance(&mut index, shape);
    }
    Ok(places)
}

/// Gathers an element for each index along an axis.
///
/// # Errors
/// If the indices do not match the tensor.
#[tfrt_op("nn.GatherElements")]
fn gather_elements(
    x: &AnyRef,
    indices: &AnyRef,
    #[attr(default = 0)] axis: i64,
    ctx: &ExecutionContext,
) -> Result<DenseHostTensor> {
    const OP: &str = "nn.GatherElements";
    let (x, indices) = (dense(x)?, dense(indices)?);
    let dims = x.shape().dims();
    let axis = axis_of(OP, axis, dims.len())?;
    let shape = indices.shape().dims();
    let places = places_along(OP, dims, axis, shape, &whole_numbers(OP, &indices)?, ctx)?;
    let mut result = unspecified(ctx, x.dtype(), shape)?;
    with_size!(OP, x.dtype(), N => {
        let from = x.buffer().read()?;
        let from = from.as_chunks::<N>().0;
        let mut to = result.buffer_mut().write()?;
        for (to, &place) in to.as_chunks_mut::<N>().0.iter_mut().zip(&*places) {
            *to = from[place as usize];
        }
        Ok(())
    })?;
    Ok(result)
}

/// Slices of a tensor, which the rows of a matrix of numbers name after so many common dimensions.
struct Slices<'a> {
    op: &'static str,
    dims: &'a [usize],
    num_common: usize,
    /// The extents of the matrix.
    num_rows: usize,
    depth: usize,
    /// The rows for each place of the common dimensions.
    per_common: usize,
    /// The elements of a slice.
    len: usize,
}

impl<'a> Slices<'a> {
    fn new(
        op: &'static str,
        dims: &'a [usize],
        indices: &DenseHostTensor,
        num_common: usize,
    ) -> Result<Self> {
        let refused = || {
            invalid(format!(
                "`{op}`: indices of {} are incompatible with a tensor of shape {dims:?}",
                indices.shape()
            ))
        };
        let shape = indices.shape().dims();
        let (&depth, outer) = shape.split_last().ok_or_else(refused)?;
        let is_inside = num_common
            .checked_add(depth)
            .is_some_and(|inner| inner <= dims.len());
        let fits =
            num_common <= outer.len() && is_inside && outer[..num_common] == dims[..num_common];
        if !fits {
            return Err(refused());
        }
        Ok(Self {
            op,
            dims,
            num_common,
            num_rows: product(outer),
            depth,
            per_common: product(&outer[num_common..]).max(1),
            len: product(&dims[num_common + depth..]),
        })
    }

    /// Returns where each slice starts; nothing if there is nothing to copy.
    fn starts(&self, numbers: &[i64], ctx: &ExecutionContext) -> Result<OwnedElementsMut<u64>> {
        let Self { op, dims, .. } = *self;
        // Slices without elements name no places, unless there are numbers to check.
        let num_rows = match self.len {
            0 if numbers.is_empty() => 0,
            _ => self.num_rows,
        };
        let own = strides(dims);
        let common_len = product(&dims[self.num_common..]);
        let mut starts = scratch::<u64>(ctx, num_rows)?;
        for (row, found) in starts.iter_mut().enumerate() {
            let mut start = row / self.per_common * common_len;
            let numbers = &numbers[row * self.depth..][..self.depth];
            for (axis, &number) in (self.num_common..).zip(numbers) {
                start += place_of(op, number, dims[axis])? * own[axis];
            }
            *found = start as u64;
        }
        Ok(starts)
    }
}

/// Gathers slices, whose coordinates are in the last dimension of `indices`, within `batch_dims`
/// common dimensions.
///
/// # Errors
/// If the indices do not match the tensor.
#[tfrt_op("nn.GatherNd")]
fn gather_nd(
    x: &AnyRef,
    indices: &AnyRef,
    #[attr(default = 0)] batch_dims: i64,
    ctx: &ExecutionContext,
) -> Result<DenseHostTensor> {
    const OP: &str = "nn.GatherNd";
    let (x, indices) = (dense(x)?, dense(indices)?);
    let dims = x.shape().dims();
    let num_common = usize::try_from(batch_dims).unwrap_or(usize::MAX).min(64);
    let numbers = whole_numbers(OP, &indices)?;
    let slices = Slices::new(OP, dims, &indices, num_common)?;
    let shape = indices.shape().dims();
    let outer = &shape[..shape.len() - 1];
    let result_dims = [outer, &dims[num_common + slices.depth..]].concat();
    let mut result = unspecified(ctx, x.dtype(), &result_dims)?;
    let (starts, len) = (slices.starts(&numbers, ctx)?, slices.len);
    let width = x.dtype().size_bytes().unwrap_or(1);
    {
        let from = x.buffer().read()?;
        let mut to = result.buffer_mut().write()?;
        for (to, &start) in to.chunks_exact_mut((len * width).max(1)).zip(&*starts) {
            to.copy_from_slice(&from[start as usize * width..][..len * width]);
        }
    }
    Ok(result)
}

/// Returns the function that combines an element with an update.
fn combine<T: Number>(op: &str, reduction: &str) -> Result<fn(T, T) -> T> {
    Ok(match reduction {
        "none" | "" => |_, update| update,
        "add" => T::plus,
        "mul" => T::times,
        "max" => |a, b| if Number::is_nan(a) || a > b { a } else { b },
        "min" => |a, b| if Number::is_nan(a) || a < b { a } else { b },
        other => return Err(invalid(format!("`{op}`: unknown reduction `{other}`"))),
    })
}

/// Writes updates to places, in order.
fn scattered(
    op: &'static str,
    x: &DenseHostTensor,
    updates: &DenseHostTensor,
    places: impl Iterator<Item = usize>,
    reduction: &str,
    ctx: &ExecutionContext,
) -> Result<DenseHostTensor> {
    if updates.dtype() != x.dtype() {
        return Err(invalid(format!(
            "`{op}`: expected updates of {}, found {}",
            x.dtype(),
            updates.dtype()
        )));
    }
    let mut result = x.copied(ctx.allocator())?;
    let write = |result: &mut DenseHostTensor| {
        if x.dtype() == DType::I1 && matches!(reduction, "none" | "") {
            return write_all::<I1>(result, updates, places, |_, update| update);
        }
        with_number!(op, x.dtype(), T => {
            write_all::<T>(result, updates, places, combine::<T>(op, reduction)?)
        })
    };
    write(&mut result)?;
    Ok(result)
}

fn write_all<T: Element>(
    result: &mut DenseHostTensor,
    updates: &DenseHostTensor,
    places: impl Iterator<Item = usize>,
    combine: impl Fn(T, T) -> T,
) -> Result<()> {
    let updates = updates.elements::<T>()?;
    let mut to = result.elements_mut::<T>()?;
    for (place, &update) in places.zip(&*updates) {
        to[place] = combine(to[place], update);
    }
    Ok(())
}

/// Writes an element for each index along an axis, or combines it with the existing one by
/// `reduction`: a sum, a product, a maximum or a minimum.
///
/// # Errors
/// If indices or updates do not match the tensor.
#[tfrt_op("nn.ScatterElements")]
fn scatter_elements(
    x: &AnyRef,
    indices: &AnyRef,
    updates: &AnyRef,
    #[attr(default = 0)] axis: i64,
    #[attr] reduction: &str,
    ctx: &ExecutionContext,
) -> Result<DenseHostTensor> {
    const OP: &str = "nn.ScatterElements";
    let (x, indices, updates) = (dense(x)?, dense(indices)?, dense(updates)?);
    let dims = x.shape().dims();
    let axis = axis_of(OP, axis, dims.len())?;
    if indices.shape() != updates.shape() {
        return Err(invalid(format!(
            "`{OP}`: expected as many updates as indices, found {} and {}",
            updates.shape(),
            indices.shape()
        )));
    }
    let numbers = whole_numbers(OP, &indices)?;
    let places = places_along(OP, dims, axis, indices.shape().dims(), &numbers, ctx)?;
    let places = places.iter().map(|&place| place as usize);
    scattered(OP, &x, &updates, places, reduction, ctx)
}

/// Writes slices, whose coordinates are in the last dimension of `indices`, or combines them by
/// `reduction`.
///
/// # Errors
/// If indices or updates do not match the tensor.
#[tfrt_op("nn.ScatterNd")]
fn scatter_nd(
    x: &AnyRef,
    indices: &AnyRef,
    updates: &AnyRef,
    #[attr] reduction: &str,
    ctx: &ExecutionContext,
) -> Result<DenseHostTensor> {
    const OP: &str = "nn.ScatterNd";
    let (x, indices, updates) = (dense(x)?, dense(indices)?, dense(updates)?);
    let numbers = whole_numbers(OP, &indices)?;
    let slices = Slices::new(OP, x.shape().dims(), &indices, 0)?;
    let len = slices.len;
    let outer = indices.shape().rank() - 1;
    let of_slices = &x.shape().dims()[slices.depth..];
    let expected = [&indices.shape().dims()[..outer], of_slices].concat();
    if updates.shape().dims() != expected {
        return Err(invalid(format!(
            "`{OP}`: expected updates of {}, found {}",
            Shape::new(&expected)?,
            updates.shape()
        )));
    }
    let starts = slices.starts(&numbers, ctx)?;
    let starts = starts.iter().map(|&start| start as usize);
    let places = starts.flat_map(|start| start..start + len);
    scattered(OP, &x, &updates, places, reduction, ctx)
}

/// Converts each number to `depth` elements along a new axis: the second element of `values` at
/// that index, the first one elsewhere.
///
/// # Errors
/// If the depth is not one number, or there are not two values.
#[tfrt_op("nn.OneHot")]
fn one_hot(
    indices: &AnyRef,
    depth: &AnyRef,
    values: &AnyRef,
    #[attr(default = -1)] axis: i64,
    ctx: &ExecutionContext,
) -> Result<DenseHostTensor> {
    const OP: &str = "nn.OneHot";
    let (indices, values) = (dense(indices)?, dense(values)?);
    let depth = one_number(OP, "depth", &dense(depth)?)?;
    if depth.is_nan() {
        return Err(invalid(format!(
            "`{OP}`: expected a depth that is a number, found {depth}"
        )));
    }
    let depth = crate::extents(OP, &[depth as i64])?[0];
    let outer = indices.shape().dims();
    let axis = axis_of(OP, axis, outer.len() + 1)?;
    let dims = [&outer[..axis], &[depth], &outer[axis..]].concat();
    let inner = product(&outer[axis..]);
    let numbers = real_numbers(OP, &indices, ctx)?;
    if values.num_elements() != 2 {
        return Err(invalid(format!(
            "`{OP}`: expected two values, found {}",
            values.shape()
        )));
    }
    let mut result = allocate(ctx, values.dtype(), &dims)?;
    with_size!(OP, values.dtype(), N => {
        let values = values.buffer().read()?;
        let [off, on] = [values.as_chunks::<N>().0[0], values.as_chunks::<N>().0[1]];
        let mut to = result.buffer_mut().write()?;
        for (at, to) in to.as_chunks_mut::<N>().0.iter_mut().enumerate() {
            let (set, place) = (at / (depth * inner) * inner + at % inner, at / inner % depth);
            let number = numbers[set] as i64;
            let number = if number < 0 { number.saturating_add(depth as i64) } else { number };
            *to = if number == place as i64 { on } else { off };
        }
        Ok(())
    })?;
    Ok(result)
}

/// Returns the places of the elements that are kept.
fn places_where<T: Copy>(
    elements: &[T],
    is_kept: impl Fn(T) -> bool,
    ctx: &ExecutionContext,
) -> Result<OwnedElementsMut<u64>> {
    let count = elements.iter().filter(|&&x| is_kept(x)).count();
    let mut places = scratch::<u64>(ctx, count)?;
    let kept = elements.iter().enumerate().filter(|&(_, &x)| is_kept(x));
    for (place, (at, _)) in places.iter_mut().zip(kept) {
        *place = at as u64;
    }
    Ok(places)
}

/// Returns the coordinates of the elements that are not zero: a row for each dimension, a column
/// for each element.
///
/// # Errors
/// If the elements are neither numbers nor Booleans.
#[tfrt_op("nn.NonZero")]
fn non_zero(x: &AnyRef, ctx: &ExecutionContext) -> Result<DenseHostTensor> {
    const OP: &str = "nn.NonZero";
    let x = dense(x)?;
    let found = if x.dtype() == DType::I1 {
        places_where(&x.elements::<I1>()?, |x| x.into(), ctx)
    } else {
        with_number!(OP, x.dtype(), T => {
            places_where(&x.elements::<T>()?, |x| x != T::default(), ctx)
        })
    };
    let (found, dims) = (&found?[..], x.shape().dims());
    let own = strides(dims);
    made(ctx, &[dims.len(), found.len()], |at| {
        let (axis, element) = (at / found.len(), at % found.len());
        (found[element] as usize / own[axis] % dims[axis]) as i64
    })
}

/// Keeps the slices along an axis, or the elements, for which the condition is true.
///
/// # Errors
/// If there is no such axis, or the condition is not a list, or longer than the axis.
#[tfrt_op("nn.Compress")]
fn compress(
    x: &AnyRef,
    condition: &AnyRef,
    #[attr] axis: Option<i64>,
    ctx: &ExecutionContext,
) -> Result<DenseHostTensor> {
    const OP: &str = "nn.Compress";
    let (x, condition) = (dense(x)?, dense(condition)?);
    let whole = [x.num_elements()];
    let (dims, axis) = match axis {
        Some(axis) => (x.shape().dims(), axis_of(OP, axis, x.shape().rank())?),
        None => (&whole[..], 0),
    };
    if condition.shape().rank() != 1 {
        return Err(invalid(format!(
            "`{OP}`: expected the condition to be a list, found {}",
            condition.shape()
        )));
    }
    let condition = condition.elements::<I1>()?;
    let kept = places_where(&condition, |x| x.into(), ctx)?;
    if kept.last().is_some_and(|&last| last as usize >= dims[axis]) {
        return Err(invalid(format!(
            "`{OP}`: expected a condition that is at most as long as the axis"
        )));
    }
    let mut shape = dims.to_vec();
    shape[axis] = kept.len();
    let mut result = allocate(ctx, x.dtype(), &shape)?;
    let row = product(&dims[axis + 1..]) * x.dtype().size_bytes().unwrap_or(1);
    if kept.is_empty() || row == 0 {
        return Ok(result);
    }
    {
        let from = x.buffer().read()?;
        let mut to = result.buffer_mut().write()?;
        let blocks = from.chunks_exact(dims[axis] * row);
        for (from, to) in blocks.zip(to.chunks_exact_mut(kept.len() * row)) {
            for (to, &place) in to.chunks_exact_mut(row).zip(&*kept) {
                to.copy_from_slice(&from[place as usize * row..][..row]);
            }
        }
    }
    Ok(result)
}

/// Returns a matrix of the shape of another one, with 1 on a diagonal and 0 elsewhere.
///
/// # Errors
/// If the operand is not a matrix.
#[tfrt_op("nn.EyeLike")]
fn eye_like(
    x: &AnyRef,
    #[attr] dtype: Option<DType>,
    #[attr(default = 0)] k: i64,
    ctx: &ExecutionContext,
) -> Result<DenseHostTensor> {
    const OP: &str = "nn.EyeLike";
    let x = dense(x)?;
    let &[rows, columns] = x.shape().dims() else {
        return Err(invalid(format!(
            "`{OP}`: expected a matrix, found {}",
            x.metadata()
        )));
    };
    let is_set = |at: usize| (at % columns) as i64 - (at / columns) as i64 == k;
    let dtype = dtype.unwrap_or(x.dtype());
    if dtype == DType::I1 {
        return made(ctx, &[rows, columns], |at| I1::from(is_set(at)));
    }
    with_type!(OP, dtype, T in [
        Ui8 => u8, Ui16 => u16, Ui32 => u32, Ui64 => u64, I8 => i8, I16 => i16, I32 => i32, I64 => i64,
        F16 => half::f16, Bf16 => half::bf16, F32 => f32, F64 => f64
    ] => made(ctx, &[rows, columns], |at| <T as Number>::of_f64(f64::from(u8::from(is_set(at))))))
}

/// Reverses the elements along the time axis of each sequence, up to its length; the others are
/// unchanged.
///
/// # Errors
/// If there are no such axes, or the number of lengths differs from that of the sequences.
#[tfrt_op("nn.ReverseSequence")]
fn reverse_sequence(
    x: &AnyRef,
    lengths: &AnyRef,
    #[attr(default = 1)] batch_axis: i64,
    #[attr(default = 0)] time_axis: i64,
    ctx: &ExecutionContext,
) -> Result<DenseHostTensor> {
    const OP: &str = "nn.ReverseSequence";
    let x = dense(x)?;
    let dims = x.shape().dims();
    let batch = axis_of(OP, batch_axis, dims.len())?;
    let time = axis_of(OP, time_axis, dims.len())?;
    let lengths = crate::extents(OP, &whole_numbers(OP, &dense(lengths)?)?)?;
    if batch == time || lengths.len() != dims[batch] || lengths.iter().any(|&len| len > dims[time])
    {
        return Err(invalid(format!(
            "`{OP}`: lengths {lengths:?} are incompatible with {} along axes {batch} and {time}",
            x.metadata()
        )));
    }
    let own = strides(dims);
    let mut result = allocate(ctx, x.dtype(), dims)?;
    with_size!(OP, x.dtype(), N => {
        let from = x.buffer().read()?;
        let from = from.as_chunks::<N>().0;
        let mut to = result.buffer_mut().write()?;
        for (at, to) in to.as_chunks_mut::<N>().0.iter_mut().enumerate() {
            let (row, step) = (at / own[batch] % dims[batch], at / own[time] % dims[time]);
            let start = at - step * own[time];
            let step = if step < lengths[row] { lengths[row] - 1 - step } else { step };
            *to = from[start + step * own[time]];
        }
        Ok(())
    })?;
    Ok(result)
}

/// Writes steps into a cache along an axis, starting at the index in the third operand for each
/// batch, or at the first one. With `wraps`, steps beyond the end are written at the beginning.
///
/// # Errors
/// If the operands do not match, or steps do not fit into the cache.
#[tfrt_op("nn.TensorScatter")]
fn tensor_scatter(
    operands: &[AnyRef],
    #[attr(default = -2)] axis: i64,
    #[attr(default = false)] wraps: bool,
    ctx: &ExecutionContext,
) -> Result<DenseHostTensor> {
    const OP: &str = "nn.TensorScatter";
    let slots = crate::Slots::new(OP, operands, None);
    let (cache, update) = (slots.need(0, "cache")?, slots.need(1, "update")?);
    let dims = cache.shape().dims();
    let axis = axis_of(OP, axis, dims.len())?;
    let new = update.shape().dims();
    let fits = update.dtype() == cache.dtype()
        && new.len() == dims.len()
        && (0..dims.len()).all(|at| at == axis || new[at] == dims[at])
        && axis > 0;
    if !fits {
        return Err(invalid(format!(
            "`{OP}`: {} is incompatible with a cache of {} along axis {axis}",
            update.metadata(),
            cache.metadata()
        )));
    }
    let starts = match slots.get(2)? {
        Some(starts) => crate::extents(OP, &whole_numbers(OP, &starts)?)?,
        None => vec![0; dims[0]],
    };
    let (extent, steps) = (dims[axis], new[axis]);
    let is_inside = |&start: &usize| match wraps {
        true => start < extent.max(1) && steps <= extent,
        false => start.checked_add(steps).is_some_and(|end| end <= extent),
    };
    if starts.len() != dims[0] || !starts.iter().all(is_inside) {
        return Err(invalid(format!(
            "`{OP}`: {steps} steps at {starts:?} exceed a cache of {extent} steps"
        )));
    }
    let mut result = allocate(ctx, cache.dtype(), dims)?;
    let width = cache.dtype().size_bytes().unwrap_or(1);
    {
        let row = product(&dims[axis + 1..]) * width;
        let mut to = result.buffer_mut().write()?;
        to.copy_from_slice(&cache.buffer().read()?);
        let from = update.buffer().read()?;
        let planes = product(&dims[..axis]);
        for plane in 0..planes {
            let batch = plane / product(&dims[1..axis]).max(1);
            for step in 0..steps {
                let place = (starts[batch] + step) % extent;
                to[(plane * extent + place) * row..][..row]
                    .copy_from_slice(&from[(plane * steps + step) * row..][..row]);
            }
        }
    }
    Ok(result)
}

/// Returns the distinct elements of a tensor, or its distinct slices along an axis: sorted, or in
/// order of occurrence without `sorted`. Also returns the index of each first occurrence, the index
/// of each element in the result, and the number of occurrences.
///
/// # Errors
/// If there is no such axis.
#[tfrt_op("nn.Unique")]
fn unique(
    x: &AnyRef,
    #[attr] axis: Option<i64>,
    #[attr(default = true)] sorted: bool,
    ctx: &ExecutionContext,
) -> Result<(
    DenseHostTensor,
    DenseHostTensor,
    DenseHostTensor,
    DenseHostTensor,
)> {
    let x = dense(x)?;
    if x.dtype() != DType::I1 {
        let [y, firsts, groups, counts] = distinct(&x, axis, sorted, ctx)?;
        return Ok((y, firsts, groups, counts));
    }
    // Booleans are sorted like the numbers 0 and 1.
    let numbers = {
        let truths = x.elements::<I1>()?;
        made(ctx, x.shape().dims(), |at| u8::from(bool::from(truths[at])))?
    };
    let [y, firsts, groups, counts] = distinct(&numbers, axis, sorted, ctx)?;
    let y = {
        let numbers = y.elements::<u8>()?;
        made(ctx, y.shape().dims(), |at| I1::from(numbers[at] != 0))?
    };
    Ok((y, firsts, groups, counts))
}

/// Returns the results of `nn.Unique` for numbers.
fn distinct(
    x: &DenseHostTensor,
    axis: Option<i64>,
    sorted: bool,
    ctx: &ExecutionContext,
) -> Result<[DenseHostTensor; 4]> {
    const OP: &str = "nn.Unique";
    let dims = x.shape().dims();
    let (axis, dims) = match axis {
        Some(axis) => (axis_of(OP, axis, dims.len())?, dims.to_vec()),
        None => (0, vec![x.num_elements()]),
    };
    let extent = dims[axis];
    let (outer, inner) = (product(&dims[..axis]), product(&dims[axis + 1..]));
    with_type!(OP, x.dtype(), T in [
        Ui8 => u8, Ui16 => u16, Ui32 => u32, Ui64 => u64, I8 => i8, I16 => i16, I32 => i32, I64 => i64,
        F16 => half::f16, Bf16 => half::bf16, F32 => f32, F64 => f64
    ] => {
        let from = x.elements::<T>()?;
        let slice = |at: usize| {
            (0..outer * inner).map(move |number| (number / inner * extent + at) * inner + number % inner)
        };
        // NaN is greater than everything, and equals itself.
        let compare = |a: &u64, b: &u64| {
            let pairs = slice(*a as usize).zip(slice(*b as usize));
            let orderings = pairs.map(|(a, b)| {
                let (a, b) = (from[a], from[b]);
                a.partial_cmp(&b).unwrap_or_else(|| Number::is_nan(a).cmp(&Number::is_nan(b)))
            });
            orderings.into_iter().find(|ordering| ordering.is_ne()).unwrap_or(std::cmp::Ordering::Equal)
        };
        let mut order = scratch::<u64>(ctx, extent)?;
        order.iter_mut().zip(0..).for_each(|(to, at)| *to = at);
        // In place; equal slices keep their order.
        order.sort_unstable_by(|a, b| compare(a, b).then(a.cmp(b)));
        // The group of each slice, and the first of each group, which takes the place of a slice
        // in `order` that has been read.
        let mut groups = scratch::<u64>(ctx, extent)?;
        let mut num_groups = 0;
        for number in 0..extent {
            let at = order[number];
            if num_groups == 0 || compare(&order[num_groups - 1], &at).is_ne() {
                order[num_groups] = at;
                num_groups += 1;
            }
            groups[at as usize] = num_groups as u64 - 1;
        }
        let firsts = &mut order[..num_groups];
        if !sorted {
            let mut by_place = scratch::<u64>(ctx, num_groups)?;
            by_place.iter_mut().zip(0..).for_each(|(to, group)| *to = group);
            by_place.sort_unstable_by_key(|&group| firsts[group as usize]);
            let mut renamed = scratch::<u64>(ctx, num_groups)?;
            for (number, &group) in (0..).zip(&*by_place) {
                renamed[group as usize] = number;
            }
            groups.iter_mut().for_each(|group| *group = renamed[*group as usize]);
            firsts.sort_unstable();
        }
        let firsts = &*firsts;
        let mut counts = scratch::<i64>(ctx, num_groups)?;
        groups.iter().for_each(|&group| counts[group as usize] += 1);
        let mut shape = dims.clone();
        shape[axis] = firsts.len();
        let y = made(ctx, &shape, |at| {
            let (row, place, column) = (at / inner / firsts.len(), at / inner % firsts.len(), at % inner);
            from[(row * extent + firsts[place] as usize) * inner + column]
        })?;
        let numbers = |len: usize, number: &dyn Fn(usize) -> i64| made(ctx, &[len], number);
        Ok([
            y,
            numbers(firsts.len(), &|at| firsts[at] as i64)?,
            numbers(extent, &|at| groups[at] as i64)?,
            numbers(firsts.len(), &|at| counts[at])?,
        ])
    })
}
