//! The layout of the block of an invocation.
//!
//! ```text
//!  ┌────────┬──────────────────────┬─────────────────┬───────────────┬────────────────────┐
//!  │ header │ frame: slots, cells  │ a result slot   │ a promise per │ a ready count per  │
//!  │        │                      │ per result      │ early register│ kernel             │
//!  └────────┴──────────────────────┴─────────────────┴───────────────┴────────────────────┘
//! ```

use std::alloc::Layout;
use std::cell::UnsafeCell;

use tfrt_async::IndirectPromise;

use super::frame::Word;
use super::outcome::ResultSlot;
use super::ready_count::ReadyCount;
use crate::lower::code::Code;

/// The promise of an early register, until its producer takes it.
pub(crate) type PromiseSlot = UnsafeCell<Option<IndirectPromise>>;

/// The offsets of the arrays of a block, in bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BlockLayout {
    pub(crate) layout: Layout,
    pub(crate) frame: u32,
    pub(crate) results: u32,
    pub(crate) promises: u32,
    pub(crate) ready_counts: u32,
}

impl BlockLayout {
    /// Returns the layout of a block for an invocation of the code, or `None` if its offsets do not
    /// fit into 32 bits.
    pub(crate) fn behind(header: Layout, code: &Code) -> Option<Self> {
        let (layout, frame) = extend::<Word>(header, code.frame.num_words)?;
        let (layout, results) = extend::<ResultSlot>(layout, code.returned.len())?;
        let (layout, promises) = extend::<PromiseSlot>(layout, code.early.len())?;
        let (layout, ready_counts) = extend::<ReadyCount>(layout, code.kernels.len())?;
        let layout = layout.pad_to_align();
        u32::try_from(layout.size()).ok()?;
        Some(Self {
            layout,
            frame,
            results,
            promises,
            ready_counts,
        })
    }
}

/// Appends an array to a layout. Returns the new layout and the offset of the array.
fn extend<T>(layout: Layout, len: usize) -> Option<(Layout, u32)> {
    let (layout, offset) = layout.extend(Layout::array::<T>(len).ok()?).ok()?;
    Some((layout, u32::try_from(offset).ok()?))
}
