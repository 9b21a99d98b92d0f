//! The reasons why a queue cannot be created.

use std::error::Error;
use std::fmt;

/// The reason why a queue could not be created.
///
/// ```
/// use tfrt_queue::{CreateQueueError, create_queue};
///
/// match create_queue("fast") {
///     Err(CreateQueueError::Unknown { name, known }) => {
///         assert_eq!(name, "fast");
///         assert!(known.contains(&"mstd"));
///     }
///     other => unreachable!("{other:?}"),
/// }
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub enum CreateQueueError {
    /// No factory has the name.
    Unknown {
        /// The requested name.
        name: String,
        /// The existing names, sorted.
        known: Vec<&'static str>,
    },
    /// The factory rejected the argument.
    InvalidArgument {
        /// The name of the factory.
        queue: &'static str,
        /// The argument.
        argument: String,
    },
    /// The factory accepted the argument and could not create the queue.
    Failed {
        /// The name of the factory.
        queue: &'static str,
        /// The cause.
        source: Box<dyn Error + Send + Sync>,
    },
}

impl CreateQueueError {
    /// Returns the error of a factory that rejects `argument`.
    #[must_use]
    pub fn invalid_argument(queue: &'static str, argument: &str) -> Self {
        Self::InvalidArgument {
            queue,
            argument: argument.into(),
        }
    }

    /// Returns the error of a factory that could not create its queue because of `source`.
    #[must_use]
    pub fn failed(queue: &'static str, source: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self::Failed {
            queue,
            source: source.into(),
        }
    }
}

impl fmt::Display for CreateQueueError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown { name, known } => {
                let known = known.join("`, `");
                write!(f, "unknown work queue `{name}`: expected one of `{known}`")
            }
            Self::InvalidArgument { queue, argument } => {
                write!(f, "Invalid argument for {queue} work queue: {argument}")
            }
            Self::Failed { queue, .. } => write!(f, "cannot create the {queue} work queue"),
        }
    }
}

impl Error for CreateQueueError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Unknown { .. } | Self::InvalidArgument { .. } => None,
            Self::Failed { source, .. } => Some(&**source),
        }
    }
}

tfrt_support::convert_errors!(CreateQueueError);
