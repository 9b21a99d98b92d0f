//! Errors of kernels that are asked for what makes no sense.

use tfrt::{Error, ErrorCode};

#[cold]
pub(crate) fn invalid(message: impl Into<String>) -> Error {
    Error::new(message.into()).with_code(ErrorCode::InvalidArgument)
}
