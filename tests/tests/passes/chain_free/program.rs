//! A program as the choices make it: every value has a number, every function a position.
//!
//! A function takes two numbers and two cells and returns a number and a cell. The body of a loop
//! takes the same and returns the same and whether it goes on: its first number counts down.
//! Regions take two numbers and two cells by the names of the operands.

use super::choices::{Block, Choices, Line, Picks};

/// A value: a number or a cell.
pub type Value = u32;

/// What a function or a region takes, or a call: two numbers, two cells.
pub type Four = [Value; 4];

/// Functions, each of which refers to earlier ones. The last one that can be called is the one to
/// start.
#[derive(Debug)]
pub struct Program {
    pub functions: Vec<Function>,
    pub start: Option<usize>,
}

#[derive(Debug)]
pub struct Function {
    pub is_private: bool,
    pub is_loop_body: bool,
    pub body: Body,
}

/// Steps of a function or region.
#[derive(Debug)]
pub struct Body {
    pub takes: Four,
    pub steps: Vec<Step>,
    pub number: Value,
    pub cell: Value,
}

#[derive(Debug)]
pub enum Step {
    Constant(Value, i32),
    Binary(Value, &'static str, Value, Value),
    Later(Value, Value),
    Record(&'static str, Value),
    Draw(Value),
    Make(Value, Value),
    Set(Value, Value),
    Get(Value, Value),
    GetPlus(Value, Value, Value),
    Sum(Value, Value, Value),
    Same(Value, Value),
    View(Value, Value),
    Call {
        gives: [Value; 2],
        callee: usize,
        takes: Four,
        is_strict: bool,
    },
    CallOneOf {
        gives: [Value; 2],
        callees: [usize; 2],
        chosen: usize,
        is_case: bool,
        selector: Value,
        takes: Four,
    },
    If {
        gives: [Value; 2],
        condition: bool,
        selector: Value,
        takes: Four,
        branches: [Body; 2],
    },
    Repeat {
        gives: Four,
        count: u8,
        counter: Value,
        takes: Four,
        body: Body,
    },
    While {
        gives: Four,
        body: usize,
        count: u8,
        /// The condition, and values to count with.
        helpers: [Value; 3],
        takes: Four,
    },
    Async {
        gives: [Value; 2],
        takes: Four,
        body: Body,
    },
    ParallelFor {
        end: u8,
        /// The range and the size of a block; in the body, what the cell holds and what is
        /// recorded.
        helpers: [Value; 5],
        number: Value,
        cell: Value,
    },
}

impl Program {
    pub fn new(choices: &[Choices]) -> Self {
        let mut functions: Vec<Function> = Vec::new();
        for choice in choices {
            let function = function(choice, &functions);
            functions.push(function);
        }
        let start = functions
            .iter()
            .rposition(|function| !function.is_loop_body);
        Self { functions, start }
    }
}

fn function(choice: &Choices, earlier: &[Function]) -> Function {
    let mut next = 0;
    let takes = [0; 4].map(|_| fresh(&mut next));
    let mut writer = Writer {
        earlier,
        next: &mut next,
    };
    Function {
        is_private: choice.is_private,
        is_loop_body: choice.is_loop_body,
        body: writer.body(&choice.block, takes),
    }
}

fn fresh(next: &mut Value) -> Value {
    *next += 1;
    *next
}

struct Writer<'a> {
    earlier: &'a [Function],
    next: &'a mut Value,
}

/// The values that lines can pick, and the steps so far.
struct Scope {
    numbers: Vec<Value>,
    cells: Vec<Value>,
    steps: Vec<Step>,
}

impl Scope {
    fn number(&self, pick: u8) -> Value {
        one_of(&self.numbers, pick)
    }

