//! Element-wise programs, bitcasts, iota.

use tfrt::prelude::*;
use tfrt_tensor::{DenseHostTensor, Shape};

use super::element::Type;
use super::load;
use super::program::Program;
use crate::{allocate, dense, extents, invalid, product};

/// Applies a scalar program to each element of tensors of one shape. Scalars are broadcast to this
/// shape. A complex number is two arguments or results of the program.
///
/// # Errors
/// If the program does not match the operands, or their shapes differ.
#[tfrt_op("hlo.Apply")]
fn apply(
    operands: &[AnyRef],
    #[attr] program: &str,
    ctx: &ExecutionContext,
) -> Result<DenseHostTensor> {
    const OP: &str = "hlo.Apply";
    /// The number of elements computed at a time, small enough to stay in the cache.
    const BLOCK: usize = 1024;
    let tensors = operands.iter().map(dense).collect::<Result<Vec<_>>>()?;
    let parts = tensors.iter().map(|tensor| Type::parts(OP, tensor.dtype()));
    let parts = parts.collect::<Result<Vec<_>>>()?;
    let types = parts.iter().flat_map(|&(ty, count)| vec![ty; count]);
    let mut program = Program::new(OP, program, &types.collect::<Vec<_>>())?;
    let (result_type, dtype) = match program.result_types()[..] {
        [ty] => (ty, ty.dtype),
        [re, im] if re == im && re.dtype == DType::F32 => (re, DType::Complex64),
        [re, im] if re == im && re.dtype == DType::F64 => (re, DType::Complex128),
        _ => {
            return Err(invalid(format!(
                "`{OP}` needs a function with one result, or the two parts of a complex number"
            )));
        }
    };
    let shaped = tensors.iter().find(|tensor| tensor.shape().rank() > 0);
    let shape = shaped.map_or_else(Shape::scalar, |tensor| tensor.shape().clone());
    let stray = tensors
        .iter()
        .find(|tensor| tensor.shape().rank() > 0 && *tensor.shape() != shape);
    if let Some(stray) = stray {
        return Err(invalid(format!(
            "`{OP}` needs operands of one shape, found {shape} and {}",
            stray.shape()
        )));
    }
    let mut result = allocate(ctx, dtype, shape.dims())?;
    let count = shape.num_elements();
    let sources = tensors.iter().map(|tensor| tensor.buffer().read());
    let sources = sources.collect::<std::result::Result<Vec<_>, _>>()?;
    let mut to = result.buffer_mut().write()?;
    for start in (0..count).step_by(BLOCK) {
        let len = BLOCK.min(count - start);
        let mut next = 0;
        for ((tensor, bytes), &(ty, count)) in tensors.iter().zip(&sources).zip(&parts) {
            let size = ty.size_bytes() * count;
            let is_scalar = tensor.shape().rank() == 0;
            let block = match is_scalar {
                true => &bytes[..],
                false => &bytes[start * size..(start + len) * size],
            };
            for part in 0..count {
                let argument = program.argument(next);
                next += 1;
                argument.clear();
                if is_scalar {
                    let scalar = ty.elements(block).nth(part).unwrap_or_default();
                    argument.resize(len, scalar);
                } else if count == 1 {
                    argument.extend(ty.elements(block));
                } else {
                    argument.extend(ty.elements(block).skip(part).step_by(count));
                }
            }
        }
        program.run(len);
        let num_results = program.num_results();
        let size = result_type.size_bytes() * num_results;
        let to = &mut to[start * size..(start + len) * size];
        if num_results == 1 {
            result_type.store(program.result(0), to);
        } else {
            let pairs = program.result(0).iter().zip(program.result(1));
            let pairs: Vec<u64> = pairs.flat_map(|(&re, &im)| [re, im]).collect();
            result_type.store(&pairs, to);
        }
    }
    drop(to);
    Ok(result)
}

