//! Writes the expansion of a checked kernel.
//!
//! ```text
//! struct add {}                                       a type of the function's name: how it is registered by hand
//! impl KernelSet for add { const KERNELS = { … } }    one block per instance, with the adapter and the declaration
//! submit! { … }                                       link-time registration
//! ```

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::Type;
use syn::spanned::Spanned;

use crate::kernel::{
    AttributeEntry, Declaration, Form, Instance, Kernel, Marker, OperandEntry, RawEntry,
    ResultEntry,
};
use crate::options::RawType;
use crate::signature::{Operand, Output};

/// The items that go beside the function.
#[must_use]
pub fn expand(kernel: &Kernel) -> TokenStream {
    let Kernel {
        ident,
        visibility,
        conditions,
        ..
    } = kernel;
    let root = match &kernel.crate_path {
        Some(path) => quote!(#path::__private),
        None => quote!(::tfrt::__private),
    };
    let instances = kernel
        .instances
        .iter()
        .map(|instance| expand_instance(kernel, instance));
    quote! {
        #(#conditions)*
        #[doc(hidden)]
        #[allow(non_camel_case_types, dead_code)]
        #visibility struct #ident {}

        #(#conditions)*
        #[automatically_derived]
        impl #root::KernelSet for #ident {
            const KERNELS: &'static [#root::KernelDescriptor] = {
                use #root as __tfrt;
                &[#(#instances),*]
            };
        }

        #(#conditions)*
        #root::submit! { #root::KernelRegistration::of::<#ident>() }
    }
}

