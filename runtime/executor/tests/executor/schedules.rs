//! Random programs of 1 to 5,000 kernels under random schedules: calls, kernels that finish later,
//! fail, choose without waiting, or cancel the request. Whatever the order of tasks, the outcome is
//! that of a sequential model, and nothing is leaked.
//!
//! For a program that cancels itself, the model allows what the order may decide: results that the
//! cancelling kernel needs are available before it runs, results that need it come too late, and
//! all others have their usual outcome or are cancelled.
//!
//! `TFRT_STRESS=N` runs N programs instead of a few.

use std::sync::Arc;

use tfrt_async::AnyRef;
use tfrt_executor::Program;
use tfrt_host::{ExecutionContext, HostContext, RequestContextBuilder};
use tfrt_queue::ConcurrentWorkQueue;
use tfrt_queue::testing::RandomOrderQueue;

use crate::support::{
    ASYNC_SUM, CALL, CANCEL, FAIL, Graph, Node, Outcome, Random, SELECT, SUM, alone, build,
    outcome, queue_of, registry,
};

/// Returns the number of programs that a test tries.
fn num_programs(default: u64) -> u64 {
    std::env::var("TFRT_STRESS")
        .ok()
        .and_then(|text| text.parse().ok())
        .unwrap_or(default)
}

/// Returns a program of a few functions, of 1 to `max_nodes` kernels each. A function calls only
/// functions after it.
fn random_program(random: &mut Random, max_nodes: usize) -> Vec<Graph> {
    let num_functions = 1 + random.below(4);
    let num_arguments: Vec<usize> = (0..num_functions)
        .map(|index| if index == 0 { 0 } else { random.below(3) })
        .collect();
    (0..num_functions)
        .map(|function| {
            // Small functions are as likely as large ones.
            let magnitude = random.below(max_nodes.ilog2() as usize + 1);
            let num_nodes = 1 + random.below(1 << magnitude);
            let mut num_registers = num_arguments[function];
            let mut nodes = Vec::new();
            while nodes.len() < num_nodes {
                let stream = random.below(5) as u32;
                let mut registers = |count: usize| -> Vec<usize> {
                    let count = if num_registers == 0 { 0 } else { count };
                    // Near registers are more likely than far ones, so that there are long chains.
                    (0..count)
                        .map(|_| {
                            num_registers - 1 - random.below(num_registers.min(1 << (count % 12)))
                        })
                        .collect()
                };
                let node = match nodes.len() % 16 {
                    3 | 9 if num_registers > 0 => Node::new(&SELECT, &registers(3)).non_strict(),
                    5 if function + 1 < num_functions && num_nodes < 64 && num_registers > 0 => {
                        let callee = function + 1;
                        Node::new(&CALL, &registers(num_arguments[callee])).calling(callee)
                    }
                    7 if stream == 0 => Node::new(&FAIL, &registers(1)),
                    index if index % 3 == 0 => Node::new(&ASYNC_SUM, &registers(index % 4)),
                    index => Node::new(&SUM, &registers(index % 4)),
                };
                nodes.push(node.on(stream));
                num_registers += 1;
            }
            let returns = match function {
                0 => (0..num_registers).step_by(1 + num_registers / 50).collect(),
                _ => vec![num_registers - 1],
            };
            Graph {
                num_arguments: num_arguments[function],
                nodes,
                returns,
            }
        })
        .collect()
}

/// Returns the results of `function`, computed kernel by kernel.
fn model(program: &[Graph], function: usize, arguments: &[Outcome]) -> Vec<Outcome> {
    let mut registers = arguments.to_vec();
    for node in &program[function].nodes {
        let operands: Vec<Outcome> = node
            .operands
            .iter()
            .map(|&operand| registers[operand].clone())
            .collect();
        let waited = if node.op == SELECT.name {
            &operands[..1]
        } else {
            &operands
        };
        let outcome = match waited
            .iter()
            .rev()
            .find_map(|operand| operand.as_ref().err())
        {
            Some(error) => Err(error.clone()),
            None if node.op == FAIL.name => Err("something bad happened".into()),
            None if node.op == SELECT.name => {
                operands[if operands[0] == Ok(1) { 1 } else { 2 }].clone()
            }
            None => match node.callee {
                Some(callee) => model(program, callee, &operands)[0].clone(),
                None => Ok(operands
                    .iter()
                    .flatten()
                    .fold(1_i64, |sum, n| sum.wrapping_add(*n))),
            },
        };
        registers.push(outcome);
    }
    program[function]
        .returns
        .iter()
        .map(|&register| registers[register].clone())
        .collect()
}

