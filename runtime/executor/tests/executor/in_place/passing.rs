//! How arguments and results pass between functions: results of a last kernel that are not
//! available, or are errors, and arguments of functions that run as several tasks.

use std::sync::{Arc, Mutex, PoisonError};

use tfrt_async::{AnyRef, AsyncValueRef, ByteString, Promise};
use tfrt_executor::{Program, follow_schedules};
use tfrt_host::__private::{ByValue, Declared, Payload};
use tfrt_host::allocator::{HostAllocator, ProfiledAllocator};
use tfrt_host::kernel::{KernelDescriptor, KernelFrame, NativeFunction};
use tfrt_host::{ExecutionContext, HostContext, RequestContextBuilder};
use tfrt_ods::{OpDef, OpTraits, OperandDef, ResultDef, SourcePlace, TypeConstraint};
use tfrt_queue::Task;
use tfrt_support::Error;

use super::{
    Outcome, Traced, add, chained, check, constant, constant_text, join, later, length, op,
    outcome, registry,
};
use crate::support::{self, FORGET, Graph, NATIVE_TWICE, Node, alone, build, queue_of};

/// What can be seen of a run of `f0`.
#[derive(Debug, PartialEq)]
struct Seen {
    outcomes: Vec<Outcome>,
    /// Whether the results were available when the function returned.
    were_available: Vec<bool>,
    /// The results in the order in which they became available.
    ready_order: Vec<usize>,
    /// For each text, the first result that is the same value. Numbers are copied from cell to
    /// cell, so they need not be.
    first_of_same: Vec<usize>,
    /// Whether the caller alone has each text.
    are_unique: Vec<bool>,
}

/// Runs `f0` of `graphs` with the argument 5, and returns what can be seen of it, and how many
/// blocks of memory it took from the host until it returned.
fn run(graphs: &[Graph]) -> (Seen, usize) {
    let allocator = Arc::new(ProfiledAllocator::default());
    let host = HostContext::builder()
        .registry(registry(&[
            KernelDescriptor::raw(&FORGET, |_| ()),
            KernelDescriptor::raw(&CALL_ONLY, call_only),
            KernelDescriptor::new::<Typed, (ByValue<i64, 0>,), Payload<i64>, _>(|(number,)| number),
            KernelDescriptor::raw(&LATE_ERROR, late_error),
            KernelDescriptor::raw(&LATE_TWICE, late_twice),
        ]))
        .queue(queue_of("s"))
        .allocator(Arc::clone(&allocator) as _)
        .build();
    let graphs = [graphs, &[graph(vec![node(Typed::OP, &[0])], &[1])]].concat();
    let program = Program::load(&host, &build(&graphs)).expect("the kernels exist");
    let main = program.function("f0").expect("the first function");
    let ctx = ExecutionContext::new(RequestContextBuilder::new(Arc::clone(&host)).build());
    let num_blocks = || allocator.profile().map_or(0, |profile| profile.num_total);
    let num_before = num_blocks();
    let results = main.execute(&ctx, &[AnyRef::available(5_i64)]);
    let num_taken = num_blocks() - num_before;
    let were_available = results.iter().map(AnyRef::is_available).collect();
    let ready_order = Arc::new(Mutex::new(Vec::new()));
    for (index, result) in results.iter().enumerate() {
        let ready_order = Arc::clone(&ready_order);
        result.and_then(move |_| lock(&ready_order).push(index));
    }
    host.await_available(&results).expect("not a worker");
    host.quiesce().expect("not a worker");
    let first_of = |result: &AnyRef| results.iter().position(|other| other.ptr_eq(result));
    let is_shared = |result: &&AnyRef| result.is::<ByteString>();
    let seen = Seen {
        were_available,
        ready_order: lock(&ready_order).clone(),
        outcomes: results.iter().map(outcome).collect(),
        first_of_same: { results.iter() }
            .filter(is_shared)
            .filter_map(first_of)
            .collect(),
        are_unique: { results.iter() }
            .filter(is_shared)
            .map(AnyRef::is_unique_through_links)
            .collect(),
    };
    (seen, num_taken)
}

fn lock<T>(shared: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Declares which type is spelled `i64`: a caller then expects numbers of a function that is
/// declared to return them, and has cells for them.
struct Typed;

impl Declared for Typed {
    const OP: &'static OpDef = &OpDef {
        operands: &[OperandDef::new("number", TypeConstraint::Exact("i64"))],
        results: &[ResultDef::new("number", TypeConstraint::Exact("i64"))],
        ..OpDef::new("test.typed")
    };
}

