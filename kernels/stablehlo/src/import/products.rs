//! Lowers dot products and convolutions.
//!
//! A dot product of single-precision numbers becomes a batched matrix product, whose kernel is
//! fast. A convolution with two spatial dimensions and without dilated operands becomes `nn.Conv`.
//! General ops compute all others.

use tfrt_import::ImportError;
use tfrt_import::program::{Attr, Value};
use tfrt_ir::OpId;
use tfrt_support::DType;

use super::{Lowering, lists};
use crate::model::ElementType;
use crate::text::structured::order;

/// The dimensions of a factor: batch, contracting and free dimensions.
struct Factor {
    batch: Vec<i64>,
    summed: Vec<i64>,
    free: Vec<i64>,
    dims: Vec<Option<usize>>,
}

impl Factor {
    fn new(
        batch: Vec<i64>,
        summed: Vec<i64>,
        dims: Vec<Option<usize>>,
    ) -> Result<Self, ImportError> {
        let rank = dims.len() as i64;
        let mut seen = vec![false; dims.len()];
        for &axis in batch.iter().chain(&summed) {
            let seen = usize::try_from(axis)
                .ok()
                .and_then(|axis| seen.get_mut(axis));
            match seen {
                Some(seen) if !*seen => *seen = true,
                _ => {
                    return Err(ImportError::new(format!(
                        "dimension {axis} is repeated or out of range for a tensor of rank {rank}"
                    )));
                }
            }
        }
        let free = (0..rank).filter(|&axis| !seen[axis as usize]).collect();
        Ok(Self {
            batch,
            summed,
            free,
            dims,
        })
    }

    /// Returns the product of the extents of these dimensions, if they are known.
    fn extent(&self, axes: &[i64]) -> Option<usize> {
        axes.iter().try_fold(1_usize, |product, &axis| {
            product.checked_mul(self.dims[axis as usize]?)
        })
    }
}

