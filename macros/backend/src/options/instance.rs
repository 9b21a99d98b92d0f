//! `T = [i32, u32 as "ui32"]`: the values of generic parameters.

use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use syn::parse::{Parse, ParseStream};
use syn::{Ident, Lit, LitStr, Token, Type};

/// The values of one generic parameter.
#[derive(Debug)]
pub struct InstanceList {
    /// The parameter.
    pub parameter: Ident,
    /// Its values.
    pub values: Vec<InstanceValue>,
}

/// One value of a generic parameter.
#[derive(Clone, Debug)]
pub struct InstanceValue {
    /// The type or constant.
    pub value: TokenStream,
    /// Its spelling in names of kernels.
    pub spelling: String,
}

impl Parse for InstanceValue {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let value = if input.peek(Lit) || input.peek(Token![-]) {
            let sign: Option<Token![-]> = input.parse()?;
            let constant: Lit = input.parse()?;
            quote!(#sign #constant)
        } else {
            input.parse::<Type>()?.to_token_stream()
        };
        if input.peek(Token![as]) {
            input.parse::<Token![as]>()?;
            return Ok(Self {
                value,
                spelling: input.parse::<LitStr>()?.value(),
            });
        }
        let spelling = value.to_string();
        if spelling
            .chars()
            .all(|char| char.is_alphanumeric() || char == '_')
        {
            Ok(Self { value, spelling })
        } else {
            let message =
                format!("this value needs a spelling for kernel names: `{spelling} as \"…\"`");
            Err(syn::Error::new_spanned(value, message))
        }
    }
}
