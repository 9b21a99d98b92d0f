//! Passes: edits of a program that preserve its behaviour.
//!
//! A pass is a file in this folder with one public function over the op that it edits. Its header
//! states what the pass expects, what it does and what it costs. [`PASSES`] lists the passes by
//! name, and a [`Pipeline`] is a sequence of them, as given on a command line. Between two passes
//! the program is verified, always in debug builds and otherwise on request.
//!
//! Every pass preserves the order that data flow, chains and declared effects imply. No pass of
//! this crate knows an op by its name.

mod canonicalize;

mod cse;

mod inline;

mod thread_chains;

mod references;

mod availability;

mod options;

mod pipeline;

use tfrt_ir::{Module, OpId};
use tfrt_ods::{Arity, OpDef, OpTraits};
use tfrt_support::{Diagnostic, Diagnostics};

use crate::stream_analysis::print_function_streams;

pub use canonicalize::canonicalize;
pub use cse::merge_equal_ops;
pub use inline::clone_body;
pub use inline::{MAX_GROWTH_OPS, MAX_TOTAL_GROWTH, MAX_TOTAL_GROWTH_OPS, inline};
pub use options::PassOptions;
pub use pipeline::{PIPELINE_SOURCE, Pipeline};
pub use thread_chains::thread_chains;

inventory::collect!(Pass);

/// The passes of this crate, in order of their names. [`Pass::all`] also has those of other crates.
pub const PASSES: &[Pass] = &[
    Pass {
        name: "canonicalize",
        summary: "Remove unused ops and fold constants",
        scope: PassScope::Op,
        fills_in_chains: false,
        options: &[],
        run: |module, op, _| {
            canonicalize(module, op);
            Vec::new()
        },
    },
    Pass {
        name: "cse",
        summary: "Merge pure ops that are equal, and remove unused ones",
        scope: PassScope::Op,
        fills_in_chains: false,
        options: &[],
        run: |module, op, _| {
            merge_equal_ops(module, op);
            Vec::new()
        },
    },
    Pass {
        name: "inline",
        summary: "Replace calls with the bodies of the called functions",
        scope: PassScope::Module,
        fills_in_chains: false,
        options: &[],
        run: |module, op, _| inline(module, op),
    },
    Pass {
        name: "tfrt-print-stream",
        summary: "Report the stream and cost of each op as a remark",
        scope: PassScope::Function,
        fills_in_chains: false,
        options: &[],
        run: |module, func, _| print_function_streams(module, func),
    },
    Pass {
        name: "thread-chains",
        summary: "Add chains that keep program order to a program without chains",
        scope: PassScope::Module,
        fills_in_chains: true,
        options: &[],
        run: |module, op, _| {
            let found = thread_chains(module, op).err();
            found.map(Diagnostics::into_vec).unwrap_or_default()
        },
    },
];

/// A pass: its name and its function.
///
/// ```
/// use tfrt_compiler::passes::{PASSES, Pass};
///
/// assert!(Pass::find("inline").is_some() && Pass::find("outline").is_none());
/// assert!(PASSES.is_sorted_by_key(|pass| pass.name));
/// ```
///
/// Other crates submit passes of their own to `inventory`; every program that they are linked into
/// has them.
#[derive(Clone, Copy, Debug)]
pub struct Pass {
    /// Its name in pipelines and, after two dashes, on command lines.
    pub name: &'static str,
    /// A short description of what it does.
    pub summary: &'static str,
    /// The part of the program that it runs on.
    pub scope: PassScope,
    /// Whether all ops have their chains afterwards, so that the program may be written without
    /// them.
    pub fills_in_chains: bool,
    /// The names of its options, as in `pass{option=value}`.
    pub options: &'static [&'static str],
    /// Edits everything inside an op, and returns diagnostics.
    pub run: fn(&mut Module, OpId, &PassOptions) -> Vec<Diagnostic>,
}

/// The part of a program that a pass runs on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PassScope {
    /// A module as a whole.
    Module,
    /// Each function separately.
    Function,
    /// Any op that contains others.
    Op,
}

impl Pass {
    /// Returns every linked pass, in order of the names.
    #[must_use]
    pub fn all() -> Vec<&'static Self> {
        let mut all: Vec<&Self> = PASSES.iter().chain(inventory::iter::<Self>).collect();
        all.sort_by_key(|pass| pass.name);
        all
    }

    /// Returns the pass of this name.
    #[must_use]
    pub fn find(name: &str) -> Option<&'static Self> {
        Self::all().into_iter().find(|pass| pass.name == name)
    }

    /// Runs on everything inside `op`, and returns diagnostics.
    fn run_on(&self, module: &mut Module, op: OpId, options: &PassOptions) -> Vec<Diagnostic> {
        if self.scope != PassScope::Function || module.is_func(op) {
            return (self.run)(module, op, options);
        }
        let functions: Vec<OpId> = module.walk(op);
        let functions = functions.into_iter().filter(|&op| module.is_func(op));
        let functions: Vec<OpId> = functions.collect();
        let findings = functions
            .into_iter()
            .map(|func| (self.run)(module, func, options));
        findings.flatten().collect()
    }
}

/// Returns `true` if the declaration of an op has all of these traits.
fn has_traits(module: &Module, op: OpId, traits: OpTraits) -> bool {
    module
        .op_def(op)
        .is_some_and(|def| def.traits.contains(traits))
}

/// Returns `true` if an op is given a chain that its declaration makes optional. The chain orders
/// the op, even if it is pure without one.
fn takes_optional_chain(module: &Module, op: OpId) -> bool {
    let Some(def) = module.op_def(op) else {
        return false;
    };
    let Some((operand, Arity::Optional)) = def.operand_groups().open() else {
        return false;
    };
    def.operands[operand].ty.is_chain() && module.operands(op).len() == def.operands.len()
}

/// Returns `true` if an op can be removed: nobody uses its results, and it has no effect.
fn is_unused(module: &Module, op: OpId) -> bool {
    let results = module.results(op);
    module.op_def(op).is_some_and(OpDef::is_removable)
        && !has_traits(module, op, OpTraits::TERMINATOR)
        && !takes_optional_chain(module, op)
        && results.iter().all(|result| module.uses(*result).len() == 0)
}
