//! Loading: resolves the names of a file, and checks bodies against the declarations of their
//! kernels.
//!
//! Does not know how a body is laid out or run.

mod signature;

mod tables;

mod waits;

mod proof;

mod binding;

mod check;

mod requirements;

pub(crate) use check::{BodyTypes, CheckedBody, check};
pub(crate) use signature::FunctionEntry;
pub(crate) use tables::{Tables, malformed, to_number};
pub(crate) use waits::{Waits, is_non_strict};
