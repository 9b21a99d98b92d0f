//! Creation of tensors.

use std::sync::Arc;

use half::{bf16, f16};
use tfrt::host::allocator::HostAllocator;
use tfrt::prelude::*;
use tfrt::support::complex::Complex;
use tfrt_tensor::{DenseHostTensor, Element, ScalarHostTensor, Shape, TensorError};

use crate::numeric::no_memory;
use crate::scalar::{Constant, Constants, Scalar};

/// Returns the error of kernels without memory for a tensor.
pub(crate) fn cannot_allocate(error: TensorError) -> Error {
    no_memory("Cannot allocate tensor", error)
}

/// Returns the tensor that a dense attribute states, in memory of its own.
pub(crate) fn from_attribute(
    value: DenseView<'_>,
    ctx: &ExecutionContext,
) -> Result<DenseHostTensor> {
    let shape = Shape::from_signed(value.dims())?;
    let mut tensor = DenseHostTensor::zeroed(ctx.allocator(), value.dtype(), shape)?;
    tensor.buffer_mut().write()?.copy_from_slice(value.data());
    Ok(tensor)
}

/// Returns a tensor of zeros: its elements are not set yet, but must not be whatever was there.
fn create<T: Scalar>(shape: &[i64], ctx: &ExecutionContext) -> Result<DenseHostTensor> {
    let shape = Shape::from_signed(shape)?;
    DenseHostTensor::zeroed(ctx.allocator(), T::Element::DTYPE, shape).map_err(cannot_allocate)
}

/// Creates a tensor whose elements are zero until they are set.
///
/// # Errors
/// `Cannot allocate tensor`.
#[tfrt_kernel(
    "tfrt_dht.create_uninitialized_tensor.{T}.{R}",
    T = [u8 as "ui8", u16 as "ui16", u32 as "ui32", u64 as "ui64", i32, f32, i64, bool,
         Complex<f32> as "complex64", Complex<f64> as "complex128"],
    R = [0, 1, 2, 3, 4],
    chain = none,
    results(tensor),
    format = "typed($shape)"
)]
fn create_uninitialized<T: Scalar, const R: usize>(
    #[attr] shape: &[i64],
    ctx: &ExecutionContext,
) -> Result<DenseHostTensor> {
    create::<T>(shape, ctx)
}

/// Creates a tensor whose elements are zero until they are set.
///
/// # Errors
/// `Cannot allocate tensor`.
#[tfrt_kernel(
    "tfrt_dht.create_uninitialized_tensor.{T}.{R}",
    T = [u8 as "ui8", u32 as "ui32", i32, f32, i64, bool, Complex<f32> as "complex64", Complex<f64> as "complex128"],
    R = [5],
    results(tensor),
    attribute_names = free
)]
fn create_uninitialized_of_high_rank<T: Scalar, const R: usize>(
    #[attr] shape: &[i64],
    ctx: &ExecutionContext,
) -> Result<DenseHostTensor> {
    create::<T>(shape, ctx)
}

/// Creates a tensor whose elements are zero until they are set.
///
/// # Errors
/// `Cannot allocate tensor`.
#[tfrt_kernel(
    "tfrt_dht.create_uninitialized_tensor.{T}.{R}",
    T = [i8, i16, f16, bf16, f64],
    R = [0, 1, 2, 3, 4, 5],
    results(tensor),
    attribute_names = free
)]
fn create_uninitialized_generic_form<T: Scalar, const R: usize>(
    #[attr] shape: &[i64],
    ctx: &ExecutionContext,
) -> Result<DenseHostTensor> {
    create::<T>(shape, ctx)
}

