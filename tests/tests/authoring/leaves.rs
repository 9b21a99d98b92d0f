//! Functions whose kernels are all plain run without preparations. What such kernels may do all the
//! same has no other outcome.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use tfrt::executor::Program;
use tfrt::host::{FunctionRef, RequestContextBuilder};
use tfrt::prelude::*;
use tfrt::queue::create_queue;

/// A value that takes up no room.
#[derive(Clone, Copy, Value)]
#[value("!leaves.token", copied)]
struct Token;

#[tfrt_kernel("leaves.no_token", pure)]
fn no_token() -> Result<Token> {
    Err(Error::new("no token"))
}

static NUM_SPENT: AtomicUsize = AtomicUsize::new(0);

#[tfrt_kernel("leaves.spend")]
fn spend(_token: Token) -> i32 {
    i32::try_from(NUM_SPENT.fetch_add(1, Ordering::Relaxed)).unwrap_or(0)
}

/// What `again` calls.
static NEXT: Mutex<Option<(FunctionRef, ExecutionContext)>> = Mutex::new(None);

static DEEPEST: AtomicUsize = AtomicUsize::new(0);

/// Calls a function that it knows from elsewhere, until the number is 0.
#[tfrt_kernel("leaves.again", sync = "leaves_sync.again")]
fn again(number: i64, start: i64) -> Result<i64> {
    if number == 0 {
        return Ok(0);
    }
    let depth = usize::try_from(start - number).unwrap_or(0);
    DEEPEST.fetch_max(depth, Ordering::Relaxed);
    let next = NEXT.lock().unwrap_or_else(PoisonError::into_inner).clone();
    let (function, ctx) = next.ok_or_else(|| Error::new("nothing to call"))?;
    let mut results = [None];
    let arguments = [AnyRef::available(number - 1), AnyRef::available(start)];
    function.execute_sync(&ctx, &arguments, &mut results)?;
    Ok(number)
}

/// Panics as it is dropped.
#[derive(Value)]
#[value("!leaves.bomb")]
struct Bomb;

impl Drop for Bomb {
    fn drop(&mut self) {
        panic!("boom");
    }
}

#[tfrt_kernel("leaves.explode", sync = "leaves_sync.explode")]
fn explode(number: i64) -> i64 {
    drop(AnyRef::available(Bomb));
    number
}

#[tfrt_kernel("leaves.increment")]
fn increment(number: i64) -> i64 {
    number + 1
}

/// Whether its operands are one value.
#[tfrt_kernel("leaves.are_one")]
fn are_one(values: &[AnyRef]) -> bool {
    values[0].ptr_eq(&values[1])
}

type Told = Arc<Mutex<Vec<String>>>;

fn load(text: &str) -> (Arc<Program>, ExecutionContext, Told) {
    let told = Told::default();
    let messages = Arc::clone(&told);
    let registry = KernelRegistry::from_link().expect("no duplicates");
    let host = HostContext::builder()
        .registry(Arc::new(registry))
        .queue(create_queue("s").expect("a queue"))
        .diagnostic_handler(move |error: &Error| {
            let mut messages = messages.lock().unwrap_or_else(PoisonError::into_inner);
            messages.push(error.to_string());
        })
        .build();
    let file = tfrt::text::compile(text, "leaves.mlir", host.registry()).expect("it compiles");
    let program = Program::load(&host, &file).expect("it loads");
    let ctx = ExecutionContext::new(RequestContextBuilder::new(host).build());
    (program, ctx, told)
}

fn function(program: &Arc<Program>, name: &str) -> FunctionRef {
    program.function(name).expect("it exists")
}

#[test]
fn a_constant_without_a_size_may_fail() {
    let (program, ctx, _told) = load(
        r#"
        func @main() -> i32 {
          %token = "leaves.no_token"() : () -> !leaves.token
          %spent = "leaves.spend"(%token) : (!leaves.token) -> i32
          tfrt.return %spent : i32
        }
        "#,
    );
    for _ in 0..2 {
        let results = function(&program, "main").execute(&ctx, &[]);
        let error = results[0].error_if_present().map(Error::message);
        assert_eq!(error, Some("no token"));
    }
    assert_eq!(NUM_SPENT.load(Ordering::Relaxed), 0);
}

#[test]
fn recursion_through_a_plain_kernel_is_bounded() {
    let (program, ctx, _told) = load(
        r#"
        func @again(%number: i64, %start: i64) -> i64 attributes {tfrt.sync} {
          %result = "leaves_sync.again"(%number, %start) : (i64, i64) -> i64
          tfrt.return %result : i64
        }
        "#,
    );
    let again = function(&program, "again");
    let set = |next| *NEXT.lock().unwrap_or_else(PoisonError::into_inner) = next;
    set(Some((again.clone(), ctx.clone())));
    let arguments = [
        AnyRef::available(1_000_000_i64),
        AnyRef::available(1_000_000_i64),
    ];
    let outcome = again.execute_sync(&ctx, &arguments, &mut [None]);
    set(None);
    let error = outcome.expect_err("the stack is not that deep");
    assert!(error.message().contains("nested more than"), "{error}");
    assert!(DEEPEST.load(Ordering::Relaxed) < 1000);
}

#[test]
fn the_host_is_told_of_payloads_that_panic_in_a_plain_kernel() {
    let (program, ctx, told) = load(
        r#"
        func @later(%number: i64) -> i64 {
          %result = "leaves.explode"(%number) : (i64) -> i64
          tfrt.return %result : i64
        }
        func @now(%number: i64) -> i64 attributes {tfrt.sync} {
          %result = "leaves_sync.explode"(%number) : (i64) -> i64
          tfrt.return %result : i64
        }
        "#,
    );
    let argument = [AnyRef::available(7_i64)];
    let results = function(&program, "later").execute(&ctx, &argument);
    assert_eq!(results[0].get::<i64>(), Some(&7));
    let mut results = [None];
    let outcome = function(&program, "now").execute_sync(&ctx, &argument, &mut results);
    assert!(outcome.is_ok());
    let expected = "payload of type `!leaves.bomb` panicked while it was dropped: boom";
    let told = told.lock().unwrap_or_else(PoisonError::into_inner);
    assert_eq!(*told, [expected; 2]);
}

#[test]
fn a_register_that_is_returned_twice_is_one_value() {
    let (program, ctx, _told) = load(
        r#"
        func @twice(%number: i64) -> (i64, i64) {
          %more = "leaves.increment"(%number) : (i64) -> i64
          tfrt.return %more, %more : i64, i64
        }
        func @main(%number: i64) -> i1 {
          %a, %b = tfrt.call @twice(%number) : (i64) -> (i64, i64)
          %are_one = "leaves.are_one"(%a, %b) : (i64, i64) -> i1
          tfrt.return %are_one : i1
        }
        "#,
    );
    for _ in 0..2 {
        let results = function(&program, "main").execute(&ctx, &[AnyRef::available(7_i64)]);
        assert_eq!(results[0].get::<bool>(), Some(&true));
    }
}
