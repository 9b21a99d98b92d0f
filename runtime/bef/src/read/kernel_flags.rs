//! The KernelFlags section: properties of kernels that are not in their records.
//!
//! Functions, and the kernels of each function, are in ascending order.

use super::entries::{Checks, Entries, StoredFlags};
use crate::cursor::Cursor;
use crate::error::Fault;
use crate::format::PSEUDO_KERNEL;
use crate::ids::{FunctionId, KernelId, id};

/// The flags of the kernels of one function.
#[derive(Clone, Debug)]
pub(crate) struct FlagTable {
    pub(crate) function: FunctionId,
    /// By kernel, ascending.
    pub(crate) flags: Vec<(KernelId, StoredFlags)>,
    /// The offset in the file of what follows the function.
    pub(crate) offset_in_file: usize,
}

/// How errors describe the count of the section.
pub(crate) const COUNT: &str = "a number of functions";

impl FlagTable {
    /// Reads the table of a function, which follows `last` in order.
    pub(crate) fn read(
        cursor: &mut Cursor<'_>,
        checks: Checks<'_>,
        last: Option<FunctionId>,
    ) -> Result<Self, Fault> {
        let function = checks.next_function(cursor, last)?;
        let offset_in_file = cursor.offset();
        let count = cursor.count("a number of kernels")?;
        let mut flags = Vec::new();
        let mut last = id(PSEUDO_KERNEL);
        for _ in 0..count {
            last = checks.next_kernel(cursor, last)?;
            flags.push((last, checks.flags(cursor)?));
        }
        Ok(Self {
            function,
            flags,
            offset_in_file,
        })
    }
}

/// Reads the tables of the functions that have one, in ascending order.
pub(crate) fn read(mut cursor: Cursor<'_>, checks: Checks<'_>) -> Result<Vec<FlagTable>, Fault> {
    let count = cursor.count(COUNT)?;
    let mut last = None;
    let read = |cursor: &mut Cursor<'_>| {
        let table = FlagTable::read(cursor, checks, last)?;
        last = Some(table.function);
        Ok(table)
    };
    Entries::new(cursor, count as u64, read)
        .map(|entry| entry.map(|entry| entry.value))
        .collect()
}
