//! The operands of a variadic parameter of any types, as one slice.
//!
//! A frame has all operands in a list. The registers of a function lie apart, so that a
//! [direct](crate::kernel::direct) kernel copies the references to its operands before it reads
//! them as a slice.
#![expect(unsafe_code, reason = "copies references that stay where they are")]

use std::fmt;
use std::marker::PhantomData;
use std::mem::MaybeUninit;
use std::ops::Deref;
use std::ptr;
use std::slice;

use tfrt_async::AnyRef;

/// The number of copied references that take no memory of the heap.
const MAX_FEW: usize = 8;

/// A copy of a reference, which owns no count and is never dropped.
type Copied = MaybeUninit<AnyRef>;

/// All operands from a certain one on, as a slice.
pub struct Tail<'a>(Place<'a>);

/// The place of the slice.
///
/// Invariant T1: the references that were copied live for `'a`, and so do the counts that they own.
/// Upheld by `gathered`, which borrows them for as long.
enum Place<'a> {
    List(&'a [AnyRef]),
    /// The first `len` copies are initialised.
    Few {
        copies: [Copied; MAX_FEW],
        len: usize,
        copied: PhantomData<&'a AnyRef>,
    },
    /// All copies are initialised.
    Many(Box<[Copied]>),
}

impl<'a> Tail<'a> {
    /// Returns operands that are in a list.
    #[inline]
    pub(crate) fn in_list(operands: &'a [AnyRef]) -> Self {
        Self(Place::List(operands))
    }

    /// Returns `len` operands, of which `operand` returns the one at an index.
    #[inline]
    pub(crate) fn gathered(len: usize, operand: impl Fn(usize) -> &'a AnyRef) -> Self {
        // SAFETY: a reference is valid for reads. The copy is never dropped, and only used while
        // the original lives (T1).
        let copy = |index| Copied::new(unsafe { ptr::read(operand(index)) });
        if len > MAX_FEW {
            return Self(Place::Many((0..len).map(copy).collect()));
        }
        let mut copies = [const { Copied::uninit() }; MAX_FEW];
        for (index, place) in copies.iter_mut().enumerate().take(len) {
            *place = copy(index);
        }
        Self(Place::Few {
            copies,
            len,
            copied: PhantomData,
        })
    }
}

impl Deref for Tail<'_> {
    type Target = [AnyRef];

    #[inline]
    fn deref(&self) -> &[AnyRef] {
        let (copies, len) = match &self.0 {
            Place::List(operands) => return operands,
            Place::Few { copies, len, .. } => (copies.as_slice(), *len),
            Place::Many(copies) => (&**copies, copies.len()),
        };
        // SAFETY: the first `len` copies are initialised, and a `MaybeUninit` has the layout of its
        // payload. The originals live for `'a` (T1), which `self` does not outlive.
        unsafe { slice::from_raw_parts(copies.as_ptr().cast(), len) }
    }
}

impl fmt::Debug for Tail<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(&**self).finish()
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn gathered_operands_are_those_of_the_list_and_are_not_dropped() {
        for len in [0, 1, MAX_FEW, MAX_FEW + 1, 40] {
            let operands: Vec<AnyRef> = (0..len as i64).map(AnyRef::available).collect();
            let tail = Tail::gathered(len, |index| &operands[len - 1 - index]);
            let numbers: Vec<i64> = tail
                .iter()
                .filter_map(|value| value.get().copied())
                .collect();
            let expected: Vec<i64> = (0..len as i64).rev().collect();
            assert_eq!(numbers, expected);
            drop(tail);
            assert!(operands.iter().all(AnyRef::is_unique));
        }
    }
}
