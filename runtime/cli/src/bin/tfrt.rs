//! The command line with the standard kernel library linked.

use std::process::ExitCode;

fn main() -> ExitCode {
    tfrt_cli::main()
}
