//! A small language for graphs: functions as lists of kernels, built into files and loaded.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tfrt_async::AnyRef;
use tfrt_bef::format::KernelFlags;
use tfrt_bef::write::{BefBuilder, Body, BodyKernel, WriteOptions};
use tfrt_bef::{BefFile, FunctionId, FunctionKind, RegisterId};
use tfrt_executor::Program;
use tfrt_host::kernel::{KernelDescriptor, KernelFrame, KernelRegistry};
use tfrt_host::{ExecutionContext, HostContext, HostContextBuilder, RequestContextBuilder};
use tfrt_ods::{OpDef, OpTraits, OperandDef, ResultDef, TypeConstraint};
use tfrt_queue::{ConcurrentWorkQueue, create_queue};
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

/// Every result is 1 plus the sum of the operands, and is available on return.
pub static SUM: OpDef = op("test.sum");
/// Like `SUM`, computed by a task.
pub static ASYNC_SUM: OpDef = op("test.async_sum");
/// Fails.
pub static FAIL: OpDef = op("test.fail");
/// Panics.
pub static PANIC: OpDef = op("test.panic");
/// Cancels the request and returns 1.
pub static CANCEL: OpDef = op("test.cancel");
/// Calls its function.
pub static CALL: OpDef = op("test.call");
/// Like `CALL`, without waiting for the arguments.
pub static CALL_EARLY: OpDef = OpDef {
    operands: &[OperandDef {
        is_reference: true,
        ..OperandDef::variadic("values", TypeConstraint::Any)
    }],
    traits: OpTraits::NON_STRICT,
    ..op("test.call_early")
};
/// Returns the number of its operands that are available, without waiting for them. Declared to
/// wait for the first one.
pub static COUNT: OpDef = OpDef {
    operands: &[
        OperandDef::new("waited", TypeConstraint::Any),
        OperandDef {
            is_reference: true,
            ..OperandDef::variadic("others", TypeConstraint::Any)
        },
    ],
    traits: OpTraits::NON_STRICT,
    ..op("test.count")
};
/// Like `COUNT`, but waits for none in particular.
pub static COUNT_ANY: OpDef = OpDef {
    operands: &[OperandDef {
        is_reference: true,
        ..OperandDef::variadic("values", TypeConstraint::Any)
    }],
    traits: OpTraits::NON_STRICT,
    ..op("test.count_any")
};
/// Returns its second operand if the first one is 1, and its third one otherwise, without waiting
/// for either.
pub static SELECT: OpDef = OpDef {
    operands: &[
        OperandDef::new("condition", TypeConstraint::Any),
        OperandDef {
            is_reference: true,
            ..OperandDef::variadic("choices", TypeConstraint::Any)
        },
    ],
    traits: OpTraits::NON_STRICT,
    ..op("test.select")
};
/// Returns without setting its results.
pub static FORGET: OpDef = op("test.forget");

fn sum(arguments: &[AnyRef]) -> i64 {
    1 + arguments
        .iter()
        .filter_map(AnyRef::get::<i64>)
        .fold(0_i64, |sum, n| sum.wrapping_add(*n))
}

fn run_sum(frame: &mut KernelFrame<'_>) {
    let sum = sum(frame.arguments());
    (0..frame.num_results()).for_each(|index| frame.set_result(index, AnyRef::available(sum)));
}

fn run_async_sum(frame: &mut KernelFrame<'_>) {
    let arguments = frame.arguments().to_vec();
    let mut promises = Vec::new();
    for index in 0..frame.num_results() {
        let (promise, value) = tfrt_async::AsyncValueRef::<i64>::unconstructed();
        frame.set_result(index, value.into());
        promises.push(promise);
    }
    frame.exec_ctx().enqueue(move || {
        let sum = sum(&arguments);
        promises
            .into_iter()
            .for_each(|promise| promise.emplace(sum));
    });
}

fn run_select(frame: &mut KernelFrame<'_>) {
    let is_one = frame.value::<i64>(0).is_ok_and(|condition| *condition == 1);
    frame.set_result(0, frame.argument(if is_one { 1 } else { 2 }).clone());
}

fn run_count(frame: &mut KernelFrame<'_>) {
    let num_available = frame
        .arguments()
        .iter()
        .filter(|argument| argument.is_available())
        .count();
    frame.set_result(
        0,
        AnyRef::available(i64::try_from(num_available).expect("few operands")),
    );
}

