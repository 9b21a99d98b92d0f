//! Parameters that are elements of tensors, or resources, and ops for several element types.
//!
//! The kernel of such an op is an adapter, a function of tensors. It borrows the elements and calls
//! the author's function, which is instantiated for the element type of the tensors if it is
//! generic:
//!
//! ```text
//! fn relu<T>(x: &[T], #[out] y: &mut [T])                                    written
//! fn __relu(x: &DenseHostTensor, #[out] y: &mut DenseHostTensor) {           adapter
//!     let dtype = dtype_of(x);
//!     if dtype == f32::DTYPE { relu::<f32>(&elements(x)?, &mut elements_mut(y)?) } else if … else { error }
//! }
//! ```

use proc_macro2::{Delimiter, Group, Ident, Span, TokenStream, TokenTree};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::ext::IdentExt;
use syn::punctuated::Punctuated;
use syn::spanned::Spanned;
use syn::{
    Attribute, FnArg, GenericArgument, GenericParam, LitStr, Pat, PatType, ReturnType, Signature,
    Token, Type, Visibility, WherePredicate,
};

use super::marks::{Mark, MarkKind};
use super::options::OpOptions;
use crate::function::FunctionItem;
use crate::problems::Problems;
use crate::signature::types::{arguments, last_name, type_argument, ungrouped};
use crate::signature::{const_type, generic_parameters};

/// A function whose operands are elements, understood.
pub(super) struct Adapted<'a> {
    function: &'a FunctionItem,
    parameters: Vec<Parameter<'a>>,
    families: Vec<Family<'a>>,
    unsupported: Option<&'a LitStr>,
}

/// A parameter of the function.
struct Parameter<'a> {
    written: &'a PatType,
    ident: &'a Ident,
    /// The name in the adapter, which does not shadow the author's names.
    argument: Ident,
    taken: Taken,
}

/// The form in which the function takes a parameter.
enum Taken {
    /// Like a parameter of a kernel.
    AsItIs,
    /// As elements.
    Elements(Box<Elements>),
    /// As elements of this type that may share the memory of the result: `Forwarded<'_, T>`.
    Forwarded(Box<Type>),
    /// As the object of this type in a resource.
    Resource(Box<Type>),
}

impl Taken {
    /// Returns the elements, if the parameter consists of elements.
    fn elements(&self) -> Option<&Elements> {
        match self {
            Self::Elements(elements) => Some(elements),
            _ => None,
        }
    }

    /// Returns the type of the elements, if their tensor always exists before the call.
    fn told(&self) -> Option<&Type> {
        match self {
            Self::Elements(elements) if !elements.is_out && !elements.is_optional => {
                Some(&elements.element)
            }
            Self::Forwarded(element) => Some(element),
            _ => None,
        }
    }

    /// Returns the type of the elements.
    fn element(&self) -> Option<&Type> {
        match self {
            Self::Elements(elements) => Some(&elements.element),
            Self::Forwarded(element) => Some(element),
            Self::AsItIs | Self::Resource(_) => None,
        }
    }
}

/// A parameter that is elements.
struct Elements {
    /// Their type.
    element: Type,
    /// The rank, if they are taken by coordinates.
    rank: Option<TokenStream>,
    /// Whether they are those of a result.
    is_out: bool,
    /// Whether the operand may be omitted.
    is_optional: bool,
}

/// A type parameter that stands for an element type found at run time.
struct Family<'a> {
    parameter: &'a Ident,
    /// The parameter whose tensor determines the type.
    decider: usize,
    types: &'a [TokenStream],
}

/// A function of tensors in place of one of elements.
pub(super) struct Adapter {
    /// As the kernel machinery reads it.
    pub(super) function: FunctionItem,
    /// As the compiler reads it.
    pub(super) tokens: TokenStream,
}

