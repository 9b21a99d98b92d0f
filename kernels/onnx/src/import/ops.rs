//! The lowering of each op.
//!
//! To add an op: give it an arm here, and implement an op if none exists yet. The attributes of our
//! ops are canonical, so everything specific to ONNX ends here.

use tfrt_import::ImportError;
use tfrt_import::names::shown;
use tfrt_import::program::{Attr, Value};
use tfrt_tensor::DenseHostTensor;

use super::Known;
use super::call::{Call, scalar};
use crate::element_type::ElementType;

mod images;

mod legacy;

mod lists;

mod losses;

mod quantized;

mod random;

mod recurrent;

mod signal;

type Results = Vec<Known>;

/// Returns the results of an op with several.
fn many(values: Vec<Value>) -> Result<Option<Results>, ImportError> {
    Ok(Some(values.into_iter().map(Known::Value).collect()))
}

/// Ops that are one of ours, operands and all.
const SAME: &[(&str, &str)] = &[
    ("Abs", "nn.Abs"),
    ("Acos", "nn.Acos"),
    ("Acosh", "nn.Acosh"),
    ("Add", "tf.AddV2"),
    ("And", "nn.And"),
    ("Asin", "nn.Asin"),
    ("Asinh", "nn.Asinh"),
    ("Atan", "nn.Atan"),
    ("Atanh", "nn.Atanh"),
    ("BitwiseAnd", "nn.BitwiseAnd"),
    ("BitwiseNot", "nn.BitwiseNot"),
    ("BitwiseOr", "nn.BitwiseOr"),
    ("BitwiseXor", "nn.BitwiseXor"),
    ("Ceil", "nn.Ceil"),
    ("Cos", "nn.Cos"),
    ("Cosh", "nn.Cosh"),
    ("Det", "nn.Det"),
    ("Div", "nn.Div"),
    ("Equal", "nn.Equal"),
    ("Erf", "nn.Erf"),
    ("Exp", "nn.Exp"),
    ("Expand", "nn.Expand"),
    ("Floor", "nn.Floor"),
    ("Greater", "tf.Greater"),
    ("GreaterOrEqual", "tf.GreaterEqual"),
    ("HardSwish", "nn.HardSwish"),
    ("IsNaN", "nn.IsNaN"),
    ("Less", "tf.Less"),
    ("LessOrEqual", "tf.LessEqual"),
    ("Log", "nn.Log"),
    ("MatMul", "nn.MatMul"),
    ("Mean", "nn.Mean"),
    ("Mish", "nn.Mish"),
    ("Mul", "tf.Mul"),
    ("Neg", "nn.Neg"),
    ("NonZero", "nn.NonZero"),
    ("Not", "tf.LogicalNot"),
    ("Or", "nn.Or"),
    ("Pow", "nn.Pow"),
    ("QLinearMatMul", "nn.QuantizedMatMul"),
    ("Range", "nn.Range"),
    ("Reciprocal", "nn.Reciprocal"),
    ("Relu", "nn.Relu"),
    ("Round", "nn.Round"),
    ("Sigmoid", "nn.Sigmoid"),
    ("Sign", "nn.Sign"),
    ("Sin", "nn.Sin"),
    ("Sinh", "nn.Sinh"),
    ("Size", "nn.Size"),
    ("Softplus", "nn.Softplus"),
    ("Softsign", "nn.Softsign"),
    ("Sqrt", "nn.Sqrt"),
    ("Squeeze", "nn.Squeeze"),
    ("Sub", "tf.Sub"),
    ("Tan", "nn.Tan"),
    ("Tanh", "nn.Tanh"),
    ("Tile", "nn.Tile"),
    ("Unsqueeze", "nn.Unsqueeze"),
    ("Where", "nn.Where"),
    ("Xor", "nn.Xor"),
];

