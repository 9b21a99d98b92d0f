//! The source of arguments: a frame, or the registers of a function, behind one interface.
#![expect(unsafe_code, reason = "reads operands whose types were proven")]

use tfrt_async::{AnyRef, Chain, ReadGuard, Value, WriteGuard};
use tfrt_ods::OpDef;
use tfrt_support::Error;

use crate::kernel::attribute::{self, AttrParam};
use crate::kernel::frame::{FrameParts, mismatch};
use crate::kernel::inputs::{AttributeList, FunctionList};
use crate::kernel::tail::Tail;
use crate::services::execution::ExecutionContext;

/// The source from which arguments are read.
pub trait Source<'a>: Copy {
    /// Returns the declaration of the kernel.
    fn op(self) -> &'static OpDef;

    /// Returns the context of the kernel.
    fn exec_ctx(self) -> &'a ExecutionContext;

    /// Returns the attributes.
    fn attributes(self) -> AttributeList<'a>;

    /// Reads the attribute at `index` as an `A`.
    fn attribute<A: AttrParam + ?Sized>(self, index: usize) -> Result<A::Value<'a>, Error>;

    /// Returns the functions.
    fn functions(self) -> FunctionList<'a>;

    /// Returns the number of operands.
    fn num_operands(self) -> usize;

    /// Checks that the operand at `index` exists, is available and has the payload type `T`.
    fn check<T: Value>(self, index: usize) -> Result<(), Error>;

    /// Returns `true` if the operand at `index` exists and is a chain.
    fn is_chain(self, index: usize) -> bool;

    /// Returns the payload of the operand at `index`.
    ///
    /// # Safety
    /// 1. [`check`](Self::check) of `T` and `index` would succeed.
    /// 2. `T` is not mutable.
    unsafe fn get<T: Value>(self, index: usize) -> &'a T;

    /// Borrows the payload of the operand at `index` for reading; costs nothing unless `T` is
    /// mutable.
    ///
    /// # Safety
    /// 1. [`check`](Self::check) of `T` and `index` would succeed.
    unsafe fn read<T: Value>(self, index: usize) -> Result<ReadGuard<'a, T>, Error>;

    /// Borrows the payload of the operand at `index`, of a mutable type, for writing.
    ///
    /// # Safety
    /// 1. [`check`](Self::check) of `T` and `index` would succeed.
    unsafe fn write<T: Value>(self, index: usize) -> Result<WriteGuard<'a, T>, Error>;

    /// Returns the operand at `index` as a reference.
    fn reference(self, index: usize) -> Result<&'a AnyRef, Error>;

    /// Returns the operands in `start..end`. The operands of a direct kernel are not in a list, and
    /// it reads none of them this way.
    fn tail(self, start: usize, end: usize) -> &'a [AnyRef];

    /// Returns the operands in `start..end`, where `end` is the number of all operands unless the
    /// kernel takes a frame.
    #[inline]
    fn gather(self, start: usize, end: usize) -> Tail<'a> {
        Tail::in_list(self.tail(start, end))
    }
}

/// Returns the error for a payload that could not be borrowed.
#[cold]
pub(crate) fn conflict(
    op: &OpDef,
    index: usize,
    verb: &str,
    reason: impl std::fmt::Display,
) -> Error {
    let name = op.operands.get(index).map_or_else(
        || index.to_string(),
        |operand| format!("`{}`", operand.name),
    );
    Error::new(format!(
        "`{}` cannot {verb} operand {name}: {reason}",
        op.name
    ))
}

impl<'a> Source<'a> for FrameParts<'a> {
    #[inline]
    fn op(self) -> &'static OpDef {
        self.op
    }

    #[inline]
    fn exec_ctx(self) -> &'a ExecutionContext {
        self.exec_ctx
    }

    #[inline]
    fn attributes(self) -> AttributeList<'a> {
        self.attributes
    }

    // Any caller can build a frame, with attributes that no loader has checked.
    #[inline]
    fn attribute<A: AttrParam + ?Sized>(self, index: usize) -> Result<A::Value<'a>, Error> {
        attribute::read::<A>(self.op, self.attributes, index)
    }

    #[inline]
    fn functions(self) -> FunctionList<'a> {
        self.functions
    }

    #[inline]
    fn num_operands(self) -> usize {
        self.arguments.len()
    }

    #[inline]
    fn check<T: Value>(self, index: usize) -> Result<(), Error> {
        match self.arguments.get(index) {
            Some(argument) if argument.holds::<T>() => Ok(()),
            argument => {
                let found = argument.map(AnyRef::type_id);
                Err(mismatch(self.op, index, T::MLIR_TYPE, found))
            }
        }
    }

    fn is_chain(self, index: usize) -> bool {
        self.arguments.get(index).is_some_and(AnyRef::is::<Chain>)
    }

    #[inline]
    unsafe fn get<T: Value>(self, index: usize) -> &'a T {
        debug_assert!(self.check::<T>(index).is_ok());
        // SAFETY: duty 1: the operand exists.
        let argument = unsafe { self.arguments.get_unchecked(index) };
        // SAFETY: duty 1: it is available and its payload is a `T`; duty 2: it is not being
        // written.
        unsafe { argument.get_unchecked() }
    }

    #[inline]
    unsafe fn read<T: Value>(self, index: usize) -> Result<ReadGuard<'a, T>, Error> {
        debug_assert!(self.check::<T>(index).is_ok());
        // SAFETY: duty 1: the operand exists.
        let argument = unsafe { self.arguments.get_unchecked(index) };
        // SAFETY: duty 1: it is available and its payload is a `T`.
        let guard = unsafe { argument.try_read_unchecked::<T>() };
        guard.map_err(|error| conflict(self.op, index, "read", error))
    }

    #[inline]
    unsafe fn write<T: Value>(self, index: usize) -> Result<WriteGuard<'a, T>, Error> {
        let guard = self.reference(index)?.try_write::<T>();
        guard.map_err(|error| conflict(self.op, index, "write", error))
    }

    #[inline]
    fn reference(self, index: usize) -> Result<&'a AnyRef, Error> {
        self.arguments
            .get(index)
            .ok_or_else(|| mismatch(self.op, index, "a value", None))
    }

    #[inline]
    fn tail(self, start: usize, end: usize) -> &'a [AnyRef] {
        self.arguments.get(start..end).unwrap_or_default()
    }
}
