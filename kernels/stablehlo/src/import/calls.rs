//! Lowers each op that is not element-wise.
//!
//! To add an op, give it an arm in [`special`]. The specification of StableHLO defines the
//! semantics of its ops; ops named `hlo.…` have the same semantics.

use std::cmp::Ordering;

use tfrt_import::ImportError;
use tfrt_import::names::shown;
use tfrt_import::program::{Attr, Value};
use tfrt_ir::OpId;
use tfrt_support::DType;

use super::constants::scalar;
use super::solve::is_triangular_solve;
use super::{Lowered, Lowering, dynamic, element_wise, extents, lists};
use crate::model::ElementType;

/// Ops that an arm of [`special`] lowers.
const SPECIAL: &[&str] = &[
    "func.call",
    "std.call",
    "stablehlo.after_all",
    "stablehlo.batch_norm_grad",
    "stablehlo.batch_norm_inference",
    "stablehlo.batch_norm_training",
    "stablehlo.bitcast_convert",
    "stablehlo.broadcast",
    "stablehlo.broadcast_in_dim",
    "stablehlo.case",
    "stablehlo.composite",
    "stablehlo.concatenate",
    "stablehlo.constant",
    "stablehlo.convolution",
    "stablehlo.create_token",
    "stablehlo.custom_call",
    "stablehlo.dot",
    "stablehlo.dot_general",
    "stablehlo.dynamic_broadcast_in_dim",
    "stablehlo.dynamic_conv",
    "stablehlo.dynamic_gather",
    "stablehlo.dynamic_iota",
    "stablehlo.dynamic_pad",
    "stablehlo.dynamic_reshape",
    "stablehlo.dynamic_slice",
    "stablehlo.dynamic_update_slice",
    "stablehlo.fft",
    "stablehlo.gather",
    "stablehlo.get_dimension_size",
    "stablehlo.get_tuple_element",
    "stablehlo.if",
    "stablehlo.iota",
    "stablehlo.map",
    "stablehlo.optimization_barrier",
    "stablehlo.pad",
    "stablehlo.partition_id",
    "stablehlo.real_dynamic_slice",
    "stablehlo.reduce",
    "stablehlo.reduce_window",
    "stablehlo.replica_id",
    "stablehlo.reshape",
    "stablehlo.reverse",
    "stablehlo.rng",
    "stablehlo.rng_bit_generator",
    "stablehlo.set_dimension_size",
    "stablehlo.cholesky",
    "stablehlo.triangular_solve",
    "stablehlo.scatter",
    "stablehlo.select_and_scatter",
    "stablehlo.slice",
    "stablehlo.sort",
    "stablehlo.transpose",
    "stablehlo.tuple",
    "stablehlo.while",
    "chlo.constant",
    "chlo.constant_like",
    "chlo.dynamic_reshape",
    "chlo.scan",
    "chlo.top_k",
    "interpreter.probe",
    "check.expect_eq",
    "check.expect_close",
    "check.expect_almost_eq",
    "check.expect_eq_const",
    "check.expect_almost_eq_const",
    "check.expect_serialized_eq",
];

/// Ops that need tensors of known shape.
const STATIC: &[&str] = &[
    "stablehlo.batch_norm_grad",
    "stablehlo.batch_norm_inference",
    "stablehlo.batch_norm_training",
    "stablehlo.rng_bit_generator",
];

/// Ops that do not round to floating point formats of up to 8 bits.
const UNROUNDED: &[&str] = &[
    "chlo.next_after",
    "stablehlo.batch_norm_grad",
    "stablehlo.batch_norm_inference",
    "stablehlo.batch_norm_training",
    "stablehlo.bitcast_convert",
    "stablehlo.cholesky",
    "stablehlo.fft",
    "stablehlo.reduce_precision",
    "stablehlo.triangular_solve",
];

/// Returns the names of the supported ops, in alphabetical order.
#[must_use]
pub fn supported_ops() -> Vec<String> {
    let special = SPECIAL.iter().filter(|name| !name.starts_with("std."));
    let special = special.map(ToString::to_string);
    let mut names: Vec<String> = element_wise::names().chain(special).collect();
    names.sort_unstable();
    names
}

/// Returns `true` if the importer knows an op.
pub(super) fn is_known(op: &str) -> bool {
    SPECIAL.contains(&op)
        || element_wise::function_name(op).is_some()
        || dynamic::broadcasting(op).is_some()
}