/// Ops that are lowered by an arm of [`special`].
const SPECIAL: &[&str] = &[
    "AffineGrid",
    "ArgMax",
    "ArgMin",
    "Attention",
    "AveragePool",
    "BatchNormalization",
    "Bernoulli",
    "BitCast",
    "BitShift",
    "BlackmanWindow",
    "Cast",
    "CastLike",
    "CausalConvWithState",
    "Celu",
    "CenterCropPad",
    "Clip",
    "Col2Im",
    "Compress",
    "Concat",
    "ConcatFromSequence",
    "Constant",
    "ConstantOfShape",
    "Conv",
    "ConvInteger",
    "ConvTranspose",
    "CumProd",
    "CumSum",
    "DFT",
    "DeformConv",
    "DepthToSpace",
    "DequantizeLinear",
    "Dropout",
    "DynamicQuantizeLinear",
    "Einsum",
    "Elu",
    "EyeLike",
    "Flatten",
    "GRU",
    "Gather",
    "GatherElements",
    "GatherND",
    "Gelu",
    "Gemm",
    "GlobalAveragePool",
    "GlobalLpPool",
    "GlobalMaxPool",
    "GridSample",
    "GroupNormalization",
    "HammingWindow",
    "HannWindow",
    "HardSigmoid",
    "Hardmax",
    "Identity",
    "InstanceNormalization",
    "IsInf",
    "LRN",
    "LSTM",
    "LayerNormalization",
    "LeakyRelu",
    "LinearAttention",
    "LogSoftmax",
    "LpNormalization",
    "LpPool",
    "MatMulInteger",
    "Max",
    "MaxPool",
    "MaxRoiPool",
    "MaxUnpool",
    "MeanVarianceNormalization",
    "MelWeightMatrix",
    "Min",
    "Mod",
    "Multinomial",
    "NegativeLogLikelihoodLoss",
    "NonMaxSuppression",
    "OneHot",
    "Optional",
    "OptionalGetElement",
    "OptionalHasElement",
    "PRelu",
    "Pad",
    "QLinearConv",
    "QuantizeLinear",
    "RMSNormalization",
    "RNN",
    "RandomNormal",
    "RandomNormalLike",
    "RandomUniform",
    "RandomUniformLike",
    "ReduceL1",
    "ReduceL2",
    "ReduceLogSum",
    "ReduceLogSumExp",
    "ReduceMax",
    "ReduceMean",
    "ReduceMin",
    "ReduceProd",
    "ReduceSum",
    "ReduceSumSquare",
    "Reshape",
    "Resize",
    "ReverseSequence",
    "RoiAlign",
    "RotaryEmbedding",
    "STFT",
    "Scatter",
    "ScatterElements",
    "ScatterND",
    "Selu",
    "SequenceAt",
    "SequenceConstruct",
    "SequenceEmpty",
    "SequenceErase",
    "SequenceInsert",
    "SequenceLength",
    "Shape",
    "Shrink",
    "Slice",
    "Softmax",
    "SoftmaxCrossEntropyLoss",
    "SpaceToDepth",
    "Split",
    "SplitToSequence",
    "Sum",
    "Swish",
    "TensorScatter",
    "ThresholdedRelu",
    "TopK",
    "Transpose",
    "Trilu",
    "Unique",
    "Upsample",
];

/// Returns `true` if an op is lowered at all.
pub(super) fn is_known(op: &str) -> bool {
    SAME.iter().any(|(known, _)| *known == op) || SPECIAL.contains(&op)
}

/// Returns the names of all ops that are lowered.
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    let same = SAME.iter().map(|(name, _)| *name);
    same.chain(SPECIAL.iter().copied())
}

/// Lowers a node. Returns its results; nothing if it is not supported.
pub(super) fn lower(call: &mut Call<'_, '_>) -> Result<Option<Results>, ImportError> {
    if (call.op, call.since) == ("Tile", 1) {
        return Ok(Some(vec![Known::Value(legacy::tile(call)?)]));
    }
    if let Some((_, op)) = SAME.iter().find(|(known, _)| *known == call.op) {
        let operands = match legacy::axis_of_second(call) {
            Some(axis) => legacy::aligned(call, axis)?.to_vec(),
            None => call.operands()?,
        };
        return Ok(Some(vec![Known::Value(call.emit_one(op, &operands, &[]))]));
    }
    special(call)
}

