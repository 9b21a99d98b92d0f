//! `async`: regions that run at some time, and waits for their results.

use tfrt_ir::syntax::{OpParser, OpPrinter, OpSyntax};
use tfrt_ir::{Module, OpId, OpState, Type, TypeId};

use super::{Parsed, print_types, syntax, typed_operands};

pub(super) const SYNTAXES: &[OpSyntax] = &[
    syntax("async.execute", parse_execute, print_execute),
    syntax("async.yield", parse_yield, print_yield),
    syntax("async.await", parse_await, print_await),
];

/// The spelling of the first result of `async.execute`.
const TOKEN: &str = "!async.token";

/// Returns the spelling of `T` in `!async.value<T>`.
pub(crate) fn content_of(module: &Module, ty: TypeId) -> Option<&str> {
    match module.ty(ty) {
        Type::Dialect { dialect, body } if &**dialect == "async" => {
            body.strip_prefix("value<")?.strip_suffix('>')
        }
        _ => None,
    }
}

/// `[%tokens]? (%value as %name: !async.value<T>, …)? (-> types)? (attributes attr-dict)? region`.
/// The arguments of the region are the contents of the values; the results are a token, and values.
fn parse_execute(parser: &mut OpParser<'_, '_, '_>, state: &mut OpState) -> Parsed<()> {
    let token = parser.known_type(TOKEN);
    if parser.opt("[") {
        parser.list_until("]", |parser| {
            let name = parser.value()?;
            state.operands.push(parser.resolve(name, token)?);
            Ok(())
        })?;
    }
    let num_tokens = state.operands.len();
    let mut arguments = Vec::new();
    if parser.opt("(") {
        parser.list_until(")", |parser| {
            let value = parser.value()?;
            parser.expect("as")?;
            let name = parser.value()?;
            parser.expect(":")?;
            let ty = parser.ty()?;
            let Some(content) = content_of(parser.module(), ty).map(str::to_owned) else {
                return Err(parser.error("expected a type '!async.value<…>'"));
            };
            let Some(content) = tfrt_ir::parse_type(parser.module(), &content) else {
                return Err(parser.error("expected a type '!async.value<…>'"));
            };
            state.operands.push(parser.resolve(value, ty)?);
            arguments.push((name, content));
            Ok(())
        })?;
    }
    let segments = [num_tokens, arguments.len()];
    state.result_types.push(token);
    state.result_types.extend(parser.opt_arrow_types()?);
    parser.opt_attributes_with_keyword(state)?;
    parser.push_segment_sizes(state, &segments);
    let region = parser.region(arguments)?;
    let location = state.location;
    let module = parser.module();
    let entry = match module.blocks(region).first() {
        Some(&entry) => entry,
        None => module.create_block(region, &[]),
    };
    let last = module.blocks(region).last().copied().unwrap_or(entry);
    if module
        .last_op(last)
        .is_none_or(|op| module.op_name(op) != "async.yield")
    {
        let end = module.create_op(OpState::new("async.yield", location));
        module.append_op(last, end);
    }
    state.regions.push(region);
    Ok(())
}

fn print_execute(printer: &mut OpPrinter<'_, '_>, module: &Module, op: OpId) -> bool {
    let (&[region], Some(segments)) = (module.regions(op), module.operand_segments(op, 2)) else {
        return false;
    };
    let Some(&entry) = module.blocks(region).first() else {
        return false;
    };
    let (tokens, values) = module.operands(op).split_at(segments[0]);
    let arguments = module.block_arguments(entry);
    let Some((_, results)) = module.results(op).split_first() else {
        return false;
    };
    if arguments.len() != values.len() {
        return false;
    }
    super::print_dependencies(printer, false, tokens);
    if !values.is_empty() {
        printer.text(" (");
        for (index, (&value, &name)) in values.iter().zip(arguments).enumerate() {
            printer.text(if index == 0 { "" } else { ", " });
            printer.value(value);
            printer.text(" as ");
            printer.value(name);
            printer.text(": ");
            printer.ty(module.value_type(value));
        }
        printer.text(")");
    }
    printer.arrow_types_of(results);
    printer.attributes_but(op, &["operand_segment_sizes"], true);
    printer.text(" ");
    printer.region(region, false);
    true
}

/// `attr-dict (%values : types)?`
fn parse_yield(parser: &mut OpParser<'_, '_, '_>, state: &mut OpState) -> Parsed<()> {
    parser.opt_attributes(state)?;
    let values = parser.values()?;
    typed_operands(parser, &values, state)
}

fn print_yield(printer: &mut OpPrinter<'_, '_>, module: &Module, op: OpId) -> bool {
    let values = module.operands(op);
    printer.attributes_but(op, &[], false);
    if !values.is_empty() {
        printer.text(" ");
        printer.values(values);
        print_types(printer, values);
    }
    true
}

/// `%operand : T attr-dict`: of a token, or of a value, whose content is the result.
fn parse_await(parser: &mut OpParser<'_, '_, '_>, state: &mut OpState) -> Parsed<()> {
    let value = parser.value()?;
    typed_operands(parser, &[value], state)?;
    let ty = parser.module().value_type(state.operands[0]);
    if let Some(content) = content_of(parser.module(), ty).map(str::to_owned) {
        let content = tfrt_ir::parse_type(parser.module(), &content);
        let content = content.ok_or_else(|| parser.error_at_op("expected a value type"))?;
        state.result_types.push(content);
    }
    parser.opt_attributes(state)
}

fn print_await(printer: &mut OpPrinter<'_, '_>, module: &Module, op: OpId) -> bool {
    let &[value] = module.operands(op) else {
        return false;
    };
    let content = content_of(module, module.value_type(value));
    let mut results = module.results(op).iter();
    let types = results
        .by_ref()
        .map(|&result| module.type_spelling(module.value_type(result)));
    if !types.eq(content) {
        return false;
    }
    printer.text(" ");
    printer.value(value);
    print_types(printer, &[value]);
    printer.attributes_but(op, &[], false);
    true
}
