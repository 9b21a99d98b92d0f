//! Lowers the selection of the greatest elements along a dimension.

use tfrt_import::ImportError;
use tfrt_import::program::{Attr, Value};
use tfrt_ir::OpId;
use tfrt_support::DType;

use super::{Lowered, Lowering, extents, lists};
use crate::model::TensorType;

impl Lowering<'_> {
    /// Finds the greatest elements along the last dimension. Floating point numbers compare by
    /// their total order, as integers that have this order.
    pub(super) fn top_k(&mut self, op: OpId, x: Value, k: Value) -> Lowered {
        let ty = self.result(op, 0)?.element;
        let ordered = match ty.dtype {
            DType::F32 => Some((DType::I32, "i32", "7fffffff")),
            DType::F64 => Some((DType::I64, "i64", "7fffffffffffffff")),
            DType::F16 | DType::Bf16 => Some((DType::I16, "i16", "7fff")),
            _ => None,
        };
        // Turns around the order of negative numbers. It is its own inverse.
        let turned = ordered.map(|(_, name, mask)| {
            format!("const {name} {mask};const {name} 0;cmp lt 0 2;xor 0 1;select 3 4 0;ret 5")
        });
        let cast = |lowering: &mut Self, x, dtype| {
            let attrs = [
                ("dtype", Attr::Type(dtype)),
                ("is_derived", Attr::Bool(true)),
            ];
            lowering.emit_one(op, "hlo.BitcastConvert", &[x], &attrs)
        };
        let keys = match (&ordered, &turned) {
            (Some((dtype, ..)), Some(turned)) => {
                let bits = cast(self, x, *dtype);
                self.apply(op, turned, &[bits])
            }
            _ if ty.dtype == DType::I1 => self.apply(op, "convert ui8 0;ret 1", &[x]),
            _ => x,
        };
        let attrs = [("axis", Attr::Int(-1)), ("largest", Attr::Bool(true))];
        let found = self.emit(op, "nn.TopK", &[keys, k], &attrs, 2);
        let greatest = match turned {
            Some(turned) => {
                let bits = self.apply(op, &turned, &[found[0]]);
                cast(self, bits, ty.dtype)
            }
            None if ty.dtype == DType::I1 => self.apply(op, "convert i1 0;ret 1", &[found[0]]),
            None => found[0],
        };
        let places = self.result(op, 1)?.element;
        let program = format!("convert {} 0;ret 1", places.name);
        let places = self.apply(op, &program, &[found[1]]);
        Ok(Some(vec![greatest, places]))
    }

    /// Lowers a call of `@ApproxTopK` or `@stablehlo.dynamic_approx_top_k`, which selects elements
    /// that probably are the first ones by a comparator, to a sort, which selects exactly those.
    ///
    /// The operands are a tensor for each result, then an initial value for each, which is less
    /// than all elements. The second function may have no initial values. It has a last operand
    /// that is the number of selected elements.
    pub(super) fn approximate_top_k(
        &mut self,
        op: OpId,
        operands: &[Value],
        is_counted: bool,
    ) -> Lowered {
        let operands = self.without_shapes(op, operands)?;
        let (k, operands) = match operands.split_last() {
            Some((&k, operands)) if is_counted => (Some(k), operands),
            _ => (None, operands),
        };
        let axis = self.nested_int(op, "mhlo.backend_config", "reduction_dim");
        // Without a configuration, the elements are those along the last dimension.
        let axis = axis
            .or(is_counted.then_some(-1))
            .ok_or_else(|| ImportError::new("expected `reduction_dim` in `mhlo.backend_config`"))?;
        let count = self.module.results(op).len();
        let Some((tensors, inits)) = operands.split_at_checked(count) else {
            return Err(ImportError::new("expected a tensor for each result"));
        };
        if inits.len() != count && !(is_counted && inits.is_empty()) {
            return Err(ImportError::new(
                "expected an initial value for each tensor",
            ));
        }
        let block = self.called_computation(op)?;
        let Some(program) = self.block_function(op, block)? else {
            return Ok(None);
        };
        let attrs = [("axis", Attr::Int(axis)), ("program", Attr::Text(program))];
        let sorted = self.emit(op, "hlo.Sort", tensors, &attrs, count);
        let mut first = Vec::new();
        for (index, sorted) in sorted.into_iter().enumerate() {
            let ty = self.result(op, index)?;
            first.push(match ty.known_dims() {
                Some(dims) => {
                    let attrs = lists(vec![
                        ("starts", vec![0; dims.len()]),
                        ("limits", extents(&dims)),
                        ("steps", vec![1; dims.len()]),
                    ]);
                    self.emit_one(op, "hlo.Slice", &[sorted], &attrs)
                }
                None => {
                    let end = self.number_selected(op, &ty, axis, k)?;
                    let (start, axis) = (self.vector(&[0])?, self.vector(&[axis])?);
                    self.emit_one(op, "nn.Slice", &[sorted, start, end, axis], &[])
                }
            });
        }
        Ok(Some(first))
    }

    /// Returns a vector of one number: how many elements are selected along a dimension.
    fn number_selected(
        &mut self,
        op: OpId,
        ty: &TensorType,
        axis: i64,
        k: Option<Value>,
    ) -> Result<Value, ImportError> {
        let extent = usize::try_from(axis)
            .ok()
            .and_then(|axis| *ty.dims.get(axis)?);
        let known = match extent {
            Some(extent) => Some(extent as i64),
            None => self.nested_int(op, "mhlo.backend_config", "top_k"),
        };
        match (known, k) {
            (Some(known), _) => self.vector(&[known]),
            (None, Some(k)) => {
                let k = self.apply(op, "convert i64 0;ret 1", &[k]);
                self.reshape(op, k, &[1])
            }
            (None, None) => Err(ImportError::new(
                "expected `top_k` in `mhlo.backend_config`",
            )),
        }
    }
}
