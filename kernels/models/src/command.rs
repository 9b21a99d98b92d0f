//! Common options and errors of the commands of `tfrt-models`.

use std::collections::BTreeMap;
use std::error::Error;
use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use tfrt_tensor::TensorError;

/// The reason why a command failed.
///
/// ```
/// use tfrt_models::command::CommandError;
///
/// let options = ["--size".to_owned()];
/// let error = tfrt_models::digits::command::run(&options).unwrap_err();
/// assert!(matches!(&error, CommandError::Usage(_)));
/// assert!(error.to_string().starts_with("unknown option `--size`"));
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub enum CommandError {
    /// The options are wrong: the expected ones.
    Usage(String),
    /// A file or folder cannot be written.
    File {
        /// The attempted action: `create` or `write`.
        verb: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// The cause.
        source: std::io::Error,
    },
    /// Weights or images cannot be drawn.
    Tensor(TensorError),
}

impl CommandError {
    pub(crate) fn caused(verb: &'static str, path: &Path, source: std::io::Error) -> Self {
        let path = path.to_owned();
        Self::File { verb, path, source }
    }
}

impl fmt::Display for CommandError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Usage(problem) => f.write_str(problem),
            Self::File { verb, path, .. } => write!(f, "cannot {verb} `{}`", path.display()),
            Self::Tensor(_) => f.write_str("cannot create the tensors"),
        }
    }
}

impl Error for CommandError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Usage(_) => None,
            Self::File { source, .. } => Some(source),
            Self::Tensor(error) => Some(error),
        }
    }
}

pub(crate) fn usage(problem: impl Into<String>) -> CommandError {
    CommandError::Usage(problem.into())
}

/// The options of a command, each with a value.
pub(crate) struct Options<'a>(BTreeMap<&'a str, &'a str>);

impl<'a> Options<'a> {
    /// Reads pairs of a name and a value. Every name is one of `known`.
    pub(crate) fn parse(arguments: &'a [String], known: &[&str]) -> Result<Self, CommandError> {
        let mut options = BTreeMap::new();
        let mut rest = arguments.iter().map(String::as_str);
        while let Some(name) = rest.next() {
            if !known.contains(&name) {
                let known = known.join("`, `");
                return Err(usage(format!(
                    "unknown option `{name}`; available: `{known}`"
                )));
            }
            let value = rest.next();
            let value = value.ok_or_else(|| usage(format!("expected a value after `{name}`")))?;
            if options.insert(name, value).is_some() {
                return Err(usage(format!("`{name}` is given twice")));
            }
        }
        Ok(Self(options))
    }

    /// Returns the path after `--out`, which is a `kind` of path such as `FILE`.
    pub(crate) fn out(&self, kind: &str) -> Result<PathBuf, CommandError> {
        match self.0.get("--out") {
            None => Err(usage(format!("expected `--out {kind}`"))),
            Some(&"") => Err(usage("expected a path after `--out`")),
            Some(path) => Ok(PathBuf::from(path)),
        }
    }

    /// Returns the number after an option, or `default`.
    pub(crate) fn number<T: FromStr>(&self, name: &str, default: T) -> Result<T, CommandError> {
        let Some(value) = self.0.get(name) else {
            return Ok(default);
        };
        let number = value.parse();
        number.map_err(|_| usage(format!("expected a number after `{name}`, found `{value}`")))
    }

    /// Returns a number after an option, or `default`, from 1 to `max`.
    pub(crate) fn positive(
        &self,
        name: &str,
        default: usize,
        max: usize,
    ) -> Result<usize, CommandError> {
        match self.number(name, default)? {
            number if (1..=max).contains(&number) => Ok(number),
            number => Err(usage(format!(
                "expected 1 to {max} after `{name}`, found {number}"
            ))),
        }
    }
}
