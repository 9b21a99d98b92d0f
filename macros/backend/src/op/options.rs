//! The options in `#[tfrt_op("name", …)]`: this module parses those of ops, and forwards those of
//! kernels.

use proc_macro2::{Span, TokenStream};
use quote::ToTokens;
use syn::ext::IdentExt;
use syn::parse::{ParseStream, Parser};
use syn::punctuated::Punctuated;
use syn::{FnArg, Ident, LitStr, Path, Token, Type, bracketed, parenthesized};
use tfrt_ods::{TraitDef, TraitOption};

use crate::function::FunctionItem;
use crate::op::OpFlag;
use crate::options::{Options, Subject, duplicate, expect_end, set, split_at_commas};
use crate::problems::{Problems, did_you_mean};

/// The parsed options.
#[derive(Debug, Default)]
pub(super) struct OpOptions {
    /// The names.
    pub(super) names: Vec<LitStr>,
    /// Options of the kernel, each with its key.
    pub(super) of_kernel: Vec<(Ident, TokenStream)>,
    /// Flags for the kinds of tensors that it takes as they are.
    pub(super) accepted: Vec<OpFlag>,
    /// `metadata = path`
    pub(super) metadata: Option<Path>,
    /// Whether the metadata function describes preallocated results.
    pub(super) is_prepared: bool,
    /// `partial = path`
    pub(super) partial: Option<Path>,
    /// `cost = path`
    pub(super) cost: Option<Path>,
    /// `device = "type"`
    pub(super) device: Option<LitStr>,
    /// `unsupported = "text"`
    pub(super) unsupported: Option<LitStr>,
    /// `forward = x` or `forward = [a, b]`
    pub(super) forward: Vec<Ident>,
    /// `function = name`
    pub(super) function: Option<Ident>,
    /// `raw`
    pub(super) raw: Option<Ident>,
    /// `metadata_only`
    pub(super) metadata_only: Option<Ident>,
    /// `side_effecting`
    pub(super) side_effecting: Option<Ident>,
    /// `T = [f32, f64]`
    pub(super) lists: Vec<List>,
    /// `crate = path`
    pub(super) crate_path: Option<Path>,
}

/// The types that a parameter stands for.
#[derive(Debug)]
pub(super) struct List {
    /// The parameter.
    pub(super) parameter: Ident,
    /// The types.
    pub(super) values: Vec<TokenStream>,
    /// The option.
    tokens: TokenStream,
}

/// Options of ops alone.
const OWN: &[&str] = &[
    "accepts",
    "cost",
    "device",
    "forward",
    "function",
    "metadata",
    "metadata_only",
    "partial",
    "raw",
    "unsupported",
    "crate",
];

/// Options that the kernel of an op may have, except those that declare traits.
const OF_KERNEL: &[&str] = &[
    "side_effecting",
    "effect",
    "reads",
    "results",
    "alias",
    "verify",
    "workspace",
];

/// Options of kernels that no op has, and why, except those that declare traits.
const REFUSED: &[(&str, &str)] = &[
    (
        "format",
        "the kernel of an op has only the generic form: write a `#[tfrt_kernel]` for an assembly \
         format",
    ),
    (
        "kernel_set",
        "a set of kernels does not register ops: link the crate to register them",
    ),
    ("chain", "the caller of an op orders its effects"),
    (
        "attribute_names",
        "an op looks up attributes by name; use `raw` for an op that takes any attributes",
    ),
    (
        "operands",
        "the signature declares them: unmarked parameters are operands",
    ),
    (
        "attrs",
        "the signature declares them: parameters with `#[attr]` are attributes",
    ),
    (
        "symbols",
        "an op has no functions: options such as `call` and `loops` are only for kernels",
    ),
    ("symbol_list", "an op has no functions"),
    ("regions", "an op has no regions"),
];

/// Returns the options that the kernel of an op may have.
fn of_kernel() -> impl Iterator<Item = &'static str> {
    let traits = TraitDef::all().iter();
    let traits = traits.filter(|def| def.option == TraitOption::Everywhere);
    OF_KERNEL.iter().copied().chain(traits.map(|def| def.name))
}

/// Returns the reason why no op has an option of kernels.
fn refusal(name: &str) -> Option<&'static str> {
    if let Some((_, reason)) = REFUSED.iter().find(|(refused, _)| *refused == name) {
        return Some(reason);
    }
    match TraitDef::all().iter().find(|def| def.name == name)?.option {
        TraitOption::NotOfTensorOps(reason) => Some(reason),
        TraitOption::Everywhere | TraitOption::WithoutKernel | TraitOption::Derived => None,
    }
}

