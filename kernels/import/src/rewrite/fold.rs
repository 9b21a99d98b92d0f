//! Ops on constants, which are computed once, when the program is loaded.
//!
//! Exporters compute masks, tables and shapes with ops whose operands are constants, or shapes that
//! are known. The kernels of these ops compute the results, so that they have the same bits as in a
//! run. The results are weights of the program. A conditional on a constant becomes the branch that
//! it calls.
//!
//! # What stays in the program
//! - Ops that fail: a run reports the error.
//! - Ops whose cost is not linear in the sizes of their operands and results, random ones, and
//!   those of inner functions, whose constants are arguments.
//! - Dequantization: rules make it part of integer kernels, and its results are large.
//! - Transpositions that only matrix products use: the products read the original.
//! - Results beyond the limits, see [`Folding::new`].

use std::collections::HashSet;
use std::sync::Arc;

use tfrt_core::{EagerContext, TensorHandle};
use tfrt_host::device::DeviceRef;
use tfrt_host::{HostContext, RequestContextBuilder};
use tfrt_support::{DType, Error, ErrorCode};
use tfrt_tensor::{DenseHostTensor, Shape};

use super::graph::Graph;
use super::infer::Dim;
use super::{Applied, Phase, RewriteRule};
use crate::limits::{Limit, Limits};
use crate::program::{Attr, Function, Op, OpKind, Value};

pub(super) const NAME: &str = "fold-constants";

pub(super) const RULES: &[RewriteRule] = &[RewriteRule {
    name: NAME,
    summary: "Computes ops on constants and on known shapes once, when the program is loaded.",
    phase: Phase::Simplify,
    // It needs a host, and looks at all ops at once.
    roots: &[],
    apply: |_, _| None,
}];

