//! A memory of separate buffers, for tests and tools.

use crate::memory::{AccessError, Memory};

/// Buffers with gaps between them. Addresses are artificial, never reused, and unrelated to those
/// of the process.
///
/// New bytes are `0xff`, which is NaN in every format, so reads of unwritten memory are noticed.
///
/// ```
/// use tfrt_ptx::{Arena, Memory};
///
/// let mut memory = Arena::new();
/// let buffer = memory.allocate(400);
/// assert_eq!(buffer % 512, 0);
/// let refused = memory.read(buffer + 400, &mut [0; 4]).unwrap_err();
/// assert_eq!(refused.message(), "0 bytes past the end of buffer 0xa0000000000 of 400 bytes");
/// ```
#[derive(Clone, Debug, Default)]
pub struct Arena {
    /// By address.
    buffers: Vec<Buffer>,
}

#[derive(Clone, Debug)]
struct Buffer {
    address: u64,
    bytes: Vec<u8>,
    is_freed: bool,
}

const FIRST: u64 = 0x0a00_0000_0000;
const ALIGNMENT: u64 = 512;

impl Arena {
    /// Creates a memory without buffers.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a buffer and returns its address, a multiple of 512.
    pub fn allocate(&mut self, num_bytes: usize) -> u64 {
        let address = match self.buffers.last() {
            None => FIRST,
            Some(last) => {
                (last.address + last.bytes.len() as u64).next_multiple_of(ALIGNMENT) + ALIGNMENT
            }
        };
        self.buffers.push(Buffer {
            address,
            bytes: vec![0xff; num_bytes],
            is_freed: false,
        });
        address
    }

    /// Ends the life of the buffer at `address`: every later access to it is refused.
    ///
    /// # Errors
    /// If no buffer begins there, or if it was freed before.
    pub fn free(&mut self, address: u64) -> Result<(), AccessError> {
        let found = self
            .buffers
            .iter_mut()
            .find(|buffer| buffer.address == address && !buffer.is_freed);
        let buffer = found.ok_or_else(|| AccessError::new("expected the start of a buffer"))?;
        buffer.is_freed = true;
        Ok(())
    }

    fn bytes(&mut self, address: u64, num_bytes: usize) -> Result<&mut [u8], AccessError> {
        let after = self
            .buffers
            .partition_point(|buffer| buffer.address <= address);
        let Some(buffer) = after
            .checked_sub(1)
            .and_then(|index| self.buffers.get_mut(index))
        else {
            return Err(AccessError::new("no buffer contains this address"));
        };
        let Buffer {
            address: start,
            is_freed,
            ..
        } = *buffer;
        let len = buffer.bytes.len();
        let offset = usize::try_from(address - start).unwrap_or(usize::MAX);
        if is_freed {
            return Err(AccessError::new(format!(
                "buffer {start:#x} of {len} bytes was freed before"
            )));
        }
        let range = offset..offset.saturating_add(num_bytes);
        buffer
            .bytes
            .get_mut(range)
            .ok_or_else(|| match offset.checked_sub(len) {
                Some(behind) => AccessError::new(format!(
                    "{behind} bytes past the end of buffer {start:#x} of {len} bytes"
                )),
                None => AccessError::new(format!(
                    "across the end of buffer {start:#x} of {len} bytes"
                )),
            })
    }
}

impl Memory for Arena {
    fn read(&mut self, address: u64, bytes: &mut [u8]) -> Result<(), AccessError> {
        bytes.copy_from_slice(self.bytes(address, bytes.len())?);
        Ok(())
    }

    fn write(&mut self, address: u64, bytes: &[u8]) -> Result<(), AccessError> {
        self.bytes(address, bytes.len())?.copy_from_slice(bytes);
        Ok(())
    }

    fn update(
        &mut self,
        address: u64,
        size: usize,
        change: &mut dyn FnMut(u64) -> u64,
    ) -> Result<u64, AccessError> {
        let place = self.bytes(address, size)?;
        let mut old = [0; 8];
        old[..size].copy_from_slice(place);
        let old = u64::from_le_bytes(old);
        place.copy_from_slice(&change(old).to_le_bytes()[..size]);
        Ok(old)
    }
}
