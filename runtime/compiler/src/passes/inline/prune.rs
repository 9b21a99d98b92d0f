//! Private functions that nothing refers to.

use std::collections::HashMap;

use tfrt_ir::symbols::SYMBOL_VISIBILITY;
use tfrt_ir::{AttrId, Attribute, Module, OpId, SymbolTable};

/// Drops the private functions inside of `root` that no op refers to, and then those that only dropped ones referred to.
pub(super) fn prune(module: &mut Module, root: OpId) {
    let mut references = References::default();
    for op in module.walk(root) {
        for func in references.of_op(module, op) {
            *references.counts.entry(func).or_default() += 1;
        }
    }
    let functions = module.walk(root).into_iter();
    let mut unused: Vec<OpId> = functions
        .filter(|&op| is_private(module, op) && !references.counts.contains_key(&op))
        .collect();
    while let Some(func) = unused.pop() {
        for op in module.walk(func) {
            for target in references.of_op(module, op) {
                let count = references.counts.entry(target).or_default();
                *count = count.saturating_sub(1);
                if *count == 0 && is_private(module, target) {
                    unused.push(target);
                }
            }
        }
        module.erase_op(func);
    }
}

fn is_private(module: &Module, op: OpId) -> bool {
    let visibility = module.attr(op, SYMBOL_VISIBILITY);
    module.is_func(op)
        && visibility.and_then(|visibility| module.attribute_str(visibility)) == Some("private")
}

/// How often each function is referred to.
#[derive(Default)]
struct References {
    counts: HashMap<OpId, usize>,
    /// Stale entries are those of dropped functions, which nothing refers to.
    symbols: SymbolTable,
}

impl References {
    /// The functions that the attributes of an op refer to, each as often as it occurs.
    fn of_op(&mut self, module: &Module, op: OpId) -> Vec<OpId> {
        let mut found = Vec::new();
        let mut pending: Vec<AttrId> = module
            .attributes(op)
            .iter()
            .map(|(_, value)| *value)
            .collect();
        while let Some(attribute) = pending.pop() {
            match module.attribute(attribute) {
                Attribute::Array(elements) => pending.extend(elements),
                Attribute::Dictionary(entries) => {
                    pending.extend(entries.iter().map(|(_, value)| value))
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
