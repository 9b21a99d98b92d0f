//! Weights in the order in which the processor reads them, kept between runs.
//!
//! A matrix that is used in many products, such as the filter of a convolution, is best rearranged
//! once. The rearranged copy is kept with the weights, as a [note](OwnedElements::note) of their
//! buffer: it is dropped with them, found without a lock, and valid only as long as they are not
//! written. A resource of the host, [`PackedWeights`], limits the memory of all copies.
//!
//! ```text
//!  first use ──► packed by the routine as it goes, nothing is kept: a program that runs once pays for nothing
//!  second use, unchanged ──► room for it? ── yes ──► packed and kept: from now on it is found
//!                                └────────── no ───► as in the first use
//! ```
//!
//! Nothing is evicted: a program uses its weights in turn, so it would next need those that were
//! used least recently. Results do not depend on whether weights are kept, nor on which thread
//! packed them.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

use tfrt::host::HostContext;
use tfrt::prelude::*;
use tfrt_tensor::{Element, HostBuffer, OwnedElements};

use crate::numeric::workspace;

/// The default limit of kept bytes.
///
/// The filters of a network like ResNet-50 are 100 MB. The filters of later stages are so large,
/// relative to their images, that they are read from memory in either order; this limit has room
/// for the others.
pub const DEFAULT_MAX_BYTES: usize = 40 << 20;

/// The memory that the packed weights of a host use, and its limit.
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
    /// Returns the packed weights of a host.
    #[must_use]
    pub fn of(host: &HostContext) -> Arc<Self> {
        host.shared_context(|| Self {
            max_bytes: AtomicUsize::new(DEFAULT_MAX_BYTES),
            num_bytes: AtomicUsize::new(0),
        })
    }

    /// Returns the limit in bytes.
    #[must_use]
    pub fn max_bytes(&self) -> usize {
        self.max_bytes.load(Ordering::Relaxed)
    }

    /// Sets the limit in bytes. Weights that are already kept stay, even beyond the limit.
    pub fn set_max_bytes(&self, max_bytes: usize) {
        self.max_bytes.store(max_bytes, Ordering::Relaxed);
    }

    /// Returns the number of bytes.
    #[must_use]
    pub fn num_bytes(&self) -> usize {
        self.num_bytes.load(Ordering::Relaxed)
    }

    /// Reserves memory for a number of bytes, if the limit permits.
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
///
/// ```
/// use tfrt_kernels::packed_weights::Order;
///
/// let order = |transposed| Order::Matmul { k: 2, n: 3, transposed };
/// assert_ne!(order(false), order(true));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Order {
    /// For [`tfrt_compute::convolution::Convolution`]: rows of the matrix, columns.
    Convolution([usize; 2]),
    /// For [`tfrt_compute::convolution::InputGradient`]: rows of the matrix, columns.
    TransposedConvolution([usize; 2]),
    /// For [`tfrt_compute::convolution::Winograd`]: channels in, channels out.
    Winograd([usize; 2]),
    /// For [`tfrt_compute::matmul::Matmul`]: the extents of the right factor, which may be given
    /// transposed.
    Matmul {
        /// Its rows.
        k: usize,
        /// Its columns.
        n: usize,
        /// Whether its columns are given as rows.
        transposed: bool,
    },
    /// For [`tfrt_compute::recurrent::Recurrent`]: the weights of the state.
    Recurrent {
        /// How many directions they are of.
        directions: usize,
        /// Gates of a cell.
        gates: usize,
        /// The size of the state.
        hidden: usize,
        /// Whether the last gate has a product of its own.
        resets_before_product: bool,
    },
    /// For [`tfrt_compute::quantized::ByteSums`].
    Bytes {
        /// The filters, channels, rows and columns of a filter, or the rows and columns of a right
        /// factor, and 0.
        extents: [usize; 4],
        /// Whether the bytes are signed.
        is_signed: bool,
    },
}

/// The note about weights.
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

/// Returns the weights in an order, if they are kept in it, or are from now on. `len` is how many
/// numbers that is, `pack` puts them there.
///
/// # Errors
/// Those of `pack`.
pub fn find<T: Element>(
    ctx: &ExecutionContext,
    weights: &OwnedElements<T>,
    order: Order,
    len: usize,
    pack: impl FnOnce(&mut [T]) -> Result<()>,
) -> Result<Option<OwnedElements<T>>> {
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
            let num_bytes = len.saturating_mul(size_of::<T>());
            let Some(room) = PackedWeights::of(ctx.host()).reserve(num_bytes) else {
                return Ok(None);
            };
            // The host's memory, as it outlives the request. Without any the program goes on as
            // before.
            let align_bytes = align_of::<T>();
            let Ok(mut packed) = HostBuffer::zeroed(ctx.host().allocator(), num_bytes, align_bytes)
            else {
                return Ok(None);
            };
            pack(&mut packed.elements_mut()?)?;
            // If another thread was first, its value is the same, and ours is dropped.
            packing.kept.get_or_init(|| Kept {
                packed,
                _room: room,
            })
        }
    };
    Ok(Some(kept.packed.elements_owned()?))
}

