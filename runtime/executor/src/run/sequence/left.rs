//! Why and where a run leaves its schedule, and which registers have values at that point.

use tfrt_async::AnyRef;
use tfrt_async::pool::Pooled;
use tfrt_support::Error;
use tfrt_support::entity::EntityId;

use crate::lower::code::{Code, Extras, KernelId, Offset, RegisterId, ResultForm};
use crate::lower::shared::num_held;
use crate::run::frame::Frame;
use crate::run::path::{Lists, Path};

/// Why a run does not go on.
pub(crate) enum Stop {
    /// The result of this kernel, in its
    /// [slot](crate::lower::code::KernelDetails::awaited_slot), is not available, and nothing else
    /// can run before it is. The operands are dropped.
    Waits(KernelId),
    /// It leaves its schedule.
    Left(Pooled<Left>),
}

impl Stop {
    #[inline]
    pub(crate) fn left(left: Left) -> Self {
        Self::Left(Pooled::new(left))
    }

    /// Returns where the schedule is left.
    pub(crate) fn into_left(self) -> Left {
        match self {
            Self::Waits(id) => Left::HandingOver(id, 0),
            Self::Left(left) => left.into_inner(),
        }
    }
}

/// Why and where a run leaves its schedule.
pub(crate) enum Left {
    /// Before this kernel.
    Before(KernelId),
    /// Before this kernel, to continue on several threads.
    ToShare(KernelId),
    /// This kernel, called in place, failed.
    Failed(KernelId, Error),
    /// This kernel, called with a list of operands, failed or panicked.
    FailedFramed(KernelId, Error),
    /// The results of this kernel from this number on, which are in its places, are still to be
    /// handed over.
    HandingOver(KernelId, u32),
    /// The results of this kernel from this number on, which are in the list, are still to be
    /// published.
    Publishing(KernelId, u32, Box<Lists>),
}

impl Left {
    /// Returns the current kernel and the number of its results that were handed over, or `None` if
    /// the kernel has not begun.
    pub(crate) fn position(&self) -> (KernelId, Option<usize>) {
        match *self {
            Self::Before(id) | Self::ToShare(id) => (id, None),
            Self::Failed(id, _) | Self::FailedFramed(id, _) => (id, Some(0)),
            Self::HandingOver(id, number) | Self::Publishing(id, number, _) => {
                (id, Some(number as usize))
            }
        }
    }

    /// Returns `true` if the current kernel still has its operands.
    pub(crate) fn has_operands(&self) -> bool {
        matches!(self, Self::Before(_) | Self::ToShare(_) | Self::Failed(..))
    }

    /// Returns the next result of the current kernel that is to be handed over, if there is one.
    pub(crate) fn next_result<'l>(&'l self, frame: &'l Frame<'_>) -> Option<&'l AnyRef> {
        match self {
            Self::HandingOver(id, number) => {
                frame.peek_later(later_slot(frame.code, *id, *number)?)
            }
            Self::Publishing(_, number, lists) => lists.results.get(*number as usize)?.as_ref(),
            _ => None,
        }
    }

    /// Takes that result. Nothing else is left to be handed over.
    pub(crate) fn into_next_result(self, frame: Frame<'_>) -> Option<AnyRef> {
        match self {
            Self::HandingOver(id, number) => frame.take_later(later_slot(frame.code, id, number)?),
            Self::Publishing(_, number, mut lists) => {
                let result = lists
                    .results
                    .get_mut(number as usize)
                    .and_then(Option::take);
                lists.results.clear();
                lists.give_back();
                result
            }
            _ => None,
        }
    }

    /// Continues in the ready loop with the current kernel.
    pub(crate) fn resume(self, path: &mut Path<'_>) {
        match self {
            Self::Before(_) | Self::ToShare(_) => {}
            Self::Failed(id, error) => path.fail(id, error),
            Self::FailedFramed(id, error) => path.fail_framed(id, error),
            Self::HandingOver(id, number) => path.hand_over_results(id, number as usize),
            Self::Publishing(id, number, mut lists) => {
                std::mem::swap(&mut path.lists.results, &mut lists.results);
                lists.give_back();
                path.publish_results(id, number as usize);
            }
        }
    }
}

/// Returns the slot of a result that may be unavailable.
fn later_slot(code: &Code, kernel: KernelId, number: u32) -> Option<Offset> {
    let details = code.details(kernel);
    let result = details.results.get(number as usize)?;
    let is_later = details.forms.get(number as usize) == Some(&ResultForm::LaterSlot);
    code.register(result.register).slot.filter(|_| is_later)
}

/// Returns how many uses of each register are to come, counted as references in its slot, when a
/// run is at the position `(next, num_results)`.
pub(crate) fn uses_to_come(
    code: &Code,
    (next, num_results): (KernelId, Option<usize>),
    has_operands: bool,
) -> Vec<u32> {
    let mut num_left = vec![0; code.registers.len()];
    for register in produced_registers(code, next, num_results) {
        num_left[register.index()] = code.register(register).num_takes();
    }
    let num_done = next.index() + usize::from(!has_operands);
    for (kernel, details) in code.kernels.iter().zip(&code.details).take(num_done) {
        let is_in_place = kernel.direct.is_some() || kernel.extras.contains(Extras::CALLS);
        let taken = if is_in_place {
            details.taken
        } else {
            details.operands
        };
        for register in code.register_ids(taken) {
            num_left[register.index()] -= 1;
        }
    }
    num_left
}

/// Adds to the slots of [shared](crate::lower::shared) registers the references of all uses to
/// come, for a run that leaves its schedule at this position.
pub(super) fn unshare(frame: Frame<'_>, position: (KernelId, Option<usize>), has_operands: bool) {
    if frame.code.has_shared {
        add_references(frame, position, has_operands);
    }
}

#[cold]
fn add_references(frame: Frame<'_>, position: (KernelId, Option<usize>), has_operands: bool) {
    let num_left = uses_to_come(frame.code, position, has_operands);
    for (register, num_left) in frame.code.registers.iter().zip(num_left) {
        let num_missing = num_left - num_held(register.is_shared(), num_left);
        if let (Some(slot), 1..) = (register.slot, num_missing) {
            frame.peek(slot).leak_clones(num_missing);
        }
    }
}

/// Returns the registers that have values when a run is at kernel `next`.
pub(crate) fn produced_registers(
    code: &Code,
    next: KernelId,
    num_results: Option<usize>,
) -> impl Iterator<Item = RegisterId> {
    let arguments = code.start.arguments.iter();
    let done = &code.details[..next.index()];
    let done = done.iter().flat_map(|details| &details.results);
    let current = code.details.get(next.index());
    let current = current.into_iter().flat_map(|details| &details.results);
    let results = done.chain(current.take(num_results.unwrap_or(0)));
    arguments.chain(results).map(|result| result.register)
}
