//! Rules, applied until none does.

use std::collections::{HashMap, HashSet, VecDeque};

use tfrt_attr::{AttrValue, DenseAttr};
use tfrt_compiler::attribute_of;
use tfrt_core::OpRegistry;
use tfrt_ir::{AttrId, Attribute as IrAttribute, BlockId, Module, OpId, OpState, ValueId};
use tfrt_support::Diagnostic;

use super::made::Attribute;
use super::{Match, Pattern, Replacement, Rule};
use crate::call::{Call, device_attribute, error_at, place};
use crate::infer::results_of;
use crate::known::Known;
use crate::names;
use crate::prune::sweep;

/// The limit for the rewrites of a function, per original op: only rules that undo each other, or
/// that produce what they match, exceed it.
pub const MAX_REWRITES_PER_OP: usize = 16;

/// Applies rules to a function until none applies. Metadata is [inferred](crate::infer_metadata)
/// before; the metadata of replacements is inferred here. Returns an error if rewriting does not
/// end.
pub fn rewrite(
    module: &mut Module,
    func: OpId,
    ops: &OpRegistry,
    rules: &[&'static Rule],
) -> Vec<Diagnostic> {
    let mut rewriter = Rewriter::new(module, func, ops, rules);
    rewriter.run(module);
    sweep(module, func);
    rewriter.failure.into_iter().collect()
}

/// Does the same as [`rewrite`], with a remark for each applied rule at its location.
pub fn explain_rewrites(
    module: &mut Module,
    func: OpId,
    ops: &OpRegistry,
    rules: &[&'static Rule],
) -> Vec<Diagnostic> {
    let mut rewriter = Rewriter::new(module, func, ops, rules);
    rewriter.run(module);
    sweep(module, func);
    rewriter.remarks.extend(rewriter.failure);
    rewriter.remarks
}

struct Rewriter<'a> {
    ops: &'a OpRegistry,
    func: OpId,
    rules: HashMap<&'static str, Vec<&'static Rule>>,
    known: Known,
    remarks: Vec<Diagnostic>,
    failure: Option<Diagnostic>,
    /// What was made, in no block yet, by the op that it stands in front of.
    made: HashMap<OpId, Vec<OpId>>,
}

impl<'a> Rewriter<'a> {
    fn new(module: &Module, func: OpId, ops: &'a OpRegistry, rules: &[&'static Rule]) -> Self {
        let mut by_op: HashMap<&'static str, Vec<&'static Rule>> = HashMap::new();
        for rule in rules {
            if let Pattern::Op(name, _) = rule.pattern {
                by_op.entry(name).or_default().push(rule);
            }
        }
        Self {
            ops,
            func,
            rules: by_op,
            known: Known::inferred(module, func),
            remarks: Vec::new(),
            failure: None,
            made: HashMap::new(),
        }
    }

    fn run(&mut self, module: &mut Module) {
        let Some(block) = module.entry_block(self.func) else {
            return;
        };
        self.apply_all(module, block);
        // What was made joins the block at once: to look for the place of each op takes long.
        let ops = module.take_block_ops(block);
        let mut pending: Vec<OpId> = ops.into_iter().rev().collect();
        while let Some(op) = pending.pop() {
            match self.made.remove(&op) {
                Some(made) => {
                    pending.push(op);
                    pending.extend(made.into_iter().rev());
                }
                None => module.append_op(block, op),
            }
        }
    }

    fn apply_all(&mut self, module: &mut Module, block: BlockId) {
        let mut pending: VecDeque<OpId> = module.block_ops(block).to_vec().into();
        let mut left = MAX_REWRITES_PER_OP.saturating_mul(pending.len());
        let mut replaced = HashSet::new();
        while let Some(op) = pending.pop_front() {
            if replaced.contains(&op) {
                continue;
            }
            let Some(call) = Call::of(module, op) else {
                continue;
            };
            let rules = self.rules.get(call.name.as_str()).cloned();
            let applied = rules
                .into_iter()
                .flatten()
                .find_map(|rule| Some((rule, self.apply(module, rule, op)?)));
            let Some((rule, value)) = applied else {
                continue;
            };
            if left == 0 {
                let message = format!(
                    "rewrite rules do not terminate: the last rule applied was `{}` ({rule})",
                    rule.name
                );
                self.failure = Some(error_at(module, op, message));
                return;
            }
            left -= 1;
            replaced.insert(op);
            let message = format!("`{}` applies: {rule}", rule.name);
            self.remarks
                .push(Diagnostic::remark(place(module, op), message));
            // What was made may match, and so may what uses it.
            pending.extend(module.defining_op(value));
            let users: Vec<OpId> = module.uses(value).map(|user| user.op).collect();
            pending.extend(users);
        }
    }

    /// Returns the value that replaces the result of an op, if a rule applies to the op.
    fn apply(&mut self, module: &mut Module, rule: &'static Rule, root: OpId) -> Option<ValueId> {
        let (made, values, root_call) = {
            let found = Match::of(&rule.pattern, root, module, &self.known)?;
            if !(rule.condition)(&found) {
                return None;
            }
            let is_kept = |name: &str| mentions(&rule.replacement, name);
            let mut left_out = found.values().iter().filter(|(name, _)| !is_kept(name));
            if !left_out.all(|(_, value)| found.may_be_dropped(*value)) {
                return None;
            }
            let mut made = Replacement::default();
            (rule.attributes)(&found, &mut made);
            let root_call = found.call(0)?.clone();
            (made, found.values().to_vec(), root_call)
        };
        let result = *root_call.results(module).first()?;
        let mut building = Building {
            root: root_call,
            values,
            new_ops: Vec::new(),
            next: 0,
        };
        for (name, constant) in made.constants() {
            let value = building.constant(module, constant);
            self.infer(module, value);
            building.values.push((name, value));
        }
        let value = building.value(module, &rule.replacement, &made, self);
        let fits = value.is_some_and(|value| {
            let (before, after) = (self.known.full(result), self.known.full(value));
            // What was known must stay known, and what it was.
            before.is_none() || before == after
        });
        match value {
            Some(value) if fits && value != result => {
                module.replace_all_uses(result, value);
                self.made.insert(root, building.new_ops);
                Some(value)
            }
            _ => {
                for op in building.new_ops.into_iter().rev() {
                    module.erase_op(op);
                }
                None
            }
        }
    }

    /// Infers what a new op returns.
    fn infer(&mut self, module: &Module, value: ValueId) {
        let Some(op) = module.defining_op(value) else {
            return;
        };
        let told = results_of(module, op, self.ops, &self.known).unwrap_or_default();
        for (&value, told) in module.results(op).iter().zip(told) {
            if let Some(told) = told {
                self.known.set_full(value, told);
            }
        }
    }
}

