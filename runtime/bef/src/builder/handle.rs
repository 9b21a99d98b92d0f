//! Handles to parts of a program under construction. Each identifies its owner.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};

use tfrt_support::entity::EntityId;

use super::BuildError;
use crate::ids::{FunctionId, RegisterId, TypeNameId};

/// Identifies the program of a handle; unique among the programs of this process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct ProgramKey(u64);

impl ProgramKey {
    pub(super) fn new() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        // Relaxed: only the number matters, and no two additions return the same one.
        Self(NEXT.fetch_add(1, Ordering::Relaxed))
    }
}

/// A type of a program, from [`ProgramBuilder::add_type`](super::ProgramBuilder::add_type).
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct DeclaredType {
    pub(super) program: ProgramKey,
    pub(super) index: TypeNameId,
}

/// A function of a program, for kernels to refer to. The handle is the same before and after the
/// function is defined.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct DeclaredFunction {
    pub(super) program: ProgramKey,
    pub(super) id: FunctionId,
}

impl DeclaredFunction {
    /// Returns the id of the function in the file.
    #[must_use]
    pub fn id(self) -> FunctionId {
        self.id
    }
}

/// A value in a function: an argument or the result of a kernel.
///
/// ```
/// use tfrt_bef::builder::ProgramBuilder;
///
/// let mut program = ProgramBuilder::new();
/// let i32_type = program.add_type("i32");
/// let (_, body) = program.add_function("f", &[i32_type], &[])?;
/// assert_eq!(body.arguments()[0].ty(), i32_type);
/// # Ok::<(), tfrt_bef::builder::BuildError>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Register {
    pub(super) function: DeclaredFunction,
    pub(super) id: RegisterId,
    pub(super) ty: DeclaredType,
}

impl Register {
    /// Returns the id of the register in the file.
    #[must_use]
    pub fn id(self) -> RegisterId {
        self.id
    }

    /// Returns the type of the value.
    #[must_use]
    pub fn ty(self) -> DeclaredType {
        self.ty
    }
}

impl fmt::Debug for DeclaredType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.index.fmt(f)
    }
}

impl fmt::Debug for DeclaredFunction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.id.fmt(f)
    }
}

impl fmt::Debug for Register {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.id.fmt(f)
    }
}

/// Returns the indices of types, which must belong to `program`.
pub(super) fn indices(
    program: ProgramKey,
    types: &[DeclaredType],
) -> Result<Vec<TypeNameId>, BuildError> {
    types
        .iter()
        .map(|&ty| match ty.program == program {
            true => Ok(ty.index),
            false => Err(BuildError::ForeignType(ty)),
        })
        .collect()
}

/// Checks that functions belong to `program`.
pub(super) fn check_functions(
    program: ProgramKey,
    mut functions: impl Iterator<Item = DeclaredFunction>,
) -> Result<(), BuildError> {
    match functions.find(|function| function.program != program) {
        None => Ok(()),
        Some(function) => Err(BuildError::ForeignFunction(function)),
    }
}

/// Returns the ids of `count` registers that follow `start` others.
pub(super) fn register_ids(start: usize, count: usize) -> impl Iterator<Item = RegisterId> {
    (start..start + count).map(RegisterId::from_index)
}
