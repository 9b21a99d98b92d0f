//! Defaults of attributes.

use quote::{ToTokens, quote_spanned};
use syn::spanned::Spanned;
use syn::{Expr, ExprPath, Lit, Type, UnOp};

use crate::kernel::{AttributeDefault, DefaultValue};
use crate::signature::types::last_name;

/// Returns the default of an attribute that is read as a `ty`: a literal, `[]`, or the path of a
/// constant or of a case of an enum.
pub(super) fn read_default(default: &Expr, ty: &Type) -> syn::Result<AttributeDefault> {
    let span = default.span();
    let (is_negative, bare) = match default {
        Expr::Unary(unary) if matches!(unary.op, UnOp::Neg(_)) => (true, &*unary.expr),
        default => (false, default),
    };
    let written = || default.to_token_stream();
    let value = match bare {
        Expr::Lit(literal) => match &literal.lit {
            Lit::Int(_) => Some(DefaultValue::Int(written())),
            Lit::Float(_) => Some(DefaultValue::Float(written())),
            Lit::Bool(_) if !is_negative => Some(DefaultValue::Bool(written())),
            Lit::Str(_) if !is_negative => Some(DefaultValue::String(written())),
            _ => None,
        },
        Expr::Array(array) if array.elems.is_empty() && !is_negative => {
            Some(DefaultValue::EmptyArray)
        }
        Expr::Path(path) if !is_negative => Some(constant(path, ty)),
        _ => None,
    };
    match value {
        Some(value) => Ok(AttributeDefault { value, span }),
        None => Err(syn::Error::new_spanned(
            default,
            "expected a number, `true`, `false`, a string, `[]`, or the path of an enum variant \
             as the default",
        )),
    }
}

/// Returns the default of an attribute that is an `Option`.
pub(super) fn absent(ty: &Type) -> AttributeDefault {
    AttributeDefault {
        value: DefaultValue::Absent,
        span: ty.span(),
    }
}

/// Returns the value of a constant, which must be of the type of the attribute.
fn constant(path: &ExprPath, ty: &Type) -> DefaultValue {
    let span = path.span();
    match (last_name(ty).as_deref(), ty) {
        (Some("bool"), _) => DefaultValue::Bool(path.to_token_stream()),
        (Some("str" | "String"), _) => DefaultValue::String(path.to_token_stream()),
        (Some("f32" | "f64"), _) => {
            DefaultValue::Float(quote_spanned!(span=> { let value: #ty = #path; value as f64 }))
        }
        // A case of an enum, or a whole number.
        (_, Type::Path(_)) => {
            DefaultValue::Int(quote_spanned!(span=> { let value: #ty = #path; value as i128 }))
        }
        _ => DefaultValue::Int(quote_spanned!(span=> #path as i128)),
    }
}
