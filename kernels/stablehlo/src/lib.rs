//! Imports StableHLO programs as programs of our ops.
//!
//! ```text
//!  text ──parse──► HloModel ──inline, lower──► program of our ops ──► session
//! ```
//!
//! | module | contents |
//! |---|---|
//! | `text` | the custom assembly formats of the ops |
//! | `model` | a parsed program: functions with inputs and outputs |
//! | [`import`] | the lowering of a model to a program |
//! | [`check`] | the comparisons of tests |
//! | `test_case` | runs of files that compare what they compute |
//!
//! Texts are untrusted: each is imported, or rejected with an error that names the place.
//! [`Limits`](tfrt_import::Limits) bound the size of inlined functions. This crate runs programs
//! for tests only; otherwise [`Session`](tfrt_import::Session) does.
#![forbid(unsafe_code)]

mod text;

mod model;

pub mod import;

pub mod check;

#[doc(hidden)]
pub mod test_case;

pub use model::{BYTECODE_HELP, Function, HloModel, HloType, is_bytecode, is_stablehlo};
