//! Golden expansions: what the macros write for each kind of kernel.
//!
//! `expansions/NAME.rs` is a kernel as it is written, `expansions/NAME.expanded.rs` what becomes of it. `TFRT_BLESS=1`
//! records the latter anew; read the difference before committing it.

use std::fs;
use std::path::Path;

use proc_macro2::TokenStream;
use quote::ToTokens;
use syn::{Item, Meta};

fn check(name: &str) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/expansions");
    let written = fs::read_to_string(folder.join(format!("{name}.rs"))).unwrap();
    let expanded = expand(syn::parse_file(&written).unwrap());
    let expected = folder.join(format!("{name}.expanded.rs"));
    if std::env::var_os("TFRT_BLESS").is_some() {
        fs::write(&expected, &expanded).unwrap();
    }
    assert_eq!(
        fs::read_to_string(&expected).unwrap_or_default(),
        expanded,
        "{}",
        expected.display()
    );
    assert!(
        !expanded.contains("unsafe"),
        "an expansion holds no `unsafe`"
    );
}

/// The first item, with the macro on it expanded.
fn expand(file: syn::File) -> String {
    let expansion = match file.items.into_iter().next() {
        Some(Item::Fn(mut function)) => {
            let attribute = function
                .attrs
                .iter()
                .position(|attribute| attribute.path().is_ident("tfrt_kernel"))
                .unwrap();
            let attribute = function.attrs.remove(attribute);
            let options = match attribute.meta {
                Meta::List(list) => list.tokens,
                _ => TokenStream::new(),
            };
            tfrt_macros_backend::kernel(options, function.into_token_stream())
        }
        Some(item) => tfrt_macros_backend::derive_value(item.into_token_stream()),
        None => TokenStream::new(),
    };
    prettyplease::unparse(&syn::parse2(expansion).unwrap())
}

#[test]
fn plain_kernel() {
    check("plain");
}

#[test]
fn generic_kernel() {
    check("generic");
}

#[test]
fn kernel_with_every_parameter() {
    check("parameters");
}

#[test]
fn synchronous_kernel() {
    check("sync");
}

#[test]
fn raw_kernel() {
    check("raw");
}

#[test]
fn async_kernel() {
    check("future");
}

#[test]
fn value() {
    check("value");
}

#[test]
fn every_mistake_is_an_error_of_its_own() {
    let item = quote::quote!(
        unsafe fn add(a: Option<i32>, (b, c): (i32, i32), #[attr(default = x)] d: i32) -> &str {}
    );
    let expansion =
        tfrt_macros_backend::kernel(quote::quote!("add", side_efecting, pure = 1), item)
            .to_string();
    assert_eq!(expansion.matches("compile_error").count(), 8, "{expansion}");
    assert!(
        expansion.starts_with("unsafe fn add"),
        "the function stays: {expansion}"
    );
    assert!(
        !expansion.contains("attr"),
        "markers go even then: {expansion}"
    );
}
