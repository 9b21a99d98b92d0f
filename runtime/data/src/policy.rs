//! What follows an error.

use std::fmt;
use std::str::FromStr;

use tfrt_support::{Error, ErrorCode};

/// What follows an error among the elements of a dataset.
///
/// Nothing is lost silently: errors that are skipped are counted, and the count is logged at the
/// end of the pass.
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
    /// The error takes the place of its element, and the elements behind it follow.
    #[default]
    Fail,
    /// The error is skipped. The first one behind `max` of them is handed on, and ends the
    /// sequence.
    Skip {
        /// How many errors are skipped in a pass.
        max: u64,
    },
    /// The first error is handed on, and ends the sequence.
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
