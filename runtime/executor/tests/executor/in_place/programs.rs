//! Random programs, run with kernels in place, with framed twins of them, and with a mixture of
//! both.
//!
//! `TFRT_STRESS` sets the number of rounds, by default a few, and `TFRT_STRESS_SEED` the first
//! seed.

use std::fmt::Write as _;
use std::sync::{Arc, Mutex, PoisonError};

use tfrt_async::{AnyRef, ByteString, IndirectPromise};
use tfrt_executor::Program;
use tfrt_host::{ExecutionContext, HostContext, RequestContextBuilder};
use tfrt_queue::{ConcurrentWorkQueue, Task, WouldDeadlock};
use tfrt_support::Error;

use super::{LOG, Outcome, TWINS, Traced, outcome, registry, without_twins};
use crate::support::{
    ASYNC_SUM, CALL, CALL_EARLY, Graph, Node, Random, SELECT, SUM, alone, build_for, queue_of,
};

/// An argument of a function.
#[derive(Clone, Copy, Debug)]
enum Argument {
    Number(i64),
    Text,
    Error,
    LaterNumber(i64),
    LaterText,
    LaterError,
}

impl Argument {
    fn choose(random: &mut Random) -> Self {
        let number = random.below(100) as i64;
        match random.below(12) {
            0..5 => Self::Number(number),
            5..7 => Self::Text,
            7 => Self::Error,
            8..10 => Self::LaterNumber(number),
            10 => Self::LaterText,
            _ => Self::LaterError,
        }
    }

    /// Returns the value, and the promise that is to be kept for it with the promised value.
    fn make(self) -> (AnyRef, Option<(IndirectPromise, AnyRef)>) {
        let later = |value| {
            let (promise, indirect) = AnyRef::indirect();
            (indirect, Some((promise, value)))
        };
        match self {
            Self::Number(number) => (AnyRef::available(number), None),
            Self::Text => (AnyRef::available(ByteString::from("an argument")), None),
            Self::Error => (AnyRef::error(Error::new("an argument")), None),
            Self::LaterNumber(number) => later(AnyRef::available(number)),
            Self::LaterText => later(AnyRef::available(ByteString::from("late"))),
            Self::LaterError => later(AnyRef::error(Error::new("a late argument"))),
        }
    }
}

/// Runs tasks in an order that depends on a seed, while a thread waits.
#[derive(Debug)]
struct AnyOrder {
    tasks: Mutex<(Vec<Task>, u64)>,
}

impl AnyOrder {
    fn take(&self) -> Option<Task> {
        let mut guard = self.tasks.lock().unwrap_or_else(PoisonError::into_inner);
        let (tasks, seed) = &mut *guard;
        let mut random = Random(*seed);
        let index = random.below(tasks.len());
        *seed = random.next();
        (!tasks.is_empty()).then(|| tasks.swap_remove(index))
    }
}

impl ConcurrentWorkQueue for AnyOrder {
    fn name(&self) -> String {
        "any order".into()
    }

    fn add_task(&self, task: Task) {
        let mut tasks = self.tasks.lock().unwrap_or_else(PoisonError::into_inner);
        tasks.0.push(task);
    }

    fn add_blocking_task(&self, task: Task, _: bool) -> Result<(), Task> {
        Err(task)
    }

    fn await_values(&self, _: &[AnyRef]) -> Result<(), WouldDeadlock> {
        self.quiesce()
    }

    fn quiesce(&self) -> Result<(), WouldDeadlock> {
        while let Some(task) = self.take() {
            task.run();
        }
        Ok(())
    }

    /// More than one, so that batches are divided.
    fn parallelism_level(&self) -> usize {
        2
    }

    fn is_in_worker_thread(&self) -> bool {
        false
    }
}

/// The outcome of a run of a program.
#[derive(Debug, PartialEq)]
struct Run {
    outcomes: Vec<Outcome>,
    /// What ran and what was reported, in order.
    story: String,
}

fn run(queue: Arc<dyn ConcurrentWorkQueue>, graphs: &[Graph], arguments: &[Argument]) -> Run {
    let reports = Arc::new(Mutex::new(String::new()));
    let told = Arc::clone(&reports);
    let host = HostContext::builder()
        .registry(registry(&[]))
        .queue(queue)
        .diagnostic_handler(move |error| {
            let mut told = told.lock().unwrap_or_else(PoisonError::into_inner);
            writeln!(told, "{}", without_twins(error.message())).expect("a string takes all");
        })
        .build();
    let (arguments, promises): (Vec<_>, Vec<_>) =
        arguments.iter().map(|argument| argument.make()).unzip();
    let program = Program::load(&host, &build_for(&arguments, graphs)).expect("the kernels exist");
    program.verify_all().expect("the bodies are well formed");
    LOG.lock().unwrap_or_else(PoisonError::into_inner).clear();
    let ctx = ExecutionContext::new(RequestContextBuilder::new(Arc::clone(&host)).build());
    let main = program.function("f0").expect("the first function");
    let results = main.execute(&ctx, &arguments);
    for (promise, value) in promises.into_iter().flatten() {
        promise.forward_to(value);
    }
    host.await_available(&results).expect("not a worker");
    host.quiesce().expect("not a worker");
    for result in &results {
        assert!(!result.is_unique(), "a result of a function: {result:?}");
    }
    let mut story = LOG.lock().unwrap_or_else(PoisonError::into_inner).join(" ");
    story.push_str(&reports.lock().unwrap_or_else(PoisonError::into_inner));
    Run {
        outcomes: results.iter().map(outcome).collect(),
        story,
    }
}

