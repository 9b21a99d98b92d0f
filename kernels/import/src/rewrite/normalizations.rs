//! Normalizations: batch norm into the weights before it, layer norm and RMS norm from pieces.

use tfrt_support::DType;
use tfrt_tensor::{DenseHostTensor, Shape};

use super::graph::Graph;
use super::infer::Dim;
use super::matching::{constant_integers, operand_of, orders, square_of, sum_with_number, uniform};
use super::{Phase, RewriteRule, fused_place};
use crate::program::{Attr, ChangedFilters, Constant, Value};

pub(super) const RULES: &[RewriteRule] = &[
    RewriteRule {
        name: "fold-batch-norm",
        summary: "Scales the weights of a convolution or a product instead of normalizing its \
                  result.",
        phase: Phase::Simplify,
        roots: &["nn.BatchNormalization"],
        apply: fold_batch_norm,
    },
    RewriteRule {
        name: "batch-norm-as-scale",
        summary: "Multiplies and adds a number for each channel instead of normalizing it.",
        phase: Phase::Combine,
        roots: &["nn.BatchNormalization"],
        apply: scale_channels,
    },
    RewriteRule {
        name: "layer-norm-from-pieces",
        summary: "Recognises a normalization by the mean and the variance of each row.",
        phase: Phase::Simplify,
        roots: &["nn.Div", "tf.Mul"],
        apply: layer_norm,
    },
    RewriteRule {
        name: "rms-norm-from-pieces",
        summary: "Recognises a normalization by the root mean square of each row.",
        phase: Phase::Simplify,
        roots: &["nn.Div", "tf.Mul"],
        apply: rms_norm,
    },
    RewriteRule {
        name: "scale-into-norm",
        summary: "Scales the rows of a normalization within it.",
        phase: Phase::Simplify,
        roots: &["tf.Mul"],
        apply: scale_into_norm,
    },
    RewriteRule {
        name: "bias-into-norm",
        summary: "Adds the bias of a normalization within it.",
        phase: Phase::Simplify,
        roots: &["tf.AddV2"],
        apply: bias_into_norm,
    },
];

/// Returns the numbers of a constant of single or double precision.
fn numbers(graph: &Graph, value: Value) -> Option<Vec<f64>> {
    let tensor = graph.constant(value)?;
    match tensor.dtype() {
        DType::F32 => {
            let elements = tensor.elements::<f32>().ok()?;
            Some(elements.iter().map(|&number| number.into()).collect())
        }
        DType::F64 => Some(tensor.elements::<f64>().ok()?.to_vec()),
        _ => None,
    }
}

/// Returns a tensor of the element type of another one.
fn tensor(dtype: DType, dims: &[usize], numbers: &[f64]) -> Option<DenseHostTensor> {
    let shape = Shape::new(dims).ok()?;
    match dtype {
        DType::F32 => {
            let narrow: Vec<f32> = numbers.iter().map(|&number| number as f32).collect();
            DenseHostTensor::from_elements(&crate::malloc(), shape, &narrow).ok()
        }
        DType::F64 => DenseHostTensor::from_elements(&crate::malloc(), shape, numbers).ok(),
        _ => None,
    }
}

/// The factor and the summand of each channel, in double precision.
fn folded(graph: &Graph, number: usize) -> Option<(Vec<f64>, Vec<f64>)> {
    let &[_, scale, bias, mean, variance] = graph.operands(number) else {
        return None;
    };
    let [scale, bias] = [numbers(graph, scale)?, numbers(graph, bias)?];
    let [mean, variance] = [numbers(graph, mean)?, numbers(graph, variance)?];
    let epsilon = f64::from(graph.float(number, "epsilon")?);
    let channels = scale.len();
    if [bias.len(), mean.len(), variance.len()] != [channels; 3] {
        return None;
    }
    let factors: Vec<f64> = scale
        .iter()
        .zip(&variance)
        .map(|(scale, variance)| scale / (variance + epsilon).sqrt())
        .collect();
    let summands = factors.iter().zip(&mean).zip(&bias);
    let summands = summands
        .map(|((factor, mean), bias)| bias - mean * factor)
        .collect();
    Some((factors, summands))
}

