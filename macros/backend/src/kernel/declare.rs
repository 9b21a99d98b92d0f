//! The declaration: names, order and positions of all parts that programs see.

mod default;

mod raw;

use std::collections::BTreeMap;

use proc_macro2::Span;
use syn::ext::IdentExt;
use syn::spanned::Spanned;
use syn::{Attribute, Ident, LitStr};
use tfrt_ods::{Arity, FunctionForm, OpTraits};

use crate::doc;
use crate::function::FunctionItem;
use crate::kernel::rules;
use crate::kernel::{
    self, AttributeEntry, Bound, Declaration, Form, FunctionEntry, Marker, OperandEntry,
    ResultEntry,
};
use crate::options::{AttributeNames, AttributeType, Flag, Options, RawType, RawValue};
use crate::problems::{Problems, did_you_mean};
use crate::signature::types::is_chain;
use crate::signature::{Binding, FunctionBinding, Operand, Output, Parameter};
use default::{absent, read_default};

/// Returns the parameters with their positions, and the declaration.
pub(super) fn declare(
    options: &Options,
    form: Form,
    function: &FunctionItem,
    parameters: Vec<Parameter>,
    output: &Output,
    problems: &mut Problems,
) -> (Vec<Bound>, Declaration) {
    let mut names = Names::default();
    let has_added_chain = adds_chain(options, form, &parameters, output);
    let (summary, description) = doc::summary_and_description(&function.attributes);
    let mut declaration = Declaration {
        summary,
        description,
        operands: Vec::new(),
        attributes: Vec::new(),
        functions: Vec::new(),
        results: Vec::new(),
        traits: traits(options, form, &parameters, has_added_chain),
        effect: effect(options),
        reads: options.reads.as_ref().map(LitStr::value),
        format: options.format.clone(),
        verify: options.verify.clone(),
        fold: options.fold.clone(),
        has_added_chain,
    };
    if form.is_raw() {
        raw::raw_parts(options, &mut declaration, &mut names, problems);
        rules::check(&declaration, &[], output, &names, problems);
        return (Vec::new(), declaration);
    }
    attributes(&parameters, &mut declaration, &mut names, problems);
    functions(&parameters, &mut declaration, &mut names, problems);
    preallocated(&parameters, &mut declaration, &mut names, problems);
    let parameters = bound(parameters, &mut declaration, form, &mut names, problems);
    results(
        options,
        function,
        output,
        &mut declaration,
        &mut names,
        problems,
    );
    rules::check(&declaration, &parameters, output, &names, problems);
    (parameters, declaration)
}

/// Returns the declaration of an op without a kernel: the options and the doc comment contain all
/// of it.
pub(crate) fn declare_op(
    options: &Options,
    attributes: &[Attribute],
    problems: &mut Problems,
) -> Declaration {
    let mut names = Names::default();
    let (summary, description) = doc::summary_and_description(attributes);
    let mut declaration = Declaration {
        summary,
        description,
        operands: Vec::new(),
        attributes: Vec::new(),
        functions: Vec::new(),
        results: Vec::new(),
        traits: options.traits() | attribute_names(options),
        effect: effect(options),
        reads: options.reads.as_ref().map(LitStr::value),
        format: options.format.clone(),
        verify: options.verify.clone(),
        fold: options.fold.clone(),
        has_added_chain: false,
    };
    raw::raw_parts(options, &mut declaration, &mut names, problems);
    rules::check(&declaration, &[], &Output::Nothing, &names, problems);
    declaration
}

/// Returns `true` if the kernel needs an order among others and does not handle the chain itself.
fn adds_chain(options: &Options, form: Form, parameters: &[Parameter], output: &Output) -> bool {
    let is_ordered = options.has(Flag::SideEffecting)
        || options.effect.is_some()
        || options.reads.is_some()
        || parameters
            .iter()
            .any(|parameter| kernel::is_written(&parameter.binding));
    let gives_chain = output
        .leaves()
        .into_iter()
        .any(|leaf| leaf.payload().is_some_and(is_chain));
    let handles_chain = gives_chain || parameters.iter().any(is_chain_operand);
    is_ordered
        && !handles_chain
        && options.chain_none.is_none()
        && !form.is_sync()
        && !form.is_raw()
}

