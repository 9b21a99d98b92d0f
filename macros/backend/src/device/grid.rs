//! Grid kernels: `grid(…)` in `#[tfrt_kernel]` and `#[tfrt_op]`.
//!
//! ```text
//!  grid: &Grid, input: &View<f32, 2>, tile: &mut Shared<f32, 272>, output: &mut OutView<f32, 2>
//!       │
//!       ├─► a function that runs one block on the processor
//!       ├─► a tree, which the device library turns into PTX
//!       └─► `GridRules`: the shape of the result, the number of blocks, shared memory
//! ```

mod signature;

use std::collections::BTreeSet;

use proc_macro2::{Span, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use syn::ext::IdentExt;
use syn::parse::{ParseStream, Parser};
use syn::punctuated::Punctuated;
use syn::spanned::Spanned;
use syn::{Expr, Ident, Lit, Token, bracketed, parenthesized};

use super::body::grid::{Array, ArrayKind, GridScope};
use super::body::{Both, Translator};
use super::{DeviceFunction, check_signature};
use crate::function::FunctionItem;
use crate::problems::{Problems, did_you_mean};

use signature::{Role, Signature, parameters, shared_len};

/// The options of `grid(…)`.
#[derive(Debug)]
pub(crate) struct GridOptions {
    /// `block = [32, 8]`: the threads of a block along each axis.
    threads: Vec<u32>,
    place: Span,
    /// `blocks = […]`.
    blocks: Option<Vec<Expr>>,
    /// `shape = […]`.
    shape: Option<(Span, Vec<Expr>)>,
    /// `initial = 0`.
    initial: Option<Expr>,
}

/// What expansions of grid kernels have besides those of other device functions.
#[derive(Debug)]
pub(crate) struct GridParts {
    /// A constant of `GridRules`.
    pub(crate) rules: TokenStream,
    /// Statements that run the kernel on host tensors.
    pub(crate) run: TokenStream,
}

const EXAMPLE: &str = "write `grid(block = [256])`";

const OPTIONS: &[&str] = &["block", "blocks", "shape", "initial"];

/// The largest number of threads of a block, on every GPU.
const MAX_THREADS: u32 = 1024;

/// The largest number of threads along the last axis.
const MAX_DEPTH: u32 = 64;

/// Parses what is behind `grid`.
///
/// # Errors
/// If it is malformed.
pub(crate) fn parse_options(key: &Ident, input: ParseStream<'_>) -> syn::Result<GridOptions> {
    if !input.peek(syn::token::Paren) {
        return Err(syn::Error::new(key.span(), EXAMPLE));
    }
    let content;
    parenthesized!(content in input);
    let mut options = GridOptions {
        threads: Vec::new(),
        place: key.span(),
        blocks: None,
        shape: None,
        initial: None,
    };
    let mut given = Vec::new();
    while !content.is_empty() {
        let key = content.call(Ident::parse_any)?;
        let found = key.to_string();
        if given.contains(&found) {
            let message = format!("`{found}` is given twice");
            return Err(syn::Error::new(key.span(), message));
        }
        given.push(found.clone());
        if !OPTIONS.contains(&found.as_str()) {
            let hint = did_you_mean(&found, OPTIONS);
            let message = format!("unknown option `{found}`: {hint}");
            return Err(syn::Error::new(key.span(), message));
        }
        content.parse::<Token![=]>()?;
        match found.as_str() {
            "block" => {
                let extents = list(&content)?;
                options.threads = block(key.span(), &extents)?;
            }
            "blocks" => {
                let blocks = list(&content)?;
                if !(1..=3).contains(&blocks.len()) {
                    return Err(syn::Error::new(key.span(), "a grid has one to three axes"));
                }
                options.blocks = Some(blocks);
            }
            "shape" => options.shape = Some((key.span(), list(&content)?)),
            _ => options.initial = Some(content.parse()?),
        }
        if !content.is_empty() {
            content.parse::<Token![,]>()?;
        }
    }
    if options.threads.is_empty() {
        return Err(syn::Error::new(key.span(), EXAMPLE));
    }
    Ok(options)
}

fn list(input: ParseStream<'_>) -> syn::Result<Vec<Expr>> {
    let content;
    bracketed!(content in input);
    let list = Punctuated::<Expr, Token![,]>::parse_terminated(&content)?;
    Ok(list.into_iter().collect())
}

fn block(place: Span, extents: &[Expr]) -> syn::Result<Vec<u32>> {
    if !(1..=3).contains(&extents.len()) {
        return Err(syn::Error::new(place, "a block has one to three axes"));
    }
    let mut threads = Vec::new();
    for (axis, extent) in extents.iter().enumerate() {
        let number = match extent {
            Expr::Lit(literal) => match &literal.lit {
                Lit::Int(number) => number.base10_parse::<u32>().ok(),
                _ => None,
            },
            _ => None,
        };
        let most = if axis == 2 { MAX_DEPTH } else { MAX_THREADS };
        match number {
            Some(number) if (1..=most).contains(&number) => threads.push(number),
            _ => {
                return Err(syn::Error::new_spanned(
                    extent,
                    format!("expected a number of threads from 1 to {most}"),
                ));
            }
        }
    }
    let all: u32 = threads.iter().product();
    if all > MAX_THREADS {
        return Err(syn::Error::new(
            place,
            format!("a block has at most {MAX_THREADS} threads, found {all}"),
        ));
    }
    Ok(threads)
}

/// Translates the function of a grid kernel.
///
/// # Errors
/// Everything that is outside of the subset.
pub(crate) fn translate(
    options: &GridOptions,
    function: &FunctionItem,
    device: &TokenStream,
) -> syn::Result<DeviceFunction> {
    let mut problems = Problems::default();
    check_signature(function, &mut problems);
    let signature = parameters(options, function, &mut problems);
    let statements =
        (|input: ParseStream<'_>| syn::Block::parse_within(input)).parse2(function.body.stream());
    let statements = problems.note(statements);
    let (Some(signature), Some(statements)) = (signature, statements) else {
        return Err(problems.into_error());
    };
    let ident = &function.signature.ident;
    // The first translation finds the variables that barriers separate from their declarations.
    let mut crossing = BTreeSet::new();
    let mut translated = None;
    for _ in 0..2 {
        if translated.is_some() && !problems.is_empty() {
            break;
        }
        let mut translator = Translator::new(device, ident, &mut problems);
        let arrays = signature.arrays().cloned().collect();
        let body = function.body.stream();
        translator.enter_grid(GridScope::of_body(&signature.grid, arrays, &body, crossing));
        let ranks = signature.ranks();
        for (operand, rank) in signature.operands.iter().zip(&ranks) {
            translator.declare_operand(&operand.ident, rank.is_some());
        }
        let (both, found) = translator.grid_body(&statements);
        translated = Some((both, translator.num_locals()));
        crossing = found;
    }
    let rules = rules(options, &signature, ident, device, &mut problems);
    let (Some((body, num_locals)), Some(rules)) = (translated, rules) else {
        return Err(problems.into_error());
    };
    let ty = signature.result.ty;
    let num_threads = options.threads.iter().product::<u32>() as usize;
    let (items, tree) = items(function, &signature, &body, num_locals, num_threads, device);
    let run = run(options, &signature, ident, device);
    problems.finish(DeviceFunction {
        ident: ident.clone(),
        attributes: function.attributes.clone(),
        visibility: function.visibility.clone(),
        parameters: signature.operands,
        result: ty,
        items,
        tree,
        grid: Some(GridParts { rules, run }),
    })
}

/// Returns the name of the function of one block.
fn block_name(ident: &Ident) -> Ident {
    format_ident!("__{}_block", ident.unraw())
}

/// Returns the function of one block with the tree, and the path of the tree.
fn items(
    function: &FunctionItem,
    signature: &Signature,
    body: &Both,
    num_locals: u32,
    num_threads: usize,
    device: &TokenStream,
) -> (TokenStream, TokenStream) {
    let ident = &function.signature.ident;
    let (rust, tree) = (&body.rust, &body.tree);
    let (block, constant) = (block_name(ident), format_ident!("__{}_tree", ident.unraw()));
    let conditions = function.conditions();
    let parameters = signature.all.iter().map(|(ident, ty, role)| match role {
        Role::Grid => quote!(__grid: #ty),
        _ => quote!(#ident: #ty),
    });
    let declared = signature.operands.iter().map(|parameter| {
        let (name, ty) = (parameter.ident.to_string(), parameter.ty.variant());
        quote!(#device::Parameter { name: #name, ty: #device::Scalar::#ty })
    });
    let (name, result) = (ident.to_string(), signature.result.ty.variant());
    let items = quote! {
        #(#conditions)*
        #[allow(
            clippy::all, clippy::pedantic, redundant_semicolons, unused_assignments, unused_braces,
            unused_mut, unused_parens, unused_variables
        )]
        fn #block(#(#parameters),*) -> #device::Result<(), #device::Fault> {
            #[allow(dead_code)]
            const __THREADS: usize = #num_threads;
            let __grid = *__grid;
            #rust
            #device::Result::Ok(())
        }

        #(#conditions)*
        #[doc(hidden)]
        #[allow(non_upper_case_globals)]
        static #constant: #device::Function = #device::Function {
            name: #name,
            parameters: &[#(#declared),*],
            result: #device::Scalar::#result,
            num_locals: #num_locals,
            body: #tree,
        };
    };
    (items, quote!(&#constant))
}

/// Returns the statements that run the kernel on host tensors.
fn run(
    options: &GridOptions,
    signature: &Signature,
    ident: &Ident,
    device: &TokenStream,
) -> TokenStream {
    let (mut before, mut clears, mut arguments) = (TokenStream::new(), Vec::new(), Vec::new());
    for (position, (ident, ty, role)) in signature.all.iter().enumerate() {
        let (value, elements) = (
            format_ident!("__a{position}"),
            format_ident!("__e{position}"),
        );
        match role {
            Role::Grid => arguments.push(quote!(__grid)),
            Role::Number => {
                before.extend(quote_spanned! {ty.span()=>
                    let #value = #device::number::<#ty>(#ident)?;
                });
                arguments.push(quote!(#value));
            }
            Role::Array(array) => {
                let (name, rank) = (array.ident.to_string(), array.rank);
                let scalar = array.ty.tokens(ty.span());
                let element = quote!(<#scalar as #device::DeviceNumber>::Element);
                match array.kind {
                    ArrayKind::Operand(_) => {
                        before.extend(quote! {
                            let #elements = #ident.elements::<#element>()?;
                            let #value =
                                __launch.view::<#scalar, #rank>(#name, #ident, &#elements)?;
                        });
                        arguments.push(quote!(&#value));
                    }
                    ArrayKind::Result { .. } => {
                        let initial = match &options.initial {
                            Some(initial) => quote! {
                                #device::Some({ const INITIAL: #scalar = #initial; INITIAL })
                            },
                            None => quote!(#device::None),
                        };
                        before.extend(quote! {
                            let mut #elements = result.elements_mut::<#element>()?;
                            let mut #value =
                                __launch.out::<#scalar, #rank>(#name, #initial, &mut #elements)?;
                        });
                        arguments.push(quote!(&mut #value));
                    }
                    ArrayKind::Shared(_) => {
                        let len = shared_len(ty);
                        before.extend(quote! {
                            #[allow(unused_braces)]
                            let mut #value = #device::Shared::<#scalar, #len>::new(#name);
                        });
                        clears.push(quote!(#value.clear();));
                        arguments.push(quote!(&mut #value));
                    }
                }
            }
        }
    }
    let block = block_name(ident);
    quote! {
        #before
        __launch.run(|__grid| {
            #(#clears)*
            #block(#(#arguments),*)
        })
    }
}

/// Returns the constant of `GridRules`.
fn rules(
    options: &GridOptions,
    signature: &Signature,
    ident: &Ident,
    device: &TokenStream,
    problems: &mut Problems,
) -> Option<TokenStream> {
    let operands: Vec<Array> = signature
        .arrays()
        .filter(|array| matches!(array.kind, ArrayKind::Operand(_)))
        .cloned()
        .collect();
    let (axes, result_rank) = (options.threads.len(), signature.result.rank);
    let extents = match &options.shape {
        Some((place, shape)) => {
            if shape.len() != result_rank {
                let (name, found) = (&signature.result.ident, shape.len());
                problems.at_span(
                    *place,
                    format!("`{name}` has {result_rank} dimensions, found {found}"),
                );
            }
            numbers(shape, &operands, ident, device, problems)
        }
        None => {
            let like = operands.iter().find(|array| array.rank == result_rank);
            let Some(Array {
                kind: ArrayKind::Operand(operand),
                ..
            }) = like
            else {
                problems.at_span(
                    options.place,
                    "no operand has the dimensions of the result: write its shape, such as \
                     `shape = [x.extent(0)]`",
                );
                return None;
            };
            let extents =
                (0..result_rank).map(|axis| quote!(#device::extent(__shapes, #operand, #axis)));
            quote!([#(#extents),*])
        }
    };
    let blocks = match &options.blocks {
        Some(blocks) => {
            let blocks = numbers(blocks, &operands, ident, device, problems);
            quote!(#device::Some(|__shapes| #device::Vec::<i64>::from(#blocks)))
        }
        None if axes == 1 || axes == result_rank => quote!(#device::None),
        None => {
            problems.at_span(
                options.place,
                "the axes of a block are not those of the result: write the number of blocks, \
                 such as `blocks = [(x.extent(0) + 15) / 16]`",
            );
            return None;
        }
    };
    let mut threads = options.threads.clone();
    threads.resize(3, 1);
    let ranks = signature.ranks().into_iter().map(|rank| match rank {
        Some(rank) => quote!(#device::Some(#rank)),
        None => quote!(#device::None),
    });
    let shared = signature.all.iter().filter_map(|(_, ty, role)| match role {
        Role::Array(
            array @ Array {
                kind: ArrayKind::Shared(_),
                ..
            },
        ) => {
            let (name, variant, len) =
                (array.ident.to_string(), array.ty.variant(), shared_len(ty));
            let place = ty.span();
            Some(quote_spanned!(place=> #device::SharedArray::new(
                #name, #device::Scalar::#variant, #len
            )))
        }
        _ => None,
    });
    let initial = match &options.initial {
        Some(initial) => {
            let ty = signature.result.ty.tokens(initial.span());
            quote! {
                #device::Some(|| {
                    const INITIAL: #ty = #initial;
                    #device::ToValue::to_value(INITIAL)
                })
            }
        }
        None => quote!(#device::None),
    };
    Some(quote! {
        #device::GridRules {
            threads: [#(#threads),*],
            axes: #axes,
            ranks: &[#(#ranks),*],
            result_rank: #result_rank,
            extents: |__shapes| #device::Vec::<i64>::from(#extents),
            blocks: #blocks,
            shared: const { &#device::SharedArray::all([#(#shared),*]) },
            initial: #initial,
        }
    })
}

/// Translates expressions over the extents of operands to an array of `i64`.
fn numbers(
    exprs: &[Expr],
    operands: &[Array],
    ident: &Ident,
    device: &TokenStream,
    problems: &mut Problems,
) -> TokenStream {
    let mut translator = Translator::new(device, ident, problems);
    translator.enter_grid(GridScope::of_rules(operands.to_vec()));
    let numbers: Vec<TokenStream> = exprs
        .iter()
        .map(|expr| translator.expr(expr).rust)
        .collect();
    let count = numbers.len();
    quote!({
        let __numbers: [i64; #count] = [#(#numbers),*];
        __numbers
    })
}
