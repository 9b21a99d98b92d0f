//! What unit tests share.

use std::sync::Arc;

use tfrt_host::allocator::{HostAllocator, Malloc};

/// The system heap.
pub(crate) fn malloc() -> Arc<dyn HostAllocator> {
    Arc::new(Malloc)
}
