//! The functions that an op refers to with any of its attributes.

use tfrt_ir::symbols::SymbolTable;
use tfrt_ir::{AttrId, Attribute, Module, OpId};

/// Finds the functions that attributes name.
#[derive(Default)]
pub(super) struct References {
    /// May have stale entries of removed functions, to which nothing refers.
    symbols: SymbolTable,
}

impl References {
    /// Returns the functions that the attributes of an op refer to, each as often as it occurs.
    pub(super) fn of_op(&mut self, module: &Module, op: OpId) -> Vec<OpId> {
        let attributes = module.attributes(op).iter().map(|(_, value)| *value);
        attributes
            .flat_map(|attribute| self.of_attribute(module, op, attribute))
            .collect()
    }

    /// Returns the functions that an attribute of `op` refers to, each as often as it occurs, in
    /// order.
    pub(super) fn of_attribute(
        &mut self,
        module: &Module,
        op: OpId,
        attribute: AttrId,
    ) -> Vec<OpId> {
        let mut found = Vec::new();
        let mut pending = vec![attribute];
        while let Some(attribute) = pending.pop() {
            match module.attribute(attribute) {
                Attribute::Array(elements) => pending.extend(elements.iter().rev()),
                Attribute::Dictionary(entries) => {
                    pending.extend(entries.iter().rev().map(|(_, value)| value))
                }
                Attribute::SymbolRef { root, nested } => {
                    found.extend(self.resolve(module, op, root, nested));
                }
                _ => {}
            }
        }
        found.retain(|op| module.is_func(*op));
        found
    }

    fn resolve(
        &mut self,
        module: &Module,
        from: OpId,
        root: &str,
        nested: &[Box<str>],
    ) -> Option<OpId> {
        let table = module.nearest_symbol_table(from)?;
        let mut found = self.symbols.lookup(module, table, root)?;
        for name in nested {
            found = self.symbols.lookup(module, found, name)?;
        }
        Some(found)
    }
}
