//! Places of operands that outlive a call: see [`deferred`](crate::kernel::deferred).

use std::cell::OnceCell;
use std::mem::MaybeUninit;

use tfrt_async::AnyRef;
use tfrt_async::{MAX_COPIED_ALIGN, MAX_COPIED_BYTES};

/// The slot of one operand. Written once.
pub type OperandSlot = OnceCell<OperandContent>;

/// The content of a slot.
#[derive(Debug)]
pub enum OperandContent {
    /// The payload, of a copied type.
    Copied([MaybeUninit<u64>; 2]),
    /// The value.
    Shared(AnyRef),
}

const _: () = assert!(
    size_of::<[u64; 2]>() >= MAX_COPIED_BYTES && align_of::<u64>() >= MAX_COPIED_ALIGN,
    "every copied payload fits"
);
