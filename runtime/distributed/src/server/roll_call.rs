//! The tasks that the lead task of an initialization waits for.
//!
//! The log names one that is missing and counts the others, at most once a second, and only when
//! the number has changed.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tfrt_host::{HostContext, Timer, log};
use tfrt_support::ErrorCode;

use crate::cluster::{TaskHandle, TaskInfo};
use crate::error::{RemoteError, RemoteErrors};
use crate::last_reference::drop_on_queue;

/// The time between two looks at what is missing.
pub(super) const REPORT_INTERVAL: Duration = Duration::from_secs(1);

/// What the lead task waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    /// All tasks answer.
    Presence,
    /// The programs of all tasks take part.
    Participation,
}

/// The tasks that have not done yet what the lead task waits for. Reports until it is dropped.
pub(super) struct RollCall {
    host: Arc<HostContext>,
    stage: Stage,
    num_tasks: usize,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    missing: Vec<TaskInfo>,
    /// Why the last request to a task was not answered.
    causes: HashMap<TaskHandle, String>,
    /// How many were missing when that was reported last.
    num_reported: Option<usize>,
    timer: Option<Timer>,
}

impl RollCall {
    /// Starts to wait for some of `num_tasks` tasks.
    pub(super) fn start(
        host: &Arc<HostContext>,
        stage: Stage,
        num_tasks: usize,
        missing: &[TaskInfo],
    ) -> Arc<Self> {
        let this = Arc::new(Self {
            host: Arc::clone(host),
            stage,
            num_tasks,
            state: Mutex::new(State {
                missing: missing.to_vec(),
                ..State::default()
            }),
        });
        this.schedule();
        this
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn schedule(self: &Arc<Self>) {
        let weak = Arc::downgrade(self);
        let report = move || {
            if let Some(this) = weak.upgrade() {
                if let Some(text) = this.report() {
                    log::info!("{text}");
                }
                this.schedule();
                let queue = Arc::clone(this.host.queue());
                drop_on_queue(&queue, this);
            }
        };
        let mut state = self.lock();
        if !state.missing.is_empty() {
            let timers = self.host.timers();
            state.timer = Some(timers.schedule_after(REPORT_INTERVAL, report));
        }
    }

    /// Records that a task is not missing any more.
    pub(super) fn enter(&self, task: TaskHandle) {
        self.lock().missing.retain(|other| other.handle != task);
    }

    /// Records why a request to a task was not answered.
    pub(super) fn note(&self, task: TaskHandle, errors: &RemoteErrors) {
        self.lock().causes.insert(task, errors.to_string());
    }

    /// Returns the text of a report, unless it would be that of the last one.
    fn report(&self) -> Option<String> {
        let mut state = self.lock();
        let num_missing = state.missing.len();
        // Tasks are only ever removed: as many as before are the same.
        if state.num_reported.replace(num_missing) == Some(num_missing) {
            return None;
        }
        let TaskInfo { name, address, .. } = state.missing.first()?;
        let num_present = self.num_tasks - num_missing;
        let others = match num_missing {
            1 => String::new(),
            2 => " and another one".to_owned(),
            _ => format!(" and {} others", num_missing - 1),
        };
        let (do_what, whom) = match self.stage {
            Stage::Presence => ("are there", ""),
            Stage::Participation => ("take part", "the program of "),
        };
        let num_tasks = self.num_tasks;
        Some(format!(
            "{num_present} of {num_tasks} tasks {do_what}; waiting for {whom}{name} at \
             {address}{others}"
        ))
    }

    /// Returns the errors of the request to a task, in words that say what was waited for if time
    /// is up.
    pub(super) fn explain(&self, task: &TaskInfo, errors: RemoteErrors) -> RemoteErrors {
        if errors.code() != ErrorCode::RpcDeadlineExceeded {
            return errors;
        }
        let TaskInfo { name, address, .. } = task;
        let cause = self.lock().causes.remove(&task.handle);
        let why = cause.unwrap_or_else(|| {
            let why = match self.stage {
                Stage::Presence => "it does not answer",
                Stage::Participation => "it answers, but its program does not take part",
            };
            why.to_owned()
        });
        let message = format!("waited in vain for {name} at {address}: {why}");
        RemoteError::new(ErrorCode::RpcDeadlineExceeded, message).into()
    }
}

impl Drop for RollCall {
    fn drop(&mut self) {
        let state = self.state.get_mut().unwrap_or_else(PoisonError::into_inner);
        if let Some(timer) = state.timer.take() {
            timer.cancel();
        }
    }
}

impl fmt::Debug for RollCall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RollCall")
            .field("stage", &self.stage)
            .field("state", &self.state)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cluster::ClusterInfo;
    use crate::message::DistributedContextConfiguration;

    #[test]
    fn a_report_names_a_missing_task_and_comes_once() {
        let host = crate::testing::host("s");
        let addresses = ["a:1", "b:1", "c:1", "d:1"].map(str::to_owned);
        let configs = DistributedContextConfiguration::local_cluster(&addresses);
        let cluster = ClusterInfo::new(&configs[0]).unwrap();
        let tasks = cluster.tasks();
        let reported = |stage, present: &[usize]| {
            let call = RollCall::start(&host, stage, tasks.len(), tasks);
            present
                .iter()
                .for_each(|task| call.enter(tasks[*task].handle));
            let report = call.report();
            assert_eq!(call.report(), None);
            report
        };
        let missing = "1 of 4 tasks are there; waiting for /job:worker/task:1 at b:1 and 2 others";
        assert_eq!(reported(Stage::Presence, &[0]).as_deref(), Some(missing));
        let missing =
            "2 of 4 tasks are there; waiting for /job:worker/task:2 at c:1 and another one";
        assert_eq!(reported(Stage::Presence, &[0, 1]).as_deref(), Some(missing));
        let missing =
            "3 of 4 tasks take part; waiting for the program of /job:worker/task:2 at c:1";
        let found = reported(Stage::Participation, &[3, 0, 1]);
        assert_eq!(found.as_deref(), Some(missing));
        assert_eq!(reported(Stage::Presence, &[0, 1, 2, 3]), None);
    }
}
