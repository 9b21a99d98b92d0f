//! Catalogues: collections of declarations, in the order in which they are documented and exported.
//!
//! A [`Catalogue`] contains declarations that were collected at link time or explicitly; the
//! [writers](crate::write) turn it into documents. Its order depends only on names, not on the
//! order of collection.

mod family;

use crate::constraint::TypeConstraint;
use crate::dialect::DialectDef;
use crate::op::OpDef;
use crate::traits::OpTraits;

pub use family::Family;

/// Declarations by name, and the properties of their dialects.
///
/// ```
/// use tfrt_ods::catalogue::{Catalogue, CatalogueEntry};
/// use tfrt_ods::{DialectDef, OpDef};
///
/// static ADD: OpDef = OpDef::new("my.add.i32");
/// static STOP: OpDef = OpDef::new("your.stop");
///
/// let all = Catalogue::new([DialectDef::new("my")], [CatalogueEntry::kernel(&STOP), CatalogueEntry::kernel(&ADD)]);
/// let names: Vec<_> = all.entries().iter().map(|entry| entry.op.name).collect();
/// assert_eq!(names, ["my.add.i32", "your.stop"]);
/// assert_eq!(all.select(&["my.*.i32"]).entries().len(), 1);
/// ```
#[derive(Clone, Debug, Default)]
pub struct Catalogue<'a> {
    dialects: Vec<DialectDef>,
    entries: Vec<CatalogueEntry<'a>>,
}

/// A declaration, and whether it has a kernel.
#[derive(Clone, Copy, Debug)]
pub struct CatalogueEntry<'a> {
    /// The declaration.
    pub op: &'a OpDef,
    /// `true` if a kernel runs the op.
    pub has_kernel: bool,
}

/// The place where an op runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Execution {
    /// On the thread that dispatches it, before the next one.
    Inline,
    /// As a future, polled by the work queue.
    Async,
    /// On the pool for blocking work.
    Blocking,
    /// In the interpreter of synchronous functions.
    Sync,
    /// Not at all by itself: it ends its block.
    Terminator,
    /// Nowhere: it has no kernel.
    Nowhere,
}

/// The ops of one dialect.
#[derive(Clone, Copy, Debug)]
pub struct Section<'c, 'a> {
    /// The dialect; if it was not declared, only its name is known.
    pub dialect: DialectDef,
    /// Its ops, sorted by name.
    pub entries: &'c [CatalogueEntry<'a>],
}

impl<'a> CatalogueEntry<'a> {
    /// Creates an entry for an op that has a kernel.
    #[must_use]
    pub const fn kernel(op: &'a OpDef) -> Self {
        Self {
            op,
            has_kernel: true,
        }
    }

    /// Creates an entry for an op that is only declared.
    #[must_use]
    pub const fn declaration(op: &'a OpDef) -> Self {
        Self {
            op,
            has_kernel: false,
        }
    }

    /// Returns where the op runs.
    #[must_use]
    pub const fn execution(&self) -> Execution {
        let traits = self.op.traits;
        if traits.contains(OpTraits::TERMINATOR) {
            Execution::Terminator
        } else if !self.has_kernel {
            Execution::Nowhere
        } else if traits.contains(OpTraits::SYNC) {
            Execution::Sync
        } else if traits.contains(OpTraits::BLOCKING) {
            Execution::Blocking
        } else if traits.contains(OpTraits::ASYNC) {
            Execution::Async
        } else {
            Execution::Inline
        }
    }
}

impl<'a> Catalogue<'a> {
    /// Creates a catalogue of these dialects and ops.
    #[must_use]
    pub fn new(
        dialects: impl IntoIterator<Item = DialectDef>,
        entries: impl IntoIterator<Item = CatalogueEntry<'a>>,
    ) -> Self {
        let mut dialects: Vec<_> = dialects.into_iter().collect();
        dialects.sort_by_key(|dialect| dialect.name);
        let mut entries: Vec<_> = entries.into_iter().collect();
        // Sort by dialect first: `ts.x` comes before `ts_sync.x`, although `.` would not be
        // compared with `_` like that.
        entries.sort_by_key(|entry| (entry.op.dialect(), entry.op.name));
        Self { dialects, entries }
    }

    /// Returns the declared dialects, sorted by name.
    #[must_use]
    pub fn dialects(&self) -> &[DialectDef] {
        &self.dialects
    }

    /// Returns the ops, sorted by dialect and name.
    #[must_use]
    pub fn entries(&self) -> &[CatalogueEntry<'a>] {
        &self.entries
    }

