//! Defaults of attributes.

use proc_macro2::TokenStream;
use quote::{ToTokens, quote_spanned};
use syn::spanned::Spanned;
use syn::{Expr, ExprPath, Lit, Type, UnOp};

use crate::kernel::AttributeDefault;
use crate::signature::types::last_name;

/// The default of an attribute that is read as a `ty`: a literal, `[]`, or the path of a constant or of a case of an enum.
pub(super) fn read_default(default: &Expr, ty: &Type) -> syn::Result<AttributeDefault> {
    let span = default.span();
    let (is_negative, bare) = match default {
        Expr::Unary(unary) if matches!(unary.op, UnOp::Neg(_)) => (true, &*unary.expr),
        default => (false, default),
    };
    let kind = match bare {
        Expr::Lit(literal) => match &literal.lit {
            Lit::Int(_) => Some("Int"),
            Lit::Float(_) => Some("Float"),
            Lit::Bool(_) if !is_negative => Some("Bool"),
            Lit::Str(_) if !is_negative => Some("String"),
            _ => None,
        },
        Expr::Array(array) if array.elems.is_empty() && !is_negative => Some("EmptyArray"),
        Expr::Path(_) if !is_negative => Some(kind_of_constant(ty)),
        _ => None,
    };
    let Some(kind) = kind else {
        return Err(syn::Error::new_spanned(
            default,
            "expected a number, `true`, `false`, a string, `[]`, or the path of an enum variant as the default",
        ));
    };
    let value = match bare {
        Expr::Array(_) => None,
        Expr::Path(path) => Some(value_of_constant(path, kind, ty)),
        _ => Some(default.to_token_stream()),
    };
    Ok(AttributeDefault { kind, value, span })
}

/// What stands in for an attribute that is an `Option`.
pub(super) fn absent(ty: &Type) -> AttributeDefault {
    AttributeDefault {
        kind: "Absent",
        value: None,
        span: ty.span(),
    }
}

/// Which constructor of `AttrDefault` a constant of this type is for.
fn kind_of_constant(ty: &Type) -> &'static str {
    match last_name(ty).as_deref() {
        Some("bool") => "Bool",
        Some("f32" | "f64") => "Float",
        Some("str" | "String") => "String",
        _ => "Int",
    }
}

/// The value of a constant, which must be of the type of the attribute.
fn value_of_constant(path: &ExprPath, kind: &str, ty: &Type) -> TokenStream {
    let span = path.span();
    match (kind, ty) {
        ("Bool" | "String", _) => path.to_token_stream(),
        ("Float", _) => quote_spanned!(span=> { let value: #ty = #path; value as f64 }),
        // A case of an enum, or a whole number.
        (_, Type::Path(_)) => quote_spanned!(span=> { let value: #ty = #path; value as i128 }),
        _ => quote_spanned!(span=> #path as i128),
    }
}