/// Returns a function that calls only `behind`, the functions that follow it, with twins in place
/// of some kernels.
fn graph(
    random: &mut Random,
    num_arguments: usize,
    first_behind: usize,
    behind: &[Graph],
) -> Graph {
    // The registers by kind: kernels mostly read registers of the kind that they expect.
    let (mut numbers, mut texts): (Vec<usize>, Vec<usize>) = (Vec::new(), Vec::new());
    let mut num_registers = num_arguments;
    numbers.extend(0..num_arguments);
    let num_streams = [1, 1, 3][random.below(3)];
    // Without strings, which are not copied payloads, a function of one stream follows a static
    // schedule.
    let has_texts = random.below(3) > 0;
    let mut nodes: Vec<Node> = Vec::new();
    let add = |node: Node, num_registers: &mut usize, nodes: &mut Vec<Node>| {
        let first = *num_registers;
        *num_registers += node.num_results;
        nodes.push(node);
        first
    };
    for kernel in ["test.constant", "test.constant_text"] {
        if kernel == "test.constant_text" && !has_texts {
            continue;
        }
        let node = Node {
            op: kernel,
            ..Node::new(&SUM, &[])
        };
        let register = add(node, &mut num_registers, &mut nodes);
        match kernel {
            "test.constant" => numbers.push(register),
            _ => texts.push(register),
        }
    }
    for _ in 0..1 + random.below(24) {
        let number = |random: &mut Random| match random.below(40) {
            0 => random.below(num_registers),
            _ => numbers[random.below(numbers.len())],
        };
        let text = |random: &mut Random| match random.below(40) {
            0 => random.below(num_registers),
            _ => *texts.get(random.below(texts.len())).unwrap_or(&0),
        };
        let (n, m) = (number(random), number(random));
        let (t, u) = (text(random), text(random));
        // Operands, and the kinds of the results: numbers, texts, others.
        let choice = match has_texts {
            true => random.below(30),
            false => [0, 0, 9, 11, 19, 24, 25, 26, 29][random.below(9)],
        };
        let (op, operands, results): (&'static str, Vec<usize>, &str) = match choice {
            0..3 => ("test.add", vec![n, m], "n"),
            3 => ("test.text_of", vec![n], "t"),
            4 => ("test.length", vec![t], "n"),
            5 | 6 => ("test.join", vec![t, u], "t"),
            7 | 8 => ("test.split", vec![n], "ntn"),
            9 => ("test.chained", vec![n], ["n", "n_"][random.below(2)]),
            10 => ("test.consume", vec![t], ""),
            11 => ("test.check", vec![n], "n"),
            12 => ("test.check_text", vec![t], "tn"),
            13 => ("test.burst", vec![n, t], "tn"),
            14 => ("test.pick", vec![n, m, n], "n"),
            15 => ("test.pick", vec![n, t, u], "t"),
            16 => ("test.peek", vec![[n, t][random.below(2)], m], "n"),
            17 => ("test.later", vec![n], "n"),
            18 => ("test.later_text", vec![n], "t"),
            19 if random.below(8) == 0 => ("test.cancel", vec![n], "n"),
            20 => (SUM.name, vec![n, t, m], "n"),
            21 => (ASYNC_SUM.name, vec![n, m], "n"),
            22 => (SELECT.name, vec![n, t, u], "t"),
            23 => (SELECT.name, vec![n, m, n], "n"),
            24 => ("test.depth", vec![], "n"),
            25 if !behind.is_empty() => ("test.call_now", vec![n], "n"),
            28 | 29 => {
                let mut operands = vec![n];
                for _ in 0..random.below(22) {
                    operands.push(match (has_texts, random.below(3)) {
                        (true, 0) => text(random),
                        _ => number(random),
                    });
                }
                ("test.gather", operands, "n")
            }
            26.. if !behind.is_empty() => {
                let callee = random.below(behind.len());
                let graph = &behind[callee];
                let mut node = match random.below(4) {
                    0 => Node::new(&CALL_EARLY, &[]).non_strict(),
                    _ => Node::new(&CALL, &[]),
                };
                node.operands = (0..graph.num_arguments).map(|_| number(random)).collect();
                node.num_results = graph.returns.len();
                let node = node
                    .calling(first_behind + callee)
                    .on(random.below(num_streams) as u32);
                let (first, num_results) = (num_registers, node.num_results);
                add(node, &mut num_registers, &mut nodes);
                numbers.extend(first..first + num_results);
                continue;
            }
            _ => ("test.add", vec![n, m], "n"),
        };
        let mut node = Node {
            op,
            ..Node::new(&SUM, &operands)
        };
        node.is_non_strict = op == SELECT.name;
        if op == "test.call_now" {
            node.callee = Some(first_behind + random.below(behind.len()));
        }
        node.stream = random.below(num_streams) as u32;
        node.num_results = results.len();
        // Sometimes a program uses fewer results.
        if random.below(20) == 0 {
            node.num_results = node.num_results.saturating_sub(1);
        }
        let num_results = node.num_results;
        let first = add(node, &mut num_registers, &mut nodes);
        for (index, kind) in results.chars().enumerate().take(num_results) {
            match kind {
                'n' => numbers.push(first + index),
                't' => texts.push(first + index),
                _ => {}
            }
        }
    }
    Graph {
        num_arguments,
        returns: (0..1 + random.below(8))
            .map(|_| random.below(num_registers))
            .collect(),
        nodes,
    }
}

