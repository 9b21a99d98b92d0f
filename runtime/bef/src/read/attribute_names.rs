//! The AttributeNames section: the names of the attributes of every kernel.
//!
//! Counts all functions, but has a table only for those with a body.

use tfrt_support::entity::PrimaryMap;

use super::strings::Strings;
use crate::cursor::Cursor;
use crate::error::Fault;
use crate::ids::{FunctionId, StringOffset};

/// The names of the attributes of every function: those of its kernels one after the other, in order of the records.
pub(crate) type AttributeNames = PrimaryMap<FunctionId, Vec<StringOffset>>;

/// What a function must have to have a table.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BodyShape {
    pub(crate) num_kernels: usize,
    pub(crate) num_attributes: usize,
}

/// Reads the section; `shapes` says of every function what its body is like, if it has one.
pub(crate) fn read(
    mut cursor: Cursor<'_>,
    strings: Strings<'_>,
    shapes: &PrimaryMap<FunctionId, Option<BodyShape>>,
) -> Result<AttributeNames, Fault> {
    cursor.expect_count("functions", shapes.len())?;
    let mut names = AttributeNames::new();
    for shape in shapes.values() {
        names.push(match shape {
            None => Vec::new(),
            Some(shape) => {
                cursor.expect_count("kernels", shape.num_kernels)?;
                (0..shape.num_attributes)
                    .map(|_| strings.read_offset(&mut cursor, "the name of an attribute"))
                    .collect::<Result<_, _>>()?
            }
        });
    }
    Ok(names)
}
