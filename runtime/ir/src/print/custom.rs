//! The custom form of a declared op, according to its assembly format.
//!
//! It is used only if it shows everything: the declared numbers of values and regions, types that
//! the format implies or shows, attributes of the declared kinds, and no attribute without a place.

use std::borrow::Cow;
use std::collections::HashSet;

use tfrt_ods::format::{DictKeyword, Element, Format, Group};
use tfrt_ods::groups::Groups;
use tfrt_ods::instance::AttrInstance;
use tfrt_ods::{AttrDefault, AttrKind, FunctionForm, OpDef, OpTraits, TypeConstraint};

use super::attributes::{
    is_bare_identifier, print_attribute_eliding, print_attribute_without_type, print_entry,
    print_symbol,
};
use super::ops::Printer;
use super::types;
use crate::attribute::{AttrId, Attribute};
use crate::module::{Module, NameId, OpId, RegionId, ValueId};
use crate::registry::OpEntry;
use crate::types::TypeId;
use crate::verify::instance::attr_instance;

/// An op and its declaration, with the values of each declared group.
struct Op<'a> {
    module: &'a Module,
    op: OpId,
    def: &'static OpDef,
    operands: Groups,
    results: Groups,
}

impl<'a> Op<'a> {
    /// Creates the view of the op, if its numbers of operands and results fit its declaration.
    fn new(module: &'a Module, op: OpId, def: &'static OpDef) -> Option<Self> {
        let (operands, results) = (def.operand_groups(), def.result_groups());
        let fits =
            operands.accept(module.operands(op).len()) && results.accept(module.results(op).len());
        fits.then_some(Self {
            module,
            op,
            def,
            operands,
            results,
        })
    }

    fn operand_values(&self, group: usize) -> &'a [ValueId] {
        let operands = self.module.operands(self.op);
        &operands[self.operands.range(group, operands.len())]
    }

    fn group_values(&self, group: Group) -> &'a [ValueId] {
        match group {
            Group::Operand(operand) => self.operand_values(operand),
            Group::Result(result) => {
                let results = self.module.results(self.op);
                &results[self.results.range(result, results.len())]
            }
        }
    }

    fn group_types(&self, groups: &[Group]) -> Vec<TypeId> {
        groups
            .iter()
            .flat_map(|group| self.group_values(*group))
            .map(|value| self.module.value_type(*value))
            .collect()
    }

    /// Returns the values whose names the block arguments of a region have.
    fn region_values(&self, arguments: &[usize]) -> Vec<ValueId> {
        arguments
            .iter()
            .flat_map(|operand| self.operand_values(*operand))
            .copied()
            .collect()
    }

    /// Returns the region of function number `function`.
    fn region(&self, function: usize) -> Option<RegionId> {
        let before = self.def.functions[..function]
            .iter()
            .filter(|f| f.form == FunctionForm::Region)
            .count();
        self.module.regions(self.op).get(before).copied()
    }

    fn attribute(&self, attribute: usize) -> Option<AttrId> {
        self.module
            .attr(self.op, self.def.attributes[attribute].name)
    }
}

