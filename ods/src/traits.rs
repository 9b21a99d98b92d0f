//! Traits and effects: what is true of an op as a whole.

use std::ops::BitOr;

/// A set of traits.
///
/// ```
/// use tfrt_ods::OpTraits;
///
/// let traits = OpTraits::PURE.with(OpTraits::NON_STRICT);
/// assert!(traits.contains(OpTraits::PURE) && !traits.contains(OpTraits::SYNC));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OpTraits(u32);

impl OpTraits {
    /// No trait.
    pub const NONE: Self = Self(0);
    /// Ends its block; not a kernel.
    pub const TERMINATOR: Self = Self(1);
    /// Has no effect but its results, so that it may go when nobody uses them.
    pub const PURE: Self = Self(1 << 1);
    /// Can start before every operand is available.
    pub const NON_STRICT: Self = Self(1 << 2);
    /// Runs in the interpreter of synchronous functions only.
    pub const SYNC: Self = Self(1 << 3);
    /// Runs on the blocking pool.
    pub const BLOCKING: Self = Self(1 << 4);
    /// Its printed results are named after their declaration.
    pub const NAMED_RESULTS: Self = Self(1 << 5);
    /// Its regions see only their own block arguments.
    pub const ISOLATED: Self = Self(1 << 6);
    /// Costs as little as a return, to stream analysis.
    pub const CHEAP: Self = Self(1 << 7);
    /// Its cost, to stream analysis, is its attribute `_tfrt_cost`.
    pub const COST_ATTRIBUTE: Self = Self(1 << 8);
    /// May be replaced by the body of the function it calls.
    pub const CALL: Self = Self(1 << 9);
    /// Takes one more operand at the end, a chain, without declaring it.
    pub const EXTRA_CHAIN: Self = Self(1 << 10);
    /// Its last operand and its last result are chains that a program may leave out.
    pub const OPTIONAL_CHAIN: Self = Self(1 << 11);

    /// Gives a constant: equal attributes give equal values, so that one op may stand for several, anywhere.
    pub const CONSTANT: Self = Self(1 << 12);

    /// The traits of both sets.
    #[must_use]
    pub const fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Whether every trait of `other` is in this set.
    #[must_use]
    pub const fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }
}

impl BitOr for OpTraits {
    type Output = Self;

    fn bitor(self, other: Self) -> Self {
        self.with(other)
    }
}

/// What an op does beside computing its results.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// Nothing that another op could see.
    None,
    /// Something that keeps program order among the ops of the same class: `io`, `random`, the name of a resource.
    Ordered(&'static str),
}

impl Effect {
    /// The class of a side effect that is not said more exactly.
    pub const IO: Self = Self::Ordered("io");
}