/// Returns `true` if a pattern has a value of this name.
fn mentions(pattern: &Pattern, name: &str) -> bool {
    match pattern {
        Pattern::Value(found) => *found == name,
        Pattern::Op(_, operands) => operands.iter().any(|operand| mentions(operand, name)),
    }
}

/// A replacement in the making, in front of what it replaces.
struct Building {
    root: Call,
    values: Vec<(&'static str, ValueId)>,
    new_ops: Vec<OpId>,
    /// The number of the next op.
    next: usize,
}

impl Building {
    /// Makes an op, which joins the block later.
    fn add(&mut self, module: &mut Module, state: OpState) -> ValueId {
        let op = module.create_op(state);
        self.new_ops.push(op);
        module.results(op)[0]
    }

    fn constant(&mut self, module: &mut Module, constant: &DenseAttr) -> ValueId {
        let mut state = OpState::new(names::CONSTANT, module.op_location(self.root.op));
        let value = attribute_of(module, &AttrValue::Dense(constant.clone()));
        state.attributes = vec![("value".into(), value)];
        state.result_types = vec![names::dialect_type(module, names::HANDLE_TYPE)];
        self.add(module, state)
    }

    /// Makes what a replacement says; nothing if it names a value that does not exist.
    fn value(
        &mut self,
        module: &mut Module,
        pattern: &Pattern,
        made: &Replacement,
        rewriter: &mut Rewriter<'_>,
    ) -> Option<ValueId> {
        let (name, operands) = match pattern {
            Pattern::Value(name) => {
                let found = self.values.iter().find(|(known, _)| known == name);
                return found.map(|(_, value)| *value);
            }
            Pattern::Op(name, operands) => (*name, *operands),
        };
        let number = self.next;
        self.next += 1;
        let mut values = vec![self.root.handler(module)?];
        for operand in operands {
            values.push(self.value(module, operand, made, rewriter)?);
        }
        let pairs = made.attributes_of(number).into_iter().map(|(name, value)| {
            let value = match value {
                Attribute::Copied(value) => *value,
                Attribute::New(value) => attribute_of(module, value),
            };
            let name = module.string_attr(name);
            module.intern_attribute(IrAttribute::Array([name, value].into()))
        });
        let pairs: Vec<AttrId> = pairs.collect();
        let pairs = module.intern_attribute(IrAttribute::Array(pairs.into()));
        let none = module.intern_attribute(IrAttribute::Array([].into()));
        let mut state = OpState::new(names::EXECUTE, module.op_location(self.root.op));
        state.operands = values;
        state.attributes = vec![
            ("op_attrs".into(), pairs),
            ("op_func_attrs".into(), none),
            ("op_name".into(), module.string_attr(name)),
        ];
        let device = device_attribute(module, self.root.op).map(str::to_owned);
        if let Some(device) = device {
            let device = module.string_attr(device);
            state.attributes.push((names::DEVICE.into(), device));
        }
        state.result_types = vec![names::dialect_type(module, names::HANDLE_TYPE)];
        let value = self.add(module, state);
        rewriter.infer(module, value);
        Some(value)
    }
}
