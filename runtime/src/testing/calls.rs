//! Records which kernels a run calls, and in which order.
//!
//! One tracing sink listens for all recorded runs of the process. The request of a kernel
//! identifies its run.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tfrt_host::tracing::{self, Activity, TracingLevel, TracingSink};

/// The calls of one run; a datum of its request.
#[derive(Clone, Debug, Default)]
pub(super) struct CallLog(Arc<Mutex<Vec<&'static str>>>);

impl CallLog {
    /// The names of the kernels that were called, in order of the beginnings of the calls.
    pub(super) fn names(&self) -> Vec<&'static str> {
        lock(&self.0).clone()
    }
}

/// As long as it lives, calls are recorded.
#[derive(Debug)]
pub(super) struct Recording(());

static NUM_RECORDINGS: Mutex<usize> = Mutex::new(0);

impl Recording {
    pub(super) fn start() -> Self {
        let mut num_recordings = lock(&NUM_RECORDINGS);
        if *num_recordings == 0 {
            tracing::set_sink(Some(Arc::new(Listener)));
            tracing::enable(TracingLevel::Debug);
        }
        *num_recordings += 1;
        Self(())
    }
}

impl Drop for Recording {
    fn drop(&mut self) {
        let mut num_recordings = lock(&NUM_RECORDINGS);
        *num_recordings -= 1;
        if *num_recordings == 0 {
            tracing::disable();
            tracing::set_sink(None);
        }
    }
}

#[derive(Debug)]
struct Listener;

impl TracingSink for Listener {
    fn begin(&self, activity: Activity<'_>) {
        if let Some(run) = activity.kernel
            && let Some(log) = run.ctx.request().context_data::<CallLog>()
        {
            lock(&log.0).push(run.name);
        }
    }

    fn end(&self) {}

    fn event(&self, _name: &str) {}
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // Nothing that runs under these locks panics half way.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