/// Reinterprets the bits of a tensor as elements of another type and shape with the same number of
/// bits. With `is_derived`, the shape is that of the operand: with another last dimension for the
/// parts of wider elements, or without it.
///
/// The types of elements that are narrower than their bytes, such as `i4`, are named by `from` and
/// `to`. Their bits follow each other without gaps, low bits first.
///
/// # Errors
/// If the numbers of bits differ.
#[tfrt_op("hlo.BitcastConvert")]
fn bitcast_convert(
    x: &AnyRef,
    #[attr] dtype: DType,
    #[attr] dims: Option<&[i64]>,
    #[attr] is_derived: Option<bool>,
    #[attr] from: Option<&str>,
    #[attr] to: Option<&str>,
    ctx: &ExecutionContext,
) -> Result<DenseHostTensor> {
    const OP: &str = "hlo.BitcastConvert";
    let x = dense(x)?;
    let narrow = [
        narrow_type(OP, x.dtype(), from)?,
        narrow_type(OP, dtype, to)?,
    ];
    let bits = |dtype: DType, narrow: Option<Type>| match (narrow, dtype.size_bytes()) {
        (Some(ty), _) => Ok(ty.bits as usize),
        (None, Some(size)) => Ok(8 * size),
        (None, None) => Err(crate::unsupported(OP, dtype)),
    };
    let (from_bits, to_bits) = (bits(x.dtype(), narrow[0])?, bits(dtype, narrow[1])?);
    let mut dims = extents(OP, dims.unwrap_or_default())?;
    if is_derived.unwrap_or(false) {
        dims = x.shape().dims().to_vec();
        if from_bits > to_bits {
            dims.push(from_bits / to_bits);
        } else if from_bits < to_bits {
            dims.pop();
        }
    }
    let mut result = allocate(ctx, dtype, &dims)?;
    let counts = [x.num_elements(), result.num_elements()];
    if counts[0].checked_mul(from_bits) != counts[1].checked_mul(to_bits) {
        return Err(invalid(format!(
            "`{OP}` cannot read {} as {dtype} of {dims:?}",
            x.metadata()
        )));
    }
    {
        let bytes = x.buffer().read()?;
        let mut room = result.buffer_mut().write()?;
        match narrow {
            [None, None] => room.copy_from_slice(&bytes),
            [from, to] => {
                let (from_held, to_held) = (Type::of(OP, x.dtype())?, Type::of(OP, dtype)?);
                let from = from.unwrap_or(from_held);
                repack(from, &bytes, to.unwrap_or(to_held), to_held, &mut room);
            }
        }
    }
    Ok(result)
}

/// Returns the type of elements that have fewer bits than their bytes.
fn narrow_type(op: &str, dtype: DType, name: Option<&str>) -> Result<Option<Type>> {
    let ty = match name {
        Some(name) => Type::named(name).filter(|ty| ty.dtype == dtype && !ty.is_real()),
        None => (dtype == DType::I1).then_some(Type::BOOL),
    };
    match (name, ty) {
        (Some(name), None) => Err(invalid(format!("`{op}`: {dtype} does not hold `{name}`"))),
        _ => Ok(ty),
    }
}

/// Writes the bits of elements as elements of another type, each as one of the type of the tensor.
fn repack(from: Type, bytes: &[u8], to: Type, to_held: Type, room: &mut [u8]) {
    // At most one element of either type is held.
    let (mut held, mut num_held) = (0_u128, 0);
    let mut places = room.chunks_exact_mut(to_held.size_bytes());
    for element in from.elements(bytes) {
        held |= u128::from(from.native(element)) << num_held;
        num_held += from.bits;
        while num_held >= to.bits {
            if let Some(place) = places.next() {
                to_held.store(&[to.of_native(held as u64)], place);
            }
            held >>= to.bits;
            num_held -= to.bits;
        }
    }
}

/// Creates a tensor in which each element is its own index along a dimension.
///
/// # Errors
/// If the dimension is out of range, or the element type is not numeric.
#[tfrt_op("hlo.Iota")]
pub(super) fn iota(
    #[attr] dtype: DType,
    #[attr] dims: &[i64],
    #[attr] axis: i64,
    ctx: &ExecutionContext,
) -> Result<DenseHostTensor> {
    const OP: &str = "hlo.Iota";
    let dims = extents(OP, dims)?;
    let axis = crate::axis_of(OP, axis, dims.len())?;
    let ty = Type::of(OP, dtype)?;
    let mut result = allocate(ctx, dtype, &dims)?;
    let inner = product(&dims[axis + 1..]);
    if result.num_elements() > 0 {
        let mut to = result.buffer_mut().write()?;
        let size = ty.size_bytes();
        for (at, row) in to.chunks_exact_mut(inner * size).enumerate() {
            let number = (at % dims[axis]) as u64;
            let element = match ty.is_real() {
                true => ty.round(number as f64),
                false => ty.wrap(number),
            };
            let mut one = [0; 8];
            ty.store(&[element], &mut one[..size]);
            for chunk in row.chunks_exact_mut(size) {
                chunk.copy_from_slice(&one[..size]);
            }
        }
    }
    Ok(result)
}

/// Returns the element of a tensor that must have exactly one.
pub(super) fn scalar(op: &'static str, name: &str, tensor: &DenseHostTensor) -> Result<u64> {
    match load(op, tensor)?[..] {
        [element] => Ok(element),
        ref elements => Err(invalid(format!(
            "`{op}` needs `{name}` as a scalar, found {} elements",
            elements.len()
        ))),
    }
}
