//! References that several uses share: those of registers whose uses follow an exact schedule.
//!
//! The slot of a register owns a reference for each use that takes from it (C2). Where uses run in
//! any order, this is what makes each of them independent of the others. In an exact schedule, the
//! next use is known, and two references do for all that are to come: a use sees more than one
//! owner as long as another one follows, and the last use sees only its own. So most uses of a
//! value that many kernels use, such as a stream, count nothing:
//!
//! ```text
//!   uses to come   5   4   3   2   1   0
//!   references     2   2   2   2   1   0
//!                    ▲   ▲   ▲   ▲   ▲
//!                    nothing     one dropped by each
//! ```
//!
//! Which kernel drops which references is decided here, and is among the words of the code. A run
//! that [leaves its schedule](crate::run::sequence) adds the references that the uses to come need.
//!
//! A register is shared if all of its uses are those of kernels that run in place. Others move the
//! reference out of the slot, and so does the caller of a function that returns it.

use tfrt_support::entity::EntityId;

use super::code::{Code, Kernel, KernelDetails, MAX_LISTED, RegisterId, Settling};

/// The number of references that the slot of a shared register holds as long as so many uses are to
/// come.
const NUM_SHARED: u32 = 2;

/// Returns the number of references that the slot of a register holds in a run that follows its
/// schedule, if so many uses are to come.
#[inline]
pub(crate) fn num_held(is_shared: bool, num_uses: u32) -> u32 {
    match is_shared {
        true => num_uses.min(NUM_SHARED),
        false => num_uses,
    }
}

/// Decides which registers of code with an exact schedule are shared, and what its kernels drop and
/// keep accordingly.
pub(crate) fn share(code: &mut Code) {
    mark(code);
    if !code.has_shared {
        return;
    }
    let uses = code
        .registers
        .iter()
        .map(|register| register.num_references);
    let mut num_left: Vec<u32> = uses.collect();
    for index in 0..code.kernels.len() {
        if code.kernels[index].direct.is_some() {
            keep(code, index);
            release(code, index, &mut num_left);
        }
    }
}

/// Returns `true` if what a kernel drops is among the words before its first offset, as a list that
/// is not very long is.
fn is_listed(kernel: &Kernel, details: &KernelDetails) -> bool {
    kernel.direct.is_some() && details.taken.len() <= MAX_LISTED
}

/// Marks the registers that are shared.
fn mark(code: &mut Code) {
    let mut num_uses = vec![0; code.registers.len()];
    let kernels = code.kernels.iter().zip(&code.details);
    for (_, details) in kernels.filter(|(kernel, details)| is_listed(kernel, details)) {
        for register in code.register_ids(details.taken) {
            num_uses[register.index()] += 1;
        }
    }
    for (register, num_uses) in code.registers.iter_mut().zip(num_uses) {
        let is_shared = num_uses > NUM_SHARED
            && num_uses == register.num_references
            && register.returned.is_none()
            && register.early.is_none();
        if is_shared {
            register.num_held = num_held(true, num_uses);
            code.has_shared = true;
        }
    }
}

/// Writes how many references to its results a kernel keeps.
fn keep(code: &mut Code, index: usize) {
    let (kernel, details) = (&code.kernels[index], &mut code.details[index]);
    let mut kept = Vec::new();
    for (settling, result) in details.settlings.iter_mut().zip(&details.results) {
        if let Settling::Keep(slot, num_held) = settling {
            *num_held = code.registers[result.register.index()].num_held;
            kept.extend([slot.get(), *num_held]);
        }
    }
    // Long lists are in the details only.
    kept.truncate(2 * usize::from(kernel.num_kept));
    let end = kernel.offsets as usize - usize::from(kernel.num_released);
    code.words[end - kept.len()..end].copy_from_slice(&kept);
}

/// Writes which references a kernel drops. `num_left` has the uses of each register from this
/// kernel on, and then those behind it.
fn release(code: &mut Code, index: usize, num_left: &mut [u32]) {
    let (kernel, details) = (&code.kernels[index], &code.details[index]);
    if !is_listed(kernel, details) {
        return;
    }
    let mut is_released = |register: RegisterId| {
        let is_shared = code.register(register).is_shared();
        let num_left = &mut num_left[register.index()];
        let num_before = num_held(is_shared, *num_left);
        *num_left -= 1;
        num_before > num_held(is_shared, *num_left)
    };
    let slots = code.words(details.taken_slots);
    let taken = code.register_ids(details.taken).zip(slots);
    let released = taken.filter(|(register, _)| is_released(*register));
    let released: Vec<u32> = released.map(|(_, slot)| *slot).collect();
    // The list ends where it did. What is before it moves.
    let end = kernel.offsets as usize;
    let num_kept_words = 2 * usize::from(kernel.num_kept);
    let kept = end - slots.len() - num_kept_words..end - slots.len();
    let start = end - released.len();
    code.words.copy_within(kept, start - num_kept_words);
    code.words[start..end].copy_from_slice(&released);
    code.kernels[index].num_released =
        u8::try_from(released.len()).expect("a part of a list that is not very long");
}
