//! Compiles a program, runs it many times from Rust, and awaits its results.
//!
//! ```console
//! $ cargo run -p tfrt --example embedding
//! 2 * 3 + 1 = 7
//! ```

use std::error::Error;
use std::sync::Arc;

use tfrt::executor::Program;
use tfrt::host::RequestContextBuilder;
use tfrt::prelude::*;

/// Multiplies two numbers.
#[tfrt_kernel("example.multiply")]
fn multiply(a: i64, b: i64) -> i64 {
    a * b
}

/// Adds two numbers.
#[tfrt_kernel("example.add")]
fn add(a: i64, b: i64) -> i64 {
    a + b
}

const SOURCE: &str = r#"
    func @multiply_add(%a: i64, %b: i64, %c: i64) -> i64 {
      %product = "example.multiply"(%a, %b) : (i64, i64) -> i64
      %sum = "example.add"(%product, %c) : (i64, i64) -> i64
      tfrt.return %sum : i64
    }
"#;

fn main() -> Result<(), Box<dyn Error>> {
    // Once per process: the host has the kernels and the threads that run them.
    let kernels = Arc::new(KernelRegistry::from_link()?);
    let host = HostContext::builder()
        .registry(Arc::clone(&kernels))
        .queue(tfrt::queue::create_queue("mstd:2")?)
        .build();

    // Once per program: compile it, load it, and check the signature of the function.
    let file = tfrt::text::compile(SOURCE, "multiply_add.mlir", &kernels)?;
    let program = Program::load(&host, &file)?;
    let multiply_add = program.function("multiply_add").ok_or("no such function")?;
    let multiply_add = multiply_add.typed::<(i64, i64, i64), (i64,)>()?;

    // Once per piece of work: a request.
    let request = RequestContextBuilder::new(Arc::clone(&host)).build();
    let ctx = ExecutionContext::new(request);

    // Calls return at once; their results become available later.
    let sums: Vec<_> = (0..100)
        .map(|c| multiply_add.call(&ctx, (2, 3, c)).0)
        .collect();
    for (c, sum) in (0_i64..).zip(&sums) {
        host.await_values(&[sum.as_any().clone()])?;
        assert_eq!(sum.get(), Some(&(6 + c)));
    }
    println!("2 * 3 + 1 = {}", sums[1].get().ok_or("no value")?);
    Ok(())
}
