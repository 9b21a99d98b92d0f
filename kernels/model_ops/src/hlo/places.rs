//! Gathers, scatters, sorting.
//!
//! Indices are vectors along one dimension of a tensor. Each is the start of a slice of another
//! tensor.

use tfrt::prelude::*;
use tfrt_tensor::DenseHostTensor;

use super::element::Type;
use super::moves::listed;
use super::program::Program;
use super::{index_of, other_axes, pick};
use crate::number::with_size;
use crate::{advance, allocate, dense, extents, invalid, product, strides};

/// The dimension numbers of a gather or scatter.
struct Indexing {
    /// The elements of the index vectors.
    numbers: Vec<i64>,
    /// The dimensions of the indices, without that of the vectors.
    outer: Vec<usize>,
    /// The stride in `numbers` of each dimension in `outer`.
    outer_strides: Vec<usize>,
    /// The stride in `numbers` between elements of a vector.
    vector_stride: usize,
    /// The axis of the tensor for each element of a vector.
    map: Vec<usize>,
    /// Pairs of batch axes: of the tensor, and in `outer`.
    batching: Vec<(usize, usize)>,
}

impl Indexing {
    fn new(
        op: &'static str,
        indices: &DenseHostTensor,
        vector_axis: i64,
        map: Vec<usize>,
        own_batching: &[usize],
        indices_batching: &[usize],
    ) -> Result<Self> {
        let dims = indices.shape().dims();
        let axis = usize::try_from(vector_axis)
            .ok()
            .filter(|&axis| axis <= dims.len());
        let axis =
            axis.ok_or_else(|| invalid(format!("`{op}`: the indices have no axis {vector_axis}")))?;
        let own = strides(dims);
        let (len, vector_stride) = match dims.get(axis) {
            Some(&len) => (len, own[axis]),
            None => (1, 0),
        };
        if len != map.len() || own_batching.len() != indices_batching.len() {
            return Err(invalid(format!(
                "`{op}`: indices of {} do not hold vectors of {} elements",
                indices.shape(),
                map.len()
            )));
        }
        let outer_axes = other_axes(dims.len(), &[axis]);
        let batching = own_batching.iter().zip(indices_batching);
        let batching = batching.map(|(&own, &other)| {
            let position = outer_axes.iter().position(|&axis| axis == other);
            let position = position.ok_or_else(|| {
                invalid(format!(
                    "`{op}`: axis {other} of the indices holds the vectors"
                ))
            });
            Ok((own, position?))
        });
        Ok(Self {
            numbers: crate::whole_numbers(op, indices)?,
            outer: pick(dims, &outer_axes),
            outer_strides: pick(&own, &outer_axes),
            vector_stride,
            map,
            batching: batching.collect::<Result<Vec<_>>>()?,
        })
    }

    /// Returns the start of the slice at an index of `outer`, along each axis of the tensor.
    fn start(&self, outer: &[usize], rank: usize) -> Vec<i64> {
        let mut start = vec![0; rank];
        let vector = outer.iter().zip(&self.outer_strides);
        let vector: usize = vector.map(|(at, stride)| at * stride).sum();
        for (position, &axis) in self.map.iter().enumerate() {
            start[axis] = self.numbers[vector + position * self.vector_stride];
        }
        for &(axis, position) in &self.batching {
            start[axis] = outer[position] as i64;
        }
        start
    }
}

