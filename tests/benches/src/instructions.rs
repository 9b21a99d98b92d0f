//! Counting instructions, by valgrind's callgrind.
//!
//! A program is run twice in processes of their own, once with more runs than the other time. The
//! difference is what the additional runs cost: start-up, loading and the first runs cancel out.

use std::process::{Command, Stdio};

use crate::eager;
use crate::gpu;
use crate::programs::{PROGRAMS, Program, Shape};
use crate::user::{CASES, Case};

/// What went wrong with a measurement.
#[derive(Debug)]
pub enum CountError {
    /// There is no valgrind on this machine.
    NoValgrind,
    /// A run failed; what it said.
    Failed(String),
}

/// Something whose cost is measured.
#[derive(Debug)]
pub struct Subject {
    /// Its name.
    pub name: String,
    /// What a unit is: what costs are divided by.
    pub unit: &'static str,
    /// Whether it needs the [library](crate::library).
    pub needs_library: bool,
    /// Whether it needs the [driver that does nothing](gpu::build_driver).
    pub needs_driver: bool,
    num_units: usize,
    /// The arguments of this very binary that run it, before the number of runs.
    command: Vec<String>,
    /// Two numbers of runs, whose difference tells what a run costs.
    num_runs: (usize, usize),
}

/// Everything that is measured.
#[must_use]
pub fn subjects() -> Vec<Subject> {
    let programs = PROGRAMS.iter().map(Subject::from);
    let users = CASES.iter().map(Subject::from);
    let calls = eager::CASES.iter().map(Subject::from);
    let enqueued = gpu::CASES.iter().map(Subject::from);
    programs.chain(users).chain(calls).chain(enqueued).collect()
}

impl From<&Program> for Subject {
    fn from(program: &Program) -> Self {
        let num_runs = match program.shape {
            Shape::Fibonacci => (2, 4),
            // What loading costs varies with the seeds of hash tables, by 100,000 instructions. The
            // fewer instructions a unit has, the more that shows.
            Shape::Empty => (500, 20_500),
            Shape::Chain | Shape::Tree | Shape::Constants | Shape::Sync => (20, 220),
            _ => (20, 60),
        };
        Self {
            name: program.to_string(),
            unit: program.unit(),
            needs_library: false,
            needs_driver: false,
            num_units: program.num_units(),
            command: vec![
                "run".to_owned(),
                program.shape.name().to_owned(),
                program.size.to_string(),
            ],
            num_runs,
        }
    }
}

impl From<&Case> for Subject {
    fn from(case: &Case) -> Self {
        Self {
            name: case.name.to_owned(),
            unit: case.unit(),
            needs_library: case.needs_library(),
            needs_driver: false,
            num_units: case.num_units(),
            command: vec!["call".to_owned(), case.name.to_owned()],
            num_runs: case.num_calls(),
        }
    }
}

impl From<&eager::Case> for Subject {
    fn from(case: &eager::Case) -> Self {
        Self {
            name: case.name.to_owned(),
            unit: "call",
            needs_library: false,
            needs_driver: false,
            num_units: 1,
            command: vec!["op".to_owned(), case.name.to_owned()],
            num_runs: (500, 10_500),
        }
    }
}

impl From<&gpu::Case> for Subject {
    fn from(case: &gpu::Case) -> Self {
        Self {
            name: case.name.to_owned(),
            unit: "kernel",
            needs_library: false,
            needs_driver: true,
            num_units: gpu::NUM_PIECES,
            command: vec!["enqueue".to_owned(), case.name.to_owned()],
            num_runs: (20, 220),
        }
    }
}

impl Subject {
    /// How many instructions one unit costs, on a work queue of this name.
    ///
    /// # Errors
    /// If there is no valgrind, or it cannot run this very binary.
    pub fn per_unit(&self, queue: &str) -> Result<u64, CountError> {
        let (few, many) = self.num_runs;
        let difference = self
            .total(many, queue)?
            .saturating_sub(self.total(few, queue)?);
        Ok(difference / ((many - few) * self.num_units) as u64)
    }

    /// How many instructions a process executes that makes so many runs.
    fn total(&self, num_runs: usize, queue: &str) -> Result<u64, CountError> {
        let binary =
            std::env::current_exe().map_err(|error| CountError::Failed(error.to_string()))?;
        let mut valgrind = Command::new("valgrind");
        if self.needs_driver {
            valgrind.env("LD_LIBRARY_PATH", gpu::driver_folder());
        }
        let output = valgrind
            .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
            .arg(binary)
            .args(&self.command)
            .args([&num_runs.to_string(), queue])
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
}
