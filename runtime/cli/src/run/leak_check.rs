//! The check for values that a function leaves alive.
//!
//! When its results are available and the work queue is empty, another thread, such as that of the
//! timers or one started by a kernel, may still process the value that it made available last. It
//! holds references until all waiters, including the driver, have run. So an apparent leak is
//! checked again after these threads had time to finish, and when the queue is empty: a synchronous
//! function does not wait for the tasks that its kernels add.

use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use tfrt_host::HostContext;

use crate::failure::Failure;

/// The time for detached threads to drop values. Only a leak takes that long.
const PATIENCE: Duration = Duration::from_secs(20);

/// The number of values alive before a function ran.
#[derive(Debug)]
pub(super) struct LeakCheck {
    num_before: usize,
}

impl LeakCheck {
    /// Starts before the function does.
    pub(super) fn start() -> Self {
        Self {
            num_before: tfrt_async::live_values(),
        }
    }

    /// Ends when everything that the function made is dropped.
    pub(super) fn finish(self, function: &str, host: &HostContext) -> Result<(), Failure> {
        let before = self.num_before;
        if tfrt_async::live_values() == before {
            return Ok(());
        }
        // Nobody waits for what a synchronous function has added to the queue. On a worker, which
        // is busy with this, a leak stays one.
        let _ = host.quiesce();
        wait_until(host, || tfrt_async::live_values() == before);
        match tfrt_async::live_values() {
            after if after == before => Ok(()),
            after => Err(Failure::new(format!(
                "Evaluation of function '{function}' leaked {} async values (before: {before}, \
                 after: {after})!",
                after.abs_diff(before)
            ))),
        }
    }
}

/// Waits for other threads until `is_settled`, or until they had time enough.
pub(super) fn wait_until(host: &HostContext, is_settled: impl Fn() -> bool) {
    if is_settled() {
        return;
    }
    wait_for_timer(host);
    let start = Instant::now();
    while !is_settled() && start.elapsed() < PATIENCE {
        thread::yield_now();
    }
}

/// Waits for the callback of a timer that is under way, if there is one: timers run one after
/// another.
fn wait_for_timer(host: &HostContext) {
    let (done, is_done) = mpsc::channel::<()>();
    host.timers()
        .schedule_at(SystemTime::UNIX_EPOCH, move || drop(done));
    // Nothing is ever sent, and the sender goes away with the callback.
    let _ = is_done.recv_timeout(PATIENCE);
}