fn run_call(frame: &mut KernelFrame<'_>) {
    match frame.function(0) {
        Ok(function) => {
            let ctx = frame.exec_ctx();
            let arguments = frame.arguments();
            function.execute_into(ctx, arguments, frame.results());
        }
        Err(error) => frame.report_error(error),
    }
}

/// The kernels above.
pub fn registry() -> Arc<KernelRegistry> {
    let mut registry = KernelRegistry::new();
    let kernels = [
        KernelDescriptor::raw(&SUM, run_sum),
        KernelDescriptor::raw(&ASYNC_SUM, run_async_sum),
        KernelDescriptor::raw(&FAIL, |frame| {
            frame.report_error(Error::new("something bad happened"))
        }),
        KernelDescriptor::raw(&PANIC, |_| panic!("out of cheese")),
        KernelDescriptor::raw(&CANCEL, |frame| {
            frame.exec_ctx().request().cancel();
            run_sum(frame);
        }),
        KernelDescriptor::raw(&CALL, run_call),
        KernelDescriptor::raw(&CALL_EARLY, run_call),
        KernelDescriptor::raw(&FORGET, |_| ()),
        KernelDescriptor::raw(&SELECT, run_select),
        KernelDescriptor::raw(&COUNT, run_count),
        KernelDescriptor::raw(&COUNT_ANY, run_count),
    ];
    for kernel in kernels {
        registry.add(kernel).expect("the names differ");
    }
    Arc::new(registry)
}

/// Returns a host with the kernels above and the work queue of a configuration.
pub fn host(queue: &str) -> HostContextBuilder {
    HostContext::builder()
        .registry(registry())
        .queue(queue_of(queue))
}

pub fn queue_of(config: &str) -> Arc<dyn ConcurrentWorkQueue> {
    create_queue(config).expect("a queue of this configuration")
}

/// One kernel: its op, the registers that it reads, the number of its results, its stream, the
/// function that it calls.
#[derive(Clone, Debug)]
pub struct Node {
    pub op: &'static str,
    pub operands: Vec<usize>,
    pub num_results: usize,
    pub stream: u32,
    pub callee: Option<usize>,
    pub is_non_strict: bool,
}

impl Node {
    pub fn new(op: &'static OpDef, operands: &[usize]) -> Self {
        Self {
            op: op.name,
            operands: operands.to_vec(),
            num_results: 1,
            stream: 0,
            callee: None,
            is_non_strict: false,
        }
    }

    pub fn on(self, stream: u32) -> Self {
        Self { stream, ..self }
    }

    pub fn non_strict(self) -> Self {
        Self {
            is_non_strict: true,
            ..self
        }
    }

    pub fn calling(self, function: usize) -> Self {
        Self {
            callee: Some(function),
            ..self
        }
    }
}

/// The number that calls the [`NATIVE_TWICE`] function.
pub const NATIVE: usize = usize::MAX;

/// A native function of one argument and two results.
pub const NATIVE_TWICE: &str = "native_twice";

/// A function: the number of its arguments, its kernels, and the registers that it returns.
#[derive(Clone, Debug, Default)]
pub struct Graph {
    pub num_arguments: usize,
    pub nodes: Vec<Node>,
    pub returns: Vec<usize>,
}

/// Builds a file with one function for each graph, named `f0`, `f1`, ….
pub fn build(graphs: &[Graph]) -> BefFile {
    build_taking(FunctionKind::Async, "i64", graphs)
}

/// Like [`build`], with synchronous functions.
pub fn build_sync(graphs: &[Graph]) -> BefFile {
    build_taking(FunctionKind::Sync, "i64", graphs)
}

/// Like [`build`], where `f0` can be called with these arguments.
pub fn build_for(arguments: &[AnyRef], graphs: &[Graph]) -> BefFile {
    let is_number = |argument: &AnyRef| !argument.is_concrete() || argument.is::<i64>();
    if arguments.iter().all(is_number) {
        build(graphs)
    } else {
        build_taking(FunctionKind::Async, "!test.any", graphs)
    }
}