/// Ops that take time in proportion to the sizes of their operands and results.
pub(super) const LINEAR: &[&str] = &[
    "nn.Abs",
    "nn.And",
    "nn.BitCast",
    "nn.BitwiseAnd",
    "nn.BitwiseNot",
    "nn.BitwiseOr",
    "nn.BitwiseXor",
    "nn.CastLike",
    "nn.Ceil",
    "nn.Clip",
    "nn.Concat",
    "nn.Cos",
    "nn.Cumulate",
    "nn.Div",
    "nn.Equal",
    "nn.Erf",
    "nn.Exp",
    "nn.Expand",
    "nn.EyeLike",
    "nn.Fill",
    "nn.Flatten",
    "nn.Floor",
    "nn.Gather",
    "nn.GatherElements",
    "nn.Identity",
    "nn.IsInf",
    "nn.IsNaN",
    "nn.Log",
    "nn.Max",
    "nn.Min",
    "nn.Mod",
    "nn.Neg",
    "nn.NonZero",
    "nn.OneHot",
    "nn.Or",
    "nn.Pad",
    "nn.Pow",
    "nn.Quantize",
    "nn.Range",
    "nn.Reciprocal",
    "nn.Reduce",
    "nn.Reshape",
    "nn.Round",
    "nn.Shape",
    "nn.Sigmoid",
    "nn.Sign",
    "nn.Sin",
    "nn.Size",
    "nn.Slice",
    "nn.Split",
    "nn.Sqrt",
    "nn.Squeeze",
    "nn.Tanh",
    "nn.Tile",
    "nn.Transpose",
    "nn.Trilu",
    "nn.Unsqueeze",
    "nn.Where",
    "nn.Xor",
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

/// Ops among them whose result has the memory of the first operand.
pub(crate) const VIEWS: &[&str] = &[
    "nn.Flatten",
    "nn.Identity",
    "nn.Reshape",
    "nn.Squeeze",
    "nn.Unsqueeze",
];

/// Ops that look at the shape of their operand alone.
const OF_SHAPE: &[&str] = &["nn.Shape", "nn.Size"];

/// Where ops on constants are computed, and how much of that is done at most.
///
/// ```
/// use tfrt_host::HostContext;
/// use tfrt_import::Limits;
/// use tfrt_import::rewrite::Folding;
///
/// let host = HostContext::builder().build();
/// let folding = Folding::new(&host, &Limits::default())?;
/// # Ok::<(), tfrt_support::Error>(())
/// ```
#[derive(Debug)]
pub struct Folding {
    eager: Arc<EagerContext>,
    device: DeviceRef,
    max_result_bytes: u64,
    /// How many bytes may still be read and written.
    left_bytes: u64,
}

impl Folding {
    /// Returns a place for computations on a host, whose kernels are used. The limit
    /// [`FoldedResultBytes`](Limit::FoldedResultBytes) applies to each op, and
    /// [`FoldedBytes`](Limit::FoldedBytes) to all ops of a program together.
    ///
    /// # Errors
    /// If the host has no device.
    pub fn new(host: &Arc<HostContext>, limits: &Limits) -> Result<Self, Error> {
        let left_bytes = limits.get(Limit::FoldedBytes);
        let max_bytes = usize::try_from(left_bytes).unwrap_or(usize::MAX);
        // A result that is too large is refused before it takes memory.
        let request = RequestContextBuilder::new(Arc::clone(host)).max_bytes(max_bytes);
        let eager = EagerContext::builder(Arc::clone(host)).request(request.build());
        let eager = eager.build()?;
        let device = eager.devices().next().cloned();
        let device = device.ok_or_else(|| {
            Error::new("the host has no device").with_code(ErrorCode::InvalidArgument)
        })?;
        Ok(Self {
            eager,
            device,
            max_result_bytes: limits.get(Limit::FoldedResultBytes),
            left_bytes,
        })
    }

    /// Returns the results of an op on constants, or `None` if they are to be computed in each run.
    fn results(
        &mut self,
        name: &str,
        op: &Op,
        operands: &[DenseHostTensor],
    ) -> Option<Vec<DenseHostTensor>> {
        let is_view = VIEWS.contains(&name);
        let read: u64 = operands.iter().map(len_bytes).sum();
        if !is_view && (read > self.max_result_bytes || read > self.left_bytes) {
            return None;
        }
        let computed = self.computed(name, op, operands);
        if is_view {
            return computed.ok();
        }
        // Ops that fail and results that are not kept have cost time, too.
        let written = match &computed {
            Ok(results) => results.iter().map(len_bytes).sum(),
            Err(_) => self.max_result_bytes,
        };
        self.left_bytes = self.left_bytes.saturating_sub(read.saturating_add(written));
        let results = computed.ok()?;
        let fits = written <= self.max_result_bytes && self.left_bytes > 0;
        fits.then_some(results)
    }

    fn computed(
        &self,
        name: &str,
        op: &Op,
        operands: &[DenseHostTensor],
    ) -> Result<Vec<DenseHostTensor>, Error> {
        let OpKind::Call { attrs, .. } = &op.kind else {
            return Err(Error::new("not a call"));
        };
        let mut call = self.eager.op(name)?.results(op.results.len());
        for (name, attr) in attrs {
            call = match attr {
                Attr::Bool(value) => call.attr(name, *value)?,
                Attr::Int(value) => call.attr(name, *value)?,
                Attr::Float(value) => call.attr(name, *value)?,
                Attr::Text(value) => call.attr(name, value.as_str())?,
                Attr::Ints(values) => call.attr(name, values.as_slice())?,
                Attr::Floats(values) => call.attr(name, values.as_slice())?,
                Attr::Type(dtype) => call.attr(name, *dtype)?,
            };
        }
        let handles: Vec<TensorHandle> = operands
            .iter()
            .map(|tensor| TensorHandle::of_tensor(self.device.clone(), tensor.clone()))
            .collect();
        let handles: Vec<&TensorHandle> = handles.iter().collect();
        let results = call.ready()?.call_all(&handles)?;
        let tensors = results.iter().map(|result| {
            let tensor = self.eager.wait(result)?.try_read::<DenseHostTensor>();
            let tensor = tensor.map_err(|error| Error::new(error.to_string()))?;
            Ok(tensor.clone())
        });
        tensors.collect()
    }
}

fn len_bytes(tensor: &DenseHostTensor) -> u64 {
    tensor.buffer().len_bytes() as u64
}

/// Replaces the results of ops on constants by weights, in the order of the ops, and conditionals
/// on constants by the branch that they choose.
pub(super) fn fold(
    graph: &mut Graph,
    functions: &[Function],
    folding: &mut Folding,
    applied: &mut Vec<Applied>,
) {
    let seen = seen_values(graph);
    let mut numbers: Vec<usize> = (0..graph.num_numbers()).collect();
    numbers.sort_by_key(|&number| std::cmp::Reverse(graph.order(number)));
    while let Some(number) = numbers.pop() {
        if let Some((branch, operands)) = chosen_branch(graph, functions, number) {
            let place = graph.place(number).to_owned();
            let inlined = graph.inline(number, branch, &operands);
            numbers.extend(inlined.into_iter().rev());
            applied.push(Applied { rule: NAME, place });
            continue;
        }
        let Some(name) = graph.name(number).map(str::to_owned) else {
            continue;
        };
        // Constants before it may say more of the results.
        graph.infer_again(number, |value| seen.contains(&value));
        let Some(results) = results_of(graph, folding, number, &name) else {
            continue;
        };
        let Some(op) = graph.op(number) else {
            continue;
        };
        let (values, place) = (op.results.clone(), op.place.clone());
        for (value, tensor) in values.into_iter().zip(results) {
            let is_used = !graph.users(value).is_empty() || graph.is_result(value);
            if is_used {
                let weight = graph.weight(&format!("folded/{place}"), tensor);
                graph.replace(value, weight);
            }
        }
        graph.remove_if_unused(number);
        applied.push(Applied { rule: NAME, place });
    }
}

/// Returns the branch that a conditional on a constant calls, and the operands of that.
fn chosen_branch<'f>(
    graph: &Graph,
    functions: &'f [Function],
    number: usize,
) -> Option<(&'f Function, Vec<Value>)> {
    let op = graph.op(number)?;
    let OpKind::Conditional { then, otherwise } = &op.kind else {
        return None;
    };
    let (&condition, operands) = op.operands.split_first()?;
    let condition = graph.constant(condition)?;
    if condition.num_elements() != 1 || condition.dtype() != DType::I1 {
        return None;
    }
    let is_true = condition
        .buffer()
        .read()
        .ok()?
        .iter()
        .any(|&byte| byte != 0);
    let name = if is_true { then } else { otherwise };
    let function = functions.iter().find(|function| function.name == *name)?;
    Some((function, operands.to_vec()))
}

