//! Measures what starting a kernel costs. See the documentation of the library.
#![forbid(unsafe_code)]

use std::collections::BTreeSet;
use std::process::ExitCode;

use tfrt_benches::baseline::{self, Row};
use tfrt_benches::digits;
use tfrt_benches::eager;
use tfrt_benches::functions;
use tfrt_benches::gpu;
use tfrt_benches::instructions::{self, CountError};
use tfrt_benches::programs::{PARALLEL_PROGRAMS, PROGRAMS, Program, Shape};
use tfrt_benches::session::Session;
use tfrt_benches::user::{CASES, Case};
use tfrt_benches::{adapter, compile_time, library, load, wall};

const HELP: &str = "\
Measures the overhead of kernels

Usage: tfrt-benches COMMAND

Commands that measure:
  instructions [--accept] [--only PREFIX]…  count instructions, and compare them with the baseline
  parallel                                  compare one thread with two threads
  sizes [MAX_SIZE]                          compare functions of 10 to MAX_SIZE kernels
                                            [default: 100000]
  load [QUEUE]                              measure the latency of small requests under steady load
                                            [default: mstd:1]
  digits [NUM_RUNS]                         compare a network as a graph, op by op, and as one op
                                            [default: 200]
  functions [NUM_RUNS]                      measure a function of 1000 small ops: its metadata, and
                                            its run as one op beside that as a graph [default: 200]

Commands that run one case under a profiler; QUEUE is a work queue [default: s]:
  run NAME SIZE NUM_RUNS [QUEUE]            run a program of SIZE kernels
  call NAME NUM_CALLS [QUEUE]               call a program from Rust, as a user does
  op NAME NUM_CALLS [QUEUE]                 call an op from Rust
  enqueue NAME NUM_RUNS [QUEUE]             enqueue work on a stream, by kernels
  adapter derived|by-hand NUM_CALLS         call a kernel through its derived adapter, or by hand

Commands that print or write programs:
  text NAME SIZE NUM_RUNS                   print a program of `run`
  text NAME                                 print a program of `call`
  kernels FOLDER COUNT                      write a crate of COUNT kernels, to time its compilation

Examples:
  tfrt-benches instructions                 count all programs; fails if one exceeds its baseline
  tfrt-benches instructions --only user/    count the programs whose names start with `user/`
  tfrt-benches instructions --accept        write a new baseline
  tfrt-benches run chain 1000 100 mstd:2    run a chain of 1000 kernels 100 times, on two threads
  tfrt-benches call user/tree 100           call a tree of a user's kernels 100 times";

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
        ["call", name, num_calls] => call(name, num_calls, "s"),
        ["call", name, num_calls, queue] => call(name, num_calls, queue),
        ["op", name, num_calls] => op(name, num_calls, "s"),
        ["op", name, num_calls, queue] => op(name, num_calls, queue),
        ["enqueue", name, num_runs] => enqueue(name, num_runs, "s"),
        ["enqueue", name, num_runs, queue] => enqueue(name, num_runs, queue),
        ["digits"] => print_digits("200"),
        ["digits", num_runs] => print_digits(num_runs),
        ["functions"] => print_functions("200"),
        ["functions", num_runs] => print_functions(num_runs),
        ["adapter", form, num_calls] => call_adapter(form, num_calls),
        ["kernels", folder, num_kernels] => number(num_kernels).and_then(|num_kernels| {
            let written = compile_time::write(folder.as_ref(), num_kernels);
            written.map_err(|error| format!("{folder}: {error}"))
        }),
        ["text", name] => case(name).map(|case| print!("{}", case.text())),
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
    text.parse()
        .map_err(|_| format!("`{text}` is not a number"))
}

fn program(name: &str, size: &str, num_runs: &str) -> Result<(Program, usize), String> {
    let shape = Shape::from_name(name).ok_or_else(|| {
        let programs = PROGRAMS.iter().chain(PARALLEL_PROGRAMS);
        let names: BTreeSet<&str> = programs.map(|program| program.shape.name()).collect();
        let names: Vec<&str> = names.into_iter().collect();
        format!("unknown program `{name}`; available: {}", names.join(", "))
    })?;
    Ok((Program::new(shape, number(size)?), number(num_runs)?))
}

fn run(name: &str, size: &str, num_runs: &str, queue: &str) -> Result<(), String> {
    let (program, num_runs) = program(name, size, num_runs)?;
    let session = Session::new(&program, num_runs, queue).map_err(|error| error.to_string())?;
    session.run().map_err(|error| error.to_string())
}

