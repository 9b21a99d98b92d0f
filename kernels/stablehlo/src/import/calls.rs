//! Lowers each op.
//!
//! To add an op, give it an arm in [`special`], or in [`element_instruction`] if it is
//! element-wise. The specification of StableHLO defines the semantics of its ops; ops named `hlo.…`
//! have the same semantics.

use tfrt_import::ImportError;
use tfrt_import::names::shown;
use tfrt_import::program::{Attr, Value};
use tfrt_ir::{Attribute, DenseElements, OpId};
use tfrt_support::DType;
use tfrt_tensor::{DenseHostTensor, HostBuffer, Shape};

use super::bodies::type_name;
use super::{Lowered, Lowering, extents, lists};
use crate::check::{Check, Closeness};

/// Unary element-wise ops that have the same name in scalar programs.
const UNARY: &[&str] = &[
    "abs",
    "acos",
    "acosh",
    "asin",
    "asinh",
    "atan",
    "atanh",
    "cbrt",
    "ceil",
    "cosh",
    "cosine",
    "count_leading_zeros",
    "digamma",
    "erf",
    "erf_inv",
    "erfc",
    "exponential",
    "exponential_minus_one",
    "floor",
    "is_finite",
    "is_inf",
    "is_neg_inf",
    "is_pos_inf",
    "lgamma",
    "log",
    "log_plus_one",
    "logistic",
    "negate",
    "not",
    "popcnt",
    "round_nearest_afz",
    "round_nearest_even",
    "rsqrt",
    "sign",
    "sine",
    "sinh",
    "sqrt",
    "tan",
    "tanh",
];

/// Binary element-wise ops that have the same name in scalar programs.
const BINARY: &[&str] = &[
    "add",
    "and",
    "atan2",
    "divide",
    "maximum",
    "minimum",
    "multiply",
    "next_after",
    "or",
    "power",
    "remainder",
    "shift_left",
    "shift_right_arithmetic",
    "shift_right_logical",
    "subtract",
    "xor",
];

/// Other element-wise ops.
const OTHER: &[&str] = &[
    "clamp",
    "compare",
    "convert",
    "reduce_precision",
    "select",
    "square",
];

/// Element-wise ops on single-precision numbers, with faster ops that compute the same results.
const FAST: &[(&str, &str)] = &[
    ("abs", "nn.Abs"),
    ("add", "tf.AddV2"),
    ("ceil", "nn.Ceil"),
    ("cosine", "nn.Cos"),
    ("divide", "nn.Div"),
    ("erf", "nn.Erf"),
    ("exponential", "nn.Exp"),
    ("floor", "nn.Floor"),
    ("log", "nn.Log"),
    ("logistic", "nn.Sigmoid"),
    ("multiply", "tf.Mul"),
    ("negate", "nn.Neg"),
    ("sine", "nn.Sin"),
    ("sqrt", "nn.Sqrt"),
    ("subtract", "tf.Sub"),
    ("tanh", "nn.Tanh"),
];

/// Ops that an arm of [`special`] lowers.
const SPECIAL: &[&str] = &[
    "func.call",
    "std.call",
    "stablehlo.batch_norm_grad",
    "stablehlo.batch_norm_inference",
    "stablehlo.batch_norm_training",
    "stablehlo.bitcast_convert",
    "stablehlo.broadcast_in_dim",
    "stablehlo.case",
    "stablehlo.composite",
    "stablehlo.concatenate",
    "stablehlo.constant",
    "stablehlo.convolution",
    "stablehlo.custom_call",
    "stablehlo.dot",
    "stablehlo.dot_general",
    "stablehlo.dynamic_slice",
    "stablehlo.dynamic_update_slice",
    "stablehlo.gather",
    "stablehlo.get_dimension_size",
    "stablehlo.if",
    "stablehlo.iota",
    "stablehlo.map",
    "stablehlo.optimization_barrier",
    "stablehlo.pad",
    "stablehlo.reduce",
    "stablehlo.reduce_window",
    "stablehlo.reshape",
    "stablehlo.reverse",
    "stablehlo.rng_bit_generator",
    "stablehlo.cholesky",
    "stablehlo.triangular_solve",
    "stablehlo.scatter",
    "stablehlo.select_and_scatter",
    "stablehlo.slice",
    "stablehlo.sort",
    "stablehlo.transpose",
    "stablehlo.while",
    "chlo.top_k",
    "check.expect_eq",
    "check.expect_close",
    "check.expect_almost_eq",
    "check.expect_eq_const",
    "check.expect_almost_eq_const",
];

