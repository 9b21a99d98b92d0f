//! Rejects features of kernels that ops do not support, and checks the signatures of ops that take
//! their call.

use proc_macro2::Ident;
use quote::quote;
use syn::spanned::Spanned;
use syn::{FnArg, ReturnType, Type};

use crate::function::FunctionItem;
use crate::kernel::{Marker, Variant};
use crate::op::OpFlag;
use crate::problems::Problems;
use crate::signature::types::{is_chain, last_name, type_argument, ungrouped};
use crate::signature::{self, Binding, Operand, Output, TextForm, output};

/// Types that are not tensors, whatever an author imports.
const NUMBERS: &[&str] = &[
    "bool",
    "char",
    "i8",
    "i16",
    "i32",
    "i64",
    "i128",
    "u8",
    "u16",
    "u32",
    "u64",
    "u128",
    "f16",
    "bf16",
    "f32",
    "f64",
    "usize",
    "isize",
    "str",
    "String",
    "ByteString",
    "DType",
];

const CHAIN: &str = "an op does not take chains: add `side_effecting` or `effect = \"…\"` to \
                     order its effects";

/// Parameters and results that are only for kernels, not for ops.
pub(super) fn function(function: &FunctionItem, problems: &mut Problems) {
    // What cannot be read is reported with the kernel.
    let mut ignored = Problems::default();
    let parameters = signature::parameters(function, &mut ignored);
    for parameter in &parameters {
        if let Some(message) = refused(&parameter.binding, &parameter.name) {
            problems.at(&parameter.ty, message);
        }
    }
    let ReturnType::Type(_, ty) = &function.signature.output else {
        return;
    };
    for leaf in output::read(&function.signature.output, &mut ignored).leaves() {
        let payload = leaf.payload();
        match (leaf, payload) {
            (_, Some(payload)) if is_chain(payload) => problems.at(payload, CHAIN),
            (Output::Text | Output::TextTail, _) => {
                problems.at(ty, "an op returns tensors, and a string is not a tensor");
            }
            (_, Some(payload)) if is_number(payload) => problems.at(
                payload,
                "an op returns tensors: return a `DenseHostTensor` of one element, or a \
                 `ScalarHostTensor`",
            ),
            _ => {}
        }
    }
}

/// Reports a parameter that is the frame of a kernel, and returns whether there is one.
pub(super) fn takes_frame(function: &FunctionItem, problems: &mut Problems) -> bool {
    let parameters = signature::parameters(function, &mut Problems::default());
    let frame = parameters
        .iter()
        .find(|parameter| matches!(parameter.binding, Binding::Frame));
    if let Some(parameter) = frame {
        let message = "an op takes no frame: with `raw`, take the call, `call: &mut OpCall<'_>`";
        problems.at(&parameter.ty, message);
    }
    frame.is_some()
}

fn is_number(ty: &Type) -> bool {
    last_name(ty).is_some_and(|name| NUMBERS.contains(&name.as_str()))
}

/// Returns the reason why an op does not have a parameter that is bound like this.
fn refused(binding: &Binding, name: &str) -> Option<String> {
    let no_tensor = || format!("an op takes tensors: make `{name}` an attribute with `#[attr]`");
    let message = match binding {
        // Bytes are elements, of which the adapter knows.
        Binding::Operand(
            Operand::Text(TextForm::Bytes) | Operand::OptionalText(TextForm::Bytes),
        ) => {
            return None;
        }
        Binding::Operand(Operand::Text(_) | Operand::OptionalText(_)) => no_tensor(),
        Binding::Operand(Operand::Defaulted(..)) => format!(
            "a tensor has no default: take an `Option<&DenseHostTensor>`, or make `{name}` an \
             attribute with `#[attr]`"
        ),
        Binding::Operand(operand) => {
            let payload = operand.payload()?;
            if is_chain(payload) {
                CHAIN.to_owned()
            } else if is_number(payload) {
                no_tensor()
            } else {
                return None;
            }
        }
        Binding::Function(_) => {
            "an op has no functions or regions: write a `#[tfrt_kernel]` to call a function"
                .to_owned()
        }
        Binding::AllAttributes => {
            "an op looks up attributes by name: take each with `#[attr]`, or use `raw` and take \
             all of them from the `OpCall`"
                .to_owned()
        }
        _ => return None,
    };
    Some(message)
}

/// Returns the flags that the types of operands imply.
pub(super) fn implied_flags(variant: &Variant) -> Vec<OpFlag> {
    let parameters = variant.parameters.iter();
    let payloads = parameters.filter_map(|parameter| match &parameter.marker {
        Marker::Operand(operand, ..) => last_name(operand.payload()?),
        _ => None,
    });
    let flags = payloads.filter_map(|name| match name.as_str() {
        "ScalarHostTensor" => Some(OpFlag::AcceptsScalar),
        "StringHostTensor" => Some(OpFlag::AcceptsString),
        "CooHostTensor" => Some(OpFlag::AcceptsSparse),
        _ => None,
    });
    flags.collect()
}

