//! Names of values and blocks in printed text.
//!
//! Regions are numbered from the outside in: first the blocks and ops of a region, then the regions
//! of its ops, each of which continues the numbers of the enclosing region. So sibling regions
//! share numbers, and an inner number never shadows an outer one.

use std::collections::{HashMap, HashSet};

use tfrt_ods::OpTraits;

use crate::module::{BlockId, Module, OpId, RegionId, ValueDef, ValueId};

#[derive(Clone, Debug)]
enum Name {
    Number(u32),
    Text(Box<str>),
}

/// The names of everything inside one op.
pub(super) struct Names<'a> {
    module: &'a Module,
    is_generic: bool,
    values: HashMap<ValueId, Name>,
    blocks: HashMap<BlockId, u32>,
    predecessors: HashMap<BlockId, Vec<BlockId>>,
    /// For ops whose results are named in several groups, the start of each group.
    groups: HashMap<OpId, Vec<usize>>,
}

/// The next number of each kind.
#[derive(Clone, Copy, Default)]
struct Counters {
    value: u32,
    argument: u32,
    conflict: u32,
}

impl<'a> Names<'a> {
    pub(super) fn new(module: &'a Module, root: OpId, is_generic: bool) -> Self {
        let mut names = Self {
            module,
            is_generic,
            values: HashMap::new(),
            blocks: HashMap::new(),
            predecessors: HashMap::new(),
            groups: HashMap::new(),
        };
        // The names in use: one set for each region from the outermost to the current one.
        let mut used: Vec<HashSet<Box<str>>> = vec![HashSet::new()];
        let mut pending: Vec<(RegionId, Counters, usize)> = module
            .regions(root)
            .iter()
            .map(|region| (*region, Counters::default(), 1))
            .collect();
        names.number_op(root, &mut Counters::default(), &mut used);
        while let Some((region, mut counters, depth)) = pending.pop() {
            used.truncate(depth);
            used.push(HashSet::new());
            names.number_region(region, &mut counters, &mut used);
            for &block in module.blocks(region) {
                for &op in module.block_ops(block) {
                    pending.extend(
                        module
                            .regions(op)
                            .iter()
                            .map(|inner| (*inner, counters, depth + 1)),
                    );
                }
            }
        }
        names
    }

    fn number_region(
        &mut self,
        region: RegionId,
        counters: &mut Counters,
        used: &mut [HashSet<Box<str>>],
    ) {
        for (number, &block) in self.module.blocks(region).iter().enumerate() {
            self.blocks.insert(block, number as u32);
            for &argument in self.module.block_arguments(block) {
                if number == 0 {
                    let name = format!("arg{}", counters.argument);
                    counters.argument += 1;
                    self.set_name(argument, &name, counters, used);
                } else {
                    self.values.insert(argument, Name::Number(counters.value));
                    counters.value += 1;
                }
            }
            for &op in self.module.block_ops(block) {
                self.number_op(op, counters, used);
                for &successor in self.module.successors(op) {
                    self.predecessors.entry(successor).or_default().push(block);
                }
            }
        }
    }

    fn number_op(&mut self, op: OpId, counters: &mut Counters, used: &mut [HashSet<Box<str>>]) {
        let results = self.module.results(op);
        let Some(&first) = results.first() else {
            return;
        };
        let named = self
            .module
            .op_def(op)
            .filter(|def| !self.is_generic && def.traits.contains(OpTraits::NAMED_RESULTS));
        if let Some(def) = named {
            let parts = def.result_groups().parts(results.len());
            let mut starts = vec![0];
            let mut last = None;
            for (position, group) in parts.enumerate() {
                if last != Some(group) {
                    self.set_name(results[position], def.results[group].name, counters, used);
                    if position != 0 {
                        starts.push(position);
                    }
                    last = Some(group);
                }
            }
            if starts.len() > 1 {
                self.groups.insert(op, starts);
            }
        }
        self.values.entry(first).or_insert_with(|| {
            counters.value += 1;
            Name::Number(counters.value - 1)
        });
    }

