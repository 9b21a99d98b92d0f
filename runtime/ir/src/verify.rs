//! The rules of a well-formed program.
//!
//! For every op, in this order; isolated ops are checked after all other ops of their region:
//! - V1: it satisfies its declaration ([`tfrt_ods::verify::verify_op`]), except for chains if the
//!   module [omits them](Module::leaves_out_chains); functions and modules have consistent names,
//!   types and one region, and the symbols of a module have distinct names;
//! - V2: an op declared to end its block is the last one in it;
//! - V3: the contents of an isolated op use no value from outside;
//! - V4: only the last op of a block has successors, and they are blocks of the same region;
//! - V5: a block ends in an op that may end one, except the only block of a region of a module or
//!   of an unknown op;
//! - V6: the first block of a region has no predecessors;
//! - V7: an undeclared op is in a dialect that allows undeclared ops;
//! - V8: a value is defined before it is used, on every path to the use.
//!
//! A run reports all violations, or stops at the first one, as tools do. Messages and order are
//! those of MLIR.

mod builtin;

mod dominance;

pub(crate) mod instance;

use std::cell::RefCell;

use tfrt_ods::verify::{Breach, BreachSite, verify_op, verify_op_without_chains};
use tfrt_support::Diagnostic;

use crate::diagnose::OpDiagnostics;
use crate::module::{BlockId, Module, OpId};
use crate::symbols::SymbolTable;
use dominance::Dominance;
use instance::{Instance, is_terminator};

/// Options of the verifier.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VerifyOptions {
    /// `true` to stop at the first violation.
    pub stops_at_first: bool,
    /// `true` to show the op that violates a rule in a note.
    pub shows_op: bool,
    /// `true` to reject an attribute that its op does not declare, has no dialect prefix, and is
    /// not similar to a declared one. Tools that read and write programs accept it, like those of
    /// MLIR; running a program reports it.
    pub refuses_stray_attributes: bool,
}

impl Default for VerifyOptions {
    /// The options of tools: stop at the first violation, with a note.
    fn default() -> Self {
        Self {
            stops_at_first: true,
            shows_op: true,
            refuses_stray_attributes: false,
        }
    }
}

/// Returns the rule violations of a program, in order; empty if it is well formed.
///
/// ```
/// use std::sync::Arc;
/// use tfrt_ir::{ParseOptions, Registry, VerifyOptions, parse, verify};
///
/// let source = "func private @f()\nfunc private @f()\n";
/// let module = parse(source, "f.mlir", &Arc::new(Registry::default()), &ParseOptions::default()).unwrap();
/// let errors = verify(&module, &VerifyOptions::default());
/// assert_eq!(errors[0].to_string(), "f.mlir:2:1: error: redefinition of symbol named 'f'");
/// ```
#[must_use]
pub fn verify(module: &Module, options: &VerifyOptions) -> Vec<Diagnostic> {
    let mut verifier = Verifier {
        module,
        options: *options,
        diagnostics: Vec::new(),
        symbols: RefCell::default(),
        dominance: Dominance::new(module),
    };
    // The contents of an isolated op are checked separately, after everything around it.
    let mut pending = vec![module.root()];
    while let Some(op) = pending.pop() {
        let mut isolated = Vec::new();
        verifier.op(op, &mut isolated);
        if verifier.is_done() {
            break;
        }
        verifier.dominance_inside(op);
        if verifier.is_done() {
            break;
        }
        pending.extend(isolated.into_iter().rev());
    }
    if options.stops_at_first {
        verifier.diagnostics.truncate(1);
    }
    verifier.diagnostics
}

struct Verifier<'a> {
    module: &'a Module,
    options: VerifyOptions,
    diagnostics: Vec<Diagnostic>,
    symbols: RefCell<SymbolTable>,
    dominance: Dominance<'a>,
}

