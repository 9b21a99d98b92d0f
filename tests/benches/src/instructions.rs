//! Counting instructions, by valgrind's callgrind.
//!
//! A program is run twice in processes of their own, once with more runs than the other time. The difference is what the
//! additional runs cost: start-up, loading and the first runs cancel out.

use std::process::{Command, Stdio};

use crate::programs::{Program, Shape};

/// What went wrong with a measurement.
#[derive(Debug)]
pub enum CountError {
    /// There is no valgrind on this machine.
    NoValgrind,
    /// A run failed; what it said.
    Failed(String),
}

/// How many instructions one unit of `program` costs, on a work queue of this name.
///
/// # Errors
/// If there is no valgrind, or it cannot run this very binary.
pub fn per_unit(program: &Program, queue: &str) -> Result<u64, CountError> {
    let (few, many) = match program.shape {
        Shape::Fibonacci => (2, 4),
        Shape::Empty => (500, 1500),
        _ => (20, 60),
    };
    let difference = total(program, many, queue)?.saturating_sub(total(program, few, queue)?);
    Ok(difference / ((many - few) * program.num_units()) as u64)
}

/// How many instructions a process executes that makes so many runs.
fn total(program: &Program, num_runs: usize, queue: &str) -> Result<u64, CountError> {
    let binary = std::env::current_exe().map_err(|error| CountError::Failed(error.to_string()))?;
    let output = Command::new("valgrind")
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
        .arg(binary)
        .args(["run", program.shape.name()])
        .args([program.size, num_runs].map(|number| number.to_string()))
        .arg(queue)
        .stdout(Stdio::null())
        .output()
        .map_err(|_| CountError::NoValgrind)?;
    let said = String::from_utf8_lossy(&output.stderr);
    let count = said
        .lines()
        .find_map(|line| line.split_once("Collected : "))
        .and_then(|(_, count)| count.trim().parse().ok());
    count
        .filter(|_| output.status.success())
        .ok_or_else(|| CountError::Failed(said.into_owned()))
}
