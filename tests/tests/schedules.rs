//! Functions follow a schedule where their order is known. Whether they do must change neither what
//! a program returns, nor in which order a queue that keeps an order has side effects, nor what is
//! reported; nor may tracing.
//!
//! Random programs run in three ways: following schedules, the same while traced, and in the ready
//! loop alone. Several functions are started before one is waited for. The same with kernels that
//! wait for all tasks, and on queues that run tasks at once or the last one first, under which a
//! function leaves its order. `schedules::wide` does the same with more of the language.
//! `tests/random_programs` runs any number of them, and one of them alone.

use std::fmt::Write as _;
use std::sync::{Arc, Barrier, Mutex, OnceLock, PoisonError, mpsc};

use tfrt::executor::Program;
use tfrt::host::tracing::{self, Activity, TracingLevel, TracingSink};
use tfrt::host::{Limits, RequestContextBuilder, Rounds};
use tfrt::prelude::*;
use tfrt::queue::{ConcurrentWorkQueue, SingleThreadedQueue, create_queue};

use schedules::OtherQueue;

tfrt::link!(tfrt_kernels);

mod schedules {
    mod kernels;
    mod queues;
    mod wide;
    mod writer;

    pub(crate) use queues::OtherQueue;
}

/// What has happened, in order.
static LOG: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// One test at a time: there is one sink, and one log.
static ALONE: Mutex<()> = Mutex::new(());

fn log(line: String) {
    LOG.lock()
        .unwrap_or_else(PoisonError::into_inner)
        .push(line);
}

/// Notes a number.
#[tfrt_kernel("schedules.note", side_effecting)]
fn note(number: i32) {
    log(number.to_string());
}

/// Returns the number, from a task.
#[tfrt_kernel("schedules.later")]
fn later(number: i32, ctx: &ExecutionContext) -> AsyncValueRef<i32> {
    let (promise, result) = AsyncValueRef::unconstructed();
    ctx.enqueue(move || promise.emplace(number));
    result
}

/// Panics if the number is 3.
#[tfrt_kernel("schedules.not_three", pure)]
fn not_three(number: i32) -> i32 {
    assert_ne!(number, 3, "a three");
    number
}

/// Adds, after it has waited for all tasks if the sum is even and this thread may wait.
#[tfrt_kernel("schedules.add")]
fn add(a: i32, b: i32, ctx: &ExecutionContext) -> i32 {
    let sum = a.wrapping_add(b);
    if sum % 2 == 0 {
        let _ = ctx.queue().quiesce();
    }
    sum
}

/// Where `wait_for_note` learns that `send_note` has run.
static NOTES: Mutex<Option<mpsc::Receiver<i32>>> = Mutex::new(None);

static SENDER: Mutex<Option<mpsc::Sender<i32>>> = Mutex::new(None);

/// Gives what `send_note` has sent.
#[tfrt_kernel("schedules.wait_for_note")]
fn wait_for_note(_number: i32) -> i32 {
    let notes = NOTES.lock().unwrap_or_else(PoisonError::into_inner).take();
    notes.map_or(-1, |notes| notes.recv().unwrap_or(-2))
}

/// Sends a number, and gives it.
#[tfrt_kernel("schedules.send_note")]
fn send_note(number: i32) -> i32 {
    let sender = SENDER.lock().unwrap_or_else(PoisonError::into_inner).take();
    if let Some(sender) = sender {
        let _ = sender.send(number);
    }
    number
}

/// Takes long.
#[tfrt_kernel("schedules.slow", pure)]
fn slow(number: i32) -> i32 {
    let start = std::time::Instant::now();
    while start.elapsed() < std::time::Duration::from_micros(50) {
        std::hint::spin_loop();
    }
    number
}

/// Returns the number of the thread.
#[tfrt_kernel("schedules.thread", effect_free)]
fn thread(number: i32) -> i64 {
    let mut threads = THREADS.lock().unwrap_or_else(PoisonError::into_inner);
    let id = std::thread::current().id();
    if !threads.contains(&id) {
        threads.push(id);
    }
    i64::from(number)
}

static THREADS: Mutex<Vec<std::thread::ThreadId>> = Mutex::new(Vec::new());

