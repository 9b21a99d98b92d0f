//! Regions of convolutions with the channels last, which is how the convolution kernels read
//! images.
//!
//! Each convolution becomes one of the other layout between two transpositions. Transpositions then
//! move behind the ops that do not mind, and meet others that undo them:
//!
//! ```text
//!  conv ─► relu ─► pool ─► conv   ──►   T ─► conv' ─► relu ─► pool' ─► conv' ─► T⁻¹
//! ```

use tfrt_support::DType;
use tfrt_tensor::Shape;

use super::graph::Graph;
use super::{Phase, RewriteRule};
use crate::program::{Attr, ChangedFilters, Constant, Value};

pub(super) const RULES: &[RewriteRule] = &[
    RewriteRule {
        name: "channels-last-convolution",
        summary: "Computes a convolution on images whose channels come last.",
        phase: Phase::Layout,
        roots: &["nn.Conv"],
        apply: convolution,
    },
    RewriteRule {
        name: "channels-last-window",
        summary: "Pools images whose channels come last.",
        phase: Phase::Layout,
        roots: &["nn.AveragePool", "nn.GlobalPool", "nn.MaxPool"],
        apply: pooling,
    },
    RewriteRule {
        name: "channels-last-elements",
        summary: "Computes functions of elements before channels are moved.",
        phase: Phase::Layout,
        roots: &[
            "nn.Activation",
            "nn.Clip",
            "nn.HardSwish",
            "nn.Mish",
            "nn.Relu",
            "nn.Sigmoid",
            "nn.Tanh",
        ],
        apply: element_wise,
    },
    RewriteRule {
        name: "channels-last-pairs",
        summary: "Adds and multiplies images before their channels are moved.",
        phase: Phase::Layout,
        roots: &["tf.AddV2", "tf.Mul"],
        apply: pair,
    },
    RewriteRule {
        name: "channels-last-concatenation",
        summary: "Concatenates images before their channels are moved.",
        phase: Phase::Layout,
        roots: &["nn.Concat"],
        apply: concatenation,
    },
    RewriteRule {
        name: "channels-last-transposes",
        summary: "Drops a transposition that undoes another one.",
        phase: Phase::Layout,
        roots: &["nn.Transpose"],
        apply: undo,
    },
];

pub(super) const TO_LAST: [i64; 4] = [0, 2, 3, 1];
pub(super) const TO_FIRST: [i64; 4] = [0, 3, 1, 2];

pub(super) fn transposed(graph: &mut Graph, root: usize, x: Value, perm: [i64; 4]) -> Value {
    let place = graph.place(root).to_owned();
    let attrs = vec![("perm".to_owned(), Attr::Ints(perm.to_vec()))];
    graph.make(root, "nn.Transpose", &[x], attrs, 1, &place)[0]
}

/// Returns the images with channels last that a value is made from.
pub(super) fn source_of(graph: &Graph, value: Value) -> Option<Value> {
    let number = graph.made_by(value, "nn.Transpose")?;
    let is_back = graph.ints(number, "perm") == Some(&TO_FIRST);
    is_back.then(|| graph.operand(number, 0)).flatten()
}

fn undo(graph: &mut Graph, number: usize) -> Option<Value> {
    let is_there = graph.ints(number, "perm") == Some(&TO_LAST);
    let source = is_there
        .then(|| source_of(graph, graph.operand(number, 0)?))
        .flatten()?;
    // Transpositions fail for other ranks.
    let is_checked = graph.known(source).rank() == Some(4);
    is_checked.then_some(source)
}

/// Returns the attributes of an op for images with channels last.
pub(super) fn attrs_with_channels_last(graph: &Graph, number: usize) -> Vec<(String, Attr)> {
    let mut attrs = graph.attrs(number).to_vec();
    attrs.push(("channels_last".to_owned(), Attr::Bool(true)));
    attrs
}

fn convolution(graph: &mut Graph, number: usize) -> Option<Value> {
    if graph.flag(number, "channels_last") {
        return None;
    }
    let weights = graph.lazy_constant(graph.operand(number, 1)?)?;
    let dims = weights.shape().dims().to_vec();
    let group = graph.int(number, "group").unwrap_or(1);
    // Depthwise filters and whole ones; other groups are products of their own.
    let is_depthwise =
        dims.get(1) == Some(&1) && usize::try_from(group).ok() == dims.first().copied();
    let fits = dims.len() == 4 && weights.dtype() == DType::F32 && (group == 1 || is_depthwise);
    let x = graph.operand(number, 0)?;
    if !fits || graph.known(x).rank().is_some_and(|rank| rank != 4) {
        return None;
    }
    // A summand of another rank is broadcast, which is defined for channels in second place.
    let summand = graph.slot(number, 3);
    if summand.is_some_and(|summand| graph.known(summand).rank() != Some(4)) {
        return None;
    }
    let filter = graph.operand(number, 1)?;
    let filter = graph.derived_weight(filter, "channels-last", |filter| {
        ChangedFilters::with_channels_last(filter).map(Constant::Filters)
    })?;
    let place = graph.place(number).to_owned();
    let mut operands = graph.operands(number).to_vec();
    operands[0] = transposed(graph, number, x, TO_LAST);
    operands[1] = filter;
    if let Some(summand) = summand
        && let Some(last) = operands.last_mut()
    {
        *last = transposed(graph, number, summand, TO_LAST);
    }
    let attrs = attrs_with_channels_last(graph, number);
    let y = graph.make(number, "nn.Conv", &operands, attrs, 1, &place)[0];
    Some(transposed(graph, number, y, TO_FIRST))
}

