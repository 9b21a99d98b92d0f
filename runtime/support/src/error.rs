//! Errors as values of a running graph.
//!
//! An [`Error`] is shared, not copied: it flows from the kernel that failed to every value that
//! depends on it. For the diagnostics of parsers and verifiers, see [`crate::diagnostic`].

mod convert;

mod original;

use std::error::Error as StdError;
use std::fmt::{self, Write};
use std::sync::{Arc, OnceLock};

use crate::place::Place;

pub use convert::IntoError;

use original::Kept;

/// The kind of failure of an [`Error`].
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

impl ErrorCode {
    /// Every code, in order of its number.
    pub const ALL: [Self; 24] = [
        Self::Cancelled,
        Self::Unknown,
        Self::InvalidArgument,
        Self::DeadlineExceeded,
        Self::NotFound,
        Self::FailedPrecondition,
        Self::OutOfRange,
        Self::Unimplemented,
        Self::DataLoss,
        Self::AlreadyExists,
        Self::Unavailable,
        Self::RpcCancelled,
        Self::RpcDeadlineExceeded,
        Self::RpcUnavailable,
        Self::RpcUnknown,
        Self::DeviceNotFound,
        Self::TaskNotFound,
        Self::RemoteFunctionAlreadyExists,
        Self::MalformattedMlirFile,
        Self::CompilationFailed,
        Self::InvalidDistributedContextId,
        Self::DistributedContextAlreadyExists,
        Self::Internal,
        Self::ResourceExhausted,
    ];

    /// Returns the number of the code in files.
    #[must_use]
    pub const fn number(self) -> u8 {
        self as u8
    }

    /// Returns the code with a number, if there is one.
    ///
    /// ```
    /// use tfrt_support::ErrorCode;
    ///
    /// let code = ErrorCode::NotFound;
    /// assert_eq!(ErrorCode::from_number(code.number()), Some(code));
    /// assert_eq!(ErrorCode::from_number(0), None);
    /// ```
    #[must_use]
    pub fn from_number(number: u8) -> Option<Self> {
        Self::ALL.into_iter().find(|code| code.number() == number)
    }
}

impl fmt::Display for ErrorCode {
    /// Returns the name of the code, as drivers print it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self, f)
    }
}

/// An error value: a message, a code, and its location if known.
///
/// Clones share the error. It is a [`std::error::Error`], and [`other`](Self::other) converts every
/// other one: the message then contains the causes, because errors of a graph are printed with
/// them; `Display` leaves them to [`source`](std::error::Error::source), as Rust programs expect.
///
/// ```
/// use tfrt_support::{Error, ErrorCode, Place};
///
/// let error = Error::new("file ended early").with_code(ErrorCode::DataLoss);
/// error.set_place_if_unset(Place::file("p.mlir", 2, 3));
/// assert_eq!(error.to_string(), "file ended early");
/// assert_eq!(error.located().to_string(), "p.mlir:2:3: file ended early");
///
/// fn load() -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
///     Err(Error::new("no weights").with_code(ErrorCode::NotFound))?
/// }
/// let error = load().unwrap_err();
/// assert_eq!(error.downcast_ref::<Error>().map(Error::code), Some(ErrorCode::NotFound));
/// ```
#[derive(Clone)]
pub struct Error(Arc<ErrorData>);

#[derive(Clone)]
struct ErrorData {
    message: Box<str>,
    /// The length of the error's own message, which its causes follow.
    own_len: usize,
    code: ErrorCode,
    place: OnceLock<Place>,
    kernel: OnceLock<Box<str>>,
    call: OnceLock<Box<str>>,
    /// The number of the request whose diagnostic handler was told.
    reported: OnceLock<u64>,
    /// The original error.
    original: Option<Arc<dyn Kept>>,
}

impl Error {
    /// Creates an error of code [`ErrorCode::Unknown`], at no place yet.
    #[must_use]
    pub fn new(message: impl Into<String>) -> Self {
        let message = message.into().into_boxed_str();
        let own_len = message.len();
        Self::of_parts(message, own_len, None)
    }