#[derive(Debug)]
struct Nowhere;

impl TracingSink for Nowhere {
    fn begin(&self, _activity: Activity<'_>) {}
    fn end(&self) {}
    fn event(&self, _name: &str) {}
}

struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % end
    }
}

/// Writes functions that call those before them.
struct Writer {
    random: Random,
    text: String,
    next: usize,
    num_functions: usize,
    num_errors: usize,
}

impl Writer {
    /// `f0`, `f1`, … and `main`.
    fn program(seed: u64) -> String {
        let mut writer = Self {
            random: Random(seed),
            text: String::new(),
            next: 0,
            num_functions: 0,
            num_errors: 0,
        };
        for number in 0..4 {
            let has_effects = writer.random.below(4) == 0;
            let _ = writeln!(
                writer.text,
                "func @f{number}(%a: i32, %b: i32, %ch: !tfrt.chain) -> i32 {{"
            );
            let last = writer.body(has_effects, 2);
            let _ = writeln!(writer.text, "tfrt.return {last} : i32\n}}");
            writer.num_functions += 1;
        }
        writer
            .text
            .push_str("func @main(%a: i32, %b: i32, %ch: !tfrt.chain) -> i32 {\n");
        let last = writer.body(true, 2);
        let _ = writeln!(writer.text, "tfrt.return {last} : i32\n}}");
        writer.text
    }

    fn fresh(&mut self) -> String {
        self.next += 1;
        format!("%v{}", self.next)
    }

    /// A body whose arguments are `%a`, `%b` and `%ch`; the register of the last number.
    fn body(&mut self, has_effects: bool, depth: usize) -> String {
        let mut numbers = vec!["%a".to_owned(), "%b".to_owned()];
        let mut chains = vec!["%ch".to_owned()];
        for _ in 0..2 + self.random.below(6) {
            let to = self.fresh();
            let x = numbers[self.random.below(numbers.len())].clone();
            // A region names what it takes as its operands are named: two of them must not be the
            // same.
            let others: Vec<&String> = numbers.iter().filter(|&other| *other != x).collect();
            let y = others[self.random.below(others.len())].clone();
            let chain = chains[self.random.below(chains.len())].clone();
            let line = match self.random.below(13) {
                0 => format!("{to} = tfrt.constant.i32 {}", self.random.below(4)),
                1 | 2 => format!("{to} = tfrt.add.i32 {x}, {y}"),
                3 => format!("{to} = \"tfrt.minus.i32\"({x}, {y}) : (i32, i32) -> i32"),
                4 if self.num_errors < 2 => {
                    self.num_errors += 1;
                    let rest = self.fresh();
                    format!("{to}, {rest} = tfrt.div.i32 {x}, {y}")
                }
                5 if self.num_errors < 2 => {
                    self.num_errors += 1;
                    format!("{to} = \"schedules.not_three\"({x}) : (i32) -> i32")
                }
                6 if has_effects => format!("{to} = \"schedules.later\"({x}) : (i32) -> i32"),
                7 | 8 if has_effects => {
                    chains.push(format!("{to}c"));
                    format!(
                        "{to}c = \"schedules.note\"({x}, {chain}) : (i32, !tfrt.chain) -> \
                         !tfrt.chain\n{to} = tfrt.constant.i32 5"
                    )
                }
                9 if depth > 0 => {
                    let condition = self.fresh();
                    let _ = writeln!(
                        self.text,
                        "{condition} = \"tfrt.lessequal.i32\"({x}, {y}) : (i32, i32) -> i1"
                    );
                    let _ = writeln!(
                        self.text,
                        "{to} = tfrt.if {condition}, {x}, {y}, {chain} : (i32, i32, !tfrt.chain) \
                         -> (i32) {{"
                    );
                    let first = self.region(&x, &y, &chain, has_effects, depth - 1);
                    let _ = writeln!(self.text, "tfrt.return {first} : i32\n}} else {{");
                    let second = self.region(&x, &y, &chain, has_effects, depth - 1);
                    let _ = writeln!(self.text, "tfrt.return {second} : i32");
                    "}".to_owned()
                }
                10 if depth > 0 && has_effects => {
                    let _ = writeln!(
                        self.text,
                        "{to}, {to}b = tfrt_test.do.async {x}, {y}, {chain} : (i32, i32, \
                         !tfrt.chain) -> (i32, i32) {{"
                    );
                    let last = self.region(&x, &y, &chain, has_effects, depth - 1);
                    let _ = writeln!(self.text, "tfrt.return {last}, {y} : i32, i32");
                    numbers.push(format!("{to}b"));
                    "}".to_owned()
                }
                _ if self.num_functions > 0 => {
                    let callee = self.random.below(self.num_functions);
                    format!(
                        "{to} = tfrt.call @f{callee}({x}, {y}, {chain}) : (i32, i32, !tfrt.chain) \
                         -> (i32)"
                    )
                }
                _ => format!("{to} = tfrt.add.i32 {x}, {y}"),
            };
            let _ = writeln!(self.text, "{line}");
            numbers.push(to);
        }
        // Often one that others use, too.
        numbers.swap_remove(self.random.below(numbers.len()))
    }