/// Returns the names of the supported ops, in alphabetical order.
#[must_use]
pub fn supported_ops() -> Vec<String> {
    let functions = UNARY.iter().chain(BINARY).chain(OTHER);
    let functions =
        functions.flat_map(|name| [format!("stablehlo.{name}"), format!("chlo.{name}")]);
    // Keeps each op only in the dialects that define it.
    let functions = functions.filter(|name| match name.split_once('.') {
        Some(("chlo", name)) => CHLO.contains(&name),
        Some((_, name)) => !CHLO.contains(&name) || name == "tan",
        None => false,
    });
    let special = SPECIAL.iter().filter(|name| !name.starts_with("std."));
    let mut names: Vec<String> = functions.chain(special.map(ToString::to_string)).collect();
    names.sort_unstable();
    names
}

/// The element-wise ops of the dialect `chlo`.
const CHLO: &[&str] = &[
    "acos",
    "acosh",
    "asin",
    "asinh",
    "atan",
    "atanh",
    "cosh",
    "digamma",
    "erf",
    "erf_inv",
    "erfc",
    "is_inf",
    "is_neg_inf",
    "is_pos_inf",
    "lgamma",
    "next_after",
    "sinh",
    "square",
    "tan",
];

/// Returns the name of an element-wise op, without its dialect.
fn function_name(op: &str) -> Option<&str> {
    let (dialect, name) = op.split_once('.')?;
    let is_function = UNARY.contains(&name) || BINARY.contains(&name) || OTHER.contains(&name);
    (matches!(dialect, "stablehlo" | "chlo") && is_function).then_some(name)
}

/// Returns `true` if the importer knows an op.
pub(super) fn is_known(op: &str) -> bool {
    SPECIAL.contains(&op) || function_name(op).is_some()
}

/// Lowers an element-wise op to an instruction on the values with these numbers. Returns `None` for
/// other ops.
pub(super) fn element_instruction(
    lowering: &Lowering<'_>,
    op: OpId,
    operands: &[usize],
) -> Result<Option<String>, ImportError> {
    let Some(name) = function_name(lowering.module.op_name(op)) else {
        return Ok(None);
    };
    let count = match name {
        _ if UNARY.contains(&name) => 1,
        "convert" | "reduce_precision" | "square" => 1,
        "clamp" | "select" => 3,
        _ => 2,
    };
    if operands.len() != count {
        return Err(ImportError::new(format!(
            "expected {count} operands, found {}",
            operands.len()
        )));
    }
    let listed: Vec<String> = operands.iter().map(ToString::to_string).collect();
    let listed = listed.join(" ");
    Ok(Some(match name {
        "convert" => {
            let (dtype, _) = lowering.result(op, 0)?;
            format!("convert {} {listed}", type_name(dtype))
        }
        "square" => format!("multiply {listed} {listed}"),
        "reduce_precision" => format!(
            "reduce_precision {} {} {listed}",
            lowering.int(op, "exponent_bits")?,
            lowering.int(op, "mantissa_bits")?
        ),
        "compare" => {
            let direction =
                lowering.name_of_kind(op, "comparison_direction", "comparison_direction");
            let direction = direction.map(str::to_ascii_lowercase);
            let direction = direction.ok_or_else(|| {
                ImportError::new("the attribute `comparison_direction` is missing")
            })?;
            let kind = lowering.name_of_kind(op, "compare_type", "comparison_type");
            let total = if kind == Some("TOTALORDER") {
                "total "
            } else {
                ""
            };
            format!("cmp {total}{direction} {listed}")
        }
        name => format!("{name} {listed}"),
    }))
}