/// Calls its function, and is declared to do nothing else.
static CALL_ONLY: OpDef = op("test.call_only", OpTraits::CALL);

fn call_only(frame: &mut KernelFrame<'_>) {
    let function = frame.function(0).expect("it has a function");
    function.execute_into(frame.exec_ctx(), frame.arguments(), frame.results());
}

/// Returns a value that becomes an error later.
static LATE_ERROR: OpDef = op("test.late_error", OpTraits::NONE);

fn late_error(frame: &mut KernelFrame<'_>) {
    let (promise, value) = AsyncValueRef::<i64>::unconstructed();
    frame.set_result(0, value.into());
    let fail = move || promise.set_error(Error::new("late"));
    frame.exec_ctx().enqueue(fail);
}

/// Returns the same value twice, which becomes available later.
static LATE_TWICE: OpDef = op("test.late_twice", OpTraits::NONE);

fn late_twice(frame: &mut KernelFrame<'_>) {
    let promise = set_both(frame.results());
    frame.exec_ctx().enqueue(move || promise.emplace(1));
}

/// The same as a native function.
pub const NATIVE: NativeFunction = NativeFunction {
    name: NATIVE_TWICE,
    place: SourcePlace {
        file: file!(),
        line: line!(),
    },
    execute: |call| {
        let promise = set_both(call.results);
        let task = move || promise.emplace(1);
        call.host.queue().add_task(Task::new(task));
    },
};

/// Sets two results to the same value, which is not available.
fn set_both(results: &mut [Option<AnyRef>]) -> Promise<i64> {
    let (promise, value) = AsyncValueRef::<i64>::unconstructed();
    results.fill(Some(AnyRef::from(value)));
    promise
}

fn graph(nodes: Vec<Node>, returns: &[usize]) -> Graph {
    Graph {
        num_arguments: 1,
        nodes,
        returns: returns.to_vec(),
    }
}

fn node(op: &'static OpDef, operands: &[usize]) -> Node {
    Node::new(op, operands)
}

fn results(num_results: usize, node: Node) -> Node {
    Node {
        num_results,
        ..node
    }
}

/// Functions all of whose kernels have returned when a result of the last one, a call, is found not
/// to be available.
fn ending() -> Vec<Vec<Graph>> {
    let call = |operands: &[usize], num_results| {
        results(num_results, node(&CALL_ONLY, operands)).calling(1)
    };
    let late = || graph(vec![node(&later::DIRECT, &[0])], &[1]);
    let late_and_early = || {
        graph(
            vec![node(&add::DIRECT, &[0, 0]), node(&later::DIRECT, &[0])],
            &[1, 2, 0, 2],
        )
    };
    vec![
        vec![graph(vec![call(&[0], 1)], &[1]), late()],
        vec![
            graph(vec![call(&[0], 1)], &[1]),
            graph(vec![call(&[0], 1).calling(2)], &[1]),
            late(),
        ],
        // Results in cells and in slots, of the last kernel and of others, in any order and more
        // than once.
        vec![
            graph(
                vec![
                    node(&add::DIRECT, &[0, 0]),
                    node(&constant_text::DIRECT, &[]),
                    node(&join::DIRECT, &[2, 2]),
                    node(&length::DIRECT, &[3]),
                    node(&add::DIRECT, &[4, 1]),
                    call(&[5], 1),
                ],
                &[6, 3, 1, 0, 6, 3, 2],
            ),
            late(),
        ],
        // Some results of the last kernel are available; some are not returned.
        vec![
            graph(
                vec![node(&constant::DIRECT, &[]), call(&[1], 4)],
                &[3, 1, 3, 2, 5],
            ),
            late_and_early(),
        ],
        vec![graph(vec![call(&[0], 4)], &[]), late_and_early()],
        vec![graph(vec![call(&[0], 1)], &[1, 0]), later_error()],
        // The order of the kernel's results decides which one becomes available first.
        vec![graph(vec![results(2, node(&LATE_TWICE, &[0]))], &[1, 2])],
        vec![graph(vec![results(2, node(&LATE_TWICE, &[0]))], &[2, 1])],
        vec![graph(vec![call(&[0], 2).calling(support::NATIVE)], &[2, 1])],
    ]
}

/// A function whose result is an error later.
fn later_error() -> Graph {
    let nodes = vec![node(&LATE_ERROR, &[0])];
    graph(nodes, &[1])
}

