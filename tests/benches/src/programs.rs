//! Programs whose kernels do next to nothing, of any size.

use std::fmt::{self, Write};

/// One kind of program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// Every kernel depends on the one before.
    Chain,
    /// Independent kernels, and a tree of additions that reduces their results.
    Tree,
    /// A recursive function: the size is its argument.
    Fibonacci,
    /// Constants, which depend on nothing.
    Constants,
    /// Kernels whose results come later, from tasks.
    Async,
    /// As `Tree`, with wide levels of additions between: every kernel has two users.
    Diamonds,
    /// A function of a single kernel, called again and again.
    Empty,
    /// A synchronous function: the interpreter.
    Sync,
    /// A parallel loop with a synchronous body: the size is the number of blocks.
    ParallelFor,
    /// Calls of a small function, one after the other.
    Calls,
    /// Kernels that read and give texts, which are shared rather than copied.
    Strings,
    /// Independent kernels that take some 20 µs each, and a tree of additions.
    Coarse,
    /// As `Diamonds`, with kernels that take some 20 µs each, in levels of 8.
    CoarseDiamonds,
}

/// A program: a shape and a size.
#[derive(Clone, Copy, Debug)]
pub struct Program {
    /// Its shape.
    pub shape: Shape,
    /// How large it is, in the measure of the shape.
    pub size: usize,
}

/// The programs that are measured, with the sizes that the targets of the project speak of.
pub const PROGRAMS: &[Program] = &[
    Program::new(Shape::Chain, 1000),
    Program::new(Shape::Tree, 1000),
    Program::new(Shape::Fibonacci, 16),
    Program::new(Shape::Constants, 1000),
    Program::new(Shape::Async, 1000),
    Program::new(Shape::Empty, 1),
    Program::new(Shape::Sync, 1000),
    Program::new(Shape::ParallelFor, 1000),
    Program::new(Shape::Diamonds, 1000),
    Program::new(Shape::Calls, 1000),
    Program::new(Shape::Strings, 1000),
];

/// Programs whose kernels take long enough for a thread of their own, beside some of those above:
/// what two threads make of them.
pub const PARALLEL_PROGRAMS: &[Program] = &[
    Program::new(Shape::Chain, 1000),
    Program::new(Shape::Tree, 1000),
    Program::new(Shape::Diamonds, 1000),
    Program::new(Shape::Diamonds, 10_000),
    Program::new(Shape::Fibonacci, 16),
    Program::new(Shape::Coarse, 64),
    Program::new(Shape::CoarseDiamonds, 64),
];

impl Shape {
    /// The shape of this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        let mut programs = PROGRAMS.iter().chain(PARALLEL_PROGRAMS);
        let found = programs.find(|program| program.shape.name() == name)?;
        Some(found.shape)
    }

    /// The name that the command line knows it by.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Chain => "chain",
            Self::Tree => "tree",
            Self::Fibonacci => "fibonacci",
            Self::Constants => "constants",
            Self::Async => "async",
            Self::Diamonds => "diamonds",
            Self::Empty => "empty",
            Self::Sync => "sync",
            Self::ParallelFor => "parallel_for",
            Self::Calls => "calls",
            Self::Strings => "strings",
            Self::Coarse => "coarse",
            Self::CoarseDiamonds => "coarse_diamonds",
        }
    }
}

impl Program {
    /// A program of this shape and size.
    #[must_use]
    pub const fn new(shape: Shape, size: usize) -> Self {
        Self { shape, size }
    }

    /// How many kernels, calls or blocks one run has: what costs are divided by.
    #[must_use]
    pub fn num_units(&self) -> usize {
        match self.shape {
            Shape::Tree | Shape::Coarse => 2 * self.size - 1,
            Shape::Fibonacci => fibonacci_kernels(self.size),
            Shape::Diamonds => diamonds(self.size, WIDTH, ADD).0,
            Shape::CoarseDiamonds => diamonds(self.size, COARSE_WIDTH, SPIN).0,
            Shape::Empty => 1,
            _ => self.size,
        }
    }

