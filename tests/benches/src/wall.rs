//! Wall time of programs, in processes of their own: how far two threads come, and whether kernels
//! cost the same in functions of any size.
//!
//! The least of several medians is what is told: what else the machine does makes a program slower,
//! never faster.

use std::process::Command;

use crate::programs::{PARALLEL_PROGRAMS, Program, Shape};

/// How many processes measure each number.
const NUM_PROCESSES: usize = 3;

/// How many kernels a process starts, more or less.
const NUM_KERNELS: usize = 2_000_000;

/// How long a run of `program` takes on a work queue of this name, in nanoseconds.
///
/// # Errors
/// What the process says that runs this very binary and fails.
pub fn run_ns(program: &Program, queue: &str) -> Result<u64, String> {
    let num_kernels = match program.shape {
        // Each takes a thousand times as long.
        Shape::Coarse | Shape::CoarseDiamonds => NUM_KERNELS / 100,
        _ => NUM_KERNELS,
    };
    let num_runs = (num_kernels / program.num_units()).clamp(3, 10_000);
    let medians = (0..NUM_PROCESSES).map(|_| median_ns(program, num_runs, queue));
    let medians: Vec<u64> = medians.collect::<Result<_, _>>()?;
    Ok(medians.into_iter().min().unwrap_or_default())
}

fn median_ns(program: &Program, num_runs: usize, queue: &str) -> Result<u64, String> {
    let binary = std::env::current_exe().map_err(|error| error.to_string())?;
    let output = Command::new(binary)
        .args(["run", program.shape.name()])
        .args([program.size, num_runs].map(|number| number.to_string()))
        .arg(queue)
        .output()
        .map_err(|error| error.to_string())?;
    let said = String::from_utf8_lossy(&output.stdout);
    let median = said
        .lines()
        .find_map(|line| line.split_once(":Time 50%(ns): "))
        .and_then(|(_, number)| number.parse().ok());
    median.ok_or_else(|| String::from_utf8_lossy(&output.stderr).into_owned())
}

/// Prints what one thread and two make of the [programs](PARALLEL_PROGRAMS) for that.
///
/// # Errors
/// As [`run_ns`].
pub fn print_parallel() -> Result<(), String> {
    const QUEUES: [&str; 3] = ["s", "mstd:1", "mstd:2"];
    println!(
        "{:<22} {:>10} {:>10} {:>10}   two threads are",
        "program", QUEUES[0], QUEUES[1], QUEUES[2]
    );
    for program in PARALLEL_PROGRAMS {
        let mut times_us = [0.0; QUEUES.len()];
        for (time_us, queue) in times_us.iter_mut().zip(QUEUES) {
            *time_us = run_ns(program, queue)? as f64 / 1e3;
        }
        let [one, _, two] = times_us;
        let [single, mstd_1, mstd_2] = times_us.map(|time_us| format!("{time_us:.1} us"));
        println!(
            "{:<22} {single:>10} {mstd_1:>10} {mstd_2:>10}   {:.2} times as fast",
            program.to_string(),
            one / two
        );
    }
    Ok(())
}

/// Prints what a kernel takes in functions of 10 kernels to `max_size`.
///
/// # Errors
/// As [`run_ns`].
pub fn print_sizes(max_size: usize) -> Result<(), String> {
    let sizes = std::iter::successors(Some(10), |size| Some(size * 10));
    let sizes: Vec<usize> = sizes.take_while(|&size| size <= max_size).collect();
    print!("{:<12} {:<8}", "ns a kernel", "queue");
    sizes.iter().for_each(|size| print!(" {size:>9}"));
    println!();
    for shape in [Shape::Chain, Shape::Tree, Shape::Constants, Shape::Diamonds] {
        for queue in ["s", "mstd:2"] {
            print!("{:<12} {queue:<8}", shape.name());
            for &size in &sizes {
                let program = Program::new(shape, size);
                let each_ns = run_ns(&program, queue)? as f64 / program.num_units() as f64;
                print!(" {each_ns:>9.1}");
            }
            println!();
        }
    }
    Ok(())
}
