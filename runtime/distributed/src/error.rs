//! Errors of other tasks, with their types and the tasks of their origin, and collections of them.
//!
//! A request that fans out to many tasks may fail on several. [`Gather`] counts the parts in
//! progress and calls back once, with the errors of all of them.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use tfrt_host::HostContext;
use tfrt_support::{Error, ErrorCode};

/// The answer to a request.
pub type Answer<T> = Result<T, RemoteErrors>;

/// An error with its type, and with the task of its origin if that is another one.
///
/// ```
/// use tfrt_distributed::RemoteError;
/// use tfrt_support::ErrorCode;
///
/// let error = RemoteError::new(ErrorCode::RpcUnavailable, "no route").from_task("/job:worker/task:0");
/// assert_eq!(error.to_string(), "RpcUnavailable: no route (from task: /job:worker/task:0)");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RemoteError {
    /// The type.
    pub code: ErrorCode,
    /// The error message.
    pub message: String,
    /// The task that reported it.
    pub task: Option<String>,
}

impl RemoteError {
    /// Creates an error of no task in particular.
    #[must_use]
    pub fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
            task: None,
        }
    }

    /// Returns the same error, as one of a task.
    #[must_use]
    pub fn from_task(mut self, task: impl Into<String>) -> Self {
        self.task = Some(task.into());
        self
    }

    /// Converts the error to a plain error value of a program: its message alone.
    #[must_use]
    pub fn into_plain(self) -> Error {
        Error::new(self.message).with_code(self.code)
    }
}

impl fmt::Display for RemoteError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.code, self.message)?;
        match &self.task {
            Some(task) => write!(f, " (from task: {task})"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for RemoteError {}

impl From<&Error> for RemoteError {
    fn from(error: &Error) -> Self {
        Self::new(error.code(), error.message())
    }
}

/// The errors of a request: at least one.
///
/// ```
/// use tfrt_distributed::{RemoteError, RemoteErrors};
/// use tfrt_support::ErrorCode;
///
/// let mut errors = RemoteErrors::from(RemoteError::new(ErrorCode::Cancelled, "a"));
/// assert_eq!(errors.to_string(), "Cancelled: a");
/// errors.append(RemoteError::new(ErrorCode::NotFound, "b").into());
/// assert_eq!(errors.to_string(), "Found 2 errors:\n  (1) Cancelled: a\n  (2) NotFound: b");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RemoteErrors(Vec<RemoteError>);

impl RemoteErrors {
    /// Adds the errors of another collection.
    pub fn append(&mut self, others: Self) {
        self.0.extend(others.0);
    }

    /// Returns the errors.
    #[must_use]
    pub fn as_slice(&self) -> &[RemoteError] {
        &self.0
    }

    /// Returns the type of all errors if they have one in common.
    #[must_use]
    pub fn code(&self) -> ErrorCode {
        let first = self.0[0].code;
        match self.0.iter().all(|error| error.code == first) {
            true => first,
            false => ErrorCode::Unknown,
        }
    }

    /// Returns the same, with the task named that could not be reached, where no task is named.
    #[must_use]
    pub(crate) fn unavailable(mut self, task: &str) -> Self {
        for error in &mut self.0 {
            if error.code == ErrorCode::RpcUnavailable {
                error.task.get_or_insert_with(|| task.to_owned());
            }
        }
        self
    }

    /// Returns the errors as a value of a program on `host`. Its message names the types; its code
    /// is that of the type only if the host [requests this](TypedRemoteErrors).
    #[must_use]
    pub fn to_value(&self, host: &HostContext) -> Error {
        let error = Error::new(self.to_string());
        match TypedRemoteErrors::of(host) {
            true => error.with_code(self.code()),
            false => error,
        }
    }
}

impl From<RemoteError> for RemoteErrors {
    fn from(error: RemoteError) -> Self {
        Self(vec![error])
    }
}

impl From<Error> for RemoteErrors {
    fn from(error: Error) -> Self {
        RemoteError::from(&error).into()
    }
}

impl fmt::Display for RemoteErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let [error] = &self.0[..] {
            return error.fmt(f);
        }
        write!(f, "Found {} errors:", self.0.len())?;
        for (index, error) in self.0.iter().enumerate() {
            write!(f, "\n  ({}) {error}", index + 1)?;
        }
        Ok(())
    }
}

impl std::error::Error for RemoteErrors {}

/// A setting of a host: whether errors of other tasks keep their codes when they become values. Off
/// by default.
#[derive(Debug, Default)]
pub struct TypedRemoteErrors(std::sync::atomic::AtomicBool);

impl TypedRemoteErrors {
    /// Returns `true` if `host` keeps the codes.
    #[must_use]
    pub fn of(host: &HostContext) -> bool {
        // Relaxed: a setting that orders no other memory.
        host.shared_context(Self::default)
            .0
            .load(std::sync::atomic::Ordering::Relaxed)
    }

    /// Switches it on or off for `host`.
    pub fn set(host: &HostContext, keeps_codes: bool) {
        // Relaxed: as above.
        host.shared_context(Self::default)
            .0
            .store(keeps_codes, std::sync::atomic::Ordering::Relaxed);
    }
}

/// Counts the parts of a piece of work, and calls back once all of them have ended.
///
/// Every clone is a part; a part ends when it is dropped. The callback runs on the thread that
/// drops the last one.
///
/// ```
/// use std::sync::mpsc::channel;
/// use tfrt_distributed::{Gather, RemoteError};
/// use tfrt_support::ErrorCode;
///
/// let (sender, done) = channel();
/// let all = Gather::new(move |outcome| sender.send(outcome).unwrap());
/// let part = all.clone();
/// drop(all);
/// assert!(done.try_recv().is_err());
/// part.fail(RemoteError::new(ErrorCode::NotFound, "x").into());
/// assert_eq!(done.try_recv().unwrap().unwrap_err().to_string(), "NotFound: x");
/// ```
#[derive(Clone, Debug)]
pub struct Gather(Arc<Parts>);

type Done = Box<dyn FnOnce(Answer<()>) + Send>;

struct Parts {
    state: Mutex<(Option<RemoteErrors>, Option<Done>)>,
}

impl Gather {
    /// Creates the first part of work that ends by calling `done`.
    #[must_use]
    pub fn new(done: impl FnOnce(Answer<()>) + Send + 'static) -> Self {
        Self(Arc::new(Parts {
            state: Mutex::new((None, Some(Box::new(done)))),
        }))
    }

    /// Ends this part with errors.
    pub fn fail(self, errors: RemoteErrors) {
        self.add(errors);
    }

    /// Adds errors.
    pub fn add(&self, errors: RemoteErrors) {
        let mut state = self.0.state.lock().unwrap_or_else(PoisonError::into_inner);
        match &mut state.0 {
            Some(found) => found.append(errors),
            none => *none = Some(errors),
        }
    }

    /// Ends this part with the outcome of a request.
    pub fn end<T>(self, outcome: Answer<T>) -> Option<T> {
        match outcome {
            Ok(value) => Some(value),
            Err(errors) => {
                self.fail(errors);
                None
            }
        }
    }
}

impl Drop for Parts {
    fn drop(&mut self) {
        let state = self.state.get_mut().unwrap_or_else(PoisonError::into_inner);
        let (errors, done) = (state.0.take(), state.1.take());
        if let Some(done) = done {
            done(errors.map_or(Ok(()), Err));
        }
    }
}

impl fmt::Debug for Parts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Parts").finish_non_exhaustive()
    }
}
