//! Receivers of the payload of a certain task, which wait no longer than for the task.
//!
//! ```text
//!            1 payload taken                      3 the task ends before the watch begins
//!  enter ───────────────────► called      enter ─────────────────────────────► given up
//!    │ 2 watch the task                     a receiver is given up by its number: after 1,
//!    ▼   4 the task ends                    another one may wait for the key
//!  waits ──────────────────► given up
//! ```
//!
//! The receiver keeps the watch, so that the watch ends with the wait.

use std::sync::{Arc, OnceLock};

use crate::cluster::TaskHandle;
use crate::health::{Health, PeerEnd};
use crate::rendezvous::Receiver;

/// Enters a receiver with `enter`, which returns the number of one that waits. If one of the
/// records says that the task `from` has ended, now or later, `give_up` gets the number, unless the
/// receiver was called before. Returns the number.
pub(super) fn receive_until_end(
    records: [&Arc<Health>; 2],
    from: TaskHandle,
    receiver: Receiver,
    enter: impl FnOnce(Receiver) -> Option<u64>,
    give_up: impl FnOnce(u64, PeerEnd) + Clone + Send + 'static,
) -> Option<u64> {
    let watches = Arc::new(OnceLock::new());
    let kept = Arc::clone(&watches);
    let waiting = move |payload| {
        drop(kept);
        receiver(payload);
    };
    let number = enter(Box::new(waiting))?;
    let entered = records.map(|record| {
        let give_up = give_up.clone();
        record.watch(from, move |end| give_up(number, end))
    });
    // Set once, here.
    let _ = watches.set(entered);
    Some(number)
}

#[cfg(all(test, loom))]
mod loom_models;
