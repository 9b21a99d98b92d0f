//! A program as text, without chains.

use std::fmt::Write;

use super::program::{Body, Four, Function, Program, Step, Value};

const TAKES: &str = "i32, i32, !check.cell, !check.cell";
const GIVES: &str = "i32, !check.cell";

pub fn of(program: &Program) -> String {
    let mut out = String::new();
    for (index, function) in program.functions.iter().enumerate() {
        write_function(index, function, &mut out);
    }
    out.push_str("func @main() -> (i32, i32, i32) {\n");
    for (index, number) in [3, 4, 5, 6].into_iter().enumerate() {
        let _ = writeln!(out, "  %n{index} = tfrt.constant.i32 {number}");
    }
    for cell in 2..4 {
        let _ = writeln!(
            out,
            "  %c{cell} = \"check.make\"(%n{cell}) : (i32) -> !check.cell"
        );
    }
    let mut results = "%n0, %n0, %n0".to_owned();
    if let Some(start) = program.start {
        let _ = writeln!(
            out,
            "  %r:2 = tfrt.call @f{start}(%n0, %n1, %c2, %c3) : ({TAKES}) -> ({GIVES})
  \"check.set\"(%c2, %n1) : (!check.cell, i32) -> ()
  \"check.set\"(%c3, %n1) : (!check.cell, i32) -> ()
  %x = \"check.get\"(%r#1) : (!check.cell) -> i32
  %y = \"check.get\"(%c2) : (!check.cell) -> i32"
        );
        "%r#0, %x, %y".clone_into(&mut results);
    }
    let _ = writeln!(out, "  tfrt.return {results} : i32, i32, i32\n}}");
    out
}

fn write_function(index: usize, function: &Function, out: &mut String) {
    let visibility = if function.is_private { "private " } else { "" };
    let [a, b, p, q] = function.body.takes;
    let results = if function.is_loop_body {
        format!("({TAKES}, i1)")
    } else {
        format!("({GIVES})")
    };
    let _ = writeln!(
        out,
        "func {visibility}@f{index}(%v{a}: i32, %v{b}: i32, %v{p}: !check.cell, %v{q}: \
         !check.cell) -> {results} {{"
    );
    let mut writer = Writer { indent: 1, out };
    writer.steps(&function.body);
    let (number, cell) = (function.body.number, function.body.cell);
    if function.is_loop_body {
        writer.push("%minus = tfrt.constant.i32 -1");
        writer.push(&format!("%rest = tfrt.add.i32 %v{a}, %minus"));
        writer.push("%one = tfrt.constant.i32 1");
        writer.push("%again = \"tfrt.lessequal.i32\"(%one, %rest) : (i32, i32) -> i1");
        writer.push(&format!(
            "tfrt.return %rest, %v{number}, %v{cell}, %v{q}, %again : {TAKES}, i1"
        ));
    } else {
        writer.push(&format!("tfrt.return %v{number}, %v{cell} : {GIVES}"));
    }
    out.push_str("}\n");
}

struct Writer<'a> {
    indent: usize,
    out: &'a mut String,
}

/// `%v1, %v2, %v3, %v4`
fn list(values: &Four) -> String {
    let [a, b, p, q] = values;
    format!("%v{a}, %v{b}, %v{p}, %v{q}")
}

