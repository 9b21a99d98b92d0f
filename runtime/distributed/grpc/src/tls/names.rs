//! The tasks of certificates that do not name them.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::path::Path;

use tfrt_support::{Error, ErrorCode};

use super::identity::Identity;
use super::invalid;

/// The tasks of certificates whose names others have chosen, such as a company's authority or
/// SPIFFE.
///
/// The text has a line for each certificate: one of its alternative names, a host name or a URI,
/// and the task. Lines that start with `#` and empty ones are comments. All tasks of a cluster need
/// the same.
///
/// ```
/// use tfrt_grpc::TaskNames;
///
/// let names = TaskNames::parse(
///     "# certificates of the company\n\
///      node7.example.org             tfrt://blue/job/worker/task/0\n\
///      spiffe://example.org/ns/node8 tfrt://blue/job/worker/task/1\n",
/// )?;
/// assert_eq!(names.len(), 2);
/// let error = TaskNames::parse("node7.example.org worker 0").unwrap_err();
/// assert_eq!(
///     error.message(),
///     "line 1: expected `NAME tfrt://CLUSTER/job/JOB/task/N`, found `node7.example.org worker 0`"
/// );
/// # Ok::<(), tfrt_support::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TaskNames(HashMap<String, Identity>);

impl TaskNames {
    /// Parses a text.
    ///
    /// # Errors
    /// `InvalidArgument` with the number of the line if one has another form, or repeats a name.
    pub fn parse(text: &str) -> Result<Self, Error> {
        let mut names = HashMap::new();
        for (index, line) in text.lines().enumerate() {
            let line = line.trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let number = index + 1;
            let mut words = line.split_whitespace();
            let task = match (words.next(), words.next(), words.next()) {
                (Some(name), Some(uri), None) => Identity::parse(uri).map(|task| (name, task)),
                _ => None,
            };
            let (name, task) = task.ok_or_else(|| {
                invalid(format!(
                    "line {number}: expected `NAME tfrt://CLUSTER/job/JOB/task/N`, found `{line}`"
                ))
            })?;
            match names.entry(name.to_owned()) {
                Entry::Vacant(place) => {
                    place.insert(task);
                }
                Entry::Occupied(_) => {
                    return Err(invalid(format!(
                        "line {number}: expected one task of `{name}`, found a second one"
                    )));
                }
            }
        }
        Ok(Self(names))
    }

    /// Reads a file.
    ///
    /// # Errors
    /// Those of [`parse`](Self::parse), with the name of the file; or if it cannot be read.
    pub fn from_file(path: &Path) -> Result<Self, Error> {
        let name = path.display();
        let text = std::fs::read_to_string(path).map_err(|error| {
            Error::new(format!("cannot read `{name}`: {error}")).with_code(ErrorCode::NotFound)
        })?;
        Self::parse(&text).map_err(|error| invalid(format!("`{name}`: {}", error.message())))
    }

    /// Returns the number of names.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Returns `true` if there are no names.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the task of a certificate with this name.
    pub(super) fn task_of(&self, name: &str) -> Option<&Identity> {
        self.0.get(name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_has_one_task() {
        let twice = "a tfrt://blue/job/w/task/0\n\n# a\n a tfrt://blue/job/w/task/1";
        assert_eq!(
            TaskNames::parse(twice).unwrap_err().message(),
            "line 4: expected one task of `a`, found a second one"
        );
        assert!(TaskNames::parse("#\n\n").unwrap().is_empty());
        let missing = TaskNames::from_file(Path::new("/nowhere/names")).unwrap_err();
        assert!(
            missing
                .message()
                .starts_with("cannot read `/nowhere/names`: ")
        );
    }
}
