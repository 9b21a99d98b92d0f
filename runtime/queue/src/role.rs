//! The queues for which this thread runs tasks.
//!
//! A task may create another queue and wait for it, and so run that queue's tasks on its own
//! thread. The thread then works for both queues, so roles nest: the innermost one is kept in a
//! cell, the outer ones in a list that is rarely needed.

use std::cell::{Cell, RefCell};
use std::mem::ManuallyDrop;

use crate::sync::const_thread_local;

/// The role of a thread for a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Role {
    /// It runs blocking tasks.
    Blocking,
    /// It runs compute tasks.
    Compute,
}

/// Identifies a queue: the address of an object that lives as long as any thread has a role for the
/// queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct QueueId(usize);

impl QueueId {
    pub(crate) fn of<T>(queue: &T) -> Self {
        Self(std::ptr::from_ref(queue).addr())
    }
}

type OnQueue = (QueueId, Role);

const_thread_local!(static INNERMOST: Cell<Option<OnQueue>> = Cell::new(None));

// Without a destructor, so that queues can be used while the thread's other locals are dropped. The
// list holds no memory unless roles nest.
const_thread_local!(
    static OUTER: ManuallyDrop<RefCell<Vec<OnQueue>>> = ManuallyDrop::new(RefCell::new(Vec::new()))
);

/// Gives this thread a role until the guard is dropped.
#[inline]
pub(crate) fn enter(queue: QueueId, role: Role) -> RoleGuard {
    let outer = INNERMOST.with(|innermost| innermost.replace(Some((queue, role))));
    if let Some(outer) = outer {
        OUTER.with(|list| list.borrow_mut().push(outer));
    }
    RoleGuard { outer }
}

/// Returns the role of this thread for `queue`. If it has both roles, returns `Compute`.
pub(crate) fn current(queue: QueueId) -> Option<Role> {
    let (innermost_queue, role) = INNERMOST.with(Cell::get)?;
    let innermost = (innermost_queue == queue).then_some(role);
    let outer = OUTER.with(|list| {
        let list = list.borrow();
        let roles = list.iter().filter(|(of, _)| *of == queue);
        roles.map(|(_, role)| *role).max()
    });
    innermost.max(outer)
}

/// Returns `true` if this thread runs tasks for any queue.
#[inline]
pub(crate) fn has_any() -> bool {
    INNERMOST.with(Cell::get).is_some()
}

/// Returns how many roles of this thread are nested in each other.
pub(crate) fn depth() -> usize {
    let innermost = usize::from(has_any());
    innermost + OUTER.with(|list| list.borrow().len())
}

/// Returns the queues for which this thread runs tasks.
pub(crate) fn queues() -> Vec<QueueId> {
    let Some((innermost, _)) = INNERMOST.with(Cell::get) else {
        return Vec::new();
    };
    let mut queues = vec![innermost];
    OUTER.with(|list| queues.extend(list.borrow().iter().map(|(queue, _)| *queue)));
    queues
}

/// Ends a role when it is dropped. Guards are dropped in the reverse order of their creation.
#[derive(Debug)]
#[must_use = "the role ends with the guard"]
pub(crate) struct RoleGuard {
    outer: Option<OnQueue>,
}

impl Drop for RoleGuard {
    fn drop(&mut self) {
        INNERMOST.with(|innermost| innermost.set(self.outer));
        if self.outer.is_some() {
            OUTER.with(|list| {
                let mut list = list.borrow_mut();
                list.pop();
                if list.is_empty() {
                    *list = Vec::new();
                }
            });
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn a_thread_keeps_its_outer_roles() {
        let queues = [1_u8, 2, 3];
        let [a, b, c] = [0, 1, 2].map(|index| QueueId::of(&queues[index]));
        let roles = || [a, b, c].map(current);
        let outer = enter(a, Role::Blocking);
        {
            let _middle = enter(b, Role::Compute);
            let _inner = enter(a, Role::Compute);
            let _innermost = enter(b, Role::Blocking);
            assert_eq!(roles(), [Some(Role::Compute), Some(Role::Compute), None]);
            assert_eq!(depth(), 4);
        }
        assert_eq!(roles(), [Some(Role::Blocking), None, None]);
        drop(outer);
        assert_eq!(roles(), [None; 3]);
        assert_eq!(depth(), 0);
        OUTER.with(|list| assert_eq!(list.borrow().capacity(), 0));
    }
}
