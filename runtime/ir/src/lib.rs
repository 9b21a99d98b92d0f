//! A subset of MLIR: programs in memory, parser, printer and verifier.
//!
//! A program is one [`Module`]: dense tables of ops, blocks, regions and values under typed ids,
//! with interned types, attributes and locations. [`parse()`] reads text, [`print()`] writes text,
//! and [`verify()`] checks a module against the declarations of its ops. All knowledge about ops
//! comes from the [`Registry`] of declarations: apart from `func` and `module`, this crate does not
//! know any op by name.
//!
//! ```
//! use std::sync::Arc;
//! use tfrt_ir::{ParseOptions, PrintOptions, Registry, parse, print};
//!
//! let registry = Arc::new(Registry::default());
//! let options = ParseOptions { allow_unregistered_dialects: true, ..ParseOptions::default() };
//! let source = "func @f(%x: i32) {\n  \"my.op\"(%x) : (i32) -> ()\n}\n";
//! let module = parse(source, "f.mlir", &registry, &options).map_err(|errors| errors[0].to_string())?;
//! let text = print(&module, &PrintOptions::default());
//! assert_eq!(text, "module {\n  func @f(%arg0: i32) {\n    \"my.op\"(%arg0) : (i32) -> ()\n  }\n}\n");
//! # Ok::<(), String>(())
//! ```
#![forbid(unsafe_code)]

mod intern;

mod ids;

mod types;

mod attribute;

mod location;

mod registry;

mod module;

pub mod symbols;

mod diagnose;

mod print;

mod parse;

mod verify;

mod fold;

mod split;

pub mod syntax;

pub use attribute::{Attribute, DenseElements};
pub use diagnose::{CURRENT_OPERATION, OpDiagnostics};
pub use fold::FoldedConstant;
pub use ids::{AttrId, BlockId, LocationId, NameId, OpId, RegionId, TypeId, ValueId};
pub use location::Location;
pub use module::{Module, OpState, Use, ValueDef, dense_element_bytes};
pub use parse::{
    MAX_NESTING, ParseOptions, parse, parse_attribute, parse_type, parse_without_chains,
};
pub use print::{PrintOptions, attributes::print_attribute, print, print_op};
pub use registry::{OpEntry, Registry, RegistryError};
pub use split::{Part, split_input_file};
pub use types::{FloatType, Signedness, Type};
pub use verify::{VerifyOptions, verify};
