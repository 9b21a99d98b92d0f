//! What a caller in Rust can pass as an attribute of an op.

use std::borrow::Cow;

use half::{bf16, f16};
use tfrt_support::DType;

use crate::value::{AttrValue, Scalar};

/// A value that an op attribute can have: a number, `bool`, [`DType`], text, a list of numbers, any
/// [`AttrValue`], an enum that derives `Attr`, or a type of yours that becomes one of these.
///
/// ```
/// use tfrt_attr::{OpAttrArgument, Scalar, ToOpAttr};
///
/// struct Axis(i64);
///
/// impl ToOpAttr for Axis {
///     fn to_argument(&self) -> OpAttrArgument<'_> {
///         self.0.to_argument()
///     }
/// }
///
/// assert_eq!(Axis(-1).to_argument(), OpAttrArgument::Scalar(Scalar::i64(-1)));
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be an op attribute",
    label = "not an attribute value",
    note = "supported types: numbers, `bool`, `DType`, `&str`, slices of numbers, `&AttrValue`, \
            and enums that derive `Attr`"
)]
pub trait ToOpAttr {
    /// Returns the value in the form that a set of attributes copies.
    fn to_argument(&self) -> OpAttrArgument<'_>;
}

/// The value of an attribute, as a set of attributes copies it. What fits a word is separate: it
/// needs no encoder.
///
/// ```
/// use tfrt_attr::{OpAttrArgument, Scalar, ToOpAttr};
///
/// assert_eq!(3_i32.to_argument(), OpAttrArgument::Scalar(Scalar::i32(3)));
/// ```
#[derive(Clone, Debug, PartialEq)]
pub enum OpAttrArgument<'a> {
    /// A number, or the number of a case of an enum.
    Scalar(Scalar),
    /// An element type.
    DType(DType),
    /// Anything else.
    Value(Cow<'a, AttrValue>),
}

macro_rules! impl_number {
    ($($ty:ty => $constructor:ident;)*) => {$(
        impl ToOpAttr for $ty {
            #[inline]
            fn to_argument(&self) -> OpAttrArgument<'_> {
                OpAttrArgument::Scalar(Scalar::$constructor(*self))
            }
        }

        impl ToOpAttr for &[$ty] {
            fn to_argument(&self) -> OpAttrArgument<'_> {
                let elements = self.iter().map(|&element| Scalar::$constructor(element).into());
                owned(AttrValue::Array(elements.collect()))
            }
        }

        impl<const N: usize> ToOpAttr for [$ty; N] {
            fn to_argument(&self) -> OpAttrArgument<'_> {
                let elements = self.map(|element| Scalar::$constructor(element).into());
                owned(AttrValue::Array(elements.into()))
            }
        }
    )*};
}

impl_number! {
    bool => bool;
    u8 => ui8;
    u16 => ui16;
    u32 => ui32;
    u64 => ui64;
    i8 => i8;
    i16 => i16;
    i32 => i32;
    i64 => i64;
    f16 => f16;
    bf16 => bf16;
    f32 => f32;
    f64 => f64;
}

impl ToOpAttr for DType {
    #[inline]
    fn to_argument(&self) -> OpAttrArgument<'_> {
        OpAttrArgument::DType(*self)
    }
}

impl ToOpAttr for &str {
    fn to_argument(&self) -> OpAttrArgument<'_> {
        owned(AttrValue::string(self))
    }
}

impl ToOpAttr for &AttrValue {
    fn to_argument(&self) -> OpAttrArgument<'_> {
        OpAttrArgument::Value(Cow::Borrowed(self))
    }
}

fn owned(value: AttrValue) -> OpAttrArgument<'static> {
    OpAttrArgument::Value(Cow::Owned(value))
}
