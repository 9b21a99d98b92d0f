//! The descriptor of a kernel: its declaration, the types that stand for its parameters and
//! results, and a closure that calls the function.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{Path, Type};

use super::assertions::assertions;
use super::{callee, markers, name};
use crate::kernel::{Form, Instance, KernelModel, Marker, Variant};
use crate::signature::{Operand, Output};

/// Returns the descriptor of a plain function.
pub(super) fn adapter(
    kernel: &KernelModel,
    variant: &Variant,
    instance: &Instance,
    declaration: &TokenStream,
) -> TokenStream {
    let bound = variant
        .parameters
        .iter()
        .filter(|parameter| !parameter.marker.is_prepared());
    let mut params: Vec<TokenStream> = bound.map(markers::marker).collect();
    if variant.preparation.is_needed() {
        params.push(quote!(__tfrt::Execution));
    }
    let results = results(kernel, variant);
    let assertions = assertions(kernel, variant);
    let constructor = match variant.form {
        Form::Blocking => quote!(new_blocking),
        Form::Future if borrows(variant) => quote!(new_async),
        Form::Future => quote!(new_owned_async),
        Form::Plain | Form::Sync | Form::Raw | Form::RawSync => quote!(new),
    };
    let closure = closure(kernel, variant, instance);
    // The types of the closure, and of its future if that has one type, are inferred.
    let inferred = match variant.form {
        Form::Future if !borrows(variant) => quote!(_, _),
        _ => quote!(_),
    };
    quote! {
        {
            struct __Declared;
            impl __tfrt::Declared for __Declared {
                const OP: &'static __tfrt::OpDef = &#declaration;
            }
            #assertions
            __tfrt::KernelDescriptor::#constructor::<__Declared, (#(#params,)*), #results, #inferred>(#closure)
        }
    }
}

