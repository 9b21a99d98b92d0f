//! Writers: declarations as documents.
//!
//! | module | document | for |
//! |---|---|---|
//! | [`page`](mod@page) | plain text: a list of ops, or all information about one | a terminal |
//! | [`markdown`](mod@markdown) | a reference, one section for each dialect | readers |
//! | [`td`](mod@td) | TableGen, as `mlir-tblgen` reads it | C++ programs that use MLIR |
//! | [`json`](mod@json) | all declarations, versioned | other tools |
//!
//! All of them read only a [`Catalogue`](crate::catalogue::Catalogue); equal catalogues produce
//! equal documents.

pub mod page;

pub mod markdown;

pub mod td;

pub mod json;

mod syntax;

mod prose;
