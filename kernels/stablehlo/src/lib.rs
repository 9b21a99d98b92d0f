//! StableHLO programs as programs of our ops.
//!
//! ```text
//!  text ──parse──► HloModel ──inline, lower──► program of our ops ──► session
//! ```
//!
//! | module | contents |
//! |---|---|
//! | `text` | the custom forms of the ops |
//! | `model` | a program as it is read: functions with inputs and outputs |
//! | [`import`] | from a model to a program |
//! | [`check`] | the comparisons that tests carry out |
//!
//! Texts are not trusted: whatever one says, it is read, or an error says where it is wrong.
//! [`Limits`](tfrt_import::Limits) bound what functions that call functions may become. This crate
//! does not run programs: [`Session`](tfrt_import::Session) does.
#![forbid(unsafe_code)]

mod text;

mod model;

pub mod import;

pub mod check;

pub use model::{Function, HloModel, HloType, is_stablehlo};
