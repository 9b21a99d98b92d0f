//! Kernels that start functions, started by hand: what programs cannot show, or only by chance.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tfrt::core::{CoreRuntime, TensorHandle};
use tfrt::host::__runtime::{AttributeList, FunctionList, FunctionTable};
use tfrt::host::{FunctionKind, RequestContextBuilder, ResourceContext};
use tfrt::prelude::*;
use tfrt::queue::create_queue;
use tfrt_tensor::DenseHostTensor;

tfrt::link!(tfrt_kernels);

type Body = dyn Fn(&ExecutionContext, &[AnyRef]) -> Vec<AnyRef> + Send + Sync;

/// Functions made of closures, each with the numbers of its arguments and results.
struct Closures(Vec<(usize, usize, Box<Body>)>);

impl std::fmt::Debug for Closures {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} closures", self.0.len())
    }
}

impl Closures {
    fn get(&self, id: u32) -> &(usize, usize, Box<Body>) {
        &self.0[id as usize]
    }
}

impl FunctionTable for Closures {
    fn name(&self, _id: u32) -> &str {
        "closure"
    }

    fn kind(&self, _id: u32) -> FunctionKind {
        FunctionKind::Async
    }

    fn argument_types(&self, id: u32) -> Vec<&str> {
        vec!["i32"; self.num_arguments(id)]
    }

    fn result_types(&self, id: u32) -> Vec<&str> {
        vec!["i32"; self.num_results(id)]
    }

    fn num_arguments(&self, id: u32) -> usize {
        self.get(id).0
    }

    fn num_results(&self, id: u32) -> usize {
        self.get(id).1
    }

    fn attribute_section(&self) -> &[u8] {
        &[]
    }

    fn execute(
        self: Arc<Self>,
        id: u32,
        ctx: &ExecutionContext,
        arguments: &[AnyRef],
        results: &mut [Option<AnyRef>],
    ) {
        for (slot, value) in results.iter_mut().zip(self.get(id).2(ctx, arguments)) {
            *slot = Some(value);
        }
    }

    fn execute_sync(
        self: Arc<Self>,
        _id: u32,
        _ctx: &ExecutionContext,
        _arguments: &[AnyRef],
        _results: &mut [Option<AnyRef>],
    ) -> Result<()> {
        Err(Error::new("closures are asynchronous"))
    }
}

fn closure(
    num_arguments: usize,
    num_results: usize,
    body: impl Fn(&ExecutionContext, &[AnyRef]) -> Vec<AnyRef> + Send + Sync + 'static,
) -> (usize, usize, Box<Body>) {
    (num_arguments, num_results, Box::new(body))
}

fn context(queue: &str) -> ExecutionContext {
    let queue = create_queue(queue).unwrap_or_else(|error| panic!("{error}"));
    ExecutionContext::new(
        RequestContextBuilder::new(HostContext::builder().queue(queue).build()).build(),
    )
}

/// Runs a kernel without attributes and waits for its results.
fn run(
    ctx: &ExecutionContext,
    kernel: &str,
    arguments: &[AnyRef],
    functions: Vec<(usize, usize, Box<Body>)>,
    num_results: usize,
) -> Vec<AnyRef> {
    let results = start(ctx, kernel, arguments, functions, num_results);
    ctx.host()
        .await_available(&results)
        .unwrap_or_else(|error| panic!("{error}"));
    results
}

fn start(
    ctx: &ExecutionContext,
    kernel: &str,
    arguments: &[AnyRef],
    functions: Vec<(usize, usize, Box<Body>)>,
    num_results: usize,
) -> Vec<AnyRef> {
    let registry = KernelRegistry::from_link().unwrap_or_else(|duplicates| panic!("{duplicates}"));
    let kernel = registry
        .get(kernel)
        .unwrap_or_else(|| panic!("`{kernel}` is registered"));
    let ids: Vec<u32> = (0_u32..).take(functions.len()).collect();
    let table: Arc<dyn FunctionTable> = Arc::new(Closures(functions));
    let mut results = vec![None; num_results];
    let functions = FunctionList {
        table: Some(&table),
        ids: &ids,
    };
    let mut frame = KernelFrame::new(
        ctx,
        kernel.op(),
        arguments,
        AttributeList::EMPTY,
        functions,
        &mut results,
    );
    kernel.invoke_checked(&mut frame);
    frame.finish();
    results.into_iter().flatten().collect()
}

fn number(value: &AnyRef) -> i32 {
    value
        .get()
        .copied()
        .unwrap_or_else(|| panic!("expected a number, found {value:?}"))
}

fn message(value: &AnyRef) -> &str {
    value
        .error_if_present()
        .map(Error::message)
        .unwrap_or_else(|| panic!("expected an error, found {value:?}"))
}

