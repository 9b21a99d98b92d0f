//! Crates outside of this workspace, built as a stranger would build them, and run with the tools.
//!
//! This binary is the tools, too. Its builds would slow the tests of `tool` down.

mod kernel_library;
mod template;

use std::process::ExitCode;

use tfrt_tests::tool;

fn main() -> ExitCode {
    tool::test_or_run([
        ("kernel_library", kernel_library::trials),
        ("template", template::trials),
    ])
}
