//! Programs under load, with priorities, and in hosts that are dropped early.

use std::fmt::Write as _;
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex};

use tfrt::executor::Program;
use tfrt::host::RequestContextBuilder;
use tfrt::prelude::*;
use tfrt::queue::create_queue;

tfrt::link!(tfrt_kernels);

#[tfrt_kernel("queues.add")]
fn add(a: i32, b: i32) -> i32 {
    a.wrapping_add(b)
}

/// Adds in a task.
#[tfrt_kernel("queues.add_later")]
fn add_later(a: i32, b: i32, ctx: &ExecutionContext) -> AsyncValueRef<i32> {
    let (promise, sum) = AsyncValueRef::unconstructed();
    ctx.enqueue(move || promise.emplace(a.wrapping_add(b)));
    sum
}

#[tfrt_kernel("queues.add_async")]
async fn add_async(a: i32, b: i32) -> i32 {
    a.wrapping_add(b)
}

#[tfrt_kernel("queues.add_blocking", blocking)]
fn add_blocking(a: i32, b: i32) -> i32 {
    a.wrapping_add(b)
}

/// Logs its operand to the request, in a task.
#[tfrt_kernel("queues.log_later")]
fn log_later(number: i32, ctx: &ExecutionContext) -> AsyncValueRef<Chain> {
    let (promise, chain) = AsyncValueRef::unconstructed();
    let request = Arc::clone(ctx.request());
    ctx.enqueue(move || {
        let log: Option<&Arc<Mutex<Vec<i32>>>> = request.context_data();
        log.expect("the test adds it")
            .lock()
            .expect("no panic under the lock")
            .push(number);
        promise.emplace(Chain);
    });
    chain
}

/// Waits for the queue that runs it. Returns whether that was refused. A kernel whose operand
/// arrives just as its waiter is registered runs on the caller's thread, where nothing is to be
/// refused.
#[tfrt_kernel("queues.wait")]
fn wait(number: i32, ctx: &ExecutionContext) -> bool {
    let (_promise, never) = AsyncValueRef::<i32>::unconstructed();
    let _ = number;
    if !ctx.queue().is_in_worker_thread() {
        return true;
    }
    ctx.host().quiesce().is_err() && ctx.host().await_values(&[never.into_any()]).is_err()
}

fn host(queue: &str) -> Arc<HostContext> {
    let kernels = KernelRegistry::from_link().expect("no name is taken twice");
    HostContext::builder()
        .registry(Arc::new(kernels))
        .queue(create_queue(queue).expect("there is such a queue"))
        .build()
}

fn load(host: &Arc<HostContext>, source: &str) -> Arc<Program> {
    let file = tfrt::text::compile(source, "p.mlir", host.registry());
    Program::load(host, &file.expect("the program is sound")).expect("the kernels exist")
}

fn context(host: &Arc<HostContext>) -> ExecutionContext {
    ExecutionContext::new(RequestContextBuilder::new(Arc::clone(host)).build())
}

/// `num_sums` additions of every kind that depend on each other in no simple way.
fn sums(num_sums: usize) -> String {
    const KINDS: [&str; 5] = ["add", "add_later", "add_async", "add", "add_blocking"];
    let mut source = String::from("func @main() -> i32 {\n  %v0 = tfrt.constant.i32 1\n");
    for index in 1..num_sums {
        let (a, b) = (index.saturating_sub(7), index * 5 / 7);
        let kind = KINDS[index % KINDS.len()];
        writeln!(
            source,
            "  %v{index} = \"queues.{kind}\"(%v{a}, %v{b}) : (i32, i32) -> i32"
        )
        .expect("strings take all text");
    }
    write!(source, "  tfrt.return %v{} : i32\n}}\n", num_sums - 1).expect("strings take all text");
    source
}

#[test]
fn many_runs_at_once_end_on_more_threads_than_cores() {
    let source = sums(200);
    let mut expected = None;
    for queue in ["s", "mstd:1,1", "mstd:16"] {
        let host = host(queue);
        let program = load(&host, &source);
        let main = program.function("main").expect("it is there");
        let results: Vec<AnyRef> = (0..50)
            .flat_map(|_| main.execute(&context(&host), &[]))
            .collect();
        host.await_values(&results).expect("not a worker");
        host.quiesce().expect("not a worker");
        for result in &results {
            let sum = result.get::<i32>().copied();
            assert!(sum.is_some(), "{queue}: {result:?}");
            assert_eq!(*expected.get_or_insert(sum), sum, "{queue}");
        }
    }
}

#[test]
fn a_host_that_is_dropped_early_finishes_what_runs() {
    let source = sums(60);
    for queue in ["mstd:1,1", "mstd:4,4"].repeat(25) {
        let host = host(queue);
        let program = load(&host, &source);
        let main = program.function("main").expect("it is there");
        let results = main.execute(&context(&host), &[]);
        let (sender, outcome) = channel();
        results[0].and_then(move |result| {
            sender.send(result.is_error()).expect("it is received");
        });
        drop((main, program, host, results));
        assert_eq!(outcome.recv(), Ok(false), "{queue}");
    }
}

#[test]
fn tasks_of_an_urgent_request_go_ahead() {
    let host = host("s");
    let program = load(
        &host,
        "func @main(%n: i32) -> !tfrt.chain {
           %c = \"queues.log_later\"(%n) : (i32) -> !tfrt.chain
           tfrt.return %c : !tfrt.chain
         }",
    );
    let main = program.function("main").expect("it is there");
    let log: Arc<Mutex<Vec<i32>>> = Arc::default();
    let results: Vec<AnyRef> = [0, -7, 0, 7]
        .into_iter()
        .zip(1..)
        .flat_map(|(priority, number): (i32, i32)| {
            let request = RequestContextBuilder::new(Arc::clone(&host))
                .priority(priority)
                .context_data(Arc::clone(&log))
                .build();
            let ctx = ExecutionContext::new(request);
            main.execute(&ctx, &[AnyRef::available(number)])
        })
        .collect();
    host.await_values(&results).expect("not a worker");
    assert_eq!(*log.lock().expect("no panic under the lock"), [4, 1, 3, 2]);
}

#[test]
fn a_kernel_that_waits_for_its_queue_gets_an_error() {
    for queue in ["s", "mstd:1,1", "mstd:2"] {
        let host = host(queue);
        let program = load(
            &host,
            "func @main(%n: i32) -> i1 {
               %m = \"queues.add_later\"(%n, %n) : (i32, i32) -> i32
               %is_refused = \"queues.wait\"(%m) : (i32) -> i1
               tfrt.return %is_refused : i1
             }",
        );
        let main = program.function("main").expect("it is there");
        let results = main.execute(&context(&host), &[AnyRef::available(1)]);
        host.await_values(&results).expect("not a worker");
        assert_eq!(results[0].get::<bool>(), Some(&true), "{queue}");
    }
}