impl Printer<'_> {
    /// Prints the op in its custom form if it has one that shows everything.
    pub(super) fn custom(&mut self, op: OpId) -> bool {
        let module = self.module;
        let Some(def) = module.op_def(op) else {
            return false;
        };
        if def.traits.contains(OpTraits::PRINTED_GENERICALLY) {
            return false;
        }
        let registered = module.registry().op(def.name);
        let Some(Ok(Some(format))) = registered.map(OpEntry::format) else {
            return false;
        };
        let Some(op) = Op::new(module, op, def) else {
            return false;
        };
        let Some(others) = unshown_attributes(&op, format) else {
            return false;
        };
        if !shows_all(&op, format) {
            return false;
        }
        self.out.push_str(def.name);
        let mut spacing = Spacing {
            has_space: true,
            after_punctuation: false,
        };
        self.elements(&op, &format.elements, &others, &mut spacing);
        true
    }

    fn elements(
        &mut self,
        op: &Op<'_>,
        elements: &[Element],
        others: &[(NameId, AttrId)],
        spacing: &mut Spacing,
    ) {
        for element in elements {
            match element {
                Element::Literal(text) => spacing.literal(text, &mut self.out),
                Element::AttrDict(keyword) => {
                    self.attr_dict(others, *keyword == DictKeyword::Yes);
                    spacing.after_dictionary(others.is_empty());
                }
                Element::Pairs(attribute) => {
                    self.pairs(op, *attribute, spacing);
                }
                Element::Blank { is_written } => spacing.blank(*is_written, &mut self.out),
                Element::Optional { elements, anchor } => {
                    if is_group_present(op, elements, *anchor) {
                        self.elements(op, elements, others, spacing);
                    }
                }
                Element::Either {
                    first,
                    second,
                    anchor,
                } => {
                    let chosen = if is_group_present(op, first, *anchor) {
                        first
                    } else {
                        second
                    };
                    self.elements(op, chosen, others, spacing);
                }
                Element::EmptyRegion { .. }
                | Element::Expect { .. }
                | Element::KnownTypes { .. } => {}
                _ => {
                    if is_present(op, element)
                        || matches!(
                            element,
                            Element::FunctionType { .. }
                                | Element::Region { .. }
                                | Element::WholeRegion(_)
                        )
                    {
                        spacing.variable(&mut self.out);
                        self.variable(op, element);
                    }
                }
            }
        }
    }

    /// Prints an element that has its own text, without the blank before it.
    fn variable(&mut self, op: &Op<'_>, element: &Element) {
        let module = self.module;
        match element {
            Element::Operands(groups) => {
                let values: Vec<_> = groups
                    .iter()
                    .flat_map(|group| op.operand_values(*group))
                    .copied()
                    .collect();
                self.values(&values);
            }
            Element::TypedOperands(group) => {
                for (index, &value) in op.operand_values(*group).iter().enumerate() {
                    if index != 0 {
                        self.out.push_str(", ");
                    }
                    self.names.write_value(value, &mut self.out);
                    self.out.push_str(" : ");
                    self.out
                        .push_str(module.type_spelling(module.value_type(value)));
                }
            }
            Element::Attribute {
                attribute,
                is_typed,
            } => {
                if let Some(value) = op.attribute(*attribute) {
                    if let Some(keyword) = keyword(op, *attribute).filter(|_| !is_typed) {
                        self.out.push_str(&keyword);
                    } else if *is_typed || !is_number(&op.def.attributes[*attribute].kind) {
                        print_attribute_eliding(
                            module,
                            value,
                            self.options.elide_large_elements,
                            &mut self.out,
                        );
                    } else {
                        print_attribute_without_type(module, value, &mut self.out);
                    }
                }
            }
            Element::Function(function) => {
                if let Some(value) = module.attr(op.op, op.def.functions[*function].name) {
                    match module.attribute_flat_symbol(value) {
                        Some(name) => print_symbol(name, &mut self.out),
                        None => print_attribute_eliding(module, value, false, &mut self.out),
                    }
                }
            }
            Element::KeyValues(attributes) => {
                let mut is_first = true;
                for &attribute in attributes {
                    if let Some(value) = op.attribute(attribute) {
                        if !std::mem::take(&mut is_first) {
                            self.out.push_str(", ");
                        }
                        self.out.push_str(op.def.attributes[attribute].name);
                        self.out.push_str(" = ");
                        print_attribute_without_type(module, value, &mut self.out);
                    }
                }
            }
            Element::Types(lists) => {
                let types = lists
                    .first()
                    .map(|groups| op.group_types(groups))
                    .unwrap_or_default();
                types::spell_list(module, &mut self.out, &types);
            }
            Element::FunctionType {
                inputs,
                results,
                is_parenthesised,
            } => {
                self.out.push('(');
                types::spell_list(module, &mut self.out, &op.group_types(inputs));
                self.out.push_str(") -> ");
                let results = op.group_types(results);
                if *is_parenthesised {
                    self.out.push('(');
                    types::spell_list(module, &mut self.out, &results);
                    self.out.push(')');
                } else {
                    types::spell_results(module, &mut self.out, &results);
                }
            }
            Element::LastType(operands) => {
                let last = operands.last().map(|operand| Group::Operand(*operand));
                types::spell_list(module, &mut self.out, &op.group_types(last.as_slice()));
            }
            Element::SharedType { result, .. } => {
                let types = op.group_types(&[Group::Result(*result)]);
                types::spell_list(module, &mut self.out, &types);
            }
            Element::ResultCount(result) => self
                .out
                .push_str(&op.group_values(Group::Result(*result)).len().to_string()),
            Element::Region {
                function,
                arguments,
            } => {
                if let Some(region) = op.region(*function) {
                    if let Some(&entry) = module.blocks(region).first() {
                        let values = op.region_values(arguments);
                        for (&argument, &value) in module.block_arguments(entry).iter().zip(&values)
                        {
                            self.names.shadow(argument, value);
                        }
                    }
                    self.region(region, false);
                }
            }
            Element::WholeRegion(function) => {
                if let Some(region) = op.region(*function) {
                    self.region(region, true);
                }
            }
            _ => {}
        }
    }

    /// Prints a dictionary of pairs unless it is empty, as the reference does even if another
    /// dictionary follows.
    fn pairs(&mut self, op: &Op<'_>, attribute: usize, spacing: &mut Spacing) {
        let pairs = pairs(op, attribute);
        if pairs.is_empty() {
            return;
        }
        spacing.variable(&mut self.out);
        self.out.push('{');
        for (index, (name, value)) in pairs.iter().enumerate() {
            if index != 0 {
                self.out.push_str(", ");
            }
            print_entry(
                self.module,
                name,
                *value,
                self.options.elide_large_elements,
                &mut self.out,
            );
        }
        self.out.push('}');
    }
}