fn is_chain_operand(parameter: &Parameter) -> bool {
    match &parameter.binding {
        Binding::Operand(operand) => operand.payload().is_some_and(is_chain),
        _ => false,
    }
}

fn effect(options: &Options) -> Option<String> {
    match &options.effect {
        Some(class) => Some(class.value()),
        None => options.has(Flag::SideEffecting).then(|| "io".to_owned()),
    }
}

/// Returns the traits: those that are options, and those that follow from the form and the
/// signature.
fn traits(
    options: &Options,
    form: Form,
    parameters: &[Parameter],
    has_added_chain: bool,
) -> OpTraits {
    let mut traits = options.traits() | attribute_names(options);
    let takes_all = |parameter: &Parameter| matches!(parameter.binding, Binding::AllAttributes);
    if options.attribute_names.is_none() && parameters.iter().any(takes_all) {
        traits = traits | OpTraits::ANY_ATTRIBUTES;
    }
    if form == Form::Future {
        traits = traits | OpTraits::ASYNC;
    }
    if form.is_sync() {
        traits = traits | OpTraits::SYNC;
    } else if has_added_chain {
        traits = traits | OpTraits::OPTIONAL_CHAIN;
    } else if options.chain_none.is_none() && !takes_chain(options, parameters) {
        traits = traits | OpTraits::EXTRA_CHAIN;
    }
    traits
}

/// Returns the trait that `attribute_names` stands for.
fn attribute_names(options: &Options) -> OpTraits {
    match options.attribute_names {
        Some(AttributeNames::Free(_)) => OpTraits::FREE_ATTRIBUTE_NAMES,
        Some(AttributeNames::Any(_)) => OpTraits::ANY_ATTRIBUTES,
        None => OpTraits::NONE,
    }
}

