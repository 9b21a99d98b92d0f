//! Random programs that use more of the language, started and disturbed in more ways: functions of
//! several results, loops and choices, functions that kernels and tasks start, ops of the Core
//! Runtime, objects that tell when they are dropped, requests that are cancelled, arguments that
//! come late, panics of kernels and of drops.
//!
//! A plan starts several functions of one program, in one request or in several, and waits now and
//! then. It is carried out in the ready loop, which is what all others are compared with: following
//! schedules, traced, and with tracing switched on and off between calls; under a queue that keeps
//! an order, and under those that run tasks at once or the last one first, for which everything
//! must be the same, the order of effects and drops included. Under queues of threads, or where
//! other threads run the tasks of the first, results must be the same, and everything else but for
//! the order.

use std::fmt::{Debug, Write as _};
use std::sync::{Arc, Barrier, Mutex, PoisonError};
use std::time::{Duration, Instant};

use tfrt::async_value::live_values;
use tfrt::executor::Program;
use tfrt::host::tracing::{self, TracingLevel};
use tfrt::host::{Limits, RequestContextBuilder};
use tfrt::prelude::*;
use tfrt::queue::{ConcurrentWorkQueue, SingleThreadedQueue, Task, create_queue};

use super::super::{ALONE, LOG, Nowhere, OtherQueue, Random, check_programs, host_of, load};
use super::kernels::Tracked;
use super::writer::{Kind, NUM_FUNCTIONS, Writer};

/// When an argument of a call becomes available.
#[derive(Clone, Copy, Debug)]
enum Arrival {
    Before,
    /// By a task that is added before the call.
    ByTask,
    /// When the call has returned.
    After,
    /// It is an error, when the call has returned.
    AfterAsError,
}

/// One call of a function.
#[derive(Clone, Copy, Debug)]
struct Call {
    function: usize,
    numbers: [i32; 2],
    /// When the second number becomes available.
    arrival: Arrival,
    has_own_request: bool,
    /// Whether everything started so far is waited for after the call.
    is_waited_for: bool,
    /// Whether the call is traced, where calls differ in that.
    is_traced: bool,
}

impl Call {
    fn random(random: &mut Random, kind: Kind) -> Self {
        let mut below = |end| random.below(end);
        Self {
            // Mostly the last function, which is the largest.
            function: (NUM_FUNCTIONS - 1).min(below(2 * NUM_FUNCTIONS)),
            numbers: [below(5) as i32, below(5) as i32],
            arrival: match below(8) {
                0 => Arrival::ByTask,
                1 => Arrival::After,
                2 if kind.fails => Arrival::AfterAsError,
                _ => Arrival::Before,
            },
            has_own_request: below(2) == 0,
            is_waited_for: below(4) == 0,
            is_traced: below(2) == 0,
        }
    }
}

/// How a plan is carried out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    /// In the ready loop alone.
    Loop,
    Schedules,
    Traced,
    /// Some calls are traced.
    TracedInPart,
}

/// What can be seen of a plan.
#[derive(Debug, PartialEq, Eq)]
struct Seen {
    results: String,
    log: Vec<String>,
}

fn describe(value: &AnyRef) -> String {
    if let Some(error) = value.error_if_present() {
        return error.to_string();
    }
    match (value.get::<i32>(), value.get::<Tracked>()) {
        (Some(number), _) => number.to_string(),
        (_, Some(tracked)) => format!("object {}", tracked.0),
        _ => "chain".to_owned(),
    }
}

fn trace(is_on: bool) {
    if is_on {
        tracing::set_sink(Some(Arc::new(Nowhere)));
        tracing::enable(TracingLevel::Debug);
    } else {
        tracing::disable();
        tracing::set_sink(None);
    }
}

fn carry_out(program: &Arc<Program>, host: &Arc<HostContext>, plan: &[Call], way: Way) -> Seen {
    LOG.lock().unwrap_or_else(PoisonError::into_inner).clear();
    let num_alive = live_values();
    tfrt::executor::follow_schedules(way != Way::Loop);
    let request = || ExecutionContext::new(RequestContextBuilder::new(Arc::clone(host)).build());
    let shared = request();
    let mut all: Vec<AnyRef> = Vec::new();
    for call in plan {
        trace(way == Way::Traced || (way == Way::TracedInPart && call.is_traced));
        let own = call.has_own_request.then(request);
        let ctx = own.as_ref().unwrap_or(&shared);
        let [a, b] = call.numbers;
        let (promise, late) = AsyncValueRef::<i32>::unconstructed();
        let (second, promise) = match call.arrival {
            Arrival::Before => (AnyRef::available(b), None),
            Arrival::ByTask => {
                host.queue().add_task(Task::new(move || promise.emplace(b)));
                (AnyRef::from(late), None)
            }
            Arrival::After | Arrival::AfterAsError => (AnyRef::from(late), Some(promise)),
        };
        let arguments = [
            AnyRef::ready_chain(),
            AnyRef::available(a),
            second,
            AnyRef::available(Tracked(100)),
        ];
        let function = program.function(&format!("f{}", call.function));
        let results = function.expect("it is there").execute(ctx, &arguments);
        drop(arguments);
        match (call.arrival, promise) {
            (Arrival::AfterAsError, Some(promise)) => promise.set_error(Error::new("no argument")),
            (_, Some(promise)) => promise.emplace(b),
            _ => {}
        }
        all.extend(results);
        if call.is_waited_for {
            host.await_available(&all).expect("not a worker");
        }
    }
    host.await_available(&all).expect("not a worker");
    host.queue().quiesce().expect("not a worker");
    let results: Vec<String> = all.iter().map(describe).collect();
    super::super::log("results are dropped".to_owned());
    for result in all {
        drop(result);
    }
    drop(shared);
    trace(false);
    tfrt::executor::follow_schedules(true);
    // A worker may still let go of what it has run last.
    let start = Instant::now();
    while live_values() != num_alive && start.elapsed() < Duration::from_secs(60) {
        std::thread::yield_now();
    }
    assert_eq!(live_values(), num_alive, "values are left behind");
    let log = std::mem::take(&mut *LOG.lock().unwrap_or_else(PoisonError::into_inner));
    Seen {
        results: results.join(", "),
        log,
    }
}

