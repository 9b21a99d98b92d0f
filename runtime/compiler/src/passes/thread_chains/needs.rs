//! The orders in which each body takes part, and what it does with the memory that is passed to it.
//!
//! Facts only grow, and are recomputed until nothing changes, so recursion is not a special case.
//! In the end, all bodies that one op runs take part in the same orders, since the op passes the
//! same chains to each.

use std::collections::{BTreeSet, HashMap};
use std::fmt;

use tfrt_ir::{Module, OpId, TypeId, ValueId};
use tfrt_ods::Effect;
use tfrt_support::entity::SecondaryMap;

use super::bodies::{Bodies, BodyId, BodyKind, Runs, Target, ends_body};
use super::declared::{
    ChainPolicy, Flow, Use, chain_policy, declared_operands, takes_chain, use_of,
};
use super::memory::{Label, Labels, WrittenTypes, labels_of_results};

/// One order. Orders do not wait for each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Class {
    /// The order of the effects of this class.
    Effect(&'static str),
    /// The order of reads and writes of the memory that goes in or out of a body.
    Memory,
}

impl fmt::Display for Class {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Effect(class) => write!(f, "has effects of class `{class}`"),
            Self::Memory => f.write_str("reads or writes memory that the program writes"),
        }
    }
}

/// The known facts about one body.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Facts {
    /// The orders in which it takes part: a chain goes in and out for each.
    pub(super) classes: BTreeSet<Class>,
    /// The arguments whose memory it reads.
    reads: BTreeSet<usize>,
    /// The arguments whose memory it writes.
    writes: BTreeSet<usize>,
    /// The meaning of its results.
    results: Vec<Returned>,
}

/// The meaning of a body's result.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Returned {
    arguments: BTreeSet<usize>,
    /// Whether it may be a value that the body made.
    is_made: bool,
}

/// An access of an op to a place in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Access {
    pub(super) label: Label,
    pub(super) is_write: bool,
}

/// The effects of an op that may need an order, except those of functions that it runs in a
/// declared way.
#[derive(Debug)]
pub(super) struct OpEffects {
    pub(super) classes: BTreeSet<Class>,
    /// Whether the op only reads the effects of these classes.
    pub(super) only_reads: bool,
    pub(super) accesses: Vec<Access>,
    pub(super) chain_policy: ChainPolicy,
}

/// The known facts about all bodies.
#[derive(Debug)]
pub(super) struct Needs<'a> {
    bodies: &'a Bodies,
    chain: TypeId,
    types: WrittenTypes,
    facts: SecondaryMap<BodyId, Facts>,
    /// The places that values of written types stand for, each in terms of its body.
    labels: HashMap<ValueId, Labels>,
}

impl<'a> Needs<'a> {
    /// Examines every body until nothing changes.
    pub(super) fn new(module: &Module, bodies: &'a Bodies, chain: TypeId) -> Self {
        let mut needs = Self {
            bodies,
            chain,
            types: WrittenTypes::of(module, bodies, chain),
            facts: SecondaryMap::default(),
            labels: HashMap::new(),
        };
        loop {
            let mut has_changed = false;
            for body in bodies.all.ids() {
                has_changed |= needs.look_at_body(module, body);
            }
            for (&op, runs) in &bodies.runs {
                has_changed |= needs.look_at_runs(module, op, runs);
            }
            if !has_changed {
                return needs;
            }
        }
    }

    /// Returns the orders in which a body takes part, in the order of its chains.
    pub(super) fn classes(&self, body: BodyId) -> &BTreeSet<Class> {
        &self.facts[body].classes
    }

    /// Returns `true` if a body writes memory that is passed to it.
    pub(super) fn writes_arguments(&self, body: BodyId) -> bool {
        !self.facts[body].writes.is_empty()
    }

    /// Returns the orders in which the bodies that an op runs take part.
    pub(super) fn classes_of_runs(&self, runs: &Runs) -> BTreeSet<Class> {
        let facts = bodies_of(&runs.targets).map(|body| &self.facts[body]);
        facts
            .flat_map(|facts| facts.classes.iter().copied())
            .collect()
    }

    /// Returns the group of a type whose values may share memory, if the program writes values of
    /// the group.
    pub(super) fn group_of(&self, ty: TypeId) -> Option<TypeId> {
        self.types.group_of(ty)
    }

