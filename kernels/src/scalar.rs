//! The number types of tensor kernels: as operands, as attributes and as elements.
//!
//! The three differ for Booleans, which are bytes as elements, and for complex numbers, which
//! attributes list as pairs: real part first.

use std::borrow::Cow;

use half::{bf16, f16};
use tfrt::ods::AttrKind;
use tfrt::prelude::*;
use tfrt::support::complex::Complex;
use tfrt_tensor::{Element, I1};

/// A number that is a value, and an element of tensors.
pub(crate) trait Scalar: Value + Clone {
    /// The element.
    type Element: Element;

    /// Returns the number as an element.
    fn to_element(&self) -> Self::Element;
}

/// An attribute that is one number.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Constant<T: Scalar>(pub(crate) T::Element);

/// An attribute that is a list of numbers.
#[derive(Clone, Debug)]
pub(crate) struct Constants<'a, T: Scalar>(pub(crate) Cow<'a, [T::Element]>);

macro_rules! impl_number {
    ($($number:ty),+) => {$(
        impl Scalar for $number {
            type Element = Self;

            #[inline]
            fn to_element(&self) -> Self {
                *self
            }
        }

        impl AttrParam for Constant<$number> {
            type Value<'a> = Self;
            const KIND: AttrKind = <$number as AttrParam>::KIND;

            fn read(section: &[u8], offset: u32) -> Result<Self> {
                <$number as AttrParam>::read(section, offset).map(Self)
            }
        }

        impl AttrParam for Constants<'static, $number> {
            type Value<'a> = Constants<'a, $number>;
            const KIND: AttrKind = <[$number] as AttrParam>::KIND;

            fn read(section: &[u8], offset: u32) -> Result<Self::Value<'_>> {
                <[$number] as AttrParam>::read(section, offset).map(|list| Constants(list.into()))
            }
        }
    )+};
}

impl_number!(i8, i16, i32, i64, u8, u16, u32, u64, f16, bf16, f32, f64);

impl Scalar for bool {
    type Element = I1;

    #[inline]
    fn to_element(&self) -> I1 {
        I1::from(*self)
    }
}

impl AttrParam for Constant<bool> {
    type Value<'a> = Self;
    const KIND: AttrKind = AttrKind::BOOL;

    fn read(section: &[u8], offset: u32) -> Result<Self> {
        <bool as AttrParam>::read(section, offset).map(|truth| Self(I1::from(truth)))
    }
}

impl AttrParam for Constants<'static, bool> {
    type Value<'a> = Constants<'a, bool>;
    const KIND: AttrKind = AttrKind::Array(&AttrKind::BOOL);

    fn read(section: &[u8], offset: u32) -> Result<Self::Value<'_>> {
        let list = <&[bool] as tfrt::attr::FromAttr>::read(section, offset)?;
        let list: Vec<I1> = list.iter().map(|&truth| I1::from(truth)).collect();
        Ok(Constants(list.into()))
    }
}

macro_rules! impl_complex {
    ($($part:ty),+) => {$(
        impl Scalar for Complex<$part> {
            type Element = Self;

            #[inline]
            fn to_element(&self) -> Self {
                *self
            }
        }

        impl AttrParam for Constant<Complex<$part>> {
            type Value<'a> = Self;
            const KIND: AttrKind = <[$part] as AttrParam>::KIND;

            fn read(section: &[u8], offset: u32) -> Result<Self> {
                match *<[$part] as AttrParam>::read(section, offset)? {
                    [re, im] => Ok(Self(Complex::new(re, im))),
                    ref parts => Err(not_pairs(<$part as Element>::DTYPE, parts.len())),
                }
            }
        }

        impl AttrParam for Constants<'static, Complex<$part>> {
            type Value<'a> = Constants<'a, Complex<$part>>;
            const KIND: AttrKind = <[$part] as AttrParam>::KIND;

            fn read(section: &[u8], offset: u32) -> Result<Self::Value<'_>> {
                let parts = <[$part] as AttrParam>::read(section, offset)?;
                let (pairs, rest) = parts.as_chunks();
                if !rest.is_empty() {
                    return Err(not_pairs(<$part as Element>::DTYPE, parts.len()));
                }
                let list: Vec<_> = pairs.iter().map(|&[re, im]| Complex::new(re, im)).collect();
                Ok(Constants(list.into()))
            }
        }
    )+};
}

impl_complex!(f32, f64);

#[cold]
fn not_pairs(part: DType, found: usize) -> Error {
    Error::new(format!(
        "expected a complex number as two values of type {part}, found {found}"
    ))
    .with_code(ErrorCode::InvalidArgument)
}
