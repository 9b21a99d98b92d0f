//! Ops of the Core Runtime for the processor: `tf.*` and `tfrt_test.*`, each of them a kernel, too.
//!
//! Numeric code is that of [`tfrt_compute`]; here is what the ops promise of metadata, and what they say where something is
//! wrong. Ops whose attributes may be of any type are functions of their call, and no kernels.
//!
//! | module | ops |
//! |---|---|
//! | [`constants`] | constants, zeros |
//! | [`element_wise`] | functions of elements, one by one, and of two tensors with broadcasting |
//! | [`products`] | matrix products |
//! | [`reductions`] | means, softmax |
//! | [`shapes`] | concatenation, tiles, new dimensions |
//! | [`images`] | convolution, pooling, padding, normalization |
//! | [`metadata`] | what can be told of results before they are computed |
//! | [`test`](mod@test) | ops for tests |

pub mod metadata;

pub mod constants;

pub mod element_wise;

pub mod products;

pub mod reductions;

pub mod shapes;

pub mod images;

pub mod test;

use tfrt::prelude::*;
use tfrt_tensor::{DenseHostTensor, Element, Shape};

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

/// A tensor for a result. Its elements are zero.
fn allocate(dtype: DType, shape: Shape, ctx: &ExecutionContext) -> Result<DenseHostTensor> {
    DenseHostTensor::zeroed(ctx.allocator(), dtype, shape)
        .map_err(|error| no_memory("out of memory allocating result", error))
}

/// The dense tensor that an operand is.
fn dense(operand: &AnyRef) -> Result<DenseHostTensor> {
    Ok(operand
        .try_read::<DenseHostTensor>()
        .map_err(mismatched)?
        .clone())
}

#[cold]
fn mismatched(error: tfrt::async_value::BorrowError) -> Error {
    Error::new(error.to_string()).with_code(ErrorCode::InvalidArgument)
}

/// A function of the elements of one tensor, in the operand's own memory if nobody else can see it.
fn map_elements<T: Element>(
    operand: &AnyRef,
    ctx: &ExecutionContext,
    apply: impl FnOnce(&[T], &mut [T]),
    apply_in_place: impl FnOnce(&mut [T]),
) -> Result<DenseHostTensor> {
    let tensor = operand.try_read::<DenseHostTensor>().map_err(mismatched)?;
    if operand.is_unique_through_links() && tensor.is_exclusive() {
        let mut result = tensor.clone();
        apply_in_place(&mut result.elements_mut::<T>()?);
        return Ok(result);
    }
    let mut result = allocate(tensor.dtype(), tensor.shape().clone(), ctx)?;
    apply(&tensor.elements::<T>()?, &mut result.elements_mut::<T>()?);
    Ok(result)
}

/// A tensor that is there when a chain is.
fn after(chain: AsyncValueRef<Chain>, tensor: DenseHostTensor) -> AnyRef {
    if let Some(error) = chain.error_if_present() {
        return AnyRef::error(error.clone());
    }
    if chain.is_available() {
        return AnyRef::available(tensor);
    }
    let (promise, result) = AnyRef::indirect();
    chain.and_then(move |chain| {
        promise.forward_to(match chain.error_if_present() {
            Some(error) => AnyRef::error(error.clone()),
            None => AnyRef::available(tensor),
        });
    });
    result
}

#[cold]
fn unsupported(message: impl AsRef<str>) -> Error {
    Error::new(message.as_ref())
}

#[cold]
fn invalid(message: impl AsRef<str>) -> Error {
    Error::new(message.as_ref()).with_code(ErrorCode::InvalidArgument)
}