    /// What a unit is.
    #[must_use]
    pub fn unit(&self) -> &'static str {
        match self.shape {
            Shape::Empty | Shape::Calls => "call",
            Shape::ParallelFor => "block",
            _ => "kernel",
        }
    }

    /// The program as MLIR text: a function `main` that makes so many runs and reports how long
    /// they took.
    #[must_use]
    pub fn text(&self, num_runs: usize) -> String {
        let size = self.size;
        let add = |to: &dyn fmt::Display, a: &dyn fmt::Display, b: &dyn fmt::Display| {
            format!("    {to} = tfrt.add.i32 {a}, {b}\n")
        };
        let chain = |op: &str| {
            let mut body = String::new();
            for index in 0..size {
                let previous = match index {
                    0 => "%c".to_owned(),
                    _ => format!("%v{}", index - 1),
                };
                let _ = writeln!(
                    body,
                    "    %v{index} = \"{op}\"({previous}, %c) : (i32, i32) -> i32"
                );
            }
            body
        };
        let last = format!("%v{}", size.saturating_sub(1));
        match self.shape {
            Shape::Chain => benchmark("", &chain("tfrt.add.i32"), &last, num_runs),
            Shape::Tree => {
                let (body, root) = reduce((0..size).map(|index| format!("%v{index}")).collect(), {
                    (0..size)
                        .map(|index| add(&format!("%v{index}"), &"%c", &"%c"))
                        .collect()
                });
                benchmark("", &body, &root, num_runs)
            }
            Shape::Constants => {
                let body: String = (0..size)
                    .map(|index| format!("    %v{index} = tfrt.constant.i32 {index}\n"))
                    .collect();
                benchmark("", &body, &last, num_runs)
            }
            Shape::Async => {
                let body: String = (0..size)
                    .map(|index| {
                        format!(
                            "    %v{index} = \"tfrt_test.async_add.i32\"(%c, %c) : (i32, i32) \
                                 -> i32\n"
                        )
                    })
                    .collect();
                benchmark("", &body, &last, num_runs)
            }
            Shape::Diamonds => {
                let (_, body, root) = diamonds(size, WIDTH, ADD);
                benchmark("", &body, &root, num_runs)
            }
            Shape::CoarseDiamonds => {
                let (_, body, root) = diamonds(size, COARSE_WIDTH, SPIN);
                benchmark("", &body, &root, num_runs)
            }
            Shape::Coarse => {
                let leaves = (0..size).map(|index| binary(&format!("%v{index}"), SPIN, "%c", "%c"));
                let names = (0..size).map(|index| format!("%v{index}")).collect();
                let (body, root) = reduce(names, leaves.collect());
                benchmark("", &body, &root, num_runs)
            }
            Shape::Empty => benchmark("", &add(&"%v0", &"%c", &"%c"), "%v0", num_runs),
            Shape::Fibonacci => {
                let body = format!(
                    "    %n = tfrt.constant.i32 {size}\n    %v = tfrt.call @fib(%n) : (i32) -> (i32)\n"
                );
                benchmark(FIBONACCI, &body, "%v", num_runs)
            }
            Shape::Calls => {
                let callee = "func @callee(%x: i32) -> i32 {\n  %y = tfrt.add.i32 %x, %x\n  tfrt.return %y : i32\n}\n";
                let body: String = (0..size)
                    .map(|index| {
                        let previous = match index {
                            0 => "%c".to_owned(),
                            _ => format!("%v{}", index - 1),
                        };
                        format!("    %v{index} = tfrt.call @callee({previous}) : (i32) -> (i32)\n")
                    })
                    .collect();
                benchmark(callee, &body, &last, num_runs)
            }
            Shape::Strings => {
                let mut body = String::from(
                    "    %s = \"tfrt_test.get_string\"() { value = \"text\" } : () -> !tfrt.string\n    %ch = tfrt.new.chain\n",
                );
                for index in 0..size {
                    let _ = writeln!(
                        body,
                        "    %v{index} = \"tfrt_test.get_string\"() {{ value = \"text\" }} : () \
                         -> !tfrt.string"
                    );
                }
                benchmark("", &body, "%ch", num_runs).replace("%ch : i32", "%ch : !tfrt.chain")
            }
            Shape::Sync => {
                let mut body = String::new();
                for index in 0..size {
                    let previous = match index {
                        0 => "%c".to_owned(),
                        _ => format!("%v{}", index - 1),
                    };
                    let _ = writeln!(
                        body,
                        "  %v{index} = \"tfrt.add_s.i32\"({previous}, %c) : (i32, i32) -> i32"
                    );
                }
                format!(
                    "func @body(%c: i32) attributes {{tfrt.sync}} {{\n{body}  tfrt.return\n}}\n\
                     func @main() attributes {{tfrt.sync}} {{\n  \
                     %c = \"tfrt.constant_s.i32\"() {{ value = 1 : i32 }} : () -> i32\n  \
                     tfrt_test.sync_benchmark @body(%c : i32) duration_secs = 1000, max_count = {num_runs}, num_warmup_runs = 2\n  \
                     tfrt.return\n}}\n"
                )
            }
            Shape::ParallelFor => {
                let body = format!(
                    "    %start = tfrt.constant.i32 0\n    %end = tfrt.constant.i32 {size}\n    %one = tfrt.constant.i32 1\n    \
                     %done = tfrt.parallel_call.i32 %start to %end fixed %one @block(%c) : i32\n"
                );
                let block = "func @block(%i: i32, %j: i32, %c: i32) attributes {tfrt.sync} {\n  \
                     %x = \"tfrt.add_s.i32\"(%i, %c) : (i32, i32) -> i32\n  tfrt.return\n}\n";
                benchmark(block, &body, "%done", num_runs)
                    .replace("%done : i32", "%done : !tfrt.chain")
            }
        }
    }
}

