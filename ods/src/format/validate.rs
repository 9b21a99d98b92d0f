//! Checks that a format fits its declaration: everything is shown once, and every type is known.

use super::DictKeyword;
use super::grammar::Parse;
use super::nodes::{MAX_PARTS, Named, Names, Node, Nodes, What};
use crate::check::{DeclarationError, attempt};
use crate::const_text::same;
use crate::constraint::{AttrKind, TypeConstraint};
use crate::op::{Arity, FunctionForm, OpDef};

/// The parts that the elements show.
struct Shown {
    operands: [bool; MAX_PARTS],
    operand_types: [bool; MAX_PARTS],
    result_types: [bool; MAX_PARTS],
    attributes: [bool; MAX_PARTS],
    functions: [bool; MAX_PARTS],
    has_dictionary: bool,
}

pub(super) const fn validate(def: &OpDef, nodes: &Nodes) -> Parse<()> {
    let mut shown = Shown {
        operands: [false; MAX_PARTS],
        operand_types: [false; MAX_PARTS],
        result_types: [false; MAX_PARTS],
        attributes: [false; MAX_PARTS],
        functions: [false; MAX_PARTS],
        has_dictionary: false,
    };
    let mut index = 0;
    while index < nodes.len() {
        attempt!(show(def, nodes, index, &mut shown));
        index += 1;
    }
    check(def, &shown)
}

/// Returns `true` if the type follows from the declaration and the other types.
const fn is_fixed(ty: TypeConstraint) -> bool {
    matches!(ty, TypeConstraint::Exact(_) | TypeConstraint::SameAs(_))
}

const fn show(def: &OpDef, nodes: &Nodes, index: usize, shown: &mut Shown) -> Parse<()> {
    let node = nodes.get(index);
    match node.what {
        What::Operands(names) => {
            let names = nodes.names(names);
            let mut num_open = 0;
            let mut index = 0;
            while index < names.len() {
                if let Named::Operand(operand) = names[index] {
                    let operand = operand as usize;
                    attempt!(show_operand(def, operand, node, shown));
                    if !matches!(def.operands[operand].arity, Arity::One) {
                        num_open += 1;
                    }
                }
                index += 1;
            }
            if num_open > 1 {
                return Err(plain("a list has two variadic operands", node));
            }
        }
        What::TypedOperands(operand) => {
            attempt!(show_operand(def, operand as usize, node, shown));
            shown.operand_types[operand as usize] = true;
        }
        What::Attribute { attribute, .. } | What::Pairs(attribute) => {
            attempt!(show_attribute(def, attribute as usize, node, shown));
        }
        What::KeyValues(names) => {
            let names = nodes.names(names);
            let mut index = 0;
            while index < names.len() {
                if let Named::Attribute(attribute) = names[index] {
                    let attribute = attribute as usize;
                    attempt!(show_attribute(def, attribute, node, shown));
                    let def = &def.attributes[attribute];
                    if !matches!(def.kind, AttrKind::Int { .. }) {
                        return Err(named("attribute `", def.name, "` is not an integer", node));
                    }
                }
                index += 1;
            }
        }
        What::Function(function) | What::WholeRegion(function) => {
            attempt!(show_function(def, function as usize, node, shown));
        }
        What::Region { function, .. } | What::EmptyRegion { function, .. } => {
            // A region may appear in each list of a group.
            shown.functions[function as usize] = true;
        }
        What::AttrDict(keyword) => {
            if shown.has_dictionary {
                return Err(plain("attributes are shown twice", node));
            }
            shown.has_dictionary = true;
            if matches!(keyword, DictKeyword::No)
                && index + 1 < nodes.len()
                && starts_with_brace(nodes.get(index + 1))
            {
                let next = nodes.get(index + 1);
                return Err(plain(
                    "this is ambiguous with the attribute dictionary: use attr-dict-with-keyword",
                    next,
                ));
            }
        }
        What::Types(groups) => give_types(nodes, groups, shown),
        What::FunctionType {
            inputs, results, ..
        } => {
            give_types(nodes, inputs, shown);
            give_types(nodes, results, shown);
        }
        What::ResultCount(result) => {
            let result = result as usize;
            let def = &def.results[result];
            if !(matches!(def.arity, Arity::Variadic) && matches!(def.ty, TypeConstraint::Exact(_)))
            {
                return Err(named(
                    "result `",
                    def.name,
                    "` is not any number of results of one type",
                    node,
                ));
            }
            shown.result_types[result] = true;
        }
        What::KnownTypes(names) => give_types(nodes, names, shown),
        What::LastType(names) => {
            give_types(nodes, names, shown);
            let names = nodes.names(names);
            let mut index = 0;
            while index < names.len() {
                if let Named::Operand(operand) = names[index] {
                    let def = &def.operands[operand as usize];
                    if !matches!(def.arity, Arity::One) {
                        return Err(named("operand `", def.name, "` is not a single one", node));
                    }
                    if index + 1 < names.len() && !matches!(def.ty, TypeConstraint::Exact(_)) {
                        return Err(named(
                            "the type of operand `",
                            def.name,
                            "` can be left out, but is not declared",
                            node,
                        ));
                    }
                }
                index += 1;
            }
        }
        What::SharedType { attribute, result } => {
            attempt!(show_attribute(def, attribute as usize, node, shown));
            let attribute = &def.attributes[attribute as usize];
            if !matches!(attribute.kind, AttrKind::Type) {
                return Err(named(
                    "attribute `",
                    attribute.name,
                    "` is not a type",
                    node,
                ));
            }
            shown.result_types[result as usize] = true;
        }
        What::Optional(_) | What::Either(..) => {
            if !is_told(def, nodes.get(index + 1)) {
                return Err(plain("no literal marks the group as present", node));
            }
        }
        What::Literal(_) | What::Blank(_) | What::Expect { .. } => {}
    }
    Ok(())
}

