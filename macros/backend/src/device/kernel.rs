//! Kernels of device functions: `elementwise`, `reduce(…)` and `grid(…)` in `#[tfrt_kernel]` and
//! `#[tfrt_op]`.
//!
//! ```text
//!  device function ──┬─► adapter of host tensors ──► the kernel `my.gelu` (and the op)
//!                    ├─► kernel for the frame of a GPU ──► `my.gelu.gpu` (and the op for `gpu`)
//!                    └─► `FunctionKernel`, which both name
//! ```

use proc_macro2::{Span, TokenStream, TokenTree};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::ext::IdentExt;
use syn::parse::{ParseStream, Parser};
use syn::spanned::Spanned;
use syn::{Attribute, Expr, Ident, LitInt, LitStr, Path, Token, bracketed, parenthesized};

use super::grid::{self, GridOptions};
use super::{DeviceFunction, Parameter};
use crate::facade::Facade;
use crate::function::FunctionItem;
use crate::kernel::KernelModel;
use crate::op::OpModel;
use crate::options::split_at_commas;
use crate::problems::{Problems, did_you_mean};

/// The way in which a kernel applies its function.
#[derive(Debug)]
pub(crate) enum Form {
    /// To each element.
    Elementwise,
    /// To each element, and then it combines the results.
    Reduce {
        identity: Box<Expr>,
        combine: Combine,
        /// The axes, if it combines along some only.
        along: Option<Along>,
    },
    /// To each thread of a grid.
    Grid(Box<GridOptions>),
}

/// `axes = [-1], keep_dims = true`
#[derive(Debug)]
pub(crate) struct Along {
    axes: Vec<i64>,
    keep_dims: bool,
}

/// The function that combines two results.
#[derive(Debug)]
pub(crate) enum Combine {
    /// The name of the function in Rust, and the node of the tree.
    Operator(&'static str, TokenStream),
    /// A device function.
    Function(Path),
}

/// The options of a kernel of a device function.
#[derive(Debug)]
pub(crate) struct DeviceOptions {
    form: Form,
    /// The place of `elementwise`, `reduce` or `grid`.
    place: Span,
    /// The names.
    names: Vec<LitStr>,
    crate_path: Option<Path>,
    /// All options except for the form.
    others: TokenStream,
}

/// The macro that registers the kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Registers {
    Kernel,
    Op,
}

/// The options that make a kernel of a device function.
const FORMS: &[&str] = &["elementwise", "reduce", "grid"];

/// Functions that combine, with their names in Rust and their nodes.
const OPERATORS: &[(&str, &str, &str)] = &[
    ("add", "add", "Binary(Add)"),
    ("mul", "mul", "Binary(Mul)"),
    ("min", "min", "Method(Min)"),
    ("max", "max", "Method(Max)"),
    ("and", "and", "Binary(BitAnd)"),
    ("or", "or", "Binary(BitOr)"),
    ("xor", "xor", "Binary(BitXor)"),
];

/// Returns `true` if the options are those of a grid kernel, right or wrong.
pub(crate) fn is_grid(tokens: &TokenStream) -> bool {
    let (options, _) = split_at_commas(tokens.clone(), "an option");
    options.into_iter().any(|option| {
        let first = option.into_iter().next();
        matches!(first, Some(TokenTree::Ident(key)) if key == "grid")
    })
}

/// Returns the options if they are those of a kernel of a device function.
///
/// # Errors
/// If the form is malformed.
pub(crate) fn options(tokens: &TokenStream) -> syn::Result<Option<DeviceOptions>> {
    let (mut form, mut others) = (None, Vec::new());
    let (mut names, mut crate_path) = (Vec::new(), None);
    let (given, commas) = split_at_commas(tokens.clone(), "an option");
    for option in given {
        let first = option.clone().into_iter().next();
        match first {
            Some(TokenTree::Ident(key)) if FORMS.iter().any(|form| key == form) => {
                if form.is_some() {
                    return Err(syn::Error::new(
                        key.span(),
                        "a kernel is one of `elementwise`, `reduce(…)` and `grid(…)`, once",
                    ));
                }
                let parse = |input: ParseStream<'_>| parse_form(input);
                form = Some((parse.parse2(option)?, key.span()));
                continue;
            }
            Some(TokenTree::Ident(key)) if key == "crate" => {
                let parse = |input: ParseStream<'_>| {
                    input.call(Ident::parse_any)?;
                    input.parse::<Token![=]>()?;
                    input.call(Path::parse_mod_style)
                };
                crate_path = parse.parse2(option.clone()).ok();
            }
            Some(TokenTree::Literal(_)) => {
                names.extend(syn::parse2::<LitStr>(option.clone()).ok());
            }
            _ => {}
        }
        others.push(option);
    }
    let Some((form, place)) = form else {
        return Ok(None);
    };
    commas?;
    Ok(Some(DeviceOptions {
        form,
        place,
        names,
        crate_path,
        others: quote!(#(#others),*),
    }))
}

