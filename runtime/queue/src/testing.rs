//! For tests: a queue that runs tasks in a random order, and the contract of queues as a test.
//!
//! Whoever plugs in a queue of their own calls [`conformance::check`] from a test. Whoever wants to know that a program
//! does not depend on the order of its tasks runs it under [`RandomOrderQueue`] with many seeds.

pub mod conformance;

mod random_order;

pub use random_order::RandomOrderQueue;
