//! The function with the attribute: its parsed signature, and its body, which is not parsed.
//!
//! An incomplete body is accepted, so editors can analyse the function while it is being written.

use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};
use quote::{ToTokens, quote};
use syn::parse::{Parse, ParseStream};
use syn::{Attribute, FnArg, Signature, Visibility};

/// A function with a body.
#[derive(Debug)]
pub struct FunctionItem {
    /// The attributes, doc comments among them.
    pub attributes: Vec<Attribute>,
    /// The visibility.
    pub visibility: Visibility,
    /// Everything up to the body.
    pub signature: Signature,
    /// The body, braces included.
    pub body: Group,
}

/// The attributes of this crate on parameters.
pub const MARKERS: &[&str] = &["attr", "function", "operand", "out", "region", "workspace"];

/// The attributes of this crate on operands of ops.
pub const OP_MARKERS: &[&str] = &["host", "resource"];

impl Parse for FunctionItem {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let attributes = input.call(Attribute::parse_outer)?;
        let visibility = input.parse()?;
        let signature = input.parse()?;
        let place = input.span();
        match input.parse().map(ungrouped) {
            Ok(TokenTree::Group(body)) if body.delimiter() == Delimiter::Brace => Ok(Self {
                attributes,
                visibility,
                signature,
                body,
            }),
            _ => Err(syn::Error::new(place, "expected the body of the function")),
        }
    }
}

/// Returns the token in an invisible group, which `$body:block` of a `macro_rules!` is.
fn ungrouped(token: TokenTree) -> TokenTree {
    let TokenTree::Group(group) = &token else {
        return token;
    };
    let mut inside = group.stream().into_iter();
    match (group.delimiter(), inside.next(), inside.next()) {
        (Delimiter::None, Some(only), None) => ungrouped(only),
        _ => token,
    }
}

impl FunctionItem {
    /// Parses the item.
    pub(crate) fn of_item(item: TokenStream, name: &str) -> syn::Result<Self> {
        syn::parse2(item).map_err(|error| {
            syn::Error::new(
                error.span(),
                format!("`#[{name}]` must be on a function: {error}"),
            )
        })
    }

    /// Returns the function without our attributes, for the compiler.
    pub(crate) fn without_markers(&self) -> TokenStream {
        let attributes = self
            .attributes
            .iter()
            .filter(|attribute| !is_kernel(attribute));
        let mut signature = self.signature.clone();
        for input in &mut signature.inputs {
            if let FnArg::Typed(parameter) = input {
                parameter.attrs.retain(|attribute| !is_ours(attribute));
            }
        }
        let (visibility, body) = (&self.visibility, &self.body);
        quote!(#(#attributes)* #visibility #signature #body)
    }

    /// Returns the `#[cfg]`s, which also apply to all generated items.
    pub(crate) fn conditions(&self) -> Vec<Attribute> {
        let is_condition = |attribute: &&Attribute| attribute.path().is_ident("cfg");
        self.attributes
            .iter()
            .filter(is_condition)
            .cloned()
            .collect()
    }

    /// Returns the span of the return type, or of the function's name if there is none.
    pub(crate) fn output_span(&self) -> proc_macro2::Span {
        use syn::spanned::Spanned;
        match &self.signature.output {
            syn::ReturnType::Default => self.signature.ident.span(),
            syn::ReturnType::Type(_, ty) => ty.span(),
        }
    }
}

/// Returns `true` if the attribute is another `#[tfrt_kernel]`, `#[tfrt_op]` or `#[tfrt_device]`,
/// under any path.
pub(crate) fn is_kernel(attribute: &Attribute) -> bool {
    attribute.path().segments.last().is_some_and(|last| {
        ["tfrt_kernel", "tfrt_op", "tfrt_device"]
            .iter()
            .any(|ours| last.ident == ours)
    })
}

/// Returns `true` if the attribute of a parameter is one of this crate.
pub(crate) fn is_marker(attribute: &Attribute) -> bool {
    MARKERS
        .iter()
        .any(|marker| attribute.path().is_ident(marker))
}

/// Returns `true` if the attribute of a parameter is one that only ops have.
pub(crate) fn is_op_marker(attribute: &Attribute) -> bool {
    OP_MARKERS
        .iter()
        .any(|marker| attribute.path().is_ident(marker))
}

/// Returns the name of an attribute of a parameter that the compiler does not know either.
pub(crate) fn unknown_marker(attribute: &Attribute) -> Option<String> {
    const KNOWN: &[&str] = &[
        "allow", "cfg", "cfg_attr", "deny", "doc", "expect", "forbid", "warn",
    ];
    let name = attribute.path().get_ident()?.to_string();
    let is_known = is_marker(attribute) || KNOWN.contains(&name.as_str());
    (!is_known).then_some(name)
}

fn is_ours(attribute: &Attribute) -> bool {
    is_marker(attribute) || unknown_marker(attribute).is_some()
}

impl ToTokens for FunctionItem {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        tokens.extend(self.without_markers());
    }
}
