//! The memory of one request.

use std::alloc::Layout;
use std::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use tfrt_support::{Error, ErrorCode};

use super::{AllocatorProfile, HostAllocator, Malloc};

/// Allocates memory for one request from the host's allocator, counts it, and enforces a limit.
///
/// It outlives the request while any of its memory is in use. Memory from other sources is
/// accounted for with [`charge`](Self::charge) and [`release`](Self::release).
///
/// ```
/// use std::alloc::Layout;
/// use tfrt_host::allocator::HostAllocator;
/// use tfrt_host::{HostContext, Limits, RequestContextBuilder};
///
/// let limits = Limits { max_request_bytes: 100, ..Limits::default() };
/// let host = HostContext::builder().limits(limits).build();
/// let request = RequestContextBuilder::new(host).build();
/// let memory = request.memory();
///
/// memory.charge(60)?;
/// assert!(memory.allocate(Layout::new::<[u8; 60]>()).is_none());
/// assert_eq!(
///     memory.charge(60).unwrap_err().message(),
///     "the request holds 60 of at most 100 bytes and cannot allocate 60 more"
/// );
/// memory.release(60);
/// assert_eq!(memory.num_bytes(), 0);
/// # Ok::<(), tfrt_support::Error>(())
/// ```
#[derive(Debug)]
pub struct RequestMemory {
    host: Arc<dyn HostAllocator>,
    /// Whether memory comes from [`Malloc`] directly, which the host uses: a virtual call less for
    /// every tensor. Invariant M1: it never changes, so that memory goes back where it came from.
    is_malloc: bool,
    max_bytes: usize,
    num_bytes: AtomicUsize,
    /// `true` if memory was refused because of the limit and this has not been reported yet.
    is_refused: AtomicBool,
}

impl RequestMemory {
    /// Creates an account that holds no memory, with a limit of `max_bytes` from the allocator
    /// `host`.
    #[doc(hidden)]
    #[must_use]
    pub fn new(host: Arc<dyn HostAllocator>, max_bytes: usize) -> Self {
        Self {
            is_malloc: host.is_malloc(),
            host,
            max_bytes,
            num_bytes: AtomicUsize::new(0),
            is_refused: AtomicBool::new(false),
        }
    }

    /// Returns the number of bytes that the request holds now.
    #[must_use]
    pub fn num_bytes(&self) -> usize {
        // Relaxed: a number for people, and for tests that have already synchronised with what they
        // count.
        self.num_bytes.load(Ordering::Relaxed)
    }

    /// Returns the number of bytes that the request may hold.
    #[must_use]
    pub fn max_bytes(&self) -> usize {
        self.max_bytes
    }

    /// Charges memory from another source to this account.
    ///
    /// # Errors
    /// If the request would exceed its limit, with code `ResourceExhausted`; the account is
    /// unchanged then.
    #[doc(hidden)]
    pub fn charge(&self, num_bytes: usize) -> Result<(), Error> {
        self.add(num_bytes)
            .map_err(|held| self.exceeded(held, num_bytes))
    }

    /// Adds bytes to those that the request holds, or returns how many it holds if these are too
    /// many.
    #[inline]
    fn add(&self, num_bytes: usize) -> Result<(), usize> {
        // Relaxed: the count bounds memory and orders nothing. It never exceeds the limit, even
        // temporarily, so no request is refused because of another one that is refused.
        self.num_bytes
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |held| {
                held.checked_add(num_bytes)
                    .filter(|&held| held <= self.max_bytes)
            })
            .map(drop)
    }

    /// Releases memory that was [charged](Self::charge).
    #[doc(hidden)]
    pub fn release(&self, num_bytes: usize) {
        // Relaxed: as in `charge`.
        let held = self.num_bytes.fetch_sub(num_bytes, Ordering::Relaxed);
        debug_assert!(held >= num_bytes, "what is released was charged before");
    }

    /// Like [`allocate`](HostAllocator::allocate), but returns the reason if there is no memory.
    ///
    /// # Errors
    /// If the request would exceed its limit, or the host has no memory left; both with code
    /// `ResourceExhausted`.
    #[doc(hidden)]
    #[inline]
    pub fn try_allocate(&self, layout: Layout) -> Result<NonNull<u8>, Error> {
        self.charge(layout.size())?;
        let memory = match self.is_malloc {
            true => Malloc.allocate(layout),
            false => self.host.allocate(layout),
        };
        memory.ok_or_else(|| self.not_allocated(layout))
    }

    /// Releases memory that was charged, but that the host does not have.
    #[cold]
    fn not_allocated(&self, layout: Layout) -> Error {
        let num_bytes = layout.size();
        self.release(num_bytes);
        exhausted(format!("the host cannot allocate {num_bytes} bytes"))
    }

    /// Returns `true` if memory was refused because of the limit since the last call.
    ///
    /// An allocation failure carries no reason, so the code that reports the error finds the reason
    /// here.
    pub(crate) fn take_refusal(&self) -> bool {
        // Relaxed: it only affects a message and orders nothing.
        self.is_refused.swap(false, Ordering::Relaxed)
    }

    #[cold]
    fn exceeded(&self, held: usize, num_bytes: usize) -> Error {
        // Relaxed: as in `take_refusal`.
        self.is_refused.store(true, Ordering::Relaxed);
        exhausted(format!(
            "the request holds {held} of at most {} bytes and cannot allocate {num_bytes} more",
            self.max_bytes
        ))
    }
}

