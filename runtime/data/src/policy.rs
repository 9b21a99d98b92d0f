//! The policy for errors.

use std::fmt;
use std::str::FromStr;

use tfrt_support::{Error, ErrorCode};

/// The policy of a dataset for errors among its elements.
///
/// No error is lost silently: skipped errors are counted, and the count is logged at the end of the
/// pass.
///
/// ```
/// use tfrt_data::OnError;
///
/// assert_eq!("skip(10)".parse::<OnError>()?, OnError::Skip { max: 10 });
/// assert_eq!(OnError::Skip { max: 10 }.to_string(), "skip(10)");
/// assert!("skip(many)".parse::<OnError>().is_err());
/// # Ok::<(), tfrt_support::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnError {
    /// The error replaces its element, and the following elements are delivered.
    #[default]
    Fail,
    /// The error is skipped. The first error after `max` skipped ones is delivered and ends the
    /// sequence.
    Skip {
        /// The number of errors that are skipped in a pass.
        max: u64,
    },
    /// The first error is delivered and ends the sequence.
    Stop,
}

impl FromStr for OnError {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let count = text
            .strip_prefix("skip(")
            .and_then(|rest| rest.strip_suffix(')'))
            .and_then(|count| count.parse().ok());
        match (text, count) {
            ("fail", _) => Ok(Self::Fail),
            ("stop", _) => Ok(Self::Stop),
            (_, Some(max)) => Ok(Self::Skip { max }),
            _ => {
                let message = format!("expected `fail`, `skip(N)` or `stop`, found `{text}`");
                Err(Error::new(message).with_code(ErrorCode::InvalidArgument))
            }
        }
    }
}

impl fmt::Display for OnError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Fail => f.write_str("fail"),
            Self::Skip { max } => write!(f, "skip({max})"),
            Self::Stop => f.write_str("stop"),
        }
    }
}
