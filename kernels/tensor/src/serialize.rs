//! Serialisation of tensors for other processes. Metadata and elements are separate, so elements
//! are not copied.
//!
//! Metadata is a list of numbers of 64 bits, little endian: the code of the element type, then the
//! size of each dimension.

use tfrt_support::DType;

use crate::buffer::HostBuffer;
use crate::dense::DenseHostTensor;
use crate::error::TensorError;
use crate::shape::Shape;

/// Serialises metadata.
///
/// ```
/// use tfrt_support::DType;
/// use tfrt_tensor::{Shape, serialize};
///
/// let bytes = serialize::metadata(DType::F32, &Shape::new(&[2])?);
/// assert_eq!(bytes, [10, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0]);
/// assert_eq!(serialize::parse_metadata(&bytes)?, (DType::F32, Shape::new(&[2])?));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use]
pub fn metadata(dtype: DType, shape: &Shape) -> Vec<u8> {
    let code = u64::from(dtype.code());
    let dims = shape.dims().iter().map(|&dim| dim as u64);
    std::iter::once(code)
        .chain(dims)
        .flat_map(u64::to_le_bytes)
        .collect()
}

/// Parses metadata.
///
/// # Errors
/// [`TensorError::BadMetadata`] and [`TensorError::Shape`].
pub fn parse_metadata(bytes: &[u8]) -> Result<(DType, Shape), TensorError> {
    let (words, rest) = bytes.as_chunks::<8>();
    if !rest.is_empty() {
        return Err(TensorError::BadMetadata("64-bit integers"));
    }
    let mut words = words.iter().map(|word| u64::from_le_bytes(*word));
    let dtype = words
        .next()
        .and_then(|code| DType::from_code(u8::try_from(code).ok()?))
        .ok_or(TensorError::BadMetadata("the code of an element type"))?;
    let dims: Vec<usize> = words
        .map(|dim| usize::try_from(dim).map_err(|_| TensorError::BadMetadata("a dimension")))
        .collect::<Result<_, _>>()?;
    Ok((dtype, Shape::new(&dims)?))
}

impl DenseHostTensor {
    /// Returns the bytes of the tensor's metadata and the buffer of its elements, which is shared.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use tfrt_host::allocator::{HostAllocator, Malloc};
    /// use tfrt_tensor::{DenseHostTensor, Shape};
    ///
    /// let allocator: Arc<dyn HostAllocator> = Arc::new(Malloc);
    /// let tensor = DenseHostTensor::filled(&allocator, Shape::new(&[2])?, 1_u8)?;
    /// let (metadata, elements) = tensor.serialize();
    /// assert_eq!(DenseHostTensor::deserialize(&metadata, elements)?.to_string(), tensor.to_string());
    /// # Ok::<(), tfrt_tensor::TensorError>(())
    /// ```
    #[must_use]
    pub fn serialize(&self) -> (Vec<u8>, HostBuffer) {
        (metadata(self.dtype(), self.shape()), self.buffer().clone())
    }

    /// Creates a tensor from these bytes.
    ///
    /// # Errors
    /// [`TensorError::BadMetadata`], and those of [`from_buffer`](Self::from_buffer).
    pub fn deserialize(metadata: &[u8], elements: HostBuffer) -> Result<Self, TensorError> {
        let (dtype, shape) = parse_metadata(metadata)?;
        Self::from_buffer(dtype, shape, elements)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_that_are_no_metadata_are_refused() {
        let parse = |words: &[u64]| {
            let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
            parse_metadata(&bytes)
        };
        assert!(parse(&[9, 2, 3]).is_ok());
        assert!(parse(&[]).is_err());
        assert!(parse(&[0]).is_err());
        assert!(parse(&[24]).is_err());
        assert!(parse(&[256 + 9]).is_err());
        assert!(parse(&[9, u64::MAX]).is_err());
        assert!(parse_metadata(&[9, 0, 0]).is_err());
    }
}
