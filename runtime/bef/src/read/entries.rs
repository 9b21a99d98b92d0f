//! Entries of sections, read one at a time and on demand.
//!
//! Each section has one reader, which the verifier and the dump share. They differ in the
//! [`Checks`] that they pass: the verifier refuses the first entry that breaks a rule, and the dump
//! shows every entry that has the form of one.

use std::ops::Range;

use tfrt_support::FunctionKind;

use super::strings::Strings;
use crate::cursor::Cursor;
use crate::error::Fault;
use crate::format::KernelFlags;
use crate::ids::{FunctionId, KernelId, StringOffset, TypeNameId, id};

/// An entry of a section, and its range in the file.
#[derive(Clone, Debug)]
pub(crate) struct TableEntry<T> {
    pub(crate) range: Range<usize>,
    pub(crate) value: T,
}

impl<T> TableEntry<T> {
    /// Reads a value and records its range.
    pub(crate) fn read<'a, E>(
        cursor: &mut Cursor<'a>,
        read: impl FnOnce(&mut Cursor<'a>) -> Result<T, E>,
    ) -> Result<Self, E> {
        let start = cursor.offset();
        let value = read(cursor)?;
        Ok(Self {
            range: start..cursor.offset(),
            value,
        })
    }
}

/// The entries of a section that is a count and as many entries.
///
/// An iterator that reads each entry on demand, and ends at the first fault.
#[derive(Debug)]
pub(crate) struct Entries<'a, R> {
    cursor: Cursor<'a>,
    num_left: u64,
    read: R,
}

impl<'a, R> Entries<'a, R> {
    /// Starts after the count of a section, which has `count` entries.
    pub(crate) fn new(cursor: Cursor<'a>, count: u64, read: R) -> Self {
        Self {
            cursor,
            num_left: count,
            read,
        }
    }
}

impl<'a, T, R> Iterator for Entries<'a, R>
where
    R: FnMut(&mut Cursor<'a>) -> Result<T, Fault>,
{
    type Item = Result<TableEntry<T>, Fault>;

    fn next(&mut self) -> Option<Self::Item> {
        self.num_left = self.num_left.checked_sub(1)?;
        let entry = TableEntry::read(&mut self.cursor, &mut self.read);
        if entry.is_err() {
            self.num_left = 0;
        }
        Some(entry)
    }
}

/// The checks of ids, kinds and flags while an entry is read.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Checks<'a> {
    /// Only that they have the form of ids: a dump shows those that refer to nothing.
    Form,
    /// That they mean something: the rules of [`crate::verify`].
    Rules {
        strings: Strings<'a>,
        num_types: usize,
        num_functions: usize,
    },
}

impl Checks<'_> {
    /// Reads a reference to a string, which `what` describes in errors.
    pub(crate) fn string(
        &self,
        cursor: &mut Cursor<'_>,
        what: &str,
    ) -> Result<StringOffset, Fault> {
        match self {
            Self::Form => cursor.vbr_u32(what).map(id),
            Self::Rules { strings, .. } => strings.read_offset(cursor, what),
        }
    }

    /// Reads a reference to a type.
    pub(crate) fn type_index(&self, cursor: &mut Cursor<'_>) -> Result<TypeNameId, Fault> {
        let limit = match self {
            Self::Form => ANY_ID,
            Self::Rules { num_types, .. } => *num_types as u64,
        };
        cursor.vbr_below("a type index", limit).map(id)
    }

    /// Reads a reference to a function, which follows `last` in order.
    pub(crate) fn next_function(
        &self,
        cursor: &mut Cursor<'_>,
        last: Option<FunctionId>,
    ) -> Result<FunctionId, Fault> {
        let at = cursor.clone();
        let limit = match self {
            Self::Form => ANY_ID,
            Self::Rules { num_functions, .. } => *num_functions as u64,
        };
        let function: u32 = cursor.vbr_below("a function id", limit)?;
        match (self, last) {
            (Self::Rules { .. }, Some(last)) if last >= id(function) => Err(at.fault(format!(
                "expected function ids in ascending order, found {function}"
            ))),
            _ => Ok(id(function)),
        }
    }

    /// Reads a reference to a kernel of a function, which follows `last` in order.
    pub(crate) fn next_kernel(
        &self,
        cursor: &mut Cursor<'_>,
        last: KernelId,
    ) -> Result<KernelId, Fault> {
        let at = cursor.clone();
        let kernel = cursor.vbr_u32("a kernel index")?;
        match self {
            Self::Rules { .. } if last >= id(kernel) => Err(at.fault(format!(
                "expected kernel indices in ascending order from 1, found {kernel}"
            ))),
            _ => Ok(id(kernel)),
        }
    }

    /// Reads the flags of a kernel.
    pub(crate) fn flags(&self, cursor: &mut Cursor<'_>) -> Result<StoredFlags, Fault> {
        let at = cursor.clone();
        let flags = StoredFlags(cursor.vbr("flags of a kernel")?);
        match (self, flags.known()) {
            (Self::Rules { .. }, None) => {
                let bits = flags.0;
                Err(at.fault(format!(
                    "expected no flags other than bit 0, found flags {bits:#x}"
                )))
            }
            _ => Ok(flags),
        }
    }

    /// Reads the kind of a function.
    pub(crate) fn kind(&self, cursor: &mut Cursor<'_>) -> Result<StoredKind, Fault> {
        let at = cursor.clone();
        let kind = StoredKind(cursor.u8("the kind of a function")?);
        match (self, kind.known()) {
            (Self::Rules { .. }, None) => {
                let found = kind.0;
                Err(at.fault(format!("expected function kind 0, 1 or 2, found {found}")))
            }
            _ => Ok(kind),
        }
    }
}

