//! The rewrites, one file for each kind.
//!
//! A stage is rewritten together with the stage below it, so one walk in program order is enough:
//! what stands below a stage has been rewritten before. Each rewrite removes a stage, except for
//! those that only change its op.

mod filters;

mod maps;

mod no_ops;

mod prefetches;

use tfrt_ir::{Module, OpId};

use crate::functions::Functions;

/// What [`optimize`] may do.
///
/// ```
/// use tfrt_data_compiler::OptimizeDataOptions;
///
/// assert_eq!(OptimizeDataOptions::default().num_parallel, None);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OptimizeDataOptions {
    /// Maps with pure functions become parallel maps with this number of calls at a time, where -1
    /// is a number that is found by experiment. Without it, maps stay as they are: a call of a
    /// cheap function is faster than a task.
    pub num_parallel: Option<i64>,
}

/// What became of a stage.
enum Rewritten {
    Unchanged,
    /// The op is gone: its users use what it drew from.
    Removed,
    /// Another op is in its place.
    Replaced(OpId),
}

impl From<Option<OpId>> for Rewritten {
    fn from(replaced: Option<OpId>) -> Self {
        replaced.map_or(Self::Unchanged, Self::Replaced)
    }
}

type Rewrite = fn(&mut Module, &mut Functions, OpId) -> Rewritten;

/// Rewrites that leave fewer stages.
const MERGES: [Rewrite; 4] = [
    no_ops::remove,
    prefetches::merge,
    maps::merge,
    filters::merge,
];

/// Rewrites the pipelines of the functions in a module.
///
/// Cost: linear in the size of the module, since the size of merged functions is limited.
///
/// ```
/// use std::sync::Arc;
/// use tfrt::prelude::*;
/// use tfrt::text::ir::{PrintOptions, print};
/// use tfrt_data_compiler::{OptimizeDataOptions, optimize};
///
/// tfrt::link!(tfrt_kernels);
///
/// let source = r#"
/// func @all(%d: !tfrt_data.dataset) -> !tfrt_data.dataset {
///   %one = tfrt.constant.i64 1
///   %r = tfrt_data.repeat_dataset %d, %one
///   tfrt.return %r : !tfrt_data.dataset
/// }
/// "#;
/// let kernels = Arc::new(KernelRegistry::from_link()?);
/// let mut module = tfrt::text::parse_program(source, "all.mlir", &kernels)?;
/// let root = module.root();
/// optimize(&mut module, root, OptimizeDataOptions::default());
/// assert!(!print(&module, &PrintOptions::default()).contains("repeat_dataset"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn optimize(module: &mut Module, root: OpId, options: OptimizeDataOptions) {
    let mut functions = Functions::new(module, root);
    for op in module.walk(root) {
        let mut stage = Some(op);
        while let Some(op) = stage.take() {
            for rewrite in MERGES {
                match rewrite(module, &mut functions, op) {
                    Rewritten::Unchanged => continue,
                    Rewritten::Removed => {}
                    Rewritten::Replaced(next) => stage = Some(next),
                }
                break;
            }
        }
    }
    for op in module.walk(root) {
        let mut batch = Some(op);
        // Below a batch that moved down, there may be another such map.
        while let Some(op) = batch.take() {
            let map = maps::vectorize(module, &mut functions, op);
            let batches = map.and_then(|map| module.operands(map).first().copied());
            batch = batches.and_then(|batches| module.defining_op(batches));
        }
    }
    if let Some(num_parallel) = options.num_parallel {
        for op in module.walk(root) {
            maps::parallelize(module, &mut functions, op, num_parallel);
        }
    }
    for op in module.walk(root) {
        maps::merge_into_batch(module, &mut functions, op);
    }
}
