//! Waiting for results that may never become available.
//!
//! A kernel that keeps a promise without fulfilling it leaves its result unavailable forever. If no
//! part of the process can make the value available, this is detected immediately: on the queue
//! `s`, when no task is pending and there is no other thread. Otherwise the user must specify a
//! time limit.

use std::sync::Arc;
use std::time::Duration;

use tfrt_async::AnyRef;
use tfrt_host::tracing::{self, TracingLevel};
use tfrt_host::{ExecutionContext, FunctionRef};
use tfrt_queue::{ConcurrentWorkQueue, Task, WouldDeadlock};
use tfrt_support::{Error, ErrorCode};

use crate::failure::write_message;

/// Waits for the results of a function. Whether they are there; if that is in vain, or takes too
/// long, the user is told.
pub(super) fn await_results(
    program: &str,
    function: &FunctionRef,
    results: &[AnyRef],
    timeout: Option<Duration>,
    ctx: &ExecutionContext,
) -> Result<bool, WouldDeadlock> {
    let late: Vec<AnyRef> = results
        .iter()
        .filter(|result| !result.is_available())
        .cloned()
        .collect();
    // What results become that are not waited for any more.
    let given_up = |why: String| Error::new(why).with_code(ErrorCode::DeadlineExceeded);
    let stalled = given_up("no remaining task can make it available".to_owned());
    let too_late = given_up(format!("gave up after {:?}", timeout.unwrap_or_default()));
    let timer = timeout.filter(|_| !late.is_empty()).map(|timeout| {
        let (late, error) = (late.clone(), too_late.clone());
        let timers = ctx.host().timers();
        timers.schedule_after(timeout, move || give_up(&late, &error))
    });
    // A trace shows the tasks of the program alone.
    if !late.is_empty() && num_threads() == Some(1) && !tracing::is_active(TracingLevel::Default) {
        let probe = Probe {
            queue: Arc::clone(ctx.host().queue()),
            late,
            error: stalled.clone(),
        };
        probe.enqueue();
    }
    ctx.host().await_available(results)?;
    if let Some(timer) = timer {
        timer.cancel();
    }
    let mut is_there = true;
    for ((position, value), ty) in results.iter().enumerate().zip(function.result_types()) {
        if let Some(error) = value.error_if_present()
            && (error.is_same(&stalled) || error.is_same(&too_late))
        {
            is_there = false;
            write_message(&format!(
                "{program}: '{}' is waiting for result {position} of type {ty}: {}",
                function.name(),
                error.message()
            ));
        }
    }
    if !is_there {
        // What the function still holds is not waited for, nor a queue that a kernel may keep busy.
        std::mem::forget(ctx.clone());
    }
    Ok(is_there)
}

fn give_up(late: &[AnyRef], error: &Error) {
    for value in late {
        value.try_set_error(error.clone());
    }
}

/// A task that looks whether it is the last one, on a queue that has no threads.
struct Probe {
    queue: Arc<dyn ConcurrentWorkQueue>,
    late: Vec<AnyRef>,
    error: Error,
}

impl Probe {
    fn enqueue(self) {
        let queue = Arc::clone(&self.queue);
        queue.add_task(Task::new(move || self.run()));
    }

    fn run(self) {
        if self.late.iter().all(AnyRef::is_available) {
            return;
        }
        // Threads are counted first: one that ends in between has added its tasks by then. With
        // another thread, a timer's for instance, the result may come from there.
        match (num_threads(), self.queue.num_pending_tasks()) {
            (Some(1), Some(0)) => give_up(&self.late, &self.error),
            (Some(1), Some(_)) => self.enqueue(),
            _ => {}
        }
    }
}

/// Returns the number of threads of the process, if the system reports it.
fn num_threads() -> Option<usize> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let threads = status
        .lines()
        .find_map(|line| line.strip_prefix("Threads:"))?;
    threads.trim().parse().ok()
}