/// Gathers slices of the first operand that start at the indices in the second one, clamped so that
/// they are inside. The result has the batch dimensions of the indices, and at `offset` those of
/// slices, without the `collapsed` and `batching` ones.
///
/// # Errors
/// If the dimensions do not match.
#[tfrt_op("hlo.Gather")]
#[expect(
    clippy::too_many_arguments,
    reason = "they are the attributes of the op"
)]
pub(super) fn gather(
    x: &AnyRef,
    indices: &AnyRef,
    #[attr] sizes: Option<&[i64]>,
    #[attr] offset: Option<&[i64]>,
    #[attr] collapsed: Option<&[i64]>,
    #[attr] batching: Option<&[i64]>,
    #[attr] indices_batching: Option<&[i64]>,
    #[attr] map: Option<&[i64]>,
    #[attr] vector_axis: i64,
    ctx: &ExecutionContext,
) -> Result<DenseHostTensor> {
    const OP: &str = "hlo.Gather";
    let (x, indices) = (dense(x)?, dense(indices)?);
    let dims = x.shape().dims();
    let sizes = extents(OP, sizes.unwrap_or_default())?;
    let own_batching = listed(OP, batching, &x)?;
    let indexing = Indexing::new(
        OP,
        &indices,
        vector_axis,
        listed(OP, map, &x)?,
        &own_batching,
        &listed(OP, indices_batching, &indices)?,
    )?;
    let gone = [listed(OP, collapsed, &x)?, own_batching].concat();
    let kept = other_axes(dims.len(), &gone);
    let rank = indexing.outer.len() + kept.len();
    let offset = super::axes(OP, offset, rank)?;
    let fits = sizes.len() == dims.len()
        && sizes.iter().zip(dims).all(|(size, extent)| size <= extent)
        && gone.iter().all(|&axis| sizes[axis] <= 1)
        && offset.len() == kept.len();
    if !fits {
        return Err(invalid(format!(
            "`{OP}` cannot take slices of {sizes:?}, at {offset:?} of the result, from {}",
            x.shape()
        )));
    }
    let outer_axes = other_axes(rank, &offset);
    let mut result_dims = vec![0; rank];
    for (&axis, &extent) in outer_axes.iter().zip(&indexing.outer) {
        result_dims[axis] = extent;
    }
    for (&axis, &own) in offset.iter().zip(&kept) {
        result_dims[axis] = sizes[own];
    }
    let mut result = allocate(ctx, x.dtype(), &result_dims)?;
    if result.num_elements() == 0 || x.num_elements() == 0 {
        return Ok(result);
    }
    let own = strides(dims);
    let own_steps = pick(&own, &kept);
    let slice_dims = pick(&sizes, &kept);
    let result_strides = strides(&result_dims);
    let (outer_steps, offset_steps) = (
        pick(&result_strides, &outer_axes),
        pick(&result_strides, &offset),
    );
    with_size!(OP, x.dtype(), N => {
        let from = x.buffer().read()?;
        let from = from.as_chunks::<N>().0;
        let mut to = result.buffer_mut().write()?;
        let to = to.as_chunks_mut::<N>().0;
        let mut outer = vec![0; indexing.outer.len()];
        for _ in 0..product(&indexing.outer) {
            let start = indexing.start(&outer, dims.len());
            let first: usize = (0..dims.len())
                .map(|axis| start[axis].clamp(0, (dims[axis] - sizes[axis]) as i64) as usize * own[axis])
                .sum();
            let base: usize = outer.iter().zip(&outer_steps).map(|(at, step)| at * step).sum();
            let mut index = vec![0; slice_dims.len()];
            for _ in 0..product(&slice_dims) {
                let sum = |steps: &[usize]| -> usize {
                    index.iter().zip(steps).map(|(at, step)| at * step).sum()
                };
                to[base + sum(&offset_steps)] = from[first + sum(&own_steps)];
                advance(&mut index, &slice_dims);
            }
            advance(&mut outer, &indexing.outer);
        }
        Ok(())
    })?;
    Ok(result)
}