fn build_taking(kind: FunctionKind, argument_type: &str, graphs: &[Graph]) -> BefFile {
    let mut builder = BefBuilder::new(WriteOptions {
        optional_sections: false,
    });
    let ty = builder.add_type("i64");
    let argument = builder.add_type(argument_type);
    let register = RegisterId::from_index;
    let ids: Vec<FunctionId> = graphs
        .iter()
        .enumerate()
        .map(|(index, graph)| {
            let (arguments, results) = (
                vec![if index == 0 { argument } else { ty }; graph.num_arguments],
                vec![ty; graph.returns.len()],
            );
            builder.declare_function(kind, &format!("f{index}"), arguments, results)
        })
        .collect();
    let mut nodes = graphs.iter().flat_map(|graph| &graph.nodes);
    let native = nodes.any(|node| node.callee == Some(NATIVE)).then(|| {
        let (kind, results) = (FunctionKind::Native, vec![ty, ty]);
        builder.declare_function(kind, NATIVE_TWICE, vec![ty], results)
    });
    let callee = |number: usize| match native {
        Some(native) if number == NATIVE => native,
        _ => ids[number],
    };
    for (graph, &id) in graphs.iter().zip(&ids) {
        let mut num_registers = graph.num_arguments;
        let kernels = graph.nodes.iter().map(|node| {
            let results = (num_registers..num_registers + node.num_results)
                .map(register)
                .collect();
            num_registers += node.num_results;
            BodyKernel {
                stream: node.stream,
                flags: if node.is_non_strict {
                    KernelFlags::NON_STRICT
                } else {
                    KernelFlags::NONE
                },
                operands: node
                    .operands
                    .iter()
                    .map(|&operand| register(operand))
                    .collect(),
                functions: node.callee.map(callee).into_iter().collect(),
                results,
                ..BodyKernel::new(builder.add_kernel_name(node.op))
            }
        });
        let kernels = kernels.collect();
        let body = Body {
            location: None,
            root_stream: 0,
            num_arguments: graph.num_arguments,
            register_types: vec![ty; num_registers],
            kernels,
            results: graph.returns.iter().map(|&index| register(index)).collect(),
        };
        builder.define_body(id, body);
    }
    BefFile::from_bytes(&builder.finish().expect("the graphs are well formed"))
}

/// Excludes other tests, and checks that every value made meanwhile is dropped in the end.
pub struct Alone {
    num_live_before: usize,
    _lock: MutexGuard<'static, ()>,
}

/// Starts a test that counts live values, as all of them do.
pub fn alone() -> Alone {
    static LOCK: Mutex<()> = Mutex::new(());
    let lock = LOCK.lock().unwrap_or_else(PoisonError::into_inner);
    Alone {
        num_live_before: tfrt_async::live_values(),
        _lock: lock,
    }
}

impl Alone {
    /// Fails if a value made since the start of the test is alive.
    ///
    /// A worker or timer thread that held the last reference to a host drops it while the test
    /// continues, so values may take a moment to be dropped. The time limit is far longer than any
    /// machine needs.
    pub fn assert_nothing_left(&self, context: &str) {
        let start = Instant::now();
        while tfrt_async::live_values() != self.num_live_before
            && start.elapsed() < Duration::from_secs(30)
        {
            std::thread::yield_now();
        }
        assert_eq!(
            tfrt_async::live_values(),
            self.num_live_before,
            "values leaked {context}"
        );
    }
}

impl Drop for Alone {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            self.assert_nothing_left("by the end of the test");
        }
    }
}

/// Random numbers: small, fast, and the same everywhere (SplitMix64).
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// Returns a number below `end`, or 0 if there is none.
    pub fn below(&mut self, end: usize) -> usize {
        usize::try_from(self.next() % end.max(1) as u64).expect("below `end`")
    }
}

/// Returns the outcome of a value.
pub type Outcome = Result<i64, String>;

/// Runs `f0` of `graphs` and waits for its results and for the queue.
pub fn run(host: &Arc<HostContext>, graphs: &[Graph], arguments: &[i64]) -> Vec<Outcome> {
    let program = Program::load(host, &build(graphs)).expect("the kernels exist");
    program.verify_all().expect("the bodies are well formed");
    let ctx = ExecutionContext::new(RequestContextBuilder::new(Arc::clone(host)).build());
    let arguments: Vec<AnyRef> = arguments
        .iter()
        .map(|&argument| AnyRef::available(argument))
        .collect();
    let results = program
        .function("f0")
        .expect("the first function")
        .execute(&ctx, &arguments);
    host.await_available(&results)
        .expect("not a thread of the queue");
    host.quiesce().expect("not a thread of the queue");
    results.iter().map(outcome).collect()
}

pub fn outcome(value: &AnyRef) -> Outcome {
    match value.error_if_present() {
        Some(error) => Err(error.message().to_owned()),
        None => Ok(*value
            .get::<i64>()
            .expect("an available value of the type that the kernels give")),
    }
}
