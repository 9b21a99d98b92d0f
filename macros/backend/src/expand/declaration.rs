//! The declaration of a kernel, or of an op without one, as a constant.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::spanned::Spanned;
use tfrt_ods::{Arity, FunctionForm};

use super::{adapter, markers};
use crate::kernel::{
    AttributeDefault, AttributeEntry, Bound, Declaration, DefaultValue, FunctionEntry, Instance,
    KernelModel, OperandEntry, RawEntry, ResultEntry, Variant,
};
use crate::options::{AttributeType, RawType};
use crate::signature::Output;

/// The parts of a declaration that the compiler determines: the types in the signature of a kernel.
struct Source<'a> {
    parameters: &'a [Bound],
    leaves: &'a [&'a Output],
    /// The span of the return type.
    span: Span,
}

/// Returns the declaration of a kernel, as a constant.
pub(super) fn declaration(
    kernel: &KernelModel,
    variant: &Variant,
    instance: &Instance,
) -> TokenStream {
    let source = Source {
        parameters: &variant.parameters,
        leaves: &kernel.output.leaves(),
        span: kernel.output_span,
    };
    record(
        &variant.declaration,
        &source,
        preparation(variant),
        &instance.name,
    )
}

/// Returns the declaration of an op without a kernel, as a constant that has no name yet.
pub(super) fn of_declared_op(declaration: &Declaration) -> TokenStream {
    let source = Source {
        parameters: &[],
        leaves: &[],
        span: Span::call_site(),
    };
    record(declaration, &source, Vec::new(), "")
}

