//! `#[onnx_op]`: importers of ONNX ops, and ops that nodes of a model call by name.
//!
//! ```text
//!  #[onnx_op(…)] fn importer          ──► registration with the function
//!  #[onnx_op(…)] #[tfrt_op("a.B")] fn ──► registration with the name of the op
//!  #[tfrt_op("a.B")] #[onnx_op(…)] fn ──► the same: `#[tfrt_op]` expands what it finds below it
//! ```

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::ext::IdentExt;
use syn::parse::{ParseStream, Parser};
use syn::{Attribute, GenericParam, LitInt, LitStr, Meta, Path, Token};

use crate::facade::{Facade, Front};
use crate::function::FunctionItem;
use crate::options::{expect_end, set, split_at_commas};
use crate::problems::{Problems, did_you_mean};

const OPTIONS: &[&str] = &["domain", "name", "since", "crate"];

const FORM: &str = "write `#[onnx_op(domain = \"com.example\", name = \"Frob\", since = 1)]`";

/// The options of one `#[onnx_op]`, checked only for their syntax.
#[derive(Debug, Default)]
struct OnnxOptions {
    domain: Option<LitStr>,
    name: Option<LitStr>,
    since: Option<LitInt>,
    crate_path: Option<Path>,
}

/// One `#[onnx_op]`, completely checked.
#[derive(Debug)]
struct OnnxModel {
    domain: LitStr,
    name: LitStr,
    since: i64,
    crate_path: Option<Path>,
}

/// What nodes of the op become.
#[derive(Debug)]
enum Lowering<'f> {
    /// Calls of the op with this name.
    Op(LitStr),
    /// What this function makes of them.
    Function(&'f FunctionItem),
}

/// Expands `#[onnx_op(options)]` on a function, which is kept.
///
/// # Errors
/// Everything that is wrong with the options and the function.
pub(crate) fn expand(
    facade: Facade,
    options: TokenStream,
    function: &FunctionItem,
) -> syn::Result<TokenStream> {
    let op = function
        .attributes
        .iter()
        .find(|found| is(found, "tfrt_op"));
    let mut problems = Problems::default();
    let place = Ident::new("onnx_op", Span::call_site());
    let model = OnnxModel::parse(options, &place, &mut problems);
    let lowering = match op {
        Some(op) => problems.note(name_of(op)).map(Lowering::Op),
        None => {
            check_importer(function, &mut problems);
            Some(Lowering::Function(function))
        }
    };
    match (model, lowering) {
        (Some(model), Some(lowering)) if problems.is_empty() => {
            registration(facade, &model, &lowering, &function.conditions())
        }
        _ => Err(problems.into_error()),
    }
}

/// Takes every `#[onnx_op]` from a function with `#[tfrt_op(options)]`, and expands them.
pub(crate) fn expand_below_op(
    facade: Facade,
    options: &TokenStream,
    function: &mut FunctionItem,
) -> TokenStream {
    let is_onnx = |attribute: &mut Attribute| is(attribute, "onnx_op");
    let attributes: Vec<Attribute> = function.attributes.extract_if(.., is_onnx).collect();
    let conditions = function.conditions();
    let expansions = attributes.iter().map(|attribute| {
        let mut problems = Problems::default();
        let model = OnnxModel::parse(arguments(attribute), attribute, &mut problems);
        let name = problems.note(first_name(options, attribute));
        match (model, name) {
            (Some(model), Some(name)) if problems.is_empty() => {
                registration(facade, &model, &Lowering::Op(name), &conditions)
            }
            _ => Err(problems.into_error()),
        }
    });
    let expansions = expansions.map(|made| made.unwrap_or_else(syn::Error::into_compile_error));
    expansions.collect()
}

impl OnnxModel {
    /// Parses and checks options. `place` is where missing ones are missed.
    fn parse(tokens: TokenStream, place: &impl ToTokens, problems: &mut Problems) -> Option<Self> {
        let mut options = OnnxOptions::default();
        let (given, commas) = split_at_commas(tokens, "an option");
        problems.note(commas);
        for option in given {
            let parser = |input: ParseStream<'_>| options.parse_option(input);
            problems.note(parser.parse2(option));
        }
        options.check(place, problems)
    }
}

impl OnnxOptions {
    fn parse_option(&mut self, input: ParseStream<'_>) -> syn::Result<()> {
        let key = input.call(Ident::parse_any).map_err(|error| {
            syn::Error::new(error.span(), format!("expected an option; {FORM}"))
        })?;
        let name = key.to_string();
        if !OPTIONS.contains(&name.as_str()) {
            let _: TokenStream = input.parse()?;
            let hint = did_you_mean(&name, OPTIONS);
            let message = format!("unknown option `{name}` of `#[onnx_op]`: {hint}");
            return Err(syn::Error::new(key.span(), message));
        }
        input
            .parse::<Token![=]>()
            .map_err(|_| syn::Error::new(key.span(), format!("`{name}` needs a value; {FORM}")))?;
        match name.as_str() {
            "domain" => set(&mut self.domain, &key, input.parse()?)?,
            "name" => set(&mut self.name, &key, input.parse()?)?,
            "since" => set(&mut self.since, &key, version(input)?)?,
            _ => set(
                &mut self.crate_path,
                &key,
                input.call(Path::parse_mod_style)?,
            )?,
        }
        expect_end(input)
    }

