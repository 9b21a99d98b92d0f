//! The text of a user's programs: a function `main` that makes one run.

use std::fmt::Write;

use super::Shape;

/// How many kernels a level of diamonds has.
const WIDTH: usize = 32;

/// What a program is made of, next to its kernel of two operands.
struct Payload {
    /// How MLIR spells the type.
    mlir_type: &'static str,
    /// The kernel that makes the first value.
    source: &'static str,
}

impl Payload {
    fn of(kernel: &str) -> Self {
        let (mlir_type, source) = match kernel {
            "user.first_tensor" => ("!t.tensor", "user.tensor"),
            "user.add_numbers" => ("!user.numbers", "user.numbers"),
            _ => ("i32", "user.one"),
        };
        Self { mlir_type, source }
    }
}

/// A program that calls `kernel`, and how many units it has.
pub(super) fn program(shape: Shape, kernel: &str, size: usize) -> (String, usize) {
    match shape {
        Shape::Chain => (graph(kernel, chain(kernel, size)), size),
        Shape::Tree => {
            let leaves = (0..size).map(|index| (format!("%v{index}"), "%c", "%c"));
            let mut body = String::new();
            for (to, a, b) in leaves {
                body += &binary(kernel, &to, a, b);
            }
            let values = (0..size).map(|index| format!("%v{index}")).collect();
            let reduced = reduce(kernel, values, body);
            (graph(kernel, reduced), 2 * size - 1)
        }
        Shape::Diamonds => {
            let reduced = diamonds(kernel, size);
            (graph(kernel, reduced), size / WIDTH * WIDTH + WIDTH - 1)
        }
        Shape::One => {
            let body = binary(kernel, "%v", "%c", "%c");
            (graph(kernel, (body, "%v".to_owned())), 1)
        }
        Shape::Effects => {
            let effect = |to: usize| {
                format!(
                    "  %c{to} = \"{kernel}\"(%c{}) : (!tfrt.chain) -> !tfrt.chain\n",
                    to - 1
                )
            };
            (on_a_chain("", (1..=size).map(effect), size), size)
        }
        Shape::InPlace => {
            let write = |to: usize| {
                format!(
                    "  %c{to} = \"{kernel}\"(%t, %c{}) : (!t.tensor, !tfrt.chain) -> !tfrt.chain\n",
                    to - 1
                )
            };
            let tensor = "  %t = \"user.tensor\"() : () -> !t.tensor\n";
            (on_a_chain(tensor, (1..=size).map(write), size), size)
        }
        Shape::Fibonacci => (fibonacci(kernel, size), fibonacci_kernels(size)),
        Shape::Calls => (calls(kernel, size), size),
        Shape::Repeat => (repeat(kernel, size), size),
        Shape::While => (while_loop(kernel, size), size),
    }
}

/// A kernel of two operands.
fn binary(kernel: &str, to: &str, a: &str, b: &str) -> String {
    let mlir_type = Payload::of(kernel).mlir_type;
    format!("  {to} = \"{kernel}\"({a}, {b}) : ({mlir_type}, {mlir_type}) -> {mlir_type}\n")
}

/// A `main` that makes `%c`, runs the body and returns its result.
fn graph(kernel: &str, (body, result): (String, String)) -> String {
    let Payload { mlir_type, source } = Payload::of(kernel);
    format!(
        "func @main() -> {mlir_type} {{\n  %c = \"{source}\"() : () -> {mlir_type}\n{body}  tfrt.return {result} : {mlir_type}\n}}\n"
    )
}

/// A `main` of effects, of which each takes the chain of the one before.
fn on_a_chain(first: &str, effects: impl Iterator<Item = String>, size: usize) -> String {
    let effects: String = effects.collect();
    format!(
        "func @main() -> !tfrt.chain {{\n  %c0 = tfrt.new.chain\n{first}{effects}  tfrt.return %c{size} : !tfrt.chain\n}}\n"
    )
}

/// The body of a chain, and its result.
fn chain(kernel: &str, size: usize) -> (String, String) {
    let mut body = String::new();
    let mut last = "%c".to_owned();
    for index in 0..size {
        let to = format!("%v{index}");
        body += &binary(kernel, &to, &last, "%c");
        last = to;
    }
    (body, last)
}

