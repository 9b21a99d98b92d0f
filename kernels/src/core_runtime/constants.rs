//! Handles of constant tensors.

use half::{bf16, f16};
use tfrt::core::{CoreRuntime, TensorHandle};
use tfrt::prelude::*;
use tfrt_tensor::{DenseHostTensor, Shape, StringHostTensor, Tensor};

use crate::dense_tensors::create::from_attribute;
use crate::scalar::{Constants, Scalar};
use crate::string_tensors::bytes_of;

/// Returns a handle of a tensor on the device of the host.
fn on_host<T: Tensor + Value>(tensor: T, ctx: &ExecutionContext) -> TensorHandle {
    TensorHandle::of_tensor(CoreRuntime::of(ctx.host()).host_device().clone(), tensor)
}

/// Creates a handle of a constant tensor in the program.
#[tfrt_kernel(
    "corert.const_dense_tensor",
    pure,
    chain = none,
    constant,
    kernel_set = ConstDenseTensor,
    results(tensor),
    format = "typed($value) attr-dict"
)]
pub(crate) fn const_dense_tensor(
    #[attr] value: DenseView<'_>,
    ctx: &ExecutionContext,
) -> Result<TensorHandle> {
    Ok(on_host(from_attribute(value, ctx)?, ctx))
}

/// Creates a handle of a constant tensor in the program.
#[tfrt_kernel(
    "corert_sync.const_dense_tensor",
    sync,
    results(tensor),
    format = "typed($value) attr-dict"
)]
fn const_dense_tensor_sync(
    #[attr] value: DenseView<'_>,
    ctx: &ExecutionContext,
) -> Result<TensorHandle> {
    Ok(on_host(from_attribute(value, ctx)?, ctx))
}

/// Creates a handle of a tensor of constant strings: one for each element, or one for all.
///
/// # Errors
/// `failed to allocate string host tensor`, also if the number of strings is neither one nor that
/// of the elements.
#[tfrt_kernel(
    "corert.const_string_tensor",
    pure,
    chain = none,
    results(tensor),
    format = "attr-dict"
)]
fn const_string_tensor(
    #[attr] shape: &[i64],
    #[attr] value: AggregateView<'_>,
    ctx: &ExecutionContext,
) -> Result<TensorHandle> {
    let failed = |_| Error::new("failed to allocate string host tensor");
    let shape = Shape::from_signed(shape)?;
    let strings = value.iter().map(bytes_of).collect::<Result<Vec<_>, _>>()?;
    let tensor = match &strings[..] {
        // A program of a few bytes may ask for any number of texts.
        [fill] if size_bytes(&shape, fill).is_none_or(|size| size > MAX_FILLED_BYTES) => {
            return Err(Error::new("failed to allocate string host tensor")
                .with_code(ErrorCode::ResourceExhausted));
        }
        [fill] => {
            let mut tensor = StringHostTensor::empty_strings(shape).map_err(failed)?;
            tensor.strings_mut().fill(fill.clone());
            tensor
        }
        _ => StringHostTensor::new(shape, strings).map_err(failed)?,
    };
    Ok(on_host(tensor, ctx))
}

/// The most memory that copies of one text may take.
const MAX_FILLED_BYTES: usize = 1 << 30;

/// Returns the size of a tensor of copies of a text.
fn size_bytes(shape: &Shape, text: &[u8]) -> Option<usize> {
    let of_one = text.len().checked_add(size_of::<Vec<u8>>())?;
    shape.num_elements().checked_mul(of_one)
}

fn create<T: Scalar>(
    shape: &[i64],
    elements: &[T::Element],
    ctx: &ExecutionContext,
) -> Result<TensorHandle> {
    let failed = |_| Error::new("failed to allocate dense host tensor");
    let shape = Shape::from_signed(shape)?;
    let tensor = DenseHostTensor::from_elements(ctx.allocator(), shape, elements);
    Ok(on_host(tensor.map_err(failed)?, ctx))
}

/// Creates a handle of a tensor with the constant elements in the program.
///
/// # Errors
/// `failed to allocate dense host tensor`, also if the number of elements does not match the shape.
#[tfrt_kernel(
    "corert.create_dense_tensor.{T}",
    T = [u8 as "ui8", u16 as "ui16", u32 as "ui32", u64 as "ui64", bool as "i1", i8, i16, i32, i64, f16, bf16, f32, f64],
    pure,
    chain = none,
    results(tensor),
    format = "attr-dict"
)]
fn create_dense_tensor<T: Scalar>(
    #[attr] shape: &[i64],
    #[attr] value: Constants<'_, T>,
    ctx: &ExecutionContext,
) -> Result<TensorHandle> {
    create::<T>(shape, &value.0, ctx)
}

/// Creates a handle of a tensor with the constant elements in the program.
///
/// # Errors
/// `failed to allocate dense host tensor`, also if the number of elements does not match the shape.
#[tfrt_kernel(
    "corert_sync.create_dense_tensor.{T}",
    T = [u8 as "ui8", u16 as "ui16", u32 as "ui32", u64 as "ui64", bool as "i1", i8, i16, i32, i64, f16, bf16, f32, f64],
    sync,
    results(tensor),
    format = "attr-dict"
)]
fn create_dense_tensor_sync<T: Scalar>(
    #[attr] shape: &[i64],
    #[attr] value: Constants<'_, T>,
    ctx: &ExecutionContext,
) -> Result<TensorHandle> {
    create::<T>(shape, &value.0, ctx)
}
