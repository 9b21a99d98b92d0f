//! The signature of the function, read as a kernel: what each parameter is bound to, and what the function gives.
//!
//! Types are recognised by how they are written, as macros see no more: by the last segment of a path. What is not
//! recognised is the payload of a value, and the compiler checks that it can be one.

use proc_macro2::{Span, TokenStream};
use quote::ToTokens;
use syn::visit_mut::VisitMut;
use syn::{
    Attribute, Expr, FnArg, GenericArgument, Ident, ItemFn, Lifetime, LitStr, Pat, PatType,
    PathArguments, PathSegment, ReturnType, Type,
};

use crate::problems::Problems;

/// One parameter.
#[derive(Debug)]
pub struct Parameter {
    /// The name that declarations use.
    pub name: String,
    /// Where it stands.
    pub span: Span,
    /// The type as it is written.
    pub ty: Type,
    /// What it is bound to.
    pub binding: Binding,
}

/// What a parameter is bound to.
#[derive(Debug)]
pub enum Binding {
    /// An operand.
    Operand(Operand),
    /// An attribute.
    Attribute {
        /// Its name in programs.
        name: LitStr,
        /// The type that it is read as: the type of the parameter, without a reference and with `'static` for lifetimes.
        marker: Box<Type>,
        /// The value if programs leave it out.
        default: Option<Box<Expr>>,
    },
    /// A function.
    Function {
        /// The attribute or region.
        name: LitStr,
        /// Whether it is a region.
        is_region: bool,
        /// Whether it is a list.
        is_list: bool,
        /// Whether the parameter is a reference.
        is_lent: bool,
    },
    /// A context; the name of its marker.
    Context(&'static str),
    /// The frame, of a synchronous kernel or not.
    Frame {
        /// Whether it is the frame of a synchronous kernel.
        is_sync: bool,
    },
}

/// How an operand is taken.
#[derive(Debug)]
pub enum Operand {
    /// `T`
    ByValue(Box<Type>),
    /// `&T`
    ByRef(Box<Type>),
    /// `&mut T`
    ByMut(Box<Type>),
    /// `&str`
    Text,
    /// `AnyRef` or `&AnyRef`
    Any {
        /// Whether it is the latter.
        is_lent: bool,
    },
    /// `AsyncValueRef<T>`
    Reference(Box<Type>),
    /// `&[AnyRef]`
    AnyRest,
    /// `Operands<'_, T>`
    Rest(Box<Type>),
}

/// What a function gives.
#[derive(Debug)]
pub enum Output {
    /// `()`
    Nothing,
    /// `T`
    Payload(Box<Type>),
    /// `AsyncValueRef<T>`
    Later(Box<Type>),
    /// `AnyRef`
    Any,
    /// `Vec<T>`
    PayloadTail(Box<Type>),
    /// `Vec<AsyncValueRef<T>>`
    LaterTail(Box<Type>),
    /// `Vec<AnyRef>`
    AnyTail,
    /// `(A, B)`
    Tuple(Vec<Output>),
    /// `Result<T, E>`
    Fallible {
        /// `T`
        ok: Box<Output>,
        /// The type as it is written.
        whole: Box<Type>,
    },
}

impl Operand {
    /// Whether it is all operands that remain.
    pub(crate) fn is_variadic(&self) -> bool {
        matches!(self, Self::AnyRest | Self::Rest(_))
    }

    /// Whether it is taken as a reference, which need not be available.
    pub(crate) fn is_reference(&self) -> bool {
        matches!(self, Self::Any { .. } | Self::Reference(_) | Self::AnyRest)
    }