/// What is left of batch norms, which nothing in front of them could take.
fn scale_channels(graph: &mut Graph, number: usize) -> Option<Value> {
    let x = graph.operand(number, 0)?;
    let known = graph.known(x);
    let rank = known.rank().filter(|&rank| rank >= 2)?;
    let dtype = known.dtype.filter(|&dtype| dtype == DType::F32)?;
    let (factors, summands) = folded(graph, number)?;
    let mut dims = vec![1; rank - 1];
    dims[0] = factors.len();
    // A number for each channel is broadcast to one channel, which is an error of a norm.
    let channels = known.dims.and_then(|dims| dims[1].fixed());
    if channels != Some(factors.len()) {
        return None;
    }
    let place = graph.place(number).to_owned();
    let factors = graph.weight("", tensor(dtype, &dims, &factors)?);
    let summands = graph.weight("", tensor(dtype, &dims, &summands)?);
    let y = graph.make(number, "tf.Mul", &[x, factors], Vec::new(), 1, &place)[0];
    Some(graph.make(number, "tf.AddV2", &[y, summands], Vec::new(), 1, &place)[0])
}

fn fold_batch_norm(graph: &mut Graph, number: usize) -> Option<Value> {
    let x = graph.operand(number, 0)?;
    let before = graph.maker(x)?;
    let name = graph.name(before)?.to_owned();
    if !graph.is_used_once(x) || graph.ints(before, "slots").is_some() {
        return None;
    }
    let w = graph.operand(before, 1)?;
    let (dims, dtype) = {
        let weights = graph.lazy_constant(w)?;
        (weights.shape().dims().to_vec(), weights.dtype())
    };
    let (factors, mut summands) = folded(graph, number)?;
    let channels = factors.len();
    // The output channel of each weight.
    let inner: usize = dims.iter().skip(1).product();
    let channel_of: Box<dyn Fn(usize) -> usize> = match name.as_str() {
        "nn.Conv" if dims.len() >= 3 && dims[0] == channels => Box::new(move |at| at / inner),
        "nn.ConvTranspose" if dims.len() >= 3 => {
            let group = usize::try_from(graph.int(before, "group").unwrap_or(1)).ok()?;
            let in_group = dims[0].checked_div(group)?;
            let per_group = dims[1];
            if per_group.checked_mul(group) != Some(channels)
                || in_group == 0
                || !dims[0].is_multiple_of(group)
            {
                return None;
            }
            let taps: usize = dims[2..].iter().product();
            Box::new(move |at| at / inner / in_group * per_group + at / taps % per_group)
        }
        "nn.Gemm" if dims.len() == 2 => {
            if graph.float(before, "alpha").unwrap_or(1.0) != 1.0
                || graph.float(before, "beta").unwrap_or(1.0) != 1.0
            {
                return None;
            }
            let is_transposed = graph.flag(before, "transpose_b");
            if dims[usize::from(!is_transposed)] != channels {
                return None;
            }
            let columns = dims[1];
            match is_transposed {
                true => Box::new(move |at| at / columns),
                false => Box::new(move |at| at % columns),
            }
        }
        // Its columns are channels only if its result is a matrix.
        "nn.MatMul" if dims.len() == 2 && dims[1] == channels => {
            let is_matrix = graph.known(x).rank() == Some(2);
            if !is_matrix || graph.flag(before, "transpose_b") {
                return None;
            }
            let columns = dims[1];
            Box::new(move |at| at % columns)
        }
        _ => return None,
    };
    let is_empty = dims.contains(&0);
    if let Some(bias) = graph.operand(before, 2) {
        let is_vector = match *graph.constant(bias)?.shape().dims() {
            [len] => len == channels,
            [1, len] => len == channels && name == "nn.Gemm",
            _ => false,
        };
        let bias = numbers(graph, bias).filter(|_| is_vector)?;
        for ((summand, bias), factor) in summands.iter_mut().zip(bias).zip(&factors) {
            *summand += bias * factor;
        }
    }
    if is_empty || !graph.may_copy(w) {
        return None;
    }
    let weights: Constant = match name.as_str() {
        "nn.Conv" if dtype == DType::F32 => {
            ChangedFilters::scaled(graph.constant(w)?, factors)?.into()
        }
        _ => {
            let weights = numbers(graph, w)?.into_iter().enumerate();
            let weights: Vec<f64> = weights
                .map(|(at, weight)| weight * factors[channel_of(at)])
                .collect();
            tensor(dtype, &dims, &weights)?.into()
        }
    };
    let bias = tensor(dtype, &[channels], &summands)?;
    let place = fused_place(graph.place(before), graph.place(number));
    let x = graph.operand(before, 0)?;
    let attrs = graph.attrs(before).to_vec();
    let weights = graph.weight("", weights);
    let bias = graph.weight("", bias);
    let (op, operands, attrs) = match name.as_str() {
        "nn.MatMul" => {
            // A product has no bias of its own here; the sum joins it later.
            let product = graph.make(number, "nn.MatMul", &[x, weights], attrs, 1, &place)[0];
            ("tf.AddV2", vec![product, bias], Vec::new())
        }
        _ => (name.as_str(), vec![x, weights, bias], attrs),
    };
    Some(graph.make(number, op, &operands, attrs, 1, &place)[0])
}

