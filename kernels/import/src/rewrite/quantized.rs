//! Quantised models: integer kernels in place of those between dequantization and quantization.
//!
//! ```text
//!  bytes ─► Dequantize ─┐
//!  bytes ─► Dequantize ─┴► Conv ─► Relu ─► Quantize ─► bytes   ──►   bytes, bytes ─► QuantizedConv ─► bytes
//! ```
//!
//! Sums of products are exact, so that results differ by the rounding of the original convolution
//! alone: by one step at most. A function that does not decrease, such as `Relu`, becomes a bound
//! of the bytes.

use tfrt_support::DType;
use tfrt_tensor::{DenseHostTensor, Shape};

use super::graph::Graph;
use super::layout::{TO_FIRST, TO_LAST, attrs_with_channels_last, source_of, transposed};
use super::matching::{orders, uniform_number};
use super::{Phase, RewriteRule, fused_place};
use crate::program::{Attr, Constant, Value};

pub(super) const RULES: &[RewriteRule] = &[
    RewriteRule {
        name: "quantize-convolution",
        summary: "Computes a convolution of quantised tensors on integers.",
        phase: Phase::Combine,
        roots: &["nn.Quantize"],
        apply: convolution,
    },
    RewriteRule {
        name: "quantize-product",
        summary: "Computes a matrix product of quantised tensors on integers.",
        phase: Phase::Combine,
        roots: &["nn.Quantize"],
        apply: product,
    },
    RewriteRule {
        name: "quantize-sum",
        summary: "Adds quantised tensors in one pass.",
        phase: Phase::Combine,
        roots: &["nn.Quantize"],
        apply: sum,
    },
    RewriteRule {
        name: "quantize-moves",
        summary: "Moves and compares quantised elements as they are.",
        phase: Phase::Combine,
        roots: &["nn.Quantize"],
        apply: moves,
    },
    RewriteRule {
        name: "channels-last-quantized",
        summary: "Computes with quantised images whose channels come last.",
        phase: Phase::Layout,
        roots: &[
            "nn.Dequantize",
            "nn.Quantize",
            "nn.QuantizedAdd",
            "nn.QuantizedConv",
        ],
        apply: channels_last,
    },
];

/// How the bytes of a tensor represent numbers.
struct Quantization {
    scale: Value,
    zero: Value,
    dtype: DType,
}

/// Bytes, and how they represent numbers.
struct Quantized {
    bytes: Value,
    quantization: Quantization,
}

/// Returns how the op of a number quantises or dequantises bytes, if it has scales of single
/// precision that are known, along the axis that `has_axis` accepts, or one for all.
fn quantization(
    graph: &mut Graph,
    number: usize,
    known: Option<DType>,
    has_axis: impl Fn(i64) -> bool,
) -> Option<Quantization> {
    let &[_, scale, ref zero @ ..] = graph.operands(number) else {
        return None;
    };
    let zero = zero.first().copied();
    let scales = graph.constant(scale)?;
    let is_fit = |scale: &f32| scale.is_finite() && *scale > 0.0;
    let is_single =
        scales.dtype() == DType::F32 && scales.elements::<f32>().ok()?.iter().all(is_fit);
    let is_for_all = scales.num_elements() == 1;
    let is_along_axis = has_axis(graph.int(number, "axis").unwrap_or(1));
    let has_blocks = graph.int(number, "block").unwrap_or(0) != 0;
    if !is_single || has_blocks || scales.shape().rank() > 1 || !(is_for_all || is_along_axis) {
        return None;
    }
    let len = scales.num_elements();
    let dtype = match zero {
        Some(zero) => {
            let zeros = graph.constant(zero)?;
            (zeros.num_elements() == len).then(|| zeros.dtype())?
        }
        None => known?,
    };
    if !matches!(dtype, DType::Ui8 | DType::I8) {
        return None;
    }
    let zero = match zero {
        Some(zero) => zero,
        None => {
            let zero = DenseHostTensor::zeroed(&crate::malloc(), dtype, Shape::new(&[]).ok()?);
            graph.weight("", zero.ok()?)
        }
    };
    Some(Quantization { scale, zero, dtype })
}

/// Returns the bytes that a value is made from, with one scale for all.
fn dequantized(graph: &mut Graph, value: Value) -> Option<Quantized> {
    dequantized_along(graph, value, |_| false)
}

