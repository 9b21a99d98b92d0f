//! The rules about traits and effects.

use super::{Check, DeclarationError, attempt};
use crate::const_text::same;
use crate::constraint::{CHAIN_TYPE, TypeConstraint};
use crate::effect::Effect;
use crate::op::{Arity, OpDef};
use crate::traits::{OpTraits, TraitDef};

impl OpDef {
    pub(super) const fn check_traits(&self) -> Check {
        let mut index = 0;
        while index < TraitDef::all().len() {
            let def = &TraitDef::all()[index];
            let mut other = 0;
            while self.traits.contains(def.set) && other < def.excludes.len() {
                let (excluded, reason) = def.excludes[other];
                if self.traits.contains(excluded) {
                    return Err(DeclarationError::plain(reason));
                }
                other += 1;
            }
            index += 1;
        }
        let traits = self.traits;
        attempt!(self.check_attribute_names());
        if let Effect::Ordered(class) | Effect::Reads(class) = self.effect {
            if class.is_empty() {
                return Err(DeclarationError::plain(
                    "the class of the effect has no name",
                ));
            }
            if traits.contains(OpTraits::PURE) {
                return Err(DeclarationError::plain("an op with an effect is not pure"));
            }
            if traits.contains(OpTraits::EFFECT_FREE) {
                return Err(DeclarationError::plain(
                    "an op with an effect is not free of effects",
                ));
            }
        }
        if traits.contains(OpTraits::TERMINATOR) && !self.results.is_empty() {
            return Err(DeclarationError::plain(
                "an op that ends its block has no results",
            ));
        }
        let gives_chain =
            self.results.len() == 1 && is_single_chain(self.results[0].ty, self.results[0].arity);
        if traits.contains(OpTraits::CHAIN_SOURCE) && !(self.operands.is_empty() && gives_chain) {
            return Err(DeclarationError::plain(
                "a chain source takes nothing and returns a chain",
            ));
        }
        if traits.contains(OpTraits::CHAIN_MERGE) {
            let takes_anything = self.operands.len() == 1
                && matches!(self.operands[0].arity, Arity::Variadic)
                && matches!(self.operands[0].ty, TypeConstraint::Any);
            if !(takes_anything && gives_chain) {
                return Err(DeclarationError::plain(
                    "a chain merge takes any number of values of any type and returns a chain",
                ));
            }
        }
        if traits.contains(OpTraits::OPTIONAL_CHAIN) {
            let operand = self.operands.last();
            let result = self.results.last();
            let (Some(operand), Some(result)) = (operand, result) else {
                return Err(DeclarationError::plain(OPTIONAL_CHAIN_RULE));
            };
            if !(is_single_chain(operand.ty, operand.arity)
                && is_single_chain(result.ty, result.arity))
            {
                return Err(DeclarationError::plain(OPTIONAL_CHAIN_RULE));
            }
        }
        if traits.contains(OpTraits::CHOOSES)
            && (self.operands.is_empty()
                || self.functions.len() != 2
                || !traits.contains(OpTraits::FORWARDS))
        {
            return Err(DeclarationError::plain(
                "an op that chooses forwards to one of two functions, depending on its first operand",
            ));
        }
        if traits.contains(OpTraits::CONSTANT)
            && !(traits.contains(OpTraits::PURE)
                && self.operands.is_empty()
                && self.attributes.len() == 1
                && self.results.len() == 1)
        {
            return Err(DeclarationError::plain(
                "a constant is pure, takes no operands, and has one attribute and one result",
            ));
        }
        Ok(())
    }

    /// Rule 11.
    const fn check_attribute_names(&self) -> Check {
        let takes_any = self.traits.contains(OpTraits::ANY_ATTRIBUTES);
        let are_free = self.traits.contains(OpTraits::FREE_ATTRIBUTE_NAMES);
        if takes_any && (are_free || !self.attributes.is_empty()) {
            return Err(DeclarationError::plain(
                "an op that takes any attributes declares none of them",
            ));
        }
        if !are_free {
            return Ok(());
        }
        if self.assembly_format.is_some() {
            return Err(DeclarationError::plain(
                "an op with an assembly format has attributes of fixed names",
            ));
        }
        let mut index = 0;
        while index < self.attributes.len() {
            if self.attributes[index].default.is_some() {
                return Err(DeclarationError::named(
                    "attribute `",
                    self.attributes[index].name,
                    "` has a default but no fixed name, so it is ambiguous whether it is missing",
                ));
            }
            index += 1;
        }
        Ok(())
    }
}

const OPTIONAL_CHAIN_RULE: &str =
    "a chain that may be left out is the last operand and the last result";

const fn is_single_chain(ty: TypeConstraint, arity: Arity) -> bool {
    matches!(arity, Arity::One)
        && matches!(ty, TypeConstraint::Exact(spelling) if same(spelling, CHAIN_TYPE))
}
