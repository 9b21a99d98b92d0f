//! Values as rows of a batch.

use smallvec::SmallVec;
use tfrt_async::{AnyRef, ByteString, ReadGuard};
use tfrt_host::ExecutionContext;
use tfrt_support::{DType, Error, ErrorCode, TensorMetadata};
use tfrt_tensor::{DenseHostTensor, HostBuffer, Shape, StringHostTensor};

use crate::dataset::invalid;
use crate::numbers::scalar;

/// A value that can be a row.
pub(super) enum Row<'v> {
    /// A number or truth value of this type, in the first bytes.
    Number(DType, [u8; 8]),
    Tensor(&'v DenseHostTensor),
    String(&'v ByteString),
    Strings(ReadGuard<'v, StringHostTensor>),
}

impl<'v> Row<'v> {
    /// Returns what kind of row a value is, if it can be one.
    pub(super) fn of(value: &'v AnyRef) -> Option<Self> {
        if let Some((dtype, bytes)) = scalar(value) {
            return Some(Self::Number(dtype, bytes));
        }
        if let Some(tensor) = value.get::<DenseHostTensor>() {
            return Some(Self::Tensor(tensor));
        }
        if let Some(string) = value.get::<ByteString>() {
            return Some(Self::String(string));
        }
        value.try_read::<StringHostTensor>().ok().map(Self::Strings)
    }

    /// Returns its element type and extents.
    pub(super) fn metadata(&self) -> (DType, &[usize]) {
        match self {
            Self::Number(dtype, _) => (*dtype, &[]),
            Self::Tensor(tensor) => (tensor.dtype(), tensor.shape().dims()),
            Self::String(_) => (DType::String, &[]),
            Self::Strings(tensor) => (DType::String, tensor.shape().dims()),
        }
    }
}

/// Returns `true` if the metadata has this element type and these extents.
pub(super) fn matches(metadata: &TensorMetadata, dtype: DType, dims: &[usize]) -> bool {
    metadata.dtype == dtype && metadata.extents[..] == *dims
}

/// Returns the error of an element that differs from the first one. `index` is its index among the
/// results of the batch.
#[cold]
pub(super) fn misfit(first: &TensorMetadata, dtype: DType, dims: &[usize], index: usize) -> Error {
    invalid(format!(
        "element {index} of the batch is {dtype} {dims:?}, the first is {} {:?}",
        first.dtype,
        &first.extents[..]
    ))
}

/// Returns the error of an element that cannot be a row, where `wanted` can.
#[cold]
pub(super) fn unsuitable(wanted: &str, found: &AnyRef, index: usize) -> Error {
    invalid(format!(
        "element {index} of the batch: expected {wanted}, found `{}`",
        found.mlir_type().unwrap_or("none")
    ))
}

/// Returns a zeroed buffer for so many rows, and the size of one, in bytes.
///
/// # Errors
/// If there is no memory for it.
pub(super) fn allocate(
    metadata: &TensorMetadata,
    num_rows: usize,
    ctx: &ExecutionContext,
) -> Result<(HostBuffer, usize), Error> {
    let no_memory = || {
        Error::new("failed to create uninitialized tensor").with_code(ErrorCode::ResourceExhausted)
    };
    let row_bytes = metadata.num_elements().zip(metadata.dtype.size_bytes());
    let row_bytes = row_bytes
        .and_then(|(len, size)| len.checked_mul(size))
        .ok_or_else(no_memory)?;
    let size_bytes = row_bytes.checked_mul(num_rows).ok_or_else(no_memory)?;
    let align = metadata.dtype.align_bytes().unwrap_or(1);
    let buffer = HostBuffer::zeroed(ctx.allocator(), size_bytes, align).map_err(|_| no_memory())?;
    Ok((buffer, row_bytes))
}

/// Returns the shape of so many rows.
pub(super) fn shape_of(num_rows: usize, metadata: &TensorMetadata) -> Result<Shape, Error> {
    let mut dims: SmallVec<[usize; 6]> = SmallVec::new();
    dims.push(num_rows);
    dims.extend_from_slice(&metadata.extents);
    Ok(Shape::new(&dims)?)
}

/// Returns the tensor of the first rows of a buffer for `batch_size` rows: a smaller one is copied.
pub(super) fn tensor_of(
    metadata: &TensorMetadata,
    buffer: HostBuffer,
    (num_rows, batch_size): (usize, usize),
    row_bytes: usize,
    ctx: &ExecutionContext,
) -> Result<AnyRef, Error> {
    let shape = shape_of(num_rows, metadata)?;
    let buffer = if num_rows == batch_size {
        buffer
    } else {
        let bytes = buffer.read()?;
        HostBuffer::copied(ctx.allocator(), &bytes[..num_rows * row_bytes])?
    };
    let tensor = DenseHostTensor::from_buffer(metadata.dtype, shape, buffer)?;
    Ok(AnyRef::available(tensor))
}
