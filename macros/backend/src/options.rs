//! The options in `#[tfrt_kernel("name", …)]`.
//!
//! Options are separated by commas. Each is parsed on its own, so that a mistake in one does not hide those in others.

mod instance;

mod raw;

use proc_macro2::{Span, TokenStream, TokenTree};
use syn::ext::IdentExt;
use syn::parse::{ParseStream, Parser};
use syn::punctuated::Punctuated;
use syn::{Ident, Lit, LitStr, Path, Token, bracketed, parenthesized};
use tfrt_support::nearest::nearest;

use crate::problems::{Problems, did_you_mean};

pub use instance::{InstanceList, InstanceValue};
pub use raw::{RawAttr, RawType, RawValue};

/// What was written, unchecked but for its form.
#[derive(Debug, Default)]
pub struct Options {
    /// The names, which may mention type parameters: `my.add.{T}`.
    pub names: Vec<LitStr>,
    /// `sync = "name"`: the names under which the interpreter of synchronous functions has the kernel too.
    pub sync_names: Vec<LitStr>,
    /// Options without a value, with their places.
    pub flags: Vec<Ident>,
    /// `effect = "class"`.
    pub effect: Option<LitStr>,
    /// `reads = "class"`.
    pub reads: Option<LitStr>,
    /// `format = "assembly format"`.
    pub format: Option<LitStr>,
    /// `verify = path::to::function`.
    pub verify: Option<Path>,
    /// `fold = path::to::function`.
    pub fold: Option<Path>,
    /// `metadata = path::to::function`.
    pub metadata: Option<Path>,
    /// `workspace = path::to::function`.
    pub workspace: Option<Path>,
    /// `crate = path`.
    pub crate_path: Option<Path>,
    /// `kernel_set = Name`.
    pub kernel_set: Option<Ident>,
    /// `chain = none`, with its place.
    pub chain_none: Option<Span>,
    /// `attribute_names = free`, with its place.
    pub attribute_names: Option<AttributeNames>,
    /// `operands(name: type, …)`, for kernels that take their frame.
    pub operands: Option<(Span, Vec<RawValue>)>,
    /// `results(name, …)`, or `results(name: type, …)` for kernels that take their frame.
    pub results: Option<(Span, Vec<RawValue>)>,
    /// `attrs(name: type, …)`, for kernels that take their frame.
    pub attrs: Option<(Span, Vec<RawAttr>)>,
    /// `symbols(name, …)`, for kernels that take their frame.
    pub symbols: Option<(Span, Vec<Ident>)>,
    /// `symbol_list(name)`, for kernels that take their frame.
    pub symbol_list: Option<(Span, Vec<Ident>)>,
    /// `regions(name, …)`, for kernels that take their frame.
    pub regions: Option<(Span, Vec<Ident>)>,
    /// `alias(result = operand, …)`.
    pub alias: Vec<(Ident, Ident)>,
    /// `T = [i32, u32 as "ui32"]`.
    pub instances: Vec<InstanceList>,
}

/// The value of `attribute_names`.
#[derive(Clone, Copy, Debug)]
pub enum AttributeNames {
    /// Those that are declared, whatever they are called.
    Free(Span),
    /// Any number of them, none declared.
    Any(Span),
}

/// Options without a value.
const FLAGS: &[&str] = &[
    "side_effecting",
    "pure",
    "effect_free",
    "non_strict",
    "sync",
    "blocking",
    "raw",
    "named_results",
    "cheap",
    "cost_attribute",
    "call",
    "isolated",
    "chain_source",
    "chain_merge",
    "constant",
    "forwards",
    "loops",
    "parallel",
    "chooses",
    "printed_generically",
];

/// Options with a value after `=`.
const VALUES: &[&str] = &[
    "effect",
    "reads",
    "format",
    "verify",
    "fold",
    "metadata",
    "workspace",
    "chain",
    "attribute_names",
    "kernel_set",
    "crate",
];

/// Options with a list in parentheses.
const LISTS: &[&str] = &[
    "operands",
    "results",
    "attrs",
    "symbols",
    "symbol_list",
    "regions",
    "alias",
];

