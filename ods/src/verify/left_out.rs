//! Ops of programs that are written without chains.
//!
//! A front end with program order writes no chains, and a compiler pass adds them later. Until then
//! an op may omit the chains that it is declared to take, all of them or none: it does if none of
//! its operands is a chain. The same applies, separately, to the chains that it is declared to
//! return. Every other rule holds as if they were present.

use std::borrow::Cow;

use super::{Breach, CHAIN_TYPE, verify_record};
use crate::constraint::TypeConstraint;
use crate::groups::Groups;
use crate::instance::{AttrInstance, OpInstance, RegionInstance, Signature};
use crate::op::{Arity, OpDef};

/// Returns `true` if an op with operands of these types omits the chains that it is declared to
/// take.
pub fn leaves_out_operands(def: &OpDef, types: &[impl AsRef<str>]) -> bool {
    def.chain_operand().is_some() && has_no_chain(types)
}

/// Returns `true` if an op with results of these types omits the chains that it is declared to
/// return.
pub fn leaves_out_results(def: &OpDef, types: &[impl AsRef<str>]) -> bool {
    def.chain_result().is_some() && has_no_chain(types)
}

/// Returns the positions of the declared chains among all operands of an op that has `num_others`
/// other operands.
#[must_use]
pub fn chain_operand_positions(def: &OpDef, num_others: usize) -> Vec<usize> {
    let is_chain = |part: usize| is_single_chain(def.operands[part].arity, def.operands[part].ty);
    positions(
        def.operand_groups(),
        def.operands.len(),
        is_chain,
        num_others,
    )
}

/// Returns the positions of the declared chains among all results of an op that has `num_others`
/// other results.
#[must_use]
pub fn chain_result_positions(def: &OpDef, num_others: usize) -> Vec<usize> {
    let is_chain = |part: usize| is_single_chain(def.results[part].arity, def.results[part].ty);
    positions(def.result_groups(), def.results.len(), is_chain, num_others)
}

/// Returns every breach of the declaration `def` by `op`, which may omit its chains, in the order
/// of the rules.
///
/// The op's own verifier sees an op that runs functions as it is written, since the functions omit
/// the same chains, and any other op with its chains.
#[must_use]
pub fn verify_op_without_chains(def: &OpDef, op: &dyn OpInstance) -> Vec<Breach> {
    let mut operand_types = owned(op.operand_types());
    let mut inserted_operands = Vec::new();
    if leaves_out_operands(def, &operand_types) {
        inserted_operands = chain_operand_positions(def, operand_types.len());
        insert_chains(&mut operand_types, &inserted_operands);
    }
    let mut result_types = owned(op.result_types());
    if leaves_out_results(def, &result_types) {
        let positions = chain_result_positions(def, result_types.len());
        insert_chains(&mut result_types, &positions);
    }
    let completed = Completed {
        op,
        operand_types,
        inserted_operands,
        result_types,
    };
    let mut breaches = verify_record(def, &completed);
    if breaches.iter().all(|breach| breach.is_stray_attribute)
        && let Some(verifier) = def.verifier
    {
        if def.functions.is_empty() {
            verifier(&completed, &mut breaches);
        } else {
            verifier(op, &mut breaches);
        }
    }
    breaches
}

fn has_no_chain(types: &[impl AsRef<str>]) -> bool {
    types.iter().all(|ty| ty.as_ref() != CHAIN_TYPE)
}

fn is_single_chain(arity: Arity, ty: TypeConstraint) -> bool {
    arity == Arity::One && ty.is_chain()
}

/// Returns the positions of the parts that are chains, of an op that has `num_others` other values.
fn positions(
    groups: Groups,
    num_parts: usize,
    is_chain: impl Fn(usize) -> bool,
    num_others: usize,
) -> Vec<usize> {
    let chains: Vec<usize> = (0..num_parts).filter(|&part| is_chain(part)).collect();
    // Too few values are a separate breach, and do not omit a chain.
    let count = (num_others + chains.len()).max(groups.least());
    chains
        .iter()
        .map(|&part| groups.range(part, count).start)
        .collect()
}

fn owned(types: Vec<Cow<'_, str>>) -> Vec<String> {
    types.into_iter().map(Cow::into_owned).collect()
}

fn insert_chains(types: &mut Vec<String>, positions: &[usize]) {
    for &position in positions {
        // Too few other operands are a separate breach.
        types.insert(position.min(types.len()), CHAIN_TYPE.into());
    }
}

/// An op together with the chains that it omits.
struct Completed<'a> {
    op: &'a dyn OpInstance,
    operand_types: Vec<String>,
    /// The indices of the operands that the op omits, in ascending order.
    inserted_operands: Vec<usize>,
    result_types: Vec<String>,
}

