//! The AttributeNames section: the names of the attributes of every kernel.
//!
//! The section counts all functions, but has a table only for those with a body.

use tfrt_support::entity::{EntityId, PrimaryMap};

use super::strings::Strings;
use crate::cursor::Cursor;
use crate::error::{BefError, Fault, Reason};
use crate::format::SectionId;
use crate::ids::{FunctionId, StringOffset};

/// For each function, the names of the attributes of its kernels, in the order of the records.
pub(crate) type AttributeNames = PrimaryMap<FunctionId, Vec<StringOffset>>;

/// The shape of a body, which determines its table.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BodyShape {
    pub(crate) num_kernels: usize,
    pub(crate) num_attributes: usize,
}

/// The names of the attributes of the functions, up to the first error.
#[derive(Debug)]
pub(crate) struct NamesSoFar {
    /// Those of all functions, concatenated.
    names: Vec<StringOffset>,
    /// The end of those of each function.
    ends: PrimaryMap<FunctionId, usize>,
    /// The error for the functions without an end.
    error: Option<BefError>,
}

impl NamesSoFar {
    /// Returns the names of a function.
    pub(crate) fn of(&self, id: FunctionId) -> Result<&[StringOffset], BefError> {
        match (self.ends.get(id), &self.error) {
            (Some(&end), _) => {
                let before = id.index().checked_sub(1).map(FunctionId::from_index);
                let start = before.map_or(0, |before| self.ends[before]);
                Ok(&self.names[start..end])
            }
            (None, Some(error)) => Err(error.clone()),
            (None, None) => Ok(&[]),
        }
    }
}

/// Reads the section; `shapes` has the shape of the body of every function that has one.
pub(crate) fn read(
    cursor: Cursor<'_>,
    strings: Strings<'_>,
    shapes: &PrimaryMap<FunctionId, Option<BodyShape>>,
) -> Result<AttributeNames, BefError> {
    let shapes_in_order = shapes.values().map(|&shape| Ok(shape));
    let read = read_so_far(cursor, strings, shapes.len(), shapes_in_order);
    shapes
        .ids()
        .map(|id| read.of(id).map(<[StringOffset]>::to_vec))
        .collect()
}

/// Reads the section up to the first function with an error.
pub(crate) fn read_so_far(
    mut cursor: Cursor<'_>,
    strings: Strings<'_>,
    num_functions: usize,
    shapes: impl Iterator<Item = Result<Option<BodyShape>, BefError>>,
) -> NamesSoFar {
    let mut read = NamesSoFar {
        names: Vec::new(),
        ends: PrimaryMap::new(),
        error: None,
    };
    let malformed = |fault: Fault| fault.because(Reason::Section(SectionId::AttributeNames));
    let read_all = || {
        let count = cursor.expect_count("functions", num_functions);
        count.map_err(malformed)?;
        for shape in shapes {
            if let Some(shape) = shape? {
                let count = cursor.expect_count("kernels", shape.num_kernels);
                count.map_err(malformed)?;
                for _ in 0..shape.num_attributes {
                    let name = strings.read_offset(&mut cursor, "the name of an attribute");
                    read.names.push(name.map_err(malformed)?);
                }
            }
            read.ends.push(read.names.len());
        }
        Ok(())
    };
    read.error = read_all().err();
    read
}
