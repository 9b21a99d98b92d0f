//! Epochs: the times between the aborts of a group.
//!
//! ```text
//!   group1~epoch0 ──► abort ──► group1~epoch1 ──► abort ──► group1~epoch2
//! ```
//!
//! Members that open a group get the name of its current epoch, which is part of all their keys. So
//! messages that an aborted operation leaves behind, and further aborts of the same epoch, never
//! reach the operations after the abort. A task that learns of an abort late still takes part in
//! the old epoch until then. All members count the same aborts, because everybody is told of each.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::{Mutex, MutexGuard, PoisonError};

use tfrt_support::Error;

/// Follows the name of the group. Names in configurations have no `~`, and names of survivors have
/// a number after it.
const SEPARATOR: &str = "~epoch";

/// Returns the name of an epoch of a group.
pub(crate) fn epoch_name(group: &str, number: u64) -> String {
    format!("{group}{SEPARATOR}{number}")
}

/// Returns the group and the number of an epoch with this name.
fn parse(name: &str) -> Option<(&str, u64)> {
    let (group, number) = name.rsplit_once(SEPARATOR)?;
    Some((group, number.parse().ok()?))
}

/// Returns the group of an epoch, or the name itself if it is that of a group.
pub(crate) fn group_of(name: &str) -> &str {
    parse(name).map_or(name, |(group, _)| group)
}

/// Returns `true` for the name of an epoch of this group before the epoch `number`.
pub(crate) fn is_before(name: &str, group: &str, number: u64) -> bool {
    parse(name).is_some_and(|(of, epoch)| of == group && epoch < number)
}

/// The aborts that a task knows of, by group.
#[derive(Debug, Default)]
pub(crate) struct Epochs {
    /// The number of the current epoch, and the error that ended the one before.
    by_group: Mutex<HashMap<String, (u64, Error)>>,
}

impl Epochs {
    fn lock(&self) -> MutexGuard<'_, HashMap<String, (u64, Error)>> {
        self.by_group.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the number of the current epoch of a group.
    pub(crate) fn current(&self, group: &str) -> u64 {
        self.lock().get(group).map_or(0, |(number, _)| *number)
    }

    /// Ends an epoch of a group, unless it has ended already.
    pub(crate) fn end(&self, group: &str, number: u64, error: &Error) {
        let ended = (number + 1, error.clone());
        match self.lock().entry(group.to_owned()) {
            Entry::Occupied(mut current) if current.get().0 <= number => {
                current.insert(ended);
            }
            Entry::Occupied(_) => {}
            Entry::Vacant(current) => {
                current.insert(ended);
            }
        }
    }

    /// Returns the reason why the epoch with this name is over, if it is one and is over.
    pub(crate) fn ended(&self, name: &str) -> Option<Error> {
        let (group, number) = parse(name)?;
        let epochs = self.lock();
        let (current, error) = epochs.get(group)?;
        (number < *current).then(|| error.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_epoch_ends_once() {
        let epochs = Epochs::default();
        assert_eq!(epochs.current("g"), 0);
        epochs.end("g", 0, &Error::new("first"));
        epochs.end("g", 0, &Error::new("late"));
        assert_eq!((epochs.current("g"), epochs.current("g~1")), (1, 0));
        let reason = |name: &str| epochs.ended(name).map(|error| error.message().to_owned());
        assert_eq!(reason("g~epoch0").as_deref(), Some("first"));
        for lasting in ["g~epoch1", "g~1~epoch0", "g", "g~1"] {
            assert_eq!(reason(lasting), None, "{lasting}");
        }
        epochs.end("g", 1, &Error::new("second"));
        assert_eq!(reason("g~epoch1").as_deref(), Some("second"));
    }

    #[test]
    fn names_of_epochs_contain_their_group() {
        for group in ["g", "g~1,2"] {
            let name = epoch_name(group, 3);
            assert_eq!((group_of(&name), group_of(group)), (group, group));
            assert!(is_before(&name, group, 4) && !is_before(&name, group, 3));
            assert!(!is_before(&name, "h", 4) && !is_before(group, group, 4));
        }
    }
}
