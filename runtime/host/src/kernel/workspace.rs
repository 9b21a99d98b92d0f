//! The workspace of a kernel: memory for the duration of one run.
#![expect(unsafe_code, reason = "makes a slice of raw memory")]

use std::alloc::Layout;
use std::fmt;
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};
use std::ptr::NonNull;
use std::slice;
use std::sync::Arc;

use half::{bf16, f16};
use tfrt_support::{Error, ErrorCode};

use crate::allocator::HostAllocator;
use crate::services::execution::ExecutionContext;

/// The alignment of workspaces, in bytes: that of cache lines and the widest vectors.
const ALIGNMENT_BYTES: usize = 64;

/// An element type of workspaces.
///
/// # Safety
/// An implementor guarantees that zeros are a valid value, that no byte of a value is padding or
/// otherwise uninitialised, that a workspace is sufficiently aligned for it, and that it needs no
/// drop.
#[diagnostic::on_unimplemented(
    message = "a workspace cannot consist of `{Self}`",
    label = "not a primitive number",
    note = "write `#[workspace] scratch: &mut [f32]`, or use another number type"
)]
pub unsafe trait WorkspaceElement: Copy + Send + 'static {}

macro_rules! impl_workspace_element {
    ($($ty:ty),*) => {$(
        // SAFETY: a plain number: zeros are a valid value, it has no padding, and its alignment is
        // its size, at most 8 bytes.
        unsafe impl WorkspaceElement for $ty {}
    )*};
}

impl_workspace_element!(i8, i16, i32, i64, u8, u16, u32, u64, f16, bf16, f32, f64);

/// Zeroed memory from the host's allocator, freed at the end of the run.
///
/// Invariant W1: `memory` is valid for `len` elements, initialised, aligned and not aliased. Upheld
/// by `new`.
pub struct Workspace<T> {
    memory: NonNull<T>,
    len: usize,
    /// Its layout and allocator; `None` if it is empty.
    origin: Option<(Layout, Arc<dyn HostAllocator>)>,
    element: PhantomData<T>,
}

// SAFETY: W1: it owns its elements, which are plain numbers.
unsafe impl<T: WorkspaceElement> Send for Workspace<T> {}

impl<T: WorkspaceElement> Workspace<T> {
    /// Allocates a workspace of `len` elements.
    ///
    /// # Errors
    /// If there is no memory.
    #[doc(hidden)]
    pub fn new(ctx: &ExecutionContext, len: usize) -> Result<Self, Error> {
        let mut workspace = Self {
            memory: NonNull::dangling(),
            len: 0,
            origin: None,
            element: PhantomData,
        };
        if len == 0 {
            return Ok(workspace);
        }
        let allocator = ctx.allocator();
        let layout = Layout::array::<T>(len)
            .and_then(|layout| layout.align_to(ALIGNMENT_BYTES))
            .map_err(|_| no_memory(len))?;
        let memory = allocator
            .allocate_zeroed(layout)
            .ok_or_else(|| no_memory(len))?;
        workspace.memory = memory.cast();
        workspace.len = len;
        workspace.origin = Some((layout, Arc::clone(allocator)));
        Ok(workspace)
    }
}

/// Allocates a workspace of `len` elements.
///
/// # Errors
/// If there is no memory.
#[inline]
pub fn workspace<T: WorkspaceElement>(
    ctx: &ExecutionContext,
    len: usize,
) -> Result<Workspace<T>, Error> {
    Workspace::new(ctx, len)
}

#[cold]
fn no_memory(len: usize) -> Error {
    Error::new(format!("cannot allocate a workspace of {len} elements"))
        .with_code(ErrorCode::ResourceExhausted)
}

impl<T> Deref for Workspace<T> {
    type Target = [T];

    #[inline]
    fn deref(&self) -> &[T] {
        // SAFETY: W1, for as long as `self` is borrowed.
        unsafe { slice::from_raw_parts(self.memory.as_ptr(), self.len) }
    }
}

impl<T> DerefMut for Workspace<T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut [T] {
        // SAFETY: W1, and `self` is borrowed exclusively.
        unsafe { slice::from_raw_parts_mut(self.memory.as_ptr(), self.len) }
    }
}

impl<T> Drop for Workspace<T> {
    fn drop(&mut self) {
        if let Some((layout, allocator)) = &self.origin {
            // SAFETY: 1: the memory came from this allocator with this layout. 2: it is dropped
            // with `self`. 3: only elements were written to it, which have no padding: `new`, the
            // only way to make a workspace that is not empty, demands `WorkspaceElement`.
            unsafe { allocator.deallocate_initialized(self.memory.cast(), *layout) };
        }
    }
}

impl<T> fmt::Debug for Workspace<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Workspace")
            .field("len", &self.len)
            .finish_non_exhaustive()
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::allocator::{AllocatorKind, HostAllocator};
    use crate::services::host::HostContext;
    use crate::services::request::RequestContextBuilder;

    fn context(allocator: Arc<dyn HostAllocator>) -> ExecutionContext {
        let host = HostContext::builder().allocator(allocator).build();
        ExecutionContext::new(RequestContextBuilder::new(host).build())
    }

    #[test]
    fn a_workspace_is_zeroed_aligned_and_given_back() {
        let allocator = AllocatorKind::Profiled.create();
        let ctx = context(Arc::clone(&allocator));
        let mut workspace = Workspace::<f32>::new(&ctx, 100).unwrap();
        assert!(workspace.iter().all(|element| element.to_bits() == 0));
        assert_eq!(workspace.as_ptr().addr() % ALIGNMENT_BYTES, 0);
        workspace[99] = 1.0;
        assert_eq!(allocator.profile().unwrap().current_bytes, 400);
        drop(workspace);
        assert_eq!(allocator.profile().unwrap().current_bytes, 0);
    }

    #[test]
    fn no_memory_is_an_error() {
        let ctx = context(AllocatorKind::FixedSize1k.create());
        for len in [1024, usize::MAX] {
            let error = Workspace::<u64>::new(&ctx, len).unwrap_err();
            assert_eq!(error.code(), ErrorCode::ResourceExhausted);
        }
        assert!(Workspace::<u64>::new(&ctx, 0).unwrap().is_empty());
    }
}
