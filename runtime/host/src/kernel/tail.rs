//! The operands of a variadic parameter of any types, as one slice.
//!
//! A frame has all operands in a list. The registers of a function lie apart, so that a
//! [direct](crate::kernel::direct) kernel copies the references to its operands before it reads
//! them as a slice. Kernels with more operands have a frame.
#![expect(unsafe_code, reason = "copies references that stay where they are")]

use std::fmt;
use std::marker::PhantomData;
use std::mem::MaybeUninit;
use std::ptr::NonNull;
use std::slice;

use tfrt_async::AnyRef;

/// The most operands of the tail of a direct kernel.
pub const MAX_TAIL: usize = 16;

/// The number of operands that are copied without a loop.
const FEW: usize = 8;

/// A copy of a reference, which owns no count and is never dropped.
type Copied = MaybeUninit<AnyRef>;

/// All operands from a certain one on.
pub struct Tail<'a> {
    place: Place<'a>,
    /// The copies, once there are any. They are written where they stay: a move would read all of
    /// them.
    copies: [Copied; MAX_TAIL],
}

/// The place of the operands.
#[derive(Clone, Copy)]
enum Place<'a> {
    List(&'a [AnyRef]),
    Scattered(Scattered<'a>),
}

/// Operands in registers.
///
/// Invariant T1: `len` offsets follow each other at `offsets`, at most [`MAX_TAIL`], which live and
/// are not written for `'a`. Each is the offset from `registers` of a reference of which the same
/// holds.
#[derive(Clone, Copy)]
struct Scattered<'a> {
    registers: NonNull<u8>,
    offsets: NonNull<u32>,
    len: usize,
    references: PhantomData<&'a AnyRef>,
}

// SAFETY: by T1, shared references to values that any thread may use, and to plain numbers.
unsafe impl Send for Scattered<'_> where AnyRef: Sync {}

impl<'a> Scattered<'a> {
    /// Returns a copy of the operand at an index below `len`.
    ///
    /// # Safety
    /// 1. `index` is below `len`.
    /// 2. The copy is never dropped, and only used during `'a`.
    #[inline]
    unsafe fn copy(self, index: usize) -> Copied {
        // SAFETY: duty 1 and T1.
        let offset = unsafe { self.offsets.add(index) };
        // SAFETY: as above.
        let offset = unsafe { offset.read() };
        // SAFETY: T1.
        let reference = unsafe { self.registers.byte_add(offset as usize) };
        // SAFETY: T1; duty 2 keeps the count with the original.
        Copied::new(unsafe { reference.cast::<AnyRef>().read() })
    }
}

impl<'a> Tail<'a> {
    /// Returns operands that are in a list.
    #[inline]
    pub(crate) fn in_list(operands: &'a [AnyRef]) -> Self {
        Self::new(Place::List(operands))
    }

    /// Returns `len` operands that are in registers.
    ///
    /// # Safety
    /// 1. `len` offsets follow each other at `offsets`, at most [`MAX_TAIL`], which live and are
    ///    not written for `'a`. Each is the offset from `registers` of a reference of which the
    ///    same holds.
    #[inline]
    pub(crate) unsafe fn in_registers(
        registers: NonNull<u8>,
        offsets: NonNull<u32>,
        len: usize,
    ) -> Self {
        debug_assert!(len <= MAX_TAIL, "a kernel with more operands has a frame");
        // T1: duty 1.
        Self::new(Place::Scattered(Scattered {
            registers,
            offsets,
            len,
            references: PhantomData,
        }))
    }

    #[inline]
    fn new(place: Place<'a>) -> Self {
        Self {
            place,
            copies: [const { Copied::uninit() }; MAX_TAIL],
        }
    }

    /// Returns the operands as a slice.
    #[inline]
    pub(crate) fn as_slice(&mut self) -> &[AnyRef] {
        let operands = match self.place {
            Place::List(operands) => return operands,
            Place::Scattered(operands) => operands,
        };
        for (index, place) in self.copies[..FEW].iter_mut().enumerate().take(operands.len) {
            // SAFETY: below `len`; a `MaybeUninit` is never dropped, and `'a` outlives `self`.
            *place = unsafe { operands.copy(index) };
        }
        if operands.len > FEW {
            self.copy_more(operands);
        }
        // SAFETY: the first `len` copies are initialised, and a `MaybeUninit` has the layout of its
        // payload. The originals live for `'a` (T1), which `self` does not outlive.
        unsafe { slice::from_raw_parts(self.copies.as_ptr().cast(), operands.len) }
    }

    /// Copies the operands that follow the first [`FEW`].
    #[inline(never)]
    fn copy_more(&mut self, operands: Scattered<'a>) {
        let places = self.copies.iter_mut().enumerate().take(operands.len);
        for (index, place) in places.skip(FEW) {
            // SAFETY: below `len`; a `MaybeUninit` is never dropped, and `'a` outlives `self`.
            *place = unsafe { operands.copy(index) };
        }
    }
}

impl fmt::Debug for Tail<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let len = match self.place {
            Place::List(operands) => operands.len(),
            Place::Scattered(operands) => operands.len,
        };
        f.debug_struct("Tail")
            .field("len", &len)
            .finish_non_exhaustive()
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn operands_in_registers_are_those_of_the_list_and_are_not_dropped() {
        for len in [0, 1, FEW, FEW + 1, MAX_TAIL] {
            let operands: Vec<AnyRef> = (0..len as i64).map(AnyRef::available).collect();
            let offset = |index| (index * size_of::<AnyRef>()) as u32;
            let offsets: Vec<u32> = (0..len).rev().map(offset).collect();
            let (Some(registers), Some(first)) = (
                NonNull::new(operands.as_ptr().cast_mut()),
                NonNull::new(offsets.as_ptr().cast_mut()),
            ) else {
                unreachable!("a vector has an address");
            };
            // SAFETY: the offsets of the operands, which outlive the tail.
            let mut tail = unsafe { Tail::in_registers(registers.cast(), first, len) };
            let numbers: Vec<i64> = tail
                .as_slice()
                .iter()
                .filter_map(|value| value.get().copied())
                .collect();
            let expected: Vec<i64> = (0..len as i64).rev().collect();
            assert_eq!(numbers, expected);
            assert!(operands.iter().all(AnyRef::is_unique));
        }
    }
}