    fn cell(&self, pick: u8) -> Value {
        one_of(&self.cells, pick)
    }
}

/// One of the last few values: what is given is mostly used.
fn one_of(values: &[Value], pick: u8) -> Value {
    values[values.len() - 1 - usize::from(pick) % values.len().min(4)]
}

impl Writer<'_> {
    fn fresh(&mut self) -> Value {
        fresh(self.next)
    }

    fn body(&mut self, block: &Block, takes: Four) -> Body {
        let mut scope = Scope {
            numbers: takes[..2].to_vec(),
            cells: takes[2..].to_vec(),
            steps: Vec::new(),
        };
        for line in &block.lines {
            self.line(line, &mut scope);
        }
        Body {
            takes,
            number: scope.number(block.number),
            cell: scope.cell(block.cell),
            steps: scope.steps,
        }
    }

    /// The functions that can be called, or those that are bodies of loops.
    fn callee(&self, pick: u8, is_loop_body: bool) -> Option<usize> {
        let fits = |index: &usize| self.earlier[*index].is_loop_body == is_loop_body;
        let fitting: Vec<usize> = (0..self.earlier.len()).filter(fits).collect();
        let position = usize::from(pick).checked_rem(fitting.len())?;
        Some(fitting[position])
    }

    /// Four values, no two of them of one name, though they may be the same.
    fn four(&mut self, picks: Picks, scope: &mut Scope) -> Four {
        let (a, mut b) = (scope.number(picks.0), scope.number(picks.1));
        let (p, mut q) = (scope.cell(picks.2), scope.cell(picks.3));
        if a == b {
            let (zero, copy) = (self.fresh(), self.fresh());
            scope.steps.push(Step::Constant(zero, 0));
            scope
                .steps
                .push(Step::Binary(copy, "tfrt.add.i32", a, zero));
            b = copy;
        }
        if p == q {
            q = self.fresh();
            scope.steps.push(Step::Same(q, p));
        }
        [a, b, p, q]
    }

    /// Results: a number and a cell.
    fn gives(&mut self, scope: &mut Scope) -> [Value; 2] {
        let gives = [self.fresh(), self.fresh()];
        scope.numbers.push(gives[0]);
        scope.cells.push(gives[1]);
        gives
    }

    /// Results: two numbers and two cells.
    fn gives_four(&mut self, scope: &mut Scope) -> Four {
        let gives = [0; 4].map(|_| self.fresh());
        scope.numbers.extend(&gives[..2]);
        scope.cells.extend(&gives[2..]);
        gives
    }

    fn push_number(&mut self, scope: &mut Scope, step: impl FnOnce(Value) -> Step) {
        let value = self.fresh();
        scope.steps.push(step(value));
        scope.numbers.push(value);
    }

    fn push_cell(&mut self, scope: &mut Scope, step: impl FnOnce(Value) -> Step) {
        let value = self.fresh();
        scope.steps.push(step(value));
        scope.cells.push(value);
    }

    fn line(&mut self, line: &Line, scope: &mut Scope) {
        match *line {
            Line::Constant(number) => {
                self.push_number(scope, |value| Step::Constant(value, number.into()));
            }
            Line::Binary(op, a, b) => {
                let (a, b) = (scope.number(a), scope.number(b));
                self.push_number(scope, |value| Step::Binary(value, op, a, b));
            }
            Line::Later(a) => {
                let a = scope.number(a);
                self.push_number(scope, |value| Step::Later(value, a));
            }
            Line::Late(ref line) => self.late_line(line, scope),
            Line::Record(op, a) => scope.steps.push(Step::Record(op, scope.number(a))),
            Line::Draw => self.push_number(scope, Step::Draw),
            Line::Make(a) => {
                let a = scope.number(a);
                self.push_cell(scope, |value| Step::Make(value, a));
            }
            Line::Set(cell, a) => scope
                .steps
                .push(Step::Set(scope.cell(cell), scope.number(a))),
            Line::Get(cell) => {
                let cell = scope.cell(cell);
                self.push_number(scope, |value| Step::Get(value, cell));
            }
            Line::GetPlus(cell, a) => {
                let (cell, a) = (scope.cell(cell), scope.number(a));
                self.push_number(scope, |value| Step::GetPlus(value, cell, a));
            }
            Line::Sum(a, b) => {
                let (a, b) = (scope.cell(a), scope.cell(b));
                self.push_number(scope, |value| Step::Sum(value, a, b));
            }
            Line::Same(cell) => {
                let cell = scope.cell(cell);
                self.push_cell(scope, |value| Step::Same(value, cell));
            }
            Line::View(cell) => {
                let cell = scope.cell(cell);
                self.push_cell(scope, |value| Step::View(value, cell));
            }
            _ => self.line_that_runs(line, scope),
        }
    }

