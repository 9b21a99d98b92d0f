//! What `#[tfrt_op]` writes calls of: the code between an op and the function that its author
//! wrote.

pub mod elements;

pub mod forward;

pub mod metadata;