    fn region(&mut self, x: &str, y: &str, chain: &str, has_effects: bool, depth: usize) -> String {
        let start = self.text.len();
        let last = self.body(has_effects, depth);
        let rename = |text: &str| {
            let mut renamed = String::new();
            for line in text.lines() {
                let words = line.split_inclusive([' ', ',', '(', ')']).map(|word| {
                    let end = word.trim_end_matches([' ', ',', '(', ')']).len();
                    let (name, tail) = word.split_at(end);
                    let name = match name {
                        "%a" => x,
                        "%b" => y,
                        "%ch" => chain,
                        other => other,
                    };
                    format!("{name}{tail}")
                });
                renamed.extend(words);
                renamed.push('\n');
            }
            renamed
        };
        let renamed = rename(&self.text[start..]);
        self.text.truncate(start);
        self.text.push_str(&renamed);
        rename(&last).trim_end().to_owned()
    }
}

/// All kernels.
fn registry() -> &'static Arc<KernelRegistry> {
    static REGISTRY: OnceLock<Arc<KernelRegistry>> = OnceLock::new();
    REGISTRY.get_or_init(|| Arc::new(KernelRegistry::from_link().expect("names are unique")))
}

fn host(queue: &str, limits: Limits) -> Arc<HostContext> {
    host_of(create_queue(queue).expect("a known queue"), limits)
}

fn host_of(queue: Arc<dyn ConcurrentWorkQueue>, limits: Limits) -> Arc<HostContext> {
    HostContext::builder()
        .registry(Arc::clone(registry()))
        .queue(queue)
        .limits(limits)
        .diagnostic_handler(|diagnostic| log(diagnostic.to_string()))
        .build()
}

fn load(host: &Arc<HostContext>, source: &str) -> Arc<Program> {
    let file = tfrt::text::compile(source, "program.mlir", host.registry())
        .unwrap_or_else(|errors| panic!("{errors:?}\n{source}"));
    Program::load(host, &file).expect("a sound program")
}

/// Runs a function of a program; what it returns, and what has happened.
fn run(
    program: &Arc<Program>,
    name: &str,
    host: &Arc<HostContext>,
    arguments: &[AnyRef],
) -> (String, Vec<String>) {
    LOG.lock().unwrap_or_else(PoisonError::into_inner).clear();
    let ctx = ExecutionContext::new(RequestContextBuilder::new(Arc::clone(host)).build());
    let function = program.function(name).expect("it is there");
    let mut results = function.execute(&ctx, arguments);
    // Random programs have more functions.
    for other in ["f1", "main", "f3"] {
        if let Some(other) = program.function(other).filter(|_| name == "main") {
            results.extend(other.execute(&ctx, arguments));
        }
    }
    host.await_available(&results).expect("not a worker");
    host.queue().quiesce().expect("not a worker");
    let given: Vec<String> = results
        .iter()
        .map(|value| match value.error_if_present() {
            Some(error) => error.to_string(),
            None => format!("{:?}", value.get::<i32>()),
        })
        .collect();
    let log = std::mem::take(&mut *LOG.lock().unwrap_or_else(PoisonError::into_inner));
    (given.join(", "), log)
}

