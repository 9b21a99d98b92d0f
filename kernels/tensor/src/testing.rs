//! Shared parts of unit tests.

use std::sync::Arc;

use tfrt_host::allocator::{HostAllocator, Malloc};

/// Returns the system heap.
pub(crate) fn malloc() -> Arc<dyn HostAllocator> {
    Arc::new(Malloc)
}
