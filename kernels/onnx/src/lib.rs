//! ONNX models as programs.
//!
//! ```text
//!  model.onnx ──wire format──► proto ──read, check──► Model ──adapt, lower──► program of our ops
//! ```
//!
//! | module | contents |
//! |---|---|
//! | [`proto`] | the messages of model files |
//! | `model` | a file, read and checked |
//! | [`graph`] | graphs and nodes |
//! | [`tensor_file`] | files with one tensor |
//! | [`attribute`] | attributes of nodes |
//! | [`tensor`] | tensors in a file and next to it |
//! | `element_type` | element types |
//! | [`opset`] | the declarations of ONNX's ops |
//! | [`notes`] | what a file says beyond what an import uses |
//! | `text` | models as MLIR text |
//! | [`import`] | from a model to a program |
//! | `onnx_op` | ops with domains of their own, which other crates register |
//! | `test_case` | what tests with recorded results must know about a model |
//! | [`guide`] | how to run models, unsupported features, how to add an op |
//!
//! Files are not trusted: see `order` for the rules of graphs, `external` for those of other files,
//! and [`Limits`](tfrt_import::Limits) for the limits of sizes. This crate does not run models:
//! [`Session`](tfrt_import::Session) does.
#![deny(unsafe_code)]

pub mod proto;

mod element_type;

mod external;

pub mod tensor;

pub mod tensor_file;

pub mod attribute;

pub mod graph;

mod order;

mod wire;

pub mod opset;

mod model;

pub mod notes;

mod text;

pub mod import;

mod onnx_op;

#[doc(hidden)]
pub mod test_case;

pub mod guide;

#[doc(hidden)]
#[path = "private.rs"]
pub mod __private;

pub use element_type::ElementType;
pub use import::onnx_call::{OnnxAttr, OnnxCall};
pub use model::{FunctionName, Model, is_onnx};
pub use onnx_op::{OnnxFunction, OnnxLowering, OnnxOp, OnnxOps};
pub use tfrt_macros::onnx_op;