/// The placement of blanks, as in MLIR's generated printers.
struct Spacing {
    /// `true` if the next text should have a blank before it.
    has_space: bool,
    after_punctuation: bool,
}

impl Spacing {
    fn literal(&mut self, text: &str, out: &mut String) {
        let is_close = match text.chars().next() {
            Some(first) if text.len() == 1 => {
                let hugging = if self.after_punctuation {
                    ">)}],"
                } else {
                    "<>(){}[],"
                };
                hugging.contains(first)
            }
            _ => false,
        };
        if self.has_space && !is_close {
            out.push(' ');
        }
        out.push_str(text);
        self.has_space = text.len() != 1 || !"<({[".contains(text);
        self.after_punctuation = !is_bare_identifier(text);
    }

    fn variable(&mut self, out: &mut String) {
        if self.has_space || !self.after_punctuation {
            out.push(' ');
        }
        *self = Self {
            has_space: true,
            after_punctuation: false,
        };
    }

    /// Handles a blank that the format requests or suppresses.
    fn blank(&mut self, is_written: bool, out: &mut String) {
        if is_written {
            out.push(' ');
        }
        *self = Self {
            has_space: false,
            after_punctuation: true,
        };
    }

    fn after_dictionary(&mut self, is_empty: bool) {
        if !is_empty {
            *self = Self {
                has_space: true,
                after_punctuation: false,
            };
        }
    }
}

/// Returns `true` if an attribute of this kind is written without its type.
fn is_number(kind: &AttrKind) -> bool {
    matches!(kind, AttrKind::Int { .. } | AttrKind::Float(_))
}

