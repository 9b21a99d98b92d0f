//! Objects on a task that other tasks refer to.
//!
//! ```text
//!   nothing ──get──► placeholder ──set──► value          get: a consumer may come before the producer
//!      └──────────────set────────────────► value         delete: the entry goes, holders of the value keep it
//! ```
//!
//! The lock is held to look entries up, and never while waiters run.

use std::collections::HashMap;
use std::collections::hash_map::Entry as MapEntry;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tfrt_async::{AnyRef, Immutable, IndirectPromise, Value};
use tfrt_support::{Error, ErrorCode};

use crate::context::DistributedContext;
use crate::error::{RemoteError, RemoteErrors};
use crate::health::Watch;
use crate::lease::Lease;

/// The id of an object: the creator of the id, its number there, and the device of the object. Two
/// ids are equal if the first two are.
///
/// ```
/// use tfrt_distributed::RemoteObjectId;
///
/// let id = RemoteObjectId::new(7, 1, "/job:worker/task:0/device:CPU:0");
/// assert_eq!(id.to_string(), "RemoteObjectId{prefix_id: 7 local_id: 1 device: /job:worker/task:0/device:CPU:0}");
/// assert_eq!(id, RemoteObjectId::new(7, 1, "elsewhere"));
/// ```
#[derive(Clone, Debug)]
pub struct RemoteObjectId {
    prefix: u64,
    local: u64,
    device: Arc<str>,
    /// Deletes the object when the last copy of the id is dropped.
    lease: Option<Arc<Lease>>,
    /// The producer of the object, as the creator of the id has said.
    told_producer: Option<Arc<str>>,
}

impl RemoteObjectId {
    /// Returns an id that no object has.
    #[must_use]
    pub fn none() -> Self {
        Self::new(0, 0, "")
    }

    /// Creates an id.
    #[must_use]
    pub fn new(prefix: u64, local: u64, device: impl Into<Arc<str>>) -> Self {
        Self {
            prefix,
            local,
            device: device.into(),
            lease: None,
            told_producer: None,
        }
    }

    /// Returns the same id, whose object is deleted with the last copy.
    pub(crate) fn with_lease(self, lease: Lease) -> Self {
        Self {
            lease: Some(Arc::new(lease)),
            ..self
        }
    }

    /// Returns the same id, of an object that a task with this name produces; none if it is empty.
    pub(crate) fn produced_by(self, task: &str) -> Self {
        Self {
            told_producer: (!task.is_empty()).then(|| Arc::from(task)),
            ..self
        }
    }

    /// Returns the name of the task that produces the object, if that is known and not the one it
    /// lives on.
    pub(crate) fn producer(&self) -> Option<&str> {
        let own = self.lease.as_ref().and_then(|lease| lease.producer());
        own.or(self.told_producer.as_ref()).map(|task| &**task)
    }

    /// Says which task produces the object, on which it does not live, for all copies of the id.
    /// Only the creator of the id needs to know: it tells the others.
    pub(crate) fn set_producer(&self, task: &str) {
        if let Some(lease) = &self.lease {
            lease.set_producer(task);
        }
    }

    /// Returns the context that created the id, if this task did.
    pub(crate) fn context(&self) -> Option<Arc<DistributedContext>> {
        self.lease.as_ref()?.context()
    }

    /// Returns `true` if this task created the id, in a context that may be gone.
    pub(crate) fn is_own(&self) -> bool {
        self.lease.is_some()
    }

    /// Returns what two ids of one object have in common.
    const fn key(&self) -> (u64, u64) {
        (self.prefix, self.local)
    }

    /// Returns the creator of the id.
    #[must_use]
    pub fn prefix(&self) -> u64 {
        self.prefix
    }

    /// Returns its number there.
    #[must_use]
    pub fn local(&self) -> u64 {
        self.local
    }

    /// Returns the device that the object lives on.
    #[must_use]
    pub fn device(&self) -> &str {
        &self.device
    }
}

impl PartialEq for RemoteObjectId {
    fn eq(&self, other: &Self) -> bool {
        self.key() == other.key()
    }
}

impl Eq for RemoteObjectId {}

impl Hash for RemoteObjectId {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.key().hash(state);
    }
}

impl fmt::Display for RemoteObjectId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (prefix, local, device) = (self.prefix, self.local, &self.device);
        write!(
            f,
            "RemoteObjectId{{prefix_id: {prefix} local_id: {local} device: {device}}}"
        )
    }
}

