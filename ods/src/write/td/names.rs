//! TableGen and C++ names for the names in programs.

use std::collections::{BTreeMap, BTreeSet};

use crate::catalogue::Catalogue;
use crate::op::OpDef;

/// The names of records: those of dialects, types and ops.
pub(super) struct Symbols {
    dialects: BTreeMap<&'static str, String>,
    /// By spelling, without the mark.
    types: BTreeMap<String, String>,
    ops: BTreeMap<&'static str, String>,
}

impl Symbols {
    /// Creates the names of everything in a catalogue, with these types. They are distinct, and
    /// depend on nothing else.
    pub(super) fn new(catalogue: &Catalogue<'_>, types: &[(&'static str, &'static str)]) -> Self {
        let stated = catalogue.dialects().iter().map(|dialect| dialect.name);
        let of_ops = catalogue.entries().iter().map(|entry| entry.op.dialect());
        let of_types = types.iter().map(|(dialect, _)| *dialect);
        // MLIR itself has that dialect.
        let names: BTreeSet<_> = stated
            .chain(of_ops)
            .chain(of_types)
            .filter(|name| *name != "builtin")
            .collect();
        let mut taken = BTreeSet::new();
        let mut dialects = BTreeMap::new();
        for name in names {
            dialects.insert(name, distinct(camel(name), &mut taken));
        }
        let prefix = |dialect: &str| match dialects.get(dialect) {
            Some(prefix) => prefix.clone(),
            None => camel(dialect),
        };
        let types = types.iter().map(|&(dialect, name)| {
            let symbol = format!("{}_{}Type", prefix(dialect), camel(name));
            (format!("{dialect}.{name}"), distinct(symbol, &mut taken))
        });
        let types = types.collect();
        let ops = catalogue.entries().iter().map(|entry| {
            let name = entry.op.name;
            let mnemonic = name.split_once('.').map_or("", |(_, rest)| rest);
            let symbol = format!("{}_{}Op", prefix(entry.op.dialect()), camel(mnemonic));
            (name, distinct(symbol, &mut taken))
        });
        let ops = ops.collect();
        Self {
            dialects,
            types,
            ops,
        }
    }

    /// Returns the dialects, in order.
    pub(super) fn dialect_names(&self) -> impl Iterator<Item = &'static str> {
        self.dialects
            .keys()
            .copied()
            .collect::<Vec<_>>()
            .into_iter()
    }

    /// Returns the prefix of everything in a dialect.
    pub(super) fn dialect(&self, name: &str) -> &str {
        self.dialects.get(name).map_or("Builtin", |prefix| prefix)
    }

    /// Returns the record of a type.
    pub(super) fn ty(&self, dialect: &str, name: &str) -> &str {
        let record = self.types.get(&format!("{dialect}.{name}"));
        record.map_or("AnyType", |record| record)
    }

    /// Returns the record of an op.
    pub(super) fn op(&self, name: &str) -> &str {
        &self.ops[name]
    }
}

/// The C++ names of the parts of one op: distinct, and not C++ keywords. Attributes and functions
/// by symbol keep their names, which programs show.
pub(super) struct OpNames {
    /// By operand.
    pub(super) operands: Vec<String>,
    /// By result.
    pub(super) results: Vec<String>,
    /// By function.
    pub(super) functions: Vec<String>,
    /// The name of the undeclared chain.
    pub(super) extra_chain: String,
}

impl OpNames {
    pub(super) fn new(def: &OpDef) -> Self {
        let attributes = def.attributes.iter().map(|attribute| attribute.name);
        let mut taken: BTreeSet<String> = attributes.map(str::to_owned).collect();
        let mut name = |name: &str| {
            let mut name = name.to_owned();
            while is_reserved(&name) || !taken.insert(name.clone()) {
                name.push('_');
            }
            name
        };
        // Functions by symbol are attributes: they come first, and are never renamed.
        let functions: Vec<_> = def
            .functions
            .iter()
            .map(|function| name(function.name))
            .collect();
        Self {
            operands: def
                .operands
                .iter()
                .map(|operand| name(operand.name))
                .collect(),
            results: def.results.iter().map(|result| name(result.name)).collect(),
            functions,
            extra_chain: name("extra_chain"),
        }
    }
}

/// Returns `CreateTensor_I32_0` for `create_tensor.i32.0`: the words without their separators,
/// except between digits.
pub(super) fn camel(name: &str) -> String {
    let mut camel = String::new();
    for word in name.split(|c: char| !c.is_ascii_alphanumeric()) {
        let mut chars = word.chars();
        let Some(first) = chars.next() else {
            continue;
        };
        if first.is_ascii_digit() && camel.ends_with(|c: char| c.is_ascii_digit()) {
            camel.push('_');
        }
        camel.push(first.to_ascii_uppercase());
        camel.extend(chars);
    }
    camel
}

/// Returns the C++ namespace of a dialect.
pub(super) fn namespace(dialect: &str) -> String {
    let name: String = dialect
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() { c } else { '_' })
        .collect();
    format!("::{name}{}", if is_reserved(&name) { "_" } else { "" })
}

/// Returns the symbol, with the first free number appended if it is taken.
fn distinct(symbol: String, taken: &mut BTreeSet<String>) -> String {
    let mut distinct = symbol.clone();
    let mut number = 2;
    while !taken.insert(distinct.clone()) {
        distinct = format!("{symbol}_{number}");
        number += 1;
    }
    distinct
}

/// Returns `true` if a word is reserved in C++.
fn is_reserved(word: &str) -> bool {
    const WORDS: &[&str] = &[
        "alignas",
        "alignof",
        "and",
        "and_eq",
        "asm",
        "auto",
        "bitand",
        "bitor",
        "bool",
        "break",
        "case",
        "catch",
        "char",
        "class",
        "compl",
        "concept",
        "const",
        "consteval",
        "constexpr",
        "constinit",
        "const_cast",
        "continue",
        "co_await",
        "co_return",
        "co_yield",
        "decltype",
        "default",
        "delete",
        "do",
        "double",
        "dynamic_cast",
        "else",
        "enum",
        "explicit",
        "export",
        "extern",
        "false",
        "float",
        "for",
        "friend",
        "goto",
        "if",
        "inline",
        "int",
        "long",
        "mutable",
        "namespace",
        "new",
        "noexcept",
        "not",
        "not_eq",
        "nullptr",
        "operator",
        "or",
        "or_eq",
        "private",
        "protected",
        "public",
        "register",
        "reinterpret_cast",
        "requires",
        "return",
        "short",
        "signed",
        "sizeof",
        "static",
        "static_assert",
        "static_cast",
        "struct",
        "switch",
        "template",
        "this",
        "thread_local",
        "throw",
        "true",
        "try",
        "typedef",
        "typeid",
        "typename",
        "union",
        "unsigned",
        "using",
        "virtual",
        "void",
        "volatile",
        "wchar_t",
        "while",
        "xor",
        "xor_eq",
    ];
    WORDS.contains(&word)
}
