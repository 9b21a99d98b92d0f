//! The operands of a variadic parameter.
#![expect(unsafe_code, reason = "reads operands whose types were proven")]

use std::fmt;
use std::marker::PhantomData;
use std::ops::Index;

use tfrt_async::{AnyRef, Value};

/// All remaining operands, each with a payload of type `T`: a list that a kernel reads in place.
///
/// ```
/// use tfrt_async::Value;
/// use tfrt_host::kernel::Operands;
///
/// fn sum(first: i32, rest: Operands<'_, i32>) -> i32 {
///     rest.iter().fold(first, |sum, operand| sum.wrapping_add(*operand))
/// }
/// ```
pub struct Operands<'a, T> {
    // O1: every operand is available, its payload is a `T`, and `T` is not mutable. Upheld by
    // `new`.
    operands: &'a [AnyRef],
    payload: PhantomData<&'a T>,
}

impl<'a, T: Value> Operands<'a, T> {
    const IS_READABLE: () = assert!(
        !T::IS_MUTABLE,
        "values of a mutable type are borrowed one by one: take `&[AnyRef]` and `try_read` them"
    );

    /// Creates a list of these operands.
    ///
    /// # Safety
    /// 1. Every operand is available and its payload is a `T`.
    #[inline]
    pub(crate) unsafe fn new(operands: &'a [AnyRef]) -> Self {
        let () = Self::IS_READABLE;
        Self {
            operands,
            payload: PhantomData,
        }
    }

    /// Returns the number of operands.
    #[inline]
    #[must_use]
    pub fn len(&self) -> usize {
        self.operands.len()
    }

    /// Returns `true` if there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the operand at `index`, if there is one.
    #[inline]
    #[must_use]
    pub fn get(&self, index: usize) -> Option<&'a T> {
        let operand = self.operands.get(index)?;
        // SAFETY: O1.
        Some(unsafe { operand.get_unchecked() })
    }

    /// Returns an iterator over the operands, in order.
    #[must_use]
    pub fn iter(&self) -> OperandsIter<'a, T> {
        OperandsIter {
            operands: *self,
            next: 0,
        }
    }
}

impl<T> Clone for Operands<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Operands<'_, T> {}

impl<T: Value> Index<usize> for Operands<'_, T> {
    type Output = T;

    fn index(&self, index: usize) -> &T {
        match self.get(index) {
            Some(operand) => operand,
            None => panic!(
                "the kernel has {} operands, found index {index}",
                self.len()
            ),
        }
    }
}

impl<'a, T: Value> IntoIterator for Operands<'a, T> {
    type Item = &'a T;
    type IntoIter = OperandsIter<'a, T>;

    fn into_iter(self) -> OperandsIter<'a, T> {
        self.iter()
    }
}

impl<T: Value + fmt::Debug> fmt::Debug for Operands<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(*self).finish()
    }
}

/// An iterator over [`Operands`].
#[derive(Debug)]
pub struct OperandsIter<'a, T: Value> {
    operands: Operands<'a, T>,
    next: usize,
}

impl<'a, T: Value> Iterator for OperandsIter<'a, T> {
    type Item = &'a T;

    #[inline]
    fn next(&mut self) -> Option<&'a T> {
        let operand = self.operands.get(self.next)?;
        self.next += 1;
        Some(operand)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let remaining = self.operands.len() - self.next;
        (remaining, Some(remaining))
    }
}

impl<T: Value> ExactSizeIterator for OperandsIter<'_, T> {}
