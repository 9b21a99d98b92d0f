//! Writes the expansion of an op without a kernel: its declarations, one for each name, and their
//! registration.

use proc_macro2::TokenStream;
use quote::quote;

use super::{assertions, declaration};
use crate::declared::DeclaredOp;
use crate::facade::Facade;

/// Returns the unnamed item that contains the declaration.
///
/// # Errors
/// If the facade cannot be found.
pub fn expand(op: &DeclaredOp, facade: Facade) -> syn::Result<TokenStream> {
    let DeclaredOp {
        conditions,
        crate_path,
        instances,
        declaration,
    } = op;
    let root = facade.private_module(crate_path.as_ref())?;
    let names = instances.iter().map(|instance| instance.name.as_str());
    let op = declaration::of_declared_op(declaration);
    let assertions = assertions::of_declared_op(declaration);
    Ok(quote! {
        #(#conditions)*
        const _: () = {
            use #root as __tfrt;
            #assertions
            const __OP: __tfrt::OpDef = #op;
            const __OPS: &[&__tfrt::OpDef] = &[#(&__tfrt::OpDef { name: #names, ..__OP }),*];
            __tfrt::submit! { __tfrt::DeclaredOps(__OPS) }
        };
    })
}