/// Returns `true` if the text of an element starts like a dictionary.
const fn starts_with_brace(node: &Node) -> bool {
    match node.what {
        What::Literal(text) => same(text, "{"),
        What::Region { .. } | What::WholeRegion(_) | What::Pairs(_) => true,
        _ => false,
    }
}

const fn plain(message: &'static str, node: &Node) -> DeclarationError {
    named(message, "", "", node)
}

const fn named(
    before: &'static str,
    name: &'static str,
    after: &'static str,
    node: &Node,
) -> DeclarationError {
    DeclarationError::named(before, name, after).at(node.offset as usize)
}

const fn show_operand(def: &OpDef, operand: usize, node: &Node, shown: &mut Shown) -> Parse<()> {
    if shown.operands[operand] {
        return Err(named(
            "operand `",
            def.operands[operand].name,
            "` is shown twice",
            node,
        ));
    }
    shown.operands[operand] = true;
    Ok(())
}

const fn show_attribute(
    def: &OpDef,
    attribute: usize,
    node: &Node,
    shown: &mut Shown,
) -> Parse<()> {
    if shown.attributes[attribute] {
        return Err(named(
            "attribute `",
            def.attributes[attribute].name,
            "` is shown twice",
            node,
        ));
    }
    shown.attributes[attribute] = true;
    Ok(())
}

const fn show_function(def: &OpDef, function: usize, node: &Node, shown: &mut Shown) -> Parse<()> {
    if shown.functions[function] {
        return Err(named(
            "function `",
            def.functions[function].name,
            "` is shown twice",
            node,
        ));
    }
    shown.functions[function] = true;
    Ok(())
}

/// Returns `true` if the first token of an element shows that it is present.
const fn is_told(def: &OpDef, node: &Node) -> bool {
    match node.what {
        What::Literal(_)
        | What::Operands(_)
        | What::TypedOperands(_)
        | What::Function(_)
        | What::Pairs(_)
        | What::Region { .. }
        | What::WholeRegion(_) => true,
        What::Attribute { attribute, .. } => matches!(
            def.attributes[attribute as usize].kind,
            AttrKind::String
                | AttrKind::Int { .. }
                | AttrKind::Float(_)
                | AttrKind::Array(_)
                | AttrKind::Aggregate
                | AttrKind::Dense
                | AttrKind::Enum(_)
        ),
        _ => false,
    }
}

const fn give_types(nodes: &Nodes, groups: Names, shown: &mut Shown) {
    let groups = nodes.names(groups);
    let mut index = 0;
    while index < groups.len() {
        match groups[index] {
            Named::Operand(operand) => shown.operand_types[operand as usize] = true,
            Named::Result(result) => shown.result_types[result as usize] = true,
            Named::Attribute(_) | Named::Comma => {}
        }
        index += 1;
    }
}

/// Checks that nothing is missing.
const fn check(def: &OpDef, shown: &Shown) -> Parse<()> {
    let mut index = 0;
    while index < def.operands.len() {
        if !shown.operands[index] {
            return Err(DeclarationError::named(
                "no element shows operand `",
                def.operands[index].name,
                "`",
            ));
        }
        index += 1;
    }
    let mut index = 0;
    while index < def.operands.len() {
        let operand = &def.operands[index];
        if !shown.operand_types[index] && !is_fixed(operand.ty) {
            return Err(DeclarationError::named(
                "no element determines the type of operand `",
                operand.name,
                "`",
            ));
        }
        index += 1;
    }
    let mut index = 0;
    while index < def.results.len() {
        let result = &def.results[index];
        let is_known = is_fixed(result.ty) && matches!(result.arity, Arity::One);
        if !shown.result_types[index] && !is_known {
            return Err(DeclarationError::named(
                "no element determines the type of result `",
                result.name,
                "`",
            ));
        }
        index += 1;
    }
    let mut index = 0;
    while index < def.attributes.len() {
        let attribute = &def.attributes[index];
        if !shown.attributes[index] && !shown.has_dictionary && attribute.default.is_none() {
            return Err(DeclarationError::named(
                "no element shows attribute `",
                attribute.name,
                "`",
            ));
        }
        index += 1;
    }
    let mut index = 0;
    while index < def.functions.len() {
        let function = &def.functions[index];
        let is_attribute = !matches!(function.form, FunctionForm::Region);
        let is_shown = shown.functions[index] || is_attribute && shown.has_dictionary;
        if !is_shown {
            return Err(DeclarationError::named(
                "no element shows function `",
                function.name,
                "`",
            ));
        }
        index += 1;
    }
    Ok(())
}
