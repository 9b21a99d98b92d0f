//! The smallest program that embeds the runtime: it executes the function `main` of a BEF file on
//! the calling thread, with twenty kernels of its own, and prints what it returns.

mod kernels;

use std::process::ExitCode;
use std::sync::Arc;

use tfrt::bef::BefFile;
use tfrt::executor::Program;
use tfrt::host::RequestContextBuilder;
use tfrt::kernel::KernelRegistry;
use tfrt::prelude::*;

fn main() -> ExitCode {
    match std::env::args().nth(1) {
        None => {
            eprintln!("usage: minimal FILE");
            ExitCode::FAILURE
        }
        Some(path) => match run(&path) {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => {
                eprintln!("{path}: {}", error.message());
                ExitCode::FAILURE
            }
        },
    }
}

fn run(path: &str) -> Result<()> {
    let registry = KernelRegistry::from_link()?;
    let host = HostContext::builder().registry(Arc::new(registry)).build();
    let file = BefFile::open(path)?;
    let program = Program::load(&host, &file)?;
    let main = program
        .function("main")
        .ok_or("there is no function `main`")?;
    let ctx = ExecutionContext::new(RequestContextBuilder::new(Arc::clone(&host)).build());
    let results = main.execute(&ctx, &[]);
    host.await_available(&results)?;
    for result in &results {
        match result.as_result::<i32>() {
            Ok(number) => println!("{number}"),
            Err(error) => println!("error: {}", error.message()),
        }
    }
    Ok(())
}