fn parse_form(input: ParseStream<'_>) -> syn::Result<Form> {
    const EXAMPLE: &str = "write `reduce(identity = 0.0, combine = add)`";
    let key = input.call(Ident::parse_any)?;
    if key == "elementwise" {
        if !input.is_empty() {
            return Err(input.error("`elementwise` takes no value: write `elementwise` alone"));
        }
        return Ok(Form::Elementwise);
    }
    if key == "grid" {
        return grid::parse_options(&key, input).map(|options| Form::Grid(Box::new(options)));
    }
    if !input.peek(syn::token::Paren) {
        return Err(syn::Error::new(key.span(), EXAMPLE));
    }
    let content;
    parenthesized!(content in input);
    let (mut identity, mut combine) = (None, None);
    let (mut axes, mut keep_dims) = (None, None);
    let mut given = Vec::new();
    while !content.is_empty() {
        let key: Ident = content.parse()?;
        let found = key.to_string();
        if given.contains(&found) {
            let message = format!("`{found}` is given twice");
            return Err(syn::Error::new(key.span(), message));
        }
        given.push(found.clone());
        let known = ["identity", "combine", "axes", "keep_dims"];
        if !known.contains(&found.as_str()) {
            let hint = did_you_mean(&found, &known);
            return Err(syn::Error::new(
                key.span(),
                format!("unknown option `{found}`: {hint}"),
            ));
        }
        content.parse::<Token![=]>()?;
        match found.as_str() {
            "identity" => identity = Some(content.parse::<Expr>()?),
            "combine" => combine = Some(content.call(Path::parse_mod_style)?),
            "axes" => axes = Some(parse_axes(&key, &content)?),
            _ => keep_dims = Some((key, content.parse::<syn::LitBool>()?.value)),
        }
        if !content.is_empty() {
            content.parse::<Token![,]>()?;
        }
    }
    let (Some(identity), Some(combine)) = (identity, combine) else {
        return Err(syn::Error::new(key.span(), EXAMPLE));
    };
    let operator = combine.get_ident().and_then(|name| {
        let name = name.to_string();
        OPERATORS.iter().find(|(known, ..)| *known == name)
    });
    let combine = match operator {
        Some((_, function, node)) => {
            let node: TokenStream = node.parse().unwrap_or_default();
            Combine::Operator(function, node)
        }
        None => Combine::Function(combine),
    };
    let along = match (axes, keep_dims) {
        (Some(axes), keep_dims) => Some(Along {
            axes,
            keep_dims: keep_dims.is_some_and(|(_, keep_dims)| keep_dims),
        }),
        (None, Some((key, _))) => {
            let message = "`keep_dims` needs `axes`: without them, all dimensions are removed";
            return Err(syn::Error::new(key.span(), message));
        }
        (None, None) => None,
    };
    Ok(Form::Reduce {
        identity: Box::new(identity),
        combine,
        along,
    })
}

/// Parses `[0, -1]`.
fn parse_axes(key: &Ident, input: ParseStream<'_>) -> syn::Result<Vec<i64>> {
    let content;
    bracketed!(content in input);
    let mut axes = Vec::new();
    while !content.is_empty() {
        let sign: Option<Token![-]> = content.parse()?;
        let number: LitInt = content.parse()?;
        let axis: i64 = number.base10_parse()?;
        let axis = if sign.is_some() { -axis } else { axis };
        if axes.contains(&axis) {
            let message = format!("axis {axis} is given twice");
            return Err(syn::Error::new(number.span(), message));
        }
        axes.push(axis);
        if !content.is_empty() {
            content.parse::<Token![,]>()?;
        }
    }
    if axes.is_empty() {
        let message = "write the numbers of axes, such as `[0]` or `[-1]`; without `axes`, all \
                       elements become one";
        return Err(syn::Error::new(key.span(), message));
    }
    Ok(axes)
}

