//! Products and convolutions with what is done to each element of their results: a bias, a summand
//! and a function, in one kernel.
//!
//! The summand may be broadcast to the result, or the result to the summand: the kernel looks at
//! the shapes.

use tfrt_support::DType;

use super::graph::Graph;
use super::identities::vector_summand;
use super::infer::Dim;
use super::matching::{activation_within_ops, clip_bounds, orders};
use super::{Phase, RewriteRule, fused_place};
use crate::program::{Attr, Value};

pub(super) const RULES: &[RewriteRule] = &[
    RewriteRule {
        name: "fuse-bias",
        summary: "Adds a constant for each channel or column within the convolution or product.",
        phase: Phase::Combine,
        roots: &["tf.AddV2"],
        apply: fuse_bias,
    },
    RewriteRule {
        name: "fuse-sum",
        summary: "Adds another tensor within the convolution or product.",
        phase: Phase::Combine,
        roots: &["tf.AddV2"],
        apply: fuse_sum,
    },
    RewriteRule {
        name: "fuse-activation",
        summary: "Applies an activation within the convolution or product.",
        phase: Phase::Combine,
        roots: &[
            "nn.Activation",
            "nn.Clip",
            "nn.HardSwish",
            "nn.Mish",
            "nn.Relu",
            "nn.Sigmoid",
            "nn.Tanh",
        ],
        apply: fuse_activation,
    },
];

/// The slot of the tensor that is added.
const SUMMAND: usize = 3;

/// Returns the convolution or product with constant weights of single precision that makes a value
/// which nothing else uses.
fn host_of(graph: &Graph, value: Value) -> Option<usize> {
    let number = graph.maker(value)?;
    let is_host = matches!(graph.name(number)?, "nn.Conv" | "nn.Gemm" | "nn.MatMul");
    let weights = graph.lazy_constant(graph.operand(number, 1)?)?;
    let fits = is_host
        && weights.dtype() == DType::F32
        && graph.is_used_once(value)
        && graph.attr(number, "activation").is_none();
    fits.then_some(number)
}

/// Returns an op with another operand.
fn with_operand(
    graph: &mut Graph,
    root: usize,
    host: usize,
    slot: usize,
    operand: Value,
) -> Option<Value> {
    let mut operands = graph.operands(host).to_vec();
    let mut slots = match graph.ints(host, "slots") {
        Some(slots) => slots.to_vec(),
        None => (0..operands.len() as i64).collect(),
    };
    operands.push(operand);
    slots.push(slot as i64);
    let mut attrs = graph.attrs(host).to_vec();
    attrs.retain(|(name, _)| name != "slots");
    let is_plain = slots.iter().zip(0..).all(|(&slot, at)| slot == at);
    if !is_plain {
        attrs.push(("slots".to_owned(), Attr::Ints(slots)));
    }
    let name = graph.name(host)?.to_owned();
    let place = fused_place(graph.place(host), graph.place(root));
    Some(graph.make(root, &name, &operands, attrs, 1, &place)[0])
}

fn fuse_bias(graph: &mut Graph, number: usize) -> Option<Value> {
    let (host, bias) = vector_summand(graph, number)
        .into_iter()
        .find_map(|(x, bias)| {
            let host = host_of(graph, x)?;
            // A product scales its own summand.
            let is_free = graph.slot(host, 2).is_none()
                && graph.slot(host, SUMMAND).is_none()
                && graph.float(host, "beta").unwrap_or(1.0) == 1.0;
            let channels = bias_len(graph, host, x, bias)?;
            is_free.then_some((host, (bias, channels)))
        })?;
    let (bias, channels) = bias;
    let tensor = graph.constant(bias)?;
    let vector = if tensor.shape().rank() == 1 {
        bias
    } else {
        let flat = tensor
            .reshaped(tfrt_tensor::Shape::new(&[channels]).ok()?)
            .ok()?;
        graph.weight("", flat)
    };
    with_operand(graph, number, host, 2, vector)
}

