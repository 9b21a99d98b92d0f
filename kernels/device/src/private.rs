//! The items that expansions name. They are not part of the public interface and change with the
//! macro.

pub use std::option::Option::{None, Some};
pub use std::result::Result;

#[cfg(feature = "core")]
pub use tfrt_core::OpCall;
pub use tfrt_host::__private::submit;
pub use tfrt_host::kernel::KernelFrame;
pub use tfrt_support::{Error, TensorMetadata};
pub use tfrt_tensor::DenseHostTensor;

pub use tfrt_async::Chain;

pub use crate::cpu::{elementwise, reduce};
#[cfg(feature = "core")]
pub use crate::kernel::launch_op;
pub use crate::kernel::{FunctionKernel, KernelForm, LinkedKernel, launch, metadata};
pub use crate::numbers::*;
pub use crate::tree::*;
