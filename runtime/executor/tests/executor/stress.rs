//! Random programs on real threads, every other one of a shape that random graphs rarely have:
//! nested calls, kernels that finish later, fail, panic or start early, and requests that are
//! cancelled at any moment, by another thread or by one of their kernels. Every result is that of a
//! sequential model, or that of a cancelled request, and nothing is leaked.
//!
//! `TFRT_STRESS` sets the number of rounds, by default a few, and `TFRT_STRESS_SEED` the first
//! seed.

use std::collections::HashMap;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, SystemTime};

use tfrt_async::AnyRef;
use tfrt_executor::Program;
use tfrt_host::{ExecutionContext, HostContext, RequestContext, RequestContextBuilder};
use tfrt_support::Error;

use crate::shapes;
use crate::support::{
    ASYNC_SUM, CALL, CALL_EARLY, CANCEL, COUNT, FAIL, Graph, Node, PANIC, Random, SUM, alone,
    build, host, outcome,
};

const QUEUES: [&str; 4] = ["s", "mstd:1,1", "mstd:2,1", "mstd:8,2"];

/// The outcome of a register: a number, some number that depends on the schedule, or an error.
#[derive(Clone, Debug, PartialEq)]
enum Expected {
    Number(i64),
    AnyNumber,
    Error(&'static str),
}

const FAILED: &str = "something bad happened";
const PANICKED: &str = "kernel 'test.panic' panicked: out of cheese";

/// Returns functions that call only functions after them. `f0` has no arguments.
fn program(random: &mut Random) -> Vec<Graph> {
    let num_functions = 1 + random.below(4);
    let mut graphs: Vec<Graph> = Vec::new();
    for index in (0..num_functions).rev() {
        let graph = graph(random, index, num_functions, &graphs);
        graphs.insert(0, graph);
    }
    graphs
}

/// Returns a function that calls only `behind`, the functions that follow it.
fn graph(random: &mut Random, index: usize, num_functions: usize, behind: &[Graph]) -> Graph {
    let num_arguments = if index == 0 { 0 } else { random.below(3) };
    let mut num_registers = num_arguments;
    let mut nodes = Vec::new();
    for _ in 0..1 + random.below(40) {
        let operands = |random: &mut Random, count: usize| -> Vec<usize> {
            match num_registers {
                0 => Vec::new(),
                _ => (0..count).map(|_| random.below(num_registers)).collect(),
            }
        };
        let num_operands = random.below(4);
        let node = match random.below(20) {
            0 => Node::new(&FAIL, &operands(random, num_operands)),
            1 => Node::new(&PANIC, &operands(random, num_operands)),
            2..=6 => Node::new(&ASYNC_SUM, &operands(random, num_operands)),
            7 | 8 if num_registers > 0 => {
                Node::new(&COUNT, &operands(random, 1 + num_operands)).non_strict()
            }
            kind @ 9..=12 if !behind.is_empty() => {
                let callee = random.below(behind.len());
                let is_possible = num_registers > 0 || behind[callee].num_arguments == 0;
                let operands = operands(random, behind[callee].num_arguments);
                let node = match kind {
                    _ if !is_possible => Node::new(&SUM, &[]),
                    9 | 10 => Node::new(&CALL, &operands),
                    _ => Node::new(&CALL_EARLY, &operands).non_strict(),
                };
                if is_possible {
                    let num_results = behind[callee].returns.len();
                    Node {
                        num_results,
                        ..node
                    }
                    .calling(num_functions - behind.len() + callee)
                } else {
                    node
                }
            }
            _ => Node::new(&SUM, &operands(random, num_operands)),
        };
        let node = node.on(u32::try_from(random.below(4)).expect("below 4"));
        num_registers += node.num_results;
        nodes.push(node);
    }
    let num_returns = match num_registers {
        0 => 0,
        _ => random.below(5),
    };
    let returns = (0..num_returns)
        .map(|_| random.below(num_registers))
        .collect();
    Graph {
        num_arguments,
        nodes,
        returns,
    }
}

/// Returns the outcome of a function, computed node by node.
fn model(graphs: &[Graph], function: usize, arguments: &[Expected]) -> Vec<Expected> {
    let graph = &graphs[function];
    let mut registers = arguments.to_vec();
    for node in &graph.nodes {
        let operands: Vec<Expected> = node
            .operands
            .iter()
            .map(|&operand| registers[operand].clone())
            .collect();
        let num_waited = match node.op {
            op if op == COUNT.name => 1,
            op if op == CALL_EARLY.name => 0,
            _ => operands.len(),
        };
        let error = operands[..num_waited]
            .iter()
            .rfind(|operand| matches!(operand, Expected::Error(_)));
        let outcome = match (error, node.op) {
            (Some(error), _) => error.clone(),
            (None, op) if op == FAIL.name => Expected::Error(FAILED),
            (None, op) if op == PANIC.name => Expected::Error(PANICKED),
            (None, op) if op == COUNT.name => Expected::AnyNumber,
            (None, op) if op == CALL.name || op == CALL_EARLY.name => {
                let callee = node.callee.expect("calls have a callee");
                registers.extend(model(graphs, callee, &operands));
                continue;
            }
            (None, _) => sum(&operands),
        };
        registers.extend(std::iter::repeat_n(outcome, node.num_results));
    }
    graph
        .returns
        .iter()
        .map(|&register| registers[register].clone())
        .collect()
}

fn sum(operands: &[Expected]) -> Expected {
    operands
        .iter()
        .try_fold(1_i64, |sum, operand| match operand {
            Expected::Number(number) => Some(sum.wrapping_add(*number)),
            _ => None,
        })
        .map_or(Expected::AnyNumber, Expected::Number)
}

/// What cancels the request, and when.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Cancel {
    Nobody,
    Thread { spins: usize },
    Deadline(Duration),
    Host { spins: usize },
}

