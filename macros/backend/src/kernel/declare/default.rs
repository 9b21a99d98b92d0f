//! Defaults of attributes.

use quote::{ToTokens, quote_spanned};
use syn::spanned::Spanned;
use syn::{Expr, Lit, UnOp};

use crate::kernel::AttributeDefault;

/// The default of an attribute: a literal, `[]`, or the path of a constant or of a case of an enum.
pub(super) fn read_default(default: &Expr) -> syn::Result<AttributeDefault> {
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
        Expr::Path(_) if !is_negative => Some("Int"),
        _ => None,
    };
    let Some(kind) = kind else {
        return Err(syn::Error::new_spanned(
            default,
            "a default is a number, `true`, `false`, a text, `[]`, or the path of a case of an enum",
        ));
    };
    let value = match bare {
        Expr::Array(_) => None,
        Expr::Path(path) => Some(quote_spanned!(span=> #path as i128)),
        _ => Some(default.to_token_stream()),
    };
    Ok(AttributeDefault { kind, value, span })
}
