//! Corner cases that random programs do not reach.

use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use tfrt_async::Passing;
use tfrt_async::{AnyRef, ByteString, Immutable, Value};
use tfrt_attr::Scalar;
use tfrt_bef::write::{BefBuilder, Body, BodyKernel, KernelAttribute, WriteOptions};
use tfrt_bef::{BefFile, BefLocation, FunctionKind, RegisterId};
use tfrt_executor::{Program, follow_schedules};
use tfrt_host::__private::{
    AnyOperand, AnyRest, Attribute, ByMut, ByValue, Declared, Execution, Fallible, LentFunction,
    Payload,
};
use tfrt_host::__runtime::{Direct, LocationSource};
use tfrt_host::kernel::{KernelDescriptor, KernelFrame};
use tfrt_host::{
    ExecutionContext, HostContext, Interpreter, RequestContext, RequestContextBuilder,
};
use tfrt_ods::{OpDef, OpTraits, OperandDef, TypeConstraint};
use tfrt_support::Error;
use tfrt_support::entity::EntityId;

use super::{
    LOG, Outcome, Traced, add, call_now, check, constant, constant_text, gather, later, later_text,
    length, op, outcome, panic_quietly, peek, registry, text_of,
};
use crate::support::{ASYNC_SUM, Graph, Node, alone, build_for, queue_of};

/// Executes `f0` of `graphs` under the single-threaded queue.
pub(super) fn execute(
    more: &[KernelDescriptor],
    graphs: &[Graph],
    arguments: &[AnyRef],
) -> (Arc<HostContext>, Vec<AnyRef>) {
    let host = HostContext::builder()
        .registry(registry(more))
        .queue(queue_of("s"))
        .build();
    let program = Program::load(&host, &build_for(arguments, graphs)).expect("the kernels exist");
    program.verify_all().expect("the bodies are well formed");
    let ctx = ExecutionContext::new(RequestContextBuilder::new(Arc::clone(&host)).build());
    let main = program.function("f0").expect("the first function");
    let results = main.execute(&ctx, arguments);
    host.quiesce().expect("not a worker");
    (host, results)
}

fn node(op: &'static OpDef, operands: &[usize]) -> Node {
    Node::new(op, operands)
}

#[test]
fn a_wrong_operand_is_found_beside_a_reference_to_another_wrong_one() {
    let _alone = alone();
    let graph = Graph {
        num_arguments: 2,
        // The first kernel makes the executor assume that the first argument is a number; the
        // second one accepts any type.
        nodes: vec![
            node(&add::DIRECT, &[0, 0]),
            node(&add::DIRECT, &[1, 1]),
            node(&peek::DIRECT, &[0, 1]),
        ],
        returns: vec![0, 2, 4],
    };
    let text = || AnyRef::available(ByteString::from("no number"));
    let (_host, results) = execute(&[], &[graph], &[text(), text()]);
    let found = outcome(&results[2]);
    let Outcome::Error(message) = &found else {
        panic!("{found:?}");
    };
    assert!(message.contains("`test.peek`"), "{message}");
}

#[test]
fn further_operands_may_have_a_type_that_another_kernel_does_not_expect() {
    let _alone = alone();
    let graph = Graph {
        num_arguments: 2,
        // The first kernel makes the executor assume that the first argument is a number; the
        // second one accepts any type for its operands behind the first one.
        nodes: vec![
            node(&add::DIRECT, &[0, 0]),
            node(&gather::DIRECT, &[1, 1, 0]),
        ],
        returns: vec![2, 3],
    };
    let text = AnyRef::available(ByteString::from("no number"));
    let (_host, results) = execute(&[], &[graph], &[text, AnyRef::available(2_i64)]);
    assert_eq!(outcome(&results[1]), Outcome::Number((2 * 3 + 2) * 3 + 1));
    let found = outcome(&results[0]);
    assert!(
        matches!(&found, Outcome::Error(message) if message.contains("`test.add`")),
        "{found:?}"
    );
}

