//! The signatures of calls: the numbers and types of arguments are checked before anything runs.

use std::sync::Arc;

use tfrt_async::{AnyRef, Chain};
use tfrt_bef::write::{BefBuilder, Body, BodyKernel, WriteOptions};
use tfrt_bef::{BefFile, FunctionKind, RegisterId};
use tfrt_executor::Program;
use tfrt_host::__private::{ByValue, Declared, Payload};
use tfrt_host::__runtime::FunctionTable;
use tfrt_host::kernel::{KernelDescriptor, KernelRegistry};
use tfrt_host::{ExecutionContext, HostContext, RequestContextBuilder};
use tfrt_ods::{OpDef, OpTraits};
use tfrt_support::entity::EntityId;
use tfrt_support::{Error, ErrorCode};

use crate::support::alone;

struct Add;

impl Declared for Add {
    const OP: &'static OpDef = &const { OpDef::new("test.add") };
}

struct SyncAdd;

impl Declared for SyncAdd {
    const OP: &'static OpDef = &const {
        OpDef {
            traits: OpTraits::SYNC,
            ..OpDef::new("test.add_s")
        }
    };
}

type TwoNumbers = (ByValue<i32, 0>, ByValue<i32, 1>);

/// A program with `now`, which is synchronous, and `later`, which is not. Both take two numbers and
/// a value that no kernel reads, and return the sum.
fn program(unread: &str) -> (ExecutionContext, Arc<Program>) {
    let mut registry = KernelRegistry::new();
    let kernels = [
        KernelDescriptor::new::<Add, TwoNumbers, Payload<i32>, _>(|(a, b)| a + b),
        KernelDescriptor::new::<SyncAdd, TwoNumbers, Payload<i32>, _>(|(a, b)| a + b),
    ];
    for kernel in kernels {
        registry.add(kernel).expect("the names differ");
    }
    let mut builder = BefBuilder::new(WriteOptions {
        optional_sections: false,
    });
    let (number, unread) = (builder.add_type("i32"), builder.add_type(unread));
    let register = RegisterId::from_index;
    for (kind, name, op) in [
        (FunctionKind::Sync, "now", SyncAdd::OP),
        (FunctionKind::Async, "later", Add::OP),
    ] {
        let add = BodyKernel {
            operands: vec![register(0), register(1)],
            results: vec![register(3)],
            ..BodyKernel::new(builder.add_kernel_name(op.name))
        };
        let arguments = vec![number, number, unread];
        let function = builder.declare_function(kind, name, arguments, vec![number]);
        let body = Body {
            location: None,
            root_stream: 0,
            num_arguments: 3,
            register_types: vec![number, number, unread, number],
            kernels: vec![add],
            results: vec![register(3)],
        };
        builder.define_body(function, body);
    }
    let file = BefFile::from_bytes(&builder.finish().expect("the bodies are well formed"));
    let host = HostContext::builder().registry(Arc::new(registry)).build();
    let program = Program::load(&host, &file).expect("the kernels exist");
    let ctx = ExecutionContext::new(RequestContextBuilder::new(host).build());
    (ctx, program)
}

fn numbers() -> [AnyRef; 3] {
    [1_i32, 2, 3].map(AnyRef::available)
}

/// Returns the outcome of calling both functions: the sum, or the error.
fn call(ctx: &ExecutionContext, program: &Arc<Program>, arguments: &[AnyRef]) -> [String; 2] {
    let shown = |result: &AnyRef| match result.error_if_present() {
        Some(error) => error.message().to_owned(),
        None => result
            .get::<i32>()
            .map_or_else(|| "nothing".to_owned(), i32::to_string),
    };
    let [now, later] =
        ["now", "later"].map(|name| program.function(name).expect("the file has it"));
    let mut results = [None];
    let now = match now.execute_sync(ctx, arguments, &mut results) {
        Ok(()) => results[0].as_ref().map_or_else(String::new, shown),
        Err(error) => error.message().to_owned(),
    };
    [now, shown(&later.execute(ctx, arguments)[0])]
}

#[test]
fn an_argument_of_another_type_than_declared_is_refused_whether_it_is_read_or_not() {
    let _alone = alone();
    let (ctx, program) = program("!tfrt.chain");
    let [one, two, _] = numbers();
    let chain = AnyRef::ready_chain();
    let sums = call(&ctx, &program, &[one.clone(), two.clone(), chain.clone()]);
    assert_eq!(sums, ["3", "3"]);
    let unread = call(&ctx, &program, &[one.clone(), two.clone(), two.clone()]);
    assert_eq!(
        unread,
        ["now", "later"].map(|name| format!(
            "argument 2 of function `{name}`: expected `!tfrt.chain`, found `i32`"
        ))
    );
    let read = call(&ctx, &program, &[one, AnyRef::available(2.5_f32), chain]);
    assert_eq!(
        read,
        ["now", "later"]
            .map(|name| format!("argument 1 of function `{name}`: expected `i32`, found `f32`"))
    );
}

