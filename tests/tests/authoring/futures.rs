//! Kernels that are an `async fn`: ready when they are first polled, or not.

use std::future::poll_fn;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::Poll;

use tfrt::host::RequestContextBuilder;
use tfrt::prelude::*;
use tfrt::queue::create_queue;
use tfrt::testing;

/// Waits until it is polled again, if it is to.
async fn wait_if(waits: bool) {
    let mut waits = waits;
    poll_fn(move |task| {
        if std::mem::take(&mut waits) {
            task.waker().wake_by_ref();
            Poll::Pending
        } else {
            Poll::Ready(())
        }
    })
    .await;
}

/// What the kernels of a request have noted.
#[derive(Debug, Default)]
struct Notes(Mutex<Vec<i32>>);

impl Notes {
    fn add(&self, note: i32) {
        let mut notes = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        notes.push(note);
    }
}

#[tfrt_kernel("futures.note", side_effecting, results())]
async fn note(note: i32, #[attr] waits: bool, ctx: &ExecutionContext) {
    wait_if(waits).await;
    let notes = ctx.request().context_data::<Arc<Notes>>();
    notes.expect("the test gives one").add(note);
}

#[tfrt_kernel("futures.note_now", side_effecting)]
fn note_now(note: i32, ctx: &ExecutionContext) {
    let notes = ctx.request().context_data::<Arc<Notes>>();
    notes.expect("the test gives one").add(note);
}

/// Reads a copied payload, shared ones, a text, an attribute, its context and a function.
#[tfrt_kernel("futures.everything", results(joined))]
async fn everything(
    number: i64,
    text: &str,
    late: AsyncValueRef<i32>,
    #[attr] waits: bool,
    #[attr] suffix: &str,
    #[function] double: Function<(i32,), (i32,)>,
    ctx: &ExecutionContext,
) -> Result<String> {
    wait_if(waits).await;
    let late = late.await?.get().copied().unwrap_or_default();
    let (doubled,) = double.call(ctx, (late,));
    let doubled = doubled.await?.get().copied().unwrap_or_default();
    Ok(format!("{number} {text} {doubled} {suffix}"))
}

#[tfrt_kernel("futures.fail", results(never))]
async fn fail(#[attr] waits: bool, #[attr] panics: bool) -> Result<i32> {
    wait_if(waits).await;
    assert!(!panics, "on purpose");
    Err(Error::new("not today"))
}

#[tfrt_kernel("futures.two", results(first, second))]
async fn two(number: i32, #[attr] waits: bool) -> (i32, String) {
    wait_if(waits).await;
    (number + 1, number.to_string())
}

/// Runs `main` of a program, and returns its results and what was noted.
fn run(queue: &str, text: &str) -> (Vec<AnyRef>, Vec<i32>) {
    let registry = KernelRegistry::from_link().expect("no duplicates");
    let host = HostContext::builder()
        .registry(Arc::new(registry))
        .queue(create_queue(queue).expect("a queue"))
        .diagnostic_handler(|_: &Error| ())
        .build();
    let file = tfrt::text::compile(text, "futures.mlir", host.registry()).expect("it compiles");
    let program = tfrt::executor::Program::load(&host, &file).expect("it loads");
    let notes = Arc::new(Notes::default());
    let request = RequestContextBuilder::new(Arc::clone(&host)).context_data(Arc::clone(&notes));
    let ctx = ExecutionContext::new(request.build());
    let main = program.function("main").expect("it exists");
    let results = main.execute(&ctx, &[]);
    // Fails if a result does.
    let _ = host.await_values(&results);
    let in_order = notes.0.lock().unwrap_or_else(PoisonError::into_inner);
    (results, in_order.clone())
}

