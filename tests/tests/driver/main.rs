//! Drivers with kernels of a user beside the standard ones.
//!
//! This binary is the driver, too, with the kernels of its modules.

mod ends;
mod run_command;

use std::process::ExitCode;

use tfrt_tests::tool;

fn main() -> ExitCode {
    tool::test_or_run([("ends", ends::trials), ("run_command", run_command::trials)])
}
