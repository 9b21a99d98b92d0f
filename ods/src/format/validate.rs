//! Whether a format fits its declaration: everything is shown once, and every type is known.

use super::{Element, FormatError, Group, visit_all};
use crate::constraint::{AttrKind, TypeConstraint};
use crate::op::{Arity, FunctionForm, OpDef};

/// What the elements show, counted.
struct Shown {
    operands: Vec<usize>,
    operand_types: Vec<bool>,
    result_types: Vec<bool>,
    attributes: Vec<usize>,
    functions: Vec<usize>,
    dictionaries: usize,
}

pub(super) fn validate(def: &OpDef, elements: &[Element]) -> Result<(), FormatError> {
    let mut shown = Shown {
        operands: vec![0; def.operands.len()],
        operand_types: def
            .operands
            .iter()
            .map(|operand| is_fixed(operand.ty))
            .collect(),
        result_types: def
            .results
            .iter()
            .map(|result| is_fixed(result.ty) && result.arity == Arity::One)
            .collect(),
        attributes: vec![0; def.attributes.len()],
        functions: vec![0; def.functions.len()],
        dictionaries: 0,
    };
    let mut breach = None;
    visit_all(elements, &mut |element| {
        if let Err(message) = count(def, element, &mut shown) {
            breach.get_or_insert(message);
        }
    });
    match breach.map_or_else(|| check(def, &shown), Err) {
        Ok(()) => Ok(()),
        Err(message) => Err(FormatError {
            message,
            offset: None,
        }),
    }
}

/// Whether the type follows from the declaration and the other types.
fn is_fixed(ty: TypeConstraint) -> bool {
    matches!(ty, TypeConstraint::Exact(_) | TypeConstraint::SameAs(_))
}

fn count(def: &OpDef, element: &Element, shown: &mut Shown) -> Result<(), String> {
    match element {
        Element::Operands(operands) => {
            for &operand in operands {
                shown.operands[operand] += 1;
            }
            let variadic = operands
                .iter()
                .filter(|operand| def.operands[**operand].arity == Arity::Variadic)
                .count();
            if variadic > 1 {
                return Err("a list has two variadic operands".into());
            }
        }
        Element::TypedOperands(operand) => {
            shown.operands[*operand] += 1;
            shown.operand_types[*operand] = true;
        }
        Element::Attribute { attribute, .. } => shown.attributes[*attribute] += 1,
        Element::KeyValues(attributes) => {
            for &attribute in attributes {
                shown.attributes[attribute] += 1;
                if !matches!(def.attributes[attribute].kind, AttrKind::Int { .. }) {
                    return Err(format!(
                        "attribute `{}` is no integer",
                        def.attributes[attribute].name
                    ));
                }
            }
        }
        Element::Pairs(attribute) => shown.attributes[*attribute] += 1,
        Element::Function(function) => shown.functions[*function] += 1,
        Element::Region { function, .. } | Element::EmptyRegion { function, .. } => {
            shown.functions[*function] = 1;
        }
        Element::AttrDict(_) => shown.dictionaries += 1,
        Element::Types(lists) => lists.iter().for_each(|groups| give_types(groups, shown)),
        Element::FunctionType {
            inputs, results, ..
        } => {
            give_types(inputs, shown);
            give_types(results, shown);
        }
        Element::ResultCount(result) => {
            let def = &def.results[*result];
            if def.arity != Arity::Variadic || !matches!(def.ty, TypeConstraint::Exact(_)) {
                return Err(format!(
                    "result `{}` is not any number of results of one type",
                    def.name
                ));
            }
            shown.result_types[*result] = true;
        }
        Element::Optional(inner) | Element::Either(inner, _) => {
            if !inner.first().is_some_and(|first| is_told(def, first)) {
                return Err("no text tells whether a group is there".into());
            }
        }
        Element::Literal(_) | Element::Expect { .. } => {}
    }
    Ok(())
}

/// Whether the first token of an element tells that it is there.
fn is_told(def: &OpDef, element: &Element) -> bool {
    match element {
        Element::Literal(_)
        | Element::Operands(_)
        | Element::TypedOperands(_)
        | Element::Function(_)
        | Element::Pairs(_)
        | Element::Region { .. } => true,
        Element::Attribute { attribute, .. } => matches!(
            def.attributes[*attribute].kind,
            AttrKind::String
                | AttrKind::Int { .. }
                | AttrKind::Float(_)
                | AttrKind::Array(_)
                | AttrKind::Aggregate
                | AttrKind::Dense
        ),
        _ => false,
    }
}

fn give_types(groups: &[Group], shown: &mut Shown) {
    for group in groups {
        match group {
            Group::Operand(operand) => shown.operand_types[*operand] = true,
            Group::Result(result) => shown.result_types[*result] = true,
        }
    }
}

fn check(def: &OpDef, shown: &Shown) -> Result<(), String> {
    for (operand, &times) in def.operands.iter().zip(&shown.operands) {
        match times {
            1 => {}
            0 => return Err(format!("no element shows operand `{}`", operand.name)),
            _ => return Err(format!("operand `{}` is shown twice", operand.name)),
        }
    }
    for (operand, &is_known) in def.operands.iter().zip(&shown.operand_types) {
        if !is_known {
            return Err(format!(
                "no element gives the type of operand `{}`",
                operand.name
            ));
        }
    }
    for (result, &is_known) in def.results.iter().zip(&shown.result_types) {
        if !is_known {
            return Err(format!(
                "no element gives the type of result `{}`",
                result.name
            ));
        }
    }
    if shown.dictionaries > 1 {
        return Err("attributes are shown twice".into());
    }
    for (attribute, &times) in def.attributes.iter().zip(&shown.attributes) {
        if times > 1 {
            return Err(format!("attribute `{}` is shown twice", attribute.name));
        }
        if times == 0 && shown.dictionaries == 0 && attribute.default.is_none() {
            return Err(format!("no element shows attribute `{}`", attribute.name));
        }
    }
    for (function, &times) in def.functions.iter().zip(&shown.functions) {
        if times > 1 {
            return Err(format!("function `{}` is shown twice", function.name));
        }
        if times == 0 && (function.form == FunctionForm::Region || shown.dictionaries == 0) {
            return Err(format!("no element shows function `{}`", function.name));
        }
    }
    Ok(())
}
