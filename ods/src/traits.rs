//! Traits: properties of an op as a whole.
//!
//! The table at the end of this file has one entry for each trait: its documentation, its name, the
//! option that declares it, its wording in documents, and the traits that it excludes. Macros,
//! checks and writers read the table, so a new trait is a new entry. A trait that needs operands,
//! results or attributes of a certain shape also has a rule in [`crate::check`].

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

    /// Returns the union of both sets.
    #[must_use]
    pub const fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Returns `true` if every trait of `other` is in this set.
    #[must_use]
    pub const fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// Returns the traits in this set, in the order of the [table](TraitDef::all).
    ///
    /// ```
    /// use tfrt_ods::OpTraits;
    ///
    /// let traits = OpTraits::NON_STRICT.with(OpTraits::PURE);
    /// assert!(traits.iter().map(|def| def.name).eq(["pure", "non_strict"]));
    /// ```
    pub fn iter(self) -> impl Iterator<Item = &'static TraitDef> {
        TABLE.iter().filter(move |def| self.contains(def.set))
    }
}

impl BitOr for OpTraits {
    type Output = Self;

    fn bitor(self, other: Self) -> Self {
        self.with(other)
    }
}

/// The facts about one trait.
///
/// ```
/// use tfrt_ods::OpTraits;
/// use tfrt_ods::TraitDef;
///
/// let pure = TraitDef::all().iter().find(|def| def.name == "pure").expect("it is in the table");
/// assert_eq!((pure.set, pure.constant), (OpTraits::PURE, "PURE"));
/// ```
#[derive(Clone, Copy, Debug)]
pub struct TraitDef {
    /// The set of this trait alone.
    pub set: OpTraits,
    /// The name of its constant in [`OpTraits`].
    pub constant: &'static str,
    /// Its name in documents, and in the options of the macros.
    pub name: &'static str,
    /// The macros that have it as an option.
    pub option: TraitOption,
    /// A text that can follow "it" in documents for people. Traits without one are described with
    /// the effects or the execution of the op, or not at all.
    pub property: Option<&'static str>,
    /// The MLIR trait that means the same.
    pub mlir: Option<&'static str>,
    /// Traits that the same op cannot have, with the reasons.
    pub excludes: &'static [(OpTraits, &'static str)],
}

/// The macros in which a trait is an option.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TraitOption {
    /// All macros that declare ops.
    Everywhere,
    /// All except `#[tfrt_op]`, for this reason.
    NotOfTensorOps(&'static str),
    /// Only the macro for ops without kernels.
    WithoutKernel,
    /// None: macros derive it from the signature and from other options.
    Derived,
}

impl TraitDef {
    const fn new(set: OpTraits, constant: &'static str, name: &'static str) -> Self {
        Self {
            set,
            constant,
            name,
            option: TraitOption::Everywhere,
            property: None,
            mlir: None,
            excludes: &[],
        }
    }

    /// Returns all traits.
    #[must_use]
    pub const fn all() -> &'static [Self] {
        TABLE
    }
}