type Attrs = Vec<(&'static str, Attr)>;

/// Adds an attribute, if there is a value for it.
fn put(attrs: &mut Attrs, name: &'static str, value: Option<Attr>) {
    attrs.extend(value.map(|value| (name, value)));
}

/// Returns a list, unless it is empty.
fn list(values: Option<&[i64]>) -> Option<Attr> {
    let values = values.filter(|values| !values.is_empty());
    values.map(|values| Attr::Ints(values.to_vec()))
}

fn special(call: &mut Call<'_, '_>) -> Result<Option<Results>, ImportError> {
    let one = |value: Value| Ok(Some(vec![Known::Value(value)]));
    let op = call.op;
    let axis = |call: &Call<'_, '_>, missing: i64| Attr::Int(call.int("axis").unwrap_or(missing));
    match op {
        "Identity" => Ok(Some(vec![call.known(0)?])),
        "Constant" => constant(call),
        "Sum" | "Max" | "Min" => {
            let ours = match op {
                "Sum" => "tf.AddV2",
                "Max" => "nn.Max",
                _ => "nn.Min",
            };
            let operands = call.operands()?;
            let (&first, others) = operands
                .split_first()
                .ok_or_else(|| ImportError::new("expected an operand, found none"))?;
            let all = others.iter().fold(first, |so_far, &next| {
                call.emit_one(ours, &[so_far, next], &[])
            });
            one(all)
        }
        "Elu" | "LeakyRelu" | "Selu" | "Celu" | "HardSigmoid" | "ThresholdedRelu" | "Swish"
        | "Gelu" | "Shrink" => {
            let is_tanh = call.text("approximate").is_some_and(|mode| mode == "tanh");
            let (function, alpha, beta) = match op {
                "Elu" => ("elu", call.float("alpha").unwrap_or(1.0), 0.0),
                "LeakyRelu" => ("leaky_relu", call.float("alpha").unwrap_or(0.01), 0.0),
                "Selu" => {
                    // The oldest version rounded its defaults.
                    let (alpha, gamma) = match call.since {
                        ..6 => (1.6732, 1.0507),
                        _ => (1.673_263_2, 1.050_701),
                    };
                    (
                        "selu",
                        call.float("alpha").unwrap_or(alpha),
                        call.float("gamma").unwrap_or(gamma),
                    )
                }
                "Celu" => ("celu", call.float("alpha").unwrap_or(1.0), 0.0),
                "HardSigmoid" => (
                    "hard_sigmoid",
                    call.float("alpha").unwrap_or(0.2),
                    call.float("beta").unwrap_or(0.5),
                ),
                "ThresholdedRelu" => ("thresholded_relu", call.float("alpha").unwrap_or(1.0), 0.0),
                "Swish" => ("swish", call.float("alpha").unwrap_or(1.0), 0.0),
                "Shrink" => (
                    "shrink",
                    call.float("bias").unwrap_or(0.0),
                    call.float("lambd").unwrap_or(0.5),
                ),
                _ if is_tanh => ("gelu_tanh", 0.0, 0.0),
                _ => ("gelu", 0.0, 0.0),
            };
            let attrs = [
                ("function", Attr::Text(function.to_owned())),
                ("alpha", Attr::Float(alpha)),
                ("beta", Attr::Float(beta)),
            ];
            let x = call.operand(0)?;
            one(call.emit_one("nn.Activation", &[x], &attrs))
        }
        "IsInf" => {
            let flag = |name: &str| Attr::Bool(call.int(name).unwrap_or(1) != 0);
            let attrs = [
                ("detects_negative", flag("detect_negative")),
                ("detects_positive", flag("detect_positive")),
            ];
            let x = call.operand(0)?;
            one(call.emit_one("nn.IsInf", &[x], &attrs))
        }
        "Mod" => {
            let fmod = call.int("fmod").unwrap_or(0);
            if !matches!(fmod, 0 | 1) {
                return Err(ImportError::new(format!(
                    "attribute `fmod`: expected 0 or 1, found {fmod}"
                )));
            }
            let attrs = [("fmod", Attr::Bool(fmod == 1))];
            let operands = call.operands()?;
            one(call.emit_one("nn.Mod", &operands, &attrs))
        }
        "BitShift" => {
            let ours = match call.text("direction").as_deref() {
                Some("LEFT") => "nn.ShiftLeft",
                Some("RIGHT") => "nn.ShiftRight",
                other => return Err(unknown("direction", other)),
            };
            let operands = call.operands()?;
            one(call.emit_one(ours, &operands, &[]))
        }
        "Clip" => slotted(call, "nn.Clip", Vec::new()),
        "Cast" => {
            let wanted = match call.int("to") {
                Some(code) => i32::try_from(code).ok().and_then(ElementType::from_code),
                None => call
                    .text("to")
                    .and_then(|name| ElementType::from_name(&name)),
            };
            let wanted = wanted.ok_or_else(|| ImportError::new("`to` is not an element type"))?;
            let dtype = wanted
                .dtype()
                .filter(|dtype| dtype.size_bytes().is_some_and(|size| size <= 8));
            let Some(dtype) = dtype.filter(|_| !matches!(wanted.code(), 14 | 15)) else {
                call.reason = Some(format!("Cast to {wanted}"));
                return Ok(None);
            };
            let x = call.operand(0)?;
            one(call.emit_one("tfrt.Cast", &[x], &[("DstT", Attr::Type(dtype))]))
        }
        "CastLike" => {
            let operands = call.operands()?;
            one(call.emit_one("nn.CastLike", &operands, &[]))
        }
        "ConstantOfShape" => {
            let value = match call.tensor("value") {
                Some(tensor) => tensor.dense().cloned(),
                None => Some(scalar(0.0_f32)?),
            };
            let Some(value) = value else {
                call.reason = Some("ConstantOfShape of an unsupported type".to_owned());
                return Ok(None);
            };
            let (shape, value) = (call.operand(0)?, call.weight(value));
            one(call.emit_one("nn.Fill", &[shape, value], &[]))
        }
        "Shape" => {
            let mut attrs = vec![("start", Attr::Int(call.int("start").unwrap_or(0)))];
            put(&mut attrs, "end", call.int("end").map(Attr::Int));
            let x = call.operand(0)?;
            one(call.emit_one("nn.Shape", &[x], &attrs))
        }
        "Reshape" => {
            let attrs = [("allow_zero", Attr::Bool(call.flag("allowzero")))];
            let operands = call.operands()?;
            one(call.emit_one("nn.Reshape", &operands, &attrs))
        }
        "Flatten" | "Concat" => {
            let (ours, missing) = if op == "Flatten" {
                ("nn.Flatten", 1)
            } else {
                ("nn.Concat", 1)
            };
            let attrs = [("axis", axis(call, missing))];
            let operands = call.operands()?;
            one(call.emit_one(ours, &operands, &attrs))
        }
        "Transpose" => {
            let mut attrs = Attrs::new();
            put(&mut attrs, "perm", list(call.ints("perm")));
            let x = call.operand(0)?;
            one(call.emit_one("nn.Transpose", &[x], &attrs))
        }
        "Split" => {
            let count = call.num_results();
            if let Some(declared) = call.int("num_outputs")
                && usize::try_from(declared) != Ok(count)
            {
                return Err(ImportError::new(format!(
                    "attribute `num_outputs`: expected {count}, the number of results, found \
                     {declared}"
                )));
            }
            let attrs = [("count", Attr::Int(count as i64)), ("axis", axis(call, 0))];
            let operands = call.operands()?;
            let pieces = call.emit("nn.Split", &operands, &attrs, count);
            Ok(Some(pieces.into_iter().map(Known::Value).collect()))
        }
        "Slice" => slotted(call, "nn.Slice", Vec::new()),
        "Pad" => {
            let mode = call.text("mode").unwrap_or_else(|| "constant".to_owned());
            slotted(call, "nn.Pad", vec![("mode", Attr::Text(mode))])
        }
        "Trilu" => {
            let attrs = [("upper", Attr::Bool(call.int("upper").unwrap_or(1) != 0))];
            let operands = call.operands()?;
            one(call.emit_one("nn.Trilu", &operands, &attrs))
        }
        "Gather" | "GatherElements" => {
            let ours = if op == "Gather" {
                "nn.Gather"
            } else {
                "nn.GatherElements"
            };
            let attrs = [("axis", axis(call, 0))];
            let operands = call.operands()?;
            one(call.emit_one(ours, &operands, &attrs))
        }
        "GatherND" => {
            let attrs = [("batch_dims", Attr::Int(call.int("batch_dims").unwrap_or(0)))];
            let operands = call.operands()?;
            one(call.emit_one("nn.GatherNd", &operands, &attrs))
        }
        "Scatter" | "ScatterElements" | "ScatterND" => {
            let reduction = call.text("reduction").unwrap_or_else(|| "none".to_owned());
            let mut attrs = vec![("reduction", Attr::Text(reduction))];
            let ours = if op == "ScatterND" {
                "nn.ScatterNd"
            } else {
                attrs.push(("axis", axis(call, 0)));
                "nn.ScatterElements"
            };
            let operands = call.operands()?;
            one(call.emit_one(ours, &operands, &attrs))
        }
        "OneHot" => {
            let attrs = [("axis", axis(call, -1))];
            let operands = call.operands()?;
            one(call.emit_one("nn.OneHot", &operands, &attrs))
        }
        "TopK" => {
            let attrs = [
                ("axis", axis(call, -1)),
                ("largest", Attr::Bool(call.int("largest").unwrap_or(1) != 0)),
            ];
            let operands = call.operands()?;
            let results = call.emit("nn.TopK", &operands, &attrs, 2);
            Ok(Some(results.into_iter().map(Known::Value).collect()))
        }
        "Compress" => {
            let mut attrs = Attrs::new();
            put(&mut attrs, "axis", call.int("axis").map(Attr::Int));
            let operands = call.operands()?;
            one(call.emit_one("nn.Compress", &operands, &attrs))
        }
        "EyeLike" => {
            let mut attrs = vec![("k", Attr::Int(call.int("k").unwrap_or(0)))];
            if let Some(code) = call.int("dtype") {
                let dtype = i32::try_from(code).ok().and_then(ElementType::from_code);
                let Some(dtype) = dtype.and_then(ElementType::dtype) else {
                    call.reason = Some("EyeLike of an unsupported type".to_owned());
                    return Ok(None);
                };
                attrs.push(("dtype", Attr::Type(dtype)));
            }
            let x = call.operand(0)?;
            one(call.emit_one("nn.EyeLike", &[x], &attrs))
        }
        "CumSum" | "CumProd" => {
            let attrs = [
                ("multiplies", Attr::Bool(op == "CumProd")),
                ("exclusive", Attr::Bool(call.flag("exclusive"))),
                ("reverse", Attr::Bool(call.flag("reverse"))),
            ];
            let operands = call.operands()?;
            one(call.emit_one("nn.Cumulate", &operands, &attrs))
        }
        "ArgMax" | "ArgMin" => {
            let attrs = [
                ("is_max", Attr::Bool(op == "ArgMax")),
                ("axis", axis(call, 0)),
                (
                    "keep_dims",
                    Attr::Bool(call.int("keepdims").unwrap_or(1) != 0),
                ),
                ("takes_last", Attr::Bool(call.flag("select_last_index"))),
            ];
            let x = call.operand(0)?;
            one(call.emit_one("nn.ArgExtreme", &[x], &attrs))
        }
        "LpNormalization" => {
            let attrs = [
                ("axis", axis(call, -1)),
                ("p", Attr::Int(call.int("p").unwrap_or(2))),
            ];
            let x = call.operand(0)?;
            one(call.emit_one("nn.LpNormalization", &[x], &attrs))
        }
        "Softmax" | "LogSoftmax" | "Hardmax" => {
            // Before version 13 all dimensions from the axis on were one.
            let coerces = call.since < 13;
            let mut attrs = vec![
                ("axis", axis(call, if coerces { 1 } else { -1 })),
                ("coerces", Attr::Bool(coerces)),
            ];
            let ours = if op == "Hardmax" {
                "nn.Hardmax"
            } else {
                attrs.push(("is_log", Attr::Bool(op == "LogSoftmax")));
                "nn.Softmax"
            };
            let x = call.operand(0)?;
            one(call.emit_one(ours, &[x], &attrs))
        }
        "Gemm" => {
            let number = |name: &str| Attr::Float(call.float(name).unwrap_or(1.0));
            let attrs = [
                ("alpha", number("alpha")),
                ("beta", number("beta")),
                ("transpose_a", Attr::Bool(call.flag("transA"))),
                ("transpose_b", Attr::Bool(call.flag("transB"))),
            ];
            let operands = call.operands()?;
            one(call.emit_one("nn.Gemm", &operands, &attrs))
        }
        "DepthToSpace" | "SpaceToDepth" => {
            let mut attrs = vec![("block", Attr::Int(call.int("blocksize").unwrap_or(1)))];
            let ours = if op == "DepthToSpace" {
                let is_crd = call.text("mode").is_some_and(|mode| mode == "CRD");
                attrs.push(("columns_first", Attr::Bool(is_crd)));
                "nn.DepthToSpace"
            } else {
                "nn.SpaceToDepth"
            };
            let x = call.operand(0)?;
            one(call.emit_one(ours, &[x], &attrs))
        }
        "Resize" | "Upsample" => resize(call),
        "Dropout" => dropout(call),
        "Conv" | "ConvTranspose" => {
            check_kernel_shape(call, 1)?;
            let mut attrs = windows(call)?;
            attrs.push(("group", Attr::Int(call.int("group").unwrap_or(1))));
            if op == "ConvTranspose" {
                put(
                    &mut attrs,
                    "output_padding",
                    list(call.ints("output_padding")),
                );
                put(&mut attrs, "output_shape", list(call.ints("output_shape")));
            }
            let ours = if op == "Conv" {
                "nn.Conv"
            } else {
                "nn.ConvTranspose"
            };
            let operands = call.operands()?;
            one(call.emit_one(ours, &operands, &attrs))
        }
        "MaxPool" => {
            let wants_indices = call.wants(1);
            let mut attrs = pooling(call)?;
            attrs.push(("indices", Attr::Bool(wants_indices)));
            attrs.push(("column_major", Attr::Bool(call.flag("storage_order"))));
            let x = call.operand(0)?;
            let results = call.emit("nn.MaxPool", &[x], &attrs, 1 + usize::from(wants_indices));
            Ok(Some(results.into_iter().map(Known::Value).collect()))
        }
        "AveragePool" | "LpPool" => {
            let mut attrs = pooling(call)?;
            attrs.push((
                "count_include_pad",
                Attr::Bool(call.flag("count_include_pad")),
            ));
            // The mean, or the norm of an order.
            let order = if op == "LpPool" { norm_order(call)? } else { 0 };
            attrs.push(("p", Attr::Int(order)));
            let x = call.operand(0)?;
            one(call.emit_one("nn.AveragePool", &[x], &attrs))
        }
        "GlobalAveragePool" | "GlobalMaxPool" | "GlobalLpPool" => {
            let function = match op {
                "GlobalAveragePool" => "mean",
                "GlobalMaxPool" => "max",
                _ => "lp",
            };
            let attrs = [
                ("function", Attr::Text(function.to_owned())),
                ("p", Attr::Int(norm_order(call)?)),
            ];
            let x = call.operand(0)?;
            one(call.emit_one("nn.GlobalPool", &[x], &attrs))
        }
        "BatchNormalization" => batch_normalization(call),
        "Attention" => {
            let number = |name: &str| Attr::Int(call.int(name).unwrap_or(0));
            let scores = match call.wants(3) {
                true => match call.int("qk_matmul_output_mode").unwrap_or(0) {
                    mode @ 0..=3 => Attr::Int(mode),
                    mode => {
                        return Err(ImportError::new(format!(
                            "attribute `qk_matmul_output_mode`: expected 0 to 3, found {mode}"
                        )));
                    }
                },
                // They are not stored.
                false => Attr::Int(-1),
            };
            let mut attrs = vec![
                ("q_heads", number("q_num_heads")),
                ("kv_heads", number("kv_num_heads")),
                ("scores", scores),
                (
                    "soft_cap",
                    Attr::Float(call.float("softcap").unwrap_or(0.0)),
                ),
                ("is_causal", Attr::Bool(call.flag("is_causal"))),
            ];
            put(&mut attrs, "scale", call.float("scale").map(Attr::Float));
            let (operands, slots) = call.slots()?;
            attrs.extend(slots);
            let results = call.emit("nn.Attention", &operands, &attrs, 4);
            Ok(Some(results.into_iter().map(Known::Value).collect()))
        }
        "RotaryEmbedding" => {
            let attrs = [
                ("interleaved", Attr::Bool(call.flag("interleaved"))),
                ("num_heads", Attr::Int(call.int("num_heads").unwrap_or(0))),
                (
                    "size",
                    Attr::Int(call.int("rotary_embedding_dim").unwrap_or(0)),
                ),
            ];
            let operands = call.operands()?;
            one(call.emit_one("nn.RotaryEmbedding", &operands, &attrs))
        }
        "NonMaxSuppression" => {
            let is_centered = Attr::Bool(call.flag("center_point_box"));
            slotted(
                call,
                "nn.NonMaxSuppression",
                vec![("is_centered", is_centered)],
            )
        }
        "InstanceNormalization" => {
            let attrs = [(
                "epsilon",
                Attr::Float(call.float("epsilon").unwrap_or(1e-5)),
            )];
            let operands = call.operands()?;
            one(call.emit_one("nn.InstanceNormalization", &operands, &attrs))
        }
        "GroupNormalization" => {
            let attrs = [
                (
                    "epsilon",
                    Attr::Float(call.float("epsilon").unwrap_or(1e-5)),
                ),
                ("num_groups", Attr::Int(call.int("num_groups").unwrap_or(1))),
            ];
            let operands = call.operands()?;
            one(call.emit_one("nn.GroupNormalization", &operands, &attrs))
        }
        "LayerNormalization" | "RMSNormalization" => {
            let attrs = vec![
                (
                    "epsilon",
                    Attr::Float(call.float("epsilon").unwrap_or(1e-5)),
                ),
                ("axis", axis(call, -1)),
            ];
            if op == "RMSNormalization" {
                let operands = call.operands()?;
                return one(call.emit_one("nn.RmsNormalization", &operands, &attrs));
            }
            let (operands, slots) = call.slots()?;
            let attrs: Attrs = attrs.into_iter().chain(slots).collect();
            let results = call.emit("nn.LayerNormalization", &operands, &attrs, 3);
            Ok(Some(results.into_iter().map(Known::Value).collect()))
        }
        "LRN" => {
            let number =
                |name: &str, missing: f32| Attr::Float(call.float(name).unwrap_or(missing));
            let attrs = [
                ("size", Attr::Int(call.int("size").unwrap_or(1))),
                ("alpha", number("alpha", 1e-4)),
                ("beta", number("beta", 0.75)),
                ("bias", number("bias", 1.0)),
            ];
            let x = call.operand(0)?;
            one(call.emit_one("nn.LocalResponseNormalization", &[x], &attrs))
        }
        "QuantizeLinear" | "DequantizeLinear" | "MatMulInteger" | "ConvInteger" | "QLinearConv" => {
            quantized::lower(call)
        }
        "RNN" | "GRU" | "LSTM" | "LinearAttention" | "CausalConvWithState" => {
            recurrent::lower(call)
        }
        "GridSample" | "AffineGrid" | "RoiAlign" | "MaxRoiPool" | "DeformConv" | "Col2Im"
        | "MaxUnpool" => images::lower(call),
        "DFT" | "STFT" | "HannWindow" | "HammingWindow" | "BlackmanWindow" | "MelWeightMatrix" => {
            signal::lower(call)
        }
        "RandomNormal" | "RandomNormalLike" | "RandomUniform" | "RandomUniformLike"
        | "Bernoulli" | "Multinomial" => random::lower(call),
        "NegativeLogLikelihoodLoss" | "SoftmaxCrossEntropyLoss" => losses::lower(call),
        "PRelu" => {
            let attrs = [("by_channel", Attr::Bool(call.since < 7))];
            let operands = call.operands()?;
            one(call.emit_one("nn.PRelu", &operands, &attrs))
        }
        "DynamicQuantizeLinear" => {
            let x = call.operand(0)?;
            many(call.emit("nn.DynamicQuantize", &[x], &[], 3))
        }
        "SequenceConstruct" | "SequenceEmpty" | "SequenceAt" | "SequenceInsert"
        | "SequenceErase" | "SequenceLength" | "SplitToSequence" | "ConcatFromSequence"
        | "Optional" | "OptionalHasElement" | "OptionalGetElement" => lists::lower(call),
        "Einsum" => {
            let equation = call.text("equation").unwrap_or_default();
            let operands = call.operands()?;
            one(call.emit_one(
                "nn.Einsum",
                &operands,
                &[("equation", Attr::Text(equation))],
            ))
        }
        "BitCast" => {
            let Some(dtype) = call.dtype("to")? else {
                return Ok(None);
            };
            let x = call.operand(0)?;
            one(call.emit_one("nn.BitCast", &[x], &[("dtype", Attr::Type(dtype))]))
        }
        "CenterCropPad" => {
            let mut attrs = Attrs::new();
            put(&mut attrs, "axes", list(call.ints("axes")));
            let operands = call.operands()?;
            one(call.emit_one("nn.CenterCropPad", &operands, &attrs))
        }
        "MeanVarianceNormalization" => {
            let axes = call.ints("axes").unwrap_or(&[0, 2, 3]);
            let x = call.operand(0)?;
            let attrs = [("axes", Attr::Ints(axes.to_vec()))];
            one(call.emit_one("nn.MeanVarianceNormalization", &[x], &attrs))
        }
        "ReverseSequence" => {
            let attrs = [
                ("batch_axis", Attr::Int(call.int("batch_axis").unwrap_or(1))),
                ("time_axis", Attr::Int(call.int("time_axis").unwrap_or(0))),
            ];
            let operands = call.operands()?;
            one(call.emit_one("nn.ReverseSequence", &operands, &attrs))
        }
        "TensorScatter" => {
            let wraps = match call.text("mode").as_deref() {
                None | Some("linear") => false,
                Some("circular") => true,
                other => return Err(unknown("mode", other)),
            };
            let attrs = [("axis", axis(call, -2)), ("wraps", Attr::Bool(wraps))];
            let operands = call.operands()?;
            one(call.emit_one("nn.TensorScatter", &operands, &attrs))
        }
        "Unique" => {
            let is_sorted = call.int("sorted").unwrap_or(1) != 0;
            let mut attrs = vec![("sorted", Attr::Bool(is_sorted))];
            put(&mut attrs, "axis", call.int("axis").map(Attr::Int));
            let x = call.operand(0)?;
            many(call.emit("nn.Unique", &[x], &attrs, 4))
        }
        _ => match reduction(op) {
            Some(function) => {
                let attrs = [
                    ("function", Attr::Text(function.to_owned())),
                    (
                        "keep_dims",
                        Attr::Bool(call.int("keepdims").unwrap_or(1) != 0),
                    ),
                    (
                        "keeps_without_axes",
                        Attr::Bool(call.flag("noop_with_empty_axes")),
                    ),
                ];
                let operands = call.operands()?;
                one(call.emit_one("nn.Reduce", &operands, &attrs))
            }
            None => Ok(None),
        },
    }
}

fn reduction(op: &str) -> Option<&'static str> {
    Some(match op {
        "ReduceSum" => "sum",
        "ReduceMean" => "mean",
        "ReduceMax" => "max",
        "ReduceMin" => "min",
        "ReduceProd" => "prod",
        "ReduceL1" => "l1",
        "ReduceL2" => "l2",
        "ReduceLogSum" => "log_sum",
        "ReduceLogSumExp" => "log_sum_exp",
        "ReduceSumSquare" => "sum_square",
        _ => return None,
    })
}