/// Understands a function whose operands are elements; none if it has no such operand.
pub(super) fn adapt<'a>(
    function: &'a FunctionItem,
    options: &'a OpOptions,
    marks: &[Mark],
) -> syn::Result<Option<Adapted<'a>>> {
    let mut problems = Problems::default();
    let mut parameters = Vec::new();
    for (index, input) in function.signature.inputs.iter().enumerate() {
        let mark = marks.iter().find(|mark| mark.parameter == index);
        if let FnArg::Typed(written) = input
            && let Pat::Ident(pattern) = &*written.pat
            && let Some(taken) = problems.note(Taken::read(written, mark))
        {
            parameters.push(Parameter {
                written,
                ident: &pattern.ident,
                argument: format_ident!("__p{}", parameters.len(), span = Span::mixed_site()),
                taken,
            });
        }
    }
    check_forwarded(function, options, &parameters, &mut problems);
    let found = found_parameters(function, options);
    let is_adapted = parameters
        .iter()
        .any(|parameter| !matches!(parameter.taken, Taken::AsItIs));
    if found.is_empty() && !is_adapted {
        return problems.finish(None);
    }
    // What has no name or is `self` is reported by whoever reads the signature as it is.
    if parameters.len() != function.signature.inputs.len() && problems.is_empty() {
        return Ok(None);
    }
    let families = found
        .into_iter()
        .filter_map(|parameter| family(function, parameter, options, &parameters, &mut problems))
        .collect();
    problems.finish(Some(Adapted {
        function,
        parameters,
        families,
        unsupported: options.unsupported.as_ref(),
    }))
}

/// Checks `forward = x` against the parameters: each operand that it names is a `Forwarded<'_, T>`,
/// each such operand is named, and there is one result for their memory.
fn check_forwarded(
    function: &FunctionItem,
    options: &OpOptions,
    parameters: &[Parameter<'_>],
    problems: &mut Problems,
) {
    for name in &options.forward {
        let message = match parameters.iter().find(|parameter| parameter.ident == name) {
            Some(parameter) if matches!(parameter.taken, Taken::Forwarded(_)) => continue,
            Some(_) => format!(
                "take `{name}` as a `Forwarded<'_, f32>`, which tells whether the result already \
                 holds its elements"
            ),
            None => format!("there is no parameter named `{name}`"),
        };
        problems.at(name, message);
    }
    for parameter in parameters {
        if matches!(parameter.taken, Taken::Forwarded(_))
            && !options.forward.contains(parameter.ident)
        {
            problems.at(
                &parameter.written.ty,
                format!(
                    "to let the result reuse the memory of `{name}`, add `forward = {name}`",
                    name = parameter.ident
                ),
            );
        }
    }
    let Some(first) = options.forward.first() else {
        return;
    };
    if let Some(keyword) = &function.signature.asyncness {
        problems.at(
            keyword,
            "`forward` is only for synchronous functions: remove `async`",
        );
    }
    let outs: Vec<&Parameter<'_>> = parameters
        .iter()
        .filter(|parameter| is_out(parameter.written))
        .collect();
    let is_dense = |out: &Parameter<'_>| {
        out.taken.elements().is_some()
            || matches!(ungrouped(&out.written.ty), Type::Reference(reference)
                if last_name(&reference.elem).as_deref() == Some("DenseHostTensor"))
    };
    match outs.as_slice() {
        [only] if is_dense(only) => {}
        [only] => problems.at(
            &only.written.ty,
            "`forward` needs a dense result: take it as `&mut [T]`",
        ),
        [] => problems.at(
            first,
            "no result can take over the memory: take one as `#[out] y: &mut [T]`",
        ),
        [_, second, ..] => problems.at(
            &second.written.ty,
            "`forward` is only for ops with one result: this op has several",
        ),
    }
}

fn is_out(parameter: &PatType) -> bool {
    parameter
        .attrs
        .iter()
        .any(|attribute| marker(attribute) == Some("out"))
}

/// Returns the generic parameters whose values are not in a name.
pub(super) fn found_parameters<'a>(
    function: &'a FunctionItem,
    options: &OpOptions,
) -> Vec<&'a Ident> {
    let parameters = generic_parameters(function).into_iter();
    parameters
        .filter(|parameter| !options.is_named(parameter))
        .collect()
}

