//! Lowers comparisons of tests, and assertions about shapes.
//!
//! An assertion becomes an op that fails the run if it does not hold. Results of its function, and
//! operands of calls that follow it, depend on this op.

use tfrt_import::ImportError;
use tfrt_import::names::shown;
use tfrt_import::program::{Attr, Value};
use tfrt_ir::OpId;
use tfrt_tensor::I1;

use super::constants::scalar;
use super::{Lowered, Lowering, lists};
use crate::check::{Check, Closeness};

impl Lowering<'_> {
    /// Records the value of a probe, with which a comparison may compare.
    pub(super) fn probed(&mut self, op: OpId, operands: &[Value]) {
        if let (Some(name), &[value]) = (self.text(op, "probe_id"), operands) {
            let block = self.module.op_block(op);
            self.probes.insert((block, name), value);
        }
    }

    /// Returns whether all elements of two tensors are equal.
    pub(super) fn equal(&mut self, op: OpId, a: Value, b: Value) -> Lowered {
        let ty = self.operand(op, 0)?;
        let program = match ty.element.is_complex() {
            true => "cmp eq 0 2;cmp eq 1 3;and 4 5;ret 6",
            false => "cmp eq 0 1;ret 2",
        };
        let equal = self.apply(op, program, &[a, b]);
        if ty.dims.is_empty() {
            return Ok(Some(vec![equal]));
        }
        let yes = self.weight(scalar(I1::from(true))?);
        let axes = (0..ty.dims.len()).map(|axis| axis as i64).collect();
        let mut attrs = lists(vec![("axes", axes)]);
        attrs.push(("program", Attr::Text("and 0 1;ret 2".to_owned())));
        let equal = self.emit_one(op, "hlo.Reduce", &[equal, yes], &attrs);
        Ok(Some(vec![equal]))
    }

    /// Records a comparison, if the options ask for comparisons. A comparison that does not hold
    /// ends the test, so a result that says whether it holds is true.
    pub(super) fn check(&mut self, op: OpId, name: &str, operands: &[Value]) -> Lowered {
        let comparison = match name {
            "check.expect_eq" | "check.expect_eq_const" => Closeness::Equal,
            "check.expect_close" => {
                let ulps = self.optional_int(op, "max_ulp_difference")?.unwrap_or(3);
                Closeness::Close {
                    ulps: ulps.unsigned_abs(),
                }
            }
            "check.expect_almost_eq" | "check.expect_almost_eq_const" => Closeness::AlmostEqual {
                tolerance: match self.has(op, "tolerance") {
                    true => self.float(op, "tolerance")?,
                    false => 1e-3,
                },
            },
            "check.expect_serialized_eq" => Closeness::Equal,
            _ => return self.lacks(op, &format!("to `{}`", shown(name))),
        };
        let (found, expected) = match *operands {
            [found] if name == "check.expect_serialized_eq" => {
                let block = self.module.op_block(op);
                // A probe writes its value to a file each time that it runs.
                let probed = self.text(op, "probe_id").filter(|_| !self.has(op, "iter"));
                let probed = probed.and_then(|name| self.probes.get(&(block, name)));
                match probed {
                    Some(&probed) => (found, probed),
                    None => {
                        return self.lacks(op, "with a tensor in a file that another tool wrote");
                    }
                }
            }
            [found, expected] => (found, expected),
            [found] if self.has(op, "value") => {
                let ty = self.operand(op, 0)?;
                let (dtype, dims) = (ty.element.dtype, ty.static_dims()?);
                let bytes = self.element_bytes(op, ty.element)?;
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
        Ok(Some(match self.module.results(op) {
            [] => Vec::new(),
            _ => vec![self.weight(scalar(I1::from(true))?)],
        }))
    }

    /// Adds an assertion: the first operand must be true. The others are numbers that the message
    /// shows.
    pub(super) fn assertion(&mut self, op: OpId, operands: &[Value]) -> Lowered {
        let message = self.text(op, "error_message");
        let message = message.unwrap_or("a condition on the shapes of the inputs does not hold");
        let attrs = [("message", Attr::Text(message.to_owned()))];
        let holds = self.emit_one(op, "hlo.Expect", operands, &attrs);
        self.expectations.push(holds);
        Ok(Some(Vec::new()))
    }

    /// Makes values depend on assertions.
    pub(super) fn after(
        &mut self,
        op: OpId,
        values: Vec<Option<Value>>,
        expectations: &[Value],
    ) -> Vec<Option<Value>> {
        if expectations.is_empty() {
            return values;
        }
        let values = values.into_iter().map(|value| {
            let operands = [&[value?], expectations].concat();
            Some(self.emit_one(op, "hlo.After", &operands, &[]))
        });
        values.collect()
    }
}