    /// The type of its payload, if that is written.
    pub(crate) fn payload(&self) -> Option<&Type> {
        match self {
            Self::ByValue(ty)
            | Self::ByRef(ty)
            | Self::ByMut(ty)
            | Self::Reference(ty)
            | Self::Rest(ty) => Some(ty),
            Self::Text | Self::Any { .. } | Self::AnyRest => None,
        }
    }
}

impl Output {
    /// The single results, in order; a tail counts as one.
    pub(crate) fn leaves(&self) -> Vec<&Self> {
        match self {
            Self::Nothing => Vec::new(),
            Self::Tuple(parts) => parts.iter().flat_map(Self::leaves).collect(),
            Self::Fallible { ok, .. } => ok.leaves(),
            leaf => vec![leaf],
        }
    }

    /// Whether it fills all slots that remain.
    pub(crate) fn is_tail(&self) -> bool {
        matches!(
            self,
            Self::PayloadTail(_) | Self::LaterTail(_) | Self::AnyTail
        )
    }

    /// The type of its payload, if that is written.
    pub(crate) fn payload(&self) -> Option<&Type> {
        match self {
            Self::Payload(ty) | Self::Later(ty) | Self::PayloadTail(ty) | Self::LaterTail(ty) => {
                Some(ty)
            }
            _ => None,
        }
    }
}

/// Whether a type is written as the chain.
pub(crate) fn is_chain(ty: &Type) -> bool {
    last_segment(ty).is_some_and(|segment| segment.ident == "Chain" && segment.arguments.is_none())
}

/// Parses the item, which must be a function with a body.
pub(crate) fn parse_function(item: &TokenStream) -> syn::Result<ItemFn> {
    let function: ItemFn = syn::parse2(item.clone()).map_err(|error| {
        syn::Error::new(
            error.span(),
            format!("`#[tfrt_kernel]` goes on a function: {error}"),
        )
    })?;
    Ok(function)
}

/// The attributes of this crate on parameters.
const MARKERS: [&str; 3] = ["attr", "function", "region"];

fn is_marker(attribute: &Attribute) -> bool {
    MARKERS
        .iter()
        .any(|marker| attribute.path().is_ident(marker))
}

/// The function as the compiler shall see it: without our attributes on parameters.
pub(crate) fn without_markers(function: &ItemFn) -> ItemFn {
    let mut function = function.clone();
    for input in &mut function.sig.inputs {
        if let FnArg::Typed(parameter) = input {
            parameter.attrs.retain(|attribute| !is_marker(attribute));
        }
    }
    function.attrs.retain(|attribute| !is_kernel(attribute));
    function
}

/// Whether the attribute is another `#[tfrt_kernel]`, under whatever path.
pub(crate) fn is_kernel(attribute: &Attribute) -> bool {
    attribute
        .path()
        .segments
        .last()
        .is_some_and(|last| last.ident == "tfrt_kernel")
}

/// Reads the parameters.
pub(crate) fn parameters(function: &ItemFn, problems: &mut Problems) -> Vec<Parameter> {
    let mut parameters = Vec::new();
    for input in &function.sig.inputs {
        match input {
            FnArg::Receiver(receiver) => {
                problems.at(receiver, "a kernel is a free function: it has no `self`");
            }
            FnArg::Typed(parameter) => {
                if let Some(parameter) = problems.note(read_parameter(parameter)) {
                    parameters.push(parameter);
                }
            }
        }
    }
    parameters
}

fn read_parameter(parameter: &PatType) -> syn::Result<Parameter> {
    let ident = match &*parameter.pat {
        Pat::Ident(pattern) if pattern.subpat.is_none() => &pattern.ident,
        pattern => {
            return Err(syn::Error::new_spanned(
                pattern,
                "a parameter needs a name, which the declaration uses",
            ));
        }
    };
    let text = ident.to_string();
    let text = text.strip_prefix("r#").unwrap_or(&text);
    // A leading underscore says that the function does not use the parameter; programs need not know.
    let name = text.trim_start_matches('_');
    let name = if name.is_empty() { text } else { name };
    let named = LitStr::new(name, ident.span());

    let markers: Vec<&Attribute> = parameter
        .attrs
        .iter()
        .filter(|attribute| is_marker(attribute))
        .collect();
    if let Some(conditional) = parameter
        .attrs
        .iter()
        .find(|attribute| attribute.path().is_ident("cfg"))
    {
        return Err(syn::Error::new_spanned(
            conditional,
            "a kernel takes the same parameters under every configuration",
        ));
    }
    let binding = match markers.as_slice() {
        [] => by_type(&parameter.ty, named)?,
        [marker] if marker.path().is_ident("attr") => attribute(marker, &parameter.ty, named)?,
        [marker] => function_marker(marker, &parameter.ty, named)?,
        [_, second, ..] => {
            return Err(syn::Error::new_spanned(
                second,
                "a parameter has one marker: remove this one or the other",
            ));
        }
    };
    Ok(Parameter {
        name: name.to_owned(),
        span: ident.span(),
        ty: (*parameter.ty).clone(),
        binding,
    })
}

/// `#[attr]`, `#[attr("name")]`, `#[attr(name = "…", default = …)]`.
fn attribute(marker: &Attribute, ty: &Type, named: LitStr) -> syn::Result<Binding> {
    let mut name = named;
    let mut default = None;
    match &marker.meta {
        syn::Meta::Path(_) => {}
        syn::Meta::NameValue(meta) => {
            return Err(syn::Error::new_spanned(
                meta,
                "write `#[attr(\"name\")]` or `#[attr(name = \"…\", default = …)]`",
            ));
        }
        syn::Meta::List(list) => {
            if let Ok(literal) = list.parse_args::<LitStr>() {
                name = literal;
            } else {
                marker.parse_nested_meta(|meta| {
                    if meta.path.is_ident("name") {
                        name = meta.value()?.parse()?;
                    } else if meta.path.is_ident("default") {
                        default = Some(Box::new(meta.value()?.parse::<Expr>()?));
                    } else {
                        return Err(meta.error("expected `name = \"…\"` or `default = …`"));
                    }
                    Ok(())
                })?;
            }
        }
    }
    let mut bare = match ty {
        Type::Reference(reference) if reference.mutability.is_some() => {
            return Err(syn::Error::new_spanned(
                ty,
                "an attribute is a constant: take it by value or by `&`",
            ));
        }
        Type::Reference(reference) => (*reference.elem).clone(),
        ty => ty.clone(),
    };
    StaticLifetimes.visit_type_mut(&mut bare);
    Ok(Binding::Attribute {
        name,
        marker: Box::new(bare),
        default,
    })
}

/// Replaces every lifetime, written or elided in `<…>`, by `'static`: what a marker is named with.
struct StaticLifetimes;

impl VisitMut for StaticLifetimes {
    fn visit_lifetime_mut(&mut self, lifetime: &mut Lifetime) {
        *lifetime = Lifetime::new("'static", lifetime.span());
    }
}

/// `#[function]`, `#[function("name")]`, `#[region]`, `#[region("name")]`.
fn function_marker(marker: &Attribute, ty: &Type, named: LitStr) -> syn::Result<Binding> {
    let is_region = marker.path().is_ident("region");
    let given = match &marker.meta {
        syn::Meta::Path(_) => named,
        _ => marker.parse_args::<LitStr>().map_err(|error| {
            let marker = if is_region { "region" } else { "function" };
            syn::Error::new(
                error.span(),
                format!("write `#[{marker}]` or `#[{marker}(\"name\")]`"),
            )
        })?,
    };
    match by_type(ty, given)? {
        Binding::Function { is_list: true, .. } if is_region => Err(syn::Error::new_spanned(
            ty,
            "a list of functions is one of symbols: regions are taken one by one",
        )),
        Binding::Function {
            name,
            is_list,
            is_lent,
            ..
        } => Ok(Binding::Function {
            name,
            is_region,
            is_list,
            is_lent,
        }),
        _ => Err(syn::Error::new_spanned(
            ty,
            "a function is a `FunctionRef`, a `&FunctionRef` or a `&[FunctionRef]`",
        )),
    }
}

/// What a parameter without a marker is, by its type.
fn by_type(ty: &Type, name: LitStr) -> syn::Result<Binding> {
    let function = |is_list, is_lent| Binding::Function {
        name: name.clone(),
        is_region: false,
        is_list,
        is_lent,
    };
    let operand = |operand| Ok(Binding::Operand(operand));
    match ungrouped(ty) {
        Type::Reference(reference) => {
            let elem = ungrouped(&reference.elem);
            if let Type::Slice(slice) = elem {
                return match last_name(&slice.elem).as_deref() {
                    Some("AnyRef") => operand(Operand::AnyRest),
                    Some("FunctionRef") => Ok(function(true, true)),
                    _ => Err(syn::Error::new_spanned(
                        ty,
                        "no value is a slice: take all operands that remain as `Operands<'_, T>` or `&[AnyRef]`, \
                         a list that is a constant with `#[attr]`",
                    )),
                };
            }
            let known = last_name(elem);
            if let Some("KernelFrame" | "SyncKernelFrame") = known.as_deref() {
                if reference.mutability.is_none() {
                    return Err(syn::Error::new_spanned(ty, "a frame is taken as `&mut`"));
                }
                return Ok(Binding::Frame {
                    is_sync: known.as_deref() == Some("SyncKernelFrame"),
                });
            }
            if let Some(binding) = context(elem, true) {
                return unless_mut(reference, binding);
            }
            match known.as_deref() {
                Some("str") => unless_mut(reference, Binding::Operand(Operand::Text)),
                Some("AnyRef") => {
                    unless_mut(reference, Binding::Operand(Operand::Any { is_lent: true }))
                }
                Some("FunctionRef") => unless_mut(reference, function(false, true)),
                Some(name @ ("AsyncValueRef" | "Operands")) => Err(syn::Error::new_spanned(
                    ty,
                    format!("take the `{name}` by value"),
                )),
                _ => {
                    payload(elem)?;
                    let elem = Box::new(elem.clone());
                    operand(if reference.mutability.is_some() {
                        Operand::ByMut(elem)
                    } else {
                        Operand::ByRef(elem)
                    })
                }
            }
        }
        ty => {
            if let Some(binding) = context(ty, false) {
                return Ok(binding);
            }
            match last_name(ty).as_deref() {
                Some("AnyRef") => operand(Operand::Any { is_lent: false }),
                Some("FunctionRef") => Ok(function(false, false)),
                Some("Vec")
                    if type_argument(ty)
                        .is_some_and(|elem| last_name(elem).as_deref() == Some("FunctionRef")) =>
                {
                    Ok(function(true, false))
                }
                Some("AsyncValueRef") => {
                    operand(Operand::Reference(Box::new(expect_argument(ty)?)))
                }
                Some("Operands") => operand(Operand::Rest(Box::new(expect_argument(ty)?))),
                Some("KernelFrame" | "SyncKernelFrame") => {
                    Err(syn::Error::new_spanned(ty, "a frame is taken as `&mut`"))
                }
                Some("ExecutionContext" | "HostContext" | "RequestContext") => Err(
                    syn::Error::new_spanned(ty, "a context is taken as `&`, or in an `Arc`"),
                ),
                Some("Option") => Err(syn::Error::new_spanned(
                    ty,
                    "an operand is always there; one that may be left out is a `Operands<'_, T>` at the end",
                )),
                _ => {
                    payload(ty)?;
                    operand(Operand::ByValue(Box::new(ty.clone())))
                }
            }
        }
    }
}

/// The context that a type names, by reference or by value.
fn context(ty: &Type, is_lent: bool) -> Option<Binding> {
    let name = last_name(ty)?;
    let shared = if name == "Arc" {
        type_argument(ty).and_then(last_name)
    } else {
        None
    };
    let marker = match (name.as_str(), shared.as_deref(), is_lent) {
        ("ExecutionContext", _, true) => "Execution",
        ("ExecutionContext", _, false) => "OwnedExecution",
        ("HostContext", _, true) => "Host",
        ("Arc", Some("HostContext"), true) => "SharedHost",
        ("Arc", Some("HostContext"), false) => "OwnedHost",
        ("RequestContext", _, true) => "Request",
        ("Arc", Some("RequestContext"), true) => "SharedRequest",
        ("Arc", Some("RequestContext"), false) => "OwnedRequest",
        _ => return None,
    };
    Some(Binding::Context(marker))
}

fn unless_mut(reference: &syn::TypeReference, binding: Binding) -> syn::Result<Binding> {
    match reference.mutability {
        Some(mutability) => Err(syn::Error::new_spanned(
            mutability,
            "this is never changed through a kernel: take it as `&`",
        )),
        None => Ok(binding),
    }
}

/// Whether a type can be that of a payload, as far as that can be seen.
fn payload(ty: &Type) -> syn::Result<()> {
    let message = match ty {
        Type::Path(_) | Type::Macro(_) => return Ok(()),
        Type::ImplTrait(_) => {
            "name the type: instances of a generic kernel are listed, as in `T = [i32, i64]`"
        }
        Type::TraitObject(_) => "a value has one type: name it",
        Type::Tuple(_) => "no value is a tuple: take its parts as operands of their own",
        Type::Array(_) => "no value is an array: derive `Value` for a struct around it",
        Type::Reference(_) => "one `&` is enough",
        Type::Infer(_) => "name the type",
        _ => "no value is of this type: name a type that implements `Value`",
    };
    Err(syn::Error::new_spanned(ty, message))
}

/// Reads the return type.
pub(crate) fn output(return_type: &ReturnType, problems: &mut Problems) -> Output {
    match return_type {
        ReturnType::Default => Output::Nothing,
        ReturnType::Type(_, ty) => problems
            .note(read_output(ty, Nesting::Whole))
            .unwrap_or(Output::Nothing),
    }
}

/// What may be inside what.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Nesting {
    Whole,
    InTuple,
    InResult,
    InResultInTuple,
}

