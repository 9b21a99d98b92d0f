//! Markers of operand parameters.
//!
//! `INDEX` is the position of the operand. K1 (see [`crate::kernel`]) is visible in each `impl`:
//! `hold`, `check` and `describe` name the same type and position.
#![expect(unsafe_code, reason = "reads operands whose types were proven")]

use std::marker::PhantomData;

use tfrt_async::{AnyRef, AsyncValueRef, ReadGuard, TypeIndex, Value, WriteGuard};
use tfrt_ods::{Arity, TypeConstraint};
use tfrt_support::Error;

use crate::kernel::frame::mismatch;
use crate::kernel::operands::Operands;
use crate::kernel::param::{Param, Sealed};
use crate::kernel::source::Source;
use crate::kernel::tail::Tail;
use crate::kernel::type_list::TypeList;

/// The declaration of a marker that is an operand.
pub trait OperandParam: Param {
    /// The types it may have.
    const TYPE: TypeConstraint;
    /// How often it occurs.
    const ARITY: Arity = Arity::One;
    /// `true` if the kernel writes to it.
    const IS_MUTATED: bool = false;
    /// `true` if the kernel takes it as a reference.
    const IS_REFERENCE: bool = false;
}

/// `T`: a copy of the payload.
#[derive(Debug)]
pub struct ByValue<T, const INDEX: usize>(PhantomData<T>);

/// `&T`: the payload.
#[derive(Debug)]
pub struct ByRef<T, const INDEX: usize>(PhantomData<T>);

/// `&mut T`: the payload, for writing.
#[derive(Debug)]
pub struct ByMut<T, const INDEX: usize>(PhantomData<T>);

/// `AnyRef` and `&AnyRef`: a reference to a value of any type.
#[derive(Debug)]
pub struct AnyOperand<const INDEX: usize, const IS_BORROWED: bool>;

/// `AsyncValueRef<T>`: a reference to a value.
#[derive(Debug)]
pub struct Reference<T, const INDEX: usize>(PhantomData<T>);

/// `&[AnyRef]`: references to all operands from `INDEX` on.
#[derive(Debug)]
pub struct AnyRest<const INDEX: usize, const CHAIN_FOLLOWS: bool>;

/// `Operands<'_, T>`: the payloads of all operands from `INDEX` on.
#[derive(Debug)]
pub struct Rest<T, const INDEX: usize, const CHAIN_FOLLOWS: bool>(PhantomData<T>);

/// Returns the end of the tail that begins at `start`: before the chain that may follow it.
#[inline]
fn end_of_tail<'a, S: Source<'a>>(source: S, start: usize, chain_follows: bool) -> usize {
    let end = source.num_operands();
    if chain_follows && end > start && source.is_chain(end - 1) {
        end - 1
    } else {
        end
    }
}

/// Checks that there is an operand at `index`, of any type, available or not.
fn check_any<'a, S: Source<'a>>(source: S, index: usize) -> Result<(), Error> {
    if index < source.num_operands() {
        Ok(())
    } else {
        Err(mismatch(source.op(), index, "a value", None))
    }
}

impl<T, const INDEX: usize> Sealed for ByValue<T, INDEX> {}

impl<T: Value + Clone, const INDEX: usize> Param for ByValue<T, INDEX> {
    type Held<'f> = ReadGuard<'f, T>;
    type Argument<'h, 'f> = T;
    const IS_DIRECT: bool = true;
    const NUM_OPERANDS: usize = 1;

    #[inline]
    unsafe fn hold<'f, S: Source<'f>>(source: S) -> Result<Self::Held<'f>, Error> {
        // SAFETY: duty 1.
        unsafe { source.read(INDEX) }
    }

    #[inline]
    fn lend<'h, 'f>(held: &'h mut Self::Held<'f>) -> Self::Argument<'h, 'f> {
        (**held).clone()
    }

    fn check<'a, S: Source<'a>>(source: S) -> Result<(), Error> {
        source.check::<T>(INDEX)
    }

    fn describe(operands: &mut TypeList) {
        operands.set(INDEX, Some(TypeIndex::of::<T>()));
    }
}

impl<T: Value + Clone, const INDEX: usize> OperandParam for ByValue<T, INDEX> {
    const TYPE: TypeConstraint = TypeConstraint::Exact(T::MLIR_TYPE);
}

impl<T, const INDEX: usize> Sealed for ByRef<T, INDEX> {}

