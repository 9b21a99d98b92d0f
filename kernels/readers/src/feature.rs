//! What is said of a format whose cargo feature is off.

use std::io;

use tfrt_support::{Error, ErrorCode};

/// `what` needs the feature.
#[cold]
#[allow(dead_code, reason = "used unless every feature is on")]
pub(crate) fn missing(what: &str, feature: &str) -> Error {
    let message = format!("{what} need the cargo feature `{feature}` of `tfrt-readers`");
    Error::new(message).with_code(ErrorCode::Unimplemented)
}

/// The same, for streams.
#[cold]
#[allow(dead_code, reason = "used unless every feature is on")]
pub(crate) fn missing_io(what: &str, feature: &str) -> io::Error {
    io::Error::new(io::ErrorKind::Unsupported, missing(what, feature))
}