/// Returns the bytes that a value is made from.
fn dequantized_along(
    graph: &mut Graph,
    value: Value,
    has_axis: impl Fn(i64) -> bool,
) -> Option<Quantized> {
    let number = graph.made_by(value, "nn.Dequantize")?;
    let bytes = graph.operand(number, 0)?;
    let is_single = matches!(
        graph.attr(number, "dtype"),
        None | Some(Attr::Type(DType::F32))
    );
    let known = graph.known(bytes).dtype;
    let quantization = quantization(graph, number, known, has_axis)?;
    is_single.then_some(Quantized {
        bytes,
        quantization,
    })
}

/// Returns the integers of a constant of bytes or of 32-bit integers.
fn small_integers(tensor: &DenseHostTensor) -> Option<Vec<i32>> {
    fn of<T: tfrt_tensor::Element + Into<i32>>(tensor: &DenseHostTensor) -> Option<Vec<i32>> {
        let elements = tensor.elements::<T>().ok()?;
        Some(elements.iter().map(|&number| number.into()).collect())
    }
    match tensor.dtype() {
        DType::I8 => of::<i8>(tensor),
        DType::Ui8 => of::<u8>(tensor),
        DType::I32 => of::<i32>(tensor),
        _ => None,
    }
}

/// Returns the constant filter that a value is made from: signed bytes whose zero points are 0.
fn filter_of(
    graph: &mut Graph,
    value: Value,
    rank: usize,
    has_axis: impl Fn(i64) -> bool,
) -> Option<Quantized> {
    let filter = dequantized_along(graph, value, has_axis)?;
    let bytes = graph.constant(filter.bytes)?;
    let fits = bytes.dtype() == DType::I8 && bytes.shape().rank() == rank;
    let zeros = small_integers(graph.constant(filter.quantization.zero)?)?;
    let is_centred = filter.quantization.dtype == DType::I8 && zeros.iter().all(|&zero| zero == 0);
    (fits && is_centred).then_some(filter)
}

/// What an op quantises, and how.
struct Target {
    /// The value before a function that became bounds.
    value: Value,
    quantization: Quantization,
    bounds: Vec<(String, Attr)>,
    place: String,
}

impl Target {
    /// Returns what the op of a number quantises, if nothing else uses it.
    fn of(graph: &mut Graph, number: usize) -> Option<Self> {
        let known = match graph.attr(number, "dtype") {
            Some(Attr::Type(dtype)) => *dtype,
            _ => DType::Ui8,
        };
        let quantization = quantization(graph, number, Some(known), |_| false)?;
        let mut target = Self {
            value: graph.operand(number, 0)?,
            quantization,
            bounds: Vec::new(),
            place: graph.place(number).to_owned(),
        };
        if graph.attr(number, "dtype").is_some() && known != target.quantization.dtype {
            return None;
        }
        if !graph.is_used_once(target.value) {
            return None;
        }
        target.take_function(graph);
        Some(target)
    }

    /// Replaces a function that does not decrease by bounds of the bytes.
    fn take_function(&mut self, graph: &Graph) {
        let Some(function) = graph.maker(self.value) else {
            return;
        };
        let bound = |slot: usize| match graph.slot(function, slot) {
            None => Some(None),
            Some(bound) => {
                let tensor = graph.constant(bound)?;
                let is_one = tensor.num_elements() == 1 && tensor.dtype() == DType::F32;
                let number = uniform_number(tensor).filter(|number| is_one && !number.is_nan())?;
                Some(Some(number as f32))
            }
        };
        let bounds = match graph.name(function) {
            Some("nn.Relu") => Some((Some(0.0), None)),
            Some("nn.Clip") => bound(1).zip(bound(2)),
            _ => None,
        };
        let (Some((least, greatest)), Some(x)) = (bounds, graph.slot(function, 0)) else {
            return;
        };
        let is_ordered = least
            .zip(greatest)
            .is_none_or(|(least, most)| least <= most);
        let is_free = graph.is_used_once(x) && is_ordered;
        let names = [("least", least), ("greatest", greatest)];
        let bounds: Option<Vec<(String, Attr)>> = names
            .into_iter()
            .filter_map(|(name, bound)| Some((name, bound?)))
            .map(|(name, bound)| Some((name.to_owned(), Attr::Int(self.byte(graph, bound)?))))
            .collect();
        let (true, Some(bounds)) = (is_free, bounds) else {
            return;
        };
        self.place = fused_place(graph.place(function), &self.place);
        self.bounds = bounds;
        self.value = x;
    }