#[test]
fn kernels_with_any_number_of_further_operands_read_all_of_them() {
    let _alone = alone();
    for num_more in (0..=Direct::MAX_TAIL + 2).chain([3 * Direct::MAX_TAIL]) {
        // Two arguments in turn, so that an operand that is left out or read twice is noticed.
        let operands: Vec<usize> = (0..=num_more).map(|index| index % 2).collect();
        for op in [&gather::DIRECT, &gather::FRAMED] {
            let graph = Graph {
                num_arguments: 2,
                nodes: vec![node(op, &operands)],
                returns: vec![2],
            };
            let arguments = [5_i64, 7].map(AnyRef::available);
            let (_host, results) = execute(&[], &[graph], &arguments);
            let number = |operand: &usize| 5 + 2 * *operand as i64;
            let expected = operands.iter().map(number);
            let expected = expected.reduce(|sum, more| sum.wrapping_mul(3).wrapping_add(more));
            assert_eq!(outcome(&results[0]), Outcome::Number(expected.unwrap()));
        }
    }
}

/// Makes its first operand an error if it is not available.
static SPOIL: OpDef = OpDef {
    operands: &[OperandDef {
        is_reference: true,
        ..OperandDef::variadic("values", TypeConstraint::Any)
    }],
    traits: OpTraits::NON_STRICT,
    ..op("test.spoil", OpTraits::NONE)
};

fn run_spoil(frame: &mut KernelFrame<'_>) {
    let is_spoilt = frame.argument(0).try_set_error(Error::new("spoilt"));
    frame.set_result(0, AnyRef::available(i64::from(is_spoilt)));
}

#[test]
fn a_value_that_is_made_an_error_before_it_is_there_is_not_read_in_place() {
    let _alone = alone();
    let graph = Graph {
        num_arguments: 0,
        nodes: vec![
            node(&constant::DIRECT, &[]),
            node(&later_text::DIRECT, &[0]),
            node(&SPOIL, &[1, 0]).non_strict(),
            node(&length::DIRECT, &[1]),
        ],
        returns: vec![2, 3],
    };
    let spoil = KernelDescriptor::raw(&SPOIL, run_spoil);
    let (_host, results) = execute(&[spoil], &[graph], &[]);
    assert_eq!(outcome(&results[0]), Outcome::Number(1));
    assert_eq!(outcome(&results[1]), Outcome::Error("spoilt".into()));
}

/// A handle that could be copied, of memory that tracks its own borrows.
#[derive(Clone, Copy)]
struct Dial(&'static AtomicI64);

impl Value for Dial {
    const MLIR_TYPE: &'static str = "!test.dial";
    const HANDLE: Option<fn(&Self) -> Self> = Some(|dial| *dial);
    const PASSING: Passing<Self> = Passing::COPIED;
}

impl Immutable for Dial {}

static POSITION: AtomicI64 = AtomicI64::new(0);

struct NewDial;

impl Declared for NewDial {
    const OP: &'static OpDef = &const { op("test.new_dial", OpTraits::NONE) };
}

struct Turn;

impl Declared for Turn {
    const OP: &'static OpDef = &const { op("test.turn", OpTraits::NONE) };
}

#[test]
fn a_handle_is_written_through_wherever_it_is() {
    let _alone = alone();
    let kernels = [
        KernelDescriptor::new::<NewDial, (), Payload<Dial>, _>(|()| Dial(&POSITION)),
        KernelDescriptor::new::<Turn, (ByMut<Dial, 0>,), Payload<i64>, _>(|(dial,)| {
            dial.0.fetch_add(1, Ordering::Relaxed) + 1
        }),
    ];
    let graph = Graph {
        num_arguments: 0,
        nodes: vec![node(NewDial::OP, &[]), node(Turn::OP, &[0])],
        returns: vec![1],
    };
    let (_host, results) = execute(&kernels, &[graph], &[]);
    assert_eq!(outcome(&results[0]), Outcome::Number(1));
}

#[test]
fn a_function_that_calls_itself_in_place_does_not_overflow_the_stack() {
    let _alone = alone();
    let call = |callee| Graph {
        num_arguments: 1,
        nodes: vec![node(&call_now::DIRECT, &[0]).calling(callee)],
        returns: vec![1],
    };
    let (_host, results) = execute(&[], &[call(1), call(0)], &[AnyRef::available(3_i64)]);
    assert_eq!(outcome(&results[0]), Outcome::Number(3));
}

#[test]
fn a_result_that_failed_in_place_is_not_unique() {
    let _alone = alone();
    let graph = Graph {
        num_arguments: 1,
        nodes: vec![node(&check::DIRECT, &[0])],
        returns: vec![1, 1],
    };
    let (_host, results) = execute(&[], &[graph], &[AnyRef::available(3_i64)]);
    assert!(results[0].is_error() && results[0].ptr_eq(&results[1]));
    let [first, _] = <[AnyRef; 2]>::try_from(results).expect("two results");
    assert!(!first.is_unique());
}

/// A value that panics when it is dropped.
struct Bomb;

impl Drop for Bomb {
    fn drop(&mut self) {
        panic_quietly();
    }
}

struct Explode;

impl Declared for Explode {
    const OP: &'static OpDef = &const { op("test.explode", OpTraits::NONE) };
}

#[test]
fn what_a_kernel_panicked_with_may_panic_once_more() {
    let _alone = alone();
    let explode = KernelDescriptor::new::<Explode, (), Payload<i64>, _>(|()| {
        std::panic::resume_unwind(Box::new(Bomb))
    });
    let graph = Graph {
        num_arguments: 0,
        nodes: vec![
            node(Explode::OP, &[]),
            node(&constant::DIRECT, &[]),
            node(&add::DIRECT, &[0, 1]),
        ],
        returns: vec![2, 1],
    };
    let (_host, results) = execute(&[explode], &[graph], &[]);
    let expected = "kernel 'test.explode' panicked: no message";
    assert_eq!(outcome(&results[0]), Outcome::Error(expected.into()));
    assert_eq!(outcome(&results[1]), Outcome::Number(7));
}

struct Place;

impl Declared for Place {
    const OP: &'static OpDef = &const { op("test.place", OpTraits::ANY_ATTRIBUTES) };
}

struct Seven;

impl Declared for Seven {
    const OP: &'static OpDef =
        &const { op("test.seven", OpTraits::PURE.with(OpTraits::ANY_ATTRIBUTES)) };
}

struct SyncPlace;

impl Declared for SyncPlace {
    const OP: &'static OpDef = &const {
        op(
            "test.place_s",
            OpTraits::SYNC.with(OpTraits::ANY_ATTRIBUTES),
        )
    };
}

