//! The payload types that a kernel reads and returns, as a list for the operands and one for the
//! results.

use tfrt_async::{Chain, TypeIndex};

/// The payload types of operands or of results.
///
/// ```
/// use tfrt_async::TypeIndex;
/// use tfrt_host::__runtime::TypeList;
///
/// let mut operands = TypeList::default();
/// operands.push(Some(TypeIndex::of::<i32>()));
/// operands.push_tail(Some(TypeIndex::of::<f32>()));
/// assert_eq!(operands.get(0, 3), Some(TypeIndex::of::<i32>()));
/// assert_eq!(operands.get(2, 3), Some(TypeIndex::of::<f32>()));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TypeList {
    fixed: Vec<Fixed>,
    tail: Option<Option<TypeIndex>>,
    /// `true` if two parameters read one operand, so no single type satisfies both.
    is_contested: bool,
    chain: Option<ChainAtEnd>,
    /// `true` if all values are references.
    are_references: bool,
}

/// An operand or result that is always present.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Fixed {
    ty: Option<TypeIndex>,
    is_reference: bool,
    /// `true` if a parameter reads it.
    is_read: bool,
}

/// How a chain comes last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ChainAtEnd {
    /// It may come last: after a tail, the type of the last value decides.
    Optional,
    /// It comes last whenever there are more values than the fixed ones.
    Behind,
}

impl TypeList {
    /// Returns the type of the value at `index` of `len`, or `None` if it may have any type.
    ///
    /// If a chain may follow a variadic tail, the last value is treated as part of the tail. If two
    /// parameters read one operand, this returns a type that no value has.
    #[must_use]
    pub fn get(&self, index: usize, len: usize) -> Option<TypeIndex> {
        if self.is_contested {
            return Some(TypeIndex::NONE);
        }
        match self.fixed.get(index) {
            Some(fixed) => fixed.ty,
            None if index + 1 == len && self.must_end_in_chain(len) => {
                Some(TypeIndex::of::<Chain>())
            }
            None => self.tail.flatten(),
        }
    }

    /// Returns `true` if a value of type `found` (`None` if unknown) needs no check at `index` of
    /// `len`.
    #[must_use]
    pub fn admits(&self, index: usize, len: usize, found: Option<TypeIndex>) -> bool {
        let wanted = self.get(index, len);
        let is_chain = || index + 1 == len && found == Some(TypeIndex::of::<Chain>());
        wanted.is_none()
            || wanted == found
            || (index >= self.fixed.len() && self.chain.is_some() && is_chain())
    }

    /// Returns the minimum number of values: all except a tail and an optional chain.
    #[must_use]
    pub fn num_fixed(&self) -> usize {
        self.fixed.len()
    }

    /// Returns `true` if the last of `len` values must be a chain.
    fn must_end_in_chain(&self, len: usize) -> bool {
        match self.chain {
            Some(ChainAtEnd::Optional) => self.tail.is_none(),
            Some(ChainAtEnd::Behind) => len > self.fixed.len(),
            None => false,
        }
    }

    /// Returns `true` if the value at `index`, which is not in a tail, is passed as a reference,
    /// available or not.
    #[must_use]
    pub fn is_reference(&self, index: usize) -> bool {
        let is_reference = |fixed: &Fixed| fixed.is_reference;
        self.are_references || self.fixed.get(index).is_some_and(is_reference)
    }

    /// Adds a value of this type, or of any type if `None`.
    pub fn push(&mut self, ty: Option<TypeIndex>) {
        self.fixed.push(Fixed {
            ty,
            is_reference: false,
            is_read: true,
        });
    }

    /// Adds a reference to a value of this type, or of any type if `None`.
    pub fn push_reference(&mut self, ty: Option<TypeIndex>) {
        self.fixed.push(Fixed {
            ty,
            is_reference: true,
            is_read: true,
        });
    }

    /// Adds a tail: any number of values of this type, or of any type if `None`.
    pub fn push_tail(&mut self, ty: Option<TypeIndex>) {
        self.tail = Some(ty);
    }

    /// Sets the type of the value at `index`; `None` means any type.
    pub(crate) fn set(&mut self, index: usize, ty: Option<TypeIndex>) {
        self.set_fixed(index, ty, false);
    }

    /// Marks the value at `index` as a reference to a value of this type, or of any type if `None`.
    pub(crate) fn set_reference(&mut self, index: usize, ty: Option<TypeIndex>) {
        self.set_fixed(index, ty, true);
    }

    fn set_fixed(&mut self, index: usize, ty: Option<TypeIndex>, is_reference: bool) {
        if index >= self.fixed.len() {
            self.fixed.resize(index + 1, Fixed::default());
        }
        self.is_contested |= self.fixed[index].is_read || self.tail.is_some();
        self.fixed[index] = Fixed {
            ty,
            is_reference,
            is_read: true,
        };
    }

    /// Adds a tail that begins at `index`, of values of this type, or of any type if `None`.
    pub(crate) fn set_tail(&mut self, index: usize, ty: Option<TypeIndex>) {
        self.is_contested |= self.tail.is_some() || self.fixed.len() > index;
        self.fixed
            .resize(index.max(self.fixed.len()), Fixed::default());
        self.tail = Some(ty);
    }

    /// Makes all values references.
    pub(super) fn set_references(&mut self) {
        self.are_references = true;
    }

    /// Allows operands to end in a chain.
    pub(super) fn set_optional_chain(&mut self) {
        self.chain = Some(ChainAtEnd::Optional);
    }

    /// Makes results end in a chain if the program wants it.
    pub(crate) fn set_chain(&mut self) {
        self.chain = Some(ChainAtEnd::Behind);
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use tfrt_async::ByteString;

    use super::*;
    use crate::kernel::operand::{ByRef, ByValue, Rest};
    use crate::kernel::param::ParamList;

    fn operands<P: ParamList>() -> TypeList {
        let mut operands = TypeList::default();
        P::describe(&mut operands);
        operands
    }

    #[test]
    fn two_parameters_that_read_one_operand_admit_no_value() {
        let lists = [
            operands::<(ByRef<ByteString, 0>, ByValue<u64, 0>)>(),
            operands::<(ByRef<ByteString, 0>, Rest<u64, 0, false>)>(),
            operands::<(Rest<u64, 0, false>, ByRef<ByteString, 1>)>(),
            operands::<(Rest<u64, 1, false>, Rest<ByteString, 1, false>)>(),
        ];
        for list in lists {
            for ty in [TypeIndex::of::<u64>(), TypeIndex::of::<ByteString>()] {
                assert!(!list.admits(0, 2, Some(ty)) && !list.admits(1, 2, Some(ty)));
            }
        }
        let list = operands::<(ByRef<ByteString, 0>, Rest<u64, 1, false>)>();
        assert!(list.admits(0, 2, Some(TypeIndex::of::<ByteString>())));
        assert!(list.admits(1, 2, Some(TypeIndex::of::<u64>())));
    }
}
