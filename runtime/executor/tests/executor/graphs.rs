//! Graphs under every queue: their results, which kernels are skipped, and that nothing is leaked.

use std::sync::Arc;

use crate::support::{
    ASYNC_SUM, CALL, CANCEL, COUNT, COUNT_ANY, FAIL, FORGET, Graph, Node, Outcome, PANIC, SUM,
    alone, build, host, outcome, run,
};
use proptest::prelude::*;
use tfrt_executor::Program;
use tfrt_host::{ExecutionContext, Limits, RequestContextBuilder};

const QUEUES: [&str; 3] = ["s", "mstd:1,1", "mstd:4,2"];

/// Runs `f0` under every queue. Everything that it made must be dropped afterwards.
fn check(graphs: &[Graph], arguments: &[i64], expected: &[Outcome]) {
    let alone = alone();
    for queue in QUEUES {
        let host = host(queue).build();
        assert_eq!(run(&host, graphs, arguments), expected, "under {queue}");
        drop(host);
        alone.assert_nothing_left(queue);
    }
}

fn err(message: &str) -> Outcome {
    Err(message.to_owned())
}

#[test]
fn a_chain_of_kernels_runs_in_order() {
    let nodes = (0..100).map(|index| {
        if index == 0 {
            Node::new(&SUM, &[])
        } else {
            Node::new(&SUM, &[index - 1])
        }
    });
    check(
        &[Graph {
            nodes: nodes.collect(),
            returns: vec![99],
            ..Graph::default()
        }],
        &[],
        &[Ok(100)],
    );
}

#[test]
fn one_value_feeds_many_users_on_many_streams() {
    let mut nodes = vec![Node::new(&ASYNC_SUM, &[])];
    nodes.extend((0..1000).map(|index| Node::new(&SUM, &[0]).on(index % 7)));
    nodes.push(Node::new(&SUM, &(1..=1000).collect::<Vec<_>>()));
    check(
        &[Graph {
            nodes,
            returns: vec![1001, 0],
            ..Graph::default()
        }],
        &[],
        &[Ok(2001), Ok(1)],
    );
}

#[test]
fn an_operand_may_be_used_twice_and_a_register_returned_twice() {
    let nodes = vec![Node::new(&SUM, &[0, 0, 1])];
    let graph = Graph {
        num_arguments: 2,
        nodes,
        returns: vec![2, 0, 2, 0],
    };
    check(&[graph], &[5, 7], &[Ok(18), Ok(5), Ok(18), Ok(5)]);
}

#[test]
fn the_last_error_operand_becomes_every_result() {
    let nodes = vec![
        Node::new(&FAIL, &[]),
        Node::new(&FORGET, &[]),
        Node {
            num_results: 2,
            ..Node::new(&SUM, &[0, 1])
        },
        Node::new(&SUM, &[1, 0]),
    ];
    let forgot = "kernel 'test.forget' did not set result 0";
    let expected = [err(forgot), err(forgot), err("something bad happened")];
    check(
        &[Graph {
            nodes,
            returns: vec![2, 3, 4],
            ..Graph::default()
        }],
        &[],
        &expected,
    );
}

#[test]
fn a_panic_is_an_error_and_the_others_go_on() {
    let nodes = vec![
        Node::new(&PANIC, &[]).on(1),
        Node::new(&SUM, &[]).on(2),
        Node::new(&SUM, &[0]),
        Node::new(&SUM, &[1]),
    ];
    let panicked = err("kernel 'test.panic' panicked: out of cheese");
    check(
        &[Graph {
            nodes,
            returns: vec![2, 3],
            ..Graph::default()
        }],
        &[],
        &[panicked, Ok(2)],
    );
}

#[test]
fn a_cancelled_request_skips_what_has_not_started() {
    let nodes = vec![
        Node::new(&SUM, &[]),
        Node::new(&CANCEL, &[0]),
        Node::new(&SUM, &[1]),
    ];
    let graph = Graph {
        nodes,
        returns: vec![0, 1, 2],
        ..Graph::default()
    };
    check(&[graph], &[], &[Ok(1), Ok(2), err("Cancelled")]);
}

#[test]
fn a_function_may_call_itself_no_deeper_than_the_limit() {
    let alone = alone();
    for queue in QUEUES {
        let host = host(queue)
            .limits(Limits {
                max_call_depth: 5_000,
                ..Limits::default()
            })
            .build();
        let graph = Graph {
            nodes: vec![Node::new(&CALL, &[]).calling(0)],
            returns: vec![0],
            ..Graph::default()
        };
        let expected = err("function calls are nested more than 5000 levels deep");
        assert_eq!(run(&host, &[graph], &[]), [expected], "under {queue}");
        drop(host);
        alone.assert_nothing_left(queue);
    }
}