struct SyncSeven;

impl Declared for SyncSeven {
    const OP: &'static OpDef = &const {
        op(
            "test.seven_s",
            OpTraits::PURE
                .with(OpTraits::SYNC)
                .with(OpTraits::ANY_ATTRIBUTES),
        )
    };
}

#[test]
fn only_attributes_and_functions_count_as_read_from_the_file() {
    fn reads(descriptor: KernelDescriptor) -> Option<(bool, bool)> {
        let direct = descriptor.direct()?;
        Some((direct.reads_call, direct.reads_file))
    }

    let number = KernelDescriptor::new::<Seven, (ByValue<i64, 0>,), Payload<i64>, _>(|(a,)| a);
    assert_eq!(reads(number), Some((false, false)));
    let place = |(ctx,): (&ExecutionContext,)| i64::from(ctx.location_token());
    let place = KernelDescriptor::new::<Place, (Execution,), Payload<i64>, _>(place);
    assert_eq!(reads(place), Some((true, false)));
    let both = KernelDescriptor::new::<Seven, (Execution, Attribute<i64, 0>), Payload<i64>, _>(
        |(_ctx, seven)| seven,
    );
    assert_eq!(reads(both), Some((true, true)));
    let function =
        KernelDescriptor::new::<Seven, (LentFunction<0, false>,), Payload<i64>, _>(|(function,)| {
            function.num_results() as i64
        });
    assert_eq!(reads(function), Some((true, true)));
}