/// Returns the results of an op, if they are constants and may be computed now.
fn results_of(
    graph: &Graph,
    folding: &mut Folding,
    number: usize,
    name: &str,
) -> Option<Vec<DenseHostTensor>> {
    if folding.left_bytes == 0 {
        return None;
    }
    let op = graph.op(number)?;
    let is_used = |value: &Value| !graph.users(*value).is_empty() || graph.is_result(*value);
    if !op.results.iter().any(is_used) {
        return None;
    }
    let constants = op.operands.iter().map(|&value| graph.constant(value));
    let constants: Option<Vec<&DenseHostTensor>> = constants.collect();
    let Some(constants) = constants else {
        return known_elements(graph, number).map(|tensor| vec![tensor]);
    };
    if !LINEAR.contains(&name) || is_read_transposed(graph, op, name) {
        return None;
    }
    let constants: Vec<DenseHostTensor> = constants.into_iter().cloned().collect();
    folding.results(name, op, &constants)
}

/// Returns `true` if an op is a transposition that only matrix products use.
fn is_read_transposed(graph: &Graph, op: &Op, name: &str) -> bool {
    let is_product = |&user: &usize| graph.name(user) == Some("nn.MatMul");
    name == "nn.Transpose"
        && op
            .results
            .iter()
            .all(|&value| !graph.is_result(value) && graph.users(value).iter().all(is_product))
}

/// Returns the only result of an op that is made from shapes, if all its elements are known.
fn known_elements(graph: &Graph, number: usize) -> Option<DenseHostTensor> {
    let &[result] = &graph.op(number)?.results[..] else {
        return None;
    };
    let elements = graph.elements(result)?.iter();
    let elements = elements.map(|element| element.as_ref()?.as_number());
    let elements: Vec<i64> = elements.collect::<Option<_>>()?;
    let known = graph.known(result);
    let dims = known.dims?.into_iter().map(Dim::fixed);
    let dims: Vec<usize> = dims.collect::<Option<_>>()?;
    if known.dtype != Some(DType::I64) || dims.iter().product::<usize>() != elements.len() {
        return None;
    }
    DenseHostTensor::from_elements(&crate::malloc(), Shape::new(&dims).ok()?, &elements).ok()
}

/// Returns the values whose errors are errors of the program, even if nobody asks for their shapes:
/// inputs, and what results are computed from.
fn seen_values(graph: &Graph) -> HashSet<Value> {
    let mut seen = HashSet::new();
    let mut pending: Vec<Value> = graph.results().to_vec();
    while let Some(value) = pending.pop() {
        if !seen.insert(value) {
            continue;
        }
        // Branches need not look at what they are given.
        let maker = graph.maker_of(value);
        let call = maker.filter(|&maker| {
            graph
                .name(maker)
                .is_some_and(|name| !OF_SHAPE.contains(&name))
        });
        if let Some(call) = call {
            pending.extend(graph.operands(call));
        }
    }
    for number in 0..graph.num_numbers() {
        // What no op makes is an argument.
        let operands = graph.operands(number).iter();
        seen.extend(operands.filter(|&&value| graph.maker_of(value).is_none()));
    }
    seen
}
