//! JSON: all declarations, for other tools.
//!
//! The document is an object. Its `version` is [`VERSION`], which increases when a member changes
//! its meaning or is removed, but not when one is added, so readers should skip unknown members.
//! Every member below is always present. Strings are the names and spellings of programs; lists are
//! in the order of the declaration, ops in that of the [`Catalogue`].
//! `ods/schema/declarations.schema.json` is the equivalent JSON schema.
//!
//! | object | member | value |
//! |---|---|---|
//! | document | `version` | `1` |
//! | | `dialects` | list of *dialect* |
//! | | `ops` | list of *op* |
//! | *dialect* | `name`, `summary`, `description` | strings |
//! | | `types` | the names of the types that it declares, without the prefix |
//! | | `unknown_types` | `"opaque"` or `"rejected"` |
//! | | `allows_unknown_ops`, `allows_inlining` | truth values |
//! | | `shape_attribute` | the keyword of its shape attributes, or `null` |
//! | *op* | `name`, `dialect`, `summary`, `description` | strings; the first includes the dialect |
//! | | `execution` | `"inline"`, `"async"`, `"blocking"`, `"sync"`, `"terminator"`, or `"nowhere"` if no kernel is linked |
//! | | `operands` | list of *operand* |
//! | | `attributes` | list of *attribute*: those that are not functions |
//! | | `functions` | list of *function* |
//! | | `results` | list of *result* |
//! | | `traits` | names of traits: `"pure"`, `"non_strict"`, … as the constants of [`OpTraits`], in lower case |
//! | | `effect` | the class within which program order is kept, or `null` |
//! | | `only_reads` | whether the op only depends on the effects of that class, and has none |
//! | | `assembly_format` | the custom form in the language of [`crate::format`], or `null` |
//! | | `has_verifier`, `has_folder`, `has_metadata`, `has_workspace` | whether the op has code for more rules, constants, metadata of results, or the size of a workspace |
//! | | `source` | `{"file": string, "line": number}`, or `null` |
//! | *operand* | `name` | string |
//! | | `type` | *type* |
//! | | `arity` | `"one"`, `"optional"` or `"variadic"` |
//! | | `is_mutated`, `is_reference` | truth values |
//! | *result* | `name`, `type`, `arity` | as above |
//! | | `alias_of` | the name of the operand that it shares memory with, or `null` |
//! | *type* | `kind` | `"exact"`, `"one_of"`, `"any"` or `"same_as"` |
//! | | `spelling`, `spellings`, `operand` | for the first, second and last kind: the type, the types, the operand |
//! | *attribute* | `name` | string |
//! | | `kind` | *kind* |
//! | | `default` | the default value, or `null` if there is none; floats that JSON cannot represent as numbers are strings: `"inf"`, `"-inf"`, `"NaN"` |
//! | | `is_optional` | whether it may be missing without a default |
//! | *kind* | `kind` | `"int"`, `"float"`, `"string"`, `"type"`, `"array"`, `"aggregate"`, `"dense"`, `"shape"`, `"compilation_unit"`, `"enum"` or `"any"` |
//! | | `width`, `is_unsigned` | for an `"int"`; width 1 is a truth value |
//! | | `type` | for a `"float"`: its spelling |
//! | | `element` | for an `"array"`: *kind* |
//! | | `name`, `width`, `sign`, `cases` | for an `"enum"`; `sign` is that of the integers in custom forms: `"signless"`, `"signed"` or `"unsigned"`; a case is `{"keyword": string, "value": number}` |
//! | *function* | `name` | string |
//! | | `form` | `"symbol"`, `"symbol_list"` or `"region"` |
//! | | `signature` | `{"arguments": [string, …], "results": [string, …]}`, the types that it must have, or `null` |

use std::fmt::Write as _;

