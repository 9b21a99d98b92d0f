//! Tensors that are expanded to a shape to which their users would broadcast them in any case.

use super::attention;
use super::graph::Graph;
use super::infer::{self, Dim};
use super::matching::{constant_integers, is_real, uniform};
use super::{Phase, RewriteRule};
use crate::dim_expr::DimExpr;
use crate::program::Value;

pub(super) const RULES: &[RewriteRule] = &[
    RewriteRule {
        name: "expand-after-elements",
        summary: "Computes functions of elements before a tensor is expanded.",
        phase: Phase::Simplify,
        roots: ELEMENT_WISE,
        apply: expand_later,
    },
    RewriteRule {
        name: "drop-expansion",
        summary: "Leaves it to an op to broadcast an operand that was expanded for it.",
        phase: Phase::Simplify,
        roots: BROADCASTING,
        apply: broadcast_operand,
    },
    RewriteRule {
        name: "expansion-into-attention",
        summary: "Leaves it to attention to broadcast a mask that was expanded for it.",
        phase: Phase::Join,
        roots: &[attention::NAME],
        apply: broadcast_mask,
    },
];

/// Ops whose operands are broadcast to one shape.
pub(super) const BROADCASTING: &[&str] = &[
    "nn.And",
    "nn.Div",
    "nn.Equal",
    "nn.Max",
    "nn.Min",
    "nn.Or",
    "nn.Pow",
    "nn.Sum",
    "nn.Where",
    "nn.Xor",
    "tf.AddV2",
    "tf.Greater",
    "tf.GreaterEqual",
    "tf.Less",
    "tf.LessEqual",
    "tf.Mul",
    "tf.Sub",
];

/// Ops that compute a function of each element of a tensor, if their other operands are numbers.
pub(super) const ELEMENT_WISE: &[&str] = &[
    "nn.Abs",
    "nn.Activation",
    "nn.Clip",
    "nn.Div",
    "nn.Equal",
    "nn.Erf",
    "nn.Exp",
    "nn.HardSwish",
    "nn.IsNaN",
    "nn.Log",
    "nn.Max",
    "nn.Min",
    "nn.Mish",
    "nn.Neg",
    "nn.Pow",
    "nn.Reciprocal",
    "nn.Relu",
    "nn.Sigmoid",
    "nn.Softplus",
    "nn.Sqrt",
    "nn.Tanh",
    "nn.Where",
    "tf.AddV2",
    "tf.Greater",
    "tf.GreaterEqual",
    "tf.Less",
    "tf.LessEqual",
    "tf.LogicalNot",
    "tf.Mul",
    "tf.Sub",
    "tfrt.Cast",
];

/// Returns the place of the one operand of an op that is not a number. Others do not change its
/// shape.
pub(super) fn only_tensor(graph: &Graph, number: usize) -> Option<usize> {
    let operands = graph.operands(number);
    let mut tensors = (0..operands.len()).filter(|&at| graph.lazy_constant(operands[at]).is_none());
    let (at, None) = (tensors.next()?, tensors.next()) else {
        return None;
    };
    let mut others = (0..operands.len()).filter(|&other| other != at);
    let is_number = |other: usize| uniform(graph, operands[other], operands[at]).is_some();
    others
        .all(|other| {
            let constant = graph.lazy_constant(operands[other]);
            let is_one = constant.is_some_and(|constant| constant.shape().num_elements() == 1);
            is_one && is_number(other)
        })
        .then_some(at)
}

/// Returns the op that expands, what it expands, and the dimensions before and after, if it cannot
/// fail.
fn expanded(graph: &Graph, value: Value) -> Option<(usize, Value, Vec<Dim>, Vec<Dim>)> {
    let expansion = graph.made_by(value, "nn.Expand")?;
    let &[x, shape] = graph.operands(expansion) else {
        return None;
    };
    let (own, dims) = (graph.known(x).dims?, graph.known(value).dims?);
    if graph.known(shape).rank() != Some(1) {
        return None;
    }
    let wanted: Vec<DimExpr> = match constant_integers(graph, shape) {
        Some(extents) => extents.into_iter().map(DimExpr::number).collect(),
        None => {
            let elements = graph.elements(shape)?.iter();
            elements.cloned().collect::<Option<_>>()?
        }
    };
    let pairs = own.iter().rev().zip(wanted.iter().rev());
    let one = DimExpr::number(1);
    let fits = pairs.fold(true, |fits, (&own, wanted)| {
        let own = graph.symbols().extent(own);
        fits && wanted.is_non_negative() && (own == one || own == *wanted || *wanted == one)
    });
    fits.then_some((expansion, x, own, dims))
}

