//! The options in `#[tfrt_kernel("name", …)]` and `declare_op! { "name", … }`.
//!
//! Options are separated by commas. Each is parsed separately, so a mistake in one does not hide
//! mistakes in others.

mod instance;

mod key;

mod raw;

use proc_macro2::{Span, TokenStream, TokenTree};
use syn::ext::IdentExt;
use syn::parse::{ParseStream, Parser};
use syn::punctuated::Punctuated;
use syn::{Ident, Lit, LitStr, Path, Token, bracketed, parenthesized};
use tfrt_ods::OpTraits;
use tfrt_support::nearest::nearest;

use crate::problems::{Problems, did_you_mean};

pub use instance::{InstanceList, InstanceValue};
pub use key::{Flag, Key, ListKey, ValueKey};
pub use raw::{AttributeType, RawAttr, RawType, RawValue};

/// The parsed options, checked only for their syntax.
#[derive(Debug, Default)]
pub struct Options {
    /// The names, which may mention type parameters: `my.add.{T}`.
    pub names: Vec<LitStr>,
    /// `sync = "name"`: additional names of the kernel for the interpreter of synchronous
    /// functions.
    pub sync_names: Vec<LitStr>,
    /// Options without a value, with their places.
    flags: Vec<GivenFlag>,
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

/// The subject of the options.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Subject {
    /// A kernel.
    Kernel,
    /// An op without a kernel.
    DeclaredOp,
}

/// The value of `attribute_names`.
#[derive(Clone, Copy, Debug)]
pub enum AttributeNames {
    /// The declared ones, under any names.
    Free(Span),
    /// Any number of undeclared ones.
    Any(Span),
}

/// A flag that was given, with its place.
#[derive(Debug)]
struct GivenFlag {
    flag: Flag,
    place: Ident,
}

