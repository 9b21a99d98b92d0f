//! Memory for payloads. That of large elements is used again.
//!
//! Heaps return large memory to the system, which has to clear it before it is used the next time.
//! This takes about as long as to receive it. A collective needs the same sizes again and again.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tfrt_host::HostContext;
use tfrt_host::allocator::{ArenaAllocator, HostAllocator};

/// Elements of at least so many bytes are in memory that is kept.
const MIN_LARGE_BYTES: usize = 128 << 10;

/// The idle bytes that are kept.
const MAX_KEPT_BYTES: usize = 128 << 20;

/// Memory that was not used for so long goes back to the host.
const MAX_IDLE: Duration = Duration::from_secs(2);

/// The allocators of a host for the elements of a payload.
///
/// ```
/// use tfrt_distributed::PayloadMemory;
/// use tfrt_host::HostContext;
/// use tfrt_tensor::HostBuffer;
///
/// # fn main() -> Result<(), tfrt_tensor::TensorError> {
/// let host = HostContext::builder().build();
/// let memory = PayloadMemory::of(&host);
/// let elements = vec![1.5_f32; 1 << 20];
/// let buffer = HostBuffer::copied(memory.allocator(size_of_val(&*elements)), &elements)?;
/// assert_eq!(buffer.len_bytes(), 4 << 20);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct PayloadMemory {
    small: Arc<dyn HostAllocator>,
    large: Arc<dyn HostAllocator>,
}

impl PayloadMemory {
    /// Returns the memory of a host.
    #[must_use]
    pub fn of(host: &Arc<HostContext>) -> Self {
        host.shared_context(KeptMemory::default).take(host)
    }

    /// Returns the allocator of an element of so many bytes.
    #[must_use]
    pub fn allocator(&self, num_bytes: usize) -> &Arc<dyn HostAllocator> {
        match num_bytes < MIN_LARGE_BYTES {
            true => &self.small,
            false => &self.large,
        }
    }
}

/// The large memory of a host.
#[derive(Debug, Default)]
struct KeptMemory(Mutex<Option<Kept>>);

#[derive(Debug)]
struct Kept {
    arena: Arc<ArenaAllocator>,
    last_use: Instant,
}

impl KeptMemory {
    fn lock(&self) -> MutexGuard<'_, Option<Kept>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn take(self: &Arc<Self>, host: &Arc<HostContext>) -> PayloadMemory {
        let source = host.allocator();
        let mut slot = self.lock();
        let kept = slot.get_or_insert_with(|| {
            self.release_later(host);
            let arena = ArenaAllocator::new(Arc::clone(source)).max_kept_bytes(MAX_KEPT_BYTES);
            Kept {
                arena: Arc::new(arena),
                last_use: Instant::now(),
            }
        });
        kept.last_use = Instant::now();
        kept.arena.trim();
        PayloadMemory {
            small: Arc::clone(source),
            large: Arc::clone(&kept.arena) as Arc<dyn HostAllocator>,
        }
    }

    fn release_later(self: &Arc<Self>, host: &Arc<HostContext>) {
        let (this, weak_host) = (Arc::downgrade(self), Arc::downgrade(host));
        host.timers().schedule_after(MAX_IDLE, move || {
            if let (Some(this), Some(host)) = (this.upgrade(), weak_host.upgrade())
                && !this.release(MAX_IDLE)
            {
                this.release_later(&host);
            }
        });
    }

    /// Gives up the memory, unless it was used since so long ago. What is in use goes with its
    /// users. Returns `false` if the memory stays.
    fn release(&self, idle: Duration) -> bool {
        let mut slot = self.lock();
        let is_used = |kept: &Kept| kept.last_use.elapsed() < idle;
        if slot.as_ref().is_some_and(is_used) {
            return false;
        }
        let released = slot.take();
        drop(slot);
        // Without the lock: much memory may go.
        drop(released);
        true
    }
}

#[cfg(test)]
mod tests {
    use tfrt_host::allocator::LeakCheckAllocator;
    use tfrt_tensor::HostBuffer;

    use super::*;

    #[test]
    fn large_memory_is_used_again_until_it_is_idle() {
        let source = Arc::new(LeakCheckAllocator::default());
        let live_bytes = || source.profile().map(|profile| profile.current_bytes);
        let allocator = Arc::clone(&source) as Arc<dyn HostAllocator>;
        let host = HostContext::builder().allocator(allocator).build();
        let buffer = |num_bytes: usize| {
            let memory = PayloadMemory::of(&host);
            HostBuffer::copied(memory.allocator(num_bytes), &vec![1_u8; num_bytes]).unwrap()
        };
        let place = |buffer: HostBuffer| buffer.read().unwrap().as_ptr().addr();
        let first = place(buffer(1 << 20));
        assert!((0..10).all(|_| place(buffer(1 << 20)) == first));
        let held = live_bytes();
        assert!(held >= Some(1 << 20));
        drop(buffer(1 << 10));
        assert_eq!(live_bytes(), held);
        let kept = host.shared_context(KeptMemory::default);
        assert!(!kept.release(Duration::from_secs(3600)));
        assert_eq!(live_bytes(), held);
        let in_use = buffer(1 << 20);
        assert!(kept.release(Duration::ZERO));
        assert_eq!(live_bytes(), held);
        drop(in_use);
        assert_eq!(live_bytes(), Some(0));
    }

    #[test]
    fn idle_memory_is_given_back_without_a_request() {
        let source = Arc::new(LeakCheckAllocator::default());
        let allocator = Arc::clone(&source) as Arc<dyn HostAllocator>;
        let host = HostContext::builder().allocator(allocator).build();
        let memory = PayloadMemory::of(&host);
        drop(HostBuffer::copied(memory.allocator(1 << 20), &vec![1_u8; 1 << 20]).unwrap());
        drop(memory);
        let end = Instant::now() + Duration::from_secs(60);
        while source
            .profile()
            .is_none_or(|profile| profile.current_bytes > 0)
        {
            assert!(Instant::now() < end, "the memory stays");
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}
