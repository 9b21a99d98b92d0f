//! The bodies of a program, and the ops that run them.
//!
//! A body is the block of a function or of a region. Every region is isolated, so a body uses only
//! its own arguments. Functions inside compiled modules are texts, not bodies.

use std::collections::{HashMap, HashSet};

use tfrt_ir::{BlockId, Module, OpDiagnostics, OpId, RegionId, TypeId};
use tfrt_ods::{FunctionForm, OpTraits};
use tfrt_support::Diagnostic;
use tfrt_support::entity::PrimaryMap;

use super::declared::{Flow, gives_chain, takes_chain};
use crate::passes::has_traits;
use crate::passes::references::References;
use crate::{COMPILED_ATTRIBUTE, SYNC_ATTRIBUTE};

tfrt_support::define_id! {
    /// A body of a program.
    pub(super) struct BodyId("body");
}

/// The number of arguments that a run of a part of a range takes besides operands: the start and
/// the end of the part.
pub(super) const NUM_INDICES: usize = 2;

/// One body.
#[derive(Debug)]
pub(super) struct Body {
    /// The function, or the op that has the region.
    pub(super) holder: OpId,
    pub(super) block: BlockId,
    /// The number of its arguments in the program as written.
    pub(super) num_arguments: usize,
    pub(super) kind: BodyKind,
    /// The position among its arguments at which its chains are inserted.
    pub(super) position: usize,
    /// Whether one chain stands for all orders, as in a body that runs many times at once.
    pub(super) has_one_chain: bool,
    /// Whether nothing in the program refers to it and it has no arguments, so that its orders
    /// start inside.
    pub(super) is_root: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BodyKind {
    Function,
    /// A function that runs in the interpreter, in program order.
    Sync,
    Region,
}

/// A function or region that an op runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Target {
    Body(BodyId),
    /// A function without a body.
    Native(OpId),
}

/// The way in which an op runs functions.
#[derive(Debug)]
pub(super) struct Runs {
    /// The flow of values in and out, if it is declared.
    pub(super) flow: Option<Flow>,
    /// The functions and regions that it runs in that way.
    pub(super) targets: Vec<Target>,
    /// All others that the op refers to.
    pub(super) others: Vec<Target>,
}

/// All bodies.
#[derive(Debug)]
pub(super) struct Bodies {
    pub(super) all: PrimaryMap<BodyId, Body>,
    /// By the ops that refer to functions or have regions. Unordered: to visit them in order, walk
    /// the ops.
    pub(super) runs: HashMap<OpId, Runs>,
    of_function: HashMap<OpId, BodyId>,
}

impl Bodies {
    /// Finds the bodies inside `root`, and their errors: several blocks, values from outside,
    /// undeclared ops.
    pub(super) fn collect(module: &Module, root: OpId, chain: TypeId) -> (Self, Vec<Problem>) {
        let mut bodies = Self {
            all: PrimaryMap::new(),
            runs: HashMap::new(),
            of_function: HashMap::new(),
        };
        let mut problems = Vec::new();
        let functions = functions(module, root);
        for &func in &functions {
            let kind = if module.has_attr(func, SYNC_ATTRIBUTE) {
                BodyKind::Sync
            } else {
                BodyKind::Function
            };
            let Some(&region) = module.regions(func).first() else {
                continue;
            };
            if let Some(body) = bodies.add(module, func, region, kind, &mut problems) {
                bodies.of_function.insert(func, body);
            }
        }
        let mut references = References::default();
        let mut referred: HashSet<OpId> = HashSet::new();
        for op in module.walk(root) {
            let found = references.of_op(module, op);
            referred.extend(&found);
        }
        for &func in &functions {
            for op in module.walk(func).into_iter().skip(1) {
                bodies.look_at_op(module, op, func, chain, &mut references, &mut problems);
            }
        }
        while bodies.align_chains() {}
        for body in bodies.all.ids() {
            let body = &mut bodies.all[body];
            body.is_root = body.kind == BodyKind::Function
                && body.num_arguments == 0
                && !referred.contains(&body.holder);
        }
        (bodies, problems)
    }

    /// Adds the body of a region, if it has one.
    fn add(
        &mut self,
        module: &Module,
        holder: OpId,
        region: RegionId,
        kind: BodyKind,
        problems: &mut Vec<Problem>,
    ) -> Option<BodyId> {
        match *module.blocks(region) {
            [] => None,
            [block] => {
                let last = module.last_op(block);
                if let Some(last) = last.filter(|last| !ends_body(module, *last)) {
                    let message = "ends a body but is not declared as a terminator, so its effect \
                                   on results is unknown";
                    problems.push(problem(module, last, message));
                }
                Some(self.all.push(Body {
                    holder,
                    block,
                    num_arguments: module.block_arguments(block).len(),
                    kind,
                    position: 0,
                    has_one_chain: false,
                    is_root: false,
                }))
            }
            _ => {
                let message = "has several blocks, but chains can be threaded through a single \
                               block only";
                problems.push(problem(module, holder, message));
                None
            }
        }
    }

