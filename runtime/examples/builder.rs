//! Builds a BEF file from Rust, without MLIR text and without the compiler, and runs it.
//!
//! ```console
//! $ cargo run -p tfrt --example builder
//! 3 to the power of 8 is 6561
//! ```

use std::error::Error;
use std::sync::Arc;

use tfrt::bef::BefFile;
use tfrt::bef::builder::{KernelBuilder, ProgramBuilder};
use tfrt::executor::Program;
use tfrt::host::RequestContextBuilder;
use tfrt::prelude::*;

/// Multiplies two numbers.
#[tfrt_kernel("example.multiply")]
fn multiply(a: i64, b: i64) -> i64 {
    a.wrapping_mul(b)
}

/// A program with the function `power`, which squares its argument three times.
fn power_of_eight() -> Result<BefFile, Box<dyn Error>> {
    let mut program = ProgramBuilder::new();
    let number = program.add_type("i64");
    let (_, mut body) = program.add_function("power", &[number], &[number])?;
    let mut power = body.arguments()[0];
    for _ in 0..3 {
        let square = KernelBuilder::new("example.multiply").operands(&[power, power]);
        [power] = body.add(square, [number])?;
    }
    program.define(body, &[power])?;
    Ok(BefFile::from_bytes(&program.finish()?))
}

fn main() -> Result<(), Box<dyn Error>> {
    let kernels = Arc::new(KernelRegistry::from_link()?);
    let host = HostContext::builder().registry(kernels).build();
    let power = Program::load(&host, &power_of_eight()?)?
        .function("power")
        .ok_or("no function `power`")?;

    let ctx = ExecutionContext::new(RequestContextBuilder::new(Arc::clone(&host)).build());
    let results = power.execute(&ctx, &[AnyRef::available(3_i64)]);
    host.await_values(&results)?;
    let result = results[0].as_result::<i64>()?;
    println!("3 to the power of 8 is {result}");
    assert_eq!(*result, 6561);
    Ok(())
}
