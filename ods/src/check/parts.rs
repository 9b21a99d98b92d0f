//! The rules about the name and the parts of a declaration.

use std::collections::HashSet;

use super::kinds::check_kind;
use super::{Check, op_error, part_error};
use crate::constraint::TypeConstraint;
use crate::op::{Arity, FunctionForm, OpDef};

impl OpDef {
    pub(super) fn check_name(&self) -> Check {
        let is_fit = |char: char| char.is_ascii_alphanumeric() || "._$".contains(char);
        if !self.name.chars().all(is_fit) {
            return op_error("a name has letters, digits, underscores, dollar signs and dots");
        }
        let mut parts = self.name.split('.');
        if self.name.contains('.') && parts.clone().any(str::is_empty) {
            return op_error("a part of the name is empty");
        }
        let dialect = parts.next().unwrap_or_default();
        if parts.next().is_none() || dialect.starts_with(|char: char| char.is_ascii_digit()) {
            return op_error("a name consists of a dialect, a dot, and the name of the op in it");
        }
        Ok(())
    }

    pub(super) fn check_operands(&self) -> Check {
        check_names("operand", self.operands.iter().map(|operand| operand.name))?;
        let arities = self.operands.iter().map(|one| (one.name, one.arity));
        check_arities("operand", arities)?;
        for operand in self.operands {
            self.check_type("operand", operand.name, operand.ty)?;
        }
        Ok(())
    }

    pub(super) fn check_results(&self) -> Check {
        check_names("result", self.results.iter().map(|result| result.name))?;
        let arities = self.results.iter().map(|one| (one.name, one.arity));
        check_arities("result", arities)?;
        for result in self.results {
            self.check_type("result", result.name, result.ty)?;
            if let Some(operand) = result.alias_of
                && self.operand_index(operand).is_none()
            {
                let name = result.name;
                return part_error(
                    name,
                    format!(
                        "result `{name}` shares memory with `{operand}`, which is not an operand"
                    ),
                );
            }
        }
        Ok(())
    }

    fn check_type(&self, kind: &str, name: &'static str, ty: TypeConstraint) -> Check {
        let fail = |message: String| part_error(name, format!("{kind} `{name}` {message}"));
        match ty {
            TypeConstraint::Exact("") => fail("has a type without a spelling".into()),
            TypeConstraint::OneOf([]) => fail("has no type".into()),
            TypeConstraint::SameAs(operand) => match self.operand_index(operand) {
                None => fail(format!(
                    "has the type of `{operand}`, which is not an operand"
                )),
                Some(index) if matches!(self.operands[index].ty, TypeConstraint::SameAs(_)) => {
                    fail(format!(
                        "has the type of `{operand}`, whose type follows from another one"
                    ))
                }
                Some(_) => Ok(()),
            },
            _ => Ok(()),
        }
    }

    pub(super) fn check_attributes(&self) -> Check {
        let names = || self.attributes.iter().map(|attribute| attribute.name);
        check_names("attribute", names())?;
        check_order("attribute", names())?;
        for attribute in self.attributes {
            let name = attribute.name;
            check_kind(name, &attribute.kind)?;
            if let Some(default) = &attribute.default
                && !default.fits(&attribute.kind)
            {
                return part_error(
                    name,
                    format!("attribute `{name}` has a default of the wrong type"),
                );
            }
        }
        Ok(())
    }

    pub(super) fn check_functions(&self) -> Check {
        check_names(
            "function",
            self.functions.iter().map(|function| function.name),
        )?;
        let is_region = |form: FunctionForm| form == FunctionForm::Region;
        let num_symbols = self
            .functions
            .iter()
            .take_while(|function| !is_region(function.form))
            .count();
        let (symbols, regions) = self.functions.split_at(num_symbols);
        check_order("function", symbols.iter().map(|function| function.name))?;
        if let Some(function) = regions.iter().find(|function| !is_region(function.form)) {
            let name = function.name;
            return part_error(
                name,
                format!("function `{name}` follows a region: regions come last"),
            );
        }
        let forms = symbols.iter().map(|function| function.form);
        let is_optional = |form: &FunctionForm| *form == FunctionForm::OptionalSymbol;
        if forms.clone().any(|form| is_optional(&form)) {
            let mut behind = forms.skip_while(|form| !is_optional(form));
            let has_list = symbols
                .iter()
                .any(|function| function.form == FunctionForm::SymbolList);
            if has_list || !regions.is_empty() || !behind.all(|form| is_optional(&form)) {
                return op_error(String::from(
                    "optional functions must be the last ones in the order of names, without a \
                     list or regions: a file has the functions without their names",
                ));
            }
        }
        for signature in self.signatures {
            let name = signature.function;
            if self.function_index(name).is_none() {
                return op_error(format!(
                    "there is a signature, but no function, named `{name}`"
                ));
            }
        }
        Ok(())
    }

    /// Rule 2, for the language of assembly formats.
    pub(super) fn check_distinct_names(&self) -> Check {
        let shared = |name, one: &str, other: &str| {
            part_error(
                name,
                format!("an {one} and a{other} have the name `{name}`"),
            )
        };
        for operand in self.operands {
            if self.attribute_index(operand.name).is_some() {
                return shared(operand.name, "operand", "n attribute");
            }
            if self.function_index(operand.name).is_some() {
                return shared(operand.name, "operand", " function");
            }
            if self.result_index(operand.name).is_some() {
                return shared(operand.name, "operand", " result");
            }
        }
        for attribute in self.attributes {
            if self.function_index(attribute.name).is_some() {
                return shared(attribute.name, "attribute", " function");
            }
        }
        Ok(())
    }
}

/// Returns `true` if a text is an identifier: letters, digits and underscores, not starting with a
/// digit.
pub(super) fn is_identifier(text: &str) -> bool {
    let is_fit = |char: char| char.is_ascii_alphanumeric() || char == '_';
    text.chars().all(is_fit) && text.starts_with(|char: char| !char.is_ascii_digit())
}

/// Checks that the names of one kind of parts are distinct identifiers.
fn check_names(kind: &str, names: impl Iterator<Item = &'static str>) -> Check {
    let mut known = HashSet::new();
    for name in names {
        if !is_identifier(name) {
            return part_error(
                name,
                format!("the name of {kind} `{name}` is not an identifier"),
            );
        }
        if !known.insert(name) {
            return part_error(name, format!("two {kind}s have the name `{name}`"));
        }
    }
    Ok(())
}

/// Checks that at most one part of a kind is not single.
fn check_arities(kind: &str, parts: impl Iterator<Item = (&'static str, Arity)>) -> Check {
    let mut open = parts.filter(|(_, arity)| *arity != Arity::One);
    match (open.next(), open.next()) {
        (Some((first, _)), Some((second, _))) => part_error(
            second,
            format!(
                "{kind}s `{first}` and `{second}` are both optional or variadic: only one can be"
            ),
        ),
        _ => Ok(()),
    }
}

/// Checks that names are in ascending byte order.
fn check_order(kind: &str, names: impl Iterator<Item = &'static str>) -> Check {
    let mut last = "";
    for name in names {
        if name < last {
            return part_error(
                name,
                format!(
                    "{kind} `{name}` follows `{last}`: {kind}s are sorted by the bytes of their \
                     names"
                ),
            );
        }
        last = name;
    }
    Ok(())
}