/// Defines the constants and the table. An entry consists of the documentation, the constant, its
/// bit, the name, and those fields of [`TraitDef`] that differ from [`TraitDef::new`].
macro_rules! op_traits {
    ($($(#[doc = $doc:literal])+ $constant:ident = $bit:literal, $name:literal { $($field:ident: $value:expr),* $(,)? })+) => {
        impl OpTraits {
            $(
                $(#[doc = $doc])+
                pub const $constant: Self = Self(1 << $bit);
            )+
        }

        const TABLE: &[TraitDef] = &[
            $(TraitDef {
                $($field: $value,)*
                ..TraitDef::new(OpTraits::$constant, stringify!($constant), $name)
            }),+
        ];
    };
}

op_traits! {
    /// Ends its block; not a kernel.
    TERMINATOR = 0, "terminator" {
        option: TraitOption::WithoutKernel,
        property: Some("ends its block"),
        mlir: Some("Terminator"),
    }
    /// Has no effect but its results, so it may be removed when they are unused.
    PURE = 1, "pure" {
        mlir: Some("Pure"),
        excludes: &[(OpTraits::EFFECT_FREE, "a pure op has no effects, and passes rely on that")],
    }
    /// Can start before every operand is available.
    NON_STRICT = 2, "non_strict" {
        option: TraitOption::NotOfTensorOps("an op runs when all of its operands are available"),
    }
    /// Runs in the interpreter of synchronous functions only.
    SYNC = 3, "sync" {
        option: TraitOption::NotOfTensorOps(
            "the interpreter of synchronous functions does not run ops: write a `#[tfrt_kernel]`"
        ),
        excludes: &[
            (OpTraits::BLOCKING, "the interpreter runs a synchronous op and waits for it"),
            (OpTraits::NON_STRICT, "operands of a synchronous op are always available"),
            (OpTraits::ASYNC, "a future runs on the work queue, not in the interpreter"),
        ],
    }
    /// Runs on the blocking pool.
    BLOCKING = 4, "blocking" {
        excludes: &[(OpTraits::ASYNC, "a future runs on the work queue, not on the blocking pool")],
    }
    /// Its printed results are named after their declaration.
    NAMED_RESULTS = 5, "named_results" {}
    /// Its regions see only their own block arguments.
    ISOLATED = 6, "isolated" {
        option: TraitOption::NotOfTensorOps("an op has no regions"),
        property: Some("has regions that can use only their own arguments"),
    }
    /// Has the cost of a return in stream analysis.
    CHEAP = 7, "cheap" {
        property: Some("costs as little as a return in stream analysis"),
    }
    /// Its attribute `_tfrt_cost` is its cost in stream analysis.
    COST_ATTRIBUTE = 8, "cost_attribute" {
        property: Some("its attribute `_tfrt_cost` is its cost in stream analysis"),
    }
    /// Only calls its function with its operands and returns the function's results. Passes may
    /// replace it with the body of the function, and the executor may run the function without
    /// calling the kernel.
    CALL = 9, "call" {
        option: TraitOption::NotOfTensorOps("an op has no functions"),
        property: Some("may be replaced with the body of the called function"),
    }
    /// Takes an undeclared additional chain as its last operand.
    EXTRA_CHAIN = 10, "extra_chain" {
        option: TraitOption::Derived,
        excludes: &[(OpTraits::OPTIONAL_CHAIN, "only one chain can come last")],
    }
    /// Its last operand and its last result are optional chains.
    OPTIONAL_CHAIN = 11, "optional_chain" {
        option: TraitOption::Derived,
    }
    /// Returns a constant: equal attributes produce equal values, so one op may replace several.
    CONSTANT = 12, "constant" {
        option: TraitOption::NotOfTensorOps(
            "a constant must be a kernel: write a `#[tfrt_kernel]`"
        ),
    }
    /// Takes nothing and returns a ready chain, the start of an order. Exactly one op has this
    /// trait.
    CHAIN_SOURCE = 13, "chain_source" {
        option: TraitOption::NotOfTensorOps("an op returns tensors"),
        excludes: &[(OpTraits::CHAIN_MERGE, "a chain source takes no operands that it could merge")],
    }
    /// Takes values of any types and returns a chain that is ready once all of them are available.
    /// Exactly one op has this trait.
    CHAIN_MERGE = 14, "chain_merge" {
        option: TraitOption::NotOfTensorOps("an op takes tensors"),
    }
    /// Is a future, which the work queue polls until its results are available.
    ASYNC = 15, "async" {
        option: TraitOption::Derived,
    }
    /// Passes its last operands to its functions as arguments, and returns their first results. A
    /// [`CALL`](Self::CALL) also does so.
    FORWARDS = 20, "forwards" {
        option: TraitOption::NotOfTensorOps("an op computes its own results"),
    }
    /// Runs its functions any number of times: each run takes the results of the previous one, and
    /// the last results are those of the op.
    LOOPS = 21, "loops" {
        option: TraitOption::NotOfTensorOps("an op has no functions"),
    }
    /// Runs its function concurrently for every part of a range, with two indices and then its last
    /// operands. The function returns nothing or a chain, and the only result is a chain that is
    /// ready when all runs are done.
    PARALLEL = 22, "parallel" {}
    /// Runs the first of its two functions if its first operand is true, otherwise the second, with
    /// the other operands as arguments, and returns the function's results. It does nothing else:
    /// the executor may run the function without calling the kernel.
    CHOOSES = 23, "chooses" {
        option: TraitOption::NotOfTensorOps("an op has no functions"),
    }
    /// Has no effect, like a [pure](Self::PURE) op, so it may run at any time, or twice. But passes
    /// do not move it.
    EFFECT_FREE = 24, "effect_free" {}
    /// Is printed in generic form, although it can be parsed in its custom form.
    PRINTED_GENERICALLY = 25, "printed_generically" {
        option: TraitOption::NotOfTensorOps("the kernel of an op has no custom form"),
        property: Some("is printed in generic form, but parsed in both forms"),
    }
    /// Takes its attributes, and its functions by symbol, under any names: sorted by byte order of
    /// their names, they are those that it declares. The declared names are used only in
    /// documentation.
    FREE_ATTRIBUTE_NAMES = 28, "free_attribute_names" {
        option: TraitOption::Derived,
        property: Some("takes attributes of any names that sort in the same order"),
        excludes: &[(OpTraits::ANY_ATTRIBUTES, "an op that takes any attributes cannot declare \
                                                attributes")],
    }
    /// Takes any number of attributes, with any names.
    ANY_ATTRIBUTES = 29, "any_attributes" {
        option: TraitOption::Derived,
        property: Some("takes any attributes"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_trait_has_a_bit_and_a_name_of_its_own() {
        let mut all = OpTraits::NONE;
        for def in TABLE {
            assert_eq!(def.name, def.constant.to_lowercase());
            assert_eq!(all.0 & def.set.0, 0, "the bit of `{}` is taken", def.name);
            all = all | def.set;
        }
        assert_eq!(all.iter().count(), TABLE.len());
    }

    #[test]
    fn no_trait_excludes_itself_or_is_excluded_twice() {
        let mut pairs = Vec::new();
        for def in TABLE {
            for (other, reason) in def.excludes {
                assert_ne!(def.set, *other, "{reason}");
                let pair = def.set.0 | other.0;
                assert!(
                    !pairs.contains(&pair),
                    "{} is stated twice: {reason}",
                    def.name
                );
                pairs.push(pair);
            }
        }
    }
}
