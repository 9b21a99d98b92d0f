//! Collects all errors of one macro call.

use proc_macro2::Span;
use quote::ToTokens;
use tfrt_support::nearest::nearest;

/// Errors gathered so far.
#[derive(Debug, Default)]
pub(crate) struct Problems(Option<syn::Error>);

impl Problems {
    /// Notes an error at `tokens`.
    pub(crate) fn at(&mut self, tokens: &impl ToTokens, message: impl Into<String>) {
        self.push(syn::Error::new_spanned(tokens, message.into()));
    }

    /// Notes an error at `span`.
    pub(crate) fn at_span(&mut self, span: Span, message: impl Into<String>) {
        self.push(syn::Error::new(span, message.into()));
    }

    /// Notes an error.
    pub(crate) fn push(&mut self, error: syn::Error) {
        match &mut self.0 {
            Some(first) => first.combine(error),
            None => self.0 = Some(error),
        }
    }

    /// Returns `true` if there was no error.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_none()
    }

    /// Returns the value, or `None` after recording the error.
    pub(crate) fn note<T>(&mut self, result: syn::Result<T>) -> Option<T> {
        result.map_err(|error| self.push(error)).ok()
    }

    /// Returns the errors, of which there is at least one.
    pub(crate) fn into_error(self) -> syn::Error {
        let nothing = || syn::Error::new(Span::call_site(), "the macro cannot be expanded");
        self.0.unwrap_or_else(nothing)
    }

    /// `value`, if there was no error.
    pub(crate) fn finish<T>(self, value: T) -> syn::Result<T> {
        self.0.map_or(Ok(value), Err)
    }
}

/// Returns the end of a message about an unknown name: suggestions, or the existing names.
pub(crate) fn did_you_mean(name: &str, known: &[&str]) -> String {
    match nearest(name, known.iter().copied()).first() {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("expected one of {}", list(known)),
    }
}

/// Returns the names in backticks, separated by commas.
pub(crate) fn list(names: &[&str]) -> String {
    names
        .iter()
        .map(|name| format!("`{name}`"))
        .collect::<Vec<_>>()
        .join(", ")
}
