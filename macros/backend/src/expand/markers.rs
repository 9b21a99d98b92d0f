//! The types that stand for parameters and results.
//!
//! Types of the author are written as `<T as IsValue>::This`, with their original spans: see
//! `checked` in the host crate.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote_spanned};
use syn::Type;
use syn::spanned::Spanned;

use crate::kernel::{Bound, Marker};
use crate::signature::types::{last_name, type_argument};
use crate::signature::{Context, Operand, Output, TextForm};

/// `ty`, which must meet `check`.
pub(super) fn checked(ty: &Type, check: &str) -> TokenStream {
    let span = ty.span();
    let check = Ident::new(check, span);
    quote_spanned!(span=> <#ty as __tfrt::#check>::This)
}

/// Returns the type that reads an attribute; the content of an `Option` must be an attribute.
pub(super) fn attribute(ty: &Type) -> TokenStream {
    match type_argument(ty) {
        Some(inner) if last_name(ty).as_deref() == Some("Option") => {
            let inner = checked(inner, "IsAttribute");
            quote_spanned!(ty.span()=> __tfrt::Option<#inner>)
        }
        _ => checked(ty, "IsAttribute"),
    }
}

fn value(ty: &Type) -> TokenStream {
    checked(ty, "IsValue")
}

/// Returns the type that stands for a parameter.
pub(super) fn marker(parameter: &Bound) -> TokenStream {
    let span = parameter.span;
    let marker = match &parameter.marker {
        Marker::Operand(operand, index, chain_follows) => {
            operand_marker(operand, *index, *chain_follows, span)
        }
        Marker::Attribute(ty, index) => {
            let ty = attribute(ty);
            quote_spanned!(span=> Attribute<#ty, #index>)
        }
        Marker::AllAttributes => quote_spanned!(span=> AllAttributes),
        Marker::Function {
            index,
            is_from_end,
            is_lent,
            callable: Some(ty),
        } => {
            let ty = checked(ty, "IsCallable");
            quote_spanned!(span=> TypedFunction<#ty, #index, #is_from_end, #is_lent>)
        }
        Marker::Function {
            index,
            is_from_end,
            is_lent,
            callable: None,
        } => {
            let name = Ident::new(if *is_lent { "LentFunction" } else { "Function" }, span);
            quote_spanned!(span=> #name<#index, #is_from_end>)
        }
        Marker::OptionalFunction(index) => quote_spanned!(span=> OptionalFunction<#index>),
        Marker::Functions {
            before,
            after,
            is_lent,
        } => {
            let name = if *is_lent {
                "LentFunctions"
            } else {
                "Functions"
            };
            let name = Ident::new(name, span);
            quote_spanned!(span=> #name<#before, #after>)
        }
        Marker::Resource(ty, is_lent) => {
            let ty = checked(ty, "IsResource");
            quote_spanned!(span=> Shared<#ty, #is_lent>)
        }
        Marker::Context(context) => Ident::new(self::context(*context), span).into_token_stream(),
        // The adapter makes these.
        Marker::Out(..) | Marker::Workspace(_) => TokenStream::new(),
    };
    quote_spanned!(span=> __tfrt::#marker)
}

/// Returns the marker of a context.
fn context(context: Context) -> &'static str {
    match context {
        Context::Execution => "Execution",
        Context::OwnedExecution => "OwnedExecution",
        Context::Host => "Host",
        Context::SharedHost => "SharedHost",
        Context::OwnedHost => "OwnedHost",
        Context::Request => "Request",
        Context::SharedRequest => "SharedRequest",
        Context::OwnedRequest => "OwnedRequest",
    }
}

fn operand_marker(operand: &Operand, index: usize, chain_follows: bool, span: Span) -> TokenStream {
    match operand {
        Operand::ByValue(ty) => {
            let ty = checked(ty, "IsCopied");
            quote_spanned!(span=> ByValue<#ty, #index>)
        }
        Operand::ByRef(ty) => {
            let ty = value(ty);
            quote_spanned!(span=> ByRef<#ty, #index>)
        }
        Operand::ByMut(ty) => {
            let ty = value(ty);
            quote_spanned!(span=> ByMut<#ty, #index>)
        }
        Operand::Text(form) => {
            let form = text_form(*form, span);
            quote_spanned!(span=> Text<__tfrt::#form, #index>)
        }
        Operand::Dyn(ty) => {
            let ty = checked(ty, "IsObject");
            quote_spanned!(span=> Dyn<#ty, #index>)
        }
        Operand::Any { is_lent } => quote_spanned!(span=> AnyOperand<#index, #is_lent>),
        Operand::Reference(ty) => {
            let ty = value(ty);
            quote_spanned!(span=> Reference<#ty, #index>)
        }
        Operand::Defaulted(operand, _) => operand_marker(operand, index, chain_follows, span),
        Operand::OptionalText(form) => {
            let form = text_form(*form, span);
            quote_spanned!(span=> OptionalText<__tfrt::#form, #index, #chain_follows>)
        }
        Operand::Optional(ty) => {
            let ty = checked(ty, "IsCopied");
            quote_spanned!(span=> Optional<#ty, #index, #chain_follows>)
        }
        Operand::OptionalRef(ty) => {
            let ty = value(ty);
            quote_spanned!(span=> OptionalRef<#ty, #index, #chain_follows>)
        }
        Operand::AnyRest => quote_spanned!(span=> AnyRest<#index, #chain_follows>),
        Operand::Rest(ty) => {
            let ty = value(ty);
            quote_spanned!(span=> Rest<#ty, #index, #chain_follows>)
        }
    }
}

/// Returns the type that represents the form of a byte string.
fn text_form(form: TextForm, span: Span) -> Ident {
    let name = match form {
        TextForm::Str => "AsStr",
        TextForm::String => "AsString",
        TextForm::Bytes => "AsBytes",
    };
    Ident::new(name, span)
}

/// Returns the type that stands for the results of a function, at `span`.
pub(super) fn outcome(output: &Output, is_whole: bool, span: Span) -> TokenStream {
    let marker = match output {
        Output::Nothing => quote_spanned!(span=> Nothing),
        Output::Any => quote_spanned!(span=> AnyResult),
        Output::AnyTail => quote_spanned!(span=> AnyTail),
        Output::Text => quote_spanned!(span=> TextResult),
        Output::TextTail => quote_spanned!(span=> TextTail),
        Output::Payload(ty) => {
            let ty = value(ty);
            quote_spanned!(span=> Payload<#ty>)
        }
        Output::Later(ty) => {
            let ty = value(ty);
            quote_spanned!(span=> Later<#ty>)
        }
        Output::PayloadTail(ty) => {
            let ty = value(ty);
            quote_spanned!(span=> PayloadTail<#ty>)
        }
        Output::LaterTail(ty) => {
            let ty = value(ty);
            quote_spanned!(span=> LaterTail<#ty>)
        }
        Output::Tuple(parts) => {
            let parts = parts.iter().map(|part| outcome(part, false, span));
            quote_spanned!(span=> Parts<(#(#parts,)*)>)
        }
        Output::Fallible { ok, whole } => {
            let ok = outcome(ok, false, span);
            let whole = checked(whole, "IsFallible");
            let name = Ident::new(if is_whole { "Fallible" } else { "FalliblePart" }, span);
            quote_spanned!(span=> #name<#ok, #whole>)
        }
    };
    quote_spanned!(span=> __tfrt::#marker)
}
