//! Copies of a tensor on other devices, which are made once and kept with its handle.
//!
//! ```text
//!  TensorHandle ──► KeptCopies ──► CPU:1  tensor ─┐
//!  (and clones)          ▲         GPU:0  tensor ─┼─ bytes ──► CopyBudget of a context
//!                        └────────────────────────┴── oldest first, weak ──┘
//! ```
//!
//! A copy is dropped with the last clone of its handle. It is dropped earlier if a newer copy needs
//! the budget, or if the context drops all copies because memory is short. An op that may write to
//! its operands invalidates all copies of its context, because handles that share a tensor are not
//! tracked.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};

use tfrt_async::AnyRef;
use tfrt_host::ExecutionContext;
use tfrt_host::device::DeviceRef;
use tfrt_support::ErrorCode;

use super::{DevicePart, TensorHandle, same_device};

/// The copies that a handle keeps. Nothing is allocated before the first copy.
#[derive(Clone, Debug, Default)]
pub(super) struct Copies(OnceLock<Arc<KeptCopies>>);

impl Copies {
    #[expect(
        clippy::declare_interior_mutable_const,
        reason = "each use is a place of its own"
    )]
    pub(super) const NONE: Self = Self(OnceLock::new());
}

/// The copies of one tensor, each on another device.
#[derive(Debug, Default)]
struct KeptCopies(Mutex<Vec<KeptCopy>>);

#[derive(Debug)]
struct KeptCopy {
    device: DeviceRef,
    tensor: AnyRef,
    /// The version of the budget when the copy was made.
    version: u64,
    _reserved: Reserved,
}

impl KeptCopies {
    fn lock(&self) -> MutexGuard<'_, Vec<KeptCopy>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Drops the copies, outside of the lock.
    fn clear(&self) {
        let cleared = std::mem::take(&mut *self.lock());
        drop(cleared);
    }
}

/// The copies of operands that are kept with their handles.
///
/// ```
/// use tfrt_core::EagerContext;
/// use tfrt_host::HostContext;
///
/// let eager = EagerContext::builder(HostContext::builder().build()).build()?;
/// let kept = eager.kept_copies();
/// assert_eq!((kept.copies, kept.bytes), (0, 0));
/// # Ok::<(), tfrt_support::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CopyStats {
    /// The number of copies.
    pub copies: usize,
    /// The number of bytes that they take.
    pub bytes: usize,
}

/// The limit for the bytes of copies, and their current number.
#[derive(Debug)]
pub(crate) struct CopyBudget {
    max_bytes: usize,
    num_bytes: AtomicUsize,
    num_copies: AtomicUsize,
    /// The number of invalidations so far.
    version: AtomicU64,
    /// The holders of copies, in the order in which they got them.
    holders: Mutex<VecDeque<Weak<KeptCopies>>>,
}

/// A part of a budget, which is returned on drop.
#[derive(Debug)]
struct Reserved {
    budget: Arc<CopyBudget>,
    num_bytes: usize,
}

impl Drop for Reserved {
    fn drop(&mut self) {
        // Relaxed: the numbers order nothing.
        self.budget
            .num_bytes
            .fetch_sub(self.num_bytes, Ordering::Relaxed);
        self.budget.num_copies.fetch_sub(1, Ordering::Relaxed);
    }
}

impl CopyBudget {
    pub(crate) fn new(max_bytes: usize) -> Arc<Self> {
        Arc::new(Self {
            max_bytes,
            num_bytes: AtomicUsize::new(0),
            num_copies: AtomicUsize::new(0),
            version: AtomicU64::new(0),
            holders: Mutex::default(),
        })
    }

    pub(crate) fn used(&self) -> CopyStats {
        // Relaxed: the numbers order nothing.
        CopyStats {
            copies: self.num_copies.load(Ordering::Relaxed),
            bytes: self.num_bytes.load(Ordering::Relaxed),
        }
    }

    /// Invalidates all copies.
    pub(crate) fn outdate(&self) {
        // Release: pairs with the acquire in `current_version`: a thread that sees the new version
        // sees the writes before it.
        self.version.fetch_add(1, Ordering::Release);
    }

    fn current_version(&self) -> u64 {
        self.version.load(Ordering::Acquire)
    }

    /// Drops all copies. Returns `true` if there were any.
    pub(crate) fn give_up(&self) -> bool {
        let had_some = self.used().copies != 0;
        let holders = std::mem::take(&mut *self.lock());
        for holder in holders.iter().filter_map(Weak::upgrade) {
            holder.clear();
        }
        had_some
    }

