//! `cf`: branches.

use tfrt_ir::syntax::{OpParser, OpPrinter, OpSyntax};
use tfrt_ir::{BlockId, Module, OpId, OpState, ValueId};

use super::{Parsed, syntax, typed_operands};

pub(super) const SYNTAXES: &[OpSyntax] = &[
    syntax("cf.br", parse_branch, print_branch),
    syntax("cf.cond_br", parse_choice, print_choice),
];

/// `^block ('(' values ':' types ')')?`; returns the number of values.
fn parse_target(parser: &mut OpParser<'_, '_, '_>, state: &mut OpState) -> Parsed<usize> {
    let block = parser.successor()?;
    state.successors.push(block);
    if !parser.opt("(") {
        return Ok(0);
    }
    let values = parser.values()?;
    typed_operands(parser, &values, state)?;
    parser.expect(")")?;
    Ok(values.len())
}

fn print_target(printer: &mut OpPrinter<'_, '_>, block: BlockId, values: &[ValueId]) {
    printer.block(block);
    if !values.is_empty() {
        printer.text("(");
        printer.values(values);
        super::print_types(printer, values);
        printer.text(")");
    }
}

fn parse_branch(parser: &mut OpParser<'_, '_, '_>, state: &mut OpState) -> Parsed<()> {
    parse_target(parser, state)?;
    parser.opt_attributes(state)
}

fn print_branch(printer: &mut OpPrinter<'_, '_>, module: &Module, op: OpId) -> bool {
    let &[block] = module.successors(op) else {
        return false;
    };
    printer.text(" ");
    print_target(printer, block, module.operands(op));
    printer.attributes_but(op, &[], false);
    true
}

/// `%condition, ^block(…), ^block(…)`
fn parse_choice(parser: &mut OpParser<'_, '_, '_>, state: &mut OpState) -> Parsed<()> {
    let condition = parser.value()?;
    let ty = parser.known_type("i1");
    state.operands.push(parser.resolve(condition, ty)?);
    parser.expect(",")?;
    let if_true = parse_target(parser, state)?;
    parser.expect(",")?;
    let if_false = parse_target(parser, state)?;
    parser.push_segment_sizes(state, &[1, if_true, if_false]);
    parser.opt_attributes(state)
}

fn print_choice(printer: &mut OpPrinter<'_, '_>, module: &Module, op: OpId) -> bool {
    let (&[if_true, if_false], Some(segments)) =
        (module.successors(op), module.operand_segments(op, 3))
    else {
        return false;
    };
    if segments[0] != 1 {
        return false;
    }
    let (condition, values) = module.operands(op).split_at(1);
    let (of_true, of_false) = values.split_at(segments[1]);
    printer.text(" ");
    printer.values(condition);
    printer.text(", ");
    print_target(printer, if_true, of_true);
    printer.text(", ");
    print_target(printer, if_false, of_false);
    printer.attributes_but(op, &["operand_segment_sizes"], false);
    true
}
