//! `tfrt_gpu.streamify`: ops that run on one stream, between a token and the next.

use tfrt::ods::instance::OpInstance;
use tfrt::ods::verify::Breach;
use tfrt_ir::syntax::{OpParser, OpPrinter, OpSyntax};
use tfrt_ir::{Module, OpId, OpState};

use super::{Parsed, TOKEN, async_dependencies, is_token, num_tokens, print_dependencies, syntax};

const CHAIN: &str = "!tfrt.chain";

tfrt::declare_op! {
    /// Wraps ops that work on a stream. Passes put kernels in their place and dissolve it; it is
    /// not a kernel.
    ///
    /// The region takes a chain and a stream. It returns a chain, and the values of the results; an
    /// asynchronous one also returns a token.
    "tfrt_gpu.streamify",
    operands(tokens: variadic "!gpu.async.token"),
    regions(body),
    results(results: variadic any),
    verify = verify
}

pub(super) const SYNTAXES: &[OpSyntax] = &[syntax("tfrt_gpu.streamify", parse, print)];

fn verify(op: &dyn OpInstance, breaches: &mut Vec<Breach>) {
    let regions = op.regions();
    let Some(returns) = regions.first().and_then(|region| region.returns.as_ref()) else {
        breaches.push(Breach::op("first return operand type is not a !tfrt.chain"));
        return;
    };
    let Some((chain, values)) = returns.split_first() else {
        breaches.push(Breach::op("first return operand type is not a !tfrt.chain"));
        return;
    };
    if chain != CHAIN {
        breaches.push(Breach::op("first return operand type is not a !tfrt.chain"));
    }
    let results = op.result_types();
    let results = match results.split_last() {
        Some((last, others)) if last == TOKEN && others.len() == values.len() => others,
        _ => &results,
    };
    if results != values {
        breaches.push(Breach::op("trailing return types don't match result types"));
    }
}

/// `async? [%tokens]? (attributes attr-dict)? region (: types)?`
fn parse(parser: &mut OpParser<'_, '_, '_>, state: &mut OpState) -> Parsed<()> {
    state.operands = async_dependencies(parser, state)?;
    let token = state.result_types.pop();
    parser.opt_attributes_with_keyword(state)?;
    let region = parser.region(Vec::new())?;
    end_with_return(parser.module(), region, state.location);
    state.regions.push(region);
    if parser.opt(":") {
        loop {
            state.result_types.push(parser.ty()?);
            if !parser.opt(",") {
                break;
            }
        }
    }
    state.result_types.extend(token);
    Ok(())
}

/// Ends a region that has no terminator with a return of nothing.
fn end_with_return(module: &mut Module, region: tfrt_ir::RegionId, location: tfrt_ir::LocationId) {
    let block = match module.blocks(region).last() {
        Some(&block) => block,
        None => module.create_block(region, &[]),
    };
    if module
        .last_op(block)
        .is_none_or(|op| module.op_name(op) != "tfrt.return")
    {
        let end = module.create_op(OpState::new("tfrt.return", location));
        module.append_op(block, end);
    }
}

fn print(printer: &mut OpPrinter<'_, '_>, module: &Module, op: OpId) -> bool {
    let (&[region], operands) = (module.regions(op), module.operands(op)) else {
        return false;
    };
    if num_tokens(module, op) != operands.len() {
        return false;
    }
    let results = module.results(op);
    let (is_async, values) = match results.split_last() {
        Some((&last, values)) if is_token(module, last) => (true, values),
        _ => (false, results),
    };
    print_dependencies(printer, is_async, operands);
    printer.attributes_but(op, &[], true);
    printer.text(" ");
    printer.region(region, true);
    if !values.is_empty() {
        super::print_types(printer, values);
    }
    true
}
