//! Golden expansions: what the macros write for each kind of kernel.
//!
//! `expansions/NAME.rs` is a kernel as it is written, `expansions/NAME.expanded.rs` what becomes of it. `TFRT_BLESS=1`
//! records the latter anew; read the difference before committing it.

use std::fs;
use std::path::{Path, PathBuf};

use proc_macro2::TokenStream;
use quote::ToTokens;
use syn::punctuated::Punctuated;
use syn::{Item, ItemEnum, ItemStruct, Meta, Token};
use tfrt_macros_backend::facade::Facade;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/expansions")
}

fn check(name: &str) {
    let folder = folder();
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

/// Returns the first item, with the macro on it expanded.
fn expand(file: syn::File) -> String {
    let expansion = match file.items.into_iter().next() {
        Some(Item::Fn(mut function)) => {
            let is_ours = |attribute: &syn::Attribute| {
                ["tfrt_kernel", "tfrt_op", "tfrt_device", "onnx_op"]
                    .iter()
                    .any(|name| attribute.path().is_ident(name))
            };
            let attribute = function.attrs.iter().position(is_ours).unwrap();
            let attribute = function.attrs.remove(attribute);
            let is_op = attribute.path().is_ident("tfrt_op");
            let is_onnx = attribute.path().is_ident("onnx_op");
            let is_device = attribute.path().is_ident("tfrt_device");
            let options = match attribute.meta {
                Meta::List(list) => list.tokens,
                _ => TokenStream::new(),
            };
            let function = function.into_token_stream();
            if is_device {
                tfrt_macros_backend::device(Facade::Tfrt, options, function)
            } else if is_onnx {
                tfrt_macros_backend::onnx_op(Facade::Tfrt, options, function)
            } else if is_op {
                tfrt_macros_backend::op(Facade::Tfrt, options, function)
            } else {
                tfrt_macros_backend::kernel(Facade::Tfrt, options, function)
            }
        }
        Some(Item::Macro(call)) => tfrt_macros_backend::declare_op(Facade::Tfrt, call.mac.tokens),
        Some(item) => derive(&item),
        None => TokenStream::new(),
    };
    formatted(syn::parse2(expansion).unwrap())
}

/// Returns the items as text; those that a macro is called with are formatted, too.
fn formatted(file: syn::File) -> String {
    let mut text = String::new();
    for item in file.items {
        match item {
            // A registration, of one expression.
            Item::Macro(call) if call.mac.path.segments.last().unwrap().ident == "submit" => {
                text += &(call.to_token_stream().to_string() + "\n");
            }
            Item::Macro(call) => {
                let path = call.mac.path.to_token_stream().to_string().replace(' ', "");
                let mut tokens = call.mac.tokens.into_iter();
                let name = tokens.next().unwrap();
                let items: syn::File = syn::parse2(tokens.collect()).unwrap();
                let conditions = call
                    .attrs
                    .iter()
                    .map(|attribute| attribute.to_token_stream().to_string() + "\n");
                text.extend(conditions);
                text += &format!("{path}! {{\n    {name}\n");
                for line in prettyplease::unparse(&items).lines() {
                    text += &format!("    {line}\n");
                }
                text += "}\n";
            }
            item => {
                text += &prettyplease::unparse(&syn::parse2(item.to_token_stream()).unwrap());
            }
        }
    }
    text
}

/// What the last derive of a type writes.
fn derive(item: &Item) -> TokenStream {
    let (Item::Struct(ItemStruct { attrs, .. }) | Item::Enum(ItemEnum { attrs, .. })) = item else {
        panic!("a kernel is a function, and what is derived is derived for a type");
    };
    let derives = attrs
        .iter()
        .filter(|attribute| attribute.path().is_ident("derive"))
        .flat_map(|attribute| {
            let paths = Punctuated::<syn::Path, Token![,]>::parse_terminated;
            attribute.parse_args_with(paths).unwrap()
        });
    let tokens = item.to_token_stream();
    match derives
        .last()
        .unwrap()
        .require_ident()
        .unwrap()
        .to_string()
        .as_str()
    {
        "Attr" => tfrt_macros_backend::derive_attr(Facade::Tfrt, tokens),
        "Resource" => tfrt_macros_backend::derive_resource(Facade::Tfrt, tokens),
        _ => tfrt_macros_backend::derive_value(Facade::Tfrt, tokens),
    }
}

/// A test for each folder entry that is named here; that none is forgotten is a test of its own.
macro_rules! expansions {
    ($($name:ident)*) => {
        $(#[test]
        fn $name() {
            check(stringify!($name));
        })*

        const NAMES: &[&str] = &[$(stringify!($name)),*];
    };
}

expansions! {
    all_attributes
    attr
    attr_renamed
    attributes
    blocking
    by_reference
    by_value
    chain
    const_generic
    contexts
    declared_op
    defaulted
    device_elementwise
    device_function
    device_grid
    device_op
    device_reduce
    device_reduce_along
    dyn_object
    functions
    future
    generic
    onnx_op
    onnx_op_above_op
    onnx_op_below_op
    op_attributes
    op_device
    op_elements
    op_family
    op_forward
    op_function
    op_host
    op_metadata_only
    op_partial
    op_preallocated
    op_raw
    op_resource
    optional
    optional_function
    optional_reference
    parameters
    plain
    preallocated
    preallocated_async
    raw
    raw_sync
    reads
    references
    renamed
    resource
    resource_renamed
    resources
    results_later
    results_partial
    results_tuple
    several_names
    sync
    sync_twin
    text
    text_tail
    value
    value_display
    value_generic
    variadic
    workspace
    written
}

#[test]
fn every_kernel_of_the_folder_is_expanded() {
    let mut found: Vec<String> = fs::read_dir(folder())
        .unwrap()
        .filter_map(|entry| entry.unwrap().file_name().into_string().ok())
        .filter_map(|name| name.strip_suffix(".rs").map(str::to_owned))
        .filter(|name| !name.ends_with(".expanded"))
        .collect();
    found.sort();
    assert_eq!(found, NAMES);
}

#[test]
fn a_function_that_is_being_written_stays() {
    type Macro = fn(Facade, TokenStream, TokenStream) -> TokenStream;
    let expand = |expand: Macro, options: &str, item: &str| {
        let item: TokenStream = item.parse().unwrap();
        let expansion = expand(Facade::Tfrt, options.parse().unwrap(), item.clone());
        (item.to_string(), expansion.to_string())
    };
    let options = [
        "",
        "my",
        "my.",
        "\"my.add\"",
        "\"my.add\",",
        "\"my.add\", side_",
        "\"my.add\", T =",
        "\"my.add\", results()",
    ];
    let items = [
        "fn add(a: i32) -> i32 { a. let b = ; a. }",
        "fn add(a: i32, b:) -> i32 { a }",
        "fn add(a: i32) -> ",
        "fn add",
    ];
    for options in options {
        for item in items {
            for expanded in [tfrt_macros_backend::kernel, tfrt_macros_backend::op] {
                let (item, expansion) = expand(expanded, options, item);
                assert!(expansion.starts_with(&item), "`{options}`: {expansion}");
            }
        }
    }
}

#[test]
fn every_mistake_of_an_op_is_an_error_of_its_own() {
    let item = quote::quote!(
        fn add(
            a: i32,
            b: &mut [f32],
            #[attr(default = x())] c: i32,
            #[function] f: FunctionRef,
        ) -> String {
        }
    );
    let options = quote::quote!("my.Add", sync, side_efecting, accepts(dense), device = "");
    let expansion = tfrt_macros_backend::op(Facade::Tfrt, options, item).to_string();
    assert!(
        expansion.starts_with("fn add"),
        "the function stays: {expansion}"
    );
    for part in [
        "an op cannot have the option `sync`",
        "did you mean `side_effecting`",
        "unknown kind of tensor `dense`",
        "expected the type of a device as a single word",
        "a function can write only to results",
        "make `a` an attribute",
        "an op has no functions",
        "an op returns tensors",
    ] {
        assert!(expansion.contains(part), "{part}: {expansion}");
    }
}

#[test]
fn misused_operands_and_options_of_ops_are_explained() {
    let cases = [
        (
            r#""my.A""#,
            r#"fn a(x: &[f32], #[host] #[attr] axis: i64) {}"#,
            r#"`#[host]` is only for operands, and cannot be combined with another marker"#,
        ),
        (
            r#""my.A""#,
            r#"fn a(x: &[f32], #[host] ctx: &ExecutionContext) {}"#,
            r#"`#[host]` is only for operands, but this parameter is not an operand"#,
        ),
        (
            r#""my.A""#,
            r#"fn a(#[host(always)] x: &[f32]) {}"#,
            r#"this marker has no options"#,
        ),
        (
            r#""my.A""#,
            r#"fn a(#[host] #[host] x: &[f32]) {}"#,
            r#"`#[host]` is given twice"#,
        ),
        (
            r#""my.A", side_effecting"#,
            r#"fn a(#[resource] #[host] x: &Table) {}"#,
            r#"resources are never copied between devices: remove `#[host]`"#,
        ),
        (
            r#""my.A", side_effecting"#,
            r#"fn a(#[resource] x: Table) {}"#,
            r#"a resource is shared: take it as `&T`"#,
        ),
        (
            r#""my.A", side_effecting"#,
            r#"fn a(#[resource] x: &mut Table) {}"#,
            r#"use interior mutability"#,
        ),
        (
            r#""my.A", side_effecting"#,
            r#"fn a(#[resource] x: &DenseHostTensor) {}"#,
            r#"a resource must be a type of your own"#,
        ),
        (
            r#""my.A", side_effecting"#,
            r#"fn a(#[resource] x: &[f32]) {}"#,
            r#"a resource must be a type of your own"#,
        ),
        (
            r#""my.A""#,
            r#"fn a(#[resource] x: &Table) {}"#,
            r#"or `effect_free` if the resource never"#,
        ),
        (
            r#""my.A", raw"#,
            r#"fn a(#[host] call: &mut OpCall<'_>) {}"#,
            r#"this op declares none"#,
        ),
        (
            r#""my.A", metadata = m, forward"#,
            r#"fn a(x: Forwarded<'_, f32>, #[out] y: &mut [f32]) {}"#,
            r#"`forward` needs a value: `forward = x`"#,
        ),
        (
            r#""my.A", metadata = m, forward = []"#,
            r#"fn a(x: Forwarded<'_, f32>, #[out] y: &mut [f32]) {}"#,
            r#"expected the operand whose memory the result reuses: `forward = x`"#,
        ),
        (
            r#""my.A", metadata = m, forward = [x, x]"#,
            r#"fn a(x: Forwarded<'_, f32>, #[out] y: &mut [f32]) {}"#,
            r#"`x` is given twice"#,
        ),
        (
            r#""my.A", metadata = m, forward = x, forward = x"#,
            r#"fn a(x: Forwarded<'_, f32>, #[out] y: &mut [f32]) {}"#,
            r#"`forward` is given twice"#,
        ),
        (
            r#""my.A", metadata = m, forward = z"#,
            r#"fn a(x: &[f32], #[out] y: &mut [f32]) {}"#,
            r#"there is no parameter named `z`"#,
        ),
        (
            r#""my.A", metadata = m, forward = x"#,
            r#"fn a(x: &[f32], #[out] y: &mut [f32]) {}"#,
            r#"take `x` as a `Forwarded<'_, f32>`"#,
        ),
        (
            r#""my.A", metadata = m"#,
            r#"fn a(x: Forwarded<'_, f32>, #[out] y: &mut [f32]) {}"#,
            r#"to let the result reuse the memory of `x`, add `forward = x`"#,
        ),
        (
            r#""my.A", metadata = m, forward = x"#,
            r#"fn a(x: Forwarded, #[out] y: &mut [f32]) {}"#,
            r#"the element type is missing: `Forwarded<'_, f32>`"#,
        ),
        (
            r#""my.A", forward = x"#,
            r#"fn a(x: Forwarded<'_, f32>) -> DenseHostTensor {}"#,
            r#"no result can take over the memory"#,
        ),
        (
            r#""my.A", metadata = m, forward = x"#,
            r#"fn a(x: Forwarded<'_, f32>, #[out] y: &mut [f32], #[out] z: &mut [f32]) {}"#,
            r#"`forward` is only for ops with one result"#,
        ),
        (
            r#""my.A", metadata = m, forward = x"#,
            r#"fn a(x: Forwarded<'_, f32>, #[out] y: &mut ScalarHostTensor) {}"#,
            r#"`forward` needs a dense result"#,
        ),
        (
            r#""my.A", metadata = m, forward = x"#,
            r#"async fn a(x: Forwarded<'_, f32>, #[out] y: &mut [f32]) {}"#,
            r#"is only for synchronous functions: remove `async`"#,
        ),
        (
            r#""my.A", raw, forward = x"#,
            r#"fn a(call: &mut OpCall<'_>) {}"#,
            r#"`forward` is only for ops whose function takes operands"#,
        ),
        (
            r#""my.A", function"#,
            r#"fn a(x: &[f32]) {}"#,
            r#"`function` needs a value: `function = name`"#,
        ),
        (
            r#""my.A", function = "call""#,
            r#"fn a(x: &[f32]) {}"#,
            r#"expected identifier"#,
        ),
        (
            r#""my.A", function = a"#,
            r#"fn a(x: &[f32]) {}"#,
            r#"the function of the op already has the name `a`"#,
        ),
        (
            r#""my.A", function = b, function = c"#,
            r#"fn a(x: &[f32]) {}"#,
            r#"`function` is given twice"#,
        ),
        (
            r#""my.A.{T}", T = [f32, i32], function = b"#,
            r#"fn a<T: Element>(x: &[T]) {}"#,
            r#"but there is one op for each type"#,
        ),
        (
            r#""my.A", raw, function = b"#,
            r#"fn a(call: &mut OpCall<'_>) {}"#,
            r#"`function` is only for ops with a signature"#,
        ),
    ];
    for (options, item, said) in cases {
        let (options, item) = (options.parse().unwrap(), item.parse().unwrap());
        let expansion = tfrt_macros_backend::op(Facade::Tfrt, options, item).to_string();
        assert!(expansion.contains("compile_error"), "{said}: {expansion}");
        assert!(expansion.contains(said), "{said}: {expansion}");
    }
}

#[test]
fn kernels_have_no_markers_of_ops() {
    let item = quote::quote!(
        fn add(#[host] a: i32, #[resource] b: &Table) {}
    );
    let expansion =
        tfrt_macros_backend::kernel(Facade::Tfrt, quote::quote!("my.add"), item).to_string();
    for marker in ["host", "resource"] {
        let said = format!("`#[{marker}]` is only for operands of ops");
        assert!(expansion.contains(&said), "{expansion}");
    }
}

#[test]
fn every_mistake_is_an_error_of_its_own() {
    let item = quote::quote!(
        unsafe fn add(
            a: Option<&mut i32>,
            (b, c): (i32, i32),
            #[attr(default = x())] d: i32,
        ) -> &str {
        }
    );
    let expansion = tfrt_macros_backend::kernel(
        Facade::Tfrt,
        quote::quote!("add", side_efecting, pure = 1),
        item,
    )
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
