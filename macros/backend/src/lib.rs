//! The implementation of the kernel macros, on `proc_macro2`, so that unit tests can call it.
//!
//! ```text
//!  attribute tokens ──► options ─┐                           ┌─► the function, as it was
//!                                ├─► kernel (the model) ─────┤
//!  function ──► signature ───────┘   checked as a whole      └─► expand: one instance after the other
//! ```
//!
//! 1. [`options`], [`mod@function`] and [`signature`] parse the input into a model with spans; the
//!    body of the function is unchanged.
//! 2. [`mod@kernel`] checks the model as a whole and collects all errors.
//! 3. [`expand`] generates tokens and makes no decisions.
//!
//! Kernels of device functions are translated first: see `device`. Importers of ONNX ops are only
//! registered: see `onnx`.
//!
//! An op is a kernel and its registration: [`mod@op`] parses the options that kernels do not have,
//! and forwards the others. An op without a kernel is only a declaration: see [`declared`].
//!
//! Expansions are short: they refer to generic code of the host crate through one doc-hidden
//! module, and contain no `unsafe`. [`facade`] finds the path of that module.
#![forbid(unsafe_code)]

pub mod function;

pub mod options;

pub mod signature;

pub mod kernel;

pub mod op;

pub mod declared;

mod device;

mod onnx;

pub mod expand;

pub mod facade;

pub mod value;

pub mod attr;

pub mod resource;

mod doc;

mod problems;

use proc_macro2::TokenStream;
use quote::quote;

use device::kernel::Registers;
use facade::Facade;
use function::FunctionItem;

/// Expands `#[tfrt_kernel(options)]` on `item`.
///
/// The function is kept even if there are errors, so that editors can still analyse it.
#[must_use]
pub fn kernel(facade: Facade, options: TokenStream, item: TokenStream) -> TokenStream {
    match FunctionItem::of_item(item.clone(), "tfrt_kernel") {
        Ok(function) => {
            if let Some(expansion) = device_kernel(facade, &options, &function, Registers::Kernel) {
                return expansion;
            }
            let generated = kernel::KernelModel::new(options, &function)
                .and_then(|kernel| expand::expand(&kernel, facade))
                .unwrap_or_else(syn::Error::into_compile_error);
            quote! { #function #generated }
        }
        Err(error) => {
            let error = error.into_compile_error();
            quote! { #item #error }
        }
    }
}

/// Expands `#[tfrt_op(options)]` on `item`. The function is kept even if there are errors.
#[must_use]
pub fn op(facade: Facade, options: TokenStream, item: TokenStream) -> TokenStream {
    match FunctionItem::of_item(item.clone(), "tfrt_op") {
        Ok(mut function) => {
            let importers = onnx::expand_below_op(facade, &options, &mut function);
            if let Some(expansion) = device_kernel(facade, &options, &function, Registers::Op) {
                return quote! { #expansion #importers };
            }
            let generated = op::OpModel::new(options, &function)
                .and_then(|op| expand::op::expand(&op, facade))
                .unwrap_or_else(syn::Error::into_compile_error);
            quote! { #function #generated #importers }
        }
        Err(error) => {
            let error = error.into_compile_error();
            quote! { #item #error }
        }
    }
}

/// Expands `#[onnx_op(options)]` on `item`, which is kept even if there are errors.
#[must_use]
pub fn onnx_op(facade: Facade, options: TokenStream, item: TokenStream) -> TokenStream {
    let expansion = FunctionItem::of_item(item.clone(), "onnx_op")
        .and_then(|function| onnx::expand(facade, options, &function))
        .unwrap_or_else(syn::Error::into_compile_error);
    quote! { #item #expansion }
}

/// Expands `#[tfrt_device(options)]` on `item`. The function is kept even if there are errors.
#[must_use]
pub fn device(facade: Facade, options: TokenStream, item: TokenStream) -> TokenStream {
    match FunctionItem::of_item(item.clone(), "tfrt_device") {
        Ok(function) => device::expand(facade, options, &function).unwrap_or_else(|error| {
            let error = error.into_compile_error();
            quote! { #function #error }
        }),
        Err(error) => {
            let error = error.into_compile_error();
            quote! { #item #error }
        }
    }
}

/// Expands a kernel or op of a device function, if the options are those of one.
fn device_kernel(
    facade: Facade,
    options: &TokenStream,
    function: &FunctionItem,
    registers: Registers,
) -> Option<TokenStream> {
    let expansion = match device::kernel::options(options) {
        Ok(None) => return None,
        Ok(Some(options)) => device::kernel::expand(facade, &options, function, registers),
        Err(error) => Err(error),
    };
    Some(expansion.unwrap_or_else(|error| {
        let error = error.into_compile_error();
        if device::kernel::is_grid(options) {
            // The compiler does not know what a body does with arrays.
            let (visibility, mut signature) = (&function.visibility, function.signature.clone());
            for input in &mut signature.inputs {
                if let syn::FnArg::Typed(parameter) = input {
                    parameter.attrs.clear();
                }
            }
            let conditions = function.conditions();
            return quote! {
                #(#conditions)*
                #[allow(warnings)]
                #visibility #signature { ::core::unreachable!() }
                #error
            };
        }
        quote! { #function #error }
    }))
}

/// Expands `declare_op! { options }`.
#[must_use]
pub fn declare_op(facade: Facade, options: TokenStream) -> TokenStream {
    declared::DeclaredOp::new(options)
        .and_then(|op| expand::declared::expand(&op, facade))
        .unwrap_or_else(syn::Error::into_compile_error)
}

/// Expands `#[derive(Value)]` on `item`.
#[must_use]
pub fn derive_value(facade: Facade, item: TokenStream) -> TokenStream {
    value::derive(facade, item).unwrap_or_else(syn::Error::into_compile_error)
}

/// Expands `#[derive(Attr)]` on `item`.
#[must_use]
pub fn derive_attr(facade: Facade, item: TokenStream) -> TokenStream {
    attr::derive(facade, item).unwrap_or_else(syn::Error::into_compile_error)
}

/// Expands `#[derive(Resource)]` on `item`.
#[must_use]
pub fn derive_resource(facade: Facade, item: TokenStream) -> TokenStream {
    resource::derive(facade, item).unwrap_or_else(syn::Error::into_compile_error)
}
