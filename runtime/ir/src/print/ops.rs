//! Ops, regions and blocks as text.

use std::collections::HashMap;
use std::fmt::Write as _;

use super::PrintOptions;
use super::attributes::{location_text, print_dictionary, print_entry, print_string};
use super::names::Names;
use super::types;
use crate::attribute::AttrId;
use crate::location::LocationId;
use crate::module::{BlockId, Module, NameId, OpId, RegionId, ValueId};
use crate::symbols::{FUNCTION_TYPE, LATER_FUNC_OP, LATER_FUNCTION_TYPE};

/// The state of printing one op and everything inside it.
pub(super) struct Printer<'a> {
    pub(super) module: &'a Module,
    pub(super) options: PrintOptions,
    pub(super) names: Names<'a>,
    pub(super) out: String,
    indent: usize,
    aliases: HashMap<LocationId, usize>,
    aliased: Vec<LocationId>,
}

impl<'a> Printer<'a> {
    /// Creates a printer of `scope` or something inside it.
    pub(super) fn new(module: &'a Module, options: PrintOptions, scope: OpId) -> Self {
        Self {
            module,
            options,
            names: Names::new(module, scope, options.generic),
            out: String::new(),
            indent: 0,
            aliases: HashMap::new(),
            aliased: Vec::new(),
        }
    }

    pub(super) fn finish(self) -> String {
        self.out
    }

    pub(super) fn newline(&mut self) {
        self.out.push('\n');
    }

    fn start_line(&mut self) {
        self.out.extend(std::iter::repeat_n(' ', self.indent));
    }

    /// Creates an alias for every location of an op inside `root`.
    pub(super) fn alias_locations(&mut self, root: OpId) {
        for op in self.module.walk(root) {
            let location = self.module.op_location(op);
            if let std::collections::hash_map::Entry::Vacant(entry) = self.aliases.entry(location) {
                entry.insert(self.aliased.len());
                self.aliased.push(location);
            }
        }
    }

    fn write_alias(&mut self, number: usize) {
        self.out.push_str("#loc");
        if self.aliased.len() > 1 {
            let _ = write!(self.out, "{number}");
        }
    }

    /// Prints the definitions of the location aliases, one per line.
    pub(super) fn location_aliases(&mut self) {
        for number in 0..self.aliased.len() {
            self.write_alias(number);
            let _ = writeln!(
                self.out,
                " = loc({})",
                location_text(self.module, self.aliased[number])
            );
        }
    }

    /// Prints one op, from its results to its location.
    pub(super) fn op(&mut self, op: OpId) {
        if !self.module.results(op).is_empty() {
            self.names.write_results(op, &mut self.out);
            self.out.push_str(" = ");
        }
        // A module kept as text has no generic form.
        let is_generic = self.options.generic && self.module.text_of(op).is_none();
        if is_generic || !(self.builtin(op) || self.custom(op) || self.written(op)) {
            self.generic(op);
        }
        if self.options.debug_info {
            let location = self.module.op_location(op);
            self.out.push_str(" loc(");
            match self.aliases.get(&location) {
                Some(&number) => self.write_alias(number),
                None => self.out.push_str(&location_text(self.module, location)),
            }
            self.out.push(')');
        }
    }

