//! `#[derive(Value)]`: how MLIR spells a type, and whether kernels change its values in place.

use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use syn::parse::ParseStream;
use syn::{DeriveInput, LitStr, Path, Token, parse_quote};

use crate::problems::Problems;

/// What `#[value(…)]` says.
#[derive(Default)]
struct Options {
    spelling: Option<LitStr>,
    is_mutable: bool,
    crate_path: Option<Path>,
}

/// Expands the derive.
///
/// # Errors
/// If the attribute is missing or says something else than a spelling and `mutable`.
pub(crate) fn derive(item: TokenStream) -> syn::Result<TokenStream> {
    let input: DeriveInput = syn::parse2(item)?;
    let mut problems = Problems::default();
    let mut options = Options::default();
    for attribute in input
        .attrs
        .iter()
        .filter(|attribute| attribute.path().is_ident("value"))
    {
        problems.note(attribute.parse_args_with(|content: ParseStream<'_>| options.parse(content)));
    }
    let Some(spelling) = &options.spelling else {
        if !problems.is_empty() {
            return problems.finish(TokenStream::new());
        }
        let message = "say how MLIR spells the type: `#[value(\"!dialect.name\")]`";
        return Err(syn::Error::new_spanned(&input.ident, message));
    };
    check_spelling(spelling, &mut problems);
    for lifetime in input.generics.lifetimes() {
        problems.at(
            lifetime,
            "a value owns what it has: a type with a lifetime cannot be one",
        );
    }
    let root = options
        .crate_path
        .as_ref()
        .map_or_else(|| quote!(::tfrt), ToTokens::to_token_stream);
    let mut generics = input.generics.clone();
    for parameter in generics.type_params_mut() {
        parameter.bounds.push(parse_quote!(#root::__private::Send));
        parameter.bounds.push(parse_quote!(#root::__private::Sync));
        parameter.bounds.push(parse_quote!('static));
    }
    let (impl_generics, type_generics, where_clause) = generics.split_for_impl();
    let (ident, is_mutable) = (&input.ident, options.is_mutable);
    problems.finish(quote! {
        #[automatically_derived]
        impl #impl_generics #root::__private::Value for #ident #type_generics #where_clause {
            const MLIR_TYPE: &'static str = #spelling;
            const IS_MUTABLE: bool = #is_mutable;
        }
    })
}

impl Options {
    fn parse(&mut self, content: ParseStream<'_>) -> syn::Result<()> {
        while !content.is_empty() {
            if content.peek(LitStr) {
                let spelling: LitStr = content.parse()?;
                if self.spelling.is_some() {
                    return Err(syn::Error::new(spelling.span(), "a type has one spelling"));
                }
                self.spelling = Some(spelling);
            } else if content.peek(Token![crate]) {
                content.parse::<Token![crate]>()?;
                content.parse::<Token![=]>()?;
                self.crate_path = Some(content.call(Path::parse_mod_style)?);
            } else {
                let option: syn::Ident = content.parse()?;
                if option != "mutable" {
                    let message = format!(
                        "unknown option `{option}`: write `#[value(\"!dialect.name\", mutable)]`"
                    );
                    return Err(syn::Error::new(option.span(), message));
                }
                self.is_mutable = true;
            }
            if !content.is_empty() {
                content.parse::<Token![,]>()?;
            }
        }
        Ok(())
    }
}

fn check_spelling(spelling: &LitStr, problems: &mut Problems) {
    let text = spelling.value();
    let is_dialect_type = text
        .strip_prefix('!')
        .is_some_and(|rest| match rest.split_once('.') {
            Some((dialect, name)) => {
                let is_word = |word: &str| {
                    !word.is_empty()
                        && word
                            .chars()
                            .all(|char| char.is_ascii_alphanumeric() || "_$.".contains(char))
                };
                is_word(dialect) && is_word(name)
            }
            None => false,
        });
    if !is_dialect_type {
        problems.at(
            spelling,
            format!("a type is spelled `!dialect.name`, found `{text}`"),
        );
    }
}
