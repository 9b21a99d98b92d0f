//! Functions that run as graphs.

use tfrt::ods::instance::OpInstance;
use tfrt::ods::verify::{Breach, callee};
use tfrt::prelude::*;

use super::memory::print;
use crate::graphs;
use crate::values::Stream;

/// Calls a function that takes a chain, a stream and other values, and returns a chain. The first
/// call captures the work that the function puts on the stream as a graph; calls with the same
/// arguments launch it.
///
/// The function runs as usual if it does anything else, if the driver cannot capture its work, or
/// if the request has no resource context, where the graphs are kept. The results are the same, and
/// `tfrt_gpu.graph.print_reports` says why.
#[tfrt_kernel(
    "tfrt_gpu.graph.execute",
    results(out_chain),
    format = "$function `(` operands `)` attr-dict (`:` type($args)^)?",
    verify = verify,
)]
fn graph_execute(
    in_chain: Chain,
    stream: &Stream,
    args: &[AnyRef],
    #[function] function: FunctionRef,
    ctx: &ExecutionContext,
) -> Result<AsyncValueRef<Chain>> {
    let Chain = in_chain;
    let chain = graphs::execute(&function, ctx, stream, args)?;
    Ok(AsyncValueRef::expecting(chain))
}

/// Prints for each function that `tfrt_gpu.graph.execute` has called how often it ran as a graph,
/// and why it did not.
#[tfrt_kernel(
    "tfrt_gpu.graph.print_reports",
    results(out_chain),
    format = "operands attr-dict"
)]
fn graph_print_reports(in_chain: Chain, ctx: &ExecutionContext) -> Result<Chain> {
    let resources = ctx.resources();
    for report in resources.map(|it| graphs::reports(it)).unwrap_or_default() {
        print(&format!("{report}\n"))?;
    }
    Ok(in_chain)
}

/// The function takes all operands, and returns the chain.
fn verify(op: &dyn OpInstance, breaches: &mut Vec<Breach>) {
    callee::function_of_all(op, "function", "callee", breaches);
}
