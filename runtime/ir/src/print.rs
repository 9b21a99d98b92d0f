//! Text from a program: the printer, the inverse of the parser.
//!
//! Ops are printed in the custom form of their declaration where that shows everything there is to show, and else in the
//! generic form. Names of values are made here: `%0`, `%1`, … for results, `%arg0`, … for arguments of the first block of a
//! region, counted on from the region around it.

pub mod attributes;

pub mod number;

mod names;

mod ops;

mod builtin;

mod custom;

use crate::module::{Module, OpId};

/// How a program is printed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PrintOptions {
    /// Whether every op is printed in its generic form.
    pub generic: bool,
    /// Whether locations are printed.
    pub debug_info: bool,
    /// Whether nothing is printed outside of the op itself: locations stand in place, not as aliases at the end.
    pub local_scope: bool,
    /// Whether long lists of dense elements are left out.
    pub elide_large_elements: bool,
    /// Whether functions are printed under the name that they got later: `func.func`.
    pub func_dialect: bool,
}

/// The text of a program. It ends in a newline, unless [`PrintOptions::local_scope`] is set.
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
    }
    printer.finish()
}

/// The text of one op, without a newline at its end. Values from outside of an op that is isolated from what is around it
/// have no name there: they are printed as `<<UNKNOWN SSA VALUE>>`.
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
    /// Whether the regions of an op see only their own block arguments.
    #[must_use]
    pub fn is_isolated(&self, op: OpId) -> bool {
        self.is_func(op)
            || self.is_module(op)
            || self.op_def(op).is_some_and(tfrt_ods::OpDef::is_isolated)
    }
}