/// Returns the properties of a generic parameter that is determined at run time.
fn family<'a>(
    function: &'a FunctionItem,
    parameter: &'a Ident,
    options: &'a OpOptions,
    parameters: &[Parameter<'_>],
    problems: &mut Problems,
) -> Option<Family<'a>> {
    if const_type(function, parameter).is_some() {
        problems.at(
            parameter,
            format!("only the name can determine `{parameter}`: add `{{{parameter}}}` to it"),
        );
        return None;
    }
    let list = options
        .lists
        .iter()
        .find(|list| list.parameter == *parameter);
    if list.is_none() {
        problems.at(
            parameter,
            format!(
                "list the types of `{parameter}` in the options, as in `{parameter} = [f32, i32]`"
            ),
        );
    }
    let elements_of = |other: &'_ Parameter<'_>| {
        let element = other.taken.element();
        element.is_some_and(|element| is_ident(element, parameter))
    };
    let decider = parameters.iter().position(|other| {
        let told = other.taken.told();
        told.is_some_and(|element| is_ident(element, parameter))
    });
    for other in parameters.iter().filter(|other| !elements_of(other)) {
        if mentions(other.written.ty.to_token_stream(), parameter) {
            problems.at(
                &other.written.ty,
                format!(
                    "`{parameter}` is an element type: it can only be used in `TensorView<'_, \
                     {parameter}, 2>` and `&[{parameter}]`, and as `#[out]` in `TensorViewMut<'_, \
                     {parameter}, 2>` and `&mut [{parameter}]`"
                ),
            );
        }
    }
    if let ReturnType::Type(_, ty) = &function.signature.output
        && mentions(ty.to_token_stream(), parameter)
    {
        problems.at(
            ty,
            format!(
                "the type of a result cannot depend on `{parameter}`: return a `DenseHostTensor`, \
                 or take `#[out] y: &mut [{parameter}]`"
            ),
        );
    }
    if decider.is_none() {
        problems.at(
            parameter,
            format!(
                "no operand determines `{parameter}`: take an operand as `TensorView<'_, \
                 {parameter}, 2>` or `&[{parameter}]`"
            ),
        );
    }
    Some(Family {
        parameter,
        decider: decider?,
        types: &list?.values,
    })
}

fn is_ident(ty: &Type, ident: &Ident) -> bool {
    matches!(ungrouped(ty), Type::Path(path) if path.path.is_ident(ident))
}

fn mentions(tokens: TokenStream, ident: &Ident) -> bool {
    tokens.into_iter().any(|token| match token {
        TokenTree::Ident(found) => found == *ident,
        TokenTree::Group(group) => mentions(group.stream(), ident),
        _ => false,
    })
}

impl Parameter<'_> {
    /// Returns the parameter of the adapter with this name.
    fn input(&self, name: &Ident) -> TokenStream {
        let (attributes, span) = (&self.written.attrs, self.written.ty.span());
        let ty = match &self.taken {
            Taken::Elements(elements) => elements.tensor(span),
            Taken::Forwarded(_) => quote_spanned!(span=> &__tfrt::AnyRef),
            Taken::Resource(_) => quote_spanned!(span=> &__tfrt::ResourceTensor),
            Taken::AsItIs => self.written.ty.to_token_stream(),
        };
        quote_spanned!(span=> #(#attributes)* #name: #ty)
    }

    /// Returns the description of the operand in errors.
    fn operand(&self) -> String {
        let operand = self.ident.unraw().to_string();
        operand.trim_start_matches('_').to_owned()
    }
}

impl Taken {
    fn read(parameter: &PatType, mark: Option<&Mark>) -> syn::Result<Self> {
        if let Some(MarkKind::Resource(object)) = mark.map(|mark| &mark.kind) {
            return Ok(Self::Resource(object.clone()));
        }
        let ty = ungrouped(&parameter.ty);
        if last_name(ty).as_deref() == Some("Forwarded") && parameter.attrs.is_empty() {
            let element = type_argument(ty).cloned().ok_or_else(|| {
                syn::Error::new_spanned(ty, "the element type is missing: `Forwarded<'_, f32>`")
            })?;
            return Ok(Self::Forwarded(Box::new(element)));
        }
        let elements = Elements::read(parameter)?;
        Ok(elements.map_or(Self::AsItIs, |elements| Self::Elements(Box::new(elements))))
    }
}

impl Elements {
    /// Parses a parameter that consists of elements; returns `None` for others.
    fn read(parameter: &PatType) -> syn::Result<Option<Self>> {
        let mut is_out = false;
        for attribute in &parameter.attrs {
            match marker(attribute) {
                Some("out") => is_out = true,
                Some(_) => return Ok(None),
                None => {}
            }
        }
        let ty = ungrouped(&parameter.ty);
        if !is_out
            && last_name(ty).as_deref() == Some("Option")
            && let Some(inner) = type_argument(ty)
        {
            let elements = Self::of_type(ungrouped(inner), false)?;
            return Ok(elements.map(|elements| Self {
                is_optional: true,
                ..elements
            }));
        }
        Self::of_type(ty, is_out)
    }

