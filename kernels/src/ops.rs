//! Ops of the Core Runtime for the processor: `tf.*` and `tfrt_test.*`, each of them a kernel, too.
//!
//! The numeric code is in [`tfrt_compute`]; this module contains the metadata and the errors of the
//! ops. Ops whose attributes may have any type are functions of their call, not kernels.
//!
//! Ops whose attributes have Rust types are also Rust functions, in the modules below:
//!
//! ```
//! use std::sync::Arc;
//!
//! use tfrt::core::EagerContext;
//! use tfrt::prelude::*;
//! use tfrt_kernels::ops::element_wise::{add, relu};
//! use tfrt_kernels::ops::products::matmul;
//!
//! let registry = Arc::new(KernelRegistry::from_link()?);
//! let host = HostContext::builder().registry(registry).build();
//! let eager = EagerContext::builder(host).build()?;
//! let x = eager.tensor([[1.0_f32, -2.0], [3.0, 4.0]])?;
//! let square = matmul(&eager, &x, &x, Some(false), Some(false))?;
//! let y = relu(&eager, &add(&eager, &square, &eager.tensor(6.0_f32)?)?)?;
//! assert_eq!(eager.to_vec::<f32>(&y)?, [1.0, 0.0, 21.0, 16.0]);
//! # Ok::<(), Error>(())
//! ```
//!
//! | module | ops |
//! |---|---|
//! | [`constants`] | constants, zeros |
//! | [`element_wise`] | element-wise functions of one tensor, and of two tensors with broadcasting |
//! | [`comparisons`] | comparisons, logic, choices |
//! | [`casts`] | conversions between element types |
//! | [`products`] | matrix products |
//! | [`reductions`] | sums, means, extremes and their positions |
//! | [`rows`] | softmax, layer normalization |
//! | [`shapes`] | concatenation, tiles, new dimensions |
//! | [`layout`] | reshaping and reordering of elements |
//! | [`selection`] | windows, pieces, rows by index |
//! | [`images`] | convolution, pooling, padding, normalization |
//! | [`gradients`] | gradients for training |
//! | [`variables`] | tensors that change |
//! | [`random`] | random numbers |
//! | [`functions`] | calls of functions of the program |
//! | [`metadata`] | metadata of results before they are computed |
//! | `test` | ops for tests; behind the feature `test-kernels` |

pub mod metadata;

pub mod constants;

pub mod element_wise;

pub mod comparisons;

pub mod casts;

pub mod products;

pub mod reductions;

pub mod rows;

pub mod shapes;

pub mod layout;

pub mod selection;

pub mod images;

pub mod gradients;

pub mod variables;

pub mod random;

pub mod functions;

#[cfg(feature = "test-kernels")]
pub mod test;

use tfrt::prelude::*;
use tfrt_compute::ComputeError;
use tfrt_tensor::{DenseHostTensor, Element, Shape, TensorRef};

use crate::numeric::no_memory;

/// Runs `$work` with `$T` as the type of elements, if `$dtype` is one of those that are listed.
macro_rules! with_dtype {
    ($dtype:expr, $T:ident in [$($ty:ty),+ $(,)?] => $work:expr, else $otherwise:expr) => {{
        let dtype: tfrt::prelude::DType = $dtype;
        $(if dtype == <$ty as tfrt_tensor::Element>::DTYPE {
            type $T = $ty;
            $work
        } else)+ {
            $otherwise
        }
    }};
}

pub(crate) use with_dtype;

/// [`with_dtype`] for real numbers of every width, the most common ones first.
macro_rules! with_number {
    ($dtype:expr, $T:ident => $work:expr, else $otherwise:expr $(,)?) => {
        $crate::ops::with_dtype!(
            $dtype,
            $T in [f32, f64, i32, i64, u8, u16, u32, u64, i8, i16, ::half::f16] => $work,
            else $otherwise
        )
    };
}

use with_number;

/// Runs `$work` with `$N` as the size of elements in bytes: for ops that move elements, whatever
/// they are.
macro_rules! with_size {
    ($dtype:expr, $N:ident => $work:expr, else $otherwise:expr $(,)?) => {{
        let dtype: tfrt::prelude::DType = $dtype;
        $crate::ops::with_size!(@each dtype, $N, $work, $otherwise, 1 2 4 8 16)
    }};
    (@each $dtype:ident, $N:ident, $work:expr, $otherwise:expr, $($size:literal)*) => {
        match $dtype.size_bytes() {
            $(Some($size) => {
                const $N: usize = $size;
                $work
            })*
            _ => $otherwise,
        }
    };
}

pub(crate) use with_size;

/// Returns a tensor for a result. Its elements are zero.
#[inline]
fn allocate(dtype: DType, shape: Shape, ctx: &ExecutionContext) -> Result<DenseHostTensor> {
    DenseHostTensor::zeroed(ctx.allocator(), dtype, shape)
        .map_err(|error| no_memory("out of memory allocating result", error))
}

/// Returns a tensor whose elements are moved from `x`, regardless of their type.
fn moved<const N: usize>(
    x: &DenseHostTensor,
    shape: Shape,
    ctx: &ExecutionContext,
    move_elements: impl FnOnce(&[[u8; N]], &mut [[u8; N]]) -> Result<(), ComputeError>,
) -> Result<DenseHostTensor> {
    let mut result = allocate(x.dtype(), shape, ctx)?;
    {
        let (from, mut to) = (x.buffer().read()?, result.buffer_mut().write()?);
        move_elements(from.as_chunks().0, to.as_chunks_mut().0)?;
    }
    Ok(result)
}

