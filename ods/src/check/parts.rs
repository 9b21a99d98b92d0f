//! The rules about the name and the parts of a declaration.

use super::kinds::check_kind;
use super::{Check, DeclarationError, attempt};
use crate::const_text::{is_identifier, precedes, same};
use crate::constraint::TypeConstraint;
use crate::op::{Arity, FunctionForm, OpDef};

impl OpDef {
    pub(super) const fn check_name(&self) -> Check {
        let bytes = self.name.as_bytes();
        let mut num_dots = 0;
        let mut index = 0;
        while index < bytes.len() {
            match bytes[index] {
                b'.' if index == 0 || index + 1 == bytes.len() || bytes[index - 1] == b'.' => {
                    return Err(DeclarationError::plain("a part of the name is empty"));
                }
                b'.' => num_dots += 1,
                b'_' | b'$' => {}
                byte if byte.is_ascii_alphanumeric() => {}
                _ => {
                    return Err(DeclarationError::plain(
                        "a name has letters, digits, underscores, dollar signs and dots",
                    ));
                }
            }
            index += 1;
        }
        if num_dots == 0 || bytes[0].is_ascii_digit() {
            return Err(DeclarationError::plain(
                "a name consists of a dialect, a dot, and the name of the op in it",
            ));
        }
        Ok(())
    }

    pub(super) const fn check_operands(&self) -> Check {
        let mut other: Option<&'static str> = None;
        let mut index = 0;
        while index < self.operands.len() {
            let operand = &self.operands[index];
            if !is_identifier(operand.name) {
                return Err(DeclarationError::named(
                    "operand `",
                    operand.name,
                    "` is not called by an identifier",
                ));
            }
            let mut before = 0;
            while before < index {
                if same(self.operands[before].name, operand.name) {
                    return Err(DeclarationError::named(
                        "two operands are called `",
                        operand.name,
                        "`",
                    ));
                }
                before += 1;
            }
            if !matches!(operand.arity, Arity::One) {
                if other.is_some() {
                    return Err(DeclarationError::named(
                        "operand `",
                        operand.name,
                        "` is not the only one that is optional or variadic",
                    ));
                }
                other = Some(operand.name);
            }
            attempt!(self.check_type("operand `", operand.name, operand.ty));
            index += 1;
        }
        Ok(())
    }

    pub(super) const fn check_results(&self) -> Check {
        let mut is_open = false;
        let mut index = 0;
        while index < self.results.len() {
            let result = &self.results[index];
            if !is_identifier(result.name) {
                return Err(DeclarationError::named(
                    "result `",
                    result.name,
                    "` is not called by an identifier",
                ));
            }
            let mut before = 0;
            while before < index {
                if same(self.results[before].name, result.name) {
                    return Err(DeclarationError::named(
                        "two results are called `",
                        result.name,
                        "`",
                    ));
                }
                before += 1;
            }
            if !matches!(result.arity, Arity::One) {
                if is_open {
                    return Err(DeclarationError::named(
                        "result `",
                        result.name,
                        "` is not the only one that is optional or variadic",
                    ));
                }
                is_open = true;
            }
            attempt!(self.check_type("result `", result.name, result.ty));
            if let Some(operand) = result.alias_of
                && self.operand_index(operand).is_none()
            {
                return Err(DeclarationError {
                    parts: [
                        "result `",
                        result.name,
                        "` shares memory with `",
                        operand,
                        "`, which is not an operand",
                    ],
                    offset: None,
                });
            }
            index += 1;
        }
        Ok(())
    }

