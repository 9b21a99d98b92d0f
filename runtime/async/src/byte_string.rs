//! Byte strings: the payloads of type `!tfrt.string`.
//!
//! Programs pass text, image bytes and encoded records under one type, as C++ does with
//! `std::string`. So the payload promises no encoding: a request for text fails with the position
//! of the first byte that is not UTF-8.

use std::borrow::Borrow;
use std::fmt::{self, Write};
use std::ops::Deref;

use crate::identity::{self, TypeIdentity};
use crate::value::{Immutable, Value};

/// A string of bytes, mostly UTF-8 text.
///
/// Dereferences to `&[u8]`, and converts to text if it is UTF-8:
///
/// ```
/// use tfrt_async::{AnyRef, ByteString};
///
/// let value = AnyRef::available(ByteString::from("caf\u{e9}"));
/// let bytes = value.get::<ByteString>().expect("it is there");
/// assert_eq!((bytes.len(), bytes.to_text()), (5, Ok("café")));
///
/// let cut = ByteString::from(&bytes[..4]);
/// assert_eq!(
///     cut.to_text().unwrap_err().to_string(),
///     "expected UTF-8 text, found byte 0xc3 at offset 3, which does not start a character"
/// );
/// assert_eq!(format!("{cut:?}"), r#""caf\xc3""#);
/// ```
#[derive(Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ByteString(Vec<u8>);

impl ByteString {
    /// Returns the bytes.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// Returns the text. Validates every byte.
    ///
    /// # Errors
    /// If the bytes are not UTF-8, with the position of the first invalid byte.
    pub fn to_text(&self) -> Result<&str, NotText> {
        str::from_utf8(&self.0).map_err(|error| NotText::at(&self.0, error.valid_up_to()))
    }

    /// Converts to text without copying.
    ///
    /// # Errors
    /// If the bytes are not UTF-8, with the position of the first invalid byte.
    pub fn into_text(self) -> Result<String, NotText> {
        String::from_utf8(self.0).map_err(|error| {
            let at = error.utf8_error().valid_up_to();
            NotText::at(error.as_bytes(), at)
        })
    }

    /// Returns the bytes without copying.
    #[must_use]
    pub fn into_bytes(self) -> Vec<u8> {
        self.0
    }
}

impl Value for ByteString {
    const MLIR_TYPE: &'static str = "!tfrt.string";
    const IDENTITY: TypeIdentity<Self> = identity::of_this_crate();
}

impl Immutable for ByteString {}

/// The error for bytes that are not UTF-8.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotText {
    /// The end of the valid prefix.
    at: usize,
    byte: u8,
}

impl NotText {
    #[cold]
    fn at(bytes: &[u8], at: usize) -> Self {
        Self {
            at,
            byte: bytes.get(at).copied().unwrap_or_default(),
        }
    }

    /// Returns the position of the first byte that is not part of a character.
    #[must_use]
    pub fn position(&self) -> usize {
        self.at
    }
}

impl fmt::Display for NotText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { at, byte } = self;
        write!(
            f,
            "expected UTF-8 text, found byte {byte:#04x} at offset {at}, which does not start a \
             character"
        )
    }
}

impl std::error::Error for NotText {}

tfrt_support::convert_errors!(NotText);

/// Formats text as Rust does, and bytes that are not UTF-8 as `\x…`.
impl fmt::Debug for ByteString {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Ok(text) = self.to_text() {
            return fmt::Debug::fmt(text, f);
        }
        f.write_char('"')?;
        for chunk in self.utf8_chunks() {
            write!(f, "{}", chunk.valid().escape_debug())?;
            for byte in chunk.invalid() {
                write!(f, "\\x{byte:02x}")?;
            }
        }
        f.write_char('"')
    }
}

/// Formats text, with U+FFFD for bytes that are not UTF-8.
impl fmt::Display for ByteString {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&String::from_utf8_lossy(self), f)
    }
}

impl Deref for ByteString {
    type Target = [u8];

    #[inline]
    fn deref(&self) -> &[u8] {
        &self.0
    }
}

impl AsRef<[u8]> for ByteString {
    fn as_ref(&self) -> &[u8] {
        self
    }
}

impl Borrow<[u8]> for ByteString {
    fn borrow(&self) -> &[u8] {
        self
    }
}

impl From<Vec<u8>> for ByteString {
    #[inline]
    fn from(bytes: Vec<u8>) -> Self {
        Self(bytes)
    }
}

impl From<String> for ByteString {
    #[inline]
    fn from(text: String) -> Self {
        Self(text.into_bytes())
    }
}

impl From<&[u8]> for ByteString {
    fn from(bytes: &[u8]) -> Self {
        Self(bytes.to_vec())
    }
}

impl<const LEN: usize> From<&[u8; LEN]> for ByteString {
    fn from(bytes: &[u8; LEN]) -> Self {
        Self(bytes.to_vec())
    }
}

impl From<&str> for ByteString {
    fn from(text: &str) -> Self {
        Self(text.into())
    }
}

macro_rules! impl_partial_eq {
    ($($other:ty, |$right:ident| $bytes:expr;)*) => {$(
        impl PartialEq<$other> for ByteString {
            fn eq(&self, $right: &$other) -> bool {
                self.0 == $bytes
            }
        }
    )*};
}

impl_partial_eq! {
    str, |text| text.as_bytes();
    &str, |text| text.as_bytes();
    String, |text| text.as_bytes();
    [u8], |bytes| bytes;
    &[u8], |bytes| *bytes;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_text_prints_as_text() {
        let text = ByteString::from("a \"b\"\n\u{e9}");
        assert_eq!(format!("{text:?}"), format!("{:?}", "a \"b\"\n\u{e9}"));
        assert_eq!(text.to_string(), "a \"b\"\n\u{e9}");
        assert_eq!(text.clone().into_text().as_deref(), Ok("a \"b\"\n\u{e9}"));
    }

    #[test]
    fn the_first_byte_that_is_no_text_is_named() {
        let bytes = ByteString::from(b"ok\xff\"\xfe");
        assert_eq!(bytes.to_text().unwrap_err().position(), 2);
        assert_eq!(
            bytes.clone().into_text().unwrap_err().to_string(),
            "expected UTF-8 text, found byte 0xff at offset 2, which does not start a character"
        );
        assert_eq!(format!("{bytes:?}"), r#""ok\xff\"\xfe""#);
        assert_eq!(bytes.to_string(), "ok\u{fffd}\"\u{fffd}");
    }
}