fn expand_later(graph: &mut Graph, number: usize) -> Option<Value> {
    let at = only_tensor(graph, number)?;
    let mut operands = graph.operands(number).to_vec();
    let (expansion, x, own, dims) = expanded(graph, operands[at])?;
    // Otherwise it is expanded for the others in any case.
    if own == dims || !graph.is_used_once(operands[at]) {
        return None;
    }
    let shape = graph.operand(expansion, 1)?;
    let name = graph.name(number)?.to_owned();
    // A whole number is not divided by 0 if it is expanded to no elements.
    if name == "nn.Div" && !is_real(graph, x) {
        return None;
    }
    let attrs = graph.attrs(number).to_vec();
    let [of, place] = [expansion, number].map(|number| graph.place(number).to_owned());
    operands[at] = x;
    // A number of more dimensions than the tensor has would give it more.
    let others = operands
        .iter()
        .filter_map(|&value| graph.lazy_constant(value));
    if others
        .map(|constant| constant.shape().rank())
        .any(|rank| rank > own.len())
    {
        return None;
    }
    let y = graph.make(number, &name, &operands, attrs, 1, &place)[0];
    Some(graph.make(number, "nn.Expand", &[y, shape], Vec::new(), 1, &of)[0])
}

/// Returns `true` if shapes that are broadcast to one shape have each of its dimensions without the
/// expansion of one of them: from `own`, to `dims`.
fn is_covered(own: &[Dim], dims: &[Dim], others: &[Vec<Dim>]) -> bool {
    (1..=dims.len()).all(|from_end| {
        let dim = |dims: &[Dim]| dims.len().checked_sub(from_end).map(|axis| dims[axis]);
        let wanted = dim(dims);
        let mut others = others.iter().filter_map(|other| dim(other));
        // An extent of one only needs somebody to have a dimension there.
        dim(own) == wanted
            || others.any(|other| wanted == Some(other) || wanted == Some(Dim::Fixed(1)))
    })
}

fn broadcast_operand(graph: &mut Graph, number: usize) -> Option<Value> {
    let mut operands = graph.operands(number).to_vec();
    let found = (0..operands.len()).find_map(|at| {
        let (_, x, own, dims) = expanded(graph, operands[at])?;
        let others = operands
            .iter()
            .enumerate()
            .filter(|(other, _)| *other != at);
        let others = others.map(|(_, &other)| graph.known(other).dims);
        let others: Vec<Vec<Dim>> = others.collect::<Option<_>>()?;
        is_covered(&own, &dims, &others).then_some((at, x))
    });
    let (at, x) = found?;
    operands[at] = x;
    let name = graph.name(number)?.to_owned();
    let (attrs, place) = (graph.attrs(number).to_vec(), graph.place(number).to_owned());
    Some(graph.make(number, &name, &operands, attrs, 1, &place)[0])
}

fn broadcast_mask(graph: &mut Graph, number: usize) -> Option<Value> {
    let mut operands = graph.operands(number).to_vec();
    let side = |side: usize| {
        let dims = graph.known(operands[side]).dims?;
        infer::by_heads(graph.attrs(number), side, &dims)
    };
    let (mut scores, keys) = (side(0)?, side(1)?);
    *scores.last_mut()? = *keys.iter().rev().nth(1)?;
    let scores = [scores];
    let found = (3..operands.len()).find_map(|at| {
        let (_, x, own, dims) = expanded(graph, operands[at])?;
        is_covered(&own, &dims, &scores).then_some((at, x))
    });
    let (at, x) = found?;
    operands[at] = x;
    let (attrs, place) = (graph.attrs(number).to_vec(), graph.place(number).to_owned());
    Some(graph.make(number, attention::NAME, &operands, attrs, 1, &place)[0])
}
