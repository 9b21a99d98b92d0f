//! Random programs whose functions take a chain, two numbers and an object, and return a chain, a
//! number and an object.

use std::fmt::Write as _;

use super::super::Random;

/// What functions and regions take, and what they return.
const TAKEN: &str = "!tfrt.chain, i32, i32, !wide.tracked";
const RETURNED: &str = "!tfrt.chain, i32, !wide.tracked";

/// What loops carry that carry only payloads that are copied.
const COPIED: &str = "!tfrt.chain, i32, i32";

/// The functions of a program that can be called first: `main`, and those that it calls.
pub(super) const NUM_FUNCTIONS: usize = 4;

/// Bodies of loops, which count and say whether to go on; a function that calls itself twice.
const GIVEN: &str = "
func @down(%ch: !tfrt.chain, %n: i32, %t: !wide.tracked) -> (!tfrt.chain, i32, !wide.tracked, i1) {
  %one = tfrt.constant.i32 1
  %zero = tfrt.constant.i32 0
  %m = \"tfrt.minus.i32\"(%n, %one) : (i32, i32) -> i32
  %d = \"schedules.note\"(%m, %ch) : (i32, !tfrt.chain) -> !tfrt.chain
  %u = \"wide.make\"(%m) : (i32) -> !wide.tracked
  %is_over = \"tfrt.lessequal.i32\"(%m, %zero) : (i32, i32) -> i1
  %goes_on = \"wide.not\"(%is_over) : (i1) -> i1
  tfrt.return %d, %m, %u, %goes_on : !tfrt.chain, i32, !wide.tracked, i1
}
func @count(%ch: !tfrt.chain, %n: i32, %x: i32) -> (!tfrt.chain, i32, i32, i1) {
  %one = tfrt.constant.i32 1
  %m = tfrt.add.i32 %n, %one
  %d = \"schedules.note\"(%m, %ch) : (i32, !tfrt.chain) -> !tfrt.chain
  %goes_on = \"tfrt.lessequal.i32\"(%m, %x) : (i32, i32) -> i1
  tfrt.return %d, %m, %x, %goes_on : !tfrt.chain, i32, i32, i1
}
func @count_failing(%ch: !tfrt.chain, %n: i32, %x: i32) -> (!tfrt.chain, i32, i32, i1) {
  %one = tfrt.constant.i32 1
  %m = tfrt.add.i32 %n, %one
  %k = \"wide.not_three\"(%m) : (i32) -> i32
  %d = \"schedules.note\"(%m, %ch) : (i32, !tfrt.chain) -> !tfrt.chain
  %goes_on = \"tfrt.lessequal.i32\"(%m, %x) : (i32, i32) -> i1
  tfrt.return %d, %m, %k, %goes_on : !tfrt.chain, i32, i32, i1
}
func @count_late(%ch: !tfrt.chain, %n: i32, %x: i32) -> (!tfrt.chain, i32, i32, i1) {
  %one = tfrt.constant.i32 1
  %m = tfrt.add.i32 %n, %one
  %d = \"schedules.note\"(%m, %ch) : (i32, !tfrt.chain) -> !tfrt.chain
  %k = \"wide.turns\"(%x) : (i32) -> i32
  %goes_on = \"tfrt.lessequal.i32\"(%m, %x) : (i32, i32) -> i1
  tfrt.return %d, %m, %k, %goes_on : !tfrt.chain, i32, i32, i1
}
func @again(%ch: !tfrt.chain, %n: i32, %b: i32, %t: !wide.tracked) -> (!tfrt.chain, i32, !wide.tracked) {
  %one = tfrt.constant.i32 1
  %is_over = \"tfrt.lessequal.i32\"(%n, %one) : (i32, i32) -> i1
  %c, %r, %u = tfrt.if %is_over, %ch, %n, %b, %t : (!tfrt.chain, i32, i32, !wide.tracked) -> (!tfrt.chain, i32, !wide.tracked) {
    %d = \"schedules.note\"(%n, %ch) : (i32, !tfrt.chain) -> !tfrt.chain
    %o = \"wide.make\"(%b) : (i32) -> !wide.tracked
    tfrt.return %d, %b, %o : !tfrt.chain, i32, !wide.tracked
  } else {
    %less = tfrt.constant.i32 1
    %two = tfrt.constant.i32 2
    %m = \"tfrt.minus.i32\"(%n, %less) : (i32, i32) -> i32
    %k = \"tfrt.minus.i32\"(%n, %two) : (i32, i32) -> i32
    %d, %x, %o = tfrt.call @again(%ch, %m, %b, %t) : (!tfrt.chain, i32, i32, !wide.tracked) -> (!tfrt.chain, i32, !wide.tracked)
    %e, %y, %p = tfrt.call @again(%ch, %k, %m, %t) : (!tfrt.chain, i32, i32, !wide.tracked) -> (!tfrt.chain, i32, !wide.tracked)
    %sum = tfrt.add.i32 %x, %y
    %both = tfrt.merge.chains %d, %e : !tfrt.chain, !tfrt.chain
    tfrt.return %both, %sum, %p : !tfrt.chain, i32, !wide.tracked
  }
  tfrt.return %c, %r, %u : !tfrt.chain, i32, !wide.tracked
}
";