fn read_output(ty: &Type, nesting: Nesting) -> syn::Result<Output> {
    let is_inside_tuple = matches!(nesting, Nesting::InTuple | Nesting::InResultInTuple);
    match ungrouped(ty) {
        Type::Tuple(tuple) if tuple.elems.is_empty() && !is_inside_tuple => Ok(Output::Nothing),
        Type::Tuple(tuple) if is_inside_tuple => Err(syn::Error::new_spanned(
            tuple,
            "results are a flat tuple: each of its parts is one result",
        )),
        Type::Tuple(tuple) => read_tuple(tuple, nesting),
        Type::Reference(reference) => Err(syn::Error::new_spanned(
            reference,
            "a result is owned: return the value, or take and return an `AnyRef` to pass an operand on",
        )),
        Type::ImplTrait(ty) => Err(syn::Error::new_spanned(
            ty,
            "name the type; what finishes later is an `async fn`",
        )),
        Type::Never(ty) => Err(syn::Error::new_spanned(
            ty,
            "a kernel returns: write the types of its results, or no type if it has none",
        )),
        ty => match last_name(ty).as_deref() {
            Some("Result") => read_result(ty, nesting),
            Some("Option") => Err(syn::Error::new_spanned(
                ty,
                "a result is always there: return a `Result`",
            )),
            Some("AnyRef") => Ok(Output::Any),
            Some("AsyncValueRef") => Ok(Output::Later(Box::new(expect_argument(ty)?))),
            Some("Vec") => {
                let elem = expect_argument(ty)?;
                Ok(match last_name(&elem).as_deref() {
                    Some("AnyRef") => Output::AnyTail,
                    Some("AsyncValueRef") => Output::LaterTail(Box::new(expect_argument(&elem)?)),
                    _ => Output::PayloadTail(Box::new(elem)),
                })
            }
            _ => {
                payload(ty)?;
                Ok(Output::Payload(Box::new(ty.clone())))
            }
        },
    }
}