/// Returns the keyword of the value of an enumeration, or its number if it has none.
fn keyword(op: &Op<'_>, attribute: usize) -> Option<Cow<'static, str>> {
    match (
        &op.def.attributes[attribute].kind,
        op.module.attribute(op.attribute(attribute)?),
    ) {
        (AttrKind::Enum(def), Attribute::Integer { value, .. }) => {
            let keyword = def.keyword_of(*value).map(Cow::Borrowed);
            keyword.or_else(|| Some(Cow::Owned(def.number_of(*value)?.to_string())))
        }
        _ => None,
    }
}

/// Returns `true` if a group is written. An attribute as the anchor counts if its value is not the
/// default.
fn is_group_present(op: &Op<'_>, elements: &[Element], anchor: Option<usize>) -> bool {
    match anchor.map(|anchor| &elements[anchor]) {
        None => elements.iter().any(|element| is_present(op, element)),
        Some(Element::Attribute { attribute, .. }) => {
            op.attribute(*attribute).is_some() && !has_default_value(op, *attribute)
        }
        Some(element) => is_present(op, element),
    }
}

/// Returns `true` if an attribute has its default value.
fn has_default_value(op: &Op<'_>, attribute: usize) -> bool {
    let Some(value) = op.attribute(attribute) else {
        return false;
    };
    let value = attr_instance(op.module, value);
    match op.def.attributes[attribute].default {
        None | Some(AttrDefault::Absent) => false,
        Some(AttrDefault::Bool(default)) => value == AttrInstance::Bool(default),
        Some(AttrDefault::Int(default)) => {
            matches!(value, AttrInstance::Int(value, _) if value == default)
        }
        Some(AttrDefault::Float(default)) => {
            matches!(value, AttrInstance::Float(value, _) if value.to_bits() == default.to_bits())
        }
        Some(AttrDefault::String(default)) => {
            matches!(value, AttrInstance::String(value) if value == default)
        }
        Some(AttrDefault::EmptyArray) => {
            matches!(value, AttrInstance::Array(elements) if elements.is_empty())
        }
    }
}

/// Returns `true` if an element has any text.
fn is_present(op: &Op<'_>, element: &Element) -> bool {
    match element {
        Element::Operands(groups) => groups
            .iter()
            .any(|group| !op.operand_values(*group).is_empty()),
        Element::TypedOperands(group) => !op.operand_values(*group).is_empty(),
        Element::Attribute { attribute, .. } => op.attribute(*attribute).is_some(),
        Element::Pairs(attribute) => !pairs(op, *attribute).is_empty(),
        Element::KeyValues(attributes) => attributes
            .iter()
            .any(|attribute| op.attribute(*attribute).is_some()),
        Element::Function(_) | Element::Region { .. } | Element::WholeRegion(_) => true,
        Element::Types(lists) => lists
            .iter()
            .any(|groups| !op.group_types(groups).is_empty()),
        Element::LastType(_) | Element::SharedType { .. } => true,
        Element::FunctionType {
            inputs, results, ..
        } => !op.group_types(inputs).is_empty() || !op.group_types(results).is_empty(),
        Element::ResultCount(result) => !op.group_values(Group::Result(*result)).is_empty(),
        Element::Optional {
            elements: inner,
            anchor,
        }
        | Element::Either {
            first: inner,
            anchor,
            ..
        } => is_group_present(op, inner, *anchor),
        Element::Literal(_)
        | Element::Blank { .. }
        | Element::AttrDict(_)
        | Element::EmptyRegion { .. }
        | Element::KnownTypes { .. }
        | Element::Expect { .. } => false,
    }
}

/// Returns the pairs of an array of pairs whose first members are names.
fn pairs<'a>(op: &Op<'a>, attribute: usize) -> Vec<(&'a str, AttrId)> {
    let module = op.module;
    let Some(Attribute::Array(elements)) =
        op.attribute(attribute).map(|value| module.attribute(value))
    else {
        return Vec::new();
    };
    elements
        .iter()
        .filter_map(|element| match module.attribute(*element) {
            Attribute::Array(pair) => match pair[..] {
                [name, value] => Some((module.attribute_str(name)?, value)),
                _ => None,
            },
            _ => None,
        })
        .collect()
}

