//! When contexts end, and what they wait for.

use std::sync::Arc;

use tfrt::core::{HandlePromise, TensorHandle};
use tfrt::host::RequestContextBuilder;
use tfrt::prelude::*;

use crate::{eager, handle};

#[test]
fn a_thread_forgets_contexts_that_are_gone() {
    let first = eager("s");
    let host = Arc::downgrade(first.host());
    // This thread, one of the queue and another one use the context; the last one drops it.
    first.tensor(1.0_f32).expect("there is memory");
    std::thread::spawn(move || {
        first.tensor(1.0_f32).expect("there is memory");
        drop(first);
    })
    .join()
    .expect("it does not panic");
    assert!(host.upgrade().is_none(), "no thread keeps the host");
}

#[test]
fn a_thread_of_the_queue_does_not_keep_its_host() {
    let eager = eager("mstd:2");
    let host = Arc::downgrade(eager.host());
    let ctx = ExecutionContext::new(RequestContextBuilder::new(Arc::clone(eager.host())).build());
    let (promise, used) = AsyncValueRef::unconstructed();
    let shared = Arc::clone(&eager);
    ctx.enqueue(move || {
        shared.tensor(1.0_f32).expect("there is memory");
        drop(shared);
        promise.emplace(Chain);
    });
    eager
        .host()
        .await_values(&[used.into_any()])
        .expect("this is not a thread of the queue");
    drop((ctx, eager));
    // The task may still be ending.
    while host.strong_count() != 0 {
        std::thread::yield_now();
    }
}

#[test]
fn context_without_calls_in_flight_ends_while_its_host_is_busy() {
    let first = eager("mstd:2");
    let host = Arc::clone(first.host());
    let x = first.tensor([1.0_f32]).expect("there is memory");
    let relu = first.op("tf.Relu").expect("it is linked");
    relu.call(&[&x]).expect("it is positive");
    let ctx = ExecutionContext::new(RequestContextBuilder::new(Arc::clone(&host)).build());
    let (end, ended) = std::sync::mpsc::channel::<()>();
    ctx.enqueue(move || ended.recv().expect("the test goes on"));
    // Waiting for the task would not end.
    drop(first);
    end.send(()).expect("the task waits");
    host.quiesce().expect("not a thread of the queue");
}

#[test]
fn context_that_ends_waits_for_its_calls() {
    let eager = eager("mstd:2");
    let x = eager.tensor([1.0_f32]).expect("there is memory");
    let later = eager
        .op("tfrt_test.async.noop_no_md")
        .expect("it is linked");
    let later = later.ready().expect("no attributes");
    let handles: Vec<TensorHandle> = (0..50).map(|_| handle(later.call(&[&x]))).collect();
    drop((later, eager));
    for handle in handles {
        assert!(handle.tensor().is_some_and(AnyRef::is_available));
    }
}

#[test]
fn context_that_ends_waits_for_no_calls_but_its_own() {
    let eager = eager("mstd:2");
    let host = Arc::clone(eager.host());
    let ctx = ExecutionContext::new(RequestContextBuilder::new(Arc::clone(&host)).build());
    let (end, ended) = std::sync::mpsc::channel::<()>();
    ctx.enqueue(move || ended.recv().expect("the test goes on"));
    let x = eager.tensor([1.0_f32]).expect("there is memory");
    let later = eager
        .op("tfrt_test.async.noop_no_md")
        .expect("it is linked");
    // The call waits for an operand that somebody else gives soon.
    let (promise, pending) = HandlePromise::new();
    let relu = eager.op("tf.Relu").expect("it is linked");
    let waits = relu.call(&[&pending]).expect("nothing is known of it");
    let noop = handle(later.call(&[&x]));
    let gives = std::thread::spawn(move || promise.forward_to(&x));
    // Waiting for the task, which is on one of two threads of the queue, would not end.
    drop(eager);
    for done in [waits, noop] {
        assert!(done.tensor().is_some_and(AnyRef::is_available));
    }
    gives.join().expect("it does not panic");
    end.send(()).expect("the task waits");
    host.quiesce().expect("not a thread of the queue");
}