impl OpOptions {
    /// Parses the tokens in the parentheses of the attribute.
    pub(super) fn parse(
        tokens: TokenStream,
        function: &FunctionItem,
        problems: &mut Problems,
    ) -> Self {
        let mut options = Self {
            is_prepared: has_out(function),
            ..Self::default()
        };
        let (given, commas) = split_at_commas(tokens, "an option");
        problems.note(commas);
        for (index, option) in given.into_iter().enumerate() {
            let is_behind_names = index == options.names.len();
            let parser = |input: ParseStream<'_>| options.parse_option(input, is_behind_names);
            if let Some(true) = problems.note(parser.parse2(option.clone())) {
                continue;
            }
            // Not an option of ops, where the name belongs: kernels are named alike, and their
            // parser says what is wrong.
            if index == 0 && problems.is_empty() {
                options.names = Options::parse(option, Subject::Kernel, problems).names;
            }
        }
        if options.names.is_empty() {
            if problems.is_empty() {
                problems.at_span(
                    Span::call_site(),
                    "an op needs a name: write `#[tfrt_op(\"dialect.Name\")]`",
                );
            }
            // What else is wrong is told of under any name.
            options
                .names
                .push(LitStr::new("dialect.Name", Span::call_site()));
        }
        options
    }

    /// Parses one option; returns whether there was one.
    fn parse_option(&mut self, input: ParseStream<'_>, is_behind_names: bool) -> syn::Result<bool> {
        if input.peek(LitStr) {
            let name: LitStr = input.parse()?;
            if !is_behind_names {
                return Err(syn::Error::new(
                    name.span(),
                    "names must come before the options",
                ));
            }
            self.names.push(name);
            return expect_end(input).map(|()| true);
        }
        let Ok(key) = input.fork().call(Ident::parse_any) else {
            return self.not_an_option(input, is_behind_names);
        };
        let name = key.to_string();
        if let Some(reason) = refusal(&name) {
            consume(input);
            return Err(syn::Error::new(
                key.span(),
                format!("an op cannot have the option `{name}`: {reason}"),
            ));
        }
        if OWN.contains(&name.as_str()) {
            input.call(Ident::parse_any)?;
            self.parse_own(&key, input)?;
            return expect_end(input).map(|()| true);
        }
        if of_kernel().any(|known| known == name) {
            if name == "side_effecting" {
                self.side_effecting = Some(key.clone());
            }
            let tokens = consume(input);
            self.of_kernel.push((key, tokens));
            return Ok(true);
        }
        let ahead = input.fork();
        let is_list = ahead.call(Ident::parse_any).is_ok()
            && ahead.parse::<Token![=]>().is_ok()
            && ahead.peek(syn::token::Bracket);
        if is_list {
            let tokens = input.fork().parse()?;
            return self.parse_types(tokens, input).map(|()| true);
        }
        self.not_an_option(input, is_behind_names)
    }

    /// Returns the error for an unknown option; another parser reports errors at the position of
    /// the name.
    fn not_an_option(&self, input: ParseStream<'_>, is_behind_names: bool) -> syn::Result<bool> {
        let tokens = consume(input);
        if is_behind_names && self.names.is_empty() {
            return Ok(false);
        }
        let written = tokens
            .clone()
            .into_iter()
            .next()
            .map(|token| token.to_string());
        let written = written.unwrap_or_default();
        let known: Vec<&str> = OWN.iter().copied().chain(of_kernel()).collect();
        Err(syn::Error::new_spanned(
            tokens,
            format!(
                "unknown option `{written}`: {}",
                did_you_mean(&written, &known)
            ),
        ))
    }