/// Returns the number of channels if a constant has an element for each, and extents of one
/// elsewhere, so that the sum has the shape of the product.
fn bias_len(graph: &Graph, host: usize, product: Value, bias: Value) -> Option<usize> {
    let weights = graph.lazy_constant(graph.operand(host, 1)?)?;
    let weights = weights.shape().dims();
    let tensor = graph.constant(bias)?;
    let dims = tensor.shape().dims();
    let rank = match graph.name(host)? {
        "nn.Conv" => Some(weights.len()),
        _ => graph.known(product).rank(),
    };
    if tensor.dtype() != DType::F32 || dims.len() > rank.unwrap_or(1) {
        return None;
    }
    let (channels, from_end) = match graph.name(host)? {
        "nn.Conv" => (*weights.first()?, weights.len().checked_sub(1)?),
        "nn.Gemm" if graph.flag(host, "transpose_b") => (*weights.first()?, 1),
        _ if weights.len() == 2 && !graph.flag(host, "transpose_b") => (*weights.last()?, 1),
        _ if weights.len() == 2 => (*weights.first()?, 1),
        _ => return None,
    };
    let axis = dims.len().checked_sub(from_end)?;
    let fits = dims
        .iter()
        .enumerate()
        .all(|(at, &extent)| match at == axis {
            true => extent == channels,
            false => extent == 1,
        });
    fits.then_some(channels)
}

fn fuse_sum(graph: &mut Graph, number: usize) -> Option<Value> {
    let mut found: Vec<(usize, Value)> = orders(graph, number)
        .into_iter()
        .filter_map(|(x, summand)| {
            let host = host_of(graph, x)?;
            let is_free = graph.slot(host, SUMMAND).is_none() && x != summand;
            let is_single =
                graph.known(summand).dtype == Some(DType::F32) && graph.constant(summand).is_none();
            (is_free && is_single && has_one_shape(graph, x, summand)).then_some((host, summand))
        })
        .collect();
    // The later one, as its summand is there already.
    found.sort_by_key(|(host, _)| graph.order(*host));
    let (host, summand) = found.pop()?;
    with_operand(graph, number, host, SUMMAND, summand)
}

/// Returns `true` if two values are likely to have one shape: those that certainly differ are left
/// alone.
fn has_one_shape(graph: &Graph, a: Value, b: Value) -> bool {
    let (Some(a), Some(b)) = (graph.known(a).dims, graph.known(b).dims) else {
        return true;
    };
    let differ = |(a, b): (&Dim, &Dim)| match (a.fixed(), b.fixed()) {
        (Some(a), Some(b)) => a != b,
        _ => false,
    };
    a.len() == b.len() && !a.iter().zip(&b).any(differ)
}

fn fuse_activation(graph: &mut Graph, number: usize) -> Option<Value> {
    let x = graph.slot(number, 0)?;
    let host = host_of(graph, x)?;
    let (function, alpha, beta) = activation(graph, number)?;
    let mut attrs = graph.attrs(host).to_vec();
    attrs.extend([
        ("activation".to_owned(), Attr::Text(function)),
        ("activation_alpha".to_owned(), Attr::Float(alpha)),
        ("activation_beta".to_owned(), Attr::Float(beta)),
    ]);
    let name = graph.name(host)?.to_owned();
    let operands = graph.operands(host).to_vec();
    let place = fused_place(graph.place(host), graph.place(number));
    Some(graph.make(number, &name, &operands, attrs, 1, &place)[0])
}

/// Returns the function that an op applies, with its parameters.
fn activation(graph: &Graph, number: usize) -> Option<(String, f32, f32)> {
    let plain = |function: &str| Some((function.to_owned(), 0.0, 0.0));
    match graph.name(number)? {
        "nn.Relu" => plain("relu"),
        "nn.Sigmoid" => plain("sigmoid"),
        "nn.Tanh" => plain("tanh"),
        "nn.HardSwish" => plain("hard_swish"),
        "nn.Mish" => plain("mish"),
        "nn.Clip" => {
            let (min, max) = clip_bounds(graph, number)?;
            (min <= max).then(|| ("clip".to_owned(), min, max))
        }
        _ => activation_within_ops(graph, number),
    }
}