impl Value for RemoteObjectId {
    const MLIR_TYPE: &'static str = "!tfrt_dist.remote_object_id";
}

impl Immutable for RemoteObjectId {}

/// The objects of one context on one task.
///
/// ```
/// use tfrt_async::AnyRef;
/// use tfrt_distributed::RemoteObjects;
///
/// let objects = RemoteObjects::new(7);
/// let id = objects.allocate("CPU:0");
/// let early = objects.get(&id);
/// objects.set(&id, AnyRef::available(42_i32))?;
/// assert_eq!(early.get::<i32>(), Some(&42));
/// assert_eq!(objects.set(&id, early.clone()).unwrap_err().message, "Remote object ID was set twice.");
/// # Ok::<(), tfrt_distributed::RemoteError>(())
/// ```
#[derive(Debug)]
pub struct RemoteObjects {
    prefix: u64,
    next_local: AtomicU64,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// By the parts of their ids that identify objects: an id may have a lease, which ends with its
    /// last copy.
    entries: HashMap<(u64, u64), ObjectSlot>,
    /// The reason why there are no objects any more.
    closed: Option<Error>,
}

#[derive(Debug)]
struct ObjectSlot {
    value: AnyRef,
    /// The right to set the value of a placeholder.
    promise: Option<IndirectPromise>,
    /// End the wait for the producer of a placeholder.
    watches: Vec<Watch>,
}

