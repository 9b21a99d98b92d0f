//! Passes that make the input pipelines of programs faster.
//!
//! ```text
//!   %m = tfrt_data.map_dataset %d { function = @f }          %m = tfrt_data.map_dataset %d { function = @f.g }
//!   %n = tfrt_data.map_dataset %m { function = @g }    ──►
//!   %s = tfrt_data.skip_dataset %n, %zero                    the users of %s use %m
//! ```
//!
//! Link the crate to make the pass `optimize-data` available, as the tool `tfrt` does.
//!
//! | rewrite | does |
//! |---|---|
//! | no-ops | removes stages that deliver what they draw: `skip` 0, `repeat` 1, `take` of everything, `prefetch` 0, one shard |
//! | prefetches | merges two prefetches, one above the other |
//! | map fusion | merges two maps: one function calls both |
//! | filter fusion | merges two filters: the second predicate is asked only if the first one holds |
//! | map and batch | merges a map and the batch above it, if ends do not matter to its function |
//! | whole batches | moves a map above the batch above it, if its function says that it is elementwise |
//! | parallel calls | with the option `parallel=N`, maps become parallel maps |
//!
//! # What stays the same
//!
//! The elements, their order, their errors and the end. A checkpoint can be taken at every
//! position, and delivers the same rest; since a checkpoint belongs to a pipeline with the same
//! stages, one that was taken before the pass is refused behind it, with the first stage that
//! differs.
//!
//! A function of tensors is *elementwise* if each element of its results depends on the elements at
//! the same place of its arguments alone, and errors do not depend on shapes. The attribute
//! `tfrt_data.elementwise` says so:
//!
//! ```text
//!   func @brighter(%image: !t.tensor) -> !t.tensor attributes {tfrt_data.elementwise} { … }
//! ```
//!
//! With `parallel`, a map draws elements ahead. So the effects of functions below it happen
//! earlier, and also for elements that nobody asks for.
//!
//! Functions are merged or called in another order only if all of their ops are declared pure: a
//! function that prints is called as before, also for the end of a sequence. Stages with a policy
//! for errors stay apart from those above them, since the policy must not see other errors. A
//! shuffle and a repeat are never exchanged, as the order of elements depends on which one comes
//! first.
#![forbid(unsafe_code)]

mod rewrites;

mod functions;

mod stage;

use tfrt_compiler::passes::{Pass, PassScope};
use tfrt_support::Diagnostic;

pub use rewrites::{OptimizeDataOptions, optimize};

/// The name of the option for the number of parallel calls.
const PARALLEL: &str = "parallel";

inventory::submit! {
    Pass {
        name: "optimize-data",
        summary: "Merge and remove stages of input pipelines",
        scope: PassScope::Module,
        fills_in_chains: false,
        options: &[PARALLEL],
        run: |module, root, options| {
            let num_parallel = match options.get(PARALLEL).map(str::parse::<i64>) {
                None => None,
                Some(Ok(num @ (-1 | 1..))) => Some(num),
                Some(_) => {
                    let found = options.get(PARALLEL).unwrap_or_default();
                    let message = format!(
                        "expected -1 or a positive number as the option `{PARALLEL}`, found `{found}`"
                    );
                    let place = module.place(module.op_location(root));
                    return vec![Diagnostic::error(place, message)];
                }
            };
            optimize(module, root, OptimizeDataOptions { num_parallel });
            Vec::new()
        },
    }
}
