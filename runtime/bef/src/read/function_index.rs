//! The FunctionIndex section: kind, body offset, name and signature of every function.

use std::ops::Range;

use tfrt_support::entity::PrimaryMap;

use super::strings::Strings;
use crate::cursor::Cursor;
use crate::error::Fault;
use crate::ids::{FunctionId, StringOffset, TypeNameId, id};
use tfrt_support::FunctionKind;

/// The index entry of a function.
#[derive(Clone, Debug)]
pub(crate) struct FunctionEntry {
    pub(crate) kind: FunctionKind,
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

impl FunctionIndex {
    pub(crate) fn read(
        mut cursor: Cursor<'_>,
        strings: Strings<'_>,
        num_types: usize,
    ) -> Result<Self, Fault> {
        let mut index = Self {
            functions: PrimaryMap::new(),
            types: Vec::new(),
        };
        let count = cursor.count("a number of functions")?;
        for _ in 0..count {
            let at = cursor.clone();
            let raw_kind = cursor.u8("the kind of a function")?;
            let kind = FunctionKind::from_raw(raw_kind).ok_or_else(|| {
                at.fault(format!(
                    "expected function kind 0, 1 or 2, found {raw_kind}"
                ))
            })?;
            let offset_in_file = cursor.offset();
            let body_offset = cursor.vbr("the offset of a body")?;
            let name = strings.read_offset(&mut cursor, "the name of a function")?;
            let arguments = index.read_types(&mut cursor, num_types)?;
            let results = index.read_types(&mut cursor, num_types)?;
            index.functions.push(FunctionEntry {
                kind,
                body_offset,
                offset_in_file,
                name,
                arguments,
                results,
            });
        }
        Ok(index)
    }

    fn read_types(
        &mut self,
        cursor: &mut Cursor<'_>,
        num_types: usize,
    ) -> Result<Range<usize>, Fault> {
        let start = self.types.len();
        let count = cursor.count("a number of types")?;
        for _ in 0..count {
            self.types
                .push(id(cursor.vbr_below("a type index", num_types as u64)?));
        }
        Ok(start..self.types.len())
    }
}