fn record(
    declaration: &Declaration,
    source: &Source<'_>,
    preparation: Vec<TokenStream>,
    name: &str,
) -> TokenStream {
    let Declaration {
        summary,
        description,
        has_added_chain,
        ..
    } = declaration;
    let place = quote!(__tfrt::SourcePlace {
        file: __tfrt::file!(),
        line: __tfrt::line!()
    });
    let mut fields = vec![quote!(summary: #summary)];
    if !description.is_empty() {
        fields.push(quote!(description: #description));
    }
    let mut list = |field: &str, entries: Vec<TokenStream>| {
        let field = Ident::new(field, Span::call_site());
        if !entries.is_empty() {
            fields.push(quote!(#field: &[#(#entries),*]));
        }
    };
    let chain = |chain: TokenStream| has_added_chain.then_some(chain);
    let operands = declaration
        .operands
        .iter()
        .map(|entry| operand(entry, source.parameters));
    list(
        "operands",
        operands
            .chain(chain(quote!(__tfrt::chain_operand())))
            .collect(),
    );
    list(
        "attributes",
        declaration.attributes.iter().map(attribute).collect(),
    );
    list(
        "functions",
        declaration.functions.iter().map(function).collect(),
    );
    list(
        "signatures",
        declaration.functions.iter().filter_map(signature).collect(),
    );
    let results = declaration
        .results
        .iter()
        .map(|entry| result(entry, source.leaves, source.span));
    list(
        "results",
        results
            .chain(chain(quote!(__tfrt::chain_result())))
            .collect(),
    );
    let mut traits = declaration
        .traits
        .iter()
        .map(|def| Ident::new(def.constant, Span::call_site()));
    if let Some(first) = traits.next() {
        let others = traits;
        fields.push(quote!(traits: __tfrt::OpTraits::#first #(.with(__tfrt::OpTraits::#others))*));
    }
    if let Some(class) = &declaration.effect {
        fields.push(quote!(effect: __tfrt::Effect::Ordered(#class)));
    }
    if let Some(class) = &declaration.reads {
        fields.push(quote!(effect: __tfrt::Effect::Reads(#class)));
    }
    if let Some(format) = &declaration.format {
        fields.push(quote!(assembly_format: __tfrt::Some(#format)));
    }
    if let Some(verify) = &declaration.verify {
        fields.push(quote!(verifier: __tfrt::Some(#verify)));
    }
    if let Some(fold) = &declaration.fold {
        fields.push(quote!(folder: __tfrt::Some(#fold)));
    }
    fields.extend(preparation);
    quote!(__tfrt::OpDef { #(#fields,)* place: #place, ..__tfrt::OpDef::new(#name) })
}

/// Returns the functions that prepare a call.
fn preparation(variant: &Variant) -> Vec<TokenStream> {
    let mut fields = Vec::new();
    if let Some(path) = &variant.preparation.metadata {
        let query = Ident::new("__query", Span::mixed_site());
        let asked = adapter::asked_by_query(variant, &query, path);
        let num_outs = variant.declaration.results.len();
        fields.push(
            quote!(metadata: __tfrt::Some(|#query| __tfrt::answer(__tfrt::metadata::<#num_outs>(#asked)?))),
        );
    }
    if let (Some(path), Some(element)) = (
        &variant.preparation.workspace,
        adapter::workspace_element(variant),
    ) {
        let query = Ident::new("__query", Span::mixed_site());
        let asked = adapter::asked_by_query(variant, &query, path);
        let element = markers::checked(element, "IsElement");
        fields.push(quote! {
            workspace: __tfrt::Some(|#query| {
                __tfrt::answer_bytes(__tfrt::workspace_len(#asked)?, __tfrt::size_of::<#element>())
            })
        });
    }
    fields
}

fn operand(entry: &OperandEntry, parameters: &[Bound]) -> TokenStream {
    match entry {
        OperandEntry::OfParameter(name, index) => {
            let marker = parameters.get(*index).map(|parameter| {
                let marker = markers::marker(parameter);
                quote_spanned!(parameter.span=> operand::<#marker>)
            });
            quote!(__tfrt::#marker(#name))
        }
        OperandEntry::Raw(name, entry) => {
            let RawEntry {
                is_mutated,
                is_reference,
                ..
            } = entry;
            let (ty, arity) = (raw_type(&entry.ty), arity(entry));
            quote!(__tfrt::raw_operand(#name, #ty, #arity, #is_mutated, #is_reference))
        }
    }
}

fn result(entry: &ResultEntry, leaves: &[&Output], span: Span) -> TokenStream {
    match entry {
        ResultEntry::OfOutput(name, index, alias_of) => {
            let marker = leaves
                .get(*index)
                .map(|leaf| markers::outcome(leaf, false, span));
            let alias_of = option(alias_of.as_ref().map(|operand| quote!(#operand)));
            quote_spanned!(span=> __tfrt::result::<#marker>(#name, #alias_of))
        }
        ResultEntry::Out(name, ty) => {
            let ty = markers::checked(ty, "IsPreallocated");
            quote!(__tfrt::result::<__tfrt::Payload<#ty>>(#name, __tfrt::None))
        }
        ResultEntry::Raw(name, entry) => {
            let (ty, arity) = (raw_type(&entry.ty), arity(entry));
            let alias_of = option(entry.alias_of.as_ref().map(|operand| quote!(#operand)));
            quote!(__tfrt::raw_result(#name, #ty, #arity, #alias_of))
        }
    }
}

fn function(entry: &FunctionEntry) -> TokenStream {
    let name = &entry.name;
    let form = match entry.form {
        FunctionForm::Symbol => quote!(Symbol),
        FunctionForm::OptionalSymbol => quote!(OptionalSymbol),
        FunctionForm::SymbolList => quote!(SymbolList),
        FunctionForm::Region => quote!(Region),
    };
    quote!(__tfrt::FunctionDef { name: #name, form: __tfrt::FunctionForm::#form })
}

fn signature(entry: &FunctionEntry) -> Option<TokenStream> {
    let (name, ty) = (&entry.name, entry.callable.as_ref()?);
    let ty = markers::checked(ty, "IsCallable");
    Some(quote_spanned!(ty.span()=> __tfrt::signature::<#ty>(#name)))
}

fn attribute(entry: &AttributeEntry) -> TokenStream {
    let AttributeEntry { name, ty, default } = entry;
    let ty = match ty {
        AttributeType::Rust(ty) => ty,
        AttributeType::Any => {
            return quote!(__tfrt::AttrDef::new(#name, __tfrt::AttrKind::Any));
        }
        AttributeType::AnyList => {
            let kind = quote!(__tfrt::AttrKind::Array(&__tfrt::AttrKind::Any));
            return quote!(__tfrt::AttrDef::new(#name, #kind));
        }
    };
    let span = default
        .as_ref()
        .map_or_else(|| ty.span(), |default| default.span);
    let default = option(default.as_ref().map(self::default));
    let ty = markers::attribute(ty);
    quote_spanned!(span=> __tfrt::attribute::<#ty>(#name, #default))
}

/// Returns the default of an attribute. The compiler checks whether it fits: see
/// [`super::assertions`].
pub(super) fn default(default: &AttributeDefault) -> TokenStream {
    match &default.value {
        DefaultValue::Bool(value) => quote!(__tfrt::AttrDefault::Bool(#value)),
        DefaultValue::Int(value) => quote!(__tfrt::AttrDefault::Int(#value)),
        DefaultValue::Float(value) => quote!(__tfrt::AttrDefault::Float(#value)),
        DefaultValue::String(value) => quote!(__tfrt::AttrDefault::String(#value)),
        DefaultValue::EmptyArray => quote!(__tfrt::AttrDefault::EmptyArray),
        DefaultValue::Absent => quote!(__tfrt::AttrDefault::Absent),
    }
}

fn raw_type(ty: &RawType) -> TokenStream {
    match ty {
        RawType::Any => quote!(__tfrt::TypeConstraint::Any),
        RawType::Spelled(spelling) => quote!(__tfrt::TypeConstraint::Exact(#spelling)),
        RawType::SameAs(operand) => {
            let operand = operand.to_string();
            quote!(__tfrt::TypeConstraint::SameAs(#operand))
        }
        RawType::OneOf(spellings) => quote!(__tfrt::TypeConstraint::OneOf(&[#(#spellings),*])),
        RawType::Rust(ty) => {
            let ty = markers::checked(ty, "IsValue");
            quote!(__tfrt::exactly::<#ty>())
        }
    }
}

fn arity(entry: &RawEntry) -> TokenStream {
    match entry.arity {
        Arity::One => quote!(__tfrt::Arity::One),
        Arity::Optional => quote!(__tfrt::Arity::Optional),
        Arity::Variadic => quote!(__tfrt::Arity::Variadic),
    }
}

fn option(value: Option<TokenStream>) -> TokenStream {
    value.map_or_else(
        || quote!(__tfrt::None),
        |value| quote!(__tfrt::Some(#value)),
    )
}
