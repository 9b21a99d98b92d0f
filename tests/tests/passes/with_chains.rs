//! Random programs that are written with chains: the passes that knew such programs first keep what
//! they do.

use std::fmt::Write;

use proptest::prelude::{Strategy, any, prop};
use proptest::test_runner::TestCaseError;
use proptest::{prop_assert_eq, prop_oneof};

use crate::bench::{Bench, num_programs, run_pipeline, runner, text_of};

/// One line of a function. Numbers pick values among those that are there, or functions among those
/// further up.
#[derive(Clone, Copy, Debug)]
enum Line {
    Constant(i8),
    Add(u8, u8),
    Multiply(u8, u8),
    Subtract(u8, u8),
    Divide(u8),
    Record(u8),
    ForkChain,
    Call(u8, u8, u8, bool),
    CallInBranch(u8, u8, bool),
    CallInLoop(u8, u8),
}

/// A function `(i32, i32, !tfrt.chain) -> (i32, i32, !tfrt.chain)`.
#[derive(Clone, Debug)]
struct Function {
    is_private: bool,
    lines: Vec<Line>,
    returned: (u8, u8),
}

fn line() -> impl Strategy<Value = Line> {
    prop_oneof![
        any::<i8>().prop_map(Line::Constant),
        any::<(u8, u8)>().prop_map(|(a, b)| Line::Add(a, b)),
        any::<(u8, u8)>().prop_map(|(a, b)| Line::Multiply(a, b)),
        any::<(u8, u8)>().prop_map(|(a, b)| Line::Subtract(a, b)),
        any::<u8>().prop_map(Line::Divide),
        any::<u8>().prop_map(Line::Record),
        proptest::strategy::Just(Line::ForkChain),
        any::<(u8, u8, u8, bool)>().prop_map(|(f, a, b, strict)| Line::Call(f, a, b, strict)),
        any::<(u8, u8, bool)>().prop_map(|(f, a, taken)| Line::CallInBranch(f, a, taken)),
        any::<(u8, u8)>().prop_map(|(f, a)| Line::CallInLoop(f, a)),
    ]
}

fn function() -> impl Strategy<Value = Function> {
    (
        any::<bool>(),
        prop::collection::vec(line(), 0..7),
        any::<(u8, u8)>(),
    )
        .prop_map(|(is_private, lines, returned)| Function {
            is_private,
            lines,
            returned,
        })
}

const SIGNATURE: &str = "(i32, i32, !tfrt.chain) -> (i32, i32, !tfrt.chain)";

/// The program: `@main` calls the last function, and each function calls earlier ones.
fn source_of(functions: &[Function]) -> String {
    let mut out = String::new();
    for (index, function) in functions.iter().enumerate() {
        write_function(index, function, &mut out);
    }
    let last = functions.len() - 1;
    let _ = write!(
        out,
        "func @main() -> (i32, i32, !tfrt.chain) {{
  %a = tfrt.constant.i32 3
  %b = tfrt.constant.i32 5
  %c = tfrt.new.chain
  %r:3 = tfrt.call @f{last}(%a, %b, %c) : {SIGNATURE}
  tfrt.return %r#0, %r#1, %r#2 : i32, i32, !tfrt.chain
}}
"
    );
    out
}

fn write_function(index: usize, function: &Function, out: &mut String) {
    let visibility = if function.is_private { "private " } else { "" };
    let _ = writeln!(
        out,
        "func {visibility}@f{index}(%x: i32, %y: i32, %c: !tfrt.chain) -> (i32, i32, !tfrt.chain) \
         {{"
    );
    let mut body = Body {
        values: vec!["%x".into(), "%y".into()],
        chain: "%c".into(),
        next: 0,
        num_callees: index,
        out,
    };
    for &line in &function.lines {
        body.line(line);
    }
    let (first, second) = (
        body.value(function.returned.0),
        body.value(function.returned.1),
    );
    let chain = body.chain.clone();
    let _ = writeln!(
        out,
        "  tfrt.return {first}, {second}, {chain} : i32, i32, !tfrt.chain\n}}"
    );
}

