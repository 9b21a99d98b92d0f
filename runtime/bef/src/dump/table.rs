//! Tables, up to the first malformed entry.
//!
//! The readers in [`crate::read`] return a complete table or an error. These return the readable
//! entries, with their ranges in the file.

use std::ops::Range;

use crate::cursor::Cursor;
use crate::error::Fault;

/// An entry of a table, and its range in the file.
pub(super) struct TableEntry<T> {
    pub(super) range: Range<usize>,
    pub(super) value: T,
}

/// The readable part of a table.
pub(super) struct Table<T> {
    /// The number of entries that the table declares.
    pub(super) count: Option<TableEntry<u64>>,
    pub(super) entries: Vec<TableEntry<T>>,
    /// The fault that ends the table early, if any.
    pub(super) fault: Option<Fault>,
}

impl<T> Default for Table<T> {
    fn default() -> Self {
        Self {
            count: None,
            entries: Vec::new(),
            fault: None,
        }
    }
}

impl<T> Table<T> {
    /// Reads a count, which `what` describes, and as many entries.
    pub(super) fn read(
        cursor: Option<Cursor<'_>>,
        what: &str,
        mut read: impl FnMut(&mut Cursor<'_>) -> Result<T, Fault>,
    ) -> Self {
        let mut table = Self::default();
        if let Some(mut cursor) = cursor {
            table.fault = table.fill(&mut cursor, what, &mut read).err();
        }
        table
    }

    fn fill(
        &mut self,
        cursor: &mut Cursor<'_>,
        what: &str,
        read: &mut impl FnMut(&mut Cursor<'_>) -> Result<T, Fault>,
    ) -> Result<(), Fault> {
        let count = entry(cursor, |cursor| cursor.vbr(what))?;
        let number = count.value;
        self.count = Some(count);
        for _ in 0..number {
            self.entries.push(entry(cursor, &mut *read)?);
        }
        Ok(())
    }

    /// Returns the value of the entry at `index`, if there is one.
    pub(super) fn get(&self, index: usize) -> Option<&T> {
        self.entries.get(index).map(|entry| &entry.value)
    }
}

/// Reads a value and records its range.
pub(super) fn entry<T>(
    cursor: &mut Cursor<'_>,
    read: impl FnOnce(&mut Cursor<'_>) -> Result<T, Fault>,
) -> Result<TableEntry<T>, Fault> {
    let start = cursor.offset();
    let value = read(cursor)?;
    Ok(TableEntry {
        range: start..cursor.offset(),
        value,
    })
}