/// As [`run`], while a sink is told of every kernel.
fn run_traced(
    program: &Arc<Program>,
    name: &str,
    host: &Arc<HostContext>,
    arguments: &[AnyRef],
) -> (String, Vec<String>) {
    tracing::set_sink(Some(Arc::new(Nowhere)));
    tracing::enable(TracingLevel::Debug);
    let outcome = run(program, name, host, arguments);
    tracing::enable(TracingLevel::None);
    tracing::set_sink(None);
    outcome
}

/// As [`run`], where no function follows a schedule.
fn run_in_ready_loop(
    program: &Arc<Program>,
    name: &str,
    host: &Arc<HostContext>,
    arguments: &[AnyRef],
) -> (String, Vec<String>) {
    tfrt::executor::follow_schedules(false);
    let outcome = run(program, name, host, arguments);
    tfrt::executor::follow_schedules(true);
    outcome
}

/// The program with kernels that wait in place of additions.
fn with_waits(source: &str) -> String {
    let mut text = String::new();
    for line in source.lines() {
        let _ = match line.split_once(" = tfrt.add.i32 ") {
            Some((to, operands)) => writeln!(
                text,
                "{to} = \"schedules.add\"({operands}) : (i32, i32) -> i32"
            ),
            None => writeln!(text, "{line}"),
        };
    }
    text
}

const ARGUMENTS: [(i32, i32); 3] = [(0, 1), (1, 0), (2, 3)];

fn arguments(a: i32, b: i32) -> [AnyRef; 3] {
    [
        AnyRef::available(a),
        AnyRef::available(b),
        AnyRef::ready_chain(),
    ]
}

/// Compares the ways in which a program may run where a function leaves its order.
fn compare_disturbed(seed: u64, source: &str) {
    let queues: [Arc<dyn ConcurrentWorkQueue>; 3] = [
        Arc::new(SingleThreadedQueue::new()),
        Arc::new(OtherQueue::AtOnce),
        Arc::new(OtherQueue::LastFirst(Mutex::default())),
    ];
    for queue in queues {
        let name = queue.name();
        let host = host_of(queue, Limits::default());
        let program = load(&host, source);
        for (a, b) in ARGUMENTS {
            let arguments = arguments(a, b);
            let expected = run_in_ready_loop(&program, "main", &host, &arguments);
            let traced = run_traced(&program, "main", &host, &arguments);
            assert_eq!(
                traced, expected,
                "program {seed}, {name}, traced:\n{source}"
            );
            let found = run(&program, "main", &host, &arguments);
            assert_eq!(found, expected, "program {seed}, {name}:\n{source}");
        }
    }
}

/// Checks the program of each seed: of those that are kept and of so many others, `TFRT_STRESS`
/// times as many, or of those that `TFRT_SEEDS=FROM..TO` names.
///
/// In that case the number of each program is printed before it runs, so that one that kills the
/// process or hangs is known. Returns whether these were the programs of every day.
fn check_programs(kept: &[u64], count: u64, mut check: impl FnMut(u64)) -> bool {
    let Ok(range) = std::env::var("TFRT_SEEDS") else {
        let times =
            std::env::var("TFRT_STRESS").map_or(1, |times| times.parse().expect("a number"));
        kept.iter().copied().chain(0..count * times).for_each(check);
        return true;
    };
    let ends = range.split_once("..").and_then(|(from, to)| {
        let (from, to): (u64, u64) = (from.parse().ok()?, to.parse().ok()?);
        Some(from..to)
    });
    for seed in ends.expect("`TFRT_SEEDS` is of the form `FROM..TO`") {
        eprintln!("program {seed}");
        check(seed);
    }
    false
}

