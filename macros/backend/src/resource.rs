//! `#[derive(Resource)]`: types with a default whose objects kernels share.

use proc_macro2::TokenStream;
use quote::quote;
use syn::ext::IdentExt;
use syn::{DeriveInput, Ident, Path};

use crate::facade::Facade;
use crate::problems::{Problems, did_you_mean};

/// The scopes in which an object is shared, with the cases of `ResourceScope`.
const SCOPES: &[(&str, &str)] = &[
    ("host", "Host"),
    ("client", "Client"),
    ("request", "Request"),
];

/// Expands the derive.
///
/// # Errors
/// Everything that is wrong with the attribute or the type.
pub(crate) fn derive(facade: Facade, item: TokenStream) -> syn::Result<TokenStream> {
    let input: DeriveInput = syn::parse2(item)?;
    let mut problems = Problems::default();
    let mut scope: Option<Ident> = None;
    let mut crate_path: Option<Path> = None;
    let attributes = input.attrs.iter();
    for attribute in attributes.filter(|attribute| attribute.path().is_ident("resource")) {
        let parsed = attribute.parse_nested_meta(|meta| {
            if meta.path.is_ident("crate") {
                crate_path = Some(meta.value()?.call(Path::parse_mod_style)?);
                return Ok(());
            }
            let found = meta
                .path
                .get_ident()
                .map(|ident| ident.unraw().to_string())
                .unwrap_or_default();
            let Some((_, variant)) = SCOPES.iter().find(|(name, _)| *name == found) else {
                let known: Vec<&str> = SCOPES.iter().map(|(name, _)| *name).collect();
                let hint = did_you_mean(&found, &known);
                return Err(meta.error(format!("unknown scope `{found}`: {hint}")));
            };
            let variant = Ident::new(variant, input.ident.span());
            if scope.replace(variant).is_some() {
                return Err(meta.error("a resource has only one scope"));
            }
            Ok(())
        });
        problems.note(parsed);
    }
    if scope.is_none() && problems.is_empty() {
        problems.at(
            &input.ident,
            "the scope is missing: `#[resource(host)]`, `#[resource(client)]` or \
             `#[resource(request)]`",
        );
    }
    if let Some(parameter) = input.generics.params.first() {
        problems.at(
            parameter,
            "implement `Resource` by hand for a type with generic parameters",
        );
    }
    let root = problems.note(facade.private_module(crate_path.as_ref()));
    let ident = &input.ident;
    problems.finish(quote! {
        #[automatically_derived]
        impl #root::Resource for #ident {
            const SCOPE: #root::ResourceScope = #root::ResourceScope::#scope;

            fn create(_: &#root::ExecutionContext) -> #root::Result<Self, #root::Error> {
                #root::Ok(<Self as #root::Default>::default())
            }
        }
    })
}
