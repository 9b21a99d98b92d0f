//! For tests: a queue that runs tasks in a random order, and the contract of queues as a test.
//!
//! Authors of queues call [`conformance::check`] from a test. To check that a program does not
//! depend on the order of its tasks, run it under [`RandomOrderQueue`] with many seeds.

pub mod conformance;

mod random_order;

pub use random_order::RandomOrderQueue;