    /// A line whose number comes from a task.
    fn late_line(&mut self, line: &Line, scope: &mut Scope) {
        let late = self.fresh();
        let (pick, step) = match *line {
            Line::Record(op, a) => (a, Step::Record(op, late)),
            Line::Set(cell, a) => (a, Step::Set(scope.cell(cell), late)),
            Line::GetPlus(cell, a) => (a, Step::GetPlus(self.fresh(), scope.cell(cell), late)),
            _ => return,
        };
        let result = match step {
            Step::GetPlus(result, ..) => Some(result),
            _ => None,
        };
        let from = scope.number(pick);
        scope.steps.extend([Step::Later(late, from), step]);
        scope.numbers.extend(result);
    }

    /// A line that runs functions or regions.
    fn line_that_runs(&mut self, line: &Line, scope: &mut Scope) {
        let step = match line {
            Line::Call {
                callee,
                picks,
                is_strict,
            } => {
                let Some(callee) = self.callee(*callee, false) else {
                    return;
                };
                Step::Call {
                    callee,
                    takes: self.four(*picks, scope),
                    gives: self.gives(scope),
                    is_strict: *is_strict,
                }
            }
            Line::CallOneOf {
                callees,
                takes_second,
                is_case,
                picks,
            } => {
                let (Some(first), Some(second)) =
                    (self.callee(callees.0, false), self.callee(callees.1, false))
                else {
                    return;
                };
                Step::CallOneOf {
                    callees: [first, second],
                    chosen: usize::from(*takes_second),
                    is_case: *is_case,
                    selector: self.fresh(),
                    takes: self.four(*picks, scope),
                    gives: self.gives(scope),
                }
            }
            Line::If {
                condition,
                picks,
                branches,
            } => {
                let takes = self.four(*picks, scope);
                Step::If {
                    condition: *condition,
                    selector: self.fresh(),
                    branches: [self.body(&branches.0, takes), self.body(&branches.1, takes)],
                    takes,
                    gives: self.gives(scope),
                }
            }
            Line::Repeat { count, picks, body } => {
                let takes = self.four(*picks, scope);
                Step::Repeat {
                    count: *count,
                    counter: self.fresh(),
                    body: self.body(body, takes),
                    takes,
                    gives: self.gives_four(scope),
                }
            }
            Line::While { body, count, picks } => {
                let Some(body) = self.callee(*body, true) else {
                    return;
                };
                Step::While {
                    body,
                    count: *count,
                    helpers: [0; 3].map(|_| self.fresh()),
                    takes: self.four(*picks, scope),
                    gives: self.gives_four(scope),
                }
            }
            Line::Async { picks, body } => {
                let takes = self.four(*picks, scope);
                Step::Async {
                    body: self.body(body, takes),
                    takes,
                    gives: self.gives(scope),
                }
            }
            Line::ParallelFor { end, number, cell } => Step::ParallelFor {
                end: *end,
                helpers: [0; 5].map(|_| self.fresh()),
                number: scope.number(*number),
                cell: scope.cell(*cell),
            },
            _ => return,
        };
        scope.steps.push(step);
    }
}