fn unknown(attribute: &str, found: Option<&str>) -> ImportError {
    let found = shown(found.unwrap_or_default()).to_string();
    ImportError::new(format!("attribute `{attribute}` cannot be `{found}`"))
}

/// Returns an op whose operands may be omitted.
fn slotted(
    call: &mut Call<'_, '_>,
    ours: &str,
    attrs: Attrs,
) -> Result<Option<Results>, ImportError> {
    let (operands, slots) = call.slots()?;
    let attrs: Attrs = attrs.into_iter().chain(slots).collect();
    Ok(Some(vec![Known::Value(
        call.emit_one(ours, &operands, &attrs),
    )]))
}

/// Returns the value of a constant, in whichever of its forms.
fn constant(call: &mut Call<'_, '_>) -> Result<Option<Results>, ImportError> {
    let failed = |error: tfrt_tensor::TensorError| ImportError::new(error.to_string());
    let of = |tensor: DenseHostTensor| -> Result<Option<Results>, ImportError> {
        Ok(Some(vec![Known::Constant(crate::tensor::Tensor::of(
            "", tensor,
        )?)]))
    };
    for name in ["value", "sparse_value"] {
        if let Some(tensor) = call.tensor(name) {
            if tensor.dense().is_none() || !tensor.element_type.is_supported() {
                call.reason = Some(format!("tensors of {}", tensor.element_type));
                return Ok(None);
            }
            return Ok(Some(vec![Known::Constant(tensor.clone())]));
        }
    }
    if let Some(value) = call.float("value_float") {
        return of(scalar(value)?);
    }
    if let Some(value) = call.int("value_int") {
        return of(scalar(value)?);
    }
    if let Some(values) = call.floats("value_floats") {
        return of(DenseHostTensor::vector(values).map_err(failed)?);
    }
    if let Some(values) = call.ints("value_ints") {
        return of(DenseHostTensor::vector(values).map_err(failed)?);
    }
    call.reason = Some("Constant of strings".to_owned());
    Ok(None)
}