/// Bodies of loops.
const BODIES: &str = "
func @fibonacci(%a: i32, %b: i32) -> (i32, i32) {
  %sum = tfrt.add.i32 %a, %b
  tfrt.return %b, %sum : i32, i32
}
func @hands_on(%a: i32, %b: i32) -> (i32, i32) {
  %one = tfrt.constant.i32 1
  %c = tfrt.add.i32 %a, %one
  tfrt.return %b, %c : i32, i32
}
func @twice(%a: i32, %b: i32) -> (i32, i32) {
  %sum = tfrt.add.i32 %a, %b
  tfrt.return %sum, %sum : i32, i32
}
func @until(%a: i32, %end: i32) -> (i32, i32, i1) {
  %one = tfrt.constant.i32 1
  %b = tfrt.add.i32 %a, %one
  %goes_on = \"tfrt.lessequal.i32\"(%b, %end) : (i32, i32) -> i1
  tfrt.return %b, %end, %goes_on : i32, i32, i1
}
func @fails_at_three(%a: i32, %b: i32) -> (i32, i32) {
  %c = tfrt.add.i32 %a, %b
  %d = \"schedules.not_three\"(%c) : (i32) -> i32
  tfrt.return %d, %b : i32, i32
}
func @later(%a: i32, %b: i32) -> (i32, i32) {
  %c = \"schedules.later\"(%a) : (i32) -> i32
  %d = tfrt.add.i32 %c, %b
  tfrt.return %d, %b : i32, i32
}
func @calls(%a: i32, %b: i32) -> (i32, i32) {
  %c, %d = tfrt.call @fibonacci(%a, %b) : (i32, i32) -> (i32, i32)
  %e, %f = tfrt.call @fibonacci(%c, %d) : (i32, i32) -> (i32, i32)
  tfrt.return %e, %f : i32, i32
}
";

/// The number of rounds of a function that run in place, and the values after them.
fn rounds(
    name: &str,
    rounds: Rounds,
    numbers: [i32; 2],
    ctx: &ExecutionContext,
) -> (u32, Vec<String>) {
    let program = load(ctx.host(), BODIES);
    let function = program.function(name).expect("it is there");
    let mut values = numbers.map(AnyRef::available).to_vec();
    let num_rounds = function.execute_rounds(ctx, rounds, &mut values);
    let told = values.iter().map(|value| match value.error_if_present() {
        Some(error) => error.message().to_owned(),
        None if value.is_available() => match value.get::<bool>() {
            Some(bit) => bit.to_string(),
            None => format!("{:?}", value.get::<i32>()),
        },
        None => "later".to_owned(),
    });
    let told = told.collect();
    ctx.host().quiesce().expect("not a worker");
    (num_rounds, told)
}

#[test]
fn rounds_that_carry_copied_payloads_run_in_place_until_one_leaves_its_schedule() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let host = host("s", Limits::default());
    let ctx = ExecutionContext::new(RequestContextBuilder::new(Arc::clone(&host)).build());
    let check = |name, of, numbers, (expected, values): (u32, &[&str])| {
        let values = values.iter().map(|&value| value.to_owned()).collect();
        assert_eq!(
            rounds(name, of, numbers, &ctx),
            (expected, values),
            "{name}"
        );
    };
    let ten = Rounds::Count(10);
    check("fibonacci", ten, [0, 1], (10, &["Some(55)", "Some(89)"]));
    check(
        "calls",
        Rounds::Count(5),
        [0, 1],
        (5, &["Some(55)", "Some(89)"]),
    );
    check(
        "until",
        Rounds::WhileTrue,
        [0, 5],
        (6, &["Some(6)", "Some(5)", "false"]),
    );
    let (num_rounds, values) = rounds("fails_at_three", ten, [0, 1], &ctx);
    assert_eq!(num_rounds, 3);
    assert!(values[0].contains("a three"), "{values:?}");
    assert_eq!(values[1], "Some(1)");
    check("later", ten, [1, 2], (1, &["later", "Some(2)"]));
    check("hands_on", ten, [0, 1], (10, &["Some(5)", "Some(6)"]));

    // Neither of these is for rounds in place, and nothing has happened.
    let untouched = ["Some(0)", "Some(1)"].as_slice();
    check("twice", ten, [0, 1], (0, untouched));
    check("until", ten, [0, 1], (0, untouched));
    check("fibonacci", Rounds::WhileTrue, [0, 1], (0, untouched));
    check("fibonacci", Rounds::Count(0), [0, 1], (0, untouched));
    ctx.request().cancel();
    check("fibonacci", ten, [0, 1], (0, untouched));
}

/// Programs that once showed a difference.
const KEPT_SEEDS: [u64; 1] = [
    // A call was not skipped because of an error that its callee does not read.
    12973,
];

