//! Instances of generic functions: one kernel for each combination of the listed values.

use proc_macro2::{Span, TokenStream};
use syn::spanned::Spanned;
use syn::{Ident, LitStr, Type};

use crate::function::FunctionItem;
use crate::options::{InstanceList, InstanceValue, Options};
use crate::problems::{Problems, did_you_mean};
use crate::signature;

/// One instance of a function; a function that is not generic has one without values.
#[derive(Debug)]
pub struct Instance {
    /// The name of the kernel.
    pub name: String,
    /// The span of the name.
    pub span: Span,
    /// The generic parameters.
    pub values: Vec<InstanceItem>,
}

/// A generic parameter, its type if it is a constant, and its value.
pub type InstanceItem = (Ident, Option<Type>, TokenStream);

/// A name with places for the values of parameters.
struct Template {
    /// Texts and parameters in turn: a text, then a parameter and a text, and so on.
    start: String,
    rest: Vec<(String, String)>,
}

/// Returns all instances, in the order in which the values are listed, the last parameter fastest.
pub(crate) fn instances(
    options: &Options,
    names: &[LitStr],
    function: &FunctionItem,
    problems: &mut Problems,
) -> Vec<Instance> {
    let parameters = signature::generic_parameters(function);
    let known: Vec<String> = parameters.iter().map(ToString::to_string).collect();
    for list in &options.instances {
        if !parameters.contains(&&list.parameter) {
            let name = list.parameter.to_string();
            let hint = if known.is_empty() {
                "the function is not generic".to_owned()
            } else {
                did_you_mean(&name, &known.iter().map(String::as_str).collect::<Vec<_>>())
            };
            problems.at(
                &list.parameter,
                format!("the function has no generic parameter `{name}`: {hint}"),
            );
        }
    }
    named(
        names,
        &options.instances,
        &parameters,
        |parameter, value| Some(item(function, parameter, value)),
        problems,
    )
}

/// Returns the names of an op without a kernel. Values are only used for their spelling in names.
pub(crate) fn of_declared_op(options: &Options, problems: &mut Problems) -> Vec<Instance> {
    let lists = &options.instances;
    let parameters: Vec<&Ident> = lists.iter().map(|list| &list.parameter).collect();
    named(&options.names, lists, &parameters, |_, _| None, problems)
}

/// Returns one instance for each name and each combination of values.
fn named(
    names: &[LitStr],
    lists: &[InstanceList],
    parameters: &[&Ident],
    item: impl Fn(&Ident, &InstanceValue) -> Option<InstanceItem>,
    problems: &mut Problems,
) -> Vec<Instance> {
    let known: Vec<String> = parameters.iter().map(ToString::to_string).collect();
    let mut combinations: Vec<Vec<(&Ident, &InstanceValue)>> = vec![Vec::new()];
    for parameter in parameters {
        let Some(list) = lists.iter().find(|list| list.parameter == **parameter) else {
            problems.at(
                parameter,
                format!(
                    "the values of `{parameter}` are missing: list them in the options, as in \
                     `{parameter} = [i32, i64]`"
                ),
            );
            continue;
        };
        combinations = combinations
            .iter()
            .flat_map(|combination| {
                list.values
                    .iter()
                    .map(move |value| [combination.as_slice(), &[(*parameter, value)]].concat())
            })
            .collect();
    }
    let mut instances: Vec<Instance> = Vec::new();
    for name in names {
        let Some(template) = problems.note(Template::parse(name, &known)) else {
            continue;
        };
        for combination in &combinations {
            let instance = Instance {
                name: template.fill(combination),
                span: name.span(),
                values: combination
                    .iter()
                    .filter_map(|(parameter, value)| item(parameter, value))
                    .collect(),
            };
            if instances
                .iter()
                .any(|earlier| earlier.name == instance.name)
            {
                problems.at(
                    name,
                    format!(
                        "two instances have the name `{}`: give their values different spellings",
                        instance.name
                    ),
                );
            }
            instances.push(instance);
        }
    }
    instances
}

/// Returns a generic parameter's item in an instance. Bounds that the value does not meet are
/// reported at the value.
fn item(function: &FunctionItem, parameter: &Ident, value: &InstanceValue) -> InstanceItem {
    let mut ident = parameter.clone();
    ident.set_span(value.value.span().resolved_at(parameter.span()));
    (
        ident,
        signature::const_type(function, parameter).cloned(),
        value.value.clone(),
    )
}

impl Template {
    fn parse(name: &LitStr, parameters: &[String]) -> syn::Result<Self> {
        let fail = |message: String| syn::Error::new(name.span(), message);
        let text = name.value();
        let mut pieces = text.split('{');
        let start = pieces.next().unwrap_or_default().to_owned();
        let mut rest = Vec::new();
        for piece in pieces {
            let Some((parameter, text)) = piece.split_once('}') else {
                return Err(fail(format!("`{{` without `}}` in the name `{text}`")));
            };
            if !parameters.iter().any(|known| known == parameter) {
                let known: Vec<&str> = parameters.iter().map(String::as_str).collect();
                let hint = if known.is_empty() {
                    "the function is not generic".to_owned()
                } else {
                    did_you_mean(parameter, &known)
                };
                return Err(fail(format!(
                    "the function has no generic parameter `{parameter}`: {hint}"
                )));
            }
            rest.push((parameter.to_owned(), text.to_owned()));
        }
        if let Some(missing) = parameters
            .iter()
            .find(|known| !rest.iter().any(|(parameter, _)| parameter == *known))
        {
            return Err(fail(format!(
                "the name does not distinguish the instances: add `{{{missing}}}` to it"
            )));
        }
        let fixed = rest
            .iter()
            .fold(start.clone(), |fixed, (_, text)| fixed + text);
        if let Some(odd) = fixed
            .chars()
            .find(|char| !char.is_ascii_alphanumeric() && !"._$-".contains(*char))
        {
            return Err(fail(format!(
                "`{odd}` is not allowed in the name of a kernel: use letters, digits, `_`, `$`, \
                 `-`, and dots between them"
            )));
        }
        if !start.contains('.') || start.starts_with('.') {
            return Err(fail(
                "the name of a kernel starts with its dialect: `dialect.name`".to_owned(),
            ));
        }
        Ok(Self { start, rest })
    }

    fn fill(&self, values: &[(&Ident, &InstanceValue)]) -> String {
        self.rest
            .iter()
            .fold(self.start.clone(), |name, (parameter, text)| {
                let value = values.iter().find(|(known, _)| *known == parameter);
                name + value.map_or("", |(_, value)| &value.spelling) + text
            })
    }
}