    fn look_at_op(
        &mut self,
        module: &Module,
        op: OpId,
        func: OpId,
        chain: TypeId,
        references: &mut References,
        problems: &mut Vec<Problem>,
    ) {
        let is_sync = module.has_attr(func, SYNC_ATTRIBUTE);
        let Some(def) = module.op_def(op) else {
            if !is_sync && !takes_chain(module, op, chain) && !gives_chain(module, op, chain) {
                let message = "is not declared, so its effects are unknown";
                problems.push(problem(module, op, message));
            }
            return;
        };
        if is_sync {
            return;
        }
        let flow = Flow::of(def);
        let mut runs = Runs {
            flow,
            targets: Vec::new(),
            others: Vec::new(),
        };
        for (name, value) in module.attributes(op) {
            let name = module.name(*name);
            let is_declared = def
                .functions
                .iter()
                .any(|function| function.form != FunctionForm::Region && function.name == name);
            let found = references.of_attribute(module, op, *value);
            let targets = found.into_iter().map(|func| self.target(func));
            if is_declared && flow.is_some() {
                runs.targets.extend(targets);
            } else {
                runs.others.extend(targets);
            }
        }
        if !module.is_isolated(op) && reaches_out(module, op) {
            let message = "has a region that uses values from outside of the region";
            problems.push(problem(module, op, message));
        }
        for &region in module.regions(op) {
            let body = self.add(module, op, region, BodyKind::Region, problems);
            let target = body.map(Target::Body);
            match flow {
                Some(_) => runs.targets.extend(target),
                None => runs.others.extend(target),
            }
        }
        if flow == Some(Flow::Parallel) {
            for target in &runs.targets {
                if let Target::Body(body) = *target {
                    self.all[body].position = NUM_INDICES.min(self.all[body].num_arguments);
                    self.all[body].has_one_chain = true;
                }
            }
        }
        if !runs.targets.is_empty() || !runs.others.is_empty() {
            self.runs.insert(op, runs);
        }
    }

    /// Aligns the positions of chains in the bodies that one op runs. Returns `true` if anything
    /// changed.
    fn align_chains(&mut self) -> bool {
        let mut has_changed = false;
        for runs in self.runs.values() {
            let targets = runs.targets.iter().filter_map(|target| match target {
                Target::Body(body) => Some(*body),
                Target::Native(_) => None,
            });
            let places = |body: &Body| (body.position, body.has_one_chain);
            let Some(common) = targets.clone().map(|body| places(&self.all[body])).max() else {
                continue;
            };
            for body in targets {
                let body = &mut self.all[body];
                has_changed |= places(body) != common;
                (body.position, body.has_one_chain) = common;
            }
        }
        has_changed
    }

    fn target(&self, func: OpId) -> Target {
        match self.of_function.get(&func) {
            Some(&body) => Target::Body(body),
            None => Target::Native(func),
        }
    }
}

/// An error about an op.
#[derive(Debug)]
pub(super) struct Problem {
    pub(super) op: OpId,
    pub(super) finding: Diagnostic,
}

/// Returns an error about an op, whose message starts with its name.
pub(super) fn problem(module: &Module, op: OpId, message: impl AsRef<str>) -> Problem {
    Problem {
        op,
        finding: OpDiagnostics { shows_op: false }.op_error(module, op, message),
    }
}

/// Returns the functions of the program, in order, without those of compiled modules.
fn functions(module: &Module, root: OpId) -> Vec<OpId> {
    let mut found = Vec::new();
    let mut pending = vec![root];
    while let Some(op) = pending.pop() {
        if module.is_func(op) {
            found.push(op);
        } else if module.is_module(op) && !module.has_attr(op, COMPILED_ATTRIBUTE) {
            let blocks = module
                .regions(op)
                .iter()
                .flat_map(|region| module.blocks(*region));
            let ops: Vec<OpId> = blocks
                .flat_map(|block| module.block_ops(*block))
                .copied()
                .collect();
            pending.extend(ops.into_iter().rev());
        }
    }
    found
}

/// Returns `true` if anything inside the regions of an op uses a value that is defined outside of
/// them.
fn reaches_out(module: &Module, op: OpId) -> bool {
    let inner = &module.walk(op)[1..];
    let regions: HashSet<RegionId> = std::iter::once(&op)
        .chain(inner)
        .flat_map(|op| module.regions(*op))
        .copied()
        .collect();
    inner.iter().any(|inner| {
        module.operands(*inner).iter().any(|value| {
            let block = module.value_block(*value);
            block.is_none_or(|block| !regions.contains(&module.block_region(block)))
        })
    })
}

/// Returns `true` if the op ends its body.
pub(super) fn ends_body(module: &Module, op: OpId) -> bool {
    has_traits(module, op, OpTraits::TERMINATOR)
}
