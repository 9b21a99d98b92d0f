//! A user's programs: kernels that declare nothing about themselves, in programs that Rust calls.
//!
//! The programs of [`crate::programs`] run inside of the driver's benchmark and consist of kernels
//! of the standard library, which say what they may be relied on for. These are what an author has
//! on the first day: kernels that are plain functions, a `main` that is called from Rust again and
//! again, and what that brings with it (requests, results that are awaited, traces).

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use tfrt::executor::Program as LoadedProgram;
use tfrt::host::tracing::{self, Activity, TracingLevel, TracingSink};
use tfrt::host::{FunctionRef, RequestContextBuilder};
use tfrt::prelude::*;

use crate::library;

mod kernels;

mod text;

/// The form of a user's program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shape {
    /// Every kernel depends on the one before.
    Chain,
    /// Independent kernels, and a tree that reduces their results.
    Tree,
    /// Wide levels, of which each kernel has two users, and a tree.
    Diamonds,
    /// One kernel.
    One,
    /// Effects, of which each takes the chain of the one before.
    Effects,
    /// As `Effects`: each writes one tensor.
    InPlace,
    /// The recursive function; the size is its argument.
    Fibonacci,
    /// Calls of a function of one kernel, one after the other.
    Calls,
    /// Rounds of a loop whose body is one kernel.
    Repeat,
    /// Rounds of a loop whose body counts and compares.
    While,
}

/// How Rust calls a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    /// In one request, waiting for the result even if it is there.
    Awaited,
    /// In one request, taking a result that is there.
    Taken,
    /// Each call in a request of its own, taking a result that is there.
    Request,
    /// As `Awaited`, while a sink counts the kernels.
    Traced,
}

/// What is measured: a program and how it is called.
#[derive(Clone, Copy, Debug)]
pub struct Case {
    /// The name that the command line and the baseline know it by.
    pub name: &'static str,
    shape: Shape,
    kernel: &'static str,
    size: usize,
    way: Way,
}

/// What is measured.
pub const CASES: &[Case] = &[
    case("user/chain", Shape::Chain, ADD, 1000),
    case("user/effects", Shape::Effects, "user.effect", 1000),
    case("user/tree", Shape::Tree, ADD, 1000),
    case("user/diamonds", Shape::Diamonds, ADD, 1024),
    case("user/fibonacci", Shape::Fibonacci, ADD, 16),
    case("user/calls", Shape::Calls, ADD, 1000),
    case("user/repeat", Shape::Repeat, ADD, 1000),
    case("user/while", Shape::While, ADD, 1000),
    case("handles/chain", Shape::Chain, FIRST_TENSOR, 1000),
    case("handles/diamonds", Shape::Diamonds, FIRST_TENSOR, 1024),
    case(
        "handles/in_place",
        Shape::InPlace,
        "user.increment_first",
        1000,
    ),
    case("payload64/chain", Shape::Chain, "user.add_numbers", 1000),
    case("later/chain", Shape::Chain, "user.add_later", 1000),
    case("async/ready", Shape::Chain, "user.add_async", 1000),
    case(
        "async/waiting",
        Shape::Chain,
        "user.add_async_waiting",
        1000,
    ),
    case("library/chain", Shape::Chain, LIBRARY_ADD, 1000),
    case("library/tree", Shape::Tree, LIBRARY_ADD, 1000),
    case("traced/chain", Shape::Chain, ADD, 1000).called(Way::Traced),
    case("call/taken", Shape::One, ADD, 1).called(Way::Taken),
    case("call/awaited", Shape::One, ADD, 1),
    case("call/request", Shape::One, ADD, 1).called(Way::Request),
    case("call/handles", Shape::One, FIRST_TENSOR, 1).called(Way::Taken),
];

const ADD: &str = "user.add";
const FIRST_TENSOR: &str = "user.first_tensor";
const LIBRARY_ADD: &str = "library.add";

const fn case(name: &'static str, shape: Shape, kernel: &'static str, size: usize) -> Case {
    Case {
        name,
        shape,
        kernel,
        size,
        way: Way::Awaited,
    }
}

impl Case {
    const fn called(mut self, way: Way) -> Self {
        self.way = way;
        self
    }