/// Lowers an op whose operands are supported. Returns `None` if the op is unsupported.
pub(super) fn lower(lowering: &mut Lowering<'_>, op: OpId, operands: &[Value]) -> Lowered {
    let numbers: Vec<usize> = (0..operands.len()).collect();
    let Some(instruction) = element_instruction(lowering, op, &numbers)? else {
        return special(lowering, op, operands);
    };
    if lowering.operand(op, 0)?.0 == DType::F32
        && let Some(name) = function_name(lowering.module.op_name(op))
        && let Some((_, fast)) = FAST.iter().find(|entry| entry.0 == name)
    {
        return Ok(Some(vec![lowering.emit_one(op, fast, operands, &[])]));
    }
    let program = format!("{instruction};ret {}", operands.len());
    Ok(Some(vec![lowering.apply(op, &program, operands)]))
}

fn special(lowering: &mut Lowering<'_>, op: OpId, operands: &[Value]) -> Lowered {
    let name = lowering.module.op_name(op);
    let number_of_operands = |count: usize| match operands.len() == count {
        true => Ok(()),
        false => Err(ImportError::new(format!(
            "expected {count} operands, found {}",
            operands.len()
        ))),
    };
    let one = |value: Value| Ok(Some(vec![value]));
    match name {
        "func.call" | "std.call" | "stablehlo.composite" => lowering.inlined(op, operands),
        "stablehlo.while" => lowering.while_loop(op, operands),
        "stablehlo.if" => lowering.branch(op, operands),
        "stablehlo.case" => lowering.case(op, operands),
        "stablehlo.optimization_barrier" => Ok(Some(operands.to_vec())),
        "stablehlo.constant" => one(lowering.constant(op)?),
        "stablehlo.iota" => {
            let (dtype, dims) = lowering.result(op, 0)?;
            let attrs = [
                ("dtype", Attr::Type(dtype)),
                ("dims", Attr::Ints(extents(&dims))),
                ("axis", Attr::Int(lowering.int(op, "iota_dimension")?)),
            ];
            if dims.is_empty() {
                return Err(ImportError::new(
                    "expected a tensor of rank 1 or more, found a scalar",
                ));
            }
            one(lowering.emit_one(op, "hlo.Iota", &[], &attrs))
        }
        "stablehlo.get_dimension_size" => {
            let (_, dims) = lowering.operand(op, 0)?;
            let axis = usize::try_from(lowering.int(op, "dimension")?).ok();
            let extent = axis.and_then(|axis| dims.get(axis)).copied();
            let extent = extent.and_then(|extent| i32::try_from(extent).ok());
            let extent = extent.ok_or_else(|| {
                ImportError::new(
                    "attribute `dimension`: expected a dimension whose extent fits in i32",
                )
            })?;
            let tensor = scalar(extent)?;
            one(lowering.weight(tensor))
        }
        "stablehlo.bitcast_convert" => {
            number_of_operands(1)?;
            let (dtype, dims) = lowering.result(op, 0)?;
            let mut attrs = vec![("dtype", Attr::Type(dtype))];
            attrs.extend(lists(vec![("dims", extents(&dims))]));
            one(lowering.emit_one(op, "hlo.BitcastConvert", operands, &attrs))
        }
        "stablehlo.broadcast_in_dim" => {
            number_of_operands(1)?;
            let (_, dims) = lowering.result(op, 0)?;
            let axes = lowering.ints(op, "broadcast_dimensions")?;
            one(lowering.broadcast(op, operands[0], &dims, axes))
        }
        "stablehlo.reshape" => {
            number_of_operands(1)?;
            let (_, dims) = lowering.result(op, 0)?;
            one(lowering.reshape(op, operands[0], &dims)?)
        }
        "stablehlo.transpose" => {
            number_of_operands(1)?;
            let perm = lowering.ints(op, "permutation")?;
            one(lowering.transpose(op, operands[0], perm))
        }
        "stablehlo.concatenate" => {
            let attrs = [("axis", Attr::Int(lowering.int(op, "dimension")?))];
            one(lowering.emit_one(op, "nn.Concat", operands, &attrs))
        }
        "stablehlo.reverse" => {
            number_of_operands(1)?;
            let attrs = lists(vec![("axes", lowering.ints(op, "dimensions")?)]);
            one(lowering.emit_one(op, "hlo.Reverse", operands, &attrs))
        }
        "stablehlo.slice" => {
            number_of_operands(1)?;
            let attrs = lists(vec![
                ("starts", lowering.ints(op, "start_indices")?),
                ("limits", lowering.ints(op, "limit_indices")?),
                ("steps", lowering.ints(op, "strides")?),
            ]);
            one(lowering.emit_one(op, "hlo.Slice", operands, &attrs))
        }
        "stablehlo.dynamic_slice" => {
            let attrs = lists(vec![("sizes", lowering.ints(op, "slice_sizes")?)]);
            one(lowering.emit_one(op, "hlo.DynamicSlice", operands, &attrs))
        }
        "stablehlo.dynamic_update_slice" => {
            one(lowering.emit_one(op, "hlo.DynamicUpdateSlice", operands, &[]))
        }
        "stablehlo.pad" => {
            number_of_operands(2)?;
            let attrs = lists(vec![
                ("low", lowering.ints(op, "edge_padding_low")?),
                ("high", lowering.ints(op, "edge_padding_high")?),
                ("interior", lowering.ints(op, "interior_padding")?),
            ]);
            one(lowering.emit_one(op, "hlo.Pad", operands, &attrs))
        }
        "stablehlo.gather" => {
            number_of_operands(2)?;
            let numbers = lowering.structured(op, "dimension_numbers", "gather")?;
            let mut attrs = lists(vec![
                ("sizes", lowering.ints(op, "slice_sizes")?),
                ("offset", numbers.list("offset_dims")?),
                ("collapsed", numbers.list("collapsed_slice_dims")?),
                ("batching", numbers.list("operand_batching_dims")?),
                (
                    "indices_batching",
                    numbers.list("start_indices_batching_dims")?,
                ),
                ("map", numbers.list("start_index_map")?),
            ]);
            attrs.push((
                "vector_axis",
                Attr::Int(numbers.number("index_vector_dim")?),
            ));
            one(lowering.emit_one(op, "hlo.Gather", operands, &attrs))
        }
        "stablehlo.scatter" => {
            let numbers = lowering.structured(op, "scatter_dimension_numbers", "scatter")?;
            let Some(program) = lowering.element_function(op, 0)? else {
                return Ok(None);
            };
            let mut attrs = lists(vec![
                ("window", numbers.list("update_window_dims")?),
                ("inserted", numbers.list("inserted_window_dims")?),
                ("batching", numbers.list("input_batching_dims")?),
                (
                    "indices_batching",
                    numbers.list("scatter_indices_batching_dims")?,
                ),
                ("map", numbers.list("scatter_dims_to_operand_dims")?),
            ]);
            attrs.push((
                "vector_axis",
                Attr::Int(numbers.number("index_vector_dim")?),
            ));
            attrs.push(("program", Attr::Text(program)));
            let count = lowering.module.results(op).len();
            Ok(Some(lowering.emit(
                op,
                "hlo.Scatter",
                operands,
                &attrs,
                count,
            )))
        }
        "stablehlo.reduce" => {
            let Some(program) = lowering.element_function(op, 0)? else {
                return Ok(None);
            };
            let mut attrs = lists(vec![("axes", lowering.ints(op, "dimensions")?)]);
            attrs.push(("program", Attr::Text(program)));
            let count = lowering.module.results(op).len();
            Ok(Some(lowering.emit(
                op,
                "hlo.Reduce",
                operands,
                &attrs,
                count,
            )))
        }
        "stablehlo.reduce_window" => {
            let Some(program) = lowering.element_function(op, 0)? else {
                return Ok(None);
            };
            let mut attrs = lowering.windows(op)?;
            attrs.extend(lists(vec![
                (
                    "base_dilations",
                    lowering.ints_or_empty(op, "base_dilations")?,
                ),
                ("dilations", lowering.ints_or_empty(op, "window_dilations")?),
            ]));
            attrs.push(("program", Attr::Text(program)));
            if lowering.ints(op, "window_dimensions")?.is_empty() {
                // A scalar has one window of one element.
                return lowering.lacks(op, "on scalars");
            }
            let count = lowering.module.results(op).len();
            Ok(Some(lowering.emit(
                op,
                "hlo.ReduceWindow",
                operands,
                &attrs,
                count,
            )))
        }
        "stablehlo.select_and_scatter" => {
            number_of_operands(3)?;
            let select = lowering.element_function(op, 0)?;
            let scatter = lowering.element_function(op, 1)?;
            let (Some(select), Some(scatter)) = (select, scatter) else {
                return Ok(None);
            };
            let mut attrs = lowering.windows(op)?;
            attrs.push(("select", Attr::Text(select)));
            attrs.push(("scatter", Attr::Text(scatter)));
            one(lowering.emit_one(op, "hlo.SelectAndScatter", operands, &attrs))
        }
        "stablehlo.sort" => {
            let Some(program) = lowering.element_function(op, 0)? else {
                return Ok(None);
            };
            let attrs = [
                (
                    "axis",
                    Attr::Int(lowering.optional_int(op, "dimension")?.unwrap_or(-1)),
                ),
                ("program", Attr::Text(program)),
            ];
            let count = lowering.module.results(op).len();
            Ok(Some(lowering.emit(op, "hlo.Sort", operands, &attrs, count)))
        }
        "stablehlo.map" => {
            let Some(program) = lowering.element_function(op, 0)? else {
                return Ok(None);
            };
            one(lowering.apply(op, &program, operands))
        }
        "stablehlo.dot" | "stablehlo.dot_general" => {
            number_of_operands(2)?;
            one(lowering.dot_general(op, operands)?)
        }
        "stablehlo.convolution" => {
            number_of_operands(2)?;
            one(lowering.convolution(op, operands)?)
        }
        "stablehlo.batch_norm_inference" => {
            number_of_operands(5)?;
            one(lowering.batch_norm_inference(op, operands)?)
        }
        "stablehlo.batch_norm_training" => {
            number_of_operands(3)?;
            lowering.batch_norm_training(op, operands).map(Some)
        }
        "stablehlo.batch_norm_grad" => {
            number_of_operands(5)?;
            lowering.batch_norm_grad(op, operands).map(Some)
        }
        "stablehlo.rng_bit_generator" => {
            number_of_operands(1)?;
            let algorithm = lowering.name_of_kind(op, "rng_algorithm", "rng_algorithm");
            let algorithm = match algorithm {
                // The default is up to the implementation; XLA on CPUs uses Philox.
                Some("DEFAULT") | None => "PHILOX",
                Some(other) => other,
            };
            let (dtype, dims) = lowering.result(op, 1)?;
            let mut attrs = vec![
                ("algorithm", Attr::Text(algorithm.to_owned())),
                ("dtype", Attr::Type(dtype)),
            ];
            attrs.extend(lists(vec![("dims", extents(&dims))]));
            Ok(Some(lowering.emit(
                op,
                "hlo.RngBitGenerator",
                operands,
                &attrs,
                2,
            )))
        }
        "stablehlo.cholesky" => {
            number_of_operands(1)?;
            let attrs = [("lower", Attr::Bool(lowering.flag(op, "lower")?))];
            one(lowering.emit_one(op, "hlo.Cholesky", operands, &attrs))
        }
        "stablehlo.triangular_solve" => {
            number_of_operands(2)?;
            let mode = lowering.name_of_kind(op, "transpose_a", "transpose");
            let transposed = matches!(mode, Some("TRANSPOSE" | "ADJOINT"));
            let attrs = [
                ("left_side", Attr::Bool(lowering.flag(op, "left_side")?)),
                ("lower", Attr::Bool(lowering.flag(op, "lower")?)),
                (
                    "unit_diagonal",
                    Attr::Bool(lowering.flag(op, "unit_diagonal")?),
                ),
                ("transposed", Attr::Bool(transposed)),
            ];
            one(lowering.emit_one(op, "hlo.TriangularSolve", operands, &attrs))
        }
        "chlo.top_k" => {
            number_of_operands(1)?;
            let k = scalar(lowering.int(op, "k")?)?;
            let k = lowering.weight(k);
            let attrs = [("axis", Attr::Int(-1)), ("largest", Attr::Bool(true))];
            let found = lowering.emit(op, "nn.TopK", &[operands[0], k], &attrs, 2);
            let (dtype, _) = lowering.result(op, 1)?;
            let program = format!("convert {} 0;ret 1", type_name(dtype));
            let places = lowering.apply(op, &program, &[found[1]]);
            Ok(Some(vec![found[0], places]))
        }
        "stablehlo.custom_call" => custom_call(lowering, op, operands),
        _ if name.starts_with("check.") => lowering.check(op, name, operands),
        _ => Ok(None),
    }
}

