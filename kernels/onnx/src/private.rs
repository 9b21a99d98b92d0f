//! The items that expansions of `#[onnx_op]` use. They are not part of the public interface and
//! change with the macro.

pub use core::{file, line};

pub use inventory::submit;

pub use crate::onnx_op::{OnnxLowering, OnnxOp};
pub use tfrt_ods::SourcePlace;