#[test]
fn unfinished_invocations_are_limited() {
    let _alone = alone();
    let host = host("s")
        .limits(Limits {
            max_live_invocations: 3,
            ..Limits::default()
        })
        .build();
    let calls = |function| Node::new(&CALL, &[]).calling(function);
    let graph = |function| Graph {
        nodes: vec![calls(function)],
        returns: vec![0],
        ..Graph::default()
    };
    let last = Graph {
        nodes: vec![Node::new(&SUM, &[])],
        returns: vec![0],
        ..Graph::default()
    };
    let graphs = [graph(1), graph(2), graph(3), last];
    assert_eq!(
        run(&host, &graphs, &[]),
        [err("more than 3 function calls are unfinished")]
    );
    assert_eq!(
        run(
            &host,
            &graphs[1..]
                .iter()
                .cloned()
                .map(renumber)
                .collect::<Vec<_>>(),
            &[]
        ),
        [Ok(1)]
    );

    fn renumber(mut graph: Graph) -> Graph {
        for node in &mut graph.nodes {
            node.callee = node.callee.map(|callee| callee - 1);
        }
        graph
    }
}

#[test]
fn a_non_strict_kernel_waits_for_what_it_declares_as_values() {
    let _alone = alone();
    // The first operand is available. A task that has not run makes the second one: under `s` it
    // cannot have run.
    let nodes = vec![
        Node::new(&SUM, &[]),
        Node::new(&ASYNC_SUM, &[]),
        Node::new(&COUNT, &[0, 1, 1]).non_strict(),
        Node::new(&COUNT, &[1, 0]).non_strict(),
        Node::new(&COUNT, &[0, 1]),
    ];
    let graph = Graph {
        nodes,
        returns: vec![2, 3, 4, 1],
        ..Graph::default()
    };
    let host = host("s").build();
    assert_eq!(run(&host, &[graph], &[]), [Ok(1), Ok(2), Ok(2), Ok(1)]);
}

#[test]
fn a_non_strict_kernel_sees_errors_behind_references_and_is_skipped_by_others() {
    let nodes = vec![
        Node::new(&FAIL, &[]),
        Node::new(&SUM, &[]),
        Node::new(&COUNT, &[1, 0]).non_strict(),
        Node::new(&COUNT, &[0, 1]).non_strict(),
        Node::new(&COUNT_ANY, &[0, 0]).non_strict(),
    ];
    let graph = Graph {
        nodes,
        returns: vec![3, 4],
        ..Graph::default()
    };
    check(&[graph], &[], &[err("something bad happened"), Ok(2)]);
}

#[test]
fn a_kernel_that_waits_for_any_operand_starts_once() {
    let mut nodes: Vec<Node> = (0..50)
        .map(|index| Node::new(&ASYNC_SUM, &[]).on(index % 3))
        .collect();
    let all: Vec<usize> = (0..50).collect();
    nodes.push(Node {
        num_results: 0,
        ..Node::new(&FORGET, &[])
    });
    nodes.push(Node::new(&COUNT_ANY, &all).non_strict());
    nodes.push(Node::new(&SUM, &all));
    check(
        &[Graph {
            nodes,
            returns: vec![51],
            ..Graph::default()
        }],
        &[],
        &[Ok(51)],
    );
}

/// The learned cost of kernels of other streams must not be observable: a program runs until its
/// kernels are known to be short, and then some more.
#[test]
fn small_kernels_of_many_streams_give_the_same_however_often_they_run() {
    const WIDTH: usize = 8;
    const NUM_LEVELS: usize = 20;
    let alone = alone();
    let level_and_column = |index: usize| (index / WIDTH, index % WIDTH);
    let nodes = (0..WIDTH * NUM_LEVELS).map(|index| {
        let (level, column) = level_and_column(index);
        let above = |column: usize| (level - 1) * WIDTH + column % WIDTH;
        let operands = match level {
            0 => vec![],
            _ => vec![above(column), above(column + 1)],
        };
        Node::new(&SUM, &operands).on(column as u32)
    });
    let graph = Graph {
        nodes: nodes.collect(),
        returns: vec![WIDTH * NUM_LEVELS - 1],
        ..Graph::default()
    };
    for queue in ["s", "mstd:1,1", "mstd:2,1", "mstd:4,1"] {
        let host = host(queue).build();
        let program = Program::load(&host, &build(std::slice::from_ref(&graph)));
        let function = program.expect("the kernels exist").function("f0");
        let function = function.expect("the first function");
        for _ in 0..400 {
            let ctx = ExecutionContext::new(RequestContextBuilder::new(Arc::clone(&host)).build());
            let results = function.execute(&ctx, &[]);
            host.await_available(&results)
                .expect("not a thread of the queue");
            // Each level doubles the one above, and adds one.
            assert_eq!(
                outcome(&results[0]),
                Ok((1 << NUM_LEVELS) - 1),
                "under {queue}"
            );
        }
        host.quiesce().expect("not a thread of the queue");
        drop((function, host));
        alone.assert_nothing_left(queue);
    }
}

