//! Writes the expansion of a checked op: its kernels, and a registration for each name.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::Path;
use syn::ext::IdentExt;
use syn::spanned::Spanned;

use super::{adapter, declaration, expand_instance, markers, type_aliases};
use crate::facade::Facade;
use crate::kernel::{Instance, KernelModel, Marker, Variant};
use crate::op::{CallerFunction, Form, OpKernel, OpModel, TypedInput, TypedResults};
use crate::signature::{Operand, Output};

/// Returns the items that are generated next to the function.
///
/// # Errors
/// If the facade cannot be found.
pub fn expand(op: &OpModel, facade: Facade) -> syn::Result<TokenStream> {
    let root = facade.root(op.crate_path.as_ref())?;
    let (item, conditions) = (
        format_ident!("__TfrtOpsOf_{}", op.ident.unraw()),
        &op.conditions,
    );
    let items = match &op.form {
        Form::Kernels(kernels) => kernel_items(op, kernels),
        Form::Metadata(kernel) => metadata_items(op, kernel),
        Form::Function {
            instances,
            metadata,
        } => {
            let function = &op.ident;
            let run =
                quote_spanned!(function.span()=> |__call| __tfrt::finished(#function(__call)));
            let implementation = quote!(Function(#run));
            let metadata = metadata.as_ref().map(of_query);
            registrations(op, instances, &implementation, metadata.as_ref())
        }
        Form::MetadataOfQuery(instances) => {
            let metadata = of_query(&op.ident.clone().into());
            registrations(op, instances, &quote!(None), Some(&metadata))
        }
    };
    let typed = op.typed.as_ref().map(|typed| {
        let function = typed_function(typed, &root);
        quote!(#(#conditions)* #function)
    });
    Ok(quote! {
        #typed

        #(#conditions)*
        #root::core::__private::ops_of_a_free_function! { #item #items }
    })
}

/// Returns the Rust function that calls an op.
fn typed_function(typed: &CallerFunction, root: &TokenStream) -> TokenStream {
    let CallerFunction {
        ident,
        visibility,
        docs,
        name,
        inputs,
        results,
    } = typed;
    let private = quote!(#root::core::__private);
    let handle = quote!(#root::core::TensorHandle);
    let (eager, call) = (
        Ident::new("eager", Span::mixed_site()),
        Ident::new("call", Span::mixed_site()),
    );
    let parameters = inputs.iter().map(|(ident, input)| match input {
        TypedInput::Operand => quote!(#ident: &#handle),
        TypedInput::Optional => quote!(#ident: #private::Option<&#handle>),
        TypedInput::Rest => quote!(#ident: &[&#handle]),
        TypedInput::Attribute(_, ty, _) => quote!(#ident: #ty),
    });
    let given = inputs.iter().map(|(ident, input)| match input {
        TypedInput::Operand => quote!(#call.operand(#ident);),
        TypedInput::Optional => quote!(#call.operand_if_given(#ident);),
        TypedInput::Rest => quote!(#call.operands(#ident);),
        TypedInput::Attribute(name, ty, is_optional) => {
            let set = match is_optional {
                true => quote_spanned!(ty.span()=> attribute_if_given),
                false => quote_spanned!(ty.span()=> attribute),
            };
            quote_spanned!(ty.span()=> #call.#set(#name, #ident)?;)
        }
    });
    let num_results = Ident::new("num_results", Span::mixed_site());
    let (result, ended, asked) = match results {
        TypedResults::Count(0) => (quote!(()), quote!(nothing()), None),
        TypedResults::Count(1) => (handle.clone(), quote!(one()), None),
        TypedResults::Count(count) => (quote!([#handle; #count]), quote!(several()), None),
        TypedResults::AnyNumber => (
            quote!(#private::Vec<#handle>),
            quote!(any_number(#num_results)),
            Some(quote!(#num_results: usize)),
        ),
    };
    quote! {
        #(#docs)*
        #[track_caller]
        #[allow(dead_code, clippy::too_many_arguments)]
        #visibility fn #ident(
            #eager: &#private::Arc<#root::core::EagerContext>,
            #(#parameters,)*
            #asked
        ) -> #private::Result<#result, #private::Error> {
            let mut #call = #private::TypedCall::new(#eager, #name)?;
            #(#given)*
            #call.#ended
        }
    }
}

/// Returns the operands that have a marker.
fn marked_operands(op: &OpModel, is_resource: bool) -> Option<TokenStream> {
    let marked = op
        .marks
        .iter()
        .filter(|mark| mark.is_resource == is_resource);
    let marked = marked.map(|mark| {
        let operand = mark.operand;
        match mark.is_rest {
            true => quote!(.with_all_from(#operand)),
            false => quote!(.with(#operand)),
        }
    });
    let marked: Vec<TokenStream> = marked.collect();
    (!marked.is_empty()).then(|| quote!(__tfrt::OperandSet::NONE #(#marked)*))
}

/// Returns the kernels of an op, and its registrations.
fn kernel_items(op: &OpModel, kernels: &[OpKernel]) -> TokenStream {
    let (mut adapters, mut descriptors, mut registrations) = (Vec::new(), Vec::new(), Vec::new());
    for part in kernels {
        adapters.extend(&part.adapter);
        for variant in &part.kernel.variants {
            for instance in &variant.instances {
                let (index, kernel) = (descriptors.len(), &*instance.name);
                let name = kernel.strip_suffix(&part.suffix).unwrap_or(kernel);
                let declared = quote!(__KERNELS[#index].op());
                let of_operands =
                    |path, told| of_operands(&part.kernel, variant, path, &declared, told);
                let metadata = part.metadata.as_ref();
                let metadata = metadata.map(|path| of_operands(path, "result_metadata"));
                let partial = part.partial.as_ref();
                let partial = partial.map(|path| of_operands(path, "partial_result_metadata"));
                let cost = part.cost.as_ref();
                let cost = cost.map(|path| of_operands(path, "cost"));
                let functions = OpFunctions {
                    metadata: metadata.as_ref(),
                    partial: partial.as_ref(),
                    cost: cost.as_ref(),
                };
                let implementation = quote!(Kernel(#kernel));
                let registered = registration(op, name, &implementation, functions);
                let (aliases, assertions) =
                    (type_aliases(instance), assertions(&part.kernel, variant));
                let registered = quote!({ #(#aliases)* #assertions #registered });
                registrations.push(submit(index, &registered));
                descriptors.push(expand_instance(&part.kernel, variant, instance));
            }
        }
    }
    quote! {
        #(#adapters)*
        const __KERNELS: &'static [__tfrt::KernelDescriptor] = &[#(#descriptors),*];
        __tfrt::submit! { __tfrt::KernelRegistration::new(__KERNELS) }
        #(#registrations)*
    }
}

/// Returns the registrations of an op with metadata only. Attributes are looked up by a declaration
/// without a kernel.
fn metadata_items(op: &OpModel, part: &OpKernel) -> TokenStream {
    let variants = part.kernel.variants.iter();
    let instances = variants.flat_map(|variant| {
        let instances = variant.instances.iter();
        instances.map(move |instance| (variant, instance))
    });
    let submitted = instances.enumerate().map(|(index, (variant, instance))| {
        let declared = declaration::declaration(&part.kernel, variant, instance);
        let path = part.metadata.as_ref();
        let metadata = path.map(|path| {
            of_operands(
                &part.kernel,
                variant,
                path,
                &quote!(__DECLARED),
                "result_metadata",
            )
        });
        let functions = OpFunctions {
            metadata: metadata.as_ref(),
            partial: None,
            cost: None,
        };
        let registered = registration(op, &instance.name, &quote!(None), functions);
        let registered = quote!({
            const __DECLARED: &'static __tfrt::OpDef = &#declared;
            #registered
        });
        submit(index, &registered)
    });
    submitted.collect()
}

/// Returns the registrations of an op without a kernel.
fn registrations(
    op: &OpModel,
    instances: &[Instance],
    implementation: &TokenStream,
    metadata: Option<&TokenStream>,
) -> TokenStream {
    let instances = instances.iter().enumerate();
    let submitted = instances.map(|(index, instance)| {
        let functions = OpFunctions {
            metadata,
            partial: None,
            cost: None,
        };
        let registered = registration(op, &instance.name, implementation, functions);
        submit(index, &registered)
    });
    submitted.collect()
}

/// Returns a registration with a unique name.
fn submit(index: usize, registration: &TokenStream) -> TokenStream {
    let name = format_ident!("__OP{index}");
    quote! {
        const #name: __tfrt::OpRegistration = #registration;
        __tfrt::submit! { #name }
    }
}

/// The functions of operands: the metadata of results, for known operands and for partly known
/// ones, and the time that the op takes.
#[derive(Clone, Copy)]
struct OpFunctions<'a> {
    metadata: Option<&'a TokenStream>,
    partial: Option<&'a TokenStream>,
    cost: Option<&'a TokenStream>,
}

fn registration(
    op: &OpModel,
    name: &str,
    implementation: &TokenStream,
    OpFunctions {
        metadata,
        partial,
        cost,
    }: OpFunctions<'_>,
) -> TokenStream {
    let device = op
        .device
        .as_ref()
        .map(|device| quote!(device_type: #device,));
    let flags = op
        .flags
        .iter()
        .map(|flag| Ident::new(flag.constant(), Span::call_site()));
    let metadata = metadata.map(|metadata| quote!(metadata: __tfrt::Some(#metadata),));
    let partial = partial.map(|partial| quote!(partial: __tfrt::Some(#partial),));
    let cost = cost.map(|cost| quote!(cost: __tfrt::Some(#cost),));
    let host = marked_operands(op, false).map(|operands| quote!(host_operands: #operands,));
    let resources = marked_operands(op, true).map(|operands| quote!(resource_operands: #operands,));
    quote! {
        __tfrt::OpRegistration {
            #device
            flags: __tfrt::OpFlags::NONE #(.with(__tfrt::OpFlags::#flags))*,
            implementation: __tfrt::Implementation::#implementation,
            #metadata
            #partial
            #cost
            #host
            #resources
            place: __tfrt::SourcePlace { file: __tfrt::file!(), line: __tfrt::line!() },
            ..__tfrt::OpRegistration::new(#name)
        }
    }
}

/// Returns the metadata function of an op that takes the query itself.
fn of_query(path: &Path) -> TokenStream {
    let query = Ident::new("__query", Span::mixed_site());
    let asked = quote_spanned!(path.span()=> __tfrt::asked_with((#query,)).says(&#path));
    quote!(|#query| __tfrt::result_metadata::<__tfrt::AnyResults>(#asked))
}

/// Returns the metadata function of an op whose author's function takes operands and attributes.
/// The function `told` reads what it returns.
fn of_operands(
    kernel: &KernelModel,
    variant: &Variant,
    path: &Path,
    declared: &TokenStream,
    told: &str,
) -> TokenStream {
    let told = Ident::new(told, Span::call_site());
    let (query, bound) = (
        Ident::new("__query", Span::mixed_site()),
        Ident::new("__bound", Span::mixed_site()),
    );
    let has_attributes = !variant.declaration.attributes.is_empty();
    let bind =
        has_attributes.then(|| quote!(let #bound = __tfrt::attributes_of(#declared, #query)?;));
    let asked = adapter::asked(variant, path, |marker, _| match marker {
        Marker::Operand(operand, index, _) if operand.is_variadic() => {
            quote!(__tfrt::operands_from(#query, #index))
        }
        Marker::Operand(operand, index, _) if operand.is_optional() => {
            quote!(#query.operands.get(#index))
        }
        Marker::Operand(_, index, _) => quote!(#query.operand(#index)?),
        Marker::Attribute(ty, index) => {
            let ty = markers::attribute(ty);
            quote!(#bound.read::<#ty>(#index)?)
        }
        _ => TokenStream::new(),
    });
    let leaves = kernel.output.leaves();
    let results = if matches!(kernel.output, Output::Nothing)
        && variant.declaration.results.is_empty()
        || leaves.iter().any(|leaf| leaf.is_tail())
    {
        quote!(AnyResults)
    } else {
        // Results that are allocated before the call are not returned.
        let count = leaves.len().max(variant.declaration.results.len());
        quote!(Results<#count>)
    };
    quote! {
        |#query| {
            #bind
            __tfrt::#told::<__tfrt::#results>(#asked)
        }
    }
}

/// That what operands and results are written as are tensors.
fn assertions(kernel: &KernelModel, variant: &Variant) -> TokenStream {
    let operands = variant
        .parameters
        .iter()
        .filter_map(|parameter| match &parameter.marker {
            Marker::Operand(Operand::Dyn(ty), ..) => Some(&**ty),
            Marker::Operand(operand, ..) => operand.payload(),
            _ => None,
        });
    let leaves = kernel.output.leaves();
    let results = leaves.iter().filter_map(|leaf| leaf.payload());
    let mut known: Vec<String> = Vec::new();
    let mut assertions = TokenStream::new();
    for ty in operands.chain(results) {
        let (span, written) = (ty.span(), ty.to_token_stream().to_string());
        if !known.contains(&written) && !written.starts_with("__tfrt") {
            assertions.extend(quote_spanned!(span=> const _: () = __tfrt::assert_tensor::<#ty>();));
            known.push(written);
        }
    }
    assertions
}