    fn of_type(ty: &Type, is_out: bool) -> syn::Result<Option<Self>> {
        let fail = |message: &str| Err(syn::Error::new_spanned(ty, message));
        let made = |element: Type, rank| {
            Ok(Some(Self {
                element,
                rank,
                is_out,
                is_optional: false,
            }))
        };
        match last_name(ty).as_deref() {
            Some("TensorView") if is_out => {
                fail("the function fills its result: take it as a `TensorViewMut`")
            }
            Some("TensorViewMut") if !is_out => fail(
                "a function can write only to results: mark the parameter with `#[out]`, or take \
                 a `&mut DenseHostTensor`",
            ),
            Some(name @ ("TensorView" | "TensorViewMut")) => {
                let given: Vec<&GenericArgument> = arguments(ty)
                    .filter(|argument| !matches!(argument, GenericArgument::Lifetime(_)))
                    .collect();
                let [GenericArgument::Type(element), rank] = given.as_slice() else {
                    return fail(&format!(
                        "the element type and the rank are missing: `{name}<'_, f32, 2>`"
                    ));
                };
                made(element.clone(), Some(rank.to_token_stream()))
            }
            _ => match ty {
                Type::Reference(reference) => {
                    let is_mut = reference.mutability.is_some();
                    let elem = ungrouped(&reference.elem);
                    if let Some(name @ ("TensorView" | "TensorViewMut")) =
                        last_name(elem).as_deref()
                    {
                        return fail(&format!("take the `{name}` by value"));
                    }
                    let Type::Slice(slice) = elem else {
                        return Ok(None);
                    };
                    match last_name(&slice.elem).as_deref() {
                        Some("AnyRef" | "FunctionRef" | "TensorMetadata") => return Ok(None),
                        _ if is_out && !is_mut => {
                            return fail(
                                "the function fills its result: take its elements as `&mut [T]`",
                            );
                        }
                        _ if is_mut && !is_out => {
                            return fail(
                                "a function can write only to results: mark the parameter with \
                                 `#[out]`, or take a `&mut DenseHostTensor`",
                            );
                        }
                        _ => {}
                    }
                    made((*slice.elem).clone(), None)
                }
                _ => Ok(None),
            },
        }
    }

    /// Returns the type of the adapter's parameter.
    fn tensor(&self, span: Span) -> TokenStream {
        match (self.is_out, self.is_optional) {
            (true, _) => quote_spanned!(span=> &mut __tfrt::DenseHostTensor),
            (false, true) => quote_spanned!(span=> __tfrt::Option<&__tfrt::DenseHostTensor>),
            (false, false) => quote_spanned!(span=> &__tfrt::DenseHostTensor),
        }
    }
}

/// Returns the local variable for the tensor of an operand that is forwarded.
fn dense_of(index: usize) -> Ident {
    format_ident!("__g{index}", span = Span::mixed_site())
}

/// Returns the marker of this crate that an attribute is.
fn marker(attribute: &Attribute) -> Option<&'static str> {
    crate::function::MARKERS
        .iter()
        .copied()
        .find(|marker| attribute.path().is_ident(marker))
}