fn print_digits(num_runs: &str) -> Result<(), String> {
    digits::print(number(num_runs)?).map_err(|error| error.to_string())
}

fn print_functions(num_runs: &str) -> Result<(), String> {
    functions::print(number(num_runs)?).map_err(|error| error.to_string())
}

fn call_adapter(form: &str, num_calls: &str) -> Result<(), String> {
    let form = adapter::Form::from_name(form)
        .ok_or_else(|| format!("expected `derived` or `by-hand`, found `{form}`"))?;
    adapter::run(form, number(num_calls)?);
    Ok(())
}

fn case(name: &str) -> Result<Case, String> {
    Case::from_name(name).ok_or_else(|| {
        let names: Vec<&str> = CASES.iter().map(|case| case.name).collect();
        format!("unknown program `{name}`; available: {}", names.join(", "))
    })
}

fn call(name: &str, num_calls: &str, queue: &str) -> Result<(), String> {
    let (case, num_calls) = (case(name)?, number(num_calls)?);
    case.run(num_calls, queue)
        .map_err(|error| error.to_string())
}

fn op(name: &str, num_calls: &str, queue: &str) -> Result<(), String> {
    let case = eager::Case::from_name(name).ok_or_else(|| {
        let names: Vec<&str> = eager::CASES.iter().map(|case| case.name).collect();
        format!("unknown case `{name}`; available: {}", names.join(", "))
    })?;
    case.run(number(num_calls)?, queue)
        .map_err(|error| error.to_string())
}

fn enqueue(name: &str, num_runs: &str, queue: &str) -> Result<(), String> {
    let case = gpu::Case::from_name(name).ok_or_else(|| {
        let names: Vec<&str> = gpu::CASES.iter().map(|case| case.name).collect();
        format!("unknown case `{name}`; available: {}", names.join(", "))
    })?;
    case.run(number(num_runs)?, queue)
        .map_err(|error| error.to_string())
}

fn count(arguments: &[&str]) -> Result<(), String> {
    let (mut accepts, mut beginnings) = (false, Vec::new());
    let mut arguments = arguments.iter();
    while let Some(&argument) = arguments.next() {
        match argument {
            "--accept" => accepts = true,
            "--only" => beginnings.push(*arguments.next().ok_or("`--only` needs a name")?),
            _ => return Err(HELP.to_owned()),
        }
    }
    let mut subjects = instructions::subjects();
    subjects.retain(|subject| {
        let begins = |beginning: &&str| subject.name.starts_with(beginning);
        beginnings.is_empty() || beginnings.iter().any(begins)
    });
    if subjects.is_empty() {
        return Err(format!("nothing begins with {}", beginnings.join(", ")));
    }
    if subjects.iter().any(|subject| subject.needs_library) {
        library::build()?;
    }
    if subjects.iter().any(|subject| subject.needs_driver) {
        gpu::build_driver()?;
    }
    println!(
        "{:<20} {:>12} {:>9} {:>6} {:>6}",
        "program", "instructions", "accepted", "goal", "C++"
    );
    let (mut rows, mut excessive) = (baseline::read()?, Vec::new());
    for subject in &subjects {
        let cost = match subject.per_unit("s") {
            Ok(cost) => cost,
            Err(CountError::NoValgrind) => {
                println!("skipped: there is no valgrind on this machine");
                return Ok(());
            }
            Err(CountError::Failed(said)) => return Err(said),
        };
        let row = rows.iter_mut().find(|row| row.name == subject.name);
        let accepted = row.as_ref().map(|row| row.accepted);
        let goal = row.as_ref().and_then(|row| row.goal);
        let cpp = row.as_ref().and_then(|row| row.cpp);
        println!(
            "{:<20} {cost:>12} {:>9} {:>6} {:>6}  per {}",
            subject.name,
            baseline::shown(accepted),
            baseline::shown(goal),
            baseline::shown(cpp),
            subject.unit
        );
        if accepted.is_none_or(|accepted| baseline::is_excessive(cost, accepted)) {
            excessive.push(subject.name.clone());
        }
        match row {
            Some(row) => row.accepted = cost,
            None => rows.push(Row {
                name: subject.name.clone(),
                accepted: cost,
                goal: None,
                cpp: None,
            }),
        }
    }
    if accepts {
        return baseline::write(&rows);
    }
    match &excessive[..] {
        [] => Ok(()),
        _ => Err(format!(
            "{} cost more than was accepted; if that is wanted, `tfrt-benches instructions \
             --accept` accepts it",
            excessive.join(", ")
        )),
    }
}
