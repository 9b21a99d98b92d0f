//! Lowers scans: a loop that takes slices of tensors along a dimension, one after another.
//!
//! ```text
//! for index in 0..extent {
//!     (outputs[index], carries) = body(inputs[index], carries)
//! }
//! ```

use tfrt_import::ImportError;
use tfrt_import::program::{Attr, Value};
use tfrt_ir::OpId;

use super::constants::scalar;
use super::{Lowered, Lowering, extents, lists};
use crate::text::regions::SEGMENTS;

/// The dimension of a scan.
struct Axis {
    axis: usize,
    extent: usize,
    is_reverse: bool,
    /// The index 0, a constant.
    zero: Value,
}

impl Lowering<'_> {
    /// Lowers a scan, whose operands are the inputs and the initial carries.
    pub(super) fn scan(&mut self, op: OpId, operands: &[Value]) -> Lowered {
        if !self.is_static(op) {
            return self.lacks(op, "on tensors of dynamic shape");
        }
        let &[region] = self.module.regions(op) else {
            return Err(ImportError::new("expected one region"));
        };
        let num_inputs = self.ints(op, SEGMENTS)?.first().copied();
        let num_inputs = num_inputs.and_then(|count| usize::try_from(count).ok());
        let split = num_inputs.and_then(|count| operands.split_at_checked(count));
        let num_results = self.module.results(op).len();
        let (inputs, inits, num_outputs) = match split {
            Some((inputs @ [_, ..], inits)) if inits.len() <= num_results => {
                (inputs, inits, num_results - inits.len())
            }
            _ => {
                return Err(ImportError::new(
                    "expected inputs and a result for each carry",
                ));
            }
        };
        let dims = self.operand(op, 0)?.static_dims()?;
        let axis = usize::try_from(self.int(op, "dimension")?).ok();
        let found = axis.and_then(|axis| Some((axis, *dims.get(axis)?)));
        let (axis, extent) = found.ok_or_else(|| {
            ImportError::new("attribute `dimension`: expected a dimension of the inputs")
        })?;
        let axis = Axis {
            axis,
            extent,
            is_reverse: self.flag(op, "is_reverse")?,
            zero: self.weight(scalar(0_i64)?),
        };
        let mut carried = vec![axis.zero];
        carried.extend_from_slice(inits);
        for index in 0..num_outputs {
            let ty = self.result(op, index)?;
            let size = ty.element.dtype.size_bytes().unwrap_or(1);
            let zeros = vec![0; size];
            let dims = ty.static_dims()?;
            let empty = self.tensor_constant(op, ty.element.dtype, &[], &zeros)?;
            carried.push(self.broadcast(op, empty, &dims, Vec::new()));
        }
        let arguments = self.builder.begin(carried.len());
        let program = format!("const i64 {extent:016x};cmp lt 0 1;ret 2");
        let is_next = self.apply(op, &program, &arguments[..1]);
        let condition = self.builder.end(&[is_next]);
        let outer = std::mem::take(&mut self.expectations);
        let arguments = self.builder.begin(carried.len());
        let next = self.scan_step(op, region, inputs, inits.len(), &axis, &arguments);
        // The function must end before an error propagates.
        let values = match &next {
            Ok(Some(values)) => values.clone(),
            _ => Vec::new(),
        };
        let body = self.builder.end(&values);
        self.expectations = outer;
        if next?.is_none() {
            return Ok(None);
        }
        let label = self.label(op);
        let last = self.builder.repeat(&carried, condition, body, &label);
        let (carries, outputs) = last[1..].split_at(inits.len());
        Ok(Some([outputs, carries].concat()))
    }

    /// Lowers one step of a scan: from the index, the carries and the outputs to the next ones.
    fn scan_step(
        &mut self,
        op: OpId,
        region: tfrt_ir::RegionId,
        inputs: &[Value],
        num_carries: usize,
        axis: &Axis,
        arguments: &[Value],
    ) -> Lowered {
        let (index, (carries, outputs)) = (arguments[0], arguments[1..].split_at(num_carries));
        let place = match axis.is_reverse {
            true => {
                let last = axis.extent as i64 - 1;
                self.apply(
                    op,
                    &format!("const i64 {last:016x};subtract 1 0;ret 2"),
                    &[index],
                )
            }
            false => index,
        };
        let starts = |rank: usize| {
            let mut starts = vec![axis.zero; rank];
            starts[axis.axis] = place;
            starts
        };
        let mut taken = Vec::new();
        for (number, &input) in inputs.iter().enumerate() {
            let mut sizes = self.operand(op, number)?.static_dims()?;
            if sizes.get(axis.axis) != Some(&axis.extent) {
                return Err(ImportError::new("expected inputs of one extent"));
            }
            let operands = [&[input][..], &starts(sizes.len())].concat();
            sizes[axis.axis] = 1;
            let attrs: Vec<(&str, Attr)> = lists(vec![("sizes", extents(&sizes))]);
            let slice = self.emit_one(op, "hlo.DynamicSlice", &operands, &attrs);
            sizes.remove(axis.axis);
            taken.push(self.reshape(op, slice, &sizes)?);
        }
        taken.extend_from_slice(carries);
        let block = self.only_block(region)?;
        let results = self.nested(block, &taken)?;
        let own = std::mem::take(&mut self.expectations);
        let results = self.after(op, results, &own);
        let Some(results) = results.into_iter().collect::<Option<Vec<Value>>>() else {
            return Ok(None);
        };
        if results.len() != outputs.len() + num_carries {
            return Err(ImportError::new(format!(
                "expected a region with {} results, found {}",
                outputs.len() + num_carries,
                results.len()
            )));
        }
        let (slices, carries) = results.split_at(outputs.len());
        let program = "const i64 1;add 0 1;ret 2";
        let mut next = vec![self.apply(op, program, &[index])];
        next.extend_from_slice(carries);
        for (number, (&output, &slice)) in outputs.iter().zip(slices).enumerate() {
            let mut sizes = self.result(op, number)?.static_dims()?;
            if sizes.get(axis.axis) != Some(&axis.extent) {
                return Err(ImportError::new(
                    "expected outputs of the extent of the inputs",
                ));
            }
            let places = starts(sizes.len());
            sizes[axis.axis] = 1;
            let slice = self.reshape(op, slice, &sizes)?;
            let operands = [&[output, slice][..], &places].concat();
            next.push(self.emit_one(op, "hlo.DynamicUpdateSlice", &operands, &[]));
        }
        Ok(Some(next))
    }
}
