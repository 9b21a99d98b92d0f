//! The op declaration record: every fact of an op, stated once.
//!
//! An [`OpDef`] says how an op is named, what it takes, what it gives, and how it is written. The registry, the verifier,
//! the parser and printer of custom syntax, the load-time type check and the documentation all read the same record, so
//! that nothing is stated twice. A record is made of constants only: `#[tfrt_kernel]` derives it from a function's
//! signature, and a dialect without kernels writes it by hand.
//!
//! Records follow [rules](check), which are checked at compile time. Many of them make a [`catalogue`], which [writers](mod@write)
//! turn into a reference, TableGen or JSON.
//!
//! This crate knows neither text nor files nor kernels.
#![forbid(unsafe_code)]

pub mod op;

pub mod constraint;

pub mod traits;

pub mod dialect;

pub mod format;

pub mod instance;

pub mod verify;

pub mod binding;

pub mod fold;

pub mod metadata;

pub mod check;

pub mod doc;

pub mod catalogue;

pub mod write;

mod const_text;

pub use check::{DeclarationError, assert_all_valid};
pub use constraint::{AttrKind, EnumCase, EnumDef, FloatKind, TypeConstraint};
pub use dialect::{DialectDef, UnknownTypes};
pub use fold::{AttrPath, Fold};
pub use metadata::{MetadataFn, MetadataQuery, NoMetadata, WorkspaceFn};
pub use op::{
    Arity, AttrDef, AttrDefault, FunctionDef, FunctionForm, FunctionSignature, OpDef, OperandDef,
    ResultDef, SourcePlace,
};
pub use traits::{Effect, OpTraits};