    /// Returns the op with this name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&CatalogueEntry<'a>> {
        self.entries.iter().find(|entry| entry.op.name == name)
    }

    /// Returns the ops that match one of these patterns, with their dialects and those of their
    /// types. A pattern is a name, the first segments of names, or contains `*` for any text:
    /// `tfrt.add.i32`, `tfrt.add`, `tfrt.*.i32`.
    #[must_use]
    pub fn select(&self, patterns: &[&str]) -> Self {
        let is_wanted = |name: &str| patterns.iter().any(|pattern| matches(pattern, name));
        let entries = self.entries.iter().copied();
        let entries: Vec<_> = entries.filter(|entry| is_wanted(entry.op.name)).collect();
        let mut selected = Self {
            dialects: Vec::new(),
            entries,
        };
        let types = selected.types();
        selected.dialects = self
            .dialects
            .iter()
            .filter(|dialect| {
                types.iter().any(|(of, _)| *of == dialect.name)
                    || selected
                        .entries
                        .iter()
                        .any(|entry| entry.op.dialect() == dialect.name)
            })
            .copied()
            .collect();
        selected
    }

    /// Returns one section for each dialect that has ops.
    #[must_use]
    pub fn sections(&self) -> Vec<Section<'_, 'a>> {
        self.entries
            .chunk_by(|a, b| a.op.dialect() == b.op.dialect())
            .map(|entries| Section {
                dialect: self.dialect(entries[0].op.dialect()),
                entries,
            })
            .collect()
    }

    /// Returns the declaration of a dialect, or one that has only the name if it is not declared.
    #[must_use]
    pub fn dialect(&self, name: &'static str) -> DialectDef {
        self.dialects
            .iter()
            .find(|dialect| dialect.name == name)
            .copied()
            .unwrap_or(DialectDef::new(name))
    }

    /// Returns the dialect types named by ops and those declared by dialects, sorted, each as its
    /// dialect and its name within that.
    #[must_use]
    pub fn types(&self) -> Vec<(&'static str, &'static str)> {
        let stated = self
            .dialects
            .iter()
            .flat_map(|dialect| dialect.types.iter().map(|ty| (dialect.name, *ty)));
        let named = self.entries.iter().flat_map(|entry| {
            let operands = entry.op.operands.iter().map(|operand| operand.ty);
            let results = entry.op.results.iter().map(|result| result.ty);
            operands
                .chain(results)
                .flat_map(spellings)
                .filter_map(dialect_type)
        });
        let mut types: Vec<_> = stated.chain(named).collect();
        types.sort_unstable();
        types.dedup();
        types
    }
}

/// Returns the spellings that a constraint names.
fn spellings(ty: TypeConstraint) -> Vec<&'static str> {
    match ty {
        TypeConstraint::Exact(spelling) => vec![spelling],
        TypeConstraint::OneOf(spellings) => spellings.to_vec(),
        TypeConstraint::Any | TypeConstraint::SameAs(_) => Vec::new(),
    }
}

/// Splits a type into its dialect and its name there: `("tfrt", "chain")` for `!tfrt.chain`.
pub(crate) fn dialect_type(spelling: &str) -> Option<(&str, &str)> {
    spelling.strip_prefix('!')?.split_once('.')
}

/// Returns `true` if a pattern matches a name.
fn matches(pattern: &str, name: &str) -> bool {
    if pattern.contains('*') {
        return matches_glob(pattern, name);
    }
    let family = pattern.strip_suffix('.').unwrap_or(pattern);
    name.strip_prefix(family)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

/// Returns `true` if the parts of the pattern between stars occur in `name` in order, from start to
/// end.
fn matches_glob(pattern: &str, name: &str) -> bool {
    let mut parts = pattern.split('*');
    let Some(mut rest) = parts.next().and_then(|first| name.strip_prefix(first)) else {
        return false;
    };
    let mut parts = parts.peekable();
    while let Some(part) = parts.next() {
        if parts.peek().is_none() {
            return rest.ends_with(part);
        }
        match rest.find(part) {
            Some(position) => rest = &rest[position + part.len()..],
            None => return false,
        }
    }
    rest.is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::op::OperandDef;

    #[test]
    fn patterns_select_names_families_and_globs() {
        for (pattern, selected) in [
            ("tfrt.add.i32", &["tfrt.add.i32"][..]),
            ("tfrt.add", &["tfrt.add.i32", "tfrt.add.i64"]),
            ("tfrt.add.", &["tfrt.add.i32", "tfrt.add.i64"]),
            ("tfrt.ad", &[]),
            ("*.i32", &["tfrt.add.i32", "tfrt_test.x.i32"]),
            ("tfrt*x*", &["tfrt_test.x.i32"]),
            ("tfrt.*d*64", &["tfrt.add.i64"]),
            ("*add", &[]),
            ("*", &["tfrt.add.i32", "tfrt.add.i64", "tfrt_test.x.i32"]),
        ] {
            let names = ["tfrt.add.i32", "tfrt.add.i64", "tfrt_test.x.i32"];
            let found: Vec<_> = names
                .into_iter()
                .filter(|name| matches(pattern, name))
                .collect();
            assert_eq!(found, selected, "{pattern}");
        }
    }

    #[test]
    fn a_selection_keeps_the_dialects_that_it_needs() {
        static TAKES: OpDef = OpDef {
            operands: &[OperandDef::new("x", TypeConstraint::Exact("!b.x"))],
            ..OpDef::new("a.takes")
        };
        static OTHER: OpDef = OpDef::new("c.other");
        let all = Catalogue::new(
            ["c", "b", "a"].map(DialectDef::new),
            [
                CatalogueEntry::kernel(&OTHER),
                CatalogueEntry::declaration(&TAKES),
            ],
        );
        let names = |catalogue: &Catalogue<'_>| {
            let dialects = catalogue.dialects().iter().map(|dialect| dialect.name);
            dialects.collect::<Vec<_>>()
        };
        assert_eq!(names(&all), ["a", "b", "c"]);
        let some = all.select(&["a"]);
        assert_eq!(names(&some), ["a", "b"]);
        assert_eq!(some.types(), [("b", "x")]);
        assert_eq!(some.entries()[0].execution(), Execution::Nowhere);
        assert_eq!(some.sections().len(), 1);
    }
}
