//! When operands are dropped, and what becomes of payloads that panic then.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use tfrt::executor::Program;
use tfrt::host::RequestContextBuilder;
use tfrt::prelude::*;
use tfrt::queue::{create_queue, enqueue_value};

/// Large enough to be shared, and counted.
#[derive(Value)]
#[value("!drops.counted")]
struct Counted(#[expect(dead_code, reason = "takes up room")] [u64; 8]);

static NUM_ALIVE: AtomicUsize = AtomicUsize::new(0);

/// One test at a time looks at the number.
static ALONE: Mutex<()> = Mutex::new(());

impl Drop for Counted {
    fn drop(&mut self) {
        NUM_ALIVE.fetch_sub(1, Ordering::SeqCst);
    }
}

#[tfrt_kernel("drops.make")]
fn make() -> Counted {
    NUM_ALIVE.fetch_add(1, Ordering::SeqCst);
    Counted([0; 8])
}

#[tfrt_kernel("drops.plain")]
fn plain(_counted: &Counted) -> i32 {
    1
}

#[tfrt_kernel("drops.blocking", blocking)]
fn blocking(_counted: &Counted) -> i32 {
    1
}

#[tfrt_kernel("drops.ready")]
async fn ready(_counted: &Counted) -> i32 {
    1
}

#[tfrt_kernel("drops.waits")]
async fn waits(_counted: &Counted, host: &HostContext) -> Result<i32> {
    let later = enqueue_value(&**host.queue(), || Ok(1_i32));
    Ok(later.await?.get().copied().unwrap_or_default())
}

#[tfrt_kernel("drops.panics")]
async fn panics(_counted: &Counted, host: &HostContext) -> Result<i32> {
    enqueue_value(&**host.queue(), || Ok(1_i32)).await?;
    panic!("on purpose")
}

/// Awaits its operand, so that it begins when that is there.
#[tfrt_kernel("drops.num_alive_after", non_strict)]
async fn num_alive_after(after: AnyRef) -> i32 {
    let _ = after.await;
    i32::try_from(NUM_ALIVE.load(Ordering::SeqCst)).unwrap_or(i32::MAX)
}

fn host(queue: &str, handler: impl Fn(&Error) + Send + Sync + 'static) -> Arc<HostContext> {
    HostContext::builder()
        .registry(Arc::new(
            KernelRegistry::from_link().expect("no duplicates"),
        ))
        .queue(create_queue(queue).expect("a queue"))
        .diagnostic_handler(handler)
        .build()
}

fn load(host: &Arc<HostContext>, text: &str) -> (Arc<Program>, ExecutionContext) {
    let file = tfrt::text::compile(text, "drops.mlir", host.registry()).expect("it compiles");
    let program = Program::load(host, &file).expect("it loads");
    let ctx = ExecutionContext::new(RequestContextBuilder::new(Arc::clone(host)).build());
    (program, ctx)
}

/// Runs `main` of a program.
fn run(host: &Arc<HostContext>, text: &str) -> Vec<AnyRef> {
    let (program, ctx) = load(host, text);
    let results = program
        .function("main")
        .expect("it exists")
        .execute(&ctx, &[]);
    host.await_values(&results).expect("not a worker");
    host.quiesce().expect("not a worker");
    results
}

#[test]
fn operands_are_gone_when_results_are_there() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    for queue in ["s", "mstd:2"] {
        let host = host(queue, |_| ());
        for kernel in ["plain", "blocking", "ready", "waits", "panics"] {
            let text = format!(
                r#"
                func @main() -> i32 {{
                  %made = "drops.make"() : () -> !drops.counted
                  %used = "drops.{kernel}"(%made) : (!drops.counted) -> i32
                  %alive = "drops.num_alive_after"(%used) {{bef.nonstrict}} : (i32) -> i32
                  tfrt.return %alive : i32
                }}
                "#
            );
            let results = run(&host, &text);
            assert_eq!(results[0].get::<i32>(), Some(&0), "{kernel} under {queue}");
        }
    }
}

