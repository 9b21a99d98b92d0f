//! Declarations of ops.
//!
//! An [`OpDef`] declares the name of an op, its operands, attributes, results and syntax. The
//! registry, the verifier, the parser and printer of custom syntax, the load-time type check and
//! the documentation read the same record, so every fact has one source. A record consists of
//! constants: `#[tfrt_kernel]` derives it from the signature of a function, and `declare_op!`
//! writes it for an op without a kernel.
//!
//! Macros check records at compile time. A [`catalogue`] collects them, and
//! [writers](mod@write) turn it into a reference, TableGen or JSON.
//!
//! This crate does not depend on text, files or kernels.
#![forbid(unsafe_code)]

mod op;

pub mod groups;

mod constraint;

mod traits;

mod effect;

mod dialect;

pub mod format;

pub mod instance;

pub mod verify;

pub mod binding;

mod fold;

mod metadata;

mod check;

mod table;

pub mod catalogue;

pub mod write;

pub use check::{DeclarationError, DeclarationPart};
pub use constraint::{
    AttrKind, CHAIN_TYPE, EnumCase, EnumDef, EnumNumbers, EnumOperandTypes, EnumSign, FloatKind,
    TypeConstraint,
};
pub use dialect::{DialectDef, UnknownTypes};
pub use effect::Effect;
pub use fold::{AttrPath, Fold, OpFolder};
pub use metadata::{MetadataFn, MetadataQuery, NoMetadata, WorkspaceFn};
pub use op::{
    Arity, AttrDef, AttrDefault, FunctionDef, FunctionForm, FunctionSignature, OpDef, OperandDef,
    ResultDef, SourcePlace,
};
pub use table::OpTable;
pub use traits::{OpTraits, TraitDef, TraitOption};
