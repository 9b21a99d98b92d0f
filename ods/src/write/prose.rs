//! The wording of declared facts in documents for people.

use std::fmt::{self, Display};

use crate::catalogue::{CatalogueEntry, Execution};
use crate::constraint::{AttrKind, FloatKind, TypeConstraint};
use crate::effect::Effect;
use crate::op::{Arity, AttrDef, AttrDefault, FunctionDef, FunctionForm, OpDef, ResultDef};
use crate::traits::OpTraits;

/// The types of an operand or a result: `any number of i32 or i64`.
pub(super) struct Types(pub(super) TypeConstraint, pub(super) Arity);

impl Display for Types {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.1 {
            Arity::One => {}
            Arity::Optional => f.write_str("optional ")?,
            Arity::Variadic => f.write_str("any number of ")?,
        }
        match self.0 {
            TypeConstraint::Exact(ty) => f.write_str(ty),
            TypeConstraint::OneOf(types) => f.write_str(&types.join(" or ")),
            TypeConstraint::Any => f.write_str("any type"),
            TypeConstraint::SameAs(operand) => write!(f, "the type of `{operand}`"),
        }
    }
}

/// The values of an attribute: `a list, each element i64`.
pub(super) struct Kind(pub(super) AttrKind);

impl Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            AttrKind::Int {
                width,
                is_unsigned: false,
            } => write!(f, "i{width}"),
            AttrKind::Int {
                width,
                is_unsigned: true,
            } => write!(f, "ui{width}"),
            AttrKind::Float(kind) => f.write_str(float_name(kind)),
            AttrKind::String => f.write_str("a text"),
            AttrKind::Type => f.write_str("a type"),
            AttrKind::Array(element) => write!(f, "a list, each element {}", Self(*element)),
            AttrKind::Aggregate => f.write_str("a list of anything"),
            AttrKind::Dense => f.write_str("dense elements"),
            AttrKind::Shape => f.write_str("a shape"),
            AttrKind::CompilationUnit => f.write_str("a compiled function: `@module::@f`"),
            AttrKind::Enum(def) => {
                let keywords = def.cases.iter().map(|case| format!("`{}`", case.keyword));
                f.write_str(&keywords.collect::<Vec<_>>().join(" or "))
            }
            AttrKind::Any => f.write_str("anything"),
        }
    }
}

/// Returns the spelling of a floating point type.
pub(super) fn float_name(kind: FloatKind) -> &'static str {
    match kind {
        FloatKind::Bf16 => "bf16",
        FloatKind::F16 => "f16",
        FloatKind::F32 => "f32",
        FloatKind::F64 => "f64",
    }
}

/// The default of an attribute, as a program would write it.
pub(super) struct Default<'a>(pub(super) &'a AttrDef);

impl Display for Default<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.default {
            None | Some(AttrDefault::Absent) => Ok(()),
            Some(AttrDefault::Bool(value)) => write!(f, "{value}"),
            Some(AttrDefault::Int(value)) => match self.0.kind {
                AttrKind::Enum(def) => match def.keyword_of(value) {
                    Some(keyword) => f.write_str(keyword),
                    None => write!(f, "{value}"),
                },
                _ => write!(f, "{value}"),
            },
            Some(AttrDefault::Float(value)) => write!(f, "{value:?}"),
            Some(AttrDefault::String(value)) => write!(f, "{value:?}"),
            Some(AttrDefault::EmptyArray) => f.write_str("[]"),
        }
    }
}

/// Describes a function of an op and its required signature.
pub(super) fn function(def: &OpDef, function: &FunctionDef) -> String {
    let form = match function.form {
        FunctionForm::Symbol => "a function: `@f`",
        FunctionForm::OptionalSymbol => "a function: `@f`, optional",
        FunctionForm::SymbolList => "a list of functions: `[@f, @g]`",
        FunctionForm::Region => "a region",
    };
    let mut signatures = def.signatures.iter();
    match signatures.find(|signature| signature.function == function.name) {
        Some(signature) => format!(
            "{form}, of type `({}) -> ({})`",
            signature.arguments.join(", "),
            signature.results.join(", ")
        ),
        None => form.to_owned(),
    }
}

