//! Conversion of nodes to elements: the form of a format that parsers and printers walk.

use std::ops::Range;

use super::nodes::{Named, Names, Nodes, What};
use super::{Element, Group};

pub(super) fn build(nodes: &Nodes) -> Vec<Element> {
    elements(nodes, 0..nodes.len())
}

/// Returns the elements in a range of nodes.
fn elements(nodes: &Nodes, range: Range<usize>) -> Vec<Element> {
    let mut elements = Vec::new();
    let mut index = range.start;
    while index < range.end {
        elements.push(element(nodes, index));
        index = nodes.after(index);
    }
    elements
}

fn element(nodes: &Nodes, index: usize) -> Element {
    match nodes.get(index).what {
        What::Literal(text) => Element::Literal(text.into()),
        What::Blank(is_written) => Element::Blank { is_written },
        What::Operands(names) => Element::Operands(numbers(nodes, names)),
        What::TypedOperands(operand) => Element::TypedOperands(operand.into()),
        What::Attribute {
            attribute,
            is_typed,
        } => Element::Attribute {
            attribute: attribute.into(),
            is_typed,
        },
        What::Function(function) => Element::Function(function.into()),
        What::AttrDict(keyword) => Element::AttrDict(keyword),
        What::KeyValues(names) => Element::KeyValues(numbers(nodes, names)),
        What::Pairs(attribute) => Element::Pairs(attribute.into()),
        What::Types(names) => Element::Types(
            nodes
                .names(names)
                .split(|name| matches!(name, Named::Comma))
                .map(groups)
                .collect(),
        ),
        What::FunctionType {
            inputs,
            results,
            is_parenthesised,
        } => Element::FunctionType {
            inputs: groups(nodes.names(inputs)),
            results: groups(nodes.names(results)),
            is_parenthesised,
        },
        What::ResultCount(result) => Element::ResultCount(result.into()),
        What::KnownTypes(names) => Element::KnownTypes(numbers(nodes, names)),
        What::LastType(names) => Element::LastType(numbers(nodes, names)),
        What::SharedType { attribute, result } => Element::SharedType {
            attribute: attribute.into(),
            result: result.into(),
        },
        What::Region {
            function,
            arguments,
        } => Element::Region {
            function: function.into(),
            arguments: numbers(nodes, arguments),
        },
        What::WholeRegion(function) => Element::WholeRegion(function.into()),
        What::EmptyRegion {
            function,
            arguments,
            terminator,
        } => Element::EmptyRegion {
            function: function.into(),
            arguments: numbers(nodes, arguments),
            terminator: terminator.into(),
        },
        What::Expect { operand, what } => Element::Expect {
            operand: operand.into(),
            what: what.into(),
        },
        What::Optional(num_inner) => {
            let inner = index + 1..index + 1 + usize::from(num_inner);
            Element::Optional {
                anchor: anchor(nodes, inner.clone()),
                elements: elements(nodes, inner),
            }
        }
        What::Either(num_first, num_second) => {
            let end = index + 1 + usize::from(num_first);
            Element::Either {
                anchor: anchor(nodes, index + 1..end),
                first: elements(nodes, index + 1..end),
                second: elements(nodes, end..end + usize::from(num_second)),
            }
        }
    }
}

/// Returns the index of the anchor among the elements in a range of nodes.
fn anchor(nodes: &Nodes, range: Range<usize>) -> Option<usize> {
    let mut position = 0;
    let mut index = range.start;
    while index < range.end {
        if nodes.get(index).is_anchor {
            return Some(position);
        }
        position += 1;
        index = nodes.after(index);
    }
    None
}

/// Returns the operands or attributes that an element names.
fn numbers(nodes: &Nodes, names: Names) -> Vec<usize> {
    let names = nodes.names(names).iter();
    names
        .filter_map(|name| match *name {
            Named::Operand(number) | Named::Attribute(number) => Some(number.into()),
            Named::Result(_) | Named::Comma => None,
        })
        .collect()
}

fn groups(names: &[Named]) -> Vec<Group> {
    let names = names.iter();
    names
        .filter_map(|name| match *name {
            Named::Operand(operand) => Some(Group::Operand(operand.into())),
            Named::Result(result) => Some(Group::Result(result.into())),
            Named::Attribute(_) | Named::Comma => None,
        })
        .collect()
}
