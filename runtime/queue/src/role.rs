//! What this thread is to which queue.

use std::cell::Cell;

/// What a thread does for a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// It runs compute tasks.
    Compute,
    /// It runs blocking tasks.
    Blocking,
}

/// Tells queues apart. The address of something that lives as long as any thread has a role for the queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct QueueId(usize);

impl QueueId {
    pub(crate) fn of<T>(queue: &T) -> Self {
        Self(std::ptr::from_ref(queue).addr())
    }
}

thread_local! {
    static CURRENT: Cell<Option<(QueueId, Role)>> = const { Cell::new(None) };
}

/// Gives this thread a role until the guard goes.
pub(crate) fn enter(queue: QueueId, role: Role) -> RoleGuard {
    RoleGuard {
        outer: CURRENT.replace(Some((queue, role))),
    }
}

/// The role of this thread for `queue`.
pub(crate) fn current(queue: QueueId) -> Option<Role> {
    CURRENT
        .get()
        .filter(|(of, _)| *of == queue)
        .map(|(_, role)| role)
}

/// Gives back the role that the thread had before.
#[derive(Debug)]
#[must_use = "the role ends with the guard"]
pub(crate) struct RoleGuard {
    outer: Option<(QueueId, Role)>,
}

impl Drop for RoleGuard {
    fn drop(&mut self) {
        CURRENT.set(self.outer);
    }
}
