//! The memory that kernels access by global addresses.

use std::error::Error;
use std::fmt;

/// The memory of a device during one launch.
///
/// The implementation finds the buffer of an address, and refuses accesses that are outside of all
/// buffers, to freed memory, or to read-only memory. The interpreter has checked alignment before,
/// and accesses 1 to 32 bytes at a time. Addresses whose top byte is not zero are never passed:
/// they belong to the interpreter's own windows of shared, local and parameter memory.
///
/// [`Arena`](crate::Arena) is a small implementation.
pub trait Memory {
    /// Copies the bytes at `address` to `bytes`.
    fn read(&mut self, address: u64, bytes: &mut [u8]) -> Result<(), AccessError>;

    /// Copies `bytes` to `address`.
    fn write(&mut self, address: u64, bytes: &[u8]) -> Result<(), AccessError>;

    /// Replaces the integer of `size` bytes (2, 4, 8) at `address` by the result of `change`, and
    /// returns the old value. This is atomic with respect to all other users of the memory.
    fn update(
        &mut self,
        address: u64,
        size: usize,
        change: &mut dyn FnMut(u64) -> u64,
    ) -> Result<u64, AccessError>;
}

/// The reason why a [`Memory`] refused an access, such as the nearest buffer and how it was freed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct AccessError {
    message: String,
}

impl AccessError {
    /// Creates a refusal. The message completes "cannot read 4 bytes at 0x10: …".
    #[cold]
    pub fn new(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
        }
    }

    /// Returns the reason why the access was refused.
    pub fn message(&self) -> &str {
        &self.message
    }
}

impl fmt::Display for AccessError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl Error for AccessError {}
