//! The keys of options, and the syntax of each.

use tfrt_ods::OpTraits;
use tfrt_ods::{TraitDef, TraitOption};

/// The key of an option, grouped by the syntax of the option.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Key {
    /// Alone: `pure`.
    Flag(Flag),
    /// With a value: `effect = "random"`.
    Value(ValueKey),
    /// With a list: `regions(body)`.
    List(ListKey),
}

/// An option without a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flag {
    /// `side_effecting`: an effect of the class `io`.
    SideEffecting,
    /// `raw`: the function takes its frame.
    Raw,
    /// A trait of the op.
    Trait(OpTraits),
}

impl From<OpTraits> for Flag {
    fn from(one: OpTraits) -> Self {
        Self::Trait(one)
    }
}

/// An option with a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValueKey {
    /// `effect = "class"`
    Effect,
    /// `reads = "class"`
    Reads,
    /// `format = "assembly format"`
    Format,
    /// `verify = path`
    Verify,
    /// `fold = path`
    Fold,
    /// `metadata = path`
    Metadata,
    /// `workspace = path`
    Workspace,
    /// `chain = none`
    Chain,
    /// `attribute_names = free`
    AttributeNames,
    /// `kernel_set = Name`
    KernelSet,
    /// `crate = path`
    Crate,
}

/// An option with a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ListKey {
    /// `operands(name: type)`
    Operands,
    /// `results(name)`
    Results,
    /// `attrs(name: type)`
    Attrs,
    /// `symbols(name)`
    Symbols,
    /// `symbol_list(name)`
    SymbolList,
    /// `regions(name)`
    Regions,
    /// `alias(result = operand)`
    Alias,
}

const FLAGS: &[(&str, Flag)] = &[("side_effecting", Flag::SideEffecting), ("raw", Flag::Raw)];

/// Names, keys and examples.
const VALUES: &[(&str, ValueKey, &str)] = &[
    ("effect", ValueKey::Effect, "effect = \"random\""),
    ("reads", ValueKey::Reads, "reads = \"random\""),
    (
        "format",
        ValueKey::Format,
        "format = \"$a `,` $b attr-dict\"",
    ),
    ("verify", ValueKey::Verify, "verify = path::to::function"),
    ("fold", ValueKey::Fold, "fold = path::to::function"),
    (
        "metadata",
        ValueKey::Metadata,
        "metadata = path::to::function",
    ),
    (
        "workspace",
        ValueKey::Workspace,
        "workspace = path::to::function",
    ),
    ("chain", ValueKey::Chain, "chain = none"),
    (
        "attribute_names",
        ValueKey::AttributeNames,
        "attribute_names = free",
    ),
    ("kernel_set", ValueKey::KernelSet, "kernel_set = MyKernels"),
    ("crate", ValueKey::Crate, "crate = path::to::tfrt"),
];

/// Names, keys and examples.
const LISTS: &[(&str, ListKey, &str)] = &[
    (
        "operands",
        ListKey::Operands,
        "operands(cond: \"i1\", args: variadic any)",
    ),
    ("results", ListKey::Results, "results(quotient, remainder)"),
    ("attrs", ListKey::Attrs, "attrs(count: i64)"),
    ("symbols", ListKey::Symbols, "symbols(callee)"),
    ("symbol_list", ListKey::SymbolList, "symbol_list(branches)"),
    ("regions", ListKey::Regions, "regions(body)"),
    ("alias", ListKey::Alias, "alias(result = operand)"),
];

/// Returns the traits that are options.
fn traits() -> impl Iterator<Item = &'static TraitDef> {
    let traits = TraitDef::all().iter();
    traits.filter(|def| def.option != TraitOption::Derived)
}

impl Key {
    /// Returns the key with this name.
    pub(crate) fn of(name: &str) -> Option<Self> {
        if let Some((_, flag)) = FLAGS.iter().find(|(known, _)| *known == name) {
            return Some(Self::Flag(*flag));
        }
        if let Some(def) = traits().find(|def| def.name == name) {
            return Some(Self::Flag(def.set.into()));
        }
        if let Some((_, key, _)) = VALUES.iter().find(|(known, ..)| *known == name) {
            return Some(Self::Value(*key));
        }
        let (_, key, _) = LISTS.iter().find(|(known, ..)| *known == name)?;
        Some(Self::List(*key))
    }

    /// Returns the names of all keys.
    pub(crate) fn names() -> Vec<&'static str> {
        let flags = FLAGS.iter().map(|(name, _)| *name);
        let traits = traits().map(|def| def.name);
        let values = VALUES.iter().map(|(name, ..)| *name);
        let lists = LISTS.iter().map(|(name, ..)| *name);
        flags.chain(traits).chain(values).chain(lists).collect()
    }
}

impl ValueKey {
    /// Returns an option with this key.
    pub(crate) fn example(self) -> &'static str {
        let mut values = VALUES.iter();
        let found = values.find(|(_, key, _)| *key == self);
        found.map_or("", |(.., example)| example)
    }
}

impl ListKey {
    /// Returns an option with this key.
    pub(crate) fn example(self) -> &'static str {
        let mut lists = LISTS.iter();
        let found = lists.find(|(_, key, _)| *key == self);
        found.map_or("", |(.., example)| example)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_has_one_key() {
        let names = Key::names();
        for (index, name) in names.iter().enumerate() {
            assert!(Key::of(name).is_some(), "{name}");
            assert!(!names[..index].contains(name), "{name} is there twice");
        }
        assert_eq!(Key::of("async"), None);
    }

    #[test]
    fn an_example_starts_with_its_key() {
        for (name, key, _) in VALUES {
            assert!(key.example().starts_with(&format!("{name} = ")), "{name}");
        }
        for (name, key, _) in LISTS {
            assert!(key.example().starts_with(&format!("{name}(")), "{name}");
        }
    }
}