/// Returns the number of last dimensions that a mean is taken along, if it keeps them.
fn mean_of(graph: &Graph, value: Value) -> Option<(Value, usize)> {
    let number = graph.made_by(value, "nn.Reduce")?;
    let &[x, axes] = graph.operands(number) else {
        return None;
    };
    if graph.text(number, "function") != Some("mean") || !graph.flag(number, "keep_dims") {
        return None;
    }
    let axes = constant_integers(graph, axes)?;
    let rank = graph.known(x).rank();
    let mut from_end: Vec<i64> = axes
        .iter()
        .map(|&axis| match axis {
            ..0 => Some(axis),
            axis => axis.checked_sub(i64::try_from(rank?).ok()?),
        })
        .collect::<Option<_>>()?;
    from_end.sort_unstable_by_key(|axis| std::cmp::Reverse(*axis));
    let is_tail = from_end.iter().zip(1..).all(|(&axis, at)| axis == -at);
    (is_tail && !from_end.is_empty()).then_some((x, from_end.len()))
}

/// Returns what a value is divided by: `(x, divisor)`.
fn quotient(graph: &Graph, number: usize) -> Option<(Value, Value)> {
    if graph.name(number) == Some("nn.Div") {
        let &[x, divisor] = graph.operands(number) else {
            return None;
        };
        return Some((x, divisor));
    }
    orders(graph, number).into_iter().find_map(|(x, factor)| {
        if let Some(divisor) = operand_of(graph, factor, "nn.Reciprocal") {
            return Some((x, divisor));
        }
        let inverse = graph.made_by(factor, "nn.Div")?;
        let &[one, divisor] = graph.operands(inverse) else {
            return None;
        };
        (uniform(graph, one, divisor) == Some(1.0)).then_some((x, divisor))
    })
}

/// Returns `x`, its number of normalized dimensions and the epsilon of `√(mean(x²) + epsilon)`.
fn root_mean_square(graph: &Graph, value: Value) -> Option<(Value, usize, f64)> {
    let sum = operand_of(graph, value, "nn.Sqrt")?;
    let (mean, epsilon) = sum_with_number(graph, sum)?;
    let (squares, count) = mean_of(graph, mean)?;
    Some((square_of(graph, squares)?, count, epsilon))
}

fn norm_attrs(count: usize, epsilon: f64) -> Vec<(String, Attr)> {
    vec![
        ("axis".to_owned(), Attr::Int(-(count as i64))),
        ("epsilon".to_owned(), Attr::Float(epsilon as f32)),
    ]
}

/// Normalizations of half precision round each step, which one op does not.
fn is_wide(graph: &Graph, value: Value) -> bool {
    matches!(graph.known(value).dtype, Some(DType::F32 | DType::F64))
}

