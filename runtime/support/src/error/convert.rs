//! Conversions to [`Error`].
//!
//! `Error` is a [`std::error::Error`] itself, so `?` cannot convert every other error: the standard
//! library's errors are listed here, each crate of the runtime adds its own, and [`Error::other`]
//! takes the rest.

use std::error::Error as StdError;

use super::Error;

/// A type of errors that a kernel may return: every Rust error that is `Send + Sync`,
/// `Box<dyn Error + Send + Sync>`, `anyhow::Error`, and text.
///
/// ```
/// use tfrt_support::IntoError;
///
/// assert_eq!("no such row".into_error().message(), "no such row");
/// assert_eq!("x".parse::<i32>().unwrap_err().into_error().message(), "invalid digit found in string");
/// ```
#[diagnostic::on_unimplemented(
    message = "a kernel cannot fail with `{Self}`",
    label = "not an error that can be sent to another thread",
    note = "the error of a kernel is a `tfrt::Error`, a string, or any `std::error::Error` that \
            is `Send + Sync + 'static`"
)]
pub trait IntoError {
    /// Returns the error as one of a running graph.
    fn into_error(self) -> Error;
}

#[diagnostic::do_not_recommend]
impl<E: Into<Box<dyn StdError + Send + Sync>>> IntoError for E {
    #[inline]
    fn into_error(self) -> Error {
        Error::other(self)
    }
}

impl From<Box<dyn StdError + Send + Sync>> for Error {
    fn from(error: Box<dyn StdError + Send + Sync>) -> Self {
        Self::other(error)
    }
}

impl From<String> for Error {
    fn from(message: String) -> Self {
        Self::new(message)
    }
}

impl From<&str> for Error {
    fn from(message: &str) -> Self {
        Self::new(message)
    }
}

/// Lets `?` make an [`Error`] of errors of these types.
///
/// ```
/// use tfrt_support::Error;
///
/// #[derive(Debug)]
/// struct NoRow(u32);
///
/// impl std::fmt::Display for NoRow {
///     fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
///         write!(f, "no row {}", self.0)
///     }
/// }
///
/// impl std::error::Error for NoRow {}
///
/// tfrt_support::convert_errors!(NoRow);
///
/// assert_eq!(Error::from(NoRow(3)).message(), "no row 3");
/// ```
#[macro_export]
macro_rules! convert_errors {
    ($($error:ty),+ $(,)?) => {$(
        impl ::core::convert::From<$error> for $crate::Error {
            fn from(error: $error) -> Self {
                $crate::Error::other(error)
            }
        }
    )+};
}

convert_errors!(
    std::alloc::LayoutError,
    std::array::TryFromSliceError,
    std::char::CharTryFromError,
    std::char::ParseCharError,
    std::char::TryFromCharError,
    std::collections::TryReserveError,
    std::env::VarError,
    std::ffi::FromBytesWithNulError,
    std::ffi::NulError,
    std::fmt::Error,
    std::io::Error,
    std::net::AddrParseError,
    std::num::ParseFloatError,
    std::num::ParseIntError,
    std::num::TryFromIntError,
    std::path::StripPrefixError,
    std::str::ParseBoolError,
    std::str::Utf8Error,
    std::string::FromUtf16Error,
    std::string::FromUtf8Error,
    std::sync::mpsc::RecvError,
    std::sync::mpsc::RecvTimeoutError,
    std::sync::mpsc::TryRecvError,
    std::thread::AccessError,
    std::time::SystemTimeError,
);

impl From<std::convert::Infallible> for Error {
    fn from(never: std::convert::Infallible) -> Self {
        match never {}
    }
}