impl Cancel {
    fn choose(random: &mut Random) -> Self {
        let spins = random.below(3000);
        match random.below(5) {
            0 | 1 => Self::Nobody,
            2 => Self::Thread { spins },
            3 => Self::Deadline(Duration::from_nanos(spins as u64 * 50)),
            _ => Self::Host { spins },
        }
    }

    fn request(self, host: &Arc<HostContext>) -> Arc<RequestContext> {
        let builder = RequestContextBuilder::new(Arc::clone(host));
        match self {
            Self::Deadline(delay) => builder.deadline(SystemTime::now() + delay).build(),
            _ => builder.build(),
        }
    }

    fn run(self, request: &RequestContext) {
        let wait = |spins| (0..spins).for_each(|_| std::hint::spin_loop());
        match self {
            Self::Nobody | Self::Deadline(_) => {}
            Self::Thread { spins } => {
                wait(spins);
                request.cancel();
            }
            Self::Host { spins } => {
                wait(spins);
                request.host().cancel_all(&Error::cancelled());
                request.host().restart();
            }
        }
    }
}

fn matches(found: &Result<i64, String>, expected: &Expected, may_be_cancelled: bool) -> bool {
    match (found, expected) {
        (Ok(found), Expected::Number(expected)) => found == expected,
        (Ok(_), Expected::AnyNumber) => true,
        (Err(found), Expected::Error(expected)) if found == expected => true,
        (Err(found), _) => found == "Cancelled" && may_be_cancelled,
        // An error for which the kernel should have been skipped.
        (Ok(_), Expected::Error(_)) => false,
    }
}

fn run_round(seed: u64, hosts: &HashMap<&str, Arc<HostContext>>) {
    let mut random = Random(seed);
    let graphs = match random.below(2) {
        0 => program(&mut random),
        _ => shapes::program(&mut random),
    };
    let cancels_itself = graphs
        .iter()
        .flat_map(|graph| &graph.nodes)
        .any(|node| node.op == CANCEL.name);
    let expected = model(&graphs, 0, &[]);
    let file = build(&graphs);
    for (queue, host) in hosts {
        let program = Program::load(host, &file).expect("the kernels exist");
        program.verify_all().expect("the bodies are well formed");
        let main = program.function("f0").expect("the first function");
        let cancel = Cancel::choose(&mut random);
        let may_be_cancelled = cancels_itself || cancel != Cancel::Nobody;
        let request = cancel.request(host);
        let ctx = ExecutionContext::new(Arc::clone(&request));
        thread::scope(|scope| {
            if matches!(cancel, Cancel::Thread { .. } | Cancel::Host { .. }) {
                scope.spawn(|| cancel.run(&request));
            }
            let results: Vec<AnyRef> = main.execute(&ctx, &[]);
            host.await_available(&results).expect("not a worker");
            for (index, (value, expected)) in results.iter().zip(&expected).enumerate() {
                let found = outcome(value);
                assert!(
                    matches(&found, expected, may_be_cancelled),
                    "seed {seed}, {queue}, {cancel:?}, result {index}: {found:?} instead of {expected:?}\n{graphs:#?}"
                );
            }
        });
        host.quiesce().expect("not a worker");
    }
}

#[test]
fn random_programs_end_as_a_sequential_model_does_or_cancelled() {
    let _alone = alone();
    let number =
        |name, default| std::env::var(name).map_or(default, |text| text.parse().expect("a number"));
    let first_seed: u64 = number("TFRT_STRESS_SEED", 1);
    let num_rounds: u64 = number("TFRT_STRESS", if cfg!(miri) { 3 } else { 100 });
    let hosts: HashMap<_, _> = QUEUES
        .into_iter()
        .map(|queue| (queue, host(queue).build()))
        .collect();
    for seed in first_seed..first_seed + num_rounds {
        run_round(seed, &hosts);
    }
}
