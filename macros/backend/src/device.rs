//! `#[tfrt_device]`: functions that are compiled for the processor and translated for GPUs.
//!
//! ```text
//!                      ┌─► the function in Rust: operators and methods become calls of the device library
//!  body ──► `body` ────┤
//!                      └─► the function as data: a constant tree, which the device library turns into PTX
//! ```
//!
//! [`mod@body`] translates one expression after another into both forms, and refuses everything
//! outside of the subset at its token. The compiler checks the types, because it compiles the first
//! form. Kernels of device functions are in [`kernel`], and those with indices, shared memory and
//! barriers in [`grid`].

mod body;

mod grid;

pub(crate) mod kernel;

mod methods;

mod scalar;

use proc_macro2::{Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::parse::Parser;
use syn::spanned::Spanned;
use syn::{Attribute, FnArg, Ident, Pat, Path, ReturnType, Token, Visibility};

use crate::facade::Facade;
use crate::function::FunctionItem;
use crate::problems::Problems;

use body::Translator;
use scalar::Scalar;

/// A function of the subset, in both forms.
#[derive(Debug)]
pub(crate) struct DeviceFunction {
    pub(crate) ident: Ident,
    attributes: Vec<Attribute>,
    visibility: Visibility,
    pub(crate) parameters: Vec<Parameter>,
    pub(crate) result: Scalar,
    /// The items for the compiler: the function and its tree.
    pub(crate) items: TokenStream,
    /// The path of the tree.
    pub(crate) tree: TokenStream,
    /// What only grid kernels have.
    pub(crate) grid: Option<grid::GridParts>,
}

/// A parameter of a device function.
#[derive(Debug)]
pub(crate) struct Parameter {
    pub(crate) ident: Ident,
    pub(crate) ty: Scalar,
}

/// Expands `#[tfrt_device(options)]` on a function.
///
/// # Errors
/// Everything that is outside of the subset.
pub(crate) fn expand(
    facade: Facade,
    options: TokenStream,
    function: &FunctionItem,
) -> syn::Result<TokenStream> {
    let crate_path = parse_options.parse2(options)?;
    let root = facade.root(crate_path.as_ref())?;
    let function = DeviceFunction::new(function, &quote!(#root::device::__private))?;
    Ok(function.items)
}

fn parse_options(input: syn::parse::ParseStream<'_>) -> syn::Result<Option<Path>> {
    if input.is_empty() {
        return Ok(None);
    }
    if !input.peek(Token![crate]) {
        return Err(input.error("`#[tfrt_device]` has one option: `crate = path::to::tfrt`"));
    }
    input.parse::<Token![crate]>()?;
    input.parse::<Token![=]>()?;
    Ok(Some(input.call(Path::parse_mod_style)?))
}

impl DeviceFunction {
    /// Translates a function. `device` is the module of the device library that expansions name.
    ///
    /// # Errors
    /// Everything that is outside of the subset.
    pub(crate) fn new(function: &FunctionItem, device: &TokenStream) -> syn::Result<Self> {
        let mut problems = Problems::default();
        check_signature(function, &mut problems);
        let signature = &function.signature;
        let mut parameters = Vec::new();
        let mut inputs = Vec::new();
        for input in &signature.inputs {
            let FnArg::Typed(input) = input else {
                problems.at(input, "a device function is a free function: remove `self`");
                continue;
            };
            if let Some(attribute) = input.attrs.first() {
                problems.at(
                    attribute,
                    "parameters of device functions are numbers, without attributes",
                );
            }
            let ty = problems.note(Scalar::of(&input.ty));
            match (&*input.pat, ty) {
                (Pat::Ident(pattern), Some(ty))
                    if pattern.by_ref.is_none() && pattern.subpat.is_none() =>
                {
                    let tokens = ty.tokens(input.ty.span());
                    inputs.push(quote!(#pattern: #tokens));
                    parameters.push(Parameter {
                        ident: pattern.ident.clone(),
                        ty,
                    });
                }
                (Pat::Ident(_), None) => {}
                (pattern, _) => problems.at(pattern, "give the parameter a name"),
            }
        }
        let result = match &signature.output {
            ReturnType::Default => {
                problems.at(
                    &signature.ident,
                    "a device function returns a number: add `-> f32`",
                );
                None
            }
            ReturnType::Type(_, ty) => problems
                .note(Scalar::of(ty))
                .map(|ty| (ty, ty.span_of(&signature.output))),
        };
        let Some((result, result_span)) = result else {
            return Err(problems.into_error());
        };
        // The body can be translated even if parameters are wrong; then its errors are seen, too.
        let statements = (|input: syn::parse::ParseStream<'_>| syn::Block::parse_within(input))
            .parse2(function.body.stream());
        let Some(statements) = problems.note(statements) else {
            return Err(problems.into_error());
        };
        let names = signature.inputs.iter().filter_map(|input| match input {
            FnArg::Typed(input) => match &*input.pat {
                Pat::Ident(pattern) => Some(&pattern.ident),
                _ => None,
            },
            FnArg::Receiver(_) => None,
        });
        let mut translator = Translator::new(device, &signature.ident, &mut problems);
        for name in names {
            translator.declare(name);
        }
        let body = translator.block(&statements);
        let num_locals = translator.num_locals();

        let ident = &signature.ident;
        let (rust, tree) = (&body.rust, &body.tree);
        let is_inline = |attribute: &&Attribute| attribute.path().is_ident("inline");
        let attributes: Vec<Attribute> = function
            .attributes
            .iter()
            .filter(|attribute| !is_inline(attribute) && !crate::function::is_kernel(attribute))
            .cloned()
            .collect();
        let conditions = function.conditions();
        let visibility = &function.visibility;
        let output = result.tokens(result_span);
        let name = ident.to_string();
        let declared = parameters.iter().map(|parameter| {
            let (name, ty) = (parameter.ident.to_string(), parameter.ty.variant());
            quote!(#device::Parameter { name: #name, ty: #device::Scalar::#ty })
        });
        let variant = result.variant();
        let items = quote! {
            #(#attributes)*
            #[inline(always)]
            #[allow(clippy::all, clippy::pedantic, unused_parens, unused_braces)]
            #visibility fn #ident(#(#inputs),*) -> #output { #rust }

            #(#conditions)*
            #[doc(hidden)]
            #[allow(dead_code, non_camel_case_types, missing_debug_implementations)]
            #visibility struct #ident {}

            #(#conditions)*
            #[automatically_derived]
            impl #device::DeviceFunction for #ident {
                const FUNCTION: &'static #device::Function = {
                    // The compiler evaluates a static once, but a constant for each path to it.
                    static FUNCTION: #device::Function = #device::Function {
                        name: #name,
                        parameters: &[#(#declared),*],
                        result: #device::Scalar::#variant,
                        num_locals: #num_locals,
                        body: #tree,
                    };
                    &FUNCTION
                };
            }
        };
        problems.finish(Self {
            ident: ident.clone(),
            attributes,
            visibility: visibility.clone(),
            parameters,
            result,
            items,
            tree: quote!(<#ident as #device::DeviceFunction>::FUNCTION),
            grid: None,
        })
    }

    /// Returns the doc comments.
    pub(crate) fn docs(&self) -> impl Iterator<Item = &Attribute> {
        let is_doc = |attribute: &&Attribute| attribute.path().is_ident("doc");
        self.attributes.iter().filter(is_doc)
    }

    /// Returns the visibility.
    pub(crate) fn visibility(&self) -> &Visibility {
        &self.visibility
    }
}

/// Refuses qualifiers and generic parameters.
fn check_signature(function: &FunctionItem, problems: &mut Problems) {
    let signature = &function.signature;
    let mut refuse = |span: Option<Span>, message: &str| {
        if let Some(span) = span {
            problems.at_span(span, message);
        }
    };
    refuse(
        signature.asyncness.as_ref().map(Spanned::span),
        "a device function computes at once: remove `async`",
    );
    refuse(
        signature.constness.as_ref().map(Spanned::span),
        "remove `const`: the device library cannot be called in constants",
    );
    refuse(
        signature.abi.as_ref().map(Spanned::span),
        "remove `extern`: a device function is an ordinary Rust function",
    );
    refuse(
        signature.variadic.as_ref().map(Spanned::span),
        "a device function has a fixed number of parameters",
    );
    refuse(
        signature.generics.params.first().map(Spanned::span),
        "a device function is not generic: write one function for each type",
    );
    if let syn::Safety::Unsafe(keyword) = &signature.safety {
        refuse(
            Some(keyword.span),
            "a device function is safe: remove `unsafe`",
        );
    }
}

/// Returns a call of a function of the device library, at a place of the body.
fn library_call(
    device: &TokenStream,
    name: &str,
    span: Span,
    arguments: &[TokenStream],
) -> TokenStream {
    let name = Ident::new(name, span);
    // The compiler reports operands of wrong types at the first token of the path.
    let device = device.clone().into_iter().map(|mut token| {
        token.set_span(span);
        token
    });
    let device: TokenStream = device.collect();
    quote_spanned!(span=> #device::#name(#(#arguments),*))
}
