//! Names of tasks and of their devices.
//!
//! A task is `/job:JOB/task:N`, and a device of the cluster is its task followed by `/device:` and
//! the local name of the device. A process may switch to names with a replica,
//! `/job:JOB/replica:0/task:N`, which applies to both creation and parsing.

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};

use tfrt_support::ErrorCode;

use crate::error::RemoteError;

/// Between the name of a task and that of its device.
const DEVICE_MARK: &str = "/device:";

static USES_REPLICA: AtomicBool = AtomicBool::new(false);

/// Switches the names of this process to the form with a replica, or back. Call it before any names
/// are created.
pub fn use_replica(is_used: bool) {
    // Relaxed: a setting that orders no other memory.
    USES_REPLICA.store(is_used, Ordering::Relaxed);
}

/// The job and the number of a task.
///
/// ```
/// use tfrt_distributed::name::TaskName;
///
/// let name = TaskName::parse("/job:worker/task:12/device:CPU:0")?;
/// assert_eq!((name.job.as_str(), name.task), ("worker", 12));
/// assert_eq!(name.to_string(), "/job:worker/task:12");
/// assert!(TaskName::parse("worker").is_err());
/// # Ok::<(), tfrt_distributed::RemoteError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TaskName {
    /// The job.
    pub job: String,
    /// The number of the task in its job.
    pub task: i32,
}

impl TaskName {
    /// Returns the name of a task.
    #[must_use]
    pub fn new(job: impl Into<String>, task: i32) -> Self {
        Self {
            job: job.into(),
            task,
        }
    }

    /// Parses the name of a task and ignores the text after it, so names of devices are accepted,
    /// too.
    ///
    /// # Errors
    /// `Error parsing task name "NAME": `
    pub fn parse(text: &str) -> Result<Self, RemoteError> {
        Self::prefix_of(text).ok_or_else(|| {
            let message = format!("Error parsing task name \"{text}\": ");
            RemoteError::new(ErrorCode::InvalidArgument, message)
        })
    }

    fn prefix_of(text: &str) -> Option<Self> {
        let rest = text.strip_prefix("/job:")?;
        let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let job = &rest[..rest.find(|c| !is_part(c)).unwrap_or(rest.len())];
        job.starts_with(|c: char| c.is_ascii_alphabetic())
            .then_some(())?;
        let mut rest = &rest[job.len()..];
        // Relaxed: as above.
        if USES_REPLICA.load(Ordering::Relaxed) {
            rest = rest.strip_prefix("/replica:0")?;
        }
        let digits = rest.strip_prefix("/task:")?;
        // A zero in front is a number by itself, and what follows belongs to the rest.
        let len = match digits.starts_with('0') {
            true => 1,
            false => digits
                .find(|c: char| !c.is_ascii_digit())
                .unwrap_or(digits.len()),
        };
        Some(Self::new(job, digits[..len].parse().ok()?))
    }
}

impl fmt::Display for TaskName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (job, task) = (&self.job, self.task);
        // Relaxed: as above.
        match USES_REPLICA.load(Ordering::Relaxed) {
            true => write!(f, "/job:{job}/replica:0/task:{task}"),
            false => write!(f, "/job:{job}/task:{task}"),
        }
    }
}

/// Returns the name in the cluster of a device that its task calls `local_name`. Text in the local
/// name before the first `/device:` is ignored.
///
/// ```
/// use tfrt_distributed::name::device_name;
///
/// assert_eq!(device_name("/job:worker/task:1", "CPU:0"), "/job:worker/task:1/device:CPU:0");
/// assert_eq!(device_name("/job:a/task:0", "/job:b/task:7/device:GPU:1"), "/job:a/task:0/device:GPU:1");
/// ```
#[must_use]
pub fn device_name(task_name: &str, local_name: &str) -> String {
    let local_name = local_name
        .split_once(DEVICE_MARK)
        .map_or(local_name, |(_, name)| name);
    format!("{task_name}{DEVICE_MARK}{local_name}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: Option<(&str, i32)>) {
        let expected = expected.map(|(job, task)| TaskName::new(job, task));
        assert_eq!(TaskName::parse(text).ok(), expected, "{text}");
    }

    #[test]
    fn anything_may_follow_the_name_of_a_task() {
        check("/job:worker/task:0", Some(("worker", 0)));
        check("/job:a/task:3device:GPU:0", Some(("a", 3)));
        check("/job:a/task:01", Some(("a", 0)));
        check("/job:a_B9/task:10/x", Some(("a_B9", 10)));
    }

    #[test]
    fn what_is_not_the_name_of_a_task_is_refused() {
        for text in [
            "",
            "job:a/task:0",
            "/job:/task:0",
            "/job:9a/task:0",
            "/job:_a/task:0",
            "/job:a/task:",
            "/job:a/task:x",
            "/job:a-b/task:0",
            "/job:a/replica:0/task:0",
            "/job:a/task:99999999999",
        ] {
            check(text, None);
        }
        let error = TaskName::parse("nobody").unwrap_err();
        assert_eq!(
            error.to_string(),
            "InvalidArgument: Error parsing task name \"nobody\": "
        );
    }
}