impl OpInstance for Completed<'_> {
    fn name(&self) -> &str {
        self.op.name()
    }

    fn operand_types(&self) -> Vec<Cow<'_, str>> {
        let types = self.operand_types.iter();
        types.map(|ty| Cow::Borrowed(&**ty)).collect()
    }

    fn result_types(&self) -> Vec<Cow<'_, str>> {
        let types = self.result_types.iter();
        types.map(|ty| Cow::Borrowed(&**ty)).collect()
    }

    fn attribute_names(&self) -> Vec<Cow<'_, str>> {
        self.op.attribute_names()
    }

    fn attribute(&self, name: &str) -> Option<AttrInstance<'_>> {
        self.op.attribute(name)
    }

    fn regions(&self) -> Vec<RegionInstance<'_>> {
        self.op.regions()
    }

    fn resolve(&self, symbol: &str) -> Option<Signature<'_>> {
        self.op.resolve(symbol)
    }

    fn enclosing_function(&self) -> Option<Signature<'_>> {
        self.op.enclosing_function()
    }

    fn producer(&self, operand: usize) -> Option<Box<dyn OpInstance + '_>> {
        let num_before = self.inserted_operands.partition_point(|&at| at < operand);
        match self.inserted_operands.get(num_before) {
            Some(&at) if at == operand => None,
            _ => self.op.producer(operand - num_before),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::constraint::TypeConstraint;
    use crate::op::{OperandDef, ResultDef};

    const CHAIN: TypeConstraint = TypeConstraint::Exact(CHAIN_TYPE);
    const I32: TypeConstraint = TypeConstraint::Exact("i32");

    static BRANCH: OpDef = OpDef {
        operands: &[
            OperandDef::new("index", I32),
            OperandDef::new("in", CHAIN),
            OperandDef::variadic("values", TypeConstraint::Any),
        ],
        results: &[
            ResultDef::new("out", CHAIN),
            ResultDef::variadic("values", TypeConstraint::Any),
        ],
        ..OpDef::new("t.branch")
    };

    static TAIL: OpDef = OpDef {
        operands: &[
            OperandDef::variadic("values", I32),
            OperandDef::new("in", CHAIN),
        ],
        results: &[ResultDef::new("sum", I32), ResultDef::new("out", CHAIN)],
        ..OpDef::new("t.tail")
    };

    struct Sample(&'static [&'static str], &'static [&'static str]);

    impl OpInstance for Sample {
        fn name(&self) -> &str {
            "t.sample"
        }

        fn operand_types(&self) -> Vec<Cow<'_, str>> {
            self.0.iter().map(|ty| Cow::Borrowed(*ty)).collect()
        }

        fn result_types(&self) -> Vec<Cow<'_, str>> {
            self.1.iter().map(|ty| Cow::Borrowed(*ty)).collect()
        }

        fn attribute_names(&self) -> Vec<Cow<'_, str>> {
            Vec::new()
        }

        fn attribute(&self, _name: &str) -> Option<AttrInstance<'_>> {
            None
        }

        fn regions(&self) -> Vec<RegionInstance<'_>> {
            Vec::new()
        }

        fn resolve(&self, _symbol: &str) -> Option<Signature<'_>> {
            None
        }

        fn enclosing_function(&self) -> Option<Signature<'_>> {
            None
        }

        fn producer(&self, operand: usize) -> Option<Box<dyn OpInstance + '_>> {
            Some(Box::new(Self(&[], &self.0[operand..])))
        }
    }

    fn check(
        def: &OpDef,
        operands: &'static [&'static str],
        results: &'static [&'static str],
        expected: &str,
    ) {
        let breaches = verify_op_without_chains(def, &Sample(operands, results));
        let messages: Vec<String> = breaches.into_iter().map(|breach| breach.message).collect();
        assert_eq!(messages.join("; "), expected);
    }

    #[test]
    fn chains_are_all_there_or_all_left_out() {
        check(&BRANCH, &["i32"], &[], "");
        check(&BRANCH, &["i32", "f32"], &["f32"], "");
        check(
            &BRANCH,
            &["i32", CHAIN_TYPE, "f32"],
            &[CHAIN_TYPE, "f32"],
            "",
        );
        check(&TAIL, &["i32", "i32"], &["i32"], "");
        check(&TAIL, &["i32", "i32", CHAIN_TYPE], &["i32", CHAIN_TYPE], "");
    }

    #[test]
    fn what_is_no_chain_must_be_there() {
        check(&BRANCH, &[], &[], "expected 2 or more operands");
        check(&TAIL, &[], &[], "expected 2 results");
        check(
            &TAIL,
            &["f32"],
            &["i32"],
            "operand #0 must be 32-bit signless integer, but got 'f32'",
        );
    }

    #[test]
    fn operands_behind_a_left_out_chain_have_their_producers() {
        let completed = Completed {
            op: &Sample(&["i32", "f32"], &[]),
            operand_types: vec!["i32".into(), CHAIN_TYPE.into(), "f32".into()],
            inserted_operands: vec![1],
            result_types: Vec::new(),
        };
        let produced = |operand| {
            let producer = completed.producer(operand)?;
            Some(producer.result_types()[0].clone().into_owned())
        };
        assert_eq!(produced(0).as_deref(), Some("i32"));
        assert_eq!(produced(1), None);
        assert_eq!(produced(2).as_deref(), Some("f32"));
    }

    #[test]
    fn chains_have_their_declared_positions() {
        assert_eq!(chain_operand_positions(&BRANCH, 3), [1]);
        assert_eq!(chain_result_positions(&BRANCH, 2), [0]);
        assert_eq!(chain_operand_positions(&TAIL, 3), [3]);
        assert_eq!(chain_operand_positions(&TAIL, 0), [0]);
    }
}
