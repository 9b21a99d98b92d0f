//! Scratch memory that workers reuse.
//!
//! A block of a routine writes its workspace before it reads it, so the previous content does not
//! matter. But memory must have been initialised once, and clearing megabytes for each kernel takes
//! as long as a small kernel. So a worker puts the memory that it has used into a slot of the host,
//! and the next worker takes it from there. There is one slot for each worker.
//!
//! A worker never waits for a slot: if one is in use it tries the next, and finally the allocator.

use std::sync::{Arc, Mutex};

use tfrt::host::HostContext;
use tfrt::host::allocator::RequestMemory;
use tfrt::prelude::*;
use tfrt_tensor::{Element, ElementsMut, HostBuffer, TensorError};

/// The slots of a host.
#[derive(Debug)]
pub(crate) struct Scratch {
    slots: Box<[Mutex<Option<HostBuffer>>]>,
}

/// Scratch memory of whatever content, on the account of a request, until it is dropped.
#[derive(Debug)]
pub(crate) struct Workspace {
    /// None if nothing is needed.
    buffer: Option<HostBuffer>,
    num_bytes: usize,
    account: Arc<RequestMemory>,
    home: Arc<Scratch>,
}

/// More than this is given back rather than kept.
const MAX_KEPT_BYTES: usize = 8 << 20;

/// Sizes are multiples of this, so that the memory is whole elements of every type.
const GRANULE_BYTES: usize = 64;

impl Scratch {
    /// That of a host.
    pub(crate) fn of(host: &HostContext) -> Arc<Self> {
        host.shared_context(|| {
            let num_slots = host.queue().parallelism_level() + 1;
            Self {
                slots: std::iter::repeat_with(Mutex::default)
                    .take(num_slots)
                    .collect(),
            }
        })
    }

    /// Returns memory for at least this many elements.
    pub(crate) fn take<T: Element>(
        self: &Arc<Self>,
        ctx: &ExecutionContext,
        len: usize,
    ) -> Result<Workspace, TensorError> {
        let size_bytes = len.saturating_mul(size_of::<T>());
        let num_bytes = size_bytes
            .checked_next_multiple_of(GRANULE_BYTES)
            .ok_or(TensorError::OutOfMemory { size_bytes })?;
        let account = ctx.request().memory();
        account
            .charge(num_bytes)
            .map_err(|_| TensorError::OutOfMemory { size_bytes })?;
        // From here on the account is settled by dropping it.
        let mut workspace = Workspace {
            buffer: None,
            num_bytes,
            account: Arc::clone(account),
            home: Arc::clone(self),
        };
        if num_bytes > 0 {
            workspace.buffer = Some(match self.find(num_bytes) {
                Some(buffer) => buffer,
                None => HostBuffer::zeroed(ctx.host().allocator(), num_bytes, align_of::<T>())?,
            });
        }
        Ok(workspace)
    }

    /// Takes a buffer of at least this many bytes from a slot, if there is one.
    fn find(&self, num_bytes: usize) -> Option<HostBuffer> {
        self.slots.iter().find_map(|slot| {
            let mut slot = slot.try_lock().ok()?;
            slot.take_if(|buffer| buffer.len_bytes() >= num_bytes)
        })
    }

    /// Puts a buffer into a slot that is empty, or has a smaller one.
    fn keep(&self, buffer: HostBuffer) {
        let mut buffer = Some(buffer);
        for slot in &self.slots {
            let Ok(mut slot) = slot.try_lock() else {
                continue;
            };
            let len_bytes =
                |buffer: &Option<HostBuffer>| buffer.as_ref().map_or(0, HostBuffer::len_bytes);
            if len_bytes(&slot) < len_bytes(&buffer) {
                std::mem::swap(&mut *slot, &mut buffer);
            }
        }
        // What is left is the smallest, or nothing.
    }
}