    /// Returns the whole number that represents a number, whether it is a byte or not.
    fn byte(&self, graph: &Graph, number: f32) -> Option<i64> {
        let scale = *graph
            .constant(self.quantization.scale)?
            .elements::<f32>()
            .ok()?
            .first()?;
        let zero = *small_integers(graph.constant(self.quantization.zero)?)?.first()?;
        let steps = (number / scale).round_ties_even();
        Some((steps as i64).saturating_add(zero.into()))
    }

    /// Makes the op that replaces a convolution or product, which adds a bias if there is one.
    fn make(
        self,
        graph: &mut Graph,
        number: usize,
        (name, mut attrs): (&str, Vec<(String, Attr)>),
        (x, w): (Quantized, Quantized),
        bias: Option<Value>,
        place: &str,
    ) -> Value {
        let mut operands = vec![
            x.bytes,
            x.quantization.scale,
            x.quantization.zero,
            w.bytes,
            w.quantization.scale,
            w.quantization.zero,
            self.quantization.scale,
            self.quantization.zero,
        ];
        operands.extend(bias);
        attrs.extend(self.bounds);
        let place = fused_place(place, &self.place);
        graph.make(number, name, &operands, attrs, 1, &place)[0]
    }
}

/// Returns how large the bias of a filter of bytes may be so that no sum exceeds an i32, if any.
fn room_for_bias(graph: &Graph, filters: Value, num_filters: usize) -> Option<f64> {
    let places = graph
        .constant(filters)?
        .num_elements()
        .checked_div(num_filters)?;
    let greatest = i64::try_from(places).ok()?.checked_mul(255 * 128)?;
    let room = i64::from(i32::MAX) - greatest;
    (room >= 0).then_some(room as f64)
}

/// Returns a bias in steps of the sums of each filter, the product of the scales of `x` and `w`, if
/// no step exceeds `room`.
fn bias_of(
    graph: &mut Graph,
    value: Value,
    scales: [&Quantization; 2],
    len: usize,
    room: f64,
) -> Option<Value> {
    let numbers: Vec<f64> = match graph.constant(value) {
        Some(tensor) => {
            // A column would be added to rows.
            if !matches!(*tensor.shape().dims(), [n] | [1, n] if n == len) {
                return None;
            }
            let numbers = tensor.elements::<f32>().ok()?;
            numbers.iter().map(|&x| x.into()).collect()
        }
        None => {
            let number = graph.made_by(value, "nn.Dequantize")?;
            let &[bytes, scale, ref zero @ ..] = graph.operands(number) else {
                return None;
            };
            let zeros = zero
                .first()
                .map(|&zero| small_integers(graph.constant(zero)?));
            let is_centred = zeros
                .is_none_or(|zeros| zeros.is_some_and(|zeros| zeros.iter().all(|&zero| zero == 0)));
            let scales = graph.constant(scale)?.elements::<f32>().ok()?;
            let steps = small_integers(graph.constant(bytes)?)?;
            let fits = is_centred
                && graph.constant(bytes)?.shape().rank() == 1
                && graph.int(number, "block").unwrap_or(0) == 0
                && (scales.len() == 1 || scales.len() == steps.len());
            let scales = scales.iter().cycle().take(steps.len());
            let numbers = steps.iter().zip(scales);
            fits.then(|| numbers.map(|(&step, &scale)| f64::from(step) * f64::from(scale)))?
                .collect()
        }
    };
    let [x, w] = scales;
    let x = f64::from(*graph.constant(x.scale)?.elements::<f32>().ok()?.first()?);
    let w = graph.constant(w.scale)?.elements::<f32>().ok()?.to_vec();
    if numbers.len() != len || !(w.len() == 1 || w.len() == len) {
        return None;
    }
    let steps: Option<Vec<i32>> = numbers
        .iter()
        .zip(w.iter().cycle())
        .map(|(number, &w)| {
            let steps = (number / (x * f64::from(w))).round_ties_even();
            (steps.abs() <= room).then_some(steps as i32)
        })
        .collect();
    Some(graph.weight("", DenseHostTensor::vector(&steps?).ok()?))
}