#[test]
fn random_programs_do_what_they_do_in_the_ready_loop() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let mut num_with_effects = 0;
    let is_whole = check_programs(&KEPT_SEEDS, 600, |seed| {
        let source = Writer::program(seed);
        let ordered = host("s", Limits::default());
        let parallel = host("mstd:2", Limits::default());
        let (program, parallel_program) = (load(&ordered, &source), load(&parallel, &source));
        // One of a few, as these take long.
        if seed % 16 == 0 {
            compare_disturbed(seed, &with_waits(&source));
        }
        for (a, b) in ARGUMENTS {
            let arguments = arguments(a, b);
            let expected = run_in_ready_loop(&program, "main", &ordered, &arguments);
            let traced = run_traced(&program, "main", &ordered, &arguments);
            assert_eq!(traced, expected, "program {seed}, traced:\n{source}");
            let found = run(&program, "main", &ordered, &arguments);
            assert_eq!(found, expected, "program {seed}:\n{source}");
            num_with_effects += usize::from(found.1.len() > 2);
            // Several threads have effects in any order.
            let found = run(&parallel_program, "main", &parallel, &arguments);
            assert_eq!(
                found.0, expected.0,
                "program {seed}, two threads:\n{source}"
            );
        }
    });
    assert!(
        num_with_effects > 100 || !is_whole,
        "{num_with_effects} programs have effects"
    );
}

const FIBONACCI: &str = "
func @fib(%n: i32) -> i32 {
  %one = tfrt.constant.i32 1
  %is_small = \"tfrt.lessequal.i32\"(%n, %one) : (i32, i32) -> i1
  %r = tfrt.if %is_small, %n, %one : (i32, i32) -> (i32) {
    %m = \"schedules.not_three\"(%n) : (i32) -> i32
    tfrt.return %m : i32
  } else {
    %two = tfrt.constant.i32 2
    %a = \"tfrt.minus.i32\"(%n, %one) : (i32, i32) -> i32
    %b = \"tfrt.minus.i32\"(%n, %two) : (i32, i32) -> i32
    %x = tfrt.call @fib(%a) : (i32) -> (i32)
    %y = tfrt.call @fib(%b) : (i32) -> (i32)
    %s = tfrt.add.i32 %x, %y
    tfrt.return %s : i32
  }
  tfrt.return %r : i32
}

func @down(%n: i32) -> i32 {
  %one = tfrt.constant.i32 1
  %a = \"tfrt.minus.i32\"(%n, %one) : (i32, i32) -> i32
  %r = tfrt.call @down(%a) : (i32) -> (i32)
  tfrt.return %r : i32
}
";

#[test]
fn recursion_ends_at_the_limit_with_the_same_error() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let limits = Limits {
        max_call_depth: 50,
        ..Limits::default()
    };
    for queue in ["s", "mstd:2"] {
        let host = host(queue, limits);
        let program = load(&host, FIBONACCI);
        let arguments = [AnyRef::available(10)];
        assert_eq!(
            run(&program, "fib", &host, &arguments).0,
            "Some(55)",
            "under {queue}"
        );
        let (found, log) = run(&program, "down", &host, &arguments);
        assert!(
            found.contains("function calls are nested more than 50 levels deep"),
            "{found}"
        );
        let (expected, expected_log) = run_in_ready_loop(&program, "down", &host, &arguments);
        assert_eq!((found, log), (expected, expected_log), "under {queue}");
    }
}

#[test]
fn a_cancelled_request_ends_a_function_that_follows_its_schedule() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let host = host("s", Limits::default());
    let program = load(&host, FIBONACCI);
    let fib = program.function("fib").expect("it is there");
    let request = RequestContextBuilder::new(Arc::clone(&host)).build();
    let canceller = Arc::clone(&request);
    let ctx = ExecutionContext::new(request);
    std::thread::scope(|scope| {
        // Would take days.
        let results = scope.spawn(|| {
            let results = fib.execute(&ctx, &[AnyRef::available(60)]);
            host.await_available(&results).expect("not a worker");
            results
        });
        canceller.cancel_with(Error::new("enough"));
        let results = results.join().expect("it ends");
        assert_eq!(
            results[0].error_if_present().map(Error::message),
            Some("enough")
        );
    });
}

