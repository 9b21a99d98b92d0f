//! Programs whose kernels run in any order that chains and values allow.
//!
//! An executor usually runs ready kernels in program order, so a program with a missing chain
//! usually works by accident. Here each kernel is delayed: its first operand passes through a
//! kernel that forwards it in a separate task. A queue with a random task order then determines
//! when kernels run, so only chains and values order them.

use std::sync::Arc;

use tfrt_async::AnyRef;
use tfrt_host::kernel::{KernelDescriptor, KernelFrame, KernelRegistry};
use tfrt_ir::{Module, OpId, OpState};
use tfrt_ods::{OpDef, OpTraits, OperandDef, ResultDef, TypeConstraint};
use tfrt_queue::Task;

/// The op that holds up a value.
static DELAY: OpDef = OpDef {
    summary: "Passes a value on in a separate task.",
    operands: &[OperandDef::new("value", TypeConstraint::Any)],
    results: &[ResultDef::new("same", TypeConstraint::SameAs("value"))],
    ..OpDef::new("tfrt_testing.delay")
};

/// The attribute of functions for the interpreter, whose kernels run in the order of the program.
const SYNC: &str = "tfrt.sync";

/// `kernels` with what holds up values.
pub(super) fn with_delay(kernels: &KernelRegistry) -> Arc<KernelRegistry> {
    let mut kernels = kernels.clone();
    // A reserved name. If another crate registers it, the program is refused with an error.
    let _ = kernels.add(KernelDescriptor::raw(&DELAY, delay));
    Arc::new(kernels)
}

/// Whether a kernel of this name is part of a program only to hold it up.
pub(super) fn is_delay(kernel: &str) -> bool {
    kernel == DELAY.name
}

fn delay(frame: &mut KernelFrame<'_>) {
    let value = frame.argument(0).clone();
    let (promise, delayed) = AnyRef::indirect();
    let give_on = move || promise.forward_to(value);
    frame.exec_ctx().host().queue().add_task(Task::new(give_on));
    frame.set_result(0, delayed);
}

/// Holds up every kernel of `module` that has an operand.
pub(super) fn hold_up(module: &mut Module) {
    for op in module.walk(module.root()) {
        if can_be_held_up(module, op) {
            insert_delay(module, op);
        }
    }
}

fn can_be_held_up(module: &Module, op: OpId) -> bool {
    let ends_body = module
        .op_def(op)
        .is_none_or(|def| def.traits.contains(OpTraits::TERMINATOR));
    let is_in_step = || {
        module
            .ancestors(op)
            .any(|outer| module.has_attr(outer, SYNC))
    };
    !ends_body && !module.operands(op).is_empty() && module.op_block(op).is_some() && !is_in_step()
}

fn insert_delay(module: &mut Module, op: OpId) {
    let value = module.operands(op)[0];
    let mut state = OpState::new(DELAY.name, module.op_location(op));
    state.operands.push(value);
    state.result_types.push(module.value_type(value));
    let delay = module.create_op(state);
    if let (Some(block), Some(index)) = (module.op_block(op), module.op_index(op)) {
        module.insert_op(block, index, delay);
        let delayed = module.results(delay)[0];
        module.set_operand(op, 0, delayed);
    }
}