use crate::catalogue::{Catalogue, CatalogueEntry, Execution};
use crate::constraint::{AttrKind, EnumSign, TypeConstraint};
use crate::dialect::{DialectDef, UnknownTypes};
use crate::effect::Effect;
use crate::op::{
    Arity, AttrDef, AttrDefault, FunctionDef, FunctionForm, OpDef, OperandDef, ResultDef,
    SourcePlace,
};
use crate::traits::OpTraits;

use super::prose::float_name;

/// The version of the document.
pub const VERSION: u32 = 1;

/// Writes a catalogue as JSON.
///
/// ```
/// use tfrt_ods::catalogue::{Catalogue, CatalogueEntry};
/// use tfrt_ods::OpDef;
///
/// static NOP: OpDef = OpDef::new("my.nop");
///
/// let text = tfrt_ods::write::json::json(&Catalogue::new([], [CatalogueEntry::kernel(&NOP)]));
/// assert!(text.starts_with("{\n  \"version\": 1,\n") && text.contains("\"name\": \"my.nop\""));
/// ```
#[must_use]
pub fn json(catalogue: &Catalogue<'_>) -> String {
    let document = Json::object([
        ("version", Json::Number(VERSION.to_string())),
        ("dialects", Json::list(catalogue.dialects(), dialect)),
        ("ops", Json::list(catalogue.entries(), op)),
    ]);
    let mut text = String::new();
    document.write(0, &mut text);
    text.push('\n');
    text
}

fn dialect(def: &DialectDef) -> Json<'_> {
    Json::object([
        ("name", Json::String(def.name)),
        ("summary", Json::String(def.summary)),
        ("description", Json::String(def.description)),
        ("types", Json::list(def.types, |ty| Json::String(ty))),
        (
            "unknown_types",
            Json::String(match def.unknown_types {
                UnknownTypes::Opaque => "opaque",
                UnknownTypes::Rejected(_) => "rejected",
            }),
        ),
        ("allows_unknown_ops", Json::Bool(def.allows_unknown_ops)),
        ("allows_inlining", Json::Bool(def.allows_inlining)),
        ("shape_attribute", Json::opt_string(def.shape_attribute)),
    ])
}

fn op<'a>(entry: &CatalogueEntry<'a>) -> Json<'a> {
    let def = entry.op;
    let execution = match entry.execution() {
        Execution::Inline => "inline",
        Execution::Async => "async",
        Execution::Blocking => "blocking",
        Execution::Sync => "sync",
        Execution::Terminator => "terminator",
        Execution::Nowhere => "nowhere",
    };
    let source = if def.place == SourcePlace::UNKNOWN {
        Json::Null
    } else {
        Json::object([
            ("file", Json::String(def.place.file)),
            ("line", Json::Number(def.place.line.to_string())),
        ])
    };
    Json::object([
        ("name", Json::String(def.name)),
        ("dialect", Json::String(def.dialect())),
        ("summary", Json::String(def.summary)),
        ("description", Json::String(def.description)),
        ("execution", Json::String(execution)),
        ("operands", Json::list(def.operands, operand)),
        ("attributes", Json::list(def.attributes, attribute)),
        (
            "functions",
            Json::list(def.functions, |one| function(def, one)),
        ),
        ("results", Json::list(def.results, result)),
        ("traits", Json::List(traits(def.traits))),
        ("effect", Json::opt_string(def.effect.class())),
        (
            "only_reads",
            Json::Bool(matches!(def.effect, Effect::Reads(_))),
        ),
        ("assembly_format", Json::opt_string(def.assembly_format)),
        ("has_verifier", Json::Bool(def.verifier.is_some())),
        ("has_folder", Json::Bool(def.folder.is_some())),
        ("has_metadata", Json::Bool(def.metadata.is_some())),
        ("has_workspace", Json::Bool(def.workspace.is_some())),
        ("source", source),
    ])
}

fn traits(traits: OpTraits) -> Vec<Json<'static>> {
    traits.iter().map(|def| Json::String(def.name)).collect()
}

