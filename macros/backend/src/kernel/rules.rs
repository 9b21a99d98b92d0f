//! Checks the declaration against the rules for declarations, at the place where it is written.
//!
//! The rules belong to [`tfrt_ods::check`], those of assembly formats to [`tfrt_ods::format`]. They
//! receive a complete record, except for facts that only the compiler knows: the spellings of
//! types, which rules do not compare, and the kinds and defaults of attributes, which constants in
//! the expansion check.

use proc_macro2::Span;
use syn::{LitStr, Type};
use tfrt_ods::CHAIN_TYPE;
use tfrt_ods::format::Format;
use tfrt_ods::{
    Arity, AttrDef, AttrDefault, AttrKind, Effect, FunctionDef, OpDef, OperandDef, ResultDef,
    TypeConstraint,
};
use tfrt_ods::{DeclarationError, DeclarationPart};

use crate::kernel::declare::Names;
use crate::kernel::{
    AttributeEntry, Bound, Declaration, FunctionEntry, Marker, OperandEntry, RawEntry, ResultEntry,
};
use crate::options::{AttributeType, RawType};
use crate::problems::Problems;
use crate::signature::types::{is_chain, last_name, type_argument};
use crate::signature::{Operand, Output};

/// Stands for the spelling of a Rust type.
const SOME_TYPE: TypeConstraint = TypeConstraint::Exact("!rust.type");

/// The spelling of the chain.
const CHAIN: TypeConstraint = TypeConstraint::Exact(CHAIN_TYPE);

/// Reports the errors of the declaration, at the parts that they refer to.
pub(super) fn check(
    declaration: &Declaration,
    parameters: &[Bound],
    output: &Output,
    names: &Names,
    problems: &mut Problems,
) {
    let op = record(declaration, parameters, output);
    // A record of parts that are wrong breaks rules for no other reason. Formats are about names.
    let checked = if problems.is_empty() {
        op.check()
    } else {
        Format::parse(&op).map(drop)
    };
    let Err(error) = checked else {
        return;
    };
    match (error.place(), &declaration.format) {
        (DeclarationPart::Format(offset), Some(format)) => {
            report_format(format, offset, &error, problems)
        }
        (DeclarationPart::Part(name), _) => problems.at_span(
            names.span(name).unwrap_or_else(Span::call_site),
            error.message(),
        ),
        (DeclarationPart::Op | DeclarationPart::Format(_), _) => {
            problems.at_span(Span::call_site(), error.message())
        }
    }
}

/// Reports errors in the name of an op without a kernel.
pub(crate) fn check_name(name: &str, span: Span, problems: &mut Problems) {
    if let Err(error) = OpDef::new(leak(name)).check() {
        problems.at_span(span, error.message());
    }
}

fn report_format(
    format: &LitStr,
    offset: Option<usize>,
    error: &DeclarationError,
    problems: &mut Problems,
) {
    let message = format!(
        "the assembly format does not match the op: {}",
        error.message()
    );
    match offset.map(|offset| (offset, place_in(format, offset))) {
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

/// Returns the record of a declaration, as far as it is known here.
fn record(declaration: &Declaration, parameters: &[Bound], output: &Output) -> OpDef {
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
        operands.push(OperandDef::new("in_chain", CHAIN));
        results.push(ResultDef::new("out_chain", CHAIN));
    }
    let attribute = |entry: &AttributeEntry| AttrDef {
        name: leak(&entry.name),
        kind: match &entry.ty {
            AttributeType::Rust(ty) => kind(ty),
            AttributeType::Any => AttrKind::Any,
            AttributeType::AnyList => AttrKind::Array(&AttrKind::Any),
        },
        // Fits every kind.
        default: entry.default.as_ref().map(|_| AttrDefault::Absent),
    };
    let function = |entry: &FunctionEntry| FunctionDef {
        name: leak(&entry.name),
        form: entry.form,
    };
    OpDef {
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
        traits: declaration.traits,
        effect: match (&declaration.effect, &declaration.reads) {
            (Some(class), _) => Effect::Ordered(leak(class)),
            (None, Some(class)) => Effect::Reads(leak(class)),
            (None, None) => Effect::None,
        },
        assembly_format: declaration
            .format
            .as_ref()
            .map(|format| leak(&format.value())),
        ..OpDef::new("dialect.op")
    }
}

/// Returns the place of a byte of a text, if the compiler supports locations inside of literals.
fn place_in(text: &LitStr, offset: usize) -> Option<Span> {
    let literal = text.token();
    // Behind an escape, or in a raw literal, bytes of the value are not those of the source.
    let is_plain = literal.to_string() == format!("\"{}\"", text.value());
    // The quote comes first.
    is_plain.then(|| literal.subspan(offset + 1..)).flatten()
}

/// Returns the text after a byte offset, for messages.
fn rest(text: &LitStr, offset: usize) -> String {
    text.value().get(offset..).unwrap_or_default().to_owned()
}

/// Makes a text one that a record of constants can hold. The process that expands macros is
/// short-lived.
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
            let ty = match operand.and_then(Operand::payload) {
                _ if is_any => TypeConstraint::Any,
                Some(ty) => of_rust(ty),
                None => SOME_TYPE,
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
            let ty = match leaf.and_then(|leaf| leaf.payload()) {
                _ if is_any => TypeConstraint::Any,
                Some(ty) => of_rust(ty),
                None => SOME_TYPE,
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
                alias_of: entry.alias_of.as_deref().map(leak),
                ..ResultDef::new(leak(name), ty)
            }
        }
    }
}

/// Returns the type that a Rust type stands for: the macros know the chain by its name.
fn of_rust(ty: &Type) -> TypeConstraint {
    if is_chain(ty) { CHAIN } else { SOME_TYPE }
}

fn raw(entry: &RawEntry) -> (TypeConstraint, Arity) {
    let ty = match &entry.ty {
        RawType::Any => TypeConstraint::Any,
        RawType::SameAs(operand) => TypeConstraint::SameAs(leak(&operand.to_string())),
        RawType::Spelled(spelling) => TypeConstraint::Exact(leak(&spelling.value())),
        RawType::OneOf(spellings) => {
            let spellings = spellings.iter().map(|spelling| leak(&spelling.value()));
            TypeConstraint::OneOf(spellings.collect::<Vec<_>>().leak())
        }
        RawType::Rust(ty) => of_rust(ty),
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

/// Returns the values of an attribute, by the name of its type. A type of the author's may be read
/// from any; an integer can be shown by every element.
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
