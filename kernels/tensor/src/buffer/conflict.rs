//! The reasons why bytes cannot be borrowed.

use std::fmt;

/// The reasons why bytes cannot be borrowed.
///
/// ```
/// use std::sync::Arc;
/// use tfrt_host::allocator::{HostAllocator, Malloc};
/// use tfrt_tensor::{BufferConflict, HostBuffer, TensorError};
///
/// let allocator: Arc<dyn HostAllocator> = Arc::new(Malloc);
/// let buffer = HostBuffer::zeroed(&allocator, 8, 8)?;
/// let mut shared = buffer.clone();
/// let reading = buffer.read()?;
/// assert_eq!(shared.write().unwrap_err(), TensorError::Conflict(BufferConflict::Read));
/// drop(reading);
/// assert!(shared.write().is_ok());
/// # Ok::<(), TensorError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum BufferConflict {
    /// The bytes are being written.
    Written,
    /// The bytes are being read, so they cannot be written.
    Read,
    /// The bytes are read-only, such as those of a mapped file.
    ReadOnly,
}

impl fmt::Display for BufferConflict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Written => "the buffer is being written by another kernel",
            Self::Read => "the buffer is being read by another kernel",
            Self::ReadOnly => "the buffer can only be read",
        })
    }
}

impl std::error::Error for BufferConflict {}

tfrt_support::convert_errors!(BufferConflict);