fn operand(def: &OperandDef) -> Json<'_> {
    Json::object([
        ("name", Json::String(def.name)),
        ("type", type_(&def.ty)),
        ("arity", arity(def.arity)),
        ("is_mutated", Json::Bool(def.is_mutated)),
        ("is_reference", Json::Bool(def.is_reference)),
    ])
}

fn result(def: &ResultDef) -> Json<'_> {
    Json::object([
        ("name", Json::String(def.name)),
        ("type", type_(&def.ty)),
        ("arity", arity(def.arity)),
        ("alias_of", Json::opt_string(def.alias_of)),
    ])
}

fn type_(ty: &TypeConstraint) -> Json<'_> {
    match ty {
        TypeConstraint::Exact(spelling) => Json::object([
            ("kind", Json::String("exact")),
            ("spelling", Json::String(spelling)),
        ]),
        TypeConstraint::OneOf(spellings) => Json::object([
            ("kind", Json::String("one_of")),
            (
                "spellings",
                Json::list(spellings, |spelling| Json::String(spelling)),
            ),
        ]),
        TypeConstraint::Any => Json::object([("kind", Json::String("any"))]),
        TypeConstraint::SameAs(operand) => Json::object([
            ("kind", Json::String("same_as")),
            ("operand", Json::String(operand)),
        ]),
    }
}

fn arity(arity: Arity) -> Json<'static> {
    Json::String(match arity {
        Arity::One => "one",
        Arity::Optional => "optional",
        Arity::Variadic => "variadic",
    })
}

fn attribute(def: &AttrDef) -> Json<'_> {
    let default = match &def.default {
        None | Some(AttrDefault::Absent) => Json::Null,
        Some(AttrDefault::Bool(value)) => Json::Bool(*value),
        Some(AttrDefault::Int(value)) => Json::Number(value.to_string()),
        Some(AttrDefault::Float(value)) if value.is_finite() => Json::Number(format!("{value:?}")),
        Some(AttrDefault::Float(value)) => Json::Text(format!("{value:?}")),
        Some(AttrDefault::String(value)) => Json::String(value),
        Some(AttrDefault::EmptyArray) => Json::List(Vec::new()),
    };
    Json::object([
        ("name", Json::String(def.name)),
        ("kind", kind(&def.kind)),
        ("default", default),
        ("is_optional", Json::Bool(def.is_optional())),
    ])
}

fn kind(kind_of: &AttrKind) -> Json<'_> {
    let simple = |name| Json::object([("kind", Json::String(name))]);
    match kind_of {
        AttrKind::Int { width, is_unsigned } => Json::object([
            ("kind", Json::String("int")),
            ("width", Json::Number(width.to_string())),
            ("is_unsigned", Json::Bool(*is_unsigned)),
        ]),
        AttrKind::Float(float) => Json::object([
            ("kind", Json::String("float")),
            ("type", Json::String(float_name(*float))),
        ]),
        AttrKind::String => simple("string"),
        AttrKind::Type => simple("type"),
        AttrKind::Array(element) => {
            Json::object([("kind", Json::String("array")), ("element", kind(element))])
        }
        AttrKind::Aggregate => simple("aggregate"),
        AttrKind::Dense => simple("dense"),
        AttrKind::Shape => simple("shape"),
        AttrKind::CompilationUnit => simple("compilation_unit"),
        AttrKind::Enum(def) => Json::object([
            ("kind", Json::String("enum")),
            ("name", Json::String(def.name)),
            ("width", Json::Number(def.width.to_string())),
            ("sign", Json::String(sign(def.sign))),
            (
                "cases",
                Json::list(def.cases, |case| {
                    Json::object([
                        ("keyword", Json::String(case.keyword)),
                        ("value", Json::Number(case.value.to_string())),
                    ])
                }),
            ),
        ]),
        AttrKind::Any => simple("any"),
    }
}

fn sign(sign: EnumSign) -> &'static str {
    match sign {
        EnumSign::Signless => "signless",
        EnumSign::Signed => "signed",
        EnumSign::Unsigned => "unsigned",
    }
}

