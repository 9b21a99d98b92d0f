//! The traces of kernels. Tracing affects the whole process, so these tests are in a separate one.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::Value;
use tfrt_async::AnyRef;
use tfrt_bef::write::{BefBuilder, Body, BodyKernel, WriteOptions};
use tfrt_bef::{BefFile, FunctionKind, RegisterId};
use tfrt_executor::Program;
use tfrt_host::kernel::{KernelDescriptor, KernelFrame, KernelRegistry};
use tfrt_host::tracing::{self, TraceRecorder, TracingLevel};
use tfrt_host::{ExecutionContext, HostContext, RequestContextBuilder};
use tfrt_ods::{OpDef, OpTraits, OperandDef, ResultDef, TypeConstraint};
use tfrt_queue::create_queue;
use tfrt_support::Error;
use tfrt_support::entity::EntityId;

const ANY: &[OperandDef] = &[OperandDef::variadic("values", TypeConstraint::Any)];
const RESULTS: &[ResultDef] = &[ResultDef::variadic("results", TypeConstraint::Any)];

const fn op(name: &'static str) -> OpDef {
    OpDef {
        operands: ANY,
        results: RESULTS,
        ..OpDef::new(name)
    }
}

static COUNT: OpDef = op("test.count");
static FAIL: OpDef = op("test.fail");
static PANIC: OpDef = op("test.panic");
static SYNC: OpDef = OpDef {
    traits: OpTraits::SYNC,
    ..op("test.sync")
};

static NUM_RUNS: AtomicUsize = AtomicUsize::new(0);

fn count(frame: &mut KernelFrame<'_>) {
    NUM_RUNS.fetch_add(1, Ordering::Relaxed);
    frame.set_result(0, AnyRef::available(1_i64));
}

fn host(queue: &str) -> Arc<HostContext> {
    let mut registry = KernelRegistry::new();
    let kernels = [
        KernelDescriptor::raw(&COUNT, count),
        KernelDescriptor::raw(&FAIL, |frame| frame.report_error(Error::new("no"))),
        KernelDescriptor::raw(&PANIC, |_| panic!("out of cheese")),
        KernelDescriptor::raw(&SYNC, |frame| {
            NUM_RUNS.fetch_add(1, Ordering::Relaxed);
            frame.set_result(0, AnyRef::available(1_i64));
        }),
    ];
    for kernel in kernels {
        registry.add(kernel).expect("the names differ");
    }
    HostContext::builder()
        .registry(Arc::new(registry))
        .queue(create_queue(queue).expect("a queue of this configuration"))
        .build()
}

/// A kernel with one result: what it runs, the registers that it reads, its stream.
type Node<'a> = (&'static OpDef, &'a [usize], u32);

/// Builds a file with one function, whose registers are the results of its kernels, and which
/// returns the last one.
fn build(kind: FunctionKind, nodes: &[Node<'_>]) -> BefFile {
    let mut builder = BefBuilder::new(WriteOptions {
        optional_sections: false,
    });
    let ty = builder.add_type("i64");
    let register = RegisterId::from_index;
    let main = builder.declare_function(kind, "main", Vec::new(), vec![ty]);
    let kernels = nodes
        .iter()
        .enumerate()
        .map(|(number, (op, operands, stream))| BodyKernel {
            stream: *stream,
            operands: operands.iter().map(|&operand| register(operand)).collect(),
            results: vec![register(number)],
            ..BodyKernel::new(builder.add_kernel_name(op.name))
        })
        .collect();
    let body = Body {
        location: None,
        root_stream: 0,
        num_arguments: 0,
        register_types: vec![ty; nodes.len()],
        kernels,
        results: vec![register(nodes.len() - 1)],
    };
    builder.define_body(main, body);
    BefFile::from_bytes(&builder.finish().expect("the graphs are well formed"))
}

/// Runs `main` under `queue` with a recorder as the sink. Returns the events of its file.
fn record(queue: &str, level: Option<TracingLevel>, file: &BefFile) -> Vec<Value> {
    let recorder = Arc::new(TraceRecorder::new());
    tracing::set_sink(Some(Arc::clone(&recorder) as _));
    if let Some(level) = level {
        tracing::enable(level);
    }
    run(queue, file);
    tracing::disable();
    tracing::set_sink(None);
    let mut written = Vec::new();
    recorder.write(&mut written).expect("memory is writable");
    let mut written: Value = serde_json::from_slice(&written).expect("the file is JSON");
    match written["traceEvents"].take() {
        Value::Array(events) => events,
        other => panic!("expected a list of events, found {other}"),
    }
}

fn run(queue: &str, file: &BefFile) {
    let host = host(queue);
    let program = Program::load(&host, file).expect("the kernels exist");
    let main = program.function("main").expect("it is there");
    let ctx = ExecutionContext::new(RequestContextBuilder::new(Arc::clone(&host)).build());
    if main.kind() == tfrt_host::FunctionKind::Sync {
        main.execute_sync(&ctx, &[], &mut [None])
            .expect("nothing fails");
    } else {
        let results = main.execute(&ctx, &[]);
        host.await_available(&results)
            .expect("not a thread of the queue");
    }
    host.quiesce().expect("not a thread of the queue");
}

/// Tracing and the count of runs belong to one test at a time.
fn alone() -> MutexGuard<'static, ()> {
    static LOCK: Mutex<()> = Mutex::new(());
    let guard = LOCK.lock().unwrap_or_else(PoisonError::into_inner);
    NUM_RUNS.store(0, Ordering::Relaxed);
    guard
}

fn kernels(events: &[Value]) -> Vec<&Value> {
    events
        .iter()
        .filter(|event| event["cat"] == "kernel")
        .collect()
}