/// A block whose value is the descriptor of one instance. The generic parameters are items in it, so that the types of the
/// function can be repeated as they are written.
fn expand_instance(kernel: &Kernel, instance: &Instance) -> TokenStream {
    let parameters = instance
        .values
        .iter()
        .map(|(parameter, constant, value)| match constant {
            Some(ty) => quote!(#[allow(dead_code)] const #parameter: #ty = #value;),
            None => quote!(#[allow(dead_code)] type #parameter = #value;),
        });
    let assertions = assertions(kernel);
    let declaration = declaration(kernel, instance);
    let adapter = if kernel.form.is_raw() {
        raw_adapter(kernel, instance)
    } else {
        adapter(kernel, instance)
    };
    quote! {
        {
            #(#parameters)*
            #assertions
            const __OP: &__tfrt::OpDef = &#declaration;
            #adapter
        }
    }
}

/// The function with the instance's parameters.
fn callee(kernel: &Kernel, instance: &Instance) -> TokenStream {
    let ident = &kernel.ident;
    if instance.values.is_empty() {
        return quote!(#ident);
    }
    let values = instance.values.iter().map(|(parameter, _, _)| parameter);
    quote!(#ident::<#(#values),*>)
}

/// What the types of parameters must be, on the spans of those types.
fn assertions(kernel: &Kernel) -> TokenStream {
    let mutable = kernel
        .mutable_types
        .iter()
        .map(|ty| quote_spanned!(ty.span()=> __tfrt::assert_mutable::<#ty>();));
    let immutable = kernel
        .immutable_types
        .iter()
        .map(|ty| quote_spanned!(ty.span()=> __tfrt::assert_not_mutable::<#ty>();));
    let assertions: Vec<TokenStream> = mutable.chain(immutable).collect();
    quote!(#(const _: () = #assertions)*)
}

/// The adapter of a function, and its descriptor.
fn adapter(kernel: &Kernel, instance: &Instance) -> TokenStream {
    // Types that cannot be bound are reported at the list of parameters and at the return type.
    let params = kernel
        .parameters
        .iter()
        .map(|(parameter, _)| marker(parameter, kernel.parameters_span));
    let params = quote_spanned!(kernel.parameters_span=> (#(#params,)*));
    let results = outcome(&kernel.output, true, kernel.output_span);
    let results = if kernel.declaration.has_added_chain {
        quote_spanned!(kernel.output_span=> __tfrt::WithChain<#results>)
    } else {
        results
    };
    let taken = quote_spanned!(kernel.parameters_span=> __tfrt::Arguments<'_, '_, Self::Params>);
    let given = quote_spanned!(kernel.output_span=> __tfrt::Returned<Self::Results>);
    let arguments: Vec<Ident> = (0..kernel.parameters.len())
        .map(|index| format_ident!("__a{index}", span = Span::mixed_site()))
        .collect();
    let unpack = quote_spanned!(kernel.parameters_span=> let (#(#arguments,)*) = __arguments;);
    let callee = callee(kernel, instance);
    let call = quote_spanned!(kernel.output_span=> #callee(#(#arguments),*));
    let constructor = match kernel.form {
        Form::Sync => quote!(sync),
        Form::Blocking => quote!(blocking),
        Form::Future => quote!(future),
        Form::Plain | Form::Raw | Form::RawSync => quote!(of),
    };
    let (kind, given) = if kernel.form == Form::Future {
        (
            quote!(AsyncKernel),
            quote!(impl __tfrt::Future<Output = #given> + __tfrt::Send),
        )
    } else {
        (quote!(Kernel), given)
    };
    let function = quote_spanned! {kernel.ident.span()=>
        fn call(__arguments: #taken) -> #given {
            #unpack
            #call
        }
    };
    quote! {
        struct __Instance;
        #[automatically_derived]
        impl __tfrt::#kind for __Instance {
            type Params = #params;
            type Results = #results;
            const OP: &'static __tfrt::OpDef = __OP;
            #function
        }
        __tfrt::KernelDescriptor::#constructor::<__Instance>()
    }
}

/// The descriptor of a function that takes its frame.
fn raw_adapter(kernel: &Kernel, instance: &Instance) -> TokenStream {
    let callee = callee(kernel, instance);
    let constructor = if kernel.form == Form::RawSync {
        quote!(raw_sync)
    } else {
        quote!(raw)
    };
    match kernel.output {
        Output::Nothing => quote!(__tfrt::KernelDescriptor::#constructor(__OP, #callee)),
        _ => quote! {
            __tfrt::KernelDescriptor::#constructor(__OP, |__frame| {
                if let __tfrt::Err(__error) = #callee(__frame) {
                    __frame.report_error(__tfrt::From::from(__error));
                }
            })
        },
    }
}

/// The type that stands for a parameter, at `span`.
fn marker(marker: &Marker, span: Span) -> TokenStream {
    let marker = match marker {
        Marker::Operand(operand, index, chain_follows) => match operand {
            Operand::ByValue(ty) => quote_spanned!(span=> ByValue<#ty, #index>),
            Operand::ByRef(ty) => quote_spanned!(span=> ByRef<#ty, #index>),
            Operand::ByMut(ty) => quote_spanned!(span=> ByMut<#ty, #index>),
            Operand::Text => quote_spanned!(span=> Text<#index>),
            Operand::Any { is_lent } => quote_spanned!(span=> AnyOperand<#index, #is_lent>),
            Operand::Reference(ty) => quote_spanned!(span=> Reference<#ty, #index>),
            Operand::AnyRest => quote_spanned!(span=> AnyRest<#index, #chain_follows>),
            Operand::Rest(ty) => quote_spanned!(span=> Rest<#ty, #index, #chain_follows>),
        },
        Marker::Attribute(ty, index) => quote_spanned!(span=> Attribute<#ty, #index>),
        Marker::Function {
            index,
            is_from_end,
            is_lent: false,
        } => quote_spanned!(span=> Function<#index, #is_from_end>),
        Marker::Function {
            index,
            is_from_end,
            is_lent: true,
        } => {
            quote_spanned!(span=> LentFunction<#index, #is_from_end>)
        }
        Marker::Functions {
            before,
            after,
            is_lent: false,
        } => quote_spanned!(span=> Functions<#before, #after>),
        Marker::Functions {
            before,
            after,
            is_lent: true,
        } => quote_spanned!(span=> LentFunctions<#before, #after>),
        Marker::Context(name) => Ident::new(name, span).into_token_stream(),
    };
    quote_spanned!(span=> __tfrt::#marker)
}

/// The type that stands for what a function gives, at `span`.
fn outcome(output: &Output, is_whole: bool, span: Span) -> TokenStream {
    let marker = match output {
        Output::Nothing => quote_spanned!(span=> Nothing),
        Output::Payload(ty) => quote_spanned!(span=> Payload<#ty>),
        Output::Later(ty) => quote_spanned!(span=> Later<#ty>),
        Output::Any => quote_spanned!(span=> AnyResult),
        Output::PayloadTail(ty) => quote_spanned!(span=> PayloadTail<#ty>),
        Output::LaterTail(ty) => quote_spanned!(span=> LaterTail<#ty>),
        Output::AnyTail => quote_spanned!(span=> AnyTail),
        Output::Tuple(parts) => {
            let parts = parts.iter().map(|part| outcome(part, false, span));
            quote_spanned!(span=> Parts<(#(#parts,)*)>)
        }
        Output::Fallible { ok, whole } => {
            let ok = outcome(ok, false, span);
            let name = Ident::new(if is_whole { "Fallible" } else { "FalliblePart" }, span);
            quote_spanned!(span=> #name<#ok, #whole>)
        }
    };
    quote_spanned!(span=> __tfrt::#marker)
}

/// The declaration, as a constant.
fn declaration(kernel: &Kernel, instance: &Instance) -> TokenStream {
    let declaration = &kernel.declaration;
    let Declaration {
        summary,
        description,
        has_added_chain,
        ..
    } = declaration;
    let name = &instance.name;
    let place = quote!(__tfrt::SourcePlace {
        file: __tfrt::file!(),
        line: __tfrt::line!()
    });
    let mut fields = vec![quote!(summary: #summary)];
    if !description.is_empty() {
        fields.push(quote!(description: #description));
    }
    let mut list = |field: &str, entries: Vec<TokenStream>| {
        let field = Ident::new(field, Span::call_site());
        if !entries.is_empty() {
            fields.push(quote!(#field: &[#(#entries),*]));
        }
    };
    let chain = |chain: TokenStream| has_added_chain.then_some(chain);
    let operands = declaration
        .operands
        .iter()
        .map(|entry| operand(entry, kernel));
    list(
        "operands",
        operands
            .chain(chain(quote!(__tfrt::chain_operand())))
            .collect(),
    );
    list(
        "attributes",
        declaration.attributes.iter().map(attribute).collect(),
    );
    list(
        "functions",
        declaration
            .functions
            .iter()
            .map(|function| {
                let (name, form) = (&function.name, Ident::new(function.form, Span::call_site()));
                quote!(__tfrt::FunctionDef { name: #name, form: __tfrt::FunctionForm::#form })
            })
            .collect(),
    );
    let leaves = kernel.output.leaves();
    let results = declaration
        .results
        .iter()
        .map(|entry| result(entry, &leaves, kernel.output_span));
    list(
        "results",
        results
            .chain(chain(quote!(__tfrt::chain_result())))
            .collect(),
    );
    if let Some((first, others)) = declaration.traits.split_first() {
        let constant = |name: &str| Ident::new(name, Span::call_site());
        let (first, others) = (constant(first), others.iter().map(|name| constant(name)));
        fields.push(quote!(traits: __tfrt::OpTraits::#first #(.with(__tfrt::OpTraits::#others))*));
    }
    if let Some(class) = &declaration.effect {
        fields.push(quote!(effect: __tfrt::Effect::Ordered(#class)));
    }
    if let Some(format) = &declaration.format {
        fields.push(quote!(assembly_format: __tfrt::Some(#format)));
    }
    if let Some(verify) = &declaration.verify {
        fields.push(quote!(verifier: __tfrt::Some(#verify)));
    }
    quote!(__tfrt::OpDef { #(#fields,)* place: #place, ..__tfrt::OpDef::new(#name) })
}

fn operand(entry: &OperandEntry, kernel: &Kernel) -> TokenStream {
    match entry {
        OperandEntry::OfParameter(name, index) => {
            let marker = kernel.parameters.get(*index).map(|(parameter, span)| {
                let marker = marker(parameter, *span);
                quote_spanned!(*span=> operand::<#marker>)
            });
            quote!(__tfrt::#marker(#name))
        }
        OperandEntry::Raw(name, entry) => {
            let RawEntry {
                is_mutated,
                is_reference,
                ..
            } = entry;
            let (ty, arity) = (raw_type(&entry.ty), arity(entry.is_variadic));
            quote!(__tfrt::raw_operand(#name, #ty, #arity, #is_mutated, #is_reference))
        }
    }
}

fn result(entry: &ResultEntry, leaves: &[&Output], span: Span) -> TokenStream {
    match entry {
        ResultEntry::OfOutput(name, index, alias_of) => {
            let marker = leaves.get(*index).map(|leaf| outcome(leaf, false, span));
            let alias_of = option(alias_of.as_ref().map(|operand| quote!(#operand)));
            quote_spanned!(span=> __tfrt::result::<#marker>(#name, #alias_of))
        }
        ResultEntry::Raw(name, entry) => {
            let (ty, arity) = (raw_type(&entry.ty), arity(entry.is_variadic));
            quote!(__tfrt::raw_result(#name, #ty, #arity))
        }
    }
}

fn attribute(entry: &AttributeEntry) -> TokenStream {
    let AttributeEntry { name, ty, default } = entry;
    let span = default
        .as_ref()
        .map_or_else(|| ty.span(), |default| default.span);
    let default = option(default.as_ref().map(|default| {
        let kind = Ident::new(default.kind, Span::call_site());
        match &default.value {
            Some(value) => quote!(__tfrt::AttrDefault::#kind(#value)),
            None => quote!(__tfrt::AttrDefault::#kind),
        }
    }));
    // What does not fit is found by the compiler, and shown where the default is written.
    quote_spanned!(span=> __tfrt::attribute::<#ty>(#name, #default))
}

fn raw_type(ty: &RawType) -> TokenStream {
    match ty {
        RawType::Any => quote!(__tfrt::TypeConstraint::Any),
        RawType::Spelled(spelling) => quote!(__tfrt::TypeConstraint::Exact(#spelling)),
        RawType::SameAs(operand) => {
            let operand = operand.to_string();
            quote!(__tfrt::TypeConstraint::SameAs(#operand))
        }
        RawType::Rust(ty) => rust_type(ty),
    }
}

fn rust_type(ty: &Type) -> TokenStream {
    quote!(__tfrt::exactly::<#ty>())
}

fn arity(is_variadic: bool) -> TokenStream {
    if is_variadic {
        quote!(__tfrt::Arity::Variadic)
    } else {
        quote!(__tfrt::Arity::One)
    }
}

fn option(value: Option<TokenStream>) -> TokenStream {
    value.map_or_else(
        || quote!(__tfrt::None),
        |value| quote!(__tfrt::Some(#value)),
    )
}
