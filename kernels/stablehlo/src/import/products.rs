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
use crate::text::structured::order;

/// The dimensions of a factor: batch, contracting and free dimensions.
struct Factor {
    batch: Vec<i64>,
    summed: Vec<i64>,
    free: Vec<i64>,
    dims: Vec<usize>,
}

impl Factor {
    fn new(batch: Vec<i64>, summed: Vec<i64>, dims: Vec<usize>) -> Result<Self, ImportError> {
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

    /// Returns the product of the extents of these dimensions.
    fn extent(&self, axes: &[i64]) -> Option<usize> {
        axes.iter().try_fold(1_usize, |product, &axis| {
            product.checked_mul(self.dims[axis as usize])
        })
    }
}

impl Lowering<'_> {
    pub(super) fn dot_general(
        &mut self,
        op: OpId,
        operands: &[Value],
    ) -> Result<Value, ImportError> {
        let ((a_type, a_dims), (b_type, b_dims)) = (self.operand(op, 0)?, self.operand(op, 1)?);
        let (dtype, dims) = self.result(op, 0)?;
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
            let factor = |side: &str, dims: Vec<usize>| {
                Factor::new(
                    numbers.list(&format!("{side}_batching_dimensions"))?,
                    numbers.list(&format!("{side}_contracting_dimensions"))?,
                    dims,
                )
            };
            (factor("lhs", a_dims)?, factor("rhs", b_dims)?)
        };
        let is_fast = [a_type, b_type, dtype] == [DType::F32; 3];
        let sizes = [
            a.extent(&a.batch),
            a.extent(&a.free),
            a.extent(&a.summed),
            b.extent(&b.free),
        ];
        if let [Some(batch), Some(rows), Some(depth), Some(columns)] = sizes
            && is_fast
            && (b.extent(&b.batch), b.extent(&b.summed)) == (Some(batch), Some(depth))
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
        Ok(self.emit_one(op, "hlo.DotGeneral", operands, &attrs))
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
        let (dtype, dims) = self.result(op, 0)?;
        let numbers = |name: &str| self.ints_or_empty(op, name);
        let (steps, padding) = (numbers("window_strides")?, numbers("padding")?);
        let (lhs_dilations, rhs_dilations) = (numbers("lhs_dilation")?, numbers("rhs_dilation")?);
        let reversed = numbers("window_reversal")?;
        let groups = [
            self.optional_int(op, "feature_group_count")?.unwrap_or(1),
            self.optional_int(op, "batch_group_count")?.unwrap_or(1),
        ];
        let types = [self.operand(op, 0)?.0, self.operand(op, 1)?.0, dtype];
        let is_fast = types == [DType::F32; 3]
            && orders[0].len() == 4
            && groups[1] == 1
            && !dims.contains(&0)
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
        Ok(self.emit_one(op, "hlo.Convolution", operands, &attrs))
    }
}
