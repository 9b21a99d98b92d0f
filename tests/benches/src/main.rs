//! Measures what starting a kernel costs. See the documentation of the library.
#![forbid(unsafe_code)]

use std::process::ExitCode;

use tfrt_benches::baseline;
use tfrt_benches::instructions::{self, CountError};
use tfrt_benches::programs::{PROGRAMS, Program};
use tfrt_benches::session::Session;

const HELP: &str = "\
Measures what starting a kernel costs

Usage: tfrt-benches instructions [--accept] [NAME…]   count instructions, and compare with what was accepted
       tfrt-benches run NAME SIZE NUM_RUNS [QUEUE]    run one program, for a profiler to look at
       tfrt-benches text NAME SIZE NUM_RUNS           print one program

Examples:
  tfrt-benches instructions                 all programs; fails if one costs more than was accepted
  tfrt-benches instructions --accept        accept what they cost now
  tfrt-benches run chain 1000 100 mstd:2    a chain of 1000 kernels, 100 times, on two threads";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let outcome = match arguments[..] {
        ["instructions", ref rest @ ..] => count(rest),
        ["run", name, size, num_runs] => run(name, size, num_runs, "s"),
        ["run", name, size, num_runs, queue] => run(name, size, num_runs, queue),
        ["text", name, size, num_runs] => program(name, size, num_runs)
            .map(|(program, num_runs)| print!("{}", program.text(num_runs))),
        ["--help" | "-h"] => {
            println!("{HELP}");
            Ok(())
        }
        _ => Err(HELP.to_owned()),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("{message}");
            ExitCode::FAILURE
        }
    }
}

fn program(name: &str, size: &str, num_runs: &str) -> Result<(Program, usize), String> {
    let number = |text: &str| text.parse().map_err(|_| format!("`{text}` is no number"));
    let known = PROGRAMS.iter().find(|program| program.shape.name() == name);
    let known = known.ok_or_else(|| {
        let names: Vec<&str> = PROGRAMS
            .iter()
            .map(|program| program.shape.name())
            .collect();
        format!(
            "there is no program `{name}`; there are {}",
            names.join(", ")
        )
    })?;
    Ok((Program::new(known.shape, number(size)?), number(num_runs)?))
}

fn run(name: &str, size: &str, num_runs: &str, queue: &str) -> Result<(), String> {
    let (program, num_runs) = program(name, size, num_runs)?;
    let session = Session::new(&program, num_runs, queue).map_err(|error| error.to_string())?;
    session.run().map_err(|error| error.to_string())
}

fn count(arguments: &[&str]) -> Result<(), String> {
    let accepts = arguments.contains(&"--accept");
    let names: Vec<&&str> = arguments
        .iter()
        .filter(|name| **name != "--accept")
        .collect();
    let is_chosen = |program: &&Program| {
        names.is_empty() || names.iter().any(|name| **name == program.shape.name())
    };
    println!("{:<20} {:>12} {:>9}", "program", "instructions", "accepted");
    let (mut costs, mut excessive) = (Vec::new(), Vec::new());
    for program in PROGRAMS.iter().filter(is_chosen) {
        let name = program.to_string();
        let cost = match instructions::per_unit(program, "s") {
            Ok(cost) => cost,
            Err(CountError::NoValgrind) => {
                println!("skipped: there is no valgrind on this machine");
                return Ok(());
            }
            Err(CountError::Failed(said)) => return Err(said),
        };
        let accepted = baseline::accepted(&name);
        let shown = accepted.map_or_else(|| "-".to_owned(), |accepted| accepted.to_string());
        println!("{name:<20} {cost:>12} {shown:>9}  per {}", program.unit());
        if accepted.is_none_or(|accepted| baseline::is_excessive(cost, accepted)) {
            excessive.push(name.clone());
        }
        costs.push((name, cost));
    }
    if accepts && names.is_empty() {
        return std::fs::write(baseline::PATH, baseline::lines(&costs))
            .map_err(|error| format!("{}: {error}", baseline::PATH));
    }
    match &excessive[..] {
        [] => Ok(()),
        _ => Err(format!(
            "{} cost more than was accepted; if that is wanted, `tfrt-benches instructions --accept` accepts it",
            excessive.join(", ")
        )),
    }
}
