//! Parts of tensors: windows, pieces, rows by index; and tensors of one value.

use tfrt::prelude::*;
use tfrt_compute::assemble;
use tfrt_tensor::{DenseHostTensor, ScalarHostTensor, Shape, TensorRef};

use super::{
    allocate, axis_of, invalid, mismatched, moved, number_of, numbers_of, unsupported_dtype,
    with_number, with_size,
};

/// Returns the window that starts at `begin` and has the extents `size`, both vectors of i32 or
/// i64; -1 in `size` extends to the end.
///
/// # Errors
/// If the window does not lie within the tensor.
#[tfrt_op("tf.Slice", function = slice)]
pub fn compute_slice(
    x: &DenseHostTensor,
    begin: &DenseHostTensor,
    size: &DenseHostTensor,
    ctx: &ExecutionContext,
) -> Result<DenseHostTensor> {
    let begin = numbers_of("tf.Slice", "begin", begin)?;
    let size = numbers_of("tf.Slice", "size", size)?;
    let dims = x.shape().dims();
    let refused = || {
        invalid(format!(
            "`tf.Slice`: a window of {size:?} at {begin:?} exceeds {}",
            x.shape()
        ))
    };
    if begin.len() != dims.len() || size.len() != dims.len() {
        return Err(refused());
    }
    let (mut start, mut extents) = (Vec::new(), Vec::new());
    for ((&begin, &size), &dim) in begin.iter().zip(&size).zip(dims) {
        let begin = usize::try_from(begin).ok().filter(|&begin| begin <= dim);
        let begin = begin.ok_or_else(refused)?;
        let size = match size {
            -1 => dim - begin,
            size => usize::try_from(size).map_err(|_| refused())?,
        };
        if size > dim - begin {
            return Err(refused());
        }
        start.push(begin);
        extents.push(size);
    }
    window(x, &start, &extents, ctx)
}

fn window(
    x: &DenseHostTensor,
    begin: &[usize],
    extents: &[usize],
    ctx: &ExecutionContext,
) -> Result<DenseHostTensor> {
    let dims = x.shape().dims();
    with_size!(
        x.dtype(),
        N => moved::<N>(x, Shape::new(extents)?, ctx, |from, to| {
            assemble::slice(dims, begin, extents, from, to)
        }),
        else Err(unsupported_dtype("tf.Slice", x.dtype()))
    )
}

/// Splits a tensor along `axis` into as many equal pieces as there are results.
///
/// # Errors
/// If the extent of the dimension is not a multiple of the number of pieces.
#[tfrt_op("tf.Split", raw)]
fn split(call: &mut OpCall<'_>) -> Result<()> {
    let axis = call
        .argument(0)?
        .try_read::<DenseHostTensor>()
        .map_err(mismatched)?;
    let x = call
        .argument(1)?
        .try_read::<DenseHostTensor>()
        .map_err(mismatched)?;
    let dims = x.shape().dims();
    let axis = axis_of(
        "tf.Split",
        number_of("tf.Split", "axis", &axis)?,
        dims.len(),
    )?;
    let count = call.num_results();
    if !dims[axis].is_multiple_of(count.max(1)) {
        return Err(invalid(format!(
            "`tf.Split` cannot split {} into {count} equal parts along dimension {axis}",
            x.metadata()
        )));
    }
    let (mut begin, mut extents) = (vec![0; dims.len()], dims.to_vec());
    extents[axis] = dims[axis] / count.max(1);
    for piece in 0..count {
        begin[axis] = piece * extents[axis];
        let piece_of_x = window(&x, &begin, &extents, call.ctx())?;
        call.set_result(piece, AnyRef::available(piece_of_x));
    }
    Ok(())
}

/// Gathers slices along `axis` by their indices, of type i32 or i64. The dimensions of `indices`
/// replace this dimension in the result.
///
/// # Errors
/// If an index is out of range.
#[tfrt_op("tf.GatherV2", function = gather)]
pub fn compute_gather(
    x: &DenseHostTensor,
    indices: &DenseHostTensor,
    axis: &DenseHostTensor,
    ctx: &ExecutionContext,
) -> Result<DenseHostTensor> {
    const OP: &str = "tf.GatherV2";
    let dims = x.shape().dims();
    let axis = axis_of(OP, number_of(OP, "axis", axis)?, dims.len())?;
    let numbers = numbers_of(OP, "indices", indices)?;
    let (outer, inner) = (&dims[..axis], &dims[axis + 1..]);
    let extent = dims[axis];
    if let Some((position, number)) = (numbers.iter().enumerate()).find(|&(_, &number)| {
        usize::try_from(number).is_ok_and(|number| number >= extent) || number < 0
    }) {
        return Err(invalid(format!(
            "`{OP}`: expected indices below {extent}, found {number} at position {position}"
        )));
    }
    let shape = Shape::new(&[outer, indices.shape().dims(), inner].concat())?;
    let row_len: usize = inner.iter().product();
    let (block_len, block_result_len) = (extent * row_len, numbers.len() * row_len);
    with_size!(
        x.dtype(),
        N => moved::<N>(x, shape, ctx, |from, to| {
            let blocks = from.chunks_exact(block_len.max(1));
            for (from, to) in blocks.zip(to.chunks_exact_mut(block_result_len.max(1))) {
                assemble::gather(row_len, from, &numbers, to)?;
            }
            Ok(())
        }),
        else Err(unsupported_dtype(OP, x.dtype()))
    )
}