    fn set_name(
        &mut self,
        value: ValueId,
        name: &str,
        counters: &mut Counters,
        used: &mut [HashSet<Box<str>>],
    ) {
        let is_used = |name: &str| used.iter().any(|names| names.contains(name));
        let mut unique: Box<str> = name.into();
        while is_used(&unique) {
            unique = format!("{name}_{}", counters.conflict).into();
            counters.conflict += 1;
        }
        if let Some(innermost) = used.last_mut() {
            innermost.insert(unique.clone());
        }
        self.values.insert(value, Name::Text(unique));
    }

    /// Returns the value that names the group of `value`, and the number of `value` in the group if
    /// that has more members.
    fn group_of(&self, value: ValueId) -> (ValueId, Option<usize>) {
        let ValueDef::Result { op, index } = self.module.value_def(value) else {
            return (value, None);
        };
        let results = self.module.results(op);
        let (start, end) = match self.groups.get(&op) {
            None => (0, results.len()),
            Some(starts) => {
                let group = starts.partition_point(|start| *start <= index) - 1;
                (
                    starts[group],
                    starts.get(group + 1).copied().unwrap_or(results.len()),
                )
            }
        };
        (results[start], (end - start > 1).then_some(index - start))
    }

    /// Appends the name of a value, with `%` before it and its number in a group after it.
    pub(super) fn write_value(&self, value: ValueId, out: &mut String) {
        let (anchor, number) = self.group_of(value);
        if self.write_anchor(anchor, out)
            && let Some(number) = number
        {
            out.push('#');
            out.push_str(&number.to_string());
        }
    }

    fn write_anchor(&self, anchor: ValueId, out: &mut String) -> bool {
        match self.values.get(&anchor) {
            None => {
                out.push_str("<<UNKNOWN SSA VALUE>>");
                return false;
            }
            Some(Name::Number(number)) => {
                out.push('%');
                out.push_str(&number.to_string());
            }
            Some(Name::Text(text)) => {
                out.push('%');
                out.push_str(text);
            }
        }
        true
    }

    /// Appends the results of an op as in their definition: `%0:2`, `%a, %b:3`.
    pub(super) fn write_results(&self, op: OpId, out: &mut String) {
        let results = self.module.results(op);
        let whole = [0];
        let starts = self.groups.get(&op).map_or(&whole[..], |starts| starts);
        for (index, &start) in starts.iter().enumerate() {
            if index != 0 {
                out.push_str(", ");
            }
            let end = starts.get(index + 1).copied().unwrap_or(results.len());
            self.write_anchor(results[start], out);
            if end - start > 1 {
                out.push_str(&format!(":{}", end - start));
            }
        }
    }

    /// Appends `^bb1`.
    pub(super) fn write_block(&self, block: BlockId, out: &mut String) {
        match self.blocks.get(&block) {
            Some(number) => out.push_str(&format!("^bb{number}")),
            None => out.push_str("^INVALIDBLOCK"),
        }
    }

    /// Appends the comment that lists the predecessors of `block`.
    pub(super) fn write_predecessors(&self, block: BlockId, is_entry: bool, out: &mut String) {
        let mut blocks = self.predecessors.get(&block).cloned().unwrap_or_default();
        blocks.sort_by_key(|block| self.blocks.get(block));
        match &blocks[..] {
            [] if is_entry => {}
            [] => out.push_str("  // no predecessors"),
            [one] => {
                out.push_str("  // pred: ");
                self.write_block(*one, out);
            }
            several => {
                out.push_str(&format!("  // {} preds: ", several.len()));
                for (index, block) in several.iter().enumerate() {
                    if index != 0 {
                        out.push_str(", ");
                    }
                    self.write_block(*block, out);
                }
            }
        }
    }

    /// Gives `value` the name of `other`.
    pub(super) fn shadow(&mut self, value: ValueId, other: ValueId) {
        let mut name = String::new();
        self.write_value(other, &mut name);
        let name = name.strip_prefix('%').unwrap_or(&name);
        self.values.insert(value, Name::Text(name.into()));
    }
}
