//! Every program under `programs` is a test.

use std::process::ExitCode;

use libtest_mimic::{Arguments, Trial};
use tfrt_tests::{programs, tool};

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
        .map(|name| Trial::test(name.clone(), move || Ok(programs::check(&name)?)))
        .collect();
    libtest_mimic::run(&Arguments::from_args(), trials).exit_code()
}
