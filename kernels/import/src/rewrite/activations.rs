//! Activations from the pieces that exporters write them in.

use super::graph::Graph;
use super::matching::{factors, is_near, is_real, operand_of, sum_with_number, uniform};
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
    let bounds = |clip: usize| {
        let bound = |slot| uniform(graph, graph.slot(clip, slot)?, x);
        Some((bound(1)?, bound(2)?))
    };
    let Some(clip) = graph.made_by(gate, "nn.Clip") else {
        return false;
    };
    let sum = graph
        .slot(clip, 0)
        .and_then(|sum| sum_with_number(graph, sum));
    bounds(clip) == Some((0.0, 6.0)) && sum == Some((x, 3.0))
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
