//! For all short programs: every necessary order is kept, and no part of it is redundant.
//!
//! The orders to keep come from a table of the ops, not from their declarations. The order that a
//! program keeps is found by following every operand, without any of the pass's shortcuts.

use std::collections::HashSet;
use std::fmt::Write;

use tfrt_ir::{Module, OpId, ValueDef, ValueId};

use super::{text_of, thread};

/// The effect of an op: its class, and the cell that the op uses, with whether it writes the cell.
type OpEffect = (Option<&'static str>, Option<(&'static str, bool)>);

/// Lines of which programs are made. `%x` stands for the number that the nearest line before
/// returns, and `%r` for the result.
const LINES: &[(&str, OpEffect)] = &[
    ("\"t.print\"() : () -> ()", (Some("io"), None)),
    ("%r = \"t.draw\"() : () -> i32", (Some("random"), None)),
    ("t.show %x", (Some("io"), None)),
    ("%r = \"t.ask\"() : () -> i32", (Some("io"), None)),
    (
        "%r = \"t.get\"(%a) : (!t.cell) -> i32",
        (None, Some(("a", false))),
    ),
    (
        "%r = \"t.get\"(%b) : (!t.cell) -> i32",
        (None, Some(("b", false))),
    ),
    ("\"t.set\"(%a) : (!t.cell) -> ()", (None, Some(("a", true)))),
    (
        "\"t.set_to\"(%b, %x) : (!t.cell, i32) -> ()",
        (None, Some(("b", true))),
    ),
    (
        "\"t.print_cell\"(%a) : (!t.cell) -> ()",
        (Some("io"), Some(("a", false))),
    ),
];

/// The origin of the cells.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Cells {
    /// The function makes them: they are different.
    Made,
    /// They are passed to the function: they may be the same.
    Handed,
}

fn source_of(lines: &[usize], cells: Cells) -> String {
    let mut out = String::new();
    match cells {
        Cells::Made => out.push_str("func @f() {\n  %a = t.make\n  %b = t.make\n"),
        Cells::Handed => out.push_str("func @f(%a: !t.cell, %b: !t.cell) {\n"),
    }
    out.push_str("  %n = t.number\n");
    let mut number = "%n".to_owned();
    for (index, &line) in lines.iter().enumerate() {
        let result = format!("%r{index}");
        let text = LINES[line].0.replace("%r", &result).replace("%x", &number);
        if text.starts_with(&result) {
            number = result;
        }
        let _ = writeln!(out, "  {text}");
    }
    out.push_str("  t.return\n}\n");
    out
}

/// Returns `true` if two effects in this order must keep it.
fn conflict((class, cell): OpEffect, (later_class, later_cell): OpEffect, cells: Cells) -> bool {
    let same_class = class.is_some() && class == later_class;
    let same_cell = match (cell, later_cell) {
        (Some((a, is_write)), Some((b, later_is_write))) => {
            (a == b || cells == Cells::Handed) && (is_write || later_is_write)
        }
        _ => false,
    };
    same_class || same_cell
}

/// A threaded function of one block.
struct Threaded<'a> {
    module: &'a Module,
    ops: Vec<OpId>,
    /// The ops that come from lines, in order.
    lines: Vec<OpId>,
    effects: Vec<OpEffect>,
    cells: Cells,
}

/// A use of a value.
type Edge = (OpId, usize);