/// Builds a function of one kernel, which has the attribute 7 and a location in the file, and a
/// context with a different location.
fn in_context(
    kind: FunctionKind,
    op: &'static OpDef,
) -> (ExecutionContext, tfrt_host::FunctionRef) {
    let kernels = [
        KernelDescriptor::new::<Seven, (Attribute<i64, 0>,), Payload<i64>, _>(|(seven,)| seven),
        KernelDescriptor::new::<Place, (Execution,), Payload<i64>, _>(|(ctx,)| {
            ctx.location_token().into()
        }),
        KernelDescriptor::new::<SyncSeven, (Attribute<i64, 0>,), Payload<i64>, _>(|(seven,)| seven),
        KernelDescriptor::new::<SyncPlace, (Execution,), Payload<i64>, _>(|(ctx,)| {
            ctx.location_token().into()
        }),
    ];
    let host = HostContext::builder().registry(registry(&kernels)).build();
    let mut builder = BefBuilder::new(WriteOptions {
        optional_sections: false,
    });
    let ty = builder.add_type("i64");
    let value = builder
        .add_attribute(Scalar::i64(7).into())
        .expect("a number");
    let result = RegisterId::from_index(0);
    // The location of the second kernel is not the first one of the file.
    let kernel = BodyKernel {
        attributes: vec![KernelAttribute {
            name: "value".into(),
            value,
        }],
        results: vec![result],
        ..BodyKernel::new(builder.add_kernel_name(op.name))
    };
    let second = BodyKernel {
        results: vec![RegisterId::from_index(1)],
        ..kernel.clone()
    };
    let function = builder.declare_function(kind, "main", vec![], vec![ty]);
    let body = Body {
        location: None,
        root_stream: 0,
        num_arguments: 0,
        register_types: vec![ty, ty],
        kernels: vec![kernel, second],
        results: vec![RegisterId::from_index(1)],
    };
    builder.define_body(function, body);
    let file = BefFile::from_bytes(&builder.finish().expect("the body is well formed"));
    let program = Program::load(&host, &file).expect("the kernels exist");
    let ctx = ExecutionContext::new(RequestContextBuilder::new(host).build());
    ctx.set_location_token(12345);
    (ctx, program.function("main").expect("the file has it"))
}

#[test]
fn a_function_that_runs_in_place_leaves_its_caller_where_it_is() {
    let _alone = alone();
    for op in [Seven::OP, Place::OP] {
        let (ctx, function) = in_context(FunctionKind::Async, op);
        let [result] = <[AnyRef; 1]>::try_from(function.execute(&ctx, &[])).expect("one result");
        let found = *result.get::<i64>().expect("no kernel fails");
        assert_eq!(ctx.location_token(), 12345, "{}", op.name);
        // A kernel that reads its context sees its own location.
        assert!(
            found != 12345 && (op.name == Seven::OP.name || found != 0),
            "{found}"
        );
    }
    for op in [SyncSeven::OP, SyncPlace::OP] {
        let (nowhere, function) = in_context(FunctionKind::Sync, op);
        let somewhere = nowhere.for_callee(Arc::new(Source));
        somewhere.set_location_token(12345);
        for (ctx, has_place) in [(nowhere, false), (somewhere, true)] {
            let mut results = [None];
            function
                .execute_sync(&ctx, &[], &mut results)
                .expect("no kernel fails");
            let [result] = results.map(|result| result.expect("the result is set"));
            let found = *result.get::<i64>().expect("it is a number");
            assert_eq!(ctx.location_token(), 12345, "{}", op.name);
            // A kernel of a synchronous function has the location of the caller, if the caller has
            // one.
            let is_expected = match (op.name == SyncSeven::OP.name, has_place) {
                (true, _) => found == 7,
                (false, true) => found == 12345,
                (false, false) => found != 12345 && found != 0,
            };
            assert!(is_expected, "{found}");
        }
    }
}

struct Line;

impl Declared for Line {
    const OP: &'static OpDef = &const { op("test.line", OpTraits::NONE) };
}

