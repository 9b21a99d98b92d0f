//! The creators of ids: which number of a context is that of which task.
//!
//! Every task draws a number for itself, which all ids have that it creates. Nobody else can know
//! it before it was told. A number belongs to one task, and a task has one number.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::cluster::TaskHandle;

/// The numbers that are known.
#[derive(Debug, Default)]
pub(crate) struct Creators(Mutex<HashMap<u64, TaskHandle>>);

impl Creators {
    fn lock(&self) -> MutexGuard<'_, HashMap<u64, TaskHandle>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Says which number a task has, on behalf of a task that may. The last one counts. Returns
    /// `false` if the number is that of another task.
    #[must_use]
    pub(crate) fn tell(&self, prefix: u64, task: TaskHandle) -> bool {
        let mut known = self.lock();
        if known.get(&prefix).is_some_and(|of| *of != task) {
            return false;
        }
        known.retain(|_, of| *of != task);
        known.insert(prefix, task);
        true
    }

    /// Returns `true` if a number is that of a task. A number that is not known becomes that of the
    /// task, if the task has none.
    pub(crate) fn claim(&self, prefix: u64, task: TaskHandle) -> bool {
        let mut known = self.lock();
        if let Some(creator) = known.get(&prefix) {
            return *creator == task;
        }
        if known.values().any(|of| *of == task) {
            return false;
        }
        known.insert(prefix, task);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cluster::ClusterInfo;
    use crate::message::DistributedContextConfiguration;

    #[test]
    fn a_number_belongs_to_one_task_and_a_task_has_one() {
        let configs =
            DistributedContextConfiguration::local_cluster(&["a".to_owned(), "b".to_owned()]);
        let cluster = ClusterInfo::new(&configs[0]).unwrap();
        let [first, second] = [0, 1].map(|task| cluster.tasks()[task].handle);
        let creators = Creators::default();
        assert!(creators.claim(7, first) && creators.claim(7, first));
        assert!(!creators.claim(7, second), "another task's");
        assert!(!creators.claim(8, first), "a second number");
        assert!(creators.claim(8, second));
        // Whoever may tell knows better.
        assert!(creators.tell(9, first) && !creators.tell(8, first));
        assert!(!creators.claim(7, first) && creators.claim(9, first));
    }
}
