//! The syntax of an op, as one line: `%sum = my.add %a, %b {…}?`.
//!
//! A line is literal except for: `%a…` for any number of values, `<name>` for the value of an
//! attribute, `type(%a)` for the type of a value, `{…}` for attributes, `{name}` for a region,
//! `[…]?` for an optional part, `[… | …]` for one of two parts.

use crate::constraint::{AttrKind, TypeConstraint};
use crate::format::{DictKeyword, Element, Format, Group};
use crate::op::{Arity, FunctionForm, OpDef};

use super::prose::float_name;

/// Returns the custom form of an op, if it has one.
pub(super) fn custom(def: &OpDef) -> Option<String> {
    def.assembly_format?;
    let format = Format::parse(def).ok()?;
    let mut line = Line {
        text: results(def),
        ..Line::default()
    };
    line.word(def.name);
    elements(def, &format.elements, &mut line);
    Some(line.text)
}

/// Returns the generic form of an op, which every op has.
pub(super) fn generic(def: &OpDef) -> String {
    let operands: Vec<_> = def
        .operands
        .iter()
        .map(|operand| value(operand.name, operand.arity))
        .collect();
    let mut text = format!("{}\"{}\"({})", results(def), def.name, operands.join(", "));
    let regions: Vec<_> = def
        .functions
        .iter()
        .filter(|function| function.form == FunctionForm::Region)
        .map(|function| format!("{{{}}}", function.name))
        .collect();
    if !regions.is_empty() {
        text += &format!(" ({})", regions.join(", "));
    }
    let attributes = def.attributes.iter().map(|attribute| {
        (
            attribute.name,
            generic_value(attribute.name, &attribute.kind),
        )
    });
    let functions = def.functions.iter().filter_map(|function| {
        let value = match function.form {
            FunctionForm::Symbol | FunctionForm::OptionalSymbol => format!("@{}", function.name),
            FunctionForm::SymbolList => format!("[@{}, …]", function.name),
            FunctionForm::Region => return None,
        };
        Some((function.name, value))
    });
    let mut entries: Vec<_> = attributes.chain(functions).collect();
    entries.sort_unstable();
    if !entries.is_empty() {
        let entries: Vec<_> = entries
            .iter()
            .map(|(name, value)| format!("{name} = {value}"))
            .collect();
        text += &format!(" {{{}}}", entries.join(", "));
    }
    let inputs: Vec<_> = (0..def.operands.len())
        .map(|index| types(def, Group::Operand(index)))
        .collect();
    let outputs: Vec<_> = (0..def.results.len())
        .map(|index| types(def, Group::Result(index)))
        .collect();
    let outputs = match (&outputs[..], def.results) {
        ([one], [result]) if result.arity == Arity::One => one.clone(),
        _ => format!("({})", outputs.join(", ")),
    };
    text + &format!(" : ({}) -> {outputs}", inputs.join(", "))
}

/// Returns `%a, %b = `, or nothing.
fn results(def: &OpDef) -> String {
    let results: Vec<_> = def
        .results
        .iter()
        .map(|result| value(result.name, result.arity))
        .collect();
    if results.is_empty() {
        String::new()
    } else {
        format!("{} = ", results.join(", "))
    }
}

fn value(name: &str, arity: Arity) -> String {
    match arity {
        Arity::One => format!("%{name}"),
        Arity::Optional => format!("[%{name}]?"),
        Arity::Variadic => format!("%{name}…"),
    }
}

fn generic_value(name: &str, kind: &AttrKind) -> String {
    match kind {
        AttrKind::Int { width: 1, .. } => format!("<{name}>"),
        AttrKind::Int { width, is_unsigned } => {
            format!("<{name}> : {}i{width}", if *is_unsigned { "u" } else { "" })
        }
        AttrKind::Enum(def) => format!("<{name}> : i{}", def.width),
        AttrKind::Float(float) => format!("<{name}> : {}", float_name(*float)),
        _ => format!("<{name}>"),
    }
}

/// Returns the types of a group: spelled if the declaration fixes them, otherwise derived from the
/// value.
fn types(def: &OpDef, group: Group) -> String {
    let (name, ty, arity) = match group {
        Group::Operand(operand) => {
            let operand = &def.operands[operand];
            (operand.name, operand.ty, operand.arity)
        }
        Group::Result(result) => {
            let result = &def.results[result];
            (result.name, result.ty, result.arity)
        }
    };
    let ty = match ty {
        TypeConstraint::Exact(spelling) => spelling.to_owned(),
        TypeConstraint::SameAs(operand) => format!("type(%{operand})"),
        TypeConstraint::OneOf(_) | TypeConstraint::Any => format!("type(%{name})"),
    };
    match arity {
        Arity::One => ty,
        Arity::Optional => format!("[{ty}]?"),
        Arity::Variadic => format!("{ty}…"),
    }
}

