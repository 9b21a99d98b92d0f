//! The foundation of all other crates: typed ids and dense maps, element types, locations, errors and diagnostics.
//!
//! This crate does not perform I/O, and does not depend on kernels, files or threads.
#![forbid(unsafe_code)]

pub mod entity;

pub mod dtype;

pub mod metadata;

pub mod complex;

pub mod float_text;

pub mod place;

pub mod function_kind;

pub mod escape;

pub mod error;

pub mod diagnostic;

pub mod nearest;

pub mod name_table;

pub use diagnostic::{Diagnostic, Diagnostics, Severity};
pub use dtype::DType;
pub use error::{Error, ErrorCode};
pub use function_kind::FunctionKind;
pub use metadata::TensorMetadata;
pub use place::Place;