/// Returns `true` if a chain at the end would be treated like other operands.
fn takes_chain(options: &Options, parameters: &[Parameter]) -> bool {
    let takes_anything =
        |parameter: &Parameter| matches!(parameter.binding, Binding::Operand(Operand::AnyRest));
    let is_raw_chain = |value: &RawValue| match &value.ty {
        Some(RawType::Spelled(spelling)) => spelling.value() == "!tfrt.chain",
        Some(RawType::Rust(ty)) => is_chain(ty),
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
            .any(|operand| operand.arity == Arity::Variadic || is_raw_chain(operand))
}

/// The names of one declaration, to find those that are used twice.
#[derive(Default)]
pub(super) struct Names(BTreeMap<String, Span>);

impl Names {
    /// Returns the span of a part's name.
    pub(super) fn span(&self, name: &str) -> Option<Span> {
        self.0.get(name).copied()
    }

    fn add(&mut self, name: &str, span: Span, problems: &mut Problems) {
        if self.0.insert(name.to_owned(), span).is_some() {
            problems.at_span(
                span,
                format!("the name `{name}` is used twice; `results(…)` renames results"),
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
            is_optional,
            default,
        } = &parameter.binding
        {
            names.add(&name.value(), name.span(), problems);
            let default = match default {
                _ if *is_optional => Some(absent(marker)),
                Some(default) => problems.note(read_default(default, marker)),
                None => None,
            };
            declaration.attributes.push(AttributeEntry {
                name: name.value(),
                ty: AttributeType::Rust(marker.clone()),
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
        let Binding::Function(binding) = &parameter.binding else {
            continue;
        };
        let name = binding.name.value();
        names.add(&name, binding.name.span(), problems);
        let form = match (binding.is_list, binding.is_optional) {
            (true, _) => FunctionForm::SymbolList,
            (false, true) => FunctionForm::OptionalSymbol,
            (false, false) => FunctionForm::Symbol,
        };
        let (list, form) = if binding.is_region {
            (&mut regions, FunctionForm::Region)
        } else {
            (&mut declaration.functions, form)
        };
        list.push(FunctionEntry {
            name,
            form,
            callable: binding.callable.as_deref().cloned(),
        });
    }
    declaration
        .functions
        .sort_by(|left, right| left.name.cmp(&right.name));
    declaration.functions.extend(regions);
}

/// The results that are parameters: the first ones.
fn preallocated(
    parameters: &[Parameter],
    declaration: &mut Declaration,
    names: &mut Names,
    problems: &mut Problems,
) {
    for parameter in parameters {
        if let Binding::Out(ty) = &parameter.binding {
            names.add(&parameter.name, parameter.ident.span(), problems);
            let result = ResultEntry::Out(parameter.name.clone(), ty.clone());
            declaration.results.push(result);
        }
    }
}

/// Returns the parameters with their positions, and the operands.
fn bound(
    parameters: Vec<Parameter>,
    declaration: &mut Declaration,
    form: Form,
    names: &mut Names,
    problems: &mut Problems,
) -> Vec<Bound> {
    let mut bound = Vec::new();
    let mut num_outs = 0;
    for (parameter_index, parameter) in parameters.into_iter().enumerate() {
        let marker = match parameter.binding {
            Binding::Operand(operand) => {
                names.add(&parameter.name, parameter.ident.span(), problems);
                let index = declaration.operands.len();
                // Among values of one type a chain at the end is not one of them; among any it is,
                // unless it was added.
                let chain_follows = match &operand {
                    Operand::AnyRest => declaration.has_added_chain,
                    operand => !form.is_sync() && !operand.payload().is_some_and(is_chain),
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
            Binding::AllAttributes => Marker::AllAttributes,
            Binding::Function(binding) => function_marker(declaration, binding),
            Binding::Resource(ty, is_lent) => Marker::Resource(ty, is_lent),
            Binding::Out(ty) => {
                num_outs += 1;
                Marker::Out(ty, num_outs - 1)
            }
            Binding::Workspace(element) => Marker::Workspace(element),
            Binding::Context(marker) => Marker::Context(marker),
            // Reported by the check of parameters.
            Binding::Frame => continue,
        };
        bound.push(Bound {
            marker,
            span: parameter.ty.span(),
        });
    }
    bound
}

/// Returns the position of a function: functions after a list are counted from the end.
fn function_marker(declaration: &Declaration, binding: FunctionBinding) -> Marker {
    let functions = &declaration.functions;
    let name = binding.name.value();
    let position = functions
        .iter()
        .position(|function| function.name == name)
        .unwrap_or_default();
    let behind = (functions.len() - position).saturating_sub(1);
    if binding.is_list {
        return Marker::Functions {
            before: position,
            after: behind,
            is_lent: binding.is_lent,
        };
    }
    if binding.is_optional {
        return Marker::OptionalFunction(position);
    }
    let list = functions
        .iter()
        .position(|function| function.form == FunctionForm::SymbolList);
    let is_from_end = list.is_some_and(|list| list < position);
    Marker::Function {
        index: if is_from_end { behind } else { position },
        is_from_end,
        is_lent: binding.is_lent,
        callable: binding.callable,
    }
}

/// The results, with their names.
fn results(
    options: &Options,
    function: &FunctionItem,
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
    // Names beside preallocated results were reported.
    let is_miscounted = given.len() != num_results && declaration.results.is_empty();
    if let (Some((span, _)), true) = (&options.results, is_miscounted) {
        let chain = if declaration.has_added_chain {
            "; the added chain has its own name"
        } else {
            ""
        };
        let message = format!(
            "expected {num_results} names of results, found {}{chain}",
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
        let name = given
            .get(index)
            .map_or(default, |name| name.unraw().to_string());
        let span = given
            .get(index)
            .map_or_else(|| function.signature.output.span(), |name| name.span());
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
            problems.at(
                operand,
                format!("there is no operand named `{operand}`: {hint}"),
            );
            None
        });
        declaration
            .results
            .push(ResultEntry::OfOutput(name, index, alias_of));
    }
    for (result, _) in aliases {
        problems.at(
            result,
            format!("there is no result named `{result}`; `results(…)` names results"),
        );
    }
}

impl OperandEntry {
    fn name(&self) -> &str {
        match self {
            Self::OfParameter(name, _) | Self::Raw(name, _) => name,
        }
    }
}