fn custom_call(lowering: &mut Lowering<'_>, op: OpId, operands: &[Value]) -> Lowered {
    let target = lowering.text(op, "call_target_name");
    let target =
        target.ok_or_else(|| ImportError::new("the attribute `call_target_name` is missing"))?;
    match target {
        "Sharding" if operands.len() == 1 => Ok(Some(operands.to_vec())),
        "shape_assertion" => Ok(Some(Vec::new())),
        _ if target.starts_with("check.") => lowering.check(op, target, operands),
        _ => lowering.lacks(op, &format!("to `@{}`", shown(target))),
    }
}

impl Lowering<'_> {
    /// Returns the element type of a constant and the bytes of its elements: of one element if all
    /// are equal.
    pub(super) fn constant_bytes(&self, op: OpId) -> Result<(DType, Vec<u8>), ImportError> {
        let (dtype, _) = self.result(op, 0)?;
        Ok((dtype, self.element_bytes(op, dtype)?))
    }

    /// Returns the bytes of the elements of the attribute `value`, which are of type `dtype`.
    fn element_bytes(&self, op: OpId, dtype: DType) -> Result<Vec<u8>, ImportError> {
        let value = self.module.attr(op, "value");
        let bytes = match value.map(|value| self.module.attribute(value)) {
            Some(Attribute::Dense {
                elements: DenseElements::Splat(bytes) | DenseElements::List(bytes),
                ..
            }) => bytes.to_vec(),
            Some(Attribute::Resource { key, .. }) => {
                let found = self.module.resource_bytes(key);
                let found = found.ok_or_else(|| {
                    ImportError::new(format!("there is no resource `{}`", shown(key)))
                })?;
                found.to_vec()
            }
            _ => return Err(ImportError::new("expected dense elements as `value`")),
        };
        if !bytes.len().is_multiple_of(dtype.size_bytes().unwrap_or(1)) {
            let message = format!("expected elements of {dtype}, found {} bytes", bytes.len());
            return Err(ImportError::new(message));
        }
        Ok(bytes)
    }

    fn constant(&mut self, op: OpId) -> Result<Value, ImportError> {
        let (dtype, bytes) = self.constant_bytes(op)?;
        let (_, dims) = self.result(op, 0)?;
        self.tensor_constant(op, dtype, &dims, &bytes)
    }

    fn tensor_constant(
        &mut self,
        op: OpId,
        dtype: DType,
        dims: &[usize],
        bytes: &[u8],
    ) -> Result<Value, ImportError> {
        let size = dtype.size_bytes().unwrap_or(1);
        let shape = Shape::new(dims).map_err(|error| ImportError::new(error.to_string()))?;
        if bytes.len() == size && shape.num_elements() != 1 {
            // The constant is a splat.
            let one = self.weight(dense(dtype, Shape::scalar(), bytes)?);
            return Ok(self.broadcast(op, one, dims, Vec::new()));
        }
        Ok(self.weight(dense(dtype, shape, bytes)?))
    }

    pub(super) fn broadcast(
        &mut self,
        op: OpId,
        x: Value,
        dims: &[usize],
        axes: Vec<i64>,
    ) -> Value {
        let attrs = lists(vec![("dims", extents(dims)), ("axes", axes)]);
        self.emit_one(op, "hlo.BroadcastInDim", &[x], &attrs)
    }

    pub(super) fn reshape(
        &mut self,
        op: OpId,
        x: Value,
        dims: &[usize],
    ) -> Result<Value, ImportError> {
        let shape = DenseHostTensor::vector(&extents(dims));
        let shape = shape.map_err(|error| ImportError::new(error.to_string()))?;
        let shape = self.weight(shape);
        let attrs = [("allow_zero", Attr::Bool(true))];
        Ok(self.emit_one(op, "nn.Reshape", &[x, shape], &attrs))
    }

    pub(super) fn transpose(&mut self, op: OpId, x: Value, perm: Vec<i64>) -> Value {
        if perm.iter().enumerate().all(|(at, &axis)| at as i64 == axis) {
            return x;
        }
        self.emit_one(op, "nn.Transpose", &[x], &[("perm", Attr::Ints(perm))])
    }

    /// Returns the window attributes that all windowed ops have.
    fn windows(&self, op: OpId) -> Result<Vec<(&'static str, Attr)>, ImportError> {
        Ok(lists(vec![
            ("sizes", self.ints_or_empty(op, "window_dimensions")?),
            ("steps", self.ints_or_empty(op, "window_strides")?),
            ("padding", self.ints_or_empty(op, "padding")?),
        ]))
    }

    /// Records a comparison, if the options ask for comparisons.
    fn check(&mut self, op: OpId, name: &str, operands: &[Value]) -> Lowered {
        let comparison = match name {
            "check.expect_eq" | "check.expect_eq_const" => Closeness::Equal,
            "check.expect_close" => {
                let ulps = self.optional_int(op, "max_ulp_difference")?.unwrap_or(3);
                Closeness::Close {
                    ulps: ulps.unsigned_abs(),
                }
            }
            "check.expect_almost_eq" | "check.expect_almost_eq_const" => Closeness::AlmostEqual,
            _ => return self.lacks(op, &format!("to `{}`", shown(name))),
        };
        let (found, expected) = match *operands {
            [found, expected] => (found, expected),
            [found] if self.has(op, "value") => {
                let (dtype, dims) = self.operand(op, 0)?;
                let bytes = self.element_bytes(op, dtype)?;
                (found, self.tensor_constant(op, dtype, &dims, &bytes)?)
            }
            _ => return Err(ImportError::new("expected two tensors to compare")),
        };
        if self.options.has_checks {
            let check = Check {
                comparison,
                found: String::new(),
                expected: String::new(),
                place: self.place(op),
            };
            self.checks.push((check, found, expected));
        }
        Ok(Some(Vec::new()))
    }
}

/// Creates a tensor from bytes.
fn dense(dtype: DType, shape: Shape, bytes: &[u8]) -> Result<DenseHostTensor, ImportError> {
    let wrong = |error: &dyn std::fmt::Display| ImportError::new(error.to_string());
    let allocator: std::sync::Arc<dyn tfrt_host::allocator::HostAllocator> =
        std::sync::Arc::new(tfrt_host::allocator::Malloc);
    let buffer = HostBuffer::copied(&allocator, bytes).map_err(|error| wrong(&error))?;
    DenseHostTensor::from_buffer(dtype, shape, buffer).map_err(|error| wrong(&error))
}

/// Creates a scalar tensor.
pub(super) fn scalar<T: tfrt_tensor::Element>(value: T) -> Result<DenseHostTensor, ImportError> {
    let allocator: std::sync::Arc<dyn tfrt_host::allocator::HostAllocator> =
        std::sync::Arc::new(tfrt_host::allocator::Malloc);
    DenseHostTensor::from_elements(&allocator, Shape::scalar(), &[value])
        .map_err(|error| ImportError::new(error.to_string()))
}