    /// The case of this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        CASES.iter().copied().find(|case| case.name == name)
    }

    /// The program as MLIR text.
    #[must_use]
    pub fn text(&self) -> String {
        text::program(self.shape, self.kernel, self.size).0
    }

    /// How many kernels, calls or rounds one call has: what costs are divided by.
    #[must_use]
    pub fn num_units(&self) -> usize {
        text::program(self.shape, self.kernel, self.size).1
    }

    /// What a unit is.
    #[must_use]
    pub fn unit(&self) -> &'static str {
        match self.shape {
            Shape::One | Shape::Calls => "call",
            Shape::Repeat | Shape::While => "round",
            _ => "kernel",
        }
    }

    /// Two numbers of calls, whose difference tells what a call costs.
    #[must_use]
    pub fn num_calls(&self) -> (usize, usize) {
        match self.shape {
            // What loading costs varies with the seeds of hash tables, by 100,000 instructions. The
            // fewer instructions a unit has, the more that shows.
            Shape::One => (500, 10_500),
            Shape::Fibonacci => (2, 6),
            Shape::Effects => (20, 220),
            Shape::Chain | Shape::Tree if matches!(self.kernel, ADD | LIBRARY_ADD) => (20, 220),
            _ => (20, 60),
        }
    }

    /// Whether kernels come from a [library](library::build).
    #[must_use]
    pub fn needs_library(&self) -> bool {
        self.kernel == LIBRARY_ADD
    }

    /// Loads the program and calls it so often, on a work queue of this name.
    ///
    /// # Errors
    /// If something is unsound, or a kernel fails.
    pub fn run(&self, num_calls: usize, queue: &str) -> Result<()> {
        let (host, main) = self.load(queue)?;
        let new_request = || {
            let request = RequestContextBuilder::new(Arc::clone(&host)).build();
            ExecutionContext::new(request)
        };
        let sink = Arc::new(KernelCount::default());
        if self.way == Way::Traced {
            tracing::set_sink(Some(Arc::clone(&sink) as _));
            tracing::enable(TracingLevel::Debug);
        }
        let mut ctx = new_request();
        for _ in 0..num_calls {
            if self.way == Way::Request {
                ctx = new_request();
            }
            let results = main.execute_array::<1>(&ctx, &[]);
            let is_taken = matches!(self.way, Way::Taken | Way::Request)
                && results.iter().all(AnyRef::is_available);
            if !is_taken {
                host.await_values(&results)?;
            } else if let Some(error) = results.iter().find_map(AnyRef::error_if_present) {
                return Err(error.clone());
            }
        }
        host.quiesce().map_err(other)?;
        if self.way == Way::Traced {
            tracing::set_sink(None);
            let (counted, expected) = (
                sink.0.load(Ordering::Relaxed),
                (num_calls * self.num_units()) as u64,
            );
            if counted < expected {
                return Err(Error::new(format!(
                    "the sink heard of {counted} kernels, expected {expected}"
                )));
            }
        }
        Ok(())
    }

    fn load(&self, queue: &str) -> Result<(Arc<HostContext>, FunctionRef)> {
        let mut registry = KernelRegistry::from_link().map_err(other)?;
        if self.needs_library() {
            library::load(&mut registry).map_err(other)?;
        }
        let registry = Arc::new(registry);
        let file = tfrt::text::compile(&self.text(), self.name, &registry)
            .map_err(|found| Error::new(format!("{found:?}")))?;
        let host = HostContext::builder()
            .registry(registry)
            .queue(tfrt::queue::create_queue(queue).map_err(other)?)
            .build();
        let main = LoadedProgram::load(&host, &file)?.function("main");
        let main = main.ok_or_else(|| Error::new("the program has no `main`"))?;
        Ok((host, main))
    }
}

fn other(error: impl std::fmt::Display) -> Error {
    Error::new(error.to_string())
}

/// A sink that counts.
#[derive(Debug, Default)]
struct KernelCount(AtomicU64);

impl TracingSink for KernelCount {
    fn begin(&self, activity: Activity<'_>) {
        if activity.kernel.is_some() {
            // Relaxed: nothing is published with the number.
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }

    fn end(&self) {}

    fn event(&self, _name: &str) {}
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_case_runs() {
        library::build().expect("cargo is there");
        for case in CASES {
            for queue in ["s", "mstd:2"] {
                if let Err(error) = case.run(2, queue) {
                    panic!("{}: {error}", case.name);
                }
            }
        }
    }
}