#[cold]
fn exhausted(message: String) -> Error {
    Error::new(message).with_code(ErrorCode::ResourceExhausted)
}

// SAFETY: the memory and its properties are those of the host's allocator.
unsafe impl HostAllocator for RequestMemory {
    fn allocate(&self, layout: Layout) -> Option<NonNull<u8>> {
        self.try_allocate(layout).ok()
    }

    fn allocate_zeroed(&self, layout: Layout) -> Option<NonNull<u8>> {
        self.charge(layout.size()).ok()?;
        let memory = match self.is_malloc {
            true => Malloc.allocate_zeroed(layout),
            false => self.host.allocate_zeroed(layout),
        };
        memory.ok_or_else(|| self.not_allocated(layout)).ok()
    }

    fn allocate_initialized(&self, layout: Layout) -> Option<NonNull<u8>> {
        if self.is_malloc {
            return self.allocate_zeroed(layout);
        }
        self.charge(layout.size()).ok()?;
        let memory = self.host.allocate_initialized(layout);
        memory.ok_or_else(|| self.not_allocated(layout)).ok()
    }

    unsafe fn deallocate(&self, memory: NonNull<u8>, layout: Layout) {
        match self.is_malloc {
            // SAFETY: the memory came from `Malloc` (M1), with the same layout (1); the caller
            // guarantees the rest (2).
            true => unsafe { Malloc.deallocate(memory, layout) },
            // SAFETY: as above, from the host's allocator.
            false => unsafe { self.host.deallocate(memory, layout) },
        }
        self.release(layout.size());
    }

    fn charge_pooled(&self, num_bytes: usize) -> bool {
        if !self.is_malloc && !self.host.charge_pooled(num_bytes) {
            return false;
        }
        // A caller that is refused asks `allocate`, which notes the refusal.
        let is_charged = self.add(num_bytes).is_ok();
        if !is_charged && !self.is_malloc {
            self.host.release_pooled(num_bytes);
        }
        is_charged
    }

    fn release_pooled(&self, num_bytes: usize) {
        if !self.is_malloc {
            self.host.release_pooled(num_bytes);
        }
        self.release(num_bytes);
    }

    unsafe fn deallocate_initialized(&self, memory: NonNull<u8>, layout: Layout) {
        match self.is_malloc {
            // SAFETY: as in `deallocate`.
            true => unsafe { Malloc.deallocate(memory, layout) },
            // SAFETY: as above, and the caller guarantees 3.
            false => unsafe { self.host.deallocate_initialized(memory, layout) },
        }
        self.release(layout.size());
    }

    fn profile(&self) -> Option<AllocatorProfile> {
        self.host.profile()
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::allocator::{FixedSizeAllocator, LeakCheckAllocator};

    const WORD: Layout = Layout::new::<[u64; 8]>();

    #[test]
    fn memory_is_on_the_account_until_it_is_given_back() {
        let host = Arc::new(LeakCheckAllocator::default());
        let request = RequestMemory::new(host.clone(), 2 * WORD.size());
        let first = request.allocate(WORD).expect("within the limit");
        let second = request.allocate(WORD).expect("up to the limit");
        assert!(request.allocate(WORD).is_none(), "beyond the limit");
        assert_eq!(request.num_bytes(), 2 * WORD.size());
        // SAFETY: 1: the memory came from `request` with this layout; 2: it is not used afterwards.
        unsafe { request.deallocate(first, WORD) };
        let third = request.allocate(WORD).expect("there is room again");
        for memory in [second, third] {
            // SAFETY: as above.
            unsafe { request.deallocate(memory, WORD) };
        }
        assert_eq!(request.num_bytes(), 0);
        assert_eq!(host.profile().expect("it counts").current_bytes, 0);
    }

    #[test]
    fn a_host_without_memory_is_another_error_and_costs_nothing() {
        let request = RequestMemory::new(Arc::new(FixedSizeAllocator::new(1024)), 1 << 20);
        let error = request
            .try_allocate(Layout::new::<[u8; 2048]>())
            .expect_err("the host has 1024 bytes");
        assert_eq!(error.message(), "the host cannot allocate 2048 bytes");
        assert_eq!(error.code(), ErrorCode::ResourceExhausted);
        assert_eq!(request.num_bytes(), 0);
    }

    #[test]
    fn a_sum_beyond_the_address_space_is_beyond_every_limit() {
        let request = RequestMemory::new(Arc::new(FixedSizeAllocator::new(1024)), usize::MAX);
        request.charge(usize::MAX).expect("just within the limit");
        assert!(request.charge(1).is_err());
        assert_eq!(request.num_bytes(), usize::MAX);
    }

    #[test]
    fn threads_together_stay_within_the_limit() {
        let request = RequestMemory::new(Arc::new(FixedSizeAllocator::new(1024)), 10);
        let num_charged = AtomicUsize::new(0);
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..5 {
                        if request.charge(1).is_ok() {
                            num_charged.fetch_add(1, Ordering::Relaxed);
                        }
                    }
                });
            }
        });
        assert_eq!(num_charged.load(Ordering::Relaxed), 10);
        assert_eq!(request.num_bytes(), 10);
    }
}
