//! A counter that any number of kernels may change at the same time.

use std::sync::atomic::{AtomicI32, Ordering};

use tfrt::prelude::*;

/// The counter. Chains order its uses; the counter itself orders no other memory, so that all
/// accesses are relaxed.
#[derive(Debug, Default, Value)]
#[value("!test.atomic.i32")]
struct AtomicCounter(AtomicI32);

/// Returns a new counter at zero.
#[tfrt_kernel("tfrt_test.atomic.create.i32")]
fn create() -> AtomicCounter {
    AtomicCounter::default()
}

/// Adds one.
#[tfrt_kernel("tfrt_test.atomic.inc.i32", side_effecting)]
fn inc(counter: &AtomicCounter) {
    counter.0.fetch_add(1, Ordering::Relaxed);
}

/// Adds a number.
#[tfrt_kernel("tfrt_test.atomic.add.i32", side_effecting)]
fn add(counter: &AtomicCounter, number: i32) {
    counter.0.fetch_add(number, Ordering::Relaxed);
}

/// Returns the count.
#[tfrt_kernel("tfrt_test.atomic.get.i32", side_effecting, results(count))]
fn get(counter: &AtomicCounter) -> i32 {
    counter.0.load(Ordering::Relaxed)
}