    fn of_parts(message: Box<str>, own_len: usize, original: Option<Arc<dyn Kept>>) -> Self {
        Self(Arc::new(ErrorData {
            message,
            own_len,
            code: ErrorCode::Unknown,
            place: OnceLock::new(),
            kernel: OnceLock::new(),
            call: OnceLock::new(),
            reported: OnceLock::new(),
            original,
        }))
    }

    /// Converts an error of another type. Its causes become part of the message; a boxed `Error` is
    /// returned unchanged.
    ///
    /// ```
    /// use std::error::Error as _;
    /// use std::io;
    /// use tfrt_support::Error;
    ///
    /// let error = Error::other(io::Error::from(io::ErrorKind::NotFound));
    /// assert_eq!(error.message(), "entity not found");
    /// let original = error.original().and_then(|original| original.downcast_ref::<io::Error>());
    /// assert_eq!(original.map(io::Error::kind), Some(io::ErrorKind::NotFound));
    /// ```
    #[must_use]
    pub fn other(error: impl Into<Box<dyn StdError + Send + Sync>>) -> Self {
        let error = match error.into().downcast::<Self>() {
            Ok(error) => return *error,
            Err(error) => error,
        };
        let mut message = error.to_string();
        let own_len = message.len();
        let mut source = error.source();
        while let Some(cause) = source {
            // Writing into a string cannot fail.
            let _ = write!(message, ": {cause}");
            source = cause.source();
        }
        let original = Some(original::keep(error));
        Self::of_parts(message.into_boxed_str(), own_len, original)
    }

    /// Creates the default error of a cancelled request: `Cancelled`, code `Unknown`.
    #[must_use]
    pub fn cancelled() -> Self {
        Self::new("Cancelled")
    }

    /// Returns the same error under another code.
    #[must_use]
    pub fn with_code(self, code: ErrorCode) -> Self {
        let mut data = (*self.0).clone();
        data.code = code;
        data.reported = OnceLock::new();
        Self(Arc::new(data))
    }

    /// Returns the same error with more at the end of its message.
    #[must_use]
    pub fn with_note(self, note: impl fmt::Display) -> Self {
        let mut data = (*self.0).clone();
        let message = format!("{}{note}", data.message).into_boxed_str();
        if data.own_len == data.message.len() {
            data.own_len = message.len();
        }
        data.message = message;
        data.reported = OnceLock::new();
        Self(Arc::new(data))
    }

    /// Returns the message, including the causes.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// Returns the error of another type that this one was [made of](Self::other), to be downcast.
    /// Nothing for one that code of a kernel library made, whose types are not the program's.
    #[must_use]
    pub fn original(&self) -> Option<&(dyn StdError + Send + Sync + 'static)> {
        original::look(&**self.0.original.as_ref()?)
    }

    /// Returns the kind of failure.
    #[must_use]
    pub fn code(&self) -> ErrorCode {
        self.0.code
    }

    /// Returns the location; [`Place::Unknown`] until it is set.
    #[must_use]
    pub fn place(&self) -> &Place {
        self.0.place.get().unwrap_or(&Place::Unknown)
    }

    /// Returns the kernel that failed, if it was one.
    #[must_use]
    pub fn kernel(&self) -> Option<&str> {
        self.0.kernel.get().map(|name| &**name)
    }

    /// Returns the call of an op that failed, if one did: the op, the metadata of its operands and
    /// the device.
    ///
    /// ```
    /// use tfrt_support::Error;
    ///
    /// let error = Error::new("cannot multiply");
    /// error.set_call_if_unset("my.MatMul(f32 [2], f32 [3]) on CPU:0");
    /// error.set_call_if_unset("my.Add(f32 [2], f32 [2]) on CPU:0");
    /// assert_eq!(error.call(), Some("my.MatMul(f32 [2], f32 [3]) on CPU:0"));
    /// ```
    #[must_use]
    pub fn call(&self) -> Option<&str> {
        self.0.call.get().map(|call| &**call)
    }