impl Verifier<'_> {
    fn is_done(&self) -> bool {
        self.options.stops_at_first && !self.diagnostics.is_empty()
    }

    fn diagnose(&self) -> OpDiagnostics {
        OpDiagnostics {
            shows_op: self.options.shows_op,
        }
    }

    fn error(&mut self, op: OpId, message: impl Into<String>) {
        self.diagnostics
            .push(self.diagnose().error(self.module, op, message));
    }

    fn op_error(&mut self, op: OpId, message: impl AsRef<str>) {
        self.diagnostics
            .push(self.diagnose().op_error(self.module, op, message));
    }

    /// Checks V1 to V7 for an op and its contents, except for those of isolated ops.
    fn op(&mut self, op: OpId, isolated: &mut Vec<OpId>) {
        let module = self.module;
        self.invariants(op);
        if self.is_done() {
            return;
        }
        for &region in module.regions(op) {
            let blocks = module.blocks(region);
            if blocks
                .first()
                .is_some_and(|entry| self.dominance.has_predecessors(*entry))
            {
                let place = module.place(module.op_location(op));
                self.diagnostics.push(Diagnostic::error(
                    place,
                    "entry block of region may not have predecessors",
                ));
            }
            for &block in blocks {
                self.block(op, block, blocks.len(), isolated);
                if self.is_done() {
                    return;
                }
            }
        }
        if module.op_def(op).is_none() && !module.is_func(op) && !module.is_module(op) {
            self.unknown_op(op);
        }
    }

    fn invariants(&mut self, op: OpId) {
        let module = self.module;
        if is_terminator(module, op)
            && module
                .op_block(op)
                .is_some_and(|block| module.last_op(block) != Some(op))
        {
            self.op_error(op, "must be the last operation in the parent block");
        }
        if module.is_isolated(op) {
            self.isolation(op);
        }
        if module.is_func(op) {
            builtin::func(self, op);
        } else if module.is_module(op) {
            builtin::module(self, op);
        } else if let Some(def) = module.op_def(op) {
            let instance = Instance {
                module,
                op,
                symbols: &self.symbols,
            };
            let breaches = if module.leaves_out_chains() {
                verify_op_without_chains(def, &instance)
            } else {
                verify_op(def, &instance)
            };
            for breach in breaches {
                if self.options.refuses_stray_attributes || !breach.is_stray_attribute {
                    self.breach(op, &breach);
                }
            }
        }
    }

    fn breach(&mut self, op: OpId, breach: &Breach) {
        let module = self.module;
        let site = match breach.at {
            BreachSite::Op => op,
            BreachSite::Return(region) => module
                .regions(op)
                .get(region)
                .and_then(|region| module.blocks(*region).last())
                .and_then(|block| module.last_op(*block))
                .unwrap_or(op),
        };
        if breach.is_plain {
            self.error(site, &*breach.message);
        } else {
            self.op_error(site, &breach.message);
        }
    }

    /// V3.
    fn isolation(&mut self, op: OpId) {
        let module = self.module;
        for &outermost in module.regions(op) {
            let mut pending = vec![outermost];
            while let Some(region) = pending.pop() {
                for &inner in module
                    .blocks(region)
                    .iter()
                    .flat_map(|block| module.block_ops(*block))
                {
                    let reaches_out = module.operands(inner).iter().any(|value| {
                        module.value_block(*value).is_none_or(|block| {
                            !self
                                .dominance
                                .is_inside(module.block_region(block), outermost)
                        })
                    });
                    if reaches_out {
                        let note = module.place(module.op_location(op));
                        let error = self
                            .diagnose()
                            .op_error(module, inner, "using value defined outside the region")
                            .with_note(note, "required by region isolation constraints");
                        self.diagnostics.push(error);
                    }
                    if !module.is_isolated(inner) {
                        pending.extend(module.regions(inner));
                    }
                }
            }
        }
    }

    /// Checks V4 and V5, and the ops of a block.
    fn block(&mut self, parent: OpId, block: BlockId, siblings: usize, isolated: &mut Vec<OpId>) {
        let module = self.module;
        let needs_terminator =
            siblings != 1 || module.is_func(parent) || module.op_def(parent).is_some();
        let Some(last) = module.last_op(block) else {
            if needs_terminator {
                let place = module.place(module.op_location(parent));
                self.diagnostics.push(Diagnostic::error(
                    place,
                    "empty block: expect at least a terminator",
                ));
            }
            return;
        };
        for &op in module.block_ops(block) {
            if !module.successors(op).is_empty() && op != last {
                self.error(
                    op,
                    "operation with block successors must terminate its parent block",
                );
            }
            if !module.regions(op).is_empty() && module.is_isolated(op) {
                isolated.push(op);
            } else {
                self.op(op, isolated);
            }
            if self.is_done() {
                return;
            }
        }
        let region = module.block_region(block);
        if module
            .successors(last)
            .iter()
            .any(|successor| module.block_region(*successor) != region)
        {
            self.op_error(last, "branching to block of a different region");
        }
        let may_end_block = match module.op_def(last) {
            Some(_) => is_terminator(module, last),
            None => !module.is_func(last) && !module.is_module(last),
        };
        if needs_terminator && !may_end_block {
            let text = crate::print::print_op(
                module,
                last,
                &crate::PrintOptions {
                    elide_large_elements: true,
                    ..crate::PrintOptions::default()
                },
            );
            self.error(last, format!("block with no terminator, has {text}"));
        }
    }

    /// V7.
    fn unknown_op(&mut self, op: OpId) {
        let name = self.module.op_name(op);
        let dialect = name.split_once('.').map_or(name, |(dialect, _)| dialect);
        if self
            .module
            .registry()
            .dialect(dialect)
            .is_some_and(|dialect| !dialect.allows_unknown_ops)
        {
            let message = format!(
                "unregistered operation '{name}' found in dialect ('{dialect}') that does not \
                 allow unknown operations"
            );
            self.error(op, message);
        }
    }

    /// Checks V8 inside an op, except inside isolated ops in it.
    fn dominance_inside(&mut self, op: OpId) {
        let module = self.module;
        let mut pending = vec![op];
        let mut inner_ops = Vec::new();
        while let Some(op) = pending.pop() {
            for &block in module
                .regions(op)
                .iter()
                .flat_map(|region| module.blocks(*region))
            {
                let is_reachable = self.dominance.is_reachable(block);
                for &inner in module.block_ops(block) {
                    if is_reachable {
                        for (number, &value) in module.operands(inner).iter().enumerate() {
                            if !self.dominance.properly_dominates(value, inner) {
                                self.late_definition(inner, number);
                                if self.is_done() {
                                    return;
                                }
                            }
                        }
                    }
                    if !module.is_isolated(inner) && !module.regions(inner).is_empty() {
                        inner_ops.push(inner);
                    }
                }
            }
            pending.extend(inner_ops.drain(..).rev());
        }
    }

    fn late_definition(&mut self, op: OpId, operand: usize) {
        let module = self.module;
        let value = module.operands(op)[operand];
        let error = self.diagnose().error(
            module,
            op,
            format!("operand #{operand} does not dominate this use"),
        );
        let here = module.op_block(op).map(|block| module.block_region(block));
        let error = match (here, module.value_block(value)) {
            (Some(here), Some(block)) => {
                let there = module.block_region(block);
                let (definer, mut note) = match module.defining_op(value) {
                    Some(definer) => (Some(definer), "operand defined here".to_owned()),
                    None => {
                        let number = module
                            .blocks(there)
                            .iter()
                            .position(|other| *other == block)
                            .unwrap_or(0);
                        let note = format!("operand defined as a block argument (block #{number}");
                        (module.region_op(there), note)
                    }
                };
                let is_op = module.defining_op(value).is_some();
                note.push_str(
                    match (
                        is_op,
                        self.relation(here, there, module.op_block(op) == Some(block)),
                    ) {
                        (true, Relation::SameBlock) => " (op in the same block)",
                        (true, Relation::SameRegion) => " (op in the same region)",
                        (true, Relation::Parent) => " (op in a parent region)",
                        (true, Relation::Child) => " (op in a child region)",
                        (true, Relation::None) => {
                            " (op is neither in a parent nor in a child region)"
                        }
                        (false, Relation::SameBlock | Relation::SameRegion) => {
                            " in the same region)"
                        }
                        (false, Relation::Parent) => " in a parent region)",
                        (false, Relation::Child) => " in a child region)",
                        (false, Relation::None) => " neither in a parent nor in a child region)",
                    },
                );
                let place = definer
                    .map(|op| module.place(module.op_location(op)))
                    .unwrap_or_default();
                error.with_note(place, note)
            }
            _ => error,
        };
        self.diagnostics.push(error);
    }

    fn relation(
        &self,
        here: crate::RegionId,
        there: crate::RegionId,
        is_same_block: bool,
    ) -> Relation {
        if is_same_block {
            Relation::SameBlock
        } else if here == there {
            Relation::SameRegion
        } else if self.dominance.is_inside(here, there) {
            Relation::Parent
        } else if self.dominance.is_inside(there, here) {
            Relation::Child
        } else {
            Relation::None
        }
    }
}

/// The relation of the region of a definition to that of a use.
enum Relation {
    SameBlock,
    SameRegion,
    Parent,
    Child,
    None,
}

#[cfg(test)]
mod tests;
