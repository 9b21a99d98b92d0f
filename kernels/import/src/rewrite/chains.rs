//! Chains of element-wise ops as one op, which passes over memory once.

use tfrt_support::DType;

use super::graph::Graph;
use super::matching::{activation_within_ops, clip_bounds};
use super::{Phase, RewriteRule, fused_place};
use crate::program::{Attr, Value};

pub(super) const RULES: &[RewriteRule] = &[RewriteRule {
    name: "fuse-element-wise",
    summary: "Computes element-wise ops that follow each other in one pass over memory.",
    phase: Phase::Chains,
    roots: &[
        NAME,
        "nn.Abs",
        "nn.Activation",
        "nn.Clip",
        "nn.Div",
        "nn.Erf",
        "nn.Exp",
        "nn.HardSwish",
        "nn.Log",
        "nn.Max",
        "nn.Min",
        "nn.Mish",
        "nn.Neg",
        "nn.Reciprocal",
        "nn.Relu",
        "nn.Sigmoid",
        "nn.Softplus",
        "nn.Sqrt",
        "nn.Tanh",
        "tf.AddV2",
        "tf.Mul",
        "tf.Sub",
    ],
    apply: fuse,
}];

const NAME: &str = "nn.ElementWise";

/// The most steps of a chain, and its most operands: the registers of a longer one would not fit
/// into the cache.
const MAX_STEPS: usize = 16;

/// What an element-wise op computes: the attributes of `nn.ElementWise`.
struct Chain {
    operands: Vec<Value>,
    functions: Vec<String>,
    /// Two for each function: an operand, or `-1 - n` for the result of step `n`.
    arguments: Vec<i64>,
    /// Two for each function.
    numbers: Vec<f32>,
}

impl Chain {
    /// Returns what an op computes, if it may be part of a chain.
    fn of(graph: &Graph, number: usize) -> Option<Self> {
        let operands = graph.operands(number);
        if graph.name(number)? == NAME {
            let (Some(Attr::Floats(numbers)), Some(arguments)) = (
                graph.attr(number, "numbers"),
                graph.ints(number, "arguments"),
            ) else {
                return None;
            };
            let functions = graph.text(number, "functions")?.split(' ');
            return Some(Self {
                operands: operands.to_vec(),
                functions: functions.map(str::to_owned).collect(),
                arguments: arguments.to_vec(),
                numbers: numbers.clone(),
            });
        }
        let (function, alpha, beta) = function(graph, number)?;
        let (operands, arguments) = match *operands {
            [a, b] if a == b && is_of_two(&function) => (vec![a], vec![0, 0]),
            [a, b] if is_of_two(&function) => (vec![a, b], vec![0, 1]),
            [x, ..] if !is_of_two(&function) => (vec![x], vec![0, 0]),
            _ => return None,
        };
        Some(Self {
            operands,
            functions: vec![function],
            arguments,
            numbers: vec![alpha, beta],
        })
    }

    /// Returns this chain with another one in place of an operand.
    fn after(&self, value: Value, inner: Self) -> Self {
        let mut operands = inner.operands;
        let places: Vec<i64> = self
            .operands
            .iter()
            .map(|&operand| {
                if operand == value {
                    return -(inner.functions.len() as i64);
                }
                let known = operands.iter().position(|&known| known == operand);
                let place = known.unwrap_or(operands.len());
                if known.is_none() {
                    operands.push(operand);
                }
                place as i64
            })
            .collect();
        let moved = |&argument: &i64| match usize::try_from(argument) {
            Ok(operand) => places.get(operand).copied().unwrap_or(argument),
            Err(_) => argument - inner.functions.len() as i64,
        };
        let own = self.arguments.iter().map(moved);
        Self {
            operands,
            arguments: inner.arguments.iter().copied().chain(own).collect(),
            functions: [&inner.functions[..], &self.functions[..]].concat(),
            numbers: [&inner.numbers[..], &self.numbers[..]].concat(),
        }
    }
}

/// Returns `true` for functions of two tensors.
fn is_of_two(function: &str) -> bool {
    matches!(function, "add" | "sub" | "mul" | "div" | "max" | "min")
}

/// Returns the function of an op, and its parameters.
fn function(graph: &Graph, number: usize) -> Option<(String, f32, f32)> {
    let plain = match graph.name(number)? {
        "nn.Abs" => "abs",
        "nn.Div" => "div",
        "nn.Erf" => "erf",
        "nn.Exp" => "exp",
        "nn.HardSwish" => "hard_swish",
        "nn.Log" => "log",
        "nn.Max" => "max",
        "nn.Min" => "min",
        "nn.Mish" => "mish",
        "nn.Neg" => "neg",
        "nn.Reciprocal" => "reciprocal",
        "nn.Relu" => "relu",
        "nn.Sigmoid" => "sigmoid",
        "nn.Softplus" => "softplus",
        "nn.Sqrt" => "sqrt",
        "nn.Tanh" => "tanh",
        "tf.AddV2" => "add",
        "tf.Mul" => "mul",
        "tf.Sub" => "sub",
        "nn.Clip" => {
            let (min, max) = clip_bounds(graph, number)?;
            return Some(("clip".to_owned(), min, max));
        }
        "nn.Activation" => return activation_within_ops(graph, number),
        _ => return None,
    };
    Some((plain.to_owned(), 0.0, 0.0))
}

fn fuse(graph: &mut Graph, number: usize) -> Option<Value> {
    let own = Chain::of(graph, number)?;
    let (inner_number, chain) = own.operands.iter().find_map(|&value| {
        let inner_number = graph.maker(value)?;
        // The last op alone may see the values in between.
        let users = graph.users(value).iter();
        let is_free = !graph.is_result(value) && users.into_iter().all(|&user| user == number);
        let inner = Chain::of(graph, inner_number)?;
        let fits = is_free
            && inner.functions.len() + own.functions.len() <= MAX_STEPS
            && inner.operands.len() + own.operands.len() <= MAX_STEPS
            && has_one_shape(graph, value, graph.result(number)?)
            && is_single(graph, &inner.operands)
            && is_single(graph, &own.operands);
        fits.then(|| (inner_number, own.after(value, inner)))
    })?;
    let attrs = vec![
        (
            "functions".to_owned(),
            Attr::Text(chain.functions.join(" ")),
        ),
        ("arguments".to_owned(), Attr::Ints(chain.arguments)),
        ("numbers".to_owned(), Attr::Floats(chain.numbers)),
    ];
    let place = fused_place(graph.place(inner_number), graph.place(number));
    Some(graph.make(number, NAME, &chain.operands, attrs, 1, &place)[0])
}

/// Returns `true` if two values are known to have one shape: elements that are broadcast later
/// would be computed more than once.
fn has_one_shape(graph: &Graph, a: Value, b: Value) -> bool {
    let dims = graph.known(a).dims;
    dims.is_some() && dims == graph.known(b).dims
}

fn is_single(graph: &Graph, values: &[Value]) -> bool {
    let mut values = values.iter();
    values.all(|&value| graph.known(value).dtype == Some(DType::F32))
}