impl Options {
    /// Parses the tokens in the parentheses of the attribute.
    pub(crate) fn parse(tokens: TokenStream, of: Subject, problems: &mut Problems) -> Self {
        let mut options = Self::default();
        let mut is_first_sound = true;
        let (given, commas) = split_at_commas(tokens, "an option");
        problems.note(commas);
        for (index, option) in given.into_iter().enumerate() {
            let is_behind_names = index == options.names.len();
            let parsed = (|input: ParseStream<'_>| options.parse_option(input, is_behind_names))
                .parse2(option);
            is_first_sound &= index > 0 || parsed.is_ok();
            problems.note(parsed);
        }
        // What stands where the name belongs was meant as the name.
        if options.names.is_empty() && is_first_sound {
            let message = match of {
                Subject::Kernel => {
                    "a kernel needs a name: write `#[tfrt_kernel(\"dialect.name\")]`"
                }
                Subject::DeclaredOp => {
                    "an op needs a name: write `tfrt::declare_op! { \"dialect.name\" }`"
                }
            };
            problems.at_span(Span::call_site(), message);
        }
        options
    }

    /// Returns the place of a flag, if it is set.
    pub(crate) fn flag(&self, flag: impl Into<Flag>) -> Option<&Ident> {
        let flag = flag.into();
        let given = self.flags.iter().find(|given| given.flag == flag)?;
        Some(&given.place)
    }

    /// Returns `true` if a flag is set.
    pub(crate) fn has(&self, flag: impl Into<Flag>) -> bool {
        self.flag(flag).is_some()
    }

    /// Returns the traits whose flags are set.
    pub(crate) fn traits(&self) -> OpTraits {
        let flags = self.flags.iter();
        flags.fold(OpTraits::NONE, |traits, given| match given.flag {
            Flag::Trait(one) => traits | one,
            Flag::SideEffecting | Flag::Raw => traits,
        })
    }

    fn parse_option(&mut self, input: ParseStream<'_>, is_behind_names: bool) -> syn::Result<()> {
        if input.peek(LitStr) {
            let name: LitStr = input.parse()?;
            if !is_behind_names {
                return Err(syn::Error::new(
                    name.span(),
                    "names must come before the options",
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
                    "the name must be a string literal, because the macro cannot evaluate \
                     constants: write `\"dialect.name\"` instead of `{key}`"
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

    /// Returns the error for an unquoted `my.add`, and treats it as the name, so no name is
    /// reported as missing.
    fn unquoted_name(&mut self, dialect: &Ident, rest: ParseStream<'_>) -> syn::Error {
        let rest = rest.cursor().token_stream();
        let written = quote::quote!(#dialect #rest);
        let name = written.to_string().replace(' ', "");
        let error = format!("the name must be a string literal: write `\"{name}\"`");
        self.names.push(LitStr::new(&name, dialect.span()));
        syn::Error::new_spanned(written, error)
    }

    fn parse_flag(&mut self, place: Ident) -> syn::Result<()> {
        let fail = |message: String| Err(syn::Error::new(place.span(), message));
        match Key::of(&place.to_string()) {
            None => Err(unknown(&place)),
            Some(Key::Value(key)) => fail(format!("`{place}` needs a value: `{}`", key.example())),
            Some(Key::List(key)) => fail(format!("`{place}` needs a list: `{}`", key.example())),
            Some(Key::Flag(flag)) if self.has(flag) => Err(duplicate(&place)),
            Some(Key::Flag(flag)) => {
                self.flags.push(GivenFlag { flag, place });
                Ok(())
            }
        }
    }

    fn parse_value(&mut self, place: &Ident, input: ParseStream<'_>) -> syn::Result<()> {
        let fail = |message: String| Err(syn::Error::new(place.span(), message));
        match Key::of(&place.to_string()) {
            Some(Key::Value(key)) => self.parse_value_of(key, place, input),
            Some(Key::Flag(Flag::Trait(OpTraits::SYNC))) => {
                self.sync_names.push(input.parse().map_err(|error| {
                    let example = "write `sync = \"dialect.name\"` to name an additional kernel \
                                   for the interpreter, or `sync` alone if the kernel is only for \
                                   the interpreter";
                    syn::Error::new(error.span(), example)
                })?);
                Ok(())
            }
            None if place == "name" && input.peek(LitStr) => {
                let name: LitStr = input.parse()?;
                let error = format!("the name takes no key: write `\"{}\"`", name.value());
                self.names.push(name);
                fail(error)
            }
            _ if input.peek(syn::token::Bracket) => self.parse_instances(place, input),
            Some(Key::Flag(_)) => fail(format!("`{place}` takes no value: write `{place}` alone")),
            Some(Key::List(key)) => fail(format!(
                "`{place}` takes a list in parentheses: `{}`",
                key.example()
            )),
            None => Err(unknown(place)),
        }
    }

    fn parse_value_of(
        &mut self,
        key: ValueKey,
        place: &Ident,
        input: ParseStream<'_>,
    ) -> syn::Result<()> {
        let path = |input: ParseStream<'_>| input.call(Path::parse_mod_style);
        match key {
            ValueKey::Effect => set(&mut self.effect, place, input.parse()?),
            ValueKey::Reads => set(&mut self.reads, place, input.parse()?),
            ValueKey::Format => set(&mut self.format, place, input.parse()?),
            ValueKey::Verify => set(&mut self.verify, place, path(input)?),
            ValueKey::Fold => set(&mut self.fold, place, path(input)?),
            ValueKey::Metadata => set(&mut self.metadata, place, path(input)?),
            ValueKey::Workspace => set(&mut self.workspace, place, path(input)?),
            ValueKey::KernelSet => set(&mut self.kernel_set, place, input.parse()?),
            ValueKey::Crate => set(&mut self.crate_path, place, path(input)?),
            ValueKey::Chain => {
                let value: Ident = input.parse()?;
                if value != "none" {
                    return Err(syn::Error::new(
                        value.span(),
                        "expected `chain = none`; to handle the chain yourself, add a parameter \
                         or result of type `Chain`",
                    ));
                }
                set(&mut self.chain_none, place, place.span())
            }
            ValueKey::AttributeNames => {
                let value: Ident = input.parse()?;
                let names = match value.to_string().as_str() {
                    "free" => AttributeNames::Free(value.span()),
                    "any" => AttributeNames::Any(value.span()),
                    _ => {
                        return Err(syn::Error::new(
                            value.span(),
                            "expected `free` (only the order of the names counts) or `any` (the \
                             kernel takes any attributes); without the option, names are fixed",
                        ));
                    }
                };
                set(&mut self.attribute_names, place, names)
            }
        }
    }

    fn parse_instances(&mut self, key: &Ident, input: ParseStream<'_>) -> syn::Result<()> {
        let content;
        bracketed!(content in input);
        let values = content.call(Punctuated::<InstanceValue, Token![,]>::parse_terminated)?;
        if values.is_empty() {
            return Err(syn::Error::new(
                key.span(),
                format!("expected at least one value for `{key}`, found an empty list"),
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

    fn parse_list(&mut self, place: &Ident, content: ParseStream<'_>) -> syn::Result<()> {
        let fail = |message: String| Err(syn::Error::new(place.span(), message));
        match Key::of(&place.to_string()) {
            None => Err(unknown(place)),
            Some(Key::List(key)) => self.parse_list_of(key, place, content),
            Some(Key::Flag(_)) => fail(format!("`{place}` takes no list: write `{place}` alone")),
            Some(Key::Value(key)) => fail(format!("`{place}` takes a value: `{}`", key.example())),
        }
    }

    fn parse_list_of(
        &mut self,
        key: ListKey,
        place: &Ident,
        content: ParseStream<'_>,
    ) -> syn::Result<()> {
        let span = place.span();
        match key {
            ListKey::Operands => set(&mut self.operands, place, (span, list(content)?)),
            ListKey::Results => set(&mut self.results, place, (span, list(content)?)),
            ListKey::Attrs => set(&mut self.attrs, place, (span, list(content)?)),
            ListKey::Symbols => set(&mut self.symbols, place, (span, list(content)?)),
            ListKey::SymbolList => set(&mut self.symbol_list, place, (span, list(content)?)),
            ListKey::Regions => set(&mut self.regions, place, (span, list(content)?)),
            ListKey::Alias => {
                let pairs = content.call(Punctuated::<Alias, Token![,]>::parse_terminated)?;
                self.alias
                    .extend(pairs.into_iter().map(|alias| (alias.result, alias.operand)));
                Ok(())
            }
        }
    }
}

/// Splits at the commas that stand in no parentheses, brackets or braces. A comma without anything
/// in front of it, where something was forgotten, is the error beside the parts, which says that
/// `what` is expected.
pub(crate) fn split_at_commas(
    tokens: TokenStream,
    what: &str,
) -> (Vec<TokenStream>, syn::Result<()>) {
    let (mut parts, mut commas) = (Vec::new(), Ok(()));
    let mut part = TokenStream::new();
    for token in tokens {
        if !matches!(&token, TokenTree::Punct(punct) if punct.as_char() == ',') {
            part.extend([token]);
        } else if !part.is_empty() {
            parts.push(std::mem::take(&mut part));
        } else if commas.is_ok() {
            let message = format!("expected {what} in front of `,`, found none");
            commas = Err(syn::Error::new(token.span(), message));
        }
    }
    parts.extend((!part.is_empty()).then_some(part));
    (parts, commas)
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
    let hint = did_you_mean(&key.to_string(), &Key::names());
    syn::Error::new(key.span(), format!("unknown option `{key}`: {hint}"))
}

/// Returns the complaint about `concat!("my.", "add")` where a name belongs.
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
    let literals = pieces
        .map(|pieces| split_at_commas(pieces, "a text").0)
        .unwrap_or_default();
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
            "the name must be a string literal, because macros inside an attribute are not \
             expanded: write `\"{name}\"`"
        ),
    )
}

/// Returns `true` if an identifier alone, in the place of the name, is not even a misspelled
/// option.
fn is_nothing_like_an_option(key: &Ident, rest: ParseStream<'_>) -> bool {
    let name = key.to_string();
    rest.is_empty()
        && key != "async"
        && Key::of(&name).is_none()
        && nearest(&name, Key::names()).is_empty()
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
