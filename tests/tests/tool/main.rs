//! The tools, run as their users run them.
//!
//! All modules are one binary, which is the tools, too: it is as large as they are, and linking one
//! for each module would take minutes and gigabytes. Kernels that a test brings along are in the
//! binary `driver`, so that these tools have the standard ones alone.

mod bench;
mod cluster;
mod command_line;
mod declarations;
mod golden;
mod graph;
mod help_examples;
mod hostile_inputs;
mod models;
mod programs;
mod trace;

use std::process::ExitCode;

use tfrt_tests::tool;

fn main() -> ExitCode {
    tool::test_or_run([
        ("golden", golden::trials),
        ("programs", programs::trials),
        ("command_line", command_line::trials),
        ("cluster", cluster::trials),
        ("trace", trace::trials),
        ("bench", bench::trials),
        ("declarations", declarations::trials),
        ("graph", graph::trials),
        ("help_examples", help_examples::trials),
        ("hostile_inputs", hostile_inputs::trials),
        ("models", models::trials),
    ])
}