fn numbers(numbers: &[i32]) -> Vec<AnyRef> {
    numbers
        .iter()
        .map(|number| AnyRef::available(*number))
        .collect()
}

/// Adds one, in a task of the work queue.
fn add_one_later(ctx: &ExecutionContext, arguments: &[AnyRef]) -> Vec<AnyRef> {
    let (promise, sum) = AnyRef::indirect();
    let argument = arguments[0].clone();
    ctx.enqueue(move || {
        argument.and_then(move |value| promise.forward_to(AnyRef::available(number(value) + 1)))
    });
    vec![sum]
}

#[test]
fn repeat_does_not_nest_by_its_rounds() {
    for queue in ["s", "mstd:4,1"] {
        let ctx = context(queue);
        let body = closure(1, 1, add_one_later);
        let results = run(
            &ctx,
            "tfrt.repeat.i32",
            &numbers(&[20_000, 0]),
            vec![body],
            1,
        );
        assert_eq!(number(&results[0]), 20_000);
    }
}

#[test]
fn repeat_starts_a_bounded_number_of_rounds_ahead() {
    let ctx = context("s");
    let num_started = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&num_started);
    let body = closure(1, 1, move |ctx, arguments| {
        counter.fetch_add(1, Ordering::Relaxed);
        add_one_later(ctx, arguments)
    });
    let results = start(&ctx, "tfrt.repeat.i32", &numbers(&[100, 0]), vec![body], 1);
    assert_eq!(num_started.load(Ordering::Relaxed), 32);
    ctx.host()
        .await_available(&results)
        .unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(
        (num_started.load(Ordering::Relaxed), number(&results[0])),
        (100, 100)
    );
}

#[test]
fn repeat_refuses_a_negative_count() {
    let body = closure(1, 1, add_one_later);
    let results = run(
        &context("s"),
        "tfrt.repeat.i32",
        &numbers(&[-1, 0]),
        vec![body],
        1,
    );
    assert_eq!(
        message(&results[0]),
        "repeat count must not be negative, but is -1"
    );
}

#[test]
fn repeat_of_nothing_ends_when_its_request_is_cancelled() {
    let ctx = context("s");
    let num_rounds = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&num_rounds);
    let body = closure(0, 0, move |ctx, _| {
        if counter.fetch_add(1, Ordering::Relaxed) == 4 {
            ctx.request().cancel();
        }
        Vec::new()
    });
    run(
        &ctx,
        "tfrt.repeat.i32",
        &numbers(&[i32::MAX]),
        vec![body],
        0,
    );
    assert_eq!(num_rounds.load(Ordering::Relaxed), 5);
}

#[test]
fn parallel_loops_leave_out_what_a_cancelled_request_has_not_started() {
    for queue in ["s", "mstd:4,1"] {
        let ctx = context(queue);
        let num_blocks = Arc::new(AtomicUsize::new(0));
        let counter = Arc::clone(&num_blocks);
        let body = closure(2, 0, move |ctx, _| {
            if counter.fetch_add(1, Ordering::Relaxed) == 4 {
                ctx.request().cancel();
            }
            Vec::new()
        });
        let range = numbers(&[0, i32::MAX, 1]);
        let results = run(&ctx, "tfrt.parallel_for.i32", &range, vec![body], 1);
        assert_eq!(message(&results[0]), "Cancelled");
        assert!(num_blocks.load(Ordering::Relaxed) < i32::MAX as usize);
    }
}

#[test]
fn a_body_with_too_few_results_is_an_error() {
    let body = closure(1, 0, |_, _| Vec::new());
    let results = run(
        &context("s"),
        "tfrt.repeat.i32",
        &numbers(&[1, 0]),
        vec![body],
        1,
    );
    assert!(results[0].is_error());
}

#[test]
fn case_out_of_range_is_an_error_on_all_results() {
    for index in [-1, 1, i32::MAX] {
        let branch = closure(1, 1, |_, arguments| arguments.to_vec());
        let arguments = [AnyRef::available(index), AnyRef::ready_chain()];
        let results = run(&context("s"), "tfrt.case", &arguments, vec![branch], 1);
        assert_eq!(
            message(&results[0]),
            format!("branch_index invalid. branch index: {index} # branches: 1")
        );
        assert_eq!(
            results[0].error_if_present().map(Error::code),
            Some(ErrorCode::InvalidArgument)
        );
    }
}

#[test]
fn once_without_resources_is_an_error() {
    let function = closure(0, 1, |_, _| numbers(&[1]));
    let results = run(&context("s"), "tfrt.once", &[], vec![function], 1);
    assert_eq!(message(&results[0]), "tfrt.once requires resource context");
}