fn read_tuple(tuple: &syn::TypeTuple, nesting: Nesting) -> syn::Result<Output> {
    let nesting = if nesting == Nesting::Whole {
        Nesting::InTuple
    } else {
        Nesting::InResultInTuple
    };
    let mut problems = Problems::default();
    let mut parts = Vec::new();
    for elem in &tuple.elems {
        if let Some(part) = problems.note(read_output(elem, nesting)) {
            if parts.last().is_some_and(Output::is_tail) {
                problems.at(elem, "a `Vec` fills all results that remain: it comes last");
            }
            parts.push(part);
        }
    }
    if tuple.elems.len() > 8 {
        problems.at(
            tuple,
            "a tuple of results has at most 8 parts; return a `Vec<AnyRef>` for more",
        );
    }
    problems.finish(Output::Tuple(parts))
}

fn read_result(ty: &Type, nesting: Nesting) -> syn::Result<Output> {
    if matches!(nesting, Nesting::InResult | Nesting::InResultInTuple) {
        return Err(syn::Error::new_spanned(
            ty,
            "a result fails once: one `Result` is enough",
        ));
    }
    let nesting = if nesting == Nesting::Whole {
        Nesting::InResult
    } else {
        Nesting::InResultInTuple
    };
    let ok = match type_argument(ty) {
        Some(ok) => read_output(ok, nesting)?,
        None if nesting == Nesting::InResult => Output::Nothing,
        None => {
            return Err(syn::Error::new_spanned(
                ty,
                "say what the `Result` holds if nothing fails: `Result<T>`",
            ));
        }
    };
    if nesting == Nesting::InResultInTuple && ok.is_tail() {
        return Err(syn::Error::new_spanned(
            ty,
            "a `Vec` cannot fail on its own: put the whole tuple into the `Result`",
        ));
    }
    Ok(Output::Fallible {
        ok: Box::new(ok),
        whole: Box::new(ty.clone()),
    })
}

