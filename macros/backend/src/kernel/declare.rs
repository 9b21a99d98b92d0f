//! The declaration: names, order and positions of everything that programs see.

use std::collections::BTreeMap;

use proc_macro2::Span;
use quote::ToTokens;
use syn::spanned::Spanned;
use syn::{Expr, Ident, ItemFn, Lit, UnOp};

use crate::doc;
use crate::kernel::{
    AttributeDefault, AttributeEntry, Declaration, Form, FunctionEntry, Marker, OperandEntry,
    RawEntry, ResultEntry,
};
use crate::options::{Options, RawType, RawValue};
use crate::problems::{Problems, did_you_mean};
use crate::signature::{self, Binding, Operand, Output, Parameter};

/// The markers of the parameters, and the declaration.
pub(super) fn declare(
    mut options: Options,
    form: Form,
    function: &ItemFn,
    parameters: Vec<Parameter>,
    output: &Output,
    problems: &mut Problems,
) -> (Vec<(Marker, Span)>, Declaration) {
    let mut names = Names::default();
    let has_added_chain = adds_chain(&options, form, &parameters, output);
    let traits = traits(&options, form, &parameters, has_added_chain);
    let (summary, description) = doc::summary_and_description(&function.attrs);
    let mut declaration = Declaration {
        summary,
        description,
        operands: Vec::new(),
        attributes: Vec::new(),
        functions: Vec::new(),
        results: Vec::new(),
        traits,
        effect: effect(&options),
        format: options.format.take(),
        verify: options.verify.take(),
        has_added_chain,
    };
    if form.is_raw() {
        raw_parts(options, &mut declaration, &mut names, problems);
        return (Vec::new(), declaration);
    }
    attributes(&parameters, &mut declaration, &mut names, problems);
    functions(&parameters, &mut declaration, &mut names, problems);
    let markers = markers(parameters, &mut declaration, form, &mut names, problems);
    results(
        &options,
        function,
        output,
        &mut declaration,
        &mut names,
        problems,
    );
    (markers, declaration)
}

/// Whether the kernel needs an order among others and does not handle the chain itself.
fn adds_chain(options: &Options, form: Form, parameters: &[Parameter], output: &Output) -> bool {
    let is_written =
        |parameter: &Parameter| matches!(parameter.binding, Binding::Operand(Operand::ByMut(_)));
    let is_ordered = options.has("side_effecting")
        || options.effect.is_some()
        || parameters.iter().any(is_written);
    let gives_chain = output
        .leaves()
        .into_iter()
        .any(|leaf| leaf.payload().is_some_and(signature::is_chain));
    let handles_chain = gives_chain || parameters.iter().any(is_chain_operand);
    is_ordered
        && !handles_chain
        && options.chain_none.is_none()
        && !form.is_sync()
        && !form.is_raw()
}

fn is_chain_operand(parameter: &Parameter) -> bool {
    match &parameter.binding {
        Binding::Operand(operand) => operand.payload().is_some_and(signature::is_chain),
        _ => false,
    }
}

fn effect(options: &Options) -> Option<String> {
    match &options.effect {
        Some(class) => Some(class.value()),
        None => options.has("side_effecting").then(|| "io".to_owned()),
    }
}

/// The constants of `OpTraits`.
fn traits(
    options: &Options,
    form: Form,
    parameters: &[Parameter],
    has_added_chain: bool,
) -> Vec<&'static str> {
    const FLAGS: &[(&str, &str)] = &[
        ("pure", "PURE"),
        ("non_strict", "NON_STRICT"),
        ("blocking", "BLOCKING"),
        ("named_results", "NAMED_RESULTS"),
        ("isolated", "ISOLATED"),
        ("cheap", "CHEAP"),
        ("cost_attribute", "COST_ATTRIBUTE"),
        ("call", "CALL"),
    ];
    let mut traits: Vec<&str> = FLAGS
        .iter()
        .filter(|(flag, _)| options.has(flag))
        .map(|(_, name)| *name)
        .collect();
    if form.is_sync() {
        traits.push("SYNC");
    } else if has_added_chain {
        traits.push("OPTIONAL_CHAIN");
    } else if options.chain_none.is_none() && !takes_chain(options, parameters) {
        traits.push("EXTRA_CHAIN");
    }
    traits
}

