//! The functions that expansions of `#[tfrt_op]` call: the code between an op and its author's
//! function.

pub mod elements;

pub mod forward;

pub mod metadata;
