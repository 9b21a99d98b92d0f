//! The AttributeNames section: the names of the attributes of every kernel.
//!
//! The section counts all functions, but has a table only for those with a body.

use tfrt_support::entity::{EntityId, PrimaryMap};

use super::entries::Checks;
use crate::cursor::Cursor;
use crate::error::{BefError, Fault, Reason};
use crate::format::SectionId;
use crate::ids::{FunctionId, StringOffset};
use crate::invariant;

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
    /// Returns the error that ended reading, if one did.
    pub(crate) fn check(&self) -> Result<(), BefError> {
        match &self.error {
            Some(error) => Err(error.clone()),
            None => Ok(()),
        }
    }

    /// Returns the names of a function.
    pub(crate) fn of(&self, id: FunctionId) -> Result<&[StringOffset], BefError> {
        match (self.ends.get(id), &self.error) {
            (Some(&end), _) => {
                let before = id.index().checked_sub(1).map(FunctionId::from_index);
                let start = before.map_or(0, |before| self.ends[before]);
                Ok(&self.names[start..end])
            }
            (None, Some(error)) => Err(error.clone()),
            (None, None) => invariant::broken("every function has attribute names or an error"),
        }
    }
}

/// Reads the table of a function whose kernels have `num_attributes` attributes in all, after its
/// number of kernels; the names are added to `names`.
pub(crate) fn read_names(
    cursor: &mut Cursor<'_>,
    checks: Checks<'_>,
    num_attributes: usize,
    names: &mut Vec<StringOffset>,
) -> Result<(), Fault> {
    for _ in 0..num_attributes {
        names.push(checks.string(cursor, "the name of an attribute")?);
    }
    Ok(())
}

/// Reads the section up to the first function with an error.
pub(crate) fn read_so_far(
    mut cursor: Cursor<'_>,
    checks: Checks<'_>,
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
                let names = &mut read.names;
                read_names(&mut cursor, checks, shape.num_attributes, names).map_err(malformed)?;
            }
            read.ends.push(read.names.len());
        }
        Ok(())
    };
    read.error = read_all().err();
    read
}