#[test]
fn kernels_behind_an_awaited_result_have_their_own_locations() {
    let _alone = alone();
    let line = KernelDescriptor::new::<Line, (ByValue<i64, 0>, Execution), Payload<i64>, _>(
        |(_number, ctx)| match ctx.place() {
            tfrt_support::Place::File { line, .. } => line.into(),
            _ => -1,
        },
    );
    let host = HostContext::builder().registry(registry(&[line])).build();
    let mut builder = BefBuilder::new(WriteOptions::default());
    let ty = builder.add_type("i64");
    let register = RegisterId::from_index;
    // Each is on the line of its number, and takes what the one before returns. The last one
    // refuses multiples of three, which `later` returns.
    let ops = [&later::DIRECT, Line::OP, &later::DIRECT, &check::DIRECT];
    let kernels = ops.iter().zip(1_u32..).map(|(op, line)| BodyKernel {
        location: Some(BefLocation::File {
            file: "late.mlir".into(),
            line,
            column: 1,
        }),
        operands: vec![register(line as usize - 1)],
        results: vec![register(line as usize)],
        ..BodyKernel::new(builder.add_kernel_name(op.name))
    });
    let kernels: Vec<BodyKernel> = kernels.collect();
    let function = builder.declare_function(FunctionKind::Async, "main", vec![ty], vec![ty, ty]);
    let body = Body {
        location: None,
        root_stream: 0,
        num_arguments: 1,
        register_types: vec![ty; kernels.len() + 1],
        results: vec![register(2), register(4)],
        kernels,
    };
    builder.define_body(function, body);
    let file = BefFile::from_bytes(&builder.finish().expect("the body is well formed"));
    let program = Program::load(&host, &file).expect("the kernels exist");
    let main = program.function("main").expect("the file has it");
    let ctx = ExecutionContext::new(RequestContextBuilder::new(Arc::clone(&host)).build());
    let results = main.execute(&ctx, &[AnyRef::available(5_i64)]);
    host.await_available(&results).expect("not a worker");
    assert_eq!(outcome(&results[0]), Outcome::Number(2));
    let error = results[1].error_if_present().expect("it is refused");
    assert_eq!(error.place().to_string(), "late.mlir:4:1");
    host.quiesce().expect("not a worker");
}

/// The locations of a caller.
#[derive(Debug)]
struct Source;

impl LocationSource for Source {
    fn place(&self, _token: u32) -> tfrt_support::Place {
        tfrt_support::Place::Unknown
    }

    fn debug_name(&self, _token: u32) -> Option<String> {
        None
    }
}

struct SyncCheck;

impl Declared for SyncCheck {
    const OP: &'static OpDef = &const { op("test.check_s", OpTraits::SYNC) };
}

/// Adds the number of further operands to a number.
struct SyncCount;

impl Declared for SyncCount {
    const OP: &'static OpDef = &const { op("test.count_s", OpTraits::SYNC) };
}

#[test]
fn the_reader_of_an_argument_is_told_of_another_type_in_a_synchronous_function() {
    let _alone = alone();
    let check =
        KernelDescriptor::new::<SyncCheck, (ByValue<i64, 0>,), Payload<i64>, _>(|(number,)| number);
    let count =
        KernelDescriptor::new::<SyncCount, (ByValue<i64, 0>, AnyRest<1, false>), Payload<i64>, _>(
            |(number, rest)| number + rest.len() as i64,
        );
    let host = HostContext::builder()
        .registry(registry(&[check, count]))
        .build();
    let mut builder = BefBuilder::new(WriteOptions {
        optional_sections: false,
    });
    let number = builder.add_type("i64");
    // No kernel names this type, so that readers decide what the argument has to be.
    let any = builder.add_type("!test.any");
    let register = RegisterId::from_index;
    let [check, count] = [SyncCheck::OP, SyncCount::OP].map(|op| builder.add_kernel_name(op.name));
    let count = BodyKernel {
        operands: vec![register(0), register(1)],
        results: vec![register(2)],
        ..BodyKernel::new(count)
    };
    let check = BodyKernel {
        operands: vec![register(1)],
        results: vec![register(3)],
        ..BodyKernel::new(check)
    };
    for (name, kernels) in [
        ("passes", vec![count.clone()]),
        ("reads", vec![count, check]),
    ] {
        let function =
            builder.declare_function(FunctionKind::Sync, name, vec![number, any], vec![number]);
        let body = Body {
            location: None,
            root_stream: 0,
            num_arguments: 2,
            register_types: [number, any, number, number][..2 + kernels.len()].to_vec(),
            kernels,
            results: vec![register(2)],
        };
        builder.define_body(function, body);
    }
    let file = BefFile::from_bytes(&builder.finish().expect("the bodies are well formed"));
    let program = Program::load(&host, &file).expect("the kernels exist");
    let ctx = ExecutionContext::new(RequestContextBuilder::new(host).build());
    let run = |name: &str| {
        let function = program.function(name).expect("the file has it");
        let text = AnyRef::available(ByteString::from("no number"));
        let mut results = [None];
        let outcome = function.execute_sync(&ctx, &[AnyRef::available(6_i64), text], &mut results);
        let message = outcome.map_err(|error| error.message().to_owned());
        message.map(|()| results[0].as_ref().and_then(AnyRef::get::<i64>).copied())
    };
    let found = ["passes", "reads"].map(run);
    assert_eq!(found[0], Ok(Some(7)));
    let message = found[1].as_ref().expect_err("`check` reads the text");
    assert!(message.contains("operand 0 of `test.check_s`"), "{message}");
    let _traced = Traced::start();
    assert_eq!(["passes", "reads"].map(run), found);
}