impl Writer<'_> {
    fn push(&mut self, line: &str) {
        let _ = writeln!(self.out, "{:1$}{line}", "", self.indent * 2);
    }

    /// A generic op, whose operands and result are letters: `n` for a number, `c` for a cell.
    fn generic(&mut self, to: Option<Value>, op: &str, operands: &[Value], types: &str) {
        let (takes, gives) = types.split_once('>').unwrap_or((types, ""));
        let spell = |letters: &str| -> String {
            let types = letters
                .chars()
                .map(|letter| if letter == 'n' { "i32" } else { "!check.cell" });
            types.collect::<Vec<_>>().join(", ")
        };
        let operands: Vec<String> = operands.iter().map(|value| format!("%v{value}")).collect();
        let binding = to.map(|to| format!("%v{to} = ")).unwrap_or_default();
        let gives = if gives.is_empty() {
            "()".into()
        } else {
            spell(gives)
        };
        self.push(&format!(
            "{binding}\"check.{op}\"({}) : ({}) -> {gives}",
            operands.join(", "),
            spell(takes)
        ));
    }

    /// The results of an op that returns several, each under a name of its own.
    fn bind(values: &[Value]) -> String {
        let names: Vec<String> = values.iter().map(|value| format!("%v{value}")).collect();
        names.join(", ")
    }

    fn steps(&mut self, body: &Body) {
        for step in &body.steps {
            self.step(step);
        }
    }

    fn region(&mut self, body: &Body) {
        self.indent += 1;
        self.steps(body);
        self.push(&format!(
            "tfrt.return %v{}, %v{} : {GIVES}",
            body.number, body.cell
        ));
        self.indent -= 1;
    }

    fn step(&mut self, step: &Step) {
        match step {
            Step::Constant(to, number) => {
                self.push(&format!("%v{to} = tfrt.constant.i32 {number}"))
            }
            Step::Binary(to, op, a, b) => {
                self.push(&format!(
                    "%v{to} = \"{op}\"(%v{a}, %v{b}) : (i32, i32) -> i32"
                ));
            }
            Step::Later(to, a) => self.generic(Some(*to), "later", &[*a], "n>n"),
            Step::Record("record_later", a) => {
                self.push(&format!(
                    "\"check.record_later\"(%v{a}) : (i32) -> !tfrt.chain"
                ));
            }
            Step::Record(op, a) => self.generic(None, op, &[*a], "n>"),
            Step::Draw(to) => self.generic(Some(*to), "draw", &[], ">n"),
            Step::Make(to, a) => self.generic(Some(*to), "make", &[*a], "n>c"),
            Step::Set(cell, a) => self.generic(None, "set", &[*cell, *a], "cn>"),
            Step::Get(to, cell) => self.generic(Some(*to), "get", &[*cell], "c>n"),
            Step::GetPlus(to, cell, a) => {
                self.generic(Some(*to), "get_plus", &[*cell, *a], "cn>n");
            }
            Step::Sum(to, a, b) => self.generic(Some(*to), "sum", &[*a, *b], "cc>n"),
            Step::Same(to, cell) => self.generic(Some(*to), "same", &[*cell], "c>c"),
            Step::View(to, cell) => self.generic(Some(*to), "view", &[*cell], "c>c"),
            Step::Call {
                gives,
                callee,
                takes,
                is_strict,
            } => {
                let mark = if *is_strict { "" } else { " {bef.nonstrict}" };
                self.push(&format!(
                    "{} = tfrt.call @f{callee}({}){mark} : ({TAKES}) -> ({GIVES})",
                    Self::bind(gives),
                    list(takes)
                ));
            }
            Step::CallOneOf {
                gives,
                callees: [first, second],
                chosen,
                is_case,
                selector,
                takes,
            } => {
                let (gives, takes) = (Self::bind(gives), list(takes));
                if *is_case {
                    self.push(&format!("%v{selector} = tfrt.constant.i32 {chosen}"));
                    self.push(&format!(
                        "{gives} = tfrt.case %v{selector} [@f{first}, @f{second}]({takes}) : \
                         ({TAKES}) -> ({GIVES})"
                    ));
                } else {
                    self.push(&format!("%v{selector} = tfrt.constant.i1 {}", *chosen == 0));
                    self.push(&format!(
                        "{gives} = tfrt.cond %v{selector} @f{first} @f{second}({takes}) : \
                         ({TAKES}) -> ({GIVES})"
                    ));
                }
            }
            Step::If {
                gives,
                condition,
                selector,
                takes,
                branches: [first, second],
            } => {
                self.push(&format!("%v{selector} = tfrt.constant.i1 {condition}"));
                self.push(&format!(
                    "{} = tfrt.if %v{selector}, {} : ({TAKES}) -> ({GIVES}) {{",
                    Self::bind(gives),
                    list(takes)
                ));
                self.region(first);
                self.push("} else {");
                self.region(second);
                self.push("}");
            }
            Step::Repeat {
                gives,
                count,
                counter,
                takes,
                body,
            } => {
                self.push(&format!("%v{counter} = tfrt.constant.i32 {count}"));
                self.push(&format!(
                    "{} = tfrt.repeat.i32 %v{counter}, {} : {TAKES} {{",
                    Self::bind(gives),
                    list(takes)
                ));
                self.indent += 1;
                self.steps(body);
                let [_, b, _, q] = takes;
                self.push(&format!(
                    "tfrt.return %v{}, %v{b}, %v{}, %v{q} : {TAKES}",
                    body.number, body.cell
                ));
                self.indent -= 1;
                self.push("}");
            }
            Step::While {
                gives,
                body,
                count,
                helpers: [condition, counter, one],
                takes: [_, b, p, q],
            } => {
                self.push(&format!("%v{counter} = tfrt.constant.i32 {count}"));
                self.push(&format!("%v{one} = tfrt.constant.i32 1"));
                self.push(&format!(
                    "%v{condition} = \"tfrt.lessequal.i32\"(%v{one}, %v{counter}) : (i32, i32) -> \
                     i1"
                ));
                self.push(&format!(
                    "{} = tfrt.while %v{condition} @f{body}(%v{counter}, %v{b}, %v{p}, %v{q}) \
                     parallel_iterations(1) : ({TAKES}) -> ({TAKES})",
                    Self::bind(gives)
                ));
            }
            Step::Async { gives, takes, body } => {
                self.push(&format!(
                    "{} = tfrt_test.do.async {} : ({TAKES}) -> ({GIVES}) {{",
                    Self::bind(gives),
                    list(takes)
                ));
                self.region(body);
                self.push("}");
            }
            Step::ParallelFor {
                end,
                helpers: [start, stop, size, held, recorded],
                number,
                cell,
            } => {
                self.push(&format!("%v{start} = tfrt.constant.i32 0"));
                self.push(&format!("%v{stop} = tfrt.constant.i32 {end}"));
                self.push(&format!("%v{size} = tfrt.constant.i32 1"));
                self.push(&format!(
                    "tfrt.parallel_for.i32 %v{start} to %v{stop} fixed %v{size}, %v{number}, \
                     %v{cell} : i32, !check.cell {{"
                ));
                self.indent += 1;
                self.generic(Some(*held), "get", &[*cell], "c>n");
                self.push(&format!("%common = tfrt.add.i32 %v{number}, %v{held}"));
                self.push(&format!("%v{recorded} = tfrt.add.i32 %common, %v{start}"));
                self.generic(None, "record", &[*recorded], "n>");
                self.push("tfrt.return");
                self.indent -= 1;
                self.push("}");
            }
        }
    }
}
