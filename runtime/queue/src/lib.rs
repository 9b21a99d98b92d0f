//! Work queues: who runs the tasks of a program, and on which threads.
//!
//! A queue has two kinds of tasks. *Compute* tasks never block: they run, add other tasks, publish values. *Blocking* tasks
//! mostly wait, for files or devices, and run on threads of their own, so that they keep nobody from computing.
//!
//! | queue | spelled | threads |
//! |---|---|---|
//! | [`SingleThreadedQueue`] | `s` | none: tasks run while somebody waits |
//! | [`WorkStealingQueue`] | `mstd`, `mstd:4`, `mstd:4,16`, `mstd:4,16@0-3` | compute threads that steal from each other, and a blocking pool |
//!
//! Other crates add theirs with a [`QueueFactory`].
//!
//! ```
//! use tfrt_queue::{ConcurrentWorkQueue, create_queue, enqueue_value};
//!
//! let queue = create_queue("mstd:2")?;
//! let value = enqueue_value(&*queue, || Ok(6 * 7));
//! queue.await_values(&[value.as_any().clone()])?;
//! assert_eq!(value.get(), Some(&42));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
// Only `task/closure.rs` expects some.
#![deny(unsafe_code)]

pub mod task;

pub mod queue;

pub mod enqueue;

pub mod factory;

pub mod single_threaded;

pub mod work_stealing;

#[cfg(not(loom))]
pub mod testing;

mod role;

mod priority;

mod latch;

mod sync;

pub use enqueue::{
    enqueue_blocking_value, enqueue_blocking_work, enqueue_value, enqueue_work, run_blocking_value,
    run_blocking_work,
};
pub use factory::{CreateQueueError, QueueFactory, create_queue};
pub use queue::{ConcurrentWorkQueue, WouldDeadlock};
pub use single_threaded::SingleThreadedQueue;
pub use task::{RequestTag, Task};
pub use work_stealing::{WorkStealingQueue, cores};