/// Expands a kernel of a device function, the function included.
///
/// # Errors
/// Everything that is wrong with the function or the options.
pub(crate) fn expand(
    facade: Facade,
    options: &DeviceOptions,
    function: &FunctionItem,
    registers: Registers,
) -> syn::Result<TokenStream> {
    let root = facade.root(options.crate_path.as_ref())?;
    let device = quote!(#root::device::__private);
    let translated = match &options.form {
        Form::Grid(options) => grid::translate(options, function, &device)?,
        _ => DeviceFunction::new(function, &device)?,
    };
    let mut problems = Problems::default();
    if translated.parameters.is_empty() {
        problems.at(
            &translated.ident,
            "a kernel applies its function to elements: add a parameter",
        );
    }
    if translated.parameters.len() > MAX_PARAMETERS {
        problems.at(
            &translated.ident,
            format!("a kernel applies its function to at most {MAX_PARAMETERS} tensors"),
        );
    }
    for parameter in &translated.parameters {
        let name = parameter.ident.to_string();
        if RESERVED.contains(&name.as_str()) {
            problems.at(
                &parameter.ident,
                format!("the kernel for GPUs has another operand `{name}`: rename the parameter"),
            );
        }
    }
    let Some(name) = options.names.first() else {
        // The kernel's own parser says what a name looks like.
        let error = KernelModel::new(options.others.clone(), function).err();
        return Err(error.unwrap_or_else(|| {
            syn::Error::new(
                options.place,
                "the name must come first: `\"dialect.name\"`",
            )
        }));
    };
    if !problems.is_empty() {
        return Err(problems.into_error());
    }
    let parts = Parts {
        options,
        function: &translated,
        conditions: &function.conditions(),
        name,
        device: &device,
    };
    let adapter = parts.adapter()?;
    let mut others = options.others.clone();
    let metadata = parts.hidden("metadata");
    others.extend(quote!(, metadata = #metadata));
    let registered = match registers {
        Registers::Kernel => {
            let model = KernelModel::new(others, &adapter)?;
            crate::expand::expand(&model, facade)?
        }
        Registers::Op => {
            let model = OpModel::new(others, &adapter)?;
            crate::expand::op::expand(&model, facade)?
        }
    };
    let op = match registers {
        Registers::Kernel => None,
        Registers::Op => {
            let op = parts.gpu_op()?;
            let model = OpModel::new(parts.gpu_op_options(), &op)?;
            let registered = crate::expand::op::expand(&model, facade)?;
            Some(quote!(#[doc(hidden)] #op #registered))
        }
    };
    let gpu = parts.gpu_kernel()?;
    let gpu_options = parts.gpu_options();
    let gpu_model = KernelModel::new(gpu_options, &gpu)?;
    let gpu_registered = crate::expand::expand(&gpu_model, facade)?;
    let (items, described, metadata) = (
        &translated.items,
        parts.description(),
        parts.metadata_function(),
    );
    let is_grid = matches!(options.form, Form::Grid(_));
    let hidden = (!is_grid).then(|| quote!(#[doc(hidden)]));
    Ok(quote! {
        #items
        #described
        #metadata
        #hidden
        #adapter
        #registered
        #[doc(hidden)]
        #gpu
        #gpu_registered
        #op
    })
}

/// The operands and results of a kernel besides those of its function.
const RESERVED: &[&str] = &["stream", "result", "in_chain", "out_chain", "frame"];

/// The largest number of parameters of a kernel.
const MAX_PARAMETERS: usize = 8;

/// The parts of an expansion.
struct Parts<'k> {
    options: &'k DeviceOptions,
    function: &'k DeviceFunction,
    /// The `#[cfg]`s of the function.
    conditions: &'k [Attribute],
    name: &'k LitStr,
    device: &'k TokenStream,
}

impl Parts<'_> {
    fn hidden(&self, role: &str) -> Ident {
        format_ident!("__{}_{role}", self.function.ident.unraw())
    }

    fn place(&self) -> Span {
        self.options.place
    }

    fn parameters(&self) -> impl Iterator<Item = &Ident> {
        let parameters = self.function.parameters.iter();
        parameters.map(|Parameter { ident, .. }| ident)
    }

    /// Returns the constant that describes the kernel.
    fn description(&self) -> TokenStream {
        let (device, name, tree) = (self.device, self.name, &self.function.tree);
        let result = self.function.result;
        let form = match &self.options.form {
            Form::Elementwise => quote!(#device::KernelForm::Elementwise),
            Form::Grid(_) => {
                let rules = self.function.grid.as_ref().map(|grid| &grid.rules);
                quote! {
                    #device::KernelForm::Grid({
                        #[allow(clippy::all, clippy::pedantic, unused_braces, unused_parens)]
                        static RULES: #device::GridRules = #rules;
                        &RULES
                    })
                }
            }
            Form::Reduce {
                identity,
                combine,
                along,
            } => {
                let ty = result.tokens(identity.span());
                let combine = match combine {
                    Combine::Operator(name, node) => {
                        let node = operator_tree(device, node);
                        let variant = result.variant();
                        quote! {
                            &#device::Function {
                                name: #name,
                                parameters: &[
                                    #device::Parameter { name: "a", ty: #device::Scalar::#variant },
                                    #device::Parameter { name: "b", ty: #device::Scalar::#variant },
                                ],
                                result: #device::Scalar::#variant,
                                num_locals: 2,
                                body: #device::CodeBlock {
                                    statements: &[],
                                    value: #device::Some(&#node),
                                },
                            }
                        }
                    }
                    Combine::Function(path) => {
                        quote_spanned!(path.span()=> <#path as #device::DeviceFunction>::FUNCTION)
                    }
                };
                let (form, axes) = match along {
                    None => (quote!(Reduce), None),
                    Some(Along { axes, keep_dims }) => {
                        let axes = quote! {
                            axes: &#device::ReducedAxes { axes: &[#(#axes),*], keep_dims: #keep_dims },
                        };
                        (quote!(ReduceAlong), Some(axes))
                    }
                };
                quote! {
                    #device::KernelForm::#form {
                        identity: || {
                            const IDENTITY: #ty = #identity;
                            #device::ToValue::to_value(IDENTITY)
                        },
                        combine: #combine,
                        #axes
                    }
                }
            }
        };
        let (kernel, conditions) = (self.hidden("kernel"), self.conditions);
        quote! {
            #(#conditions)*
            #[doc(hidden)]
            #[allow(non_upper_case_globals)]
            static #kernel: #device::FunctionKernel = #device::FunctionKernel {
                name: #name,
                form: #form,
                function: #tree,
            };
            #(#conditions)*
            #device::submit! { #device::LinkedKernel(&#kernel) }
        }
    }

    /// Returns the function that computes the metadata of the result.
    fn metadata_function(&self) -> TokenStream {
        let (device, name) = (self.device, self.hidden("metadata"));
        let parameters: Vec<&Ident> = self.parameters().collect();
        let (kernel, conditions) = (self.hidden("kernel"), self.conditions);
        quote! {
            #(#conditions)*
            fn #name(#(#parameters: &#device::TensorMetadata),*)
                -> #device::Result<#device::TensorMetadata, #device::Error>
            {
                #device::metadata(&#kernel, &[#(#parameters),*])
            }
        }
    }

    /// Returns the function of host tensors.
    fn adapter(&self) -> syn::Result<FunctionItem> {
        let (device, function) = (self.device, &self.function.ident);
        let docs = self.function.docs();
        let name = match &self.options.form {
            // It takes the place of the function, which no thread could call.
            Form::Grid(_) => function.clone(),
            _ => self.hidden("cpu"),
        };
        let visibility = self.function.visibility();
        let parameters: Vec<&Ident> = self.parameters().collect();
        let types = self
            .function
            .parameters
            .iter()
            .map(|parameter| parameter.ty.tokens(parameter.ident.span()));
        let types = quote!((#(#types,)*));
        let result = self.function.result.tokens(self.place());
        let call = quote! {
            #[inline(always)]
            |(#(#parameters,)*)| #function(#(#parameters),*)
        };
        let (kernel, conditions) = (self.hidden("kernel"), self.conditions);
        let run = match &self.options.form {
            Form::Grid(_) => {
                let run = self.function.grid.as_ref().map(|grid| &grid.run);
                quote! {
                    let __launch = #device::grid_plan(&#kernel, &[#(#parameters),*], result)?;
                    #run
                }
            }
            Form::Elementwise => quote! {
                #device::elementwise::<#types, #result>(
                    &#kernel, &[#(#parameters),*], result, #call,
                )
            },
            Form::Reduce {
                identity,
                combine,
                along,
            } => {
                let reduce = match along {
                    Some(_) => quote!(reduce_along),
                    None => quote!(reduce),
                };
                let combine = match combine {
                    Combine::Operator(name, _) => {
                        let name = Ident::new(name, self.place());
                        quote!(#device::#name(__a, __b))
                    }
                    Combine::Function(path) => quote!(#path(__a, __b)),
                };
                quote! {
                    #device::#reduce::<#types, #result>(
                        &#kernel, &[#(#parameters),*], result, #identity, #call,
                        #[inline(always)] |__a, __b| #combine,
                    )
                }
            }
        };
        syn::parse2(quote! {
            #(#docs)*
            #(#conditions)*
            #visibility fn #name(
                #(#parameters: &#device::DenseHostTensor,)*
                #[out] result: &mut #device::DenseHostTensor,
            ) -> #device::Result<(), #device::Error> {
                #run
            }
        })
    }

    /// Returns the kernel that launches the function on a GPU.
    fn gpu_kernel(&self) -> syn::Result<FunctionItem> {
        let (device, name) = (self.device, self.hidden("gpu"));
        let docs = self.function.docs();
        let (kernel, conditions) = (self.hidden("kernel"), self.conditions);
        syn::parse2(quote! {
            #(#docs)*
            #(#conditions)*
            fn #name(frame: &mut #device::KernelFrame<'_>) -> #device::Result<(), #device::Error> {
                #device::launch(&#kernel, frame)
            }
        })
    }

    /// Returns the op that runs the kernel on a GPU.
    fn gpu_op(&self) -> syn::Result<FunctionItem> {
        let (device, name) = (self.device, self.hidden("op"));
        let (kernel, conditions) = (self.hidden("kernel"), self.conditions);
        syn::parse2(quote! {
            #(#conditions)*
            fn #name(call: &mut #device::OpCall<'_>) -> #device::Result<(), #device::Error> {
                #device::launch_op(&#kernel, call)
            }
        })
    }

    fn gpu_op_options(&self) -> TokenStream {
        let names = &self.options.names;
        let crate_path = self.options.crate_path.as_ref();
        let crate_path = crate_path.map(|path| quote!(, crate = #path));
        quote!(#(#names,)* raw, device = "gpu" #crate_path)
    }

    fn gpu_options(&self) -> TokenStream {
        let names = self.options.names.iter();
        let names = names.map(|name| LitStr::new(&format!("{}.gpu", name.value()), name.span()));
        let device = self.device;
        let parameters = self.parameters();
        let crate_path = self.options.crate_path.as_ref();
        let crate_path = crate_path.map(|path| quote!(, crate = #path));
        quote! {
            #(#names,)* raw,
            operands(
                stream: "!tfrt_gpu.stream", #(#parameters: any,)* result: any,
                in_chain: #device::Chain
            ),
            results(out_chain: #device::Chain)
            #crate_path
        }
    }
}

/// Returns the tree of `a op b`.
fn operator_tree(device: &TokenStream, node: &TokenStream) -> TokenStream {
    let mut tokens = node.clone().into_iter();
    let (kind, argument) = (tokens.next(), tokens.next());
    let variant = match argument {
        Some(TokenTree::Group(group)) => group.stream(),
        _ => TokenStream::new(),
    };
    let is_method = matches!(&kind, Some(TokenTree::Ident(kind)) if kind == "Method");
    if is_method {
        quote! {
            #device::Expr::Method(
                #device::NumberMethod::#variant,
                &[#device::Expr::Local(0), #device::Expr::Local(1)],
            )
        }
    } else {
        quote! {
            #device::Expr::Binary(
                #device::BinaryOp::#variant,
                &#device::Expr::Local(0),
                &#device::Expr::Local(1),
            )
        }
    }
    .to_token_stream()
}