#[test]
fn slow_kernels_are_shared_by_threads() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let mut source = String::from("func @main(%a: i32) -> i64 {\n");
    for number in 0..64 {
        let _ = writeln!(source, "%s{number} = \"schedules.slow\"(%a) : (i32) -> i32");
        let _ = writeln!(
            source,
            "%t{number} = \"schedules.thread\"(%s{number}) : (i32) -> i64"
        );
    }
    source.push_str("tfrt.return %t63 : i64\n}\n");
    let host = host("mstd:2", Limits::default());
    let program = load(&host, &source);
    THREADS
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .clear();
    // The first runs find out.
    let is_shared = (0..100).any(|_| {
        let _ = run(&program, "main", &host, &[AnyRef::available(1)]);
        THREADS.lock().unwrap_or_else(PoisonError::into_inner).len() > 1
    });
    assert!(is_shared, "one thread has done all");
}

/// Two kernels of two streams, and one that needs both.
const PAIR: &str = "
func @pair(%a: i32) -> i32 {
  %x = \"schedules.wait_for_note\"(%a) : (i32) -> i32
  %y = \"schedules.send_note\"(%a) : (i32) -> i32
  %r = tfrt.add.i32 %x, %y
  tfrt.return %r : i32
}
";

#[test]
fn a_segment_may_wait_for_what_another_thread_runs() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let host = host("s", Limits::default());
    let program = load(&host, PAIR);
    for _ in 0..20 {
        let (sender, receiver) = mpsc::channel();
        *SENDER.lock().unwrap_or_else(PoisonError::into_inner) = Some(sender);
        *NOTES.lock().unwrap_or_else(PoisonError::into_inner) = Some(receiver);
        let (promise, is_over) = AsyncValueRef::<i32>::unconstructed();
        let is_over = AnyRef::from(is_over);
        let start = Barrier::new(2);
        let found = std::thread::scope(|scope| {
            // Runs tasks of the queue while the first kernel blocks its own thread.
            scope.spawn(|| {
                start.wait();
                host.await_available(std::slice::from_ref(&is_over))
                    .expect("not a worker");
            });
            start.wait();
            let found = run(&program, "pair", &host, &[AnyRef::available(3)]);
            promise.emplace(1);
            found
        });
        assert_eq!(found.0, "Some(6)");
    }
}

/// Results of an `async fn` that is done at once: read in place, taken as a reference, returned,
/// handed on by a call, and not used.
const AT_ONCE: &str = "
func @sum(%a: i32, %b: i32) -> i32 {
  %s = tfrt.add.i32 %a, %b
  tfrt.return %s : i32
}
func @done(%a: i32) -> (i32, i32, i32, i32, !wide.tracked) {
  %x = \"wide.at_once\"(%a) : (i32) -> i32
  %y = tfrt.add.i32 %x, %a
  %z = \"wide.at_once\"(%y) : (i32) -> i32
  %s = tfrt.call @sum(%x, %z) : (i32, i32) -> (i32)
  %r = \"wide.now\"(%z, %z) {callee = @sum} : (i32, i32) -> (i32)
  %b, %o = \"wide.both_at_once\"(%x) : (i32) -> (i32, !wide.tracked)
  %unused = \"wide.at_once\"(%b) : (i32) -> i32
  tfrt.return %x, %s, %r, %b, %o : i32, i32, i32, i32, !wide.tracked
}
";

#[test]
fn an_async_function_that_is_done_at_once_returns_the_same_in_every_way() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    for queue in ["s", "mstd:2"] {
        let host = host(queue, Limits::default());
        let program = load(&host, AT_ONCE);
        for (a, expected) in [
            (10, "Some(11), Some(33), Some(44), Some(11), None"),
            (3, "Some(4), Some(12), Some(16), a four, a four"),
        ] {
            let arguments = [AnyRef::available(a)];
            for run in [run, run_traced, run_in_ready_loop] {
                let (found, _) = run(&program, "done", &host, &arguments);
                assert_eq!(found, expected, "under {queue}");
            }
        }
    }
}
