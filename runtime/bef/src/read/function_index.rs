//! The FunctionIndex section: kind, body offset, name and signature of every function.

use std::ops::Range;

use tfrt_support::FunctionKind;
use tfrt_support::entity::PrimaryMap;

use super::entries::{Checks, Entries, StoredKind};
use crate::cursor::Cursor;
use crate::error::Fault;
use crate::ids::{FunctionId, StringOffset, TypeNameId};
use crate::invariant;

/// The index entry of a function.
#[derive(Clone, Debug)]
pub(crate) struct FunctionEntry {
    pub(crate) stored_kind: StoredKind,
    /// The offset of the body in the Functions section; meaningless for a native function.
    pub(crate) body_offset: u64,
    /// The offset in the file of this entry's body offset.
    pub(crate) offset_in_file: usize,
    pub(crate) name: StringOffset,
    /// The range of the arguments' types in the pool of types.
    pub(crate) arguments: Range<usize>,
    /// The range of the results' types in the pool of types.
    pub(crate) results: Range<usize>,
}

/// The index of a file.
#[derive(Clone, Debug)]
pub(crate) struct FunctionIndex {
    pub(crate) functions: PrimaryMap<FunctionId, FunctionEntry>,
    /// The types of all signatures, concatenated.
    pub(crate) types: Vec<TypeNameId>,
}

/// How errors describe the count of the section.
pub(crate) const COUNT: &str = "a number of functions";

impl FunctionEntry {
    /// Reads an entry; the types of its signature are added to `types`.
    pub(crate) fn read(
        cursor: &mut Cursor<'_>,
        checks: Checks<'_>,
        types: &mut Vec<TypeNameId>,
    ) -> Result<Self, Fault> {
        let stored_kind = checks.kind(cursor)?;
        let offset_in_file = cursor.offset();
        Ok(Self {
            stored_kind,
            body_offset: cursor.vbr("the offset of a body")?,
            offset_in_file,
            name: checks.string(cursor, "the name of a function")?,
            arguments: read_types(cursor, checks, types)?,
            results: read_types(cursor, checks, types)?,
        })
    }

    /// Returns the kind of a function that was read by the rules.
    pub(crate) fn kind(&self) -> FunctionKind {
        match self.stored_kind.known() {
            Some(kind) => kind,
            None => invariant::broken("rule 3: a function has one of three kinds"),
        }
    }

    /// Returns `true` if the function has a body in the file.
    pub(crate) fn has_body(&self) -> bool {
        self.stored_kind.known().is_some_and(FunctionKind::has_body)
    }
}

impl FunctionIndex {
    /// Reads the section.
    pub(crate) fn read(mut cursor: Cursor<'_>, checks: Checks<'_>) -> Result<Self, Fault> {
        let count = cursor.count(COUNT)?;
        let mut types = Vec::new();
        let read = |cursor: &mut Cursor<'_>| FunctionEntry::read(cursor, checks, &mut types);
        let functions = Entries::new(cursor, count as u64, read)
            .map(|entry| entry.map(|entry| entry.value))
            .collect::<Result<_, Fault>>()?;
        Ok(Self { functions, types })
    }
}

fn read_types(
    cursor: &mut Cursor<'_>,
    checks: Checks<'_>,
    types: &mut Vec<TypeNameId>,
) -> Result<Range<usize>, Fault> {
    let start = types.len();
    let count = cursor.count("a number of types")?;
    for _ in 0..count {
        types.push(checks.type_index(cursor)?);
    }
    Ok(start..types.len())
}