#[test]
fn many_kernels_may_be_ready_at_once() {
    let nodes = (0..200_000)
        .map(|index| Node::new(&SUM, &[]).on(index % 3))
        .collect();
    check(
        &[Graph {
            nodes,
            returns: vec![199_999],
            ..Graph::default()
        }],
        &[],
        &[Ok(1)],
    );
}

/// Random graphs: each node reads earlier registers, on a random stream, and may finish later or
/// fail.
fn graphs() -> impl Strategy<Value = Graph> {
    let node = (
        0_u8..10,
        prop::collection::vec(any::<prop::sample::Index>(), 0..4),
        0_u32..4,
        1_usize..3,
    );
    (
        0_usize..3,
        prop::collection::vec(node, 1..60),
        prop::collection::vec(any::<prop::sample::Index>(), 0..6),
    )
        .prop_map(|(num_arguments, nodes, returns)| {
            let mut num_registers = num_arguments;
            let nodes = nodes
                .into_iter()
                .map(|(kind, operands, stream, num_results)| {
                    let op = match kind {
                        0 => &FAIL,
                        1..=4 => &ASYNC_SUM,
                        _ => &SUM,
                    };
                    let operands: Vec<usize> = match num_registers {
                        0 => Vec::new(),
                        _ => operands
                            .iter()
                            .map(|operand| operand.index(num_registers))
                            .collect(),
                    };
                    num_registers += num_results;
                    Node {
                        num_results,
                        ..Node::new(op, &operands).on(stream)
                    }
                })
                .collect();
            let returns = returns
                .iter()
                .map(|index| index.index(num_registers))
                .collect();
            Graph {
                num_arguments,
                nodes,
                returns,
            }
        })
}

/// Returns the outcome of a graph, computed node by node.
fn model(graph: &Graph, arguments: &[i64]) -> Vec<Outcome> {
    let mut registers: Vec<Outcome> = arguments.iter().map(|&argument| Ok(argument)).collect();
    for node in &graph.nodes {
        let operands = node.operands.iter().map(|&operand| &registers[operand]);
        let error = operands
            .clone()
            .rev()
            .find_map(|operand| operand.clone().err());
        let outcome = match error {
            Some(error) => Err(error),
            None if node.op == FAIL.name => err("something bad happened"),
            None => Ok(operands
                .flatten()
                .fold(1_i64, |sum, n| sum.wrapping_add(*n))),
        };
        registers.extend(std::iter::repeat_n(outcome, node.num_results));
    }
    graph
        .returns
        .iter()
        .map(|&register| registers[register].clone())
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, failure_persistence: None, rng_seed: proptest::test_runner::RngSeed::Fixed(20_260_131), ..ProptestConfig::default() })]

    #[test]
    fn random_graphs_do_what_a_sequential_model_does(graph in graphs()) {
        let arguments: Vec<i64> = (10..).take(graph.num_arguments).collect();
        let expected = model(&graph, &arguments);
        check(&[graph], &arguments, &expected);
    }
}

#[test]
fn one_program_runs_on_many_threads_at_once() {
    let _alone = alone();
    let host = host("mstd:2,1").build();
    let nodes: Vec<Node> = (0..50)
        .map(|index| Node::new(&ASYNC_SUM, if index == 0 { &[] } else { &[0] }).on(index % 3))
        .collect();
    let graph = Graph {
        nodes,
        returns: vec![49],
        ..Graph::default()
    };
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..50 {
                    assert_eq!(
                        run(&Arc::clone(&host), std::slice::from_ref(&graph), &[]),
                        [Ok(2)]
                    );
                }
            });
        }
    });
}
