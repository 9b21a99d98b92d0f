//! The operands, results and attributes of a kernel that takes its frame, or of an op without a
//! kernel: `operands(cond: "i1", rest: variadic any)`.

use syn::ext::IdentExt;
use syn::parse::discouraged::Speculative;
use syn::parse::{Parse, ParseStream};
use syn::punctuated::Punctuated;
use syn::{Expr, Ident, LitStr, Token, Type, TypeSlice, parenthesized};
use tfrt_ods::Arity;

/// An operand or result of a kernel that takes its frame; for other kernels, only the name of a
/// result.
#[derive(Debug)]
pub struct RawValue {
    /// Its name.
    pub name: Ident,
    /// Its types.
    pub ty: Option<RawType>,
    /// The number of its occurrences.
    pub arity: Arity,
    /// Whether it is written.
    pub is_mutated: bool,
    /// Whether it is taken as a reference.
    pub is_reference: bool,
}

/// The types that an operand or result may have.
#[derive(Clone, Debug)]
pub enum RawType {
    /// `any`
    Any,
    /// `"i1"`
    Spelled(LitStr),
    /// `same_as(operand)`
    SameAs(Ident),
    /// `one_of("i32", "i64")`
    OneOf(Vec<LitStr>),
    /// A Rust type.
    Rust(Box<Type>),
}

/// The type of an attribute.
#[derive(Clone, Debug)]
pub enum AttributeType {
    /// The Rust type that reads it.
    Rust(Box<Type>),
    /// `any`: only for ops without kernels, because no kernel could read it.
    Any,
    /// `[any]`: a list of anything.
    AnyList,
}

/// An attribute of a kernel that takes its frame.
#[derive(Debug)]
pub struct RawAttr {
    /// Its name.
    pub name: Ident,
    /// Its type.
    pub ty: AttributeType,
    /// Its default.
    pub default: Option<Expr>,
}

impl Parse for RawValue {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let mut value = Self {
            name: input.call(Ident::parse_any)?,
            ty: None,
            arity: Arity::One,
            is_mutated: false,
            is_reference: false,
        };
        if !input.peek(Token![:]) {
            return Ok(value);
        }
        input.parse::<Token![:]>()?;
        loop {
            if input.peek(Token![mut]) {
                input.parse::<Token![mut]>()?;
                value.is_mutated = true;
            } else if input.peek(Token![ref]) {
                input.parse::<Token![ref]>()?;
                value.is_reference = true;
            } else if is_keyword(input, "variadic") {
                input.parse::<Ident>()?;
                value.arity = Arity::Variadic;
            } else if is_keyword(input, "optional") {
                input.parse::<Ident>()?;
                value.arity = Arity::Optional;
            } else {
                break;
            }
        }
        value.ty = Some(input.parse()?);
        Ok(value)
    }
}

/// Returns `true` if the next token is this word.
fn is_keyword(input: ParseStream<'_>, word: &str) -> bool {
    input
        .fork()
        .parse::<Ident>()
        .is_ok_and(|ident| ident == word)
}

impl Parse for RawType {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        if input.peek(LitStr) {
            return Ok(Self::Spelled(input.parse()?));
        }
        if is_keyword(input, "any") {
            input.parse::<Ident>()?;
            return Ok(Self::Any);
        }
        if is_keyword(input, "same_as") {
            input.parse::<Ident>()?;
            let content;
            parenthesized!(content in input);
            return Ok(Self::SameAs(content.parse()?));
        }
        if is_keyword(input, "one_of") {
            input.parse::<Ident>()?;
            let content;
            parenthesized!(content in input);
            let types = content.call(Punctuated::<LitStr, Token![,]>::parse_terminated)?;
            return Ok(Self::OneOf(types.into_iter().collect()));
        }
        Ok(Self::Rust(Box::new(input.parse()?)))
    }
}

impl Parse for AttributeType {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        if is_keyword(input, "any") {
            input.parse::<Ident>()?;
            return Ok(Self::Any);
        }
        let ahead = input.fork();
        if let Ok(list) = ahead.parse::<TypeSlice>()
            && matches!(&*list.elem, Type::Path(path) if path.path.is_ident("any"))
        {
            input.advance_to(&ahead);
            return Ok(Self::AnyList);
        }
        Ok(Self::Rust(Box::new(input.parse()?)))
    }
}

impl Parse for RawAttr {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let name = input.call(Ident::parse_any)?;
        input.parse::<Token![:]>()?;
        let ty = input.parse()?;
        let default = if input.peek(Token![=]) {
            input.parse::<Token![=]>()?;
            Some(input.parse()?)
        } else {
            None
        };
        Ok(Self { name, ty, default })
    }
}