    /// Sets the location unless it is already set.
    pub fn set_place_if_unset(&self, place: Place) {
        let _ = self.0.place.set(place);
    }

    /// Sets the failed kernel unless it is already set.
    pub fn set_kernel_if_unset(&self, name: &str) {
        let _ = self.0.kernel.set(name.into());
    }

    /// Returns `true` if the diagnostic handler was told of the error, or of a copy of it, as one
    /// of this request. An error that is kept may be that of several requests.
    #[doc(hidden)]
    #[must_use]
    pub fn is_reported_in(&self, request: u64) -> bool {
        self.0.reported.get() == Some(&request)
    }

    /// Records that the diagnostic handler was told of the error, as one of this request.
    #[doc(hidden)]
    pub fn mark_reported_in(&self, request: u64) {
        let _ = self.0.reported.set(request);
    }

    /// Says which call of an op failed, unless that was said before.
    pub fn set_call_if_unset(&self, call: impl Into<Box<str>>) {
        let _ = self.0.call.set(call.into());
    }

    /// Prints as `PLACE: MESSAGE`.
    pub fn located(&self) -> impl fmt::Display + '_ {
        fmt::from_fn(move |f| write!(f, "{}: {}", self.place(), self.message()))
    }

    /// Returns `true` if `self` and `other` are one shared error.
    #[must_use]
    pub fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl fmt::Display for Error {
    /// Writes the message without the causes that [`source`](StdError::source) returns.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let message = self.message();
        f.write_str(match self.original() {
            Some(_) => message.get(..self.0.own_len).unwrap_or(message),
            None => message,
        })
    }
}

impl StdError for Error {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        self.original()?.source()
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Error")
            .field("message", &self.message())
            .field("code", &self.code())
            .field("place", self.place())
            .field("kernel", &self.kernel())
            .field("call", &self.call())
            .finish()
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

    #[derive(Debug)]
    struct Unreadable(std::num::ParseIntError);

    impl fmt::Display for Unreadable {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("unreadable row")
        }
    }

    impl StdError for Unreadable {
        fn source(&self) -> Option<&(dyn StdError + 'static)> {
            Some(&self.0)
        }
    }

    fn unreadable() -> Error {
        let number = "x".parse::<i32>().unwrap_err();
        Error::other(Unreadable(number))
    }

    #[test]
    fn causes_are_part_of_the_message_and_the_source_of_the_error() {
        let error = unreadable();
        assert_eq!(
            error.message(),
            "unreadable row: invalid digit found in string"
        );
        assert_eq!(error.to_string(), "unreadable row");
        let source = error.source().map(ToString::to_string);
        assert_eq!(source.as_deref(), Some("invalid digit found in string"));
        // The same after the ways that errors go.
        let error = error.clone().with_code(ErrorCode::DataLoss);
        assert!(
            error
                .source()
                .is_some_and(|source| source.is::<std::num::ParseIntError>())
        );
    }

    #[test]
    fn a_boxed_error_comes_out_of_the_box_as_it_went_in() {
        fn pass(error: Error) -> Result<(), Box<dyn StdError + Send + Sync>> {
            Err(error)?
        }
        let error = Error::new("x").with_code(ErrorCode::NotFound);
        let back = Error::from(pass(error.clone()).unwrap_err());
        assert!(back.is_same(&error));
    }

    #[test]
    fn an_original_that_panics_when_dropped_does_no_harm() {
        #[derive(Debug)]
        struct Bomb;

        impl fmt::Display for Bomb {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("tick")
            }
        }

        impl StdError for Bomb {}

        impl Drop for Bomb {
            fn drop(&mut self) {
                std::panic::resume_unwind(Box::new("boom"));
            }
        }

        drop(Error::other(Bomb));
    }
}
