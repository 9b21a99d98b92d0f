//! What the importers of models share.
//!
//! An importer reads a model file of another system and makes a program of our ops. This crate has what does not depend on the
//! system that the file comes from:
//!
//! | module | is about |
//! |---|---|
//! | [`limits`] | how large the parts of a file may be |
//! | [`names`] | names from files, in messages |
//! | [`error`] | what is wrong with a model, and where |
//!
//! Nothing here knows a file format.
#![forbid(unsafe_code)]

pub mod limits;

pub mod names;

pub mod error;

pub use error::ImportError;
pub use limits::{Limit, Limits};