fn convolution(graph: &mut Graph, number: usize) -> Option<Value> {
    let target = Target::of(graph, number)?;
    let conv = graph.made_by(target.value, "nn.Conv")?;
    let is_plain = graph.int(conv, "group").unwrap_or(1) == 1
        && graph.attr(conv, "activation").is_none()
        && graph.slot(conv, 3).is_none()
        && !graph.flag(conv, "channels_last");
    if !is_plain {
        return None;
    }
    let (x, w) = (graph.operand(conv, 0)?, graph.operand(conv, 1)?);
    let x = dequantized(graph, x)?;
    let w = filter_of(graph, w, 4, |axis| matches!(axis, 0 | -4))?;
    let filters = *graph.constant(w.bytes)?.shape().dims().first()?;
    let room = room_for_bias(graph, w.bytes, filters)?;
    let bias = match graph.slot(conv, 2) {
        Some(bias) => {
            let scales = [&x.quantization, &w.quantization];
            Some(bias_of(graph, bias, scales, filters, room)?)
        }
        None => None,
    };
    let mut attrs = graph.attrs(conv).to_vec();
    attrs.retain(|(name, _)| !["group", "slots"].contains(&name.as_str()));
    let place = graph.place(conv).to_owned();
    let op = ("nn.QuantizedConv", attrs);
    Some(target.make(graph, number, op, (x, w), bias, &place))
}

fn product(graph: &mut Graph, number: usize) -> Option<Value> {
    let target = Target::of(graph, number)?;
    let (host, bias) = host_with_bias(graph, target.value)?;
    let is_gemm = graph.name(host) == Some("nn.Gemm");
    let has_factor = ["alpha", "beta"]
        .iter()
        .any(|name| graph.float(host, name).is_some_and(|factor| factor != 1.0));
    let is_plain = graph.attr(host, "activation").is_none()
        && graph.slot(host, 3).is_none()
        && !graph.flag(host, "transpose_a")
        && !has_factor;
    if !is_plain || (!is_gemm && graph.slot(host, 2).is_some()) {
        return None;
    }
    let is_transposed = graph.flag(host, "transpose_b");
    let (x, w) = (graph.operand(host, 0)?, graph.operand(host, 1)?);
    let x = dequantized(graph, x)?;
    // A product of other ranks is an error, which stays.
    let rank = graph.known(x.bytes).rank()?;
    if if is_gemm { rank != 2 } else { rank < 1 } {
        return None;
    }
    let mut w = filter_of(graph, w, 2, |axis| match is_transposed {
        true => matches!(axis, 0 | -2),
        false => matches!(axis, 1 | -1),
    })?;
    if is_transposed {
        w.bytes = graph.derived_weight(w.bytes, "transposed", |bytes| {
            transposed_bytes(bytes.tensor().ok()?).map(Constant::Tensor)
        })?;
    }
    let columns = *graph.constant(w.bytes)?.shape().dims().last()?;
    let room = room_for_bias(graph, w.bytes, columns)?;
    let bias = match bias.or_else(|| graph.slot(host, 2)) {
        Some(bias) => {
            let scales = [&x.quantization, &w.quantization];
            Some(bias_of(graph, bias, scales, columns, room)?)
        }
        None => None,
    };
    let place = graph.place(host).to_owned();
    let op = ("nn.QuantizedMatMul", Vec::new());
    Some(target.make(graph, number, op, (x, w), bias, &place))
}

/// Returns the product that makes a value, and the vector that is added to it, if there is one.
fn host_with_bias(graph: &Graph, value: Value) -> Option<(usize, Option<Value>)> {
    let host = |value: Value| {
        let number = graph.maker(value)?;
        let is_host = matches!(graph.name(number)?, "nn.Gemm" | "nn.MatMul");
        is_host.then_some(number)
    };
    if let Some(host) = host(value) {
        return Some((host, None));
    }
    let sum = graph.made_by(value, "tf.AddV2")?;
    orders(graph, sum).into_iter().find_map(|(product, bias)| {
        let host = host(product).filter(|&host| graph.slot(host, 2).is_none())?;
        // A vector does not change the shape of a product that has columns.
        let fits = graph.is_used_once(product)
            && graph.known(bias).rank() == Some(1)
            && graph.known(product).rank().is_some_and(|rank| rank >= 1);
        fits.then_some((host, Some(bias)))
    })
}

