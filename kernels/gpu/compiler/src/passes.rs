//! The passes, in the order in which [`PIPELINE`] runs them.
//!
//! | pass | does |
//! |---|---|
//! | [`streamify_ops`] | wraps ops of given names in `tfrt_gpu.streamify`; not part of the pipeline |
//! | [`functions`] | functions that work on a stream take a chain and the stream |
//! | [`tokens`] | tokens that enter or leave an `async.execute` become a chain and an event |
//! | [`ops`] | ops of `gpu` and `memref` become kernels |
//! | [`casts`] | the casts between tokens and their parts vanish, or record events |
//! | [`execute`] | `async.execute` becomes a kernel |
//! | [`hoisting`] | library handles are created once |
//! | [`entry_point`] | adds the function that describes the program; not part of the pipeline |
//!
//! Between the passes, casts hold both views of a token together:
//!
//! ```text
//!   chain, stream ──cast──► token      the work that the chain orders, on this stream
//!   chain, event  ──cast──► token      the work before the event
//! ```
//!
//! An op that a pass has to replace and cannot is an error, as in MLIR:
//! `failed to legalize operation`.

pub mod streamify_ops;

pub mod functions;

pub mod tokens;

pub mod ops;

pub mod casts;

pub mod execute;

pub mod hoisting;

pub mod entry_point;

mod edit;

mod modules;

mod views;

mod waits;

use tfrt_compiler::passes::{Pass, PassOptions, PassScope};
use tfrt_ir::{Module, OpDiagnostics, OpId};
use tfrt_support::Diagnostic;

/// The passes of the pipeline `--gpu-to-tfrt-gpu`.
pub const PIPELINE: &[Pass] = &[
    functions::PASS,
    tokens::PASS,
    ops::PASS,
    casts::PASS,
    execute::PASS,
    hoisting::PASS,
];

inventory::submit! { streamify_ops::PASS }
inventory::submit! { streamify_ops::OLDER_PASS }
inventory::submit! { functions::PASS }
inventory::submit! { tokens::PASS }
inventory::submit! { ops::PASS }
inventory::submit! { casts::PASS }
inventory::submit! { execute::PASS }
inventory::submit! { hoisting::PASS }
inventory::submit! { entry_point::PASS }
inventory::submit! { entry_point::OLDER_PASS }
inventory::submit! {
    Pass {
        name: "gpu-to-tfrt-gpu",
        summary: "Lower a program of MLIR's `gpu` and `async` dialects to GPU kernels",
        scope: PassScope::Module,
        run: |module, root, options| {
            let mut findings = Vec::new();
            for pass in PIPELINE {
                findings.extend(run(pass, module, root, options));
                if !findings.is_empty() {
                    break;
                }
            }
            findings
        },
        ..NO_PASS
    }
}

/// The base of the declarations of passes.
const NO_PASS: Pass = Pass {
    name: "",
    summary: "",
    scope: PassScope::Function,
    fills_in_chains: false,
    options: &[],
    run: |_, _, _| Vec::new(),
};

/// Runs a pass on a module, or on each of its functions.
fn run(pass: &Pass, module: &mut Module, root: OpId, options: &PassOptions) -> Vec<Diagnostic> {
    if pass.scope != PassScope::Function {
        return (pass.run)(module, root, options);
    }
    let functions: Vec<OpId> = module.walk(root);
    let functions = functions.into_iter().filter(|&op| module.is_func(op));
    let functions: Vec<OpId> = functions.collect();
    let findings = functions
        .into_iter()
        .flat_map(|func| (pass.run)(module, func, options));
    findings.collect()
}

/// Reports the first op that a pass should have replaced, with the reason if there is one.
fn illegal(
    module: &Module,
    root: OpId,
    is_illegal: impl Fn(&str) -> bool,
    reason: impl Fn(OpId) -> Option<&'static str>,
) -> Vec<Diagnostic> {
    let ops = module.walk(root).into_iter();
    let mut illegal = ops.filter(|&op| is_illegal(module.op_name(op)));
    let found = illegal.next().map(|op| {
        let name = module.op_name(op);
        let message =
            format!("failed to legalize operation '{name}' that was explicitly marked illegal");
        let error = OpDiagnostics { shows_op: true }.error(module, op, message);
        match reason(op) {
            Some(reason) => error.with_note(module.place(module.op_location(op)), reason),
            None => error,
        }
    });
    found.into_iter().collect()
}