/// The one parameter of a function that takes its call.
pub(super) struct Taken {
    name: &'static str,
    is_mut: bool,
    example: &'static str,
}

/// The call of an op.
pub(super) const CALL: Taken = Taken {
    name: "OpCall",
    is_mut: true,
    example: "call: &mut OpCall<'_>",
};

/// The parameter of a metadata function.
pub(super) const QUERY: Taken = Taken {
    name: "OpQuery",
    is_mut: false,
    example: "query: &OpQuery<'_>",
};

/// Checks that a function takes this one parameter.
pub(super) fn takes(function: &FunctionItem, raw: &Ident, taken: &Taken, problems: &mut Problems) {
    let signature = &function.signature;
    if let Some(keyword) = &signature.asyncness {
        problems.at(
            keyword,
            format!(
                "an `async fn` runs on the work queue and cannot be `{raw}`: write an ordinary \
                 function that sets results which become available later"
            ),
        );
    }
    let is_taken = |input: &FnArg| {
        let FnArg::Typed(parameter) = input else {
            return false;
        };
        match ungrouped(&parameter.ty) {
            Type::Reference(reference) => {
                reference.mutability.is_some() == taken.is_mut
                    && last_name(&reference.elem).as_deref() == Some(taken.name)
            }
            _ => false,
        }
    };
    let Taken { name, example, .. } = taken;
    match signature.inputs.iter().collect::<Vec<_>>().as_slice() {
        [] => problems.at(
            &signature.ident,
            format!("with `raw`, the function takes an `{name}`: `{example}`"),
        ),
        [first, rest @ ..] => {
            let wrong = if is_taken(first) {
                rest.first()
            } else {
                Some(first)
            };
            if let Some(wrong) = wrong {
                let message = format!("with `raw`, the function takes only `{example}`");
                match wrong {
                    FnArg::Typed(parameter) => problems.at(&parameter.ty, message),
                    FnArg::Receiver(receiver) => problems.at(receiver, message),
                }
            }
        }
    }
}

/// Checks that a function returns nothing, or whether it failed.
pub(super) fn gives_nothing(function: &FunctionItem, problems: &mut Problems) {
    let ReturnType::Type(_, ty) = &function.signature.output else {
        return;
    };
    let is_nothing =
        |ty: &Type| matches!(ungrouped(ty), Type::Tuple(parts) if parts.elems.is_empty());
    let is_result =
        last_name(ty).as_deref() == Some("Result") && type_argument(ty).is_none_or(is_nothing);
    if !is_nothing(ty) && !is_result {
        problems.at(
            ty,
            "with `raw`, the function sets the results of its call: return nothing or \
             `Result<()>`",
        );
    }
}

/// Returns a metadata function as a kernel: with tensors in place of their metadata, and without
/// results.
pub(super) fn of_tensors(function: &FunctionItem) -> syn::Result<FunctionItem> {
    let mut signature = function.signature.clone();
    let mut problems = Problems::default();
    if let Some(keyword) = &signature.asyncness {
        problems.at(
            keyword,
            "a metadata function is synchronous: remove `async`",
        );
    }
    for input in &mut signature.inputs {
        let FnArg::Typed(parameter) = input else {
            continue;
        };
        let is_marked = parameter.attrs.iter().any(crate::function::is_marker);
        if is_marked {
            continue;
        }
        let span = parameter.ty.span();
        let is_metadata = |ty: &Type| last_name(ty).as_deref() == Some("TensorMetadata");
        let is_reference = |ty: &Type| matches!(ungrouped(ty), Type::Reference(of) if of.mutability.is_none() && is_metadata(&of.elem));
        let tensors = match ungrouped(&parameter.ty) {
            ty if is_reference(ty) => quote!(&__tfrt::DenseHostTensor),
            Type::Reference(of) if matches!(ungrouped(&of.elem), Type::Slice(slice) if is_metadata(&slice.elem)) =>
            {
                quote!(__tfrt::Operands<'_, __tfrt::DenseHostTensor>)
            }
            ty if last_name(ty).as_deref() == Some("Option")
                && type_argument(ty).is_some_and(is_reference) =>
            {
                quote!(__tfrt::Option<&__tfrt::DenseHostTensor>)
            }
            ty => {
                problems.at(
                    ty,
                    "a metadata function takes a `&TensorMetadata` for each operand, an \
                     `Option<&TensorMetadata>` for each optional operand, a `&[TensorMetadata]` \
                     for all remaining operands, and attributes with `#[attr]`",
                );
                continue;
            }
        };
        let tensors = quote::quote_spanned!(span=> #tensors);
        *parameter.ty = syn::parse2(tensors)?;
    }
    if matches!(signature.output, ReturnType::Default) {
        problems.at(
            &signature.ident,
            "a metadata function returns the metadata of the results, such as a `TensorMetadata`",
        );
    }
    signature.output = ReturnType::Default;
    problems.finish(FunctionItem {
        attributes: function.attributes.clone(),
        visibility: function.visibility.clone(),
        signature,
        body: function.body.clone(),
    })
}