fn host_with(queue: Arc<dyn ConcurrentWorkQueue>) -> Arc<HostContext> {
    HostContext::builder()
        .registry(registry())
        .queue(queue)
        .build()
}

fn outcomes(values: &[AnyRef]) -> Vec<Outcome> {
    values.iter().map(outcome).collect()
}

fn start(host: &Arc<HostContext>, program: &[Graph]) -> Vec<AnyRef> {
    let loaded = Program::load(host, &build(program)).expect("the kernels exist");
    let ctx = ExecutionContext::new(RequestContextBuilder::new(Arc::clone(host)).build());
    let function = loaded.function("f0").expect("the first function");
    function.execute(&ctx, &[])
}

/// Picks a kernel of `f0`. If it is a plain addition, makes it cancel the request and returns its
/// number.
fn cancel_in(program: &mut [Graph], random: &mut Random) -> Option<usize> {
    let nodes = &mut program[0].nodes;
    let index = random.below(nodes.len());
    let node = &mut nodes[index];
    (node.op == SUM.name).then(|| {
        node.op = CANCEL.name;
        index
    })
}

/// Returns, for each register of `f0`, which has no arguments, whether it becomes available only
/// after kernel number `from`.
fn needs(program: &[Graph], from: usize) -> Vec<bool> {
    let mut needs: Vec<bool> = Vec::new();
    for (index, node) in program[0].nodes.iter().enumerate() {
        let waited = match node.op == SELECT.name {
            true => &node.operands[..1],
            false => &node.operands[..],
        };
        needs.push(index == from || waited.iter().any(|&operand| needs[operand]));
    }
    needs
}

/// Returns, for each register of `f0`, whether kernel number `to` starts only once it is available.
fn is_needed(program: &[Graph], to: usize) -> Vec<bool> {
    let nodes = &program[0].nodes;
    let mut is_needed = vec![false; nodes.len()];
    is_needed[to] = true;
    for (index, node) in nodes.iter().enumerate().rev() {
        if is_needed[index] && node.op != SELECT.name {
            node.operands
                .iter()
                .for_each(|&operand| is_needed[operand] = true);
        }
    }
    is_needed
}

/// Runs a program whose kernel `canceller` cancels the request.
fn check_cancelled(
    queue: Arc<dyn ConcurrentWorkQueue>,
    program: &[Graph],
    canceller: usize,
    seed: u64,
) {
    let returns = &program[0].returns;
    let mut all = program.to_vec();
    all[0].returns = (0..program[0].nodes.len()).collect();
    let everywhere = model(&all, 0, &[]);
    let is_cancelled = everywhere[canceller].is_ok();
    let (after, before) = (needs(program, canceller), is_needed(program, canceller));
    let host = host_with(queue);
    let results = start(&host, program);
    host.await_available(&results)
        .expect("not a thread of the queue");
    host.quiesce().expect("not a thread of the queue");
    for (&register, found) in returns.iter().zip(outcomes(&results)) {
        let expected = &everywhere[register];
        let is_right = if !is_cancelled || before[register] {
            found == *expected
        } else if after[register] {
            found.is_err()
        } else {
            found == *expected || found == Err("Cancelled".into())
        };
        assert!(
            is_right,
            "program {seed} under {}, register {register} of which {canceller} cancels: {found:?}, model {expected:?}",
            host.queue().name()
        );
    }
}

fn check(queue: Arc<dyn ConcurrentWorkQueue>, program: &[Graph], seed: u64) {
    let host = host_with(queue);
    let results = start(&host, program);
    host.await_available(&results)
        .expect("not a thread of the queue");
    host.quiesce().expect("not a thread of the queue");
    assert_eq!(
        outcomes(&results),
        model(program, 0, &[]),
        "program {seed} under {}",
        host.queue().name()
    );
}

