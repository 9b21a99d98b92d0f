//! `#[derive(Value)]`: the MLIR spelling of a type, whether kernels change its values in place, and
//! how values are displayed.

use proc_macro2::TokenStream;
use quote::quote;
use syn::ext::IdentExt;
use syn::parse::{ParseStream, Parser};
use syn::{DeriveInput, Ident, LitStr, Meta, Path, Token, parse_quote};

use crate::facade::Facade;
use crate::options::split_at_commas;
use crate::problems::{Problems, did_you_mean};

/// The options of `#[value(…)]`.
#[derive(Default)]
struct Options {
    spelling: Option<LitStr>,
    /// Options without a value, with their places.
    flags: Vec<Ident>,
    crate_path: Option<Path>,
}

/// Options without a value.
const FLAGS: &[&str] = &["mutable", "copied", "display"];

/// Expands the derive.
///
/// # Errors
/// Everything that is wrong with the attribute or the type.
pub(crate) fn derive(facade: Facade, item: TokenStream) -> syn::Result<TokenStream> {
    let input: DeriveInput = syn::parse2(item)?;
    let mut problems = Problems::default();
    let options = Options::of(&input, &mut problems);
    match &options.spelling {
        Some(spelling) => check_spelling(spelling, &mut problems),
        None if problems.is_empty() => problems.at(
            &input.ident,
            "the type needs an MLIR spelling: `#[value(\"!dialect.name\")]`",
        ),
        None => {}
    }
    for lifetime in input.generics.lifetimes() {
        problems.at(
            lifetime,
            "a value owns its data: a type with a lifetime parameter cannot be a value",
        );
    }
    if let (Some(_), Some(copied)) = (options.flag("mutable"), options.flag("copied")) {
        problems.at(
            copied,
            "`copied` cannot be combined with `mutable`: kernels cannot write to a copy",
        );
    }
    let root = problems.note(facade.private_module(options.crate_path.as_ref()));
    let mut generics = input.generics.clone();
    for parameter in generics.type_params_mut() {
        parameter.bounds.push(parse_quote!(#root::Send));
        parameter.bounds.push(parse_quote!(#root::Sync));
        parameter.bounds.push(parse_quote!('static));
    }
    let (impl_generics, type_generics, where_clause) = generics.split_for_impl();
    let (ident, spelling) = (&input.ident, &options.spelling);
    let is_mutable = options.flag("mutable").is_some();
    let passing = options.flag("copied").map(|flag| {
        let copied = Ident::new("COPIED", flag.span());
        quote!(const PASSING: #root::Passing<Self> = #root::Passing::<Self>::#copied;)
    });
    let display = options.flag("display").map(|flag| {
        let displayed = quote::quote_spanned!(flag.span()=> <Self as #root::Display>::fmt);
        quote!(const DISPLAY: #root::Option<#root::DisplayFn<Self>> = #root::Some(#displayed);)
    });
    // A static cannot name the parameters of the type.
    let index_cell = input.generics.params.is_empty().then(|| {
        quote! {
            const INDEX_CELL: #root::Option<fn() -> &'static #root::IndexCell<Self>> = {
                static CELL: #root::IndexCell<#ident> = #root::IndexCell::new();
                #root::Some(|| &CELL)
            };
        }
    });
    let immutable = (!is_mutable).then(|| {
        quote! {
            #[automatically_derived]
            impl #impl_generics #root::Immutable for #ident #type_generics #where_clause {}
        }
    });
    problems.finish(quote! {
        #[automatically_derived]
        impl #impl_generics #root::Value for #ident #type_generics #where_clause {
            const MLIR_TYPE: &'static str = #spelling;
            const IS_MUTABLE: bool = #is_mutable;
            #index_cell
            #passing
            #display
        }

        #immutable
    })
}

impl Options {
    fn of(input: &DeriveInput, problems: &mut Problems) -> Self {
        let mut options = Self::default();
        let attributes = input.attrs.iter();
        for attribute in attributes.filter(|attribute| attribute.path().is_ident("value")) {
            let Meta::List(list) = &attribute.meta else {
                problems.at(attribute, "write `#[value(\"!dialect.name\")]`");
                continue;
            };
            let (given, commas) = split_at_commas(list.tokens.clone(), "an option");
            problems.note(commas);
            for option in given {
                let parse = |input: ParseStream<'_>| options.parse(input);
                problems.note(parse.parse2(option));
            }
        }
        options
    }

    fn flag(&self, name: &str) -> Option<&Ident> {
        self.flags.iter().find(|flag| *flag == name)
    }

    fn parse(&mut self, input: ParseStream<'_>) -> syn::Result<()> {
        if input.peek(LitStr) {
            let spelling: LitStr = input.parse()?;
            if self.spelling.is_some() {
                return Err(syn::Error::new(
                    spelling.span(),
                    "a type has only one spelling",
                ));
            }
            self.spelling = Some(spelling);
            return Ok(());
        }
        let key = input.call(Ident::parse_any)?;
        let name = key.to_string();
        if name == "crate" {
            input.parse::<Token![=]>()?;
            self.crate_path = Some(input.call(Path::parse_mod_style)?);
            return Ok(());
        }
        let is_unknown = !FLAGS.contains(&name.as_str());
        if is_unknown && self.spelling.is_none() && input.peek(Token![=]) && input.peek2(LitStr) {
            input.parse::<Token![=]>()?;
            let spelling: LitStr = input.parse()?;
            let message = format!(
                "the spelling takes no key: write `\"{}\"`",
                spelling.value()
            );
            self.spelling = Some(spelling);
            return Err(syn::Error::new(key.span(), message));
        }
        if is_unknown {
            let hint = did_you_mean(&name, &[FLAGS, &["crate"]].concat());
            return Err(syn::Error::new(
                key.span(),
                format!("unknown option `{name}`: {hint}"),
            ));
        }
        if self.flag(&name).is_some() {
            return Err(syn::Error::new(
                key.span(),
                format!("`{name}` is given twice"),
            ));
        }
        self.flags.push(key);
        Ok(())
    }
}

fn check_spelling(spelling: &LitStr, problems: &mut Problems) {
    let text = spelling.value();
    let is_word = |word: &str| {
        let is_fit = |char: char| char.is_ascii_alphanumeric() || "_$.".contains(char);
        !word.is_empty() && word.chars().all(is_fit)
    };
    let is_dialect_type = text
        .strip_prefix('!')
        .and_then(|rest| rest.split_once('.'))
        .is_some_and(|(dialect, name)| is_word(dialect) && is_word(name));
    if !is_dialect_type {
        problems.at(
            spelling,
            format!("expected a type of the form `!dialect.name`, found `{text}`"),
        );
    }
}