    fn generic(&mut self, op: OpId) {
        let is_later_func = self.options.func_dialect && self.module.is_func(op);
        let name = match is_later_func {
            true => LATER_FUNC_OP,
            false => self.module.op_name(op),
        };
        print_string(name.as_bytes(), &mut self.out);
        self.out.push('(');
        self.values(self.module.operands(op));
        self.out.push(')');
        let successors = self.module.successors(op);
        if !successors.is_empty() {
            self.out.push('[');
            for (index, &block) in successors.iter().enumerate() {
                if index != 0 {
                    self.out.push_str(", ");
                }
                self.names.write_block(block, &mut self.out);
            }
            self.out.push(']');
        }
        let (properties, attributes): (Vec<_>, Vec<_>) = self
            .module
            .attributes(op)
            .iter()
            .partition(|(name, _)| self.module.is_property(op, *name));
        if !properties.is_empty() {
            self.out.push_str(" <");
            print_dictionary(
                self.module,
                &properties,
                self.options.elide_large_elements,
                &mut self.out,
            );
            self.out.push('>');
        }
        let regions = self.module.regions(op);
        if !regions.is_empty() {
            self.out.push_str(" (");
            for (index, &region) in regions.iter().enumerate() {
                if index != 0 {
                    self.out.push_str(", ");
                }
                self.region(region, true);
            }
            self.out.push(')');
        }
        if is_later_func {
            self.later_func_attributes(op);
        } else {
            self.attr_dict(&attributes, false);
        }
        self.out.push_str(" : ");
        let inputs: Vec<_> = self
            .module
            .operands(op)
            .iter()
            .map(|value| self.module.value_type(*value))
            .collect();
        let results: Vec<_> = self
            .module
            .results(op)
            .iter()
            .map(|value| self.module.value_type(*value))
            .collect();
        self.out.push('(');
        types::spell_list(self.module, &mut self.out, &inputs);
        self.out.push_str(") -> ");
        types::spell_results(self.module, &mut self.out, &results);
    }

    /// Prints the attributes of a function under their later names.
    fn later_func_attributes(&mut self, op: OpId) {
        let attributes = self.module.attributes(op).iter();
        let mut entries: Vec<(&str, AttrId)> = attributes
            .map(|&(name, value)| match self.module.name(name) {
                FUNCTION_TYPE => (LATER_FUNCTION_TYPE, value),
                name => (name, value),
            })
            .collect();
        entries.sort_unstable_by_key(|&(name, _)| name);
        for (index, (name, value)) in entries.into_iter().enumerate() {
            self.out.push_str(if index == 0 { " {" } else { ", " });
            let elides = self.options.elide_large_elements;
            print_entry(self.module, name, value, elides, &mut self.out);
        }
        self.out.push('}');
    }

    /// Prints values separated by commas.
    pub(super) fn values(&mut self, values: &[ValueId]) {
        for (index, &value) in values.iter().enumerate() {
            if index != 0 {
                self.out.push_str(", ");
            }
            self.names.write_value(value, &mut self.out);
        }
    }

    /// Prints ` {a = 1 : i32}`, or nothing.
    pub(super) fn attr_dict(&mut self, entries: &[(NameId, AttrId)], has_keyword: bool) {
        if !entries.is_empty() {
            self.out
                .push_str(if has_keyword { " attributes " } else { " " });
            print_dictionary(
                self.module,
                entries,
                self.options.elide_large_elements,
                &mut self.out,
            );
        }
    }

    /// Prints a region. The label of its first block, if that has arguments, is printed only in the
    /// generic form.
    pub(super) fn region(&mut self, region: RegionId, is_generic: bool) {
        self.out.push_str("{\n");
        for (index, &block) in self.module.blocks(region).iter().enumerate() {
            let has_label = index != 0
                || is_generic
                    && (!self.module.block_arguments(block).is_empty()
                        || self.module.block_ops(block).is_empty());
            self.block(block, has_label, index == 0);
        }
        self.start_line();
        self.out.push('}');
    }

    fn block(&mut self, block: BlockId, has_label: bool, is_entry: bool) {
        if has_label {
            self.start_line();
            self.names.write_block(block, &mut self.out);
            let arguments = self.module.block_arguments(block);
            if !arguments.is_empty() {
                self.out.push('(');
                for (index, &argument) in arguments.iter().enumerate() {
                    if index != 0 {
                        self.out.push_str(", ");
                    }
                    self.names.write_value(argument, &mut self.out);
                    let _ = write!(
                        self.out,
                        ": {}",
                        self.module.type_spelling(self.module.value_type(argument))
                    );
                }
                self.out.push(')');
            }
            self.out.push(':');
            self.names
                .write_predecessors(block, is_entry, &mut self.out);
            self.newline();
        }
        self.indent += 2;
        for &op in self.module.block_ops(block) {
            self.start_line();
            self.op(op);
            self.newline();
        }
        self.indent -= 2;
    }
}