/// Levels of kernels, each of two neighbours of the level before.
fn diamonds(kernel: &str, size: usize) -> (String, String) {
    let mut body = String::new();
    let mut level = vec!["%c".to_owned(); WIDTH];
    for number in 0..size / WIDTH {
        let next = |index: usize| format!("%v{number}_{index}");
        for index in 0..WIDTH {
            let (a, b) = (&level[index], &level[(index + 1) % WIDTH]);
            body += &binary(kernel, &next(index), a, b);
        }
        level = (0..WIDTH).map(next).collect();
    }
    reduce(kernel, level, body)
}

/// A tree over `values`, which `body` makes.
fn reduce(kernel: &str, mut values: Vec<String>, mut body: String) -> (String, String) {
    let mut number = 0;
    while values.len() > 1 {
        let mut next = Vec::new();
        for pair in values.chunks(2) {
            match pair {
                [a, b] => {
                    next.push(format!("%s{number}"));
                    body += &binary(kernel, &format!("%s{number}"), a, b);
                    number += 1;
                }
                rest => next.extend_from_slice(rest),
            }
        }
        values = next;
    }
    (body, values.swap_remove(0))
}

fn fibonacci(add: &str, size: usize) -> String {
    format!(
        "\
func @fib(%n: i32) -> i32 {{
  %one = tfrt.constant.i32 1
  %is_small = \"user.less_equal\"(%n, %one) : (i32, i32) -> (i1)
  %r = tfrt.if %is_small, %n : (i32) -> i32 {{
    tfrt.return %n : i32
  }} else {{
    %less = tfrt.constant.i32 -1
    %a = \"{add}\"(%n, %less) : (i32, i32) -> i32
    %x = tfrt.call @fib(%a) : (i32) -> i32
    %b = \"{add}\"(%a, %less) : (i32, i32) -> i32
    %y = tfrt.call @fib(%b) : (i32) -> i32
    %s = \"{add}\"(%x, %y) : (i32, i32) -> i32
    tfrt.return %s : i32
  }}
  tfrt.return %r : i32
}}
func @main() -> i32 {{
  %n = tfrt.constant.i32 {size}
  %r = tfrt.call @fib(%n) : (i32) -> i32
  tfrt.return %r : i32
}}
"
    )
}

/// How many kernels [`fibonacci`] runs: three in every call, six more in every call that calls.
fn fibonacci_kernels(n: usize) -> usize {
    match n {
        0 | 1 => 3,
        _ => 9 + fibonacci_kernels(n - 1) + fibonacci_kernels(n - 2),
    }
}

/// Calls of a function of one kernel, one after the other.
fn calls(kernel: &str, size: usize) -> String {
    let mut body = String::new();
    let mut last = "%c".to_owned();
    for index in 0..size {
        let _ = writeln!(
            body,
            "  %v{index} = tfrt.call @callee({last}) : (i32) -> i32"
        );
        last = format!("%v{index}");
    }
    let callee = binary(kernel, "%y", "%x", "%x");
    let main = graph(kernel, (body, last));
    format!("func @callee(%x: i32) -> i32 {{\n{callee}  tfrt.return %y : i32\n}}\n{main}")
}

fn repeat(kernel: &str, size: usize) -> String {
    let body = binary(kernel, "%y", "%c", "%c");
    format!(
        "\
func @main() -> i32 {{
  %c = tfrt.constant.i32 1
  %n = tfrt.constant.i32 {size}
  %r = tfrt.repeat.i32 %n, %c : i32 {{
  {body}    tfrt.return %y : i32
  }}
  tfrt.return %r : i32
}}
"
    )
}

fn while_loop(add: &str, size: usize) -> String {
    format!(
        "\
func @body(%i: i32, %m: i32) -> (i32, i32, i1) {{
  %one = tfrt.constant.i32 1
  %j = \"{add}\"(%i, %one) : (i32, i32) -> i32
  %more = \"user.less_equal\"(%j, %m) : (i32, i32) -> i1
  tfrt.return %j, %m, %more : i32, i32, i1
}}
func @main() -> i32 {{
  %zero = tfrt.constant.i32 0
  %n = tfrt.constant.i32 {size}
  %true = tfrt.constant.i1 true
  %r, %m = tfrt.while %true @body (%zero, %n) parallel_iterations(1) : (i32, i32) -> (i32, i32)
  tfrt.return %r : i32
}}
"
    )
}