/// Functions of which one at least has more to do than pass results on.
fn continuing() -> Vec<Vec<Graph>> {
    vec![
        vec![graph(
            vec![node(&later::DIRECT, &[0]), node(&add::DIRECT, &[1, 0])],
            &[2],
        )],
        // The last kernel fails, or does not set its results.
        vec![graph(
            vec![
                node(&add::DIRECT, &[0, 0]),
                node(&add::DIRECT, &[1, 0]),
                node(&check::DIRECT, &[2]),
            ],
            &[3, 1],
        )],
        vec![graph(vec![results(2, node(&FORGET, &[0]))], &[1, 2])],
        // A call returns an error, as 15 is a multiple of three.
        vec![
            graph(
                vec![
                    node(&add::DIRECT, &[0, 0]),
                    node(&add::DIRECT, &[1, 0]),
                    node(&CALL_ONLY, &[2]).calling(1),
                ],
                &[3, 1],
            ),
            graph(vec![node(&check::DIRECT, &[0])], &[1]),
        ],
    ]
}

/// Checks that functions look the same if they run in the ready loop, and if they are traced.
fn check_alike(graphs: &[Graph]) {
    let (found, _) = run(graphs);
    follow_schedules(false);
    let (expected, _) = run(graphs);
    follow_schedules(true);
    assert_eq!(found, expected, "{graphs:?}");
    let (traced, _) = {
        let _traced = Traced::start();
        run(graphs)
    };
    assert_eq!(found, traced, "{graphs:?}");
}

#[test]
fn a_function_that_only_passes_results_on_looks_as_if_it_waited_for_them() {
    let _alone = alone();
    for graphs in ending().into_iter().chain(continuing()) {
        check_alike(&graphs);
    }
}

#[test]
fn a_function_that_only_passes_results_on_takes_no_memory() {
    let _alone = alone();
    for graphs in ending() {
        assert_eq!(run(&graphs).1, 0, "{graphs:?}");
    }
    for graphs in continuing() {
        assert_ne!(run(&graphs).1, 0, "{graphs:?}");
    }
}

#[test]
fn a_function_of_several_tasks_is_called_in_place_as_in_any_other_way() {
    let _alone = alone();
    // The functions return arguments, results of both streams, and some of them twice.
    let two_streams = |returns: &[usize]| Graph {
        num_arguments: 2,
        nodes: vec![
            node(&add::DIRECT, &[0, 1]),
            node(&add::DIRECT, &[2, 1]).on(1),
            node(&add::DIRECT, &[2, 2]),
            node(&later::DIRECT, &[3]).on(1),
            node(&add::DIRECT, &[4, 2]),
        ],
        returns: returns.to_vec(),
    };
    let returned: [&[usize]; 5] = [&[6], &[3, 6, 4], &[0, 6, 0, 1], &[5, 5, 1, 2], &[]];
    for returns in returned {
        let call = |operands: &[usize], callee| {
            results(returns.len(), node(&CALL_ONLY, operands)).calling(callee)
        };
        let main = graph(
            vec![node(&constant::DIRECT, &[]), call(&[0, 1], 1)],
            &(2..2 + returns.len()).collect::<Vec<_>>(),
        );
        check_alike(&[main, two_streams(returns)]);
        if returns.is_empty() {
            continue;
        }
        // Called from one that goes on with the first result, and from one that only passes it on.
        let first = 3;
        let using = graph(
            vec![
                node(&constant::DIRECT, &[]),
                node(&add::DIRECT, &[0, 1]),
                call(&[0, 2], 1),
                node(&add::DIRECT, &[first, 0]),
            ],
            &[first + returns.len(), first, 0],
        );
        check_alike(&[using, two_streams(returns)]);
    }
}

#[test]
fn an_argument_of_another_type_is_refused_in_place_as_in_any_other_way() {
    let _alone = alone();
    let (text, chain) = ("!tfrt.string", "!tfrt.chain");
    // A value in a slot, and one in a cell.
    let sources = [
        (node(&constant_text::DIRECT, &[]), 1, text),
        (results(2, node(&chained::DIRECT, &[0])), 2, chain),
    ];
    // Functions that do not read their argument, or only return it.
    let callees = [
        graph(vec![node(&constant::DIRECT, &[])], &[1]),
        graph(vec![], &[0]),
    ];
    for (source, argument, found) in sources {
        for callee in &callees {
            let result = 1 + source.num_results;
            let call = node(&CALL_ONLY, &[argument]).calling(1);
            let main = graph(vec![source.clone(), call], &[result]);
            let graphs = [main, callee.clone()];
            check_alike(&graphs);
            let expected = format!("argument 0 of function `f1`: expected `i64`, found `{found}`");
            let (seen, _) = run(&graphs);
            assert_eq!(seen.outcomes, [Outcome::Error(expected)], "{graphs:?}");
        }
    }
}
