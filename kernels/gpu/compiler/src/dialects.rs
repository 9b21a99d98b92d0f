//! The text of the ops that the passes read: custom forms of MLIR's `gpu`, `memref`, `arith`,
//! `async` and `cf` dialects, of casts, and of `tfrt_gpu.streamify`.
//!
//! Only `tfrt_gpu.streamify` is declared. For the other ops only the syntax is known, so they are
//! verified only by the rules for all programs.

mod arith;

mod asynchronous;

mod control_flow;

mod gpu;

mod launch;

mod memref;

mod reinterpret_cast;

mod streamify;

use tfrt::ods::DialectDef;
use tfrt_compiler::LinkedSyntaxes;
use tfrt_ir::syntax::{NamedValue, OpParser, OpPrinter, OpSyntax, SyntaxError};
use tfrt_ir::{Module, OpId, OpState, ValueId};

pub(crate) use asynchronous::content_of;
pub(crate) use gpu::HOST_SHARED;
pub(crate) use launch::Launch;
pub(crate) use memref::{GLOBAL_TYPE, INITIAL_VALUE, NAME, element_type};
pub(crate) use reinterpret_cast::has_no_offset;

/// The dialects, which appear in texts only.
const DIALECTS: &[DialectDef] = &[
    of_texts("gpu", "MLIR's GPU ops, as the input of passes."),
    of_texts("memref", "MLIR's memory ops, as the input of passes."),
    of_texts("arith", "MLIR's arithmetic ops, as the input of passes."),
    of_texts(
        "async",
        "MLIR's asynchronous regions, as the input of passes.",
    ),
    of_texts("cf", "MLIR's branches, as the input of passes."),
    of_texts(
        "tfrt_gpu_conversion",
        "The older form of `tfrt_gpu.streamify`, as the input of passes.",
    ),
];

const fn of_texts(name: &'static str, summary: &'static str) -> DialectDef {
    DialectDef {
        summary,
        is_listed: false,
        ..DialectDef::new(name)
    }
}

tfrt::declare_dialects!(DIALECTS);

inventory::submit! { LinkedSyntaxes(gpu::SYNTAXES) }
inventory::submit! { LinkedSyntaxes(launch::SYNTAXES) }
inventory::submit! { LinkedSyntaxes(memref::SYNTAXES) }
inventory::submit! { LinkedSyntaxes(reinterpret_cast::SYNTAXES) }
inventory::submit! { LinkedSyntaxes(arith::SYNTAXES) }
inventory::submit! { LinkedSyntaxes(asynchronous::SYNTAXES) }
inventory::submit! { LinkedSyntaxes(control_flow::SYNTAXES) }
inventory::submit! { LinkedSyntaxes(streamify::SYNTAXES) }

type Parsed<T> = Result<T, SyntaxError>;

/// The parser of an op, as its helpers take it.
type Parser<'p, 's, 'm> = OpParser<'p, 's, 'm>;

/// Returns the custom form of an op.
const fn syntax(
    op: &'static str,
    parse: tfrt_ir::syntax::ParseFn,
    print: tfrt_ir::syntax::PrintFn,
) -> OpSyntax {
    OpSyntax { op, parse, print }
}

/// Reads the types of these values behind a colon, and adds the values to the operands.
fn typed_operands<'s>(
    parser: &mut Parser<'_, 's, '_>,
    values: &[NamedValue<'s>],
    state: &mut OpState,
) -> Parsed<()> {
    for (index, &value) in values.iter().enumerate() {
        parser.expect(if index == 0 { ":" } else { "," })?;
        let ty = parser.ty()?;
        state.operands.push(parser.resolve(value, ty)?);
    }
    Ok(())
}

/// Prints ` : T, U`, the types of values.
fn print_types(printer: &mut OpPrinter<'_, '_>, values: &[ValueId]) {
    printer.text(" : ");
    printer.types_of(values);
}

/// Adds values of type `index` to the operands.
fn indices<'s>(
    parser: &mut Parser<'_, 's, '_>,
    values: Vec<NamedValue<'s>>,
    state: &mut OpState,
) -> Parsed<()> {
    let index = parser.known_type("index");
    for value in values {
        state.operands.push(parser.resolve(value, index)?);
    }
    Ok(())
}

/// The spelling of tokens of streams.
const TOKEN: &str = "!gpu.async.token";

/// Returns `true` if a value is a token of a stream.
fn is_token(module: &Module, value: ValueId) -> bool {
    module.type_spelling(module.value_type(value)) == TOKEN
}

/// Reads `async`, with which the op returns a token, and `[%a, %b]`, the tokens that it waits for.
/// Returns the latter.
fn async_dependencies<'s>(
    parser: &mut Parser<'_, 's, '_>,
    state: &mut OpState,
) -> Parsed<Vec<ValueId>> {
    let token = parser.known_type(TOKEN);
    if parser.is("async") && !parser.has_named_results() {
        return Err(parser.error("needs to be named when marked 'async'"));
    }
    if parser.opt("async") {
        state.result_types.push(token);
    }
    let mut dependencies = Vec::new();
    if parser.opt("[") {
        parser.list_until("]", |parser| {
            let name = parser.value()?;
            dependencies.push(parser.resolve(name, token)?);
            Ok(())
        })?;
    }
    Ok(dependencies)
}

/// Returns the number of leading operands that are tokens.
fn num_tokens(module: &Module, op: OpId) -> usize {
    let operands = module.operands(op).iter();
    operands
        .take_while(|&&value| is_token(module, value))
        .count()
}

/// Prints ` async [%a, %b]`, as far as the op has it.
fn print_dependencies(printer: &mut OpPrinter<'_, '_>, is_async: bool, tokens: &[ValueId]) {
    if is_async {
        printer.text(" async");
    }
    if !tokens.is_empty() {
        printer.text(" [");
        printer.values(tokens);
        printer.text("]");
    }
}