/// As [`carry_out`], while so many other threads run tasks of the same queue.
fn carry_out_with_helpers(
    program: &Arc<Program>,
    host: &Arc<HostContext>,
    plan: &[Call],
    way: Way,
    num_helpers: usize,
) -> Seen {
    let (promise, is_over) = AsyncValueRef::<i32>::unconstructed();
    let is_over = AnyRef::from(is_over);
    let start = Barrier::new(1 + num_helpers);
    std::thread::scope(|scope| {
        for _ in 0..num_helpers {
            scope.spawn(|| {
                start.wait();
                host.await_available(std::slice::from_ref(&is_over))
                    .expect("not a worker");
            });
        }
        start.wait();
        let seen = carry_out(program, host, plan, way);
        promise.emplace(0);
        seen
    })
}

fn compare<T: PartialEq + Debug>(found: &T, expected: &T, what: &dyn Fn() -> String) {
    if found != expected {
        panic!("{}\nfound    {found:#?}\nexpected {expected:#?}", what());
    }
}

/// Writes a program and a plan, and carries it out in every way.
fn check(seed: u64) {
    let mut random = Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15));
    // The generator begins badly.
    for _ in 0..4 {
        random.below(2);
    }
    let kind = Kind::of(&mut random);
    let source = Writer::program(&mut random, kind);
    let plan: Vec<Call> = (0..1 + random.below(4))
        .map(|_| Call::random(&mut random, kind))
        .collect();
    let about = |queue: &str, way: Way| {
        let mut text = format!("program {seed} under {queue}, {way:?}, {kind:?}");
        for call in &plan {
            let _ = write!(text, "\n{call:?}");
        }
        format!("{text}\n{source}")
    };
    let ordered: [Arc<dyn ConcurrentWorkQueue>; 3] = [
        Arc::new(SingleThreadedQueue::new()),
        Arc::new(OtherQueue::AtOnce),
        Arc::new(OtherQueue::LastFirst(Mutex::default())),
    ];
    let mut in_order = None;
    for (index, queue) in ordered.into_iter().enumerate() {
        // The other queues one time in four, as all that they do is to disturb.
        if index > 0 && !seed.is_multiple_of(4) {
            continue;
        }
        let name = format!("{} {index}", queue.name());
        let host = host_of(queue, Limits::default());
        let program = load(&host, &source);
        let expected = carry_out(&program, &host, &plan, Way::Loop);
        // A function that has left its order is not run in order for a while.
        for way in [Way::Schedules, Way::Traced, Way::TracedInPart] {
            let program = load(&host, &source);
            let found = carry_out(&program, &host, &plan, way);
            compare(&found, &expected, &|| about(&name, way));
        }
        in_order.get_or_insert(expected);
    }
    let mut expected = in_order.expect("a queue keeps an order");
    let config = ["mstd:1", "mstd:2", "mstd:4"][random.below(3)];
    let host = host_of(
        create_queue(config).expect("a known queue"),
        Limits::default(),
    );
    let program = load(&host, &source);
    expected.log.sort();
    for way in [Way::Schedules, Way::Traced, Way::Loop] {
        let mut found = carry_out(&program, &host, &plan, way);
        found.log.sort();
        // How much has happened before a cancel is a matter of luck.
        if !kind.cancels {
            compare(&found, &expected, &|| about(config, way));
        }
    }
    let host = host_of(Arc::new(SingleThreadedQueue::new()), Limits::default());
    for (way, num_helpers) in [(Way::Schedules, 1), (Way::Schedules, 3), (Way::Loop, 1)] {
        let program = load(&host, &source);
        let mut found = carry_out_with_helpers(&program, &host, &plan, way, num_helpers);
        found.log.sort();
        if !kind.cancels {
            compare(&found, &expected, &|| {
                about(&format!("{num_helpers} more threads that wait"), way)
            });
        }
    }
}

#[test]
fn programs_of_every_kind_do_what_they_do_in_the_ready_loop() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    check_programs(&[], 60, check);
}
