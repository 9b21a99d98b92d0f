//! Whose the context and its ids are: the task that owns the context, the tasks whose numbers are
//! in ids, and the chains that these begin with.

use std::collections::HashMap;
use std::sync::PoisonError;

use tfrt_support::ErrorCode;

use super::DistributedContext;
use crate::cluster::TaskHandle;
use crate::creators::Creators;
use crate::error::RemoteError;
use crate::name::TaskName;
use crate::object::RemoteObjectId;

impl DistributedContext {
    /// Returns the chains that effects on the other tasks start with.
    #[must_use]
    pub fn ready_chains(&self) -> HashMap<TaskHandle, RemoteObjectId> {
        let chains = self.ready_chains.lock();
        chains.unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Enters the ready chain of another task, under the task of its device.
    ///
    /// # Errors
    /// `Can't find device: D`, or if its number is that of another task.
    pub(crate) fn add_ready_chain(&self, chain: RemoteObjectId) -> Result<(), RemoteError> {
        let task = self.devices.find(chain.device())?.task();
        // A number of another task, such as this one, would make its ids those of that task.
        let is_own = task == self.cluster.own_task();
        if is_own != (chain.prefix() == self.objects.prefix())
            || !self.creators.tell(chain.prefix(), task)
        {
            let message = format!("ready chain {chain} has the number of another task");
            return Err(RemoteError::new(ErrorCode::InvalidArgument, message));
        }
        let chains = self.ready_chains.lock();
        let mut chains = chains.unwrap_or_else(PoisonError::into_inner);
        chains.insert(task, chain);
        Ok(())
    }

    /// As [`add_ready_chain`](Self::add_ready_chain), for the answer of a task.
    ///
    /// # Errors
    /// In addition, if the device is one of another task.
    pub(crate) fn add_ready_chain_of(
        &self,
        task: TaskHandle,
        chain: RemoteObjectId,
    ) -> Result<(), RemoteError> {
        if self.devices.find(chain.device())?.task() != task {
            let (name, device) = (self.cluster.task_name(task)?, chain.device());
            let message = format!("task {name} has a ready chain on {device} of another task");
            return Err(RemoteError::new(ErrorCode::InvalidArgument, message));
        }
        self.add_ready_chain(chain)
    }

    /// Returns what is known of the creators of ids.
    pub(crate) fn creators(&self) -> &Creators {
        &self.creators
    }

    /// Says which task may have this context closed: the single client that owns it.
    pub(crate) fn may_be_closed_by(&self, owner: TaskHandle) {
        // Said once, by who creates the context.
        let _ = self.closer.set(owner);
    }

    /// Returns the task that may have this context closed: its owner, or the lead task. None if
    /// neither is known.
    pub(crate) fn closer(&self) -> Option<TaskName> {
        let owner = self.closer.get();
        let owner = owner.and_then(|owner| self.cluster.task(*owner).ok());
        let leader = || TaskName::parse(self.config.lead_task_name()).ok();
        owner.map(|owner| owner.name.clone()).or_else(leader)
    }

    /// Says what happens when the task is lost that owns the context.
    pub(crate) fn belong_to(&self, owner: TaskHandle, on_lost: impl FnOnce() + Send + 'static) {
        let mut kept = self.owner.lock().unwrap_or_else(PoisonError::into_inner);
        *kept = Some((owner, Box::new(on_lost)));
    }

    /// Returns `true` for the task that owns the context: it has sent a request.
    pub(crate) fn belongs_to(&self, task: TaskHandle) -> bool {
        let owner = self.owner.lock().unwrap_or_else(PoisonError::into_inner);
        owner.as_ref().is_some_and(|(owner, _)| *owner == task)
    }
}