/// Combines elements of tensors with updates by a scalar program. The operands are the tensors, the
/// indices of slices, and one update for each tensor. Out-of-bounds updates are dropped element by
/// element. The others are applied in order.
///
/// # Errors
/// If the program or the dimensions do not match the operands.
#[tfrt_op("hlo.Scatter")]
#[expect(
    clippy::too_many_arguments,
    reason = "they are the attributes of the op"
)]
fn scatter(
    operands: &[AnyRef],
    #[attr] program: &str,
    #[attr] window: Option<&[i64]>,
    #[attr] inserted: Option<&[i64]>,
    #[attr] batching: Option<&[i64]>,
    #[attr] indices_batching: Option<&[i64]>,
    #[attr] map: Option<&[i64]>,
    #[attr] vector_axis: i64,
    ctx: &ExecutionContext,
) -> Result<Vec<AnyRef>> {
    const OP: &str = "hlo.Scatter";
    let count = operands.len() / 2;
    if operands.len() != 2 * count + 1 || count == 0 {
        return Err(invalid(format!(
            "`{OP}` needs tensors, indices, and an update for each tensor, found {} operands",
            operands.len()
        )));
    }
    let tensors = operands.iter().map(dense).collect::<Result<Vec<_>>>()?;
    let (inputs, rest) = tensors.split_at(count);
    let (indices, updates) = (&rest[0], &rest[1..]);
    let (x, first_updates) = (&inputs[0], &updates[0]);
    let dims = x.shape().dims();
    let fits = inputs.iter().zip(updates).all(|(input, update)| {
        input.shape() == x.shape()
            && update.shape() == first_updates.shape()
            && input.dtype() == update.dtype()
    });
    // A complex number has two parts, each of which is an argument of the program.
    let (mut types, mut elements, mut updated) = (Vec::new(), Vec::new(), Vec::new());
    for (input, update) in inputs.iter().zip(updates) {
        let (ty, planes) = super::planes(OP, input)?;
        types.resize(types.len() + planes.len(), ty);
        elements.extend(planes);
        updated.extend(super::planes(OP, update)?.1);
    }
    let mut program = Program::new(OP, program, &[&types[..], &types[..]].concat())?;
    program.expect_results(OP, &types)?;
    let own_batching = listed(OP, batching, x)?;
    let indexing = Indexing::new(
        OP,
        indices,
        vector_axis,
        listed(OP, map, x)?,
        &own_batching,
        &listed(OP, indices_batching, indices)?,
    )?;
    let window = listed(OP, window, first_updates)?;
    let kept = other_axes(
        dims.len(),
        &[listed(OP, inserted, x)?, own_batching].concat(),
    );
    let update_dims = first_updates.shape().dims();
    let outer_axes = other_axes(update_dims.len(), &window);
    if !fits || window.len() != kept.len() || pick(update_dims, &outer_axes) != indexing.outer {
        return Err(invalid(format!(
            "`{OP}` cannot write updates of {}, at indices of {}, to {}",
            first_updates.shape(),
            indices.shape(),
            x.shape()
        )));
    }
    let own = strides(dims);
    let function = program.as_binary();
    let mut index = vec![0; update_dims.len()];
    #[expect(
        clippy::needless_range_loop,
        reason = "several lists of updates are read at this index"
    )]
    for at in 0..first_updates.num_elements() {
        let start = indexing.start(&pick(&index, &outer_axes), dims.len());
        let mut place = start;
        for (&axis, &own) in window.iter().zip(&kept) {
            place[own] = place[own].saturating_add(index[axis] as i64);
        }
        advance(&mut index, update_dims);
        let place = place.iter().zip(dims.iter().zip(&own));
        let place = place
            .into_iter()
            .try_fold(0, |sum, (&at, (&extent, stride))| {
                let at = usize::try_from(at).ok().filter(|&at| at < extent)?;
                Some(sum + at * stride)
            });
        let Some(place) = place else {
            continue;
        };
        if let Some(function) = function {
            elements[0][place] = function.of(types[0], elements[0][place], updated[0][at]);
            continue;
        }
        for plane in 0..types.len() {
            let old = program.argument(plane);
            old.clear();
            old.push(elements[plane][place]);
            let update = program.argument(types.len() + plane);
            update.clear();
            update.push(updated[plane][at]);
        }
        program.run(1);
        for (plane, elements) in elements.iter_mut().enumerate() {
            elements[place] = program.result(plane)[0];
        }
    }
    stored(OP, ctx, inputs, dims, &elements)
}

/// Creates tensors, of the types of others, from the parts of their elements.
fn stored(
    op: &'static str,
    ctx: &ExecutionContext,
    like: &[DenseHostTensor],
    dims: &[usize],
    mut planes: &[Vec<u64>],
) -> Result<Vec<AnyRef>> {
    let results = like.iter().map(|tensor| {
        let (_, count) = Type::parts(op, tensor.dtype())?;
        let (own, rest) = planes.split_at(count);
        planes = rest;
        let result = super::store_planes(op, ctx, tensor.dtype(), dims, own)?;
        Ok(AnyRef::available(result))
    });
    results.collect()
}

