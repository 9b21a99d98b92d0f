//! The rewrite: adds chains to the bodies, op by op.
//!
//! Ops are visited in program order and stay in it. A merge of the values that an op waits for, or
//! the start of an order, may be inserted before the op. Equal merges are shared within a body.

mod ends;

mod runs;

use std::collections::{HashMap, HashSet};

use tfrt_ir::{BlockId, LocationId, Module, OpId, OpState, TypeId, ValueId};
use tfrt_ods::OpTraits;
use tfrt_ods::verify::{
    chain_operand_positions, chain_result_positions, leaves_out_operands, leaves_out_results,
};

use super::bodies::{Bodies, Body, BodyKind, Problem, ends_body, problem};
use super::check::ChainOps;
use super::declared::{ChainPolicy, Slot, is_chain, slot, spellings};
use super::memory::Label;
use super::needs::{Access, Class, Needs};
use super::order::{Front, PendingStep, Positions};
use crate::passes::availability::implied_by_results;

/// Adds the chains to every body. Returns an error for every op that would have to wait and cannot,
/// and for every op that must be waited for and returns nothing. If there are any errors, the
/// program is not in order.
pub(super) fn rewrite(
    module: &mut Module,
    bodies: &Bodies,
    needs: &Needs<'_>,
    chain_ops: ChainOps,
    chain: TypeId,
) -> Vec<Problem> {
    let mut problems = Vec::new();
    for (id, body) in bodies.all.iter() {
        if body.kind == BodyKind::Sync {
            continue;
        }
        let threader = Threader {
            module,
            bodies,
            needs,
            chain_ops,
            chain,
            body,
            classes: needs.classes(id).iter().copied().collect(),
            fronts: HashMap::new(),
            positions: Positions::default(),
            starts: HashMap::new(),
            merges: HashMap::new(),
            problems: &mut problems,
        };
        threader.run();
    }
    problems
}

/// Something whose uses are ordered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Resource {
    /// The effects of a class.
    Effect(&'static str),
    /// The memory that arguments of a group stand for.
    Outside(TypeId),
    /// The memory that an op of the body made.
    Made(OpId),
}

/// The state of rewriting one body.
struct Threader<'a> {
    module: &'a mut Module,
    bodies: &'a Bodies,
    needs: &'a Needs<'a>,
    chain_ops: ChainOps,
    chain: TypeId,
    body: &'a Body,
    /// The orders in which the body takes part.
    classes: Vec<Class>,
    fronts: HashMap<Resource, Front>,
    positions: Positions,
    /// The chains with which orders start here.
    starts: HashMap<Option<Class>, ValueId>,
    /// The chains that become ready when other values are.
    merges: HashMap<Vec<ValueId>, ValueId>,
    problems: &'a mut Vec<Problem>,
}