/// Returns how windows lie.
fn windows(call: &Call<'_, '_>) -> Result<Attrs, ImportError> {
    const PADDINGS: &[&str] = &["NOTSET", "SAME_LOWER", "SAME_UPPER", "VALID"];
    let mut attrs = Attrs::new();
    put(&mut attrs, "strides", list(call.ints("strides")));
    put(&mut attrs, "dilations", list(call.ints("dilations")));
    put(&mut attrs, "pads", list(call.ints("pads")));
    let mode = call.text("auto_pad");
    if let Some(other) = mode.as_deref().filter(|mode| !PADDINGS.contains(mode)) {
        return Err(unknown("auto_pad", Some(other)));
    }
    let mode = mode.filter(|mode| mode != "NOTSET");
    put(&mut attrs, "auto_pad", mode.map(Attr::Text));
    Ok(attrs)
}

/// Checks the size of windows against the weights of a convolution, if the file contains them.
fn check_kernel_shape(call: &Call<'_, '_>, weights: usize) -> Result<(), ImportError> {
    let (Some(declared), Some(weights)) = (call.ints("kernel_shape"), call.constant(weights))
    else {
        return Ok(());
    };
    let found = weights.shape().dims().get(2..).unwrap_or_default();
    let fits = declared.len() == found.len()
        && declared
            .iter()
            .zip(found)
            .all(|(&declared, &found)| usize::try_from(declared) == Ok(found));
    match fits {
        true => Ok(()),
        false => Err(ImportError::new(format!(
            "attribute `kernel_shape`: expected {found:?} as in the weights, found {declared:?}"
        ))),
    }
}

