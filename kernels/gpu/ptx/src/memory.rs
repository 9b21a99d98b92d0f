//! The memory that kernels reach by global addresses.

use std::error::Error;
use std::fmt;

/// Memory of a device, as one launch sees it.
///
/// The implementer finds the buffer of an address, and refuses what lies outside of all buffers,
/// was freed, or may not be written. The interpreter has checked alignment before it asks, and asks
/// for 1 to 32 bytes at a time. Addresses whose top byte is not zero never come here: they belong
/// to the interpreter's own windows of shared, local and parameter memory.
///
/// [`Arena`](crate::Arena) is a small implementation.
pub trait Memory {
    /// Copies the bytes at `address` to `bytes`.
    fn read(&mut self, address: u64, bytes: &mut [u8]) -> Result<(), AccessError>;

    /// Copies `bytes` to `address`.
    fn write(&mut self, address: u64, bytes: &[u8]) -> Result<(), AccessError>;

    /// Replaces the integer of `size` bytes (2, 4, 8) at `address` by what `change` makes of it,
    /// and returns the old one, as one step for everything else that uses the memory at the same
    /// time.
    fn update(
        &mut self,
        address: u64,
        size: usize,
        change: &mut dyn FnMut(u64) -> u64,
    ) -> Result<u64, AccessError>;
}

/// An access that a [`Memory`] refused, in its words: which buffer is near, who freed it.
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

    /// Why the access was refused.
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
