//! Half-precision ops on the kernels for single precision.
//!
//! ```text
//!   x: f16 ──► Cast f32 ──► nn.Conv, f32 ──► Cast f16 ──►
//!                              ▲
//!   w: f16, a constant ──► f32 ┘
//! ```
//!
//! Half-precision numbers are computed in single precision in any case, and rounded once, at the
//! end of an op. So are these: the conversions between two of the ops stay, as they round.

use half::{bf16, f16};
use tfrt_support::DType;
use tfrt_tensor::{DenseHostTensor, Shape};

use super::graph::Graph;
use super::{Phase, RewriteRule};
use crate::program::{Attr, Constant, Value};

pub(super) const RULES: &[RewriteRule] = &[
    RewriteRule {
        name: "widen-half-precision",
        summary: "Computes half precision by kernels for single precision, and rounds each result.",
        phase: Phase::Widen,
        roots: OF_ONE_TYPE,
        apply: widen,
    },
    RewriteRule {
        name: "widen-first-operand",
        summary: "Computes half precision by kernels for single precision, where other operands \
                  have other types.",
        phase: Phase::Widen,
        roots: OF_FIRST_TYPE,
        apply: widen_first,
    },
    RewriteRule {
        name: "narrow-after-relu",
        summary: "Rounds to half precision after `nn.Relu` instead of before it.",
        phase: Phase::Widen,
        roots: &["nn.Relu"],
        apply: narrow_later,
    },
];

/// Ops with fast kernels for single precision alone, whose operands have one type.
pub(super) const OF_ONE_TYPE: &[&str] = &[
    "nn.Activation",
    "nn.AveragePool",
    "nn.BatchNormalization",
    "nn.Conv",
    "nn.ConvTranspose",
    "nn.Div",
    "nn.Erf",
    "nn.Exp",
    "nn.Gemm",
    "nn.GlobalPool",
    "nn.GroupNormalization",
    "nn.HardSwish",
    "nn.InstanceNormalization",
    "nn.LayerNormalization",
    "nn.Log",
    "nn.MatMul",
    "nn.MaxPool",
    "nn.Mish",
    "nn.RmsNormalization",
    "nn.Sigmoid",
    "nn.Softmax",
    "nn.Softplus",
    "nn.Sqrt",
    "nn.Tanh",
    "tf.AddV2",
    "tf.Mul",
    "tf.Sub",
];

/// Such ops whose other operands are sizes, axes or factors.
pub(super) const OF_FIRST_TYPE: &[&str] = &["nn.Reduce", "nn.Resize"];

fn is_half(dtype: DType) -> bool {
    matches!(dtype, DType::F16 | DType::Bf16)
}

fn cast(graph: &mut Graph, number: usize, x: Value, to: DType) -> Value {
    let place = graph.place(number).to_owned();
    let attrs = vec![("DstT".to_owned(), Attr::Type(to))];
    graph.make(number, "tfrt.Cast", &[x], attrs, 1, &place)[0]
}

fn widen(graph: &mut Graph, number: usize) -> Option<Value> {
    let num_widened = graph.operands(number).len();
    widen_operands(graph, number, num_widened)
}

fn widen_first(graph: &mut Graph, number: usize) -> Option<Value> {
    widen_operands(graph, number, 1)
}

fn widen_operands(graph: &mut Graph, number: usize, num_widened: usize) -> Option<Value> {
    let mut operands = graph.operands(number).to_vec();
    let dtype = graph.known(*operands.first()?).dtype?;
    // Other types are errors, which stay.
    let have_one_type = |value: &Value| graph.known(*value).dtype == Some(dtype);
    if !is_half(dtype) || !operands[..num_widened].iter().all(have_one_type) {
        return None;
    }
    for at in 0..num_widened {
        let operand = operands[at];
        if graph.known(operand).dtype != Some(dtype) {
            continue;
        }
        let is_constant = graph.lazy_constant(operand).is_some();
        let wide = match is_constant {
            true => graph.derived_weight(operand, "f32", widened)?,
            false => cast(graph, number, operand, DType::F32),
        };
        // An operand may be there several times.
        let same = operands[..num_widened].iter_mut();
        same.filter(|same| **same == operand)
            .for_each(|same| *same = wide);
    }
    let (name, place) = (
        graph.name(number)?.to_owned(),
        graph.place(number).to_owned(),
    );
    let (attrs, num_results) = (
        graph.attrs(number).to_vec(),
        graph.op(number)?.results.len(),
    );
    let y = graph.make(number, &name, &operands, attrs, num_results, &place)[0];
    Some(cast(graph, number, y, dtype))
}

/// Returns a constant of half precision in single precision.
fn widened(constant: &Constant) -> Option<Constant> {
    let halves = constant.tensor().ok()?;
    let numbers: Vec<f32> = match halves.dtype() {
        DType::F16 => halves
            .elements::<f16>()
            .ok()?
            .iter()
            .map(|x| x.to_f32())
            .collect(),
        DType::Bf16 => halves
            .elements::<bf16>()
            .ok()?
            .iter()
            .map(|x| x.to_f32())
            .collect(),
        _ => return None,
    };
    let shape = Shape::new(halves.shape().dims()).ok()?;
    let wide = DenseHostTensor::from_elements(&crate::malloc(), shape, &numbers).ok()?;
    Some(wide.into())
}

/// Rounding keeps the order of numbers and zero, so that the order of the two does not matter.
fn narrow_later(graph: &mut Graph, number: usize) -> Option<Value> {
    let narrow = graph.operand(number, 0)?;
    let conversion = graph.made_by(narrow, "tfrt.Cast")?;
    let dtype = graph.known(narrow).dtype?;
    let x = graph.operand(conversion, 0)?;
    let is_from_single = graph.known(x).dtype == Some(DType::F32) && graph.is_used_once(narrow);
    if !is_half(dtype) || !is_from_single {
        return None;
    }
    let place = graph.place(number).to_owned();
    let y = graph.make(number, "nn.Relu", &[x], Vec::new(), 1, &place)[0];
    Some(cast(graph, number, y, dtype))
}