/// Returns the attributes that only a dictionary can show, or `None` if the format has no
/// dictionary for them, or if an attribute shown by another element differs from its text.
fn unshown_attributes(op: &Op<'_>, format: &Format) -> Option<Vec<(NameId, AttrId)>> {
    let mut others = op.module.attributes(op.op).to_vec();
    let mut has_dictionary = false;
    let mut is_true = true;
    let mut take = |name: &str| others.retain(|(other, _)| op.module.name(*other) != name);
    format.visit(|element| match element {
        Element::Attribute { attribute, .. } => {
            let def = &op.def.attributes[*attribute];
            // Only a group can omit a missing part.
            let is_left_out = op.attribute(*attribute).is_none()
                && def.is_optional()
                && !format.elements.contains(element);
            is_true &= is_left_out || is_of_kind(op, def.name, &def.kind);
            take(def.name);
        }
        Element::KeyValues(attributes) => {
            for &attribute in attributes {
                let def = &op.def.attributes[attribute];
                is_true &= is_of_kind(op, def.name, &def.kind) || op.attribute(attribute).is_none();
                take(def.name);
            }
        }
        Element::Pairs(attribute) => {
            let def = &op.def.attributes[*attribute];
            let length = op
                .attribute(*attribute)
                .map(|value| match op.module.attribute(value) {
                    Attribute::Array(elements) => elements.len(),
                    _ => usize::MAX,
                });
            let found = pairs(op, *attribute);
            let names: std::collections::HashSet<_> = found.iter().map(|(name, _)| name).collect();
            is_true &= length == Some(found.len()) && names.len() == found.len();
            take(def.name);
        }
        Element::Function(function) => {
            let def = &op.def.functions[*function];
            let value = op
                .module
                .attr(op.op, def.name)
                .map(|value| op.module.attribute(value));
            is_true &= match (def.form, value) {
                (
                    FunctionForm::Symbol | FunctionForm::OptionalSymbol,
                    Some(Attribute::SymbolRef { nested, .. }),
                ) => nested.is_empty(),
                (FunctionForm::SymbolList, Some(Attribute::Array(_))) => true,
                _ => false,
            };
            take(def.name);
        }
        Element::SharedType { attribute, result } => {
            let name = op.def.attributes[*attribute].name;
            let value = op.module.attr(op.op, name);
            let of_result = op.group_values(Group::Result(*result)).first();
            is_true &= match (value.map(|value| op.module.attribute(value)), of_result) {
                (Some(Attribute::Type(ty)), Some(result)) => *ty == op.module.value_type(*result),
                _ => false,
            };
            take(name);
        }
        Element::AttrDict(_) => has_dictionary = true,
        _ => {}
    });
    (is_true && (has_dictionary || others.is_empty())).then_some(others)
}

fn is_of_kind(op: &Op<'_>, name: &str, kind: &AttrKind) -> bool {
    op.module
        .attr(op.op, name)
        .is_some_and(|value| tfrt_ods::verify::is_of_kind(kind, &attr_instance(op.module, value)))
}

/// Returns `true` if types and regions are those that the text represents.
fn shows_all(op: &Op<'_>, format: &Format) -> bool {
    let module = op.module;
    let regions = op
        .def
        .functions
        .iter()
        .filter(|function| function.form == FunctionForm::Region)
        .count();
    if module.regions(op.op).len() != regions
        || !module.successors(op.op).is_empty()
        || !has_implied_types(op)
    {
        return false;
    }
    let mut is_true = true;
    format.visit(|element| match element {
        Element::Types(lists) => {
            let mut types = lists.iter().map(|groups| op.group_types(groups));
            if let Some(first) = types.next() {
                is_true &= types.all(|types| types == first);
            }
        }
        Element::Region {
            function,
            arguments,
        } => {
            is_true &= op
                .region(*function)
                .is_some_and(|region| shows_region(op, region, arguments));
        }
        _ => {}
    });
    is_true
}

fn has_implied_types(op: &Op<'_>) -> bool {
    let module = op.module;
    let first_type = |name: &str| {
        let group = op
            .def
            .operands
            .iter()
            .position(|operand| operand.name == name)?;
        op.operand_values(group)
            .first()
            .map(|value| module.value_type(*value))
    };
    let fits = |constraint: TypeConstraint, values: &[ValueId]| {
        values
            .iter()
            .map(|value| module.value_type(*value))
            .all(|ty| match constraint {
                TypeConstraint::Exact(spelling) => module.type_spelling(ty) == spelling,
                TypeConstraint::SameAs(name) => first_type(name) == Some(ty),
                TypeConstraint::OneOf(_) | TypeConstraint::Any => true,
            })
    };
    op.def
        .operands
        .iter()
        .enumerate()
        .all(|(index, operand)| fits(operand.ty, op.operand_values(index)))
        && op
            .def
            .results
            .iter()
            .enumerate()
            .all(|(index, result)| fits(result.ty, op.group_values(Group::Result(index))))
}

/// Returns `true` if the block arguments of a region mirror these operands, and no two would have
/// the same name, which text cannot define twice.
fn shows_region(op: &Op<'_>, region: RegionId, arguments: &[usize]) -> bool {
    let module = op.module;
    let Some(&entry) = module.blocks(region).first() else {
        return false;
    };
    let block_arguments = module.block_arguments(entry);
    let values = op.region_values(arguments);
    let mut named = HashSet::new();
    block_arguments.len() == values.len()
        && block_arguments
            .iter()
            .zip(&values)
            .all(|(argument, value)| {
                module.value_type(*argument) == module.value_type(*value) && named.insert(*value)
            })
}
