//! Blocking a thread that is not a worker until an event has happened.

use std::sync::Arc;

use tfrt_async::{AnyRef, run_when_ready};

use crate::sync::{Condvar, Mutex, lock, wait};

/// Blocks this thread until all of `values` are available.
pub(crate) fn wait_for(values: &[AnyRef]) {
    let latch = Arc::new(Latch {
        is_set: Mutex::new(false),
        changed: Condvar::new(),
    });
    let setter = Arc::clone(&latch);
    run_when_ready(values, move || setter.set());
    latch.wait();
}

struct Latch {
    is_set: Mutex<bool>,
    changed: Condvar,
}

impl Latch {
    fn set(&self) {
        *lock(&self.is_set) = true;
        self.changed.notify_all();
    }

    fn wait(&self) {
        let mut is_set = lock(&self.is_set);
        while !*is_set {
            is_set = wait(&self.changed, is_set);
        }
    }
}
