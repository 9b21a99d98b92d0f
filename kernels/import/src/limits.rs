//! Limits on the sizes of parts of a model file.
//!
//! No file may exhaust the memory or the time of the process. Sizes that a format does not bound
//! have a limit here. Exceeding one is an error that names the limit and the option that raises it.

use std::fmt;

use crate::error::ImportError;

/// A limited quantity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Limit {
    /// The nesting depth of graphs.
    Subgraphs,
    /// The nesting depth of calls of functions.
    FunctionCalls,
    /// The number of nodes of all graphs, after functions are inlined.
    Nodes,
    /// The number of dimensions of a tensor.
    Rank,
    /// The extent of one dimension.
    Extent,
    /// The number of elements of an attribute that is a list.
    ListElements,
    /// The size in bytes of an attribute that is a text.
    TextBytes,
    /// The size in bytes of a tensor that a sparse one is turned into.
    DenseBytes,
    /// The size in bytes of the text of the program.
    ProgramBytes,
    /// The size in bytes of the results of an op that is computed when a program is loaded. Larger
    /// ones are computed in each run.
    FoldedResultBytes,
    /// The number of bytes that ops read and write when a program is loaded. Further ones are
    /// computed in each run.
    FoldedBytes,
}

impl Limit {
    /// Every limit.
    pub const ALL: [Self; 11] = [
        Self::Subgraphs,
        Self::FunctionCalls,
        Self::Nodes,
        Self::Rank,
        Self::Extent,
        Self::ListElements,
        Self::TextBytes,
        Self::DenseBytes,
        Self::ProgramBytes,
        Self::FoldedResultBytes,
        Self::FoldedBytes,
    ];

    /// Returns the option that sets the limit, without the leading dashes.
    #[must_use]
    pub const fn option(self) -> &'static str {
        match self {
            Self::Subgraphs => "max-subgraphs",
            Self::FunctionCalls => "max-function-calls",
            Self::Nodes => "max-nodes",
            Self::Rank => "max-rank",
            Self::Extent => "max-extent",
            Self::ListElements => "max-list-elements",
            Self::TextBytes => "max-text-bytes",
            Self::DenseBytes => "max-dense-bytes",
            Self::ProgramBytes => "max-program-bytes",
            Self::FoldedResultBytes => "max-folded-result-bytes",
            Self::FoldedBytes => "max-folded-bytes",
        }
    }

    const fn unit(self) -> &'static str {
        match self {
            Self::Subgraphs => "levels of nested graphs",
            Self::FunctionCalls => "levels of nested function calls",
            Self::Nodes => "nodes",
            Self::Rank => "dimensions",
            Self::Extent => "elements in a dimension",
            Self::ListElements => "elements in a list",
            Self::TextBytes => "bytes in a string",
            Self::DenseBytes => "bytes in an expanded sparse tensor",
            Self::ProgramBytes => "bytes in the program",
            Self::FoldedResultBytes => "bytes in a folded constant",
            Self::FoldedBytes => "bytes of folded constants",
        }
    }

    const fn default_value(self) -> u64 {
        match self {
            Self::Subgraphs | Self::Rank => 32,
            Self::FunctionCalls => 64,
            Self::Nodes => 1_000_000,
            Self::Extent => (1 << 48) - 1,
            Self::ListElements | Self::TextBytes => 16 << 20,
            Self::FoldedResultBytes => 64 << 20,
            Self::DenseBytes | Self::ProgramBytes | Self::FoldedBytes => 1 << 30,
        }
    }
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.option())
    }
}

/// The limits of an import.
///
/// ```
/// use tfrt_import::{Limit, Limits};
///
/// let limits = Limits::default().with(Limit::Rank, 4);
/// assert!(limits.check(Limit::Rank, 4).is_ok());
/// let error = limits.check(Limit::Rank, 5).unwrap_err();
/// assert_eq!(
///     error.to_string(),
///     "expected at most 4 dimensions, found 5; `--max-rank` raises the limit"
/// );
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits([u64; Limit::ALL.len()]);

impl Default for Limits {
    fn default() -> Self {
        Self(Limit::ALL.map(Limit::default_value))
    }
}

impl Limits {
    /// Changes one limit.
    #[must_use]
    pub fn with(mut self, limit: Limit, greatest: u64) -> Self {
        self.0[limit as usize] = greatest;
        self
    }

    /// Returns the maximum of a limit.
    #[must_use]
    pub fn get(&self, limit: Limit) -> u64 {
        self.0[limit as usize]
    }

    /// Checks a number against a limit.
    ///
    /// # Errors
    /// Names the limit, and the option to raise it.
    pub fn check(&self, limit: Limit, found: u64) -> Result<(), ImportError> {
        let greatest = self.get(limit);
        if found <= greatest {
            return Ok(());
        }
        Err(ImportError::new(format!(
            "expected at most {greatest} {}, found {found}; `--{}` raises the limit",
            limit.unit(),
            limit.option()
        )))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_limit_has_a_place_and_an_option_of_its_own() {
        for (index, limit) in Limit::ALL.into_iter().enumerate() {
            assert_eq!(limit as usize, index);
            let limits = Limits::default().with(limit, 7);
            let error = limits.check(limit, 8).unwrap_err().to_string();
            assert!(error.contains(&format!("`--{limit}`")), "{error}");
            assert!(limits.check(limit, 7).is_ok());
            for other in Limit::ALL.into_iter().filter(|&other| other != limit) {
                assert_eq!(limits.get(other), other.default_value());
                assert_ne!(limit.option(), other.option());
            }
        }
    }
}