/// Whether a chain at the end would be an operand like others.
fn takes_chain(options: &Options, parameters: &[Parameter]) -> bool {
    let takes_anything =
        |parameter: &Parameter| matches!(parameter.binding, Binding::Operand(Operand::AnyRest));
    let is_raw_chain = |value: &RawValue| match &value.ty {
        Some(RawType::Spelled(spelling)) => spelling.value() == "!tfrt.chain",
        Some(RawType::Rust(ty)) => signature::is_chain(ty),
        _ => false,
    };
    let raw = options
        .operands
        .as_ref()
        .map_or(&[][..], |(_, operands)| operands);
    parameters
        .iter()
        .any(|parameter| is_chain_operand(parameter) || takes_anything(parameter))
        || raw
            .iter()
            .any(|operand| operand.is_variadic || is_raw_chain(operand))
}

/// The names of one declaration, to find those that are used twice.
#[derive(Default)]
struct Names(BTreeMap<String, Span>);

impl Names {
    fn add(&mut self, name: &str, span: Span, problems: &mut Problems) {
        if self.0.insert(name.to_owned(), span).is_some() {
            problems.at_span(
                span,
                format!("`{name}` names two things; results get other names with `results(…)`"),
            );
        }
    }
}

/// The attributes, in byte order of their names.
fn attributes(
    parameters: &[Parameter],
    declaration: &mut Declaration,
    names: &mut Names,
    problems: &mut Problems,
) {
    for parameter in parameters {
        if let Binding::Attribute {
            name,
            marker,
            default,
        } = &parameter.binding
        {
            names.add(&name.value(), name.span(), problems);
            let default = default
                .as_ref()
                .and_then(|default| problems.note(read_default(default)));
            declaration.attributes.push(AttributeEntry {
                name: name.value(),
                ty: (**marker).clone(),
                default,
            });
        }
    }
    declaration
        .attributes
        .sort_by(|left, right| left.name.cmp(&right.name));
}

/// The functions: symbols in byte order of their names, then regions in the order of parameters.
fn functions(
    parameters: &[Parameter],
    declaration: &mut Declaration,
    names: &mut Names,
    problems: &mut Problems,
) {
    let mut regions = Vec::new();
    for parameter in parameters {
        if let Binding::Function {
            name,
            is_region,
            is_list,
            ..
        } = &parameter.binding
        {
            names.add(&name.value(), name.span(), problems);
            let form = if *is_list { "SymbolList" } else { "Symbol" };
            let (list, form) = if *is_region {
                (&mut regions, "Region")
            } else {
                (&mut declaration.functions, form)
            };
            list.push(FunctionEntry {
                name: name.value(),
                form,
            });
        }
    }
    declaration
        .functions
        .sort_by(|left, right| left.name.cmp(&right.name));
    declaration.functions.extend(regions);
}

