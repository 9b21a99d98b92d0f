//! Further assertions about types, and about defaults. Each is a separate constant with the span
//! that it refers to, so the compiler reports it once, and no errors in other constants.

use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens, quote_spanned};
use syn::Type;
use syn::spanned::Spanned;

use super::{declaration, markers};
use crate::kernel::{
    AttributeDefault, Bound, Declaration, DefaultValue, KernelModel, Marker, OperandEntry,
    ResultEntry, Variant,
};
use crate::options::{AttributeType, RawType};
use crate::signature::Operand;
use crate::signature::types::{is_chain, last_name};

/// Returns the assertions about one instance.
pub(super) fn assertions(kernel: &KernelModel, variant: &Variant) -> TokenStream {
    let mut assertions = Assertions::default();
    for parameter in &variant.parameters {
        assertions.add_parameter(parameter);
    }
    let leaves = kernel.output.leaves();
    let results = leaves.iter().filter_map(|leaf| leaf.payload());
    for ty in results.chain(raw_types(&variant.declaration)) {
        assertions.add_not_chain(ty, "IsValue");
    }
    assertions.tokens.extend(defaults(&variant.declaration));
    assertions.tokens
}

/// Returns the assertions about the types and defaults of an op without a kernel.
pub(super) fn of_declared_op(declaration: &Declaration) -> TokenStream {
    let mut assertions = Assertions::default();
    for ty in raw_types(declaration) {
        assertions.add_not_chain(ty, "IsValue");
    }
    assertions.tokens.extend(defaults(declaration));
    assertions.tokens
}

/// Returns the assertions that defaults fit their attributes.
fn defaults(declaration: &Declaration) -> TokenStream {
    let mut tokens = TokenStream::new();
    for attribute in &declaration.attributes {
        let is_value = |default: &&AttributeDefault| !matches!(default.value, DefaultValue::Absent);
        let (Some(default), AttributeType::Rust(ty)) =
            (attribute.default.as_ref().filter(is_value), &attribute.ty)
        else {
            continue;
        };
        let span = default.span;
        let (ty, default) = (markers::attribute(ty), declaration::default(default));
        tokens.extend(quote_spanned! {span=>
            const _: () = __tfrt::assert_default::<#ty>(&#default);
        });
    }
    tokens
}

/// Assertions about types. Each says something of a type where it first stands, which is where the
/// constant around reports that the type is not a value: two reports that are equal are one.
#[derive(Default)]
struct Assertions {
    tokens: TokenStream,
    known: Vec<(&'static str, String)>,
}

impl Assertions {
    fn add_parameter(&mut self, parameter: &Bound) {
        let Marker::Operand(operand, ..) = &parameter.marker else {
            return;
        };
        let operand = match operand {
            Operand::Defaulted(operand, _) => operand,
            operand => operand,
        };
        let Some(ty) = operand.payload() else {
            return;
        };
        let check = match operand {
            Operand::ByValue(_) | Operand::Optional(_) => "IsCopied",
            _ => "IsValue",
        };
        match operand {
            Operand::ByMut(_) => self.add(ty, "assert_mutable", check),
            Operand::Rest(_) => self.add(ty, "assert_not_mutable", check),
            _ => {}
        }
        self.add_not_chain(ty, check);
    }

    fn add_not_chain(&mut self, ty: &Type, check: &str) {
        if may_be_chain(ty) {
            self.add(ty, "assert_not_chain", check);
        }
    }

    /// Adds `assertion` about `ty`, unless it was added before.
    fn add(&mut self, ty: &Type, assertion: &'static str, check: &str) {
        let claim = (assertion, ty.to_token_stream().to_string());
        if self.known.contains(&claim) {
            return;
        }
        self.known.push(claim);
        let (span, ty) = (ty.span(), markers::checked(ty, check));
        let assertion = Ident::new(assertion, span);
        let assertion = quote_spanned!(span=> const _: () = __tfrt::#assertion::<#ty>(););
        self.tokens.extend(assertion);
    }
}

/// Returns `true` if a type that is not written as the chain may be the chain.
fn may_be_chain(ty: &Type) -> bool {
    const NUMBERS: &[&str] = &[
        "bool", "i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "f16", "bf16", "f32", "f64",
    ];
    !is_chain(ty) && last_name(ty).is_some_and(|name| !NUMBERS.contains(&name.as_str()))
}

/// Returns the Rust types that options name.
fn raw_types(declaration: &Declaration) -> impl Iterator<Item = &Type> {
    let operands = declaration.operands.iter().filter_map(|entry| match entry {
        OperandEntry::Raw(_, entry) => Some(&entry.ty),
        OperandEntry::OfParameter(..) => None,
    });
    let results = declaration.results.iter().filter_map(|entry| match entry {
        ResultEntry::Raw(_, entry) => Some(&entry.ty),
        ResultEntry::OfOutput(..) | ResultEntry::Out(..) => None,
    });
    operands.chain(results).filter_map(|ty| match ty {
        RawType::Rust(ty) => Some(&**ty),
        _ => None,
    })
}
