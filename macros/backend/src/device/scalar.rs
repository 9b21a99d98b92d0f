//! The types that device functions compute with.

use proc_macro2::{Span, TokenStream};
use quote::ToTokens;
use syn::spanned::Spanned;
use syn::{Ident, ReturnType, Type};

/// A type of a device function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scalar {
    Bool,
    I32,
    U32,
    I64,
    U64,
    F32,
    F64,
}

/// Spellings, types, and the names of their variants.
const SCALARS: &[(&str, Scalar, &str)] = &[
    ("bool", Scalar::Bool, "Bool"),
    ("i32", Scalar::I32, "I32"),
    ("u32", Scalar::U32, "U32"),
    ("i64", Scalar::I64, "I64"),
    ("u64", Scalar::U64, "U64"),
    ("f32", Scalar::F32, "F32"),
    ("f64", Scalar::F64, "F64"),
];

impl Scalar {
    /// Returns the type of this name.
    pub(crate) fn named(name: &str) -> Option<Self> {
        let found = SCALARS.iter().find(|(known, ..)| *known == name);
        found.map(|(_, scalar, _)| *scalar)
    }

    /// Returns the type that is written.
    ///
    /// # Errors
    /// If device functions do not compute with it.
    pub(crate) fn of(ty: &Type) -> syn::Result<Self> {
        match ty {
            Type::Group(group) => return Self::of(&group.elem),
            Type::Paren(paren) => return Self::of(&paren.elem),
            Type::Path(path) if path.qself.is_none() => {
                if let Some(ident) = path.path.get_ident() {
                    let name = ident.to_string();
                    if let Some(scalar) = Self::named(&name) {
                        return Ok(scalar);
                    }
                    let instead = match name.as_str() {
                        "usize" => "write `u32` or `u64` instead of `usize`",
                        "isize" => "write `i32` or `i64` instead of `isize`",
                        "i8" | "i16" => "write `i32`",
                        "u8" | "u16" => "write `u32`",
                        "i128" => "write `i64`",
                        "u128" => "write `u64`",
                        "f16" | "bf16" => "write `f32`",
                        _ => "write one of these; the macro does not know aliases",
                    };
                    return Err(refused(ty, instead));
                }
            }
            Type::Reference(_) => return Err(refused(ty, "take the number by value")),
            Type::Slice(_) | Type::Array(_) => {
                return Err(refused(ty, "the function sees one element of each tensor"));
            }
            Type::Tuple(_) => return Err(refused(ty, "write one function for each value")),
            _ => {}
        }
        Err(refused(ty, "write one of these"))
    }

    /// Returns the type as it is written in Rust.
    pub(crate) fn tokens(self, span: Span) -> TokenStream {
        Ident::new(self.entry().0, span).into_token_stream()
    }

    /// Returns the name of its variant in the device library.
    pub(crate) fn variant(self) -> Ident {
        Ident::new(self.entry().2, Span::call_site())
    }

    /// Returns the size of an element of a tensor, in bytes.
    pub(crate) fn size_bytes(self) -> usize {
        match self {
            Self::Bool => 1,
            Self::I32 | Self::U32 | Self::F32 => 4,
            Self::I64 | Self::U64 | Self::F64 => 8,
        }
    }

    /// Returns the place of a return type.
    pub(crate) fn span_of(self, output: &ReturnType) -> Span {
        match output {
            ReturnType::Default => Span::call_site(),
            ReturnType::Type(_, ty) => ty.span(),
        }
    }

    fn entry(self) -> &'static (&'static str, Self, &'static str) {
        let found = SCALARS.iter().find(|(_, scalar, _)| *scalar == self);
        found.unwrap_or(&SCALARS[0])
    }
}

fn refused(ty: &Type, instead: &str) -> syn::Error {
    syn::Error::new_spanned(
        ty,
        format!(
            "device functions compute with `bool`, `i32`, `u32`, `i64`, `u64`, `f32` and `f64`: \
             {instead}"
        ),
    )
}