impl Program {
    /// The program as a function `main` that makes one run and returns its result, if it is a graph
    /// of kernels alone.
    #[must_use]
    pub fn request_text(&self) -> Option<String> {
        let text = self.text(1);
        let begin = text.find("tfrt_test.benchmark")?;
        let (_, rest) = text[begin..].split_once("{\n")?;
        let (body, _) = rest.split_once("  }\n")?;
        let is_graph = text.starts_with("func @main") && body.contains(": i32");
        is_graph
            .then(|| format!("func @main() -> i32 {{\n    %c = tfrt.constant.i32 1\n{body}}}\n"))
    }
}

impl fmt::Display for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}({})", self.shape.name(), self.size)
    }
}

/// A `main` that runs `body`, whose result is `result`, with a constant `%c` at hand.
fn benchmark(functions: &str, body: &str, result: &str, num_runs: usize) -> String {
    format!(
        "{functions}func @main() {{\n  %c = tfrt.constant.i32 1\n  \
         tfrt_test.benchmark \"benchmark\"(%c : i32) duration_secs = 1000, max_count = {num_runs}, num_warmup_runs = 2 {{\n\
         {body}    tfrt.return {result} : i32\n  }}\n  tfrt.return\n}}\n"
    )
}

/// A tree of additions over `values`, which `body` makes.
fn reduce(mut values: Vec<String>, mut body: String) -> (String, String) {
    let mut number = 0;
    while values.len() > 1 {
        let mut sums = Vec::new();
        for pair in values.chunks(2) {
            match pair {
                [a, b] => {
                    let _ = writeln!(body, "    %s{number} = tfrt.add.i32 {a}, {b}");
                    sums.push(format!("%s{number}"));
                    number += 1;
                }
                rest => sums.extend_from_slice(rest),
            }
        }
        values = sums;
    }
    let root = values.pop().unwrap_or_else(|| "%c".to_owned());
    (body, root)
}

/// How many additions a level of small diamonds has.
const WIDTH: usize = 32;

/// How many kernels a level of coarse diamonds has.
const COARSE_WIDTH: usize = 8;

const ADD: &str = "tfrt.add.i32";

/// See [`crate::spin`].
const SPIN: &str = "tfrt_benches.spin.i32";

/// A kernel of two operands.
fn binary(to: &str, op: &str, a: &str, b: &str) -> String {
    format!("    {to} = \"{op}\"({a}, {b}) : (i32, i32) -> i32\n")
}

/// Levels of kernels, each of two neighbours of the level before: how many kernels, the body, its
/// result.
fn diamonds(size: usize, width: usize, op: &str) -> (usize, String, String) {
    let mut body = String::new();
    let mut level: Vec<String> = (0..width).map(|_| "%c".to_owned()).collect();
    for number in 0..size / width {
        let next = |index: usize| format!("%v{number}_{index}");
        for index in 0..width {
            let (a, b) = (&level[index], &level[(index + 1) % width]);
            body.push_str(&binary(&next(index), op, a, b));
        }
        level = (0..width).map(next).collect();
    }
    let num_kernels = size / width * width + width - 1;
    let (body, root) = reduce(level, body);
    (num_kernels, body, root)
}

/// The usual definition, with a branch.
const FIBONACCI: &str = "\
func @fib(%n: i32) -> i32 {
  %one = tfrt.constant.i32 1
  %is_small = \"tfrt.lessequal.i32\"(%n, %one) : (i32, i32) -> i1
  %r = tfrt.if %is_small, %n, %one : (i32, i32) -> (i32) {
    tfrt.return %n : i32
  } else {
    %two = tfrt.constant.i32 2
    %a = \"tfrt.minus.i32\"(%n, %one) : (i32, i32) -> i32
    %b = \"tfrt.minus.i32\"(%n, %two) : (i32, i32) -> i32
    %x = tfrt.call @fib(%a) : (i32) -> (i32)
    %y = tfrt.call @fib(%b) : (i32) -> (i32)
    %s = tfrt.add.i32 %x, %y
    tfrt.return %s : i32
  }
  tfrt.return %r : i32
}
";

/// How many kernels [`FIBONACCI`] runs: three in every call, six more in every call that calls.
fn fibonacci_kernels(n: usize) -> usize {
    match n {
        0 | 1 => 3,
        _ => 9 + fibonacci_kernels(n - 1) + fibonacci_kernels(n - 2),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::Session;

    #[test]
    fn every_program_runs() {
        for program in PROGRAMS.iter().chain(PARALLEL_PROGRAMS) {
            for queue in ["s", "mstd:2"] {
                let session = Session::new(program, 2, queue).expect("the program is sound");
                session.run().expect("the program runs");
            }
        }
    }
}