/// The type without the invisible groups that macros leave, and without parentheses.
fn ungrouped(ty: &Type) -> &Type {
    match ty {
        Type::Group(group) => ungrouped(&group.elem),
        Type::Paren(paren) => ungrouped(&paren.elem),
        ty => ty,
    }
}

fn last_segment(ty: &Type) -> Option<&PathSegment> {
    match ungrouped(ty) {
        Type::Path(path) if path.qself.is_none() => path.path.segments.last(),
        _ => None,
    }
}

fn last_name(ty: &Type) -> Option<String> {
    last_segment(ty).map(|segment| segment.ident.to_string())
}

/// The first type between the angle brackets.
fn type_argument(ty: &Type) -> Option<&Type> {
    let PathArguments::AngleBracketed(arguments) = &last_segment(ty)?.arguments else {
        return None;
    };
    arguments.args.iter().find_map(|argument| match argument {
        GenericArgument::Type(ty) => Some(ty),
        _ => None,
    })
}

fn expect_argument(ty: &Type) -> syn::Result<Type> {
    type_argument(ty).cloned().ok_or_else(|| {
        let written = ty.to_token_stream().to_string();
        syn::Error::new_spanned(ty, format!("say of what: `{written}<T>`"))
    })
}

/// The generic parameters that need a list of values.
pub(crate) fn generic_parameters(function: &ItemFn) -> Vec<&Ident> {
    let generics = &function.sig.generics;
    generics
        .params
        .iter()
        .filter_map(|parameter| match parameter {
            syn::GenericParam::Type(parameter) => Some(&parameter.ident),
            syn::GenericParam::Const(parameter) => Some(&parameter.ident),
            syn::GenericParam::Lifetime(_) => None,
        })
        .collect()
}

/// The type of a const parameter.
pub(crate) fn const_type<'a>(function: &'a ItemFn, name: &Ident) -> Option<&'a Type> {
    function
        .sig
        .generics
        .const_params()
        .find(|parameter| parameter.ident == *name)
        .map(|parameter| &parameter.ty)
}
