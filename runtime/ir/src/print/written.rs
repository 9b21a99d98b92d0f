//! The printer interface of hand-written custom forms: see [`crate::syntax`].

use super::attributes::{
    print_attribute, print_attribute_without_type, print_string, print_symbol,
};
use super::ops::Printer;
use super::types;
use crate::attribute::AttrId;
use crate::module::{BlockId, OpId, RegionId, ValueId};
use crate::types::TypeId;

/// The printer of the text of one op, after its name.
pub struct OpPrinter<'p, 'a> {
    printer: &'p mut Printer<'a>,
}

impl std::fmt::Debug for OpPrinter<'_, '_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("OpPrinter").finish_non_exhaustive()
    }
}

impl OpPrinter<'_, '_> {
    /// Prints a text as it is.
    pub fn text(&mut self, text: &str) {
        self.printer.out.push_str(text);
    }

    /// Prints a string in quotes.
    pub fn string(&mut self, text: &str) {
        print_string(text.as_bytes(), &mut self.printer.out);
    }

    /// Prints the name of a value.
    pub fn value(&mut self, value: ValueId) {
        self.printer.names.write_value(value, &mut self.printer.out);
    }

    /// Prints values separated by commas.
    pub fn values(&mut self, values: &[ValueId]) {
        self.printer.values(values);
    }

    /// Returns `true` if values are printed under the same names, one by one.
    #[must_use]
    pub fn have_equal_names(&self, a: &[ValueId], b: &[ValueId]) -> bool {
        let names = &self.printer.names;
        let name = |value: ValueId| {
            let mut text = String::new();
            names.write_value(value, &mut text);
            text
        };
        a.len() == b.len() && a.iter().zip(b).all(|(&a, &b)| name(a) == name(b))
    }

    /// Prints a type.
    pub fn ty(&mut self, ty: TypeId) {
        let spelling = self.printer.module.type_spelling(ty);
        self.printer.out.push_str(spelling);
    }

    /// Prints the types of values, separated by commas.
    pub fn types_of(&mut self, values: &[ValueId]) {
        let types = self.types(values);
        types::spell_list(self.printer.module, &mut self.printer.out, &types);
    }

    /// Prints ` -> T`, ` -> (T, …)`, or nothing if there are no values.
    pub fn arrow_types_of(&mut self, values: &[ValueId]) {
        if !values.is_empty() {
            self.text(" -> ");
            let types = self.types(values);
            types::spell_results(self.printer.module, &mut self.printer.out, &types);
        }
    }

    fn types(&self, values: &[ValueId]) -> Vec<TypeId> {
        let values = values.iter();
        values
            .map(|&value| self.printer.module.value_type(value))
            .collect()
    }

    /// Prints `@name`.
    pub fn symbol(&mut self, name: &str) {
        print_symbol(name, &mut self.printer.out);
    }

    /// Prints an attribute with its type.
    pub fn attribute(&mut self, attribute: AttrId) {
        print_attribute(self.printer.module, attribute, &mut self.printer.out);
    }

    /// Prints a number or dense elements without their type.
    pub fn attribute_without_type(&mut self, attribute: AttrId) {
        print_attribute_without_type(self.printer.module, attribute, &mut self.printer.out);
    }

    /// Prints the attributes of an op except for these, if there are any; with `has_keyword`, after
    /// the word `attributes`.
    pub fn attributes_but(&mut self, op: OpId, shown: &[&str], has_keyword: bool) {
        let module = self.printer.module;
        let mut entries = module.attributes(op).to_vec();
        entries.retain(|(name, _)| !shown.contains(&module.name(*name)));
        self.printer.attr_dict(&entries, has_keyword);
    }

    /// Prints a region; with `has_label`, the label of its first block if that has arguments.
    pub fn region(&mut self, region: RegionId, has_label: bool) {
        self.printer.region(region, has_label);
    }

    /// Prints the name of a block.
    pub fn block(&mut self, block: BlockId) {
        self.printer.names.write_block(block, &mut self.printer.out);
    }
}

impl Printer<'_> {
    /// Prints the op in its hand-written custom form, if it has one that shows it.
    pub(super) fn written(&mut self, op: OpId) -> bool {
        let module = self.module;
        let Some(syntax) = module.registry().syntax(module.op_name(op)) else {
            return false;
        };
        let start = self.out.len();
        self.out.push_str(syntax.op);
        let is_shown = (syntax.print)(&mut OpPrinter { printer: self }, module, op);
        if !is_shown {
            self.out.truncate(start);
        }
        is_shown
    }
}
