//! What the importers of models share.
//!
//! An importer reads a model file of another system and makes a program of our ops. This crate has what does not depend on the
//! system that the file comes from:
//!
//! | module | is about |
//! |---|---|
//! | `limits` | how large the parts of a file may be |
//! | [`names`] | names from files, in messages |
//! | `error` | what is wrong with a model, and where |
//! | [`report`] | what an import does not support |
//! | [`program`] | programs of ops, as importers write them |
//! | `session` | a program with its weights, ready to be run |
//!
//! Nothing here knows a file format.
#![forbid(unsafe_code)]

mod limits;

pub mod names;

mod error;

pub mod report;

pub mod program;

mod session;

use std::sync::Arc;

use tfrt_host::allocator::{HostAllocator, Malloc};

pub use error::ImportError;
pub use limits::{Limit, Limits};
pub use session::{ModelValue, Session};

/// Memory of the process.
fn malloc() -> Arc<dyn HostAllocator> {
    Arc::new(Malloc)
}