impl<T: Value, const INDEX: usize> Param for ByRef<T, INDEX> {
    type Held<'f> = ReadGuard<'f, T>;
    type Argument<'h, 'f> = &'h T;
    const IS_DIRECT: bool = true;
    const NUM_OPERANDS: usize = 1;

    #[inline]
    unsafe fn hold<'f, S: Source<'f>>(source: S) -> Result<Self::Held<'f>, Error> {
        // SAFETY: duty 1.
        unsafe { source.read(INDEX) }
    }

    #[inline]
    fn lend<'h, 'f>(held: &'h mut Self::Held<'f>) -> Self::Argument<'h, 'f> {
        held
    }

    fn check<'a, S: Source<'a>>(source: S) -> Result<(), Error> {
        source.check::<T>(INDEX)
    }

    fn describe(operands: &mut TypeList) {
        operands.set(INDEX, Some(TypeIndex::of::<T>()));
    }
}

impl<T: Value, const INDEX: usize> OperandParam for ByRef<T, INDEX> {
    const TYPE: TypeConstraint = TypeConstraint::Exact(T::MLIR_TYPE);
}

impl<T, const INDEX: usize> Sealed for ByMut<T, INDEX> {}

impl<T: Value, const INDEX: usize> Param for ByMut<T, INDEX> {
    type Held<'f> = WriteGuard<'f, T>;
    type Argument<'h, 'f> = &'h mut T;
    const IS_DIRECT: bool = true;
    const NUM_OPERANDS: usize = 1;

    #[inline]
    unsafe fn hold<'f, S: Source<'f>>(source: S) -> Result<Self::Held<'f>, Error> {
        // SAFETY: duty 1.
        unsafe { source.write(INDEX) }
    }

    #[inline]
    fn lend<'h, 'f>(held: &'h mut Self::Held<'f>) -> Self::Argument<'h, 'f> {
        held
    }

    fn check<'a, S: Source<'a>>(source: S) -> Result<(), Error> {
        source.check::<T>(INDEX)
    }

    fn describe(operands: &mut TypeList) {
        operands.set(INDEX, Some(TypeIndex::of::<T>()));
    }
}

impl<T: Value, const INDEX: usize> OperandParam for ByMut<T, INDEX> {
    const TYPE: TypeConstraint = TypeConstraint::Exact(T::MLIR_TYPE);
    const IS_MUTATED: bool = true;
}

impl<const INDEX: usize, const IS_BORROWED: bool> Sealed for AnyOperand<INDEX, IS_BORROWED> {}

impl<const INDEX: usize> Param for AnyOperand<INDEX, true> {
    type Held<'f> = &'f AnyRef;
    type Argument<'h, 'f> = &'f AnyRef;
    const IS_DIRECT: bool = true;
    const NUM_OPERANDS: usize = 1;

    #[inline]
    unsafe fn hold<'f, S: Source<'f>>(source: S) -> Result<Self::Held<'f>, Error> {
        source.reference(INDEX)
    }

    #[inline]
    fn lend<'h, 'f>(held: &'h mut Self::Held<'f>) -> Self::Argument<'h, 'f> {
        held
    }

    fn check<'a, S: Source<'a>>(source: S) -> Result<(), Error> {
        check_any(source, INDEX)
    }

    fn describe(operands: &mut TypeList) {
        operands.set_reference(INDEX, None);
    }
}

impl<const INDEX: usize> Param for AnyOperand<INDEX, false> {
    type Held<'f> = &'f AnyRef;
    type Argument<'h, 'f> = AnyRef;
    const IS_DIRECT: bool = true;
    const NUM_OPERANDS: usize = 1;

    #[inline]
    unsafe fn hold<'f, S: Source<'f>>(source: S) -> Result<Self::Held<'f>, Error> {
        source.reference(INDEX)
    }

    #[inline]
    fn lend<'h, 'f>(held: &'h mut Self::Held<'f>) -> Self::Argument<'h, 'f> {
        held.clone()
    }

    fn check<'a, S: Source<'a>>(source: S) -> Result<(), Error> {
        check_any(source, INDEX)
    }

    fn describe(operands: &mut TypeList) {
        operands.set_reference(INDEX, None);
    }
}

impl<const INDEX: usize, const IS_BORROWED: bool> OperandParam for AnyOperand<INDEX, IS_BORROWED>
where
    Self: Param,
{
    const TYPE: TypeConstraint = TypeConstraint::Any;
    const IS_REFERENCE: bool = true;
}

impl<T, const INDEX: usize> Sealed for Reference<T, INDEX> {}