#[test]
fn a_synchronous_function_does_in_place_what_its_interpreter_does() {
    let _alone = alone();
    let check = KernelDescriptor::new::<
        SyncCheck,
        (ByValue<i64, 0>,),
        Fallible<Payload<i64>, Result<i64, Error>>,
        _,
    >(|(number,)| match number {
        0 => panic_quietly(),
        1 => Err(Error::new("one")),
        _ => Ok(number - 1),
    });
    let host = HostContext::builder().registry(registry(&[check])).build();
    let mut builder = BefBuilder::new(WriteOptions {
        optional_sections: false,
    });
    let ty = builder.add_type("i64");
    let register = RegisterId::from_index;
    let code = builder.add_kernel_name(SyncCheck::OP.name);
    let kernel = |index: usize| BodyKernel {
        operands: vec![register(index)],
        results: vec![register(index + 1)],
        ..BodyKernel::new(code)
    };
    let function = builder.declare_function(FunctionKind::Sync, "main", vec![ty], vec![ty, ty]);
    let body = Body {
        location: None,
        root_stream: 0,
        num_arguments: 1,
        register_types: vec![ty; 4],
        kernels: (0..3).map(kernel).collect(),
        results: vec![register(3), register(1)],
    };
    builder.define_body(function, body);
    let file = BefFile::from_bytes(&builder.finish().expect("the body is well formed"));
    let program = Program::load(&host, &file).expect("the kernel exists");
    let ctx = ExecutionContext::new(RequestContextBuilder::new(host).build());
    let main = program.function("main").expect("the file has it");
    let number = |result: Option<AnyRef>| result.as_ref().and_then(AnyRef::get::<i64>).copied();
    let run = |argument: AnyRef| {
        let mut results = [None, None];
        let outcome = main.execute_sync(&ctx, &[argument], &mut results);
        let message = outcome.map_err(|error| error.message().to_owned());
        (message, results.map(number))
    };
    let in_turn: [fn() -> AnyRef; 7] = [
        || AnyRef::available(7_i64),
        || {
            let (promise, value) = AnyRef::indirect();
            promise.forward_to(AnyRef::available(7_i64));
            value
        },
        || AnyRef::available(2_i64),
        || AnyRef::available(0_i64),
        || AnyRef::available(ByteString::from("no number")),
        || AnyRef::error(Error::new("an argument")),
        || AnyRef::available(7_i64).into_given(),
    ];
    let found = in_turn.map(|argument| run(argument()));
    let interpreted = {
        let _traced = Traced::start();
        in_turn.map(|argument| run(argument()))
    };
    assert_eq!(found, interpreted);
    assert_eq!(found[0], (Ok(()), [Some(4), Some(6)]));
    assert_eq!(found[2], (Err("one".into()), [None, None]));

    // The state that is kept from one run to the next is not observable.
    let mut interpreter = main
        .interpreter(&ctx, vec![in_turn[0]()])
        .expect("the argument is a number");
    let run_again = |interpreter: &mut Interpreter| {
        let mut results = [None, None];
        let outcome = interpreter.run(&mut results);
        let message = outcome.map_err(|error| error.message().to_owned());
        (message, results.map(number))
    };
    assert_eq!(run_again(&mut interpreter), found[0]);
    assert_eq!(run_again(&mut interpreter), found[0]);
    interpreter.set_arguments([2_i64]);
    assert_eq!(run_again(&mut interpreter), found[2]);
    interpreter.set_arguments([ByteString::from("no number")]);
    assert_eq!(run_again(&mut interpreter), found[4]);
    assert_eq!(run_again(&mut interpreter), found[4]);
    interpreter.set_arguments([7_i64]);
    {
        let _traced = Traced::start();
        assert_eq!(run_again(&mut interpreter), found[0]);
    }
    assert_eq!(run_again(&mut interpreter), found[0]);
}