/// Returns the order of a norm, which was any number in version 1.
fn norm_order(call: &Call<'_, '_>) -> Result<i64, ImportError> {
    let order = match call.float("p") {
        Some(order) => f64::from(order),
        None => call.int("p").unwrap_or(2) as f64,
    };
    if order.fract() == 0.0 && (1.0..=1024.0).contains(&order) {
        return Ok(order as i64);
    }
    Err(ImportError::new(format!(
        "attribute `p`: expected an integer from 1 to 1024, found {order}"
    )))
}

fn pooling(call: &Call<'_, '_>) -> Result<Attrs, ImportError> {
    let mut attrs = windows(call)?;
    let sizes = list(call.ints("kernel_shape"));
    attrs.push((
        "kernel_shape",
        sizes.ok_or_else(|| ImportError::new("`kernel_shape` is empty"))?,
    ));
    attrs.push(("ceil_mode", Attr::Bool(call.flag("ceil_mode"))));
    Ok(attrs)
}

fn batch_normalization(call: &mut Call<'_, '_>) -> Result<Option<Results>, ImportError> {
    let epsilon = (
        "epsilon",
        Attr::Float(call.float("epsilon").unwrap_or(1e-5)),
    );
    // Before version 14, results beyond the first asked for training, unless `is_test` said
    // otherwise.
    let wants_more = (1..5).any(|result| call.wants(result));
    let trained = call.since < 14 && wants_more && call.int("is_test") != Some(1);
    let is_training = call.flag("training_mode") || trained;
    if trained && (call.wants(3) || call.wants(4)) {
        call.reason = Some("BatchNormalization with saved statistics".to_owned());
        return Ok(None);
    }
    if call.since < 9 && call.int("spatial") == Some(0) {
        call.reason = Some("BatchNormalization with `spatial` 0".to_owned());
        return Ok(None);
    }
    let operands = call.operands()?;
    if !is_training {
        let y = call.emit_one("nn.BatchNormalization", &operands, &[epsilon]);
        return Ok(Some(vec![Known::Value(y)]));
    }
    let momentum = (
        "momentum",
        Attr::Float(call.float("momentum").unwrap_or(0.9)),
    );
    let results = call.emit(
        "nn.BatchNormalizationTraining",
        &operands,
        &[epsilon, momentum],
        3,
    );
    Ok(Some(results.into_iter().map(Known::Value).collect()))
}