    /// Reserves bytes for a copy, and drops older copies to make room. Returns `None` if the copy
    /// is too large.
    fn reserve(self: &Arc<Self>, num_bytes: usize) -> Option<Reserved> {
        if num_bytes > self.max_bytes {
            return None;
        }
        loop {
            let is_reserved =
                self.num_bytes
                    .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |used| {
                        used.checked_add(num_bytes)
                            .filter(|&used| used <= self.max_bytes)
                    });
            if is_reserved.is_ok() {
                self.num_copies.fetch_add(1, Ordering::Relaxed);
                let budget = Arc::clone(self);
                return Some(Reserved { budget, num_bytes });
            }
            let oldest = self.lock().pop_front()?;
            if let Some(oldest) = oldest.upgrade() {
                oldest.clear();
            }
        }
    }

    fn add_holder(&self, holder: &Arc<KeptCopies>) {
        let mut holders = self.lock();
        // Entries of dropped handles are removed once they are half of the list.
        if holders.len() >= 64 && holders.len() >= 2 * self.used().copies {
            holders.retain(|holder| holder.strong_count() != 0);
        }
        holders.push_back(Arc::downgrade(holder));
    }

    fn lock(&self) -> MutexGuard<'_, VecDeque<Weak<KeptCopies>>> {
        self.holders.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl TensorHandle {
    /// Does the same as [`transfer_to_inferred`](Self::transfer_to_inferred), but reuses an earlier
    /// copy. A copy is kept if its size is known and the budget allows it.
    pub(crate) fn kept_copy(
        &self,
        ctx: &ExecutionContext,
        device: &DeviceRef,
        budget: &Arc<CopyBudget>,
    ) -> Self {
        let version = budget.current_version();
        if let Some(tensor) = self.find_copy(device, version) {
            return Self {
                tensor: Some(tensor),
                metadata: self.kept_metadata(),
                device: Some(DevicePart::Known(device.clone())),
                copies: Copies::NONE,
            };
        }
        let mut copy = self.transfer_to_inferred(ctx, device);
        let is_out_of_memory = |copy: &Self| {
            let error = copy.error_if_present();
            error.is_some_and(|error| error.code() == ErrorCode::ResourceExhausted)
        };
        if is_out_of_memory(&copy) && self.error_if_present().is_none() && budget.give_up() {
            copy = self.transfer_to_inferred(ctx, device);
        }
        // A request with its own limit is charged for each allocation as long as the allocation
        // exists.
        let limits = ctx.host().limits();
        if ctx.request().memory().max_bytes() >= limits.max_request_bytes {
            self.keep(&copy, device, version, budget);
        }
        copy
    }

    fn find_copy(&self, device: &DeviceRef, version: u64) -> Option<AnyRef> {
        let mut copies = self.copies.0.get()?.lock();
        let index = copies
            .iter()
            .position(|copy| same_device(&copy.device, device))?;
        let found = &copies[index];
        if found.version == version && !found.tensor.is_error() {
            return Some(found.tensor.clone());
        }
        let outdated = copies.swap_remove(index);
        drop(copies);
        drop(outdated);
        None
    }

    fn keep(&self, copy: &Self, device: &DeviceRef, version: u64, budget: &Arc<CopyBudget>) {
        let (Some(own), Some(tensor)) = (&self.tensor, &copy.tensor) else {
            return;
        };
        let num_bytes = self.metadata().and_then(|metadata| metadata.size_bytes());
        let Some(num_bytes) = num_bytes.filter(|_| !tensor.ptr_eq(own)) else {
            return;
        };
        let kept = self.copies.0.get_or_init(Arc::default);
        if tensor.is_available() {
            kept.add(tensor, device, version, num_bytes, budget);
            return;
        }
        // Only once the copy is available: a pending copy may still fail with its request.
        let (kept, device) = (Arc::downgrade(kept), device.clone());
        let budget = Arc::downgrade(budget);
        tensor.and_then(move |tensor| {
            if let (Some(kept), Some(budget)) = (kept.upgrade(), budget.upgrade()) {
                kept.add(tensor, &device, version, num_bytes, &budget);
            }
        });
    }
}

impl KeptCopies {
    /// Keeps an available copy, unless it is an error, invalidated, too large, or already kept.
    fn add(
        self: &Arc<Self>,
        tensor: &AnyRef,
        device: &DeviceRef,
        version: u64,
        num_bytes: usize,
        budget: &Arc<CopyBudget>,
    ) {
        if tensor.is_error() || version != budget.current_version() {
            return;
        }
        let Some(reserved) = budget.reserve(num_bytes) else {
            return;
        };
        let copy = KeptCopy {
            device: device.clone(),
            tensor: tensor.clone(),
            version,
            _reserved: reserved,
        };
        let mut copies = self.lock();
        if copies
            .iter()
            .any(|known| same_device(&known.device, device))
        {
            drop(copies);
            return;
        }
        copies.push(copy);
        drop(copies);
        budget.add_holder(self);
    }
}
