//! Tables, up to the first malformed entry.
//!
//! [Entries] are read by the reader of their section, without its checks. The verifier wants all of
//! them or an error; a table has those that are readable, with their ranges in the file.

use crate::cursor::Cursor;
use crate::error::Fault;
use crate::read::entries::{Entries, TableEntry};

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
    pub(super) fn read<'a>(
        cursor: Option<Cursor<'a>>,
        what: &str,
        read: impl FnMut(&mut Cursor<'a>) -> Result<T, Fault>,
    ) -> Self {
        let mut table = Self::default();
        if let Some(cursor) = cursor {
            table.fault = table.fill(cursor, what, read).err();
        }
        table
    }

    fn fill<'a>(
        &mut self,
        mut cursor: Cursor<'a>,
        what: &str,
        read: impl FnMut(&mut Cursor<'a>) -> Result<T, Fault>,
    ) -> Result<(), Fault> {
        let count = TableEntry::read(&mut cursor, |cursor| cursor.vbr(what))?;
        let number = count.value;
        self.count = Some(count);
        for entry in Entries::new(cursor, number, read) {
            self.entries.push(entry?);
        }
        Ok(())
    }

    /// Returns the value of the entry at `index`, if there is one.
    pub(super) fn get(&self, index: usize) -> Option<&T> {
        self.entries.get(index).map(|entry| &entry.value)
    }
}