/// Dropout has an effect only in training, and only if the ratio is not 0.
fn dropout(call: &mut Call<'_, '_>) -> Result<Option<Results>, ImportError> {
    let is_one_byte = |tensor: &DenseHostTensor| {
        tensor
            .buffer()
            .read()
            .is_ok_and(|bytes| bytes.iter().any(|&byte| byte != 0))
    };
    let trains = match call.since {
        12.. => call.has(2) && call.constant(2).is_none_or(is_one_byte),
        ..7 => call.int("is_test") == Some(0),
        _ => false,
    };
    let ratio_is_zero = call.has(1) && call.constant(1).is_some_and(|ratio| !is_one_byte(ratio));
    if trains && !ratio_is_zero {
        let mut operands = vec![call.operand(0)?];
        match call.optional(1)? {
            Some(ratio) => operands.push(ratio),
            None if call.since < 12 => {
                let ratio = call.float("ratio").unwrap_or(0.5);
                operands.push(call.weight(scalar(ratio)?));
            }
            None => {}
        }
        let mut attrs = Attrs::new();
        put(
            &mut attrs,
            "seed",
            call.int("seed").map(|seed| Attr::Float(seed as f32)),
        );
        let made = call.emit("nn.Dropout", &operands, &attrs, 2);
        let mask = mask_of_dropout(call, made[1])?;
        return many(vec![made[0], mask]);
    }
    let known = call.known(0)?;
    let mut results = vec![known];
    if call.wants(1) {
        let x = call.operand(0)?;
        let mask = call.emit_one("nn.AllTrue", &[x], &[]);
        results.push(Known::Value(mask_of_dropout(call, mask)?));
    }
    Ok(Some(results))
}

