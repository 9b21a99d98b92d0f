//! Rewrites: ops in place of others that compute the same with less work.
//!
//! A [`Rule`] is declared with [`rewrite!`](macro@crate::rewrite), by a pattern and a replacement,
//! and collected at link time like a kernel:
//!
//! ```
//! use tfrt_function_ops::rewrite;
//! use tfrt_function_ops::rewrite::Rule;
//!
//! rewrite! {
//!     /// Twice the opposite is the number itself.
//!     "my-double-negation" (1): [my.Neg(my.Neg(x))] => [x];
//! }
//!
//! let rule = Rule::all().into_iter().find(|rule| rule.name == "my-double-negation").unwrap();
//! assert_eq!(rule.to_string(), "my.Neg(my.Neg(x)) => x");
//! ```
//!
//! # Patterns
//!
//! ```text
//! pattern     := value | op `(` (pattern (`,` pattern)*)? `)`
//! replacement := like a pattern
//! ```
//!
//! A name matches any value; two occurrences match the same value. In a replacement, a name may
//! also be a constant that the rule made. A condition (`where`) examines the [match](Match), and a
//! function (`with`) sets attributes and constants of the [replacement](Replacement); ops are
//! counted from 0 in the order in which they are written.
//!
//! # What every rewrite keeps
//!
//! - Only ops without effects and without an order match, all of them on one device, and only first
//!   results: the others are unused.
//! - A value that the replacement omits must be a constant. The replacement therefore waits for
//!   everything that the original waited for.
//! - A rule does not apply if it would change the known element type or shape of the result.
//!
//! Rules apply greedily, those of greater benefit first, until none does. If this does not end
//! within a [limit](MAX_REWRITES_PER_OP), the function fails with an error.

mod apply;

mod found;

mod made;

pub mod library;

use std::fmt;

use tfrt_ods::SourcePlace;
use tfrt_support::nearest::{did_you_mean, nearest};
use tfrt_support::{Diagnostic, Place};

pub use apply::{MAX_REWRITES_PER_OP, explain_rewrites, rewrite};
pub use found::Match;
pub use made::Replacement;

/// One rewrite; see the [module](self).
#[derive(Clone, Copy, Debug)]
pub struct Rule {
    /// Its name.
    pub name: &'static str,
    /// What it does, in a sentence.
    pub summary: &'static str,
    /// Of several rules that match, the one of the greatest benefit applies; of equals, the first
    /// by name.
    pub benefit: u32,
    /// What it applies to.
    pub pattern: Pattern,
    /// What takes its place.
    pub replacement: Pattern,
    /// Whether it applies to what was found.
    pub condition: fn(&Match<'_>) -> bool,
    /// Sets the attributes and the constants of what is made.
    pub attributes: fn(&Match<'_>, &mut Replacement),
    /// Where it is declared.
    pub place: SourcePlace,
}

inventory::collect!(Rule);

/// A tree of ops over values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pattern {
    /// Any value, by a name.
    Value(&'static str),
    /// An op of this name, on these operands.
    Op(&'static str, &'static [Pattern]),
}

impl Rule {
    /// Returns every linked rule, the greatest benefit first.
    #[must_use]
    pub fn all() -> Vec<&'static Self> {
        let mut all: Vec<&Self> = inventory::iter::<Self>.into_iter().collect();
        all.sort_by_key(|rule| (std::cmp::Reverse(rule.benefit), rule.name));
        all
    }

    /// Returns the rules of these names, in their order; all of them without a name.
    ///
    /// # Errors
    /// If no rule has one of the names.
    pub fn named<'a>(
        names: impl IntoIterator<Item = &'a str>,
    ) -> Result<Vec<&'static Self>, Box<Diagnostic>> {
        let mut all = Self::all();
        let names: Vec<&str> = names.into_iter().collect();
        for name in &names {
            if all.iter().all(|rule| rule.name != *name) {
                let hint = did_you_mean(&nearest(name, all.iter().map(|rule| rule.name)));
                let message = format!("there is no rule `{name}`{hint}");
                return Err(Box::new(Diagnostic::error(Place::Unknown, message)));
            }
        }
        all.retain(|rule| names.is_empty() || names.contains(&rule.name));
        Ok(all)
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} => {}", self.pattern, self.replacement)
    }
}

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Value(name) => f.write_str(name),
            Self::Op(name, operands) => {
                write!(f, "{name}(")?;
                for (index, operand) in operands.iter().enumerate() {
                    let comma = if index == 0 { "" } else { ", " };
                    write!(f, "{comma}{operand}")?;
                }
                f.write_str(")")
            }
        }
    }
}

