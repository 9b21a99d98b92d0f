//! Buffers, and tensors created from them.

use half::f16;
use tfrt::prelude::*;
use tfrt::support::complex::Complex;
use tfrt_tensor::{DenseHostTensor, Element, HostBuffer, Sizes, TensorError};

use crate::scalar::Scalar;

/// Returns a tensor of the bytes of a buffer. Messages start with `kernel`.
fn adopt<T: Scalar>(kernel: &str, buffer: &HostBuffer, shape: &Sizes) -> Result<DenseHostTensor> {
    let tensor = DenseHostTensor::from_buffer(T::Element::DTYPE, shape.to_shape()?, buffer.clone());
    tensor.map_err(|error| match error {
        TensorError::WrongBufferSize { found, .. } => {
            let element_bytes = size_of::<T::Element>();
            Error::new(format!(
                "{kernel} failed: buffer_size ({found}) is not equal to the number of elements in \
                 shape ({shape}) times element size ({element_bytes})"
            ))
        }
        error => error.into(),
    })
}

/// Creates a tensor from a buffer, without copying it.
///
/// # Errors
/// `dht.make_tensor failed: buffer_size (B) is not equal to the number of elements in shape (S) times element size (E)`.
#[tfrt_kernel(
    "tfrt_dht.make_tensor.{T}",
    T = [u8 as "ui8", u32 as "ui32", i32, f32, i64, bool, Complex<f32> as "complex64", Complex<f64> as "complex128"],
    results(tensor, out_chain),
    format = "operands attr-dict"
)]
fn make_tensor<T: Scalar>(
    buffer: &HostBuffer,
    shape: &Sizes,
    in_chain: Chain,
) -> Result<(DenseHostTensor, Chain)> {
    Ok((adopt::<T>("dht.make_tensor", buffer, shape)?, in_chain))
}

/// Creates a tensor from a buffer, without copying it.
///
/// # Errors
/// `dht.make_tensor failed: buffer_size (B) is not equal to the number of elements in shape (S) times element size (E)`.
#[tfrt_kernel("tfrt_dht.make_tensor.{T}", T = [i8, f16, f64], results(tensor, out_chain))]
fn make_tensor_generic_form<T: Scalar>(
    buffer: &HostBuffer,
    shape: &Sizes,
    in_chain: Chain,
) -> Result<(DenseHostTensor, Chain)> {
    Ok((adopt::<T>("dht.make_tensor", buffer, shape)?, in_chain))
}

/// Creates a tensor from a buffer, without copying it.
///
/// # Errors
/// `tfrt_dht_sync.make_tensor failed: buffer_size (B) is not equal to the number of elements in shape (S) times element size (E)`.
#[tfrt_kernel(
    "tfrt_dht_sync.make_tensor.{T}",
    T = [u8 as "ui8", u32 as "ui32", i32, f32, i64, bool, Complex<f32> as "complex64", Complex<f64> as "complex128"],
    sync,
    results(tensor),
    format = "operands attr-dict"
)]
fn make_tensor_sync<T: Scalar>(buffer: &HostBuffer, shape: &Sizes) -> Result<DenseHostTensor> {
    adopt::<T>("tfrt_dht_sync.make_tensor", buffer, shape)
}

/// Creates a tensor from a buffer, without copying it.
///
/// # Errors
/// `tfrt_dht_sync.make_tensor failed: buffer_size (B) is not equal to the number of elements in shape (S) times element size (E)`.
#[tfrt_kernel("tfrt_dht_sync.make_tensor.{T}", T = [i8, f16, f64], sync, results(tensor))]
fn make_tensor_sync_generic_form<T: Scalar>(
    buffer: &HostBuffer,
    shape: &Sizes,
) -> Result<DenseHostTensor> {
    adopt::<T>("tfrt_dht_sync.make_tensor", buffer, shape)
}

fn allocate(size_bytes: i64, alignment_bytes: i64, ctx: &ExecutionContext) -> Result<HostBuffer> {
    let size_bytes = usize::try_from(size_bytes);
    let align_bytes = usize::try_from(alignment_bytes);
    let buffer = match (size_bytes, align_bytes) {
        (Ok(size), Ok(align)) => HostBuffer::zeroed(ctx.allocator(), size, align).ok(),
        _ => None,
    };
    buffer.ok_or_else(|| Error::new("Cannot allocate host buffer"))
}

/// Allocates a zeroed buffer with the given size and alignment in bytes.
///
/// # Errors
/// `Cannot allocate host buffer`.
#[tfrt_kernel(
    "tfrt_dht.allocate_buffer",
    chain = none,
    results(buffer),
    format = "operands attr-dict"
)]
fn allocate_buffer(
    size_bytes: i64,
    alignment_bytes: i64,
    ctx: &ExecutionContext,
) -> Result<HostBuffer> {
    allocate(size_bytes, alignment_bytes, ctx)
}

/// Allocates a zeroed buffer with the given size and alignment in bytes.
///
/// # Errors
/// `Cannot allocate host buffer`.
#[tfrt_kernel(
    "tfrt_dht_sync.allocate_buffer",
    sync,
    results(buffer),
    format = "operands attr-dict"
)]
fn allocate_buffer_sync(
    size_bytes: i64,
    alignment_bytes: i64,
    ctx: &ExecutionContext,
) -> Result<HostBuffer> {
    allocate(size_bytes, alignment_bytes, ctx)
}

fn slice(buffer: &HostBuffer, offset_bytes: i64, size_bytes: i64) -> Result<HostBuffer> {
    let offset_bytes = usize::try_from(offset_bytes);
    let size_bytes = usize::try_from(size_bytes);
    let part = match (offset_bytes, size_bytes) {
        (Ok(offset), Ok(size)) => buffer.slice(offset, size).ok(),
        _ => None,
    };
    part.ok_or_else(|| Error::new("Cannot allocate host buffer."))
}

/// Returns a part of a buffer, which shares the buffer's memory.
///
/// # Errors
/// `Cannot allocate host buffer.` if the part is not within the buffer.
#[tfrt_kernel(
    "tfrt_dht.get_buffer_slice",
    chain = none,
    results(slice),
    format = "operands attr-dict"
)]
fn get_buffer_slice(buffer: &HostBuffer, offset_bytes: i64, size_bytes: i64) -> Result<HostBuffer> {
    slice(buffer, offset_bytes, size_bytes)
}

/// Returns a part of a buffer, which shares the buffer's memory.
///
/// # Errors
/// `Cannot allocate host buffer.` if the part is not within the buffer.
#[tfrt_kernel(
    "tfrt_dht_sync.get_buffer_slice",
    sync,
    results(slice),
    format = "operands attr-dict"
)]
fn get_buffer_slice_sync(
    buffer: &HostBuffer,
    offset_bytes: i64,
    size_bytes: i64,
) -> Result<HostBuffer> {
    slice(buffer, offset_bytes, size_bytes)
}

/// Returns the buffer of a tensor.
#[tfrt_kernel(
    "tfrt_dht.get_buffer",
    results(buffer, out_chain),
    format = "operands attr-dict"
)]
fn get_buffer(tensor: &DenseHostTensor, in_chain: Chain) -> (HostBuffer, Chain) {
    (tensor.buffer().clone(), in_chain)
}
