//! Symbols: functions and modules, and the resolution of their names.
//!
//! A module is a symbol table: the ops of its block that have a `sym_name` are found by that name.
//! A reference is resolved in the nearest table around the op that has it, and not further out.

use std::collections::HashMap;

use crate::attribute::{AttrId, Attribute};
use crate::module::{BlockId, Module, OpId};
use crate::types::{Type, TypeId};

pub use crate::module::MODULE_OP;

/// The name of the function op.
pub const FUNC_OP: &str = "builtin.func";
/// The later name of functions, with their later dialect. Parsed as [`FUNC_OP`].
pub const LATER_FUNC_OP: &str = "func.func";
/// The op that ends functions of the later dialect.
pub(crate) const LATER_RETURN_OP: &str = "func.return";
/// The later name of [`FUNCTION_TYPE`].
pub const LATER_FUNCTION_TYPE: &str = "function_type";
/// The attribute of a module whose contents are understood only by kernels that refer to it.
pub const COMPILED_ATTRIBUTE: &str = "tfrt.compiled";
/// The attribute with the name of a symbol.
pub const SYMBOL_NAME: &str = "sym_name";
/// The attribute with the visibility of a symbol.
pub const SYMBOL_VISIBILITY: &str = "sym_visibility";
/// The attribute with the type of a function.
pub const FUNCTION_TYPE: &str = "type";
/// The attribute of a function that runs synchronously; only its presence matters.
pub const SYNC_ATTRIBUTE: &str = "tfrt.sync";
/// The attribute with the dictionaries of the arguments of a function.
pub const ARGUMENT_ATTRIBUTES: &str = "arg_attrs";
/// The attribute with the dictionaries of the results of a function.
pub const RESULT_ATTRIBUTES: &str = "res_attrs";

impl Module {
    /// Returns `true` if the op is a `builtin.module`.
    #[must_use]
    pub fn is_module(&self, op: OpId) -> bool {
        self.op_name(op) == MODULE_OP
    }

    /// Returns `true` if the op is a `builtin.func`.
    #[must_use]
    pub fn is_func(&self, op: OpId) -> bool {
        self.op_name(op) == FUNC_OP
    }

    /// Returns the name of a function or module, if it has one.
    #[must_use]
    pub fn symbol_name(&self, op: OpId) -> Option<&str> {
        self.attribute_str(self.attr(op, SYMBOL_NAME)?)
    }

    /// Returns the inputs and results that a function declares, or `None` for an op that is not a
    /// function.
    #[must_use]
    pub fn signature(&self, func: OpId) -> Option<(&[TypeId], &[TypeId])> {
        if !self.is_func(func) {
            return None;
        }
        match self.attribute(self.attr(func, FUNCTION_TYPE)?) {
            Attribute::Type(ty) => match self.ty(*ty) {
                Type::Function { inputs, results } => Some((inputs, results)),
                _ => None,
            },
            _ => None,
        }
    }

    /// Returns the first block of the first region of an op: the body of a function or module, if
    /// it has one.
    #[must_use]
    pub fn entry_block(&self, op: OpId) -> Option<BlockId> {
        self.blocks(*self.regions(op).first()?).first().copied()
    }

    /// Returns the functions directly in a module, in order.
    pub fn functions(&self, module: OpId) -> impl Iterator<Item = OpId> + '_ {
        let ops = self
            .entry_block(module)
            .map_or(&[][..], |block| self.block_ops(block));
        ops.iter().copied().filter(|op| self.is_func(*op))
    }

    /// Returns the nearest module around `op`, or `op` itself if it is one.
    #[must_use]
    pub fn nearest_symbol_table(&self, op: OpId) -> Option<OpId> {
        if self.is_module(op) {
            Some(op)
        } else {
            self.ancestors(op).find(|op| self.is_module(*op))
        }
    }

    /// Returns the op with this name directly in a module. Searches linearly; see [`SymbolTable`]
    /// for many lookups.
    #[must_use]
    pub fn lookup_symbol(&self, module: OpId, name: &str) -> Option<OpId> {
        let block = self.entry_block(module)?;
        self.block_ops(block)
            .iter()
            .copied()
            .find(|op| self.symbol_name(*op) == Some(name))
    }

    /// Returns the op that a symbol reference of `from` refers to, if there is one.
    #[must_use]
    pub fn resolve_symbol(&self, from: OpId, reference: AttrId) -> Option<OpId> {
        let Attribute::SymbolRef { root, nested } = self.attribute(reference) else {
            return None;
        };
        let mut found = self.lookup_symbol(self.nearest_symbol_table(from)?, root)?;
        for name in nested {
            if !self.is_module(found) {
                return None;
            }
            found = self.lookup_symbol(found, name)?;
        }
        Some(found)
    }
}

/// The symbols of modules, found in constant time. Built on demand; stale after an edit that adds
/// or removes a symbol.
#[derive(Debug, Default)]
pub struct SymbolTable {
    by_module: HashMap<OpId, HashMap<Box<str>, OpId>>,
}

impl SymbolTable {
    /// Returns the op with this name directly in a module.
    pub fn lookup(&mut self, module: &Module, table: OpId, name: &str) -> Option<OpId> {
        let symbols = self.by_module.entry(table).or_insert_with(|| {
            let mut symbols: HashMap<Box<str>, OpId> = HashMap::new();
            let ops = module
                .entry_block(table)
                .map_or(&[][..], |block| module.block_ops(block));
            for &op in ops {
                if let Some(name) = module.symbol_name(op) {
                    symbols.entry(name.into()).or_insert(op);
                }
            }
            symbols
        });
        symbols.get(name).copied()
    }
}