/// The markers, with their positions, and the operands.
fn markers(
    parameters: Vec<Parameter>,
    declaration: &mut Declaration,
    form: Form,
    names: &mut Names,
    problems: &mut Problems,
) -> Vec<(Marker, Span)> {
    let mut markers = Vec::new();
    for (parameter_index, parameter) in parameters.into_iter().enumerate() {
        let marker = match parameter.binding {
            Binding::Operand(operand) => {
                names.add(&parameter.name, parameter.span, problems);
                let index = declaration.operands.len();
                let is_chain = operand.payload().is_some_and(signature::is_chain);
                // Among values of one type a chain at the end is not one of them; among any it is, unless it was added.
                let chain_follows = match operand {
                    Operand::AnyRest => declaration.has_added_chain,
                    _ => !form.is_sync() && !is_chain,
                };
                declaration
                    .operands
                    .push(OperandEntry::OfParameter(parameter.name, parameter_index));
                Marker::Operand(operand, index, chain_follows)
            }
            Binding::Attribute { name, marker, .. } => {
                let name = name.value();
                let index = declaration
                    .attributes
                    .iter()
                    .position(|attribute| attribute.name == name);
                Marker::Attribute(marker, index.unwrap_or_default())
            }
            Binding::Function {
                name,
                is_list,
                is_lent,
                ..
            } => function_marker(declaration, &name.value(), is_list, is_lent),
            Binding::Context(marker) => Marker::Context(marker),
            // Reported by the check of parameters.
            Binding::Frame { .. } => continue,
        };
        markers.push((marker, parameter.ty.span()));
    }
    markers
}

/// The position of a function: what stands behind a list is counted from the end.
fn function_marker(declaration: &Declaration, name: &str, is_list: bool, is_lent: bool) -> Marker {
    let functions = &declaration.functions;
    let position = functions
        .iter()
        .position(|function| function.name == name)
        .unwrap_or_default();
    let behind = (functions.len() - position).saturating_sub(1);
    if is_list {
        return Marker::Functions {
            before: position,
            after: behind,
            is_lent,
        };
    }
    let list = functions
        .iter()
        .position(|function| function.form == "SymbolList");
    let is_from_end = list.is_some_and(|list| list < position);
    Marker::Function {
        index: if is_from_end { behind } else { position },
        is_from_end,
        is_lent,
    }
}

/// The results, with their names.
fn results(
    options: &Options,
    function: &ItemFn,
    output: &Output,
    declaration: &mut Declaration,
    names: &mut Names,
    problems: &mut Problems,
) {
    let num_results = output.leaves().len();
    let given: Vec<&Ident> = options
        .results
        .iter()
        .flat_map(|(_, values)| values)
        .map(|value| &value.name)
        .collect();
    if let (Some((span, _)), true) = (&options.results, given.len() != num_results) {
        let chain = if declaration.has_added_chain {
            "; the added chain has its own"
        } else {
            ""
        };
        let message = format!(
            "named {} of results, of which there are {num_results}{chain}",
            given.len()
        );
        problems.at_span(*span, message);
    }
    let mut aliases: Vec<&(Ident, Ident)> = options.alias.iter().collect();
    for index in 0..num_results {
        let default = if num_results == 1 {
            "result".to_owned()
        } else {
            format!("result{index}")
        };
        let name = given.get(index).map_or(default, ToString::to_string);
        let span = given
            .get(index)
            .map_or_else(|| function.sig.output.span(), |name| name.span());
        names.add(&name, span, problems);
        let alias = aliases
            .iter()
            .position(|(result, _)| *result == name)
            .map(|index| aliases.remove(index));
        let alias_of = alias.and_then(|(_, operand)| {
            let operands = declaration.operands.iter().map(OperandEntry::name);
            if operands.clone().any(|name| *operand == name) {
                return Some(operand.to_string());
            }
            let known: Vec<&str> = operands.collect();
            let hint = did_you_mean(&operand.to_string(), &known);
            problems.at(operand, format!("`{operand}` is no operand: {hint}"));
            None
        });
        declaration
            .results
            .push(ResultEntry::OfOutput(name, index, alias_of));
    }
    for (result, _) in aliases {
        problems.at(
            result,
            format!("`{result}` is no result; results are named with `results(…)`"),
        );
    }
}

