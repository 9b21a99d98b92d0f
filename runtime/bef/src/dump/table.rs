//! Tables, up to the first entry that has no end.
//!
//! The readers in [`crate::read`] give a table or nothing. These give what there is, and where in the file each entry is.

use std::ops::Range;

use crate::cursor::Cursor;
use crate::error::Fault;

/// An entry of a table, and where in the file it is.
pub(super) struct Entry<T> {
    pub(super) range: Range<usize>,
    pub(super) value: T,
}

/// As much of a table as can be read.
pub(super) struct Table<T> {
    /// How many entries there should be.
    pub(super) count: Option<Entry<u64>>,
    pub(super) entries: Vec<Entry<T>>,
    /// Why there are no more.
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
    /// Reads a count, which is `what`, and as many entries.
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

    /// The value of the entry at `index`, if there is one.
    pub(super) fn get(&self, index: usize) -> Option<&T> {
        self.entries.get(index).map(|entry| &entry.value)
    }
}

/// Reads a value and notes where it is.
pub(super) fn entry<T>(
    cursor: &mut Cursor<'_>,
    read: impl FnOnce(&mut Cursor<'_>) -> Result<T, Fault>,
) -> Result<Entry<T>, Fault> {
    let start = cursor.offset();
    let value = read(cursor)?;
    Ok(Entry {
        range: start..cursor.offset(),
        value,
    })
}
