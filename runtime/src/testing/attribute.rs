//! Attributes in tests: Rust values that are printed as MLIR.

use std::fmt::Write;

use tfrt_async::ByteString;

/// A type of attributes: a number, `bool`, a text, a list of numbers, or the result of [`mlir`].
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be an attribute of a test",
    label = "not an attribute",
    note = "pass a number, a `bool`, a string or a list of numbers; write any other attribute as \
            MLIR: `testing::mlir(\"dense<1> : tensor<2xi32>\")`"
)]
pub trait IntoAttribute {
    /// Returns the attribute as MLIR.
    fn into_attribute(self) -> AttrText;
}

/// The text of an attribute.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AttrText(pub(super) String);

/// Returns an attribute that is written as MLIR: `dense<1> : tensor<2xi32>`, `#corert.shape<2x3>`,
/// `f32`.
///
/// ```
/// use tfrt::prelude::*;
/// use tfrt::testing;
///
/// /// Tells how wide a type is.
/// #[tfrt_kernel("my.width")]
/// fn width(#[attr] dtype: DType) -> Result<i64> {
///     dtype.size_bytes().map(|bytes| bytes as i64).ok_or_else(|| Error::new("of no size"))
/// }
///
/// testing::kernel("my.width").attribute("dtype", testing::mlir("f64")).run().expect_value(8_i64);
/// ```
#[must_use]
pub fn mlir(text: &str) -> AttrText {
    AttrText(text.to_owned())
}

impl IntoAttribute for AttrText {
    fn into_attribute(self) -> AttrText {
        self
    }
}

impl IntoAttribute for bool {
    fn into_attribute(self) -> AttrText {
        AttrText(self.to_string())
    }
}

/// A string of these bytes.
fn string(bytes: &[u8]) -> AttrText {
    let mut text = String::from("\"");
    for &byte in bytes {
        match byte {
            b'"' | b'\\' | ..b' ' | 0x7f.. => {
                // Writing into a string cannot fail.
                let _ = write!(text, "\\{byte:02X}");
            }
            byte => text.push(char::from(byte)),
        }
    }
    text.push('"');
    AttrText(text)
}

impl IntoAttribute for &str {
    fn into_attribute(self) -> AttrText {
        string(self.as_bytes())
    }
}

impl IntoAttribute for String {
    fn into_attribute(self) -> AttrText {
        string(self.as_bytes())
    }
}

impl IntoAttribute for ByteString {
    fn into_attribute(self) -> AttrText {
        string(&self)
    }
}

macro_rules! impl_for_numbers {
    ($($number:ty as $spelling:literal: $print:expr;)*) => {$(
        impl IntoAttribute for $number {
            fn into_attribute(self) -> AttrText {
                let print: fn($number) -> String = $print;
                AttrText(format!(concat!("{} : ", $spelling), print(self)))
            }
        }

        impl IntoAttribute for &[$number] {
            fn into_attribute(self) -> AttrText {
                let elements: Vec<_> = self.iter().map(|number| number.into_attribute().0).collect();
                AttrText(format!("[{}]", elements.join(", ")))
            }
        }

        impl<const N: usize> IntoAttribute for [$number; N] {
            fn into_attribute(self) -> AttrText {
                self.as_slice().into_attribute()
            }
        }

        impl IntoAttribute for Vec<$number> {
            fn into_attribute(self) -> AttrText {
                self.as_slice().into_attribute()
            }
        }
    )*};
}

impl_for_numbers! {
    i8 as "i8": |number| number.to_string();
    i16 as "i16": |number| number.to_string();
    i32 as "i32": |number| number.to_string();
    i64 as "i64": |number| number.to_string();
    u8 as "ui8": |number| number.to_string();
    u16 as "ui16": |number| number.to_string();
    u32 as "ui32": |number| number.to_string();
    u64 as "ui64": |number| number.to_string();
    f32 as "f32": |number| if number.is_finite() { with_point(format!("{number:e}")) } else { format!("{:#X}", number.to_bits()) };
    f64 as "f64": |number| if number.is_finite() { with_point(format!("{number:e}")) } else { format!("{:#X}", number.to_bits()) };
}

/// A number like `1e5` as MLIR wants it: `1.0e5`.
fn with_point(scientific: String) -> String {
    match scientific.split_once('e') {
        Some((mantissa, exponent)) if !mantissa.contains('.') => format!("{mantissa}.0e{exponent}"),
        _ => scientific,
    }
}

impl<T> IntoAttribute for &T
where
    T: IntoAttribute + Copy,
{
    fn into_attribute(self) -> AttrText {
        (*self).into_attribute()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attributes_are_printed_as_mlir() {
        let check = |attribute: AttrText, text: &str| assert_eq!(attribute.0, text);
        check((-3_i64).into_attribute(), "-3 : i64");
        check(7_u8.into_attribute(), "7 : ui8");
        check(1.5_f32.into_attribute(), "1.5e0 : f32");
        check(1e20_f64.into_attribute(), "1.0e20 : f64");
        check(f32::INFINITY.into_attribute(), "0x7F800000 : f32");
        check(true.into_attribute(), "true");
        check("a\"\n\\é".into_attribute(), "\"a\\22\\0A\\5C\\C3\\A9\"");
        check(ByteString::from(b"a\xff").into_attribute(), "\"a\\FF\"");
        check([1_i32, 2].into_attribute(), "[1 : i32, 2 : i32]");
        check(Vec::<f32>::new().into_attribute(), "[]");
    }
}