    pub(super) const fn check_type(
        &self,
        part: &'static str,
        name: &'static str,
        ty: TypeConstraint,
    ) -> Check {
        match ty {
            TypeConstraint::Exact(spelling) if spelling.is_empty() => Err(DeclarationError::named(
                part,
                name,
                "` has a type without a spelling",
            )),
            TypeConstraint::OneOf([]) => Err(DeclarationError::named(part, name, "` has no type")),
            TypeConstraint::SameAs(operand) => {
                let problem = match self.operand_index(operand) {
                    None => "`, which is not an operand",
                    Some(index) if matches!(self.operands[index].ty, TypeConstraint::SameAs(_)) => {
                        "`, whose type follows from another one"
                    }
                    Some(_) => return Ok(()),
                };
                Err(DeclarationError {
                    parts: [part, name, "` is of the type of `", operand, problem],
                    offset: None,
                })
            }
            _ => Ok(()),
        }
    }

    pub(super) const fn check_attributes(&self) -> Check {
        let mut index = 0;
        while index < self.attributes.len() {
            let attribute = &self.attributes[index];
            if !is_identifier(attribute.name) {
                return Err(DeclarationError::named(
                    "attribute `",
                    attribute.name,
                    "` is not called by an identifier",
                ));
            }
            if index > 0 && !precedes(self.attributes[index - 1].name, attribute.name) {
                return Err(DeclarationError::named(
                    "attribute `",
                    attribute.name,
                    "` is not behind the others in byte order",
                ));
            }
            attempt!(check_kind(attribute.name, &attribute.kind));
            if let Some(default) = &attribute.default
                && !default.fits(&attribute.kind)
            {
                return Err(DeclarationError::named(
                    "attribute `",
                    attribute.name,
                    "` cannot have its default",
                ));
            }
            index += 1;
        }
        Ok(())
    }

    pub(super) const fn check_functions(&self) -> Check {
        let mut index = 0;
        while index < self.functions.len() {
            let function = &self.functions[index];
            let is_region = matches!(function.form, FunctionForm::Region);
            if !is_identifier(function.name) {
                return Err(DeclarationError::named(
                    "function `",
                    function.name,
                    "` is not called by an identifier",
                ));
            }
            let mut before = 0;
            while before < index {
                if same(self.functions[before].name, function.name) {
                    return Err(DeclarationError::named(
                        "two functions are called `",
                        function.name,
                        "`",
                    ));
                }
                before += 1;
            }
            if index > 0 && !is_region {
                let last = &self.functions[index - 1];
                if matches!(last.form, FunctionForm::Region) {
                    return Err(DeclarationError::named(
                        "function `",
                        function.name,
                        "` is behind a region",
                    ));
                }
                if !precedes(last.name, function.name) {
                    return Err(DeclarationError::named(
                        "function `",
                        function.name,
                        "` is not behind the others in byte order",
                    ));
                }
            }
            index += 1;
        }
        let mut index = 0;
        while index < self.signatures.len() {
            let name = self.signatures[index].function;
            if self.function_index(name).is_none() {
                return Err(DeclarationError::named(
                    "the signature of `",
                    name,
                    "` is that of no function",
                ));
            }
            index += 1;
        }
        Ok(())
    }

    /// Rule 2, for the language of assembly formats.
    pub(super) const fn check_distinct_names(&self) -> Check {
        let mut index = 0;
        while index < self.operands.len() {
            let name = self.operands[index].name;
            if self.attribute_index(name).is_some() {
                return Err(DeclarationError::named(
                    "an operand and an attribute are called `",
                    name,
                    "`",
                ));
            }
            if self.function_index(name).is_some() {
                return Err(DeclarationError::named(
                    "an operand and a function are called `",
                    name,
                    "`",
                ));
            }
            index += 1;
        }
        let mut index = 0;
        while index < self.functions.len() {
            let name = self.functions[index].name;
            if self.attribute_index(name).is_some() {
                return Err(DeclarationError::named(
                    "an attribute and a function are called `",
                    name,
                    "`",
                ));
            }
            index += 1;
        }
        let mut index = 0;
        while index < self.results.len() {
            let name = self.results[index].name;
            if self.operand_index(name).is_some() {
                return Err(DeclarationError::named(
                    "an operand and a result are called `",
                    name,
                    "`",
                ));
            }
            index += 1;
        }
        Ok(())
    }
}
