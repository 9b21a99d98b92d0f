//! The wording of constraints, and the attributes that satisfy them.

use crate::constraint::{AttrKind, FloatKind, TypeConstraint};
use crate::instance::AttrInstance;
use crate::op::FunctionForm;

/// Describes a type after "must be": `32-bit signless integer`.
pub(super) fn type_(constraint: TypeConstraint) -> String {
    match constraint {
        TypeConstraint::Any => "any type".into(),
        TypeConstraint::Exact(ty) => spelling(ty),
        TypeConstraint::OneOf(types) => types
            .iter()
            .map(|ty| spelling(ty))
            .collect::<Vec<_>>()
            .join(" or "),
        TypeConstraint::SameAs(name) => format!("of the type of operand '{name}'"),
    }
}

fn spelling(ty: &str) -> String {
    if let Some(part) = ty
        .strip_prefix("complex<")
        .and_then(|rest| rest.strip_suffix('>'))
    {
        return format!("complex type with {} elements", spelling(part));
    }
    match ty {
        "index" => return "index".into(),
        "bf16" => return "bfloat16 type".into(),
        _ => {}
    }
    for (prefix, what) in [
        ("i", "signless integer"),
        ("si", "signed integer"),
        ("ui", "unsigned integer"),
        ("f", "float"),
    ] {
        if let Some(width) = ty.strip_prefix(prefix)
            && !width.is_empty()
            && width.bytes().all(|byte| byte.is_ascii_digit())
        {
            return format!("{width}-bit {what}");
        }
    }
    format!("{ty} type")
}

/// Describes an attribute after "constraint:": `32-bit signless integer attribute`.
pub(super) fn attribute(kind: &AttrKind) -> String {
    match kind {
        AttrKind::Int {
            width,
            is_unsigned: false,
        } => format!("{width}-bit signless integer attribute"),
        AttrKind::Int {
            width,
            is_unsigned: true,
        } => format!("{width}-bit unsigned integer attribute"),
        AttrKind::Float(FloatKind::Bf16) => "bfloat16 attribute".into(),
        AttrKind::Float(float) => format!("{}-bit float attribute", &float_spelling(*float)[1..]),
        AttrKind::String => "string attribute".into(),
        AttrKind::Type => "any type attribute".into(),
        AttrKind::Array(AttrKind::Any) | AttrKind::Aggregate => "array attribute".into(),
        AttrKind::Array(element) => {
            let element = attribute(element);
            let element = element.strip_suffix(" attribute").unwrap_or(&element);
            format!(
                "{} array attribute",
                element.replace("signless integer", "integer")
            )
        }
        AttrKind::Dense => "constant vector/tensor attribute".into(),
        AttrKind::Shape => "shape attribute".into(),
        AttrKind::CompilationUnit => "symbol reference attribute".into(),
        AttrKind::Enum(def) => {
            // Several keywords may have one value.
            let first = |index: usize| {
                let value = def.cases[index].value;
                def.cases[..index].iter().all(|case| case.value != value)
            };
            let values = (0..def.cases.len()).filter(|index| first(*index));
            let values: Vec<_> = values
                .map(|index| def.cases[index].value.to_string())
                .collect();
            format!(
                "allowed {}-bit signless integer cases: {}",
                def.width,
                values.join(", ")
            )
        }
        AttrKind::Any => "any attribute".into(),
    }
}

/// Describes a reference after "constraint:": `flat symbol reference attribute`.
pub(super) fn reference(form: FunctionForm) -> &'static str {
    match form {
        FunctionForm::SymbolList => "flat symbol ref array attribute",
        FunctionForm::Symbol | FunctionForm::OptionalSymbol | FunctionForm::Region => {
            "flat symbol reference attribute"
        }
    }
}

/// Returns `true` if an attribute is of a kind.
#[must_use]
pub fn is_of_kind(kind: &AttrKind, value: &AttrInstance<'_>) -> bool {
    match (kind, value) {
        (AttrKind::Any, _)
        | (AttrKind::Int { width: 1, .. }, AttrInstance::Bool(_))
        | (AttrKind::String, AttrInstance::String(_))
        | (AttrKind::Type, AttrInstance::Type(_))
        | (AttrKind::Aggregate, AttrInstance::Array(_))
        | (AttrKind::Dense, AttrInstance::Dense(_))
        | (AttrKind::Shape, AttrInstance::Shape)
        | (AttrKind::CompilationUnit, AttrInstance::Symbol(_, true)) => true,
        (AttrKind::Int { width, is_unsigned }, AttrInstance::Int(_, ty)) => {
            let prefix = if *is_unsigned { "ui" } else { "i" };
            ty.strip_prefix(prefix)
                .and_then(|found| found.parse::<u8>().ok())
                == Some(*width)
        }
        (AttrKind::Enum(def), AttrInstance::Int(value, ty)) => {
            // The reference wrote signless integers first, and signed ones later; those of 64 bits
            // are unsigned.
            let ty = ty.strip_prefix(['s', 'u']).unwrap_or(ty);
            let width = ty.strip_prefix('i').and_then(|found| found.parse().ok());
            width == Some(def.width) && def.contains(*value)
        }
        (AttrKind::Float(float), AttrInstance::Float(_, ty)) => ty == float_spelling(*float),
        (AttrKind::Array(element), AttrInstance::Array(values)) => {
            values.iter().all(|value| is_of_kind(element, value))
        }
        _ => false,
    }
}

fn float_spelling(float: FloatKind) -> &'static str {
    match float {
        FloatKind::Bf16 => "bf16",
        FloatKind::F16 => "f16",
        FloatKind::F32 => "f32",
        FloatKind::F64 => "f64",
    }
}
