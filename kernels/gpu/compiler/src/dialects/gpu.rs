//! `gpu`: waits, memory, and modules of device code.

use tfrt_ir::symbols::SYMBOL_NAME;
use tfrt_ir::syntax::{OpParser, OpPrinter, OpSyntax};
use tfrt_ir::{Attribute, Module, OpId, OpState};

use super::{
    Parsed, async_dependencies, num_tokens, print_dependencies, print_types, syntax, typed_operands,
};

pub(super) const SYNTAXES: &[OpSyntax] = &[
    syntax("gpu.wait", parse_wait, print_wait),
    syntax("gpu.memset", parse_two, print_two),
    syntax("gpu.memcpy", parse_two, print_two),
    syntax("gpu.alloc", parse_alloc, print_alloc),
    syntax("gpu.dealloc", parse_dealloc, print_dealloc),
    syntax("gpu.module", parse_module, print_module),
    syntax("gpu.func", parse_func, print_func),
    syntax("gpu.return", parse_return, print_return),
];

/// `async? [%tokens]? attr-dict`
fn parse_wait(parser: &mut OpParser<'_, '_, '_>, state: &mut OpState) -> Parsed<()> {
    state.operands = async_dependencies(parser, state)?;
    parser.opt_attributes(state)
}

fn print_wait(printer: &mut OpPrinter<'_, '_>, module: &Module, op: OpId) -> bool {
    let operands = module.operands(op);
    if num_tokens(module, op) != operands.len() || module.results(op).len() > 1 {
        return false;
    }
    print_dependencies(printer, !module.results(op).is_empty(), operands);
    printer.attributes_but(op, &[], false);
    true
}

/// `async? [%tokens]? %a, %b : T, U attr-dict`
fn parse_two(parser: &mut OpParser<'_, '_, '_>, state: &mut OpState) -> Parsed<()> {
    state.operands = async_dependencies(parser, state)?;
    let first = parser.value()?;
    parser.expect(",")?;
    let second = parser.value()?;
    typed_operands(parser, &[first, second], state)?;
    parser.opt_attributes(state)
}

fn print_two(printer: &mut OpPrinter<'_, '_>, module: &Module, op: OpId) -> bool {
    let (tokens, values) = module.operands(op).split_at(num_tokens(module, op));
    if values.len() != 2 || module.results(op).len() > 1 {
        return false;
    }
    print_dependencies(printer, !module.results(op).is_empty(), tokens);
    printer.text(" ");
    printer.values(values);
    print_types(printer, values);
    printer.attributes_but(op, &[], false);
    true
}

/// The attribute of an allocation that the host can reach, which is also its keyword.
pub(crate) const HOST_SHARED: &str = "hostShared";

/// `async? [%tokens]? host_shared? (%sizes) [%symbols]? attr-dict : T`; the memory is the first
/// result.
fn parse_alloc(parser: &mut OpParser<'_, '_, '_>, state: &mut OpState) -> Parsed<()> {
    let tokens = async_dependencies(parser, state)?;
    state.operands.clone_from(&tokens);
    if parser.opt("host_shared") {
        let unit = parser.module().intern_attribute(Attribute::Unit);
        state.attributes.push((HOST_SHARED.into(), unit));
    }
    parser.expect("(")?;
    let sizes = parser.values()?;
    parser.expect(")")?;
    let mut symbols = Vec::new();
    if parser.opt("[") {
        symbols = parser.values()?;
        parser.expect("]")?;
    }
    let segments = [tokens.len(), sizes.len(), symbols.len()];
    super::indices(parser, sizes, state)?;
    super::indices(parser, symbols, state)?;
    parser.opt_attributes(state)?;
    parser.push_segment_sizes(state, &segments);
    parser.expect(":")?;
    let ty = parser.ty()?;
    state.result_types.insert(0, ty);
    Ok(())
}

fn print_alloc(printer: &mut OpPrinter<'_, '_>, module: &Module, op: OpId) -> bool {
    let results = module.results(op);
    let Some(segments) = module.operand_segments(op, 3) else {
        return false;
    };
    if results.is_empty() || results.len() > 2 {
        return false;
    }
    let (tokens, rest) = module.operands(op).split_at(segments[0]);
    let (sizes, symbols) = rest.split_at(segments[1]);
    print_dependencies(printer, results.len() == 2, tokens);
    if module.has_attr(op, HOST_SHARED) {
        printer.text(" host_shared");
    }
    printer.text(" (");
    printer.values(sizes);
    printer.text(")");
    if !symbols.is_empty() {
        printer.text("[");
        printer.values(symbols);
        printer.text("]");
    }
    printer.attributes_but(op, &[HOST_SHARED, "operand_segment_sizes"], false);
    print_types(printer, &results[..1]);
    true
}

/// `async? [%tokens]? %memory attr-dict : T`
fn parse_dealloc(parser: &mut OpParser<'_, '_, '_>, state: &mut OpState) -> Parsed<()> {
    state.operands = async_dependencies(parser, state)?;
    let memory = parser.value()?;
    parser.opt_attributes(state)?;
    typed_operands(parser, &[memory], state)
}