impl Workspace {
    /// Returns the memory as elements, at least as many as requested.
    pub(crate) fn elements_mut<T: Element>(
        &mut self,
    ) -> Result<Option<ElementsMut<'_, T>>, TensorError> {
        self.buffer
            .as_mut()
            .map(HostBuffer::elements_mut)
            .transpose()
    }
}

impl Drop for Workspace {
    fn drop(&mut self) {
        self.account.release(self.num_bytes);
        if let Some(buffer) = self
            .buffer
            .take()
            .filter(|buffer| buffer.len_bytes() <= MAX_KEPT_BYTES)
        {
            self.home.keep(buffer);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tfrt::host::allocator::{AllocatorKind, HostAllocator};
    use tfrt::host::{Limits, RequestContextBuilder};

    fn context(allocator: &Arc<dyn HostAllocator>) -> ExecutionContext {
        let limits = Limits {
            max_request_bytes: 1 << 20,
            ..Limits::default()
        };
        let builder = HostContext::builder().limits(limits);
        let host = builder.allocator(Arc::clone(allocator)).build();
        ExecutionContext::new(RequestContextBuilder::new(host).build())
    }

    #[test]
    fn memory_is_used_again_and_goes_with_the_host() {
        let allocator = AllocatorKind::LeakCheck.create();
        let ctx = context(&allocator);
        let num_total = || allocator.profile().unwrap().num_total;
        let scratch = Scratch::of(ctx.host());
        drop(scratch.take::<f32>(&ctx, 1000).unwrap());
        let before = num_total();
        for len in [1000, 10, 500] {
            let mut workspace = scratch.take::<f64>(&ctx, len / 2).unwrap();
            assert!(workspace.elements_mut::<f64>().unwrap().unwrap().len() >= len / 2);
        }
        assert_eq!(num_total(), before, "nothing was allocated");
        drop((ctx, scratch));
        assert_eq!(allocator.profile().unwrap().leak(), None);
    }

    #[test]
    fn workers_have_memory_of_their_own_and_the_largest_is_kept() {
        let allocator = AllocatorKind::LeakCheck.create();
        let ctx = context(&allocator);
        let scratch = Scratch::of(ctx.host());
        let mut taken: Vec<Workspace> = (1..=5)
            .map(|number| scratch.take::<u8>(&ctx, number * 64).unwrap())
            .collect();
        for (number, workspace) in taken.iter_mut().enumerate() {
            workspace
                .elements_mut::<u8>()
                .unwrap()
                .unwrap()
                .fill(number as u8);
        }
        for (number, workspace) in taken.iter_mut().enumerate() {
            let elements = workspace.elements_mut::<u8>().unwrap().unwrap();
            assert!(elements.iter().all(|&element| element == number as u8));
        }
        drop(taken);
        let before = allocator.profile().unwrap().num_total;
        drop(scratch.take::<u8>(&ctx, 5 * 64).unwrap());
        assert_eq!(allocator.profile().unwrap().num_total, before);
    }

    #[test]
    fn requests_are_charged_while_they_hold_it() {
        let ctx = context(&AllocatorKind::Malloc.create());
        let (scratch, memory) = (Scratch::of(ctx.host()), ctx.request().memory());
        let before = memory.num_bytes();
        let workspace = scratch.take::<f32>(&ctx, 100).unwrap();
        assert_eq!(memory.num_bytes() - before, 448);
        drop(workspace);
        assert_eq!(memory.num_bytes(), before);
        let refused = scratch.take::<f32>(&ctx, 1 << 20).unwrap_err();
        assert_eq!(
            refused,
            TensorError::OutOfMemory {
                size_bytes: 4 << 20
            }
        );
        assert_eq!(memory.num_bytes(), before);
        assert!(scratch.take::<f32>(&ctx, usize::MAX).is_err());
    }

    #[test]
    fn nothing_needs_no_memory() {
        let ctx = context(&AllocatorKind::Malloc.create());
        let mut workspace = Scratch::of(ctx.host()).take::<f32>(&ctx, 0).unwrap();
        assert!(workspace.elements_mut::<f32>().unwrap().is_none());
    }
}