/// Returns the details of a result besides its types, to follow a comma.
pub(super) fn result_note(result: &ResultDef) -> String {
    result.alias_of.map_or_else(String::new, |operand| {
        format!(", which shares memory with `{operand}`")
    })
}

/// Describes where an op runs.
pub(super) fn execution(entry: &CatalogueEntry<'_>) -> &'static str {
    match entry.execution() {
        Execution::Inline => "on the thread that dispatches it",
        Execution::Async => "as a future, which the work queue polls",
        Execution::Blocking => "on the pool for work that blocks",
        Execution::Sync => "in the interpreter of synchronous functions",
        Execution::Terminator => "nowhere: it ends its block",
        Execution::Nowhere => "nowhere: no kernel is linked",
    }
}

/// Describes when an op starts.
pub(super) fn strictness(def: &OpDef) -> String {
    if !def.traits.contains(OpTraits::NON_STRICT) {
        return "when every operand is available".into();
    }
    let references = names(
        def.operands
            .iter()
            .filter(|operand| operand.is_reference)
            .map(|operand| operand.name),
    );
    let what = if references.is_empty() {
        "when every operand is available".to_owned()
    } else {
        format!("without waiting for {references}")
    };
    format!("when every operand is available; with the attribute `bef.nonstrict`, {what}")
}

/// Describes what an op does besides computing its results, and what orders it: texts that can
/// follow "it".
pub(super) fn effects(def: &OpDef) -> Vec<String> {
    let mut lines = Vec::new();
    let written = names(
        def.operands
            .iter()
            .filter(|operand| operand.is_mutated)
            .map(|operand| operand.name),
    );
    match def.effect {
        Effect::None => {}
        Effect::Ordered(class) => lines.push(format!(
            "has effects of class `{class}`, which happen in program order"
        )),
        Effect::Reads(class) => lines.push(format!(
            "depends on effects of class `{class}` and keeps its order with them: may be removed \
             when its results are unused"
        )),
    }
    if !written.is_empty() {
        lines.push(format!("writes into {written}"));
    }
    if def.traits.contains(OpTraits::PURE) {
        lines.push("has no effects: may be removed when its results are unused".into());
    }
    if def.traits.contains(OpTraits::CONSTANT) {
        lines.push("returns a constant: equal attributes mean equal results".into());
    }
    lines.extend(chains(def));
    lines
}

/// Describes the operands and results that order the op.
fn chains(def: &OpDef) -> Option<String> {
    if def.traits.contains(OpTraits::CHAIN_SOURCE) {
        return Some("starts an order of effects".into());
    }
    if def.traits.contains(OpTraits::CHAIN_MERGE) {
        return Some("joins orders of effects".into());
    }
    let may_miss = if def.traits.contains(OpTraits::OPTIONAL_CHAIN) {
        ", which programs may leave out"
    } else {
        ""
    };
    let operand = def.chain_operand().map(|index| def.operands[index].name);
    let result = def.chain_result().map(|index| def.results[index].name);
    match (operand, result) {
        (Some(operand), Some(result)) => Some(format!(
            "is ordered by the chains `{operand}` and `{result}`{may_miss}"
        )),
        (Some(operand), None) => Some(format!("is ordered by the chain `{operand}`{may_miss}")),
        (None, Some(result)) => Some(format!("orders later ops with the chain `{result}`")),
        (None, None) if def.traits.contains(OpTraits::EXTRA_CHAIN) => {
            Some("may be ordered by an additional chain after the last operand".into())
        }
        (None, None) => None,
    }
}

/// Describes the other properties of an op: texts that can follow "it".
pub(super) fn properties(def: &OpDef) -> Vec<&'static str> {
    let mut properties: Vec<_> = def.traits.iter().filter_map(|def| def.property).collect();
    if def.metadata.is_some() {
        properties.push("computes the metadata of its results before it runs");
    }
    if def.workspace.is_some() {
        properties.push("receives a preallocated workspace");
    }
    properties
}

/// Formats names as `` `a`, `b` and `c` ``.
fn names(names: impl Iterator<Item = &'static str>) -> String {
    let quoted: Vec<_> = names.map(|name| format!("`{name}`")).collect();
    match &quoted[..] {
        [] => String::new(),
        [one] => one.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}
