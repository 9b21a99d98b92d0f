//! The RegisterTypes section: the types of the registers of every function.
//!
//! The section counts all functions, but has a table only for those with a body.

use tfrt_support::entity::PrimaryMap;

use super::entries::Checks;
use crate::cursor::Cursor;
use crate::error::Fault;
use crate::ids::{FunctionId, TypeNameId};

/// The types of the registers of every function.
pub type RegisterTypes = PrimaryMap<FunctionId, Vec<TypeNameId>>;

/// Reads the table of a function with `num_registers` registers, after this number.
pub(crate) fn read_types(
    cursor: &mut Cursor<'_>,
    checks: Checks<'_>,
    num_registers: u64,
) -> Result<Vec<TypeNameId>, Fault> {
    (0..num_registers)
        .map(|_| checks.type_index(cursor))
        .collect()
}

/// Reads the section; `num_registers` has the number of registers of every function with a body.
pub(crate) fn read(
    mut cursor: Cursor<'_>,
    checks: Checks<'_>,
    num_registers: &PrimaryMap<FunctionId, Option<usize>>,
) -> Result<RegisterTypes, Fault> {
    cursor.expect_count("functions", num_registers.len())?;
    let mut types = RegisterTypes::new();
    for num_registers in num_registers.values() {
        types.push(match num_registers {
            None => Vec::new(),
            Some(num_registers) => {
                cursor.expect_count("registers", *num_registers)?;
                read_types(&mut cursor, checks, *num_registers as u64)?
            }
        });
    }
    Ok(types)
}