fn transposed_bytes(matrix: &DenseHostTensor) -> Option<DenseHostTensor> {
    let &[rows, columns] = matrix.shape().dims() else {
        return None;
    };
    let from = matrix.elements::<i8>().ok()?;
    let shape = Shape::new(&[columns, rows]).ok()?;
    let number = |at: usize| from[at % rows * columns + at / rows];
    DenseHostTensor::from_fn(&crate::malloc(), shape, number).ok()
}

fn sum(graph: &mut Graph, number: usize) -> Option<Value> {
    let target = Target::of(graph, number)?;
    let sum = graph.made_by(target.value, "tf.AddV2")?;
    let &[a, b] = graph.operands(sum) else {
        return None;
    };
    let summands = (dequantized(graph, a)?, dequantized(graph, b)?);
    let place = graph.place(sum).to_owned();
    let op = ("nn.QuantizedAdd", Vec::new());
    Some(target.make(graph, number, op, summands, None, &place))
}

/// Ops that move elements or choose among them.
const MOVES: &[&str] = &[
    "nn.Flatten",
    "nn.MaxPool",
    "nn.Reshape",
    "nn.Squeeze",
    "nn.Transpose",
    "nn.Unsqueeze",
];

fn moves(graph: &mut Graph, number: usize) -> Option<Value> {
    let target = Target::of(graph, number)?;
    if !target.bounds.is_empty() {
        return None;
    }
    let mover = graph.maker(target.value)?;
    let name = graph.name(mover)?.to_owned();
    if !MOVES.contains(&name.as_str()) || !graph.has_one_result(mover) {
        return None;
    }
    let x = graph.operand(mover, 0)?;
    let x = dequantized(graph, x)?;
    let is_same = |a: Value, b: Value| {
        let (a, b) = (graph.constant(a)?, graph.constant(b)?);
        Some(a.dtype() == b.dtype() && uniform_bytes(a)? == uniform_bytes(b)?)
    };
    let (from, to) = (&x.quantization, &target.quantization);
    if is_same(from.scale, to.scale)? && is_same(from.zero, to.zero)? {
        let mut operands = graph.operands(mover).to_vec();
        operands[0] = x.bytes;
        let num_results = graph.op(mover)?.results.len();
        let attrs = graph.attrs(mover).to_vec();
        let place = fused_place(graph.place(mover), &target.place);
        return Some(graph.make(number, &name, &operands, attrs, num_results, &place)[0]);
    }
    None
}

/// Returns the bytes of the one element of a tensor.
fn uniform_bytes(tensor: &DenseHostTensor) -> Option<Vec<u8>> {
    (tensor.num_elements() == 1).then(|| Some(tensor.buffer().read().ok()?.to_vec()))?
}

fn channels_last(graph: &mut Graph, number: usize) -> Option<Value> {
    let name = graph.name(number)?.to_owned();
    let mut operands = graph.operands(number).to_vec();
    let mut attrs = graph.attrs(number).to_vec();
    match name.as_str() {
        "nn.QuantizedConv" => {
            let is_plain = graph.int(number, "group").unwrap_or(1) == 1
                && !graph.flag(number, "channels_last")
                && graph.known(operands[0]).rank().is_none_or(|rank| rank == 4);
            let (w, zero) = (*operands.get(3)?, *operands.get(5)?);
            let (w, zero) = (graph.constant(w)?, graph.constant(zero)?);
            let is_centred = small_integers(zero)?.iter().all(|&zero| zero == 0);
            let is_signed = w.dtype() == DType::I8 && zero.dtype() == DType::I8;
            if !is_plain || !is_signed || !is_centred || w.shape().rank() != 4 {
                return None;
            }
            operands[0] = transposed(graph, number, operands[0], &TO_LAST);
            attrs = attrs_with_channels_last(graph, number);
        }
        "nn.QuantizedAdd" => {
            operands[0] = source_of(graph, operands[0])?;
            let other = *operands.get(3)?;
            operands[3] = source_of(graph, other)?;
        }
        _ => {
            let scale = graph.constant(*operands.get(1)?)?;
            if scale.num_elements() != 1 || scale.shape().rank() > 1 {
                return None;
            }
            operands[0] = source_of(graph, operands[0])?;
        }
    }
    let place = graph.place(number).to_owned();
    let y = graph.make(number, &name, &operands, attrs, 1, &place)[0];
    Some(transposed(graph, number, y, &TO_FIRST))
}
