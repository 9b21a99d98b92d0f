//! The injector under loom: every access is a point of interleaving, and acquires what the accesses
//! before it released.
//!
//! `crossbeam_deque` does not support loom, but the queue relies on the order that its accesses
//! establish.

use crossbeam_deque::{Steal, Worker};
use loom::sync::atomic::{AtomicUsize, Ordering};

#[derive(Debug)]
pub(crate) struct Injector<T> {
    tasks: crossbeam_deque::Injector<T>,
    num_accesses: AtomicUsize,
}

impl<T> Injector<T> {
    pub(crate) fn new() -> Self {
        Self {
            tasks: crossbeam_deque::Injector::new(),
            num_accesses: AtomicUsize::new(0),
        }
    }

    fn access(&self) -> &crossbeam_deque::Injector<T> {
        // A read-modify-write reads the latest value. Loom may switch threads before it, but not
        // between it and the access.
        self.num_accesses.fetch_add(1, Ordering::AcqRel);
        &self.tasks
    }

    pub(crate) fn push(&self, task: T) {
        self.access().push(task);
    }

    pub(crate) fn steal(&self) -> Steal<T> {
        self.access().steal()
    }

    pub(crate) fn steal_batch_and_pop(&self, deque: &Worker<T>) -> Steal<T> {
        self.access().steal_batch_and_pop(deque)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.access().is_empty()
    }

    pub(crate) fn len(&self) -> usize {
        self.access().len()
    }
}