fn print_dealloc(printer: &mut OpPrinter<'_, '_>, module: &Module, op: OpId) -> bool {
    let (tokens, values) = module.operands(op).split_at(num_tokens(module, op));
    if values.len() != 1 || module.results(op).len() > 1 {
        return false;
    }
    print_dependencies(printer, !module.results(op).is_empty(), tokens);
    printer.text(" ");
    printer.values(values);
    printer.attributes_but(op, &[], false);
    print_types(printer, values);
    true
}

/// `@name (attributes attr-dict)? region`
fn parse_module(parser: &mut OpParser<'_, '_, '_>, state: &mut OpState) -> Parsed<()> {
    let name = parser.symbol()?;
    let name = parser.module().string_attr(name);
    state.attributes.push((SYMBOL_NAME.into(), name));
    parser.opt_attributes_with_keyword(state)?;
    let region = parser.region(Vec::new())?;
    state.regions.push(region);
    Ok(())
}

fn print_module(printer: &mut OpPrinter<'_, '_>, module: &Module, op: OpId) -> bool {
    let (Some(name), &[region]) = (module.symbol_name(op), module.regions(op)) else {
        return false;
    };
    printer.text(" ");
    printer.symbol(name);
    printer.attributes_but(op, &[SYMBOL_NAME], true);
    printer.text(" ");
    printer.region(region, true);
    true
}

/// The attribute of a function with its type.
const FUNCTION_TYPE: &str = "function_type";
/// The attribute, and the keyword, of a function that the host launches.
const KERNEL: (&str, &str) = ("gpu.kernel", "kernel");

/// `@name(%a: T, …) (-> types)? kernel? (attributes attr-dict)? region`
fn parse_func(parser: &mut OpParser<'_, '_, '_>, state: &mut OpState) -> Parsed<()> {
    let name = parser.symbol()?;
    let name = parser.module().string_attr(name);
    state.attributes.push((SYMBOL_NAME.into(), name));
    let mut arguments = Vec::new();
    parser.expect("(")?;
    parser.list_until(")", |parser| {
        let name = parser.value()?;
        parser.expect(":")?;
        arguments.push((name, parser.ty()?));
        Ok(())
    })?;
    let results = parser.opt_arrow_types()?;
    let inputs: Vec<_> = arguments.iter().map(|(_, ty)| *ty).collect();
    let ty = parser.module().function_type(&inputs, &results);
    let ty = parser.module().intern_attribute(Attribute::Type(ty));
    state.attributes.push((FUNCTION_TYPE.into(), ty));
    if parser.opt(KERNEL.1) {
        let unit = parser.module().intern_attribute(Attribute::Unit);
        state.attributes.push((KERNEL.0.into(), unit));
    }
    parser.opt_attributes_with_keyword(state)?;
    let region = parser.region(arguments)?;
    state.regions.push(region);
    Ok(())
}

fn print_func(printer: &mut OpPrinter<'_, '_>, module: &Module, op: OpId) -> bool {
    let (Some(name), &[region]) = (module.symbol_name(op), module.regions(op)) else {
        return false;
    };
    let (Some(&entry), Some(ty)) = (
        module.blocks(region).first(),
        module.attr(op, FUNCTION_TYPE),
    ) else {
        return false;
    };
    let Attribute::Type(ty) = module.attribute(ty) else {
        return false;
    };
    let tfrt_ir::Type::Function { inputs, results } = module.ty(*ty) else {
        return false;
    };
    let arguments = module.block_arguments(entry);
    let types = arguments.iter().map(|&value| module.value_type(value));
    if !types.eq(inputs.iter().copied()) || !results.is_empty() {
        return false;
    }
    printer.text(" ");
    printer.symbol(name);
    printer.text("(");
    for (index, &argument) in arguments.iter().enumerate() {
        printer.text(if index == 0 { "" } else { ", " });
        printer.value(argument);
        printer.text(": ");
        printer.ty(module.value_type(argument));
    }
    printer.text(")");
    if module.has_attr(op, KERNEL.0) {
        printer.text(" ");
        printer.text(KERNEL.1);
    }
    printer.attributes_but(op, &[SYMBOL_NAME, FUNCTION_TYPE, KERNEL.0], true);
    printer.text(" ");
    printer.region(region, false);
    true
}

/// `(%values : types)?`
fn parse_return(parser: &mut OpParser<'_, '_, '_>, state: &mut OpState) -> Parsed<()> {
    let values = parser.values()?;
    typed_operands(parser, &values, state)
}

fn print_return(printer: &mut OpPrinter<'_, '_>, module: &Module, op: OpId) -> bool {
    let values = module.operands(op);
    if !module.attributes(op).is_empty() || !module.results(op).is_empty() {
        return false;
    }
    if !values.is_empty() {
        printer.text(" ");
        printer.values(values);
        print_types(printer, values);
    }
    true
}
