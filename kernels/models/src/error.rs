//! Errors of kernels with invalid operands.

use tfrt::{Error, ErrorCode};

#[cold]
pub(crate) fn invalid(message: impl Into<String>) -> Error {
    Error::new(message.into()).with_code(ErrorCode::InvalidArgument)
}