impl Threaded<'_> {
    fn chains(&self, values: &[ValueId]) -> Vec<ValueId> {
        let is_chain = |value: &&ValueId| {
            self.module.type_spelling(self.module.value_type(**value)) == "!tfrt.chain"
        };
        values.iter().filter(is_chain).copied().collect()
    }

    /// Returns the values that signal that an op is done.
    fn tokens(&self, op: OpId) -> Vec<ValueId> {
        let results = self.module.results(op);
        let chains = self.chains(results);
        if chains.is_empty() {
            results.to_vec()
        } else {
            chains
        }
    }

    /// Returns everything that is available when these operands of an op are, without one edge.
    fn available(&self, op: OpId, operands: &[usize], without: Option<Edge>) -> HashSet<ValueId> {
        let mut found = HashSet::new();
        let mut pending: Vec<Edge> = operands.iter().map(|index| (op, *index)).collect();
        while let Some((op, operand)) = pending.pop() {
            if Some((op, operand)) == without {
                continue;
            }
            let value = self.module.operands(op)[operand];
            if found.insert(value)
                && let ValueDef::Result { op, .. } = self.module.value_def(value)
            {
                pending.extend((0..self.module.operands(op).len()).map(|index| (op, index)));
            }
        }
        found
    }

    /// Returns `true` if every necessary order holds without one edge.
    fn is_in_order(&self, without: Option<Edge>) -> bool {
        let holds = |available: &HashSet<ValueId>, tokens: &[ValueId]| {
            tokens.iter().all(|token| available.contains(token))
        };
        let end = self.ops[self.ops.len() - 1];
        let block = self.module.op_block(end);
        let arguments = block.map_or(&[][..], |block| self.module.block_arguments(block));
        let entries = self.chains(arguments);
        let classes = self.classes();
        for (later, effect) in self.effects.iter().enumerate() {
            let op = self.lines[later];
            let all: Vec<usize> = (0..self.module.operands(op).len()).collect();
            let available = self.available(op, &all, without);
            let ordered = (0..later)
                .filter(|earlier| conflict(self.effects[*earlier], *effect, self.cells))
                .all(|earlier| holds(&available, &self.tokens(self.lines[earlier])));
            let after_entry = classes
                .iter()
                .zip(&entries)
                .filter(|(class, _)| takes_part(*effect, **class))
                .all(|(_, entry)| available.contains(entry));
            if !ordered || !after_entry {
                return false;
            }
        }
        classes.iter().enumerate().all(|(result, class)| {
            let available = self.available(end, &[result], without);
            let mut effects = self.effects.iter().zip(&self.lines);
            effects.all(|(effect, op)| {
                !takes_part(*effect, *class) || holds(&available, &self.tokens(*op))
            }) && entries
                .get(result)
                .is_none_or(|entry| available.contains(entry))
        })
    }

    /// Returns the orders of the function: those of effects, and that of memory that is passed to
    /// it and written.
    fn classes(&self) -> Vec<Option<&'static str>> {
        let mut classes: Vec<Option<&str>> = Vec::new();
        for class in ["io", "random"] {
            if self.effects.iter().any(|(found, _)| *found == Some(class)) {
                classes.push(Some(class));
            }
        }
        let writes = |(_, cell): &OpEffect| cell.is_some_and(|(_, is_write)| is_write);
        if self.cells == Cells::Handed && self.effects.iter().any(writes) {
            classes.push(None);
        }
        classes
    }

    /// Returns the uses of values that exist only for the order.
    fn edges(&self) -> Vec<Edge> {
        let mut edges = Vec::new();
        for &op in &self.ops[..self.ops.len() - 1] {
            let is_merge = self.module.op_name(op) == "t.merge";
            for (index, &value) in self.module.operands(op).iter().enumerate() {
                let is_start = self
                    .module
                    .defining_op(value)
                    .is_some_and(|op| self.module.op_name(op) == "t.start");
                if !is_start && (is_merge || !self.chains(&[value]).is_empty()) {
                    edges.push((op, index));
                }
            }
        }
        edges
    }
}

/// Returns `true` if an op takes part in an order. The order of the memory is `None`.
fn takes_part((class, cell): OpEffect, order: Option<&str>) -> bool {
    match order {
        Some(_) => class == order,
        None => cell.is_some(),
    }
}

fn check_lines(lines: &[usize], cells: Cells) {
    let module = thread(&source_of(lines, cells));
    let func = module.functions(module.root()).next();
    let block = func.and_then(|func| module.entry_block(func));
    let ops = block.map_or(Vec::new(), |block| module.block_ops(block).to_vec());
    let added = ["t.start", "t.merge", "t.make", "t.number", "t.return"];
    let threaded = Threaded {
        module: &module,
        lines: ops
            .iter()
            .copied()
            .filter(|op| !added.contains(&module.op_name(*op)))
            .collect(),
        ops,
        effects: lines.iter().map(|line| LINES[*line].1).collect(),
        cells,
    };
    let text = || text_of(&module);
    assert!(
        threaded.is_in_order(None),
        "an order is missing:\n{}",
        text()
    );
    for edge in threaded.edges() {
        assert!(
            !threaded.is_in_order(Some(edge)),
            "operand {} of {} could go:\n{}",
            edge.1,
            module.op_name(edge.0),
            text()
        );
    }
}

/// Returns every program of this many lines.
fn check_all(num_lines: u32, cells: Cells) {
    for number in 0..LINES.len().pow(num_lines) {
        let lines: Vec<usize> = (0..num_lines)
            .map(|position| number / LINES.len().pow(position) % LINES.len())
            .collect();
        check_lines(&lines, cells);
    }
}

#[test]
fn no_program_of_up_to_three_lines_has_an_order_to_spare() {
    for num_lines in 0..=3 {
        check_all(num_lines, Cells::Made);
        check_all(num_lines, Cells::Handed);
    }
}

#[test]
fn no_sampled_program_of_seven_lines_has_an_order_to_spare() {
    // A fixed walk through all of them.
    let total = LINES.len().pow(7);
    for sample in 0..400 {
        let number = sample * 1_000_003 % total;
        let lines: Vec<usize> = (0..7)
            .map(|position| number / LINES.len().pow(position) % LINES.len())
            .collect();
        check_lines(&lines, Cells::Made);
        check_lines(&lines, Cells::Handed);
    }
}