/// Converts each number, of type i32 or i64, to a row of `depth` elements: `on` at that index,
/// `off` elsewhere. A number out of range yields a row of `off`. The rows are along the last
/// dimension, the only one that `axis` supports.
///
/// # Errors
/// If `on` and `off` are not single numbers of one type.
#[tfrt_op("tf.OneHot", function = one_hot)]
pub fn compute_one_hot(
    indices: &DenseHostTensor,
    depth: &DenseHostTensor,
    on: &DenseHostTensor,
    off: &DenseHostTensor,
    #[attr(default = -1)] axis: i64,
    ctx: &ExecutionContext,
) -> Result<DenseHostTensor> {
    const OP: &str = "tf.OneHot";
    if axis != -1 {
        return Err(unsupported_axis(OP, axis));
    }
    if on.dtype() != off.dtype() || on.num_elements() != 1 || off.num_elements() != 1 {
        return Err(invalid(format!(
            "`{OP}`: expected `on` and `off` as scalars of the same type, found {} and {}",
            on.metadata(),
            off.metadata()
        )));
    }
    let depth = number_of(OP, "depth", depth)?;
    let depth = usize::try_from(depth).map_err(|_| {
        invalid(format!(
            "`{OP}`: expected a non-negative depth, found {depth}"
        ))
    })?;
    let numbers = numbers_of(OP, "indices", indices)?;
    let shape = Shape::new(&[indices.shape().dims(), &[depth]].concat())?;
    with_size!(
        on.dtype(),
        N => {
            let mut result = allocate(on.dtype(), shape, ctx)?;
            {
                let value = |tensor: &DenseHostTensor| -> Result<[u8; N]> {
                    Ok(tensor.buffer().read()?.as_chunks::<N>().0[0])
                };
                let (on, off) = (value(on)?, value(off)?);
                let mut rows = result.buffer_mut().write()?;
                assemble::one_hot(depth, &numbers, on, off, rows.as_chunks_mut().0)?;
            }
            Ok(result)
        },
        else Err(unsupported_dtype(OP, on.dtype()))
    )
}

#[cold]
fn unsupported_axis(op: &str, axis: i64) -> Error {
    invalid(format!("`{op}`: expected the last axis, -1, found {axis}"))
}

/// Returns a scalar tensor of `value`, with the shape in a vector of i32 or i64.
///
/// # Errors
/// If `value` is not one number.
#[tfrt_op("tf.Fill", function = fill)]
pub fn compute_fill(dims: &DenseHostTensor, value: &DenseHostTensor) -> Result<AnyRef> {
    let shape = Shape::from_signed(&numbers_of("tf.Fill", "dims", dims)?)?;
    if value.num_elements() != 1 {
        let found = value.metadata();
        return Err(invalid(format!(
            "`tf.Fill`: expected a scalar, found {found}"
        )));
    }
    with_number!(
        value.dtype(),
        T => Ok(AnyRef::available(ScalarHostTensor::new(shape, value.elements::<T>()?[0]))),
        else Err(unsupported_dtype("tf.Fill", value.dtype()))
    )
}

/// Joins tensors of one shape and type along the new dimension `axis`; negative ones count from the
/// end of the result.
///
/// # Errors
/// If there is no tensor, or the tensors differ in shape or type.
#[tfrt_op("tf.Pack", function = pack)]
pub fn compute_pack(
    tensors: &[AnyRef],
    #[attr(default = 0)] axis: i64,
    ctx: &ExecutionContext,
) -> Result<DenseHostTensor> {
    const OP: &str = "tf.Pack";
    let tensors = tensors.iter().map(|tensor| {
        let tensor = TensorRef::read(tensor).map_err(mismatched)?;
        super::as_dense(&tensor, ctx)
    });
    let tensors = tensors.collect::<Result<Vec<_>>>()?;
    let first = tensors
        .first()
        .ok_or_else(|| invalid(format!("`{OP}`: expected at least one tensor, found none")))?;
    let found = first.metadata();
    if let Some(other) = tensors.iter().find(|tensor| tensor.metadata() != found) {
        let other = other.metadata();
        return Err(invalid(format!(
            "`{OP}`: {found} and {other} are incompatible"
        )));
    }
    let dims = first.shape().dims();
    let axis = axis_of(OP, axis, dims.len() + 1)?;
    let mut packed = dims.to_vec();
    packed.insert(axis, tensors.len());
    let mut one = dims.to_vec();
    one.insert(axis, 1);
    with_size!(
        first.dtype(),
        N => {
            let mut result = allocate(first.dtype(), Shape::new(&packed)?, ctx)?;
            {
                let guards = tensors.iter().map(|tensor| tensor.buffer().read());
                let guards = guards.collect::<Result<Vec<_>, _>>()?;
                let parts: Vec<_> = guards
                    .iter()
                    .map(|bytes| (&one[..], bytes.as_chunks::<N>().0))
                    .collect();
                let mut to = result.buffer_mut().write()?;
                assemble::concat(axis as isize, &parts, to.as_chunks_mut().0)?;
            }
            Ok(result)
        },
        else Err(unsupported_dtype(OP, first.dtype()))
    )
}
