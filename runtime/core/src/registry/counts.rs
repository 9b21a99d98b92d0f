//! How many tensors an op takes and returns.

use tfrt_ods::CHAIN_TYPE;
use tfrt_ods::groups::Groups;
use tfrt_ods::{Arity, TypeConstraint};
use tfrt_support::{Error, ErrorCode};

use super::Runner;

/// The least and the greatest number.
pub(crate) type Bounds = (usize, usize);

/// How many tensors an op takes and returns. A function of its call looks at that itself.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Counts {
    operands: Bounds,
    results: Bounds,
}

impl Counts {
    /// Returns the counts that a kernel declares, without the chains of its effects.
    pub(super) fn of(runner: &Runner) -> Self {
        let Runner::Kernel(kernel) = runner else {
            return Self {
                operands: (0, usize::MAX),
                results: (0, usize::MAX),
            };
        };
        let op = kernel.descriptor().op();
        let operands = op
            .operands
            .iter()
            .map(|operand| (operand.ty, operand.arity));
        let results = op.results.iter().map(|result| (result.ty, result.arity));
        Self {
            operands: bounds(operands),
            results: bounds(results),
        }
    }

    /// Returns `true` if an op may be called with this many operands for this many results.
    #[inline]
    pub(crate) fn admit(self, operands: usize, results: usize) -> bool {
        let is_within = |(least, most): Bounds, found| least <= found && found <= most;
        is_within(self.operands, operands) && is_within(self.results, results)
    }

    /// Returns the least and the greatest number of operands of a call for this many results, if
    /// there are such calls.
    pub(crate) fn operands_for(self, results: usize) -> Option<Bounds> {
        let (least, most) = self.results;
        (least..=most).contains(&results).then_some(self.operands)
    }

    /// Refuses a call with so many operands that asks for so many results.
    #[inline]
    pub(crate) fn check(self, op: &str, operands: usize, results: usize) -> Result<(), Error> {
        let is_within = |(least, most): Bounds, found| least <= found && found <= most;
        if !is_within(self.operands, operands) {
            return Err(miscounted(op, "operand", self.operands, operands));
        }
        if !is_within(self.results, results) {
            return Err(miscounted(op, "result", self.results, results));
        }
        Ok(())
    }
}

fn bounds(declared: impl Iterator<Item = (TypeConstraint, Arity)>) -> Bounds {
    let tensors = declared.filter(|(ty, _)| *ty != TypeConstraint::Exact(CHAIN_TYPE));
    let groups = Groups::of(tensors.map(|(_, arity)| arity));
    (groups.least(), groups.most())
}

#[cold]
fn miscounted(op: &str, what: &str, (least, most): Bounds, found: usize) -> Error {
    let counted = |count: usize| format!("{count} {what}{}", if count == 1 { "" } else { "s" });
    let expected = match most {
        usize::MAX => format!("at least {}", counted(least)),
        most if most == least => counted(least),
        most => format!("{least} to {}", counted(most)),
    };
    Error::new(format!("`{op}`: expected {expected}, found {found}"))
        .with_code(ErrorCode::InvalidArgument)
}
