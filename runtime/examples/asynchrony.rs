//! Kernels that wait without blocking a thread: an `async fn`, and a value that another thread
//! makes available.
//!
//! ```console
//! $ cargo run -p tfrt --example asynchrony
//! 100 kernels that wait 50 ms each took … ms on one thread
//! ```

use std::error::Error;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tfrt::executor::Program;
use tfrt::host::RequestContextBuilder;
use tfrt::prelude::*;

/// Returns the number after 50 ms. The timer wakes the future; no thread sleeps.
#[tfrt_kernel("example.later")]
async fn later(number: i32, host: &HostContext) -> i32 {
    host.timers().sleep(Duration::from_millis(50)).await;
    number
}

/// Adds on another thread, and keeps a promise for the result.
#[tfrt_kernel("example.add_elsewhere")]
fn add_elsewhere(a: i32, b: i32) -> AsyncValueRef<i32> {
    let (promise, sum) = AsyncValueRef::unconstructed();
    std::thread::spawn(move || promise.emplace(a + b));
    sum
}

const SOURCE: &str = r#"
    func @main(%number: i32) -> i32 {
      %one = "example.later"(%number) : (i32) -> i32
      %two = "example.later"(%number) : (i32) -> i32
      %sum = "example.add_elsewhere"(%one, %two) : (i32, i32) -> i32
      tfrt.return %sum : i32
    }
"#;

fn main() -> Result<(), Box<dyn Error>> {
    let kernels = Arc::new(KernelRegistry::from_link()?);
    let file = tfrt::text::compile(SOURCE, "later.mlir", &kernels)?;
    let host = HostContext::builder()
        .registry(kernels)
        .queue(tfrt::queue::create_queue("mstd:1")?)
        .build();
    let main = Program::load(&host, &file)?
        .function("main")
        .ok_or("no function `main`")?;
    let ctx = ExecutionContext::new(RequestContextBuilder::new(Arc::clone(&host)).build());

    let start = Instant::now();
    let results: Vec<AnyRef> = (0..50)
        .flat_map(|number| main.execute(&ctx, &[AnyRef::available(number)]))
        .collect();
    host.await_values(&results)?;
    for (number, result) in (0..).zip(&results) {
        assert_eq!(result.as_result::<i32>()?, &(2 * number));
    }
    println!(
        "100 kernels that wait 50 ms each took {} ms on one thread",
        start.elapsed().as_millis()
    );
    Ok(())
}
