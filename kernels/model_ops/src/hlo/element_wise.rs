//! Element-wise programs, bitcasts, iota.

use tfrt::prelude::*;
use tfrt_tensor::{DenseHostTensor, Shape};

use super::element::Type;
use super::load;
use super::program::Program;
use crate::{allocate, dense, extents, invalid, product};

/// Applies a scalar program to each element of tensors of one shape. Scalars are broadcast to this
/// shape.
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
    let types = tensors.iter().map(|tensor| Type::of(OP, tensor.dtype()));
    let types = types.collect::<Result<Vec<_>>>()?;
    let mut program = Program::new(OP, program, &types)?;
    let [result_type] = program.result_types()[..] else {
        return Err(invalid(format!("`{OP}` needs a function with one result")));
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
    let mut result = allocate(ctx, result_type.dtype, shape.dims())?;
    let count = shape.num_elements();
    let sources = tensors.iter().map(|tensor| tensor.buffer().read());
    let sources = sources.collect::<std::result::Result<Vec<_>, _>>()?;
    let mut to = result.buffer_mut().write()?;
    for start in (0..count).step_by(BLOCK) {
        let len = BLOCK.min(count - start);
        for (index, (bytes, ty)) in sources.iter().zip(&types).enumerate() {
            let is_scalar = tensors[index].shape().rank() == 0;
            let argument = program.argument(index);
            if is_scalar {
                let scalar = ty.load(bytes)[0];
                argument.clear();
                argument.resize(len, scalar);
            } else {
                let size = ty.size_bytes();
                *argument = ty.load(&bytes[start * size..(start + len) * size]);
            }
        }
        program.run(len);
        let size = result_type.size_bytes();
        result_type.store(
            program.result(0),
            &mut to[start * size..(start + len) * size],
        );
    }
    drop(to);
    Ok(result)
}

/// Reinterprets the bits of a tensor as elements of another type and shape with the same number of
/// bytes.
///
/// # Errors
/// If the numbers of bytes differ.
#[tfrt_op("hlo.BitcastConvert")]
fn bitcast_convert(
    x: &AnyRef,
    #[attr] dtype: DType,
    #[attr] dims: Option<&[i64]>,
    ctx: &ExecutionContext,
) -> Result<DenseHostTensor> {
    const OP: &str = "hlo.BitcastConvert";
    let x = dense(x)?;
    let dims = extents(OP, dims.unwrap_or_default())?;
    let mut result = allocate(ctx, dtype, &dims)?;
    {
        let from = x.buffer().read()?;
        let mut to = result.buffer_mut().write()?;
        if from.len() != to.len() || (x.dtype() == DType::I1) != (dtype == DType::I1) {
            return Err(invalid(format!(
                "`{OP}` cannot read {} as {dtype} of {dims:?}",
                x.metadata()
            )));
        }
        to.copy_from_slice(&from);
    }
    Ok(result)
}

/// Creates a tensor in which each element is its own index along a dimension.
///
/// # Errors
/// If the dimension is out of range, or the element type is not numeric.
#[tfrt_op("hlo.Iota")]
fn iota(
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