/// Above every id.
const ANY_ID: u64 = 1 << u32::BITS;

/// The kind of a function, as it is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct StoredKind(pub(crate) u8);

impl StoredKind {
    pub(crate) fn known(self) -> Option<FunctionKind> {
        FunctionKind::from_raw(self.0)
    }
}

/// The flags of a kernel, as they are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct StoredFlags(pub(crate) u64);

impl StoredFlags {
    pub(crate) fn known(self) -> Option<KernelFlags> {
        KernelFlags::from_bits(self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::SectionId;

    fn cursor(bytes: &[u8]) -> Cursor<'_> {
        Cursor::in_section(bytes, 10, SectionId::KernelFlags)
    }

    #[test]
    fn entries_are_read_when_they_are_asked_for() {
        let num_read = std::cell::Cell::new(0);
        let mut entries = Entries::new(cursor(&[5, 6, 7]), 3, |cursor: &mut Cursor<'_>| {
            num_read.set(num_read.get() + 1);
            cursor.u8("a byte")
        });
        let first = entries.next().unwrap().unwrap();
        assert_eq!((first.range, first.value), (10..11, 5));
        assert_eq!(num_read.get(), 1);
    }

    #[test]
    fn the_first_fault_ends_the_entries() {
        let mut entries = Entries::new(cursor(&[5]), u64::MAX, |cursor: &mut Cursor<'_>| {
            cursor.u8("a byte")
        });
        assert!(entries.next().is_some_and(|entry| entry.is_ok()));
        assert!(entries.next().is_some_and(|entry| entry.is_err()));
        assert!(entries.next().is_none());
    }

    #[test]
    fn what_means_nothing_is_read_but_breaks_the_rules() {
        let rules = Checks::Rules {
            strings: Strings::new(b""),
            num_types: 1,
            num_functions: 1,
        };
        assert_eq!(Checks::Form.kind(&mut cursor(&[9])), Ok(StoredKind(9)));
        assert!(rules.kind(&mut cursor(&[9])).is_err());
        assert_eq!(Checks::Form.flags(&mut cursor(&[2])), Ok(StoredFlags(2)));
        assert!(rules.flags(&mut cursor(&[2])).is_err());
        assert!(Checks::Form.type_index(&mut cursor(&[1])).is_ok());
        assert!(rules.type_index(&mut cursor(&[1])).is_err());
        assert!(Checks::Form.string(&mut cursor(&[0]), "a name").is_ok());
        assert!(rules.string(&mut cursor(&[0]), "a name").is_err());
        let last = Some(id(0));
        assert!(Checks::Form.next_function(&mut cursor(&[0]), last).is_ok());
        assert!(rules.next_function(&mut cursor(&[0]), last).is_err());
        assert!(Checks::Form.next_kernel(&mut cursor(&[0]), id(0)).is_ok());
        assert!(rules.next_kernel(&mut cursor(&[0]), id(0)).is_err());
    }
}
