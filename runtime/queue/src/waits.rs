//! Waits for quiescence from inside tasks: a cycle of them is an error instead of a deadlock.
//!
//! A task of queue A that waits until queue B is quiescent is an edge from A to B: A has a running
//! task for as long as B has one. A wait that would close a cycle of edges could never end, so it
//! is rejected:
//!
//! ```text
//!  a task of A waits for B ──►  B has a task, which waits for A  ──► A has a task, the first one
//! ```
//!
//! The edges are a short list under a mutex, which threads that run no task never lock. Waits for
//! values are not edges: any thread may make a value available, so a cycle of them need not be a
//! deadlock.

// Those of `std` under loom, too: the list outlives every model and is not part of any.
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::queue::WouldDeadlock;
use crate::role::{self, QueueId};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Edge {
    /// The queue whose task waits.
    from: QueueId,
    /// The queue that must become quiescent.
    to: QueueId,
}

static EDGES: Mutex<Vec<Edge>> = Mutex::new(Vec::new());

/// Begins a wait until `queue` is quiescent, which ends when the guard is dropped.
///
/// # Errors
/// Fails if this thread runs a task of the queue, or if the queue itself waits for a queue that has
/// a task on this thread.
#[inline]
pub(crate) fn begin(queue: QueueId) -> Result<WaitGuard, WouldDeadlock> {
    if role::has_any() {
        begin_in_task(queue)
    } else {
        Ok(WaitGuard { edges: Vec::new() })
    }
}

#[cold]
fn begin_in_task(queue: QueueId) -> Result<WaitGuard, WouldDeadlock> {
    let waiting = role::queues();
    let mut edges = lock();
    // The queues that must become quiescent before `queue` can.
    let mut needed = vec![queue];
    let mut num_visited = 0;
    while let Some(&next) = needed.get(num_visited) {
        num_visited += 1;
        if waiting.contains(&next) {
            return Err(WouldDeadlock);
        }
        for edge in edges.iter().filter(|edge| edge.from == next) {
            if !needed.contains(&edge.to) {
                needed.push(edge.to);
            }
        }
    }
    let new: Vec<Edge> = waiting
        .into_iter()
        .map(|from| Edge { from, to: queue })
        .collect();
    edges.extend_from_slice(&new);
    Ok(WaitGuard { edges: new })
}

/// A wait until a queue is quiescent.
#[derive(Debug)]
#[must_use = "the wait ends with the guard"]
pub(crate) struct WaitGuard {
    edges: Vec<Edge>,
}

impl Drop for WaitGuard {
    #[inline]
    fn drop(&mut self) {
        if !self.edges.is_empty() {
            remove(&self.edges);
        }
    }
}

#[cold]
fn remove(ended: &[Edge]) {
    let mut edges = lock();
    for edge in ended {
        // Several tasks may wait for the same queue; each removes one edge.
        if let Some(position) = edges.iter().position(|other| other == edge) {
            edges.swap_remove(position);
        }
    }
}

fn lock() -> MutexGuard<'static, Vec<Edge>> {
    EDGES.lock().unwrap_or_else(PoisonError::into_inner)
}
