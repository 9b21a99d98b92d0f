//! Families: ops that differ only in their types, such as the instances of one generic function.

use crate::op::{Arity, FunctionForm, OpDef, SourcePlace};

use super::{CatalogueEntry, Section};

/// Ops that share one documentation text: they are declared at one place, and have everything but
/// names and types in common.
#[derive(Clone, Debug)]
pub struct Family<'a> {
    /// The ops, sorted by name. There is at least one.
    pub members: Vec<CatalogueEntry<'a>>,
}

impl<'a> Section<'_, 'a> {
    /// Groups the ops of the section into families, each at the position of its first member.
    #[must_use]
    pub fn families(&self) -> Vec<Family<'a>> {
        let mut families: Vec<Family<'a>> = Vec::new();
        for entry in self.entries {
            let family = families
                .iter_mut()
                .find(|family| are_related(family.first(), entry));
            match family {
                Some(family) => family.members.push(*entry),
                None => families.push(Family {
                    members: vec![*entry],
                }),
            }
        }
        families
    }
}

impl<'a> Family<'a> {
    /// Returns the member that represents the others.
    #[must_use]
    pub fn first(&self) -> &CatalogueEntry<'a> {
        &self.members[0]
    }

    /// Returns the names of all members in one: `my.add.{f32, i32}`. If they are not the product of
    /// their segments, they are listed.
    #[must_use]
    pub fn name(&self) -> String {
        self.pattern().unwrap_or_else(|| {
            let names: Vec<_> = self.members.iter().map(|entry| entry.op.name).collect();
            names.join(", ")
        })
    }

    fn pattern(&self) -> Option<String> {
        let names = || self.members.iter().map(|entry| entry.op.name);
        let num_segments = self.first().op.name.split('.').count();
        if names().any(|name| name.split('.').count() != num_segments) {
            return None;
        }
        let mut num_names = 1;
        let mut pattern = Vec::new();
        for index in 0..num_segments {
            let mut choices: Vec<&str> = Vec::new();
            for choice in names().filter_map(|name| name.split('.').nth(index)) {
                if !choices.contains(&choice) {
                    choices.push(choice);
                }
            }
            num_names *= choices.len();
            pattern.push(match choices[..] {
                [one] => one.to_owned(),
                _ => format!("{{{}}}", choices.join(", ")),
            });
        }
        // Names are distinct, so all combinations exist if their number equals that of the names.
        (num_names == self.members.len()).then(|| pattern.join("."))
    }
}

/// Returns `true` if two ops have everything but names and types in common.
fn are_related(one: &CatalogueEntry<'_>, other: &CatalogueEntry<'_>) -> bool {
    fn parts(def: &OpDef) -> impl PartialEq {
        let operands = def.operands.iter();
        let operands: Vec<(&str, Arity, bool, bool)> = operands
            .map(|one| (one.name, one.arity, one.is_mutated, one.is_reference))
            .collect();
        let results = def.results.iter();
        let results: Vec<(&str, Arity, Option<&str>)> = results
            .map(|one| (one.name, one.arity, one.alias_of))
            .collect();
        let attributes: Vec<&str> = def.attributes.iter().map(|one| one.name).collect();
        let functions: Vec<(&str, FunctionForm)> = def
            .functions
            .iter()
            .map(|one| (one.name, one.form))
            .collect();
        (operands, results, attributes, functions)
    }
    let (a, b) = (one.op, other.op);
    a.place != SourcePlace::UNKNOWN
        && a.place == b.place
        && one.has_kernel == other.has_kernel
        && (a.summary, a.description) == (b.summary, b.description)
        && (a.traits, a.effect, a.assembly_format) == (b.traits, b.effect, b.assembly_format)
        && parts(a) == parts(b)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalogue::Catalogue;

    fn check(names: &[&'static str], expected: &[&str]) {
        let place = SourcePlace {
            file: "add.rs",
            line: 1,
        };
        let defs: Vec<_> = names
            .iter()
            .map(|name| OpDef {
                place,
                ..OpDef::new(name)
            })
            .collect();
        let catalogue = Catalogue::new([], defs.iter().map(CatalogueEntry::kernel));
        let sections = catalogue.sections();
        let families = sections.iter().flat_map(Section::families);
        let found: Vec<_> = families.map(|family| family.name()).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn names_of_a_family_are_a_pattern_if_they_are_a_product() {
        check(&["my.add.i32", "my.add.f32"], &["my.add.{f32, i32}"]);
        check(
            &["my.a.x.0", "my.a.x.1", "my.a.y.0", "my.a.y.1"],
            &["my.a.{x, y}.{0, 1}"],
        );
        check(&["my.a.x.0", "my.a.y.1"], &["my.a.x.0, my.a.y.1"]);
        check(&["my.a", "my.a.b"], &["my.a, my.a.b"]);
    }

    #[test]
    fn what_differs_in_more_than_types_is_no_family() {
        static ONE: OpDef = OpDef {
            summary: "One.",
            place: SourcePlace {
                file: "x.rs",
                line: 1,
            },
            ..OpDef::new("my.one")
        };
        static TWO: OpDef = OpDef {
            summary: "Two.",
            name: "my.two",
            ..ONE
        };
        let catalogue = Catalogue::new(
            [],
            [CatalogueEntry::kernel(&ONE), CatalogueEntry::kernel(&TWO)],
        );
        assert_eq!(catalogue.sections()[0].families().len(), 2);
    }
}