impl Options {
    /// Parses the tokens in the parentheses of the attribute.
    pub(crate) fn parse(tokens: TokenStream, problems: &mut Problems) -> Self {
        let mut options = Self::default();
        let mut is_first_sound = true;
        for (index, option) in split_at_commas(tokens).into_iter().enumerate() {
            let is_behind_names = index == options.names.len();
            let parsed = (|input: ParseStream<'_>| options.parse_option(input, is_behind_names))
                .parse2(option);
            is_first_sound &= index > 0 || parsed.is_ok();
            problems.note(parsed);
        }
        // What stands where the name belongs was meant as the name.
        if options.names.is_empty() && is_first_sound {
            problems.at_span(
                Span::call_site(),
                "a kernel needs a name: write `#[tfrt_kernel(\"dialect.name\")]`",
            );
        }
        options
    }

    /// The place of a flag, if it is set.
    pub(crate) fn flag(&self, name: &str) -> Option<&Ident> {
        self.flags.iter().find(|flag| *flag == name)
    }

    /// Whether a flag is set.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.flag(name).is_some()
    }

    fn parse_option(&mut self, input: ParseStream<'_>, is_behind_names: bool) -> syn::Result<()> {
        if input.peek(LitStr) {
            let name: LitStr = input.parse()?;
            if !is_behind_names {
                return Err(syn::Error::new(
                    name.span(),
                    "names come first, before the options",
                ));
            }
            self.names.push(name);
            return expect_end(input);
        }
        if is_behind_names && input.peek(Lit) {
            let literal: Lit = input.parse()?;
            return Err(syn::Error::new(
                literal.span(),
                "the name must be a string literal: write `\"dialect.name\"`",
            ));
        }
        let key = input.call(Ident::parse_any)?;
        if input.peek(Token![!]) {
            return Err(computed_name(&key, input));
        }
        if self.names.is_empty() && is_behind_names && is_nothing_like_an_option(&key, input) {
            return Err(syn::Error::new(
                key.span(),
                format!(
                    "the name must be a string literal, because the macro cannot evaluate constants: write `\"dialect.name\"` instead of `{key}`"
                ),
            ));
        }
        if is_behind_names && input.peek(Token![.]) {
            return Err(self.unquoted_name(&key, input));
        }
        if input.peek(syn::token::Paren) {
            let content;
            parenthesized!(content in input);
            self.parse_list(&key, &content)?;
            expect_end(&content)?;
        } else if input.peek(Token![=]) {
            input.parse::<Token![=]>()?;
            self.parse_value(&key, input)?;
        } else {
            self.parse_flag(key)?;
        }
        expect_end(input)
    }