/// Panics as it is dropped.
#[derive(Value)]
#[value("!drops.bomb")]
struct Bomb;

impl Drop for Bomb {
    fn drop(&mut self) {
        panic!("boom");
    }
}

#[tfrt_kernel("drops.bomb", sync = "drops_sync.bomb")]
fn bomb() -> Bomb {
    Bomb
}

#[tfrt_kernel("drops.two", sync = "drops_sync.two")]
fn two(_a: &Bomb, _b: &Bomb) -> i32 {
    1
}

#[tfrt_kernel("drops.some", sync = "drops_sync.some")]
fn some(_operands: &[AnyRef]) -> i32 {
    1
}

#[tfrt_kernel("drops.two_later")]
async fn two_later(_a: &Bomb, _b: &Bomb, host: &HostContext) -> Result<i32> {
    let later = enqueue_value(&**host.queue(), || Ok(1_i32));
    Ok(later.await?.get().copied().unwrap_or_default())
}

#[tfrt_kernel("drops.two_blocking", blocking)]
fn two_blocking(_a: &Bomb, _b: &Bomb) -> i32 {
    1
}

/// What the diagnostic handler of a host is told.
#[derive(Clone, Default)]
struct Told(Arc<Mutex<Vec<String>>>);

impl Told {
    fn host(&self, queue: &str) -> Arc<HostContext> {
        let Self(messages) = self.clone();
        host(queue, move |error| {
            let mut messages = messages.lock().unwrap_or_else(PoisonError::into_inner);
            messages.push(error.to_string());
        })
    }

    #[track_caller]
    fn expect_bombs(&self, num_bombs: usize, what: &str) {
        let expected = "payload of type `!drops.bomb` panicked while it was dropped: boom";
        let messages = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        assert_eq!(*messages, vec![expected; num_bombs], "{what}");
    }
}

/// A function that makes so many bombs and passes two operands of them to a kernel.
fn with_bombs(num_bombs: usize, dialect: &str, kernel: &str, attributes: &str) -> String {
    let (b, second) = match num_bombs {
        1 => (String::new(), "%a"),
        _ => (
            format!(r#"%b = "{dialect}.bomb"() : () -> !drops.bomb"#),
            "%b",
        ),
    };
    format!(
        r#"
        func @main() -> i32 {attributes} {{
          %a = "{dialect}.bomb"() : () -> !drops.bomb
          {b}
          %c = "{dialect}.{kernel}"(%a, {second}) : (!drops.bomb, !drops.bomb) -> i32
          tfrt.return %c : i32
        }}
        "#
    )
}

#[test]
fn payloads_that_panic_change_no_result_and_are_reported() {
    for queue in ["s", "mstd:2"] {
        for kernel in ["two", "some", "two_later", "two_blocking"] {
            for num_bombs in [1, 2] {
                let told = Told::default();
                let text = with_bombs(num_bombs, "drops", kernel, "");
                let results = run(&told.host(queue), &text);
                let what = format!("{kernel} under {queue}");
                assert_eq!(results[0].get::<i32>(), Some(&1), "{what}");
                told.expect_bombs(num_bombs, &what);
            }
        }
    }
}

#[test]
fn payloads_that_panic_change_no_result_of_a_synchronous_function() {
    for kernel in ["two", "some"] {
        for num_bombs in [1, 2] {
            let told = Told::default();
            let host = told.host("s");
            let text = with_bombs(num_bombs, "drops_sync", kernel, "attributes {tfrt.sync}");
            let (program, ctx) = load(&host, &text);
            let mut results = [None];
            let function = program.function("main").expect("it exists");
            let outcome = function.execute_sync(&ctx, &[], &mut results);
            assert!(outcome.is_ok(), "{kernel}: {outcome:?}");
            let [result] = &results;
            let number = result.as_ref().and_then(AnyRef::get::<i32>);
            assert_eq!(number, Some(&1), "{kernel}");
            told.expect_bombs(num_bombs, kernel);
        }
    }
}