/// Creates a tensor whose elements are zero until they are set.
///
/// # Errors
/// `Cannot allocate tensor`.
#[tfrt_kernel(
    "tfrt_dht_sync.create_uninitialized_tensor.{T}.{R}",
    T = [u8 as "ui8", u32 as "ui32", i32, f32, i64, bool, Complex<f32> as "complex64", Complex<f64> as "complex128"],
    R = [0, 1, 2, 3, 4],
    sync,
    results(tensor),
    format = "typed($shape) attr-dict"
)]
fn create_uninitialized_sync<T: Scalar, const R: usize>(
    #[attr] shape: &[i64],
    ctx: &ExecutionContext,
) -> Result<DenseHostTensor> {
    create::<T>(shape, ctx)
}

/// Creates a tensor whose elements are zero until they are set.
///
/// # Errors
/// `Cannot allocate tensor`.
#[tfrt_kernel(
    "tfrt_dht_sync.create_uninitialized_tensor.{T}.{R}",
    T = [u8 as "ui8", u32 as "ui32", i32, f32, i64, bool, Complex<f32> as "complex64", Complex<f64> as "complex128"],
    R = [5],
    sync,
    results(tensor),
    attribute_names = free
)]
fn create_uninitialized_sync_of_high_rank<T: Scalar, const R: usize>(
    #[attr] shape: &[i64],
    ctx: &ExecutionContext,
) -> Result<DenseHostTensor> {
    create::<T>(shape, ctx)
}

/// Creates a tensor whose elements are zero until they are set.
///
/// # Errors
/// `Cannot allocate tensor`.
#[tfrt_kernel(
    "tfrt_dht_sync.create_uninitialized_tensor.{T}.{R}",
    T = [i8, f16, f64],
    R = [0, 1, 2, 3, 4, 5],
    sync,
    results(tensor),
    attribute_names = free
)]
fn create_uninitialized_sync_generic_form<T: Scalar, const R: usize>(
    #[attr] shape: &[i64],
    ctx: &ExecutionContext,
) -> Result<DenseHostTensor> {
    create::<T>(shape, ctx)
}

/// Creates a tensor from its elements, or from one value for all of them.
///
/// # Errors
/// `Cannot allocate tensor`; also if the number of values is neither one nor that of the elements.
#[tfrt_kernel(
    "tfrt_dht_sync.create_dense_tensor.{T}",
    T = [u8 as "ui8", u32 as "ui32", f32, f64, i8, i32, i64, bool, Complex<f32> as "complex64",
         Complex<f64> as "complex128", f16],
    sync,
    results(tensor),
    attribute_names = free
)]
fn create_dense<T: Scalar>(
    #[attr] shape: &[i64],
    #[attr] values: Constants<'_, T>,
    ctx: &ExecutionContext,
) -> Result<DenseHostTensor> {
    let shape = Shape::from_signed(shape)?;
    dense_of(ctx.allocator(), shape, &values.0)
}

fn dense_of<E: Element>(
    allocator: &Arc<dyn HostAllocator>,
    shape: Shape,
    values: &[E],
) -> Result<DenseHostTensor> {
    match *values {
        [value] => DenseHostTensor::filled(allocator, shape, value).map_err(cannot_allocate),
        _ if values.len() == shape.num_elements() => {
            DenseHostTensor::from_elements(allocator, shape, values).map_err(cannot_allocate)
        }
        _ => Err(super::fill::wrong_number(
            values.len(),
            shape.num_elements(),
        )),
    }
}

/// Creates a scalar tensor, which stores one value for all elements.
///
/// # Errors
/// If a dimension is negative.
#[tfrt_kernel(
    "tfrt_dht_sync.create_from_scalar.{T}",
    T = [u8 as "ui8", u32 as "ui32", f32, f64, i8, i32, i64, bool, Complex<f32> as "complex64",
         Complex<f64> as "complex128", f16],
    sync,
    results(tensor),
    attribute_names = free
)]
fn create_from_scalar<T: Scalar>(
    #[attr] shape: &[i64],
    #[attr] value: Constant<T>,
) -> Result<ScalarHostTensor> {
    Ok(ScalarHostTensor::new(Shape::from_signed(shape)?, value.0))
}
