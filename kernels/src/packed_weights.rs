//! Weights in the order in which the processor reads them, kept from run to run.
//!
//! A matrix that is multiplied with again and again, such as the filter of a convolution, is best rearranged once. What comes
//! of it lies beside the weights, as a [note](OwnedElements::note) of their buffer: it goes when they go, it is found without a
//! lock, and it holds only as long as they are not written. How much memory all of them take is the business of a resource of
//! the host, [`PackedWeights`].
//!
//! ```text
//!  first use ──► packed by the routine as it goes, nothing is kept: a program that runs once pays for nothing
//!  second use, unchanged ──► room for it? ── yes ──► packed and kept: from now on it is found
//!                                └────────── no ───► as in the first use
//! ```
//!
//! Nothing is evicted: a program uses its weights in turn, and whatever was used least recently would be what it needs next.
//! What is computed does not depend on whether weights are kept, nor on who was first to pack them.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

use tfrt::host::HostContext;
use tfrt::prelude::*;
use tfrt_tensor::{HostBuffer, OwnedElements};

/// How many bytes are kept at most, unless the host says otherwise.
///
/// The filters of a network like ResNet-50 are 100 MB. Those of its later stages are so large, beside their images, that they
/// come from memory in either order; this is room for the others.
pub const DEFAULT_MAX_BYTES: usize = 40 << 20;

/// How much memory the packed weights of a host take, and may take.
///
/// ```
/// use tfrt::host::HostContext;
/// use tfrt_kernels::packed_weights::PackedWeights;
///
/// let host = HostContext::builder().build();
/// PackedWeights::of(&host).set_max_bytes(1 << 30);
/// assert_eq!(PackedWeights::of(&host).num_bytes(), 0);
/// ```
#[derive(Debug)]
pub struct PackedWeights {
    max_bytes: AtomicUsize,
    num_bytes: AtomicUsize,
}

impl PackedWeights {
    /// Those of a host.
    #[must_use]
    pub fn of(host: &HostContext) -> Arc<Self> {
        host.shared_context(|| Self {
            max_bytes: AtomicUsize::new(DEFAULT_MAX_BYTES),
            num_bytes: AtomicUsize::new(0),
        })
    }

    /// How many bytes they may be.
    #[must_use]
    pub fn max_bytes(&self) -> usize {
        self.max_bytes.load(Ordering::Relaxed)
    }

    /// Says how many bytes they may be. What is kept already stays, even if it is more.
    pub fn set_max_bytes(&self, max_bytes: usize) {
        self.max_bytes.store(max_bytes, Ordering::Relaxed);
    }

    /// How many bytes they are.
    #[must_use]
    pub fn num_bytes(&self) -> usize {
        self.num_bytes.load(Ordering::Relaxed)
    }

    /// Room for so many bytes, if there is.
    fn reserve(self: &Arc<Self>, num_bytes: usize) -> Option<Room> {
        let max_bytes = self.max_bytes();
        // Relaxed, here and above: the counts bound memory and order nothing.
        let reserved = self
            .num_bytes
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |held| {
                held.checked_add(num_bytes)
                    .filter(|&held| held <= max_bytes)
            });
        reserved.ok().map(|_| Room {
            owner: Arc::clone(self),
            num_bytes,
        })
    }
}

/// Bytes on the account of [`PackedWeights`], until it is dropped.
#[derive(Debug)]
struct Room {
    owner: Arc<PackedWeights>,
    num_bytes: usize,
}

impl Drop for Room {
    fn drop(&mut self) {
        self.owner
            .num_bytes
            .fetch_sub(self.num_bytes, Ordering::Relaxed);
    }
}

/// In which order weights are packed: for which routine, and from which shape.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Order {
    /// For [`tfrt_compute::convolution::Convolution`]: rows of the matrix, columns.
    Convolution([usize; 2]),
    /// For [`tfrt_compute::convolution::Winograd`]: channels in, channels out.
    Winograd([usize; 2]),
}

/// What is noted about weights.
struct Packing {
    order: Order,
    /// Whether they have been used before.
    is_used: AtomicBool,
    kept: OnceLock<Kept>,
}

struct Kept {
    packed: HostBuffer,
    _room: Room,
}

/// The weights in an order, if they are kept in it, or are from now on. `len` is how many numbers that is, `pack` puts them
/// there.
pub(crate) fn find(
    ctx: &ExecutionContext,
    weights: &OwnedElements<f32>,
    order: Order,
    len: usize,
    pack: impl FnOnce(&mut [f32]) -> Result<()>,
) -> Result<Option<OwnedElements<f32>>> {
    let new = || Packing {
        order,
        is_used: AtomicBool::new(false),
        kept: OnceLock::new(),
    };
    let Some(packing) = weights.note(|packing: &Packing| packing.order == order, new) else {
        return Ok(None);
    };
    let kept = match packing.kept.get() {
        Some(kept) => kept,
        // Relaxed: who is first does not matter.
        None if !packing.is_used.swap(true, Ordering::Relaxed) => return Ok(None),
        None => {
            let num_bytes = len.saturating_mul(size_of::<f32>());
            let Some(room) = PackedWeights::of(ctx.host()).reserve(num_bytes) else {
                return Ok(None);
            };
            // The host's memory, as it outlives the request. Without any the program goes on as before.
            let align_bytes = align_of::<f32>();
            let Ok(mut packed) = HostBuffer::zeroed(ctx.host().allocator(), num_bytes, align_bytes)
            else {
                return Ok(None);
            };
            pack(&mut packed.elements_mut()?)?;
            // If somebody else was first, theirs is the same, and ours goes.
            packing.kept.get_or_init(|| Kept {
                packed,
                _room: room,
            })
        }
    };
    Ok(Some(kept.packed.elements_owned()?))
}
