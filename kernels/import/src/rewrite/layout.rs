//! Regions of convolutions with the channels last, which is how the convolution kernels read
//! images.
//!
//! Each convolution becomes one of the other layout between two transpositions. Transpositions then
//! move behind the ops that do not mind, and meet others that undo them:
//!
//! ```text
//!  conv ─► relu ─► pool ─► conv   ──►   T ─► conv' ─► relu ─► pool' ─► conv' ─► T⁻¹
//! ```
//!
//! Sequences `[batch, channels, columns]` are images of one row, but for their rank: the filters
//! and attributes of their convolutions become those of images.

use tfrt_support::DType;
use tfrt_tensor::{DenseHostTensor, Element, Shape};

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
        name: "channels-last-transposed-convolution",
        summary: "Computes a transposed convolution on images whose channels come last.",
        phase: Phase::Layout,
        roots: &["nn.ConvTranspose"],
        apply: transposed_convolution,
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
            "nn.Abs",
            "nn.Activation",
            "nn.Clip",
            "nn.Erf",
            "nn.Exp",
            "nn.HardSwish",
            "nn.Log",
            "nn.Mish",
            "nn.Neg",
            "nn.Reciprocal",
            "nn.Relu",
            "nn.Sigmoid",
            "nn.Softplus",
            "nn.Sqrt",
            "nn.Tanh",
            "tfrt.Cast",
        ],
        apply: element_wise,
    },
    RewriteRule {
        name: "channels-last-pairs",
        summary: "Computes functions of the elements of two images before channels are moved.",
        phase: Phase::Layout,
        roots: &["nn.Div", "nn.Max", "nn.Min", "tf.AddV2", "tf.Mul", "tf.Sub"],
        apply: pair,
    },
    RewriteRule {
        name: "channels-last-slopes",
        summary: "Multiplies negative elements before channels are moved.",
        phase: Phase::Layout,
        roots: &["nn.PRelu"],
        apply: slopes,
    },
    RewriteRule {
        name: "channels-last-sizes",
        summary: "Resizes and pads images before their channels are moved.",
        phase: Phase::Layout,
        roots: &["nn.Pad", "nn.Resize"],
        apply: sizes,
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

/// Ops that compute the same wherever the channels are, so that they are a part of the region that
/// their operands are in.
pub(crate) const KEEP_CHANNELS: &[&str] = &[
    "nn.Activation",
    "nn.Clip",
    "nn.Concat",
    "nn.ElementWise",
    "nn.HardSwish",
    "nn.Mish",
    "nn.PRelu",
    "nn.Pad",
    "nn.Relu",
    "nn.Resize",
    "nn.Sigmoid",
    "nn.Tanh",
    "tf.AddV2",
    "tf.Mul",
];

pub(super) const TO_LAST: [i64; 4] = [0, 2, 3, 1];
pub(super) const TO_FIRST: [i64; 4] = [0, 3, 1, 2];

/// The same for sequences, in both directions.
const SWAPPED: [i64; 3] = [0, 2, 1];

/// Returns how the channels of images or sequences become last.
fn to_last(rank: usize) -> Option<&'static [i64]> {
    match rank {
        3 => Some(&SWAPPED),
        4 => Some(&TO_LAST),
        _ => None,
    }
}

/// Returns how they become first again.
fn to_first(rank: usize) -> Option<&'static [i64]> {
    match rank {
        3 => Some(&SWAPPED),
        4 => Some(&TO_FIRST),
        _ => None,
    }
}

pub(super) fn transposed(graph: &mut Graph, root: usize, x: Value, perm: &[i64]) -> Value {
    let place = graph.place(root).to_owned();
    let attrs = vec![("perm".to_owned(), Attr::Ints(perm.to_vec()))];
    graph.make(root, "nn.Transpose", &[x], attrs, 1, &place)[0]
}

/// Returns the images or sequences with channels last that a value is made from, and their rank.
fn moved_source_of(graph: &Graph, value: Value) -> Option<(Value, usize)> {
    let number = graph.made_by(value, "nn.Transpose")?;
    let perm = graph.ints(number, "perm")?;
    let is_back = to_first(perm.len()) == Some(perm);
    let source = is_back.then(|| graph.operand(number, 0)).flatten()?;
    Some((source, perm.len()))
}