#[test]
fn a_chain_is_ready_when_the_future_is_done() {
    for queue in ["s", "mstd:2"] {
        for waits in [[false, false], [false, true], [true, false], [true, true]] {
            let text = format!(
                r#"
                func @main() -> !tfrt.chain {{
                  %ch0 = tfrt.new.chain
                  %one = tfrt.constant.i32 1
                  %two = tfrt.constant.i32 2
                  %three = tfrt.constant.i32 3
                  %four = tfrt.constant.i32 4
                  %ch1 = "futures.note"(%one, %ch0) {{waits = {}}} : (i32, !tfrt.chain) -> !tfrt.chain
                  %ch2 = "futures.note_now"(%two, %ch1) : (i32, !tfrt.chain) -> !tfrt.chain
                  %ch3 = "futures.note"(%three, %ch2) {{waits = {}}} : (i32, !tfrt.chain) -> !tfrt.chain
                  %ch4 = "futures.note_now"(%four, %ch3) : (i32, !tfrt.chain) -> !tfrt.chain
                  tfrt.return %ch4 : !tfrt.chain
                }}
                "#,
                waits[0], waits[1]
            );
            let (results, notes) = run(queue, &text);
            assert!(results[0].is_concrete());
            assert_eq!(notes, [1, 2, 3, 4], "{waits:?} under {queue}");
        }
    }
}

#[test]
fn a_future_that_is_ready_keeps_the_order_of_a_plain_kernel() {
    // Without chains, so that the executor may choose.
    let program = |kernel: &str, attributes: &str| {
        format!(
            r#"
            func @main() -> (!tfrt.chain, !tfrt.chain, !tfrt.chain) {{
              %ch0 = tfrt.new.chain
              %one = tfrt.constant.i32 1
              %two = tfrt.constant.i32 2
              %three = tfrt.constant.i32 3
              %a = "{kernel}"(%one, %ch0) {attributes} : (i32, !tfrt.chain) -> !tfrt.chain
              %b = "futures.note"(%two, %ch0) {{waits = true}} : (i32, !tfrt.chain) -> !tfrt.chain
              %c = "futures.note_now"(%three, %ch0) : (i32, !tfrt.chain) -> !tfrt.chain
              tfrt.return %a, %b, %c : !tfrt.chain, !tfrt.chain, !tfrt.chain
            }}
            "#
        )
    };
    let (_, plain) = run("s", &program("futures.note_now", ""));
    let (_, future) = run("s", &program("futures.note", "{waits = false}"));
    assert_eq!(future, plain);
    assert_eq!(future.last(), Some(&2), "the one that waits comes last");
}

#[test]
fn what_a_future_reads_outlives_the_call() {
    for waits in [false, true] {
        let text = format!(
            r#"
            func @double(%a: i32) -> i32 {{
              %b = tfrt.add.i32 %a, %a
              tfrt.return %b : i32
            }}
            func @main(%number: i64, %text: !tfrt.string, %late: i32) -> !tfrt.string {{
              %all = "futures.everything"(%number, %text, %late)
                {{double = @double, suffix = "end", waits = {waits}}} : (i64, !tfrt.string, i32) -> !tfrt.string
              tfrt.return %all : !tfrt.string
            }}
            "#
        );
        for queue in ["s", "mstd:2"] {
            for late in [false, true] {
                let program = testing::program(&text).under([queue]);
                let outcome = if late {
                    program.call("main", (7_i64, "text", testing::later(21)))
                } else {
                    program.call("main", (7_i64, "text", 21))
                };
                outcome.with_value(0, |text: &ByteString| {
                    assert_eq!(&text[..], b"7 text 42 end", "{queue}, waits: {waits}");
                });
            }
        }
    }
}

#[test]
fn a_future_fails_alike_at_its_first_poll_and_later() {
    for (panics, expected) in [
        (false, "not today"),
        (true, "kernel 'futures.fail' panicked: on purpose"),
    ] {
        let errors = [false, true].map(|waits| {
            let text = format!(
                r#"
                func @main() -> i32 {{
                  %never = "futures.fail"() {{panics = {panics}, waits = {waits}}} : () -> i32
                  %sum = tfrt.add.i32 %never, %never
                  tfrt.return %sum : i32
                }}
                "#
            );
            let (results, _) = run("s", &text);
            let error = results[0].error_if_present().expect("it failed");
            assert_eq!(error.message(), expected);
            (error.kernel().map(str::to_owned), error.place().to_string())
        });
        assert_eq!(errors[0].0.as_deref(), Some("futures.fail"));
        assert_eq!(errors[0], errors[1]);
    }
}

#[test]
fn a_future_may_have_several_results() {
    for waits in [false, true] {
        let outcome = testing::kernel("futures.two")
            .operands((41,))
            .attribute("waits", waits)
            .under_every_queue()
            .run();
        outcome.with_value(0, |number: &i32| assert_eq!(*number, 42));
        outcome.with_value(1, |text: &ByteString| assert_eq!(&text[..], b"41"));
    }
}