/// Returns a dense or a scalar tensor as a dense one.
fn as_dense(side: &TensorRef<'_>, ctx: &ExecutionContext) -> Result<DenseHostTensor> {
    match side {
        TensorRef::Dense(tensor) => Ok((**tensor).clone()),
        TensorRef::Scalar(tensor) => Ok(tensor.to_dense(ctx.allocator())?),
        other => Err(invalid(format!(
            "element-wise ops do not support tensors of type {}",
            other.tensor_type().name()
        ))),
    }
}

/// Numbers of an operand of type i32 or i64, all of them; none if it is of another type.
fn read_numbers(tensor: &DenseHostTensor) -> Option<Result<Vec<i64>>> {
    fn read<T: Element + Into<i64>>(tensor: &DenseHostTensor) -> Result<Vec<i64>> {
        let numbers = tensor.elements::<T>()?;
        Ok(numbers.iter().map(|&number| number.into()).collect())
    }
    match tensor.dtype() {
        DType::I32 => Some(read::<i32>(tensor)),
        DType::I64 => Some(read::<i64>(tensor)),
        _ => None,
    }
}

/// Numbers of the operand `name` of an op, which must be of type i32 or i64.
fn numbers_of(op: &str, name: &str, tensor: &DenseHostTensor) -> Result<Vec<i64>> {
    read_numbers(tensor).unwrap_or_else(|| {
        let dtype = tensor.dtype();
        Err(invalid(format!(
            "`{op}`: expected `{name}` of type i32 or i64, found {dtype}"
        )))
    })
}

/// Returns the one number of an operand.
fn number_of(op: &str, name: &str, tensor: &DenseHostTensor) -> Result<i64> {
    match numbers_of(op, name, tensor)?[..] {
        [number] => Ok(number),
        ref numbers => Err(invalid(format!(
            "`{op}`: expected `{name}` with a single element, found {}",
            numbers.len()
        ))),
    }
}

/// Returns the dimension that an axis names; negative ones count from the end.
fn axis_of(op: &str, axis: i64, rank: usize) -> Result<usize> {
    let from_start = if axis < 0 {
        axis.saturating_add(rank as i64)
    } else {
        axis
    };
    let dimension = usize::try_from(from_start)
        .ok()
        .filter(|&dimension| dimension < rank);
    dimension.ok_or_else(|| {
        invalid(format!(
            "`{op}`: axis {axis} is out of range for a tensor of rank {rank}"
        ))
    })
}

#[cold]
fn unsupported_dtype(op: &str, dtype: DType) -> Error {
    invalid(format!("`{op}` does not support {dtype}"))
}

/// Returns an operand as a dense tensor.
fn dense(operand: &AnyRef) -> Result<DenseHostTensor> {
    as_dense_operand(operand).cloned()
}

/// Returns the dense tensor that an operand is.
#[inline]
fn as_dense_operand(operand: &AnyRef) -> Result<&DenseHostTensor> {
    match operand.get::<DenseHostTensor>() {
        Some(tensor) => Ok(tensor),
        None => Err(not_dense(operand)),
    }
}

/// Returns the reason why an operand is not a dense tensor that can be read.
#[cold]
fn not_dense(operand: &AnyRef) -> Error {
    match operand.try_read::<DenseHostTensor>() {
        Ok(_) => invalid("a tensor became available meanwhile"),
        Err(error) => mismatched(error),
    }
}

#[cold]
fn mismatched(error: tfrt::async_value::BorrowError) -> Error {
    Error::new(error.to_string()).with_code(ErrorCode::InvalidArgument)
}

/// Returns a function of the elements of one tensor, given as the operand and its payload, in the
/// operand's own memory if it has no other references.
fn map_elements<T: Element>(
    (operand, tensor): (&AnyRef, &DenseHostTensor),
    ctx: &ExecutionContext,
    apply: impl FnOnce(&[T], &mut [T]),
    apply_in_place: impl FnOnce(&mut [T]),
) -> Result<DenseHostTensor> {
    if operand.is_unique_through_links() && tensor.is_exclusive() {
        let mut result = tensor.clone();
        apply_in_place(&mut result.elements_mut::<T>()?);
        return Ok(result);
    }
    let x = tensor.elements::<T>()?;
    let failed = |error| no_memory("out of memory allocating result", error);
    tensor.computed_like(ctx.allocator(), |y| apply(&x, y), failed)
}

/// Returns a tensor for a result, whose elements `compute` writes, all of them, and what `compute`
/// returns.
#[inline]
fn computed<T: Element, R>(
    ctx: &ExecutionContext,
    shape: Shape,
    compute: impl FnOnce(&mut [T]) -> R,
) -> Result<(DenseHostTensor, R)> {
    DenseHostTensor::computed(ctx.allocator(), shape, compute)
        .map_err(|error| no_memory("out of memory allocating result", error))
}

#[cold]
fn unsupported(message: impl AsRef<str>) -> Error {
    Error::new(message.as_ref())
}

#[cold]
fn invalid(message: impl AsRef<str>) -> Error {
    Error::new(message.as_ref()).with_code(ErrorCode::InvalidArgument)
}