#[test]
fn programs_do_under_every_schedule_what_they_do_in_order() {
    let alone = alone();
    for seed in 0..num_programs(60) {
        let mut random = Random(seed);
        let mut program = random_program(&mut random, if seed % 10 == 0 { 5_000 } else { 200 });
        let queues = || -> [Arc<dyn ConcurrentWorkQueue>; 2] {
            [
                Arc::new(RandomOrderQueue::new(seed)),
                queue_of(["s", "mstd:2,1", "mstd:4,1"][seed as usize % 3]),
            ]
        };
        for queue in queues() {
            check(queue, &program, seed);
        }
        if let Some(canceller) = cancel_in(&mut program, &mut random) {
            for queue in queues() {
                check_cancelled(queue, &program, canceller, seed);
            }
        }
        alone.assert_nothing_left(&format!("by program {seed}"));
    }
}

/// Returns a program of functions of one stream, in which most kernels need the result of the one
/// before. A function calls only functions after it.
fn random_chain(random: &mut Random) -> Vec<Graph> {
    let num_functions = 1 + random.below(3);
    let functions = (0..num_functions).map(|function| {
        let num_arguments = usize::from(function > 0);
        let num_nodes = 1 + random.below(40);
        let nodes = (0..num_nodes).map(|index| {
            let num_registers = num_arguments + index;
            let mut operands: Vec<usize> = num_registers.checked_sub(1).into_iter().collect();
            if num_registers > 0 && random.below(3) == 0 {
                operands.push(random.below(num_registers));
            }
            if random.below(8) == 0 {
                operands.clear();
            }
            match random.below(12) {
                0..5 => Node::new(&ASYNC_SUM, &operands),
                5 if index > 20 => Node::new(&FAIL, &operands),
                6 | 7 if function + 1 < num_functions && !operands.is_empty() => {
                    Node::new(&CALL, &operands[..1]).calling(function + 1)
                }
                _ => Node::new(&SUM, &operands),
            }
        });
        let nodes: Vec<Node> = nodes.collect();
        let last = num_arguments + num_nodes - 1;
        let returns = match function {
            0 => (0..=last)
                .filter(|register| *register == last || random.below(2) == 0)
                .collect(),
            _ => vec![last],
        };
        Graph {
            num_arguments,
            nodes,
            returns,
        }
    });
    functions.collect()
}

#[test]
fn chains_that_wait_for_results_do_what_they_do_in_order() {
    let alone = alone();
    for seed in 0..num_programs(300) {
        let mut random = Random(seed);
        let mut program = random_chain(&mut random);
        let queues = || -> [Arc<dyn ConcurrentWorkQueue>; 2] {
            [
                Arc::new(RandomOrderQueue::new(seed)),
                queue_of(["s", "mstd:2,1"][seed as usize % 2]),
            ]
        };
        for queue in queues() {
            check(queue, &program, seed);
        }
        if let Some(canceller) = cancel_in(&mut program, &mut random) {
            for queue in queues() {
                check_cancelled(queue, &program, canceller, seed);
            }
        }
        alone.assert_nothing_left(&format!("by program {seed}"));
    }
}

#[test]
fn a_function_that_waits_for_one_result_has_returned_those_before() {
    let alone = alone();
    let chain = Graph {
        num_arguments: 0,
        nodes: vec![
            Node::new(&SUM, &[]),
            Node::new(&ASYNC_SUM, &[0]),
            Node::new(&SUM, &[1]),
            Node::new(&ASYNC_SUM, &[2]),
            Node::new(&ASYNC_SUM, &[3]),
        ],
        returns: vec![0, 2, 3, 4],
    };
    let host = host_with(queue_of("s"));
    let results = start(&host, &[chain]);
    let are_available = || -> Vec<bool> { results.iter().map(AnyRef::is_available).collect() };
    assert_eq!(are_available(), [true, false, false, false]);
    for (index, expected) in [
        (1, [true, true, false, false]),
        (2, [true, true, true, false]),
        (3, [true; 4]),
    ] {
        host.await_available(&results[index..=index])
            .expect("not a thread of the queue");
        assert_eq!(are_available(), expected);
    }
    drop((results, host));
    alone.assert_nothing_left("by the function");
}
