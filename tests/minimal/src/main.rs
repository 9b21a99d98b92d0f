//! The smallest program that embeds the runtime: it executes the function `main` of a BEF file on the calling thread, with twenty
//! kernels of its own, and prints what it returns.

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
    let registry = KernelRegistry::from_link().map_err(|error| Error::new(error.to_string()))?;
    let host = HostContext::builder().registry(Arc::new(registry)).build();
    let file = BefFile::open(path).map_err(|error| Error::new(error.to_string()))?;
    let program = Program::load(&host, &file)?;
    let main = program
        .function("main")
        .ok_or_else(|| Error::new("there is no function `main`"))?;
    let ctx = ExecutionContext::new(RequestContextBuilder::new(Arc::clone(&host)).build());
    let results = main.execute(&ctx, &[]);
    host.await_values(&results).expect("not a task");
    for result in &results {
        match (result.error_if_present(), result.get::<i32>()) {
            (Some(error), _) => println!("error: {}", error.message()),
            (None, Some(number)) => println!("{number}"),
            (None, None) => println!("a value"),
        }
    }
    Ok(())
}
