//! Lowers ops of tensors whose shapes are known only at run time, and ops that broadcast.
//!
//! The shape of a result is an operand, or follows from the shapes of operands when the op runs.

use tfrt_import::ImportError;
use tfrt_import::program::{Attr, Value};
use tfrt_ir::OpId;

use super::constants::scalar;
use super::{Lowered, Lowering, element_wise, lists};

/// Returns the name of the element-wise op that an op of CHLO applies after it broadcasts its
/// operands.
pub(super) fn broadcasting(op: &str) -> Option<&str> {
    let name = op.strip_prefix("chlo.broadcast_")?;
    element_wise::BROADCASTING.contains(&name).then_some(name)
}

impl Lowering<'_> {
    /// Lowers an element-wise op that first broadcasts its operands to one shape.
    pub(super) fn broadcasting(&mut self, op: OpId, function: &str, operands: &[Value]) -> Lowered {
        let attrs = lists(vec![(
            "axes",
            self.ints_or_empty(op, "broadcast_dimensions")?,
        )]);
        let count = operands.len();
        let operands = self.emit(op, "hlo.BroadcastTogether", operands, &attrs, count);
        element_wise::lower(self, op, function, &operands)
    }

    /// Lowers an op with operands for a shape. Returns `None` if there is no such op.
    pub(super) fn dynamic(&mut self, op: OpId, name: &str, operands: &[Value]) -> Lowered {
        let value = match (name, operands) {
            ("stablehlo.get_dimension_size", &[x]) => self.dimension_size(op, x)?,
            ("stablehlo.set_dimension_size", &[x, _]) => {
                if self.result(op, 0)? != self.operand(op, 0)? || !self.is_static(op) {
                    return self.lacks(op, "with a bound");
                }
                x
            }
            ("stablehlo.dynamic_reshape" | "chlo.dynamic_reshape", &[x, shape]) => {
                let shape = self.apply(op, "convert i64 0;ret 1", &[shape]);
                let attrs = [("allow_zero", Attr::Bool(true))];
                self.emit_one(op, "nn.Reshape", &[x, shape], &attrs)
            }
            ("stablehlo.dynamic_broadcast_in_dim", &[_, _]) => {
                let axes = self.ints(op, "broadcast_dimensions")?;
                let attrs = lists(vec![("axes", axes)]);
                self.emit_one(op, "hlo.DynamicBroadcastInDim", operands, &attrs)
            }
            ("stablehlo.dynamic_iota", &[_]) => {
                let ty = self.result(op, 0)?.element;
                self.iota(op, "hlo.DynamicIota", operands, &[], ty)?
            }
            ("stablehlo.dynamic_pad", &[_, _, _, _, _]) => {
                self.emit_one(op, "hlo.DynamicPad", operands, &[])
            }
            ("stablehlo.real_dynamic_slice", &[_, _, _, _]) => {
                self.emit_one(op, "hlo.RealDynamicSlice", operands, &[])
            }
            ("stablehlo.dynamic_gather", &[_, _, _]) => {
                let attrs = self.gathering(op)?;
                self.emit_one(op, "hlo.DynamicGather", operands, &attrs)
            }
            ("stablehlo.dynamic_conv", &[_, _, _]) => self.convolution(op, operands)?,
            _ => {
                if super::calls::is_known(name) {
                    let count = operands.len();
                    let message = format!("expected another number of operands, found {count}");
                    return Err(ImportError::new(message));
                }
                return Ok(None);
            }
        };
        Ok(Some(vec![value]))
    }

    /// Returns the extent of a dimension: a constant, if it is known.
    fn dimension_size(&mut self, op: OpId, x: Value) -> Result<Value, ImportError> {
        let dims = self.operand(op, 0)?.dims;
        let axis = self.int(op, "dimension")?;
        let extent = usize::try_from(axis).ok().and_then(|axis| dims.get(axis));
        let extent = match extent {
            Some(Some(extent)) => i32::try_from(*extent).ok(),
            Some(None) => {
                let attrs = [("axis", Attr::Int(axis))];
                return Ok(self.emit_one(op, "hlo.DimensionSize", &[x], &attrs));
            }
            None => None,
        };
        let extent = extent.ok_or_else(|| {
            ImportError::new("attribute `dimension`: expected a dimension whose extent fits in i32")
        })?;
        Ok(self.weight(scalar(extent)?))
    }

    /// Returns the operands of a call without the shapes of its results, which are the last ones.
    /// Our ops derive shapes from the other operands.
    pub(super) fn without_shapes<'v>(
        &self,
        op: OpId,
        operands: &'v [Value],
    ) -> Result<&'v [Value], ImportError> {
        let num_shapes = self.ints_or_empty(op, "indices_of_shape_operands")?.len();
        Ok(&operands[..operands.len().saturating_sub(num_shapes)])
    }

    /// Lowers a call of `@stablehlo.dynamic_reduce_window`, whose last five operands are the sizes,
    /// steps, dilations of the tensors, dilations and padding of the windows.
    pub(super) fn dynamic_reduce_window(&mut self, op: OpId, operands: &[Value]) -> Lowered {
        let block = self.called_computation(op)?;
        let Some(program) = self.block_function(op, block)? else {
            return Ok(None);
        };
        let attrs = [("program", Attr::Text(program))];
        let count = self.module.results(op).len();
        Ok(Some(self.emit(
            op,
            "hlo.DynamicReduceWindow",
            operands,
            &attrs,
            count,
        )))
    }

    /// Lowers a call of `@stablehlo.dynamic_rng_bit_generator`, whose operands are a state and a
    /// shape.
    pub(super) fn dynamic_rng_bit_generator(&mut self, op: OpId, operands: &[Value]) -> Lowered {
        let named = self.name_of_kind(op, "rng_algorithm", "rng_algorithm");
        let attrs = [
            ("algorithm", Attr::Text(super::calls::algorithm(named))),
            ("dtype", Attr::Type(self.result(op, 1)?.element.dtype)),
        ];
        let results = self.emit(op, "hlo.DynamicRngBitGenerator", operands, &attrs, 2);
        Ok(Some(results))
    }
}