impl Lowering<'_> {
    pub(super) fn dot_general(
        &mut self,
        op: OpId,
        operands: &[Value],
    ) -> Result<Value, ImportError> {
        let (a, b) = (self.operand(op, 0)?, self.operand(op, 1)?);
        let ((a_type, a_dims), (b_type, b_dims)) = ((a.element, a.dims), (b.element, b.dims));
        let result = self.result(op, 0)?;
        let dtype = result.element.dtype;
        let (a, b) = if self.module.op_name(op) == "stablehlo.dot" {
            let last = a_dims.len() as i64 - 1;
            if last < 0 || b_dims.is_empty() {
                return Err(ImportError::new("expected vectors or matrices"));
            }
            (
                Factor::new(Vec::new(), vec![last], a_dims)?,
                Factor::new(Vec::new(), vec![0], b_dims)?,
            )
        } else {
            let numbers = self.structured(op, "dot_dimension_numbers", "dot")?;
            let factor = |side: &str, dims: Vec<Option<usize>>| {
                Factor::new(
                    numbers.list(&format!("{side}_batching_dimensions"))?,
                    numbers.list(&format!("{side}_contracting_dimensions"))?,
                    dims,
                )
            };
            (factor("lhs", a_dims)?, factor("rhs", b_dims)?)
        };
        let is_fast = [a_type.dtype, b_type.dtype, dtype] == [DType::F32; 3]
            && result.element.wider().is_none();
        let sizes = [
            a.extent(&a.batch),
            a.extent(&a.free),
            a.extent(&a.summed),
            b.extent(&b.free),
        ];
        if let [Some(batch), Some(rows), Some(depth), Some(columns)] = sizes
            && is_fast
            && (b.extent(&b.batch), b.extent(&b.summed)) == (Some(batch), Some(depth))
            && let Some(dims) = result.known_dims()
        {
            let left = [&a.batch[..], &a.free, &a.summed].concat();
            let left = self.transpose(op, operands[0], left);
            let left = self.reshape(op, left, &[batch, rows, depth])?;
            let right = [&b.batch[..], &b.summed, &b.free].concat();
            let right = self.transpose(op, operands[1], right);
            let right = self.reshape(op, right, &[batch, depth, columns])?;
            let product = self.emit_one(op, "nn.MatMul", &[left, right], &[]);
            return self.reshape(op, product, &dims);
        }
        let mut attrs = lists(vec![
            ("lhs_batch", a.batch),
            ("rhs_batch", b.batch),
            ("lhs_contracting", a.summed),
            ("rhs_contracting", b.summed),
        ]);
        attrs.push(("dtype", Attr::Type(dtype)));
        let operands = self.factors(op, operands, [a_type, b_type], result.element);
        let product = self.emit_one(op, "hlo.DotGeneral", &operands, &attrs);
        Ok(self.wrapped(op, product, result.element))
    }

    /// Converts factors to the kind of numbers of a product: integers to floating point numbers,
    /// and real numbers to complex ones.
    fn factors(
        &mut self,
        op: OpId,
        operands: &[Value],
        types: [ElementType; 2],
        product: ElementType,
    ) -> Vec<Value> {
        let mut operands = operands.to_vec();
        for (operand, ty) in operands.iter_mut().zip(types) {
            let name = product.name;
            let program = if product.is_complex() && !ty.is_complex() {
                format!("convert {name} 0;const {name} 0;ret 1 2")
            } else if product.is_real() && ty.is_integer() {
                format!("convert {name} 0;ret 1")
            } else {
                continue;
            };
            *operand = self.apply(op, &program, &[*operand]);
        }
        operands
    }

    pub(super) fn convolution(
        &mut self,
        op: OpId,
        operands: &[Value],
    ) -> Result<Value, ImportError> {
        let text = self.bracketed(op, "dimension_numbers", "conv")?;
        let orders = text.split_once("->").and_then(|(sides, result)| {
            let (lhs, rhs) = sides.split_once('x')?;
            Some([
                order(lhs, ["b", "f"])?,
                order(rhs, ["o", "i"])?,
                order(result, ["b", "f"])?,
            ])
        });
        let orders = orders.ok_or_else(|| {
            ImportError::new(
                "attribute `dimension_numbers`: expected `[b, f, 0]x[o, i, 0]->[b, f, 0]`",
            )
        })?;
        let result_type = self.result(op, 0)?;
        let dtype = result_type.element.dtype;
        let numbers = |name: &str| self.ints_or_empty(op, name);
        let (steps, padding) = (numbers("window_strides")?, numbers("padding")?);
        let (lhs_dilations, rhs_dilations) = (numbers("lhs_dilation")?, numbers("rhs_dilation")?);
        let reversed = numbers("window_reversal")?;
        let groups = [
            self.optional_int(op, "feature_group_count")?.unwrap_or(1),
            self.optional_int(op, "batch_group_count")?.unwrap_or(1),
        ];
        let types = [0, 1].map(|index| self.operand(op, index));
        let [lhs, rhs] = types;
        let factor_types = [lhs?.element, rhs?.element];
        let types = [factor_types[0].dtype, factor_types[1].dtype, dtype];
        let dims = result_type.known_dims();
        let is_fast = types == [DType::F32; 3]
            && result_type.element.wider().is_none()
            && orders[0].len() == 4
            && groups[1] == 1
            && operands.len() == 2
            && dims.is_some_and(|dims| !dims.contains(&0))
            && lhs_dilations.iter().all(|&dilation| dilation == 1)
            && reversed.iter().all(|&flag| flag == 0)
            && padding.iter().all(|&pad| pad >= 0)
            && (padding.is_empty() || padding.len() == 4);
        if is_fast {
            let x = self.transpose(op, operands[0], orders[0].clone());
            let filters = self.transpose(op, operands[1], orders[1].clone());
            // `nn.Conv` takes the low padding of all dimensions first.
            let pads = match padding[..] {
                [top, bottom, left, right] => vec![top, left, bottom, right],
                _ => Vec::new(),
            };
            let mut attrs = lists(vec![
                ("strides", steps),
                ("pads", pads),
                ("dilations", rhs_dilations),
            ]);
            attrs.push(("group", Attr::Int(groups[0])));
            let result = self.emit_one(op, "nn.Conv", &[x, filters], &attrs);
            let mut back = vec![0; orders[2].len()];
            for (position, &axis) in orders[2].iter().enumerate() {
                back[axis as usize] = position as i64;
            }
            return Ok(self.transpose(op, result, back));
        }
        let mut attrs = lists(vec![
            ("order", orders.concat()),
            ("steps", steps),
            ("padding", padding),
            ("lhs_dilations", lhs_dilations),
            ("rhs_dilations", rhs_dilations),
            ("reversed", reversed),
            ("groups", groups.to_vec()),
        ]);
        attrs.push(("dtype", Attr::Type(dtype)));
        let operands = self.factors(op, operands, factor_types, result_type.element);
        let name = match operands[..] {
            // The padding is an operand.
            [_, _, _] => {
                attrs.retain(|attr| attr.0 != "padding");
                "hlo.DynamicConvolution"
            }
            _ => "hlo.Convolution",
        };
        let result = self.emit_one(op, name, &operands, &attrs);
        Ok(self.wrapped(op, result, result_type.element))
    }
}
