//! Writes the expansion of a checked kernel.
//!
//! ```text
//! kernels_of_a_free_function! {                 the one place that names the facade
//!     add                                       for the name of a hidden item that holds all of this
//!     const __KERNELS = &[ … ];                 for each instance a declaration, and a closure that calls the function
//!     impl KernelSet for Add { … }              a type that stands for them, if the author asks for one
//!     submit! { … }                             link-time registration
//! }
//! ```
//!
//! Generated items have names that an author cannot write, so a module, a type and the function may
//! share a name.
//!
//! All code that names the author's types is inside one constant per instance. The compiler reports
//! errors in a type once for each constant, and therefore once.

mod adapter;

mod assertions;

mod declaration;

mod markers;

pub mod op;

pub mod declared;

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, format_ident, quote};
use syn::ext::IdentExt;

use crate::facade::Facade;
use crate::kernel::{Instance, KernelModel, Variant};

/// Returns the items that are generated next to the function.
///
/// # Errors
/// If the facade cannot be found.
pub fn expand(kernel: &KernelModel, facade: Facade) -> syn::Result<TokenStream> {
    let KernelModel {
        ident,
        visibility,
        conditions,
        kernel_set,
        ..
    } = kernel;
    let root = facade.private_module(kernel.crate_path.as_ref())?;
    let instances = kernel.variants.iter().flat_map(|variant| {
        let instances = variant.instances.iter();
        instances.map(|instance| expand_instance(kernel, variant, instance))
    });
    let set = kernel_set.as_ref().map(|name| {
        let summary = format!(" The kernels of [`{ident}`].");
        quote! {
            #(#conditions)*
            #[doc = #summary]
            #[allow(dead_code, missing_debug_implementations)]
            #visibility struct #name;
        }
    });
    let set_kernels = kernel_set.as_ref().map(|name| {
        quote! {
            #[automatically_derived]
            #[allow(non_local_definitions)]
            impl __tfrt::KernelSet for #name {
                const KERNELS: &'static [__tfrt::KernelDescriptor] = __KERNELS;
            }
        }
    });
    let item = format_ident!("__TfrtKernelsOf_{}", ident.unraw());
    Ok(quote! {
        #set

        #(#conditions)*
        #root::kernels_of_a_free_function! {
            #item
            const __KERNELS: &'static [__tfrt::KernelDescriptor] = &[#(#instances),*];
            #set_kernels
            __tfrt::submit! { __tfrt::KernelRegistration::new(__KERNELS) }
        }
    })
}

/// Returns the descriptor of one instance. The generic parameters are items beside it, so that the
/// types of the function can be repeated as they are written.
fn expand_instance(kernel: &KernelModel, variant: &Variant, instance: &Instance) -> TokenStream {
    let declaration = declaration::declaration(kernel, variant, instance);
    let descriptor = if variant.form.is_raw() {
        adapter::raw(kernel, variant, instance, &declaration)
    } else {
        adapter::adapter(kernel, variant, instance, &declaration)
    };
    if instance.values.is_empty() {
        return descriptor;
    }
    let parameters = type_aliases(instance);
    quote! {
        {
            #(#parameters)*
            const __KERNEL: __tfrt::KernelDescriptor = #descriptor;
            __KERNEL
        }
    }
}

/// Returns the generic parameters of an instance, as items.
fn type_aliases(instance: &Instance) -> Vec<TokenStream> {
    let values = instance.values.iter();
    let items = values.map(|(parameter, constant, value)| match constant {
        Some(ty) => quote!(#[allow(dead_code)] const #parameter: #ty = #value;),
        None => quote!(#[allow(dead_code)] type #parameter = #value;),
    });
    items.collect()
}

/// Returns the function with the instance's parameters.
fn callee(kernel: &KernelModel, instance: &Instance) -> TokenStream {
    let ident = &kernel.ident;
    if instance.values.is_empty() {
        return ident.to_token_stream();
    }
    let values = instance.values.iter().map(|(parameter, _, _)| parameter);
    quote!(#ident::<#(#values),*>)
}

/// Returns a name that the author's code cannot refer to.
fn name(prefix: &str, index: usize) -> Ident {
    format_ident!("{prefix}{index}", span = Span::mixed_site())
}
