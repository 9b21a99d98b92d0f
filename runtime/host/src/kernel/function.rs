//! Markers of function parameters.
//!
//! `INDEX` counts the functions of the kernel: those named by symbols in byte order of their
//! attributes, then the regions. A list of functions may appear anywhere among them; those that
//! follow it are counted from the end.
#![expect(unsafe_code, reason = "implements a trait with duties")]

use crate::kernel::frame::missing_function;
use crate::kernel::function_ref::FunctionRef;
use crate::kernel::param::{Param, Sealed};
use crate::kernel::source::Source;
use crate::kernel::type_list::TypeList;
use tfrt_support::Error;

/// `FunctionRef`: the function at `INDEX`, from the end if `FROM_END`.
#[derive(Debug)]
pub struct Function<const INDEX: usize, const FROM_END: bool>;

/// `&FunctionRef`: the same, borrowed.
#[derive(Debug)]
pub struct LentFunction<const INDEX: usize, const FROM_END: bool>;

/// `Option<FunctionRef>`: the function at `INDEX`, if the op has it.
#[derive(Debug)]
pub struct OptionalFunction<const INDEX: usize>;

/// `Vec<FunctionRef>`: all functions but the first `BEFORE` and the last `AFTER`.
#[derive(Debug)]
pub struct Functions<const BEFORE: usize, const AFTER: usize>;

/// `&[FunctionRef]`: the same, borrowed.
#[derive(Debug)]
pub struct LentFunctions<const BEFORE: usize, const AFTER: usize>;

pub(crate) fn take<'a, S: Source<'a>>(
    source: S,
    index: usize,
    is_from_end: bool,
) -> Result<FunctionRef, Error> {
    let (op, functions) = (source.op(), source.functions());
    let position_in = |len: usize| {
        if is_from_end {
            len.wrapping_sub(index + 1)
        } else {
            index
        }
    };
    functions
        .get(position_in(functions.ids.len()))
        .ok_or_else(|| missing_function(op, position_in(op.functions.len())))
}

fn take_optional<'a, S: Source<'a>>(source: S, index: usize) -> Result<Option<FunctionRef>, Error> {
    Ok(source.functions().get(index))
}

fn take_all<'a, S: Source<'a>>(
    source: S,
    before: usize,
    after: usize,
) -> Result<Vec<FunctionRef>, Error> {
    let end = source.functions().ids.len().saturating_sub(after);
    (before..end)
        .map(|index| take(source, index, false))
        .collect()
}

macro_rules! impl_function_param {
    (
        $marker:ident<$($name:ident: $ty:ty),+>, $held:ty, $argument:ty,
        $take:ident, |$slot:ident| $lend:expr
    ) => {
        impl<$(const $name: $ty),+> Sealed for $marker<$($name),+> {}

        impl<$(const $name: $ty),+> Param for $marker<$($name),+> {
            type Held<'f> = $held;
            type Argument<'h, 'f> = $argument;
            const IS_DIRECT: bool = true;
            const READS_CALL: bool = true;

            unsafe fn hold<'f, S: Source<'f>>(source: S) -> Result<Self::Held<'f>, Error> {
                $take(source, $($name),+)
            }

            fn lend<'h, 'f>($slot: &'h mut Self::Held<'f>) -> Self::Argument<'h, 'f> {
                $lend
            }

            fn check<'a, S: Source<'a>>(_source: S) -> Result<(), Error> {
                Ok(())
            }

            fn describe(_operands: &mut TypeList) {}
        }
    };
}

impl_function_param!(Function<INDEX: usize, FROM_END: bool>, FunctionRef, FunctionRef, take, |held| held.clone());
impl_function_param!(LentFunction<INDEX: usize, FROM_END: bool>, FunctionRef, &'h FunctionRef, take, |held| held);
impl_function_param!(
    OptionalFunction<INDEX: usize>, Option<FunctionRef>, Option<FunctionRef>, take_optional, |held| held.take()
);
impl_function_param!(
    Functions<BEFORE: usize, AFTER: usize>, Vec<FunctionRef>, Vec<FunctionRef>, take_all, |held| std::mem::take(held)
);
impl_function_param!(
    LentFunctions<BEFORE: usize, AFTER: usize>, Vec<FunctionRef>, &'h [FunctionRef], take_all, |held| held
);
