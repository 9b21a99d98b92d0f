//! The Kernels and Types sections: names of kernels and spellings of types. The position in the
//! list is the code or index.

use tfrt_support::entity::{EntityId, PrimaryMap};

use super::entries::{Checks, Entries};
use crate::cursor::Cursor;
use crate::error::Fault;
use crate::ids::StringOffset;

/// The wording of errors about the entries of a section of names.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wording {
    pub(crate) count: &'static str,
    pub(crate) name: &'static str,
}

pub(crate) const KERNELS: Wording = Wording {
    count: "a number of kernels",
    name: "the name of a kernel",
};

pub(crate) const TYPES: Wording = Wording {
    count: "a number of types",
    name: "the name of a type",
};

/// Reads one name.
pub(crate) fn read_name(
    cursor: &mut Cursor<'_>,
    checks: Checks<'_>,
    wording: Wording,
) -> Result<StringOffset, Fault> {
    checks.string(cursor, wording.name)
}

/// Reads the section.
pub(crate) fn read<K: EntityId>(
    mut cursor: Cursor<'_>,
    checks: Checks<'_>,
    wording: Wording,
) -> Result<PrimaryMap<K, StringOffset>, Fault> {
    let count = cursor.count(wording.count)?;
    let read = |cursor: &mut Cursor<'_>| read_name(cursor, checks, wording);
    Entries::new(cursor, count as u64, read)
        .map(|entry| entry.map(|entry| entry.value))
        .collect()
}
