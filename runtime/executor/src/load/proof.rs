//! The type check at load time.
//!
//! Declarations state the types that a kernel reads and returns. From them, every register of a
//! body gets, as far as that is known, a *spelling* and a *payload type*. Two facts follow:
//!
//! - A contradiction is a load error: the producer of a register and a reader spell its type
//!   differently, and their payload types do not agree either. Only spellings that stand for one
//!   payload type in every program count, since a dialect's own spelling, such as `!t.tensor`, may
//!   stand for several.
//! - A kernel is *proven* if every operand that it reads has the payload type that it reads. It
//!   then runs without a check.

use tfrt_async::TypeIndex;
use tfrt_host::__runtime::{KernelTypes, operand_counts};
use tfrt_ods::CHAIN_TYPE;
use tfrt_ods::{OpDef, OpTraits, TypeConstraint};
use tfrt_support::{Error, ErrorCode};

/// What is known about the type of a register.
#[derive(Clone, Copy, Debug, Default)]
struct Known<'a> {
    spelling: Option<&'a str>,
    payload: Option<TypeIndex>,
    /// The kernel that writes the register, or `None` for the function itself.
    producer: Option<&'static str>,
}

/// The properties of one kernel that the check needs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct KernelUse<'a> {
    pub(crate) op: &'static OpDef,
    pub(crate) types: &'a KernelTypes,
    pub(crate) operands: &'a [u32],
    pub(crate) results: &'a [u32],
}

/// A contradiction and its location.
#[derive(Debug)]
pub(crate) struct Contradiction {
    /// The kernel that reads; `None` for the function's own results.
    pub(crate) kernel: Option<usize>,
    pub(crate) error: Error,
}

/// The types of the registers of one body, as far as they are known.
#[derive(Debug)]
pub(crate) struct Registers<'a>(Vec<Known<'a>>);

impl<'a> Registers<'a> {
    /// Collects the types of arguments and of kernel results.
    pub(crate) fn new(
        num_registers: usize,
        arguments: &[&'a str],
        kernels: &[KernelUse<'a>],
    ) -> Self {
        let mut known = vec![Known::default(); num_registers];
        for (register, spelling) in known.iter_mut().zip(arguments) {
            register.spelling = Some(spelling);
        }
        for kernel in kernels {
            let op = kernel.op;
            for (index, &register) in kernel.results.iter().enumerate() {
                known[register as usize] = Known {
                    spelling: result_spelling(op, index, kernel.results.len()),
                    payload: kernel.types.results.get(index, kernel.results.len()),
                    producer: Some(op.name),
                };
            }
        }
        Self(known)
    }

    /// Returns the payload type of each register, if its producer declares it.
    pub(crate) fn payloads(&self) -> Vec<Option<TypeIndex>> {
        self.0.iter().map(|known| known.payload).collect()
    }

    /// Returns `true` if kernel number `index` is proven.
    pub(crate) fn check_kernel(
        &self,
        index: usize,
        kernel: KernelUse<'_>,
    ) -> Result<bool, Contradiction> {
        let op = kernel.op;
        let count = kernel.operands.len();
        let (least, most) = operand_counts(op);
        // The payload types come from the Rust function, the counts from the declaration; neither
        // is trusted to agree with the other.
        let mut is_proven =
            (least..=most).contains(&count) && count >= kernel.types.operands.num_fixed();
        for (number, &register) in kernel.operands.iter().enumerate() {
            let found = self.0[register as usize];
            let wanted_payload = kernel.types.operands.get(number, count);
            let is_admitted = kernel.types.operands.admits(number, count, found.payload);
            is_proven &= is_admitted;
            // After optional operands, a chain at the end is the extra chain.
            let is_extra_chain = is_admitted
                && number + 1 == count
                && found.spelling == Some(CHAIN_TYPE)
                && op.traits.contains(OpTraits::EXTRA_CHAIN);
            if !is_extra_chain
                && let Some(wanted) = operand_spelling(op, number, count)
                && contradicts(wanted, wanted_payload, found)
            {
                let what = format!("operand {number} of `{}`", op.name);
                return Err(Contradiction {
                    kernel: Some(index),
                    error: mismatch(&what, wanted, found),
                });
            }
        }
        Ok(is_proven)
    }

    /// Checks that the registers that a function returns have the types that it declares.
    pub(crate) fn check_returns(
        &self,
        registers: &[u32],
        declared: &[&str],
    ) -> Result<(), Contradiction> {
        for (number, (&register, wanted)) in registers.iter().zip(declared).enumerate() {
            let found = self.0[register as usize];
            if contradicts(wanted, None, found) {
                let error = mismatch(&format!("result {number} of the function"), wanted, found);
                return Err(Contradiction {
                    kernel: None,
                    error,
                });
            }
        }
        Ok(())
    }
}

/// Returns `true` if a spelling stands for the same payload type in every program, like those of
/// numbers, strings and chains.
fn is_settled(spelling: &str) -> bool {
    matches!(spelling, "!tfrt.chain" | "!tfrt.string")
        || !(spelling.starts_with('!') || spelling.contains('<'))
}

fn contradicts(wanted: &str, wanted_payload: Option<TypeIndex>, found: Known<'_>) -> bool {
    let payloads_agree = wanted_payload.is_some() && wanted_payload == found.payload;
    found
        .spelling
        .is_some_and(|spelling| spelling != wanted && is_settled(spelling) && is_settled(wanted))
        && !payloads_agree
}

#[cold]
fn mismatch(what: &str, wanted: &str, found: Known<'_>) -> Error {
    let source = match found.producer {
        Some(producer) => format!(" from `{producer}`"),
        None => String::from(" from an argument of the function"),
    };
    let found = match found.spelling {
        Some(spelling) => format!("`{spelling}`"),
        None => String::from("a different type"),
    };
    Error::new(format!(
        "{what}: expected `{wanted}`, found {found}{source}"
    ))
    .with_code(ErrorCode::InvalidArgument)
}

fn operand_spelling(op: &OpDef, index: usize, len: usize) -> Option<&'static str> {
    let part = op.operand_groups().part_of(index, len)?;
    fixed_spelling(op.operands[part].ty)
}

fn result_spelling(op: &OpDef, index: usize, len: usize) -> Option<&'static str> {
    let part = op.result_groups().part_of(index, len)?;
    fixed_spelling(op.results[part].ty)
}

/// Returns the spelling of a type that a declaration fixes.
pub(crate) fn fixed_spelling(ty: TypeConstraint) -> Option<&'static str> {
    match ty {
        TypeConstraint::Exact(spelling) => Some(spelling),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_settled_spellings_contradict() {
        let found = |spelling| Known {
            spelling: Some(spelling),
            ..Known::default()
        };
        assert!(contradicts("i32", None, found("f32")));
        assert!(!contradicts("!my.point", None, found("!my.coordinate")));
        assert!(!contradicts(
            "i32",
            Some(TypeIndex::of::<i32>()),
            Known {
                payload: Some(TypeIndex::of::<i32>()),
                ..found("i64")
            }
        ));
    }
}
