//! Rules about the regions of an op and their terminators: building blocks of op verifiers.

use std::borrow::Cow;

use super::Breach;
use crate::instance::OpInstance;

/// Checks that region `region` ends in a return of exactly `types`, which the message calls
/// `terminator`.
pub fn returns(
    op: &dyn OpInstance,
    region: usize,
    types: &[Cow<'_, str>],
    terminator: &str,
    breaches: &mut Vec<Breach>,
) {
    let regions = op.regions();
    match regions
        .get(region)
        .and_then(|region| region.returns.as_ref())
    {
        None => breaches.push(Breach::op(format!("expected {terminator} in body"))),
        Some(found) if found != types => {
            breaches.push(Breach::at_return(
                region,
                format!("operand types don't match '{}' result", op.name()),
            ));
        }
        Some(_) => {}
    }
}

/// Checks that the block arguments of region `region` have exactly `types`. The message about their
/// number names the `block`.
pub fn takes(
    op: &dyn OpInstance,
    region: usize,
    types: &[Cow<'_, str>],
    block: &str,
    breaches: &mut Vec<Breach>,
) {
    let regions = op.regions();
    let arguments = regions
        .get(region)
        .map_or(&[][..], |region| &region.arguments);
    if arguments.len() != types.len() {
        breaches.push(Breach::op(format!(
            "incorrect number of arguments to '{block}' block"
        )));
    } else if arguments != types {
        breaches.push(Breach::op("operand/argument type mismatch"));
    }
}

/// Verifies a return: directly in a function, its operands are the results that the function
/// declares.
pub fn function_return(op: &dyn OpInstance, breaches: &mut Vec<Breach>) {
    let Some(signature) = op.enclosing_function() else {
        return;
    };
    let operands = op.operand_types();
    if operands.len() != signature.results.len() {
        breaches.push(Breach::op(format!(
            "has {} operands, but enclosing function returns {}",
            operands.len(),
            signature.results.len()
        )));
        return;
    }
    for (index, (found, expected)) in operands.iter().zip(&signature.results).enumerate() {
        if found != expected {
            breaches.push(Breach::plain(format!(
                "type of return operand {index} ('{found}') doesn't match function result type \
                 ('{expected}')"
            )));
        }
    }
}
