//! The inputs of a kernel that its file determines: attributes and functions.

use std::sync::Arc;

use crate::kernel::function_ref::{FunctionRef, FunctionTable};

/// The attributes of one kernel in one file.
#[derive(Clone, Copy, Debug)]
pub struct AttributeList<'a> {
    /// The attribute section of the file.
    pub section: &'a [u8],
    /// The offset of each attribute in the section, in byte order of their names.
    pub offsets: &'a [u32],
}

impl AttributeList<'_> {
    /// No attributes.
    pub const EMPTY: Self = Self {
        section: &[],
        offsets: &[],
    };
}

/// The functions of one kernel in one file: those named by symbols, in byte order of their
/// attributes, then the regions.
#[derive(Clone, Copy, Debug, Default)]
pub struct FunctionList<'a> {
    /// The functions of the file; `None` if the kernel has no functions and belongs to no file.
    pub table: Option<&'a Arc<dyn FunctionTable>>,
    /// The numbers of the kernel's functions.
    pub ids: &'a [u32],
}

/// What a file determines of one call of a kernel: its attributes and functions.
#[derive(Clone, Copy, Debug)]
pub struct FileInputs<'a> {
    /// The attributes.
    pub attributes: AttributeList<'a>,
    /// The functions.
    pub functions: FunctionList<'a>,
}

/// No attributes and no functions.
pub(crate) static NO_FILE_INPUTS: FileInputs<'static> = FileInputs {
    attributes: AttributeList::EMPTY,
    functions: FunctionList {
        table: None,
        ids: &[],
    },
};

impl FunctionList<'_> {
    /// Returns the function at `index`, if there is one.
    pub(crate) fn get(&self, index: usize) -> Option<FunctionRef> {
        Some(FunctionRef::new(
            Arc::clone(self.table?),
            *self.ids.get(index)?,
        ))
    }
}
