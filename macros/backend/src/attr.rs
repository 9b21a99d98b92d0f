//! `#[derive(Attr)]`: enums as attributes. Files hold the number of a case, custom forms show its
//! keyword.

use proc_macro2::TokenStream;
use quote::quote;
use syn::ext::IdentExt;
use syn::spanned::Spanned;
use syn::{Attribute, Data, DeriveInput, Fields, LitStr, Path, Variant};

use crate::facade::Facade;
use crate::problems::{Problems, did_you_mean};

/// Expands the derive.
///
/// # Errors
/// Everything that is wrong with the type.
pub(crate) fn derive(facade: Facade, item: TokenStream) -> syn::Result<TokenStream> {
    let input: DeriveInput = syn::parse2(item)?;
    let mut problems = Problems::default();
    let Data::Enum(data) = &input.data else {
        return Err(syn::Error::new_spanned(
            &input.ident,
            "`Attr` can only be derived for an enum; implement `AttrParam` for other types",
        ));
    };
    if let Some(parameter) = input.generics.params.first() {
        problems.at(
            parameter,
            "an attribute enum cannot have generic parameters",
        );
    }
    if data.variants.is_empty() {
        problems.at(&input.ident, "an attribute enum needs at least one variant");
    }
    let crate_path = crate_path(&input.attrs, &mut problems);
    let mut keywords: Vec<String> = Vec::new();
    for variant in &data.variants {
        if !matches!(variant.fields, Fields::Unit) {
            problems.at(
                &variant.fields,
                "a variant of an attribute enum is a keyword and cannot have fields",
            );
        }
        let (keyword, span) = keyword(variant, &mut problems);
        if keywords.contains(&keyword) {
            problems.at_span(span, format!("the keyword `{keyword}` is used twice"));
        }
        keywords.push(keyword);
    }
    let root = problems.note(facade.private_module(crate_path.as_ref()));
    let (ident, name) = (&input.ident, input.ident.unraw().to_string());
    let cases: Vec<_> = data.variants.iter().map(|variant| &variant.ident).collect();
    problems.finish(quote! {
        #[automatically_derived]
        impl #root::AttrParam for #ident {
            type Value<'a> = Self;
            const KIND: #root::AttrKind = #root::AttrKind::Enum(&#root::EnumDef {
                cases: &[#(#root::EnumCase { keyword: #keywords, value: Self::#cases as i128 }),*],
                ..#root::EnumDef::new(#name)
            });

            fn read(section: &[u8], offset: u32) -> #root::Result<Self, #root::Error> {
                let number = <i32 as #root::AttrParam>::read(section, offset)?;
                #(
                    if number == Self::#cases as i32 {
                        return #root::Ok(Self::#cases);
                    }
                )*
                #root::Err(#root::no_case(#name, number))
            }
        }

        #[automatically_derived]
        impl #root::ToOpAttr for #ident {
            fn to_argument(&self) -> #root::OpAttrArgument<'_> {
                let number = match self {
                    #(Self::#cases => Self::#cases as i32),*
                };
                #root::OpAttrArgument::Scalar(#root::Scalar::i32(number))
            }
        }
    })
}

/// `#[attr(crate = path)]` on the enum.
fn crate_path(attributes: &[Attribute], problems: &mut Problems) -> Option<Path> {
    let mut path = None;
    for attribute in attributes {
        if !attribute.path().is_ident("attr") {
            continue;
        }
        let parsed = attribute.parse_nested_meta(|meta| {
            if !meta.path.is_ident("crate") {
                let found = meta.path.get_ident().map(ToString::to_string);
                let hint = did_you_mean(&found.unwrap_or_default(), &["crate"]);
                return Err(meta.error(format!("unknown option: {hint}")));
            }
            path = Some(meta.value()?.call(Path::parse_mod_style)?);
            Ok(())
        });
        problems.note(parsed);
    }
    path
}

/// Returns the keyword of a case: given by `#[attr("keyword")]`, otherwise its name in snake case.
fn keyword(variant: &Variant, problems: &mut Problems) -> (String, proc_macro2::Span) {
    let attributes = variant.attrs.iter();
    let given = attributes
        .filter(|attribute| attribute.path().is_ident("attr"))
        .filter_map(|attribute| {
            let parsed = attribute
                .parse_args::<LitStr>()
                .map_err(|error| syn::Error::new(error.span(), "write `#[attr(\"keyword\")]`"));
            problems.note(parsed)
        })
        .last();
    let Some(given) = given else {
        return (
            snake_case(&variant.ident.unraw().to_string()),
            variant.span(),
        );
    };
    let text = given.value();
    let is_first_fit = text.starts_with(|char: char| char.is_ascii_alphabetic() || char == '_');
    let is_fit = |char: char| char.is_ascii_alphanumeric() || "_$.".contains(char);
    if !is_first_fit || !text.chars().all(is_fit) {
        problems.at(
            &given,
            format!(
                "expected a keyword of letters, digits, `_`, `$` and `.` that starts with a \
                 letter or `_`, found `{text}`"
            ),
        );
    }
    (text, given.span())
}

fn snake_case(name: &str) -> String {
    let mut snake = String::new();
    for (index, char) in name.char_indices() {
        if char.is_uppercase() && index > 0 && !snake.ends_with('_') {
            snake.push('_');
        }
        snake.extend(char.to_lowercase());
    }
    snake
}

#[cfg(test)]
mod tests {
    use super::snake_case;

    #[test]
    fn keywords_are_in_snake_case() {
        assert_eq!(
            ["Same", "SameUpper", "keep_it", "R2D2"].map(snake_case),
            ["same", "same_upper", "keep_it", "r2_d2"]
        );
    }
}