/// The declaration of a kernel that takes its frame, from the options.
fn raw_parts(
    options: Options,
    declaration: &mut Declaration,
    names: &mut Names,
    problems: &mut Problems,
) {
    let mut raw_entries = |values: Vec<RawValue>, problems: &mut Problems| {
        let mut entries: Vec<(String, RawEntry)> = Vec::new();
        for value in values {
            names.add(&value.name.to_string(), value.name.span(), problems);
            if entries.iter().any(|(_, entry)| entry.is_variadic) && value.is_variadic {
                problems.at(
                    &value.name,
                    "at most one is variadic: nobody could tell where the other begins",
                );
            }
            let Some(ty) = value.ty else {
                problems.at(
                    &value.name,
                    format!(
                        "say of which type: `{}: any`, `{}: \"i1\"`",
                        value.name, value.name
                    ),
                );
                continue;
            };
            let RawValue {
                name,
                is_variadic,
                is_mutated,
                is_reference,
                ..
            } = value;
            entries.push((
                name.to_string(),
                RawEntry {
                    ty,
                    is_variadic,
                    is_mutated,
                    is_reference,
                },
            ));
        }
        entries
    };
    let operands = options
        .operands
        .map_or_else(Vec::new, |(_, operands)| operands);
    let operands = raw_entries(operands, problems);
    let results = raw_entries(
        options
            .results
            .map_or_else(Vec::new, |(_, results)| results),
        problems,
    );
    declaration.operands = operands
        .into_iter()
        .map(|(name, entry)| OperandEntry::Raw(name, entry))
        .collect();
    declaration.results = results
        .into_iter()
        .map(|(name, entry)| ResultEntry::Raw(name, entry))
        .collect();

    for attribute in options
        .attrs
        .into_iter()
        .flat_map(|(_, attributes)| attributes)
    {
        let name = attribute.name.to_string();
        names.add(&name, attribute.name.span(), problems);
        let default = attribute
            .default
            .as_ref()
            .and_then(|default| problems.note(read_default(default)));
        declaration.attributes.push(AttributeEntry {
            name,
            ty: attribute.ty,
            default,
        });
    }
    declaration
        .attributes
        .sort_by(|left, right| left.name.cmp(&right.name));

    let forms = [
        (options.symbols, "Symbol"),
        (options.symbol_list, "SymbolList"),
        (options.regions, "Region"),
    ];
    for (given, form) in forms {
        // Regions stay in order behind the symbols, which are sorted.
        if form == "Region" {
            declaration
                .functions
                .sort_by(|left, right| left.name.cmp(&right.name));
        }
        for (index, name) in given.into_iter().flat_map(|(_, given)| given).enumerate() {
            if form == "SymbolList" && index > 0 {
                problems.at(
                    &name,
                    "nobody could tell two lists of functions apart: declare one",
                );
            }
            names.add(&name.to_string(), name.span(), problems);
            declaration.functions.push(FunctionEntry {
                name: name.to_string(),
                form,
            });
        }
    }
}

/// The default of an attribute: a literal, or `[]`.
fn read_default(default: &Expr) -> syn::Result<AttributeDefault> {
    let span = default.span();
    let (sign, bare) = match default {
        Expr::Unary(unary) if matches!(unary.op, UnOp::Neg(_)) => (Some(&unary.op), &*unary.expr),
        default => (None, default),
    };
    let kind = match bare {
        Expr::Lit(literal) => match &literal.lit {
            Lit::Int(_) => "Int",
            Lit::Float(_) => "Float",
            Lit::Bool(_) if sign.is_none() => "Bool",
            Lit::Str(_) if sign.is_none() => "String",
            _ => "",
        },
        Expr::Array(array) if array.elems.is_empty() && sign.is_none() => "EmptyArray",
        _ => "",
    };
    match kind {
        "" => Err(syn::Error::new_spanned(
            default,
            "a default is a number, `true`, `false`, a text, or `[]`",
        )),
        "EmptyArray" => Ok(AttributeDefault {
            kind,
            value: None,
            span,
        }),
        kind => Ok(AttributeDefault {
            kind,
            value: Some(default.to_token_stream()),
            span,
        }),
    }
}

impl OperandEntry {
    fn name(&self) -> &str {
        match self {
            Self::OfParameter(name, _) | Self::Raw(name, _) => name,
        }
    }
}
