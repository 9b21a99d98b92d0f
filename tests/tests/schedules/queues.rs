//! Queues under which functions leave their order.

use std::cell::Cell;
use std::sync::{Mutex, PoisonError};

use tfrt::prelude::*;
use tfrt::queue::{ConcurrentWorkQueue, Task, WouldDeadlock};

/// Runs tasks at once on the thread that adds them, or the last one first on the threads that wait.
#[derive(Debug)]
pub(crate) enum OtherQueue {
    AtOnce,
    LastFirst(Mutex<Vec<Task>>),
}

impl OtherQueue {
    /// Runs all tasks, unless one of them asks for it.
    fn run_all(&self) -> Result<(), WouldDeadlock> {
        thread_local! {
            static IS_RUNNING: Cell<bool> = const { Cell::new(false) };
        }
        let Self::LastFirst(tasks) = self else {
            return Ok(());
        };
        if IS_RUNNING.replace(true) {
            return Err(WouldDeadlock);
        }
        let next = || tasks.lock().unwrap_or_else(PoisonError::into_inner).pop();
        while let Some(task) = next() {
            task.run_and_survive();
        }
        IS_RUNNING.set(false);
        Ok(())
    }
}

impl ConcurrentWorkQueue for OtherQueue {
    fn name(&self) -> String {
        "other".into()
    }

    fn add_task(&self, task: Task) {
        match self {
            Self::AtOnce => task.run_and_survive(),
            Self::LastFirst(tasks) => tasks
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .push(task),
        }
    }

    fn add_blocking_task(&self, task: Task, _allow_queuing: bool) -> Result<(), Task> {
        self.add_task(task);
        Ok(())
    }

    fn await_values(&self, values: &[AnyRef]) -> Result<(), WouldDeadlock> {
        self.run_all()?;
        assert!(values.iter().all(AnyRef::is_available), "no task is left");
        Ok(())
    }

    fn quiesce(&self) -> Result<(), WouldDeadlock> {
        self.run_all()
    }

    fn parallelism_level(&self) -> usize {
        1
    }

    fn is_in_worker_thread(&self) -> bool {
        false
    }
}
