//! Faults around a graph, in code outside the executor: handlers, queues, waiters and payloads that
//! panic.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::support::{
    ASYNC_SUM, CALL, FAIL, FORGET, Graph, Node, PANIC, SUM, alone, build, host, queue_of, registry,
};
use tfrt_async::{AnyRef, AsyncValueRef, ByteString, Immutable, Value};
use tfrt_executor::Program;
use tfrt_host::kernel::{KernelDescriptor, KernelFrame, KernelRegistry};
use tfrt_host::{ExecutionContext, HostContext, RequestContextBuilder};
use tfrt_ods::{OpDef, ResultDef, TypeConstraint};
use tfrt_queue::{ConcurrentWorkQueue, Task, WouldDeadlock};

fn start(host: &Arc<HostContext>, graphs: &[Graph]) -> Vec<AnyRef> {
    let program = Program::load(host, &build(graphs)).expect("the kernels exist");
    let ctx = ExecutionContext::new(RequestContextBuilder::new(Arc::clone(host)).build());
    let main = program.function("f0").expect("the first function");
    main.execute(&ctx, &[])
}

fn messages(values: &[AnyRef]) -> Vec<String> {
    let message = |value: &AnyRef| {
        assert!(value.is_available(), "{value:?}");
        value
            .error_if_present()
            .map_or_else(String::new, |error| error.message().to_owned())
    };
    values.iter().map(message).collect()
}

#[test]
fn a_waiter_that_panics_does_not_keep_a_result_from_its_users() {
    let _alone = alone();
    for queue in ["s", "mstd:2"] {
        let host = host(queue).build();
        let graph = Graph {
            nodes: vec![Node::new(&ASYNC_SUM, &[]), Node::new(&SUM, &[0])],
            returns: vec![0, 1],
            ..Graph::default()
        };
        let results = start(&host, &[graph]);
        let wait = || results[0].and_then(|_| panic!("a waiter of the embedder's"));
        // With several threads, the value may be available already, and then the waiter panics
        // here.
        let _ = catch_unwind(AssertUnwindSafe(wait));
        host.await_available(&results).expect("not a worker");
        assert_eq!(results[1].get::<i64>(), Some(&2), "under {queue}");
    }
}

#[test]
fn a_handler_that_panics_changes_no_result() {
    let _alone = alone();
    let host = HostContext::builder()
        .registry(registry())
        .diagnostic_handler(|_| panic!("a handler"))
        .build();
    let nodes = vec![
        Node::new(&FAIL, &[]),
        Node::new(&PANIC, &[]),
        Node::new(&FORGET, &[]),
        Node::new(&SUM, &[]),
    ];
    let graph = Graph {
        nodes,
        returns: vec![0, 1, 2, 3],
        ..Graph::default()
    };
    let expected = [
        "something bad happened",
        "kernel 'test.panic' panicked: out of cheese",
        "kernel 'test.forget' did not set result 0",
        "",
    ];
    assert_eq!(messages(&start(&host, &[graph])), expected);
}

#[test]
fn the_handler_is_told_of_a_result_that_was_forgotten() {
    let _alone = alone();
    let num_told = Arc::new(AtomicUsize::new(0));
    let told = Arc::clone(&num_told);
    let host = HostContext::builder()
        .registry(registry())
        .diagnostic_handler(move |_| {
            told.fetch_add(1, Ordering::Relaxed);
        })
        .build();
    let graph = Graph {
        nodes: vec![Node::new(&FORGET, &[])],
        returns: vec![0],
        ..Graph::default()
    };
    start(&host, &[graph]);
    assert_eq!(num_told.load(Ordering::Relaxed), 1);
}

/// Accepts tasks, and then panics.
#[derive(Debug)]
struct Faulty(Arc<dyn ConcurrentWorkQueue>);

impl ConcurrentWorkQueue for Faulty {
    fn name(&self) -> String {
        "faulty".into()
    }

    fn add_task(&self, task: Task) {
        self.0.add_task(task);
        panic!("a queue that panics when it has taken the task");
    }

    fn add_blocking_task(&self, task: Task, allow_queuing: bool) -> Result<(), Task> {
        self.0.add_blocking_task(task, allow_queuing)
    }

    fn await_values(&self, values: &[AnyRef]) -> Result<(), WouldDeadlock> {
        self.0.await_values(values)
    }

    fn quiesce(&self) -> Result<(), WouldDeadlock> {
        self.0.quiesce()
    }

    fn parallelism_level(&self) -> usize {
        1
    }