fn function<'a>(op: &'a OpDef, def: &'a FunctionDef) -> Json<'a> {
    let spellings = |types: &'static [&'static str]| Json::list(types, |ty| Json::String(ty));
    let mut signatures = op.signatures.iter();
    let signature = signatures.find(|signature| signature.function == def.name);
    let form = match def.form {
        FunctionForm::Symbol => "symbol",
        FunctionForm::OptionalSymbol => "optional_symbol",
        FunctionForm::SymbolList => "symbol_list",
        FunctionForm::Region => "region",
    };
    Json::object([
        ("name", Json::String(def.name)),
        ("form", Json::String(form)),
        (
            "signature",
            signature.map_or(Json::Null, |signature| {
                Json::object([
                    ("arguments", spellings(signature.arguments)),
                    ("results", spellings(signature.results)),
                ])
            }),
        ),
    ])
}

/// A JSON value.
enum Json<'a> {
    Null,
    Bool(bool),
    /// A number, as written.
    Number(String),
    String(&'a str),
    Text(String),
    List(Vec<Json<'a>>),
    Object(Vec<(&'static str, Json<'a>)>),
}

impl<'a> Json<'a> {
    fn object<const N: usize>(members: [(&'static str, Json<'a>); N]) -> Self {
        Self::Object(members.into())
    }

    fn list<T>(elements: &'a [T], write: impl Fn(&'a T) -> Json<'a>) -> Self {
        Self::List(elements.iter().map(write).collect())
    }

    fn opt_string(text: Option<&'a str>) -> Self {
        text.map_or(Self::Null, Self::String)
    }

    /// Returns `true` if the value is written on one line with others.
    fn is_short(&self) -> bool {
        match self {
            Self::List(elements) => elements.is_empty(),
            Self::Object(members) => {
                members.len() < 5 && members.iter().all(|(_, value)| value.is_short())
            }
            _ => true,
        }
    }

    fn write(&self, depth: usize, out: &mut String) {
        match self {
            Self::Null => out.push_str("null"),
            Self::Bool(value) => {
                let _ = write!(out, "{value}");
            }
            Self::Number(number) => out.push_str(number),
            Self::String(text) => write_string(text, out),
            Self::Text(text) => write_string(text, out),
            Self::List(elements) if elements.is_empty() => out.push_str("[]"),
            Self::List(elements) => {
                write_lines(["[", "]"], elements, depth, out, |element, out| {
                    element.write(depth + 1, out);
                })
            }
            Self::Object(members) if self.is_short() => {
                out.push('{');
                for (index, (name, value)) in members.iter().enumerate() {
                    out.push_str(if index == 0 { "" } else { ", " });
                    write_string(name, out);
                    out.push_str(": ");
                    value.write(depth, out);
                }
                out.push('}');
            }
            Self::Object(members) => {
                write_lines(["{", "}"], members, depth, out, |(name, value), out| {
                    write_string(name, out);
                    out.push_str(": ");
                    value.write(depth + 1, out);
                });
            }
        }
    }
}

/// Writes parts on separate lines, separated by commas.
fn write_lines<T>(
    [open, close]: [&str; 2],
    parts: &[T],
    depth: usize,
    out: &mut String,
    write: impl Fn(&T, &mut String),
) {
    out.push_str(open);
    for (index, part) in parts.iter().enumerate() {
        out.push_str(if index == 0 { "\n" } else { ",\n" });
        out.push_str(&"  ".repeat(depth + 1));
        write(part, out);
    }
    out.push('\n');
    out.push_str(&"  ".repeat(depth));
    out.push_str(close);
}

fn write_string(text: &str, out: &mut String) {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            '\r' => out.push_str("\\r"),
            c if c < ' ' => {
                let _ = write!(out, "\\u{:04x}", u32::from(c));
            }
            c => out.push(c),
        }
    }
    out.push('"');
}
