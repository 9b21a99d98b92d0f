//! Kernels for tests of scheduling, errors, lifetimes, and every way to bind a parameter.
//!
//! They are as small as possible. Their output is fixed to the byte, because tests compare it.

pub mod basics;

pub mod attributes;

pub mod strings;

pub mod errors;

pub mod asynchrony;

pub mod atomics;

pub mod tracked_value;

pub mod resources;

pub mod tensor_types;

pub mod tensors;

pub mod numeric;

pub mod images;

pub mod examples;

pub mod locations;

pub mod sync;

pub mod native;

pub mod benchmark;

mod asynchronous_values;

mod printf;

use tfrt::prelude::*;

/// Lets a kernel that is an `async fn` continue as a task of the queue, for work that must not hold
/// up who starts the kernel.
async fn on_queue(ctx: &ExecutionContext) {
    let (promise, turn) = AsyncValueRef::unconstructed();
    ctx.enqueue(move || promise.emplace(Chain));
    // Whatever became of the task: the kernel has its turn.
    let _ = turn.await;
}
