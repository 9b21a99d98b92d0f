//! Verifiers of ops: the rules that declarations cannot express.

use tfrt::core::TensorHandle;
use tfrt::distributed::RemoteObjectId;
use tfrt::ods::instance::{AttrInstance, OpInstance};
use tfrt::ods::verify::Breach;
use tfrt::prelude::*;

/// The operands in front of the ids.
const NUM_FIXED: usize = 4;

/// The devices are named by strings.
pub(crate) fn verify_spec(op: &dyn OpInstance, breaches: &mut Vec<Breach>) {
    let is_text = |device: &AttrInstance<'_>| matches!(device, AttrInstance::String(_));
    let is_list = match op.attribute("output_devices") {
        Some(AttrInstance::Array(devices)) => devices.iter().all(is_text),
        _ => false,
    };
    if !is_list {
        let message = "requires the attribute 'output_devices' to be an array of strings";
        breaches.push(Breach::op(message));
    }
}

/// Behind the chain there are ids, and behind them as many tensor handles as the op says.
pub(crate) fn verify_remote_execute(op: &dyn OpInstance, breaches: &mut Vec<Breach>) {
    verify_arguments(op, breaches);
    let num_handles = count(op, "num_tensorhandle_output", breaches);
    let results = op.result_types();
    let results = results.get(1..).unwrap_or_default();
    let Some(num_ids) = results.len().checked_sub(num_handles) else {
        return breaches.push(too_few(results.len(), num_handles));
    };
    let expected = |index| match index < num_ids {
        true => RemoteObjectId::MLIR_TYPE,
        false => TensorHandle::MLIR_TYPE,
    };
    verify_results(results, expected, breaches);
}

/// There are as many operands as arguments at least, and behind the chain as many tensor handles as
/// the op says.
pub(crate) fn verify_preallocated(op: &dyn OpInstance, breaches: &mut Vec<Breach>) {
    let num_ids = op.operand_types().len().saturating_sub(NUM_FIXED);
    let num_input = count(op, "num_input", breaches);
    if num_input > num_ids {
        breaches.push(Breach::op(format!(
            "requires at least {num_input} remote object ids, found {num_ids}"
        )));
    }
    if num_input >= num_ids {
        // Without ids of results it is the other form.
        return verify_remote_execute(op, breaches);
    }
    verify_arguments(op, breaches);
    let num_handles = count(op, "num_tensorhandle_output", breaches);
    let results = op.result_types();
    let results = results.get(1..).unwrap_or_default();
    if results.len() != num_handles {
        return breaches.push(too_few(results.len(), num_handles));
    }
    verify_results(results, |_| TensorHandle::MLIR_TYPE, breaches);
}

fn verify_arguments(op: &dyn OpInstance, breaches: &mut Vec<Breach>) {
    let operands = op.operand_types();
    let ids = operands.iter().enumerate().skip(NUM_FIXED);
    for (index, ty) in ids.filter(|(_, ty)| *ty != RemoteObjectId::MLIR_TYPE) {
        let expected = RemoteObjectId::MLIR_TYPE;
        breaches.push(Breach::op(format!(
            "requires operand {index} to be {expected}, found {ty}"
        )));
    }
}

fn verify_results(
    results: &[std::borrow::Cow<'_, str>],
    expected: impl Fn(usize) -> &'static str,
    breaches: &mut Vec<Breach>,
) {
    for (index, ty) in results.iter().enumerate() {
        let expected = expected(index);
        if ty != expected {
            breaches.push(Breach::op(format!(
                "requires result {} to be {expected}, found {ty}",
                index + 1
            )));
        }
    }
}

/// Returns a number that is not negative; 0 if the op does not have the attribute.
fn count(op: &dyn OpInstance, name: &str, breaches: &mut Vec<Breach>) -> usize {
    let Some(AttrInstance::Int(number, _)) = op.attribute(name) else {
        return 0;
    };
    usize::try_from(number).unwrap_or_else(|_| {
        let message = format!("requires the attribute '{name}' to be non-negative, found {number}");
        breaches.push(Breach::op(message));
        0
    })
}

#[cold]
fn too_few(found: usize, expected: usize) -> Breach {
    Breach::op(format!(
        "requires {expected} tensor handles after the chain, found {found} results"
    ))
}
