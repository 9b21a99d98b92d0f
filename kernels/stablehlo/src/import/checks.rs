//! Lowers comparisons of tests, and assertions about shapes.
//!
//! An assertion becomes an op that fails the run if it does not hold. Results of its function, and
//! operands of calls that follow it, depend on this op.

use tfrt_import::ImportError;
use tfrt_import::names::shown;
use tfrt_import::program::{Attr, Value};
use tfrt_ir::OpId;

use super::{Lowered, Lowering};
use crate::check::{Check, Closeness};

impl Lowering<'_> {
    /// Records a comparison, if the options ask for comparisons.
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
            "check.expect_serialized_eq" => {
                return self.lacks(op, "with a tensor in a file that another tool wrote");
            }
            _ => return self.lacks(op, &format!("to `{}`", shown(name))),
        };
        let (found, expected) = match *operands {
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
        Ok(Some(Vec::new()))
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