static ANSWER: OpDef = op("test.answer", OpTraits::PURE);
static SAME: OpDef = op("test.same", OpTraits::PURE);

struct Answer;

impl Declared for Answer {
    const OP: &'static OpDef = &ANSWER;
}

struct Same;

impl Declared for Same {
    const OP: &'static OpDef = &SAME;
}

#[test]
fn a_constant_that_is_ready_runs_before_a_result_is_awaited() {
    let _alone = alone();
    let graph = Graph {
        num_arguments: 1,
        // The gathering would be behind the addition if the constant ran after the wait.
        nodes: vec![
            node(&constant::DIRECT, &[]),
            node(&constant_text::DIRECT, &[]),
            node(&length::DIRECT, &[2]),
            node(&ASYNC_SUM, &[3, 0]),
            node(&gather::DIRECT, &[1, 4]),
            node(&add::DIRECT, &[4, 4]),
        ],
        returns: vec![0],
    };
    LOG.lock().unwrap_or_else(PoisonError::into_inner).clear();
    execute(&[], &[graph], &[AnyRef::available(3_i64)]);
    let log = LOG.lock().unwrap_or_else(PoisonError::into_inner);
    assert_eq!(log.join(" "), "length gather add");
}

#[test]
fn a_constant_may_be_defined_behind_its_reader() {
    let _alone = alone();
    let more = [
        KernelDescriptor::new::<Answer, (), Payload<i64>, _>(|()| 42),
        KernelDescriptor::new::<Same, (ByValue<i64, 0>,), Payload<i64>, _>(|(number,)| number),
    ];
    // Two streams, so that it does not follow a static schedule.
    let graph = Graph {
        nodes: vec![Node::new(&SAME, &[1]).on(1), Node::new(&ANSWER, &[])],
        returns: vec![0],
        ..Graph::default()
    };
    let (host, results) = execute(&more, &[graph], &[]);
    host.await_available(&results).expect("not a worker");
    assert_eq!(results[0].get::<i64>(), Some(&42));
}

impl Value for Bomb {
    const MLIR_TYPE: &'static str = "!test.bomb";
}

/// Makes a value that panics as it is dropped, and returns its operand.
struct DropBomb;

impl Declared for DropBomb {
    const OP: &'static OpDef = &op("test.drop_bomb", OpTraits::NONE);
}

#[test]
fn the_host_is_told_of_payloads_that_panic_in_a_leaf() {
    let _alone = alone();
    let drop_bomb =
        KernelDescriptor::new::<DropBomb, (ByValue<i64, 0>,), Payload<i64>, _>(|(number,)| {
            drop(AnyRef::available(Bomb));
            number
        });
    let num_told = Arc::new(AtomicI64::new(0));
    let host = HostContext::builder()
        .registry(registry(&[drop_bomb]))
        .queue(queue_of("s"))
        .diagnostic_handler({
            let num_told = Arc::clone(&num_told);
            move |error| {
                assert!(error.message().contains("`!test.bomb` panicked"));
                num_told.fetch_add(1, Ordering::Relaxed);
            }
        })
        .build();
    let graph = Graph {
        num_arguments: 1,
        nodes: vec![Node::new(DropBomb::OP, &[0])],
        returns: vec![1],
    };
    let argument = [AnyRef::available(7_i64)];
    let program = Program::load(&host, &build_for(&argument, &[graph])).expect("the kernel exists");
    let main = program.function("f0").expect("the only function");
    let ctx = ExecutionContext::new(RequestContextBuilder::new(Arc::clone(&host)).build());
    // The first call makes the body of the function, so the others run it as a leaf.
    for num_calls in 1..=3 {
        let results = main.execute(&ctx, &argument);
        assert_eq!(outcome(&results[0]), Outcome::Number(7));
        assert_eq!(num_told.load(Ordering::Relaxed), num_calls);
    }
}

/// The request that [`Stop`] cancels.
static STOPPED: Mutex<Option<Arc<RequestContext>>> = Mutex::new(None);

/// Cancels a request that it does not learn of from its call, and returns its operand.
struct Stop;

impl Declared for Stop {
    const OP: &'static OpDef = &op("test.stop", OpTraits::NONE);
}