/// Returns the weights in an order: those that are [kept](find), or ones that are packed for this
/// use, which the request is charged for.
///
/// # Errors
/// Those of `pack`, or if memory is short.
pub fn find_or_pack<T: Element>(
    ctx: &ExecutionContext,
    weights: &OwnedElements<T>,
    order: Order,
    len: usize,
    pack: impl Fn(&mut [T]) -> Result<()>,
) -> Result<OwnedElements<T>> {
    if let Some(kept) = find(ctx, weights, order, len, &pack)? {
        return Ok(kept);
    }
    let mut packed = workspace::<T>(ctx.allocator(), len)?;
    pack(&mut packed.elements_mut()?)?;
    Ok(packed.elements_owned()?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use tfrt::host::RequestContextBuilder;

    const ORDER: Order = Order::Convolution([2, 2]);

    fn context() -> ExecutionContext {
        let host = HostContext::builder().build();
        ExecutionContext::new(RequestContextBuilder::new(host).build())
    }

    fn weights(ctx: &ExecutionContext) -> HostBuffer {
        HostBuffer::copied(ctx.allocator(), &[1.0_f32, 2.0, 3.0, 4.0]).unwrap()
    }

    /// Uses weights once, backwards: what is kept of them.
    fn use_once(ctx: &ExecutionContext, weights: &HostBuffer, order: Order) -> Option<Vec<f32>> {
        let weights = weights.elements_owned::<f32>().unwrap();
        let backwards = |packed: &mut [f32]| {
            packed.copy_from_slice(&weights);
            packed.reverse();
            Ok(())
        };
        let kept = find(ctx, &weights, order, weights.len(), backwards).unwrap();
        kept.map(|kept| kept.to_vec())
    }

    #[test]
    fn weights_are_kept_from_their_second_use_until_they_go() {
        let ctx = context();
        let (weights, packed) = (weights(&ctx), PackedWeights::of(ctx.host()));
        assert_eq!(use_once(&ctx, &weights, ORDER), None);
        assert_eq!(packed.num_bytes(), 0);
        for _ in 0..2 {
            let kept = use_once(&ctx, &weights, ORDER);
            assert_eq!(kept, Some(vec![4.0, 3.0, 2.0, 1.0]));
            assert_eq!(packed.num_bytes(), 16);
        }
        drop(weights);
        assert_eq!(packed.num_bytes(), 0);
    }

    #[test]
    fn every_order_is_kept_for_itself() {
        let ctx = context();
        let weights = weights(&ctx);
        for order in [ORDER, Order::Convolution([1, 4]), Order::Winograd([2, 2])] {
            assert_eq!(use_once(&ctx, &weights, order), None);
            assert!(use_once(&ctx, &weights, order).is_some());
        }
        assert_eq!(PackedWeights::of(ctx.host()).num_bytes(), 48);
    }

    #[test]
    fn what_has_no_room_is_not_kept_until_there_is() {
        let ctx = context();
        let packed = PackedWeights::of(ctx.host());
        packed.set_max_bytes(20);
        let (first, second) = (weights(&ctx), weights(&ctx));
        for _ in 0..2 {
            use_once(&ctx, &first, ORDER);
            use_once(&ctx, &second, ORDER);
        }
        assert!(use_once(&ctx, &first, ORDER).is_some());
        assert_eq!(use_once(&ctx, &second, ORDER), None);
        drop(first);
        assert!(use_once(&ctx, &second, ORDER).is_some());
        assert_eq!(packed.num_bytes(), 16);
    }

    #[test]
    fn weights_that_are_written_are_not_kept() {
        let ctx = context();
        let mut weights = weights(&ctx);
        for number in 0..4_u8 {
            weights.elements_mut::<f32>().unwrap().fill(number.into());
            assert_eq!(use_once(&ctx, &weights, ORDER), None);
        }
        // Nor when they have come to rest: that is as likely as not to be a pause.
        assert_eq!(use_once(&ctx, &weights, ORDER), None);
        assert_eq!(PackedWeights::of(ctx.host()).num_bytes(), 0);
    }

    #[test]
    fn what_was_kept_is_not_found_once_weights_are_written() {
        let ctx = context();
        let mut weights = weights(&ctx);
        use_once(&ctx, &weights, ORDER);
        assert!(use_once(&ctx, &weights, ORDER).is_some());
        weights.elements_mut::<f32>().unwrap()[0] = 7.0;
        assert_eq!(use_once(&ctx, &weights, ORDER), None);
    }

    #[test]
    fn threads_keep_one_copy() {
        let ctx = context();
        let weights = weights(&ctx);
        use_once(&ctx, &weights, ORDER);
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| assert!(use_once(&ctx, &weights, ORDER).is_some()));
            }
        });
        assert_eq!(PackedWeights::of(ctx.host()).num_bytes(), 16);
    }
}
