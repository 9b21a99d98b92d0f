//! Writes the expansion of a checked kernel.
//!
//! ```text
//! struct add {}                                       a type of the function's name: how it is registered by hand
//! impl KernelSet for add { const KERNELS = { … } }    for each instance a declaration, and a closure that calls the function
//! submit! { … }                                       link-time registration
//! ```
//!
//! Whatever names the author's types is inside one constant per instance, so that the compiler, which reports what is wrong
//! with a type once for each constant, does so once.

mod adapter;

mod declaration;

mod markers;

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, format_ident, quote};
use syn::Path;

use crate::kernel::{Instance, Kernel, Variant};

/// The items that go beside the function.
#[must_use]
pub fn expand(kernel: &Kernel) -> TokenStream {
    let Kernel {
        ident,
        visibility,
        conditions,
        ..
    } = kernel;
    let root = root(kernel.crate_path.as_ref());
    let instances = kernel.variants.iter().flat_map(|variant| {
        let instances = variant.instances.iter();
        instances.map(|instance| expand_instance(kernel, variant, instance))
    });
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

/// Where the names of expansions are.
pub(crate) fn root(crate_path: Option<&Path>) -> TokenStream {
    match crate_path {
        Some(path) => quote!(#path::__private),
        None => quote!(::tfrt::__private),
    }
}

/// The descriptor of one instance. The generic parameters are items beside it, so that the types of the function can be
/// repeated as they are written.
fn expand_instance(kernel: &Kernel, variant: &Variant, instance: &Instance) -> TokenStream {
    let declaration = declaration::declaration(kernel, variant, instance);
    let descriptor = if variant.form.is_raw() {
        adapter::raw(kernel, instance, &declaration)
    } else {
        adapter::adapter(kernel, variant, instance, &declaration)
    };
    if instance.values.is_empty() {
        return descriptor;
    }
    let parameters = instance
        .values
        .iter()
        .map(|(parameter, constant, value)| match constant {
            Some(ty) => quote!(#[allow(dead_code)] const #parameter: #ty = #value;),
            None => quote!(#[allow(dead_code)] type #parameter = #value;),
        });
    quote! {
        {
            #(#parameters)*
            const __KERNEL: __tfrt::KernelDescriptor = #descriptor;
            __KERNEL
        }
    }
}

/// The function with the instance's parameters.
fn callee(kernel: &Kernel, instance: &Instance) -> TokenStream {
    let ident = &kernel.ident;
    if instance.values.is_empty() {
        return ident.to_token_stream();
    }
    let values = instance.values.iter().map(|(parameter, _, _)| parameter);
    quote!(#ident::<#(#values),*>)
}

/// A name that the author's code cannot mean.
fn name(prefix: &str, index: usize) -> Ident {
    format_ident!("{prefix}{index}", span = Span::mixed_site())
}