/// The values that an op may take.
#[derive(Clone)]
struct Scope {
    chains: Vec<String>,
    numbers: Vec<String>,
    objects: Vec<String>,
}

/// What may happen in a program.
#[derive(Clone, Copy, Debug)]
pub(super) struct Kind {
    /// Kernels that fail, and that panic.
    pub(super) fails: bool,
    /// Requests are cancelled in the middle.
    pub(super) cancels: bool,
    /// Payloads panic when they are dropped.
    pub(super) is_fragile: bool,
    /// Kernels wait for tasks.
    pub(super) waits: bool,
    /// Some results are not available when their kernels return.
    pub(super) is_late: bool,
}

impl Kind {
    pub(super) fn of(random: &mut Random) -> Self {
        let mut one_in = |count| random.below(count) == 0;
        Self {
            fails: one_in(2),
            cancels: one_in(6),
            is_fragile: one_in(6),
            waits: one_in(3),
            is_late: one_in(2),
        }
    }
}

/// Writes functions that call those before them.
pub(super) struct Writer<'a> {
    random: &'a mut Random,
    kind: Kind,
    text: String,
    next: usize,
    /// How many functions can be called.
    num_functions: usize,
}

impl Writer<'_> {
    /// `f0`, `f1`, …: the last one is the largest.
    pub(super) fn program(random: &mut Random, kind: Kind) -> String {
        let mut writer = Writer {
            random,
            kind,
            text: String::new(),
            next: 0,
            num_functions: 0,
        };
        writer.text.push_str(GIVEN);
        for number in 0..NUM_FUNCTIONS {
            writer.line(&format!(
                "func @f{number}(%ch: !tfrt.chain, %a: i32, %b: i32, %t: !wide.tracked) -> \
                 ({RETURNED}) {{"
            ));
            let scope = Scope {
                chains: vec!["%ch".into()],
                numbers: vec!["%a".into(), "%b".into()],
                objects: vec!["%t".into()],
            };
            let num_ops = 2 + writer.random.below(4 + 5 * number);
            writer.body(scope, num_ops, 2);
            writer.line("}");
            writer.num_functions += 1;
        }
        writer.text
    }

    fn line(&mut self, line: &str) {
        self.text.push_str(line);
        self.text.push('\n');
    }

    fn fresh(&mut self) -> String {
        self.next += 1;
        format!("%v{}", self.next)
    }

    /// One of the values, often one of the last.
    fn one_of(&mut self, values: &[String]) -> String {
        let first = match self.random.below(2) {
            0 => values.len().saturating_sub(3),
            _ => 0,
        };
        values[first + self.random.below(values.len() - first)].clone()
    }

    /// Ops, and a return.
    fn body(&mut self, mut scope: Scope, num_ops: usize, depth: usize) {
        for _ in 0..num_ops {
            self.op(&mut scope, depth);
        }
        let (chain, number) = (self.one_of(&scope.chains), self.one_of(&scope.numbers));
        let object = self.one_of(&scope.objects);
        self.line(&format!(
            "tfrt.return {chain}, {number}, {object} : {RETURNED}"
        ));
    }

    /// Results of something that returns as many values as every function.
    fn results(&mut self, scope: &mut Scope) -> String {
        let [chain, number, object] = [(); 3].map(|()| self.fresh());
        let all = format!("{chain}, {number}, {object}");
        scope.chains.push(chain);
        scope.numbers.push(number);
        scope.objects.push(object);
        all
    }

    /// An op from one number to another.
    fn number(&mut self, scope: &mut Scope, op: &str) {
        let (to, x) = (self.fresh(), self.one_of(&scope.numbers));
        self.line(&format!("{to} = \"{op}\"({x}) : (i32) -> i32"));
        scope.numbers.push(to);
    }

    fn op(&mut self, scope: &mut Scope, depth: usize) {
        let (chain, x, y) = (
            self.one_of(&scope.chains),
            self.one_of(&scope.numbers),
            self.one_of(&scope.numbers),
        );
        let object = self.one_of(&scope.objects);
        let arguments = format!("{chain}, {x}, {y}, {object}");
        let callee = (self.num_functions > 0).then(|| self.random.below(self.num_functions.max(1)));
        match self.random.below(37) {
            0 => {
                let (to, number) = (self.fresh(), self.random.below(5));
                self.line(&format!("{to} = tfrt.constant.i32 {number}"));
                scope.numbers.push(to);
            }
            1..=3 => {
                let to = self.fresh();
                let op = ["tfrt.add.i32", "tfrt.mul.i32"][self.random.below(2)];
                self.line(&format!("{to} = {op} {x}, {y}"));
                scope.numbers.push(to);
            }
            4 => {
                let to = self.fresh();
                self.line(&format!(
                    "{to} = \"tfrt.minus.i32\"({x}, {y}) : (i32, i32) -> i32"
                ));
                scope.numbers.push(to);
            }
            5 if self.kind.fails => {
                let (to, rest) = (self.fresh(), self.fresh());
                self.line(&format!("{to}, {rest} = tfrt.div.i32 {x}, {y}"));
                scope.numbers.extend([to, rest]);
            }
            6 if self.kind.fails => self.number(scope, "schedules.not_three"),
            7 if self.kind.fails => self.number(scope, "wide.not_three"),
            8 if self.kind.fails && self.kind.is_late => self.number(scope, "wide.not_three_later"),
            9 if self.kind.is_late => {
                let op = ["schedules.later", "wide.turns", "wide.blocks"][self.random.below(3)];
                self.number(scope, op);
            }
            8 if self.kind.fails => {
                let (number, made) = (self.fresh(), self.fresh());
                self.line(&format!(
                    "{number}, {made} = \"wide.both_at_once\"({x}) : (i32) -> (i32, !wide.tracked)"
                ));
                scope.numbers.push(number);
                scope.objects.push(made);
            }
            8 | 9 => self.number(scope, "wide.at_once"),
            10..=13 => {
                let to = self.fresh();
                self.line(&format!(
                    "{to} = \"schedules.note\"({x}, {chain}) : (i32, !tfrt.chain) -> !tfrt.chain"
                ));
                scope.chains.push(to);
            }
            14 | 15 => {
                let to = self.fresh();
                let op = if self.kind.is_late && self.random.below(3) == 0 {
                    "wide.make_later"
                } else {
                    "wide.make"
                };
                self.line(&format!("{to} = \"{op}\"({x}) : (i32) -> !wide.tracked"));
                scope.objects.push(to);
            }
            16 => {
                let to = self.fresh();
                self.line(&format!(
                    "{to} = \"wide.look\"({object}) : (!wide.tracked) -> i32"
                ));
                scope.numbers.push(to);
            }
            17 if self.kind.is_fragile => {
                let (made, to) = (self.fresh(), self.fresh());
                self.line(&format!(
                    "{made} = \"wide.make_fragile\"({x}) : (i32) -> !wide.fragile"
                ));
                self.line(&format!(
                    "{to} = \"wide.look_at_fragile\"({made}) : (!wide.fragile) -> i32"
                ));
                scope.numbers.push(to);
            }
            18 if self.kind.cancels => self.number(scope, "wide.cancel"),
            19 if self.kind.waits => self.number(scope, "wide.wait"),
            20 => {
                let (to, other) = (self.fresh(), self.one_of(&scope.chains));
                self.line(&format!(
                    "{to} = tfrt.merge.chains {chain}, {other} : !tfrt.chain, !tfrt.chain"
                ));
                scope.chains.push(to);
            }
            21 | 22 if callee.is_some() => {
                let callee = callee.unwrap_or_default();
                let to = self.results(scope);
                self.line(&format!(
                    "{to} = tfrt.call @f{callee}({arguments}) : ({TAKEN}) -> ({RETURNED})"
                ));
            }
            23 | 24 if callee.is_some() => {
                let callee = callee.unwrap_or_default();
                let op = match self.random.below(3) {
                    0 => "wide.now",
                    1 => "wide.twice",
                    _ => "wide.in_task",
                };
                let to = self.results(scope);
                self.line(&format!(
                    "{to} = \"{op}\"({arguments}) {{callee = @f{callee}}} : ({TAKEN}) -> \
                     ({RETURNED})"
                ));
            }
            25 if callee.is_some() => {
                let (callee, other) = (
                    callee.unwrap_or_default(),
                    self.random.below(self.num_functions),
                );
                let condition = self.condition(&x, &y);
                let to = self.results(scope);
                self.line(&format!(
                    "{to} = tfrt.cond {condition} @f{callee} @f{other}({arguments}) : ({TAKEN}) \
                     -> ({RETURNED})"
                ));
            }
            26 if callee.is_some() => {
                let (callee, other) = (
                    callee.unwrap_or_default(),
                    self.random.below(self.num_functions),
                );
                let (index, number) = (self.fresh(), self.random.below(2));
                self.line(&format!("{index} = tfrt.constant.i32 {number}"));
                let to = self.results(scope);
                self.line(&format!(
                    "{to} = tfrt.case {index} [@f{callee}, @f{other}]({arguments}) : (i32, i32, \
                     !wide.tracked) -> (i32, !wide.tracked)"
                ));
            }
            27 if depth > 0 && x != y => {
                let condition = self.condition(&x, &y);
                let to = self.results(scope);
                self.line(&format!(
                    "{to} = tfrt.if {condition}, {arguments} : ({TAKEN}) -> ({RETURNED}) {{"
                ));
                self.region(&chain, &[&x, &y], &object, depth);
                self.line("} else {");
                self.region(&chain, &[&x, &y], &object, depth);
                self.line("}");
            }
            28 if depth > 0 && x != y => {
                let to = self.results(scope);
                self.line(&format!(
                    "{to} = tfrt_test.do.async {arguments} : ({TAKEN}) -> ({RETURNED}) {{"
                ));
                self.region(&chain, &[&x, &y], &object, depth);
                self.line("}");
            }
            29 if depth > 0 => {
                let (count, number) = (self.fresh(), self.random.below(4));
                self.line(&format!("{count} = tfrt.constant.i32 {number}"));
                let to = self.results(scope);
                self.line(&format!(
                    "{to} = tfrt.repeat.i32 {count}, {chain}, {x}, {object} : {RETURNED} {{"
                ));
                self.region(&chain, &[&x], &object, depth);
                self.line("}");
            }
            30 => {
                let (count, number) = (self.fresh(), self.random.below(4));
                self.line(&format!("{count} = tfrt.constant.i32 {number}"));
                let goes_on = self.condition(&count, &x);
                let to = self.results(scope);
                self.line(&format!(
                    "{to} = tfrt.while {goes_on} @down({chain}, {count}, {object}) \
                     parallel_iterations(1) : ({RETURNED}) -> ({RETURNED})"
                ));
            }
            31 => self.tensors(scope, &x),
            32 => {
                let (count, number) = (self.fresh(), self.random.below(5));
                self.line(&format!("{count} = tfrt.constant.i32 {number}"));
                let to = self.results(scope);
                self.line(&format!(
                    "{to} = tfrt.call @again({chain}, {count}, {y}, {object}) : ({TAKEN}) -> \
                     ({RETURNED})"
                ));
            }
            // Loops that carry only what is copied.
            33 | 34 if depth > 0 && x != y => {
                let (count, number) = (self.fresh(), self.random.below(5));
                self.line(&format!("{count} = tfrt.constant.i32 {number}"));
                let [next_chain, a, b] = [(); 3].map(|()| self.fresh());
                self.line(&format!(
                    "{next_chain}, {a}, {b} = tfrt.repeat.i32 {count}, {chain}, {x}, {y} : \
                     {COPIED} {{"
                ));
                let within = Scope {
                    chains: vec![chain],
                    numbers: vec![x, y],
                    objects: Vec::new(),
                };
                self.copied_body(within, depth - 1);
                self.line("}");
                scope.chains.push(next_chain);
                scope.numbers.extend([a, b]);
            }
            35 => {
                let (count, number) = (self.fresh(), self.random.below(3));
                self.line(&format!("{count} = tfrt.constant.i32 {number}"));
                let (end, number) = (self.fresh(), self.random.below(7));
                self.line(&format!("{end} = tfrt.constant.i32 {number}"));
                let goes_on = self.condition(&count, &end);
                let body = match self.random.below(3) {
                    0 if self.kind.fails => "count_failing",
                    1 if self.kind.is_late => "count_late",
                    _ => "count",
                };
                let [next_chain, a, b] = [(); 3].map(|()| self.fresh());
                self.line(&format!(
                    "{next_chain}, {a}, {b} = tfrt.while {goes_on} @{body}({chain}, {count}, \
                     {end}) parallel_iterations(1) : ({COPIED}) -> ({COPIED})"
                ));
                scope.chains.push(next_chain);
                scope.numbers.extend([a, b]);
            }
            _ => {
                let to = self.fresh();
                self.line(&format!("{to} = tfrt.add.i32 {x}, {y}"));
                scope.numbers.push(to);
            }
        }
    }

    fn condition(&mut self, x: &str, y: &str) -> String {
        let condition = self.fresh();
        self.line(&format!(
            "{condition} = \"tfrt.lessequal.i32\"({x}, {y}) : (i32, i32) -> i1"
        ));
        condition
    }

    /// A region that sees what it takes, under the same names.
    fn region(&mut self, chain: &str, numbers: &[&str], object: &str, depth: usize) {
        let scope = Scope {
            chains: vec![chain.into()],
            numbers: numbers.iter().map(|&number| number.into()).collect(),
            objects: vec![object.into()],
        };
        let num_ops = self.random.below(5);
        self.body(scope, num_ops, depth - 1);
    }

    /// The body of a loop that carries a chain and two numbers, some of them unchanged or
    /// exchanged.
    fn copied_body(&mut self, mut scope: Scope, depth: usize) {
        for _ in 0..self.random.below(5) {
            self.copied_op(&mut scope, depth);
        }
        let chain = self.one_of(&scope.chains);
        let (x, y) = (self.one_of(&scope.numbers), self.one_of(&scope.numbers));
        self.line(&format!("tfrt.return {chain}, {x}, {y} : {COPIED}"));
    }

    /// An op that needs no object.
    fn copied_op(&mut self, scope: &mut Scope, depth: usize) {
        let chain = self.one_of(&scope.chains);
        let (x, y) = (self.one_of(&scope.numbers), self.one_of(&scope.numbers));
        match self.random.below(9) {
            0 | 1 => {
                let to = self.fresh();
                self.line(&format!(
                    "{to} = \"schedules.note\"({x}, {chain}) : (i32, !tfrt.chain) -> !tfrt.chain"
                ));
                scope.chains.push(to);
            }
            2 if self.kind.fails => {
                let op = ["schedules.not_three", "wide.not_three"][self.random.below(2)];
                self.number(scope, op);
            }
            3 if self.kind.is_late => {
                let op = ["schedules.later", "wide.turns"][self.random.below(2)];
                self.number(scope, op);
            }
            4 if self.kind.cancels && self.random.below(3) == 0 => {
                self.number(scope, "wide.cancel")
            }
            5 if depth > 0 && x != y => {
                let (to, condition) = (self.fresh(), self.condition(&x, &y));
                self.line(&format!(
                    "{to} = tfrt.if {condition}, {x}, {y} : (i32, i32) -> (i32) {{"
                ));
                let sum = self.fresh();
                self.line(&format!("{sum} = tfrt.add.i32 {x}, {y}"));
                self.line(&format!("tfrt.return {sum} : i32"));
                self.line("} else {");
                self.line(&format!("tfrt.return {y} : i32"));
                self.line("}");
                scope.numbers.push(to);
            }
            6 => {
                let (to, number) = (self.fresh(), self.random.below(5));
                self.line(&format!("{to} = tfrt.constant.i32 {number}"));
                scope.numbers.push(to);
            }
            _ => {
                let to = self.fresh();
                self.line(&format!("{to} = tfrt.add.i32 {x}, {y}"));
                scope.numbers.push(to);
            }
        }
    }

    /// Ops of the Core Runtime, from a constant to a number.
    fn tensors(&mut self, scope: &mut Scope, x: &str) {
        let [none, cpu, tensor, sum, number, to] = [(); 6].map(|()| self.fresh());
        let op = match self.random.below(if self.kind.is_late { 4 } else { 2 }) {
            0 => format!("\"tf.AddV2\"({tensor}, {tensor})"),
            1 if self.kind.fails => format!("\"tfrt_test.error.tensor\"({tensor})"),
            2 => format!("\"tfrt_test.async.noop\"({tensor})"),
            3 => format!("\"tfrt_test.async.noop_no_md\"({tensor})"),
            _ => format!("\"tf.Relu\"({tensor})"),
        };
        let value = self.random.below(9);
        let mut text = String::new();
        let _ = writeln!(
            text,
            "{none} = \"corert.create_null_op_handler\"() : () -> !corert.ophandler
{cpu} = \"corert.create_cpu_op_handler\"({none}) : (!corert.ophandler) -> !corert.ophandler
{tensor} = corert.const_dense_tensor dense<{value}> : tensor<i32>
{sum} = corert.executeop({cpu}) {op} : 1
{number} = corert.tensorhandle_to_int32 {sum}
{to} = tfrt.add.i32 {number}, {x}"
        );
        self.text.push_str(&text);
        scope.numbers.extend([number, to]);
    }
}
