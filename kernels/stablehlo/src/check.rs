//! The comparisons in tests of StableHLO: calls of `@check.expect_eq` and the like.
//!
//! An import keeps them on request. The program then also returns the compared tensors.

/// The criterion by which two tensors are compared.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Closeness {
    /// All elements are equal.
    Equal,
    /// Floating point numbers differ by at most this many units in the last place.
    Close {
        /// The greatest allowed distance.
        ulps: u64,
    },
    /// Floating point numbers differ by at most this number, absolutely or relative to the expected
    /// one, or by a few units in the last place.
    AlmostEqual {
        /// The greatest allowed difference.
        tolerance: f64,
    },
}

/// A comparison of two outputs of a program.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Check {
    /// The criterion.
    pub comparison: Closeness,
    /// The name of the output with the computed tensor.
    pub found: String,
    /// The name of the output with the expected tensor.
    pub expected: String,
    /// The place of the comparison in the text.
    pub place: String,
}
