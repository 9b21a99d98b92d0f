//! Every program under `programs` is a test.

use std::process::ExitCode;

use libtest_mimic::{Arguments, Trial};
use tfrt_tests::programs::{self, Gpu};
use tfrt_tests::tool;

fn main() -> ExitCode {
    if let Some(code) = tool::run_if_started_as_tool() {
        return code;
    }
    let names = match programs::names() {
        Ok(names) => names,
        Err(error) => {
            eprintln!("{error}");
            return ExitCode::FAILURE;
        }
    };
    let trials = names
        .into_iter()
        .flat_map(|name| {
            let gpus: &[Gpu] = match programs::uses_host_device(&name) {
                true => &[Gpu::Named, Gpu::EmulatedCuda],
                false => &[Gpu::Named],
            };
            gpus.iter().map(move |&gpu| {
                let name = name.clone();
                let test = match gpu {
                    Gpu::Named => name.clone(),
                    Gpu::EmulatedCuda => format!("{name}.cuda"),
                };
                Trial::test(test, move || Ok(programs::check(&name, gpu)?))
            })
        })
        .collect();
    libtest_mimic::run(&Arguments::from_args(), trials).exit_code()
}
