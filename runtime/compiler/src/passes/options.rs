//! Options of passes: `name=value` pairs separated by blanks.

use std::fmt;

use tfrt_support::nearest::{did_you_mean, nearest};

use super::Pass;

/// The options that a pass is run with.
///
/// ```
/// use tfrt_compiler::passes::PassOptions;
///
/// let options = PassOptions::new([("ops", "a.b,a.c")]);
/// assert_eq!(options.get("ops"), Some("a.b,a.c"));
/// assert!(options.list("ops").eq(["a.b", "a.c"]));
/// assert_eq!(options.list("other").count(), 0);
/// assert_eq!(options.to_string(), "{ops=a.b,a.c}");
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PassOptions {
    pairs: Vec<(Box<str>, Box<str>)>,
}

impl PassOptions {
    /// Creates options. The last of several with the same name counts.
    #[must_use]
    pub fn new<'a>(pairs: impl IntoIterator<Item = (&'a str, &'a str)>) -> Self {
        let pairs = pairs.into_iter();
        Self {
            pairs: pairs
                .map(|(name, value)| (name.into(), value.into()))
                .collect(),
        }
    }

    /// Parses the options of `pass`.
    pub(super) fn parse(pass: &Pass, text: &str) -> Result<Self, OptionError> {
        let mut pairs = Vec::new();
        for pair in text.split_whitespace() {
            let Some((name, value)) = pair.split_once('=') else {
                return Err(OptionError::NotAPair(pair.into()));
            };
            if !pass.options.contains(&name) {
                return Err(OptionError::Unknown {
                    pass: pass.name,
                    option: name.into(),
                    known: pass.options,
                });
            }
            pairs.push((name, value));
        }
        Ok(Self::new(pairs))
    }

    /// Returns the value of an option.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&str> {
        let mut pairs = self.pairs.iter().rev();
        pairs
            .find(|(option, _)| **option == *name)
            .map(|(_, value)| &**value)
    }

    /// Returns the elements of an option, which are separated by commas.
    pub fn list<'a>(&'a self, name: &str) -> impl Iterator<Item = &'a str> {
        let elements = self.get(name).unwrap_or_default().split(',');
        elements.filter(|element| !element.is_empty())
    }
}

/// The errors in the text of options.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum OptionError {
    /// A word has no `=`.
    NotAPair(Box<str>),
    /// The pass does not have the option.
    Unknown {
        pass: &'static str,
        option: Box<str>,
        known: &'static [&'static str],
    },
}

impl fmt::Display for OptionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotAPair(word) => write!(f, "expected `option=value`, found `{word}`"),
            Self::Unknown {
                pass,
                option,
                known,
            } => {
                let meant = did_you_mean(&nearest(option, known.iter().copied()));
                write!(f, "`{pass}` has no option `{option}`{meant}")
            }
        }
    }
}

impl std::error::Error for OptionError {}

impl fmt::Display for PassOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, (name, value)) in self.pairs.iter().enumerate() {
            write!(f, "{}{name}={value}", if index == 0 { "{" } else { " " })?;
        }
        f.write_str(if self.pairs.is_empty() { "" } else { "}" })
    }
}