impl Threader<'_> {
    fn run(mut self) {
        let block = self.body.block;
        self.enter();
        for op in self.module.take_block_ops(block) {
            if ends_body(self.module, op) {
                self.leave(op);
            } else if let Some(runs) = self.needs.flow_of(op) {
                self.thread_runs(op, runs);
            } else {
                self.thread_op(op);
            }
            self.push(op);
        }
        if self.body.kind == BodyKind::Function && !self.classes.is_empty() {
            self.sign();
        }
    }

    fn block(&self) -> BlockId {
        self.body.block
    }

    fn push(&mut self, op: OpId) {
        self.positions.push(op);
        self.module.append_op(self.block(), op);
    }

    /// Returns the number of chains that go in and out of a body.
    fn num_chains(&self) -> usize {
        match (self.body.has_one_chain, self.classes.len()) {
            (_, 0) => 0,
            (true, _) => 1,
            (false, count) => count,
        }
    }

    fn advance(&mut self, resource: Resource, step: PendingStep, is_write: bool) {
        self.fronts
            .entry(resource)
            .or_default()
            .advance(step, is_write);
    }

    fn resource_of(&self, label: Label) -> Option<Resource> {
        match label {
            Label::Made(op) => Some(Resource::Made(op)),
            Label::Argument(index) => {
                // Chains were inserted before the arguments that labels number.
                let num_chains = if self.body.is_root {
                    0
                } else {
                    self.num_chains()
                };
                let moved = if index < self.body.position {
                    index
                } else {
                    index + num_chains
                };
                let argument = *self.module.block_arguments(self.body.block).get(moved)?;
                let group = self.needs.group_of(self.module.value_type(argument))?;
                Some(Resource::Outside(group))
            }
        }
    }

    fn resources_of(&self, accesses: &[Access]) -> Vec<(Resource, bool)> {
        let resources = accesses.iter();
        resources
            .filter_map(|access| Some((self.resource_of(access.label)?, access.is_write)))
            .collect()
    }

    /// Returns the steps that must precede these accesses.
    fn before(&self, resources: &[(Resource, bool)]) -> Vec<PendingStep> {
        resources
            .iter()
            .filter_map(|(resource, is_write)| Some((self.fronts.get(resource)?, *is_write)))
            .flat_map(|(front, is_write)| front.before(is_write))
            .cloned()
            .collect()
    }

    /// Returns the values that are available when an op starts, not counting chains that it does
    /// not have yet.
    fn known_at(&self, op: OpId) -> Vec<ValueId> {
        implied_by_results(self.module, op).to_vec()
    }

    /// Threads chains through an op that does not run functions in a declared way.
    fn thread_op(&mut self, op: OpId) {
        let effects = self.needs.effects(self.module, op, self.body.kind);
        let mut resources: Vec<(Resource, bool)> = Vec::new();
        for &class in &effects.classes {
            if let (Class::Effect(name), true) = (class, self.classes.contains(&class)) {
                resources.push((Resource::Effect(name), !effects.only_reads));
            }
        }
        resources.extend(self.resources_of(&effects.accesses));
        let known = self.known_at(op);
        let needed = match effects.chain_policy {
            ChainPolicy::Explicit => Vec::new(),
            _ => self
                .positions
                .needed(self.module, self.before(&resources), &known),
        };
        match effects.chain_policy {
            ChainPolicy::Explicit => {}
            ChainPolicy::OptedOut => self.refuse(op, needed.iter().find(|step| step.is_owed)),
            ChainPolicy::Threaded => self.give_chain(op, effects.classes.first().copied(), &needed),
            ChainPolicy::Free => self.give_chain_if_needed(op, &needed),
        }
        let is_threaded = matches!(
            effects.chain_policy,
            ChainPolicy::Threaded | ChainPolicy::Free
        );
        self.complete_results(op, is_threaded || !resources.is_empty());
        let step = PendingStep {
            op,
            tokens: self.tokens_of(op),
            is_owed: is_threaded,
        };
        for (resource, is_write) in resources {
            let front = self.fronts.entry(resource).or_default();
            if is_threaded {
                front.advance(step.clone(), is_write);
            } else {
                front.join(step.clone(), is_write);
            }
        }
    }

    /// Reports an error if an op that takes no chain would have to wait for `step`.
    fn refuse(&mut self, op: OpId, step: Option<&PendingStep>) {
        let Some(step) = step else {
            return;
        };
        let place = self.module.place(self.module.op_location(step.op));
        let earlier = if step.op == self.body.holder {
            "the effects before its function starts".to_owned()
        } else {
            format!("'{}'", self.module.op_name(step.op))
        };
        let message = format!("must come after {earlier}, but takes no chain");
        let mut found = problem(self.module, op, message);
        found.finding = found.finding.with_note(place, "the earlier op is here");
        self.problems.push(found);
    }

    fn give_chain_if_needed(&mut self, op: OpId, needed: &[PendingStep]) {
        let Some(def) = self.module.op_def(op) else {
            return;
        };
        let lacks_chains =
            leaves_out_operands(def, &spellings(self.module, self.module.operands(op)));
        if needed.is_empty() && !lacks_chains {
            return;
        }
        if slot(self.module, op, def) == Slot::None {
            self.refuse(op, needed.first());
        } else {
            self.give_chain(op, None, needed);
        }
    }

    /// Makes an op that has no chain yet wait for `needed`.
    fn give_chain(&mut self, op: OpId, class: Option<Class>, needed: &[PendingStep]) {
        let Some(def) = self.module.op_def(op) else {
            return;
        };
        let chain = self.chain_after(op, class, needed);
        let mut operands = self.module.operands(op).to_vec();
        if slot(self.module, op, def) == Slot::Declared {
            for position in chain_operand_positions(def, operands.len()) {
                operands.insert(position.min(operands.len()), chain);
            }
        } else {
            operands.push(chain);
        }
        self.module.set_operands(op, operands);
    }

    /// Adds the omitted chains to the results of an op, unless they are optional and unused.
    fn complete_results(&mut self, op: OpId, is_wanted: bool) {
        let Some(def) = self.module.op_def(op) else {
            return;
        };
        let may_lack =
            def.traits.contains(OpTraits::OPTIONAL_CHAIN) && def.assembly_format.is_none();
        let types = spellings(self.module, self.module.results(op));
        if !leaves_out_results(def, &types) || may_lack && !is_wanted {
            return;
        }
        for position in chain_result_positions(def, types.len()) {
            self.module.insert_result(op, position, self.chain);
        }
    }

    /// Returns the values that signal that an op is done: its chains, or all of its results if it
    /// has no chains.
    fn tokens_of(&self, op: OpId) -> Vec<ValueId> {
        let results = self.module.results(op).iter().copied();
        let chains: Vec<ValueId> = results
            .clone()
            .filter(|result| is_chain(self.module, *result, self.chain))
            .collect();
        if chains.is_empty() {
            results.collect()
        } else {
            chains
        }
    }

    /// Returns a chain, created before `op`, that is ready when `needed` is done.
    fn chain_after(&mut self, op: OpId, class: Option<Class>, needed: &[PendingStep]) -> ValueId {
        let location = self.module.op_location(op);
        for step in needed {
            if step.tokens.is_empty() {
                let place = self.module.place(location);
                let message = format!(
                    "returns nothing that '{}' could wait for",
                    self.module.op_name(op)
                );
                let mut found = problem(self.module, step.op, message);
                found.finding = found.finding.with_note(place, "the later op is here");
                self.problems.push(found);
            }
        }
        // In program order, earliest first.
        let mut tokens: Vec<ValueId> = needed
            .iter()
            .rev()
            .flat_map(|step| step.tokens.clone())
            .collect();
        let mut seen = HashSet::new();
        tokens.retain(|token| seen.insert(*token));
        match tokens[..] {
            [] => {
                if let Some(&start) = self.starts.get(&class) {
                    return start;
                }
                let start = self.create(self.chain_ops.source, Vec::new(), location);
                self.starts.insert(class, start);
                start
            }
            [token] if is_chain(self.module, token, self.chain) => token,
            _ => {
                if let Some(&merge) = self.merges.get(&tokens) {
                    return merge;
                }
                let merge = self.create(self.chain_ops.merge, tokens.clone(), location);
                self.merges.insert(tokens, merge);
                merge
            }
        }
    }

    /// Appends an op that returns one chain to the rewritten ops.
    fn create(&mut self, name: &str, operands: Vec<ValueId>, location: LocationId) -> ValueId {
        let mut state = OpState::new(name, location);
        state.operands = operands;
        state.result_types.push(self.chain);
        let op = self.module.create_op(state);
        self.push(op);
        self.module.results(op)[0]
    }
}
