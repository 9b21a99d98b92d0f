//! The comparisons that tests of StableHLO carry out: calls of `@check.expect_eq` and the like.
//!
//! An import keeps them if it is asked to: the program then returns what is compared, too.

/// How two tensors are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Closeness {
    /// They are equal.
    Equal,
    /// Floating point numbers are so many units in the last place apart, at most.
    Close {
        /// The greatest distance.
        ulps: u64,
    },
    /// Floating point numbers differ by a thousandth, at most.
    AlmostEqual,
}

/// A comparison of two outputs of a program.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Check {
    /// How they are compared.
    pub comparison: Closeness,
    /// The output that was computed.
    pub found: String,
    /// The output with what is expected.
    pub expected: String,
    /// Where the text asks for it.
    pub place: String,
}
