//! Activations from the pieces that exporters write them in.

use tfrt_support::DType;
use tfrt_tensor::{DenseHostTensor, Shape};

use super::graph::Graph;
use super::matching::{
    factors, is_near, is_real, operand_of, sum_with_number, uniform, with_number,
};
use super::{Phase, RewriteRule};
use crate::program::{Attr, Value};

pub(super) const RULES: &[RewriteRule] = &[
    RewriteRule {
        name: "softplus-from-pieces",
        summary: "Recognises `ln(1 + eˣ)`.",
        phase: Phase::Simplify,
        roots: &["nn.Log"],
        apply: softplus,
    },
    RewriteRule {
        name: "clip-from-extremes",
        summary: "Recognises `min(max(x, low), high)` with numbers `low` and `high`.",
        phase: Phase::Simplify,
        roots: &["nn.Max", "nn.Min"],
        apply: clip,
    },
    RewriteRule {
        name: "hard-sigmoid-from-pieces",
        summary: "Recognises `clip(x · factor + summand, 0, 1)` and `clip(x + 3, 0, 6) / 6`.",
        phase: Phase::Simplify,
        roots: &["nn.Clip", "nn.Div", "tf.Mul"],
        apply: hard_sigmoid,
    },
    RewriteRule {
        name: "sigmoid-from-pieces",
        summary: "Recognises `1 / (1 + e⁻ˣ)`.",
        phase: Phase::Simplify,
        roots: &["nn.Div", "nn.Reciprocal"],
        apply: sigmoid,
    },
    RewriteRule {
        name: "activation-from-product",
        summary: "Recognises SiLU, Gelu by the error function or by the hyperbolic tangent, \
                  HardSwish and Mish as products of `x` and a function of `x`.",
        phase: Phase::Simplify,
        roots: &["nn.Div", "tf.Mul"],
        apply: from_product,
    },
];

/// `√(2/π)`.
const TANH_FACTOR: f64 = 0.797_884_560_802_865_4;

/// The factor of the cube in Gelu by the hyperbolic tangent.
const CUBE_FACTOR: f64 = 0.044_715;

fn softplus(graph: &mut Graph, number: usize) -> Option<Value> {
    let sum = graph.operand(number, 0)?;
    let (power, one) = sum_with_number(graph, sum)?;
    let x = operand_of(graph, power, "nn.Exp")?;
    if one != 1.0 || !is_real(graph, x) {
        return None;
    }
    let place = graph.place(number).to_owned();
    Some(graph.make(number, "nn.Softplus", &[x], Vec::new(), 1, &place)[0])
}

/// Returns the operand of an extreme of a value and a number, and the number.
fn bounded(graph: &Graph, value: Value, name: &str) -> Option<(Value, f64)> {
    if name == "nn.Max"
        && let Some(x) = operand_of(graph, value, "nn.Relu")
    {
        return Some((x, 0.0));
    }
    with_number(graph, graph.made_by(value, name)?)
}

fn clip(graph: &mut Graph, number: usize) -> Option<Value> {
    let root = graph.result(number)?;
    let (inner, name) = match graph.name(number)? {
        "nn.Max" => ("nn.Min", "nn.Max"),
        _ => ("nn.Max", "nn.Min"),
    };
    let (clipped, outer_bound) = bounded(graph, root, name)?;
    let (x, inner_bound) = bounded(graph, clipped, inner)?;
    let (low, high) = match name {
        "nn.Max" => (outer_bound, inner_bound),
        _ => (inner_bound, outer_bound),
    };
    // Otherwise the order of the two decides.
    if !(low <= high && graph.is_used_once(clipped) && is_single(graph, x)) {
        return None;
    }
    let place = graph.place(number).to_owned();
    let mut operands = vec![x];
    for bound in [low, high] {
        let bound = DenseHostTensor::from_elements(
            &crate::malloc(),
            Shape::scalar(),
            // It was a constant of the type of `x`.
            &[bound as f32],
        );
        operands.push(graph.weight("", bound.ok()?));
    }
    Some(graph.make(number, "nn.Clip", &operands, Vec::new(), 1, &place)[0])
}

