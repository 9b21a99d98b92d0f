//! Handles: what a program is referred to by while it is built. Each knows what it belongs to.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};

use tfrt_support::entity::EntityId;

use super::BuildError;
use crate::ids::{FunctionId, RegisterId, TypeIndex};

/// Which program a handle belongs to: another number for every program of this process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct ProgramKey(u64);

impl ProgramKey {
    pub(super) fn new() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        // Relaxed: only the number counts, and no two additions give the same one.
        Self(NEXT.fetch_add(1, Ordering::Relaxed))
    }
}

/// A type of a program, from [`ProgramBuilder::add_type`](super::ProgramBuilder::add_type).
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Type {
    pub(super) program: ProgramKey,
    pub(super) index: TypeIndex,
}

/// A function of a program, to be referred to by kernels. It is the same whether or not it is defined already.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Function {
    pub(super) program: ProgramKey,
    pub(super) id: FunctionId,
}

impl Function {
    /// The id that the function has in the file.
    #[must_use]
    pub fn id(self) -> FunctionId {
        self.id
    }
}

/// A value in a function: an argument, or the result of a kernel.
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
    pub(super) function: Function,
    pub(super) id: RegisterId,
    pub(super) ty: Type,
}

impl Register {
    /// The id that the register has in the file.
    #[must_use]
    pub fn id(self) -> RegisterId {
        self.id
    }

    /// The type of the value.
    #[must_use]
    pub fn ty(self) -> Type {
        self.ty
    }
}

impl fmt::Debug for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.index.fmt(f)
    }
}

impl fmt::Debug for Function {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.id.fmt(f)
    }
}

impl fmt::Debug for Register {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.id.fmt(f)
    }
}

/// The indices of types, which must be those of `program`.
pub(super) fn indices(program: ProgramKey, types: &[Type]) -> Result<Vec<TypeIndex>, BuildError> {
    types
        .iter()
        .map(|&ty| match ty.program == program {
            true => Ok(ty.index),
            false => Err(BuildError::ForeignType(ty)),
        })
        .collect()
}

/// Checks that functions are those of `program`.
pub(super) fn check_functions(
    program: ProgramKey,
    mut functions: impl Iterator<Item = Function>,
) -> Result<(), BuildError> {
    match functions.find(|function| function.program != program) {
        None => Ok(()),
        Some(function) => Err(BuildError::ForeignFunction(function)),
    }
}

/// The ids of `count` registers behind `start` others.
pub(super) fn register_ids(start: usize, count: usize) -> impl Iterator<Item = RegisterId> {
    (start..start + count).map(RegisterId::from_index)
}