    /// Returns the places that a value stands for.
    pub(super) fn labels_of(&self, value: ValueId) -> impl Iterator<Item = Label> + '_ {
        self.labels.get(&value).into_iter().flatten().copied()
    }

    fn look_at_body(&mut self, module: &Module, id: BodyId) -> bool {
        let body = &self.bodies.all[id];
        for (index, &argument) in module.block_arguments(body.block).iter().enumerate() {
            if self.types.group_of(module.value_type(argument)).is_some() {
                self.labels
                    .entry(argument)
                    .or_default()
                    .insert(Label::Argument(index));
            }
        }
        let mut facts = self.facts[id].clone();
        let mut accesses: Vec<Access> = Vec::new();
        for &op in module.block_ops(body.block) {
            if ends_body(module, op) {
                self.return_from(module, op, &accesses, &mut facts);
            } else if let Some(runs) = self.flow_of(op) {
                let classes = self.classes_of_runs(runs).into_iter();
                facts
                    .classes
                    .extend(classes.filter(|class| *class != Class::Memory));
                accesses.extend(self.accesses_of_runs(module, op, runs));
                self.label_results_of_runs(module, op, runs);
            } else {
                let effects = self.effects(module, op, body.kind);
                if effects.chain_policy == ChainPolicy::Threaded {
                    facts.classes.extend(effects.classes);
                }
                accesses.extend(effects.accesses);
                if let Some(def) = module.op_def(op) {
                    let found = labels_of_results(module, op, def, &self.types, &self.labels);
                    for (value, labels) in found {
                        self.labels.entry(value).or_default().extend(labels);
                    }
                }
            }
        }
        for access in accesses {
            if let Label::Argument(index) = access.label {
                facts.classes.insert(Class::Memory);
                let of_kind = if access.is_write {
                    &mut facts.writes
                } else {
                    &mut facts.reads
                };
                of_kind.insert(index);
            }
        }
        let has_changed = self.facts[id] != facts;
        self.facts[id] = facts;
        has_changed
    }

    /// Returns the functions that an op runs in a declared way, if there are any.
    pub(super) fn flow_of(&self, op: OpId) -> Option<&'a Runs> {
        self.bodies.runs.get(&op).filter(|runs| runs.flow.is_some())
    }

    fn return_from(&self, module: &Module, op: OpId, accesses: &[Access], facts: &mut Facts) {
        let returned = module.operands(op);
        facts.results.resize(returned.len(), Returned::default());
        for (result, &value) in facts.results.iter_mut().zip(returned) {
            for label in self.labels_of(value) {
                match label {
                    Label::Argument(index) => {
                        result.arguments.insert(index);
                    }
                    Label::Made(_) => {
                        result.is_made = true;
                        if accesses.iter().any(|access| access.label == label) {
                            facts.classes.insert(Class::Memory);
                        }
                    }
                }
            }
        }
    }

    /// Returns the effects of an op that does not run functions in a declared way.
    pub(super) fn effects(&self, module: &Module, op: OpId, kind: BodyKind) -> OpEffects {
        let Some(def) = module.op_def(op) else {
            // It has chains, or the program would have been rejected. What it does after them is
            // unknown.
            let operands = module.operands(op).iter();
            let accesses = operands
                .flat_map(|value| self.labels_of(*value))
                .map(|label| Access {
                    label,
                    is_write: true,
                })
                .collect();
            return OpEffects {
                classes: BTreeSet::new(),
                only_reads: false,
                accesses,
                chain_policy: ChainPolicy::Explicit,
            };
        };
        let mut classes: BTreeSet<Class> =
            def.effect.class().map(Class::Effect).into_iter().collect();
        let mut writes_operands = false;
        let mut only_reads = matches!(def.effect, Effect::Reads(_));
        for body in self.sync_functions(op) {
            only_reads = false;
            writes_operands |= self.facts[body].classes.contains(&Class::Memory);
            classes.extend(&self.facts[body].classes);
        }
        classes.remove(&Class::Memory);
        let chain_policy = match kind {
            BodyKind::Sync => ChainPolicy::Threaded,
            _ => chain_policy(module, op, def, !classes.is_empty(), self.chain),
        };
        let mut accesses = Vec::new();
        if !self.types.is_empty() {
            let operands = module.operands(op).iter();
            for (value, declared) in operands.zip(declared_operands(module, op, def)) {
                let is_write = match use_of(declared) {
                    Use::Writes => true,
                    _ if writes_operands => true,
                    Use::Reads => false,
                    Use::Passes => continue,
                };
                accesses.extend(
                    self.labels_of(*value)
                        .map(|label| Access { label, is_write }),
                );
            }
        }
        OpEffects {
            classes,
            only_reads,
            accesses,
            chain_policy,
        }
    }

    /// Returns the synchronous functions that an op refers to. It runs them, in any way, before it
    /// is done.
    fn sync_functions(&self, op: OpId) -> impl Iterator<Item = BodyId> + '_ {
        let others = self.bodies.runs.get(&op).map(|runs| &runs.others[..]);
        bodies_of(others.unwrap_or_default())
            .filter(|body| self.bodies.all[*body].kind == BodyKind::Sync)
    }

    /// Returns the accesses of the bodies that an op runs to the memory of its operands and of the
    /// values that the bodies return.
    pub(super) fn accesses_of_runs(&self, module: &Module, op: OpId, runs: &Runs) -> Vec<Access> {
        let mut accesses = Vec::new();
        if self.types.is_empty() {
            return accesses;
        }
        for body in bodies_of(&runs.targets) {
            let facts = &self.facts[body];
            for (arguments, is_write) in [(&facts.writes, true), (&facts.reads, false)] {
                for &argument in arguments {
                    let labels = self.labels_handed_to(module, op, runs, body, argument);
                    accesses.extend(labels.into_iter().map(|label| Access { label, is_write }));
                }
            }
            let is_pending = facts.classes.contains(&Class::Memory);
            if is_pending && facts.results.iter().any(|result| result.is_made) {
                accesses.push(Access {
                    label: Label::Made(op),
                    is_write: true,
                });
            }
        }
        accesses
    }

    /// Returns the places, in terms of the caller, that an argument of a body stands for.
    fn labels_handed_to(
        &self,
        module: &Module,
        op: OpId,
        runs: &Runs,
        body: BodyId,
        argument: usize,
    ) -> Labels {
        let operands = module.operands(op);
        let body = &self.bodies.all[body];
        let handed = operands.get(operands.len().saturating_sub(body.num_arguments)..);
        let handed = handed.unwrap_or_default();
        let Some(&value) = handed.get(argument) else {
            return Labels::new();
        };
        if runs.flow != Some(Flow::Loops) {
            return self.labels_of(value).collect();
        }
        // In a later iteration, the argument may have the value that any other argument of its
        // group had before.
        let group = self.types.group_of(module.value_type(value));
        let mut labels: Labels = handed
            .iter()
            .filter(|other| self.types.group_of(module.value_type(**other)) == group)
            .flat_map(|other| self.labels_of(*other))
            .collect();
        if self
            .facts_of(runs)
            .any(|facts| facts.results.iter().any(|result| result.is_made))
        {
            labels.insert(Label::Made(op));
        }
        labels
    }

    fn facts_of<'s>(&'s self, runs: &'s Runs) -> impl Iterator<Item = &'s Facts> {
        bodies_of(&runs.targets).map(|body| &self.facts[body])
    }

    fn label_results_of_runs(&mut self, module: &Module, op: OpId, runs: &Runs) {
        if self.types.is_empty() {
            return;
        }
        let mut found: Vec<(ValueId, Labels)> = Vec::new();
        for (index, &result) in module.results(op).iter().enumerate() {
            let Some(group) = self.types.group_of(module.value_type(result)) else {
                continue;
            };
            let mut labels = Labels::new();
            if runs.flow == Some(Flow::Loops) {
                let operands = module.operands(op).iter();
                labels.extend(
                    operands
                        .filter(|value| {
                            self.types.group_of(module.value_type(**value)) == Some(group)
                        })
                        .flat_map(|value| self.labels_of(*value)),
                );
            }
            for target in &runs.targets {
                let Target::Body(body) = *target else {
                    labels.insert(Label::Made(op));
                    continue;
                };
                let Some(returned) = self.facts[body].results.get(index) else {
                    continue;
                };
                for &argument in &returned.arguments {
                    labels.extend(self.labels_handed_to(module, op, runs, body, argument));
                }
                if returned.is_made {
                    labels.insert(Label::Made(op));
                }
            }
            found.push((result, labels));
        }
        for (result, labels) in found {
            self.labels.entry(result).or_default().extend(labels);
        }
    }

    /// Makes the bodies that one op runs take part in the same orders, and in those that the op
    /// itself requires. Returns `true` if anything changed.
    fn look_at_runs(&mut self, module: &Module, op: OpId, runs: &Runs) -> bool {
        let mut classes = self.classes_of_runs(runs);
        if let Some(def) = module.op_def(op)
            && !takes_chain(module, op, self.chain)
        {
            classes.extend(def.effect.class().map(Class::Effect));
            if classes.is_empty() && def.chain_operand().is_some() {
                // It is declared to pass on a chain, and any order will do.
                classes.insert(Class::Memory);
            }
        }
        let mut has_changed = false;
        for body in bodies_of(&runs.targets) {
            let of_body = &mut self.facts[body].classes;
            has_changed |= of_body.len() != classes.len();
            of_body.extend(&classes);
        }
        has_changed
    }
}

/// Returns the bodies among targets.
pub(super) fn bodies_of(targets: &[Target]) -> impl Iterator<Item = BodyId> + '_ {
    targets.iter().filter_map(|target| match target {
        Target::Body(body) => Some(*body),
        Target::Native(_) => None,
    })
}
