//! The order in which kernels run: the counting of operands, simulated without running anything.
//!
//! One path runs ready kernels, the one that became ready last first, and makes others ready as it
//! proceeds. If the results of every kernel are available when it returns, all of this is known in
//! advance. The same simulation decides the order of a function's code when it is lowered, and
//! computes the progress of a run when it leaves that order.

use smallvec::SmallVec;
use tfrt_support::entity::EntityId;

use super::code::{Code, Extras, KernelId, KernelResult};

/// The bit that marks the ready count of a kernel that waits for any of its operands. In such a
/// count, the lowest bit is set until the kernel starts.
pub(crate) const WAITS_FOR_ANY: u32 = 1 << 31;

/// The ready count of a kernel that waits for any of its operands and has not started.
pub(crate) const FOR_ANY: u32 = WAITS_FOR_ANY + 1;

/// Counts one operand as available. Returns `true` if the kernel is ready.
pub(crate) fn arrive(count: &mut u32) -> bool {
    match *count {
        1 => true,
        FOR_ANY => {
            *count = WAITS_FOR_ANY;
            true
        }
        WAITS_FOR_ANY => false,
        more => {
            *count = more - 1;
            false
        }
    }
}

/// The progress of a path.
///
/// A run that leaves its schedule computes it, so that of a small function needs no allocation.
#[derive(Debug)]
pub(crate) struct Simulation {
    /// The number of operands that each kernel still waits for.
    pub(crate) ready_counts: SmallVec<[u32; 16]>,
    /// The kernels that are ready; the last one runs next.
    pub(crate) ready: SmallVec<[KernelId; 8]>,
}

impl Simulation {
    /// Returns a path whose first kernels are `ready`.
    pub(crate) fn new(ready_counts: &[u32], ready: impl IntoIterator<Item = KernelId>) -> Self {
        Self {
            ready_counts: SmallVec::from_slice(ready_counts),
            ready: ready.into_iter().collect(),
        }
    }

    /// Counts an operand of each of these kernels.
    pub(crate) fn arrive(&mut self, users: impl IntoIterator<Item = KernelId>) {
        for user in users {
            if arrive(&mut self.ready_counts[user.index()]) {
                self.ready.push(user);
            }
        }
    }

    /// Returns the order of all kernels, where `count_users` counts the users of a kernel, or
    /// `None` if some of them never become ready.
    pub(crate) fn order(
        mut self,
        mut count_users: impl FnMut(&mut Self, KernelId),
    ) -> Option<Vec<KernelId>> {
        let num_kernels = self.ready_counts.len();
        let mut order = Vec::with_capacity(num_kernels);
        while let Some(kernel) = self.ready.pop() {
            order.push(kernel);
            count_users(&mut self, kernel);
        }
        (order.len() == num_kernels).then_some(order)
    }

    /// Returns a path at the start of code whose arguments are available.
    fn start(code: &Code) -> Self {
        let at_once = &code.start.at_once;
        let inline = code.kernel_ids(at_once.inline);
        let ready = at_once.outline.iter().copied().chain(inline);
        Self::new(&at_once.ready_counts, ready)
    }

    /// Counts all results of a kernel.
    fn finish(&mut self, code: &Code, kernel: KernelId) {
        for result in &code.details(kernel).results {
            self.arrive(code.kernel_ids(result.users));
        }
    }

    /// Returns a path that has run the kernels of a schedule before `next` and has handed over the
    /// first `num_results` results of `next`. If `num_results` is `None`, `next` has not begun and
    /// is still ready.
    pub(crate) fn at(code: &Code, next: usize, num_results: Option<usize>) -> Self {
        let mut path = Self::start(code);
        for index in 0..next {
            let kernel = path.ready.pop();
            debug_assert_eq!(
                kernel,
                Some(KernelId::from_index(index)),
                "kernels are in the order of their schedule"
            );
            path.finish(code, KernelId::from_index(index));
        }
        if let Some(num_results) = num_results {
            path.ready.pop();
            for result in code.details[next].results.iter().take(num_results) {
                path.arrive(code.kernel_ids(result.users));
            }
        }
        path
    }
}

/// Returns the kernels of code with an exact schedule that have one result, which has users, and
/// until that is available no other kernel can run. Constants do not count: their results are there
/// from the start. Those that the function returns do: its caller gets them without waiting.
///
/// The ready loop would run the constants that are still ready before the result is available, and
/// their users would be ready earlier than in the schedule. So the kernels behind a bottleneck have
/// the same order in both.
pub(crate) fn bottlenecks(code: &Code) -> Vec<KernelId> {
    let at_once = &code.start.at_once;
    let mut ready_counts = at_once.ready_counts.clone();
    // A constant without users may have no cell, and then it does run.
    let is_constant = |id: KernelId| {
        let is_used = |result: &KernelResult| result.users.len() > 0;
        let extras = code.kernel(id).extras;
        extras.contains(Extras::CONSTANT)
            && !extras.contains(Extras::RETURNS)
            && code.details(id).results.iter().any(is_used)
    };
    let ids = || (0..code.kernels.len()).map(KernelId::from_index);
    // The number of kernels that could run, without constants.
    let inline = code.kernel_ids(at_once.inline);
    let ready = at_once.outline.iter().copied().chain(inline);
    let mut num_ready = ready.filter(|&id| !is_constant(id)).count();
    let mut finish = |id: KernelId, num_ready: &mut usize| {
        let results = code.details(id).results.iter();
        for user in results.flat_map(|result| code.kernel_ids(result.users)) {
            *num_ready +=
                usize::from(arrive(&mut ready_counts[user.index()]) && !is_constant(user));
        }
    };
    for constant in ids().filter(|&id| is_constant(id)) {
        finish(constant, &mut num_ready);
    }
    let others: Vec<KernelId> = ids().filter(|&id| !is_constant(id)).collect();
    let num_same = {
        let order = order_after_constants(code, is_constant);
        let pairs = others.iter().rev().zip(order.iter().rev());
        pairs.take_while(|(a, b)| a == b).count()
    };
    let mut found = Vec::new();
    for (index, &kernel) in others.iter().enumerate() {
        num_ready -= 1;
        let num_behind = others.len() - index - 1;
        if num_ready == 0
            && num_behind <= num_same
            && let [result] = &*code.details(kernel).results
            && result.users.len() > 0
        {
            found.push(kernel);
        }
        finish(kernel, &mut num_ready);
    }
    found
}

/// Returns the order of the other kernels if all constants run first.
fn order_after_constants(code: &Code, is_constant: impl Fn(KernelId) -> bool) -> Vec<KernelId> {
    let mut path = Simulation::start(code);
    path.ready.retain(|id| !is_constant(*id));
    let ids = (0..code.kernels.len()).map(KernelId::from_index);
    ids.filter(|&id| is_constant(id))
        .for_each(|constant| path.finish(code, constant));
    let mut order = Vec::with_capacity(code.kernels.len());
    while let Some(kernel) = path.ready.pop() {
        order.push(kernel);
        path.finish(code, kernel);
    }
    order
}