/// Lowers an op whose operands are supported. Returns `None` if the op is unsupported.
pub(super) fn lower(lowering: &mut Lowering<'_>, op: OpId, operands: &[Value]) -> Lowered {
    let name = lowering.module.op_name(op);
    if UNROUNDED.contains(&name) && lowering.has_small_floats(op) {
        return lowering.lacks(op, "on floating point numbers of up to 8 bits");
    }
    if let Some(function) = element_wise::function_name(name) {
        return element_wise::lower(lowering, op, function, operands);
    }
    if let Some(function) = dynamic::broadcasting(name) {
        return lowering.broadcasting(op, function, operands);
    }
    if STATIC.contains(&name) && !lowering.is_static(op) {
        return lowering.lacks(op, "on tensors of dynamic shape");
    }
    special(lowering, op, operands)
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
        "stablehlo.constant" | "chlo.constant" => one(lowering.constant(op)?),
        "interpreter.probe" => {
            lowering.probed(op, operands);
            Ok(Some(operands.to_vec()))
        }
        // There is one device.
        "stablehlo.partition_id" | "stablehlo.replica_id" => one(lowering.weight(scalar(0_u32)?)),
        // Ops on one device run in the order of the program, so tokens have no meaning.
        "stablehlo.create_token" | "stablehlo.after_all" => {
            let token = scalar(tfrt_tensor::I1::from(true))?;
            one(lowering.weight(token))
        }
        "stablehlo.iota" => {
            let ty = lowering.result(op, 0)?;
            let dims = ty.static_dims()?;
            if dims.is_empty() {
                return Err(ImportError::new(
                    "expected a tensor of rank 1 or more, found a scalar",
                ));
            }
            let attrs = [("dims", Attr::Ints(extents(&dims)))];
            one(lowering.iota(op, "hlo.Iota", &[], &attrs, ty.element)?)
        }
        "stablehlo.bitcast_convert" => {
            number_of_operands(1)?;
            let (from, to) = (lowering.operand(op, 0)?, lowering.result(op, 0)?);
            let mut attrs = vec![("dtype", Attr::Type(to.element.dtype))];
            for (name, ty) in [("from", from.element), ("to", to.element)] {
                if ty.wider().is_some() {
                    attrs.push((name, Attr::Text(ty.name.to_owned())));
                }
            }
            // Without extents, the op derives those of the result.
            if let Some(dims) = to.known_dims() {
                attrs.extend(lists(vec![("dims", extents(&dims))]));
            } else {
                attrs.push(("is_derived", Attr::Bool(true)));
            }
            one(lowering.emit_one(op, "hlo.BitcastConvert", operands, &attrs))
        }
        "stablehlo.broadcast_in_dim" => {
            number_of_operands(1)?;
            let dims = lowering.result(op, 0)?.static_dims()?;
            let axes = lowering.ints(op, "broadcast_dimensions")?;
            one(lowering.broadcast(op, operands[0], &dims, axes))
        }
        "stablehlo.broadcast" => {
            number_of_operands(1)?;
            let dims = lowering.result(op, 0)?.static_dims()?;
            // The new dimensions are in front of those of the operand.
            let num_new = lowering.ints(op, "broadcast_sizes")?.len();
            let axes = (num_new..dims.len()).map(|axis| axis as i64).collect();
            one(lowering.broadcast(op, operands[0], &dims, axes))
        }
        "stablehlo.reshape" => {
            number_of_operands(1)?;
            let dims = lowering.result(op, 0)?.static_dims()?;
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
            let mut attrs = lowering.gathering(op)?;
            attrs.extend(lists(vec![("sizes", lowering.ints(op, "slice_sizes")?)]));
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
            // The operands are the inputs, the indices and the updates.
            let operands = lowering.promoted(op, 0, operands, |index| match index.cmp(&count) {
                Ordering::Less => Some(index),
                Ordering::Equal => None,
                Ordering::Greater => Some(index - 1),
            })?;
            Ok(Some(lowering.emit(
                op,
                "hlo.Scatter",
                &operands,
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
            let operands = lowering.promoted(op, 0, operands, Some)?;
            Ok(Some(lowering.emit(
                op,
                "hlo.Reduce",
                &operands,
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
            let count = lowering.module.results(op).len();
            let operands = &lowering.promoted(op, 0, operands, Some)?[..];
            if lowering.ints(op, "window_dimensions")?.is_empty() {
                // A scalar has one window of one element, so it is reduced as a whole.
                let is_window = |name: &str| ["sizes", "steps", "padding"].contains(&name);
                attrs.retain(|attr| !is_window(attr.0));
                return Ok(Some(lowering.emit(
                    op,
                    "hlo.Reduce",
                    operands,
                    &attrs,
                    count,
                )));
            }
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
            // The second region has the source and the initial value as its arguments.
            let operands = lowering.promoted(op, 1, operands, |index| index.checked_sub(1))?;
            one(lowering.emit_one(op, "hlo.SelectAndScatter", &operands, &attrs))
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
        "stablehlo.map" => lowering.map(op, operands),
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
            let named = lowering.name_of_kind(op, "rng_algorithm", "rng_algorithm");
            let ty = lowering.result(op, 1)?;
            let dims = ty.static_dims()?;
            let mut attrs = vec![
                ("algorithm", Attr::Text(algorithm(named))),
                ("dtype", Attr::Type(ty.element.dtype)),
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
            lowering.triangular_solve(op, [operands[0], operands[1]])
        }
        "stablehlo.fft" => {
            number_of_operands(1)?;
            let kind = lowering.name_of_kind(op, "fft_type", "fft_type");
            let kind =
                kind.ok_or_else(|| ImportError::new("the attribute `fft_type` is missing"))?;
            let mut attrs = lists(vec![("lengths", lowering.ints(op, "fft_length")?)]);
            attrs.push(("kind", Attr::Text(kind.to_owned())));
            one(lowering.emit_one(op, "hlo.Fft", operands, &attrs))
        }
        "stablehlo.rng" => {
            number_of_operands(3)?;
            lowering.rng(op, operands)
        }
        "chlo.top_k" => {
            number_of_operands(1)?;
            let k = scalar(lowering.int(op, "k")?)?;
            let k = lowering.weight(k);
            lowering.top_k(op, operands[0], k)
        }
        "chlo.scan" => lowering.scan(op, operands),
        "chlo.constant_like" => {
            number_of_operands(1)?;
            lowering.constant_like(op, operands[0])
        }
        "stablehlo.custom_call" => custom_call(lowering, op, operands),
        _ if name.starts_with("check.") => lowering.check(op, name, operands),
        _ => lowering.dynamic(op, name, operands),
    }
}

fn custom_call(lowering: &mut Lowering<'_>, op: OpId, operands: &[Value]) -> Lowered {
    let target = lowering.text(op, "call_target_name");
    let target =
        target.ok_or_else(|| ImportError::new("the attribute `call_target_name` is missing"))?;
    // Ops that were added to CHLO after a version that programs are written for.
    if let Some(name) = target.strip_prefix("mhlo.")
        && element_wise::CHLO.contains(&name)
    {
        return element_wise::lower(lowering, op, name, operands);
    }
    match (target, operands) {
        ("Sharding", [_]) => Ok(Some(operands.to_vec())),
        ("shape_assertion", [_, ..]) => lowering.assertion(op, operands),
        ("mhlo.topk", &[x]) => {
            let k = lowering.nested_int(op, "mhlo.attributes", "k");
            let k = k.ok_or_else(|| ImportError::new("expected `k` in `mhlo.attributes`"))?;
            let k = scalar(k)?;
            let k = lowering.weight(k);
            lowering.top_k(op, x, k)
        }
        ("ApproxTopK", _) => lowering.approximate_top_k(op, operands, false),
        ("stablehlo.dynamic_approx_top_k", _) => lowering.approximate_top_k(op, operands, true),
        ("stablehlo.dynamic_top_k", &[x, k]) => {
            let k = lowering.apply(op, "convert i64 0;ret 1", &[k]);
            lowering.top_k(op, x, k)
        }
        ("stablehlo.dynamic_reduce_window", _) => lowering.dynamic_reduce_window(op, operands),
        ("stablehlo.dynamic_rng_bit_generator", &[_, _]) => {
            lowering.dynamic_rng_bit_generator(op, operands)
        }
        ("check.eq", &[a, b]) => lowering.equal(op, a, b),
        _ if target.starts_with("check.") => lowering.check(op, target, operands),
        _ if is_triangular_solve(target) => lowering.called_triangular_solve(op, target, operands),
        _ => lowering.lacks(op, &format!("to `@{}`", shown(target))),
    }
}

/// Returns the algorithm that an attribute names. The default is up to the implementation; XLA on
/// CPUs uses Philox.
pub(super) fn algorithm(named: Option<&str>) -> String {
    match named {
        Some("DEFAULT") | None => "PHILOX".to_owned(),
        Some(other) => other.to_owned(),
    }
}

impl Lowering<'_> {
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
        let shape = self.vector(&extents(dims))?;
        let attrs = [("allow_zero", Attr::Bool(true))];
        Ok(self.emit_one(op, "nn.Reshape", &[x, shape], &attrs))
    }

    pub(super) fn transpose(&mut self, op: OpId, x: Value, perm: Vec<i64>) -> Value {
        if perm.iter().enumerate().all(|(at, &axis)| at as i64 == axis) {
            return x;
        }
        self.emit_one(op, "nn.Transpose", &[x], &[("perm", Attr::Ints(perm))])
    }

    /// Applies a region to each element. Scalars from outside the region are further operands.
    fn map(&mut self, op: OpId, operands: &[Value]) -> Lowered {
        let &[region] = self.module.regions(op) else {
            return Err(ImportError::new("expected one region"));
        };
        let block = self.only_block(region)?;
        let captured = self.captured_scalars(block);
        let (names, values): (Vec<_>, Vec<_>) = captured.into_iter().unzip();
        let Some(program) = self.capturing_function(op, block, &names)? else {
            return Ok(None);
        };
        let operands = [operands, &values].concat();
        Ok(Some(vec![self.apply(op, &program, &operands)]))
    }

    /// Returns the window attributes that all windowed ops have.
    fn windows(&self, op: OpId) -> Result<Vec<(&'static str, Attr)>, ImportError> {
        Ok(lists(vec![
            ("sizes", self.ints_or_empty(op, "window_dimensions")?),
            ("steps", self.ints_or_empty(op, "window_strides")?),
            ("padding", self.ints_or_empty(op, "padding")?),
        ]))
    }

    /// Returns the dimension numbers of a gather.
    pub(super) fn gathering(&self, op: OpId) -> Result<Vec<(&'static str, Attr)>, ImportError> {
        let numbers = self.structured(op, "dimension_numbers", "gather")?;
        let mut attrs = lists(vec![
            ("offset", numbers.list("offset_dims")?),
            ("collapsed", numbers.list("collapsed_slice_dims")?),
            ("batching", numbers.list("operand_batching_dims")?),
            (
                "indices_batching",
                numbers.list("start_indices_batching_dims")?,
            ),
            ("map", numbers.list("start_index_map")?),
        ]);
        let axis = numbers.number("index_vector_dim")?;
        attrs.push(("vector_axis", Attr::Int(axis)));
        Ok(attrs)
    }

    /// Adds an op that numbers elements along the attribute `iota_dimension`.
    pub(super) fn iota(
        &mut self,
        op: OpId,
        name: &str,
        operands: &[Value],
        attrs: &[(&str, Attr)],
        ty: ElementType,
    ) -> Result<Value, ImportError> {
        let dtype = match ty.dtype {
            DType::Complex64 => DType::F32,
            DType::Complex128 => DType::F64,
            other => other,
        };
        let mut attrs = attrs.to_vec();
        attrs.push(("dtype", Attr::Type(dtype)));
        attrs.push(("axis", Attr::Int(self.int(op, "iota_dimension")?)));
        let numbers = self.emit_one(op, name, operands, &attrs);
        if ty.is_complex() {
            let program = format!("const {} 0;ret 0 1", ty.name);
            return Ok(self.apply(op, &program, &[numbers]));
        }
        Ok(self.wrapped(op, numbers, ty))
    }

    /// Draws random numbers, between two bounds or of a normal distribution.
    fn rng(&mut self, op: OpId, operands: &[Value]) -> Lowered {
        let ty = self.result(op, 0)?.element;
        let is_normal = match self.name_of_kind(op, "rng_distribution", "rng_distribution") {
            Some("UNIFORM") => false,
            Some("NORMAL") => true,
            _ => {
                return Err(ImportError::new(
                    "attribute `rng_distribution`: expected `UNIFORM` or `NORMAL`",
                ));
            }
        };
        if ty.is_complex() || ty.wider().is_some() {
            return self.lacks(op, "of this element type");
        }
        let distribution = if is_normal { "normal" } else { "uniform" };
        let attrs = [
            ("distribution", Attr::Text(distribution.to_owned())),
            ("a", Attr::Float(0.0)),
            ("b", Attr::Float(1.0)),
            ("dtype", Attr::Type(DType::F64)),
        ];
        let drawn = self.emit_one(op, "nn.Random", &[operands[2]], &attrs);
        let arguments = "convert f64 1;convert f64 2";
        let program = match is_normal {
            // The mean and the standard deviation.
            true => format!(
                "{arguments};multiply 0 4;add 5 3;convert {} 6;ret 7",
                ty.name
            ),
            // Integers exclude the upper bound, and are equally likely.
            false if ty.is_integer() => format!(
                "{arguments};subtract 4 3;multiply 0 5;add 6 3;floor 7;convert {} 8;ret 9",
                ty.name
            ),
            false => format!(
                "{arguments};subtract 4 3;multiply 0 5;add 6 3;convert {} 7;ret 8",
                ty.name
            ),
        };
        Ok(Some(vec![self.apply(
            op,
            &program,
            &[drawn, operands[0], operands[1]],
        )]))
    }
}
