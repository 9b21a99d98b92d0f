//! Functions of programs as ops.
//!
//! A function from tensor handles to tensor handles can be called like any op. The first call with
//! operands of given metadata on given devices *instantiates* it: the metadata of its tensors is
//! inferred, unused ops are removed, every op is placed, the function is split by devices, and ops
//! become kernels. Later calls with such metadata and devices run the result: without handlers,
//! without decoding attributes, and without handles in between.
//!
//! ```text
//!  text or BEF ──► FunctionProgram ── function_op ──► ReadyOp ── call ──► handles
//!                                                       │ first call with such metadata and devices
//!   expand calls ► canonicalize ► infer metadata ► prune ► rewrite ► place ► partition ► lower ► load
//! ```
//!
//! | step | what it does |
//! |---|---|
//! | `calls` | replaces calls of functions by their bodies |
//! | `infer` | infers the metadata of tensors before anything runs |
//! | `known` | holds that metadata |
//! | [`prune()`] | removes ops whose results are unused |
//! | [`rewrite`](mod@rewrite) | replaces ops by others that compute the same with less work |
//! | [`place()`] | chooses the device of every op |
//! | [`partition()`] | splits a function into one for each device, with edges between them |
//! | [`lower()`] | replaces ops by kernels |
//! | [`instance`] | keeps a function that is ready to run |
//! | `program` | holds the program that functions are taken from |
//!
//! Each step is a pass of `tfrt opt`, so it can be seen and tested as text:
//! `--corert-expand-calls`, `--corert-infer-metadata`, `--corert-prune`, `--corert-rewrite`,
//! `--corert-place`, `--corert-partition` and `--corert-lower`. `--corert-explain-placement`
//! reports why each op is on its device, and `--corert-explain-rewrites` rewrites and reports which
//! rule applied where; with `rules=a,b`, both passes apply the rules of these names alone. The
//! passes know the ops that are linked into the program.
//!
//! Unlike other passes, these know ops by name: those of the Core Runtime's dialect.
#![forbid(unsafe_code)]

mod names;

mod metadata;

mod call;

mod calls;

mod known;

mod infer;

mod prune;

pub mod rewrite;

mod costs;

mod place;

mod partition;

mod lower;

pub mod instance;

mod program;

use std::sync::OnceLock;

use tfrt_compiler::passes::{Pass, PassOptions, PassScope};
use tfrt_core::{OpRegistration, OpRegistry};
use tfrt_host::kernel::KernelRegistry;

pub use calls::{MAX_CALL_DEPTH, MAX_EXPANDED_OPS, expand_calls};
pub use infer::infer_metadata;
pub use lower::lower;
pub use partition::partition;
pub use place::{explain_placement, place};
pub use program::{FunctionOps, FunctionProgram};
pub use prune::prune;

/// What `rewrite!` writes names of. No part of the public interface: it changes with the macro.
#[doc(hidden)]
pub mod __private {
    pub use inventory::submit;
    pub use std::{concat, file, line, stringify};
    pub use tfrt_ods::SourcePlace;

    /// Returns the text of a documentation comment without the blank that it begins with.
    #[must_use]
    pub const fn without_blank(doc: &'static str) -> &'static str {
        match doc.as_bytes() {
            [b' ', rest @ ..] => match std::str::from_utf8(rest) {
                Ok(text) => text,
                Err(_) => doc,
            },
            _ => doc,
        }
    }
}

/// Returns the ops that are linked, for passes. A program with two kernels of one name has none:
/// every tool refuses it before.
fn linked_ops() -> &'static OpRegistry {
    static OPS: OnceLock<OpRegistry> = OnceLock::new();
    OPS.get_or_init(|| {
        let kernels = KernelRegistry::from_link().unwrap_or_default();
        OpRegistry::new(OpRegistration::linked(), &kernels)
    })
}

/// Returns a pass on functions.
const fn pass(name: &'static str, summary: &'static str, run: Run) -> Pass {
    Pass {
        name,
        summary,
        scope: PassScope::Function,
        fills_in_chains: false,
        options: &[],
        run,
    }
}

type Run = fn(&mut tfrt_ir::Module, tfrt_ir::OpId, &PassOptions) -> Vec<tfrt_support::Diagnostic>;

inventory::submit! {
    pass(
        "corert-expand-calls",
        "Inline functions that are called as ops",
        |module, func, _| expand_calls(module, func, linked_ops()),
    )
}

inventory::submit! {
    pass(
        "corert-infer-metadata",
        "Infer the shapes and element types of the results of ops",
        |module, func, _| infer_metadata(module, func, linked_ops()),
    )
}

inventory::submit! {
    pass(
        "corert-prune",
        "Remove ops that no result and no effect depends on",
        |module, func, _| {
            prune(module, func, linked_ops());
            Vec::new()
        },
    )
}

inventory::submit! {
    Pass {
        options: &["rules"],
        ..pass(
            "corert-rewrite",
            "Replace ops with cheaper equivalents, by all rules or by those that are named",
            |module, func, options| match rewrite::Rule::named(options.list("rules")) {
                Ok(rules) => rewrite::rewrite(module, func, linked_ops(), &rules),
                Err(unknown) => vec![*unknown],
            },
        )
    }
}

inventory::submit! {
    Pass {
        options: &["rules"],
        ..pass(
            "corert-explain-rewrites",
            "Like --corert-rewrite, and report each applied rule as a remark",
            |module, func, options| match rewrite::Rule::named(options.list("rules")) {
                Ok(rules) => rewrite::explain_rewrites(module, func, linked_ops(), &rules),
                Err(unknown) => vec![*unknown],
            },
        )
    }
}

inventory::submit! {
    pass(
        "corert-place",
        "Choose a device for each op",
        |module, func, _| place(module, func, linked_ops()),
    )
}

inventory::submit! {
    pass(
        "corert-explain-placement",
        "Report the device of each op and the reason as a remark",
        |module, func, _| explain_placement(module, func, linked_ops()),
    )
}

inventory::submit! {
    Pass {
        scope: PassScope::Module,
        ..pass(
            "corert-partition",
            "Split functions by the devices of ops",
            |module, root, _| {
                let functions: Vec<_> = module.walk(root);
                let functions = functions.into_iter().filter(|&op| module.is_func(op));
                let functions: Vec<_> = functions.collect();
                functions
                    .into_iter()
                    .flat_map(|func| partition(module, func, linked_ops()))
                    .collect()
            },
        )
    }
}

inventory::submit! {
    pass(
        "corert-lower",
        "Replace calls of core runtime ops with their kernels",
        |module, func, _| lower(module, func, linked_ops()),
    )
}