/// A body in the middle of being written.
struct Body<'a> {
    values: Vec<String>,
    chain: String,
    next: usize,
    num_callees: usize,
    out: &'a mut String,
}

impl Body<'_> {
    fn value(&self, pick: u8) -> String {
        self.values[usize::from(pick) % self.values.len()].clone()
    }

    fn callee(&self, pick: u8) -> Option<usize> {
        usize::from(pick).checked_rem(self.num_callees)
    }

    fn fresh(&mut self) -> String {
        self.next += 1;
        format!("%v{}", self.next)
    }

    fn push(&mut self, line: &str) {
        let _ = writeln!(self.out, "  {line}");
    }

    fn binary(&mut self, op: &str, a: u8, b: u8) {
        let (a, b, sum) = (self.value(a), self.value(b), self.fresh());
        self.push(&format!("{sum} = \"{op}\"({a}, {b}) : (i32, i32) -> i32"));
        self.values.push(sum);
    }

    fn take_results(&mut self, pack: &str) {
        self.values
            .extend([format!("{pack}#0"), format!("{pack}#1")]);
        self.chain = format!("{pack}#2");
    }

    fn line(&mut self, line: Line) {
        match line {
            Line::Constant(number) => {
                let name = self.fresh();
                self.push(&format!("{name} = tfrt.constant.i32 {number}"));
                self.values.push(name);
            }
            Line::Add(a, b) => self.binary("tfrt.add.i32", a, b),
            Line::Multiply(a, b) => self.binary("tfrt.mul.i32", a, b),
            Line::Subtract(a, b) => self.binary("tfrt.minus.i32", a, b),
            Line::Divide(a) => {
                let (a, two, pair) = (self.value(a), self.fresh(), self.fresh());
                self.push(&format!("{two} = tfrt.constant.i32 2"));
                self.push(&format!("{pair}:2 = tfrt.div.i32 {a}, {two}"));
                self.values
                    .extend([format!("{pair}#0"), format!("{pair}#1")]);
            }
            Line::Record(a) => {
                let (a, chain, next) = (self.value(a), self.chain.clone(), self.fresh());
                self.push(&format!(
                    "{next} = \"check.record\"({a}, {chain}) : (i32, !tfrt.chain) -> !tfrt.chain"
                ));
                self.chain = next;
            }
            Line::ForkChain => {
                let (new, merged, chain) = (self.fresh(), self.fresh(), self.chain.clone());
                self.push(&format!("{new} = tfrt.new.chain"));
                self.push(&format!(
                    "{merged} = tfrt.merge.chains {new}, {chain} : !tfrt.chain, !tfrt.chain"
                ));
                self.chain = merged;
            }
            Line::Call(callee, a, b, is_strict) => self.call(callee, a, b, is_strict),
            Line::CallInBranch(callee, a, is_taken) => self.call_in_branch(callee, a, is_taken),
            Line::CallInLoop(callee, a) => self.call_in_loop(callee, a),
        }
    }

    fn call(&mut self, callee: u8, a: u8, b: u8, is_strict: bool) {
        let Some(callee) = self.callee(callee) else {
            return;
        };
        let (a, b, chain, pack) = (
            self.value(a),
            self.value(b),
            self.chain.clone(),
            self.fresh(),
        );
        let mark = if is_strict { "" } else { " {bef.nonstrict}" };
        self.push(&format!(
            "{pack}:3 = tfrt.call @f{callee}({a}, {b}, {chain}){mark} : {SIGNATURE}"
        ));
        self.take_results(&pack);
    }

    fn call_in_branch(&mut self, callee: u8, a: u8, is_taken: bool) {
        let Some(callee) = self.callee(callee) else {
            return;
        };
        let (a, b, chain) = (self.value(a), self.fresh(), self.chain.clone());
        let (condition, passed, pack) = (self.fresh(), self.fresh(), self.fresh());
        self.push(&format!("{condition} = tfrt.constant.i1 {is_taken}"));
        self.push(&format!("{b} = tfrt.constant.i32 7"));
        self.push(&format!(
            "{passed} = tfrt.merge.chains {chain} : !tfrt.chain"
        ));
        let a_copy = self.fresh();
        self.push(&format!("{a_copy} = tfrt.add.i32 {a}, {b}"));
        self.push(&format!(
            "{pack}:3 = tfrt.if {condition}, {a_copy}, {b}, {passed} : {SIGNATURE} {{"
        ));
        self.push(&format!(
            "  %r:3 = tfrt.call @f{callee}({a_copy}, {b}, {passed}) : {SIGNATURE}"
        ));
        self.push("  tfrt.return %r#0, %r#1, %r#2 : i32, i32, !tfrt.chain");
        self.push("} else {");
        self.push("  %unused = tfrt.constant.i32 1");
        self.push(&format!(
            "  tfrt.return {b}, {a_copy}, {passed} : i32, i32, !tfrt.chain"
        ));
        self.push("}");
        self.take_results(&pack);
    }

    fn call_in_loop(&mut self, callee: u8, a: u8) {
        let Some(callee) = self.callee(callee) else {
            return;
        };
        let (a, count, chain) = (self.value(a), self.fresh(), self.chain.clone());
        let (start, other, passed, pack) = (self.fresh(), self.fresh(), self.fresh(), self.fresh());
        self.push(&format!("{count} = tfrt.constant.i32 2"));
        self.push(&format!("{other} = tfrt.constant.i32 1"));
        self.push(&format!("{start} = tfrt.add.i32 {a}, {other}"));
        self.push(&format!(
            "{passed} = tfrt.merge.chains {chain} : !tfrt.chain"
        ));
        self.push(&format!(
            "{pack}:3 = tfrt.repeat.i32 {count}, {start}, {other}, {passed} : i32, i32, \
             !tfrt.chain {{"
        ));
        self.push(&format!(
            "  %r:3 = tfrt.call @f{callee}({start}, {other}, {passed}) : {SIGNATURE}"
        ));
        self.push("  tfrt.return %r#0, %r#1, %r#2 : i32, i32, !tfrt.chain");
        self.push("}");
        self.take_results(&pack);
    }
}

