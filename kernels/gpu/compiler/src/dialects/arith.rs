//! `arith.constant`, and casts between types of different dialects.

use tfrt_ir::syntax::{OpParser, OpPrinter, OpSyntax};
use tfrt_ir::{Attribute, Module, OpId, OpState, TypeId};

use super::{Parsed, print_types, syntax, typed_operands};

pub(super) const SYNTAXES: &[OpSyntax] = &[
    syntax("arith.constant", parse_constant, print_constant),
    syntax("builtin.unrealized_conversion_cast", parse_cast, print_cast),
];

/// The attribute of a constant.
const VALUE: &str = "value";

/// `attr-dict value`; the type of the value is that of the result.
fn parse_constant(parser: &mut OpParser<'_, '_, '_>, state: &mut OpState) -> Parsed<()> {
    parser.opt_attributes(state)?;
    let value = parser.attribute(None)?;
    let Some(ty) = type_of(parser.module(), value) else {
        return Err(parser.error_at_op("expected a typed value"));
    };
    state.attributes.push((VALUE.into(), value));
    state.result_types.push(ty);
    Ok(())
}

/// Returns the type of a number or of dense elements.
fn type_of(module: &Module, value: tfrt_ir::AttrId) -> Option<TypeId> {
    match module.attribute(value) {
        Attribute::Integer { ty, .. }
        | Attribute::Float { ty, .. }
        | Attribute::Dense { ty, .. } => Some(*ty),
        _ => None,
    }
}

fn print_constant(printer: &mut OpPrinter<'_, '_>, module: &Module, op: OpId) -> bool {
    let (Some(value), &[result]) = (module.attr(op, VALUE), module.results(op)) else {
        return false;
    };
    let is_shown =
        module.operands(op).is_empty() && type_of(module, value) == Some(module.value_type(result));
    if is_shown {
        printer.attributes_but(op, &[VALUE], false);
        printer.text(" ");
        printer.attribute(value);
    }
    is_shown
}

/// `(%values : types)? to types attr-dict`
fn parse_cast(parser: &mut OpParser<'_, '_, '_>, state: &mut OpState) -> Parsed<()> {
    let values = parser.values()?;
    typed_operands(parser, &values, state)?;
    parser.expect("to")?;
    loop {
        state.result_types.push(parser.ty()?);
        if !parser.opt(",") {
            return parser.opt_attributes(state);
        }
    }
}

fn print_cast(printer: &mut OpPrinter<'_, '_>, module: &Module, op: OpId) -> bool {
    let (operands, results) = (module.operands(op), module.results(op));
    if results.is_empty() {
        return false;
    }
    if !operands.is_empty() {
        printer.text(" ");
        printer.values(operands);
        print_types(printer, operands);
    }
    printer.text(" to ");
    printer.types_of(results);
    printer.attributes_but(op, &[], false);
    true
}