fn type_list(def: &OpDef, groups: &[Group]) -> String {
    let types: Vec<_> = groups.iter().map(|group| types(def, *group)).collect();
    types.join(", ")
}

/// A line under construction, with blanks where a printer of programs puts them.
#[derive(Default)]
struct Line {
    text: String,
    /// `true` if no separator goes before the next text.
    is_open: bool,
}

impl Line {
    fn word(&mut self, word: &str) {
        if !self.is_open && !self.text.is_empty() && !self.text.ends_with(' ') {
            self.text.push(' ');
        }
        self.text += word;
        self.is_open = false;
    }

    fn literal(&mut self, text: &str) {
        match text {
            ")" | "]" | ">" | "," => {
                self.text += text;
                self.is_open = false;
            }
            "(" | "[" | "<" => {
                self.word(text);
                self.is_open = true;
            }
            _ => self.word(text),
        }
    }
}

fn elements(def: &OpDef, all: &[Element], line: &mut Line) {
    all.iter().for_each(|one| element(def, one, line));
}

fn element(def: &OpDef, element: &Element, line: &mut Line) {
    match element {
        Element::Literal(text) => line.literal(text),
        Element::Operands(groups) => {
            let values: Vec<_> = groups
                .iter()
                .map(|group| {
                    let operand = &def.operands[*group];
                    value(operand.name, operand.arity)
                })
                .collect();
            if !values.is_empty() {
                line.word(&values.join(", "));
            }
        }
        Element::TypedOperands(group) => {
            let operand = &def.operands[*group];
            let ty = match operand.ty {
                TypeConstraint::Exact(spelling) => spelling.to_owned(),
                _ => format!("type(%{})", operand.name),
            };
            line.word(&match operand.arity {
                Arity::Variadic => format!("[%{} : {ty}]…", operand.name),
                _ => format!("%{} : {ty}", operand.name),
            });
        }
        Element::Attribute {
            attribute,
            is_typed,
        } => {
            let def = &def.attributes[*attribute];
            line.word(&if *is_typed {
                generic_value(def.name, &def.kind)
            } else {
                format!("<{}>", def.name)
            });
        }
        Element::Function(function) => {
            let function = &def.functions[*function];
            line.word(&match function.form {
                FunctionForm::SymbolList => format!("[@{}, …]", function.name),
                _ => format!("@{}", function.name),
            });
        }
        Element::AttrDict(DictKeyword::No) => line.word("{…}?"),
        Element::AttrDict(DictKeyword::Yes) => line.word("[attributes {…}]?"),
        Element::AttrDict(DictKeyword::Either) => line.word("[[attributes]? {…}]?"),
        Element::KeyValues(attributes) => {
            let pairs: Vec<_> = attributes
                .iter()
                .map(|attribute| {
                    let def = &def.attributes[*attribute];
                    let pair = format!("{} = <{}>", def.name, def.name);
                    match def.default {
                        Some(_) => format!("[{pair}]?"),
                        None => pair,
                    }
                })
                .collect();
            line.word(&pairs.join(", "));
        }
        Element::Pairs(attribute) => {
            line.word(&format!("{{{}}}?", def.attributes[*attribute].name));
        }
        Element::Types(lists) => {
            let first = lists.first().map_or(&[][..], |groups| &groups[..]);
            line.word(&type_list(def, first));
        }
        Element::FunctionType {
            inputs,
            results,
            is_parenthesised,
        } => {
            let outputs = type_list(def, results);
            let is_bare = !is_parenthesised
                && matches!(results[..], [Group::Result(result)] if def.results[result].arity == Arity::One);
            line.word(&if is_bare {
                format!("({}) -> {outputs}", type_list(def, inputs))
            } else {
                format!("({}) -> ({outputs})", type_list(def, inputs))
            });
        }
        Element::ResultCount(result) => {
            line.word(&format!("<number of {}>", def.results[*result].name));
        }
        Element::Region { function, .. } | Element::WholeRegion(function) => {
            line.word(&format!("{{{}}}", def.functions[*function].name));
        }
        Element::LastType(operands) => {
            let last = operands.last().map(|operand| Group::Operand(*operand));
            line.word(&type_list(def, last.as_slice()));
        }
        Element::SharedType { result, .. } => {
            line.word(&type_list(def, &[Group::Result(*result)]));
        }
        Element::Blank { .. }
        | Element::EmptyRegion { .. }
        | Element::KnownTypes { .. }
        | Element::Expect { .. } => {}
        Element::Optional {
            elements: inner, ..
        } => {
            line.word("[");
            line.is_open = true;
            elements(def, inner, line);
            line.text += "]?";
            line.is_open = false;
        }
        Element::Either { first, second, .. } => {
            let mut other = Line::default();
            elements(def, second, &mut other);
            line.word("[");
            line.is_open = true;
            elements(def, first, line);
            line.text += &if other.text.is_empty() {
                "]?".to_owned()
            } else {
                format!(" | {}]", other.text)
            };
            line.is_open = false;
        }
    }
}
