//! Whether the assembly format fits the declaration, found out where the kernel is written.
//!
//! The language and its rules belong to [`tfrt_ods::format`]. What it looks at is known here, but for the spellings of
//! types, which it does not compare.

use proc_macro2::Span;
use syn::{LitStr, Type};
use tfrt_ods::format::Format;
use tfrt_ods::{
    Arity, AttrDef, AttrDefault, AttrKind, FunctionDef, OpDef, OperandDef, ResultDef,
    TypeConstraint,
};

use crate::kernel::{
    AttributeEntry, Bound, Declaration, FunctionEntry, Marker, OperandEntry, RawEntry, ResultEntry,
};
use crate::options::RawType;
use crate::problems::Problems;
use crate::signature::types::{last_name, type_argument};
use crate::signature::{Operand, Output};

/// Stands for the spelling of a Rust type.
const SOME_TYPE: TypeConstraint = TypeConstraint::Exact("!rust.type");

/// Reports what is wrong with the format, at the format.
pub(super) fn check(
    declaration: &Declaration,
    parameters: &[Bound],
    output: &Output,
    problems: &mut Problems,
) {
    let Some(format) = &declaration.format else {
        return;
    };
    let leaves = output.leaves();
    let mut operands: Vec<OperandDef> = declaration
        .operands
        .iter()
        .map(|entry| operand(entry, parameters))
        .collect();
    let mut results: Vec<ResultDef> = declaration
        .results
        .iter()
        .map(|entry| result(entry, &leaves))
        .collect();
    if declaration.has_added_chain {
        operands.push(OperandDef::new("in_chain", SOME_TYPE));
        results.push(ResultDef::new("out_chain", SOME_TYPE));
    }
    let attribute = |entry: &AttributeEntry| AttrDef {
        name: leak(&entry.name),
        kind: kind(&entry.ty),
        default: entry.default.as_ref().map(|_| AttrDefault::EmptyArray),
    };
    let function = |entry: &FunctionEntry| FunctionDef {
        name: leak(&entry.name),
        form: entry.form,
    };
    let op = OpDef {
        operands: operands.leak(),
        attributes: declaration
            .attributes
            .iter()
            .map(attribute)
            .collect::<Vec<_>>()
            .leak(),
        functions: declaration
            .functions
            .iter()
            .map(function)
            .collect::<Vec<_>>()
            .leak(),
        results: results.leak(),
        assembly_format: Some(leak(&format.value())),
        ..OpDef::new("dialect.op")
    };
    if let Err(error) = Format::parse(&op) {
        let message = format!("this format does not fit the op: {}", error.message);
        match error
            .offset
            .map(|offset| (offset, place_in(format, offset)))
        {
            Some((_, Some(place))) => problems.at_span(place, message),
            Some((offset, None)) => {
                problems.at_span(
                    format.span(),
                    format!("{message}, at `{}`", rest(format, offset)),
                );
            }
            None => problems.at_span(format.span(), message),
        }
    }
}

/// The place of a byte of a text, if the compiler tells places inside of literals.
fn place_in(text: &LitStr, offset: usize) -> Option<Span> {
    let literal = text.token();
    // Behind an escape, or in a raw literal, bytes of the value are not those of the source.
    let is_plain = literal.to_string() == format!("\"{}\"", text.value());
    // The quote comes first.
    is_plain.then(|| literal.subspan(offset + 1..)).flatten()
}

/// What follows a byte of a text, for messages.
fn rest(text: &LitStr, offset: usize) -> String {
    text.value().get(offset..).unwrap_or_default().to_owned()
}

/// Makes a text one that a record of constants can hold. The process that expands macros is short-lived.
fn leak(text: &str) -> &'static str {
    Box::leak(text.into())
}

fn operand(entry: &OperandEntry, parameters: &[Bound]) -> OperandDef {
    match entry {
        OperandEntry::OfParameter(name, index) => {
            let operand = parameters
                .get(*index)
                .and_then(|parameter| match &parameter.marker {
                    Marker::Operand(operand, _, _) => Some(operand),
                    _ => None,
                });
            let is_any = matches!(operand, Some(Operand::Any { .. } | Operand::AnyRest));
            let ty = if is_any {
                TypeConstraint::Any
            } else {
                SOME_TYPE
            };
            let arity = match operand {
                Some(operand) if operand.is_optional() => Arity::Optional,
                operand => arity(operand.is_some_and(Operand::is_variadic)),
            };
            OperandDef {
                arity,
                ..OperandDef::new(leak(name), ty)
            }
        }
        OperandEntry::Raw(name, entry) => {
            let (ty, arity) = raw(entry);
            OperandDef {
                arity,
                ..OperandDef::new(leak(name), ty)
            }
        }
    }
}

fn result(entry: &ResultEntry, leaves: &[&Output]) -> ResultDef {
    match entry {
        ResultEntry::OfOutput(name, index, _) => {
            let leaf = leaves.get(*index);
            let is_any = matches!(leaf, Some(Output::Any | Output::AnyTail));
            let ty = if is_any {
                TypeConstraint::Any
            } else {
                SOME_TYPE
            };
            let arity = arity(leaf.is_some_and(|leaf| leaf.is_tail()));
            ResultDef {
                arity,
                ..ResultDef::new(leak(name), ty)
            }
        }
        ResultEntry::Out(name, _) => ResultDef::new(leak(name), SOME_TYPE),
        ResultEntry::Raw(name, entry) => {
            let (ty, arity) = raw(entry);
            ResultDef {
                arity,
                ..ResultDef::new(leak(name), ty)
            }
        }
    }
}

fn raw(entry: &RawEntry) -> (TypeConstraint, Arity) {
    let ty = match &entry.ty {
        RawType::Any => TypeConstraint::Any,
        RawType::SameAs(operand) => TypeConstraint::SameAs(leak(&operand.to_string())),
        RawType::Spelled(_) | RawType::Rust(_) => SOME_TYPE,
    };
    (ty, entry.arity)
}

fn arity(is_variadic: bool) -> Arity {
    if is_variadic {
        Arity::Variadic
    } else {
        Arity::One
    }
}

/// The values of an attribute, by the name of its type. A type of the author's may be read from any; an integer can be
/// shown by every element.
fn kind(ty: &Type) -> AttrKind {
    let name = match ty {
        Type::Slice(_) => return AttrKind::Array(&AttrKind::I64),
        Type::Reference(reference) => return kind(&reference.elem),
        ty if last_name(ty).as_deref() == Some("Option") => {
            return type_argument(ty).map_or(AttrKind::I64, kind);
        }
        Type::Path(path) => path
            .path
            .segments
            .last()
            .map(|segment| segment.ident.to_string()),
        _ => None,
    };
    match name.as_deref() {
        Some("f32" | "f64") => AttrKind::F64,
        Some("str" | "String") => AttrKind::String,
        Some("Vec") => AttrKind::Array(&AttrKind::I64),
        Some("DType") => AttrKind::Type,
        Some("ShapeView") => AttrKind::Shape,
        Some("DenseView") => AttrKind::Dense,
        Some("AggregateView") => AttrKind::Aggregate,
        Some("CompilationUnitView") => AttrKind::CompilationUnit,
        _ => AttrKind::I64,
    }
}
