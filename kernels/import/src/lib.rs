//! The common parts of all model importers.
//!
//! An importer reads a model file of another system and writes a program of our ops. This crate has
//! the parts that do not depend on that system:
//!
//! | module | contents |
//! |---|---|
//! | `limits` | limits on the sizes of parts of a file |
//! | [`names`] | names from files in messages |
//! | `error` | errors in models, with their locations |
//! | [`report`] | unsupported parts of a model |
//! | [`files`] | files next to a model or a program |
//! | `types` | the declared types of inputs |
//! | `dim_expr` | dimensions as expressions over symbols |
//! | `shapes` | the types of values that follow from those of the inputs |
//! | `memory` | how much memory intermediate results take |
//! | `regions` | the parts of a program with channels last |
//! | [`program`] | programs of ops, as importers write them |
//! | [`rewrite`] | rewrites of programs: fusions, folded weights, layouts |
//! | `packing` | weights in the order in which kernels read them |
//! | `session` | a program with its weights, ready to run |
//! | [`stored`] | programs in files, which refer to their weights |
//! | `compare` | results and expected ones, for tests |
//!
//! No module here depends on a file format.
#![forbid(unsafe_code)]

mod limits;

pub mod names;

mod error;

pub mod report;

pub mod files;

mod types;

mod dim_expr;

mod shapes;

mod memory;

mod regions;

pub mod program;

pub mod rewrite;

mod packing;

mod session;

pub mod stored;

#[doc(hidden)]
pub mod compare;

use std::sync::Arc;

use tfrt_host::allocator::{HostAllocator, Malloc};

pub use dim_expr::DimExpr;
pub use error::ImportError;
pub use limits::{Limit, Limits};
pub use memory::ProgramMemory;
pub use packing::PackedForm;
pub use regions::LayoutRegion;
pub use session::{BoundRun, ModelValue, Session, StartedRun};
pub use shapes::InferredType;
pub use types::{InputDim, InputType, ListType};

/// Memory of the process.
fn malloc() -> Arc<dyn HostAllocator> {
    Arc::new(Malloc)
}