    fn is_in_worker_thread(&self) -> bool {
        self.0.is_in_worker_thread()
    }
}

#[test]
fn a_queue_that_panics_runs_no_kernel_twice() {
    let _alone = alone();
    let host = HostContext::builder()
        .registry(registry())
        .queue(Arc::new(Faulty(queue_of("s"))))
        .build();
    let mut nodes = vec![Node::new(&SUM, &[])];
    nodes.extend((0..12).map(|index| Node::new(&SUM, &[0, 0]).on(index % 4)));
    nodes.push(Node::new(&SUM, &(1..=12).collect::<Vec<_>>()));
    let graph = Graph {
        nodes,
        returns: vec![13],
        ..Graph::default()
    };
    let results = start(&host, &[graph]);
    host.await_available(&results).expect("not a worker");
    assert_eq!(results[0].get::<i64>(), Some(&37));
}

/// A payload that panics when it is dropped, unless the thread is already panicking.
struct Explosive;

impl Value for Explosive {
    const MLIR_TYPE: &'static str = "!test.explosive";
}

impl Immutable for Explosive {}

impl Drop for Explosive {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            panic!("dropped");
        }
    }
}

static EXPLOSIVE: OpDef = OpDef {
    results: &[ResultDef::variadic("results", TypeConstraint::Any)],
    ..OpDef::new("test.explosive")
};

#[test]
fn a_payload_that_panics_as_it_goes_keeps_nobody_waiting() {
    let _alone = alone();
    let mut registry = KernelRegistry::new();
    let explosive = |frame: &mut KernelFrame<'_>| {
        (0..frame.num_results())
            .for_each(|index| frame.set_result(index, AnyRef::available(Explosive)));
        if frame.num_results() == 2 {
            panic!("as well");
        }
    };
    let sum = |frame: &mut KernelFrame<'_>| frame.set_result(0, AnyRef::available(1_i64));
    for kernel in [
        KernelDescriptor::raw(&EXPLOSIVE, explosive),
        KernelDescriptor::raw(&SUM, sum),
        KernelDescriptor::raw(&CALL, |_| ()),
    ] {
        registry.add(kernel).expect("the names differ");
    }
    let host = HostContext::builder().registry(Arc::new(registry)).build();
    let nodes = vec![
        Node::new(&EXPLOSIVE, &[]),
        Node::new(&SUM, &[0]),
        Node::new(&SUM, &[]),
        Node {
            num_results: 2,
            ..Node::new(&EXPLOSIVE, &[])
        },
        Node::new(&EXPLOSIVE, &[]),
        Node::new(&SUM, &[]),
    ];
    let graph = Graph {
        nodes,
        returns: vec![1, 2, 3, 6],
        ..Graph::default()
    };
    let results = start(&host, &[graph]);
    let found = messages(&results);
    assert_eq!(
        found[1..],
        ["", "kernel 'test.explosive' panicked: as well", ""]
    );
}

#[test]
fn an_error_that_an_embedder_gives_to_a_result_is_the_embedders_own() {
    let _alone = alone();
    let host = host("s").build();
    let graph = Graph {
        nodes: vec![Node::new(&ASYNC_SUM, &[]), Node::new(&SUM, &[0])],
        returns: vec![0, 1],
        ..Graph::default()
    };
    let results = start(&host, &[graph]);
    assert!(results[0].try_set_error(tfrt_support::Error::new("taken over")));
    host.await_available(&results).expect("not a worker");
    assert_eq!(messages(&results), ["taken over", ""]);
}

#[test]
fn an_argument_of_another_type_is_an_error_value() {
    let _alone = alone();
    let host = host("s").build();
    let graph = Graph {
        num_arguments: 1,
        nodes: vec![Node::new(&SUM, &[0])],
        returns: vec![0, 1],
    };
    let program = Program::load(&host, &build(&[graph])).expect("the kernels exist");
    let ctx = ExecutionContext::new(RequestContextBuilder::new(Arc::clone(&host)).build());
    let main = program.function("f0").expect("the first function");
    let (_promise, unavailable) = AsyncValueRef::<ByteString>::unconstructed();
    // Dropping the promise makes the argument an error.
    let results = main.execute(&ctx, &[unavailable.into_any()]);
    drop(_promise);
    host.await_available(&results).expect("not a worker");
    assert!(results.iter().all(AnyRef::is_error));
    let results = main.execute(&ctx, &[]);
    assert_eq!(
        messages(&results),
        ["Invalid signature for function f0. Expected 1 arguments and 2 results, but get 0 arguments and 2 results";
            2]
    );
}
