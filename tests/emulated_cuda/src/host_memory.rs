//! Memory of the host that the device accesses in place.

use std::alloc::{Layout, alloc, dealloc};
use std::ptr::NonNull;

use tfrt_gpu::host_device::HostMemory;

use crate::abi::{read_host, write_host};

/// Memory that a caller has registered, and keeps until it undoes that (A1).
#[derive(Debug)]
pub(crate) struct Registered {
    address: u64,
    len_bytes: usize,
}

impl Registered {
    pub(crate) fn new(address: u64, len_bytes: usize) -> Self {
        Self { address, len_bytes }
    }
}

impl HostMemory for Registered {
    fn len_bytes(&self) -> usize {
        self.len_bytes
    }

    fn read(&self, offset: usize, bytes: &mut [u8]) -> Result<(), String> {
        bytes.copy_from_slice(&read_host(self.address + offset as u64, bytes.len()));
        Ok(())
    }

    fn write(&mut self, offset: usize, bytes: &[u8]) -> Result<(), String> {
        write_host(self.address + offset as u64, bytes);
        Ok(())
    }
}

/// Pinned memory, which the caller accesses by its address until it frees it.
#[derive(Debug)]
pub(crate) struct Pinned {
    start: NonNull<u8>,
    layout: Layout,
}

// SAFETY: the memory belongs to no thread, and this owns it.
unsafe impl Send for Pinned {}

impl Pinned {
    /// Allocates memory at the start of a page; `None` if there is none, or none is wanted.
    pub(crate) fn allocate(len_bytes: usize) -> Option<Self> {
        let layout = Layout::from_size_align(len_bytes, 4096).ok()?;
        if len_bytes == 0 {
            return None;
        }
        // SAFETY: the size is not zero.
        let start = NonNull::new(unsafe { alloc(layout) })?;
        let mut pinned = Self { start, layout };
        // Its content is unspecified: not zero, so that nobody relies on that.
        pinned.write(0, &vec![0xff; len_bytes]).ok()?;
        Some(pinned)
    }

    pub(crate) fn address(&self) -> u64 {
        self.start.as_ptr().expose_provenance() as u64
    }
}

impl HostMemory for Pinned {
    fn len_bytes(&self) -> usize {
        self.layout.size()
    }

    fn read(&self, offset: usize, bytes: &mut [u8]) -> Result<(), String> {
        bytes.copy_from_slice(&read_host(self.address() + offset as u64, bytes.len()));
        Ok(())
    }

    fn write(&mut self, offset: usize, bytes: &[u8]) -> Result<(), String> {
        write_host(self.address() + offset as u64, bytes);
        Ok(())
    }
}

impl Drop for Pinned {
    fn drop(&mut self) {
        // SAFETY: allocated with this layout, by `allocate`, and freed nowhere else.
        unsafe { dealloc(self.start.as_ptr(), self.layout) };
    }
}
