//! The order of effects on other tasks.
//!
//! A chain of another task is an object there. A remote function takes one and returns the next.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use tfrt_async::{Immutable, Value};
use tfrt_support::ErrorCode;

use crate::cluster::TaskHandle;
use crate::context::DistributedContext;
use crate::error::RemoteError;
use crate::object::RemoteObjectId;

/// For each task, the chain after all effects sent there so far. Clones share it.
#[derive(Clone)]
pub struct RemoteChains(Arc<Mutex<HashMap<TaskHandle, RemoteObjectId>>>);

impl RemoteChains {
    /// Returns the ready chains of all tasks.
    #[must_use]
    pub fn new(context: &DistributedContext) -> Self {
        let mut chains = context.ready_chains();
        let own_task = context.cluster().own_task();
        chains.insert(own_task, context.own_ready_chain().clone());
        Self(Arc::new(Mutex::new(chains)))
    }

    /// Returns the chain of a task.
    ///
    /// # Errors
    /// `No remote chain for task task_handle[V].`
    pub fn get(&self, task: TaskHandle) -> Result<RemoteObjectId, RemoteError> {
        let chains = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        chains.get(&task).cloned().ok_or_else(|| no_chain(task))
    }

    /// Replaces the chain of a task.
    pub fn set(&self, task: TaskHandle, chain: RemoteObjectId) {
        let mut chains = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let before = chains.insert(task, chain);
        drop(chains);
        // Without the lock: the last copy of an id sends a request.
        drop(before);
    }

    /// Replaces the chain of a task and returns the one before, in one step.
    ///
    /// # Errors
    /// As [`get`](Self::get).
    pub fn replace(
        &self,
        task: TaskHandle,
        chain: RemoteObjectId,
    ) -> Result<RemoteObjectId, RemoteError> {
        let mut chains = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let current = chains.get_mut(&task).ok_or_else(|| no_chain(task))?;
        Ok(std::mem::replace(current, chain))
    }
}

#[cold]
fn no_chain(task: TaskHandle) -> RemoteError {
    let message = format!("No remote chain for task {task}.");
    RemoteError::new(ErrorCode::NotFound, message)
}

impl fmt::Debug for RemoteChains {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let chains = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        f.debug_map().entries(chains.iter()).finish()
    }
}

impl Value for RemoteChains {
    const MLIR_TYPE: &'static str = "!tfrt_dist.remote_chain_manager";
}

impl Immutable for RemoteChains {}
