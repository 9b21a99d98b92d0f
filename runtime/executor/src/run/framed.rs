//! Operands, attributes, calls and results of kernels, for every runner: turns operands into
//! references, calls kernels with a list of them, and keeps results.
#![expect(unsafe_code, reason = "spends the proof of types, once per call")]

use tfrt_async::AnyRef;
use tfrt_host::__runtime::AttributeList;
use tfrt_host::kernel::KernelFrame;

use super::frame::Frame;
use super::program::Program;
#[cfg(doc)]
use crate::lower::code::Extras;
use crate::lower::code::{Code, Kernel, KernelDetails, MAX_LISTED, Offset, RegisterId};

/// Returns an operand of a kernel that takes references: the value recorded for it, or else the
/// value in its place. A call passes payloads from their cells, so only its other operands count as
/// taken from slots.
#[inline]
pub(crate) fn operand(
    frame: Frame<'_>,
    id: RegisterId,
    is_call: bool,
    noted: impl FnOnce() -> Option<AnyRef>,
) -> AnyRef {
    let register = frame.code.register(id);
    match (register.cell, register.ty) {
        (Some(cell), Some(ty)) if is_call => noted().unwrap_or_else(|| frame.wrap(cell, ty, false)),
        _ => {
            let slot = register.slot;
            frame.take(slot.expect("a register that references are taken from has a slot"))
        }
    }
}

/// Takes the operands of a kernel that runs in place out of their slots, and drops them. None of
/// them is shared, as those of calls, or no schedule is followed.
#[inline]
pub(crate) fn release_operands(frame: Frame<'_>, details: &KernelDetails) {
    frame.drop_taken(frame.code.words(details.taken_slots));
}

/// Drops the references to the operands of a kernel that runs in place that no later use needs, in
/// a run that follows its schedule.
#[inline]
pub(crate) fn release_operands_in_schedule(
    frame: Frame<'_>,
    kernel: &Kernel,
    details: &KernelDetails,
) {
    frame.drop_taken(match details.taken_slots.len() {
        ..=MAX_LISTED => frame.code.released_slots(kernel),
        _ => frame.code.words(details.taken_slots),
    });
}

/// Drops the operands of a direct kernel that does not [look](Extras::LOOKS), and keeps the results
/// that it has left in its places for their users, in a run that follows its schedule.
// Inlined, as it is most of what its callers do.
#[inline(always)]
pub(crate) fn settle_in_place(frame: Frame<'_>, kernel: &Kernel) {
    frame.drop_taken(frame.code.released_slots(kernel));
    if kernel.num_kept != 0 {
        keep_results(frame, kernel);
    }
}

// Inlined, as most kernels that keep results keep one.
#[inline(always)]
fn keep_results(frame: Frame<'_>, kernel: &Kernel) {
    for &[slot, num_held] in frame.code.kept_slots(kernel) {
        if let Some(slot) = Offset::new(slot) {
            frame.keep(slot, num_held);
        }
    }
}

/// Returns the attributes of a kernel.
#[inline]
pub(crate) fn attributes<'a>(
    program: &'a Program,
    code: &'a Code,
    details: &KernelDetails,
) -> AttributeList<'a> {
    match code.words(details.attributes) {
        [] => AttributeList::EMPTY,
        offsets => AttributeList {
            section: program.attribute_section(),
            offsets,
        },
    }
}

/// Calls a kernel. Its operands are available and are not errors, unless the kernel is not strict.
#[inline]
pub(crate) fn call(kernel: &KernelDetails, frame: &mut KernelFrame<'_>) {
    if kernel.is_proven {
        // SAFETY: the check of the body saw that there are as many operands as declared (1), and
        // that the producers of their registers return the payload types that the kernel reads; a
        // runner calls a proven kernel only when all of them are available and none is an error
        // (2).
        unsafe { kernel.descriptor.invoke(frame) }
    } else {
        kernel.descriptor.invoke_checked(frame);
    }
}
