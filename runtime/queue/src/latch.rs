//! Blocking a thread that is no worker until something has happened once.

use std::sync::{Arc, Condvar, Mutex, PoisonError};

use tfrt_async::{AnyRef, run_when_ready};

/// Blocks this thread until all of `values` are available.
pub(crate) fn wait_for(values: &[AnyRef]) {
    let latch = Arc::new(Latch::default());
    let setter = Arc::clone(&latch);
    run_when_ready(values, move || setter.set());
    latch.wait();
}

#[derive(Default)]
struct Latch {
    is_set: Mutex<bool>,
    changed: Condvar,
}

impl Latch {
    fn set(&self) {
        *self.is_set.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.changed.notify_all();
    }

    fn wait(&self) {
        let is_set = self.is_set.lock().unwrap_or_else(PoisonError::into_inner);
        drop(self.changed.wait_while(is_set, |is_set| !*is_set));
    }
}