/// Sorts tensors together along an axis. A scalar program compares two positions: it takes the two
/// elements of each tensor at these positions, and returns true if the first position comes first.
/// The sort is stable.
///
/// # Errors
/// If the program does not match the operands, or the axis is out of range.
#[tfrt_op("hlo.Sort")]
fn sort(
    operands: &[AnyRef],
    #[attr] program: &str,
    #[attr] axis: i64,
    ctx: &ExecutionContext,
) -> Result<Vec<AnyRef>> {
    const OP: &str = "hlo.Sort";
    let tensors = operands.iter().map(dense).collect::<Result<Vec<_>>>()?;
    let Some(first) = tensors.first() else {
        return Err(invalid(format!("`{OP}` needs an operand")));
    };
    let dims = first.shape().dims();
    if tensors.iter().any(|tensor| tensor.shape() != first.shape()) {
        return Err(invalid(format!("`{OP}` needs operands of one shape")));
    }
    let (mut types, mut elements, mut places) = (Vec::new(), Vec::new(), Vec::new());
    for tensor in &tensors {
        let (ty, planes) = super::planes(OP, tensor)?;
        // The program takes all parts of the element at the first position, then of the other one.
        let count = planes.len();
        places.extend((0..count).map(|part| [types.len() + part, types.len() + count + part]));
        types.resize(types.len() + 2 * count, ty);
        elements.extend(planes);
    }
    let mut program = Program::new(OP, program, &types)?;
    program.expect_results(OP, &[Type::BOOL])?;
    let axis = crate::axis_of(OP, axis, dims.len())?;
    let (extent, step) = (dims[axis], product(&dims[axis + 1..]));
    let sorted = elements.iter().map(|plane| super::copied(OP, plane));
    let mut sorted = sorted.collect::<Result<Vec<Vec<u64>>>>()?;
    let outer_axes = other_axes(dims.len(), &[axis]);
    let (outer, own) = (pick(dims, &outer_axes), pick(&strides(dims), &outer_axes));
    for row in 0..if extent < 2 { 0 } else { product(&outer) } {
        let index = index_of(row, &outer);
        let start: usize = index.iter().zip(&own).map(|(at, stride)| at * stride).sum();
        let mut comes_first = |a: usize, b: usize| {
            for (plane, places) in elements.iter().zip(&places) {
                for (&place, at) in places.iter().zip([a, b]) {
                    let argument = program.argument(place);
                    argument.clear();
                    argument.push(plane[start + at * step]);
                }
            }
            program.run(1);
            program.result(0)[0] != 0
        };
        let order = merge_sorted(extent, &mut comes_first);
        for (to, from) in sorted.iter_mut().zip(&elements) {
            for (at, &source) in order.iter().enumerate() {
                to[start + at * step] = from[start + source * step];
            }
        }
    }
    stored(OP, ctx, &tensors, dims, &sorted)
}

/// Sorts the numbers below `count` by a comparison. If the comparison defines no order, the sort
/// still terminates, in some order.
fn merge_sorted(count: usize, comes_first: &mut impl FnMut(usize, usize) -> bool) -> Vec<usize> {
    let mut order: Vec<usize> = (0..count).collect();
    let mut width = 1;
    while width < count {
        let mut merged = Vec::with_capacity(count);
        for pair in order.chunks(2 * width) {
            let (left, right) = pair.split_at(width.min(pair.len()));
            let (mut left, mut right) = (left.iter().peekable(), right.iter().peekable());
            while let (Some(&&a), Some(&&b)) = (left.peek(), right.peek()) {
                // If elements are equal, the left one comes first.
                merged.push(if comes_first(b, a) {
                    right.next();
                    b
                } else {
                    left.next();
                    a
                });
            }
            merged.extend(left);
            merged.extend(right);
        }
        order = merged;
        width *= 2;
    }
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sorting_is_stable_and_ends_without_an_order() {
        let keys = [3, 1, 2, 1, 3, 0, 1];
        let order = merge_sorted(keys.len(), &mut |a, b| keys[a] < keys[b]);
        assert_eq!(order, [5, 1, 3, 6, 2, 0, 4]);
        assert_eq!(merge_sorted(5, &mut |_, _| true).len(), 5);
    }
}
