//! What a program does, one step after the other.

use std::collections::HashMap;
use std::ops::Range;

use super::program::{Body, Four, Program, Step, Value};
use crate::bench::Behaviour;
use crate::kernels::{Effects, after_set, drawn, sum_of};

/// How many steps a program may take.
const MAX_STEPS: usize = 2_000;

/// What happened.
pub struct Run {
    pub behaviour: Behaviour,
    /// The parts of what was recorded that come from parallel loops, which have no order.
    unordered: Vec<Range<usize>>,
}

impl Run {
    /// A behaviour with those parts in some order that is always the same.
    pub fn settle(&self, mut behaviour: Behaviour) -> Behaviour {
        for range in &self.unordered {
            if let Some(part) = behaviour.1.recorded.get_mut(range.clone()) {
                part.sort_unstable();
            }
        }
        behaviour
    }
}

/// Runs a program; none if that takes too long.
pub fn run(program: &Program) -> Option<Run> {
    let mut machine = Machine {
        program,
        cells: Vec::new(),
        effects: Effects::default(),
        unordered: Vec::new(),
        num_steps: 0,
    };
    let cells = [5, 6].map(|held| machine.make(held));
    let mut results = vec![3; 3];
    if let Some(start) = program.start {
        let [number, cell] = machine.call(start, [3, 4, cells[0], cells[1]])?;
        for cell in cells {
            machine.set(cell, 4);
        }
        results = vec![number, machine.held(cell), machine.held(cells[0])];
    }
    Some(Run {
        behaviour: (results, machine.effects),
        unordered: machine.unordered,
    })
}

struct Machine<'a> {
    program: &'a Program,
    cells: Vec<i32>,
    effects: Effects,
    unordered: Vec<Range<usize>>,
    num_steps: usize,
}

/// The numbers that values stand for; a cell is its position.
type Values = HashMap<Value, i32>;

impl Machine<'_> {
    fn make(&mut self, held: i32) -> i32 {
        self.cells.push(held);
        i32::try_from(self.cells.len() - 1).unwrap_or(i32::MAX)
    }

    fn held(&self, cell: i32) -> i32 {
        self.cells[usize::try_from(cell).unwrap_or(usize::MAX)]
    }

    fn set(&mut self, cell: i32, number: i32) {
        let held = &mut self.cells[usize::try_from(cell).unwrap_or(usize::MAX)];
        *held = after_set(*held, number);
    }

    fn call(&mut self, callee: usize, given: [i32; 4]) -> Option<[i32; 2]> {
        let program = self.program;
        self.body(&program.functions[callee].body, given)
    }

    fn body(&mut self, body: &Body, given: [i32; 4]) -> Option<[i32; 2]> {
        let mut values: Values = body.takes.into_iter().zip(given).collect();
        for step in &body.steps {
            self.num_steps += 1;
            if self.num_steps > MAX_STEPS {
                return None;
            }
            self.step(step, &mut values)?;
        }
        Some([values[&body.number], values[&body.cell]])
    }

    fn step(&mut self, step: &Step, values: &mut Values) -> Option<()> {
        let four = |values: &Values, takes: &Four| takes.map(|value| values[&value]);
        match step {
            Step::Constant(to, number) => {
                values.insert(*to, *number);
            }
            Step::Binary(to, op, a, b) => {
                let (a, b) = (values[a], values[b]);
                let result = match *op {
                    "tfrt.add.i32" => a.wrapping_add(b),
                    _ => a.wrapping_mul(b),
                };
                values.insert(*to, result);
            }
            Step::Later(to, from) | Step::Same(to, from) | Step::View(to, from) => {
                values.insert(*to, values[from]);
            }
            Step::Record("tell", a) => self.effects.told.push(values[a]),
            Step::Record(_, a) => self.effects.recorded.push(values[a]),
            Step::Draw(to) => {
                self.effects.num_drawn += 1;
                values.insert(*to, drawn(self.effects.num_drawn));
            }
            Step::Make(to, a) => {
                let cell = self.make(values[a]);
                values.insert(*to, cell);
            }
            Step::Set(cell, a) => self.set(values[cell], values[a]),
            Step::Get(to, cell) => {
                values.insert(*to, self.held(values[cell]));
            }
            Step::GetPlus(to, cell, a) => {
                let sum = self.held(values[cell]).wrapping_add(values[a]);
                values.insert(*to, sum);
            }
            Step::Sum(to, a, b) => {
                let sum = sum_of(self.held(values[a]), self.held(values[b]));
                values.insert(*to, sum);
            }
            Step::Call {
                gives,
                callee,
                takes,
                ..
            } => {
                let given = self.call(*callee, four(values, takes))?;
                values.extend(gives.iter().copied().zip(given));
            }
            Step::CallOneOf {
                gives,
                callees,
                chosen,
                takes,
                ..
            } => {
                let given = self.call(callees[*chosen], four(values, takes))?;
                values.extend(gives.iter().copied().zip(given));
            }
            Step::If {
                gives,
                condition,
                takes,
                branches,
                ..
            } => {
                let branch = &branches[usize::from(!condition)];
                let given = self.body(branch, four(values, takes))?;
                values.extend(gives.iter().copied().zip(given));
            }
            Step::Repeat {
                gives,
                count,
                takes,
                body,
                ..
            } => {
                let mut carried = four(values, takes);
                for _ in 0..*count {
                    [carried[0], carried[2]] = self.body(body, carried)?;
                }
                values.extend(gives.iter().copied().zip(carried));
            }
            Step::While {
                gives,
                body,
                count,
                takes,
                ..
            } => {
                let mut carried = four(values, takes);
                carried[0] = i32::from(*count);
                while carried[0] >= 1 {
                    let [number, cell] = self.call(*body, carried)?;
                    carried = [carried[0] - 1, number, cell, carried[3]];
                }
                values.extend(gives.iter().copied().zip(carried));
            }
            Step::Async { gives, takes, body } => {
                let given = self.body(body, four(values, takes))?;
                values.extend(gives.iter().copied().zip(given));
            }
            Step::ParallelFor {
                end, number, cell, ..
            } => {
                let first = self.effects.recorded.len();
                let common = values[number].wrapping_add(self.held(values[cell]));
                let blocks = (0..i32::from(*end)).map(|index| index.wrapping_add(common));
                self.effects.recorded.extend(blocks);
                self.unordered.push(first..self.effects.recorded.len());
            }
        }
        Some(())
    }
}