/// Returns the type that stands for the results.
fn results(kernel: &KernelModel, variant: &Variant) -> TokenStream {
    let outs: Vec<TokenStream> = outs(variant)
        .map(|ty| markers::checked(ty, "IsPreallocated"))
        .collect();
    let results = if !outs.is_empty() {
        quote! {
            __tfrt::Fallible<
                __tfrt::Parts<(#(__tfrt::Payload<#outs>,)*)>,
                __tfrt::Result<(#(#outs,)*), __tfrt::Error>
            >
        }
    } else if variant.preparation.is_needed() {
        quote!(__tfrt::Fallible<__tfrt::Nothing, __tfrt::Result<(), __tfrt::Error>>)
    } else {
        markers::outcome(&kernel.output, true, kernel.output_span)
    };
    if variant.declaration.has_added_chain {
        quote!(__tfrt::WithChain<#results>)
    } else {
        results
    }
}

fn outs(variant: &Variant) -> impl Iterator<Item = &Type> {
    let parameters = variant.parameters.iter();
    parameters.filter_map(|parameter| match &parameter.marker {
        Marker::Out(ty, _) => Some(&**ty),
        _ => None,
    })
}

/// Returns the closure that calls the function.
fn closure(kernel: &KernelModel, variant: &Variant, instance: &Instance) -> TokenStream {
    let arguments: Vec<Ident> = (0..variant.parameters.len())
        .map(|index| name("__a", index))
        .collect();
    let context = name("__ctx", 0);
    let mut taken: Vec<&Ident> = variant
        .parameters
        .iter()
        .zip(&arguments)
        .filter(|(parameter, _)| !parameter.marker.is_prepared())
        .map(|(_, argument)| argument)
        .collect();
    if variant.preparation.is_needed() {
        taken.push(&context);
    }
    let callee = callee(kernel, instance);
    let given = variant
        .parameters
        .iter()
        .zip(&arguments)
        .map(|(parameter, argument)| argument_of(&parameter.marker, argument));
    let call = quote_spanned!(kernel.ident.span()=> #callee(#(#given),*));
    let is_future = variant.form == Form::Future;
    let body = match (variant.preparation.is_needed(), is_future) {
        (false, false) => call,
        (false, true) if !borrows(variant) => {
            quote_spanned!(kernel.ident.span()=> __tfrt::owned(#call))
        }
        (false, true) => quote_spanned!(kernel.ident.span()=> __tfrt::PooledFuture::new(#call)),
        (true, false) => {
            let body = prepared(variant, &arguments, &context, &call);
            quote!({ #body })
        }
        (true, true) => {
            let body = prepared(variant, &arguments, &context, &quote!(#call.await));
            quote!(__tfrt::PooledFuture::new(async move { #body }))
        }
    };
    if is_future && borrows(variant) {
        quote!(|_, (#(#taken,)*)| #body)
    } else {
        quote!(|(#(#taken,)*)| #body)
    }
}

/// Returns `true` if an argument may borrow from the call, so that the type of the future of an
/// `async fn` depends on a lifetime, or if the future does more than the function.
fn borrows(variant: &Variant) -> bool {
    let is_owned = |marker: &Marker| match marker {
        Marker::Operand(operand, ..) => matches!(
            operand,
            Operand::ByValue(_) | Operand::Reference(_) | Operand::Any { is_lent: false }
        ),
        _ => false,
    };
    let mut parameters = variant.parameters.iter();
    variant.preparation.is_needed() || !parameters.all(|parameter| is_owned(&parameter.marker))
}

/// Returns the argument that is passed to the function.
fn argument_of(marker: &Marker, argument: &Ident) -> TokenStream {
    match marker {
        Marker::Out(_, index) => {
            let out = name("__o", *index);
            quote!(&mut #out)
        }
        Marker::Workspace(_) => quote!(&mut #argument),
        marker => match marker.default() {
            Some(default) => quote_spanned!(default.span()=> #argument.unwrap_or_else(|| #default)),
            None => argument.to_token_stream(),
        },
    }
}

/// Returns the call of a function whose results and workspace are allocated before.
fn prepared(
    variant: &Variant,
    arguments: &[Ident],
    context: &Ident,
    call: &TokenStream,
) -> TokenStream {
    let outs: Vec<&Type> = outs(variant).collect();
    let (metadata, results): (Vec<Ident>, Vec<Ident>) = (0..outs.len())
        .map(|index| (name("__m", index), name("__o", index)))
        .unzip();
    let parameters = variant.parameters.iter().zip(arguments).enumerate();
    let shapes = parameters.filter_map(|(index, (parameter, argument))| {
        let shape = name("__s", index);
        if variant.preparation.asks_all {
            let metadata = tensor_metadata(&parameter.marker, argument)?;
            return Some(quote!(let #shape = #metadata;));
        }
        let ty = shaped(&parameter.marker).map(|ty| markers::checked(ty, "IsShaped"))?;
        Some(quote!(let #shape = <#ty as __tfrt::Shaped>::metadata(&*#argument);))
    });
    let infer = variant.preparation.metadata.as_ref().map(|path| {
        let asked = asked_at_run_time(variant, arguments, path);
        let num_outs = outs.len();
        quote!(let [#(#metadata),*] = __tfrt::metadata::<#num_outs>(#asked)?;)
    });
    let forwarded: Vec<&Ident> = variant
        .preparation
        .forward
        .iter()
        .map(|&index| &arguments[index])
        .collect();
    let allocate = outs.iter().zip(&results).zip(&metadata).map(|((ty, result), metadata)| {
        if !forwarded.is_empty() {
            return quote! {
                let mut #result = __tfrt::forwarded_or_allocated(#context, &#metadata, &[#(#forwarded),*])?;
            };
        }
        let ty = markers::checked(ty, "IsPreallocated");
        quote!(let mut #result = <#ty as __tfrt::Preallocated>::allocate(#context, &#metadata)?;)
    });
    let workspace = workspace(variant).map(|(index, element, path)| {
        let (argument, asked) = (&arguments[index], asked_at_run_time(variant, arguments, path));
        let element = markers::checked(element, "IsElement");
        quote!(let mut #argument = __tfrt::workspace::<#element>(#context, __tfrt::workspace_len(#asked)?)?;)
    });
    let given = if outs.is_empty() {
        quote!(())
    } else {
        quote!((#(#results,)*))
    };
    quote! {
        #(#shapes)*
        #infer
        #(#allocate)*
        #workspace
        __tfrt::Finished::finished(#call)?;
        __tfrt::Ok(#given)
    }
}

/// Returns the workspace: the index of its parameter, the type of its elements, and the function
/// that computes their number.
fn workspace(variant: &Variant) -> Option<(usize, &Type, &Path)> {
    let path = variant.preparation.workspace.as_ref()?;
    let parameters = variant.parameters.iter().enumerate();
    parameters
        .filter_map(|(index, parameter)| match &parameter.marker {
            Marker::Workspace(element) => Some((index, &**element, path)),
            _ => None,
        })
        .next()
}

/// Returns the type of an operand whose metadata is passed to metadata and workspace functions.
fn shaped(marker: &Marker) -> Option<&Type> {
    match marker {
        Marker::Operand(operand, ..) if operand.is_shaped() => operand.payload(),
        _ => None,
    }
}

/// Returns the metadata of an operand of an op: of one tensor, of an optional one, or of all
/// remaining ones.
fn tensor_metadata(marker: &Marker, argument: &Ident) -> Option<TokenStream> {
    let Marker::Operand(operand, ..) = marker else {
        return None;
    };
    let metadata = match operand {
        Operand::Any { is_lent: true } => quote!(__tfrt::metadata_of_value(#argument)?),
        Operand::Any { is_lent: false } => quote!(__tfrt::metadata_of_value(&#argument)?),
        Operand::Reference(_) => quote!(__tfrt::metadata_of_value(#argument.as_any())?),
        Operand::OptionalRef(_) => quote!(#argument.map(__tfrt::metadata_of)),
        Operand::Optional(_) => quote!(#argument.as_ref().map(__tfrt::metadata_of)),
        Operand::Rest(_) => quote!(__tfrt::metadata_of_all(#argument)),
        Operand::AnyRest => quote!(__tfrt::metadata_of_values(#argument)?),
        Operand::ByValue(_) => quote!(__tfrt::metadata_of(&#argument)),
        _ => quote!(__tfrt::metadata_of(&*#argument)),
    };
    Some(metadata)
}

/// Returns the call of a metadata or workspace function with the arguments of the kernel.
fn asked_at_run_time(variant: &Variant, arguments: &[Ident], path: &Path) -> TokenStream {
    asked(variant, path, |marker, index| {
        let (argument, shape) = (&arguments[index], name("__s", index));
        match marker {
            Marker::Operand(operand, ..) if operand.is_variadic() => quote!(&#shape[..]),
            Marker::Operand(operand, ..) if operand.is_optional() => quote!(#shape.as_ref()),
            Marker::Operand(..) => quote!(&#shape),
            _ => quote!(__tfrt::Clone::clone(&#argument)),
        }
    })
}

/// Returns the call of a metadata or workspace function with the content of a query.
pub(super) fn asked_by_query(variant: &Variant, query: &Ident, path: &Path) -> TokenStream {
    asked(variant, path, |marker, _| match marker {
        Marker::Operand(operand, index, _) if operand.is_variadic() => {
            quote!(&__tfrt::told_of_rest(#query, #index)?[..])
        }
        Marker::Operand(operand, index, _) if operand.is_optional() => {
            quote!(__tfrt::operand_if_given(#query, #index)?)
        }
        Marker::Operand(_, index, _) => quote!(#query.operand(#index)?),
        Marker::Attribute(ty, index) => {
            let ty = markers::attribute(ty);
            quote!(__tfrt::queried::<#ty>(#query, #index)?)
        }
        _ => TokenStream::new(),
    })
}

/// Bytes of an element of the workspace.
pub(super) fn workspace_element(variant: &Variant) -> Option<&Type> {
    workspace(variant).map(|(_, element, _)| element)
}

/// Returns a call of `path`, which takes the metadata of every borrowed operand (of every operand
/// for an op), and every attribute.
pub(super) fn asked(
    variant: &Variant,
    path: &Path,
    argument: impl Fn(&Marker, usize) -> TokenStream,
) -> TokenStream {
    let parameters = variant.parameters.iter().enumerate();
    let arguments = parameters.filter_map(|(index, parameter)| {
        let marker = &parameter.marker;
        let is_asked = match marker {
            Marker::Operand(..) => variant.preparation.asks_all || shaped(marker).is_some(),
            marker => matches!(marker, Marker::Attribute(..)),
        };
        is_asked.then(|| argument(marker, index))
    });
    quote_spanned!(path.span()=> __tfrt::asked_with((#(#arguments,)*)).says(&#path))
}

/// Returns the descriptor of a function that takes its frame.
pub(super) fn raw(
    kernel: &KernelModel,
    variant: &Variant,
    instance: &Instance,
    declaration: &TokenStream,
) -> TokenStream {
    let assertions = assertions(kernel, variant);
    let callee = callee(kernel, instance);
    let run = match kernel.output {
        Output::Nothing => callee,
        _ => {
            let (frame, error) = (
                Ident::new("__frame", Span::mixed_site()),
                Ident::new("__error", Span::mixed_site()),
            );
            quote! {
                |#frame| {
                    if let __tfrt::Err(#error) = #callee(#frame) {
                        #frame.report_error(__tfrt::From::from(#error));
                    }
                }
            }
        }
    };
    quote! {
        {
            #assertions
            __tfrt::KernelDescriptor::raw(const { &#declaration }, #run)
        }
    }
}