/// Returns `true` if a value is known to be of single precision.
fn is_single(graph: &Graph, value: Value) -> bool {
    graph.known(value).dtype == Some(DType::F32)
}

fn hard_sigmoid(graph: &mut Graph, number: usize) -> Option<Value> {
    let root = graph.result(number)?;
    let (x, factor, summand) = if graph.name(number) == Some("nn.Clip") {
        let (sum, bounds) = clip_of(graph, root)?;
        let (scaled, summand) = sum_with_number(graph, sum)?;
        let (found, factor) = factors(graph, scaled);
        let &[x] = &found[..] else {
            return None;
        };
        (bounds == (0.0, 1.0)).then_some((x, factor, summand))?
    } else {
        // `clip(x + summand, 0, high) / high`.
        let (found, scale) = factors(graph, root);
        let &[clipped] = &found[..] else {
            return None;
        };
        let (sum, (low, high)) = clip_of(graph, clipped)?;
        let (x, summand) = sum_with_number(graph, sum)?;
        let fits = low == 0.0 && high > 0.0 && is_near(scale * high, 1.0);
        fits.then_some((x, scale, summand * scale))?
    };
    if !is_single(graph, x) {
        return None;
    }
    let attrs = vec![
        ("function".to_owned(), Attr::Text("hard_sigmoid".to_owned())),
        ("alpha".to_owned(), Attr::Float(factor as f32)),
        ("beta".to_owned(), Attr::Float(summand as f32)),
    ];
    let place = graph.place(number).to_owned();
    Some(graph.make(number, "nn.Activation", &[x], attrs, 1, &place)[0])
}

/// Returns the operand and the bounds of a value between two numbers.
fn clip_of(graph: &Graph, value: Value) -> Option<(Value, (f64, f64))> {
    let clip = graph.made_by(value, "nn.Clip")?;
    let x = graph.slot(clip, 0)?;
    let bound = |slot| uniform(graph, graph.slot(clip, slot)?, x);
    Some((x, (bound(1)?, bound(2)?)))
}

fn sigmoid(graph: &mut Graph, number: usize) -> Option<Value> {
    let sum = match (graph.name(number)?, graph.operands(number)) {
        ("nn.Reciprocal", &[sum]) => sum,
        ("nn.Div", &[one, sum]) if uniform(graph, one, sum) == Some(1.0) => sum,
        _ => return None,
    };
    let (power, one) = sum_with_number(graph, sum)?;
    let negated = operand_of(graph, power, "nn.Exp")?;
    let x = operand_of(graph, negated, "nn.Neg")?;
    if one != 1.0 || !is_real(graph, x) {
        return None;
    }
    let place = graph.place(number).to_owned();
    Some(graph.make(number, "nn.Sigmoid", &[x], Vec::new(), 1, &place)[0])
}