/// Returns the arrows, each as the slices at its ends: an end belongs to the slice before it on the
/// same track.
fn arrows(events: &[Value]) -> Vec<(&Value, &Value)> {
    let mut starts = Vec::new();
    let mut ends = Vec::new();
    let mut slice = None;
    for event in events {
        match event["ph"].as_str() {
            Some("X") => slice = Some(event),
            Some(ph @ ("s" | "f")) => {
                let slice = slice.expect("a slice comes before its arrows");
                assert_eq!((&event["tid"], &event["ts"]), (&slice["tid"], &slice["ts"]));
                let list = if ph == "s" { &mut starts } else { &mut ends };
                list.push((event["id"].as_u64().expect("a number"), slice));
            }
            _ => {}
        }
    }
    starts.sort_unstable_by_key(|(id, _)| *id);
    ends.sort_unstable_by_key(|(id, _)| *id);
    assert_eq!(starts.len(), ends.len());
    let pairs = starts.into_iter().zip(ends);
    pairs
        .map(|((start, from), (end, to))| {
            assert_eq!(start, end, "an arrow has two ends");
            (from, to)
        })
        .collect()
}

fn micros(event: &Value, member: &str) -> f64 {
    event[member].as_f64().expect("times are numbers")
}

#[test]
fn every_run_has_a_slice_and_every_value_an_arrow() {
    let _alone = alone();
    // A source, 20 kernels on four streams, and one that reads them all.
    let mut nodes: Vec<Node<'_>> = vec![(&COUNT, &[], 0)];
    nodes.extend((0..20).map(|number| (&COUNT, &[0][..], number % 4)));
    let all: Vec<usize> = (1..=20).collect();
    nodes.push((&COUNT, &all, 0));
    let file = build(FunctionKind::Async, &nodes);
    for queue in ["s", "mstd:1,1", "mstd:4,1"] {
        NUM_RUNS.store(0, Ordering::Relaxed);
        let events = record(queue, Some(TracingLevel::Debug), &file);
        let kernels = kernels(&events);
        assert_eq!(kernels.len(), NUM_RUNS.load(Ordering::Relaxed));
        assert_eq!(kernels.len(), 22, "under {queue}");
        for kernel in &kernels {
            assert_eq!(kernel["name"], "test.count");
            assert_eq!(
                kernel["args"]["invocation"],
                kernels[0]["args"]["invocation"]
            );
        }
        let on_stream_3 = kernels.iter().filter(|k| k["args"]["stream"] == 3);
        assert_eq!(on_stream_3.count(), 5);
        let arrows = arrows(&events);
        assert_eq!(arrows.len(), 40, "under {queue}");
        for (from, to) in arrows {
            assert!(micros(from, "ts") <= micros(to, "ts"));
        }
        let samples = events.iter().filter(|event| event["ph"] == "C");
        assert_eq!(samples.count(), 22, "under {queue}");
    }
}

#[test]
fn each_invocation_has_its_own_number() {
    let _alone = alone();
    let file = build(FunctionKind::Async, &[(&COUNT, &[], 0)]);
    let number = |events: &[Value]| kernels(events)[0]["args"]["invocation"].as_u64();
    let first = number(&record("s", Some(TracingLevel::Debug), &file));
    let second = number(&record("s", Some(TracingLevel::Debug), &file));
    assert!(first.is_some() && second.is_some());
    assert_ne!(first, second);
}

#[test]
fn kernels_of_synchronous_functions_have_slices_and_arrows() {
    let _alone = alone();
    let file = build(FunctionKind::Sync, &[(&SYNC, &[], 0), (&SYNC, &[0], 0)]);
    let events = record("s", Some(TracingLevel::Debug), &file);
    let kernels = kernels(&events);
    assert_eq!(kernels.len(), 2);
    assert_eq!(kernels[0]["args"].get("stream"), None);
    assert_eq!(arrows(&events), [(kernels[0], kernels[1])]);
}

#[test]
fn skipped_kernels_have_no_slice() {
    let _alone = alone();
    let file = build(FunctionKind::Async, &[(&FAIL, &[], 0), (&COUNT, &[0], 0)]);
    let events = record("s", Some(TracingLevel::Debug), &file);
    let names: Vec<&Value> = kernels(&events).iter().map(|k| &k["name"]).collect();
    assert_eq!(names, ["test.fail"]);
}

#[test]
fn a_panic_ends_the_slice() {
    let _alone = alone();
    // Of kernels that are ready at the same time, the last one runs first.
    let file = build(FunctionKind::Async, &[(&COUNT, &[], 0), (&PANIC, &[], 0)]);
    let events = record("s", Some(TracingLevel::Debug), &file);
    let [panic, count] = kernels(&events)[..] else {
        panic!("expected two slices, found {events:?}");
    };
    assert_eq!(panic["name"], "test.panic");
    // Sums of microseconds with three decimals are exact to far less than a nanosecond.
    assert!(micros(panic, "ts") + micros(panic, "dur") <= micros(count, "ts") + 0.0001);
}

#[test]
fn below_debug_no_kernel_is_recorded() {
    let _alone = alone();
    let file = build(FunctionKind::Async, &[(&COUNT, &[], 0)]);
    for level in [
        None,
        Some(TracingLevel::Default),
        Some(TracingLevel::Verbose),
    ] {
        let events = record("s", level, &file);
        assert!(
            events.iter().all(|event| event["ph"] == "M"),
            "at {level:?}: {events:?}"
        );
    }
    assert_eq!(NUM_RUNS.load(Ordering::Relaxed), 3);
}