    fn parse_own(&mut self, key: &Ident, input: ParseStream<'_>) -> syn::Result<()> {
        let name = key.to_string();
        let needs = |example: &str| {
            syn::Error::new(key.span(), format!("`{name}` needs a value: `{example}`"))
        };
        if matches!(name.as_str(), "raw" | "metadata_only") {
            if !input.is_empty() {
                consume(input);
                return Err(syn::Error::new(
                    key.span(),
                    format!("`{name}` takes no value: write `{name}` alone"),
                ));
            }
            let flag = if name == "raw" {
                &mut self.raw
            } else {
                &mut self.metadata_only
            };
            return set(flag, key, key.clone());
        }
        if name == "accepts" {
            if !input.peek(syn::token::Paren) {
                consume(input);
                return Err(needs("accepts(scalar, string, sparse)"));
            }
            let content;
            parenthesized!(content in input);
            return self.parse_accepted(key, &content);
        }
        let example = match name.as_str() {
            "device" => "device = \"gpu\"",
            "unsupported" => "unsupported = \"unsupported dtype {dtype}\"",
            "crate" => "crate = path::to::tfrt",
            "forward" => "forward = x",
            "function" => "function = name",
            "partial" => "partial = path::to::function",
            "cost" => "cost = path::to::function",
            _ => "metadata = path::to::function",
        };
        if !input.peek(Token![=]) {
            consume(input);
            return Err(needs(example));
        }
        input.parse::<Token![=]>()?;
        match name.as_str() {
            "device" => {
                let device: LitStr = input.parse()?;
                if device.value().is_empty()
                    || !device
                        .value()
                        .chars()
                        .all(|char| char.is_ascii_alphanumeric())
                {
                    return Err(syn::Error::new(
                        device.span(),
                        "expected the type of a device as a single word: `device = \"gpu\"`",
                    ));
                }
                set(&mut self.device, key, device)
            }
            "unsupported" => set(&mut self.unsupported, key, input.parse()?),
            "forward" => self.parse_forward(key, input),
            "function" => set(&mut self.function, key, input.parse()?),
            "partial" => set(&mut self.partial, key, input.call(Path::parse_mod_style)?),
            "cost" => set(&mut self.cost, key, input.call(Path::parse_mod_style)?),
            "crate" => set(
                &mut self.crate_path,
                key,
                input.call(Path::parse_mod_style)?,
            ),
            _ => {
                let path = input.call(Path::parse_mod_style)?;
                if self.is_prepared {
                    let option = quote::quote!(#key = #path);
                    self.of_kernel.push((key.clone(), option));
                }
                set(&mut self.metadata, key, path)
            }
        }
    }

    fn parse_forward(&mut self, key: &Ident, input: ParseStream<'_>) -> syn::Result<()> {
        let listed: Vec<Ident> = if input.peek(syn::token::Bracket) {
            let content;
            bracketed!(content in input);
            let listed = content.call(Punctuated::<Ident, Token![,]>::parse_terminated)?;
            listed.into_iter().collect()
        } else {
            vec![input.parse()?]
        };
        for (index, operand) in listed.iter().enumerate() {
            if listed[..index].contains(operand) {
                return Err(duplicate(operand));
            }
        }
        if listed.is_empty() {
            return Err(syn::Error::new(
                key.span(),
                "expected the operand whose memory the result reuses: `forward = x`",
            ));
        }
        if !self.forward.is_empty() {
            return Err(duplicate(key));
        }
        self.forward = listed;
        Ok(())
    }

    fn parse_accepted(&mut self, key: &Ident, content: ParseStream<'_>) -> syn::Result<()> {
        let kinds = content.call(Punctuated::<Ident, Token![,]>::parse_terminated)?;
        for kind in &kinds {
            let flag = match kind.to_string().as_str() {
                "scalar" => OpFlag::AcceptsScalar,
                "string" => OpFlag::AcceptsString,
                "sparse" => OpFlag::AcceptsSparse,
                name => {
                    let hint = did_you_mean(name, &["scalar", "string", "sparse"]);
                    return Err(syn::Error::new(
                        kind.span(),
                        format!("unknown kind of tensor `{name}`: {hint}"),
                    ));
                }
            };
            if self.accepted.contains(&flag) {
                return Err(duplicate(kind));
            }
            self.accepted.push(flag);
        }
        if kinds.is_empty() {
            return Err(syn::Error::new(
                key.span(),
                "the kinds of tensors are missing: `accepts(scalar, string, sparse)`",
            ));
        }
        Ok(())
    }

    fn parse_types(&mut self, tokens: TokenStream, input: ParseStream<'_>) -> syn::Result<()> {
        let parameter = input.call(Ident::parse_any)?;
        input.parse::<Token![=]>()?;
        let content;
        bracketed!(content in input);
        let mut values = Vec::new();
        let (given, commas) = split_at_commas(content.parse()?, "a type");
        for value in given.clone() {
            values.push(
                (|value: ParseStream<'_>| {
                    let literal: Option<syn::Lit> =
                        value.peek(syn::Lit).then(|| value.parse()).transpose()?;
                    let written = match literal {
                        Some(literal) => literal.to_token_stream(),
                        None => value.parse::<Type>()?.to_token_stream(),
                    };
                    if value.peek(Token![as]) {
                        value.parse::<Token![as]>()?;
                        value.parse::<LitStr>()?;
                    }
                    expect_end(value)?;
                    Ok(written)
                })
                .parse2(value)?,
            );
        }
        let nothing = values.is_empty().then(|| {
            let message =
                format!("expected at least one type for `{parameter}`, found an empty list");
            syn::Error::new(parameter.span(), message)
        });
        if self.lists.iter().any(|list| list.parameter == parameter) {
            return Err(duplicate(&parameter));
        }
        // Empty places are reported here.
        let tokens = match commas {
            Ok(()) => tokens,
            Err(_) => quote::quote!(#parameter = [#(#given),*]),
        };
        self.lists.push(List {
            parameter,
            values,
            tokens,
        });
        expect_end(input)?;
        commas.and(nothing.map_or(Ok(()), Err))
    }

    /// Returns `true` if a name determines the value of a parameter: `my.Add.{T}`.
    pub(super) fn is_named(&self, parameter: &Ident) -> bool {
        let place = format!("{{{parameter}}}");
        self.names.iter().any(|name| name.value().contains(&place))
    }

    /// Returns the options of the kernel, except for its names. Lists of types that are
    /// distinguished at run time are not among them.
    pub(super) fn of_kernel(&self, found: &[&Ident]) -> Vec<&TokenStream> {
        let lists = self.lists.iter();
        let lists = lists
            .filter(|list| !found.contains(&&list.parameter))
            .map(|list| &list.tokens);
        self.of_kernel
            .iter()
            .map(|(_, tokens)| tokens)
            .chain(lists)
            .collect()
    }

    /// Options that are for ops which find the type of elements.
    pub(super) fn refuse_without_family(&self, problems: &mut Problems) {
        if let Some(text) = &self.unsupported {
            problems.at(
                text,
                "`unsupported` is only for ops that list their element types: `T = [f32, i32]`",
            );
        }
    }

    /// Options of ops whose function takes operands.
    pub(super) fn refuse_without_operands(&self, problems: &mut Problems) {
        for operand in &self.forward {
            problems.at(
                operand,
                "`forward` is only for ops whose function takes operands and `#[out]` results",
            );
        }
        if let Some(partial) = &self.partial {
            problems.at(
                partial,
                "`partial` is for ops that declare operands and results: this op has no signature",
            );
        }
        if let Some(cost) = &self.cost {
            problems.at(
                cost,
                "`cost` is for ops that declare operands and results: this op has no signature",
            );
        }
        if let Some(function) = &self.function {
            problems.at(
                function,
                "`function` is only for ops with a signature: this op declares no operands and \
                 results",
            );
        }
    }

    /// An option that says more than another one, which is missing.
    pub(super) fn refuse_without_metadata(&self, problems: &mut Problems) {
        if let Some(partial) = self.partial.as_ref().filter(|_| self.metadata.is_none()) {
            problems.at(
                partial,
                "`partial` is about tensors of which not everything is known: `metadata = path::to::function` is missing, for all others",
            );
        }
    }

    /// Options that go with a declaration, which an op that takes its call does not have.
    pub(super) fn refuse_with_raw(&self, problems: &mut Problems) {
        for (key, _) in &self.of_kernel {
            if key != "side_effecting" && key != "metadata" {
                problems.at(
                    key,
                    format!(
                        "`raw` cannot be combined with `{key}`: the option is only for ops with a \
                         kernel"
                    ),
                );
            }
        }
        for list in &self.lists {
            problems.at(
                &list.parameter,
                "a `raw` op has one function for all tensors: remove the list of types",
            );
        }
    }

    /// Options of ops that run.
    pub(super) fn refuse_with_metadata_only(&self, flag: &Ident, problems: &mut Problems) {
        for (key, _) in &self.of_kernel {
            problems.at(
                key,
                format!("`{flag}` cannot be combined with `{key}`: the op does not run"),
            );
        }
        if let Some(path) = self.metadata.as_ref().filter(|_| !self.is_prepared) {
            problems.at(
                path,
                format!(
                    "with `{flag}`, the function itself computes the metadata: remove this option"
                ),
            );
        }
    }
}

fn has_out(function: &FunctionItem) -> bool {
    function.signature.inputs.iter().any(|input| match input {
        FnArg::Typed(parameter) => parameter
            .attrs
            .iter()
            .any(|attribute| attribute.path().is_ident("out")),
        FnArg::Receiver(_) => false,
    })
}

/// Returns the rest of the input.
fn consume(input: ParseStream<'_>) -> TokenStream {
    input.parse().unwrap_or_default()
}

/// Options as kernels have them, for the names alone.
pub(super) fn of_names(names: &[LitStr], problems: &mut Problems) -> Options {
    Options::parse(quote::quote!(#(#names),*), Subject::Kernel, problems)
}
