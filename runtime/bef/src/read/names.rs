//! The Kernels and Types sections: names of kernels and spellings of types. The position in the
//! list is the code or index.

use tfrt_support::entity::{EntityId, PrimaryMap};

use super::strings::Strings;
use crate::cursor::Cursor;
use crate::error::Fault;
use crate::ids::StringOffset;

/// Reads a table of names; `what` describes them in errors.
pub(crate) fn read<K: EntityId>(
    mut cursor: Cursor<'_>,
    strings: Strings<'_>,
    what: &str,
) -> Result<PrimaryMap<K, StringOffset>, Fault> {
    let count = cursor.count(&format!("a number of {what}s"))?;
    let name = format!("the name of a {what}");
    (0..count)
        .map(|_| strings.read_offset(&mut cursor, &name))
        .collect()
}
