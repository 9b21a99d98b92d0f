//! Parameters `&dyn Trait`: operands of one of several payload types, accessed through a common
//! trait.
//!
//! One spelling may denote several payload types: `!t.tensor` is a tensor of any kind. A kernel
//! that works on all of them takes the trait; the trait object declares those types by [`Object`].
//! A loader cannot prove such an operand, so its type is checked when it is read.
#![expect(unsafe_code, reason = "implements a trait with duties")]

use std::marker::PhantomData;
use std::ops::Deref;

use tfrt_async::{AnyRef, BorrowError};
use tfrt_ods::{OpDef, TypeConstraint};
use tfrt_support::Error;

use crate::kernel::frame::mismatch;
use crate::kernel::operand::OperandParam;
use crate::kernel::param::{Param, Sealed};
use crate::kernel::source::{Source, conflict};
use crate::kernel::type_list::TypeList;

/// A trait object that kernels take: `&dyn Trait`.
///
/// ```
/// use std::ops::Deref;
/// use tfrt_async::{AnyRef, BorrowError, ReadGuard, Value};
/// use tfrt_host::kernel::Object;
///
/// trait Shape: Send + Sync {
///     fn area(&self) -> f64;
/// }
///
/// struct Square(f64);
/// struct Circle(f64);
///
/// impl Shape for Square {
///     fn area(&self) -> f64 { self.0 * self.0 }
/// }
/// impl Shape for Circle {
///     fn area(&self) -> f64 { self.0 * self.0 * std::f64::consts::PI }
/// }
///
/// impl Value for Square {
///     const MLIR_TYPE: &'static str = "!my.shape";
/// }
/// impl Value for Circle {
///     const MLIR_TYPE: &'static str = "!my.shape";
/// }
///
/// /// A shape of whichever kind, while it is being read.
/// enum AnyShape<'a> {
///     Square(ReadGuard<'a, Square>),
///     Circle(ReadGuard<'a, Circle>),
/// }
///
/// impl Deref for AnyShape<'_> {
///     type Target = dyn Shape;
///
///     fn deref(&self) -> &Self::Target {
///         match self {
///             Self::Square(shape) => &**shape,
///             Self::Circle(shape) => &**shape,
///         }
///     }
/// }
///
/// impl Object for dyn Shape {
///     const MLIR_TYPE: &'static str = "!my.shape";
///     type Guard<'a> = AnyShape<'a>;
///
///     fn read(operand: &AnyRef) -> Result<AnyShape<'_>, BorrowError> {
///         if operand.is::<Circle>() {
///             operand.try_read().map(AnyShape::Circle)
///         } else {
///             operand.try_read().map(AnyShape::Square)
///         }
///     }
/// }
///
/// /// What a kernel looks like that takes any of them.
/// fn area(shape: &dyn Shape) -> f64 {
///     shape.area()
/// }
///
/// let value = AnyRef::available(Square(2.0));
/// assert_eq!(area(&*<dyn Shape>::read(&value)?), 4.0);
/// # Ok::<(), BorrowError>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "no kernel can take a `&{Self}`",
    label = "does not declare which values it accepts",
    note = "implement `tfrt::kernel::Object` for the trait object, or take a type that implements \
            `Value`"
)]
pub trait Object: 'static {
    /// The MLIR spelling of the types that it represents.
    const MLIR_TYPE: &'static str;

    /// The payload of a value while it is being read.
    type Guard<'a>: Deref<Target = Self> + Send;

    /// Borrows the payload for reading.
    ///
    /// # Errors
    /// If the payload has none of the types, or it is being written.
    fn read(operand: &AnyRef) -> Result<Self::Guard<'_>, BorrowError>;
}

/// `&dyn Trait`: the payload of a value of one of several types.
#[derive(Debug)]
pub struct Dyn<O: ?Sized, const INDEX: usize>(PhantomData<O>);

impl<O: ?Sized, const INDEX: usize> Sealed for Dyn<O, INDEX> {}

fn read<'f, O: Object + ?Sized, S: Source<'f>>(
    source: S,
    index: usize,
) -> Result<O::Guard<'f>, Error> {
    let operand = source.reference(index)?;
    O::read(operand).map_err(|error| refused::<O>(source.op(), index, operand, error))
}

#[cold]
fn refused<O: Object + ?Sized>(
    op: &OpDef,
    index: usize,
    operand: &AnyRef,
    error: BorrowError,
) -> Error {
    match error {
        BorrowError::WrongType { .. } | BorrowError::NoPayload => {
            mismatch(op, index, O::MLIR_TYPE, Some(operand.type_id()))
        }
        error => conflict(op, index, "read", error),
    }
}

impl<O: Object + ?Sized, const INDEX: usize> Param for Dyn<O, INDEX> {
    type Held<'f> = O::Guard<'f>;
    type Argument<'h, 'f> = &'h O;
    const NUM_OPERANDS: usize = 1;

    // Checks the type itself, regardless of earlier checks.
    unsafe fn hold<'f, S: Source<'f>>(source: S) -> Result<Self::Held<'f>, Error> {
        read::<O, S>(source, INDEX)
    }

    #[inline]
    fn lend<'h, 'f>(held: &'h mut Self::Held<'f>) -> Self::Argument<'h, 'f> {
        held
    }

    // `hold` checks the payload.
    fn check<'a, S: Source<'a>>(source: S) -> Result<(), Error> {
        source.reference(INDEX).map(drop)
    }

    fn describe(operands: &mut TypeList) {
        operands.set(INDEX, None);
    }
}

impl<O: Object + ?Sized, const INDEX: usize> OperandParam for Dyn<O, INDEX> {
    const TYPE: TypeConstraint = TypeConstraint::Exact(O::MLIR_TYPE);
}