/// Returns the images with channels last that a value is made from.
pub(super) fn source_of(graph: &Graph, value: Value) -> Option<Value> {
    let (source, rank) = moved_source_of(graph, value)?;
    (rank == 4).then_some(source)
}

fn undo(graph: &mut Graph, number: usize) -> Option<Value> {
    let perm = graph.ints(number, "perm")?;
    let rank = perm.len();
    let is_there = to_last(rank) == Some(perm);
    let source = is_there.then(|| moved_source_of(graph, graph.operand(number, 0)?));
    let (source, _) = source
        .flatten()
        .filter(|(_, of_source)| *of_source == rank)?;
    // Transpositions fail for other ranks.
    let is_checked = graph.known(source).rank() == Some(rank);
    is_checked.then_some(source)
}

/// Makes an op with channels last in place of another one, and moves the channels of its result
/// back.
fn moved(
    graph: &mut Graph,
    number: usize,
    operands: &[Value],
    attrs: Vec<(String, Attr)>,
    rank: usize,
) -> Option<Value> {
    let name = graph.name(number)?.to_owned();
    let place = graph.place(number).to_owned();
    let y = graph.make(number, &name, operands, attrs, 1, &place)[0];
    Some(transposed(graph, number, y, to_first(rank)?))
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
    let rank = dims.len();
    let to_last = to_last(rank)?;
    let fits = weights.dtype() == DType::F32 && (group == 1 || is_depthwise);
    let x = graph.operand(number, 0)?;
    if !fits || graph.known(x).rank().is_some_and(|found| found != rank) {
        return None;
    }
    // A summand of another rank is broadcast, which is defined for channels in second place.
    let summand = graph.slot(number, 3);
    if summand.is_some_and(|summand| graph.known(summand).rank() != Some(rank)) {
        return None;
    }
    let filter = filter_with_channels_last(graph, number)?;
    let mut operands = graph.operands(number).to_vec();
    operands[0] = transposed(graph, number, x, to_last);
    operands[1] = filter;
    if let Some(summand) = summand
        && let Some(last) = operands.last_mut()
    {
        *last = transposed(graph, number, summand, to_last);
    }
    let attrs = attrs_of_images(graph, number, rank);
    moved(graph, number, &operands, attrs, rank)
}

/// Returns the filter of a convolution with channels last.
fn filter_with_channels_last(graph: &mut Graph, number: usize) -> Option<Value> {
    let filter = graph.operand(number, 1)?;
    graph.derived_weight(filter, "channels-last", |filter| {
        if let &[filters, channels, columns] = filter.shape().dims() {
            let shape = Shape::new(&[filters, channels, 1, columns]).ok()?;
            let image = filter.tensor().ok()?.reshaped(shape).ok()?;
            let moved = ChangedFilters::with_channels_last(&image.into());
            return moved.map(Constant::Filters);
        }
        ChangedFilters::with_channels_last(filter).map(Constant::Filters)
    })
}

/// Returns the attributes of an op on images or sequences for images with channels last.
fn attrs_of_images(graph: &Graph, number: usize, rank: usize) -> Vec<(String, Attr)> {
    let mut attrs = attrs_with_channels_last(graph, number);
    if rank == 4 {
        return attrs;
    }
    for (name, attr) in &mut attrs {
        // One axis more in front, with windows of one row.
        let row = match name.as_str() {
            "strides" | "dilations" => 1,
            "pads" | "output_padding" => 0,
            _ => continue,
        };
        let Attr::Ints(numbers) = attr else {
            continue;
        };
        let with_row = match &numbers[..] {
            &[before, after] if name == "pads" => vec![row, before, row, after],
            numbers => [&[row], numbers].concat(),
        };
        *numbers = with_row;
    }
    attrs
}

