//! Patterns that several rules look for.

use tfrt_support::DType;
use tfrt_tensor::DenseHostTensor;

use super::graph::Graph;
use super::infer::{Dim, integers};
use crate::program::Value;

/// Functions of `nn.Activation` that other ops apply to their results, with the same routines.
const FUNCTIONS: &[&str] = &[
    "elu",
    "gelu",
    "gelu_tanh",
    "hard_sigmoid",
    "leaky_relu",
    "swish",
];

/// Returns the function of an `nn.Activation` with its parameters, if other ops can apply it.
pub(super) fn activation_within_ops(graph: &Graph, number: usize) -> Option<(String, f32, f32)> {
    let function = graph.text(number, "function")?;
    let parameter = |name| graph.float(number, name).unwrap_or(0.0);
    let (alpha, beta) = (parameter("alpha"), parameter("beta"));
    // The exponential unit has a routine for the factor 1 alone.
    let is_known = FUNCTIONS.contains(&function) && (function != "elu" || alpha == 1.0);
    is_known.then(|| (function.to_owned(), alpha, beta))
}

/// Returns the bounds of an `nn.Clip` of single precision if they are known numbers. Bounds that
/// are missing are infinite.
pub(super) fn clip_bounds(graph: &Graph, number: usize) -> Option<(f32, f32)> {
    let bound = |slot: usize, missing: f32| match graph.slot(number, slot) {
        Some(bound) => {
            let bound = graph.constant(bound)?;
            let is_one = bound.num_elements() == 1 && bound.dtype() == DType::F32;
            let bound = is_one.then(|| uniform_number(bound)).flatten()?;
            (!bound.is_nan()).then_some(bound as f32)
        }
        None => Some(missing),
    };
    Some((bound(1, f32::NEG_INFINITY)?, bound(2, f32::INFINITY)?))
}

/// Returns the number that every element of a tensor is.
pub(super) fn uniform_number(tensor: &DenseHostTensor) -> Option<f64> {
    macro_rules! each {
        ($($dtype:ident => $ty:ty),*) => {
            match tensor.dtype() {
                $(DType::$dtype => {
                    let elements = tensor.elements::<$ty>().ok()?;
                    let (first, others) = elements.split_first()?;
                    others.iter().all(|element| element == first).then_some(*first as f64)
                })*
                DType::F16 => {
                    let elements = tensor.elements::<half::f16>().ok()?;
                    let (first, others) = elements.split_first()?;
                    others.iter().all(|element| element == first).then(|| first.to_f64())
                }
                DType::Bf16 => {
                    let elements = tensor.elements::<half::bf16>().ok()?;
                    let (first, others) = elements.split_first()?;
                    others.iter().all(|element| element == first).then(|| first.to_f64())
                }
                _ => None,
            }
        };
    }
    each!(F32 => f32, F64 => f64, I64 => i64, I32 => i32)
}

/// Returns `true` if a value may be broadcast to the shape of another one and never changes it.
pub(super) fn leaves_shape(graph: &Graph, value: Value, like: Value) -> bool {
    let Some(own) = graph.known(value).dims else {
        return false;
    };
    if own.is_empty() {
        return true;
    }
    let Some(dims) = graph.known(like).dims else {
        return false;
    };
    let Some(missing) = dims.len().checked_sub(own.len()) else {
        return false;
    };
    let mut pairs = own.iter().zip(&dims[missing..]);
    pairs.all(|(own, dim)| *own == Dim::Fixed(1) || own == dim)
}

/// Returns the number that a constant is everywhere, if it does not change the shape of `like`.
pub(super) fn uniform(graph: &Graph, value: Value, like: Value) -> Option<f64> {
    let number = uniform_number(graph.constant(value)?)?;
    leaves_shape(graph, value, like).then_some(number)
}

/// Returns the other operand of a commutative op, and the number that one of them is everywhere.
pub(super) fn with_number(graph: &Graph, number: usize) -> Option<(Value, f64)> {
    let &[a, b] = graph.operands(number) else {
        return None;
    };
    let first = uniform(graph, b, a).map(|found| (a, found));
    first.or_else(|| uniform(graph, a, b).map(|found| (b, found)))
}

/// Returns the operands of an op of two operands, in both orders.
pub(super) fn orders(graph: &Graph, number: usize) -> Vec<(Value, Value)> {
    match *graph.operands(number) {
        [a, b] => vec![(a, b), (b, a)],
        _ => Vec::new(),
    }
}

/// Returns `true` if two numbers agree in about as many digits as exporters write.
pub(super) fn is_near(found: f64, expected: f64) -> bool {
    (found - expected).abs() <= 1e-4 * expected.abs()
}

/// The most factors that a product is taken apart into.
const MAX_FACTORS: usize = 8;

/// Returns the factors of a value, and the constant factor: products and quotients by constants are
/// taken apart unless something else uses them.
pub(super) fn factors(graph: &Graph, value: Value) -> (Vec<Value>, f64) {
    let (mut found, mut scale) = (Vec::new(), 1.0);
    let mut pending = vec![value];
    while let Some(next) = pending.pop() {
        let is_free = next == value || graph.is_used_once(next);
        let is_small = found.len() + pending.len() < MAX_FACTORS;
        if is_free && is_small {
            if let Some(product) = graph.made_by(next, "tf.Mul") {
                match with_number(graph, product) {
                    Some((x, factor)) => {
                        scale *= factor;
                        pending.push(x);
                    }
                    None => pending.extend(graph.operands(product)),
                }
                continue;
            }
            if let Some(quotient) = graph.made_by(next, "nn.Div")
                && let &[x, divisor] = graph.operands(quotient)
                && let Some(divisor) = uniform(graph, divisor, x)
                && is_real(graph, x)
            {
                scale /= divisor;
                pending.push(x);
                continue;
            }
        }
        found.push(next);
    }
    (found, scale)
}

/// Returns `true` if a value is known to consist of floating-point numbers.
pub(super) fn is_real(graph: &Graph, value: Value) -> bool {
    let dtype = graph.known(value).dtype;
    matches!(
        dtype,
        Some(DType::F16 | DType::Bf16 | DType::F32 | DType::F64)
    )
}

/// Returns the integers that an operand is.
pub(super) fn constant_integers(graph: &Graph, value: Value) -> Option<Vec<i64>> {
    integers(graph.constant(value)?)
}

/// Returns the operand and the number of a sum of a value and a constant.
pub(super) fn sum_with_number(graph: &Graph, value: Value) -> Option<(Value, f64)> {
    with_number(graph, graph.made_by(value, "tf.AddV2")?)
}

/// Returns `x` if a value is `x²`.
pub(super) fn square_of(graph: &Graph, value: Value) -> Option<Value> {
    if let Some(product) = graph.made_by(value, "tf.Mul")
        && let &[a, b] = graph.operands(product)
    {
        return (a == b).then_some(a);
    }
    let power = graph.made_by(value, "nn.Pow")?;
    let &[x, exponent] = graph.operands(power) else {
        return None;
    };
    (uniform(graph, exponent, x) == Some(2.0)).then_some(x)
}

/// Returns the one operand of the op of a name that makes a value.
pub(super) fn operand_of(graph: &Graph, value: Value, name: &str) -> Option<Value> {
    let number = graph.made_by(value, name)?;
    match *graph.operands(number) {
        [operand] => Some(operand),
        _ => None,
    }
}