/// What a product of `x` and a function of `x` is.
enum Found {
    Op(&'static str),
    Activation(&'static str),
}

fn from_product(graph: &mut Graph, number: usize) -> Option<Value> {
    let root = graph.result(number)?;
    let (found, scale) = factors(graph, root);
    let &[a, b] = &found[..] else {
        return None;
    };
    let orders = [(a, b), (b, a)];
    let (x, function) = orders.into_iter().find_map(|(x, gate)| {
        let function = gated(graph, x, gate, scale)?;
        is_real(graph, x).then_some((x, function))
    })?;
    let place = graph.place(number).to_owned();
    let value = match function {
        Found::Op(name) => graph.make(number, name, &[x], Vec::new(), 1, &place),
        Found::Activation(function) => {
            let attrs = vec![
                ("function".to_owned(), Attr::Text(function.to_owned())),
                ("alpha".to_owned(), Attr::Float(1.0)),
                ("beta".to_owned(), Attr::Float(0.0)),
            ];
            graph.make(number, "nn.Activation", &[x], attrs, 1, &place)
        }
    };
    Some(value[0])
}

/// Returns what `x · gate · scale` is.
fn gated(graph: &Graph, x: Value, gate: Value, scale: f64) -> Option<Found> {
    if scale == 1.0 {
        if operand_of(graph, gate, "nn.Sigmoid") == Some(x) {
            return Some(Found::Activation("swish"));
        }
        let softplus = operand_of(graph, gate, "nn.Tanh")
            .and_then(|inner| operand_of(graph, inner, "nn.Softplus"));
        if softplus == Some(x) {
            return Some(Found::Op("nn.Mish"));
        }
        if is_hard_sigmoid(graph, x, gate) {
            return Some(Found::Op("nn.HardSwish"));
        }
    }
    if is_near(scale, 1.0 / 6.0) && is_clipped_sum(graph, x, gate) {
        return Some(Found::Op("nn.HardSwish"));
    }
    if scale != 0.5 {
        return None;
    }
    let (inner, one) = sum_with_number(graph, gate)?;
    if one != 1.0 {
        return None;
    }
    if let Some(argument) = operand_of(graph, inner, "nn.Erf") {
        let (found, scale) = factors(graph, argument);
        let is_scaled = is_near(scale, std::f64::consts::FRAC_1_SQRT_2);
        return (found == [x] && is_scaled).then_some(Found::Activation("gelu"));
    }
    let argument = operand_of(graph, inner, "nn.Tanh")?;
    is_tanh_argument(graph, x, argument).then_some(Found::Activation("gelu_tanh"))
}

/// `clip(x + 3, 0, 6)`.
fn is_clipped_sum(graph: &Graph, x: Value, gate: Value) -> bool {
    let Some((sum, bounds)) = clip_of(graph, gate) else {
        return false;
    };
    bounds == (0.0, 6.0) && sum_with_number(graph, sum) == Some((x, 3.0))
}

/// `max(0, min(1, x / 6 + 1 / 2))`.
fn is_hard_sigmoid(graph: &Graph, x: Value, gate: Value) -> bool {
    let Some(activation) = graph.made_by(gate, "nn.Activation") else {
        // The quotient may come before the product.
        if let Some(quotient) = graph.made_by(gate, "nn.Div")
            && let &[sum, divisor] = graph.operands(quotient)
        {
            return uniform(graph, divisor, x) == Some(6.0) && is_clipped_sum(graph, x, sum);
        }
        return false;
    };
    let number = |name| graph.float(activation, name).map_or(f64::NAN, f64::from);
    graph.text(activation, "function") == Some("hard_sigmoid")
        && graph.operand(activation, 0) == Some(x)
        && is_near(number("alpha"), 1.0 / 6.0)
        && number("beta") == 0.5
}

/// `√(2/π) · (x + 0.044715 · x³)`, with the factors in any place.
fn is_tanh_argument(graph: &Graph, x: Value, argument: Value) -> bool {
    let (found, scale) = factors(graph, argument);
    // `scale · (x + factor · x³)`.
    if let &[sum] = &found[..]
        && let Some(sum) = graph.made_by(sum, "tf.AddV2")
        && let &[a, b] = graph.operands(sum)
    {
        let cube = if a == x { b } else { a };
        let (powers, factor) = factors(graph, cube);
        return (a == x || b == x)
            && is_near(scale, TANH_FACTOR)
            && is_near(factor, CUBE_FACTOR)
            && is_power(graph, x, &powers, 3);
    }
    // `scale · x · (one + factor · x²)`.
    let sum = match found[..] {
        [a, b] if a == x => b,
        [a, b] if b == x => a,
        _ => return false,
    };
    let Some((square, one)) = sum_with_number(graph, sum) else {
        return false;
    };
    let (powers, factor) = factors(graph, square);
    is_near(scale * one, TANH_FACTOR)
        && is_near(scale * factor, TANH_FACTOR * CUBE_FACTOR)
        && is_power(graph, x, &powers, 2)
}

/// Returns `true` if a product is a power of `x`.
fn is_power(graph: &Graph, x: Value, found: &[Value], power: u32) -> bool {
    let mut all = 0;
    for &factor in found {
        if factor == x {
            all += 1;
        } else if super::matching::square_of(graph, factor) == Some(x) {
            all += 2;
        } else if let Some(op) = graph.made_by(factor, "nn.Pow")
            && graph.operand(op, 0) == Some(x)
            && let Some(exponent) = graph.operand(op, 1)
            && uniform(graph, exponent, x) == Some(3.0)
        {
            all += 3;
        } else {
            return false;
        }
    }
    all == power
}