#[test]
fn a_spelling_that_may_stand_for_several_types_fixes_none() {
    let _alone = alone();
    let (ctx, program) = program("!test.any");
    let [one, two, _] = numbers();
    let text = AnyRef::available(tfrt_async::ByteString::from("anything"));
    assert_eq!(call(&ctx, &program, &[one, two, text]), ["3", "3"]);
}

#[test]
fn a_synchronous_function_takes_what_is_there() {
    let _alone = alone();
    let (ctx, program) = program("i32");
    let [one, two, _] = numbers();
    let error = AnyRef::error(Error::new("an argument"));
    let found = call(&ctx, &program, &[one.clone(), error, two.clone()]);
    assert_eq!(found, ["an argument", "an argument"]);

    let (promise, late) = AnyRef::indirect();
    let now = program.function("now").expect("the file has it");
    let refused = now.execute_sync(&ctx, &[one, two, late], &mut [None]);
    let refused = refused.expect_err("nobody would wait for it");
    assert_eq!(refused.code(), ErrorCode::FailedPrecondition);
    assert_eq!(
        refused.message(),
        "argument 2 of function `now`: expected an available value of type `i32`, because a \
         synchronous function does not wait"
    );
    promise.forward_to(AnyRef::available(Chain));
}

#[test]
fn counts_are_checked_in_every_way_to_call() {
    let _alone = alone();
    let (ctx, program) = program("i32");
    let [one, two, _] = numbers();
    let expected = |name: &str, results: usize| {
        format!(
            "Invalid signature for function {name}. Expected 3 arguments and 1 results, but get 2 arguments and {results} results"
        )
    };
    let few = [one, two];
    let [now, later] = call(&ctx, &program, &few);
    assert_eq!([now, later], [expected("now", 1), expected("later", 1)]);

    let table = || Arc::clone(&program) as Arc<dyn FunctionTable>;
    let number = |name: &str| {
        let names = program
            .functions()
            .position(|function| function.name() == name);
        u32::try_from(names.expect("the file has it")).expect("it is small")
    };
    let prepared = table().prepare_sync(number("now"), &ctx, &few);
    let refused = prepared.expect_err("an argument is missing");
    assert_eq!(refused.message(), expected("now", 1));
    let refused = table().execute_sync(number("now"), &ctx, &few, &mut []);
    let refused = refused.expect_err("an argument is missing");
    assert_eq!(refused.message(), expected("now", 0));
}

#[test]
fn a_prepared_function_reads_only_arguments_that_were_given() {
    let _alone = alone();
    let (ctx, program) = program("!tfrt.chain");
    let [one, two, five] = [1_i32, 2, 5].map(AnyRef::available);
    let chain = AnyRef::ready_chain();
    let prepare = |arguments: &[AnyRef]| {
        let table = Arc::clone(&program) as Arc<dyn FunctionTable>;
        table.prepare_sync(0, &ctx, arguments)
    };
    let refused = prepare(&[])
        .expect_err("nothing was given")
        .message()
        .to_owned();
    assert!(
        refused.starts_with("Invalid signature for function now."),
        "{refused}"
    );
    let refused = prepare(&[one.clone(), chain.clone(), chain.clone()]);
    let refused = refused.expect_err("a chain is no number");
    assert_eq!(
        refused.message(),
        "argument 1 of function `now`: expected `i32`, found `!tfrt.chain`"
    );

    let prepared = prepare(&[one.clone(), two.clone(), chain]).expect("they are what is declared");
    let mut prepared = prepared.expect("it is a loop of calls");
    let mut run = |changed: &[AnyRef]| {
        let mut results = [None];
        let outcome = prepared.run(&ctx, changed, &mut results)?;
        outcome.expect("nothing fails");
        let [result] = results;
        result.as_ref().and_then(AnyRef::get::<i32>).copied()
    };
    assert_eq!(run(&[]), Some(3));
    assert_eq!(run(&[five]), Some(7));
    assert_eq!(run(&[]), Some(7));
    // Arguments that do not fit are left to the general path.
    assert_eq!(run(&[one.clone(), AnyRef::available(1.5_f32)]), None);
    assert_eq!(run(&[one.clone(), two, one]), None);
    assert_eq!(prepared.run(&ctx, &[], &mut []).map(|_| ()), None);
}