    /// The complaint about `my.add`. What was meant is the name, so that none is missed.
    fn unquoted_name(&mut self, dialect: &Ident, rest: ParseStream<'_>) -> syn::Error {
        let rest = rest.cursor().token_stream();
        let written = quote::quote!(#dialect #rest);
        let name = written.to_string().replace(' ', "");
        let error = format!("the name must be a string literal: write `\"{name}\"`");
        self.names.push(LitStr::new(&name, dialect.span()));
        syn::Error::new_spanned(written, error)
    }

    fn parse_flag(&mut self, key: Ident) -> syn::Result<()> {
        let name = key.to_string();
        if VALUES.contains(&name.as_str()) {
            return Err(syn::Error::new(
                key.span(),
                format!("`{name}` needs a value: `{}`", example(&name)),
            ));
        }
        if LISTS.contains(&name.as_str()) {
            return Err(syn::Error::new(
                key.span(),
                format!("`{name}` needs a list: `{}`", example(&name)),
            ));
        }
        if !FLAGS.contains(&name.as_str()) {
            return Err(unknown(&key));
        }
        if self.has(&name) {
            return Err(duplicate(&key));
        }
        self.flags.push(key);
        Ok(())
    }

    fn parse_value(&mut self, key: &Ident, input: ParseStream<'_>) -> syn::Result<()> {
        match key.to_string().as_str() {
            "effect" => set(&mut self.effect, key, input.parse()?),
            "reads" => set(&mut self.reads, key, input.parse()?),
            "format" => set(&mut self.format, key, input.parse()?),
            "verify" => set(&mut self.verify, key, input.call(Path::parse_mod_style)?),
            "fold" => set(&mut self.fold, key, input.call(Path::parse_mod_style)?),
            "metadata" => set(&mut self.metadata, key, input.call(Path::parse_mod_style)?),
            "workspace" => set(&mut self.workspace, key, input.call(Path::parse_mod_style)?),
            "kernel_set" => set(&mut self.kernel_set, key, input.parse()?),
            "crate" => set(
                &mut self.crate_path,
                key,
                input.call(Path::parse_mod_style)?,
            ),
            "sync" => {
                self.sync_names.push(input.parse().map_err(|error| {
                    let example = "`sync = \"dialect.name\"` gives the kernel for the interpreter its name; \
                                   `sync` alone says that there is no other";
                    syn::Error::new(error.span(), example)
                })?);
                Ok(())
            }
            "chain" => {
                let value: Ident = input.parse()?;
                if value != "none" {
                    return Err(syn::Error::new(
                        value.span(),
                        "expected `chain = none`; a kernel that handles the chain itself has a parameter or result of type `Chain`",
                    ));
                }
                set(&mut self.chain_none, key, key.span())
            }
            "attribute_names" => {
                let value: Ident = input.parse()?;
                let names = match value.to_string().as_str() {
                    "free" => AttributeNames::Free(value.span()),
                    "any" => AttributeNames::Any(value.span()),
                    _ => {
                        return Err(syn::Error::new(
                            value.span(),
                            "`attribute_names` is `free`, if only the order of the names counts, or `any`, if the kernel takes whatever \
                             attributes there are; names are fixed without the option",
                        ));
                    }
                };
                set(&mut self.attribute_names, key, names)
            }
            "name" if input.peek(LitStr) => {
                let name: LitStr = input.parse()?;
                let error = format!("a name has no key: write `\"{}\"`", name.value());
                self.names.push(name);
                Err(syn::Error::new(key.span(), error))
            }
            _ if input.peek(syn::token::Bracket) => self.parse_instances(key, input),
            name if FLAGS.contains(&name) => Err(syn::Error::new(
                key.span(),
                format!("`{name}` takes no value: write `{name}` alone"),
            )),
            name if LISTS.contains(&name) => Err(syn::Error::new(
                key.span(),
                format!("`{name}` takes a list in parentheses: `{}`", example(name)),
            )),
            _ => Err(unknown(key)),
        }
    }

    fn parse_instances(&mut self, key: &Ident, input: ParseStream<'_>) -> syn::Result<()> {
        let content;
        bracketed!(content in input);
        let values = content.call(Punctuated::<InstanceValue, Token![,]>::parse_terminated)?;
        if values.is_empty() {
            return Err(syn::Error::new(
                key.span(),
                format!("the list of values of `{key}` is empty, which leaves no kernel"),
            ));
        }
        if self.instances.iter().any(|list| list.parameter == *key) {
            return Err(duplicate(key));
        }
        self.instances.push(InstanceList {
            parameter: key.clone(),
            values: values.into_iter().collect(),
        });
        Ok(())
    }

    fn parse_list(&mut self, key: &Ident, content: ParseStream<'_>) -> syn::Result<()> {
        match key.to_string().as_str() {
            "operands" => set(&mut self.operands, key, (key.span(), list(content)?)),
            "results" => set(&mut self.results, key, (key.span(), list(content)?)),
            "attrs" => set(&mut self.attrs, key, (key.span(), list(content)?)),
            "symbols" => set(&mut self.symbols, key, (key.span(), list(content)?)),
            "symbol_list" => set(&mut self.symbol_list, key, (key.span(), list(content)?)),
            "regions" => set(&mut self.regions, key, (key.span(), list(content)?)),
            "alias" => {
                let pairs = content.call(Punctuated::<Alias, Token![,]>::parse_terminated)?;
                self.alias
                    .extend(pairs.into_iter().map(|alias| (alias.result, alias.operand)));
                Ok(())
            }
            name if FLAGS.contains(&name) => Err(syn::Error::new(
                key.span(),
                format!("`{name}` takes no list: write `{name}` alone"),
            )),
            name if VALUES.contains(&name) => Err(syn::Error::new(
                key.span(),
                format!("`{name}` takes a value: `{}`", example(name)),
            )),
            _ => Err(unknown(key)),
        }
    }
}

/// How an option that needs a value or list is written.
fn example(option: &str) -> &'static str {
    match option {
        "effect" => "effect = \"random\"",
        "reads" => "reads = \"random\"",
        "format" => "format = \"$a `,` $b attr-dict\"",
        "verify" => "verify = path::to::function",
        "fold" => "fold = path::to::function",
        "metadata" => "metadata = path::to::function",
        "workspace" => "workspace = path::to::function",
        "chain" => "chain = none",
        "attribute_names" => "attribute_names = free",
        "kernel_set" => "kernel_set = MyKernels",
        "crate" => "crate = path::to::tfrt",
        "operands" => "operands(cond: \"i1\", args: variadic any)",
        "results" => "results(quotient, remainder)",
        "attrs" => "attrs(count: i64)",
        "symbols" => "symbols(callee)",
        "symbol_list" => "symbol_list(branches)",
        "regions" => "regions(body)",
        _ => "alias(result = operand)",
    }
}

