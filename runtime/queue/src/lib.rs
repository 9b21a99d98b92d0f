//! Work queues: they determine the threads and the order in which the tasks of a program run.
//!
//! A queue has two kinds of tasks. *Compute* tasks never block: they compute, add other tasks, and
//! publish values. *Blocking* tasks mostly wait for files or devices. They run on separate threads,
//! so that they do not occupy compute threads.
//!
//! | queue | spelled | threads |
//! |---|---|---|
//! | [`SingleThreadedQueue`] | `s` | none: tasks run on threads that wait for the queue |
//! | [`WorkStealingQueue`] | `mstd`, `mstd:4`, `mstd:4,16`, `mstd:4,16@0-3` | compute threads that steal from each other, and a blocking pool |
//!
//! Other crates can add queues with a [`QueueFactory`]. Tasks of a request with a higher
//! [priority](RequestTag) run before others.
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
// Only `task/closure.rs` contains unsafe code.
#![deny(unsafe_code)]

mod task;

mod queue;

mod enqueue;

mod error;

mod factory;

mod single_threaded;

mod work_stealing;

#[cfg(not(loom))]
pub mod testing;

mod role;

mod waits;

mod priority;

mod latch;

mod sync;

pub use enqueue::{
    enqueue_blocking_value, enqueue_blocking_work, enqueue_value, enqueue_work, run_blocking_value,
    run_blocking_work,
};
pub use error::CreateQueueError;
pub use factory::{QueueFactory, create_queue};
pub use queue::{ConcurrentWorkQueue, WouldDeadlock};
pub use single_threaded::SingleThreadedQueue;
pub use task::{RequestTag, Task};
pub use work_stealing::{WorkStealingQueue, cores};
