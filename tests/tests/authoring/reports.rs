//! Each failure is reported once, where it happens, however far its error is passed on.

use std::sync::{Arc, Mutex, PoisonError};

use tfrt::executor::Program;
use tfrt::host::{FunctionRef, RequestContextBuilder};
use tfrt::prelude::*;
use tfrt::queue::create_queue;

#[tfrt_kernel("reports.positive")]
fn positive(number: i64) -> Result<i64> {
    match number {
        0.. => Ok(number),
        _ => Err(Error::new("the number is negative")),
    }
}

/// Calls a function, and fails with its error.
#[tfrt_kernel("reports.call")]
async fn call(
    callee: Function<(i64,), (i64,)>,
    number: i64,
    ctx: &ExecutionContext,
) -> Result<i64> {
    let (result,) = callee.call(ctx, (number,));
    Ok(result.await?.get().copied().unwrap_or_default())
}

/// Calls a function with an argument of the wrong type.
#[tfrt_kernel("reports.call_wrongly")]
fn call_wrongly(#[function] callee: FunctionRef, ctx: &ExecutionContext) -> AnyRef {
    callee
        .execute(ctx, &[AnyRef::available(1_i32)])
        .swap_remove(0)
}

/// Runs `@main` and returns its result, with the reported errors.
fn run(queue: &str, text: &str) -> (AnyRef, Vec<String>) {
    let told = Arc::new(Mutex::new(Vec::new()));
    let messages = Arc::clone(&told);
    let registry = KernelRegistry::from_link().expect("no duplicates");
    let host = HostContext::builder()
        .registry(Arc::new(registry))
        .queue(create_queue(queue).expect("a queue"))
        .diagnostic_handler(move |error: &Error| {
            let mut messages = messages.lock().unwrap_or_else(PoisonError::into_inner);
            messages.push(format!("{}: {error}", error.place()));
        })
        .build();
    let file = tfrt::text::compile(text, "reports.mlir", host.registry()).expect("it compiles");
    let program = Program::load(&host, &file).expect("it loads");
    let ctx = ExecutionContext::new(RequestContextBuilder::new(Arc::clone(&host)).build());
    let function = program.function("main").expect("it exists");
    let result = function.execute(&ctx, &[]).swap_remove(0);
    host.await_available(std::slice::from_ref(&result))
        .expect("it ends");
    host.quiesce().expect("nothing waits here");
    let told = told.lock().unwrap_or_else(PoisonError::into_inner).clone();
    (result, told)
}

#[test]
fn an_error_that_is_passed_on_is_reported_once() {
    let text = r#"
        func @positive(%number: i64) -> i64 {
          %result = "reports.positive"(%number) : (i64) -> i64
          tfrt.return %result : i64
        }
        func @twice(%number: i64) -> i64 {
          %result = "reports.call"(%number) {callee = @positive} : (i64) -> i64
          tfrt.return %result : i64
        }
        func @main() -> i64 {
          %number = tfrt.constant.i64 -1
          %result = "reports.call"(%number) {callee = @twice} : (i64) -> i64
          tfrt.return %result : i64
        }
        "#;
    for queue in ["s", "mstd:2"] {
        let (result, told) = run(queue, text);
        let error = result.error_if_present().expect("it fails");
        assert_eq!(error.kernel(), Some("reports.positive"), "under {queue}");
        assert_eq!(told.len(), 1, "under {queue}: {told:?}");
        assert!(told[0].contains("reports.mlir:3:"), "{told:?}");
    }
}

#[test]
fn a_call_with_wrong_arguments_is_reported_at_the_kernel_that_made_it() {
    let text = r#"
        func @positive(%number: i64) -> i64 {
          %result = "reports.positive"(%number) : (i64) -> i64
          tfrt.return %result : i64
        }
        func @main() -> i64 {
          %result = "reports.call_wrongly"() {callee = @positive} : () -> i64
          tfrt.return %result : i64
        }
        "#;
    let (result, told) = run("s", text);
    assert!(result.is_error());
    assert_eq!(told.len(), 1, "{told:?}");
    let expected = "argument 0 of function `positive`: expected `i64`, found `i32`";
    assert!(told[0].contains(expected), "{told:?}");
    assert!(told[0].contains("reports.mlir:7:"), "{told:?}");
}