/// Declares a [`Rule`](crate::rewrite::Rule): a documentation comment, a name, a benefit, a pattern
/// and a replacement, then a condition behind `where` and a function behind `with`, if there are
/// any.
///
/// ```
/// use tfrt_attr::AttrValue;
/// use tfrt_function_ops::rewrite;
///
/// rewrite! {
///     /// A sum behind a product is one op, unless the product is needed elsewhere.
///     "my-multiply-add" (5): [my.Add(my.Mul(a, b), c)] => [my.MultiplyAdd(a, b, c)];
///     where |found| found.is_used_once(1) && found.rank("c") == Some(1);
///     with |_found, made| made.set(0, "mode", AttrValue::string("exact"));
/// }
/// ```
#[macro_export]
macro_rules! rewrite {
    (
        $(#[doc = $doc:literal])+
        $name:literal ($benefit:literal): [$($pattern:tt)*] => [$($replacement:tt)*];
        $(where $condition:expr;)?
        $(with $attributes:expr;)?
    ) => {
        $crate::__private::submit! {
            $crate::rewrite::Rule {
                name: $name,
                summary: $crate::__private::without_blank($crate::__private::concat!($($doc),+)),
                benefit: $benefit,
                pattern: $crate::rewrite_pattern!(@one $($pattern)*),
                replacement: $crate::rewrite_pattern!(@one $($replacement)*),
                condition: $crate::rewrite_default!([$($condition)?] |_| true),
                attributes: $crate::rewrite_default!([$($attributes)?] |_, _| ()),
                place: $crate::__private::SourcePlace {
                    file: $crate::__private::file!(),
                    line: $crate::__private::line!(),
                },
            }
        }
    };
}

/// A [`Pattern`](crate::rewrite::Pattern) as it is written in a rule.
#[doc(hidden)]
#[macro_export]
macro_rules! rewrite_pattern {
    (@one $value:ident) => {
        $crate::rewrite::Pattern::Value($crate::__private::stringify!($value))
    };
    (@one $dialect:ident . $op:ident ( $($operands:tt)* )) => {
        $crate::rewrite::Pattern::Op(
            $crate::__private::concat!(
                $crate::__private::stringify!($dialect),
                ".",
                $crate::__private::stringify!($op)
            ),
            $crate::rewrite_pattern!(@list [] $($operands)*),
        )
    };
    (@list [$($done:expr),*]) => { &[$($done),*] };
    (@list [$($done:expr),*] $dialect:ident . $op:ident ( $($operands:tt)* ) $(, $($rest:tt)*)?) => {
        $crate::rewrite_pattern!(
            @list [$($done,)* $crate::rewrite_pattern!(@one $dialect . $op ( $($operands)* ))]
            $($($rest)*)?
        )
    };
    (@list [$($done:expr),*] $value:ident $(, $($rest:tt)*)?) => {
        $crate::rewrite_pattern!(
            @list [$($done,)* $crate::rewrite_pattern!(@one $value)] $($($rest)*)?
        )
    };
}

/// What is given, or what stands in for it.
#[doc(hidden)]
#[macro_export]
macro_rules! rewrite_default {
    ([] $default:expr) => {
        $default
    };
    ([$given:expr] $default:expr) => {
        $given
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_are_read_as_they_are_written() {
        let pattern = crate::rewrite_pattern!(@one a.Add(a._Mul(x, y), b.One(), x));
        assert_eq!(pattern.to_string(), "a.Add(a._Mul(x, y), b.One(), x)");
        assert_eq!(crate::rewrite_pattern!(@one x), Pattern::Value("x"));
    }

    #[test]
    fn rules_have_names_of_their_own_and_no_value_from_nowhere() {
        fn names(pattern: &Pattern, into: &mut Vec<&'static str>) {
            match pattern {
                Pattern::Value(name) => into.push(name),
                Pattern::Op(_, operands) => {
                    operands.iter().for_each(|operand| names(operand, into))
                }
            }
        }
        let all = Rule::all();
        assert!(all.len() >= 12);
        for (index, rule) in all.iter().enumerate() {
            assert!(
                all[index + 1..].iter().all(|other| other.name != rule.name),
                "{}",
                rule.name
            );
            assert!(!rule.summary.is_empty() && matches!(rule.pattern, Pattern::Op(..)));
            let mut found = Vec::new();
            names(&rule.pattern, &mut found);
            assert!(!found.is_empty(), "{rule}");
        }
    }
}
