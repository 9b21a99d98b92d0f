//! The places of the results of an `async fn` that runs in place.
//!
//! Each result has a slot, and its register may have a cell, too. A payload of a copied type goes
//! to the cell if there is one, and needs no value then. All others go to the slot: payloads as
//! available values, and values that become available later.
#![expect(unsafe_code, reason = "writes places that were proven")]

use std::ptr::NonNull;

use tfrt_async::is_copied;
use tfrt_async::{AnyRef, Chain, Value};
use tfrt_support::Error;

use crate::kernel::param::Sealed;
use crate::kernel::result::Sink;

/// The places of the results of a kernel that fills cells.
///
/// Invariant: the places are empty, and satisfy the duties of
/// [`DirectFn`](crate::kernel::direct::DirectFn).
#[derive(Debug)]
pub(super) struct LaterPlaces {
    registers: NonNull<u8>,
    /// The offsets of slots, then those of cells.
    offsets: NonNull<u32>,
    num_results: usize,
    next: usize,
    failure: Option<Error>,
}

impl LaterPlaces {
    /// Creates the places of a kernel, which writes no more results than it has.
    ///
    /// # Safety
    /// 1. Duties 1 and 2 of [`DirectFn`](crate::kernel::direct::DirectFn), as far as they concern
    ///    results.
    #[inline]
    pub(super) unsafe fn new(
        registers: NonNull<u8>,
        offsets: NonNull<u32>,
        num_results: usize,
    ) -> Self {
        Self {
            registers,
            offsets,
            num_results,
            next: 0,
            failure: None,
        }
    }

    /// Checks that all results were written.
    ///
    /// # Errors
    /// The first error of a result.
    #[inline]
    pub(super) fn finish(self) -> Result<(), Error> {
        self.failure.map_or(Ok(()), Err)
    }

    /// Writes the slot of the next result, which holds nothing if the payload is in the cell.
    #[inline]
    fn write_slot(&mut self, value: Option<AnyRef>) {
        let slot = self.place::<Option<AnyRef>>(self.next);
        if let Some(slot) = slot {
            // SAFETY: duty 2 of `DirectFn`, with D3: a slot, aligned, and not accessed otherwise.
            unsafe { slot.write(value) };
        }
        self.next += 1;
    }

    /// Returns the place whose offset is at `index`, or `None` if there is no such place.
    #[inline]
    fn place<P>(&self, index: usize) -> Option<NonNull<P>> {
        // SAFETY: duty 1 of `DirectFn`: two offsets for each result; a part returns as many results
        // as its `SLOTS` states.
        let offset = unsafe { self.offsets.add(index) };
        // SAFETY: as above.
        let offset = unsafe { offset.read() };
        // SAFETY: duty 2 of `DirectFn`.
        (offset != 0).then(|| unsafe { self.registers.byte_add(offset as usize) }.cast())
    }
}

impl Sealed for LaterPlaces {}

impl Sink for LaterPlaces {
    fn remaining(&self) -> usize {
        0
    }

    #[inline]
    fn put_payload<T: Value>(&mut self, payload: T) {
        if is_copied::<T>()
            && let Some(cell) = self.place::<T>(self.num_results + self.next)
        {
            // SAFETY: duty 2 of `DirectFn`, with D1: a cell for a `T`, which the kernel is declared
            // to return; aligned, and not accessed otherwise.
            unsafe { cell.write(payload) };
            return self.write_slot(None);
        }
        self.write_slot(Some(AnyRef::available(payload)));
    }

    #[inline]
    fn put_reference(&mut self, value: AnyRef) {
        self.write_slot(Some(value));
    }

    // Parts that fail on their own, and tails, are not direct, so an error is that of the whole
    // call.
    #[cold]
    fn put_error(&mut self, error: Error, _slots: usize) {
        self.failure.get_or_insert(error);
    }

    #[cold]
    fn fail(&mut self, error: Error) {
        self.failure.get_or_insert(error);
    }

    #[inline]
    fn put_chain(&mut self) {
        if self.failure.is_none() {
            self.put_payload(Chain);
        }
    }

    fn wrong_count(&mut self, _given: usize) {}
}
