//! Each call of each kernel fails, in turn: the error is that of the kernel, and nothing is left.

use std::fs;
use std::time::{Duration, Instant};

use tfrt::prelude::*;
use tfrt_gpu::cuda;
use tfrt_gpu::failures::Failure;
use tfrt_gpu::host_device::{HostDevice, Options};
use tfrt_gpu::platform::{Gpu, GpuChoice};

use super::calls::{self, Calls};
use super::program::{Compiled, over_emulated_cuda};

/// The most calls of one function in one run of a program's function.
const MAX_CALLS: u64 = 64;

/// The status that a call fails with.
fn status(symbol: &str) -> u32 {
    match symbol {
        _ if symbol.starts_with("cublas") => 13,
        _ if symbol.starts_with("cusolver") || symbol.starts_with("cufft") => 6,
        _ if symbol.starts_with("cudnn") => 5000,
        _ if symbol.starts_with("nccl") => 3,
        _ => 999,
    }
}

/// The functions of the libraries that kernels call.
fn symbols(recorded: &Calls) -> Vec<String> {
    let sequences = recorded.values().flatten();
    let calls = sequences.flat_map(|sequence| sequence.split_whitespace());
    let mut symbols: Vec<String> = calls
        // A failed release has nobody to tell but the log.
        .filter(|symbol| !symbol.contains("Free"))
        .map(str::to_owned)
        .collect();
    symbols.sort_unstable();
    symbols.dedup();
    symbols
}

/// Checks that an error is that of a kernel that makes the call.
fn check(recorded: &Calls, error: &Error, symbol: &str, function: &str) {
    let shown = format!("{symbol} in `{function}`: {error}");
    let kernel = error
        .kernel()
        .unwrap_or_else(|| panic!("no kernel: {shown}"));
    let makes_it = calls::makes(recorded, kernel, symbol);
    assert!(makes_it, "{kernel}: {shown}");
    assert!(error.place().to_string().contains(':'), "no place: {shown}");
}

/// Runs each function of each program with each call failing, through `run`, which returns the
/// error of the run. Returns the number of runs that failed.
///
/// Ranks of collectives wait for each other, and for ever if one of them fails, as on a GPU.
fn fail_each_call(mut run: impl FnMut(&Compiled, &str, Vec<Failure>) -> Option<Error>) -> usize {
    let recorded = calls::recorded();
    let symbols = symbols(&recorded);
    let mut num_failures = 0;
    let programs = Compiled::all();
    for program in programs
        .iter()
        .filter(|program| program.name != "gpu-collectives")
    {
        for function in &program.functions {
            if run(program, function, Vec::new()).is_some() {
                // Programs record failures, too.
                continue;
            }
            for symbol in &symbols {
                // Some failures are overcome, so that one without an error is not the last.
                let mut num_well = 0;
                for number in 1..=MAX_CALLS {
                    let failure = (symbol.clone(), number, status(symbol));
                    let Some(error) = run(program, function, vec![failure]) else {
                        num_well += 1;
                        if num_well == 3 {
                            break;
                        }
                        continue;
                    };
                    check(&recorded, &error, symbol, function);
                    num_failures += 1;
                }
            }
        }
    }
    num_failures
}

#[test]
fn each_failing_call_of_the_host_device_is_the_error_of_its_kernel() {
    let num_failures = fail_each_call(|program, function, failures| {
        let device = HostDevice::new(Options {
            failures,
            ..Options::default()
        });
        let error = program.run(function, HostDevice::gpu(&device));
        // A thread drops what was kept for work that is done.
        let end = Instant::now() + Duration::from_secs(60);
        while device.num_live() > 0 {
            assert!(Instant::now() < end, "{function}: {error:?}");
            std::thread::yield_now();
        }
        error
    });
    assert!(num_failures > 300, "{num_failures}");
}

#[test]
fn each_failing_call_of_cuda_is_the_error_of_its_kernel() {
    let test = "each_failing_call_of_cuda_is_the_error_of_its_kernel";
    let Ok(log) = over_emulated_cuda(test) else {
        let num_failures = fail_each_call(|program, function, failures| {
            cuda::request_failures(failures);
            program.run(function, Gpu::open(GpuChoice::Cuda).unwrap())
        });
        assert!(num_failures > 300, "{num_failures}");
        return;
    };
    let log = fs::read_to_string(log).unwrap();
    let last = log.lines().rfind(|line| !line.starts_with('#')).unwrap();
    assert!(last.ends_with(" 0"), "{last}");
}
