//! Stream analysis: the division of a block's ops into sequences that each run best on one thread.
//!
//! An executor passes work to another thread only where streams part, so that cheap ops do not pay
//! for the transfer. The algorithm is in [`graph`]; this module applies it to IR. The traits of an
//! op's declaration determine its cost, and the attributes of the enclosing function or module
//! determine the thresholds. The results are in side tables: the program does not change.

use std::collections::HashMap;

use tfrt_ir::{AttrId, Attribute, BlockId, Module, OpId, Type, ValueDef};
use tfrt_ods::OpTraits;
use tfrt_support::Diagnostic;
use tfrt_support::entity::EntityId;

use crate::{CHAIN_TYPE, COST_ATTRIBUTE};
use graph::{
    NodeId, StreamGraph, StreamId, StreamNode, StreamOperand, StreamOptions, Streams,
    assign_streams,
};

pub mod graph;

/// The attribute of a function or module that holds the minimal cost of a stream, which is also the
/// cost of an op that does not declare another.
pub const COST_THRESHOLD: &str = "tfrt.cost_threshold";
/// The attribute that holds the cost from which a stream is not continued; negative if there is no
/// limit.
const UPPER_COST_THRESHOLD: &str = "tfrt.upper_cost_threshold";
/// The attribute that decides whether cheap streams that use each other's values are merged.
const MERGE_INTER_DEPENDENT: &str = "tfrt.merge_inter_dependent_streams";

/// Returns the streams of a block. Node number `i` is op number `i` of the block.
///
/// Values that are defined outside the block count as its arguments.
#[must_use]
pub fn analyze_block(module: &Module, block: BlockId) -> Streams {
    let options = stream_options(module, block);
    let chain = module.known_type(CHAIN_TYPE);
    let mut nodes: HashMap<OpId, NodeId> = HashMap::new();
    let mut graph = StreamGraph::new();
    for &op in module.block_ops(block) {
        let operands = module
            .operands(op)
            .iter()
            .map(|&value| StreamOperand {
                definer: match module.value_def(value) {
                    ValueDef::Result { op, .. } => nodes.get(&op).copied(),
                    ValueDef::Argument { .. } => None,
                },
                is_chain: Some(module.value_type(value)) == chain,
            })
            .collect();
        let node = graph.push(StreamNode {
            cost: op_cost(module, op, options.cost_threshold),
            operands,
        });
        nodes.insert(op, node);
    }
    assign_streams(&graph, options)
}

/// Reports the stream of every function and of every op in its body, as remarks at their locations.
///
/// ```
/// use std::sync::Arc;
/// use tfrt_compiler::stream_analysis::print_streams;
/// use tfrt_ir::{ParseOptions, Registry, parse};
///
/// let registry = Arc::new(Registry::default());
/// let options = ParseOptions { allow_unregistered_dialects: true };
/// let source = "func @f() {\n  \"my.op\"() : () -> ()\n}\n";
/// let module = parse(source, "f.mlir", &registry, &options).map_err(|errors| errors[0].to_string())?;
/// let remarks: Vec<String> = print_streams(&module).iter().map(ToString::to_string).collect();
/// assert_eq!(remarks, [
///     "f.mlir:1:1: remark: stream id: 0, stream cost: 2, parent stream: -1",
///     "f.mlir:2:3: remark: stream id: 0, stream cost: 2, parent stream: -1",
/// ]);
/// # Ok::<(), String>(())
/// ```
#[must_use]
pub fn print_streams(module: &Module) -> Vec<Diagnostic> {
    let ops = module.walk(module.root()).into_iter();
    ops.filter(|&op| module.is_func(op))
        .flat_map(|func| print_function_streams(module, func))
        .collect()
}

/// Like [`print_streams`], for one function. Returns no remarks if it has no body.
#[must_use]
pub fn print_function_streams(module: &Module, func: OpId) -> Vec<Diagnostic> {
    let Some(body) = module.entry_block(func) else {
        return Vec::new();
    };
    let streams = analyze_block(module, body);
    let mut remarks = vec![remark(module, func, &streams, streams.root())];
    for (index, &op) in module.block_ops(body).iter().enumerate() {
        let stream = streams.of(NodeId::from_index(index));
        remarks.push(remark(module, op, &streams, stream));
    }
    remarks
}

fn remark(module: &Module, op: OpId, streams: &Streams, stream: StreamId) -> Diagnostic {
    let parent = match streams.parent(stream) {
        Some(parent) => parent.index().to_string(),
        None => "-1".to_owned(),
    };
    let message = format!(
        "stream id: {}, stream cost: {}, parent stream: {parent}",
        stream.index(),
        streams.cost(stream)
    );
    Diagnostic::remark(module.place(module.op_location(op)), message)
}

/// Returns the cost of an op: 1 for a return or a merge of chains, its own cost if it has one, and
/// otherwise the threshold.
fn op_cost(module: &Module, op: OpId, threshold: i64) -> i64 {
    let traits = module.op_def(op).map_or(OpTraits::NONE, |def| def.traits);
    if traits.contains(OpTraits::TERMINATOR) || traits.contains(OpTraits::CHEAP) {
        1
    } else if traits.contains(OpTraits::COST_ATTRIBUTE)
        && let Some(cost) = module
            .attr(op, COST_ATTRIBUTE)
            .and_then(|cost| integer(module, cost))
    {
        cost.max(1)
    } else {
        threshold
    }
}

/// Returns the options for a block, each from the function that has the block as its body, or else
/// from the nearest enclosing module.
fn stream_options(module: &Module, block: BlockId) -> StreamOptions {
    let owner = module.region_op(module.block_region(block));
    let func = owner.filter(|&op| module.is_func(op));
    let table = owner.and_then(|op| module.nearest_symbol_table(op));
    let mut options = StreamOptions::default();
    // The nearer one comes last and wins.
    for op in [table, func].into_iter().flatten() {
        if let Some(threshold) = module
            .attr(op, COST_THRESHOLD)
            .and_then(|value| integer(module, value))
        {
            options.cost_threshold = threshold.max(1);
        }
        if let Some(upper) = module
            .attr(op, UPPER_COST_THRESHOLD)
            .and_then(|value| integer(module, value))
        {
            options.upper_cost_threshold = (upper >= 0).then_some(upper);
        }
        if let Some(merges) = module
            .attr(op, MERGE_INTER_DEPENDENT)
            .and_then(|value| truth_value(module, value))
        {
            options.merges_inter_dependent = merges;
        }
    }
    options
}

fn integer(module: &Module, attribute: AttrId) -> Option<i64> {
    i64::try_from(module.attribute_int(attribute)?).ok()
}

fn truth_value(module: &Module, attribute: AttrId) -> Option<bool> {
    match module.attribute(attribute) {
        Attribute::Integer { value, ty }
            if matches!(module.ty(*ty), Type::Integer { width: 1, .. }) =>
        {
            Some(*value != 0)
        }
        _ => None,
    }
}