/// Calls `f0` of `graph` twice, and returns the outcome of the second call, in which [`Stop`]
/// cancels the request.
fn cancelled(graph: Graph) -> Vec<Outcome> {
    let stop = KernelDescriptor::new::<Stop, (ByValue<i64, 0>,), Payload<i64>, _>(|(number,)| {
        let mut stopped = STOPPED.lock().unwrap_or_else(PoisonError::into_inner);
        stopped.take().inspect(|request| request.cancel());
        number
    });
    let host = HostContext::builder()
        .registry(registry(&[stop]))
        .queue(queue_of("s"))
        .build();
    let argument = [AnyRef::available(5_i64)];
    let program = Program::load(&host, &build_for(&argument, &[graph])).expect("the kernels exist");
    let main = program.function("f0").expect("the first function");
    let call = |is_stopped: bool| {
        let ctx = ExecutionContext::new(RequestContextBuilder::new(Arc::clone(&host)).build());
        let request = is_stopped.then(|| Arc::clone(ctx.request()));
        *STOPPED.lock().unwrap_or_else(PoisonError::into_inner) = request;
        main.execute(&ctx, &argument)
    };
    // The first call computes the constants.
    drop(call(false));
    call(true).iter().map(outcome).collect()
}

#[test]
fn a_constant_behind_a_kernel_that_cancels_the_request_is_skipped() {
    let _alone = alone();
    let (stop, constant) = (node(Stop::OP, &[0]), node(&constant::DIRECT, &[]));
    let mut num_skipped = 0;
    for nodes in [
        vec![stop.clone(), constant.clone()],
        vec![constant.clone(), stop.clone()],
        vec![constant.clone(), stop, constant],
    ] {
        let graph = Graph {
            num_arguments: 1,
            returns: (1..=nodes.len()).collect(),
            nodes,
        };
        let found = cancelled(graph.clone());
        follow_schedules(false);
        let expected = cancelled(graph);
        follow_schedules(true);
        assert_eq!(found, expected);
        let is_skipped = |outcome: &&Outcome| **outcome == Outcome::Error("Cancelled".into());
        num_skipped += found.iter().filter(is_skipped).count();
    }
    assert!(
        num_skipped > 0,
        "no constant follows the kernel in any order"
    );
}

/// Returns how many of its operands have other owners than the kernel's operand.
struct CountShared;

impl Declared for CountShared {
    const OP: &'static OpDef = &op("test.count_shared", OpTraits::NONE);
}

#[test]
fn an_operand_that_a_kernel_has_often_is_shared_and_is_given_up_once() {
    let _alone = alone();
    type Params = (
        AnyOperand<0, true>,
        AnyOperand<1, true>,
        AnyOperand<2, true>,
        AnyRest<3, false>,
    );
    let count_shared =
        KernelDescriptor::new::<CountShared, Params, Payload<i64>, _>(|(a, b, c, rest)| {
            let operands = [a, b, c].into_iter().chain(rest);
            operands.filter(|operand| !operand.is_unique()).count() as i64
        });
    assert!(count_shared.direct().is_some());
    let [number, text, first] = [0, 1, 2];
    let graph = Graph {
        num_arguments: 2,
        nodes: vec![
            node(&text_of::DIRECT, &[number]),
            node(&text_of::DIRECT, &[number]),
            node(&text_of::DIRECT, &[number]),
            node(CountShared::OP, &[first; 6]),
            node(CountShared::OP, &[text, text, text, text, first + 1]),
            node(CountShared::OP, &[first + 2, text, number]),
        ],
        returns: vec![first + 3, first + 4, first + 5],
    };
    let arguments = [
        AnyRef::available(7_i64),
        AnyRef::available(ByteString::from("an argument")),
    ];
    for is_followed in [true, false] {
        follow_schedules(is_followed);
        let (_host, results) = execute(&[count_shared], std::slice::from_ref(&graph), &arguments);
        follow_schedules(true);
        let found: Vec<Outcome> = results.iter().map(outcome).collect();
        // Arguments are the caller's too, and the other texts are used by one kernel each.
        assert_eq!(found, [6, 4, 2].map(Outcome::Number));
        assert!(arguments.iter().all(AnyRef::is_unique));
    }
}