impl<T: Value, const INDEX: usize> Param for Reference<T, INDEX> {
    type Held<'f> = AsyncValueRef<T>;
    type Argument<'h, 'f> = AsyncValueRef<T>;
    const IS_DIRECT: bool = true;
    const NUM_OPERANDS: usize = 1;

    // A reference guarantees nothing before, so an unknown or different type is detected here.
    unsafe fn hold<'f, S: Source<'f>>(source: S) -> Result<Self::Held<'f>, Error> {
        let reference = source.reference(INDEX)?;
        reference
            .clone()
            .downcast::<T>()
            .map_err(|found| mismatch(source.op(), INDEX, T::MLIR_TYPE, Some(found.type_id())))
    }

    #[inline]
    fn lend<'h, 'f>(held: &'h mut Self::Held<'f>) -> Self::Argument<'h, 'f> {
        held.clone()
    }

    fn check<'a, S: Source<'a>>(source: S) -> Result<(), Error> {
        check_any(source, INDEX)
    }

    fn describe(operands: &mut TypeList) {
        operands.set_reference(INDEX, Some(TypeIndex::of::<T>()));
    }
}

impl<T: Value, const INDEX: usize> OperandParam for Reference<T, INDEX> {
    const TYPE: TypeConstraint = TypeConstraint::Exact(T::MLIR_TYPE);
    const IS_REFERENCE: bool = true;
}

impl<const INDEX: usize, const CHAIN_FOLLOWS: bool> Sealed for AnyRest<INDEX, CHAIN_FOLLOWS> {}

impl<const INDEX: usize, const CHAIN_FOLLOWS: bool> Param for AnyRest<INDEX, CHAIN_FOLLOWS> {
    type Held<'f> = Tail<'f>;
    type Argument<'h, 'f> = &'h [AnyRef];
    // Whether the last operand is a chain is not known before the kernel runs.
    const IS_DIRECT: bool = !CHAIN_FOLLOWS;
    const TAIL: Option<usize> = Some(INDEX);

    #[inline]
    unsafe fn hold<'f, S: Source<'f>>(source: S) -> Result<Self::Held<'f>, Error> {
        Ok(source.gather(INDEX, end_of_tail(source, INDEX, CHAIN_FOLLOWS)))
    }

    #[inline]
    fn lend<'h, 'f>(held: &'h mut Self::Held<'f>) -> Self::Argument<'h, 'f> {
        held.as_slice()
    }

    fn check<'a, S: Source<'a>>(_source: S) -> Result<(), Error> {
        Ok(())
    }

    fn describe(operands: &mut TypeList) {
        operands.set_tail(INDEX, None);
    }
}

impl<const INDEX: usize, const CHAIN_FOLLOWS: bool> OperandParam for AnyRest<INDEX, CHAIN_FOLLOWS> {
    const TYPE: TypeConstraint = TypeConstraint::Any;
    const ARITY: Arity = Arity::Variadic;
    const IS_REFERENCE: bool = true;
}

impl<T, const INDEX: usize, const CHAIN_FOLLOWS: bool> Sealed for Rest<T, INDEX, CHAIN_FOLLOWS> {}

impl<T: Value, const INDEX: usize, const CHAIN_FOLLOWS: bool> Param
    for Rest<T, INDEX, CHAIN_FOLLOWS>
{
    type Held<'f> = Operands<'f, T>;
    type Argument<'h, 'f> = Operands<'f, T>;

    #[inline]
    unsafe fn hold<'f, S: Source<'f>>(source: S) -> Result<Self::Held<'f>, Error> {
        let tail = source.tail(INDEX, end_of_tail(source, INDEX, CHAIN_FOLLOWS));
        // SAFETY: duty 1: `check` covers every one of these operands.
        Ok(unsafe { Operands::new(tail) })
    }

    #[inline]
    fn lend<'h, 'f>(held: &'h mut Self::Held<'f>) -> Self::Argument<'h, 'f> {
        *held
    }

    fn check<'a, S: Source<'a>>(source: S) -> Result<(), Error> {
        (INDEX..end_of_tail(source, INDEX, CHAIN_FOLLOWS))
            .try_for_each(|index| source.check::<T>(index))
    }

    fn describe(operands: &mut TypeList) {
        operands.set_tail(INDEX, Some(TypeIndex::of::<T>()));
    }
}

impl<T: Value, const INDEX: usize, const CHAIN_FOLLOWS: bool> OperandParam
    for Rest<T, INDEX, CHAIN_FOLLOWS>
{
    const TYPE: TypeConstraint = TypeConstraint::Exact(T::MLIR_TYPE);
    const ARITY: Arity = Arity::Variadic;
}
