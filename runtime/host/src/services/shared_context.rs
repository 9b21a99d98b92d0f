//! Shared contexts: one object per type and host.

use std::any::{Any, TypeId};
use std::fmt;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

type Slot = Arc<OnceLock<Arc<dyn Any + Send + Sync>>>;

/// One object per type, created exactly once on first use, and dropped with the host.
///
/// ```
/// use tfrt_host::__runtime::SharedContexts;
///
/// let contexts = SharedContexts::default();
/// let first = contexts.get_or_create(|| String::from("made once"));
/// let second = contexts.get_or_create(|| String::from("never made"));
/// assert_eq!(*second, "made once");
/// assert!(std::sync::Arc::ptr_eq(&first, &second));
/// ```
#[derive(Default)]
pub struct SharedContexts {
    /// So few that a linear search is the fastest.
    slots: Mutex<Vec<(TypeId, Slot)>>,
}

impl SharedContexts {
    /// Returns the object of type `T`, creating it on first use. Concurrent first users wait; users
    /// of other types do not. `make` must not request `T` itself.
    ///
    /// # Panics
    /// Only if `make` does.
    pub fn get_or_create<T: Any + Send + Sync>(&self, make: impl FnOnce() -> T) -> Arc<T> {
        let slot = self.slot(TypeId::of::<T>());
        let object = Arc::clone(slot.get_or_init(|| Arc::new(make())));
        object
            .downcast()
            .expect("a slot holds an object of the type it is found by")
    }

    fn slot(&self, ty: TypeId) -> Slot {
        let mut slots = self.slots.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, slot)) = slots.iter().find(|(found, _)| *found == ty) {
            return Arc::clone(slot);
        }
        let slot = Slot::default();
        slots.push((ty, Arc::clone(&slot)));
        slot
    }
}

impl fmt::Debug for SharedContexts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let num_contexts = self
            .slots
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .len();
        f.debug_struct("SharedContexts")
            .field("num_contexts", &num_contexts)
            .finish()
    }
}
