//! The syntax of types.

use quote::ToTokens;
use syn::visit_mut::{self, VisitMut};
use syn::{
    GenericArgument, Lifetime, PathArguments, PathSegment, Type, TypeParamBound, TypeReference,
};

/// Returns the type without the invisible groups that macros leave, and without parentheses.
pub(crate) fn ungrouped(ty: &Type) -> &Type {
    match ty {
        Type::Group(group) => ungrouped(&group.elem),
        Type::Paren(paren) => ungrouped(&paren.elem),
        ty => ty,
    }
}

pub(crate) fn last_segment(ty: &Type) -> Option<&PathSegment> {
    match ungrouped(ty) {
        Type::Path(path) if path.qself.is_none() => path.path.segments.last(),
        _ => None,
    }
}

pub(crate) fn last_name(ty: &Type) -> Option<String> {
    last_segment(ty).map(|segment| segment.ident.to_string())
}

/// Returns the generic arguments.
pub(crate) fn arguments(ty: &Type) -> impl Iterator<Item = &GenericArgument> {
    let arguments = match last_segment(ty).map(|segment| &segment.arguments) {
        Some(PathArguments::AngleBracketed(arguments)) => Some(&arguments.args),
        _ => None,
    };
    arguments.into_iter().flatten()
}

/// Returns the types between the angle brackets.
pub(crate) fn type_arguments(ty: &Type) -> impl Iterator<Item = &Type> {
    arguments(ty).filter_map(|argument| match argument {
        GenericArgument::Type(ty) => Some(ty),
        _ => None,
    })
}

/// Returns the first type between the angle brackets.
pub(crate) fn type_argument(ty: &Type) -> Option<&Type> {
    type_arguments(ty).next()
}

pub(crate) fn expect_argument(ty: &Type) -> syn::Result<Type> {
    type_argument(ty).cloned().ok_or_else(|| {
        let written = ty.to_token_stream().to_string();
        syn::Error::new_spanned(ty, format!("the type parameter is missing: `{written}<T>`"))
    })
}

/// Returns the payload type of a reference or a list.
pub(crate) fn payload_argument(ty: &Type) -> syn::Result<Type> {
    let argument = expect_argument(ty)?;
    if is_string(&argument) {
        let of = last_name(ty).unwrap_or_default();
        return Err(syn::Error::new_spanned(
            argument,
            format!("the payload of a string is a `ByteString`: write `{of}<ByteString>`"),
        ));
    }
    Ok(argument)
}

/// Returns `true` if a type is written as an owned text.
pub(crate) fn is_string(ty: &Type) -> bool {
    last_segment(ty).is_some_and(|segment| segment.ident == "String" && segment.arguments.is_none())
}

/// Returns `true` if a type is written as the chain.
pub(crate) fn is_chain(ty: &Type) -> bool {
    last_segment(ty).is_some_and(|segment| segment.ident == "Chain" && segment.arguments.is_none())
}

/// The advice for a function that the kernel calls.
const FUNCTION: &str = "take a function of the program as `Function<(i32,), (i32,)>`, and a body \
                        of the op as `Region<(i32,), (i32,)>`: argument types, then result types";

/// Returns whether a type can be that of a payload, as far as the macro can tell.
pub(crate) fn payload(ty: &Type) -> syn::Result<()> {
    let message = match ty {
        Type::Path(_) => return fixed_size(ty).and_then(|()| no_pointer(ty)),
        Type::Macro(_) => return Ok(()),
        Type::FnPtr(_) => FUNCTION,
        Type::ImplTrait(of) if of.bounds.iter().any(is_of_functions) => FUNCTION,
        Type::TraitObject(_) => {
            return payload_trait(ty).and(Err(syn::Error::new_spanned(ty, OWNED_OBJECT)));
        }
        Type::ImplTrait(_) => {
            "`impl Trait` is not supported: write a generic parameter and list its values, as in \
             `T = [i32, i64]`"
        }
        Type::Tuple(_) => "a tuple cannot be a value: take its elements as separate operands",
        Type::Array(_) => {
            "an array cannot be a value: derive `Value` for a struct that contains it"
        }
        Type::Reference(_) => "expected one `&`, found nested references",
        Type::Infer(_) => "name the type",
        _ => "this type cannot be a value: name a type that implements `Value`",
    };
    Err(syn::Error::new_spanned(ty, message))
}

/// The advice for a trait object that is not behind `&`.
const OWNED_OBJECT: &str =
    "a value has a single type: name the type, or take values of several types as `&dyn Trait`";

/// Returns whether a trait object can stand for payloads, as far as the macro can tell.
pub(crate) fn payload_trait(ty: &Type) -> syn::Result<()> {
    match ty {
        Type::TraitObject(of) if of.bounds.iter().any(is_of_functions) => {
            Err(syn::Error::new_spanned(ty, FUNCTION))
        }
        _ => Ok(()),
    }
}

/// Refuses the numbers that are of another size on another machine.
pub(crate) fn fixed_size(ty: &Type) -> syn::Result<()> {
    match last_name(ty).as_deref() {
        Some(name @ ("usize" | "isize")) => Err(syn::Error::new_spanned(
            ty,
            format!(
                "programs cannot use `{name}`, whose size depends on the machine: write `i64` or \
                 `u64` and convert it"
            ),
        )),
        _ => Ok(()),
    }
}

/// Refuses pointers: values are shared by the runtime.
fn no_pointer(ty: &Type) -> syn::Result<()> {
    let name = last_name(ty);
    let (Some(name @ ("Arc" | "Rc" | "Box" | "Cow")), Some(of)) =
        (name.as_deref(), type_argument(ty))
    else {
        return Ok(());
    };
    let is_text = matches!(last_name(of).as_deref(), Some("str" | "String"));
    let message = if is_text {
        format!(
            "take a string as `&str` or `String`, and return it as a `String`, instead of a \
             `{name}`"
        )
    } else {
        let of = of.to_token_stream();
        format!(
            "remove the `{name}`, because values are already shared: take `{of}` by `&` or by \
             value, and return it unwrapped; or derive `Value` for a struct that contains the \
             `{name}`"
        )
    };
    Err(syn::Error::new_spanned(ty, message))
}

/// Returns `true` if a bound is `Fn(…)` or a similar trait, the only ones with parentheses.
fn is_of_functions(bound: &TypeParamBound) -> bool {
    let TypeParamBound::Trait(bound) = bound else {
        return false;
    };
    let last = bound.path.segments.last();
    last.is_some_and(|segment| matches!(segment.arguments, PathArguments::Parenthesized(_)))
}

/// Replaces every lifetime, written or elided in `<…>`, by `'static`: what a marker is named with.
pub(crate) struct StaticLifetimes;

impl VisitMut for StaticLifetimes {
    fn visit_lifetime_mut(&mut self, lifetime: &mut Lifetime) {
        *lifetime = Lifetime::new("'static", lifetime.span());
    }

    fn visit_type_reference_mut(&mut self, reference: &mut TypeReference) {
        let span = reference.and_token.span;
        reference.lifetime = Some(Lifetime::new("'static", span));
        visit_mut::visit_type_mut(self, &mut reference.elem);
    }
}