fn pooling(graph: &mut Graph, number: usize) -> Option<Value> {
    let is_plain = match graph.name(number)? {
        "nn.MaxPool" => !graph.flag(number, "indices"),
        "nn.GlobalPool" => graph.text(number, "function") == Some("mean"),
        // Norms, and windows that are rounded up beyond the padding, count in another way.
        _ => {
            graph.int(number, "p").unwrap_or(0) == 0
                && !(graph.flag(number, "ceil_mode") && graph.flag(number, "count_include_pad"))
        }
    };
    if !is_plain || graph.flag(number, "channels_last") {
        return None;
    }
    let source = source_of(graph, graph.operand(number, 0)?)?;
    // The kernels are those of single precision, and those that find the greatest byte.
    let is_max = graph.name(number) == Some("nn.MaxPool");
    let has_kernel = match graph.known(source).dtype {
        None | Some(DType::F32) => true,
        Some(DType::Ui8 | DType::I8) => is_max,
        Some(_) => false,
    };
    if !has_kernel {
        return None;
    }
    let name = graph.name(number)?.to_owned();
    let place = graph.place(number).to_owned();
    let attrs = attrs_with_channels_last(graph, number);
    let y = graph.make(number, &name, &[source], attrs, 1, &place)[0];
    Some(transposed(graph, number, y, TO_FIRST))
}

fn element_wise(graph: &mut Graph, number: usize) -> Option<Value> {
    let mut operands = graph.operands(number).to_vec();
    operands[0] = source_of(graph, graph.slot(number, 0)?)?;
    let name = graph.name(number)?.to_owned();
    let place = graph.place(number).to_owned();
    let attrs = graph.attrs(number).to_vec();
    let y = graph.make(number, &name, &operands, attrs, 1, &place)[0];
    Some(transposed(graph, number, y, TO_FIRST))
}

/// Both operands are images of which channels are moved, or one of them is a constant for each
/// channel, or the other one has one number for each channel.
fn pair(graph: &mut Graph, number: usize) -> Option<Value> {
    let &[a, b] = graph.operands(number) else {
        return None;
    };
    let operands = match (source_of(graph, a), source_of(graph, b)) {
        (Some(a), Some(b)) => [a, b],
        (Some(a), None) => [a, moved_constant(graph, b)?],
        (None, Some(b)) => [moved_constant(graph, a)?, b],
        (None, None) => return None,
    };
    let name = graph.name(number)?.to_owned();
    let place = graph.place(number).to_owned();
    let attrs = graph.attrs(number).to_vec();
    let y = graph.make(number, &name, &operands, attrs, 1, &place)[0];
    Some(transposed(graph, number, y, TO_FIRST))
}

/// Returns a constant with one number, or one for each channel, for images with channels last.
fn moved_constant(graph: &mut Graph, value: Value) -> Option<Value> {
    let tensor = graph.constant(value)?.clone();
    let dims = tensor.shape().dims();
    if dims.iter().all(|&extent| extent == 1) && dims.len() <= 4 {
        return Some(value);
    }
    let channels = match *dims {
        [1, channels, 1, 1] | [channels, 1, 1] => channels,
        _ => return None,
    };
    let moved = tensor.reshaped(Shape::new(&[channels]).ok()?).ok()?;
    Some(graph.weight("", moved))
}

fn concatenation(graph: &mut Graph, number: usize) -> Option<Value> {
    let axis = match graph.int(number, "axis")? {
        axis @ 0..4 => axis,
        axis @ -4..0 => axis + 4,
        _ => return None,
    };
    let operands = graph.operands(number).to_vec();
    let sources: Option<Vec<Value>> = operands
        .iter()
        .map(|&value| source_of(graph, value))
        .collect();
    let sources = sources?;
    let place = graph.place(number).to_owned();
    // Where the axis is after channels have moved.
    let axis = [0, 3, 1, 2][usize::try_from(axis).ok()?];
    let attrs = vec![("axis".to_owned(), Attr::Int(axis))];
    let y = graph.make(number, "nn.Concat", &sources, attrs, 1, &place)[0];
    Some(transposed(graph, number, y, TO_FIRST))
}