/// Returns the program with the twins of some kernels: `num_of_eight` in eight, on average.
fn with_twins(graphs: &[Graph], random: &mut Random, num_of_eight: usize) -> Vec<Graph> {
    let mut graphs = graphs.to_vec();
    for node in graphs.iter_mut().flat_map(|graph| &mut graph.nodes) {
        if let Some([_, framed]) = TWINS.iter().find(|[direct, _]| direct.name == node.op)
            && random.below(8) < num_of_eight
        {
            node.op = framed.name;
        }
    }
    graphs
}

/// Seeds that once found a difference.
const KEPT_SEEDS: [u64; 2] = [133, 17_400];

#[test]
fn kernels_that_run_in_place_do_what_their_framed_twins_do() {
    let alone = alone();
    let number =
        |name, default| std::env::var(name).map_or(default, |text| text.parse().expect("a number"));
    let first_seed: u64 = number("TFRT_STRESS_SEED", 1);
    let num_rounds: u64 = number("TFRT_STRESS", if cfg!(miri) { 4 } else { 60 });
    for seed in (first_seed..first_seed + num_rounds).chain(KEPT_SEEDS) {
        let mut random = Random(seed);
        let mut graphs: Vec<Graph> = Vec::new();
        for index in (0..1 + random.below(3)).rev() {
            let num_arguments = random.below(4);
            graphs.insert(0, graph(&mut random, num_arguments, index + 1, &graphs));
        }
        let arguments: Vec<Argument> = (0..graphs[0].num_arguments)
            .map(|_| Argument::choose(&mut random))
            .collect();
        let framed = with_twins(&graphs, &mut random, 8);
        let expected = run(queue_of("s"), &framed, &arguments);
        let context = |what: &str| format!("seed {seed}, {what}: {arguments:?}\n{graphs:#?}");
        for num_of_eight in [0, 2, 5] {
            let mixed = with_twins(&graphs, &mut random, num_of_eight);
            let what = format!("{num_of_eight} of 8 framed");
            let found = run(queue_of("s"), &mixed, &arguments);
            assert_eq!(found, expected, "{}", context(&what));
            let traced = {
                let _traced = Traced::start();
                run(queue_of("s"), &mixed, &arguments)
            };
            assert_eq!(traced, expected, "traced, {}", context(&what));
            let queues: [Arc<dyn ConcurrentWorkQueue>; 2] = [
                queue_of("mstd:2"),
                Arc::new(AnyOrder {
                    tasks: Mutex::new((Vec::new(), seed)),
                }),
            ];
            for queue in queues {
                let what = format!("{what}, {}", queue.name());
                let found = run(queue, &mixed, &arguments);
                // The order decides when a request is cancelled, which error reaches a kernel that
                // ends a request first, and whether the argument of a call that does not wait is
                // available: one of another type is refused by the call, a pending one by the
                // kernels that read it.
                let depends_on_order = |outcome: &Outcome| match outcome {
                    Outcome::Error(error) => {
                        let is_argument =
                            error.starts_with("argument ") && error.contains(" of function ");
                        error == "Cancelled" || is_argument
                    }
                    _ => false,
                };
                for (found, expected) in found.outcomes.iter().zip(&expected.outcomes) {
                    assert!(
                        found == expected || depends_on_order(found) || depends_on_order(expected),
                        "{found:?} instead of {expected:?}: {}",
                        context(&what)
                    );
                }
            }
        }
        alone.assert_nothing_left(&format!("of seed {seed}"));
    }
}
