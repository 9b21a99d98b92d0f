//! The custom forms of `func` and `module`.

use super::attributes::{print_dictionary, print_symbol};
use super::ops::Printer;
use super::types;
use crate::attribute::{AttrId, Attribute};
use crate::module::{NameId, OpId};
use crate::symbols::{
    ARGUMENT_ATTRIBUTES, FUNCTION_TYPE, LATER_RETURN_OP, RESULT_ATTRIBUTES, SYMBOL_NAME,
    SYMBOL_VISIBILITY,
};
use crate::types::TypeId;

impl Printer<'_> {
    /// Prints the op if it is a function, its return or a module, and its custom form can represent
    /// it.
    pub(super) fn builtin(&mut self, op: OpId) -> bool {
        if self.module.is_func(op) {
            self.func(op)
        } else if self.module.op_name(op) == LATER_RETURN_OP {
            self.plain_return(op)
        } else {
            self.module.is_module(op) && self.module_(op)
        }
    }

    /// `func.return %a, %b : T, U`
    fn plain_return(&mut self, op: OpId) -> bool {
        let module = self.module;
        let is_plain = module.results(op).is_empty()
            && module.regions(op).is_empty()
            && module.successors(op).is_empty()
            && module.attributes(op).is_empty();
        if !is_plain {
            return false;
        }
        self.out.push_str(LATER_RETURN_OP);
        let operands = module.operands(op);
        if !operands.is_empty() {
            self.out.push(' ');
            self.values(operands);
            self.out.push_str(" : ");
            let types = operands.iter().map(|&value| module.value_type(value));
            types::spell_list(module, &mut self.out, &types.collect::<Vec<_>>());
        }
        true
    }

    fn module_(&mut self, op: OpId) -> bool {
        let (&[region], [], []) = (
            self.module.regions(op),
            self.module.operands(op),
            self.module.results(op),
        ) else {
            return false;
        };
        if self.module.has_attr(op, SYMBOL_NAME) && self.module.symbol_name(op).is_none() {
            return false;
        }
        self.out.push_str("module");
        if let Some(name) = self.module.symbol_name(op) {
            self.out.push(' ');
            print_symbol(name, &mut self.out);
        }
        self.attributes_but(op, &[SYMBOL_NAME]);
        self.out.push(' ');
        match self.module.text_of(op) {
            Some(text) => self.out.push_str(text),
            None => self.region(region, false),
        }
        true
    }

    fn func(&mut self, op: OpId) -> bool {
        let module = self.module;
        let (&[region], [], []) = (module.regions(op), module.operands(op), module.results(op))
        else {
            return false;
        };
        let (Some(name), Some((inputs, results))) = (module.symbol_name(op), module.signature(op))
        else {
            return false;
        };
        let visibility = match module.attr(op, SYMBOL_VISIBILITY) {
            None => None,
            Some(attribute) => match module.attribute_str(attribute) {
                Some(text @ ("private" | "public" | "nested")) => Some(text),
                _ => return false,
            },
        };
        let arguments = module
            .entry_block(op)
            .map(|block| module.block_arguments(block));
        if let Some(arguments) = arguments
            && !arguments
                .iter()
                .map(|value| module.value_type(*value))
                .eq(inputs.iter().copied())
        {
            return false;
        }
        let (Some(input_attrs), Some(result_attrs)) = (
            self.value_attributes(op, ARGUMENT_ATTRIBUTES, inputs.len()),
            self.value_attributes(op, RESULT_ATTRIBUTES, results.len()),
        ) else {
            return false;
        };

        self.out.push_str(if self.options.func_dialect {
            "func.func "
        } else {
            "func "
        });
        if let Some(visibility) = visibility {
            self.out.push_str(visibility);
            self.out.push(' ');
        }
        print_symbol(name, &mut self.out);
        self.out.push('(');
        for (index, &ty) in inputs.iter().enumerate() {
            if index != 0 {
                self.out.push_str(", ");
            }
            if let Some(arguments) = arguments {
                self.names.write_value(arguments[index], &mut self.out);
                self.out.push_str(": ");
            }
            self.type_with_attributes(ty, &input_attrs[index]);
        }
        self.out.push(')');
        self.func_results(results, &result_attrs);
        self.attributes_but(
            op,
            &[
                SYMBOL_NAME,
                SYMBOL_VISIBILITY,
                FUNCTION_TYPE,
                ARGUMENT_ATTRIBUTES,
                RESULT_ATTRIBUTES,
            ],
        );
        if arguments.is_some() {
            self.out.push(' ');
            self.region(region, false);
        }
        true
    }

    fn func_results(&mut self, results: &[TypeId], attributes: &[Vec<(NameId, AttrId)>]) {
        if results.is_empty() {
            return;
        }
        self.out.push_str(" -> ");
        if attributes.iter().all(Vec::is_empty) {
            types::spell_results(self.module, &mut self.out, results);
            return;
        }
        self.out.push('(');
        for (index, &ty) in results.iter().enumerate() {
            if index != 0 {
                self.out.push_str(", ");
            }
            self.type_with_attributes(ty, &attributes[index]);
        }
        self.out.push(')');
    }

    fn type_with_attributes(&mut self, ty: TypeId, attributes: &[(NameId, AttrId)]) {
        self.out.push_str(self.module.type_spelling(ty));
        if !attributes.is_empty() {
            self.out.push(' ');
            print_dictionary(
                self.module,
                attributes,
                self.options.elide_large_elements,
                &mut self.out,
            );
        }
    }

    /// Returns the dictionaries of the arguments or results of a function, or `None` if the
    /// attribute is malformed.
    fn value_attributes(
        &self,
        op: OpId,
        name: &str,
        count: usize,
    ) -> Option<Vec<Vec<(NameId, AttrId)>>> {
        let Some(attribute) = self.module.attr(op, name) else {
            return Some(vec![Vec::new(); count]);
        };
        let Attribute::Array(elements) = self.module.attribute(attribute) else {
            return None;
        };
        let dictionaries: Option<Vec<_>> = elements
            .iter()
            .map(|element| match self.module.attribute(*element) {
                Attribute::Dictionary(entries) => Some(entries.to_vec()),
                _ => None,
            })
            .collect();
        dictionaries.filter(|dictionaries| {
            dictionaries.len() == count
                && dictionaries.iter().any(|dictionary| !dictionary.is_empty())
        })
    }

    fn attributes_but(&mut self, op: OpId, shown: &[&str]) {
        let mut entries = self.module.attributes(op).to_vec();
        entries.retain(|(name, _)| !shown.contains(&self.module.name(*name)));
        self.attr_dict(&entries, true);
    }
}