#[test]
fn once_runs_once_for_all_threads() {
    let host = HostContext::builder().build();
    let resources = Arc::new(ResourceContext::new());
    let num_calls = Arc::new(AtomicUsize::new(0));
    std::thread::scope(|scope| {
        for _ in 0..8 {
            let request = RequestContextBuilder::new(Arc::clone(&host))
                .resources(Arc::clone(&resources))
                .build();
            let counter = Arc::clone(&num_calls);
            scope.spawn(move || {
                let function = closure(0, 1, move |_, _| {
                    counter.fetch_add(1, Ordering::Relaxed);
                    numbers(&[7])
                });
                let results = run(
                    &ExecutionContext::new(request),
                    "tfrt.once",
                    &[],
                    vec![function],
                    1,
                );
                assert_eq!(number(&results[0]), 7);
            });
        }
    });
    assert_eq!(num_calls.load(Ordering::Relaxed), 1);
}

#[test]
fn the_lowest_error_of_a_parallel_loop_reaches_its_chain() {
    for queue in ["s", "mstd:4,1"] {
        let body = closure(2, 1, |_, block| {
            let start = number(&block[0]);
            let failed = || AnyRef::error(Error::new(format!("block {start}")));
            vec![if start >= 30 {
                failed()
            } else {
                AnyRef::ready_chain()
            }]
        });
        let results = run(
            &context(queue),
            "tfrt.parallel_for.i32",
            &numbers(&[0, 100, 10]),
            vec![body],
            1,
        );
        assert_eq!(message(&results[0]), "block 30");
    }
}

#[test]
fn a_parallel_loop_covers_its_range_once() {
    for queue in ["s", "mstd:4,1"] {
        let total = Arc::new(AtomicUsize::new(0));
        let sum = Arc::clone(&total);
        let body = closure(2, 0, move |_, block| {
            let indices = number(&block[0])..number(&block[1]);
            sum.fetch_add(
                indices.map(|index| index.unsigned_abs() as usize).sum(),
                Ordering::Relaxed,
            );
            Vec::new()
        });
        let results = run(
            &context(queue),
            "tfrt.parallel_for.i32",
            &numbers(&[-5, 1000, 7]),
            vec![body],
            1,
        );
        assert!(results[0].is_concrete());
        assert_eq!(total.load(Ordering::Relaxed), 15 + 499_500);
    }
}

#[test]
fn a_parallel_loop_refuses_a_range_that_makes_no_sense() {
    let refused = |range: [i32; 3], num_results| {
        let body = closure(2, num_results, |_, _| Vec::new());
        let results = run(
            &context("s"),
            "tfrt.parallel_for.i32",
            &numbers(&range),
            vec![body],
            1,
        );
        message(&results[0]).to_owned()
    };
    assert_eq!(
        refused([3, 2, 1], 0),
        "parallel loop must not end before it starts, but runs from 3 to 2"
    );
    assert_eq!(
        refused([0, 2, 0], 0),
        "block size of a parallel loop must be positive, but is 0"
    );
    assert_eq!(
        refused([0, 2, 1], 2),
        "Invalid parallel body function result types"
    );
}

#[test]
fn select_does_not_wait_for_the_other_value() {
    let (promise, never) = AnyRef::indirect();
    let arguments = [AnyRef::available(true), AnyRef::available(5), never];
    let results = run(&context("s"), "tfrt.select", &arguments, Vec::new(), 1);
    assert_eq!(number(&results[0]), 5);
    drop(promise);
}

#[test]
fn a_call_does_not_wait_for_its_arguments() {
    let ctx = context("s");
    let (promise, argument) = AnyRef::indirect();
    let callee = closure(1, 1, |_, arguments| arguments.to_vec());
    let results = start(&ctx, "tfrt.call", &[argument], vec![callee], 1);
    assert!(!results[0].is_available());
    promise.forward_to(AnyRef::available(5));
    assert_eq!(number(&results[0]), 5);
}

#[test]
fn cancelled_loop_sets_its_first_result_when_nothing_is_under_way() {
    let ctx = context("s");
    let device = CoreRuntime::of(ctx.host()).host_device().clone();
    let handle = |number: i32| {
        let tensor = DenseHostTensor::vector(&[number]).expect("there is memory");
        AnyRef::available(TensorHandle::of_tensor(device.clone(), tensor))
    };
    let (promise, late) = AnyRef::indirect();
    let (yes, carried) = (handle(1), handle(2));
    let condition = closure(2, 2, move |_, arguments| {
        vec![arguments[0].clone(), yes.clone()]
    });
    let body = closure(2, 2, move |ctx, arguments| {
        ctx.request().cancel();
        vec![arguments[0].clone(), late.clone()]
    });
    let arguments = [AnyRef::ready_chain(), carried];
    let results = start(&ctx, "corert.while", &arguments, vec![condition, body], 2);
    ctx.host().quiesce().expect("not a thread of the queue");
    assert!(results[1].is_error());
    assert!(!results[0].is_available(), "the body is under way");
    promise.forward_to(handle(3));
    assert!(results[0].is_error());
}
