//! Measures what starting a kernel costs. See the documentation of the library.
#![forbid(unsafe_code)]

use std::collections::BTreeSet;
use std::process::ExitCode;

use tfrt_benches::baseline;
use tfrt_benches::instructions::{self, CountError};
use tfrt_benches::programs::{PARALLEL_PROGRAMS, PROGRAMS, Program, Shape};
use tfrt_benches::session::Session;
use tfrt_benches::{load, wall};

const HELP: &str = "\
Measures what starting a kernel costs

Usage: tfrt-benches instructions [--accept] [NAME…]   count instructions, and compare with what was accepted
       tfrt-benches parallel                          compare one thread with two
       tfrt-benches sizes [MAX_SIZE]                  compare functions of 10 kernels to MAX_SIZE, 100000 if not said
       tfrt-benches load [QUEUE]                      show how long small requests wait that come steadily
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
        ["parallel"] => wall::print_parallel(),
        ["sizes"] => wall::print_sizes(100_000),
        ["sizes", max_size] => number(max_size).and_then(wall::print_sizes),
        ["load"] => load::print("mstd:1"),
        ["load", queue] => load::print(queue),
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

fn number(text: &str) -> Result<usize, String> {
    text.parse().map_err(|_| format!("`{text}` is no number"))
}

fn program(name: &str, size: &str, num_runs: &str) -> Result<(Program, usize), String> {
    let shape = Shape::from_name(name).ok_or_else(|| {
        let programs = PROGRAMS.iter().chain(PARALLEL_PROGRAMS);
        let names: BTreeSet<&str> = programs.map(|program| program.shape.name()).collect();
        let names: Vec<&str> = names.into_iter().collect();
        format!(
            "there is no program `{name}`; there are {}",
            names.join(", ")
        )
    })?;
    Ok((Program::new(shape, number(size)?), number(num_runs)?))
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
