//! Traits and effects: properties of an op as a whole.

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
    /// Has no effect but its results, so it may be removed when they are unused.
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
    /// Has the cost of a return in stream analysis.
    pub const CHEAP: Self = Self(1 << 7);
    /// Its attribute `_tfrt_cost` is its cost in stream analysis.
    pub const COST_ATTRIBUTE: Self = Self(1 << 8);
    /// Only calls its function with its operands and returns the function's results. Passes may
    /// replace it with the body of the function, and the executor may run the function without
    /// calling the kernel.
    pub const CALL: Self = Self(1 << 9);
    /// Takes an undeclared additional chain as its last operand.
    pub const EXTRA_CHAIN: Self = Self(1 << 10);
    /// Its last operand and its last result are optional chains.
    pub const OPTIONAL_CHAIN: Self = Self(1 << 11);
    /// Returns a constant: equal attributes produce equal values, so one op may replace several.
    pub const CONSTANT: Self = Self(1 << 12);
    /// Takes nothing and returns a ready chain, the start of an order. Exactly one op has this
    /// trait.
    pub const CHAIN_SOURCE: Self = Self(1 << 13);
    /// Takes values of any types and returns a chain that is ready once all of them are available.
    /// Exactly one op has this trait.
    pub const CHAIN_MERGE: Self = Self(1 << 14);
    /// Is a future, which the work queue polls until its results are available.
    pub const ASYNC: Self = Self(1 << 15);
    /// Passes its last operands to its functions as arguments, and returns their first results. A
    /// [`CALL`](Self::CALL) also does so.
    pub const FORWARDS: Self = Self(1 << 20);
    /// Runs its functions any number of times: each run takes the results of the previous one, and
    /// the last results are those of the op.
    pub const LOOPS: Self = Self(1 << 21);
    /// Runs its function concurrently for every part of a range, with two indices and then its last
    /// operands. The function returns nothing or a chain, and the only result is a chain that is
    /// ready when all runs are done.
    pub const PARALLEL: Self = Self(1 << 22);
    /// Runs the first of its two functions if its first operand is true, otherwise the second, with
    /// the other operands as arguments, and returns the function's results. It does nothing else:
    /// the executor may run the function without calling the kernel.
    pub const CHOOSES: Self = Self(1 << 23);
    /// Has no effect, like a [pure](Self::PURE) op, so it may run at any time, or twice. But passes
    /// do not move it.
    pub const EFFECT_FREE: Self = Self(1 << 24);
    /// Is printed in generic form, although it can be parsed in its custom form.
    pub const PRINTED_GENERICALLY: Self = Self(1 << 25);
    /// Takes its attributes, and its functions by symbol, under any names: sorted by byte order of
    /// their names, they are those that it declares. The declared names are used only in
    /// documentation.
    pub const FREE_ATTRIBUTE_NAMES: Self = Self(1 << 28);
    /// Takes any number of attributes, with any names.
    pub const ANY_ATTRIBUTES: Self = Self(1 << 29);

    /// Returns the union of both sets.
    #[must_use]
    pub const fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Returns the names of the traits in this set: those of the constants, in lower case.
    ///
    /// ```
    /// use tfrt_ods::OpTraits;
    ///
    /// let traits = OpTraits::NON_STRICT.with(OpTraits::PURE);
    /// assert!(traits.names().eq(["pure", "non_strict"]));
    /// ```
    pub fn names(self) -> impl Iterator<Item = &'static str> {
        const NAMES: &[(OpTraits, &str)] = &[
            (OpTraits::TERMINATOR, "terminator"),
            (OpTraits::PURE, "pure"),
            (OpTraits::NON_STRICT, "non_strict"),
            (OpTraits::SYNC, "sync"),
            (OpTraits::BLOCKING, "blocking"),
            (OpTraits::NAMED_RESULTS, "named_results"),
            (OpTraits::ISOLATED, "isolated"),
            (OpTraits::CHEAP, "cheap"),
            (OpTraits::COST_ATTRIBUTE, "cost_attribute"),
            (OpTraits::CALL, "call"),
            (OpTraits::EXTRA_CHAIN, "extra_chain"),
            (OpTraits::OPTIONAL_CHAIN, "optional_chain"),
            (OpTraits::CONSTANT, "constant"),
            (OpTraits::CHAIN_SOURCE, "chain_source"),
            (OpTraits::CHAIN_MERGE, "chain_merge"),
            (OpTraits::ASYNC, "async"),
            (OpTraits::FORWARDS, "forwards"),
            (OpTraits::LOOPS, "loops"),
            (OpTraits::PARALLEL, "parallel"),
            (OpTraits::CHOOSES, "chooses"),
            (OpTraits::EFFECT_FREE, "effect_free"),
            (OpTraits::PRINTED_GENERICALLY, "printed_generically"),
            (OpTraits::FREE_ATTRIBUTE_NAMES, "free_attribute_names"),
            (OpTraits::ANY_ATTRIBUTES, "any_attributes"),
        ];
        NAMES
            .iter()
            .filter(move |(one, _)| self.contains(*one))
            .map(|(_, name)| *name)
    }

    /// Returns `true` if every trait of `other` is in this set.
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

/// The side effect of an op.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// No effect that another op could observe.
    None,
    /// An effect that keeps program order among the ops of the same class: `io`, `random`, the name
    /// of a resource.
    Ordered(&'static str),
    /// No effect, but the results depend on the effects of this class: the op is ordered with them,
    /// but not with others that only read. It may be removed if its results are unused.
    Reads(&'static str),
}

impl Effect {
    /// The default class of side effects.
    pub const IO: Self = Self::Ordered("io");
    /// The class of draws from a shared source of random numbers.
    pub const RANDOM: Self = Self::Ordered("random");

    /// Returns the class within which program order is kept, if the op has or reads effects.
    ///
    /// ```
    /// use tfrt_ods::Effect;
    ///
    /// assert_eq!(Effect::None.class(), None);
    /// assert_eq!(Effect::Reads("clock").class(), Effect::Ordered("clock").class());
    /// ```
    #[must_use]
    pub const fn class(self) -> Option<&'static str> {
        match self {
            Self::None => None,
            Self::Ordered(class) | Self::Reads(class) => Some(class),
        }
    }
}
