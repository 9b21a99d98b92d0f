//! The KernelFlags section: properties of kernels that are not in their records.
//!
//! Functions, and the kernels of each function, are in ascending order.

use tfrt_support::entity::EntityId;

use crate::cursor::Cursor;
use crate::error::Fault;
use crate::format::{KernelFlags, PSEUDO_KERNEL};
use crate::ids::{FunctionId, KernelId, id};

/// The flags of the kernels of one function.
#[derive(Clone, Debug, Default)]
pub(crate) struct FlagTable {
    /// By kernel, ascending.
    pub(crate) flags: Vec<(KernelId, KernelFlags)>,
    /// The offset of the table in the file.
    pub(crate) offset_in_file: usize,
}

/// Reads the tables of the functions that have one, in ascending order.
pub(crate) fn read(
    mut cursor: Cursor<'_>,
    num_functions: usize,
) -> Result<Vec<(FunctionId, FlagTable)>, Fault> {
    let count = cursor.count("a number of functions")?;
    let mut tables: Vec<(FunctionId, FlagTable)> = Vec::new();
    for _ in 0..count {
        let at = cursor.clone();
        let function: FunctionId = id(cursor.vbr_below("a function id", num_functions as u64)?);
        if tables.last().is_some_and(|&(last, _)| last >= function) {
            return Err(at.fault(format!(
                "expected function ids in ascending order, found {}",
                function.index()
            )));
        }
        let offset_in_file = cursor.offset();
        let flags = read_flags(&mut cursor)?;
        tables.push((
            function,
            FlagTable {
                flags,
                offset_in_file,
            },
        ));
    }
    Ok(tables)
}

fn read_flags(cursor: &mut Cursor<'_>) -> Result<Vec<(KernelId, KernelFlags)>, Fault> {
    let count = cursor.count("a number of kernels")?;
    let mut flags = Vec::new();
    let mut last = PSEUDO_KERNEL;
    for _ in 0..count {
        let at = cursor.clone();
        let kernel = cursor.vbr_u32("a kernel index")?;
        if kernel <= last {
            return Err(at.fault(format!(
                "expected kernel indices in ascending order from 1, found {kernel}"
            )));
        }
        last = kernel;
        let at = cursor.clone();
        let bits = cursor.vbr("flags of a kernel")?;
        let known = KernelFlags::from_bits(bits).ok_or_else(|| {
            at.fault(format!("expected no flag but bit 0, found flags {bits:#x}"))
        })?;
        flags.push((id(kernel), known));
    }
    Ok(flags)
}
