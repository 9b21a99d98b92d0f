//! Markers of optional operands. An optional operand is the last one, except for a chain that may
//! follow it.
#![expect(unsafe_code, reason = "reads operands whose types were proven")]

use std::marker::PhantomData;

use tfrt_async::{ReadGuard, TypeIndex, Value};
use tfrt_ods::{Arity, TypeConstraint};
use tfrt_support::Error;

use crate::kernel::operand::OperandParam;
use crate::kernel::param::{Param, Sealed};
use crate::kernel::source::Source;
use crate::kernel::type_list::TypeList;

/// `Option<T>`: a copy of the payload, if the operand is present.
#[derive(Debug)]
pub struct Optional<T, const INDEX: usize, const CHAIN_FOLLOWS: bool>(PhantomData<T>);

/// `Option<&T>`: the payload, if the operand is present.
#[derive(Debug)]
pub struct OptionalRef<T, const INDEX: usize, const CHAIN_FOLLOWS: bool>(PhantomData<T>);

/// Returns `true` if there is an operand at `index` that is not the chain which may follow.
#[inline]
pub(super) fn is_present<'a, S: Source<'a>>(source: S, index: usize, chain_follows: bool) -> bool {
    let num_operands = source.num_operands();
    index < num_operands && !(chain_follows && index + 1 == num_operands && source.is_chain(index))
}

macro_rules! impl_optional {
    ($marker:ident, $($bound:ident)+, $argument:ty, |$held:ident| $lend:expr) => {
        impl<T, const INDEX: usize, const CHAIN_FOLLOWS: bool> Sealed
            for $marker<T, INDEX, CHAIN_FOLLOWS>
        {
        }

        impl<T: $($bound +)+, const INDEX: usize, const CHAIN_FOLLOWS: bool> Param
            for $marker<T, INDEX, CHAIN_FOLLOWS>
        {
            type Held<'f> = Option<ReadGuard<'f, T>>;
            type Argument<'h, 'f> = $argument;

            #[inline]
            unsafe fn hold<'f, S: Source<'f>>(source: S) -> Result<Self::Held<'f>, Error> {
                if !is_present(source, INDEX, CHAIN_FOLLOWS) {
                    return Ok(None);
                }
                // SAFETY: duty 1: `check` covers the operand if it is present.
                unsafe { source.read(INDEX) }.map(Some)
            }

            #[inline]
            fn lend<'h, 'f>(held: &'h mut Self::Held<'f>) -> Self::Argument<'h, 'f> {
                held.as_ref().map(|$held| $lend)
            }

            fn check<'a, S: Source<'a>>(source: S) -> Result<(), Error> {
                if is_present(source, INDEX, CHAIN_FOLLOWS) {
                    source.check::<T>(INDEX)
                } else {
                    Ok(())
                }
            }

            fn describe(operands: &mut TypeList) {
                // The declaration limits this tail to one value.
                operands.set_tail(INDEX, Some(TypeIndex::of::<T>()));
            }
        }

        impl<T: $($bound +)+, const INDEX: usize, const CHAIN_FOLLOWS: bool> OperandParam
            for $marker<T, INDEX, CHAIN_FOLLOWS>
        {
            const TYPE: TypeConstraint = TypeConstraint::Exact(T::MLIR_TYPE);
            const ARITY: Arity = Arity::Optional;
        }
    };
}

impl_optional!(Optional, Value Clone, Option<T>, |held| T::clone(held));
impl_optional!(OptionalRef, Value, Option<&'h T>, |held| &**held);