/// Returns the mask of a node as its version has it: Booleans since version 10, before that numbers
/// of the operand's type.
fn mask_of_dropout(call: &mut Call<'_, '_>, mask: Value) -> Result<Value, ImportError> {
    if call.since >= 10 {
        return Ok(mask);
    }
    let x = call.operand(0)?;
    Ok(call.emit_one("nn.CastLike", &[mask, x], &[]))
}

fn resize(call: &mut Call<'_, '_>) -> Result<Option<Results>, ImportError> {
    let is_new = call.op == "Resize" && call.since >= 11;
    let mode = call.text("mode").unwrap_or_else(|| "nearest".to_owned());
    let mode = if mode == "bilinear" {
        "linear".to_owned()
    } else {
        mode
    };
    let missing = if is_new { "half_pixel" } else { "asymmetric" };
    let coordinates = call
        .text("coordinate_transformation_mode")
        .unwrap_or_else(|| missing.to_owned());
    let missing = if is_new {
        "round_prefer_floor"
    } else {
        "floor"
    };
    let nearest = call
        .text("nearest_mode")
        .unwrap_or_else(|| missing.to_owned());
    let mut attrs = vec![
        ("mode", Attr::Text(mode)),
        ("coordinates", Attr::Text(coordinates)),
        ("nearest", Attr::Text(nearest)),
        (
            "cubic_coeff",
            Attr::Float(call.float("cubic_coeff_a").unwrap_or(-0.75)),
        ),
        ("exclude_outside", Attr::Bool(call.flag("exclude_outside"))),
        ("antialias", Attr::Bool(call.flag("antialias"))),
        (
            "extrapolation",
            Attr::Float(call.float("extrapolation_value").unwrap_or(0.0)),
        ),
    ];
    put(
        &mut attrs,
        "aspect",
        call.text("keep_aspect_ratio_policy").map(Attr::Text),
    );
    put(&mut attrs, "axes", list(call.ints("axes")));
    if is_new {
        return slotted(call, "nn.Resize", attrs);
    }
    // There was no region: the second operand are the factors.
    attrs.push(("slots", Attr::Ints(vec![0, 2])));
    let operands = call.operands()?;
    Ok(Some(vec![Known::Value(call.emit_one(
        "nn.Resize",
        &operands,
        &attrs,
    ))]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::opset;

    #[test]
    fn every_op_that_is_lowered_is_one_of_onnx_and_listed_once() {
        let mut seen = std::collections::HashSet::new();
        for name in names() {
            assert!(!opset::versions(name).is_empty(), "{name}");
            assert!(seen.insert(name), "{name}");
        }
    }
}
