//! The foundation of all other crates: typed ids and dense maps, element types, locations, errors
//! and diagnostics.
//!
//! This crate does not perform I/O, and does not depend on kernels, files or threads.
#![forbid(unsafe_code)]

pub mod entity;

mod dtype;

mod metadata;

pub mod complex;

pub mod float_text;

pub mod rounding;

pub mod share;

pub mod small_float;

mod place;

mod function_kind;

pub mod escape;

mod error;

mod diagnostic;

pub mod nearest;

pub mod fnv;

pub mod id_map;

pub mod name_table;

pub use diagnostic::{
    Diagnostic, DiagnosticSink, Diagnostics, Severity, diagnostic_excerpt, render_diagnostics,
};
pub use dtype::DType;
pub use error::{Error, ErrorCode, IntoError};
pub use function_kind::FunctionKind;
pub use metadata::{Extents, TensorMetadata};
pub use place::Place;