/// Filters `[channels, filters, …]` become `[…, filters, channels]`.
fn transposed_convolution(graph: &mut Graph, number: usize) -> Option<Value> {
    if graph.flag(number, "channels_last") || graph.int(number, "group").unwrap_or(1) != 1 {
        return None;
    }
    let weights = graph.lazy_constant(graph.operand(number, 1)?)?;
    let sizes = weights.shape().dims().get(2..)?.to_vec();
    let rank = sizes.len() + 2;
    let to_last = to_last(rank)?;
    let x = graph.operand(number, 0)?;
    let fits = weights.dtype() == DType::F32
        && weights.len_bytes() > 0
        && graph.known(x).dtype == Some(DType::F32)
        && graph.known(x).rank().is_none_or(|found| found == rank)
        && windows_cover_result(graph, number, &sizes);
    if !fits {
        return None;
    }
    let filter = filter_with_channels_last(graph, number)?;
    let mut operands = graph.operands(number).to_vec();
    operands[0] = transposed(graph, number, x, to_last);
    operands[1] = filter;
    let attrs = attrs_of_images(graph, number, rank);
    moved(graph, number, &operands, attrs, rank)
}

/// Returns `true` if the first window of a transposed convolution does not begin inside the result,
/// and no further window would fit behind the last one.
fn windows_cover_result(graph: &Graph, number: usize, sizes: &[usize]) -> bool {
    let at = |name: &str, axis: usize, default: i64| match graph.ints(number, name) {
        Some(numbers) => numbers.get(axis).copied().unwrap_or(default),
        None => default,
    };
    if graph.ints(number, "output_shape").is_some() {
        return false;
    }
    let is_same = matches!(
        graph.text(number, "auto_pad"),
        Some("SAME_UPPER" | "SAME_LOWER")
    );
    sizes.iter().enumerate().all(|(axis, &size)| {
        let (stride, dilation) = (at("strides", axis, 1), at("dilations", axis, 1));
        let size = i64::try_from(size).unwrap_or(i64::MAX);
        let extent = size
            .saturating_sub(1)
            .saturating_mul(dilation)
            .saturating_add(1);
        // The padding is what the windows have beyond the result.
        let covers = !is_same || extent >= stride;
        let pads = [at("pads", axis, 0), at("pads", sizes.len() + axis, 0)];
        let is_padded = pads.iter().all(|&pad| (0..extent).contains(&pad));
        covers && is_padded && (0..stride).contains(&at("output_padding", axis, 0))
    })
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
    let attrs = attrs_with_channels_last(graph, number);
    moved(graph, number, &[source], attrs, 4)
}

fn element_wise(graph: &mut Graph, number: usize) -> Option<Value> {
    let mut operands = graph.operands(number).to_vec();
    let (source, rank) = moved_source_of(graph, graph.slot(number, 0)?)?;
    operands[0] = source;
    let attrs = graph.attrs(number).to_vec();
    moved(graph, number, &operands, attrs, rank)
}

/// Both operands are images of which channels are moved, or one of them is a constant for each
/// channel, or the other one has one number for each channel.
fn pair(graph: &mut Graph, number: usize) -> Option<Value> {
    let &[a, b] = graph.operands(number) else {
        return None;
    };
    let (operands, rank) = match (moved_source_of(graph, a), moved_source_of(graph, b)) {
        (Some((a, rank)), Some((b, other))) if rank == other => ([a, b], rank),
        (Some(_), Some(_)) | (None, None) => return None,
        (Some((a, rank)), None) => ([a, moved_constant(graph, b, rank)?], rank),
        (None, Some((b, rank))) => ([moved_constant(graph, a, rank)?, b], rank),
    };
    let attrs = graph.attrs(number).to_vec();
    moved(graph, number, &operands, attrs, rank)
}

fn slopes(graph: &mut Graph, number: usize) -> Option<Value> {
    let &[x, slope] = graph.operands(number) else {
        return None;
    };
    let (source, rank) = moved_source_of(graph, x)?;
    let operands = [source, moved_constant(graph, slope, rank)?];
    let attrs = graph.attrs(number).to_vec();
    moved(graph, number, &operands, attrs, rank)
}

