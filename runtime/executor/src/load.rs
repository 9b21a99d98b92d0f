//! Loading: the names of a file are resolved, and a body is checked against the declarations of its kernels.
//!
//! Knows nothing of how a body is laid out or run.

mod signature;

mod tables;

mod waits;

mod proof;

mod binding;

mod check;

mod requirements;

pub(crate) use check::{BodyTypes, CheckedBody, check};
pub(crate) use tables::{FunctionEntry, Tables, malformed, to_number};
pub(crate) use waits::{Waits, is_non_strict};