    fn check(self, place: &impl ToTokens, problems: &mut Problems) -> Option<OnnxModel> {
        let was_sound = problems.is_empty();
        for (key, is_given) in [
            ("domain", self.domain.is_some()),
            ("name", self.name.is_some()),
            ("since", self.since.is_some()),
        ] {
            // An option with a mistake in it is not missing.
            if !is_given && was_sound {
                problems.at(place, format!("the option `{key}` is missing: {FORM}"));
            }
        }
        if let Some(domain) = &self.domain
            && matches!(domain.value().as_str(), "" | "ai.onnx")
        {
            problems.at(
                domain,
                "the domain `ai.onnx`, which is also the empty one, is ONNX's own: ops of one's \
                 own need a domain of their own, such as `com.example`",
            );
        }
        if let Some(name) = self.name.as_ref().filter(|name| name.value().is_empty()) {
            problems.at(name, "expected the name of an op, found an empty text");
        }
        for text in [&self.domain, &self.name].into_iter().flatten() {
            if text.value().contains(char::is_control) {
                problems.at(text, "expected a name without control characters");
            }
        }
        let since = self.since.as_ref().and_then(|since| {
            let parsed = since.base10_parse::<i64>().ok();
            let parsed = parsed.filter(|&version| version >= 1);
            if parsed.is_none() {
                problems.at(since, "versions of domains begin with 1");
            }
            parsed
        });
        Some(OnnxModel {
            domain: self.domain?,
            name: self.name?,
            since: since?,
            crate_path: self.crate_path,
        })
    }
}

/// Parses a version, which may have a sign, so that a wrong number is one.
fn version(input: ParseStream<'_>) -> syn::Result<LitInt> {
    if let Some(minus) = input.parse::<Option<Token![-]>>()? {
        let _: TokenStream = input.parse()?;
        return Err(syn::Error::new(
            minus.span,
            "versions of domains begin with 1",
        ));
    }
    input.parse()
}

/// Returns `true` if an attribute has this name, under any path.
fn is(attribute: &Attribute, name: &str) -> bool {
    let last = attribute.path().segments.last();
    last.is_some_and(|last| last.ident == name)
}

/// Returns the tokens in the parentheses of an attribute.
fn arguments(attribute: &Attribute) -> TokenStream {
    match &attribute.meta {
        Meta::List(list) => list.tokens.clone(),
        _ => TokenStream::new(),
    }
}

fn name_of(op: &Attribute) -> syn::Result<LitStr> {
    first_name(&arguments(op), op)
}

/// Returns the first name in the options of an op. `place` is where it is missed.
fn first_name(options: &TokenStream, place: &impl ToTokens) -> syn::Result<LitStr> {
    let first = |input: ParseStream<'_>| {
        let name = input.parse::<LitStr>()?;
        let _: TokenStream = input.parse()?;
        Ok(name)
    };
    let name = first.parse2(options.clone()).map_err(|_| {
        syn::Error::new_spanned(place, "`#[onnx_op]` needs the name of the op, found none")
    })?;
    if name.value().contains('{') {
        return Err(syn::Error::new(
            name.span(),
            "nodes call an op by one name: write the element types as `T = […]` without `{T}` in \
             the name, or an importer function that selects the op",
        ));
    }
    Ok(name)
}

/// Checks what the type of the function does not tell the compiler clearly.
fn check_importer(function: &FunctionItem, problems: &mut Problems) {
    const FORM: &str = "`fn(call: &mut OnnxCall<'_>) -> Result<Vec<Value>, ImportError>`, or an op with `#[tfrt_op]`";
    if let Some(kernel) = function
        .attributes
        .iter()
        .find(|found| is(found, "tfrt_kernel"))
    {
        problems.at(
            kernel,
            "nodes call ops: write `#[tfrt_op]`, which is also a kernel",
        );
        return;
    }
    let signature = &function.signature;
    if let Some(receiver) = signature.receiver() {
        problems.at(
            receiver,
            "an importer must be a free function: it cannot take `self`",
        );
    }
    if let Some(keyword) = &signature.asyncness {
        problems.at(
            keyword,
            format!("an importer is {FORM}: it cannot be `async`"),
        );
    }
    let mut parameters = signature.generics.params.iter();
    if let Some(parameter) = parameters.find(|one| !matches!(one, GenericParam::Lifetime(_))) {
        problems.at(
            parameter,
            format!("an importer is {FORM}: it cannot be generic"),
        );
    }
}

fn registration(
    facade: Facade,
    model: &OnnxModel,
    lowering: &Lowering<'_>,
    conditions: &[Attribute],
) -> syn::Result<TokenStream> {
    let root = facade.root_of(Front::Onnx, model.crate_path.as_ref())?;
    let OnnxModel {
        domain,
        name,
        since,
        ..
    } = model;
    let private = quote!(#root::__private);
    let lowering = match lowering {
        Lowering::Op(op) => quote!(#private::OnnxLowering::Op(#op)),
        Lowering::Function(function) => {
            let ident = &function.signature.ident;
            quote_spanned!(ident.span()=> #private::OnnxLowering::Function(#ident))
        }
    };
    Ok(quote! {
        #(#conditions)*
        const _: () = {
            #private::submit! {
                #private::OnnxOp {
                    domain: #domain,
                    name: #name,
                    since: #since,
                    lowering: #lowering,
                    place: #private::SourcePlace {
                        file: #private::file!(),
                        line: #private::line!(),
                    },
                }
            }
        };
    })
}
