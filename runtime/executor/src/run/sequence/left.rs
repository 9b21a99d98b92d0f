//! Why and where a run leaves its schedule, and which registers have values at that point.

use tfrt_support::Error;
use tfrt_support::entity::EntityId;

use crate::lower::code::{Code, KernelId, RegisterId};
use crate::run::path::{Lists, Path};

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