/// Splits at the commas that stand in no parentheses, brackets or braces.
pub(crate) fn split_at_commas(tokens: TokenStream) -> Vec<TokenStream> {
    let mut parts = vec![TokenStream::new()];
    for token in tokens {
        match (&token, parts.last_mut()) {
            (TokenTree::Punct(punct), _) if punct.as_char() == ',' => {
                parts.push(TokenStream::new())
            }
            (_, Some(part)) => part.extend([token]),
            (_, None) => {}
        }
    }
    parts.retain(|part| !part.is_empty());
    parts
}

pub(crate) fn set<T>(slot: &mut Option<T>, key: &Ident, value: T) -> syn::Result<()> {
    if slot.is_some() {
        return Err(duplicate(key));
    }
    *slot = Some(value);
    Ok(())
}

fn list<T: syn::parse::Parse>(content: ParseStream<'_>) -> syn::Result<Vec<T>> {
    Ok(content
        .call(Punctuated::<T, Token![,]>::parse_terminated)?
        .into_iter()
        .collect())
}

pub(crate) fn expect_end(input: ParseStream<'_>) -> syn::Result<()> {
    if input.is_empty() {
        Ok(())
    } else {
        Err(input.error("unexpected token; options are separated by commas"))
    }
}

fn unknown(key: &Ident) -> syn::Error {
    if key == "async" {
        return syn::Error::new(
            key.span(),
            "unknown option `async`: write `async fn` instead",
        );
    }
    let known = [FLAGS, VALUES, LISTS].concat();
    syn::Error::new(
        key.span(),
        format!(
            "unknown option `{key}`: {}",
            did_you_mean(&key.to_string(), &known)
        ),
    )
}

/// The complaint about `concat!("my.", "add")` where a name belongs.
fn computed_name(key: &Ident, input: ParseStream<'_>) -> syn::Error {
    let rest = input.cursor().token_stream();
    let pieces = rest
        .clone()
        .into_iter()
        .filter_map(|token| match token {
            TokenTree::Group(group) => Some(group.stream()),
            _ => None,
        })
        .next();
    let literals = pieces.map(split_at_commas).unwrap_or_default();
    let texts: Option<Vec<String>> = literals
        .into_iter()
        .map(|literal| syn::parse2::<LitStr>(literal).ok().map(|text| text.value()))
        .collect();
    let name = match texts {
        Some(texts) if key == "concat" && !texts.is_empty() => texts.concat(),
        _ => "dialect.name".to_owned(),
    };
    syn::Error::new_spanned(
        quote::quote!(#key #rest),
        format!(
            "the name must be a string literal, because macros inside an attribute are not expanded: write `\"{name}\"`"
        ),
    )
}

/// Whether an identifier alone, in the place of the name, is not even a misspelled option.
fn is_nothing_like_an_option(key: &Ident, rest: ParseStream<'_>) -> bool {
    let (name, known) = (key.to_string(), [FLAGS, VALUES, LISTS].concat());
    rest.is_empty()
        && key != "async"
        && !known.contains(&name.as_str())
        && nearest(&name, known).is_empty()
}

pub(crate) fn duplicate(key: &Ident) -> syn::Error {
    syn::Error::new(key.span(), format!("`{key}` is given twice"))
}

struct Alias {
    result: Ident,
    operand: Ident,
}

impl syn::parse::Parse for Alias {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let result = input.parse()?;
        input.parse::<Token![=]>()?;
        Ok(Self {
            result,
            operand: input.parse()?,
        })
    }
}
