//! Errors as values of a running graph.
//!
//! An [`Error`] is shared, not copied: it flows from the kernel that failed to every value that depends on it. The
//! diagnostics that parsers and verifiers print are another thing, see [`crate::diagnostic`].

use std::fmt;
use std::sync::{Arc, OnceLock};

use crate::place::Place;

/// What kind of failure an [`Error`] is.
///
/// The first 23 are numbered as in TFRT; ours follow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[repr(u8)]
#[non_exhaustive]
#[expect(missing_docs, reason = "the names are the documentation")]
pub enum ErrorCode {
    Cancelled = 1,
    #[default]
    Unknown = 2,
    InvalidArgument = 3,
    DeadlineExceeded = 4,
    NotFound = 5,
    FailedPrecondition = 6,
    OutOfRange = 7,
    Unimplemented = 8,
    DataLoss = 9,
    AlreadyExists = 10,
    Unavailable = 11,
    RpcCancelled = 12,
    RpcDeadlineExceeded = 13,
    RpcUnavailable = 14,
    RpcUnknown = 15,
    DeviceNotFound = 16,
    TaskNotFound = 17,
    RemoteFunctionAlreadyExists = 18,
    MalformattedMlirFile = 19,
    CompilationFailed = 20,
    InvalidDistributedContextId = 21,
    DistributedContextAlreadyExists = 22,
    /// A kernel panicked, or broke its contract.
    Internal = 23,
    /// A limit of the host was reached: nesting of calls, memory, live invocations.
    ResourceExhausted = 24,
}

impl fmt::Display for ErrorCode {
    /// The name of the code, as drivers print it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self, f)
    }
}

/// An error value: a message, a code, and where it happened if that is known.
///
/// Cloning shares. Anything that implements [`std::error::Error`] converts into it.
///
/// ```
/// use tfrt_support::{Error, ErrorCode, Place};
///
/// let error = Error::new("file ended early").with_code(ErrorCode::DataLoss);
/// error.set_place_if_unset(Place::file("p.mlir", 2, 3));
/// assert_eq!(error.to_string(), "file ended early");
/// assert_eq!(error.located().to_string(), "p.mlir:2:3: file ended early");
/// ```
#[derive(Clone)]
pub struct Error(Arc<ErrorData>);

#[derive(Clone)]
struct ErrorData {
    message: Box<str>,
    code: ErrorCode,
    place: OnceLock<Place>,
    kernel: OnceLock<Box<str>>,
}

impl Error {
    /// An error of code [`ErrorCode::Unknown`], at no place yet.
    #[must_use]
    pub fn new(message: impl Into<String>) -> Self {
        Self(Arc::new(ErrorData {
            message: message.into().into_boxed_str(),
            code: ErrorCode::Unknown,
            place: OnceLock::new(),
            kernel: OnceLock::new(),
        }))
    }

    /// The error a request is cancelled with unless it is given another one: `Cancelled`, code `Unknown`.
    #[must_use]
    pub fn cancelled() -> Self {
        Self::new("Cancelled")
    }

    /// The same error under another code.
    #[must_use]
    pub fn with_code(self, code: ErrorCode) -> Self {
        let mut data = (*self.0).clone();
        data.code = code;
        Self(Arc::new(data))
    }

    /// What went wrong.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// The kind of failure.
    #[must_use]
    pub fn code(&self) -> ErrorCode {
        self.0.code
    }

    /// Where it went wrong; [`Place::Unknown`] until somebody says.
    #[must_use]
    pub fn place(&self) -> &Place {
        self.0.place.get().unwrap_or(&Place::Unknown)
    }

    /// The kernel that failed, if it was one.
    #[must_use]
    pub fn kernel(&self) -> Option<&str> {
        self.0.kernel.get().map(|name| &**name)
    }

    /// Says where it went wrong, unless that was said before.
    pub fn set_place_if_unset(&self, place: Place) {
        let _ = self.0.place.set(place);
    }

    /// Says which kernel failed, unless that was said before.
    pub fn set_kernel_if_unset(&self, name: &str) {
        let _ = self.0.kernel.set(name.into());
    }

    /// Prints as `PLACE: MESSAGE`.
    pub fn located(&self) -> impl fmt::Display + '_ {
        fmt::from_fn(move |f| write!(f, "{}: {}", self.place(), self.message()))
    }

    /// Whether `self` and `other` are one shared error.
    #[must_use]
    pub fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.message())
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Error")
            .field("message", &self.message())
            .field("code", &self.code())
            .field("place", self.place())
            .field("kernel", &self.kernel())
            .finish()
    }
}

// `Error` is deliberately no `std::error::Error`, so that it can be made from every one of them, as `anyhow::Error` is.
impl<E: std::error::Error> From<E> for Error {
    fn from(error: E) -> Self {
        let mut message = error.to_string();
        let mut source = error.source();
        while let Some(cause) = source {
            message.push_str(": ");
            message.push_str(&cause.to_string());
            source = cause.source();
        }
        Self::new(message)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_place_stays() {
        let error = Error::new("x");
        error.set_place_if_unset(Place::file("a", 1, 2));
        error.set_place_if_unset(Place::file("b", 3, 4));
        assert_eq!(error.clone().place(), &Place::file("a", 1, 2));
    }

    #[test]
    fn a_code_prints_as_its_name() {
        assert_eq!(
            Error::new("x")
                .with_code(ErrorCode::InvalidArgument)
                .code()
                .to_string(),
            "InvalidArgument"
        );
    }

    #[test]
    fn causes_are_part_of_the_message() {
        let io = std::io::Error::other("disk on fire");
        assert_eq!(Error::from(io).message(), "disk on fire");
    }
}
