//! The printer: programs to text, the inverse of the parser.
//!
//! Ops are printed in the custom form of their declaration if that shows everything, otherwise in
//! the generic form. The printer chooses the names of values: `%0`, `%1`, … for results, `%arg0`, …
//! for arguments of the first block of a region, continuing the numbers of the enclosing region.

pub mod attributes;

pub mod number;

pub(crate) mod types;

mod names;

mod ops;

mod builtin;

mod resources;

mod custom;

pub(crate) mod written;

use crate::module::{Module, OpId};

/// Options of the printer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PrintOptions {
    /// `true` to print every op in its generic form.
    pub generic: bool,
    /// `true` to print locations.
    pub debug_info: bool,
    /// `true` to print nothing outside of the op itself: locations are inline instead of aliases at
    /// the end.
    pub local_scope: bool,
    /// `true` to elide long lists of dense elements.
    pub elide_large_elements: bool,
    /// `true` to print functions under their later name: `func.func`.
    pub func_dialect: bool,
}

/// Returns the text of a program. It ends in a newline, unless [`PrintOptions::local_scope`] is
/// set.
#[must_use]
pub fn print(module: &Module, options: &PrintOptions) -> String {
    let root = module.root();
    let mut printer = ops::Printer::new(module, *options, root);
    if options.debug_info && !options.local_scope {
        printer.alias_locations(root);
    }
    printer.op(root);
    if !options.local_scope {
        printer.newline();
        printer.location_aliases();
        printer.resources();
    }
    printer.finish()
}

/// Returns the text of one op, without a newline at its end. Values from outside of an isolated op
/// have no name there and are printed as `<<UNKNOWN SSA VALUE>>`.
#[must_use]
pub fn print_op(module: &Module, op: OpId, options: &PrintOptions) -> String {
    let mut scope = op;
    while !module.is_isolated(scope)
        && let Some(parent) = module.parent_op(scope)
    {
        scope = parent;
    }
    let mut printer = ops::Printer::new(
        module,
        PrintOptions {
            local_scope: true,
            ..*options
        },
        scope,
    );
    printer.op(op);
    printer.finish()
}

impl Module {
    /// Returns `true` if the regions of an op see only their own block arguments.
    #[must_use]
    pub fn is_isolated(&self, op: OpId) -> bool {
        self.is_func(op)
            || self.is_module(op)
            || self.op_def(op).is_some_and(tfrt_ods::OpDef::is_isolated)
    }
}