fn layer_norm(graph: &mut Graph, number: usize) -> Option<Value> {
    let (difference, divisor) = quotient(graph, number)?;
    let (of, count, epsilon) = root_mean_square(graph, divisor)?;
    let subtraction = graph.made_by(difference, "tf.Sub")?;
    let &[x, mean] = graph.operands(subtraction) else {
        return None;
    };
    if of != difference || mean_of(graph, mean)? != (x, count) || !is_wide(graph, x) {
        return None;
    }
    let place = graph.place(number).to_owned();
    let attrs = norm_attrs(count, epsilon);
    Some(graph.make(number, "nn.LayerNormalization", &[x], attrs, 3, &place)[0])
}

fn rms_norm(graph: &mut Graph, number: usize) -> Option<Value> {
    let (x, divisor) = quotient(graph, number)?;
    let (of, count, epsilon) = root_mean_square(graph, divisor)?;
    // Of a difference from the mean it is a layer normalization, if that can be.
    if of != x || !is_wide(graph, x) {
        return None;
    }
    let place = graph.place(number).to_owned();
    let attrs = norm_attrs(count, epsilon);
    Some(graph.make(number, "nn.RmsNormalization", &[x], attrs, 1, &place)[0])
}

/// Returns `true` if a constant has an element for each of the normalized dimensions, whatever the
/// others are.
fn is_of_rows(graph: &Graph, norm: usize, constant: Value) -> bool {
    let (Some(axis), Some(x)) = (graph.int(norm, "axis"), graph.operand(norm, 0)) else {
        return false;
    };
    let (Some(own), Some(dims)) = (graph.constant(constant), graph.known(x).dims) else {
        return false;
    };
    let Ok(count) = usize::try_from(axis.unsigned_abs()) else {
        return false;
    };
    let same_type = graph.known(x).dtype == Some(own.dtype());
    let own = own.shape().dims();
    let Some(missing) = dims.len().checked_sub(own.len()) else {
        return false;
    };
    let mut pairs = own.iter().zip(&dims[missing..]);
    axis < 0
        && same_type
        && own.len() == count
        && graph.slot(norm, 2).is_none()
        && pairs.all(|(&own, dim)| *dim == Dim::Fixed(own))
}

fn norm_of(graph: &Graph, value: Value) -> Option<usize> {
    let layer = graph.made_by(value, "nn.LayerNormalization");
    let norm = layer.or_else(|| graph.made_by(value, "nn.RmsNormalization"))?;
    let is_free = graph.is_used_once(value) && graph.ints(norm, "slots").is_none();
    (is_free && graph.has_one_result(norm)).then_some(norm)
}

fn scale_into_norm(graph: &mut Graph, number: usize) -> Option<Value> {
    let (norm, scale) = orders(graph, number).into_iter().find_map(|(x, scale)| {
        let norm = norm_of(graph, x)?;
        let is_first = graph.operands(norm).len() == 1;
        (is_first && is_of_rows(graph, norm, scale)).then_some((norm, scale))
    })?;
    let x = graph.operand(norm, 0)?;
    let name = graph.name(norm)?.to_owned();
    let num_results = graph.op(norm)?.results.len();
    let attrs = graph.attrs(norm).to_vec();
    let place = fused_place(graph.place(norm), graph.place(number));
    Some(graph.make(number, &name, &[x, scale], attrs, num_results, &place)[0])
}

fn bias_into_norm(graph: &mut Graph, number: usize) -> Option<Value> {
    let (norm, bias) = orders(graph, number).into_iter().find_map(|(x, bias)| {
        let norm = norm_of(graph, x)?;
        let is_layer = graph.name(norm) == Some("nn.LayerNormalization");
        (is_layer && graph.operands(norm).len() == 2 && is_of_rows(graph, norm, bias))
            .then_some((norm, bias))
    })?;
    let (x, scale) = (graph.operand(norm, 0)?, graph.operand(norm, 1)?);
    let attrs = graph.attrs(norm).to_vec();
    let place = fused_place(graph.place(norm), graph.place(number));
    let operands = [x, scale, bias];
    Some(graph.make(number, "nn.LayerNormalization", &operands, attrs, 3, &place)[0])
}
