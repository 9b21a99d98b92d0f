//! Rules about the functions that an op names: building blocks of op verifiers.

use std::borrow::Cow;

use super::{Breach, CHAIN_TYPE};
use crate::instance::{AttrInstance, OpInstance, Signature};

/// Returns the signature of the function that the flat symbol in `attribute` names, or adds a
/// breach if there is none.
pub fn resolve<'a>(
    op: &'a dyn OpInstance,
    attribute: &str,
    breaches: &mut Vec<Breach>,
) -> Option<Signature<'a>> {
    let Some(AttrInstance::Symbol(name, false)) = op.attribute(attribute) else {
        breaches.push(Breach::op(format!(
            "requires a '{attribute}' symbol reference attribute"
        )));
        return None;
    };
    resolve_name(op, &name, breaches)
}

/// Returns the signature of the function `name`, or adds a breach if there is none.
pub fn resolve_name<'a>(
    op: &'a dyn OpInstance,
    name: &str,
    breaches: &mut Vec<Breach>,
) -> Option<Signature<'a>> {
    let signature = op.resolve(name);
    if signature.is_none() {
        breaches.push(Breach::op(format!(
            "'{name}' does not reference a valid function"
        )));
    }
    signature
}

/// Checks that a function takes `operands` and returns `results`. The messages end in ` for WHAT`;
/// for the plain callee of a call, only those about numbers do.
pub fn matches(
    signature: &Signature<'_>,
    operands: &[Cow<'_, str>],
    results: &[Cow<'_, str>],
    what: &str,
    breaches: &mut Vec<Breach>,
) {
    let suffix = if what == "callee" {
        String::new()
    } else {
        format!(" for {what}")
    };
    if signature.arguments.len() != operands.len() {
        breaches.push(Breach::op(format!(
            "incorrect number of operands for {what}"
        )));
    } else if signature.arguments != operands {
        breaches.push(Breach::op(format!("operand type mismatch{suffix}")));
    }
    if signature.results.len() != results.len() {
        breaches.push(Breach::op(format!(
            "incorrect number of results for {what}"
        )));
    } else if signature.results != results {
        breaches.push(Breach::op(format!("result type mismatch{suffix}")));
    }
}

/// Verifies a call: the function in `callee` takes the operands and returns the results.
pub fn call(op: &dyn OpInstance, breaches: &mut Vec<Breach>) {
    function_of_all(op, "callee", "callee", breaches);
}

/// Verifies that the function in `attribute` takes all operands and returns all results.
pub fn function_of_all(
    op: &dyn OpInstance,
    attribute: &str,
    what: &str,
    breaches: &mut Vec<Breach>,
) {
    if let Some(signature) = resolve(op, attribute, breaches) {
        matches(
            &signature,
            &op.operand_types(),
            &op.result_types(),
            what,
            breaches,
        );
    }
}

/// Verifies a choice: the functions in `a_true_fn` and `b_false_fn` take every operand but the
/// first and return the results.
pub fn condition(op: &dyn OpInstance, breaches: &mut Vec<Breach>) {
    let operands = op.operand_types();
    for (attribute, what) in [
        ("a_true_fn", "true function"),
        ("b_false_fn", "false function"),
    ] {
        if let Some(signature) = resolve(op, attribute, breaches) {
            matches(
                &signature,
                operands.get(1..).unwrap_or_default(),
                &op.result_types(),
                what,
                breaches,
            );
        }
    }
}

/// Verifies a parallel call: the function in `callee` takes two 32-bit integers, then every operand
/// but the first three, and returns nothing or one chain.
pub fn parallel_call(op: &dyn OpInstance, breaches: &mut Vec<Breach>) {
    let Some(signature) = resolve(op, "callee", breaches) else {
        return;
    };
    let operands = op.operand_types();
    let passed = operands.get(3..).unwrap_or_default();
    if signature.arguments.len() != passed.len() + 2 {
        breaches.push(Breach::op("incorrect number of callee operands"));
    } else if signature.arguments[..2].iter().any(|ty| ty != "i32") {
        breaches.push(Breach::op("callee must take stard and end indices first"));
    } else if signature.arguments[2..] != *passed {
        breaches.push(Breach::op("operand type mismatch"));
    }
    match &signature.results[..] {
        [] => {}
        [one] if one == CHAIN_TYPE => {}
        [_] => breaches.push(Breach::op("async callee must return a chain")),
        _ => breaches.push(Breach::op("invalid callee result type")),
    }
}
