//! The RegisterTypes section: the types of the registers of every function.
//!
//! The section counts all functions, but has a table only for those with a body.

use tfrt_support::entity::PrimaryMap;

use crate::cursor::Cursor;
use crate::error::Fault;
use crate::ids::{FunctionId, TypeNameId, id};

/// The types of the registers of every function.
pub type RegisterTypes = PrimaryMap<FunctionId, Vec<TypeNameId>>;

/// Reads the section; `num_registers` has the number of registers of every function with a body.
pub(crate) fn read(
    mut cursor: Cursor<'_>,
    num_types: usize,
    num_registers: &PrimaryMap<FunctionId, Option<usize>>,
) -> Result<RegisterTypes, Fault> {
    cursor.expect_count("functions", num_registers.len())?;
    let mut types = RegisterTypes::new();
    for num_registers in num_registers.values() {
        types.push(match num_registers {
            None => Vec::new(),
            Some(num_registers) => {
                cursor.expect_count("registers", *num_registers)?;
                (0..*num_registers)
                    .map(|_| cursor.vbr_below("a type index", num_types as u64).map(id))
                    .collect::<Result<_, _>>()?
            }
        });
    }
    Ok(types)
}
