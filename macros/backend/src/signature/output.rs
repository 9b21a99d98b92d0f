//! The return type, interpreted as the results of a kernel.

use syn::{ReturnType, Type};

use crate::problems::Problems;
use crate::signature::types::{
    expect_argument, last_name, payload, payload_argument, type_argument, ungrouped,
};

/// The result of a function.
#[derive(Debug)]
pub enum Output {
    /// `()`
    Nothing,
    /// `T`
    Payload(Box<Type>),
    /// `String`
    Text,
    /// `AsyncValueRef<T>`
    Later(Box<Type>),
    /// `AnyRef`
    Any,
    /// `Vec<T>`
    PayloadTail(Box<Type>),
    /// `Vec<String>`
    TextTail,
    /// `Vec<AsyncValueRef<T>>`
    LaterTail(Box<Type>),
    /// `Vec<AnyRef>`
    AnyTail,
    /// `(A, B)`
    Tuple(Vec<Output>),
    /// `Result<T, E>`
    Fallible {
        /// `T`
        ok: Box<Output>,
        /// The type as it is written.
        whole: Box<Type>,
    },
}

impl Output {
    /// Returns the single results, in order; a tail counts as one.
    pub(crate) fn leaves(&self) -> Vec<&Self> {
        match self {
            Self::Nothing => Vec::new(),
            Self::Tuple(parts) => parts.iter().flat_map(Self::leaves).collect(),
            Self::Fallible { ok, .. } => ok.leaves(),
            leaf => vec![leaf],
        }
    }

    /// Returns `true` if it fills all remaining slots.
    pub(crate) fn is_tail(&self) -> bool {
        matches!(
            self,
            Self::PayloadTail(_) | Self::TextTail | Self::LaterTail(_) | Self::AnyTail
        )
    }

    /// Returns the type of its payload, if that is written.
    pub(crate) fn payload(&self) -> Option<&Type> {
        match self {
            Self::Payload(ty) | Self::Later(ty) | Self::PayloadTail(ty) | Self::LaterTail(ty) => {
                Some(ty)
            }
            _ => None,
        }
    }
}

/// Reads the return type.
pub(crate) fn read(return_type: &ReturnType, problems: &mut Problems) -> Output {
    match return_type {
        ReturnType::Default => Output::Nothing,
        ReturnType::Type(_, ty) => problems
            .note(read_output(ty, Nesting::Whole))
            .unwrap_or(Output::Nothing),
    }
}

/// The permitted nesting of results.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Nesting {
    Whole,
    InTuple,
    InResult,
    InResultInTuple,
}

fn read_output(ty: &Type, nesting: Nesting) -> syn::Result<Output> {
    let is_inside_tuple = matches!(nesting, Nesting::InTuple | Nesting::InResultInTuple);
    match ungrouped(ty) {
        Type::Tuple(tuple) if tuple.elems.is_empty() && !is_inside_tuple => Ok(Output::Nothing),
        Type::Tuple(tuple) if is_inside_tuple => Err(syn::Error::new_spanned(
            tuple,
            "results are a flat tuple: each element is one result",
        )),
        Type::Tuple(tuple) => read_tuple(tuple, nesting),
        Type::Reference(reference) => Err(syn::Error::new_spanned(
            reference,
            "a result must be owned: return it by value, or take and return an `AnyRef` to \
             forward an operand",
        )),
        Type::ImplTrait(ty) => Err(syn::Error::new_spanned(
            ty,
            "name the type; use an `async fn` for a result that becomes available later",
        )),
        Type::Never(ty) => Err(syn::Error::new_spanned(
            ty,
            "a kernel must return: write the types of its results, or omit the return type if it \
             has none",
        )),
        ty => match last_name(ty).as_deref() {
            Some("Result") => read_result(ty, nesting),
            Some("Option") => Err(syn::Error::new_spanned(
                ty,
                "a result cannot be optional: return a `Result`",
            )),
            Some("AnyRef") => Ok(Output::Any),
            Some("String") => Ok(Output::Text),
            Some("AsyncValueRef") => Ok(Output::Later(Box::new(payload_argument(ty)?))),
            Some("Vec") => {
                let elem = expect_argument(ty)?;
                Ok(match last_name(&elem).as_deref() {
                    Some("AnyRef") => Output::AnyTail,
                    Some("String") => Output::TextTail,
                    Some("AsyncValueRef") => Output::LaterTail(Box::new(payload_argument(&elem)?)),
                    _ => Output::PayloadTail(Box::new(elem)),
                })
            }
            _ => {
                payload(ty)?;
                Ok(Output::Payload(Box::new(ty.clone())))
            }
        },
    }
}

fn read_tuple(tuple: &syn::TypeTuple, nesting: Nesting) -> syn::Result<Output> {
    let nesting = if nesting == Nesting::Whole {
        Nesting::InTuple
    } else {
        Nesting::InResultInTuple
    };
    let mut problems = Problems::default();
    let mut parts = Vec::new();
    for elem in &tuple.elems {
        if let Some(part) = problems.note(read_output(elem, nesting)) {
            if parts.last().is_some_and(Output::is_tail) {
                problems.at(
                    elem,
                    "a `Vec` fills all remaining results: it must come last",
                );
            }
            parts.push(part);
        }
    }
    if tuple.elems.len() > 8 {
        problems.at(
            tuple,
            "a tuple of results can have at most 8 elements; return a `Vec<AnyRef>` for more",
        );
    }
    problems.finish(Output::Tuple(parts))
}

fn read_result(ty: &Type, nesting: Nesting) -> syn::Result<Output> {
    if matches!(nesting, Nesting::InResult | Nesting::InResultInTuple) {
        return Err(syn::Error::new_spanned(
            ty,
            "expected one `Result`, found nested ones",
        ));
    }
    let nesting = if nesting == Nesting::Whole {
        Nesting::InResult
    } else {
        Nesting::InResultInTuple
    };
    let ok = match type_argument(ty) {
        Some(ok) => read_output(ok, nesting)?,
        None if nesting == Nesting::InResult => Output::Nothing,
        None => {
            return Err(syn::Error::new_spanned(
                ty,
                "the type of the value is missing: `Result<T>`",
            ));
        }
    };
    if nesting == Nesting::InResultInTuple && ok.is_tail() {
        return Err(syn::Error::new_spanned(
            ty,
            "a `Vec` cannot fail by itself: put the whole tuple into the `Result`",
        ));
    }
    Ok(Output::Fallible {
        ok: Box::new(ok),
        whole: Box::new(ty.clone()),
    })
}