impl RemoteObjects {
    /// Creates a table without objects; ids created here have this prefix.
    #[must_use]
    pub fn new(prefix: u64) -> Self {
        Self {
            prefix,
            next_local: AtomicU64::new(1),
            state: Mutex::default(),
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the number that all ids have which are created here.
    pub(crate) fn prefix(&self) -> u64 {
        self.prefix
    }

    /// Creates a new id, of an object on `device`.
    #[must_use]
    pub fn allocate(&self, device: impl Into<Arc<str>>) -> RemoteObjectId {
        // Relaxed: only uniqueness counts.
        let local = self.next_local.fetch_add(1, Ordering::Relaxed);
        RemoteObjectId::new(self.prefix, local, device)
    }

    /// Returns the value of an object; a placeholder if there is none yet.
    #[must_use]
    pub fn get(&self, id: &RemoteObjectId) -> AnyRef {
        let mut state = self.lock();
        if let Some(error) = &state.closed {
            return AnyRef::error(error.clone());
        }
        let entry = state.entries.entry(id.key()).or_insert_with(|| {
            let (promise, value) = AnyRef::indirect();
            ObjectSlot {
                value,
                promise: Some(promise),
                watches: Vec::new(),
            }
        });
        entry.value.clone()
    }

    /// Sets the value of an object, which may become available later.
    ///
    /// # Errors
    /// `Remote object ID was set twice.`
    pub fn set(&self, id: &RemoteObjectId, value: AnyRef) -> Result<(), RemoteError> {
        let mut state = self.lock();
        if state.closed.is_some() {
            // Nobody can ask for it any more.
            return Ok(());
        }
        let (promise, watches) = match state.entries.entry(id.key()) {
            MapEntry::Vacant(vacant) => {
                vacant.insert(ObjectSlot {
                    value,
                    promise: None,
                    watches: Vec::new(),
                });
                return Ok(());
            }
            MapEntry::Occupied(mut occupied) => {
                let slot = occupied.get_mut();
                // Dropped without the lock.
                (slot.promise.take(), std::mem::take(&mut slot.watches))
            }
        };
        drop(state);
        drop(watches);
        let promise = promise.ok_or_else(|| {
            let message = "Remote object ID was set twice.";
            RemoteError::new(ErrorCode::AlreadyExists, message)
        })?;
        promise.forward_to(value);
        Ok(())
    }

    /// Returns `true` for a placeholder whose producer nobody watches.
    pub(crate) fn is_unwatched(&self, id: &RemoteObjectId) -> bool {
        let state = self.lock();
        let slot = state.entries.get(&id.key());
        slot.is_some_and(|slot| slot.promise.is_some() && slot.watches.is_empty())
    }

    /// Keeps the watches over the producer of an object as long as that is a placeholder.
    pub(crate) fn keep_watches(&self, id: &RemoteObjectId, watches: Vec<Watch>) {
        let mut state = self.lock();
        let slot = state.entries.get_mut(&id.key());
        if let Some(slot) = slot.filter(|slot| slot.promise.is_some()) {
            slot.watches.extend(watches);
        } else {
            drop(state);
            drop(watches);
        }
    }

    /// Makes a placeholder an error; what is set already stays.
    pub(crate) fn fail(&self, id: &RemoteObjectId, error: &Error) {
        let mut state = self.lock();
        let Some(slot) = state.entries.get_mut(&id.key()) else {
            return;
        };
        let (promise, watches) = (slot.promise.take(), std::mem::take(&mut slot.watches));
        drop(state);
        // Without the lock.
        drop(watches);
        if let Some(promise) = promise {
            promise.set_error(error.clone());
        }
    }

    /// Removes objects. Values with other references stay alive; placeholders become errors.
    ///
    /// # Errors
    /// `Could not find object: ID` for each unknown object. The others are still removed.
    pub fn delete<'a>(
        &self,
        ids: impl IntoIterator<Item = &'a RemoteObjectId>,
    ) -> Result<(), RemoteErrors> {
        let mut errors: Option<RemoteErrors> = None;
        // Dropped without the lock: values may be the last of something.
        let mut removed = Vec::new();
        let mut state = self.lock();
        for id in ids {
            match state.entries.remove(&id.key()) {
                Some(entry) => removed.push((id, entry)),
                None => {
                    let message = format!("Could not find object: {id}");
                    let error = RemoteError::new(ErrorCode::InvalidArgument, message).into();
                    match &mut errors {
                        Some(errors) => errors.append(error),
                        none => *none = Some(error),
                    }
                }
            }
        }
        drop(state);
        for (id, entry) in removed {
            if let Some(promise) = entry.promise {
                let message = format!("Remote object was deleted before it was set: {id}");
                promise.set_error(Error::new(message).with_code(ErrorCode::Cancelled));
            }
        }
        errors.map_or(Ok(()), Err)
    }

    /// Returns the number of objects, placeholders included.
    #[must_use]
    pub fn len(&self) -> usize {
        self.lock().entries.len()
    }

    /// Returns `true` if there is an object of this id, or a placeholder.
    #[must_use]
    pub fn contains(&self, id: &RemoteObjectId) -> bool {
        self.lock().entries.contains_key(&id.key())
    }

    /// Returns `true` if there are no objects.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Forgets all objects. Placeholders become `error`, and so do all later requests.
    pub(crate) fn close(&self, error: &Error) {
        let mut state = self.lock();
        state.closed.get_or_insert_with(|| error.clone());
        let entries = std::mem::take(&mut state.entries);
        drop(state);
        for entry in entries.into_values() {
            if let Some(promise) = entry.promise {
                promise.set_error(error.clone());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(value: &AnyRef) -> Option<&str> {
        value.error_if_present().map(Error::message)
    }

    #[test]
    fn deleted_objects_live_on_with_those_who_hold_them() {
        let objects = RemoteObjects::new(3);
        let (one, two) = (objects.allocate("d"), objects.allocate("d"));
        objects.set(&one, AnyRef::available(1_i32)).unwrap();
        let held = objects.get(&one);
        let errors = objects
            .delete([&two, &one, &RemoteObjectId::none()])
            .unwrap_err();
        assert_eq!(
            errors.to_string(),
            "Found 2 errors:\n  (1) InvalidArgument: Could not find object: RemoteObjectId{prefix_id: 3 local_id: 2 device: d}\n  \
             (2) InvalidArgument: Could not find object: RemoteObjectId{prefix_id: 0 local_id: 0 device: }"
        );
        assert_eq!((held.get::<i32>(), objects.len()), (Some(&1), 0));
    }

    #[test]
    fn a_placeholder_that_is_deleted_or_left_at_the_end_is_an_error() {
        let objects = RemoteObjects::new(3);
        let deleted = objects.allocate("d");
        let placeholder = objects.get(&deleted);
        objects.delete([&deleted]).unwrap();
        assert!(
            message(&placeholder)
                .unwrap()
                .starts_with("Remote object was deleted")
        );
        let left = objects.get(&objects.allocate("d"));
        objects.close(&Error::new("closed"));
        assert_eq!(message(&left), Some("closed"));
        assert_eq!(message(&objects.get(&deleted)), Some("closed"));
        assert!(objects.is_empty());
    }

    #[test]
    fn local_numbers_count_from_one() {
        let objects = RemoteObjects::new(9);
        let ids = [objects.allocate("a"), objects.allocate("b")];
        assert_eq!(ids.map(|id| (id.prefix(), id.local())), [(9, 1), (9, 2)]);
    }
}