/// The numbers for each axis are constants, or those of the axes that an attribute lists.
fn sizes(graph: &mut Graph, number: usize) -> Option<Value> {
    const AXES_OF_PAD: usize = 3;
    let (source, rank) = moved_source_of(graph, graph.slot(number, 0)?)?;
    let mut operands = graph.operands(number).to_vec();
    operands[0] = source;
    let mut attrs = graph.attrs(number).to_vec();
    let is_pad = graph.name(number) == Some("nn.Pad");
    let listed = attrs.iter_mut().find(|(name, _)| name == "axes");
    match listed {
        Some((_, Attr::Ints(axes))) if !is_pad => {
            for axis in axes {
                let moved = moved_axis(super::infer::axis_of(*axis, rank)?, rank);
                *axis = i64::try_from(moved).ok()?;
            }
        }
        _ => {
            // The regions of `tf_crop_and_resize` have numbers for each axis, too.
            let is_region = graph.text(number, "coordinates") == Some("tf_crop_and_resize");
            if is_region || (is_pad && graph.slot(number, AXES_OF_PAD).is_some()) {
                return None;
            }
            let slots: &[usize] = if is_pad { &[1] } else { &[2, 3] };
            for &slot in slots {
                let Some(numbers) = graph.slot(number, slot) else {
                    continue;
                };
                let at = operands.iter().position(|&operand| operand == numbers)?;
                operands[at] = moved_numbers(graph, numbers, rank)?;
            }
        }
    }
    moved(graph, number, &operands, attrs, rank)
}

/// Returns where an axis is after channels have moved.
fn moved_axis(axis: usize, rank: usize) -> usize {
    match axis {
        0 => 0,
        1 => rank - 1,
        axis => axis - 1,
    }
}

/// Returns a constant of one number for each axis, or two lists of them, for images or sequences
/// with channels last.
fn moved_numbers(graph: &mut Graph, numbers: Value, rank: usize) -> Option<Value> {
    let tensor = graph.constant(numbers)?.clone();
    let places: Vec<usize> = match *tensor.shape().dims() {
        [0] => return Some(numbers),
        [len] if len == rank || len == 2 * rank => (0..len).collect(),
        _ => return None,
    };
    let mut moved = places.clone();
    for &place in &places {
        let (list, axis) = (place / rank, place % rank);
        moved[list * rank + moved_axis(axis, rank)] = place;
    }
    let moved = match tensor.dtype() {
        DType::I64 => reordered::<i64>(&tensor, &moved)?,
        DType::F32 => reordered::<f32>(&tensor, &moved)?,
        _ => return None,
    };
    Some(graph.weight("", moved))
}

/// Returns a vector of the elements at these places.
fn reordered<T: Element>(tensor: &DenseHostTensor, places: &[usize]) -> Option<DenseHostTensor> {
    let elements = tensor.elements::<T>().ok()?;
    let elements: Vec<T> = places.iter().map(|&place| elements[place]).collect();
    DenseHostTensor::from_elements(&crate::malloc(), tensor.shape().clone(), &elements).ok()
}

/// Returns a constant with one number, or one for each channel, for images or sequences of this
/// rank with channels last.
fn moved_constant(graph: &mut Graph, value: Value, rank: usize) -> Option<Value> {
    let tensor = graph.constant(value)?.clone();
    let dims = tensor.shape().dims();
    if dims.iter().all(|&extent| extent == 1) && dims.len() <= rank {
        return Some(value);
    }
    let channels = match (rank, dims) {
        (4, &[1, channels, 1, 1] | &[channels, 1, 1]) => channels,
        (3, &[1, channels, 1] | &[channels, 1]) => channels,
        _ => return None,
    };
    let moved = tensor.reshaped(Shape::new(&[channels]).ok()?).ok()?;
    Some(graph.weight("", moved))
}

fn concatenation(graph: &mut Graph, number: usize) -> Option<Value> {
    let operands = graph.operands(number).to_vec();
    let sources = operands.iter().map(|&value| moved_source_of(graph, value));
    let sources = sources.collect::<Option<Vec<(Value, usize)>>>()?;
    let &(_, rank) = sources.first()?;
    if sources.iter().any(|(_, other)| *other != rank) {
        return None;
    }
    let sources: Vec<Value> = sources.into_iter().map(|(source, _)| source).collect();
    let axis = super::infer::axis_of(graph.int(number, "axis")?, rank)?;
    // Where the axis is after channels have moved.
    let axis = i64::try_from(moved_axis(axis, rank)).ok()?;
    let attrs = vec![("axis".to_owned(), Attr::Int(axis))];
    moved(graph, number, &sources, attrs, rank)
}