/// Holds a program against what a pipeline makes of it.
fn check(bench: &Bench, functions: &[Function]) -> Result<(), TestCaseError> {
    let original = bench.read(&source_of(functions))?;
    let expected = bench.run(&original)?;
    for pipeline in ["canonicalize", "inline", "inline,canonicalize,inline"] {
        let mut module = original.clone();
        run_pipeline(pipeline, &mut module)?;
        let text = text_of(&module);
        prop_assert_eq!(&bench.run(&module)?, &expected, "{}:\n{}", pipeline, text);
        let read_back = bench.read(&text)?;
        prop_assert_eq!(text_of(&read_back), text.clone());
        prop_assert_eq!(
            &bench.run(&read_back)?,
            &expected,
            "{}, read back:\n{}",
            pipeline,
            text
        );

        let mut again = read_back;
        run_pipeline("canonicalize", &mut again)?;
        prop_assert_eq!(text_of(&again), text, "canonicalize is done after once");
    }
    let mut threaded = original.clone();
    run_pipeline("thread-chains", &mut threaded)?;
    prop_assert_eq!(
        text_of(&threaded),
        text_of(&original),
        "what has chains is left alone"
    );
    Ok(())
}

#[test]
fn programs_with_chains_keep_results_and_effects() {
    let bench = Bench::new();
    let programs = prop::collection::vec(function(), 1..6);
    runner(num_programs(200))
        .run(&programs, |functions| check(&bench, &functions))
        .unwrap_or_else(|failure| panic!("{failure}"));
}