impl Adapted<'_> {
    /// Returns the parameters whose memory the result may take, by their indices.
    pub(super) fn forwarded(&self) -> Vec<usize> {
        let parameters = self.parameters.iter().enumerate();
        parameters
            .filter(|(_, parameter)| matches!(parameter.taken, Taken::Forwarded(_)))
            .map(|(index, _)| index)
            .collect()
    }

    /// Returns `true` if the element type is found at run time.
    pub(super) fn is_family(&self) -> bool {
        !self.families.is_empty()
    }

    /// Returns the adapter for the op of this name.
    pub(super) fn adapter(&self, name: &LitStr, index: usize) -> Adapter {
        let written = &self.function.signature;
        let ident = format_ident!(
            "__{}_{index}",
            written.ident.unraw(),
            span = written.ident.span()
        );
        let (output, is_fallible) = self.output();
        // The template of a name is not the name.
        let told = if name.value().contains('{') {
            ""
        } else {
            &name.value()
        };
        let told = LitStr::new(told, name.span());
        let read = self.parameters.iter().enumerate();
        let read = read.filter(|(_, parameter)| matches!(parameter.taken, Taken::Forwarded(_)));
        let read = read.map(|(index, parameter)| {
            let (local, argument) = (dense_of(index), &parameter.argument);
            let operand = parameter.operand();
            quote!(let #local = __tfrt::dense_of(#told, #operand, #argument)?;)
        });
        let read: TokenStream = read.collect();
        let call = self.choose(&told, is_fallible, &mut Vec::new());
        let call = quote!(#read #call);
        let mut body = Group::new(Delimiter::Brace, call);
        body.set_span(Span::call_site());
        let inputs = |name: &dyn Fn(&Parameter<'_>) -> Ident| -> Punctuated<FnArg, Token![,]> {
            let inputs = self
                .parameters
                .iter()
                .map(|parameter| parameter.input(&name(parameter)));
            inputs
                .filter_map(|input| syn::parse2::<FnArg>(input).ok())
                .collect()
        };
        let mut generics = written.generics.clone();
        let is_found = |ident: &Ident| self.families.iter().any(|family| family.parameter == ident);
        generics.params = generics
            .params
            .into_iter()
            .filter(|parameter| !matches!(parameter, GenericParam::Type(ty) if is_found(&ty.ident)))
            .collect();
        if let Some(clause) = &mut generics.where_clause {
            let kept = clause
                .predicates
                .iter()
                .filter(|predicate: &&WherePredicate| {
                    let tokens = predicate.to_token_stream();
                    !self
                        .families
                        .iter()
                        .any(|family| mentions(tokens.clone(), family.parameter))
                });
            clause.predicates = kept.cloned().collect();
        }
        let docs = self
            .function
            .attributes
            .iter()
            .filter(|attribute| attribute.path().is_ident("doc"));
        let written = FunctionItem {
            attributes: docs.cloned().collect(),
            visibility: Visibility::Inherited,
            signature: Signature {
                ident,
                generics,
                inputs: inputs(&|parameter| parameter.ident.clone()),
                output,
                ..written.clone()
            },
            body,
        };
        let signature = Signature {
            inputs: inputs(&|parameter| parameter.argument.clone()),
            ..written.signature.clone()
        };
        let tokens = FunctionItem {
            attributes: Vec::new(),
            visibility: Visibility::Inherited,
            signature,
            body: written.body.clone(),
        };
        let tokens = tokens.without_markers();
        Adapter {
            function: written,
            tokens: quote!(#[allow(clippy::all, clippy::pedantic)] #tokens),
        }
    }

    /// Returns the return type of the adapter, and whether the function may fail.
    fn output(&self) -> (ReturnType, bool) {
        let output = &self.function.signature.output;
        let span = self.function.output_span();
        let (ok, is_fallible) = match output {
            ReturnType::Default => (quote!(()), false),
            ReturnType::Type(_, ty) if last_name(ty).as_deref() == Some("Result") => (
                type_argument(ty).map_or_else(|| quote!(()), ToTokens::to_token_stream),
                true,
            ),
            ReturnType::Type(_, ty) => (ty.to_token_stream(), false),
        };
        let output = quote_spanned!(span=> -> __tfrt::Result<#ok, __tfrt::Error>);
        (
            syn::parse2(output).unwrap_or(ReturnType::Default),
            is_fallible,
        )
    }

    /// Generates the call for each combination of element types, after those that are already
    /// `chosen`.
    fn choose(
        &self,
        name: &LitStr,
        is_fallible: bool,
        chosen: &mut Vec<(Ident, TokenStream)>,
    ) -> TokenStream {
        let Some(family) = self.families.get(chosen.len()) else {
            return self.call(name, is_fallible, chosen);
        };
        let dtype = format_ident!("__dtype{}", chosen.len(), span = Span::mixed_site());
        let decider = &self.parameters[family.decider];
        let decider = match decider.taken {
            Taken::Forwarded(_) => {
                let dense = dense_of(family.decider);
                quote!(&#dense)
            }
            _ => decider.argument.to_token_stream(),
        };
        let of = |ty: &TokenStream| {
            let span = ty.span();
            quote_spanned!(span=> <#ty as __tfrt::Element>::DTYPE)
        };
        let branches: Vec<TokenStream> = family
            .types
            .iter()
            .map(|ty| {
                chosen.push((family.parameter.clone(), ty.clone()));
                let call = self.choose(name, is_fallible, chosen);
                chosen.pop();
                let condition = of(ty);
                quote!(if #dtype == #condition { #call } else)
            })
            .collect();
        let refused = match self.unsupported {
            Some(text) => quote!(__tfrt::unsupported_because(#text, #dtype)),
            None => {
                let supported = family.types.iter().map(of);
                quote!(__tfrt::unsupported(#name, #dtype, &[#(#supported),*]))
            }
        };
        quote! {
            let #dtype = __tfrt::dtype_of(#decider);
            #(#branches)* {
                __tfrt::Err(#refused)
            }
        }
    }

    /// Generates the call of the function with these element types.
    fn call(
        &self,
        name: &LitStr,
        is_fallible: bool,
        chosen: &[(Ident, TokenStream)],
    ) -> TokenStream {
        let value_of = |ident: &Ident| chosen.iter().find(|(known, _)| known == ident);
        let mut borrowed = Vec::new();
        let mut given = Vec::new();
        for (index, parameter) in self.parameters.iter().enumerate() {
            let argument = &parameter.argument;
            let (operand, span) = (parameter.operand(), parameter.written.ty.span());
            let local = format_ident!("__v{index}", span = Span::mixed_site());
            let concrete = |element: &Type| {
                let value = chosen.iter().find(|(known, _)| is_ident(element, known));
                value.map_or_else(|| element.to_token_stream(), |(_, ty)| ty.clone())
            };
            let elements = match &parameter.taken {
                Taken::AsItIs => {
                    given.push(argument.to_token_stream());
                    continue;
                }
                Taken::Resource(object) => {
                    given.push(
                        quote_spanned!(span=> __tfrt::resource::<#object>(#name, #operand, #argument)?),
                    );
                    continue;
                }
                Taken::Forwarded(element) => {
                    let (element, dense) = (concrete(element), dense_of(index));
                    let out = self
                        .parameters
                        .iter()
                        .find(|parameter| is_out(parameter.written));
                    let out = out.map(|out| &out.argument);
                    let borrowed_now = quote_spanned!(span=> __tfrt::forwarded::<#element>(#name, #operand, &#dense, &*#out)?);
                    // Before the elements of the result are borrowed to be written.
                    borrowed.insert(0, quote!(let #local = #borrowed_now;));
                    given.push(quote!(__tfrt::Forwarded::of(__tfrt::Option::as_deref(&#local))));
                    continue;
                }
                Taken::Elements(elements) => elements,
            };
            let element = concrete(&elements.element);
            let borrow = |tensor: TokenStream| match (&elements.rank, elements.is_out) {
                (Some(rank), false) => {
                    quote_spanned!(span=> __tfrt::view::<#element, #rank>(#name, #operand, #tensor)?)
                }
                (Some(rank), true) => {
                    quote_spanned!(span=> __tfrt::view_mut::<#element, #rank>(#name, #operand, #tensor)?)
                }
                (None, false) => {
                    quote_spanned!(span=> __tfrt::elements::<#element>(#name, #operand, #tensor)?)
                }
                (None, true) => {
                    quote_spanned!(span=> __tfrt::elements_mut::<#element>(#name, #operand, #tensor)?)
                }
            };
            let borrowed_now = if elements.is_optional {
                let borrow = borrow(quote!(__given));
                quote!(match #argument { __tfrt::Some(__given) => __tfrt::Some(#borrow), __tfrt::None => __tfrt::None })
            } else {
                borrow(argument.to_token_stream())
            };
            let mutable = (elements.is_out && elements.rank.is_none()).then(|| quote!(mut));
            borrowed.push(quote!(let #mutable #local = #borrowed_now;));
            given.push(
                match (&elements.rank, elements.is_out, elements.is_optional) {
                    (Some(_), ..) => quote!(#local),
                    (None, true, _) => quote!(&mut #local),
                    (None, false, true) => quote!(__tfrt::Option::as_deref(&#local)),
                    (None, false, false) => quote!(&#local),
                },
            );
        }
        let ident = &self.function.signature.ident;
        let values: Vec<TokenStream> = generic_parameters(self.function)
            .into_iter()
            .map(|parameter| match value_of(parameter) {
                Some((_, ty)) => ty.clone(),
                None => parameter.to_token_stream(),
            })
            .collect();
        let generics = (!values.is_empty()).then(|| quote!(::<#(#values),*>));
        let awaited = self.function.signature.asyncness.map(|_| quote!(.await));
        let call = quote_spanned!(ident.span()=> #ident #generics(#(#given),*) #awaited);
        let span = self.function.output_span();
        let outcome = if is_fallible {
            quote_spanned!(span=> __tfrt::Result::map_err(#call, __tfrt::IntoError::into_error))
        } else {
            quote!(__tfrt::Ok(#call))
        };
        quote!(#(#borrowed)* #outcome)
    }
}
