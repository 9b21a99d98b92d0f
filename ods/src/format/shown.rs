//! Checks that the elements of a format show everything once, and every type.

use super::Group;
use crate::check::{DeclarationError, DeclarationPart};
use crate::constraint::TypeConstraint;
use crate::op::{Arity, FunctionForm, OpDef};

/// The parts that the elements so far show.
pub(super) struct Shown {
    operands: Vec<bool>,
    operand_types: Vec<bool>,
    result_types: Vec<bool>,
    attributes: Vec<bool>,
    functions: Vec<bool>,
    has_dictionary: bool,
}

impl Shown {
    /// Nothing of this declaration.
    pub(super) fn new(def: &OpDef) -> Self {
        Self {
            operands: vec![false; def.operands.len()],
            operand_types: vec![false; def.operands.len()],
            result_types: vec![false; def.results.len()],
            attributes: vec![false; def.attributes.len()],
            functions: vec![false; def.functions.len()],
            has_dictionary: false,
        }
    }

    /// Returns `true` if the operand was not shown before.
    pub(super) fn operand(&mut self, operand: usize) -> bool {
        !std::mem::replace(&mut self.operands[operand], true)
    }

    /// Returns `true` if the attribute was not shown before.
    pub(super) fn attribute(&mut self, attribute: usize) -> bool {
        !std::mem::replace(&mut self.attributes[attribute], true)
    }

    /// Returns `true` if the function was not shown before.
    pub(super) fn function(&mut self, function: usize) -> bool {
        !std::mem::replace(&mut self.functions[function], true)
    }

    /// Returns `true` if the dictionary was not shown before.
    pub(super) fn dictionary(&mut self) -> bool {
        !std::mem::replace(&mut self.has_dictionary, true)
    }

    /// Notes the types of groups.
    pub(super) fn types(&mut self, groups: &[Group]) {
        for group in groups {
            match *group {
                Group::Operand(operand) => self.operand_types[operand] = true,
                Group::Result(result) => self.result_types[result] = true,
            }
        }
    }

    /// Checks that nothing is missing.
    pub(super) fn check(&self, def: &OpDef) -> Result<(), DeclarationError> {
        let missing = |message: String| {
            Err(DeclarationError::new(
                DeclarationPart::Format(None),
                message,
            ))
        };
        for (operand, is_shown) in def.operands.iter().zip(&self.operands) {
            let name = operand.name;
            if !is_shown {
                return missing(format!("no element shows operand `{name}`"));
            }
        }
        for (operand, is_shown) in def.operands.iter().zip(&self.operand_types) {
            let name = operand.name;
            if !is_shown && !is_fixed(operand.ty) {
                return missing(format!(
                    "no element determines the type of operand `{name}`"
                ));
            }
        }
        for (result, is_shown) in def.results.iter().zip(&self.result_types) {
            let name = result.name;
            if !(*is_shown || is_fixed(result.ty) && result.arity == Arity::One) {
                return missing(format!("no element determines the type of result `{name}`"));
            }
        }
        for (attribute, is_shown) in def.attributes.iter().zip(&self.attributes) {
            let name = attribute.name;
            if !is_shown && !self.has_dictionary && attribute.default.is_none() {
                return missing(format!("no element shows attribute `{name}`"));
            }
        }
        for (function, is_shown) in def.functions.iter().zip(&self.functions) {
            let name = function.name;
            let is_attribute = function.form != FunctionForm::Region;
            if !(*is_shown || is_attribute && self.has_dictionary) {
                return missing(format!("no element shows function `{name}`"));
            }
        }
        Ok(())
    }
}

/// Returns `true` if the type follows from the declaration and the other types.
fn is_fixed(ty: TypeConstraint) -> bool {
    matches!(ty, TypeConstraint::Exact(_) | TypeConstraint::SameAs(_))
}
